//! The file as a tree of values that know where they stand, and the overrides applied to it.
use crate::problem::Problem;
use crate::scenario::nearest::nearest;
use crate::units::shorten;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// Where something stands in the text, in bytes; none if it came from elsewhere.
pub type Span = Option<Range<usize>>;

/// A value and where it stands.
#[derive(Debug, Clone)]
pub struct Node {
    pub span: Span,
    pub value: Value,
}

/// A value of a scenario file.
#[derive(Debug, Clone)]
pub enum Value {
    Text(String),
    /// An integer too long for `i128` is its largest or smallest value, which no key allows.
    Integer(i128),
    Float(f64),
    Bool(bool),
    Date,
    List(Vec<Node>),
    Table(Vec<Entry>),
}

/// A key of a table and its value.
#[derive(Debug, Clone)]
pub struct Entry {
    pub key: String,
    pub span: Span,
    pub node: Node,
}

/// Reads TOML; what is wrong with its syntax comes with the place.
pub fn read(text: &str) -> (Node, Vec<(Span, String)>) {
    let (root, errors) = DeTable::parse_recoverable(text);
    let errors = errors.iter().map(|error| (error.span(), error.message().to_string())).collect();
    (Node { span: None, value: table(root.into_inner()) }, errors)
}

/// What may help against a mistake of syntax; empty if that is not known.
pub fn remedy(text: &str, span: &Span, message: &str) -> &'static str {
    let Some((before, at)) = span.as_ref().and_then(|span| text.split_at_checked(span.start)) else {
        return "";
    };
    let line = before.rsplit('\n').next().unwrap_or_default().trim();
    if line.ends_with('=') && at.starts_with(|letter: char| letter.is_alphabetic()) {
        "text stands in quotes, and the other values are true and false"
    } else if line.ends_with("[[") && message.contains("duplicate") {
        "every table of a list begins with two brackets, the first too"
    } else {
        ""
    }
}

fn table(table: DeTable<'_>) -> Value {
    let mut entries: Vec<Entry> = table
        .into_iter()
        .map(|(key, value)| Entry {
            span: Some(key.span()),
            key: key.into_inner().into_owned(),
            node: Node { span: Some(value.span()), value: convert(value.into_inner()) },
        })
        .collect();
    entries.sort_by_key(|entry| entry.span.as_ref().map(|span| span.start));
    Value::Table(entries)
}

fn convert(value: DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Integer(integer) => {
            let least = if integer.as_str().starts_with('-') { i128::MIN } else { i128::MAX };
            Value::Integer(i128::from_str_radix(integer.as_str(), integer.radix()).unwrap_or(least))
        }
        DeValue::Float(float) => Value::Float(float.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(flag) => Value::Bool(flag),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(items) => Value::List(
            items
                .into_iter()
                .map(|item| Node { span: Some(item.span()), value: convert(item.into_inner()) })
                .collect(),
        ),
        DeValue::Table(inner) => self::table(inner),
    }
}

impl Node {
    /// A node without a place.
    pub fn placeless(value: Value) -> Self {
        Self { span: None, value }
    }

    /// The value under `key`, if this is a table that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        let Value::Table(entries) = &self.value else { return None };
        entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// The value under `key`, if this is a table that has it.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        let Value::Table(entries) = &mut self.value else { return None };
        entries.iter_mut().find(|entry| entry.key == key).map(|entry| &mut entry.node)
    }

    /// How this element of a list is called in a path: by its `name`, or by its index.
    pub fn label(&self, index: usize) -> String {
        match self.get("name").map(|name| &name.value) {
            Some(Value::Text(name)) if !name.is_empty() => name.clone(),
            _ => index.to_string(),
        }
    }

    /// What this is, for messages.
    pub fn described(&self) -> String {
        match &self.value {
            Value::Text(text) => format!("the text \"{}\"", shorten(text)),
            Value::Integer(i128::MAX | i128::MIN) => "an integer of too many digits".to_string(),
            Value::Integer(integer) => format!("the integer {integer}"),
            Value::Float(float) => format!("the number {float:?}"),
            Value::Bool(flag) => flag.to_string(),
            Value::Date => "a date or time of day".to_string(),
            Value::List(_) => "a list".to_string(),
            Value::Table(_) => "a table".to_string(),
        }
    }

    /// The span of the key or element at a dotted path, or of what is nearest around it if the file does not have it;
    /// none if its value came from elsewhere.
    pub fn locate(&self, path: &str) -> Span {
        let mut found = None;
        let mut node = self;
        let mut rest = path;
        while let Some((span, child, after)) = node.step(rest) {
            child.span.as_ref()?;
            found = span.or(found);
            node = child;
            rest = after;
        }
        found
    }

    /// The child that the beginning of a path names: its place, itself, and the rest of the path.
    fn step<'a, 'p>(&'a self, path: &'p str) -> Option<(Span, &'a Node, &'p str)> {
        let after = |label: &str| {
            let rest = path.strip_prefix(label)?;
            if rest.is_empty() { Some(rest) } else { rest.strip_prefix('.') }
        };
        match &self.value {
            Value::Table(entries) => entries
                .iter()
                .find_map(|entry| after(&entry.key).map(|rest| (entry.span.clone(), &entry.node, rest))),
            Value::List(items) => {
                let named =
                    items.iter().enumerate().find_map(|(i, item)| Some((item, after(&item.label(i))?)));
                let numbered =
                    || items.iter().enumerate().find_map(|(i, item)| Some((item, after(&i.to_string())?)));
                named.or_else(numbered).map(|(item, rest)| (item.span.clone(), item, rest))
            }
            _ => None,
        }
    }

    /// The tree as the value that serde reads.
    pub fn into_json(self) -> serde_json::Value {
        match self.value {
            Value::Text(text) => text.into(),
            Value::Integer(integer) => serde_json::Number::from_i128(integer).into(),
            Value::Float(float) => float.into(),
            Value::Bool(flag) => flag.into(),
            Value::Date => serde_json::Value::Null,
            Value::List(items) => items.into_iter().map(Node::into_json).collect(),
            Value::Table(entries) => {
                entries.into_iter().map(|entry| (entry.key, entry.node.into_json())).collect()
            }
        }
    }

    /// A tree without places from what serde wrote; null is left out.
    pub fn from_json(value: serde_json::Value) -> Self {
        use serde_json::Value as Json;
        Self::placeless(match value {
            Json::Null => Value::Table(Vec::new()),
            Json::Bool(flag) => Value::Bool(flag),
            Json::String(text) => Value::Text(text),
            Json::Number(number) => match number.as_i128() {
                Some(integer) => Value::Integer(integer),
                None => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            Json::Array(items) => Value::List(items.into_iter().map(Node::from_json).collect()),
            Json::Object(entries) => Value::Table(
                entries
                    .into_iter()
                    .filter(|(_, value)| !value.is_null())
                    .map(|(key, value)| Entry { key, span: None, node: Node::from_json(value) })
                    .collect(),
            ),
        })
    }
}

/// Sets the value at a dotted key, as `--set key=value` asks. The value is read as TOML, else taken as text.
pub fn set(root: &mut Node, key: &str, text: &str) -> Result<(), Problem> {
    let refuse =
        |message: String, help: &str| Problem::new(shorten(key).escape_debug().to_string(), message, help);
    let parts = key_parts(key)
        .ok_or_else(|| refuse("this is not a dotted key".into(), "such as run.seed or traffic.hot.load"))?;
    let (last, parents) = parts.split_last().ok_or_else(|| refuse("the key is empty".into(), ""))?;
    let mut node = root;
    for part in parents {
        node = child(node, part).map_err(|(message, help)| refuse(message, &help))?;
    }
    *child(node, last).map_err(|(message, help)| refuse(message, &help))? = value_of(text);
    if let ("path", Value::Table(entries)) = (last.as_str(), &mut node.value) {
        // What was read from another file.
        entries.retain(|entry| !["text", "data"].contains(&entry.key.as_str()));
    }
    Ok(())
}

/// The parts of a dotted key, elements of lists by their index however the key calls them. A key that leads nowhere is
/// told as far as it goes, and then as it is written.
pub fn place(root: Option<&Node>, key: &str) -> Vec<String> {
    let mut parts = key_parts(key).unwrap_or_else(|| key.split('.').map(str::to_string).collect());
    let mut node = root;
    for part in &mut parts {
        node = match node.map(|node| &node.value) {
            Some(Value::Table(entries)) => {
                entries.iter().find(|entry| entry.key == *part).map(|entry| &entry.node)
            }
            Some(Value::List(items)) => element(items, part).map(|index| {
                *part = index.to_string();
                &items[index]
            }),
            _ => None,
        };
    }
    parts
}

/// The parts of a dotted key, which may be quoted as in TOML.
fn key_parts(key: &str) -> Option<Vec<String>> {
    let document = format!("{key}=0");
    let (mut node, errors) = read(&document);
    let mut parts = Vec::new();
    while let Value::Table(mut entries) = node.value {
        let entry = entries.pop()?;
        if !entries.is_empty() || key.contains(['=', '[', '\n']) {
            return None;
        }
        parts.push(entry.key);
        node = entry.node;
    }
    errors.is_empty().then_some(parts)
}

fn value_of(text: &str) -> Node {
    let document = format!("value={text}");
    let (node, errors) = read(&document);
    let value = match node.value {
        Value::Table(mut entries) if errors.is_empty() && entries.len() == 1 => {
            entries.pop().filter(|entry| entry.key == "value").map(|entry| entry.node)
        }
        _ => None,
    };
    let mut node = value.unwrap_or_else(|| Node::placeless(Value::Text(text.trim().to_string())));
    forget_places(&mut node);
    node
}

/// An override does not stand in the file.
fn forget_places(node: &mut Node) {
    node.span = None;
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(forget_places),
        Value::Table(entries) => entries.iter_mut().for_each(|entry| {
            entry.span = None;
            forget_places(&mut entry.node);
        }),
        _ => {}
    }
}

/// The child of this name, made if this is a table without it; elements of a list go by name or by index.
fn child<'a>(node: &'a mut Node, part: &str) -> Result<&'a mut Node, (String, String)> {
    match &mut node.value {
        Value::Table(entries) => {
            let index = entries.iter().position(|entry| entry.key == part).unwrap_or_else(|| {
                let node = Node::placeless(Value::Table(Vec::new()));
                entries.push(Entry { key: part.to_string(), span: None, node });
                entries.len() - 1
            });
            Ok(&mut entries[index].node)
        }
        Value::List(items) => match element(items, part) {
            Some(index) => Ok(&mut items[index]),
            None => Err(not_in_list(items, part)),
        },
        _ => Err((format!("\"{}\" is looked for in a value that is no table", shorten(part)), String::new())),
    }
}

/// The index of the element that a part of a key means: the one of this name, or of this index.
fn element(items: &[Node], part: &str) -> Option<usize> {
    let named = items.iter().enumerate().position(|(index, item)| item.label(index) == part);
    named.or_else(|| part.parse().ok().filter(|index| *index < items.len()))
}

fn not_in_list(items: &[Node], part: &str) -> (String, String) {
    let labels: Vec<String> =
        items.iter().take(20).enumerate().map(|(index, item)| item.label(index)).collect();
    let meant = nearest(part, labels.iter().map(String::as_str));
    let meant = meant.map(|meant| format!("did you mean {meant}? ")).unwrap_or_default();
    (
        format!("there is none called \"{}\"", shorten(part)),
        format!("{meant}there are: {}", labels.join(", ")),
    )
}
