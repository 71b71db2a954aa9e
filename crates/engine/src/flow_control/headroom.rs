//! The room for what comes until a pause is obeyed.
use super::Ahead;
use crate::problem::Problem;

/// The mistake in a fill, given by a key or not, beside which a buffer has no headroom.
pub fn problem(key: &str, given: Option<u64>, ahead: Ahead, links: &str) -> Option<Problem> {
    let Ahead { flits, headroom } = ahead;
    let fill = given.unwrap_or(0);
    let least = fill.saturating_add(headroom);
    if least <= flits {
        return None;
    }
    let larger = format!("an input_buffer of at least {least} flits for each virtual channel");
    let coming = format!("the {headroom} flits that may come over the {links} links until a pause is obeyed");
    if given.is_none() {
        let message = format!("{coming} do not fit in the {flits} flits of a virtual channel");
        return Some(Problem::new("switch.input_buffer", message, larger));
    }
    let message =
        format!("{coming} do not fit beside these {fill} in the {flits} flits of a virtual channel");
    let help = match flits.checked_sub(headroom) {
        Some(most) => format!("at most {most} flits, or {larger}"),
        None => larger,
    };
    Some(Problem::new(format!("link.flow_control.{key}"), message, help))
}
