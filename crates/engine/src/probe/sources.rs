//! How much of every source was accepted, and how evenly.
use super::summary::{Class, Measured};
use crate::report::{Column, Table};

/// What is told of the shares that the sources of a class have.
pub(super) const SHARES: [&str; 3] = ["fairness", "source_accepted_min", "source_accepted_max"];

/// Jain's index of numbers, (Σx)² / (n Σx²): 1 if all are alike, 1/n if all but one are zero; none if all are. R. Jain, D. Chiu, W. Hawe,
/// "A quantitative measure of fairness and discrimination for resource allocation in shared computer systems", DEC-TR-301, 1984.
fn jain(numbers: &[u64]) -> Option<f64> {
    let sum: f64 = numbers.iter().map(|&x| x as f64).sum();
    let squares: f64 = numbers.iter().map(|&x| (x as f64).powi(2)).sum();
    (squares > 0.0).then(|| sum * sum / (numbers.len() as f64 * squares))
}

impl Measured<'_> {
    /// Of what was accepted of each source: Jain's index, the least and the most, as fractions of its channel. Only if it was recorded.
    pub(super) fn source_shares(&self, class: &Class) -> [Option<f64>; 3] {
        let flits: Vec<u64> =
            class.sources.iter().map(|&source| class.probe.sources[source as usize]).collect();
        let share = |flits: Option<&u64>| flits.map(|&flits| self.fraction(flits as f64, 1, class.time));
        [jain(&flits), share(flits.iter().min()), share(flits.iter().max())]
    }

    pub(super) fn source_table(&self, classes: &[Class]) -> Table {
        let (mut names, mut endpoints, mut accepted) = (vec![], vec![], vec![]);
        // Without that of all, unless one of the scenario is.
        for class in &classes[..self.plan.groups()] {
            for &source in &class.sources {
                names.push(class.name.clone());
                endpoints.push(source as i64);
                accepted.push(self.fraction(class.probe.sources[source as usize] as f64, 1, class.time));
            }
        }
        let columns = vec![
            ("class".into(), Column::Text(names)),
            ("endpoint".into(), Column::Int(endpoints)),
            ("accepted".into(), Column::Real(accepted)),
        ];
        Table { name: "sources", columns }
    }
}

#[cfg(test)]
mod tests {
    use super::jain;

    #[test]
    fn jains_index_has_its_closed_forms() {
        assert_eq!(jain(&[7, 7, 7]), Some(1.0));
        assert_eq!(jain(&[0, 0, 9, 0]), Some(0.25));
        // Of n of which k share alike k/n; of 1, 2 and 3 36 / (3 * 14).
        assert_eq!(jain(&[5, 5, 0, 0, 0]), Some(0.4));
        assert_eq!(jain(&[1, 2, 3]), Some(36.0 / 42.0));
        assert_eq!(jain(&[0, 0]), None);
        assert_eq!(jain(&[]), None);
    }
}
