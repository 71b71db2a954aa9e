//! The walk along the schema's shape: every mistake in keys, types, units and ranges, each at its place.
//!
//! What is wrong is taken out of the tree as it is reported, so that the rest can still be read and checked further.
use crate::problem::Problem;
use crate::scenario::nearest::nearest;
use crate::scenario::shape::{Kind, Kinds, Shape, Table, Word, join_or, sections_with};
use crate::scenario::tree::{Entry, Node, Span, Value};
use crate::units::{Dimension, RANGE_OR_NUMBER, range_of, shorten};
use std::collections::BTreeSet;

/// The most problems that are told; the rest are only counted.
pub const PROBLEMS_MAX: usize = 100;

/// The most sections that are told to have a key that is unknown elsewhere.
const SECTIONS_TOLD: usize = 2;

/// The mistakes found so far.
#[derive(Debug, Default)]
pub struct Found {
    /// Each with its place in the text.
    pub problems: Vec<(Span, Problem)>,
    /// How many more there were.
    pub untold: usize,
    /// Tables with a key that is missing or that none knows: what else they say may not be what was meant.
    pub doubted: BTreeSet<String>,
}

impl Found {
    /// Adds a problem, which is only made if it will be told.
    pub fn add(&mut self, span: Span, problem: impl FnOnce() -> Problem) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push((span, problem()));
        } else {
            self.untold += 1;
        }
    }
}

/// Walks a tree along a shape.
pub struct Walk<'a> {
    /// Where the mistakes go.
    pub found: &'a mut Found,
    path: Vec<String>,
}

impl<'a> Walk<'a> {
    /// A walk that has not begun.
    pub fn new(found: &'a mut Found) -> Self {
        Self { found, path: Vec::new() }
    }

    /// Reports all mistakes in `node` and takes them out of it. False if nothing is left that could be read.
    pub fn check(&mut self, shape: &Shape, node: &mut Node, place: &Span) -> bool {
        if let (Shape::Number { .. }, Value::Text(text)) = (shape, &node.value)
            && let Some(part) = per_cent(text)
        {
            node.value = Value::Float(part);
        }
        match (shape, &mut node.value) {
            (Shape::Any, _) | (Shape::Bool, Value::Bool(_)) | (Shape::Text, Value::Text(_)) => true,
            (Shape::Integer { least, most }, Value::Integer(n)) if *n >= *least && *n <= *most => true,
            // Where the type alone is the bound, the description does not tell it.
            (Shape::Integer { most, .. }, Value::Integer(n)) if *n > *most && *most >= u32::MAX.into() => {
                let message = format!("expected a whole number of at most {most}, found the integer {n}");
                self.report(place, message, String::new())
            }
            (number @ Shape::Number { .. }, Value::Float(n)) if number.allows(*n) => true,
            (number @ Shape::Number { .. }, Value::Integer(n)) if number.allows(*n as f64) => true,
            (Shape::Quantity { dimension, positive }, Value::Text(text)) => {
                match quantity_mistake(*dimension, *positive, text) {
                    Some((message, help)) => self.report(&node.span, message, help),
                    None => true,
                }
            }
            (Shape::Words(words), Value::Text(text)) => self.word(words, text, &node.span),
            (Shape::List { item, least, most, ranges }, Value::List(items)) => {
                if *ranges && !self.spread(items) {
                    return false;
                }
                if items.len() < *least || items.len() > *most {
                    let (bound, limit) = if items.len() < *least { ("least", least) } else { ("most", most) };
                    let message = format!("expected at {bound} {limit} in this list, found {}", items.len());
                    return self.report(place, message, String::new());
                }
                self.list(item, items)
            }
            (Shape::Table(table), Value::Table(entries)) => self.table(table, None, entries, place),
            (Shape::Kinds(kinds), Value::Table(entries)) => self.kinds(kinds, entries, place),
            (Shape::Either(shapes), _) => self.either(shapes, node, place),
            _ => {
                let message = format!("expected {}, found {}", shape.described(), node.described());
                let help = match (shape, &node.value, self.path.as_slice()) {
                    (Shape::List { .. }, Value::Table(_), [key]) => format!("[[{key}]] in place of [{key}]"),
                    _ => String::new(),
                };
                self.report(&node.span, message, help)
            }
        }
    }

    fn report(&mut self, span: &Span, message: String, help: String) -> bool {
        let path = &self.path;
        self.found.add(span.clone(), || Problem::new(path.join("."), message, help));
        false
    }

    fn report_at(&mut self, key: &str, span: &Span, message: String, help: String) -> bool {
        self.path.push(shorten(key).into_owned());
        self.report(span, message, help);
        self.path.pop();
        false
    }

    fn word(&mut self, words: &[Word], text: &str, span: &Span) -> bool {
        if words.iter().any(|word| word.word == text) {
            return true;
        }
        let names: Vec<&str> = words.iter().map(|word| word.word.as_str()).collect();
        self.report(span, format!("unknown value \"{}\"", shorten(text)), suggestion(text, &names))
    }

    fn list(&mut self, item: &Shape, items: &mut Vec<Node>) -> bool {
        let mut index = 0;
        items.retain_mut(|node| {
            self.path.push(node.label(index));
            index += 1;
            let place = node.span.clone();
            let kept = self.check(item, node, &place);
            self.path.pop();
            kept
        });
        true
    }

    /// Puts the numbers that ranges stand for in their places; false, and told, if a text is none.
    fn spread(&mut self, items: &mut Vec<Node>) -> bool {
        let mut whole = true;
        if !items.iter().any(|node| matches!(node.value, Value::Text(_))) {
            return whole;
        }
        let mut spread = Vec::with_capacity(items.len());
        for (index, node) in items.drain(..).enumerate() {
            let Value::Text(text) = &node.value else {
                spread.push(node);
                continue;
            };
            match range_of(text, spread.len()) {
                Ok(range) => spread.extend(
                    range
                        .map(|number| Node { span: node.span.clone(), value: Value::Integer(number.into()) }),
                ),
                Err(why) => {
                    whole = self.report_at(&index.to_string(), &node.span, why, RANGE_OR_NUMBER.to_string());
                }
            }
        }
        *items = spread;
        whole
    }

    /// Checks the keys of a table, of which `tag` was dealt with already.
    fn table(&mut self, table: &Table, tag: Option<&str>, entries: &mut Vec<Entry>, place: &Span) -> bool {
        let mut whole = true;
        for field in table.fields.iter().filter(|field| field.required) {
            if !entries.iter().any(|entry| entry.key == field.name) {
                let (message, help) = ("this key is missing".to_string(), field.shape.described());
                self.doubt();
                whole = self.report_at(&field.name, place, message, format!("expected {help}"));
            }
        }
        entries.retain_mut(|entry| {
            if Some(entry.key.as_str()) == tag {
                return true;
            }
            let field = table.fields.iter().find(|field| field.name == entry.key);
            let Some(shape) = field.map(|field| &field.shape).or_else(|| others(table, entry)) else {
                return self.unknown_key(table, tag, entry);
            };
            if let (Shape::Kinds(kinds), Some(default)) =
                (shape, field.and_then(|field| field.default.as_ref()))
            {
                take_default_kind(kinds, default, &mut entry.node);
            }
            self.path.push(shorten(&entry.key).into_owned());
            // What an override lacks is not missing where the file has the key.
            let place = entry.node.span.as_ref().and(entry.span.clone());
            let told = self.found.problems.len();
            let kept = self.check(shape, &mut entry.node, &place);
            self.path.pop();
            if field.is_none() {
                self.name_keys(told, table);
            }
            whole &= kept || !field.is_some_and(|field| field.required);
            kept
        });
        whole
    }

    /// Names the keys of a table beside what is wrong under one that may have any name, since it may be a slip of theirs.
    fn name_keys(&mut self, told: usize, table: &Table) {
        let names: Vec<&str> = table.fields.iter().map(|field| field.name.as_str()).collect();
        if let Some((_, problem)) = self.found.problems.get_mut(told).filter(|_| !names.is_empty()) {
            let before = if problem.help.is_empty() { "" } else { "; " };
            problem.help += &format!("{before}or a key of this table: {}", names.join(", "));
        }
    }

    fn doubt(&mut self) {
        if self.found.doubted.len() < PROBLEMS_MAX {
            self.found.doubted.insert(self.path.join("."));
        }
    }

    fn unknown_key(&mut self, table: &Table, tag: Option<&str>, entry: &Entry) -> bool {
        self.doubt();
        if self.found.problems.len() >= PROBLEMS_MAX {
            self.found.untold += 1;
            return false;
        }
        let names: Vec<&str> =
            tag.into_iter().chain(table.fields.iter().map(|field| field.name.as_str())).collect();
        let elsewhere = sections_with(&entry.key, self.path.first().map_or("", String::as_str));
        let mut help = suggestion(&entry.key, &names);
        if (1..=SECTIONS_TOLD).contains(&elsewhere.len()) {
            help = format!("{} has such a key; {help}", elsewhere.join(" or "));
        }
        self.report_at(&entry.key, &entry.span, "unknown key".to_string(), help)
    }

    fn kinds(&mut self, kinds: &Kinds, entries: &mut Vec<Entry>, place: &Span) -> bool {
        let names: Vec<&str> = kinds.kinds.iter().map(|kind| kind.name.as_str()).collect();
        let Some(tag) = entries.iter().find(|entry| entry.key == kinds.tag) else {
            let help = format!("one of: {}", names.join(", "));
            return self.report_at(&kinds.tag, place, "this key is missing".to_string(), help);
        };
        let found = match &tag.node.value {
            Value::Text(text) => kinds.kinds.iter().find(|kind| kind.name == *text),
            _ => None,
        };
        if let Some(kind) = found {
            return self.table(&kind.table, Some(&kinds.tag), entries, place);
        }
        let (text, span) = (tag.node.described(), tag.node.span.clone());
        let help = match &tag.node.value {
            Value::Text(text) => suggestion(text, &names),
            _ => suggestion("", &names),
        };
        let kind = text.strip_prefix("the text ").unwrap_or(&text);
        self.report_at(&kinds.tag, &span, format!("unknown {} {kind}", kinds.tag), help);
        // Which other keys the kind would have is not known: only those of every kind can be checked.
        let mut shared: Vec<Entry> = entries
            .extract_if(.., |entry| kinds.common.fields.iter().any(|field| field.name == entry.key))
            .collect();
        self.table(&kinds.common, None, &mut shared, place);
        false
    }

    /// Checks against the shape that was most likely meant.
    fn either(&mut self, shapes: &[Shape], node: &mut Node, place: &Span) -> bool {
        let fits = shapes.iter().find(|shape| accepts(shape, node));
        let like = shapes.iter().filter(|shape| likeness(shape, node) > 0);
        if let Some(shape) = fits.or_else(|| like.max_by_key(|shape| likeness(shape, node))) {
            return self.check(shape, node, place);
        }
        let expected = join_or(&shapes.iter().map(Shape::described).collect::<Vec<_>>());
        self.report(&node.span, format!("expected {expected}, found {}", node.described()), String::new())
    }
}

/// What "40 %" stands for: 0.4.
fn per_cent(text: &str) -> Option<f64> {
    let number = text.strip_suffix('%')?.trim();
    let is_plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    // As a decimal, so that it is the number nearest to what is written.
    is_plain.then(|| format!("{number}e-2").parse().ok())?
}

/// A table that does not say its kind has that of its default, unless another kind has a key that this one lacks.
fn take_default_kind(kinds: &Kinds, default: &serde_json::Value, node: &mut Node) {
    let Value::Table(entries) = &mut node.value else { return };
    let name = default[&kinds.tag].as_str();
    let Some(own) = kinds.kinds.iter().find(|kind| Some(kind.name.as_str()) == name) else { return };
    let has = |kind: &Kind, key: &str| kind.table.fields.iter().any(|field| field.name == key);
    let is_others = |entry: &Entry| {
        entry.key == kinds.tag
            || !has(own, &entry.key) && kinds.kinds.iter().any(|kind| has(kind, &entry.key))
    };
    if !entries.iter().any(is_others) {
        let node = Node::placeless(Value::Text(own.name.clone()));
        entries.push(Entry { key: kinds.tag.clone(), span: None, node });
    }
}

/// The shape of keys that have no name of their own, unless `entry` looks like a slip in one that has.
fn others<'a>(table: &'a Table, entry: &Entry) -> Option<&'a Shape> {
    let shape = table.others.as_deref()?;
    let names = table.fields.iter().map(|field| field.name.as_str());
    if !accepts(shape, &entry.node) && nearest(&entry.key, names).is_some() { None } else { Some(shape) }
}

/// Whether there is nothing wrong with a value.
fn accepts(shape: &Shape, node: &Node) -> bool {
    let mut found = Found::default();
    Walk::new(&mut found).check(shape, &mut node.clone(), &None);
    found.problems.is_empty()
}

/// How much a wrong value looks like a shape: 0 not at all.
fn likeness(shape: &Shape, node: &Node) -> usize {
    match (shape, &node.value) {
        (Shape::List { .. }, Value::List(_)) => 1,
        (Shape::Quantity { .. }, Value::Text(text)) => {
            usize::from(text.trim_start().starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '.'))
        }
        (Shape::Table(table), Value::Table(entries)) => {
            let known = |entry: &&Entry| table.fields.iter().any(|field| field.name == entry.key);
            usize::from(table.others.is_some()) + 2 * entries.iter().filter(known).count()
        }
        (Shape::Integer { .. } | Shape::Number { .. }, Value::Integer(_) | Value::Float(_)) => 1,
        _ => 0,
    }
}

fn quantity_mistake(dimension: Dimension, positive: bool, text: &str) -> Option<(String, String)> {
    match dimension.check(text) {
        Err(error) => Some((error.message, error.help)),
        Ok(0) if positive => Some(("must be over 0".to_string(), dimension.described().to_string())),
        Ok(_) => None,
    }
}

/// "did you mean a? one of: a, b"
pub fn suggestion(word: &str, names: &[&str]) -> String {
    let meant = nearest(word, names.iter().copied()).map(|name| format!("did you mean {name}? "));
    if names.is_empty() {
        return "there are no keys here".to_string();
    }
    format!("{}one of: {}", meant.unwrap_or_default(), names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{shape, tree};
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    /// Keys of every kind, and the keys of a kind beside them: what kinds to come may hold.
    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Class {
        #[serde(flatten)]
        kind: Kind,
        #[serde(default)]
        common: bool,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(tag = "kind", rename_all = "kebab-case")]
    enum Kind {
        Plain(Plain),
        HotSpot(HotSpot),
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Plain {}

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct HotSpot {
        sources: std::num::NonZeroU32,
        #[serde(default)]
        order: Option<Order>,
        #[serde(default)]
        sides: Option<[u16; 2]>,
        #[serde(default)]
        size: Option<crate::units::Size>,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    enum Order {
        Up,
        Down,
    }

    fn mistakes(text: &str) -> Vec<String> {
        let shape = shape::of(&schemars::schema_for!(Class).to_value());
        let (mut root, errors) = tree::read(text);
        assert_eq!(errors, []);
        let mut found = Found::default();
        let whole = Walk::new(&mut found).check(&shape, &mut root, &None);
        if found.problems.is_empty() {
            assert!(whole && serde_json::from_value::<Class>(root.into_json()).is_ok());
        }
        found.problems.into_iter().map(|(_, problem)| problem.to_string()).collect()
    }

    #[test]
    fn the_keys_of_a_kind_stand_beside_those_of_every_kind() {
        let none: [&str; 0] = [];
        assert_eq!(mistakes("kind = 'plain'\ncommon = true"), none);
        let all = "kind = 'hot-spot'\nsources = 3\norder = 'up'\nsides = [1, 2]\nsize = '4 flits'";
        assert_eq!(mistakes(all), none);
        assert_eq!(mistakes("kind = 'plain'\nsides = [3]"), ["sides: unknown key (one of: kind, common)"]);
        let wrong = "kind = 'hot-spot'\ncommon = 1\norder = 'upp'\nsides = [1, 70000, 3]\nsize = 4";
        assert_eq!(
            mistakes(wrong),
            [
                "sources: this key is missing (expected a whole number of at least 1)",
                "common: expected true or false, found the integer 1",
                "order: unknown value \"upp\" (did you mean up? one of: up, down)",
                "sides: expected at most 2 in this list, found 3",
                "size: expected a size such as \"4 flits\", found the integer 4",
            ]
        );
        assert_eq!(
            mistakes("kind = 'hot-spot'\nsources = 0\nsides = [1, 70000]"),
            [
                "sources: expected a whole number of at least 1, found the integer 0",
                "sides.1: expected a whole number from 0 to 65535, found the integer 70000",
            ]
        );
        assert_eq!(
            mistakes("kind = 'hotspot'\ncommon = 2\nsources = -1"),
            [
                "kind: unknown kind \"hotspot\" (did you mean hot-spot? one of: plain, hot-spot)",
                "common: expected true or false, found the integer 2",
            ]
        );
    }
}
