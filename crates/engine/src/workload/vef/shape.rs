//! What the records of a collective operation say of its messages: from which root, or to which, they go.
use super::text::{Collective, Member, Mistake};

pub const BROADCAST: u8 = 0;
pub const REDUCTION: u8 = 1;
pub const ALLREDUCE: u8 = 2;
pub const GATHER: u8 = 3;
pub const SCATTER: u8 = 4;
pub const ALLGATHER: u8 = 5;
pub const BARRIER: u8 = 6;

/// The place of the root among the members: no record names it, but it alone sends (of a broadcast or a scatter) or receives (of a
/// reduction or a gather), or else it alone does not do what the others do. Where there are no bytes at all nothing tells, and
/// it is the first.
pub fn root(collective: &Collective) -> Result<usize, Mistake> {
    let members = &collective.members;
    let to_root = matches!(collective.operation, REDUCTION | GATHER);
    let sends = |member: &Member| member.send > 0;
    let receives = |member: &Member| member.receive > 0;
    let alone = |is: &dyn Fn(&Member) -> bool| {
        let mut found = (0..members.len()).filter(|&at| is(&members[at]));
        found.next().filter(|_| found.next().is_none())
    };
    let told = if to_root {
        alone(&receives).or_else(|| alone(&|member| !sends(member)))
    } else {
        alone(&sends).or_else(|| alone(&|member| !receives(member)))
    };
    let nothing = || members.len() == 1 || !members.iter().any(|member| sends(member) || receives(member));
    told.or_else(|| nothing().then_some(0)).ok_or_else(|| {
        let name =
            ["broadcast", "reduction", "allreduce", "gather", "scatter"][collective.operation as usize];
        let verb = if to_root { "receives" } else { "sends" };
        let message = format!("nothing tells which task is the root of this {name}");
        Mistake::new(collective.line, message, format!("one task alone that {verb}, and no other"))
    })
}
