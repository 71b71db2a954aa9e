//! What Valiant and UGAL share on networks where the way leads over a random switch: two phases of a minimal routing, each
//! with levels of its own.
//!
//! `Route::via` is the intermediate switch + 1 (0 if there is none); of `Route::state` the two lowest bits are used.
use super::{Hop, Route, Senses};

/// The packet has been at its intermediate switch.
const SECOND: u8 = 1;
/// The first switch has decided.
const DECIDED: u8 = 2;

/// A minimal routing from switch to switch that can be followed twice in a row.
pub(super) trait Phases: Send + Sync {
    /// Levels on a link class for packets that take this many phases, 1 or 2.
    fn levels(&self, link_class: u8, phases: u8) -> u16;
    /// See [`super::Router::made_levels`].
    fn made_levels(&self) -> u8 {
        0
    }
    /// Switch and port of an endpoint.
    fn seat(&self, dst: u32) -> (u32, u16);
    /// See [`super::Router::reaches`].
    fn reaches(&self, _switch: u32, _dst: u32) -> bool {
        true
    }
    /// The next hop from one switch to another, of a packet for an endpoint, in phase 0 or 1.
    fn next(&self, ends: (u32, u32), dst: u32, phase: u8, route: &mut Route, senses: &mut dyn Senses) -> Hop;
    /// Forgets what the first phase kept in the route.
    fn turn(&self, _route: &mut Route) {}
    /// Links between two switches on the way that is taken.
    fn distance(&self, from: u32, to: u32) -> u32;
    /// Switches that a way may lead over, ascending.
    fn switches(&self) -> &[u32];

    /// A switch that is neither of two, at random; none if there is no other, or the two are one.
    fn intermediate(&self, one: u32, other: u32, senses: &mut dyn Senses) -> Option<u32> {
        let switches = self.switches();
        if switches.len() < 3 || one == other {
            return None;
        }
        let mut draw = senses.below(switches.len() as u32 - 2) as usize;
        for skipped in [one.min(other), one.max(other)] {
            draw += usize::from(switches[draw] >= skipped);
        }
        Some(switches[draw])
    }

    /// The next hop to the destination.
    fn direct(&self, switch: u32, dst: u32, route: &mut Route, senses: &mut dyn Senses) -> Hop {
        let (last, port) = self.seat(dst);
        if switch == last { Hop { port, level: 0 } } else { self.next((switch, last), dst, 0, route, senses) }
    }

    /// The next hop to the intermediate switch, if the packet has one that it has not been at, else to the destination.
    fn by_way(&self, switch: u32, dst: u32, route: &mut Route, senses: &mut dyn Senses) -> Hop {
        let (last, port) = self.seat(dst);
        if switch == last && (route.via == 0 || route.state & SECOND != 0) {
            return Hop { port, level: 0 };
        }
        if route.via == switch + 1 && route.state & SECOND == 0 {
            route.state |= SECOND;
            self.turn(route);
        }
        let second = route.state & SECOND != 0;
        let to = if second || route.via == 0 { last } else { route.via - 1 };
        self.next((switch, to), dst, u8::from(second), route, senses)
    }

    /// Whether this is the first switch of a packet, which is told only once.
    fn is_first(&self, route: &mut Route) -> bool {
        let first = route.state & DECIDED == 0;
        route.state |= DECIDED;
        first
    }
}
