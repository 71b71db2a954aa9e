//! Rates of flows on links of given capacity: pure functions.

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
    let mut crossing: Vec<Vec<u32>> = vec![Vec::new(); capacities.len()];
    for (number, flow) in (0..).zip(flows).filter(|(number, _)| active[*number as usize]) {
        flow.links.iter().for_each(|&link| crossing[link as usize].push(number));
    }
    let mut open: Vec<usize> = crossing.iter().map(Vec::len).collect();
    let (mut left, mut rates) = (capacities.to_vec(), vec![0.0; flows.len()]);
    let mut fixed: Vec<bool> = active.iter().map(|active| !active).collect();
    // Shares only grow as flows are fixed, so an entry that is no longer true is put back with its new share.
    let share = |left: &[f64], open: &[usize], link: usize| Share {
        each: left[link].max(0.0) / open[link] as f64,
        link,
    };
    let mut heap: std::collections::BinaryHeap<Share> =
        (0..capacities.len()).filter(|&link| open[link] > 0).map(|link| share(&left, &open, link)).collect();
    while let Some(Share { each, link }) = heap.pop() {
        if open[link] == 0 {
            continue;
        }
        let now = share(&left, &open, link);
        if now.each > each {
            heap.push(now);
            continue;
        }
        for &number in &crossing[link] {
            if std::mem::replace(&mut fixed[number as usize], true) {
                continue;
            }
            rates[number as usize] = each;
            for &link in &flows[number as usize].links {
                left[link as usize] -= each;
                open[link as usize] -= 1;
            }
        }
    }
    rates
}

/// What a link has for each of its flows; the least is the greatest in order.
#[derive(Debug, PartialEq)]
struct Share {
    each: f64,
    link: usize,
}

impl Eq for Share {}

impl Ord for Share {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.each.total_cmp(&self.each).then(other.link.cmp(&self.link))
    }
}

impl PartialOrd for Share {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The time each flow takes if rates are max-min fair at any time: when a flow is done, the others share what it had. All rates are
/// filled in anew for every time at which a flow is done, so `go_on` is asked then; none if it says no.
pub fn max_min_times(
    flows: &[Flow],
    capacities: &[f64],
    go_on: &mut dyn FnMut() -> bool,
) -> Option<Vec<f64>> {
    let mut left: Vec<f64> = flows.iter().map(|flow| flow.size).collect();
    let mut active: Vec<bool> = flows.iter().map(|flow| !flow.links.is_empty() && flow.size > 0.0).collect();
    let (mut times, mut now) = (vec![0.0; flows.len()], 0.0);
    while active.contains(&true) {
        if !go_on() {
            return None;
        }
        let rates = max_min(flows, &active, capacities);
        let to_go = |number: usize| left[number] / rates[number];
        let running = || (0..flows.len()).filter(|&number| active[number]);
        let step = running().map(to_go).fold(f64::INFINITY, f64::min);
        now += step;
        // Those that end together but for rounding end together.
        let ends: Vec<usize> = running().filter(|&number| to_go(number) <= step * (1.0 + 1e-9)).collect();
        for number in running() {
            left[number] -= rates[number] * step;
        }
        for number in ends {
            active[number] = false;
            times[number] = now;
        }
    }
    Some(times)
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

    proptest! {
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
