//! The switch seam: the switch architecture. One kind a file.
pub mod cioq;
/// `[switch]`
#[derive(Debug, Clone)]
pub enum Switch {
    /// "cioq"
    Cioq(cioq::Cioq),
}
