//! Accounts that only some routings, buffers and records need: room that is promised, flits that are bound for a virtual
//! channel, credits that virtual channels share, and what is carried by whom.
use super::channel::Far;
use super::circuits::{Ended, connection};
use super::credits::Credit;
use super::fabric::Fabric;
use super::packet::{Hot, Kind};
use super::{NEVER, Tick};
use crate::protocol::{Agent, Departure};
use std::ops::RangeInclusive;

impl Fabric {
    /// Flits of credit, those that are back by now included, that were promised to no packet.
    pub fn room(&self, channel: u32, vc: u8) -> u32 {
        let lane = channel * self.vcs + vc as u32;
        let back: u32 = self.channels[channel].returns.flits(vc, self.now);
        (self.credits[lane] + back).saturating_sub(self.promised[lane])
    }

    /// Flits of the buffer ahead of a channel to a switch for which no credit is back by now.
    pub fn in_use(&self, channel: u32) -> u32 {
        let record = &self.channels[channel];
        let Some(link) = self.plan.links.get(usize::from(record.row)) else { return 0 };
        let room = link.rooms() + u64::from(link.pool);
        let lanes = (channel * self.vcs)..(channel + 1) * self.vcs;
        let own: u64 = lanes.map(|lane| u64::from(self.credits[lane])).sum();
        (room - own) as u32 - self.shared(channel) - record.returns.all(self.now)
    }

    /// Flits of credit on their way back to a virtual channel that are back by a time.
    fn owed(&self, channel: u32, vc: u8, by: Tick) -> u32 {
        let of = |credit: &Credit| credit.vc() == u32::from(vc) && credit.at() <= by;
        self.on_their_way(channel).filter(of).map(|credit| credit.flits()).sum()
    }

    /// Credits that are on their way back to a channel.
    fn on_their_way(&self, channel: u32) -> impl Iterator<Item = Credit> {
        let record = &self.channels[channel];
        let exchanged = match record.far {
            Far::Line(line) => self.lines[line].in_credits.as_slice(),
            _ => &[],
        };
        record.returns.iter().chain(exchanged.iter().copied())
    }

    /// Whether so many flits, or under pauses any, may be sent on a virtual channel by what its sender has been told by a time, of what
    /// has been sent until now: with `NEVER`, once all credit that is on its way has come.
    pub fn will_afford(&self, channel: u32, vc: u8, flits: u32, by: Tick) -> bool {
        match self.plan.link_ahead(self.channels[channel].row).and_then(|link| link.pauses) {
            Some(limits) => !self.pauses[channel].is_paused_by((vc, by), self.on_their_way(channel), limits),
            None => self.credit_by(channel, vc, by) >= flits,
        }
    }

    /// Flits of credit of a virtual channel, once what is back by a time has come.
    fn own(&self, channel: u32, vc: u8, by: Tick) -> u32 {
        self.credits[channel * self.vcs + vc as u32] + self.owed(channel, vc, by)
    }

    /// Flits of the buffer ahead that all virtual channels share and none uses.
    fn shared(&self, channel: u32) -> u32 {
        self.pools.get(channel as usize).copied().unwrap_or(0)
    }

    /// Flits of credit that a virtual channel can have once what is back by a time has come: of others, what they have borrowed.
    fn credit_by(&self, channel: u32, vc: u8, by: Tick) -> u32 {
        let own = self.own(channel, vc, by) + self.shared(channel);
        if self.pools.is_empty() {
            return own;
        }
        let others = (0..self.vcs as u8).filter(|&other| other != vc);
        let repaid =
            |other: u8| self.owed(channel, other, by).min(self.borrowed[channel * self.vcs + other as u32]);
        own + others.map(repaid).sum::<u32>()
    }

    /// Flits of the buffer ahead that these virtual channels do not use once all credit that is on its way has come.
    pub fn unused(&self, channel: u32, vcs: RangeInclusive<u8>) -> u32 {
        self.shared(channel) + vcs.map(|vc| self.own(channel, vc, NEVER)).sum::<u32>()
    }

    /// Promises the room ahead to a packet that has just been routed, if it was routed to the reserved level.
    #[inline]
    pub fn promise(&mut self, channel: u32, vc: u8, flits: u32) {
        if !self.accounted {
            return;
        }
        if !self.promised.is_empty() && self.is_reserved(vc) {
            self.promised[channel * self.vcs + vc as u32] += flits;
        }
        self.note_bound(channel, vc, flits);
    }

    /// Counts a packet in a switch that was routed to a virtual channel.
    #[inline]
    pub fn note_bound(&mut self, channel: u32, vc: u8, flits: u32) {
        if !self.bound.is_empty() {
            self.bound[channel * self.vcs + vc as u32] += flits;
        }
    }

    /// Flits in the switch that are bound for a channel and as urgent as a packet on a virtual channel, or more, without those of
    /// packets that are about to be dropped: of a run that keeps account of what is bound where.
    pub fn as_urgent(&self, channel: u32, vc: u8) -> u32 {
        let all: u32 = self.plan.vcs.as_urgent(vc).map(|vc| self.bound[channel * self.vcs + vc]).sum();
        all - self.flits_as_urgent(channel, vc, self.dropped.iter().copied())
    }

    /// Of these packets, with their inputs, the flits that are bound for a channel and as urgent as a packet on a virtual channel, or more.
    pub fn flits_as_urgent(&self, channel: u32, vc: u8, packets: impl Iterator<Item = (u32, u32)>) -> u32 {
        let vcs = self.plan.vcs.as_urgent(vc);
        let hots = packets.map(|(input, id)| (self.inlets[input].base, &self.pool.hot[id]));
        let there = hots
            .filter(|&(base, hot)| base + u32::from(hot.out) == channel && vcs.contains(&hot.next_vc.into()));
        there.map(|(_, hot)| hot.flits()).sum()
    }

    /// Flits in the switch that are bound for a virtual channel, and flits of its credits that are in use.
    pub fn committed(&self, channel: u32, vc: u8) -> u32 {
        let lane = channel * self.vcs + vc as u32;
        let record = &self.channels[channel];
        let back: u32 = record.returns.flits(vc, self.now);
        // A channel to an endpoint has no buffer ahead.
        let own = self.plan.links.get(usize::from(record.row)).map_or(0, |link| link.room(usize::from(vc)));
        let room = own + self.borrowed.get(lane as usize).copied().unwrap_or(0);
        self.bound[lane] + room.saturating_sub(self.credits[lane] + back)
    }

    /// Takes back what was promised to a packet that is dropped.
    pub fn forget(&mut self, channel: u32, vc: u8, flits: u32) {
        if !self.promised.is_empty() && self.is_reserved(vc) {
            self.promised[channel * self.vcs + vc as u32] -= flits;
        }
        if !self.bound.is_empty() {
            self.bound[channel * self.vcs + vc as u32] -= flits;
        }
    }

    pub(super) fn is_reserved(&self, vc: u8) -> bool {
        let level = vc - self.plan.vcs.base_of[vc as usize];
        self.plan.router.reserved_level() == Some(level)
    }

    /// Of credit that came back to a virtual channel the pool gets what that has borrowed of it: who holds more than its own room gives
    /// the rest back first, however much it has to send.
    #[cold]
    pub(super) fn repay(&mut self, channel: u32, vc: u32, flits: u32) {
        let lane = channel * self.vcs + vc;
        let repaid = flits.min(self.borrowed[lane]);
        self.borrowed[lane] -= repaid;
        self.credits[lane] -= repaid;
        self.pools[channel] += repaid;
    }

    /// Notes what concerns more than the channel when a packet is about to be sent, before its own credits are taken.
    #[inline(never)]
    pub(super) fn account(&mut self, channel: u32, id: u32) {
        if self.accounted {
            self.keep_accounts(channel, id);
        }
        let hot = &self.pool.hot[id];
        if self.probe.loads.is_some() && channel < self.ports && hot.kind() == Kind::Data {
            let ticks = self.span(channel, hot.flits());
            if let Some(loads) = &mut self.probe.loads {
                loads.carried(channel, self.pool.cold[id].class(), self.pool.tags[id].word, ticks);
            }
        }
        if hot.kind() == Kind::TearDown && channel < self.ports {
            let connection = connection(self.pool.cold[id].src, hot.dst);
            self.ended.push(Ended { port: channel, connection, weight: self.pool.notes[id].words[0] });
        }
    }

    #[inline(never)]
    fn keep_accounts(&mut self, channel: u32, id: u32) {
        if self.probe.traces() {
            self.trace_hop(channel, id);
        }
        let hot = &self.pool.hot[id];
        let (flits, lane) = (hot.flits(), channel * self.vcs + hot.next_vc as u32);
        if channel < self.ports {
            if !self.bound.is_empty() {
                self.bound[lane] -= flits;
            }
            if self.probe.ports_recorded() {
                self.watch(channel, id);
            }
        }
        if let Far::Endpoint(_) = self.channels[channel].far {
            return;
        }
        if !self.promised.is_empty() {
            let promised = &mut self.promised[lane];
            *promised = promised.saturating_sub(flits);
        }
        if !self.pauses.is_empty() {
            self.note_sent(channel, (lane - channel * self.vcs) as u8, flits);
        }
        if !self.pools.is_empty() {
            let borrowed = flits.saturating_sub(self.credits[lane]);
            assert!(borrowed <= self.pools[channel], "law broken: a packet was sent without credit");
            self.pools[channel] -= borrowed;
            self.borrowed[lane] += borrowed;
            self.credits[lane] += borrowed;
        }
    }

    /// Shows the protocol a packet that leaves at a time on a channel for which so many flits wait in the switch; of several grades only
    /// those as urgent as the packet count.
    #[inline(never)]
    pub fn depart(&mut self, (port, at): (u32, Tick), id: u32, waiting: u32, agent: &mut dyn Agent) {
        self.take_credits(port);
        let hot = &self.pool.hot[id];
        let spare = self.credit(port, hot.next_vc) - hot.flits();
        let waiting = if self.plan.vcs.grades > 1 { self.as_urgent(port, hot.next_vc) } else { waiting };
        let departure = Departure {
            now: at,
            port,
            endpoint: self.endpoint_behind(port),
            flits: hot.flits(),
            time: self.timing[self.channels[port].row as u32].time(hot.flits()),
            waiting,
            at_inputs: if self.tells_inputs { self.at_inputs(port, hot, waiting) } else { 0 },
            has_credit: spare >= self.plan.packet_flits as u32,
            kind: hot.kind(),
            dst: hot.dst,
        };
        let mut none = [0; 2];
        let words = if self.pool.noting { &mut self.pool.notes[id].words } else { &mut none };
        agent.on_dequeue(&departure, &mut self.pool.cold[id], words);
    }

    /// Of the flits that wait for a channel, one of whose packets leaves, those that are still at the inputs: without output queues, all but
    /// the packet's.
    #[inline(never)]
    fn at_inputs(&self, port: u32, packet: &Hot, waiting: u32) -> u32 {
        let behind = waiting - packet.flits();
        if self.plan.output_buffer.is_none() {
            return behind;
        }
        let queues = self.plan.vcs.as_urgent(packet.next_vc);
        behind - queues.map(|vc| self.queued(port, vc as u8)).sum::<u32>()
    }

    /// Notes when a packet holds a port.
    fn watch(&mut self, port: u32, id: u32) {
        let hot = &self.pool.hot[id];
        let own = self.timing[self.channels[port].row as u32].time(hot.flits());
        let taken = (self.now + self.span(port, hot.flits())).max(hot.tail);
        let end = (self.now + own).max(hot.tail).min(taken);
        self.probe.active(port, self.now, (end, taken));
    }
}
