//! Speculative reservation at the source: the state machine of a send queue, shared by the protocols that reserve ahead
//! of a message.
//!
//! A reservation covers a block: messages that wait, or a part of the first. Its life is `blocks::Phase`: packets go
//! speculatively; a refusal stops that until the grant; from the granted time on the rest of the block and what was
//! refused go in the data class.
mod blocks;
#[cfg(test)]
mod tests;

use super::{Pull, Reserve, Sent, granted};
use crate::core::Tick;
use crate::core::packet::{Cold, Kind, Packet};
use crate::core::plan::FlitTime;
use crate::nic::queue::{Again, SendQueue, key};
use blocks::{Block, Flight, Phase, Second};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use blocks::Reservations;

/// What becomes of speculative packets that are not answered when the granted time comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// They are sent again only if they are refused.
    Default,
    /// They are sent again first, at the granted time, so that a refusal that comes late cannot reorder the message.
    InOrder,
    /// They are sent again behind the rest of the block, so that a refusal that comes late need not be waited for.
    FastResend,
}

/// When a reservation goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reserves {
    /// At once, ahead of all data of the endpoint; the first packet takes the turn of its send queue. So a message that
    /// has to wait at its source has its grant before it speculates.
    AtOnce,
    /// In the turn of its send queue; the first packet takes the next turn.
    InTurn,
    /// In the turn of its send queue, and the first packet with it: reservations cannot outrun data.
    WithFirstPacket,
}

/// What becomes of messages too small for a reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Small {
    /// They go in the data class at once.
    Bypass,
    /// As "bypass", but while packets of the queue meet congestion they reserve.
    Ecn,
    /// Those that wait share a reservation.
    Coalesce,
}

/// More flits than any message has.
pub const BLOCK_MAX: u32 = u32::MAX / 2;

/// The parameters of [`Reservations`], in ticks and flits.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// Traffic class of reservations.
    pub reservation: u8,
    /// Traffic class of data whose time has come.
    pub data: u8,
    /// Traffic class of data ahead of its time.
    pub speculative: u8,
    /// Messages of fewer flits are small.
    pub small_below: u32,
    /// What becomes of those.
    pub small: Small,
    /// How long a notification has small messages reserve.
    pub small_hold: Tick,
    /// Flits of a reservation at most: whole packets; [`BLOCK_MAX`] for no limit.
    pub block_max: u32,
    /// Blocks of a send queue at once; more wait.
    pub outstanding: usize,
    /// When a reservation goes.
    pub reserves: Reserves,
    /// What is sent again without a refusal.
    pub variant: Variant,
    /// Flits of a packet at most.
    pub packet: u32,
    /// Flit time of the channel.
    pub flit: FlitTime,
}

impl Rules {
    /// What to send of the messages that wait, if anything may be sent now.
    pub fn next<Q>(&self, state: &Reservations, queue: &SendQueue<Q>, now: Tick) -> Option<Pull> {
        let message = queue.messages().next()?;
        if let Some(Block { phase: Phase::Speculating { rest: 1.. }, .. }) = state.blocks.back() {
            return Some(Pull::Next(self.speculative));
        }
        let is_small = message.flits() < self.small_below;
        let reserves = match self.small {
            Small::Bypass => !is_small,
            Small::Ecn => !is_small || state.congested_until > now,
            Small::Coalesce => true,
        };
        if !reserves {
            return Some(Pull::Next(self.data));
        }
        let coalesces = is_small && self.small == Small::Coalesce;
        let room = if coalesces { 1 } else { self.outstanding };
        if state.blocks.len() >= room
            && state.blocks.iter().filter(|block| !block.is_over(now)).count() >= room
        {
            return None;
        }
        let (flits, messages) = if coalesces { self.coalesced(queue) } else { (queue.left(), 1) };
        let flits = flits.min(self.block_max);
        let then = (self.reserves == Reserves::WithFirstPacket).then_some(self.speculative);
        Some(Pull::Reserve(Reserve { class: self.reservation, then, flits, messages }))
    }

    /// The class of what goes next of the messages that wait, if time alone does not change that.
    pub fn plain<Q>(&self, state: &Reservations, queue: &SendQueue<Q>, now: Tick) -> Option<u8> {
        match self.next(state, queue, now)? {
            Pull::Next(class) if class == self.speculative || self.small == Small::Bypass => Some(class),
            _ => None,
        }
    }

    /// Flits and number of the small messages that wait first and fit in a reservation; one at least.
    fn coalesced<Q>(&self, queue: &SendQueue<Q>) -> (u32, u32) {
        let (mut flits, mut messages) = (queue.left(), 1);
        if queue.messages().next().is_some_and(|first| first.flits() > flits) {
            return (flits, messages);
        }
        for message in queue.messages().skip(1) {
            if message.flits() >= self.small_below || flits.saturating_add(message.flits()) > self.block_max {
                break;
            }
            flits += message.flits();
            messages += 1;
        }
        (flits, messages)
    }

    /// When to look again if nothing can be sent now: when something is due, or when a granted time comes.
    pub fn wait<Q>(&self, state: &Reservations, queue: &SendQueue<Q>, now: Tick) -> Pull {
        let mut at = queue.due().map_or(Tick::MAX, |due| due.at);
        // Grants may have overtaken each other, or an earlier reservation may wait for answers alone.
        for block in &state.blocks {
            if let Phase::Granted { start, .. } = block.phase
                && start > now
            {
                at = at.min(start);
            }
        }
        if state.congested_until > now {
            at = at.min(state.congested_until);
        }
        if at == Tick::MAX { Pull::Wait } else { Pull::At(at) }
    }

    /// A packet was sent.
    pub fn on_sent(&self, state: &mut Reservations, sent: &Sent) {
        let (key, flits) =
            (key(sent.packet.cold.message, sent.packet.cold.sequence()), sent.packet.hot.flits());
        match sent.pull {
            Pull::Reserve(reserve) => state.blocks.push_back(Block {
                first: key,
                phase: Phase::Speculating { rest: reserve.flits },
                flights: Vec::new(),
            }),
            Pull::Next(class) if class == self.speculative => {
                let block = state.blocks.back_mut().expect("speculation has a reservation");
                let Phase::Speculating { rest } = &mut block.phase else {
                    unreachable!("speculation after it was stopped")
                };
                *rest -= flits;
                if self.variant != Variant::Default {
                    block.flights.push(Flight {
                        packet: Again::sent(sent.packet),
                        copies: 1,
                        second: Second::No,
                    });
                }
            }
            Pull::Again(_) => {
                if let Some(block) = state.block(key) {
                    if let Phase::Granted { left, .. } = &mut block.phase {
                        *left -= flits;
                    }
                    if let Some(flight) = block.flights.iter_mut().find(|f| f.packet.key() == key) {
                        (flight.copies, flight.second) = (flight.copies + 1, Second::Sent);
                    }
                }
            }
            _ => {}
        }
        state.clean(sent.now);
    }

    /// A control packet came.
    pub fn on_control<Q>(
        &self,
        state: &mut Reservations,
        queue: &mut SendQueue<Q>,
        packet: &Packet,
        now: Tick,
    ) {
        match packet.hot.kind() {
            Kind::Grant => {
                let start = granted(packet).expect("a grant carries a time");
                if self.small == Small::Ecn && start > now {
                    state.hold(start + self.small_hold);
                }
                self.on_grant(state, queue, packet.notes.words[1], start);
            }
            Kind::Nack => self.on_refusal(state, queue, packet, now),
            Kind::Ack => self.on_acknowledgement(state, queue, &packet.cold),
            Kind::Notification => state.hold(now + self.small_hold),
            kind => unreachable!("{kind:?} is not for a reservation"),
        }
        state.clean(now);
    }

    /// A time was granted: what is left of the block goes then.
    fn on_grant<Q>(&self, state: &mut Reservations, queue: &mut SendQueue<Q>, first: u64, start: Tick) {
        let block = state.block(first).filter(|block| block.first == first);
        let block = block.expect("law broken: a grant for no reservation");
        let waiting = match &mut block.phase {
            Phase::Speculating { rest } => queue.put_off(*rest, self.packet),
            Phase::Stopped { waiting } => std::mem::take(waiting),
            Phase::Granted { .. } => panic!("law broken: a reservation was granted twice"),
        };
        let mut left = 0;
        for run in waiting {
            left += run.flits;
            queue.again(Again { at: start, class: self.data, ..run });
        }
        let at = match self.variant {
            Variant::FastResend => start + self.flit.span(left.into()),
            _ => start,
        };
        for flight in &mut block.flights {
            flight.second = Second::Waits;
            left += flight.packet.flits;
            queue.again(Again { at, class: self.data, ..flight.packet });
        }
        block.phase = Phase::Granted { start, left };
    }

    /// A packet was refused: it goes at the granted time, or now if that has passed.
    fn on_refusal<Q>(&self, state: &mut Reservations, queue: &mut SendQueue<Q>, packet: &Packet, now: Tick) {
        let key = key(packet.cold.message, packet.cold.sequence());
        let refused = Again::refused(packet, self.data, now);
        let Some(block) = state.block(key) else {
            queue.again(refused);
            return;
        };
        if let Some(at) = block.flights.iter().position(|flight| flight.packet.key() == key) {
            let flight = &mut block.flights[at];
            flight.copies -= 1;
            let (copies, second) = (flight.copies, flight.second);
            if copies == 0 {
                block.flights.remove(at);
            }
            if second != Second::No {
                return;
            }
        }
        match &mut block.phase {
            Phase::Speculating { rest } => {
                let mut waiting = queue.put_off(*rest, self.packet);
                waiting.push(refused);
                block.phase = Phase::Stopped { waiting };
            }
            Phase::Stopped { waiting } => waiting.push(refused),
            Phase::Granted { start, left } => {
                *left += refused.flits;
                queue.again(Again { at: now.max(*start), ..refused });
            }
        }
    }

    /// A copy of a packet arrived: a second one that still waits is not sent.
    fn on_acknowledgement<Q>(&self, state: &mut Reservations, queue: &mut SendQueue<Q>, cold: &Cold) {
        let key = key(cold.message, cold.sequence());
        let Some(block) = state.block(key) else { return };
        let Some(at) = block.flights.iter().position(|flight| flight.packet.key() == key) else { return };
        let flight = &mut block.flights[at];
        flight.copies -= 1;
        if flight.second == Second::Waits {
            flight.second = Second::No;
            queue.cancel(key);
            let Phase::Granted { left, .. } = &mut block.phase else {
                unreachable!("second copies wait for a granted time")
            };
            *left -= flight.packet.flits;
        }
        if flight.copies == 0 {
            block.flights.remove(at);
        }
    }

    /// Whether a second copy of a packet has been sent.
    pub fn was_sent_again(&self, state: &Reservations, cold: &Cold) -> bool {
        let key = key(cold.message, cold.sequence());
        let mut flights = state.blocks.iter().flat_map(|block| &block.flights);
        flights.any(|flight| flight.packet.key() == key && flight.second == Second::Sent)
    }

    /// Whether acknowledgements matter.
    pub fn hears_acknowledgements(&self) -> bool {
        self.variant != Variant::Default
    }

    /// The oldest packet whose copies are not all answered; `own` if there is none older.
    pub fn floor(&self, state: &Reservations, own: u64) -> u64 {
        let mut flights = state.blocks.iter().filter_map(|block| block.flights.first());
        flights.next().map_or(own, |flight| flight.packet.key().min(own))
    }
}
