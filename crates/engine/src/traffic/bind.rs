//! From the `[[traffic]]` tables to classes bound to a network: who takes part, and how much each offers.
use super::sizes::Sizes;
use super::{Bind as _, Binding, Destinations};
use crate::graph::Graph;
use crate::problem::Problem;
use crate::rng::Stream;
use crate::scenario::{Endpoints, Process, Traffic};
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
    /// How messages are spaced.
    pub process: Process,
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

/// Binds all classes to the network, in their order, or tells all that is wrong with them. Every random choice has a stream
/// of (seed, purpose, class name): the endpoints of a sample, and what the pattern draws.
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
    let mut problems = repeated_names(classes);
    let mut bound: Vec<Option<BoundClass>> = Vec::new();
    bound.resize_with(classes.len(), || None);
    let mut free = vec![true; graph.endpoints.len()];
    for rest in [false, true] {
        // What "rest" means is not known while another class is wrong: only what stands in its own table is checked.
        let known = !rest || problems.is_empty();
        for (class, bound) in classes.iter().zip(&mut bound) {
            if (class.endpoints == Endpoints::Rest) == rest {
                let members = if known { Some(context.members(class, &free)) } else { None };
                match context.bind(class, members) {
                    Ok(class) => *bound = class,
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
    /// Binds one class to its endpoints; without them, only looks for mistakes.
    fn bind(
        &self,
        class: &Traffic,
        members: Option<Result<Vec<u32>, Problem>>,
    ) -> Result<Option<BoundClass>, Vec<Problem>> {
        let mut problems = Vec::new();
        let sizes = Sizes::bind(&class.message, self.scale).map_err(|found| problems.extend(found)).ok();
        let start = class.start.time(self.scale);
        let stop = class.stop.map(|stop| stop.time(self.scale));
        if stop.is_some_and(|stop| stop <= start) {
            problems.push(Problem::new("stop", "the class stops before it starts", "a time after `start`"));
        }
        problems.extend(load_keys(class));
        let bound = match members {
            None => None,
            Some(Ok(members)) => self.pattern(class, members).map_err(|found| problems.extend(found)).ok(),
            Some(Err(problem)) => {
                problems.push(problem);
                None
            }
        };
        let mut load = 0.0;
        if problems.is_empty()
            && let Some((destinations, _)) = &bound
        {
            load = load_per_source(class, &**destinations)
                .map_err(|problem| problems.push(problem))
                .unwrap_or(0.0);
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let Some((sizes, (destinations, endpoints))) = sizes.zip(bound) else { return Ok(None) };
        let (name, process) = (class.name.clone(), class.process);
        Ok(Some(BoundClass {
            name,
            destinations,
            endpoints,
            load_per_source: load,
            sizes,
            process,
            start,
            stop,
        }))
    }

    /// The endpoints of a class, in the order of the scenario.
    fn members(&self, class: &Traffic, free: &[bool]) -> Result<Vec<u32>, Problem> {
        let all = self.graph.endpoints.len() as u32;
        let members = match &class.endpoints {
            Endpoints::All => (0..all).collect(),
            Endpoints::Rest => (0..all).filter(|&endpoint| free[endpoint as usize]).collect(),
            Endpoints::List(list) => listed(list, all)?,
            Endpoints::Sample(n) if *n > all => {
                let message = format!("a sample of {n} endpoints is not possible, the network has {all}");
                return Err(Problem::new("endpoints.sample", message, format!("1 to {all}")));
            }
            Endpoints::Sample(n) => {
                let mut sample = Stream::new(self.seed, "endpoints", &class.name, 0).sample(all, *n);
                sample.sort_unstable();
                sample
            }
        };
        if members.is_empty() {
            let message = match class.endpoints {
                Endpoints::Rest => "the other classes leave no endpoint",
                _ => "the class has no endpoint",
            };
            return Err(Problem::new(
                "endpoints",
                message,
                "\"all\", \"rest\", a list of numbers, or { sample = n }",
            ));
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
        let destinations = class.pattern.bind(Binding { graph, endpoints: &members, to_self, random })?;
        if class.pattern.picks() {
            members = [destinations.sources(), destinations.destinations()].concat();
        }
        members.sort_unstable();
        members.dedup();
        Ok((destinations, members))
    }
}

/// A list of endpoints that all exist and are named once.
fn listed(list: &[u32], all: u32) -> Result<Vec<u32>, Problem> {
    if let Some(number) = list.iter().find(|&&number| number >= all) {
        let message = format!("there is no endpoint {number}, the network has {all}");
        return Err(Problem::new("endpoints", message, format!("numbers from 0 to {}", i64::from(all) - 1)));
    }
    let mut sorted = list.to_vec();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Problem::new(
            "endpoints",
            format!("endpoint {} is named twice", pair[0]),
            "name each endpoint once",
        )),
        None => Ok(list.to_vec()),
    }
}

/// What is wrong with the load as written.
fn load_keys(class: &Traffic) -> Option<Problem> {
    if class.process == Process::OneShot {
        return None;
    }
    match (class.load, class.load_per_destination) {
        (None, None) => {
            let help = "give `load`, 0 to 1, or `load_per_destination`";
            Some(Problem::new("load", "the class has no load", help))
        }
        (Some(_), Some(_)) => Some(Problem::new(
            "load_per_destination",
            "`load` is given too",
            "one of `load` and `load_per_destination`",
        )),
        (Some(load), None) if !(0.0..=1.0).contains(&load) => Some(Problem::new(
            "load",
            format!("{load} is not a fraction of a source's channel"),
            "0 to 1; `load_per_destination` may be over 1",
        )),
        (None, Some(load)) if !(load >= 0.0 && load.is_finite()) => {
            Some(Problem::new("load_per_destination", format!("{load} is not a load"), "a number, 0 or more"))
        }
        _ => None,
    }
}

/// The load of each source, 0 to 1. That of the destinations is shared evenly among the sources, which for patterns
/// that do not load their destinations evenly (list) makes it a mean.
fn load_per_source(class: &Traffic, bound: &dyn Destinations) -> Result<f64, Problem> {
    let Some(per_destination) = class.load_per_destination else { return Ok(class.load.unwrap_or(0.0)) };
    if class.process == Process::OneShot {
        return Ok(0.0);
    }
    let (sources, destinations) = (bound.sources().len(), bound.destinations().len());
    let load = per_destination * destinations as f64 / sources as f64;
    // A quotient that should be 1 may miss it by a rounding.
    if load > 1.0 + 1e-9 {
        return Err(Problem::new(
            "load_per_destination",
            format!("{per_destination} needs {load} of each source's channel"),
            format!(
                "at most {}, with {sources} sources and {destinations} destinations",
                sources as f64 / destinations as f64
            ),
        ));
    }
    Ok(load.min(1.0))
}

fn repeated_names(classes: &[Traffic]) -> Vec<Problem> {
    let repeated =
        |&(index, class): &(usize, &Traffic)| classes[..index].iter().any(|other| other.name == class.name);
    let problem = |class: &Traffic| {
        within(class, Problem::new("name", "another class has this name", "a name of its own for each class"))
    };
    classes.iter().enumerate().filter(repeated).map(|(_, class)| problem(class)).collect()
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
    use super::super::{Pattern, list::List};
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
            process: Process::Bernoulli,
            start: Duration::Ps(0),
            stop: None,
            share: false,
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
    fn endpoints_out_of_range_repeated_or_missing_are_refused() {
        let path = |endpoints| problem(&[uniform("a", endpoints)]);
        assert!(
            path(Endpoints::List(vec![0, 1056])).message.contains("no endpoint 1056, the network has 1056")
        );
        assert!(path(Endpoints::List(vec![4, 2, 4])).message.contains("endpoint 4 is named twice"));
        assert_eq!(path(Endpoints::List(vec![])).path, "traffic.a.endpoints");
        assert_eq!(path(Endpoints::Sample(0)).path, "traffic.a.endpoints");
        assert_eq!(path(Endpoints::Sample(1057)).help, "1 to 1056");
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
    fn loads_that_are_missing_double_or_out_of_range_are_refused() {
        let path = |load, load_per_destination| {
            problem(&[Traffic { load, load_per_destination, ..uniform("a", Endpoints::All) }]).path
        };
        assert_eq!(path(None, None), "traffic.a.load");
        assert_eq!(path(Some(0.1), Some(0.1)), "traffic.a.load_per_destination");
        assert_eq!(path(Some(1.01), None), "traffic.a.load");
        assert_eq!(path(Some(f64::NAN), None), "traffic.a.load");
        assert_eq!(path(None, Some(-1.0)), "traffic.a.load_per_destination");
        let shot = Traffic { load: None, process: Process::OneShot, ..uniform("a", Endpoints::All) };
        assert!(bind(&[shot]).is_ok());
    }

    #[test]
    fn all_mistakes_of_all_classes_are_reported_at_once() {
        let mut first = hotspot("first", 2000, 1);
        first.load = Some(2.0);
        let mut rest = uniform("rest", Endpoints::Rest);
        rest.message = MessageSize::Fixed(Size::Flits(0));
        rest.stop = Some(Duration::Ps(0));
        let problems = bind(&[first, rest, uniform("rest", Endpoints::List(vec![0, 1]))]).unwrap_err();
        let mut paths: Vec<&str> = problems.iter().map(|problem| problem.path.as_str()).collect();
        paths.sort_unstable();
        assert_eq!(
            paths,
            [
                "traffic.first.load",
                "traffic.first.sources",
                "traffic.rest.message",
                "traffic.rest.name",
                "traffic.rest.stop"
            ]
        );
    }

    #[test]
    fn a_list_takes_part_with_the_endpoints_of_its_pairs() {
        let pairs = Pattern::List(List { pairs: vec![[3, 9], [4, 9]] });
        let bound = bind(&[Traffic { pattern: pairs, ..uniform("pairs", Endpoints::All) }]).unwrap();
        assert_eq!(bound[0].endpoints, [3, 4, 9]);
    }
}
