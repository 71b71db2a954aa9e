//! What tests of several schemes need.
use super::Departure;
use crate::core::Tick;
use crate::core::build;
use crate::core::packet::Kind;
use crate::core::plan::Plan;
use crate::scenario::Scenario;

/// The plan of four endpoints on a switch, with links of 500 ns and packets of 24 flits of a nanosecond.
pub fn plan() -> Plan {
    let text = "[topology]\nkind = \"single-switch\"\nendpoints = 4\n[link]\nlatency = \"500 ns\"\n[routing]\nkind = \"minimal\"\n\
                [packet]\nmax = \"24 flits\"\n\
                [[traffic]]\nname = \"t\"\npattern = \"uniform\"\nload = 0.1\nmessage = \"24 flits\"\n";
    let scenario = Scenario::parse(text, &[]).unwrap_or_else(|problems| panic!("{problems:?}"));
    build::plan(&scenario).unwrap()
}

/// A packet of so many flits, two ticks each, begins to leave port 0, to an endpoint, with `waiting` flits there, itself included.
pub fn departure(now: Tick, waiting: u32, flits: u32, kind: Kind) -> Departure {
    let time = 2 * u64::from(flits);
    Departure {
        now,
        port: 0,
        endpoint: Some(0),
        flits,
        time,
        waiting,
        at_inputs: 0,
        has_credit: true,
        kind,
        dst: 0,
    }
}
