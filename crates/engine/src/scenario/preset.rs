//! Presets: names of published combinations of routing and queueing.
use super::tree::{self, Node, Value};
use super::walk::Found;
use crate::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A published combination of routing and queueing, which fills in the tables `routing` and `queueing` where they say nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Oblivious: dimension orders xy and yx in turn, in two virtual networks, with DBBQ of 2 queues each; bubbles in a torus.
    Osha,
    /// Source-adaptive: as `osha`, by the occupancy of the first queue.
    Sasha,
}

/// Fills in what the preset of a scenario says, if it names one.
pub fn apply(root: &mut Node, found: &mut Found) {
    let choose = match root.get("preset").map(|node| &node.value) {
        Some(Value::Text(name)) if name == "osha" => "round-robin",
        Some(Value::Text(name)) if name == "sasha" => "occupancy",
        _ => return,
    };
    let word = |table: &str, key: &str| match root.get(table)?.get(key).map(|node| &node.value) {
        Some(Value::Text(word)) => Some(word.clone()),
        _ => None,
    };
    if let Some(kind) = word("routing", "kind").filter(|kind| kind != "dor") {
        let message = format!("the preset routes in dimension order, not by \"{kind}\"");
        return found.add(root.locate("routing.kind"), || {
            Problem::new("routing.kind", message, "leave it out, or write \"dor\"; or remove the preset")
        });
    }
    let torus = word("topology", "kind").as_deref() == Some("torus");
    let has_queueing = root.get("queueing").is_some();
    let mut fill = |table: &str, key: &str, value: &str| {
        if root.get(table).and_then(|table| table.get(key)).is_none() {
            // The path has no names of classes, so it can be set.
            _ = tree::set(root, &format!("{table}.{key}"), value);
        }
    };
    fill("routing", "kind", "dor");
    fill("routing", "orders", "[\"xy\", \"yx\"]");
    fill("routing", "choose", choose);
    if torus {
        fill("routing", "deadlock", "bubble");
    }
    if !has_queueing {
        fill("queueing", "kind", "dbbq");
        fill("queueing", "queues", "2");
    }
}

#[cfg(test)]
mod tests {
    use crate::scenario::Scenario;

    const TRAFFIC: &str = "traffic = [{ name = 'a', pattern = 'uniform', load = 0.1 }]";

    /// The tables `routing` and `queueing` of a scenario, or its mistakes.
    fn filled(text: &str) -> String {
        match Scenario::parse(&format!("{text}\n{TRAFFIC}"), &[]) {
            Ok(scenario) => {
                let value = serde_json::to_value(&scenario).unwrap();
                format!("{} {}", value["routing"], value["queueing"])
            }
            Err(problems) => problems.iter().map(|problem| problem.to_string()).collect(),
        }
    }

    #[test]
    fn a_preset_fills_in_what_is_not_said() {
        assert_eq!(
            filled("preset = 'osha'\ntopology = { kind = 'kns', k = 4, n = 2 }"),
            r#"{"kind":"dor","deadlock":"date-line","may_deadlock":false,"orders":["xy","yx"],"choose":"round-robin"} {"kind":"dbbq","queues":2}"#
        );
        assert_eq!(
            filled(
                "preset = 'sasha'\ntopology = { kind = 'torus', dims = [4, 4] }\nqueueing = { kind = 'single' }"
            ),
            r#"{"kind":"dor","deadlock":"bubble","may_deadlock":false,"orders":["xy","yx"],"choose":"occupancy"} {"kind":"single"}"#
        );
    }

    #[test]
    fn a_scenario_with_a_preset_is_written_out_without_it() {
        let text = format!("preset = 'sasha'\ntopology = {{ kind = 'kns', k = 3, n = 3 }}\n{TRAFFIC}");
        let written = Scenario::parse(&text, &[]).unwrap().to_toml();
        assert!(!written.contains("preset"), "{written}");
        assert_eq!(Scenario::parse(&written, &[]).unwrap().to_toml(), written);
    }

    #[test]
    fn a_preset_and_another_routing_contradict_each_other() {
        let text =
            "preset = 'osha'\ntopology = { kind = 'kns', k = 4, n = 2 }\nrouting = { kind = 'minimal' }";
        assert!(filled(text).contains("in dimension order, not by \"minimal\""), "{}", filled(text));
        assert!(filled("preset = 'oscha'\ntopology = { kind = 'kns', k = 4, n = 2 }").contains("osha"));
    }
}
