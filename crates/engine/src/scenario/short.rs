//! A kind in place of its table: `routing = "par"` says the same as `routing = { kind = "par" }`.
use super::shape::{Field, Kinds, Shape};
use super::tree::{Entry, Node, Value};

/// Replaces the texts in `node` that stand for tables by these.
pub fn spell_out(shape: &Shape, node: &mut Node) {
    match (shape, &mut node.value) {
        (Shape::Kinds(kinds), Value::Text(text)) if kinds.have_short_form() => {
            let kind = Node { span: node.span.clone(), value: Value::Text(std::mem::take(text)) };
            let entry = Entry { key: kinds.tag.clone(), span: node.span.clone(), node: kind };
            node.value = Value::Table(vec![entry]);
        }
        (Shape::Table(table), Value::Table(entries)) => fields(&table.fields, entries),
        (Shape::Kinds(Kinds { common, .. }), Value::Table(entries)) => fields(&common.fields, entries),
        (Shape::List { item, .. }, Value::List(items)) => {
            items.iter_mut().for_each(|node| spell_out(item, node));
        }
        _ => {}
    }
}

fn fields(fields: &[Field], entries: &mut [Entry]) {
    for entry in entries {
        if let Some(field) = fields.iter().find(|field| field.name == entry.key) {
            spell_out(&field.shape, &mut entry.node);
        }
    }
}
