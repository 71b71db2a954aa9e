//! GraphML, as NetworkX, igraph, Gephi and the Internet Topology Zoo write it.
use super::draft::{Draft, parallel, wire};
use roxmltree::{Document, Node, ParsingOptions};
use std::collections::HashMap;

/// Most elements of a document: bounds the memory it takes.
const ELEMENTS_MAX: u32 = 1 << 24;

/// Reads the nodes and edges of the first graph; its other data is left alone.
pub(super) fn read(text: &str, draft: &mut Draft) {
    // Without declarations of entities a small document cannot grow into a large one.
    let options = ParsingOptions { allow_dtd: false, nodes_limit: ELEMENTS_MAX, ..ParsingOptions::default() };
    let document = match Document::parse_with_options(text, options) {
        Ok(document) => document,
        Err(error) => {
            let line = error.pos().row as usize;
            return draft.refuse(line, format!("this is not XML: {error}"), "a GraphML document");
        }
    };
    let root = document.root_element();
    let Some(graph) = root.children().find(|child| child.has_tag_name_anywhere("graph")) else {
        return draft.refuse(None, "there is no graph in this document", "a GraphML document");
    };
    let keys: HashMap<&str, &str> = root
        .children()
        .filter(|child| child.has_tag_name_anywhere("key"))
        .filter_map(|key| Some((key.attribute("id")?, key.attribute("attr.name")?)))
        .collect();
    // Counting lines from the beginning for each element would take quadratic time.
    let mut lines = Lines { text: text.as_bytes(), at: 0, line: 1 };
    for element in graph.children().filter(Node::is_element) {
        if draft.is_hopeless() {
            return;
        }
        let line = lines.line_of(element.range().start);
        match element.tag_name().name() {
            "node" => read_node(element, &keys, line, draft),
            "edge" => read_edge(element, &keys, line, draft),
            _ => {}
        }
    }
}

/// The tag of an element whatever its name space: many files have none.
trait Tagged {
    fn has_tag_name_anywhere(&self, name: &str) -> bool;
}

impl Tagged for Node<'_, '_> {
    fn has_tag_name_anywhere(&self, name: &str) -> bool {
        self.is_element() && self.tag_name().name() == name
    }
}

struct Lines<'a> {
    text: &'a [u8],
    at: usize,
    line: usize,
}

impl Lines<'_> {
    /// The line of a place; places must come in order.
    fn line_of(&mut self, place: usize) -> usize {
        let passed = &self.text[self.at.min(place)..place];
        self.line += passed.iter().filter(|&&byte| byte == b'\n').count();
        self.at = place;
        self.line
    }
}

/// The data of an element by the name of its key, or by its id.
fn data<'a>(element: Node<'a, '_>, keys: &HashMap<&str, &str>, name: &str) -> &'a str {
    let is = |child: &Node| {
        let key = child.attribute("key").unwrap_or("");
        child.has_tag_name_anywhere("data") && keys.get(key).copied().unwrap_or(key) == name
    };
    element.children().find(is).and_then(|data| data.text()).unwrap_or("").trim()
}

fn read_node(element: Node, keys: &HashMap<&str, &str>, line: usize, draft: &mut Draft) {
    let Some(id) = element.attribute("id") else {
        return draft.refuse(line, "a node has no id", "<node id=\"…\">");
    };
    match data(element, keys, "type") {
        "" => _ = draft.node(id, line),
        "host" => draft.declare(id, true, line),
        "switch" => draft.declare(id, false, line),
        other => {
            let other = crate::units::shorten(other).escape_debug().to_string();
            draft.refuse(line, format!("the type \"{other}\" of node {id} is unknown"), "host or switch");
        }
    }
}

fn read_edge(element: Node, keys: &HashMap<&str, &str>, line: usize, draft: &mut Draft) {
    let (Some(source), Some(target)) = (element.attribute("source"), element.attribute("target")) else {
        return draft.refuse(line, "an edge lacks its source or target", "<edge source=\"…\" target=\"…\">");
    };
    let [bandwidth, latency, links] = ["bandwidth", "latency", "links"].map(|name| data(element, keys, name));
    match wire(bandwidth, latency).and_then(|wire| parallel(links).map(|links| (wire, links))) {
        Ok((wire, links)) => draft.join([source, target], wire, links, line),
        Err((message, help)) => draft.refuse(line, message, help),
    }
}
