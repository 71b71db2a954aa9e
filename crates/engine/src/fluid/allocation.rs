//! Rates of flows on links of given capacity: pure functions.
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A flow: its size, and the links on its way by their numbers.
#[derive(Debug, Clone, Default)]
pub struct Flow {
    /// Its size.
    pub size: f64,
    /// The links on its way.
    pub links: Vec<u32>,
}

/// The weight W_l of every link: the time it needs for the flows that cross it (Y. Birk, V. Zdornov, SYSTOR 2009, eq. 4).
pub fn weights(flows: &[Flow], capacities: &[f64]) -> Vec<f64> {
    let mut weights = vec![0.0; capacities.len()];
    for flow in flows {
        for &link in &flow.links {
            weights[link as usize] += flow.size;
        }
    }
    weights.iter().zip(capacities).map(|(weight, capacity)| weight / capacity).collect()
}

/// The time W_f each flow takes by the single-application assignment, r(f) = w_f / W_f: the weight of the heaviest link on its way
/// (the same paper, theorem 1). A flow without links takes none.
pub fn saa_times(flows: &[Flow], weights: &[f64]) -> Vec<f64> {
    let heaviest = |flow: &Flow| flow.links.iter().map(|&link| weights[link as usize]).fold(0.0, f64::max);
    flows.iter().map(heaviest).collect()
}

/// Max-min fair rates of the flows that are `active`, by water filling: the link with the least for each of its flows is full
/// first, and fixes their rates; then the next (D. Bertsekas, R. Gallager, "Data networks", 2nd edition, section 6.5.2).
pub fn max_min(flows: &[Flow], active: &[bool], capacities: &[f64]) -> Vec<f64> {
    Filling::new(flows, active, capacities).rates
}

/// The time each flow takes if rates are max-min fair at any time: when a flow is done, the others share what it had. At every time
/// at which one is done `go_on` is asked; none if it says no.
pub fn max_min_times(
    flows: &[Flow],
    capacities: &[f64],
    go_on: &mut dyn FnMut() -> bool,
) -> Option<Vec<f64>> {
    let active: Vec<bool> = flows.iter().map(|flow| !flow.links.is_empty() && flow.size > 0.0).collect();
    let mut filling = Filling::new(flows, &active, capacities);
    let mut moving: Vec<Moving> = flows.iter().map(Moving::new).collect();
    let (mut times, mut now, mut changed) = (vec![0.0; flows.len()], 0.0, 0);
    let mut ends: BinaryHeap<Reverse<At>> = BinaryHeap::new();
    loop {
        for &flow in &filling.order[changed..] {
            let end = moving[flow as usize].go_on(filling.rates[flow as usize], now);
            ends.extend(end.map(|value| Reverse(At { value, number: flow })));
        }
        let (mut done, mut limit) = (Vec::new(), f64::INFINITY);
        while let Some(&Reverse(At { value: end, number: flow })) =
            ends.peek().filter(|end| end.0.value <= limit)
        {
            ends.pop();
            // Of a flow whose rate has changed there is another entry.
            if moving[flow as usize].end != end {
                continue;
            }
            if done.is_empty() {
                if !go_on() {
                    return None;
                }
                // Those that end together but for rounding end together.
                limit = now + (end - now) * (1.0 + 1e-9);
                now = end.max(now);
            }
            done.push(flow);
            (moving[flow as usize].end, times[flow as usize]) = (f64::NAN, now);
        }
        if done.is_empty() {
            return Some(times);
        }
        changed = filling.remove(&done);
    }
}

/// A flow on its way.
struct Moving {
    /// What was left of it at `since`, from when on it has had its rate.
    left: f64,
    since: f64,
    rate: f64,
    /// When it is done at this rate; NaN if it is.
    end: f64,
}

impl Moving {
    fn new(flow: &Flow) -> Self {
        Self { left: flow.size, since: 0.0, rate: 0.0, end: f64::NAN }
    }

    /// It has this rate from now on; tells when it is done if that has changed.
    fn go_on(&mut self, rate: f64, now: f64) -> Option<f64> {
        if rate == self.rate {
            return None;
        }
        self.left -= self.rate * (now - self.since);
        (self.since, self.rate, self.end) = (now, rate, now + self.left / rate);
        Some(self.end)
    }
}

/// Rates by water filling, from which flows can be taken. A flow gets its rate from links that the flows with higher rates have not
/// filled: so where a flow is taken, those with lower rates keep theirs, and only the rest is filled anew.
struct Filling<'a> {
    flows: &'a [Flow],
    /// Numbers of the flows that cross each link, also of those that are taken.
    crossing: Vec<Vec<u32>>,
    /// What each link has not given away.
    left: Vec<f64>,
    /// Flows on each link that have no rate yet.
    open: Vec<u32>,
    /// By flow.
    rates: Vec<f64>,
    /// Flows that have a rate, or none to get.
    fixed: Vec<bool>,
    /// Flows with rates, in the order in which they got them: that of the rates.
    order: Vec<u32>,
}

impl<'a> Filling<'a> {
    fn new(flows: &'a [Flow], active: &[bool], capacities: &[f64]) -> Self {
        let mut crossing: Vec<Vec<u32>> = vec![Vec::new(); capacities.len()];
        for (number, flow) in (0..).zip(flows).filter(|(number, _)| active[*number as usize]) {
            flow.links.iter().for_each(|&link| crossing[link as usize].push(number));
        }
        let mut filling = Self {
            flows,
            open: crossing.iter().map(|flows| flows.len() as u32).collect(),
            crossing,
            left: capacities.to_vec(),
            rates: vec![0.0; flows.len()],
            fixed: active.iter().map(|active| !active).collect(),
            order: Vec::new(),
        };
        filling.fill(0..capacities.len() as u32);
        filling
    }

    /// What a link has for each of its flows that have no rate.
    fn share(&self, link: u32) -> Reverse<At> {
        let value = self.left[link as usize].max(0.0) / f64::from(self.open[link as usize]);
        Reverse(At { value, number: link })
    }

    /// Gives rates to the flows on these links that have none.
    fn fill(&mut self, links: impl Iterator<Item = u32>) {
        // Shares only grow as flows are fixed, so an entry that is no longer true is put back with its new share.
        let open = links.filter(|&link| self.open[link as usize] > 0);
        let mut shares: BinaryHeap<Reverse<At>> = open.map(|link| self.share(link)).collect();
        while let Some(share @ Reverse(At { value, number: link })) = shares.pop() {
            if self.open[link as usize] == 0 {
                continue;
            }
            let now = self.share(link);
            if now < share {
                shares.push(now);
                continue;
            }
            // Rounding does not change their order.
            let last = self.order.last().map_or(0.0, |&flow| self.rates[flow as usize]);
            self.fix(link, value.max(last));
        }
    }

    /// The flows of a link that have no rate get this one.
    fn fix(&mut self, link: u32, rate: f64) {
        for &flow in &self.crossing[link as usize] {
            if std::mem::replace(&mut self.fixed[flow as usize], true) {
                continue;
            }
            self.rates[flow as usize] = rate;
            self.order.push(flow);
            for &link in &self.flows[flow as usize].links {
                self.left[link as usize] -= rate;
                self.open[link as usize] -= 1;
            }
        }
    }

    /// Takes flows, all of which have rates. Those before the place it returns, in `order`, have kept theirs.
    fn remove(&mut self, taken: &[u32]) -> usize {
        let least = taken.iter().map(|&flow| self.rates[flow as usize]).fold(f64::INFINITY, f64::min);
        let kept = self.order.partition_point(|&flow| self.rates[flow as usize] < least);
        let rest = self.order.split_off(kept);
        for &flow in &rest {
            self.fixed[flow as usize] = false;
            for &link in &self.flows[flow as usize].links {
                self.left[link as usize] += self.rates[flow as usize];
                self.open[link as usize] += 1;
            }
        }
        for &flow in taken {
            self.fixed[flow as usize] = true;
            self.rates[flow as usize] = 0.0;
            self.flows[flow as usize].links.iter().for_each(|&link| self.open[link as usize] -= 1);
        }
        let mut links: Vec<u32> =
            rest.iter().flat_map(|&flow| &self.flows[flow as usize].links).copied().collect();
        links.sort_unstable();
        links.dedup();
        self.fill(links.into_iter());
        kept
    }
}

/// A value of what has a number; the least is the least in order.
#[derive(Debug, Clone, Copy, PartialEq)]
struct At {
    value: f64,
    number: u32,
}

impl Eq for At {}

impl Ord for At {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.value.total_cmp(&other.value).then(self.number.cmp(&other.number))
    }
}

impl PartialOrd for At {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::Flow;
    use proptest::prelude::*;

    /// Flows of any sizes on any routes over links of any capacities.
    pub fn network() -> impl Strategy<Value = (Vec<Flow>, Vec<f64>)> {
        (1usize..12).prop_flat_map(|links| {
            let route = proptest::collection::btree_set(0..links as u32, 1..=links);
            let flow = (1u32..1_000_000, route)
                .prop_map(|(size, links)| Flow { size: size.into(), links: links.into_iter().collect() });
            let capacity = (1u32..1000).prop_map(|tenths| f64::from(tenths) / 10.0);
            (proptest::collection::vec(flow, 1..40), proptest::collection::vec(capacity, links))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::testing::network;
    use super::*;
    use proptest::prelude::*;

    fn flow(size: f64, links: &[u32]) -> Flow {
        Flow { size, links: links.to_vec() }
    }

    fn used(flows: &[Flow], rates: &[f64], links: usize) -> Vec<f64> {
        let mut used = vec![0.0; links];
        for (flow, rate) in flows.iter().zip(rates) {
            flow.links.iter().for_each(|&link| used[link as usize] += rate);
        }
        used
    }

    /// The times by filling all rates in anew whenever a flow is done.
    fn times_by_definition(flows: &[Flow], capacities: &[f64]) -> Vec<f64> {
        let mut left: Vec<f64> = flows.iter().map(|flow| flow.size).collect();
        let mut active = vec![true; flows.len()];
        let (mut times, mut now) = (vec![0.0; flows.len()], 0.0);
        while active.contains(&true) {
            let rates = max_min(flows, &active, capacities);
            let running: Vec<usize> = (0..flows.len()).filter(|&flow| active[flow]).collect();
            let step = running.iter().map(|&flow| left[flow] / rates[flow]).fold(f64::INFINITY, f64::min);
            now += step;
            for flow in running {
                active[flow] = left[flow] / rates[flow] > step * (1.0 + 1e-9);
                left[flow] -= rates[flow] * step;
                times[flow] = now;
            }
        }
        times
    }

    proptest! {
        #[test]
        fn flows_are_done_as_when_all_rates_are_filled_in_anew((flows, capacities) in network()) {
            let found = max_min_times(&flows, &capacities, &mut || true).unwrap();
            for (found, expected) in found.iter().zip(times_by_definition(&flows, &capacities)) {
                prop_assert!((found / expected - 1.0).abs() < 1e-8, "{found}, not {expected}");
            }
        }

        /// Theorem 1 of the paper.
        #[test]
        fn saa_is_feasible_and_takes_as_long_as_the_heaviest_link((flows, capacities) in network()) {
            let weights = weights(&flows, &capacities);
            let times = saa_times(&flows, &weights);
            let rates: Vec<f64> = flows.iter().zip(&times).map(|(flow, time)| flow.size / time).collect();
            for (used, capacity) in used(&flows, &rates, capacities.len()).iter().zip(&capacities) {
                // Forty sums of rounded terms.
                prop_assert!(*used <= capacity * (1.0 + 50.0 * f64::EPSILON), "{used} {capacity}");
            }
            let done = times.iter().copied().fold(0.0, f64::max);
            prop_assert_eq!(done, weights.iter().copied().fold(0.0, f64::max));
        }

        /// Every flow crosses a full link on which none is faster.
        #[test]
        fn max_min_rates_are_feasible_and_each_has_its_bottleneck((flows, capacities) in network()) {
            let rates = max_min(&flows, &vec![true; flows.len()], &capacities);
            let used = used(&flows, &rates, capacities.len());
            for (used, capacity) in used.iter().zip(&capacities) {
                prop_assert!(*used <= capacity * (1.0 + 1e-12));
            }
            for (flow, rate) in flows.iter().zip(&rates) {
                let held = |&&link: &&u32| {
                    let at = link as usize;
                    let mates = flows.iter().zip(&rates).filter(|(other, _)| other.links.contains(&link));
                    used[at] >= capacities[at] * (1.0 - 1e-9) && mates.clone().all(|(_, other)| *other <= rate * (1.0 + 1e-9))
                };
                prop_assert!(flow.links.iter().any(|link| held(&link)), "{flow:?} at {rate}");
            }
        }

        /// Max-min fairness cannot be faster than the heaviest link, and saa never slower than it.
        #[test]
        fn no_flow_set_ends_before_its_heaviest_link((flows, capacities) in network()) {
            let bound = weights(&flows, &capacities).iter().copied().fold(0.0, f64::max);
            let last = max_min_times(&flows, &capacities, &mut || true).unwrap();
            let last = last.iter().copied().fold(0.0, f64::max);
            prop_assert!(last >= bound * (1.0 - 1e-9), "{last} {bound}");
        }
    }

    #[test]
    fn the_six_flows_of_the_paper_s_first_figure() {
        // Link 0 carries f1 to f4, link 1 f3 to f6.
        let flows: Vec<Flow> =
            [&[0u32][..], &[0], &[0, 1], &[0, 1], &[1], &[1]].map(|links| flow(1.0, links)).into();
        let weights = weights(&flows, &[1.0, 1.0]);
        assert_eq!(saa_times(&flows, &weights), [4.0; 6]);
        assert_eq!(max_min(&flows, &[true; 6], &[1.0, 1.0]), [0.25; 6]);
        // When f1 and f2 alone are left they share a link.
        let uneven = [flow(2.0, &[0]), flow(1.0, &[0, 1]), flow(1.0, &[1])];
        assert_eq!(max_min_times(&uneven, &[1.0, 1.0], &mut || true).unwrap(), [3.0, 2.0, 2.0]);
        let mut turns = 0;
        let stopped = max_min_times(&uneven, &[1.0, 1.0], &mut || {
            turns += 1;
            turns < 2
        });
        assert_eq!((stopped, turns), (None, 2), "flows end at two times");
    }
}
