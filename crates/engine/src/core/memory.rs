//! Memory that the input buffers of a switch share, where the flow control has them do so: what each holds of it, and the orders that follow.
//!
//! Its thresholds hang on all that the switch holds, which a sender cannot reckon ([`super::pauses`]): the switch decides, and its orders
//! travel with the credits, as a credit of no flits that pauses a virtual channel, or has it resume.
use super::credits::Credit;
use super::fabric::Fabric;
use super::plan::PauseLimits;
use super::table::Table;
use super::wheel::Kind;
use super::{Tick, channel::Far};

/// An event: what comes goes before all that leaves in its tick, and in the order of the inputs. (A packet of a flit may do both at once.)
const LEAVES: u64 = 1 << 59;

/// What a virtual channel of an input holds.
#[derive(Debug, Clone, Copy, Default)]
struct Fill {
    /// Flits in its own buffer and in the shared memory.
    held: u32,
    /// Flits in its headroom.
    headroom: u32,
    /// Whether its sender was told to stop.
    stopped: bool,
}

impl Fill {
    /// Flits in the shared memory.
    fn shared(self, limits: PauseLimits) -> u32 {
        self.held.saturating_sub(limits.xoff)
    }
}

/// The memory of the switches of a partition.
pub(super) struct Memory {
    /// By input and virtual channel.
    fills: Table<Fill>,
    /// Flits of the shared memory in use, by switch.
    used: Table<u32>,
    /// What comes and leaves in a tick.
    events: Vec<u64>,
    /// Inputs and virtual channels whose fill changes in a tick.
    touched: Vec<(u32, u8)>,
}

impl Memory {
    /// Of so many switches and inputs with so many virtual channels, all empty.
    pub(super) fn new(switches: usize, inputs: u32, vcs: u32) -> Self {
        let fills = vec![Fill::default(); (inputs * vcs) as usize].into();
        Self { fills, used: vec![0; switches].into(), events: Vec::new(), touched: Vec::new() }
    }

    /// Bytes held.
    pub(super) fn memory(&self) -> usize {
        self.fills.len() * size_of::<Fill>() + self.used.len() * size_of::<u32>()
    }
}

fn event(input: u32, vc: u8, flits: u32) -> u64 {
    u64::from(input) << 32 | u64::from(vc) << 12 | u64::from(flits)
}

impl Fabric {
    /// The head of a packet will come to the buffer ahead of a channel.
    pub(super) fn expect_fill(&mut self, channel: u32, at: Tick, vc: u8, flits: u32) {
        match self.channels[channel].far {
            Far::Input(input) => self.wheel.push(at, Kind::Memory, event(input, vc, flits)),
            Far::Line(line) => self.out_fills.push((line, Credit::new(at, vc, flits))),
            Far::Endpoint(_) | Far::Nowhere => {}
        }
    }

    /// The same, over a line.
    pub(super) fn expect_fill_at(&mut self, input: u32, fill: Credit) {
        let event = event(input, fill.vc() as u8, fill.flits());
        self.wheel.push(fill.at(), Kind::Memory, event);
    }

    /// A packet will have left its input.
    #[inline(never)]
    pub(super) fn expect_release(&mut self, input: u32, credit: Credit) {
        let event = event(input, credit.vc() as u8, credit.flits());
        self.wheel.push(credit.at(), Kind::Memory, LEAVES | event);
    }

    /// Takes in what comes in this tick and then what leaves, and gives the orders that follow.
    pub(super) fn govern(&mut self) {
        let Some(mut memory) = self.memory.take() else { return };
        self.wheel.take(Kind::Memory, &mut memory.events);
        self.probe.events += memory.events.len() as u64;
        memory.events.sort_unstable();
        for &event in &memory.events {
            let (input, vc) = ((event >> 32) as u32 & ((1 << 27) - 1), (event >> 12) as u8);
            let flits = event as u32 & 0xfff;
            memory.touched.push((input, vc));
            let fill = &mut memory.fills[input * self.vcs + u32::from(vc)];
            let limits = self.limits(input);
            let used = &mut memory.used[self.inlets[input].local];
            let before = fill.shared(limits);
            if event & LEAVES == 0 {
                let beyond = Fill { held: fill.held + flits, ..*fill }.shared(limits);
                let shared = limits.shared.expect("what shares memory has limits");
                let more = beyond - before;
                let may = u64::from(beyond) <= shared.threshold(*used) && more <= shared.flits - *used;
                // What needs no more of it has room, whatever the threshold has become.
                if more == 0 || may {
                    fill.held += flits;
                } else {
                    fill.headroom += flits;
                }
            } else {
                let headroom = fill.headroom.min(flits);
                fill.headroom -= headroom;
                fill.held -= flits - headroom;
            }
            *used = *used - before + fill.shared(limits);
        }
        // What other buffers of the switch do gives no orders, as in ns-3.
        for (input, vc) in memory.touched.drain(..) {
            let limits = self.limits(input);
            let fill = &mut memory.fills[input * self.vcs + u32::from(vc)];
            assert!(
                fill.headroom <= limits.headroom,
                "law broken: more came behind a pause than the headroom holds"
            );
            let stops = judged(*fill, memory.used[self.inlets[input].local], limits);
            if stops != fill.stopped {
                fill.stopped = stops;
                self.send_upstream(input, Credit::new(self.now, vc, 0));
            }
        }
        self.memory = Some(memory);
    }

    /// The limits of the buffers of an input.
    fn limits(&self, input: u32) -> PauseLimits {
        let row = usize::from(self.channels[input].row);
        let link = self.plan.links.get(row).unwrap_or(&self.plan.links[0]);
        link.pauses.expect("buffers that share memory pause their senders")
    }
}

/// Whether the sender of a buffer is to be paused now.
fn judged(fill: Fill, used: u32, limits: PauseLimits) -> bool {
    let shared = limits.shared.expect("what shares memory has limits");
    let (threshold, held) = (shared.threshold(used), u64::from(fill.shared(limits)));
    if fill.headroom > 0 {
        return true;
    }
    if fill.stopped { held > 0 && held + u64::from(shared.offset) > threshold } else { held > threshold }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow_control::Sharing;

    fn limits(alpha: f64) -> PauseLimits {
        let shared = Sharing { flits: 1000, alpha, offset: 20 };
        PauseLimits { xoff: 10, xon: 10, headroom: 50, response: 0, shared: Some(shared) }
    }

    #[test]
    fn a_sender_is_paused_above_the_threshold_and_resumes_so_far_below_it() {
        let at = |held, stopped| judged(Fill { held, headroom: 0, stopped }, 200, limits(0.125));
        // A threshold of an eighth of 800 beside 10 of its own.
        assert!(!at(110, false) && at(111, false));
        assert!(at(91, true) && !at(90, true));
        assert!(judged(Fill { held: 0, headroom: 1, stopped: true }, 0, limits(0.125)));
    }

    #[test]
    fn one_that_holds_none_of_the_memory_resumes_though_all_is_in_use() {
        let at = |held| judged(Fill { held, headroom: 0, stopped: true }, 1000, limits(0.125));
        assert!(at(11) && !at(10));
    }

    #[test]
    fn what_buffers_come_to_hold_together_is_where_their_thresholds_are() {
        let shared = limits(8.0).shared.expect("there is some");
        assert_eq!([0, 900, 1000].map(|used| shared.threshold(used)), [8000, 800, 0]);
        let together = [1, 2].map(|buffers| shared.together(buffers));
        assert_eq!(together, [888, 941]);
        assert!(shared.threshold(888) / 8 >= 111 && shared.threshold(941) >= 470);
    }
}
