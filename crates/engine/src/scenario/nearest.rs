//! "Did you mean …?"

/// The candidate nearest to a misspelt word, if it is near enough to be meant.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The distance takes time in proportion to the product of the lengths: no key is that long.
    if word.len() > 64 {
        return None;
    }
    let word = word.to_lowercase();
    let ranked =
        candidates.into_iter().map(|candidate| (distance(&word, &candidate.to_lowercase()), candidate));
    let (least, candidate) = ranked.min_by_key(|(distance, _)| *distance)?;
    (least <= 1 + word.chars().count() / 4).then_some(candidate)
}

/// Insertions, deletions, replacements and swaps of neighbours from `a` to `b` (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_is_recognised_and_another_word_is_not() {
        let keys = ["warmup", "duration", "threads"];
        assert_eq!(nearest("warmpu", keys), Some("warmup"));
        assert_eq!(nearest("Duration", keys), Some("duration"));
        assert_eq!(nearest("colour", keys), None);
    }
}
