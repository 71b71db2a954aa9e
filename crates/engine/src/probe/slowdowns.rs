//! How many times as long as alone in the empty network messages took: of each class, and by their size.
use super::class::rank;
use super::summary::Class;
use crate::report::{Column, Table};
use std::collections::BTreeSet;

/// What is told of slowdowns.
pub(super) const SLOWDOWNS: [&str; 6] = ["mean", "p50", "p95", "p99", "p999", "max"];

/// Different sizes that are each told of; of more, those from each power of two to the next are told of together.
const SIZES_MAX: usize = 12;

/// Mean, quantiles and largest of values, and of others that are not known but larger than all: then there is no mean, and no quantile
/// that is one of these or the largest.
fn quantities(mut values: Vec<f64>, missing: u64) -> [Option<f64>; 6] {
    values.sort_unstable_by(f64::total_cmp);
    let count = values.len() as u64 + missing;
    // The least that this share of all does not exceed.
    let at = |share| values.get((rank(share, count)?.ceil() as usize).max(1) - 1).copied();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let mean = (missing == 0 && !values.is_empty()).then_some(mean);
    [mean, at(0.5), at(0.95), at(0.99), at(0.999), values.last().copied()]
}

impl Class {
    /// The quantities of its slowdowns: none if over 1 % of its messages never arrived, or if none has a slowdown.
    pub(super) fn slowdown_values(&self) -> [Option<f64>; 6] {
        if self.slowdowns.is_empty() || self.saturated[2] {
            return [None; 6];
        }
        quantities(self.slowdowns.iter().map(|of| of.1).collect(), self.probe.latency[2].missing())
    }
}

/// The table by size: of what arrived, in classes of which all but 1 % did.
pub(super) fn table(classes: &[Class]) -> Table {
    let told = || classes.iter().filter(|class| !class.saturated[2]);
    let sizes: BTreeSet<u32> = told().flat_map(|class| class.slowdowns.iter().map(|of| of.0)).collect();
    let are_many = sizes.len() > SIZES_MAX;
    let first = |flits: u32| if are_many { 1 << flits.ilog2() } else { flits };
    let (mut names, mut bounds, mut counts) = (Vec::new(), [Vec::new(), Vec::new()], Vec::new());
    let mut values = SLOWDOWNS.map(|_| Vec::new());
    for class in told() {
        for from in sizes.iter().copied().map(first).collect::<BTreeSet<_>>() {
            let of_it = class.slowdowns.iter().filter(|of| first(of.0) == from);
            let slowdowns: Vec<f64> = of_it.map(|of| of.1).collect();
            if slowdowns.is_empty() {
                continue;
            }
            names.push(class.name.clone());
            bounds[0].push(from.into());
            bounds[1].push(if are_many { i64::from(from) * 2 - 1 } else { from.into() });
            counts.push(slowdowns.len() as i64);
            let quantities = quantities(slowdowns, 0).map(|value| value.unwrap_or(f64::NAN));
            values.iter_mut().zip(quantities).for_each(|(column, value)| column.push(value));
        }
    }
    let [from, to] = bounds;
    let mut columns = vec![
        ("class".into(), Column::Text(names)),
        ("flits_from".into(), Column::Int(from)),
        ("flits_to".into(), Column::Int(to)),
        ("messages".into(), Column::Int(counts)),
    ];
    columns
        .extend(SLOWDOWNS.iter().zip(values).map(|(name, values)| (name.to_string(), Column::Real(values))));
    Table { name: "slowdowns", columns }
}
