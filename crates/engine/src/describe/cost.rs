//! What the buffers and queues of a switch cost.
//!
//! Area and energy are those of P. Yebenes and others, ACM TACO 16(2), 2019, section 5.5, from CACTI 7.0 at 22 nm: a memory of
//! 128 KiB with blocks of 64 bytes takes 0.26 mm², and reading a block takes 0.09 nJ. Other sizes are taken in proportion.
use crate::core::plan::Plan;
use crate::graph::{Peer, Port};
use crate::scenario::Scenario;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Bits of the memory whose cost is known, and its area in mm².
const MEMORY: (f64, f64) = (128.0 * 1024.0 * 8.0, 0.26);
/// Bits of a block, and the energy of a read in nJ.
const BLOCK: (f64, f64) = (64.0 * 8.0, 0.09);

/// A row for each kind of switch, told apart by the link classes of its ports.
pub fn cost(scenario: &Scenario, plan: &Plan) -> Vec<Value> {
    let mut kinds: BTreeMap<(Vec<u8>, bool), u64> = BTreeMap::new();
    for switch in 0..plan.graph.switches.len() as u32 {
        let connected = || plan.graph.wired(switch);
        let has_endpoints = connected().any(|port: &Port| matches!(port.peer, Peer::Endpoint(_)));
        *kinds.entry((connected().map(|port| port.class).collect(), has_endpoints)).or_insert(0) += 1;
    }
    let channels = &plan.vcs;
    let by_output = scenario.queueing.scheme().comparators() * u32::from(channels.networks);
    let by_source = if plan.router.weighs() { u32::from(channels.networks) - 1 } else { 0 };
    let row = |((classes, has_endpoints), switches): ((Vec<u8>, bool), u64)| {
        let input: u64 = classes.iter().map(|&class| input_flits(plan, class)).sum();
        let vcs = classes.iter().map(|&class| in_use(plan, class)).max().unwrap_or(0);
        let output: u64 = classes
            .iter()
            .map(|&class| in_use(plan, class) * u64::from(plan.output_buffer.unwrap_or(0)))
            .sum();
        let shared = plan.links[0].sharing().map_or(0, |shared| shared.flits.into());
        let bits = ((input + shared + output) * plan.scale.flit_bits) as f64;
        let comparators =
            u64::from(by_output) * classes.len() as u64 + if has_endpoints { by_source.into() } else { 0 };
        let packet = f64::from(plan.packet_flits) * plan.scale.flit_bits as f64;
        json!({
            "switches": switches,
            "ports": classes.len(),
            "with_endpoints": has_endpoints,
            "vcs_per_port": vcs,
            "buffer_bits": bits as u64,
            "comparators": comparators,
            "buffer_area_mm2": bits / MEMORY.0 * MEMORY.1,
            "read_energy_nj_per_packet": (packet / BLOCK.0).ceil() * BLOCK.1,
        })
    };
    kinds.into_iter().map(row).collect()
}

/// Virtual channels in use on a link class.
fn in_use(plan: &Plan, class: u8) -> u64 {
    plan.links[usize::from(class)].buffer.iter().filter(|&&flits| flits > 0).count() as u64
}

/// Flits of the input buffer of a port.
fn input_flits(plan: &Plan, class: u8) -> u64 {
    let link = &plan.links[usize::from(class)];
    link.buffer.iter().map(|&flits| u64::from(flits)).sum::<u64>() + u64::from(link.pool)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::build;

    #[test]
    fn a_port_of_128_kib_costs_what_the_paper_says_whatever_its_queues() {
        let text = "
            preset = 'sasha'
            topology = { kind = 'kns', k = 4, n = 2 }
            packet = { flit = '64 B', max = '4 KiB' }
            switch = { kind = 'input-queued', input_buffer = { per = 'port', size = '128 KiB' } }
            endpoint = { acknowledge = false }
            traffic = [{ name = 'a', pattern = 'uniform', load = 0.1, message = '4 KiB' }]
        ";
        let scenario = Scenario::parse(text, &[]).unwrap();
        let rows = cost(&scenario, &build::plan(&scenario).unwrap());
        let number = |row: usize, key: &str| rows[row][key].as_f64().unwrap();
        // Routers of an endpoint's and two other ports, then the switches of rows and of columns.
        assert_eq!(rows.len(), 3);
        assert_eq!((number(0, "switches"), number(0, "ports"), number(0, "vcs_per_port")), (16.0, 3.0, 4.0));
        assert_eq!((number(1, "switches"), number(1, "buffer_bits")), (4.0, 4.0 * 128.0 * 1024.0 * 8.0));
        assert!((number(1, "buffer_area_mm2") - 4.0 * 0.26).abs() < 1e-12);
        // A packet is 64 blocks. One limit between two bands in each of two networks; a router compares two occupancies.
        assert!((number(1, "read_energy_nj_per_packet") - 64.0 * 0.09).abs() < 1e-12);
        assert_eq!((number(0, "comparators"), number(1, "comparators")), (7.0, 8.0));
    }
}
