//! The list of kinds of a seam, written once: the enum, its text and schema, and the contract every kind meets.

/// Defines the enum of a seam from its list of kinds, one line each: a variant that holds the kind's parameters, and
/// its name in the scenario file under the tag key; and the method that gives the contract of whichever kind it is.
macro_rules! kinds {
    (
        $(#[$meta:meta])*
        pub enum $Seam:ident by $tag:literal { $($Kind:ident($Parameters:path) = $name:literal),* $(,)? }
        $(#[$doc:meta])*
        pub fn $contract:ident -> dyn $Contract:path;
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(tag = $tag)]
        // A kind is documented by its own struct, whose text the schema takes if the variant has none.
        #[allow(missing_docs)]
        pub enum $Seam { $(#[serde(rename = $name)] $Kind($Parameters)),* }

        impl $Seam {
            /// The names of all kinds, as scenarios give them.
            pub const KINDS: &'static [&'static str] = &[$($name),*];

            /// The name of this kind, as scenarios give it.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$Kind(_) => $name),*
                }
            }

            $(#[$doc])*
            pub fn $contract(&self) -> &dyn $Contract {
                match self {
                    $(Self::$Kind(kind) => kind),*
                }
            }
        }
    };
}
pub(crate) use kinds;
