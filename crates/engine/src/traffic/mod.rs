//! The traffic seam: who sends to whom, how much and when. One pattern a file.
//!
//! A pattern ([`Bind`]) is plain parameters; bound to a network and a set of endpoints it becomes [`Destinations`].
//! [`bind::bind_all`] does that for all classes of a scenario; a [`generator::Generator`] then makes the messages of
//! one endpoint.
use crate::graph::Graph;
use crate::problem::Problem;
use crate::rng::Stream;

pub mod bind;
pub mod bit_complement;
pub mod bit_reverse;
mod blocks;
mod choices;
pub mod distribution;
pub mod generator;
pub mod hotspot;
pub mod list;
pub mod permutation;
pub mod process;
pub mod shift;
pub mod sizes;
#[cfg(test)]
pub(crate) mod testing;
pub mod tornado;
pub mod transpose;
pub mod uniform;
pub mod worst_case;
pub mod worst_case_hot;
pub mod zipf;

/// What a pattern is bound to.
#[derive(Debug)]
pub struct Binding<'a> {
    /// The network.
    pub graph: &'a Graph,
    /// The endpoints of the class, in the order the scenario gives them (ascending for "all", "rest" and samples).
    /// They exist, none is given twice, and there is at least one.
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

    /// Whether the pattern itself picks who takes part: then only its sources and destinations count as used by the
    /// class (`endpoints = "rest"` and the check of overlap), not all of the class's `endpoints`.
    fn picks(&self) -> bool {
        false
    }
}

/// A bound pattern. Immutable and shared by all partitions.
pub trait Destinations: Send + Sync + std::fmt::Debug {
    /// Endpoints that send, ascending.
    fn sources(&self) -> &[u32];
    /// Endpoints that receive, ascending.
    fn destinations(&self) -> &[u32];
    /// The destination of the next message of `source`, which must be one of the sources.
    fn draw(&self, source: u32, random: &mut Stream) -> u32;
    /// The probability that a message of `source` goes to `destination`.
    fn share(&self, source: u32, destination: u32) -> f64;
    /// The only destination `source` ever sends to, if there is one.
    fn only(&self, source: u32) -> Option<u32>;
    /// The probability of each rank, where every source ranks its destinations; else nothing.
    fn ranks(&self) -> &[f64] {
        &[]
    }
}

crate::kinds::kinds! {
    /// `pattern = …` of a `[[traffic]]` table: who sends to whom. The list of kinds, one line each.
    pub enum Pattern by "pattern" {
        Uniform(uniform::Uniform) = "uniform",
        Hotspot(hotspot::Hotspot) = "hotspot",
        Permutation(permutation::Permutation) = "permutation",
        Shift(shift::Shift) = "shift",
        Transpose(transpose::Transpose) = "transpose",
        Tornado(tornado::Tornado) = "tornado",
        BitComplement(bit_complement::BitComplement) = "bit-complement",
        BitReverse(bit_reverse::BitReverse) = "bit-reverse",
        WorstCase(worst_case::WorstCase) = "worst-case",
        WorstCaseHot(worst_case_hot::WorstCaseHot) = "worst-case-hot",
        List(list::List) = "list",
        Zipf(zipf::Zipf) = "zipf",
    }
    /// What the pattern provides, whichever kind it is.
    pub fn bound -> dyn Bind;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_reads_back_from_its_name_and_defaults() {
        let table = "
            uniform             = {pattern = 'uniform'}
            hotspot             = {pattern = 'hotspot', sources = 60, destinations = [1, 2]}
            permutation         = {pattern = 'permutation'}
            shift               = {pattern = 'shift'}
            transpose           = {pattern = 'transpose'}
            tornado             = {pattern = 'tornado'}
            bit-complement      = {pattern = 'bit-complement'}
            bit-reverse         = {pattern = 'bit-reverse'}
            worst-case          = {pattern = 'worst-case'}
            worst-case-hot      = {pattern = 'worst-case-hot', n = 2}
            list                = {pattern = 'list', pairs = [[0, 1], [0, 2]]}
            zipf                = {pattern = 'zipf', s = 2}
        ";
        let read: std::collections::BTreeMap<String, Pattern> = toml::from_str(table).unwrap();
        assert!(matches!(read["shift"], Pattern::Shift(shift::Shift { by: 1 })));
        for (name, pattern) in &read {
            assert_eq!(serde_json::to_value(pattern).unwrap()["pattern"], *name);
        }
        let missing = Pattern::KINDS.iter().find(|kind| !read.contains_key(**kind));
        assert_eq!(missing, None, "no pattern of this kind is above");
    }

    #[test]
    fn an_unknown_key_of_a_pattern_is_an_error() {
        let error = toml::from_str::<Pattern>("pattern = 'shift'\nbye = 2").unwrap_err();
        assert!(error.to_string().contains("bye"), "{error}");
    }

    #[test]
    fn the_schema_carries_the_documentation_of_each_kind() {
        let schema = serde_json::to_value(schemars::schema_for!(Pattern)).unwrap();
        let kinds = schema["oneOf"].as_array().unwrap();
        assert_eq!(kinds.len(), Pattern::KINDS.len());
        assert!(
            kinds.iter().all(|kind| kind["description"].is_string() || kind["$ref"].is_string()),
            "{schema:#}"
        );
    }
}
