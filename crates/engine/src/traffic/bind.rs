//! From the `[[traffic]]` tables to classes bound to a network: who takes part, and how much each offers.
use super::process::{Offered, Pace};
use super::sizes::Sizes;
use super::{Binding, Destinations};
use crate::graph::Graph;
use crate::problem::Problem;
use crate::rng::Stream;
use crate::scenario::{Endpoints, Traffic};
use crate::units::{Scale, Time};

/// A class of traffic bound to a network.
#[derive(Debug)]
pub struct BoundClass {
    /// Name of the class.
    pub name: String,
    /// Who sends to whom.
    pub destinations: Box<dyn Destinations>,
    /// The endpoints that take part, ascending: those of the class, or, where the pattern picks (hot spot, list), its
    /// sources and destinations.
    pub endpoints: Vec<u32>,
    /// Data made by each source, as a fraction of its channel: 0 to 1. Of no meaning for one-shot traffic.
    pub load_per_source: f64,
    /// Message sizes.
    pub sizes: Sizes,
    /// When messages are made.
    pub pace: Box<dyn Pace>,
    /// When the class starts.
    pub start: Time,
    /// When it stops making messages.
    pub stop: Option<Time>,
}

/// Who uses an endpoint. It is for one class or job alone, unless all that use it say `share = true`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    /// Nobody.
    #[default]
    Free,
    /// Some that all share theirs.
    Shared,
    /// One that does not.
    Alone,
}

impl Use {
    /// By one that shares its endpoints, or does not.
    pub fn by(shares: bool) -> Self {
        if shares { Self::Shared } else { Self::Alone }
    }

    /// Whether another one may use it too, that shares its endpoints or does not.
    pub fn allows(self, shares: bool) -> bool {
        self == Self::Free || self == Self::Shared && shares
    }
}

/// Who else uses endpoints: is told how they are used, and tells how it uses them.
pub type Others<'a> = &'a mut dyn FnMut(&mut [Use]) -> Result<(), Vec<Problem>>;

/// Binds all classes, none of which is a mistake in itself, to the network, in their order, or tells all that is wrong with
/// them there. Every random choice has a stream of (seed, purpose, class name): the endpoints of a sample, and what the
/// pattern draws.
///
/// Classes whose endpoints are "rest" are bound last, to the endpoints that no other class takes part with; of a class
/// whose pattern picks its nodes (hot spot, list) those are the nodes picked. Between the two, `others` is told which
/// endpoints are used, and tells which it uses too.
pub fn bind_all(
    classes: &[Traffic],
    seed: u64,
    scale: &Scale,
    graph: &Graph,
    others: Others,
) -> Result<Vec<BoundClass>, Vec<Problem>> {
    let context = Context { seed, scale, graph };
    let mut problems = Vec::new();
    let mut bound: Vec<Option<BoundClass>> = Vec::new();
    bound.resize_with(classes.len(), || None);
    let mut free = vec![true; graph.endpoints.len()];
    for rest in [false, true] {
        // What "rest" means is not known while another class is wrong.
        if rest && !problems.is_empty() {
            break;
        }
        for (class, bound) in classes.iter().zip(&mut bound) {
            if (class.endpoints == Endpoints::Rest) == rest {
                match context.bind(class, &free) {
                    Ok(class) => *bound = Some(class),
                    Err(found) => problems.extend(found.into_iter().map(|problem| within(class, problem))),
                }
            }
        }
        for &endpoint in bound.iter().flatten().flat_map(|class| &class.endpoints) {
            free[endpoint as usize] = false;
        }
        if !rest {
            let mut used = vec![Use::Free; free.len()];
            for (class, bound) in classes.iter().zip(&bound) {
                for &endpoint in bound.iter().flat_map(|bound| &bound.endpoints) {
                    let used = &mut used[endpoint as usize];
                    *used = Use::by(class.share).max(*used);
                }
            }
            problems.extend(others(&mut used).err().into_iter().flatten());
            free.iter_mut().zip(used).for_each(|(free, used)| *free &= used == Use::Free);
        }
    }
    let bound: Vec<BoundClass> = bound.into_iter().flatten().collect();
    if problems.is_empty() {
        problems = overlaps(classes, &bound);
    }
    if problems.is_empty() { Ok(bound) } else { Err(problems) }
}

/// What classes are bound to.
struct Context<'a> {
    seed: u64,
    scale: &'a Scale,
    graph: &'a Graph,
}

impl Context<'_> {
    /// Binds one class to its endpoints, `free` of which no other takes part with.
    fn bind(&self, class: &Traffic, free: &[bool]) -> Result<BoundClass, Vec<Problem>> {
        let members = self.members(class, free).map_err(|problem| vec![problem])?;
        let (destinations, endpoints) = self.pattern(class, members)?;
        let load_per_source = load_per_source(class, &*destinations).map_err(|problem| vec![problem])?;
        let sizes = Sizes::new(&class.message, self.scale);
        let offered = Offered { load: load_per_source, mean: sizes.mean(), scale: self.scale };
        class.process.arrivals().suits(&offered).map_err(|problem| vec![problem])?;
        Ok(BoundClass {
            name: class.name.clone(),
            destinations,
            endpoints,
            load_per_source,
            pace: class.process.pace(offered),
            sizes,
            start: class.start.time(self.scale),
            stop: class.stop.map(|stop| stop.time(self.scale)),
        })
    }

    /// The endpoints of a class, in the order of the scenario.
    fn members(&self, class: &Traffic, free: &[bool]) -> Result<Vec<u32>, Problem> {
        let all = self.graph.endpoints.len() as u32;
        let members: Vec<u32> = match &class.endpoints {
            Endpoints::All => (0..all).collect(),
            Endpoints::Rest => (0..all).filter(|&endpoint| free[endpoint as usize]).collect(),
            Endpoints::List(list) => list.clone(),
            Endpoints::Sample(n) => {
                let mut sample = Stream::new(self.seed, "endpoints", &class.name, 0).sample(all, *n);
                sample.sort_unstable();
                sample
            }
        };
        if members.is_empty() {
            let help = "\"all\", a list of numbers, or { sample = n }";
            return Err(Problem::new("endpoints", "the other classes leave no endpoint", help));
        }
        Ok(members)
    }

    /// The bound pattern, and the endpoints that take part.
    #[expect(clippy::type_complexity, reason = "a pair used once")]
    fn pattern(
        &self,
        class: &Traffic,
        mut members: Vec<u32>,
    ) -> Result<(Box<dyn Destinations>, Vec<u32>), Vec<Problem>> {
        let random = Stream::new(self.seed, "pattern", &class.name, 0);
        let (graph, to_self) = (self.graph, class.to_self);
        let destinations =
            class.pattern.bound().bind(Binding { graph, endpoints: &members, to_self, random })?;
        if class.pattern.bound().picks() {
            members = [destinations.sources(), destinations.destinations()].concat();
        }
        members.sort_unstable();
        members.dedup();
        Ok((destinations, members))
    }
}

/// The load of each source, as much as its process can offer at most. That of the destinations is shared evenly among the
/// sources, which for patterns that do not load their destinations evenly (list) makes it a mean.
fn load_per_source(class: &Traffic, bound: &dyn Destinations) -> Result<f64, Problem> {
    if !class.process.arrivals().has_load() {
        return Ok(0.0);
    }
    let most = class.process.arrivals().load_max();
    let Some(per_destination) = class.load_per_destination else {
        let load = class.load.unwrap_or(0.0);
        let message = || format!("{load} is more than the process can offer");
        return if load <= most {
            Ok(load)
        } else {
            Err(Problem::new("load", message(), format!("at most {most}")))
        };
    };
    let (sources, destinations) = (bound.sources().len(), bound.destinations().len());
    let load = per_destination * destinations as f64 / sources as f64;
    // A quotient that should be the most may miss it by a rounding.
    if load > most * (1.0 + 1e-9) {
        return Err(Problem::new(
            "load_per_destination",
            format!("{per_destination} needs {load} of each source's channel"),
            format!(
                "at most {}, with {sources} sources and {destinations} destinations",
                most * sources as f64 / destinations as f64
            ),
        ));
    }
    Ok(load.min(most))
}

/// Classes that take part with the same endpoints, not both of them allowing it. `bound` is complete.
fn overlaps(classes: &[Traffic], bound: &[BoundClass]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, class) in classes.iter().enumerate() {
        for (other, earlier) in classes[..index].iter().enumerate() {
            if class.share && earlier.share {
                continue;
            }
            let (count, example) = common(&bound[index].endpoints, &bound[other].endpoints);
            let Some(example) = example else { continue };
            problems.push(within(
                class,
                Problem::new(
                    "endpoints",
                    format!(
                        "the classes \"{}\" and \"{}\" both use {count} endpoint{}, such as {example}",
                        earlier.name,
                        class.name,
                        if count == 1 { "" } else { "s" }
                    ),
                    "give one of them `endpoints = \"rest\"` or a list, or allow it by `share = true` in both",
                ),
            ));
        }
    }
    problems
}

/// How many elements two ascending lists have in common, and the first.
fn common(a: &[u32], b: &[u32]) -> (usize, Option<u32>) {
    let both = || a.iter().copied().filter(|endpoint| b.binary_search(endpoint).is_ok());
    (both().count(), both().next())
}

/// The problem with its path from the root of the scenario.
fn within(class: &Traffic, mut problem: Problem) -> Problem {
    problem.path = format!("traffic.{}.{}", class.name, problem.path);
    problem
}

#[cfg(test)]
mod tests {
    use super::super::hotspot::{Hotspot, Nodes};
    use super::super::testing::groups;
    use super::super::uniform::Uniform;
    use super::super::{Pattern, list::List, process::Process};
    use super::*;
    use crate::scenario::MessageSize;
    use crate::units::{Duration, Rate, Size};

    const SCALE: Scale = Scale { flit_bits: 100, packet_flits: 24, host: Rate(100_000_000_000) };

    fn uniform(name: &str, endpoints: Endpoints) -> Traffic {
        Traffic {
            name: name.into(),
            pattern: Pattern::Uniform(Uniform::default()),
            endpoints,
            to_self: false,
            load: Some(0.4),
            load_per_destination: None,
            message: MessageSize::Fixed(Size::Flits(4)),
            process: Process::default(),
            start: Duration::Ps(0),
            stop: None,
            share: false,
            priority: 0,
            queue_pairs: 1,
        }
    }

    fn hotspot(name: &str, sources: u32, destinations: u32) -> Traffic {
        let (sources, destinations) = (Nodes::Number(sources), Nodes::Number(destinations));
        let pattern = Pattern::Hotspot(Hotspot { sources, destinations });
        Traffic { pattern, ..uniform(name, Endpoints::All) }
    }

    fn bind(classes: &[Traffic]) -> Result<Vec<BoundClass>, Vec<Problem>> {
        bind_all(classes, 1, &SCALE, &groups(33, 8, 4), &mut |_| Ok(()))
    }

    fn problem(classes: &[Traffic]) -> Problem {
        let mut problems = bind(classes).unwrap_err();
        assert_eq!(problems.len(), 1, "{problems:?}");
        problems.remove(0)
    }

    #[test]
    fn the_rest_of_a_drawn_hot_spot_is_all_but_its_nodes_whatever_the_order() {
        let (hot, victim) = (hotspot("hot", 60, 4), uniform("victim", Endpoints::Rest));
        let one = bind(&[hot.clone(), victim.clone()]).unwrap();
        let other = bind(&[victim, hot]).unwrap();
        assert_eq!((one[0].endpoints.len(), one[1].endpoints.len()), (64, 992));
        assert!(one[1].endpoints.iter().all(|e| one[0].endpoints.binary_search(e).is_err()));
        assert_eq!((&one[0].endpoints, &one[1].endpoints), (&other[1].endpoints, &other[0].endpoints));
    }

    #[test]
    fn another_class_does_not_change_what_a_class_draws() {
        let mut sample = uniform("sample", Endpoints::Sample(10));
        sample.share = true;
        let alone = bind(std::slice::from_ref(&sample)).unwrap();
        let mut other = hotspot("other", 9, 1);
        other.share = true;
        let both = bind(&[other, sample]).unwrap();
        assert_eq!(alone[0].endpoints, both[1].endpoints);
        assert!(alone[0].endpoints.len() == 10 && alone[0].endpoints.is_sorted());
    }

    #[test]
    fn classes_that_overlap_are_both_named_with_an_example_unless_both_share() {
        let mut classes =
            [uniform("a", Endpoints::List(vec![7, 3, 5])), uniform("b", Endpoints::List(vec![1, 5, 7]))];
        let found = problem(&classes);
        assert_eq!(found.path, "traffic.b.endpoints");
        assert_eq!(found.message, "the classes \"a\" and \"b\" both use 2 endpoints, such as 5");
        classes[0].share = true;
        assert_eq!(problem(&classes).message, found.message, "the other one did not ask for it");
        classes[1].share = true;
        assert_eq!(bind(&classes).unwrap().len(), 2);
    }

    #[test]
    fn a_rest_of_nothing_is_refused() {
        let all = [uniform("a", Endpoints::All), uniform("b", Endpoints::Rest)];
        assert_eq!(problem(&all).message, "the other classes leave no endpoint");
    }

    #[test]
    fn a_load_per_destination_is_shared_by_the_sources_and_limited_by_their_channels() {
        let mut hot = hotspot("hot", 60, 4);
        (hot.load, hot.load_per_destination) = (None, Some(7.5));
        assert_eq!(bind(&[hot.clone()]).unwrap()[0].load_per_source, 0.5);
        hot.load_per_destination = Some(15.0);
        assert_eq!(bind(&[hot.clone()]).unwrap()[0].load_per_source, 1.0);
        hot.load_per_destination = Some(18.0);
        let found = problem(&[hot]);
        assert_eq!(found.message, "18 needs 1.2 of each source's channel");
        assert_eq!(found.help, "at most 15, with 60 sources and 4 destinations");
    }

    #[test]
    fn all_mistakes_of_all_classes_are_reported_at_once() {
        let classes =
            [hotspot("first", 2000, 1), hotspot("second", 2000, 1), uniform("rest", Endpoints::Rest)];
        let problems = bind(&classes).unwrap_err();
        let paths: Vec<&str> = problems.iter().map(|problem| problem.path.as_str()).collect();
        assert_eq!(paths, ["traffic.first.sources", "traffic.second.sources"]);
    }

    #[test]
    fn a_list_takes_part_with_the_endpoints_of_its_pairs() {
        let pairs = Pattern::List(List { pairs: vec![[3, 9], [4, 9]] });
        let bound = bind(&[Traffic { pattern: pairs, ..uniform("pairs", Endpoints::All) }]).unwrap();
        assert_eq!(bound[0].endpoints, [3, 4, 9]);
    }
}
