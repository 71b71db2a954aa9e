//! The switches of CODES_CC: what waits for each endpoint, and who is ordered to throttle.
use super::CodesCc;
use crate::core::Tick;
use crate::core::packet::{Cold, Kind, Packet};
use crate::core::plan::{FlitTime, Plan, Share};
use crate::protocol::abatement::{Shares, Variant};
use crate::protocol::signal::{News, Outbox, Voice};
use crate::protocol::{Agent, Arrival, Departure, Interest, Verdict};
use std::collections::BTreeMap;

/// A source with packets for a port, or with an order of that port.
#[derive(Debug, Clone, Copy, Default)]
struct Stream {
    /// Flits in the switch.
    flits: u32,
    /// The application of the last packet: its class in the scenario.
    class: u8,
    marked: bool,
    /// Arrival of the last packet.
    seen: Tick,
}

/// A port to an endpoint.
struct Port {
    voice: Voice,
    /// Global switch.
    switch: u32,
    /// Flits in the switch that are bound for it.
    flits: u32,
    streams: BTreeMap<u32, Stream>,
    congested: bool,
    /// The congestion is not over before.
    not_before: Tick,
    /// Sources with an order, and whether the backlog drains (drain margin).
    marked: u32,
    draining: bool,
}

/// The agent of [`CodesCc`].
pub struct Monitor {
    variant: Variant,
    ports: Vec<Port>,
    /// Thresholds in flits.
    high: f64,
    low: f64,
    /// Time of a flit to an endpoint.
    flit: FlitTime,
    shares: Shares,
    packet_flits: u32,
    aggressor_share: f64,
    margin: f64,
    hold: f64,
    /// As coded: ports of a switch that have an order over a source.
    abating: BTreeMap<(u32, u32), u32>,
    /// As coded: ports whose backlog has gone in this tick. The last port of a switch to let a source go tells it, so they do so in their
    /// order, not in that in which they were settled.
    drained: Vec<(usize, Tick)>,
    outbox: Outbox,
}

impl Monitor {
    /// The agent of a partition.
    pub fn new(parameters: &CodesCc, plan: &Plan, share: &Share) -> Self {
        let buffer = parameters.buffer(plan);
        let port = |voice: Voice| Port {
            voice,
            switch: plan.graph.endpoints[voice.about as usize].0,
            flits: 0,
            streams: BTreeMap::new(),
            congested: false,
            not_before: 0,
            marked: 0,
            draining: false,
        };
        Self {
            variant: parameters.variant,
            ports: Voice::all(share).map(port).collect(),
            high: parameters.congested * buffer,
            low: parameters.decongested * buffer,
            flit: FlitTime::of(&plan.drain_time),
            shares: Shares::new(plan),
            packet_flits: plan.packet_flits.into(),
            aggressor_share: parameters.aggressor_share,
            margin: parameters.margin,
            hold: parameters.hold,
            abating: BTreeMap::new(),
            drained: Vec::new(),
            outbox: Outbox::default(),
        }
    }

    fn size(&self, flits: u32) -> u32 {
        if self.variant == Variant::Coded { self.packet_flits } else { flits }
    }

    /// Time of some flits to the endpoint.
    fn time(&self, flits: f64) -> Tick {
        (flits.max(0.0) * self.flit.mean()) as Tick
    }

    /// A packet of a source has come to a port that is congested, or makes it so.
    fn arrived(&mut self, at: usize, src: u32, flits: u32, now: Tick) {
        let port = &mut self.ports[at];
        let fresh = !port.streams[&src].marked;
        if port.congested {
            port.not_before += self.flit.span(flits.into());
            match self.variant {
                Variant::Published if fresh => self.abate(at, src, now),
                Variant::Coded if fresh => self.abate_as_coded(at, src, false, now),
                Variant::DrainMargin => self.adjust(at, fresh.then_some(src), now),
                _ => {}
            }
        } else if f64::from(port.flits) >= self.high {
            self.congest(at, now);
        }
    }

    fn congest(&mut self, at: usize, now: Tick) {
        let backlog = f64::from(self.ports[at].flits) - self.low;
        let estimate = match self.variant {
            Variant::Coded => self.time(2.0 * (self.high - self.low)),
            _ => self.time(backlog),
        };
        let port = &mut self.ports[at];
        port.congested = true;
        port.not_before = now + estimate;
        let waiting = port.streams.iter().filter(|(_, stream)| stream.flits > 0);
        let sources: Vec<u32> = waiting.map(|(&src, _)| src).collect();
        match self.variant {
            Variant::Published => sources.iter().for_each(|&src| self.abate(at, src, now)),
            Variant::Coded => sources.iter().for_each(|&src| self.abate_as_coded(at, src, true, now)),
            Variant::DrainMargin => {
                sources.iter().for_each(|&src| self.mark(at, src));
                self.ports[at].draining = true;
                self.share(at, now);
                self.arm(at, now + self.silence(at));
            }
        }
    }

    fn mark(&mut self, at: usize, src: u32) {
        let port = &mut self.ports[at];
        port.streams.get_mut(&src).expect("it has packets here").marked = true;
        port.marked += 1;
    }

    fn abate(&mut self, at: usize, src: u32, now: Tick) {
        self.mark(at, src);
        self.outbox.send(&mut self.ports[at].voice, src, News::Abate(0), now);
    }

    /// As coded: a source is ordered if its application owns the backlog. One that another port of the switch has ordered
    /// is only marked, and not even that when it comes after the port was `found` congested.
    fn abate_as_coded(&mut self, at: usize, src: u32, found: bool, now: Tick) {
        let port = &self.ports[at];
        let class = port.streams[&src].class;
        let of_class = port.streams.values().filter(|stream| stream.class == class);
        let share = of_class.map(|stream| stream.flits).sum::<u32>() / port.flits.max(1);
        let orders = self.abating.get(&(port.switch, src)).copied().unwrap_or(0);
        if f64::from(share) < self.aggressor_share || orders > 0 && !found {
            return;
        }
        *self.abating.entry((port.switch, src)).or_default() += 1;
        if orders == 0 {
            self.abate(at, src, now);
        } else {
            self.mark(at, src);
        }
    }

    /// A packet has left a congested port, or a time has come: the congestion may be over.
    fn relax(&mut self, at: usize, now: Tick, timer: bool) {
        let port = &self.ports[at];
        let drained = f64::from(port.flits) < self.low;
        match self.variant {
            Variant::Coded if drained && now > port.not_before && !timer => {
                self.drained.push((at, now));
            }
            Variant::Published if drained && now >= port.not_before => self.clear(at, now),
            Variant::Published if drained => self.arm(at, port.not_before),
            Variant::DrainMargin => self.adjust(at, None, now),
            _ => {}
        }
    }

    /// Ends all orders of a port.
    fn clear(&mut self, at: usize, now: Tick) {
        let port = &mut self.ports[at];
        port.congested = false;
        port.marked = 0;
        for (&src, stream) in port.streams.iter_mut().filter(|(_, stream)| stream.marked) {
            stream.marked = false;
            if self.variant == Variant::Coded {
                let orders = self.abating.get_mut(&(port.switch, src)).expect("it was ordered");
                *orders -= 1;
                if *orders > 0 {
                    continue;
                }
                self.abating.remove(&(port.switch, src));
            }
            self.outbox.send(&mut port.voice, src, News::Normal, now);
        }
        port.streams.retain(|_, stream| stream.flits > 0);
        port.voice.streams = port.streams.len() as u32;
    }

    /// Drain margin: a new source, a backlog that is gone, or one that is back, changes what all are allowed.
    fn adjust(&mut self, at: usize, fresh: Option<u32>, now: Tick) {
        let port = &mut self.ports[at];
        let before = port.draining;
        let flits = f64::from(port.flits);
        port.draining = flits >= self.high || before && flits >= self.low;
        let changed = port.draining != before || fresh.is_some();
        if let Some(src) = fresh {
            self.mark(at, src);
        }
        if changed {
            self.share(at, now);
        }
    }

    /// Drain margin: tells all sources of a port their rate.
    fn share(&mut self, at: usize, now: Tick) {
        let port = &mut self.ports[at];
        let divisor = self.shares.divisor(port.marked, if port.draining { self.margin } else { 1.0 });
        for (&src, _) in port.streams.iter().filter(|(_, stream)| stream.marked) {
            self.outbox.send(&mut port.voice, src, News::Abate(divisor), now);
        }
    }

    /// Drain margin: the silence after which a source is free.
    fn silence(&self, at: usize) -> Tick {
        let packets = f64::from(self.ports[at].marked) * self.hold / self.margin;
        self.time(packets * f64::from(self.packet_flits)).max(1)
    }

    /// Drain margin: frees the sources that have been silent.
    fn free(&mut self, at: usize, now: Tick) {
        let silence = self.silence(at);
        let port = &mut self.ports[at];
        let before = port.marked;
        for (&src, stream) in port.streams.iter_mut() {
            if stream.marked && stream.flits == 0 && stream.seen + silence <= now {
                stream.marked = false;
                port.marked -= 1;
                self.outbox.send(&mut port.voice, src, News::Normal, now);
            }
        }
        port.streams.retain(|_, stream| stream.flits > 0 || stream.marked);
        port.voice.streams = port.streams.len() as u32;
        port.congested = port.marked > 0;
        if port.congested {
            if self.ports[at].marked < before {
                self.share(at, now);
            }
            self.arm(at, now + silence);
        }
    }

    fn arm(&mut self, at: usize, when: Tick) {
        self.outbox.arm(&mut self.ports[at].voice, at, when);
    }
}

impl Agent for Monitor {
    fn interest(&self) -> Interest {
        Interest { departures: true, last_hop: true, ..Interest::default() }
    }

    fn outbox(&mut self) -> Option<&mut Outbox> {
        let mut drained = std::mem::take(&mut self.drained);
        drained.sort_unstable();
        drained.iter().for_each(|&(at, now)| self.clear(at, now));
        Some(&mut self.outbox)
    }

    fn on_arrive(&mut self, arrival: &Arrival, packet: &Packet) -> Verdict {
        if packet.hot.kind() == Kind::Data {
            let (at, src, flits) =
                (arrival.endpoint as usize, packet.cold.src, self.size(packet.hot.flits()));
            let port = &mut self.ports[at];
            port.flits += flits;
            let stream = port.streams.entry(src).or_default();
            stream.flits += flits;
            stream.class = packet.cold.class();
            stream.seen = arrival.now;
            port.voice.streams = port.streams.len() as u32;
            self.arrived(at, src, flits, arrival.now);
        }
        Verdict::Keep
    }

    fn on_dequeue(&mut self, departure: &Departure, packet: &mut Cold, _: &mut [u64; 2]) {
        let Some(at) = departure.endpoint.filter(|_| departure.kind == Kind::Data) else { return };
        let (at, flits) = (at as usize, self.size(departure.flits));
        let port = &mut self.ports[at];
        port.flits -= flits;
        let stream = port.streams.get_mut(&packet.src).expect("law broken: what leaves has come");
        stream.flits -= flits;
        if stream.flits == 0 && !stream.marked {
            port.streams.remove(&packet.src);
            port.voice.streams = port.streams.len() as u32;
        }
        if port.congested {
            self.relax(at, departure.now, false);
        }
    }

    fn on_timer(&mut self, key: u64, now: Tick) {
        let at = key as usize;
        if self.ports[at].voice.rings(now) && self.ports[at].congested {
            match self.variant {
                Variant::DrainMargin => self.free(at, now),
                _ => self.relax(at, now, true),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::testing;
    use crate::units::Size;

    fn monitor_of(plan: &Plan, variant: Variant) -> Monitor {
        let p = CodesCc {
            variant,
            buffer: Some(Size::Flits(240)),
            congested: 0.3,
            decongested: 0.1,
            ..CodesCc::default()
        };
        Monitor::new(&p, plan, &plan.shares[0])
    }

    fn come(monitor: &mut Monitor, src: u32, now: Tick) {
        let mut packet = Packet::default();
        packet.hot.set_size(Kind::Data, 24);
        packet.cold.src = src;
        monitor.on_arrive(&Arrival { now, endpoint: 0, level: 0, droppable: false }, &packet);
    }

    fn go(monitor: &mut Monitor, src: u32, now: Tick) {
        let d = testing::departure(now, 90, 24, Kind::Data);
        monitor.on_dequeue(&d, &mut Cold { src, ..Cold::default() }, &mut [0; 2]);
    }

    #[test]
    fn congestion_lasts_until_its_backlog_and_what_came_since_would_have_drained() {
        let plan = testing::plan();
        let flit = 1000 / plan.tick;
        let mut monitor = monitor_of(&plan, Variant::Published);
        (0..3).for_each(|_| come(&mut monitor, 1, 100));
        assert!(monitor.ports[0].congested);
        // 72 flits, from which 48 drain until 24 are left.
        assert_eq!(monitor.ports[0].not_before, 100 + 48 * flit);
        come(&mut monitor, 2, 101);
        assert_eq!(monitor.ports[0].not_before, 100 + 72 * flit);
        (0..3).for_each(|_| go(&mut monitor, 1, 102));
        go(&mut monitor, 2, 103);
        assert!(monitor.ports[0].congested, "empty, but too soon");
        monitor.on_timer(0, 100 + 72 * flit - 1);
        assert!(monitor.ports[0].congested);
        monitor.on_timer(0, 100 + 72 * flit);
        assert!(!monitor.ports[0].congested);
    }

    #[test]
    fn the_code_estimates_twice_the_way_between_the_thresholds() {
        let plan = testing::plan();
        let flit = 1000 / plan.tick;
        let mut monitor = monitor_of(&plan, Variant::Coded);
        (0..2).for_each(|_| come(&mut monitor, 1, 100));
        monitor.ports[0].flits += 100;
        come(&mut monitor, 1, 100);
        assert_eq!(monitor.ports[0].not_before, 100 + 96 * flit);
    }

    #[test]
    fn sources_are_silent_for_as_long_as_the_margin_says() {
        let plan = testing::plan();
        let mut monitor = monitor_of(&plan, Variant::DrainMargin);
        monitor.ports[0].marked = 9;
        assert_eq!(monitor.silence(0), 480 * 1000 / plan.tick);
    }
}
