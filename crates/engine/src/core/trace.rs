//! Where every packet was when: recorded only if a scenario asks for it (`[record] packets`), for time diagrams.
use super::Tick;
use super::fabric::Fabric;
use super::packet::{KINDS, Kind, Packet};
use super::plan::Plan;
use crate::graph::Peer;
use crate::protocol::granted;
use crate::report::{Column, Table};

/// An endpoint or a switch, by its global number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Node {
    /// An endpoint.
    Endpoint(u32),
    /// A switch.
    Switch(u32),
}

impl std::fmt::Display for Node {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Node::Endpoint(number) => write!(out, "endpoint {number}"),
            Node::Switch(number) => write!(out, "switch {number}"),
        }
    }
}

/// A packet on a channel, or its end in a switch.
#[derive(Debug, Clone)]
pub struct Step {
    /// When its head left, or it ended.
    start: Tick,
    /// When its head and its tail arrive at the other end.
    arrival: (Tick, Tick),
    from: Node,
    to: Node,
    event: &'static str,
    /// Its traffic class.
    class: u8,
    packet: Packet,
}

impl Fabric {
    /// Notes a packet that starts on a channel now.
    pub fn trace_hop(&mut self, channel: u32, id: u32) {
        let (plan, packet) = (self.plan.clone(), self.pool.get(id));
        let (from, to, link) = self.ends(&plan, channel);
        let end = (self.now + self.span(channel, packet.hot.flits())).max(packet.hot.tail);
        let class = plan.vcs.class_of[packet.hot.next_vc as usize];
        let arrival =
            (self.now + link.credit() + self.lag(channel, packet.hot.flits()), end + link.latency as Tick);
        self.probe.trace(Step { start: self.now, arrival, from, to, event: "sent", class, packet });
    }

    /// Notes a packet that a switch drops or takes.
    pub fn trace_end(&mut self, local: u32, packet: &Packet, event: &'static str) {
        let switch = Node::Switch(self.share.switches[local as usize]);
        let class = self.plan.vcs.class_of[packet.hot.vc as usize];
        let (now, packet) = (self.now, *packet);
        self.probe.trace(Step {
            start: now,
            arrival: (now, now),
            from: switch,
            to: switch,
            event,
            class,
            packet,
        });
    }

    /// Both ends of a channel, and its link class.
    pub(super) fn ends<'a>(&self, plan: &'a Plan, channel: u32) -> (Node, Node, &'a super::plan::LinkPlan) {
        if channel >= self.ports {
            let endpoint = self.share.endpoints[(channel - self.ports) as usize];
            let (switch, port) = plan.graph.endpoints[endpoint as usize];
            let class = plan.graph.switches[switch as usize][port as usize].class;
            return (Node::Endpoint(endpoint), Node::Switch(switch), &plan.links[class as usize]);
        }
        let local = self.share.ports.partition_point(|&first| first <= channel) - 1;
        let switch = self.share.switches[local];
        let port = plan.graph.switches[switch as usize][(channel - self.share.ports[local]) as usize];
        let to = match port.peer {
            Peer::Endpoint(endpoint) => Node::Endpoint(endpoint),
            Peer::Switch { switch, .. } => Node::Switch(switch),
            Peer::None => unreachable!("a packet is sent to nowhere"),
        };
        (Node::Switch(switch), to, &plan.links[port.class as usize])
    }
}

/// The table `packets`: a row for every packet on every channel, and for every packet that ended in a switch; the order
/// does not depend on the partitioning.
pub fn table(plan: &Plan, mut steps: Vec<Step>) -> Table {
    steps.sort_by_cached_key(|step| {
        let (hot, cold) = (&step.packet.hot, &step.packet.cold);
        (step.start, step.from, step.to, cold.src, hot.dst, cold.message, cold.sequence(), hot.kind())
    });
    let ns = |ticks: Tick| (ticks * plan.tick) as f64 / 1000.0;
    let real = |pick: &dyn Fn(&Step) -> f64| Column::Real(steps.iter().map(pick).collect());
    let int = |pick: &dyn Fn(&Step) -> u32| Column::Int(steps.iter().map(|step| pick(step) as i64).collect());
    let text = |pick: &dyn Fn(&Step) -> String| Column::Text(steps.iter().map(pick).collect());
    // The protocol's words as they are: a reservation's flits and key, a refusal's flits.
    let word = |at: usize| Column::Int(steps.iter().map(|step| step.packet.notes.words[at] as i64).collect());
    let time = |step: &Step| match step.packet.hot.kind() {
        Kind::Grant | Kind::Nack => granted(&step.packet).map_or(f64::NAN, ns),
        _ => f64::NAN,
    };
    let columns = vec![
        ("event".into(), text(&|step| step.event.into())),
        ("kind".into(), text(&|step| KINDS[step.packet.hot.kind() as usize].1.into())),
        ("traffic_class".into(), text(&|step| plan.vcs.classes[step.class as usize].label())),
        ("from".into(), text(&|step| step.from.to_string())),
        ("to".into(), text(&|step| step.to.to_string())),
        ("start_ns".into(), real(&|step| ns(step.start))),
        ("head_ns".into(), real(&|step| ns(step.arrival.0))),
        ("tail_ns".into(), real(&|step| ns(step.arrival.1))),
        ("granted_ns".into(), real(&time)),
        ("source".into(), int(&|step| step.packet.cold.src)),
        ("destination".into(), int(&|step| step.packet.hot.dst)),
        ("queue_pair".into(), int(&|step| step.packet.cold.flow().into())),
        ("message".into(), int(&|step| step.packet.cold.message)),
        ("sequence".into(), int(&|step| step.packet.cold.sequence())),
        ("flits".into(), int(&|step| step.packet.hot.flits())),
        ("word0".into(), word(0)),
        ("word1".into(), word(1)),
    ];
    Table { name: "packets", columns }
}
