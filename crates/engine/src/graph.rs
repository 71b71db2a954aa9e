//! The network as a graph: switches, their ports, and the endpoints attached to them.

/// What the far end of a switch port is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// Port `port` of switch `switch`; that port's peer is this one.
    Switch {
        /// Index of the switch in [`Graph::switches`].
        switch: u32,
        /// Index of the port in that switch.
        port: u16,
    },
    /// The endpoint of this number.
    Endpoint(u32),
    /// Nothing is connected.
    None,
}

/// A bidirectional port of a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Port {
    /// Link class: an index into the topology's `link_classes`.
    pub class: u8,
    /// The far end.
    pub peer: Peer,
}

/// A network: every link is bidirectional and joins two ports, or a port and an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Graph {
    /// The ports of each switch.
    pub switches: Vec<Vec<Port>>,
    /// The switch and the port each endpoint is attached to.
    pub endpoints: Vec<(u32, u16)>,
    /// Both ends, as (switch, port), of each link between switches that is out of service; nothing is connected to these ports.
    pub failed: Vec<[(u32, u16); 2]>,
    /// The natural block of each switch (dragonfly group, fat-tree pod, torus plane), from 0 without gaps.
    pub blocks: Vec<u32>,
}

impl Graph {
    /// Attaches the next endpoint to a new port of `switch`; returns its number.
    pub fn attach(&mut self, switch: u32, class: u8) -> u32 {
        let endpoint = self.endpoints.len() as u32;
        let ports = &mut self.switches[switch as usize];
        self.endpoints.push((switch, ports.len() as u16));
        ports.push(Port { class, peer: Peer::Endpoint(endpoint) });
        endpoint
    }

    /// Joins port `a` and port `b`, given as (switch, port), by a link of `class`. Ports must exist.
    pub fn join(&mut self, a: (u32, u16), b: (u32, u16), class: u8) {
        self.switches[a.0 as usize][a.1 as usize] =
            Port { class, peer: Peer::Switch { switch: b.0, port: b.1 } };
        self.switches[b.0 as usize][b.1 as usize] =
            Port { class, peer: Peer::Switch { switch: a.0, port: a.1 } };
    }

    /// Takes the link of a port to another switch out of service.
    pub fn sever(&mut self, (switch, port): (u32, u16)) {
        let near = &mut self.switches[switch as usize][usize::from(port)].peer;
        if let Peer::Switch { switch: to, port: at } = std::mem::replace(near, Peer::None) {
            self.switches[to as usize][usize::from(at)].peer = Peer::None;
            self.failed.push([(switch, port), (to, at)]);
        }
    }

    /// The ports of a switch that are connected, or would be if their links had not failed.
    pub fn wired(&self, switch: u32) -> impl Iterator<Item = &Port> {
        let has_failed = move |port: u16| self.failed.iter().flatten().any(|&end| end == (switch, port));
        let ports = (0..).zip(&self.switches[switch as usize]);
        ports.filter(move |(at, port)| port.peer != Peer::None || has_failed(*at)).map(|(_, port)| port)
    }

    /// The channel out of a port in words; `link_classes` names the classes.
    pub fn channel(&self, switch: u32, port: u16, link_classes: &[impl AsRef<str>]) -> String {
        let Port { class, peer } = self.switches[switch as usize][usize::from(port)];
        let to = match peer {
            Peer::Switch { switch, .. } => format!("switch {switch}"),
            Peer::Endpoint(endpoint) => format!("endpoint {endpoint}"),
            Peer::None => "nowhere".to_string(),
        };
        format!("switch {switch} port {port} ({}) to {to}", link_classes[usize::from(class)].as_ref())
    }

    /// The block of an endpoint's switch.
    pub fn block_of(&self, endpoint: u32) -> u32 {
        self.blocks[self.endpoints[endpoint as usize].0 as usize]
    }
}
