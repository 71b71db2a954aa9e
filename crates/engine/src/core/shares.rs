//! Max-min fair shares of links, found by the links one by one: A. Charny, D. Clark, R. Jain, "Congestion control with explicit
//! rate indication", ICC 1995.
//!
//! A link keeps for each flow the rate that it asked for last, and advertises what those may have that it holds back: the
//! capacity that the others leave, in equal parts. A set-up packet or a probe asks for a rate, and each link of its way lowers that
//! to what it advertises. Rates travel as the ticks that the whole flow takes at them, in the bits of a positive `f64`, which are in
//! the order of the numbers; 0 asks for as much as there is.
use super::packet::Kind;

/// The bit of a rate's word that says that a link held it back.
const HELD: u64 = 1 << 63;
/// Rates as near as this to each other, relatively, are the same.
const NEAR: f64 = 1e-9;

/// A flow at a link.
#[derive(Debug, Clone, Copy)]
struct Demand {
    connection: u64,
    flits: f64,
    /// Ticks it takes at the rate it asked for last; 0 if that was as much as there is.
    time: f64,
}

impl Demand {
    fn rate(&self) -> f64 {
        self.flits / self.time
    }
}

/// A link, and the flows that cross it.
#[derive(Debug, Clone)]
pub struct SharedLink {
    /// Flits per tick that it gives away.
    capacity: f64,
    /// By connection, ascending.
    demands: Vec<Demand>,
}

/// What a rate's word says on its way back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateWord {
    /// Ticks that the flow takes at the rate that it has.
    pub time: f64,
    /// Whether a link held it back: else there may be more.
    pub held: bool,
}

/// Reads a rate's word.
pub fn told(word: u64) -> RateWord {
    RateWord { time: f64::from_bits(word & !HELD), held: word & HELD != 0 }
}

/// What the next probe asks for: the rate that is known if a link holds it there, else as much as there is.
pub fn request(told: RateWord) -> u64 {
    if told.held { told.time.to_bits() } else { 0 }
}

/// The word with which a request for a rate comes back if a link of its way holds the flow to just this rate.
pub fn confirmed(request: u64) -> u64 {
    request | HELD
}

impl SharedLink {
    /// A link without flows that gives away this many flits per tick.
    pub fn new(capacity: f64) -> Self {
        Self { capacity, demands: Vec::new() }
    }

    /// A packet of a flow crosses the link: its first word tells the flits of the flow (set-up), its second asks for a rate
    /// and learns one.
    ///
    /// A probe may come behind the end of its flow, in a class of its own where that waited: it changes and learns nothing.
    ///
    /// # Panics
    ///
    /// If a flow is set up twice: a broken law.
    pub fn account(&mut self, connection: u64, kind: Kind, words: &mut [u64; 2]) {
        let place = self.demands.binary_search_by_key(&connection, |demand| demand.connection);
        let at = match kind {
            Kind::SetUp => {
                let at = place.expect_err("law broken: a flow was set up twice");
                self.demands.insert(at, Demand { connection, flits: words[0] as f64, time: 0.0 });
                at
            }
            _ => {
                let Ok(at) = place else { return };
                at
            }
        };
        let asked = told(words[1]).time;
        self.demands[at].time = asked;
        let fair = self.demands[at].flits / self.advertised();
        if fair > asked * (1.0 + NEAR) {
            words[1] = fair.to_bits() | HELD;
        } else if fair >= asked * (1.0 - NEAR) {
            words[1] |= HELD;
        }
    }

    /// A flow leaves the link.
    ///
    /// # Panics
    ///
    /// If it was not set up: a broken law.
    pub fn end(&mut self, connection: u64) {
        let place = self.demands.binary_search_by_key(&connection, |demand| demand.connection);
        self.demands.remove(place.expect("law broken: a flow ends that its link does not know"));
    }

    /// The rate up to which every flow may have what it asked for. Where all do, this is the largest of theirs and all that they leave.
    fn advertised(&self) -> f64 {
        let all = self.demands.len();
        let (mut below, mut share) = (0, self.capacity / all as f64);
        loop {
            let modest = self.demands.iter().map(Demand::rate).filter(|&rate| rate <= share);
            let (count, sum, most) =
                modest.fold((0, 0.0, 0.0), |(n, sum, most), rate| (n + 1, sum + rate, f64::max(most, rate)));
            if count == all {
                return self.capacity - sum + most;
            }
            // Fewer than before by rounding: a rate that is the share itself.
            if count <= below {
                return share;
            }
            (below, share) = (count, (self.capacity - sum) / (all - count) as f64);
        }
    }

    /// Flows that it knows.
    pub fn flows(&self) -> usize {
        self.demands.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fluid::allocation::{Flow, max_min, testing::network};
    use crate::rng::Stream;
    use proptest::prelude::*;

    fn near(a: f64, b: f64) -> bool {
        (a / b - 1.0).abs() < 1e-6
    }

    #[test]
    fn a_link_gives_what_others_leave_in_equal_parts() {
        let mut link = SharedLink::new(1.0);
        let mut ask = |connection, kind, word| {
            let mut words = [100, word];
            link.account(connection, kind, &mut words);
            told(words[1])
        };
        // The first flow has all, two have halves, three have thirds.
        for flows in 1..=3 {
            assert_eq!(ask(flows, Kind::SetUp, 0), RateWord { time: 100.0 * flows as f64, held: true });
        }
        // The first comes to have a tenth elsewhere: 0.45 for each of the others.
        let tenth = 1000.0_f64.to_bits();
        assert_eq!(ask(1, Kind::Probe, tenth), RateWord { time: 1000.0, held: false });
        assert!(near(ask(2, Kind::Probe, 0).time, 100.0 / 0.45));
        // The others ask for 0.45 each: that is the link's, and it holds them there.
        let known = (100.0_f64 / 0.45).to_bits();
        for flow in [2, 3] {
            let found = ask(flow, Kind::Probe, known);
            assert!(found.held && near(found.time, 100.0 / 0.45), "{found:?}");
        }
    }

    /// Flows of random size on random links, as state machines: what each has asked and been told.
    struct Run<'a> {
        flows: &'a [Flow],
        links: Vec<SharedLink>,
        told: Vec<RateWord>,
        /// How many links of its way its packet has passed, if one is under way, and the packet.
        under_way: Vec<Option<(usize, Kind, [u64; 2])>>,
        open: Vec<bool>,
    }

    impl<'a> Run<'a> {
        fn new(flows: &'a [Flow], capacities: &[f64]) -> Self {
            Self {
                flows,
                links: capacities.iter().map(|&capacity| SharedLink::new(capacity)).collect(),
                told: vec![RateWord { time: 0.0, held: false }; flows.len()],
                under_way: vec![None; flows.len()],
                open: vec![false; flows.len()],
            }
        }

        /// Takes the flow's packet over its next link, or sends its next one; returns whether one came back with news.
        fn step(&mut self, flow: usize, kind: Kind) -> bool {
            let fresh = match (kind, self.open[flow]) {
                (Kind::TearDown, _) => (0, Kind::TearDown, [0; 2]),
                (_, true) => (0, Kind::Probe, [0, request(self.told[flow])]),
                (_, false) => (0, Kind::SetUp, [self.flows[flow].size as u64, 0]),
            };
            let (at, kind, mut words) = self.under_way[flow].unwrap_or(fresh);
            let link = self.flows[flow].links[at] as usize;
            match kind {
                Kind::TearDown => self.links[link].end(flow as u64),
                _ => self.links[link].account(flow as u64, kind, &mut words),
            }
            if at + 1 < self.flows[flow].links.len() {
                self.under_way[flow] = Some((at + 1, kind, words));
                return false;
            }
            self.under_way[flow] = None;
            self.open[flow] = kind != Kind::TearDown;
            let before = std::mem::replace(&mut self.told[flow], told(words[1]));
            !near(before.time, self.told[flow].time) || !self.told[flow].held
        }

        /// Probes go round, one flow after the other, until two rounds bring no news: the first may have left some that flows
        /// before it have not met. How often they went before.
        fn settle(&mut self, active: &[bool]) -> usize {
            let mut quiet = 0;
            for round in 1.. {
                let mut news = false;
                for flow in (0..self.flows.len()).filter(|&flow| active[flow]) {
                    news |= self.step(flow, Kind::Probe);
                    while self.under_way[flow].is_some() {
                        news |= self.step(flow, Kind::Probe);
                    }
                }
                quiet = if news { 0 } else { quiet + 1 };
                if quiet == 2 {
                    return round - 2;
                }
                assert!(round < 1000, "rates do not settle");
            }
            unreachable!()
        }

        fn rates(&self, active: &[bool]) -> Vec<f64> {
            let of = |flow: usize| self.flows[flow].size / self.told[flow].time;
            (0..self.flows.len()).map(|flow| if active[flow] { of(flow) } else { 0.0 }).collect()
        }
    }

    /// Different rates in a max-min fair allocation: as many steps water filling takes.
    fn levels(rates: &[f64]) -> usize {
        let mut sorted: Vec<f64> = rates.iter().copied().filter(|&rate| rate > 0.0).collect();
        sorted.sort_by(f64::total_cmp);
        sorted.dedup_by(|a, b| near(*a, *b));
        sorted.len()
    }

    proptest! {
        /// The distributed result is that of water filling, whatever packets of the flows met on their ways, and again when
        /// some flows have ended; after no more than four rounds for each level of rates (Charny's bound).
        #[test]
        fn links_that_know_only_their_own_flows_find_the_rates_of_water_filling(
            (flows, capacities) in network(),
            seed in 0u64..1000,
            ends in proptest::collection::vec(any::<bool>(), 40),
        ) {
            let (mut run, mut stream) = (Run::new(&flows, &capacities), Stream::new(seed, "shares", "", 0));
            // Set-up packets and probes of different flows pass each other link by link.
            for _ in 0..flows.len() * 4 {
                run.step(stream.below(flows.len() as u32) as usize, Kind::Probe);
            }
            let mut active = vec![true; flows.len()];
            for again in [false, true] {
                if again {
                    for flow in (0..flows.len()).filter(|&flow| ends[flow]) {
                        active[flow] = false;
                        run.step(flow, Kind::TearDown);
                        while run.under_way[flow].is_some() {
                            run.step(flow, Kind::TearDown);
                        }
                    }
                }
                let rounds = run.settle(&active);
                let (found, central) = (run.rates(&active), max_min(&flows, &active, &capacities));
                for (found, central) in found.iter().zip(&central).filter(|(_, central)| **central > 0.0) {
                    prop_assert!(near(*found, *central), "{found} {central}");
                }
                prop_assert!(rounds <= 4 * levels(&central), "{rounds} rounds, {} levels", levels(&central));
            }
            for (link, shared) in (0..).zip(&run.links) {
                let crossing = |(flow, active): (&Flow, &bool)| *active && flow.links.contains(&link);
                prop_assert_eq!(shared.flows(), flows.iter().zip(&active).filter(|&pair| crossing(pair)).count());
            }
        }
    }
}
