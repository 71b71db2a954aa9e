//! The traffic seam: who sends to whom. One pattern a file.
//!
//! A pattern ([`Bind`]) is plain parameters; bound to a network and a set of endpoints it becomes [`Destinations`].
use crate::graph::Graph;
use crate::problem::Problem;
use crate::rng::Stream;

/// What a pattern is bound to.
pub struct Binding<'a> {
    /// The network.
    pub graph: &'a Graph,
    /// The endpoints of the class, in the order the scenario gives them (ascending for "all", "rest" and samples).
    pub endpoints: &'a [u32],
    /// Whether an endpoint may send to itself.
    pub to_self: bool,
    /// The stream of this class for choices made once (which nodes are hot, which permutation).
    pub random: Stream,
}

/// What every pattern provides.
pub trait Bind {
    /// Binds the pattern, or tells what is wrong; paths are relative to the traffic table, such as `sources`.
    fn bind(&self, binding: Binding) -> Result<Box<dyn Destinations>, Vec<Problem>>;
}

/// A bound pattern. Immutable and shared by all partitions.
pub trait Destinations: Send + Sync {
    /// Endpoints that send, ascending.
    fn sources(&self) -> &[u32];
    /// Endpoints that receive, ascending.
    fn destinations(&self) -> &[u32];
    /// The destination of the next message of `source`.
    fn draw(&self, source: u32, random: &mut Stream) -> u32;
    /// The only destination `source` ever sends to, if there is one.
    fn only(&self, source: u32) -> Option<u32>;
}

pub mod uniform;

crate::kinds::kinds! {
    /// `pattern = …` of a `[[traffic]]` table: the list of kinds, one line each.
    pub enum Pattern by "pattern" {
        Uniform(uniform::Uniform),
    }
    /// What the pattern provides, whichever kind it is.
    pub fn bind -> dyn Bind;
}
