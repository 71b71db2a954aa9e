//! The edge list: a line for each link.
use super::draft::{Draft, parallel, wire};

/// Reads `a b [bandwidth latency [links]]`, `host NAME…` and `switch NAME…`.
pub(super) fn read(text: &str, draft: &mut Draft) {
    for (at, line) in text.lines().enumerate() {
        if draft.is_hopeless() {
            return;
        }
        let line = line.split('#').next().unwrap_or("").trim();
        if !line.is_empty() {
            read_line(line, at + 1, draft);
        }
    }
}

fn read_line(line: &str, number: usize, draft: &mut Draft) {
    let fields: Vec<&str> = if line.contains(',') {
        line.split(',').map(str::trim).take(FIELDS_MAX + 1).collect()
    } else {
        line.split_whitespace().take(FIELDS_MAX + 1).collect()
    };
    if let [what, _, ..] | [what] = fields[..]
        && let Some((_, host)) = DECLARATIONS.iter().find(|(word, _)| *word == what)
    {
        let names = line[what.len()..].split([',', ' ', '\t']).filter(|name| !name.is_empty());
        return names.for_each(|name| draft.declare(name, *host, number));
    }
    let [a, b, rest @ ..] = &fields[..] else {
        return draft.refuse(number, "a link has two nodes", FORM);
    };
    let quantities = match rest {
        [] => Ok(((None, None), 1)),
        [bandwidth, latency] => wire(bandwidth, latency).map(|wire| (wire, 1)),
        [bandwidth, latency, links] => {
            wire(bandwidth, latency).and_then(|wire| parallel(links).map(|links| (wire, links)))
        }
        _ => Err((format!("this line has {} fields", fields.len()), FORM.to_string())),
    };
    match quantities {
        Ok((wire, links)) => draft.join([a, b], wire, links, number),
        Err((message, help)) => draft.refuse(number, message, help),
    }
}

/// More fields than any line has.
const FIELDS_MAX: usize = 5;
const FORM: &str =
    "a, b [, bandwidth, latency [, links]], such as s0, s1, 100 Gb/s, 50 ns; or host NAME…, switch NAME…";
const DECLARATIONS: [(&str, bool); 2] = [("host", true), ("switch", false)];
