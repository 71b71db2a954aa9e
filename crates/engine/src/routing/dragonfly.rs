//! What the routings of a dragonfly share: where everything is, and the way along the local and global links.
//!
//! A packet heads for a *link*: one of the global links of the group it is in, counted from 0 such that the parallel links
//! to one group are consecutive. The link gives both the next group and the switch to leave from (the gateway), so
//! `Route::via` (link + 1, 0 while none is chosen) is the whole plan until the packet enters another group.
use super::divisor::Divisor;
use super::{Hop, Route, Senses, diverts};
use crate::graph::{Graph, Peer};
use crate::topology::dragonfly::{Arrangement, Dragonfly};
use std::ops::Range;

/// Where an endpoint is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seat {
    pub(super) switch: u32,
    pub(super) group: u32,
    /// Index of the switch in its group.
    pub(super) index: u32,
    pub(super) port: u16,
}

/// Where a global link leaves its group.
#[derive(Debug, Clone, Copy)]
struct Gateway {
    index: u32,
    port: u16,
}

/// The links of a group that have not failed.
#[derive(Debug)]
struct Left {
    links: Vec<u32>,
    /// By bundle, the first of its links in `links`; then their number.
    first: Vec<u32>,
}

/// The arithmetic of a dragonfly. Nothing here grows with the product of switches and destinations.
#[derive(Debug)]
pub(super) struct Geometry {
    /// Switches in a group.
    pub(super) a: u32,
    /// Groups.
    pub(super) groups: u32,
    /// Parallel links between two groups.
    pub(super) parallel: u32,
    /// First local port.
    p: u32,
    arrangement: Arrangement,
    /// Divides endpoints by `p`: into the switch and the port, as `Dragonfly::graph` attaches them.
    by_switch: Divisor,
    /// Divides switches by `a`: into the group and the index there.
    by_group: Divisor,
    /// By link, for any group: arrangements look alike from every group.
    gateways: Vec<Gateway>,
    /// By group, what is left where links have failed; empty if none has.
    left: Vec<Left>,
    /// Switches of a group whose own link has failed, the lower first.
    apart: Vec<(u32, u32)>,
}

/// Ratio of the hops of a minimal way and of a detour, as UGAL and PAR compare them: a Valiant way is two minimal ones, a
/// local detour two local hops for one.
pub(super) const WEIGHTS: (u32, u32) = (1, 2);

/// Link class of the host links, as in every topology.
const HOST: u8 = 0;
/// Bits of `Route::state`: local hops taken in this group, global hops taken, and a bit for the routing's own use.
const LOCAL_HOPS: u8 = 0b0000_0011;
const ONE_GLOBAL: u8 = 0b0000_0100;
const GLOBAL_HOPS: u8 = 0b0000_1100;
const DIVERTED: u8 = 0b0001_0000;

impl Route {
    /// Local hops taken in the present group.
    pub(super) fn local_hops(&self) -> u8 {
        self.state & LOCAL_HOPS
    }

    /// Global hops taken.
    pub(super) fn global_hops(&self) -> u8 {
        (self.state & GLOBAL_HOPS) / ONE_GLOBAL
    }

    /// Whether the packet was sent to an intermediate group.
    pub(super) fn diverted(&self) -> bool {
        self.state & DIVERTED != 0
    }

    /// Sends the packet over `link`, or whatever else the routing plans by, to an intermediate group.
    pub(super) fn divert(&mut self, link: u32) {
        self.via = link + 1;
        self.state |= DIVERTED;
    }

    /// Counts a local hop.
    pub(super) fn take_local(&mut self) {
        self.state += 1;
    }

    /// Counts a global hop; the next group makes its own plan.
    fn take_global(&mut self) {
        self.state = (self.state & !LOCAL_HOPS) + ONE_GLOBAL;
        self.via = 0;
    }
}

impl Geometry {
    pub(super) fn new(dragonfly: &Dragonfly, graph: &Graph) -> Self {
        let Dragonfly { p, a, h, groups, arrangement, .. } = *dragonfly;
        let (parallel, others) = (dragonfly.parallel(), groups - 1);
        let gateway = |link: u32| {
            let q = link % parallel * others + link / parallel;
            Gateway { index: q / h, port: (p + a - 1 + q % h) as u16 }
        };
        let mut geometry = Self {
            a,
            groups,
            parallel,
            p,
            arrangement,
            by_switch: Divisor::new(p),
            by_group: Divisor::new(a),
            gateways: (0..parallel * others).map(gateway).collect(),
            left: Vec::new(),
            apart: Vec::new(),
        };
        if !graph.failed.is_empty() {
            geometry.left = (0..groups).map(|group| geometry.left_of(group, graph)).collect();
            let ends = graph.failed.iter().map(|[one, other]| (one.0.min(other.0), one.0.max(other.0)));
            geometry.apart = ends.filter(|&(one, other)| one / a == other / a).collect();
        }
        geometry
    }

    /// What is left of the links of a group.
    fn left_of(&self, group: u32, graph: &Graph) -> Left {
        let is_left = |link: &u32| {
            let Gateway { index, port } = self.gateways[*link as usize];
            graph.switches[(group * self.a + index) as usize][usize::from(port)].peer != Peer::None
        };
        let links = Vec::from_iter((0..self.gateways.len() as u32).filter(is_left));
        let first = |bundle: u32| links.partition_point(|&link| link < bundle * self.parallel) as u32;
        Left { first: (0..self.groups).map(first).collect(), links }
    }

    /// See [`super::Router::reaches`]: groups are joined by links of their own, and so are the switches of a group.
    pub(super) fn reaches(&self, switch: u32, dst: u32) -> bool {
        let (seat, (group, _)) = (self.seat(dst), self.place(switch));
        if group == seat.group {
            return !self.apart.contains(&(switch.min(seat.switch), switch.max(seat.switch)));
        }
        self.left.get(group as usize).is_none_or(|left| {
            let bundle = self.arrangement.port(group, seat.group, self.groups) as usize;
            left.first[bundle] < left.first[bundle + 1]
        })
    }

    /// Where endpoint `dst` is.
    #[inline]
    pub(super) fn seat(&self, dst: u32) -> Seat {
        let (switch, port) = self.by_switch.divide(dst);
        let (group, index) = self.place(switch);
        Seat { switch, group, index, port: port as u16 }
    }

    /// The group of `switch`, and its index there.
    #[inline]
    pub(super) fn place(&self, switch: u32) -> (u32, u32) {
        self.by_group.divide(switch)
    }

    /// The links from group `from` to group `to`.
    #[inline]
    pub(super) fn links(&self, from: u32, to: u32) -> Range<u32> {
        self.bundle(self.arrangement.port(from, to, self.groups))
    }

    /// The links of a bundle, which are those to one other group: bundles are numbered like links.
    #[inline]
    pub(super) fn bundle(&self, bundle: u32) -> Range<u32> {
        bundle * self.parallel..(bundle + 1) * self.parallel
    }

    /// The bundle of a link.
    #[inline]
    pub(super) fn bundle_of(&self, link: u32) -> u32 {
        link / self.parallel
    }

    /// One of the bundles of group `from` that do not lead to group `to`, at random; none if there is no such group.
    pub(super) fn other_bundle(&self, from: u32, to: u32, senses: &mut dyn Senses) -> Option<u32> {
        if self.groups < 3 {
            return None;
        }
        let direct = self.arrangement.port(from, to, self.groups);
        let draw = senses.below(self.groups - 2);
        Some(draw + u32::from(draw >= direct))
    }

    /// One of the links from group `from` to group `to`, at random.
    #[inline]
    pub(super) fn link(&self, from: u32, to: u32, senses: &mut dyn Senses) -> u32 {
        if !self.left.is_empty() {
            return self.link_left(from, to, senses);
        }
        let first = self.links(from, to).start;
        if self.parallel > 1 { first + senses.below(self.parallel) } else { first }
    }

    /// One of the links from group `from` that do not lead to group `to`, at random; none if there is no such group.
    #[inline]
    pub(super) fn detour(&self, from: u32, to: u32, senses: &mut dyn Senses) -> Option<u32> {
        if self.groups < 3 {
            return None;
        }
        if !self.left.is_empty() {
            return Some(self.detour_left(from, to, senses));
        }
        let first = self.links(from, to).start;
        let draw = senses.below((self.groups - 2) * self.parallel);
        Some(if draw < first { draw } else { draw + self.parallel })
    }

    /// [`Self::link`] where links have failed.
    #[cold]
    fn link_left(&self, from: u32, to: u32, senses: &mut dyn Senses) -> u32 {
        let (left, bundle) = self.left_towards(from, to);
        let (first, count) = (left.first[bundle], left.first[bundle + 1] - left.first[bundle]);
        left.links[(first + if count > 1 { senses.below(count) } else { 0 }) as usize]
    }

    /// [`Self::detour`] where links have failed.
    #[cold]
    fn detour_left(&self, from: u32, to: u32, senses: &mut dyn Senses) -> u32 {
        let (left, bundle) = self.left_towards(from, to);
        let (first, count) = (left.first[bundle], left.first[bundle + 1] - left.first[bundle]);
        let draw = senses.below(left.links.len() as u32 - count);
        left.links[(if draw < first { draw } else { draw + count }) as usize]
    }

    /// What is left of the links of group `from`, and the bundle that leads to group `to`.
    fn left_towards(&self, from: u32, to: u32) -> (&Left, usize) {
        (&self.left[from as usize], self.arrangement.port(from, to, self.groups) as usize)
    }

    /// The local port of the switch of index `from` to that of index `to` in its group.
    #[inline]
    pub(super) fn local_port(&self, from: u32, to: u32) -> u16 {
        (self.p + to - u32::from(to > from)) as u16
    }

    /// The index of the switch that `link` leaves its group from.
    #[inline]
    pub(super) fn gateway(&self, link: u32) -> u32 {
        self.gateways[link as usize].index
    }

    /// The port that leads from the switch of index `from` directly towards `link`.
    #[inline]
    pub(super) fn port_towards(&self, from: u32, link: u32) -> u16 {
        let gateway = self.gateways[link as usize];
        if gateway.index == from { gateway.port } else { self.local_port(from, gateway.index) }
    }

    /// Compares the link that the packet heads for with a Valiant one, in the switch `(group, index)` of its source
    /// group, and heads for that if it looks faster. The other port is looked at only if it can change the decision.
    #[inline(always)]
    pub(super) fn reconsider(
        &self,
        (group, index): (u32, u32),
        to: u32,
        threshold: u64,
        route: &mut Route,
        senses: &mut dyn Senses,
    ) {
        let port = self.port_towards(index, route.via - 1);
        let minimal = senses.occupancy(port);
        if u64::from(minimal) <= threshold {
            return;
        }
        let Some(detour) = self.detour(group, to, senses) else { return };
        let other = self.port_towards(index, detour);
        if other != port && diverts(minimal, senses.occupancy(other), WEIGHTS, threshold) {
            route.divert(detour);
        }
    }

    /// Leaves the group over `link`, from its gateway. The level of a global channel is the global hops taken before.
    #[inline]
    pub(super) fn leave(&self, link: u32, route: &mut Route) -> Hop {
        let level = route.global_hops();
        route.take_global();
        Hop { port: self.gateways[link as usize].port, level }
    }

    /// The hop from the switch of index `from` towards `link`, or over it, at a level that the routing has chosen.
    pub(super) fn towards(&self, from: u32, link: u32, level: u8, route: &mut Route) -> Hop {
        if self.gateway(link) == from {
            route.take_global();
        } else {
            route.take_local();
        }
        Hop { port: self.port_towards(from, link), level }
    }

    /// The next hop on the direct way: over the link chosen in this group (drawn now if there is none), or to the
    /// destination. Both levels are the global hops taken, since a group is crossed by one local hop at most.
    #[inline]
    pub(super) fn direct(&self, switch: u32, dst: u32, route: &mut Route, senses: &mut dyn Senses) -> Hop {
        let seat = self.seat(dst);
        if switch == seat.switch {
            return Hop { port: seat.port, level: 0 };
        }
        let (group, index) = self.place(switch);
        let level = route.global_hops();
        if group == seat.group {
            return Hop { port: self.local_port(index, seat.index), level };
        }
        if route.via == 0 {
            route.via = self.link(group, seat.group, senses) + 1;
        }
        let link = route.via - 1;
        let gateway = self.gateways[link as usize];
        if gateway.index == index {
            self.leave(link, route)
        } else {
            Hop { port: self.local_port(index, gateway.index), level }
        }
    }

    /// The levels of a link class for packets that take at most `globals` global hops, where a group is crossed with
    /// `locals` local levels.
    pub(super) fn levels(&self, link_class: u8, globals: u32, locals: u8) -> u16 {
        let globals = globals.min(self.groups - 1) as u16;
        match link_class {
            HOST => 1,
            crate::topology::dragonfly::LOCAL => u16::from(locals) * (globals + 1),
            _ => globals.max(1),
        }
    }
}
