//! The list of kinds of a seam, written once: the enum, its text and schema, and the contract every kind meets.

/// Defines the enum of a seam from its list of kinds, one line each: a variant named like the kind (in the scenario
/// file: in kebab-case, under the tag key) that holds the kind's parameters; and the method that gives the contract
/// of whichever kind it is.
macro_rules! kinds {
    (
        $(#[$meta:meta])*
        pub enum $Seam:ident by $tag:literal { $($Kind:ident($Parameters:path)),* $(,)? }
        $(#[$doc:meta])*
        pub fn $contract:ident -> dyn $Contract:path;
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(tag = $tag, rename_all = "kebab-case")]
        // A kind is documented by its own struct, whose text the schema takes if the variant has none.
        #[allow(missing_docs)]
        pub enum $Seam { $($Kind($Parameters)),* }

        impl $Seam {
            $(#[$doc])*
            pub fn $contract(&self) -> &dyn $Contract {
                match self {
                    $($Seam::$Kind(kind) => kind),*
                }
            }
        }
    };
}
pub(crate) use kinds;
