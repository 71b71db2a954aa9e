//! One message.
use super::{Arrivals, NEVER, Offered, Pace};
use crate::rng::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One message from every source, at `start`. The class needs no load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneShot {}

impl Arrivals for OneShot {
    fn has_load(&self) -> bool {
        false
    }

    fn pace(&self, _: Offered) -> Box<dyn Pace> {
        Box::new(Once)
    }
}

#[derive(Debug)]
struct Once;

impl Pace for Once {
    fn first(&self, _: &mut u64, _: &mut Stream) -> u64 {
        0
    }

    fn next(&self, _: u64, _: &mut u64, _: &mut Stream) -> u64 {
        NEVER
    }

    /// What comes in one half of a window tells nothing of the other.
    fn dispersion(&self, _: f64) -> f64 {
        f64::INFINITY
    }
}

#[cfg(test)]
mod tests {
    use super::super::Process;
    use super::super::tests::slots;
    use super::*;

    #[test]
    fn one_message_is_made_in_the_first_slot() {
        assert!(slots(&Process::OneShot(OneShot {}), 0.0, 8, 1).eq([0]));
    }
}
