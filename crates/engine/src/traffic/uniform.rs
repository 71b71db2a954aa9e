//! Uniform random traffic.
use super::{Bind, Binding, Destinations, choices};
use crate::problem::Problem;
use crate::rng::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Every message goes to an endpoint of the class drawn with equal probability, oneself excluded unless `self = true`.
/// (Dally and Towles, Principles and Practices of Interconnection Networks, 2004, section 3.2.)
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Uniform {}

impl Bind for Uniform {
    fn bind(&self, binding: Binding) -> Result<Box<dyn Destinations>, Vec<Problem>> {
        if binding.endpoints.len() < 2 && !binding.to_self {
            return Err(vec![Problem::new(
                "endpoints",
                "uniform traffic needs two endpoints, the class has one",
                "use more endpoints, or `self = true`",
            )]);
        }
        let mut members = binding.endpoints.to_vec();
        members.sort_unstable();
        Ok(Box::new(Others { ranks: choices::ranks(&members), members, to_self: binding.to_self }))
    }
}

/// All to all.
#[derive(Debug)]
struct Others {
    members: Vec<u32>,
    /// Index in `members` by endpoint number.
    ranks: Vec<u32>,
    to_self: bool,
}

impl Destinations for Others {
    fn sources(&self) -> &[u32] {
        &self.members
    }

    fn destinations(&self) -> &[u32] {
        &self.members
    }

    fn draw(&self, source: u32, random: &mut Stream) -> u32 {
        let n = self.members.len() as u32;
        if self.to_self {
            return self.members[random.below(n) as usize];
        }
        let pick = random.below(n - 1);
        // Skipping one's own place keeps the others equally likely.
        let pick = pick + u32::from(pick >= self.ranks[source as usize]);
        self.members[pick as usize]
    }

    fn share(&self, source: u32, destination: u32) -> f64 {
        let n = self.members.len() as f64;
        match (self.to_self, choices::has(&self.ranks, destination)) {
            (_, false) => 0.0,
            (true, true) => 1.0 / n,
            (false, true) if source == destination => 0.0,
            (false, true) => 1.0 / (n - 1.0),
        }
    }

    fn only(&self, source: u32) -> Option<u32> {
        match self.members[..] {
            [only] => Some(only),
            [a, b] if !self.to_self => Some(if source == a { b } else { a }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bind, groups};
    use super::*;

    #[test]
    fn every_other_endpoint_is_equally_likely_and_oneself_never() {
        let list = [9, 2, 5, 11];
        let bound = bind(&Uniform {}, &groups(2, 2, 3), &list, false).unwrap();
        assert_eq!(bound.sources(), [2, 5, 9, 11]);
        let mut random = Stream::new(1, "test", "", 0);
        let mut counts = [0; 12];
        (0..30_000).for_each(|_| counts[bound.draw(5, &mut random) as usize] += 1);
        assert_eq!(counts[5], 0);
        assert!([2, 9, 11].iter().all(|&e: &usize| (9_700..10_300).contains(&counts[e])), "{counts:?}");
    }

    #[test]
    fn with_self_every_endpoint_is_drawn() {
        let bound = bind(&Uniform {}, &groups(1, 1, 4), &[0, 1, 2, 3], true).unwrap();
        let mut random = Stream::new(1, "test", "", 0);
        let drawn: std::collections::BTreeSet<u32> = (0..200).map(|_| bound.draw(2, &mut random)).collect();
        assert_eq!(drawn.len(), 4);
    }

    #[test]
    fn a_single_endpoint_has_nobody_to_send_to() {
        assert_eq!(bind(&Uniform {}, &groups(1, 1, 4), &[3], false).unwrap_err()[0].path, "endpoints");
    }
}
