//! Uniform random traffic.
use super::choices::{has, ranks};
use super::{Bind, Binding, Destinations};
use crate::problem::Problem;
use crate::rng::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Every message goes to an endpoint of the class drawn with equal probability, oneself excluded unless `self = true`.
/// (Dally and Towles, Principles and Practices of Interconnection Networks, 2004, section 3.2.)
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Uniform {
    /// Endpoints that receive, "all" or by number, if they are not those of the class, which are then those that send: so can
    /// traffic avoid a hot spot, or meet it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destinations: Option<Receivers>,
}

/// Endpoints that receive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Receivers {
    /// All of the network.
    All,
    /// These.
    #[serde(untagged)]
    List(Vec<u32>),
}

impl Bind for Uniform {
    fn bind(&self, binding: Binding) -> Result<Box<dyn Destinations>, Vec<Problem>> {
        let mut sources = binding.endpoints.to_vec();
        sources.sort_unstable();
        let count = binding.graph.endpoints.len() as u32;
        let mut members = match &self.destinations {
            None => sources.clone(),
            Some(Receivers::All) => (0..count).collect(),
            Some(Receivers::List(list)) => list.clone(),
        };
        members.sort_unstable();
        if let Some(problem) = self.problem(&members, count) {
            return Err(vec![problem]);
        }
        if let ([only], false) = (&members[..], binding.to_self)
            && sources.contains(only)
        {
            let message = format!("endpoint {only} has nobody to send to but itself");
            let help = "use more endpoints, or `self = true`";
            return Err(vec![Problem::new("endpoints", message, help)]);
        }
        Ok(Box::new(Others { ranks: ranks(&members), sources, members, to_self: binding.to_self }))
    }

    fn picks(&self) -> bool {
        self.destinations.is_some()
    }
}

impl Uniform {
    /// What is wrong with the destinations, ascending, of a network of `count` endpoints.
    fn problem(&self, members: &[u32], count: u32) -> Option<Problem> {
        let message = match members.last() {
            None => "nobody receives".to_string(),
            Some(&last) if last >= count => format!("there is no endpoint {last}, the network has {count}"),
            _ => {
                let twice = members.windows(2).find(|pair| pair[0] == pair[1])?[0];
                format!("endpoint {twice} is named twice")
            }
        };
        Some(Problem::new("destinations", message, format!("numbers from 0 to {}, each once", count - 1)))
    }
}

/// All to all, or to some.
#[derive(Debug)]
struct Others {
    sources: Vec<u32>,
    /// Who receives.
    members: Vec<u32>,
    /// Index in `members` by endpoint number.
    ranks: Vec<u32>,
    to_self: bool,
}

impl Others {
    /// Whether a source is among those it must not draw from.
    fn excludes(&self, source: u32) -> bool {
        !self.to_self && has(&self.ranks, source)
    }
}

impl Destinations for Others {
    fn sources(&self) -> &[u32] {
        &self.sources
    }

    fn destinations(&self) -> &[u32] {
        &self.members
    }

    fn draw(&self, source: u32, random: &mut Stream) -> u32 {
        let n = self.members.len() as u32;
        if !self.excludes(source) {
            return self.members[random.below(n) as usize];
        }
        let pick = random.below(n - 1);
        // Skipping one's own place keeps the others equally likely.
        let pick = pick + u32::from(pick >= self.ranks[source as usize]);
        self.members[pick as usize]
    }

    fn share(&self, source: u32, destination: u32) -> f64 {
        let n = self.members.len() as f64;
        match (self.members.binary_search(&destination).is_ok(), self.excludes(source)) {
            (false, _) => 0.0,
            (true, false) => 1.0 / n,
            (true, true) if source == destination => 0.0,
            (true, true) => 1.0 / (n - 1.0),
        }
    }

    fn only(&self, source: u32) -> Option<u32> {
        match self.members[..] {
            [only] => Some(only),
            [a, b] if self.excludes(source) => Some(if source == a { b } else { a }),
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
        let bound = bind(&Uniform::default(), &groups(2, 2, 3), &list, false).unwrap();
        assert_eq!(bound.sources(), [2, 5, 9, 11]);
        let mut random = Stream::new(1, "test", "", 0);
        let mut counts = [0; 12];
        (0..30_000).for_each(|_| counts[bound.draw(5, &mut random) as usize] += 1);
        assert_eq!(counts[5], 0);
        assert!([2, 9, 11].iter().all(|&e: &usize| (9_700..10_300).contains(&counts[e])), "{counts:?}");
    }

    #[test]
    fn with_self_every_endpoint_is_drawn() {
        let bound = bind(&Uniform::default(), &groups(1, 1, 4), &[0, 1, 2, 3], true).unwrap();
        let mut random = Stream::new(1, "test", "", 0);
        let drawn: std::collections::BTreeSet<u32> = (0..200).map(|_| bound.draw(2, &mut random)).collect();
        assert_eq!(drawn.len(), 4);
    }

    #[test]
    fn a_single_endpoint_has_nobody_to_send_to() {
        assert_eq!(
            bind(&Uniform::default(), &groups(1, 1, 4), &[3], false).unwrap_err()[0].path,
            "endpoints"
        );
    }

    #[test]
    fn destinations_of_their_own_are_drawn_by_all_sources_but_never_by_themselves() {
        let to = |list: &[u32]| Uniform { destinations: Some(Receivers::List(list.to_vec())) };
        let bound = bind(&to(&[7, 1, 2]), &groups(1, 2, 4), &[0, 1, 2], false).unwrap();
        assert_eq!((bound.sources(), bound.destinations()), (&[0, 1, 2][..], &[1, 2, 7][..]));
        let mut random = Stream::new(1, "test", "", 0);
        let mut drawn = |source| -> std::collections::BTreeSet<u32> {
            (0..200).map(|_| bound.draw(source, &mut random)).collect()
        };
        assert_eq!(drawn(0).into_iter().collect::<Vec<_>>(), [1, 2, 7]);
        assert_eq!(drawn(1).into_iter().collect::<Vec<_>>(), [2, 7]);
        let refused =
            |list: &[u32]| bind(&to(list), &groups(1, 2, 4), &[0, 1], false).unwrap_err()[0].clone();
        assert_eq!(refused(&[8]).message, "there is no endpoint 8, the network has 8");
        assert_eq!(refused(&[3, 3]).message, "endpoint 3 is named twice");
        assert_eq!(refused(&[1]).path, "endpoints");
        assert_eq!(refused(&[]).path, "destinations");
        let everyone = Uniform { destinations: Some(Receivers::All) };
        let bound = bind(&everyone, &groups(1, 2, 4), &[0, 5], false).unwrap();
        assert_eq!((bound.sources(), bound.destinations().len()), (&[0, 5][..], 8));
    }
}
