//! What a switch can hold for one of its endpoints: a scheme that waits for more than that to come together waits for ever.
use crate::core::plan::{FLITS_MAX, Plan, TrafficClass};
use std::collections::BTreeSet;

/// Flits that a last switch can hold for an endpoint, before it pauses its neighbours if it does: in its output queue, and in a virtual channel of each port to other switches by a link
/// of one class. The least of all switches and classes, since routes may bring all that is for the endpoint by links of one class, and then
/// what buffers of others might hold does not help: their packets jam before.
#[derive(Debug, Clone, Copy)]
pub struct Reach {
    flits: u64,
    /// Whether those that come by its ports are paused when it holds that.
    pauses: bool,
}

impl Reach {
    /// That of the traffic classes that a scheme counts.
    pub fn new(plan: &Plan, counts: impl Fn(&TrafficClass) -> bool) -> Self {
        let held = |class: u8| {
            let link = &plan.links[usize::from(class)];
            let counted = |vc: usize| counts(&plan.vcs.classes[usize::from(plan.vcs.class_of[vc])]);
            let buffers = link.buffer.iter().enumerate().filter(|&(vc, _)| counted(vc));
            let vc = buffers.map(|(vc, _)| link.reach(vc)).max();
            u64::from(link.pool) + u64::from(vc.unwrap_or(0))
        };
        let room = |switch: u32| {
            let mut ports = vec![0; plan.links.len()];
            // Failed links change no threshold: it is the network that is damaged, not how it was set up.
            plan.graph.wired(switch).for_each(|port| ports[usize::from(port.class)] += 1);
            let by = |class: usize, ports: u32| {
                u64::from(ports) * held(class as u8) + u64::from(plan.links[class].shared(ports))
            };
            let others = (1..ports.len()).map(|class| by(class, ports[class])).filter(|&flits| flits > 0);
            let inputs = others.min();
            let inputs = inputs.unwrap_or_else(|| by(0, ports[0] - 1));
            inputs + u64::from(plan.output_buffer.unwrap_or(0))
        };
        let switches: BTreeSet<u32> = plan.graph.endpoints.iter().map(|&(switch, _)| switch).collect();
        let flits = switches.into_iter().map(room).min().unwrap_or(0);
        Self { flits, pauses: plan.links[0].pauses.is_some() }
    }

    /// That of data.
    pub fn of_data(plan: &Plan) -> Self {
        Self::new(plan, |class| !class.control)
    }

    /// A limit if it is within reach, three quarters of what can be held; else half of that.
    pub fn limit(self, flits: u32) -> u32 {
        if 4 * u64::from(flits) <= 3 * self.flits { flits } else { (self.flits / 2) as u32 }
    }

    /// The warning that a limit, given by a key, is out of reach, so that something does not happen.
    pub fn warning(self, key: &str, flits: u32, what: &str) -> Option<String> {
        let before = if self.pauses { " before it pauses its neighbours" } else { "" };
        // What is longer counts as that long.
        let more = if flits >= FLITS_MAX { "at least " } else { "" };
        (self.limit(flits) < flits).then(|| {
            format!(
                "congestion_control.{key}: {more}{flits} flits, but a switch holds about {} for an endpoint{before} (its output queue, and the \
                 virtual channels of the ports of one kind): traffic may jam before {what}. {} flits leave room",
                self.flits,
                self.flits / 2
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::build;
    use crate::scenario::Scenario;

    /// Flits that a leaf with so many uplinks can hold for one of its eight endpoints.
    fn reach(uplinks: u32, flow_control: &str) -> u64 {
        let text = format!(
            "topology = {{ kind = 'xgft', down = [8, 4], up = [{uplinks}] }}\nrouting = 'nca'\nendpoint = {{ acknowledge = false }}\n\
             switch = {{ kind = 'cioq', input_buffer = '200 flits', output_buffer = '50 flits' }}\n\
             link = {{ latency = '10 ns', flow_control = {flow_control} }}\n\
             [[traffic]]\nname = 't'\npattern = 'uniform'\nload = 0.1\n"
        );
        let scenario = Scenario::parse(&text, &[]).expect("a sound scenario");
        Reach::of_data(&build::plan(&scenario).expect("a network")).flits
    }

    #[test]
    fn ports_of_one_kind_hold_what_they_hold_together() {
        let fixed = "{ kind = 'pfc', xoff = '100 flits' }";
        assert_eq!([reach(2, fixed), reach(4, fixed)], [250, 450]);
        let shared = |reserve: u32| {
            format!(
                "{{ kind = 'pfc-dynamic', shared = '6000 flits', alpha = 0.5, reserve = '{reserve} flits' }}"
            )
        };
        // Two have half of the memory together, and four two thirds.
        assert_eq!([reach(2, &shared(0)), reach(4, &shared(0))], [3050, 4050]);
        assert_eq!([reach(2, &shared(100)), reach(4, &shared(100))], [3250, 4450]);
    }
}
