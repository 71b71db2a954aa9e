//! Every outcome of what a routing may draw or sense.
use crate::routing::Senses;
use std::ops::ControlFlow;

/// An occupancy that exceeds every comparison with an empty port.
const FULL: u32 = u32::MAX;

/// Calls `act` once for every sequence of answers that its senses can give it, until it breaks off.
pub(crate) fn every_outcome<B>(mut act: impl FnMut(&mut Script) -> ControlFlow<B>) -> ControlFlow<B> {
    let mut script = Script::default();
    loop {
        act(&mut script)?;
        if !script.advance() {
            return ControlFlow::Continue(());
        }
    }
}

/// Senses that answer from a list of choices, and note how many ways each could have gone.
pub(crate) struct Script {
    /// The choice made at each question, and the number of answers it has.
    choices: Vec<(u32, u32)>,
    asked: usize,
    /// The probability of the answers given so far, those about the state of the network left out.
    chance: f64,
    /// Ports already looked at: a port does not change while a packet is routed.
    seen: Vec<(u16, u32)>,
    /// Channels whose room was asked for: port and level.
    rooms: Vec<((u16, u8), u32)>,
    /// Virtual channels whose use was asked for: port, network and level.
    lanes: Vec<((u16, u8, u8), u32)>,
}

impl Default for Script {
    fn default() -> Self {
        let (seen, rooms, lanes) = (Vec::new(), Vec::new(), Vec::new());
        Self { choices: Vec::new(), asked: 0, chance: 1.0, seen, rooms, lanes }
    }
}

impl Script {
    /// The probability of the answers given so far, if they are those of chance alone; none if the state of the network
    /// was asked for.
    pub(crate) fn probability(&self) -> Option<f64> {
        (self.seen.is_empty() && self.rooms.is_empty() && self.lanes.is_empty()).then_some(self.chance)
    }

    /// Whether it was told that there is room on this channel.
    pub(crate) fn has_room(&self, port: u16, level: u8) -> bool {
        self.rooms.contains(&((port, level), FULL))
    }

    fn choose(&mut self, n: u32) -> u32 {
        if self.asked == self.choices.len() {
            self.choices.push((0, n));
        }
        let (choice, of) = self.choices[self.asked];
        assert_eq!(of, n, "a router must depend on nothing but what it is given");
        self.asked += 1;
        choice
    }

    /// Moves on to the next sequence of choices, last question first; false when there is none.
    fn advance(&mut self) -> bool {
        self.choices.truncate(self.asked);
        self.asked = 0;
        self.chance = 1.0;
        self.seen.clear();
        self.rooms.clear();
        self.lanes.clear();
        while let Some((choice, of)) = self.choices.last_mut() {
            *choice += 1;
            if *choice < *of {
                return true;
            }
            self.choices.pop();
        }
        false
    }
}

impl Senses for Script {
    fn below(&mut self, n: u32) -> u32 {
        assert!(n > 0, "nothing to draw from");
        self.chance /= f64::from(n);
        self.choose(n)
    }

    /// Two answers, not `n`: of many equals there would be as many sequences as orders.
    fn is_first_of(&mut self, n: u32) -> bool {
        let is = self.choose(2) == 0;
        self.chance *= if is { 1.0 } else { f64::from(n - 1) } / f64::from(n);
        is
    }

    fn occupancy(&mut self, port: u16) -> u32 {
        if let Some(&(_, occupancy)) = self.seen.iter().find(|(seen, _)| *seen == port) {
            return occupancy;
        }
        let occupancy = self.choose(2) * FULL;
        self.seen.push((port, occupancy));
        occupancy
    }

    fn room(&mut self, port: u16, level: u8) -> u32 {
        if let Some(&(_, room)) = self.rooms.iter().find(|(asked, _)| *asked == (port, level)) {
            return room;
        }
        let room = self.choose(2) * FULL;
        self.rooms.push(((port, level), room));
        room
    }

    fn committed(&mut self, port: u16, network: u8, level: u8) -> u32 {
        let lane = (port, network, level);
        if let Some(&(_, flits)) = self.lanes.iter().find(|(asked, _)| *asked == lane) {
            return flits;
        }
        let flits = self.choose(2) * FULL;
        self.lanes.push((lane, flits));
        flits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sequence_of_answers_is_tried_once() {
        let mut tried = Vec::new();
        _ = every_outcome(|senses| {
            let first = senses.below(3);
            let port = if first == 2 { senses.occupancy(7) } else { 0 };
            assert_eq!(senses.occupancy(7), senses.occupancy(7));
            tried.push((first, port > 0));
            ControlFlow::<()>::Continue(())
        });
        assert_eq!(tried, [(0, false), (0, false), (1, false), (1, false), (2, false), (2, true)]);
    }

    #[test]
    fn the_outcomes_of_chance_have_their_probabilities() {
        let (mut sum, mut unknown) = (0.0, 0);
        _ = every_outcome(|senses| {
            if senses.below(4) == 3 {
                _ = senses.below(2);
            } else if senses.below(3) == 0 {
                _ = senses.occupancy(1);
            }
            match senses.probability() {
                Some(probability) => sum += probability,
                None => unknown += 1,
            }
            ControlFlow::<()>::Continue(())
        });
        // Three ways of two twelfths each look at the network, each with two answers.
        assert!((sum - 0.75).abs() < 1e-12 && unknown == 6, "{sum} {unknown}");
    }

    #[test]
    fn each_of_many_equals_has_its_probability_in_few_sequences() {
        let (mut parts, mut sequences) = ([0.0; 8], 0);
        _ = every_outcome(|senses| {
            let best =
                (0..8).fold(0, |best, at| if at > 0 && senses.is_first_of(at + 1) { at } else { best });
            parts[best as usize] += senses.probability().unwrap();
            sequences += 1;
            ControlFlow::<()>::Continue(())
        });
        assert!(parts.iter().all(|part| (part - 0.125f64).abs() < 1e-12) && sequences == 1 << 7, "{parts:?}");
    }

    #[test]
    fn who_breaks_off_is_asked_no_more() {
        let mut asked = 0;
        let ended = every_outcome(|senses| {
            asked += 1;
            if senses.below(9) == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(ended.is_break() && asked == 4);
    }
}
