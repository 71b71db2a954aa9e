//! What all switch architectures share: packets, channels, credits, and the lines to other partitions.
use super::packet::{Hot, Packet, Pool};
use super::plan::{LinkPlan, Plan, Share};
use super::wheel::{Kind, Wheel};
use super::{NEVER, Tick};
use crate::graph::Peer;
use crate::probe::Probe;
use crate::routing::BUBBLE;
use std::collections::VecDeque;
use std::sync::Arc;

/// Where a channel ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Far {
    /// Input of a switch of this partition, by its local port.
    Input(u32),
    /// A line to another partition.
    Line(u32),
    /// An endpoint of this partition, by its local number.
    Endpoint(u32),
    /// Nowhere: the port is not connected.
    Nowhere,
}

/// The sending side of a channel: an output port of a switch (numbered as the port), or the injection channel of an
/// endpoint (numbered after all ports). One cache line.
#[repr(align(64))]
pub struct Channel {
    /// When it can start another packet.
    pub free_at: Tick,
    /// Earliest wake that is armed.
    pub wake_at: Tick,
    /// Credits on their way back, by time.
    returns: VecDeque<Credit>,
    /// Where it ends.
    pub far: Far,
    /// Flits of the packet under way until `free_at`.
    pub sending: u16,
    /// Its sender waits for a credit.
    pub starved: bool,
    /// Kind of channel: its row in `Fabric::timing` and in the probe's shares.
    row: u8,
}

/// Times of a kind of channel: a link class towards a switch, injection, or ejection.
#[derive(Debug, Clone)]
struct Timing {
    /// Time of a flit, if a packet's time is a multiple of it; else 0, and `table` tells.
    flit: u32,
    /// From the start of a packet to the arrival of its head.
    head: u32,
    /// From its end to the arrival of its tail.
    tail: u32,
    /// Time of a packet by its flits.
    table: Vec<u32>,
}

impl Timing {
    fn new(table: &[u32], head: u32, tail: u32) -> Self {
        let even = table.iter().enumerate().all(|(flits, &time)| time == flits as u32 * table[1]);
        Self { flit: if even { table[1] } else { 0 }, head, tail, table: table.to_vec() }
    }

    #[inline]
    fn time(&self, flits: u32) -> Tick {
        (if self.flit > 0 { self.flit * flits } else { self.table[flits as usize] }) as Tick
    }
}

/// Every kind of channel: the link classes, then injection, then ejection.
fn timings(plan: &Plan) -> Vec<Timing> {
    let class = |link: &LinkPlan| Timing::new(&link.time, link.head() as u32, link.latency + link.pipeline);
    let host = &plan.links[0];
    let mut timings: Vec<Timing> = plan.links.iter().map(class).collect();
    timings.push(class(host));
    timings.push(Timing::new(&plan.drain_time, 0, host.latency));
    timings
}

/// A credit on its way: time, virtual channel and flits in one word, ordered by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Credit(u64);

impl Credit {
    fn new(at: Tick, vc: u8, flits: u32) -> Self {
        debug_assert!(at < 1 << 44 && flits < 1 << 12);
        Self(at << 20 | (vc as u64) << 12 | flits as u64)
    }
    fn at(self) -> Tick {
        self.0 >> 20
    }
    fn vc(self) -> usize {
        (self.0 >> 12 & 0xff) as usize
    }
    fn flits(self) -> u32 {
        (self.0 & 0xfff) as u32
    }
}

/// A link to a port of another partition: both directions, and the credits of both.
pub struct Line {
    /// Local port.
    pub port: u32,
    /// The other partition, and the line's number there.
    pub peer: (u32, u32),
    /// Packets and credits sent in this window.
    pub out_packets: Vec<Packet>,
    /// See `out_packets`.
    pub out_credits: Vec<Credit>,
    /// Packets under way, in order of arrival (`cold.arrived`); those before `taken` have arrived.
    pub in_packets: Vec<Packet>,
    /// See `in_packets`.
    pub taken: usize,
    /// Credits that came with the last exchange.
    pub in_credits: Vec<Credit>,
    /// Whether the arrival of the first packet is in the wheel.
    pub armed: bool,
}

/// Where the credits of an input go.
#[derive(Debug, Clone, Copy)]
enum Upstream {
    Channel(u32),
    Line(u32),
    Nowhere,
}

/// The shared part of a partition.
pub struct Fabric {
    /// The plan.
    pub plan: Arc<Plan>,
    /// What belongs to this partition.
    pub share: Share,
    /// The present tick.
    pub now: Tick,
    /// Whether the present tick is in the measured window.
    pub measuring: bool,
    /// Events to come.
    pub wheel: Wheel,
    /// Packets held.
    pub pool: Pool,
    /// Channels: output ports of the switches, then injection channels of the endpoints.
    pub channels: Vec<Channel>,
    /// Number of switch ports.
    pub ports: u32,
    /// Lines to other partitions.
    pub lines: Vec<Line>,
    /// What is measured.
    pub probe: Probe,
    /// Whether any class is tracked.
    pub tracking: bool,
    /// Traffic classes whose packets keep their arrival and queueing time.
    pub tracked: Vec<bool>,
    /// Packets dropped in this tick, with the input they were dropped from, to be answered.
    pub dropped: Vec<(u32, u32)>,
    /// Flits promised to packets that wait for a channel, by virtual channel; empty if the routing has no reserved level.
    promised: Vec<u32>,
    timing: Vec<Timing>,
    credits: Vec<u32>,
    upstream: Vec<(Upstream, u32)>,
    vcs: usize,
}

impl Fabric {
    /// The shared part of partition `number`, at rest.
    pub fn new(plan: Arc<Plan>, number: u32) -> Self {
        let share = plan.shares[number as usize].clone();
        let ports = share.ports[share.ports.len() - 1];
        let vcs = plan.channels.count();
        let mut fabric = Self {
            now: 0,
            measuring: false,
            wheel: Wheel::new(wheel_span(&plan)),
            pool: Pool::default(),
            channels: Vec::new(),
            ports,
            lines: Vec::new(),
            probe: Probe::new(&plan, &share),
            tracking: false,
            tracked: vec![false; plan.channels.classes.len()],
            dropped: Vec::new(),
            promised: Vec::new(),
            timing: timings(&plan),
            credits: Vec::new(),
            upstream: Vec::new(),
            vcs,
            share,
            plan,
        };
        fabric.wire(number);
        if fabric.plan.router.reserved_level().is_some() {
            fabric.promised = vec![0; fabric.credits.len()];
        }
        fabric
    }

    fn wire(&mut self, number: u32) {
        let plan = self.plan.clone();
        for &switch in &self.share.switches.clone() {
            for port in &plan.graph.switches[switch as usize] {
                let here = self.channels.len() as u32;
                let far = match port.peer {
                    Peer::None => Far::Nowhere,
                    Peer::Endpoint(endpoint) => Far::Endpoint(plan.endpoint_home[endpoint as usize]),
                    Peer::Switch { switch, port } => match plan.local_port(switch, port) {
                        (partition, there) if partition == number => Far::Input(there),
                        (partition, there) => {
                            self.lines.push(Line::new(here, (partition, there)));
                            Far::Line(self.lines.len() as u32 - 1)
                        }
                    },
                };
                let upstream = match far {
                    Far::Input(there) => Upstream::Channel(there),
                    Far::Line(line) => Upstream::Line(line),
                    Far::Endpoint(endpoint) => Upstream::Channel(self.ports + endpoint),
                    Far::Nowhere => Upstream::Nowhere,
                };
                self.upstream.push((upstream, plan.links[port.class as usize].credit() as u32));
                self.add_channel(port.class, far);
            }
        }
        for &endpoint in &self.share.endpoints.clone() {
            let (switch, port) = plan.graph.endpoints[endpoint as usize];
            let (_, input) = plan.local_port(switch, port);
            self.add_channel(plan.graph.switches[switch as usize][port as usize].class, Far::Input(input));
        }
    }

    fn add_channel(&mut self, link: u8, far: Far) {
        let unlimited = matches!(far, Far::Endpoint(_));
        let buffer = &self.plan.links[link as usize].buffer;
        self.credits.extend(buffer.iter().map(|&flits| if unlimited { u32::MAX / 2 } else { flits }));
        let rows = self.plan.links.len();
        let row = match far {
            Far::Endpoint(_) => rows + 1,
            _ if self.channels.len() as u32 >= self.ports => rows,
            _ => link as usize,
        };
        self.channels.push(Channel {
            free_at: 0,
            wake_at: NEVER,
            returns: VecDeque::new(),
            far,
            sending: 0,
            starved: false,
            row: row as u8,
        });
    }

    /// Flits that fit in the buffer ahead on this virtual channel. Credits must have been taken in before.
    #[inline]
    pub fn credit(&self, channel: u32, vc: u8) -> u32 {
        self.credits[channel as usize * self.vcs + vc as usize]
    }

    /// Flits that must fit in the first buffer after the crossbar for a packet to cross: its own, and a largest packet's more
    /// where it needs a bubble.
    #[inline]
    pub fn room_needed(&self, hot: &Hot) -> u32 {
        hot.flits() + if hot.state & BUBBLE != 0 { self.plan.packet_flits as u32 } else { 0 }
    }

    /// Flits of credit, those that are back by now included, that were promised to no packet.
    pub fn room(&self, channel: u32, vc: u8) -> u32 {
        let back =
            self.channels[channel as usize].returns.iter().take_while(|credit| credit.at() <= self.now);
        let back: u32 = back.filter(|credit| credit.vc() == vc as usize).map(|credit| credit.flits()).sum();
        let promised = self.promised.get(channel as usize * self.vcs + vc as usize);
        (self.credit(channel, vc) + back).saturating_sub(promised.copied().unwrap_or(0))
    }

    /// Promises the room ahead to a packet that has just been routed, if it was routed to the reserved level.
    pub fn promise(&mut self, channel: u32, vc: u8, flits: u32) {
        if self.is_reserved(vc) {
            self.promised[channel as usize * self.vcs + vc as usize] += flits;
        }
    }

    /// Takes back what was promised to a packet that is dropped.
    pub fn forget(&mut self, channel: u32, vc: u8, flits: u32) {
        if self.is_reserved(vc) {
            self.promised[channel as usize * self.vcs + vc as usize] -= flits;
        }
    }

    fn is_reserved(&self, vc: u8) -> bool {
        let level = vc - self.plan.channels.base_of[vc as usize];
        !self.promised.is_empty() && self.plan.router.reserved_level() == Some(level)
    }

    /// Credits on their way back to a channel, in flits.
    pub fn owed(&self, channel: u32, vc: u8) -> u32 {
        let record = &self.channels[channel as usize];
        let exchanged = match record.far {
            Far::Line(line) => self.lines[line as usize].in_credits.as_slice(),
            _ => &[],
        };
        let all = record.returns.iter().chain(exchanged);
        all.filter(|credit| credit.vc() == vc as usize).map(|credit| credit.flits()).sum()
    }

    /// Takes in the credits that have come back by now.
    #[inline]
    pub fn take_credits(&mut self, channel: u32) {
        let record = &mut self.channels[channel as usize];
        while let Some(&credit) = record.returns.front() {
            if credit.at() > self.now {
                return;
            }
            record.returns.pop_front();
            self.credits[channel as usize * self.vcs + credit.vc()] += credit.flits();
        }
    }

    /// When a sender that lacks credit should look again; `NEVER` if none is on its way: the next one wakes it.
    pub fn next_credit(&mut self, channel: u32) -> Tick {
        let record = &mut self.channels[channel as usize];
        record.starved = true;
        record.returns.front().map_or(NEVER, |credit| credit.at())
    }

    /// Arms a wake of a channel's sender at `at`, unless an earlier one is armed.
    #[inline]
    pub fn wake(&mut self, channel: u32, at: Tick) {
        let record = &mut self.channels[channel as usize];
        if at >= record.wake_at {
            return;
        }
        record.wake_at = at;
        if channel < self.ports {
            self.wheel.push(at, Kind::Wake, channel as u64);
        } else {
            self.wheel.push(at, Kind::Endpoint, (channel - self.ports) as u64);
        }
    }

    /// Starts a packet on a free channel; its tail has the time `hot.tail` here, its virtual channel is `hot.next_vc`.
    pub fn transmit(&mut self, channel: u32, id: u32) {
        let record = &mut self.channels[channel as usize];
        let hot = &mut self.pool.hot[id as usize];
        let (flits, now) = (hot.flits(), self.now);
        debug_assert!(record.free_at <= now);
        let timing = &self.timing[record.row as usize];
        let end = (now + timing.time(flits)).max(hot.tail);
        record.free_at = end;
        record.sending = flits as u16;
        record.starved = false;
        hot.vc = hot.next_vc;
        if channel < self.ports {
            self.probe.packet_hops += 1;
            if self.tracking && self.tracked[self.plan.channels.class_of[hot.vc as usize] as usize] {
                let cold = &mut self.pool.cold[id as usize];
                cold.waited += (now - cold.arrived) as u32;
            }
            if self.probe.ports_recorded() {
                self.probe.active(channel, now, end);
            }
        }
        if self.measuring {
            self.probe.sent(record.row as usize, hot.kind(), flits);
        }
        if let Far::Endpoint(endpoint) = record.far {
            self.wheel.push(end + timing.tail as Tick, Kind::Delivery, (endpoint as u64) << 32 | id as u64);
            return;
        }
        let credits = &mut self.credits[channel as usize * self.vcs + hot.vc as usize];
        assert!(*credits >= flits, "law broken: a packet was sent without credit");
        *credits -= flits;
        if !self.promised.is_empty() {
            let promised = &mut self.promised[channel as usize * self.vcs + hot.vc as usize];
            *promised = promised.saturating_sub(flits);
        }
        hot.tail = end + timing.tail as Tick;
        let head = now + timing.head as Tick;
        match record.far {
            Far::Input(input) => self.wheel.push(head, Kind::Arrival, (input as u64) << 32 | id as u64),
            Far::Line(line) => {
                let mut packet = self.pool.get(id);
                packet.cold.arrived = head;
                self.lines[line as usize].out_packets.push(packet);
                self.pool.remove(id);
            }
            Far::Endpoint(_) | Far::Nowhere => unreachable!("routing chose a port that leads nowhere"),
        }
    }

    /// Releases buffer space of an input at `at` (now or later): the credit travels upstream.
    #[inline]
    pub fn release(&mut self, input: u32, vc: u8, flits: u32, at: Tick) {
        let (upstream, delay) = self.upstream[input as usize];
        let credit = Credit::new(at + delay as Tick, vc, flits);
        match upstream {
            Upstream::Channel(channel) => self.return_credit(channel, credit),
            Upstream::Line(line) => self.lines[line as usize].out_credits.push(credit),
            Upstream::Nowhere => {}
        }
    }

    fn return_credit(&mut self, channel: u32, credit: Credit) {
        let record = &mut self.channels[channel as usize];
        // Credits come in order but for packets that were dropped: those are moved forward to their place.
        let mut place = record.returns.len();
        while place > 0 && record.returns[place - 1].at() > credit.at() {
            place -= 1;
        }
        if place == record.returns.len() {
            record.returns.push_back(credit);
        } else {
            record.returns.insert(place, credit);
        }
        if record.starved && place == 0 {
            self.wake(channel, credit.at());
        }
    }

    /// Takes in what came over the lines with the last exchange.
    pub fn take_lines(&mut self) {
        for at in 0..self.lines.len() {
            let line = &mut self.lines[at];
            if !line.armed && line.taken < line.in_packets.len() {
                line.armed = true;
                let first = line.in_packets[line.taken].cold.arrived;
                self.wheel.push(first, Kind::Line, at as u64);
            }
            if line.in_credits.is_empty() {
                continue;
            }
            let (channel, credits) = (line.port, std::mem::take(&mut line.in_credits));
            for &credit in &credits {
                self.return_credit(channel, credit);
            }
            self.lines[at].in_credits = credits;
            self.lines[at].in_credits.clear();
        }
    }

    /// Takes the packet that arrives over a line now; returns its arrival as an event.
    pub fn take_packet(&mut self, at: u32) -> u64 {
        let line = &mut self.lines[at as usize];
        let packet = &line.in_packets[line.taken];
        debug_assert_eq!(packet.cold.arrived, self.now);
        let event = (line.port as u64) << 32 | self.pool.insert(packet) as u64;
        line.taken += 1;
        if let Some(next) = line.in_packets.get(line.taken) {
            self.wheel.push(next.cold.arrived, Kind::Line, at as u64);
        } else {
            line.in_packets.clear();
            line.taken = 0;
            line.armed = false;
        }
        event
    }

    /// Bytes held by packets, credits and lines.
    pub fn memory(&self) -> u64 {
        let packet = std::mem::size_of::<Packet>();
        let lines = self.lines.iter().map(|line| line.out_packets.capacity() + line.in_packets.capacity());
        let returns = self.channels.iter().map(|channel| channel.returns.capacity() * 8);
        ((self.pool.hot.capacity() + lines.sum::<usize>()) * packet + returns.sum::<usize>()) as u64
    }

    /// Packets held by this partition, those on its lines included.
    pub fn held(&self) -> u64 {
        let lines = self.lines.iter().map(|line| line.out_packets.len() + line.in_packets.len() - line.taken);
        self.pool.held() as u64 + lines.sum::<usize>() as u64
    }
}

impl Line {
    fn new(port: u32, peer: (u32, u32)) -> Self {
        Self {
            port,
            peer,
            out_packets: Vec::new(),
            out_credits: Vec::new(),
            in_packets: Vec::new(),
            taken: 0,
            in_credits: Vec::new(),
            armed: false,
        }
    }

    /// Hands what was sent in this window to the other end.
    pub fn exchange(&mut self, far: &mut Line) {
        hand(&mut self.out_packets, &mut far.in_packets, &mut far.taken);
        hand(&mut far.out_packets, &mut self.in_packets, &mut self.taken);
        std::mem::swap(&mut self.out_credits, &mut far.in_credits);
        std::mem::swap(&mut far.out_credits, &mut self.in_credits);
    }
}

fn hand(from: &mut Vec<Packet>, to: &mut Vec<Packet>, taken: &mut usize) {
    if from.is_empty() {
        return;
    }
    if to.is_empty() {
        std::mem::swap(from, to);
        return;
    }
    to.drain(..*taken);
    *taken = 0;
    to.append(from);
}

/// Ticks that the wheel's slots should span: the ordinary events of a loaded network.
fn wheel_span(plan: &Plan) -> Tick {
    let packet = plan.links.iter().map(|link| *link.time.last().unwrap_or(&1) as Tick).max().unwrap_or(1);
    let heads = plan.links.iter().map(LinkPlan::head).filter(|&head| head < plan.lookahead);
    packet.max(heads.max().unwrap_or(1)) * 2
}
