//! Space in the buffers ahead of channels: the credits that a sender has, and how they come back.
use super::channel::{Far, Inlet, Upstream};
use super::credits::{Credit, MANY_PORTS};
use super::fabric::Fabric;
use super::packet::Hot;
use super::{NEVER, Tick};
use crate::routing::BUBBLE;

impl Fabric {
    /// Flits that may be sent on this virtual channel. Credits must have been taken in before.
    #[inline]
    pub fn credit(&self, channel: u32, vc: u8) -> u32 {
        let own = self.credits[channel * self.vcs + vc as u32];
        if self.any_time { own } else { self.other_credit(channel, vc, own) }
    }

    /// Where senders are paused, or virtual channels share. Who is not paused sends whatever there is: headroom keeps the room for it.
    #[inline(never)]
    fn other_credit(&self, channel: u32, vc: u8, own: u32) -> u32 {
        match self.pauses.get(channel as usize) {
            Some(pauses) if pauses.is_paused(vc) => 0,
            Some(_) => u32::MAX,
            None => own + self.pools[channel],
        }
    }

    /// Whether so many flits may be sent. Credits that have come back are taken in only where they are needed, unless their order matters.
    #[inline(always)]
    pub fn affords(&mut self, channel: u32, vc: u8, flits: u32) -> bool {
        self.any_time && self.credits[channel * self.vcs + vc as u32] >= flits
            || self.gets_credit(channel, vc, flits)
    }

    #[inline(never)]
    fn gets_credit(&mut self, channel: u32, vc: u8, flits: u32) -> bool {
        let own = self.credits[channel * self.vcs + vc as u32];
        if self.pauses.get(channel as usize).is_some_and(|pauses| pauses.is_surely_free(vc, own)) {
            return true;
        }
        self.take_credits(channel);
        self.credit(channel, vc) >= flits
    }

    /// Flits that must fit in the first buffer after the crossbar for a packet to cross: its own, and a largest packet's more
    /// where it needs a bubble.
    #[inline]
    pub fn room_needed(&self, hot: &Hot) -> u32 {
        hot.flits() + if hot.state & BUBBLE != 0 { self.plan.packet_flits as u32 } else { 0 }
    }

    /// Takes in the credits that have come back by now.
    #[inline]
    pub fn take_credits(&mut self, channel: u32) {
        let first = channel * self.vcs;
        if self.any_time {
            let credits = &mut self.credits;
            let back = |credit: Credit| credits[first + credit.vc()] += credit.flits();
            return self.channels[channel].returns.take_all(self.now, back);
        }
        if !self.pauses.is_empty() {
            return self.hear(channel);
        }
        while let Some(credit) = self.channels[channel].returns.take(self.now) {
            self.regain(channel, credit);
        }
    }

    /// A credit is back, of which the pool gets its part.
    pub(super) fn regain(&mut self, channel: u32, credit: Credit) {
        self.credits[channel * self.vcs + credit.vc()] += credit.flits();
        if !self.pools.is_empty() {
            self.repay(channel, credit.vc(), credit.flits());
        }
    }

    /// When a sender that lacks credit should look again; `NEVER` if none is on its way: the next one wakes it.
    pub fn next_credit(&mut self, channel: u32) -> Tick {
        let record = &mut self.channels[channel];
        record.starved = true;
        record.returns.first().unwrap_or(NEVER)
    }

    /// Whether it has so many ports that they are rarely found in a second-level cache.
    #[inline(always)]
    pub(super) fn is_large(&self) -> bool {
        self.ports >= MANY_PORTS
    }

    /// Releases buffer space of an input at `at` (now or later): the credit travels upstream.
    #[inline]
    pub fn release(&mut self, input: u32, vc: u8, flits: u32, at: Tick) {
        let credit = Credit::new(at, vc, flits);
        if self.defers {
            self.released.push((input, credit));
        } else {
            self.send_upstream(input, credit);
        }
    }

    /// It calls nothing but at its end, so that it need not keep what others have in registers.
    #[inline(never)]
    pub(super) fn send_upstream(&mut self, input: u32, credit: Credit) {
        let Inlet { upstream, delay, .. } = self.inlets[input];
        let credit = credit.later(delay);
        match upstream {
            Upstream::Channel(channel) => self.return_credit(channel, credit),
            Upstream::Line(line) => self.lines[line].return_credit(credit),
            Upstream::Nowhere => {}
        }
    }

    /// Sends the credits of what was released in this tick and waits for that, and tells memory that is shared. All at once: each goes to a
    /// place of its own, which in a large partition is rarely found in a cache, and a processor waits for several of them together. In a
    /// small one a credit that goes at once hides behind other work.
    #[inline(never)]
    pub(super) fn return_credits(&mut self) {
        let mut released = std::mem::take(&mut self.released);
        for &(input, _) in &released {
            if let Upstream::Channel(channel) = self.inlets[input].upstream {
                self.channels.fetch(channel);
            }
        }
        for (input, credit) in released.drain(..) {
            if self.memory.is_some() {
                self.expect_release(input, credit);
            }
            self.send_upstream(input, credit);
        }
        self.released = released;
    }

    /// Flits for which there is credit in all buffers ahead or credit on its way back, and flits that fit there.
    pub fn space(&self) -> (u64, u64) {
        let over_lines = self.lines.iter().flat_map(|line| line.in_credits.iter().chain(&line.out_credits));
        let mut free = over_lines.map(|credit| u64::from(credit.flits())).sum();
        let mut room = 0;
        for (channel, record) in (0..).zip(self.channels.iter()) {
            if let Far::Endpoint(_) = record.far {
                continue;
            }
            // Endpoints' own channels have a row behind those of the links.
            let link = self.plan.links.get(usize::from(record.row)).unwrap_or(&self.plan.links[0]);
            let own = (0..self.vcs).map(|vc| u64::from(self.credits[channel * self.vcs + vc])).sum::<u64>();
            let pool = if self.pools.is_empty() { 0 } else { self.pools[channel] };
            free += own + u64::from(pool) + u64::from(record.returns.all(NEVER));
            room += link.rooms() + u64::from(link.pool);
        }
        (free, room)
    }

    /// A credit comes back to a channel: as a rule in the order of their times, and there is memory for it.
    #[inline(always)]
    pub(super) fn return_credit(&mut self, channel: u32, credit: Credit) {
        let record = &mut self.channels[channel];
        match record.returns.append(credit) {
            Some(false) => {}
            Some(true) if !record.starved => {}
            Some(true) => self.wake(channel, credit.at()),
            None => self.insert_credit(channel, credit),
        }
    }

    #[inline(never)]
    fn insert_credit(&mut self, channel: u32, credit: Credit) {
        if self.channels[channel].returns.is_full() && self.any_time {
            // Those that have come make room, so that the list is no longer than what is on its way.
            self.take_credits(channel);
        }
        let record = &mut self.channels[channel];
        if record.returns.add(credit) && record.starved {
            self.wake(channel, credit.at());
        }
    }
}
