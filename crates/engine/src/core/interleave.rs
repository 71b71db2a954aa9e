//! Channels on which control packets go between the flits of data packets.
use super::Tick;
use super::fabric::Fabric;

/// A packet that is under way on a channel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Afoot {
    /// When its tail leaves, if nothing goes between its flits from now on.
    end: Tick,
    flits: u32,
    control: bool,
}

impl Fabric {
    /// Whether packets of a virtual channel go between the flits of others.
    #[inline(always)]
    pub fn interleaves(&self, vc: u8) -> bool {
        self.plan.interleave && self.plan.vcs.is_control(vc)
    }

    /// Flits of the packets whose tails have yet to leave on a channel.
    pub fn under_way(&self, channel: u32) -> u32 {
        let record = &self.channels[channel];
        if record.free_at <= self.now {
            return 0;
        }
        let Some(afoot) = self.afoot.get(channel as usize) else { return record.sending.into() };
        afoot.iter().filter(|packet| packet.end > self.now).map(|packet| packet.flits).sum()
    }

    /// When a control packet can start: behind the flit that is on the channel, which may be the last of a packet, and the control
    /// packets before it.
    pub fn next_cut(&self, channel: u32) -> Tick {
        let (record, now) = (&self.channels[channel], self.now);
        let flit = self.timing[record.row as u32].time(1);
        let controls = self.afoot[channel].iter().filter(|packet| packet.control).map(|packet| packet.end);
        controls.fold(now + flit, Tick::max).min(record.free_at.max(now))
    }

    /// Starts a control packet between the flits of what is under way, which holds the channel for that much longer.
    #[inline(never)]
    pub fn cut_in(&mut self, channel: u32, id: u32) {
        let (now, start, flits) = (self.now, self.next_cut(channel), self.pool.hot[id].flits());
        let record = &mut self.channels[channel];
        let (until, sending, starved) = (record.free_at, record.sending, record.starved);
        record.free_at = start;
        self.now = start;
        self.account(channel, id);
        self.launch(channel, id);
        self.now = now;
        let record = &mut self.channels[channel];
        let end = record.free_at;
        record.starved = starved;
        if until > now {
            (record.free_at, record.sending) = (until + (end - start), sending);
        }
        let afoot = &mut self.afoot[channel];
        afoot.retain(|packet| packet.end > now);
        afoot.iter_mut().filter(|packet| packet.end > start).for_each(|packet| packet.end += end - start);
        afoot.push(Afoot { end, flits, control: true });
    }

    /// Notes that a packet starts on a channel on which no other is under way.
    pub(super) fn note_alone(&mut self, channel: u32, id: u32) {
        if !self.plan.interleave {
            return;
        }
        let hot = &self.pool.hot[id];
        let time = self.timing[self.channels[channel].row as u32].time(hot.flits());
        let end = (self.now + time).max(hot.tail);
        let (flits, control) = (hot.flits(), self.interleaves(hot.next_vc));
        let afoot = &mut self.afoot[channel];
        afoot.clear();
        afoot.push(Afoot { end, flits, control });
    }
}
