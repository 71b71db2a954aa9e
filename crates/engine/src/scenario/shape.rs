//! What a scenario may look like: the JSON Schema of [`Scenario`](super::Scenario), made from the structs, brought
//! into the few shapes that the reader checks and the registry lists.
use crate::units::Dimension;
use serde_json::{Map, Value};
use std::sync::OnceLock;

/// The shape of a value.
#[derive(Debug, Clone)]
pub enum Shape {
    Any,
    Bool,
    Integer {
        least: i128,
        most: i128,
    },
    /// With `over`, one that is greater than the least.
    Number {
        least: f64,
        over: bool,
        most: f64,
    },
    Text,
    Quantity {
        dimension: Dimension,
        positive: bool,
    },
    Words(Vec<Word>),
    /// With `ranges`, texts such as "0-63" may stand in it for all the numbers they tell.
    List {
        item: Box<Shape>,
        least: usize,
        most: usize,
        ranges: bool,
    },
    Table(Table),
    Kinds(Kinds),
    Either(Vec<Shape>),
}

/// What a schema says of lists that may have ranges in them.
pub const RANGES: &str = "ranges";

/// One of the texts a key allows.
#[derive(Debug, Clone)]
pub struct Word {
    pub word: String,
    pub doc: String,
}

/// A table: its keys, and the shape of all other keys if there may be others.
#[derive(Debug, Clone, Default)]
pub struct Table {
    pub fields: Vec<Field>,
    pub others: Option<Box<Shape>>,
}

/// A key of a table.
#[derive(Debug, Clone)]
pub struct Field {
    pub name: String,
    pub doc: String,
    pub required: bool,
    pub default: Option<Value>,
    pub shape: Shape,
}

/// A table whose keys depend on the value of one, the tag. Each kind's table has the keys of all kinds too.
#[derive(Debug, Clone)]
pub struct Kinds {
    pub tag: String,
    pub kinds: Vec<Kind>,
    /// The keys that do not depend on the kind.
    pub common: Table,
}

impl Kinds {
    /// Whether a kind may stand for its table: other tags stand in tables with keys of their own.
    pub fn have_short_form(&self) -> bool {
        self.tag == "kind"
    }
}

/// A kind of a seam.
#[derive(Debug, Clone)]
pub struct Kind {
    pub name: String,
    pub doc: String,
    pub table: Table,
}

/// The JSON Schema of a scenario file.
pub fn schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| schemars::schema_for!(super::Scenario).to_value())
}

/// The shape of a scenario file.
pub fn scenario() -> &'static Shape {
    static SHAPE: OnceLock<Shape> = OnceLock::new();
    SHAPE.get_or_init(|| of(schema()))
}

/// The sections of a scenario file that have a key, such as "[link]"; none if that in which it is unknown has it too, of another kind.
pub fn sections_with(key: &str, unknown_in: &str) -> Vec<String> {
    let Shape::Table(sections) = scenario() else { return Vec::new() };
    let has = |section: &&Field| match &section.shape {
        Shape::List { item, .. } => item.has(key),
        own => own.has(key),
    };
    let with = Vec::from_iter(sections.fields.iter().filter(has));
    if with.iter().any(|section| section.name == unknown_in) {
        return Vec::new();
    }
    let told = |section: &&Field| match section.shape {
        Shape::List { .. } => format!("[[{}]]", section.name),
        _ => format!("[{}]", section.name),
    };
    with.iter().map(told).collect()
}

/// The shape that a whole JSON Schema describes.
pub fn of(schema: &Value) -> Shape {
    Reader { defs: &schema["$defs"] }.shape(schema)
}

impl Shape {
    /// Whether a table of this shape, of some kind, has a key.
    fn has(&self, key: &str) -> bool {
        let in_table = |table: &Table| table.fields.iter().any(|field| field.name == key);
        match self {
            Shape::Table(table) => in_table(table),
            Shape::Kinds(kinds) => {
                in_table(&kinds.common) || kinds.kinds.iter().any(|kind| in_table(&kind.table))
            }
            Shape::Either(shapes) => shapes.iter().any(|shape| shape.has(key)),
            _ => false,
        }
    }

    /// Whether it is a number that may have this value.
    pub fn allows(&self, n: f64) -> bool {
        let Shape::Number { least, over, most } = self else { return false };
        n >= *least && n <= *most && !(*over && n == *least)
    }

    /// What is expected here, for messages.
    pub fn described(&self) -> String {
        match self {
            Shape::Any => "a value".to_string(),
            Shape::Bool => "true or false".to_string(),
            Shape::Integer { least, most } => {
                format!("a whole number {}", range(*least, *most, u32::MAX as i128))
            }
            Shape::Number { least, over, most } => {
                let bounds = match over {
                    true if *most < f64::MAX => format!("over {least}, at most {most}"),
                    true => format!("over {least}"),
                    false => range(*least, *most, f64::MAX),
                };
                let number = format!("a number {bounds}");
                if *most == 1.0 { format!("{number} or a text such as \"40 %\"") } else { number }
            }
            Shape::Text => "text in quotes".to_string(),
            Shape::Quantity { dimension, .. } => dimension.described().to_string(),
            Shape::Words(words) => {
                join_or(&words.iter().map(|word| format!("\"{}\"", word.word)).collect::<Vec<_>>())
            }
            Shape::List { item, ranges: false, .. } => format!("a list (each {})", item.described()),
            Shape::List { item, .. } => {
                format!("a list (each {} or a range such as \"0-63\")", item.described())
            }
            Shape::Table(table) => {
                let keys: Vec<&str> = table.fields.iter().map(|field| field.name.as_str()).collect();
                if keys.is_empty() {
                    "a table".to_string()
                } else {
                    format!("a table of {}", keys.join(", "))
                }
            }
            Shape::Kinds(kinds) => {
                let names: Vec<&str> = kinds.kinds.iter().map(|kind| kind.name.as_str()).collect();
                let short = if kinds.have_short_form() { "a kind in quotes, or " } else { "" };
                format!("{short}a table with the key {}, one of {}", kinds.tag, names.join(", "))
            }
            Shape::Either(shapes) => join_or(&shapes.iter().map(Shape::described).collect::<Vec<_>>()),
        }
    }
}

/// "from 0 to 1", "of at least 1"; a bound at or over `endless` is none worth telling.
fn range<T: PartialOrd + std::fmt::Display>(least: T, most: T, endless: T) -> String {
    if most < endless { format!("from {least} to {most}") } else { format!("of at least {least}") }
}

/// "a, b or c"
pub fn join_or(parts: &[String]) -> String {
    match parts.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, parts)) => format!("{} or {last}", parts.join(", ")),
        None => String::new(),
    }
}

/// A doc comment as text: its lines joined, its paragraphs kept.
fn doc(schema: &Map<String, Value>) -> String {
    let text = schema.get("description").and_then(Value::as_str).unwrap_or("");
    text.split("\n\n").map(|part| part.replace('\n', " ")).collect::<Vec<_>>().join("\n\n")
}

/// Turns schemas into shapes; `defs` are the definitions that references name.
struct Reader<'a> {
    defs: &'a Value,
}

impl Reader<'_> {
    /// The schema with what it refers to put in.
    fn resolve(&self, schema: &Value) -> Map<String, Value> {
        let Some(own) = schema.as_object() else { return Map::new() };
        let Some(name) =
            own.get("$ref").and_then(Value::as_str).and_then(|name| name.strip_prefix("#/$defs/"))
        else {
            return own.clone();
        };
        let mut whole = self.resolve(&self.defs[name]);
        for (key, value) in own.iter().filter(|(key, _)| *key != "$ref") {
            match (whole.get_mut(key), value) {
                (Some(Value::Object(properties)), Value::Object(more)) => properties.extend(more.clone()),
                (Some(Value::Array(required)), Value::Array(more)) => required.extend(more.clone()),
                _ => {
                    whole.insert(key.clone(), value.clone());
                }
            }
        }
        whole
    }

    fn shape(&self, schema: &Value) -> Shape {
        let schema = self.resolve(schema);
        let branches = ["oneOf", "anyOf"].iter().find_map(|key| schema.get(*key)?.as_array());
        if let Some(branches) = branches {
            let branches: Vec<_> = branches.iter().map(|branch| self.resolve(branch)).collect();
            return match tag_of(&branches) {
                Some(tag) => Shape::Kinds(self.kinds(&schema, tag, &branches)),
                None => self.either(&branches),
            };
        }
        if let Some(words) = words(&schema) {
            return Shape::Words(words);
        }
        let types: Vec<&str> = match &schema.get("type") {
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        match types.iter().find(|name| **name != "null") {
            Some(&"boolean") => Shape::Bool,
            Some(&"integer") => integer(&schema),
            Some(&"number") => number(&schema),
            Some(&"string") => text(&schema),
            Some(&"array") => Shape::List {
                item: Box::new(schema.get("items").map_or(Shape::Any, |items| self.shape(items))),
                least: schema.get("minItems").and_then(Value::as_u64).unwrap_or(0) as usize,
                most: schema.get("maxItems").and_then(Value::as_u64).map_or(usize::MAX, |most| most as usize),
                ranges: schema.contains_key(RANGES),
            },
            Some(&"object") => Shape::Table(self.table(&schema, None)),
            _ => Shape::Any,
        }
    }

    fn either(&self, branches: &[Map<String, Value>]) -> Shape {
        let mut shapes: Vec<Shape> = Vec::new();
        for branch in branches.iter().filter(|branch| branch.get("type") != Some(&"null".into())) {
            let shape = self.shape(&Value::Object(branch.clone()));
            match (shapes.last_mut(), shape) {
                (Some(Shape::Words(words)), Shape::Words(more)) => words.extend(more),
                (_, shape) => shapes.push(shape),
            }
        }
        if shapes.len() == 1 { shapes.swap_remove(0) } else { Shape::Either(shapes) }
    }

    fn kinds(&self, schema: &Map<String, Value>, tag: &str, branches: &[Map<String, Value>]) -> Kinds {
        let common = self.table(schema, None);
        let kind = |branch: &Map<String, Value>| {
            let mut table = self.table(branch, Some(tag));
            let name = branch["properties"][tag]["const"].as_str().unwrap_or("").to_string();
            table.fields.extend(common.fields.iter().cloned());
            Kind { name, doc: doc(branch), table }
        };
        Kinds { tag: tag.to_string(), kinds: branches.iter().map(kind).collect(), common: common.clone() }
    }

    /// The keys of an object, but for the tag.
    fn table(&self, schema: &Map<String, Value>, tag: Option<&str>) -> Table {
        let empty = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let required = |name: &str| {
            schema
                .get("required")
                .and_then(Value::as_array)
                .is_some_and(|names| names.iter().any(|n| n == name))
        };
        let field = |(name, property): (&String, &Value)| Field {
            name: name.clone(),
            doc: doc(&self.resolve(property)),
            required: required(name),
            default: property.get("default").filter(|default| !default.is_null()).cloned(),
            shape: self.shape(property),
        };
        let others = schema.get("additionalProperties").filter(|others| others.is_object());
        Table {
            fields: properties.iter().filter(|(name, _)| Some(name.as_str()) != tag).map(field).collect(),
            others: others.map(|others| Box::new(self.shape(others))),
        }
    }
}

/// The key that is a constant in every branch, each its own: the tag of an internally tagged enum.
fn tag_of(branches: &[Map<String, Value>]) -> Option<&str> {
    let constants = |branch: &Map<String, Value>, key: &str| {
        branch.get("properties").is_some_and(|properties| properties[key]["const"].is_string())
    };
    let first = branches.first()?.get("properties")?.as_object()?;
    first.keys().map(String::as_str).find(|key| branches.iter().all(|branch| constants(branch, key)))
}

fn words(schema: &Map<String, Value>) -> Option<Vec<Word>> {
    let word = |value: &Value| Some(Word { word: value.as_str()?.to_string(), doc: doc(schema) });
    if let Some(constant) = schema.get("const") {
        return Some(vec![word(constant)?]);
    }
    let words = schema.get("enum")?.as_array()?;
    Some(words.iter().filter_map(word).map(|word| Word { doc: String::new(), ..word }).collect())
}

fn integer(schema: &Map<String, Value>) -> Shape {
    let (least, most) = match schema.get("format").and_then(Value::as_str) {
        Some("uint8") => (0, u8::MAX as i128),
        Some("uint16") => (0, u16::MAX as i128),
        Some("uint32") => (0, u32::MAX as i128),
        Some("uint64" | "uint") => (0, u64::MAX as i128),
        Some("int32") => (i32::MIN as i128, i32::MAX as i128),
        _ => (i64::MIN as i128, i64::MAX as i128),
    };
    let bound = |key: &str| schema.get(key).and_then(|bound| bound.as_i64()).map(i128::from);
    Shape::Integer {
        least: bound("minimum").map_or(least, |bound| bound.max(least)),
        most: bound("maximum").map_or(most, |bound| bound.min(most)),
    }
}

fn number(schema: &Map<String, Value>) -> Shape {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let over = bound("exclusiveMinimum");
    let least = over.or(bound("minimum")).unwrap_or(f64::MIN);
    Shape::Number { least, over: over.is_some(), most: bound("maximum").unwrap_or(f64::MAX) }
}

/// A text, or a quantity, which has a `format`; `exclusiveMinimum = 0` on one says that it must be over 0.
fn text(schema: &Map<String, Value>) -> Shape {
    let positive = schema.contains_key("exclusiveMinimum");
    match schema.get("format").and_then(Value::as_str).and_then(Dimension::of_format) {
        Some(dimension) => Shape::Quantity { dimension, positive },
        None => Shape::Text,
    }
}
