//! The topology seam: how switches and endpoints are wired. One kind a file; the list of kinds is [`Topology`].
use crate::graph::Graph;
use crate::problem::Problem;

/// What every topology provides. A topology is plain parameters; it is asked once, before a run.
pub trait Wiring {
    /// Names of the link classes, the host links first (always called `host`).
    fn link_classes(&self) -> &'static [&'static str];
    /// Mistakes in the parameters; paths are relative to `topology`, such as `groups`.
    fn problems(&self) -> Vec<Problem>;
    /// Number of endpoints and of switches, without building the graph (which may be impossible or huge).
    fn counts(&self) -> (u64, u64);
    /// The wired network. Only called if there are no problems.
    fn graph(&self) -> Graph;
}

pub mod single_switch;

crate::kinds::kinds! {
    /// `[topology]`: the list of kinds, one line each.
    pub enum Topology by "kind" {
        SingleSwitch(single_switch::SingleSwitch),
    }
    /// What the topology provides, whichever kind it is.
    pub fn wiring -> dyn Wiring;
}
