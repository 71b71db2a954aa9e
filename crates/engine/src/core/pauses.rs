//! Pauses: what the buffer ahead of a channel has told its sender, where the flow control has it stop and go on.
//!
//! Where a buffer's fill alone decides, the sender reckons it by itself: a packet that it sends counts in the buffer from when its head comes
//! there until its credit goes back, and of both the sender would be told as much later. So it knows at any time whether it would be
//! paused, and nothing has to travel but credits. Where buffers share memory ([`super::memory`]), their orders travel too.
use super::credits::Credit;
use super::fabric::Fabric;
use super::plan::{LinkPlan, PauseLimits};
use super::{NEVER, Tick};
use crate::probe::Probe;
use crate::probe::pauses::Pause;
use std::collections::VecDeque;

/// Times of pauses that a channel keeps before it measures those that are surely before the end.
const SETTLED_AT: usize = 16;

/// What the sender of a channel has been told of the buffer ahead.
#[derive(Default)]
pub(super) struct Pauses {
    /// Packets in the order in which they were sent, with the time at which it is told of them.
    sent: VecDeque<Credit>,
    /// By virtual channel.
    lanes: Box<[Lane]>,
    /// Those that it was told of at the time that is being looked at.
    touched: Vec<u8>,
    /// How many virtual channels are paused, and since when one is, or more.
    paused: u32,
    since: Tick,
    past: Past,
}

/// The pauses of a channel so far: what may be after the end of the run, which is known later, is kept by its times.
#[derive(Default)]
struct Past {
    /// When pauses of virtual channels began.
    begun: Vec<Tick>,
    /// From when to when one was paused, or more.
    spans: Vec<(Tick, Tick)>,
    /// What is surely before the end, and measured: what was until then.
    settled: Tick,
    count: u64,
    time: Tick,
}

impl Past {
    /// Measures what was until a time before the end of the run, or at its end.
    fn settle(&mut self, until: Tick, probe: &Probe) {
        self.settled = until;
        self.count +=
            self.begun.extract_if(.., |at| *at < until).filter(|&at| probe.measures(at)).count() as u64;
        let spans = self.spans.extract_if(.., |span| span.1 <= until);
        self.time += spans.map(|(from, to)| probe.measured(from, to)).sum::<Tick>();
    }
}

/// What it has been told of a virtual channel.
#[derive(Clone, Copy)]
struct Lane {
    /// Flits in its buffer.
    held: u32,
    /// When it was paused; `NEVER` if it is not.
    since: Tick,
    /// Flits of credit, those taken in by now, with which no more can be in the buffer than pause its sender.
    enough: u32,
}

impl Lane {
    /// What follows from what it was told up to a time.
    fn judged(self, at: Tick, limits: PauseLimits) -> Self {
        let since = match self.held {
            held if held > limits.xoff => self.since.min(at),
            held if held <= limits.xon => NEVER,
            _ => self.since,
        };
        Self { since, ..self }
    }
}

impl Pauses {
    /// Of a channel with so many virtual channels and this link class ahead, if there is one.
    pub(super) fn new(vcs: u32, ahead: Option<&LinkPlan>) -> Self {
        let enough = |vc: usize| {
            let limits = ahead.and_then(|link| Some((link.buffer[vc], link.pauses?)));
            limits.map_or(0, |(flits, limits)| match limits.shared {
                Some(_) => u32::MAX,
                None => flits.saturating_sub(limits.xoff),
            })
        };
        let lane = |vc| Lane { held: 0, since: NEVER, enough: enough(vc) };
        Self { lanes: (0..vcs as usize).map(lane).collect(), ..Self::default() }
    }

    /// Whether a virtual channel is not paused whatever it would be told by now, by its credits: what was sent and has no credit
    /// back does not fill the buffer as far as that.
    #[inline]
    pub(super) fn is_surely_free(&self, vc: u8, credits: u32) -> bool {
        let lane = &self.lanes[usize::from(vc)];
        lane.since == NEVER && credits >= lane.enough
    }

    pub(super) fn is_paused(&self, vc: u8) -> bool {
        self.lanes[usize::from(vc)].since != NEVER
    }

    /// Whether a virtual channel is paused at a time, by what it is told until then of what was sent and of the credits that are coming.
    pub(super) fn is_paused_by(
        &self,
        (vc, by): (u8, Tick),
        credits: impl Iterator<Item = Credit>,
        limits: PauseLimits,
    ) -> bool {
        let of = |credit: &Credit| credit.vc() == u32::from(vc) && credit.at() <= by;
        if limits.shared.is_some() {
            let orders = credits.filter(of).filter(|credit| credit.flits() == 0).count();
            return self.is_paused(vc) != (orders % 2 == 1);
        }
        let sent = self.sent.iter().copied().filter(of).map(|sent| (sent.at(), sent.flits(), 0));
        let back = credits.filter(of).map(|back| (back.at(), 0, back.flits()));
        let mut told = Vec::from_iter(sent.chain(back));
        told.sort_unstable();
        let mut lane = self.lanes[usize::from(vc)];
        for together in told.chunk_by(|one, other| one.0 == other.0) {
            together.iter().for_each(|&(_, more, _)| lane.held += more);
            together.iter().for_each(|&(.., less)| lane.held -= less);
            lane = lane.judged(together[0].0, limits);
        }
        lane.since != NEVER
    }

    /// Bytes held beside its record.
    pub(super) fn memory(&self) -> usize {
        let times = size_of_val(self.past.begun.as_slice()) + size_of_val(self.past.spans.as_slice());
        self.sent.capacity() * size_of::<Credit>()
            + self.touched.capacity()
            + size_of_val(&*self.lanes)
            + times
    }
}

impl Fabric {
    /// A packet is sent to a buffer ahead.
    pub(super) fn note_sent(&mut self, channel: u32, vc: u8, flits: u32) {
        let Some(link) = self.plan.link_ahead(self.channels[channel].row) else { return };
        let Some(limits) = link.pauses else { return };
        let comes = self.now + self.lag(channel, flits) + link.credit();
        if limits.shared.is_some() {
            return self.expect_fill(channel, comes, vc, flits);
        }
        let told = comes + link.credit() + Tick::from(limits.response);
        self.pauses[channel].sent.push_back(Credit::new(told, vc, flits));
    }

    /// Takes in what the sender of a channel is told by now, in the order of the times: what it is told at one time counts together.
    pub(super) fn hear(&mut self, channel: u32) {
        let row = self.channels[channel].row;
        let Some(limits) = self.plan.link_ahead(row).and_then(|link| link.pauses) else { return };
        if limits.shared.is_some() {
            return self.hear_orders(channel);
        }
        let mut touched = std::mem::take(&mut self.pauses[channel].touched);
        loop {
            let back = self.channels[channel].returns.first().unwrap_or(NEVER);
            let sent = self.pauses[channel].sent.front().map_or(NEVER, |sent| sent.at());
            let at = back.min(sent);
            if at > self.now {
                break;
            }
            let pauses = &mut self.pauses[channel];
            while let Some(sent) = pauses.sent.front().filter(|sent| sent.at() == at) {
                pauses.lanes[sent.vc() as usize].held += sent.flits();
                touched.push(sent.vc() as u8);
                pauses.sent.pop_front();
            }
            while let Some(credit) = self.channels[channel].returns.take(at) {
                self.pauses[channel].lanes[credit.vc() as usize].held -= credit.flits();
                touched.push(credit.vc() as u8);
                self.regain(channel, credit);
            }
            for vc in touched.drain(..) {
                self.judge(channel, vc, at, limits);
            }
        }
        self.pauses[channel].touched = touched;
    }

    /// The same where the buffer ahead decides: a credit of no flits is an order.
    fn hear_orders(&mut self, channel: u32) {
        while let Some(credit) = self.channels[channel].returns.take(self.now) {
            if credit.flits() > 0 {
                self.regain(channel, credit);
                continue;
            }
            let vc = credit.vc() as u8;
            let since = if self.pauses[channel].is_paused(vc) { NEVER } else { credit.at() };
            self.turn(channel, vc, credit.at(), since);
        }
    }

    /// Pauses a virtual channel at a time, or has it resume, by what its buffer holds then.
    fn judge(&mut self, channel: u32, vc: u8, at: Tick, limits: PauseLimits) {
        let since = self.pauses[channel].lanes[usize::from(vc)].judged(at, limits).since;
        self.turn(channel, vc, at, since);
    }

    /// A virtual channel is paused since a time, or is not, from now on.
    fn turn(&mut self, channel: u32, vc: u8, at: Tick, since: Tick) {
        let pauses = &mut self.pauses[channel];
        let lane = &mut pauses.lanes[usize::from(vc)];
        let before = std::mem::replace(&mut lane.since, since);
        if before == since {
            return;
        }
        if since != NEVER {
            if pauses.paused == 0 {
                pauses.since = at;
            }
            pauses.paused += 1;
            pauses.past.begun.push(at);
        } else {
            pauses.paused -= 1;
            if pauses.paused == 0 {
                pauses.past.spans.push((pauses.since, at));
            }
            self.record_pause(channel, vc, before, at);
        }
        let past = &mut self.pauses[channel].past;
        if past.begun.len() + past.spans.len() > SETTLED_AT && past.settled < self.checked {
            past.settle(self.checked, &self.probe);
        }
    }

    fn record_pause(&mut self, channel: u32, vc: u8, start: Tick, end: Tick) {
        if self.probe.every_pause.is_none() {
            return;
        }
        let plan = self.plan.clone();
        let (from, to, _) = self.ends(&plan, channel);
        self.probe
            .every_pause
            .iter_mut()
            .for_each(|pauses| pauses.push(Pause { start, ends: (from, to), vc, end }));
    }

    /// Takes in what senders are told until the end of a run, and has their pauses measured.
    pub fn end_pauses(&mut self, end: Tick) {
        self.now = end;
        for channel in 0..self.pauses.len() as u32 {
            self.hear(channel);
            let pauses = &mut self.pauses[channel];
            if pauses.paused > 0 {
                pauses.past.spans.push((pauses.since, end));
            }
            // The run has gone on until it knew that it was over.
            pauses.past.spans.iter_mut().for_each(|span| span.1 = span.1.min(end));
            pauses.past.settle(end, &self.probe);
            let row = usize::from(self.channels[channel].row);
            self.probe.add_pauses(row, pauses.past.count, pauses.past.time);
            for vc in 0..self.vcs {
                let since = self.pauses[channel].lanes[vc as usize].since;
                if since != NEVER {
                    self.record_pause(channel, vc as u8, since, NEVER);
                }
            }
        }
    }
}
