//! What each channel of a partition leads to, and where its inputs return credits.
use super::NEVER;
use super::channel::{Channel, Far, Inlet, Lane, Upstream};
use super::credits::Returns;
use super::fabric::Fabric;
use super::line::Line;
use super::packet::NIL;
use super::slow::Speeds;
use super::table::Table;
use crate::graph::Peer;

impl Fabric {
    /// Makes the channels of partition `number` and its inputs, and the lines to other partitions.
    pub(super) fn wire(&mut self, number: u32) {
        let plan = self.plan.clone();
        for (local, &switch) in self.share.switches.clone().iter().enumerate() {
            let base = self.share.ports[local];
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
                let link = &plan.links[port.class as usize];
                self.inlets.push(Inlet {
                    local: local as u32,
                    switch,
                    base,
                    delay: link.credit() as u32 + link.pauses.map_or(0, |pauses| pauses.response),
                    upstream,
                });
                self.add_channel(port.class, far);
            }
        }
        for &endpoint in &self.share.endpoints.clone() {
            let (switch, port) = plan.graph.endpoints[endpoint as usize];
            let (_, input) = plan.local_port(switch, port);
            self.add_channel(plan.graph.switches[switch as usize][port as usize].class, Far::Input(input));
        }
    }

    /// What each channel carries that is slow; nothing if none is.
    pub(super) fn slow_channels(&self) -> Table<Option<Speeds>> {
        let (slow, graph) = (&self.plan.slow, &self.plan.graph);
        let ports = self.share.switches.iter().flat_map(|&switch| {
            let count = graph.switches[switch as usize].len() as u16;
            (0..count).map(move |port| slow.ports.get(&(switch, port)).cloned())
        });
        let injections = self.share.endpoints.iter().map(|endpoint| slow.injections.get(endpoint).cloned());
        let all = Vec::from_iter(ports.chain(injections));
        if all.iter().all(Option::is_none) { Table::default() } else { all.into() }
    }

    fn add_channel(&mut self, link: u8, far: Far) {
        let unlimited = matches!(far, Far::Endpoint(_));
        let ahead = &self.plan.links[link as usize];
        let credit = |vc| if unlimited { u32::MAX / 2 } else { ahead.room(vc) };
        self.credits.extend((0..ahead.buffer.len()).map(credit));
        self.lanes.extend(ahead.buffer.iter().map(|_| Lane { used: 0, head: NIL, tail: NIL }));
        if self.plan.links.iter().any(|link| link.pool > 0) {
            self.pools.push(self.plan.links[link as usize].pool);
        }
        let rows = self.plan.links.len();
        let row = match far {
            Far::Endpoint(_) => rows + 1,
            _ if self.channels.len() as u32 >= self.ports => rows,
            _ => link as usize,
        };
        self.channels.push(Channel {
            free_at: 0,
            wake_at: NEVER,
            returns: Returns::new(self.ports),
            far,
            sending: 0,
            starved: false,
            row: u8::try_from(row).expect("a network has at most 254 link classes"),
        });
    }
}
