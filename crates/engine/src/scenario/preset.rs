//! Presets: names of published combinations of routing and queueing.
use super::tree::{self, Node, Value};
use super::walk::Found;
use crate::problem::Problem;
use crate::topology::Topology;
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
    let choose = match word(root, "preset") {
        Some("osha") => "round-robin",
        Some("sasha") => "occupancy",
        _ => return,
    };
    if let Some(kind) = word_in(root, "routing", "kind").filter(|kind| *kind != "dor") {
        let message = format!("the preset routes in dimension order, not by \"{kind}\"");
        return found.add(root.locate("routing.kind"), || {
            Problem::new("routing.kind", message, "leave it out, or write \"dor\"; or remove the preset")
        });
    }
    let (dimensions, orders) = (lacks_dimensions(root), orders(root));
    let torus = word_in(root, "topology", "kind") == Some("torus");
    if let Some(message) = &dimensions {
        found.add(root.locate("preset"), || Problem::new("preset", message, WITH_DIMENSIONS));
        // What a preset means there is anyone's guess, and so is what the rest of these tables means beside it.
        found.doubted.extend(["routing", "queueing"].map(str::to_string));
    } else if let Some(count @ 0..2) = orders {
        let given = if count == 0 { "none" } else { "one" };
        let message =
            format!("the preset chooses among several orders of the dimensions, and {given} is given");
        let help = "two or more, or leave them out; or remove the preset";
        found.add(root.locate("routing.orders"), || Problem::new("routing.orders", message, help));
    }
    fill(root, "routing", "kind", "dor");
    fill(root, "routing", "orders", "[\"xy\", \"yx\"]");
    if orders.is_none_or(|count| count > 1) {
        fill(root, "routing", "choose", choose);
    }
    if torus {
        fill(root, "routing", "deadlock", "bubble");
    }
    fill(root, "queueing", "kind", "dbbq");
    if word_in(root, "queueing", "kind") == Some("dbbq") {
        fill(root, "queueing", "queues", "2");
    }
}

/// Gives a key of a table its value, unless it has one.
fn fill(root: &mut Node, table: &str, key: &str, value: &str) {
    if root.get(table).and_then(|table| table.get(key)).is_none() {
        // The path has no names of classes, so it can be set.
        _ = tree::set(root, &format!("{table}.{key}"), value);
    }
}

/// The networks that have dimensions to be crossed in two orders.
const WITH_DIMENSIONS: &str =
    "a kns (n of 2 or more), or a torus, mesh or hyperx (two or more numbers in dims)";

/// What keeps a network from being crossed in two orders of its dimensions, if its table tells so.
fn lacks_dimensions(root: &Node) -> Option<String> {
    let value = |key: &str| root.get("topology")?.get(key).map(|node| &node.value);
    let count = match (word_in(root, "topology", "kind")?, value("dims"), value("n")) {
        ("kns", _, Some(Value::Integer(n))) => *n,
        ("torus" | "mesh" | "hyperx", Some(Value::List(dims)), _) => dims.len() as i128,
        ("torus" | "mesh" | "hyperx" | "kns", ..) => return None,
        (kind, ..) if !Topology::KINDS.contains(&kind) => return None,
        (kind, ..) => {
            return Some(format!(
                "the preset needs two dimensions, and a network of kind \"{kind}\" has none"
            ));
        }
    };
    (count == 1).then(|| "the preset needs two dimensions, and this network has one".to_string())
}

/// How many orders of the dimensions are given, if they are.
fn orders(root: &Node) -> Option<usize> {
    match &root.get("routing")?.get("orders")?.value {
        Value::List(orders) => Some(orders.len()),
        _ => None,
    }
}

/// The text under a key, if it is one.
fn word<'a>(table: &'a Node, key: &str) -> Option<&'a str> {
    match &table.get(key)?.value {
        Value::Text(word) => Some(word),
        _ => None,
    }
}

/// The text under a key of a table.
fn word_in<'a>(root: &'a Node, table: &str, key: &str) -> Option<&'a str> {
    word(root.get(table)?, key)
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
    fn a_table_that_is_given_in_part_is_filled_in() {
        let torus = "preset = 'sasha'\ntopology = { kind = 'torus', dims = [4, 4] }";
        let queueing = |table: &str| {
            filled(&format!("{torus}\nqueueing = {table}")).split_once(' ').unwrap().1.to_string()
        };
        assert_eq!(queueing("{ queues = 4 }"), r#"{"kind":"dbbq","queues":4}"#);
        assert_eq!(queueing("{}"), r#"{"kind":"dbbq","queues":2}"#);
        assert_eq!(queueing("{ kind = 'dbbq' }"), r#"{"kind":"dbbq","queues":2}"#);
        assert_eq!(queueing("{ kind = 'bbq', queues = 8 }"), r#"{"kind":"bbq","queues":8}"#);
        assert!(filled(&format!("{torus}\nqueueing = {{ quues = 4 }}")).contains("did you mean queues?"));
        let routing = filled(&format!("{torus}\nrouting = {{ choose = 'random' }}"));
        assert!(routing.contains(r#""orders":["xy","yx"],"choose":"random""#), "{routing}");
    }

    #[test]
    fn a_preset_on_a_network_without_two_dimensions_is_told_where_it_stands() {
        for (topology, has) in [
            ("kind = 'kns', k = 4, n = 1", "this network has one"),
            ("kind = 'torus', dims = [8]", "this network has one"),
            ("kind = 'mesh', dims = [8]", "this network has one"),
            ("kind = 'fat-tree', levels = 2, arity = 4", "a network of kind \"fat-tree\" has none"),
            ("kind = 'single-switch', endpoints = 4", "a network of kind \"single-switch\" has none"),
        ] {
            let text =
                format!("topology = {{ {topology} }}\npreset = 'sasha'\nqueueing.queues = 4\n{TRAFFIC}");
            let told = crate::run::read(&text, &[]).unwrap_err();
            let expected = format!("the preset needs two dimensions, and {has}");
            assert_eq!(told.len(), 1, "{told:?}");
            assert_eq!(
                (told[0].path.as_str(), told[0].line, told[0].message.as_str()),
                ("preset", Some(2), expected.as_str())
            );
            assert!(told[0].help.starts_with("a kns"), "{told:?}");
        }
    }

    #[test]
    fn a_preset_that_is_to_choose_among_fewer_than_two_orders_is_told_where_they_stand() {
        for (orders, given) in [("['xy']", "one"), ("[]", "none")] {
            let text = format!(
                "preset = 'sasha'\ntopology = {{ kind = 'kns', k = 4, n = 2 }}\nrouting.orders = {orders}\n{TRAFFIC}"
            );
            let told = crate::run::read(&text, &[]).unwrap_err();
            assert_eq!(
                (told.len(), told[0].path.as_str(), told[0].line),
                (1, "routing.orders", Some(3)),
                "{told:?}"
            );
            assert!(told[0].message.ends_with(&format!("and {given} is given")), "{told:?}");
        }
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
