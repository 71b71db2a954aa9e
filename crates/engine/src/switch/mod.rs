//! The switch seam: the switch architecture. One kind a file.
pub mod arch;
pub mod bits;
pub mod cioq;
pub mod deadlines;
pub mod input_queued;
pub mod output_queued;
pub mod parameters;
pub mod shared_buffer;
pub mod turns;
pub mod unlimited;

crate::kinds::kinds! {
    /// `[switch]`: the list of kinds, one line each.
    pub enum Switch by "kind" {
        Cioq(cioq::Cioq) = "cioq",
        InputQueued(input_queued::InputQueued) = "input-queued",
        OutputQueued(output_queued::OutputQueued) = "output-queued",
        SharedBuffer(shared_buffer::SharedBuffer) = "shared-buffer",
    }
    /// What the engine asks of a kind, whichever it is.
    pub fn design -> dyn parameters::Kind;
}

impl Default for Switch {
    fn default() -> Self {
        Self::Cioq(cioq::Cioq::default())
    }
}
