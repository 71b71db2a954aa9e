//! The switches of SST_CM: streams towards each endpoint, incasts, and the shares of their sources.
use super::SstCm;
use crate::core::Tick;
use crate::core::packet::{Cold, Kind, Packet};
use crate::core::plan::{FlitTime, Plan, Share};
use crate::protocol::abatement::{Shares, Variant};
use crate::protocol::signal::{DIVISOR_ONE, News, Outbox, Voice};
use crate::protocol::{Agent, Arrival, Departure, Interest, Verdict};
use std::collections::BTreeMap;

/// The code's expiry while sources are throttled.
const CODED_EXPIRY: f64 = 5.0;

/// A source with packets for an endpoint, or one that has sent lately.
#[derive(Debug, Clone, Copy, Default)]
struct Stream {
    /// Flits in the switch.
    flits: u32,
    active: bool,
    /// Arrival of the last packet.
    seen: Tick,
    /// It does not end before: its start and its pause.
    grace: Tick,
    /// Streams it was last told of; 0 if it is not throttled.
    told: u32,
}

/// An endpoint of the switch.
struct Target {
    voice: Voice,
    /// Flits in the switch for the endpoint, and those of active streams.
    incoming: u32,
    incast: u32,
    streams: BTreeMap<u32, Stream>,
    active: u32,
    on: bool,
    /// Drain margin: the backlog drains.
    draining: bool,
}

/// The agent of [`SstCm`].
pub struct Tracker {
    variant: Variant,
    targets: Vec<Target>,
    streams: u32,
    outstanding: u32,
    smallest: u32,
    pause: f64,
    expiry: f64,
    margin: f64,
    shares: Shares,
    /// Time of a flit, and of an mtu, to an endpoint.
    flit: FlitTime,
    mtu: Tick,
    outbox: Outbox,
}

impl Tracker {
    /// The agent of a partition.
    pub fn new(parameters: &SstCm, plan: &Plan, share: &Share) -> Self {
        let flit = FlitTime::of(&plan.drain_time);
        let mtu = parameters.mtu.map_or(u32::from(plan.packet_flits), |size| plan.flits(size));
        let target = |voice| Target {
            voice,
            incoming: 0,
            incast: 0,
            streams: BTreeMap::new(),
            active: 0,
            on: false,
            draining: false,
        };
        Self {
            variant: parameters.variant,
            targets: Voice::all(share).map(target).collect(),
            streams: parameters.streams,
            outstanding: plan.flits(parameters.outstanding),
            smallest: plan.flits(parameters.smallest),
            pause: parameters.pause,
            expiry: parameters.expiry,
            margin: parameters.margin,
            shares: Shares::new(plan),
            flit,
            mtu: flit.span(mtu.into()),
            outbox: Outbox::default(),
        }
    }

    /// Silence after which a stream of a target has ended.
    fn life(&self, target: &Target) -> Tick {
        let (factor, streams) = match self.variant {
            Variant::Published => (self.expiry, target.active),
            Variant::Coded if target.on => (CODED_EXPIRY, target.active + 1),
            Variant::Coded => (self.expiry, target.active + 1),
            Variant::DrainMargin => (2.0 * self.expiry, target.active),
        };
        (factor * f64::from(streams.max(1)) * self.mtu as f64) as Tick
    }

    /// A packet has come.
    fn report(&mut self, at: usize, src: u32, flits: u32, now: Tick) {
        let target = &mut self.targets[at];
        target.incoming += flits;
        if flits < self.smallest {
            return;
        }
        let stream = target.streams.entry(src).or_default();
        let fresh = !stream.active;
        stream.flits += flits;
        stream.seen = now;
        target.incast += if fresh { stream.flits } else { flits };
        if fresh {
            stream.active = true;
            target.active += 1;
            target.voice.streams = target.active;
        }
        let life = self.life(&self.targets[at]);
        let target = &mut self.targets[at];
        if fresh {
            target.streams.get_mut(&src).expect("just added").grace = now + life;
        }
        let much = target.incast >= self.outstanding;
        if !target.on && much && target.active >= self.streams {
            target.on = true;
            target.draining = true;
            self.tell_growth(at, now);
        } else if target.on && fresh {
            self.tell_growth(at, now);
        } else if target.on && much && !target.draining && self.variant == Variant::DrainMargin {
            target.draining = true;
            self.tell_all(at, now);
        }
        if self.variant != Variant::Coded {
            self.arm(at, now + life);
        }
    }

    /// The divisor of the rate of each source of a target; over one, which would end an order.
    fn divisor(&self, target: &Target) -> u32 {
        let margin = if target.draining && self.variant == Variant::DrainMargin { self.margin } else { 1.0 };
        self.shares.divisor(target.active, margin).max(DIVISOR_ONE + 1)
    }

    /// Tells the active sources of a target that they are more than they were told.
    fn tell_growth(&mut self, at: usize, now: Tick) {
        let (divisor, life) = (self.divisor(&self.targets[at]), self.life(&self.targets[at]));
        let target = &mut self.targets[at];
        let pause = (self.pause * f64::from(target.incoming) * self.flit.mean()) as Tick;
        let pause = u32::try_from(pause).unwrap_or(u32::MAX);
        let active = target.active;
        for (&src, stream) in
            target.streams.iter_mut().filter(|(_, stream)| stream.active && stream.told < active)
        {
            let first = stream.told == 0;
            let pause = if first || self.variant == Variant::Coded { pause } else { 0 };
            if first {
                stream.grace = stream.grace.max(stream.seen + life).max(now) + Tick::from(pause);
            }
            stream.told = active;
            self.outbox.send(&mut target.voice, src, News::Limit(divisor, pause), now);
        }
    }

    /// Tells all active sources of a target their share.
    fn tell_all(&mut self, at: usize, now: Tick) {
        let divisor = self.divisor(&self.targets[at]);
        let target = &mut self.targets[at];
        for (&src, stream) in target.streams.iter_mut().filter(|(_, stream)| stream.active) {
            stream.told = target.active;
            self.outbox.send(&mut target.voice, src, News::Limit(divisor, 0), now);
        }
    }

    /// Ends the streams of a target that have been silent.
    fn sweep(&mut self, at: usize, now: Tick) {
        let life = self.life(&self.targets[at]);
        let (on, coded) = (self.targets[at].on, self.variant == Variant::Coded);
        let ended = |stream: &Stream| {
            let end = if coded && !on && stream.flits == 0 {
                stream.grace
            } else {
                stream.grace.max(stream.seen + life)
            };
            stream.active && end <= now
        };
        let target = &mut self.targets[at];
        let before = target.active;
        if coded {
            // What has come to its time and lives on is looked at again when its true time has come.
            for stream in target.streams.values_mut().filter(|stream| stream.grace <= now && !ended(stream)) {
                stream.grace = stream.seen + life;
            }
        }
        for (&src, stream) in target.streams.iter_mut().filter(|(_, stream)| ended(stream)) {
            target.active -= 1;
            target.voice.streams = target.active;
            if on && stream.told > 0 {
                self.outbox.send(&mut target.voice, src, News::Limit(DIVISOR_ONE, 0), now);
            }
            (stream.active, stream.told) = (false, 0);
            target.incast -= stream.flits;
        }
        target.streams.retain(|_, stream| stream.active || stream.flits > 0);
        if !target.on || target.active == before {
            return;
        }
        if target.active >= self.streams {
            return self.tell_all(at, now);
        }
        target.on = false;
        for (&src, stream) in target.streams.iter_mut().filter(|(_, stream)| stream.told > 0) {
            stream.told = u32::from(coded);
            self.outbox.send(&mut target.voice, src, News::Limit(DIVISOR_ONE, 0), now);
        }
    }

    fn arm(&mut self, at: usize, when: Tick) {
        self.outbox.arm(&mut self.targets[at].voice, at, when);
    }
}

impl Agent for Tracker {
    fn interest(&self) -> Interest {
        Interest { departures: true, last_hop: true, ..Interest::default() }
    }

    fn outbox(&mut self) -> Option<&mut Outbox> {
        Some(&mut self.outbox)
    }

    fn on_arrive(&mut self, arrival: &Arrival, packet: &Packet) -> Verdict {
        if packet.hot.kind() == Kind::Data {
            self.report(arrival.endpoint as usize, packet.cold.src, packet.hot.flits(), arrival.now);
        }
        Verdict::Keep
    }

    fn on_dequeue(&mut self, departure: &Departure, packet: &mut Cold, _: &mut [u64; 2]) {
        let Some(at) = departure.endpoint.filter(|_| departure.kind == Kind::Data) else { return };
        let at = at as usize;
        let target = &mut self.targets[at];
        target.incoming -= departure.flits;
        if departure.flits >= self.smallest
            && let Some(stream) = target.streams.get_mut(&packet.src)
        {
            stream.flits -= departure.flits;
            if stream.active {
                target.incast -= departure.flits;
            } else if stream.flits == 0 {
                target.streams.remove(&packet.src);
            }
        }
        if self.variant == Variant::Coded {
            self.sweep(at, departure.now);
        } else if target.on && target.draining && 4 * u64::from(target.incast) < self.outstanding.into() {
            target.draining = false;
            if self.variant == Variant::DrainMargin {
                self.tell_all(at, departure.now);
            }
        }
    }

    fn on_timer(&mut self, key: u64, now: Tick) {
        let at = key as usize;
        if !self.targets[at].voice.rings(now) {
            return;
        }
        self.sweep(at, now);
        let target = &self.targets[at];
        let life = self.life(target);
        let next = target.streams.values().filter(|stream| stream.active);
        let next = next.map(|stream| stream.grace.max(stream.seen + life)).min();
        if let Some(next) = next {
            self.arm(at, next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::testing;
    use crate::units::Size;

    fn tracker_of(plan: &Plan, variant: Variant) -> Tracker {
        let p = SstCm {
            variant,
            streams: 2,
            outstanding: Size::Flits(96),
            smallest: Size::Flits(1),
            ..SstCm::default()
        };
        Tracker::new(&p, plan, &plan.shares[0])
    }

    #[test]
    fn a_stream_lives_as_long_as_its_variant_says() {
        let plan = testing::plan();
        let mtu = 24_000 / plan.tick;
        for (variant, on, factor, streams) in [
            (Variant::Published, true, 1.5, 3),
            (Variant::Published, false, 1.5, 3),
            (Variant::Coded, true, 5.0, 4),
            (Variant::Coded, false, 1.5, 4),
            (Variant::DrainMargin, true, 3.0, 3),
        ] {
            let mut tracker = tracker_of(&plan, variant);
            (tracker.targets[0].active, tracker.targets[0].on) = (3, on);
            assert_eq!(
                tracker.life(&tracker.targets[0]),
                (factor * f64::from(streams) * mtu as f64) as Tick,
                "{variant:?} {on}"
            );
        }
    }

    #[test]
    fn the_end_of_a_stream_gives_the_others_more() {
        let plan = testing::plan();
        let mut tracker = tracker_of(&plan, Variant::Published);
        (1..4).for_each(|src| tracker.report(0, src, 32, 0));
        tracker.outbox.signals.clear();
        let late = tracker.targets[0].streams[&3].grace;
        // 1 and 2 go on, 3 does not
        let now = late + tracker.life(&tracker.targets[0]) + 1_000_000;
        [1, 2].iter().for_each(|src| tracker.targets[0].streams.get_mut(src).unwrap().seen = now);
        tracker.sweep(0, now);
        let mut told = Vec::from_iter(tracker.outbox.signals.iter().map(|s| (s.to, s.news)));
        told.sort_by_key(|(to, _)| *to);
        assert_eq!(
            told,
            [
                (1, News::Limit(2 * DIVISOR_ONE, 0)),
                (2, News::Limit(2 * DIVISOR_ONE, 0)),
                (3, News::Limit(DIVISOR_ONE, 0))
            ]
        );
    }

    #[test]
    fn the_drain_margin_lasts_until_a_quarter_is_left() {
        let plan = testing::plan();
        let mut tracker = tracker_of(&plan, Variant::DrainMargin);
        [1, 2].iter().for_each(|&src| tracker.report(0, src, 48, 0));
        assert!(tracker.targets[0].draining);
        tracker.outbox.signals.clear();
        let d = |flits: u32| testing::departure(10, 90, flits, Kind::Data);
        let mut cold = Cold { src: 1, ..Cold::default() };
        tracker.on_dequeue(&d(48), &mut cold, &mut [0; 2]);
        cold.src = 2;
        tracker.on_dequeue(&d(24), &mut cold, &mut [0; 2]);
        assert!(tracker.targets[0].draining && tracker.outbox.signals.is_empty());
        tracker.on_dequeue(&d(1), &mut cold, &mut [0; 2]);
        assert!(!tracker.targets[0].draining);
        assert!(
            tracker.outbox.signals.iter().all(|s| s.news == News::Limit(2 * DIVISOR_ONE, 0))
                && tracker.outbox.signals.len() == 2
        );
    }
}
