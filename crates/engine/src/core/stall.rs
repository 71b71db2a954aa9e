//! A search for deadlock in a run: packets that wait for one another in a circle, so that none can ever move again.
//!
//! It looks at the state between two windows, at times that do not depend on the partitioning, and costs the events
//! nothing. An output queue is *stuck* if its first packet lacks credit, none is on its way, no packet is on its way to the
//! buffer ahead, and every packet that could leave that buffer waits for a stuck output queue. That is the greatest such set:
//! whatever might still move is taken to move, so what is found is a deadlock, and every deadlock is found in the end, but for
//! those of some virtual channels that share buffers with others which still move.
use super::NEVER;
use super::packet::Packet;
use super::partition::Partition;
use super::plan::{LinkPlan, Plan};
use crate::graph::Peer;
use crate::switch::arch::Architecture;
use std::collections::BTreeMap;
use std::ops::DerefMut;

/// An output queue: global switch, port, virtual channel; and the buffer ahead of it. Virtual channels that share the buffer
/// ahead are one queue, without a number: a circle of some of them is not seen while others of the same link can still move.
type Key = (u32, u16, Option<u8>);

/// How the queue of a virtual channel is known on links of a class: those that share the buffer ahead have no number.
pub(super) fn queue_on(link: &LinkPlan, vc: u8) -> Option<u8> {
    (link.pool == 0).then_some(vc)
}

/// A buffer whose sender lacks credit.
#[derive(Default)]
struct Buffer {
    /// Flits that are in it, or on their way to it.
    held: u32,
    /// Flits of the packets in it.
    present: u32,
    /// Packets that could be the next to leave, and the output queue that each waits for; none if it does not wait for
    /// room there, or may be dropped.
    first: Vec<(Packet, Option<Key>)>,
}

/// A channel of the circle, and a packet that holds the buffer at its end and waits for the next channel.
pub struct Wait {
    /// Switch the channel starts from.
    pub switch: u32,
    /// Port of that switch.
    pub port: u16,
    /// Virtual channel; none if all share the buffer ahead.
    pub vc: Option<u8>,
    /// The packet.
    pub packet: Packet,
}

/// A circle of channels that wait for each other, if there is one: always the same for the same state of the network.
pub fn find<A: Architecture>(plan: &Plan, partitions: &[impl DerefMut<Target = Partition<A>>]) -> Vec<Wait> {
    let mut buffers = starved(plan, partitions);
    if buffers.is_empty() {
        return Vec::new();
    }
    fill(plan, partitions, &mut buffers);
    circle(&stuck(buffers))
}

/// The buffers that nothing will ever leave: all but those that may move, and those that wait for one that does.
fn stuck(mut buffers: BTreeMap<Key, Buffer>) -> BTreeMap<Key, Buffer> {
    let mut moving = Vec::new();
    let mut waiting: BTreeMap<Key, Vec<Key>> = BTreeMap::new();
    for (&key, buffer) in &buffers {
        let free = |(_, wants): &(Packet, Option<Key>)| wants.is_none_or(|key| !buffers.contains_key(&key));
        if buffer.held > buffer.present || buffer.first.iter().any(free) {
            moving.push(key);
        }
        for wants in buffer.first.iter().filter_map(|&(_, wants)| wants) {
            waiting.entry(wants).or_default().push(key);
        }
    }
    while let Some(key) = moving.pop() {
        if buffers.remove(&key).is_some() {
            moving.extend(waiting.remove(&key).unwrap_or_default());
        }
    }
    buffers
}

/// The buffers ahead of output queues whose first packet lacks credit, now and with all that is on its way.
fn starved<A: Architecture>(
    plan: &Plan,
    partitions: &[impl DerefMut<Target = Partition<A>>],
) -> BTreeMap<Key, Buffer> {
    // None for a queue of which some packet can be sent.
    let mut buffers: BTreeMap<Key, Option<Buffer>> = BTreeMap::new();
    // The most that any packet needs: most queues have it, and are left out of the search at once. Those that share a buffer
    // are not: they speak for each other.
    let shares = plan.links.iter().any(|link| link.pool > 0);
    let most = if shares { u32::MAX } else { 2 * plan.packet_flits as u32 };
    for partition in partitions {
        let fabric = &partition.fabric;
        partition.switches().each_queued(fabric, &mut |port, vc, needed| {
            if fabric.credit(port, vc) >= most {
                return;
            }
            // The inlet of a port tells where it is.
            let at = &fabric.inlets[port];
            let number = (port - at.base) as u16;
            let out = plan.graph.switches[at.switch as usize][usize::from(number)];
            let link = &plan.links[usize::from(out.class)];
            let queue = queue_on(link, vc);
            let (room, vcs) = match queue {
                Some(vc) => (link.room(usize::from(vc)), vc..=vc),
                None => (link.buffer.iter().sum::<u32>() + link.pool, 0..=(plan.vcs.count() - 1) as u8),
            };
            let key = (at.switch, number, queue);
            if !matches!(out.peer, Peer::Switch { .. }) || fabric.will_afford(port, vc, needed, NEVER) {
                buffers.insert(key, None);
            } else {
                let held = room - fabric.unused(port, vcs);
                buffers.entry(key).or_insert(Some(Buffer { held, ..Buffer::default() }));
            }
        });
    }
    buffers.into_iter().filter_map(|(key, buffer)| Some((key, buffer?))).collect()
}

/// Notes the packets in these buffers.
fn fill<A: Architecture>(
    plan: &Plan,
    partitions: &[impl DerefMut<Target = Partition<A>>],
    buffers: &mut BTreeMap<Key, Buffer>,
) {
    for partition in partitions {
        let fabric = &partition.fabric;
        partition.switches().each_waiting(fabric, &mut |waiting| {
            let at = &fabric.inlets[waiting.input];
            let ports = &plan.graph.switches[at.switch as usize];
            let input = ports[(waiting.input - at.base) as usize];
            let Peer::Switch { switch, port } = input.peer else { return };
            let packet = fabric.pool.get(waiting.id);
            let hot = &packet.hot;
            let link = |class: u8| &plan.links[usize::from(class)];
            let key = (switch, port, queue_on(link(input.class), hot.vc));
            let Some(buffer) = buffers.get_mut(&key) else { return };
            buffer.present += hot.flits();
            if waiting.first {
                let class = &plan.vcs.classes[usize::from(plan.vcs.class_of[usize::from(hot.next_vc)])];
                let waits = waiting.blocked && !class.times_out;
                let queue = queue_on(link(ports[usize::from(hot.out)].class), hot.next_vc);
                buffer.first.push((packet, waits.then_some((at.switch, hot.out, queue))));
            }
        });
    }
}

/// From stuck queue to stuck queue until one comes again. Of the packets of a buffer the least by source and number goes on.
fn circle(stuck: &BTreeMap<Key, Buffer>) -> Vec<Wait> {
    let Some((&start, _)) = stuck.first_key_value() else { return Vec::new() };
    let (mut way, mut at) = (Vec::<Wait>::new(), start);
    loop {
        let is_here = |wait: &Wait| (wait.switch, wait.port, wait.vc) == at;
        if let Some(begin) = way.iter().position(is_here) {
            return way.split_off(begin);
        }
        let order =
            |packet: &Packet| (packet.cold.src, packet.cold.message, packet.cold.sequence(), packet.hot.out);
        let next = stuck[&at].first.iter().min_by_key(|(packet, _)| order(packet));
        // A stuck buffer is full, and what is in it waits for a stuck queue.
        let Some(&(packet, Some(wants))) = next else { return Vec::new() };
        way.push(Wait { switch: at.0, port: at.1, vc: at.2, packet });
        at = wants;
    }
}

/// Most channels of a circle that are told.
const TOLD_MAX: usize = 16;

/// The circle in words.
pub fn told(plan: &Plan, circle: &[Wait]) -> String {
    let names: Vec<&str> = plan.links.iter().map(|link| link.name.as_str()).collect();
    let state = if plan.links[0].pauses.is_some() { "paused" } else { "full" };
    let line = |wait: &Wait| {
        let channel = plan.graph.channel(wait.switch, wait.port, &names);
        let queue = wait.vc.map_or("all virtual channels".to_string(), |vc| {
            let class = plan.vcs.class_of[usize::from(vc)];
            let name = plan.vcs.classes[usize::from(class)].label();
            format!("{name} level {}", u16::from(vc) % plan.vcs.levels)
        });
        let (hot, cold) = (&wait.packet.hot, &wait.packet.cold);
        format!(
            "  {channel}, {queue}: {state}; its packet {} of message {} from endpoint {} to endpoint {} waits for",
            cold.sequence(),
            cold.message,
            cold.src,
            hot.dst,
        )
    };
    let mut lines: Vec<String> = circle.iter().take(TOLD_MAX).map(line).collect();
    if circle.len() > TOLD_MAX {
        lines.push(format!("  … and {} more channels, of which the last waits for", circle.len() - TOLD_MAX));
    }
    lines.push("  the first".to_string());
    lines.join("\n")
}
