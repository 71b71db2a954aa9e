//! Congestion trees: which channels cannot send for lack of room ahead, and what holds each of them in the end.
//!
//! As the search for deadlock it looks at the state between two windows and costs the events nothing. A virtual channel is *held* if
//! its sender has a packet for it that lacks credit, whatever is on its way back by when the channel is free, or is paused now. It hangs
//! on the channel for which most of the flits wait that fill the buffer at its end, of several the first; if that is held too, on what
//! that hangs on, and so on to the *root*: a channel that is not held, and is what they wait for. So every held channel is in one tree,
//! as long as they do not wait in a circle. Where nothing waits in the buffer at its end, as in one that is too small for the round trip
//! of credits, it hangs on nothing.
use super::Tick;
use super::partition::Partition;
use super::plan::Plan;
use super::stall::queue_on;
use super::trace::Node;
use crate::graph::Peer;
use crate::switch::arch::Architecture;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::DerefMut;

/// A virtual channel by the buffer at its end: switch, input port, virtual channel. Those that share a buffer are one, without a
/// number.
type Place = (u32, u16, Option<u8>);

/// What held channels wait for in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Root {
    /// The channel to an endpoint.
    Endpoint(u32),
    /// A channel between switches: the switch that sends, and its port.
    Channel(u32, u16),
    /// One another.
    Circle,
    /// Nothing: no packet waits in the buffer at the end.
    Nothing,
}

/// A virtual channel that is held at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Held {
    /// The time.
    pub at: Tick,
    /// Switch and port where it ends.
    pub to: (u32, u16),
    /// Its number; none if all share the buffer at the end.
    pub vc: Option<u8>,
    /// Its sender.
    pub from: Node,
    /// What it waits for.
    pub root: Root,
    /// Channels from it to the root, without that; 0 if there is no root.
    pub depth: u32,
    /// Flits of the packets that wait in the buffer at its end.
    pub flits: u32,
    /// Those of them that are for other endpoints than the root.
    pub strangers: u32,
}

/// The packets that wait in a buffer.
#[derive(Default)]
struct Buffer {
    flits: u32,
    /// How many of them wait for each output: its port and virtual channel. A packet behind another waits for what that waits for.
    wants: BTreeMap<(u16, u8), u32>,
    /// How many are for each endpoint.
    bound: BTreeMap<u32, u32>,
}

/// The channels that are held now, in an order that no partitioning changes.
pub fn find<A: Architecture>(
    plan: &Plan,
    partitions: &[impl DerefMut<Target = Partition<A>>],
    now: Tick,
) -> Vec<Held> {
    let held = held(plan, partitions, now);
    if held.is_empty() {
        return Vec::new();
    }
    let buffers = fill(plan, partitions, &held);
    let roots = roots(plan, &held, &buffers);
    let of = |(&place, &from): (&Place, &Node)| {
        let (switch, port, vc) = place;
        let Buffer { flits, bound, .. } = &buffers[&place];
        let (root, depth) = roots[&place];
        let for_root = match root {
            Root::Endpoint(endpoint) => bound.get(&endpoint).copied().unwrap_or(0),
            _ => 0,
        };
        Held {
            at: now,
            to: (switch, port),
            vc,
            from,
            root,
            depth,
            flits: *flits,
            strangers: flits - for_root,
        }
    };
    held.iter().map(of).collect()
}

/// Virtual channels that may not send what they have for lack of room ahead, and their senders.
fn held<A: Architecture>(
    plan: &Plan,
    partitions: &[impl DerefMut<Target = Partition<A>>],
    now: Tick,
) -> BTreeMap<Place, Node> {
    // What happens now is yet to happen.
    let Some(by) = now.checked_sub(1) else { return BTreeMap::new() };
    let has_pauses = plan.links[0].pauses.is_some();
    // By virtual channels, and false for one of which some packet can be sent.
    let mut lacks: BTreeMap<(u32, u16, u8), (bool, Node)> = BTreeMap::new();
    for partition in partitions {
        let fabric = &partition.fabric;
        partition.switches().each_queued(fabric, &mut |channel, vc, needed| {
            let at = &fabric.inlets[channel];
            let out = plan.graph.switches[at.switch as usize][(channel - at.base) as usize];
            let Peer::Switch { switch, port } = out.peer else { return };
            // Pauses to come are not known.
            let by = if has_pauses { by } else { by.max(fabric.channels[channel].free_at) };
            let lacking = !fabric.will_afford(channel, vc, needed, by);
            lacks.entry((switch, port, vc)).or_insert((true, Node::Switch(at.switch))).0 &= lacking;
        });
        for (local, &endpoint) in (0..).zip(&fabric.share.endpoints) {
            let channel = fabric.ports + local;
            let record = &fabric.channels[channel];
            if !record.starved || record.free_at >= now {
                continue;
            }
            let (switch, port) = plan.graph.endpoints[endpoint as usize];
            let class = plan.graph.switches[switch as usize][usize::from(port)].class;
            // It does not tell which room it waits for: of what has any, all without enough for its largest packets counts.
            let buffers = (0..).zip(&plan.links[usize::from(class)].buffer).filter(|(_, flits)| **flits > 0);
            for (vc, _) in buffers {
                let is_control = plan.vcs.classes[usize::from(plan.vcs.class_of[usize::from(vc)])].control;
                let most = if is_control { plan.control_flits } else { plan.packet_flits };
                let lacking = !fabric.will_afford(channel, vc, most.into(), by);
                lacks.insert((switch, port, vc), (lacking, Node::Endpoint(endpoint)));
            }
        }
    }
    let held = lacks.into_iter().filter(|(_, (lacking, _))| *lacking);
    held.map(|((switch, port, vc), (_, from))| (place_of(plan, (switch, port), vc), from)).collect()
}

/// The place of a virtual channel that ends at a port.
fn place_of(plan: &Plan, (switch, port): (u32, u16), vc: u8) -> Place {
    let class = plan.graph.switches[switch as usize][usize::from(port)].class;
    (switch, port, queue_on(&plan.links[usize::from(class)], vc))
}

/// What waits in the buffers of these virtual channels.
fn fill<A: Architecture>(
    plan: &Plan,
    partitions: &[impl DerefMut<Target = Partition<A>>],
    held: &BTreeMap<Place, Node>,
) -> BTreeMap<Place, Buffer> {
    let mut buffers: BTreeMap<Place, Buffer> = held.keys().map(|&place| (place, Buffer::default())).collect();
    for partition in partitions {
        let fabric = &partition.fabric;
        let mut wants = (0, 0);
        partition.switches().each_waiting(fabric, &mut |waiting| {
            let at = &fabric.inlets[waiting.input];
            let hot = &fabric.pool.hot[waiting.id];
            if waiting.first {
                wants = (hot.out, hot.next_vc);
            }
            let end = (at.switch, (waiting.input - at.base) as u16);
            let Some(buffer) = buffers.get_mut(&place_of(plan, end, hot.vc)) else { return };
            buffer.flits += hot.flits();
            *buffer.wants.entry(wants).or_default() += hot.flits();
            *buffer.bound.entry(hot.dst).or_default() += hot.flits();
        });
    }
    buffers
}

/// The root of every held channel, and how far it is.
fn roots(
    plan: &Plan,
    held: &BTreeMap<Place, Node>,
    buffers: &BTreeMap<Place, Buffer>,
) -> BTreeMap<Place, (Root, u32)> {
    let is_held = |place: &Place| held.contains_key(place) && !buffers[place].wants.is_empty();
    // The held channel that one waits for, or its root.
    let next = |place: Place| {
        let wants = &buffers[&place].wants;
        let Some((&(out, vc), _)) = wants.iter().max_by_key(|&(wanted, &flits)| (flits, Reverse(wanted)))
        else {
            return Err(Root::Nothing);
        };
        match plan.graph.switches[place.0 as usize][usize::from(out)].peer {
            Peer::Endpoint(endpoint) => Err(Root::Endpoint(endpoint)),
            Peer::Switch { switch, port } => {
                let ahead = place_of(plan, (switch, port), vc);
                if is_held(&ahead) { Ok(ahead) } else { Err(Root::Channel(place.0, out)) }
            }
            Peer::None => unreachable!("a packet waits for a port that leads nowhere"),
        }
    };
    let mut roots = BTreeMap::new();
    for &start in held.keys() {
        let (mut way, mut at) = (Vec::new(), start);
        let (root, mut depth) = loop {
            if let Some(&known) = roots.get(&at) {
                break known;
            }
            if way.contains(&at) {
                break (Root::Circle, 0);
            }
            way.push(at);
            match next(at) {
                Ok(ahead) => at = ahead,
                Err(root) => break (root, 0),
            }
        };
        let is_one = matches!(root, Root::Endpoint(_) | Root::Channel(..));
        for place in way.into_iter().rev() {
            depth += u32::from(is_one);
            roots.insert(place, (root, depth));
        }
    }
    roots
}
