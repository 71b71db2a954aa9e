//! The switch seam: the switch architecture. One kind a file.
pub mod arch;
mod bits;
pub mod cioq;

crate::kinds::kinds! {
    /// `[switch]`: the list of kinds, one line each.
    pub enum Switch by "kind" {
        Cioq(cioq::Cioq) = "cioq",
    }
    /// The parameters, whichever kind it is.
    pub fn parameters -> dyn std::fmt::Debug;
}

impl Default for Switch {
    fn default() -> Self {
        Self::Cioq(cioq::Cioq::default())
    }
}
