//! A search for deadlock in a run: packets that wait for one another in a circle, so that none can ever move again.
//!
//! It looks at the state between two windows, at times that do not depend on the partitioning, and costs the events
//! nothing. An output queue is *stuck* if its first packet lacks credit, none is on its way, no packet is on its way to the
//! buffer ahead, and every packet that could leave that buffer waits for a stuck output queue. That is the greatest such set:
//! whatever might still move is taken to move, so what is found is a deadlock, and every deadlock is found in the end.
use super::packet::Packet;
use super::partition::Partition;
use super::plan::Plan;
use crate::graph::Peer;
use crate::switch::arch::Architecture;
use std::collections::BTreeMap;
use std::ops::DerefMut;

/// An output queue: global switch, port, virtual channel; and the buffer ahead of it.
type Key = (u32, u16, u8);

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
    /// Virtual channel.
    pub vc: u8,
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
    for partition in partitions {
        let fabric = &partition.fabric;
        partition.switches().each_queued(fabric, &mut |port, vc, needed| {
            // The inlet of a port tells where it is.
            let at = &fabric.inlets[port];
            let key = (at.switch, (port - at.base) as u16, vc);
            let out = plan.graph.switches[key.0 as usize][usize::from(key.1)];
            let link = &plan.links[usize::from(out.class)];
            let coming = fabric.credit(port, vc) + fabric.owed(port, vc);
            // What holds a buffer that virtual channels share cannot be told apart.
            if link.pool > 0 || !matches!(out.peer, Peer::Switch { .. }) || coming >= needed {
                buffers.insert(key, None);
            } else {
                let held = link.buffer[usize::from(vc)] - coming;
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
            let peer = plan.graph.switches[at.switch as usize][(waiting.input - at.base) as usize].peer;
            let Peer::Switch { switch, port } = peer else { return };
            let packet = fabric.pool.get(waiting.id);
            let hot = &packet.hot;
            let Some(buffer) = buffers.get_mut(&(switch, port, hot.vc)) else { return };
            buffer.present += hot.flits();
            if waiting.first {
                let class =
                    &plan.channels.classes[usize::from(plan.channels.class_of[usize::from(hot.next_vc)])];
                let waits = waiting.blocked && !class.times_out;
                buffer.first.push((packet, waits.then_some((at.switch, hot.out, hot.next_vc))));
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
            |packet: &Packet| (packet.cold.src, packet.cold.message, packet.cold.sequence, packet.hot.out);
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
    let line = |wait: &Wait| {
        let channel = plan.graph.channel(wait.switch, wait.port, &names);
        let (class, level) = (plan.channels.class_of[usize::from(wait.vc)], wait.vc % plan.channels.levels);
        let (hot, cold) = (&wait.packet.hot, &wait.packet.cold);
        format!(
            "  {channel}, {} level {level}: full; its packet {} of message {} from endpoint {} to endpoint {} waits for",
            plan.channels.classes[usize::from(class)].name,
            cold.sequence,
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
