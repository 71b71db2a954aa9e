//! What there is to choose from: the JSON Schema of a scenario file, and every kind of every seam with its
//! parameters. Both are made from the structs and their doc comments; nothing is written twice.
use crate::scenario::shape::{self, Field, Kinds, Shape, Table, Word};
use serde_json::{Map, Value, json};

/// The JSON Schema (draft 2020-12) of a scenario file. Quantities are texts with the `format` "duration", "rate" or
/// "size"; `exclusiveMinimum` 0 on one says that it must be over 0.
pub fn schema() -> Value {
    let mut schema = shape::schema().clone();
    let preset = ("Routing".to_string(), json!("dor"));
    for (seam, kind) in default_kinds(&schema).into_iter().chain([preset]) {
        let branches = schema["$defs"][&seam]["oneOf"].as_array_mut();
        for branch in
            branches.into_iter().flatten().filter(|branch| branch["properties"]["kind"]["const"] == kind)
        {
            if let Some(required) = branch["required"].as_array_mut() {
                required.retain(|key| key != "kind");
            }
        }
    }
    // Queues alone say that the kind is the preset's.
    for branch in schema["$defs"]["Queueing"]["oneOf"].as_array_mut().into_iter().flatten() {
        if branch["properties"]["kind"]["const"] == "dbbq" {
            branch["required"]
                .as_array_mut()
                .into_iter()
                .for_each(|required| required.retain(|key| key != "kind"));
            branch["anyOf"] = json!([{ "required": ["kind"] }, { "required": ["queues"] }]);
        }
    }
    // What a preset fills in may be left out, but without one it may not.
    if let Some(required) = schema["required"].as_array_mut() {
        required.retain(|key| key != "routing");
    }
    schema["if"] = json!({ "required": ["preset"] });
    schema["else"] = json!({
        "required": ["routing"],
        "properties": {
            "routing": { "required": ["kind"] },
            "queueing": { "dependentRequired": { "queues": ["kind"] } },
        },
    });
    // The sweep reads this table; a scenario itself has none.
    schema["properties"]["sweep"] = json!({
        "type": "object",
        "description": "Lists of values by dotted key, such as \"traffic.hot.load\" = [0.1, 0.5]; `tailback sweep` \
                        runs the product of them.",
    });
    allow_kinds_as_texts(&mut schema);
    allow_per_cent(&mut schema);
    allow_ranges(&mut schema);
    schema
}

/// Allows texts such as "0-63" in lists that may have ranges in them.
fn allow_ranges(schema: &mut Value) {
    if let Some(own) = schema.as_object_mut()
        && own.remove(shape::RANGES).is_some()
    {
        let range = json!({ "type": "string", "pattern": "^[0-9]+-[0-9]+$" });
        own["items"] = json!({ "anyOf": [own["items"], range] });
        return;
    }
    match schema {
        Value::Object(inner) => inner.values_mut().for_each(allow_ranges),
        Value::Array(inner) => inner.iter_mut().for_each(allow_ranges),
        _ => {}
    }
}

/// Allows texts such as "40 %" in place of numbers that need not be whole.
fn allow_per_cent(schema: &mut Value) {
    let kinds = &schema["type"];
    if (*kinds == "number" || kinds.as_array().is_some_and(|kinds| kinds.contains(&"number".into())))
        && let Some(own) = schema.as_object_mut()
    {
        let bounds = ["type", "format", "minimum", "exclusiveMinimum", "maximum"];
        let number: Map<String, Value> = bounds.iter().filter_map(|key| own.remove_entry(*key)).collect();
        let text = json!({ "type": "string", "pattern": "^[0-9.]+ *%$" });
        own.insert("anyOf".into(), json!([number, text]));
        return;
    }
    match schema {
        Value::Object(inner) => inner.values_mut().for_each(allow_per_cent),
        Value::Array(inner) => inner.iter_mut().for_each(allow_per_cent),
        _ => {}
    }
}

/// Allows the kinds that need no parameters as texts in place of their tables.
fn allow_kinds_as_texts(schema: &mut Value) {
    let Some(definitions) = schema["$defs"].as_object_mut() else { return };
    for definition in definitions.values_mut() {
        let kinds: Vec<Value> = branches(definition)
            .filter(|branch| {
                branch["required"].as_array().is_none_or(|keys| keys.iter().all(|key| key == "kind"))
            })
            .map(|branch| branch["properties"]["kind"]["const"].clone())
            .filter(Value::is_string)
            .collect();
        if !kinds.is_empty() {
            let table = definition.take();
            *definition = json!({ "anyOf": [{ "enum": kinds }, table] });
        }
    }
}

fn branches(definition: &Value) -> impl Iterator<Item = &Value> {
    definition["oneOf"].as_array().into_iter().flatten()
}

/// The seams whose tables need not say their kind, by their definitions, and the kind that they then have.
fn default_kinds(schema: &Value) -> Vec<(String, Value)> {
    let of = |property: &Value| {
        let kind = property["default"].get("kind")?.clone();
        Some((property["$ref"].as_str()?.strip_prefix("#/$defs/")?.to_string(), kind))
    };
    let inner = ["Traffic", "Link"].map(|table| &schema["$defs"][table]["properties"]);
    [&schema["properties"]]
        .into_iter()
        .chain(inner)
        .flat_map(|properties| properties.as_object().into_iter().flat_map(|all| all.values()))
        .filter_map(of)
        .collect()
}

/// For each seam, its kinds; for each kind `name`, `doc` and `parameters`; for each parameter `name`, `type` (in
/// words, with the units' example), `required`, `default` (null if there is none), `doc` and, if it takes some words
/// only, `values` with `name` and `doc` each. Kinds of a seam come
/// under `topologies`, `routings`, `switches`, `queueings`, `congestion_controls`, `traffic_patterns`, `arrival_processes`, `flow_controls`
/// and `workloads`, the tables that have no kinds under `tables`.
pub fn kinds() -> Value {
    let Shape::Table(root) = shape::scenario() else { return Value::Null };
    json!({
        "topologies": seam(root, "topology"),
        "routings": seam(root, "routing"),
        "switches": seam(root, "switch"),
        "queueings": seam(root, "queueing"),
        "congestion_controls": seam(root, "congestion_control"),
        "traffic_patterns": seam(root, "traffic"),
        "arrival_processes": inside(root, "traffic", "process"),
        "flow_controls": inside(root, "link", "flow_control"),
        "workloads": seam(root, "job"),
        "tables": tables(root),
    })
}

/// The tables that have no kinds (`link`, `packet`, `endpoint`, `run`, `record`), the keys that every `traffic` and every
/// `job` has, and the tables inside them, as [`kinds`] gives kinds.
fn tables(root: &Table) -> Vec<Value> {
    let mut found = Vec::new();
    for field in &root.fields {
        let item = match &field.shape {
            Shape::List { item, .. } => item,
            shape => shape,
        };
        match item {
            Shape::Table(table) => add_table(&field.name, &field.doc, &table.fields, &mut found),
            Shape::Kinds(kinds) if !kinds.common.fields.is_empty() => {
                add_table(&field.name, &field.doc, &kinds.common.fields, &mut found);
            }
            _ => {}
        }
    }
    found
}

fn add_table(name: &str, doc: &str, fields: &[Field], found: &mut Vec<Value>) {
    found.push(json!({ "name": name, "doc": doc, "parameters": parameters(fields) }));
    for field in fields {
        let item = match &field.shape {
            Shape::List { item, .. } => item,
            shape => shape,
        };
        if let Shape::Table(table) = item {
            add_table(&format!("{name}.{}", field.name), &field.doc, &table.fields, found);
        }
    }
}

fn seam(root: &Table, key: &str) -> Value {
    kinds_of(root, key).map_or(Value::Null, list)
}

/// The kinds of a key of a table, or of one that all kinds of a table have.
fn inside(root: &Table, table: &str, key: &str) -> Value {
    let common = kinds_of(root, table).map(|kinds| &kinds.common);
    let plain = root.fields.iter().find_map(|field| match &field.shape {
        Shape::Table(inner) if field.name == table => Some(inner),
        _ => None,
    });
    common.or(plain).and_then(|table| kinds_of(table, key)).map_or(Value::Null, list)
}

/// The kinds of tables under a key, or of those in a list under it.
fn kinds_of<'a>(table: &'a Table, key: &str) -> Option<&'a Kinds> {
    match &table.fields.iter().find(|field| field.name == key)?.shape {
        Shape::Kinds(kinds) => Some(kinds),
        Shape::List { item, .. } => match &**item {
            Shape::Kinds(kinds) => Some(kinds),
            _ => None,
        },
        _ => None,
    }
}

fn list(kinds: &Kinds) -> Value {
    let shared = |field: &&Field| kinds.common.fields.iter().any(|common| common.name == field.name);
    let entries = kinds.kinds.iter().map(|kind| {
        let own: Vec<Field> = kind.table.fields.iter().filter(|field| !shared(field)).cloned().collect();
        json!({ "name": kind.name, "doc": kind.doc, "parameters": parameters(&own) })
    });
    entries.collect()
}

fn parameters(fields: &[Field]) -> Value {
    let parameter = |field: &Field| {
        let mut parameter = json!({
            "name": field.name,
            "type": field.shape.described(),
            "required": field.required,
            "default": field.default,
            "doc": field.doc,
        });
        if let Shape::Words(words) = &field.shape {
            let value = |word: &Word| json!({ "name": word.word, "doc": word.doc });
            parameter["values"] = words.iter().map(value).collect();
        }
        parameter
    };
    fields.iter().map(parameter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_listed_with_its_text_and_every_parameter_with_type_and_text() {
        let kinds = kinds();
        for (seam, list) in kinds.as_object().unwrap() {
            let list = list.as_array().unwrap();
            assert!(!list.is_empty(), "{seam} has no kinds");
            for kind in list {
                assert_ne!(kind["doc"], "", "{seam}: {kind}");
                for parameter in kind["parameters"].as_array().unwrap() {
                    assert_ne!(parameter["doc"], "", "{seam}: {parameter}");
                    assert_ne!(parameter["type"], "a value", "{seam}: {parameter}");
                }
            }
        }
        let lhrp =
            &kinds["congestion_controls"].as_array().unwrap().iter().find(|k| k["name"] == "lhrp").unwrap();
        assert!(lhrp["doc"].as_str().unwrap().starts_with("Last-hop reservation protocol"), "{lhrp}");
        let parameters = lhrp["parameters"].as_array().unwrap();
        let after = parameters.iter().find(|parameter| parameter["name"] == "coalesce_after").unwrap();
        assert_eq!(after["default"], json!(3));
    }

    #[test]
    fn the_schema_asks_for_routing_and_its_kind_only_without_a_preset() {
        let schema = schema();
        assert_eq!(schema["required"], json!(["topology"]));
        assert_eq!(schema["if"]["required"], json!(["preset"]));
        assert_eq!(schema["else"]["required"], json!(["routing"]));
        assert_eq!(schema["else"]["properties"]["routing"]["required"], json!(["kind"]));
        for branch in branches(&schema["$defs"]["Routing"]["anyOf"][1]) {
            let kind = &branch["properties"]["kind"]["const"];
            assert_eq!(
                branch["required"].as_array().unwrap().contains(&json!("kind")),
                kind != "dor",
                "{kind}"
            );
        }
    }

    #[test]
    fn the_schema_takes_queues_without_their_kind_only_beside_a_preset() {
        let schema = schema();
        let queueing = &schema["else"]["properties"]["queueing"];
        assert_eq!(queueing["dependentRequired"], json!({ "queues": ["kind"] }));
        for branch in branches(&schema["$defs"]["Queueing"]["anyOf"][1]) {
            let kind = branch["properties"]["kind"]["const"].as_str().unwrap();
            let asks = branch["required"].as_array().unwrap().contains(&json!("kind"));
            assert_eq!(asks, !["single", "dbbq"].contains(&kind), "{kind}");
            assert_eq!(branch["anyOf"].is_array(), kind == "dbbq", "{kind}");
        }
    }

    #[test]
    fn the_schema_takes_a_kind_that_needs_no_parameters_in_place_of_its_table() {
        let schema = schema();
        let texts = |seam: &str| schema["$defs"][seam]["anyOf"][0]["enum"].clone();
        assert_eq!(texts("Process"), json!(["bernoulli", "periodic", "one-shot", "on-off"]));
        let has = |seam, kind: &str| texts(seam).as_array().unwrap().contains(&json!(kind));
        assert!(has("CongestionControl", "lhrp") && !has("Topology", "dragonfly"));
    }

    #[test]
    fn the_schema_takes_per_cent_and_a_process_without_its_kind() {
        let schema = schema();
        let load = &schema["$defs"]["Traffic"]["properties"]["load"]["anyOf"];
        assert_eq!((&load[0]["maximum"], &load[1]["type"]), (&json!(1.0), &json!("string")), "{load}");
        let bernoulli = branches(&schema["$defs"]["Process"]["anyOf"][1]).next().unwrap();
        assert!(
            !bernoulli["required"].as_array().is_some_and(|keys| keys.contains(&json!("kind"))),
            "{bernoulli}"
        );
    }

    #[test]
    fn tables_without_kinds_are_listed_and_those_inside_them() {
        let kinds = kinds();
        let tables = kinds["tables"].as_array().unwrap();
        let names: Vec<&str> = tables.iter().map(|table| table["name"].as_str().unwrap()).collect();
        assert_eq!(
            names,
            [
                "link",
                "link.slow",
                "link.failed",
                "packet",
                "endpoint",
                "endpoint.slow",
                "traffic",
                "job",
                "job.slow",
                "job.mpi",
                "run",
                "record"
            ]
        );
    }
}
