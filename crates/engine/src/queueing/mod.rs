//! The queueing seam: which queue of a port a packet waits in. One kind a file.
/// `[queueing]`
#[derive(Debug, Clone)]
pub enum Queueing {
    /// "single": one queue per virtual network.
    Single,
}
