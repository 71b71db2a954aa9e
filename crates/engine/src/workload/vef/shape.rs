//! What the records of a collective operation say of its messages: from which root, or to which, they go, and their sizes.
use super::text::{Collective, Member, Mistake, Trace};
use crate::workload::mpi::expansion::share;

pub const BROADCAST: u8 = 0;
pub const REDUCTION: u8 = 1;
pub const ALLREDUCE: u8 = 2;
pub const GATHER: u8 = 3;
pub const SCATTER: u8 = 4;
pub const ALLGATHER: u8 = 5;
pub const BARRIER: u8 = 6;
pub const ALL_TO_ALL: u8 = 7;

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

/// Refuses records of an operation that contradict each other, with the line of the one that differs.
pub fn check(collective: &Collective) -> Result<(), Mistake> {
    match collective.operation {
        BROADCAST | REDUCTION => check_size(collective),
        ALLREDUCE => check_vectors(&collective.members),
        BARRIER => check_barrier(&collective.members),
        ALL_TO_ALL => check_forms(&collective.members),
        // Each member of the others has a size of its own.
        _ => Ok(()),
    }
}

/// The first of those members in the trace.
fn first<'a>(members: impl Iterator<Item = &'a Member>) -> Option<&'a Member> {
    members.min_by_key(|member| member.when.line)
}

/// A broadcast or a reduction has one size: what the root sends each other receives, and the other way round. The root's own record
/// tells it, or that of all the others together, or of all members, or leaves it out: then it is that of the first of the others.
fn check_size(collective: &Collective) -> Result<(), Mistake> {
    let (root, to_root) = (root(collective)?, collective.operation == REDUCTION);
    let size = |member: &Member| if to_root { member.send } else { member.receive };
    let others =
        || collective.members.iter().enumerate().filter(|(at, _)| *at != root).map(|(_, other)| other);
    let own = &collective.members[root];
    let told = Some(if to_root { own.receive } else { own.send }).filter(|&bytes| bytes > 0);
    let each = first(others()).map(size);
    let count = collective.members.len() as u64;
    let together = |total: u64| {
        each.filter(|each| [count - 1, count].map(|n| each.checked_mul(n)).contains(&Some(total)))
    };
    let Some(whole) = told.map(|total| together(total).unwrap_or(total)).or(each) else { return Ok(()) };
    let Some(wrong) = first(others().filter(|other| size(other) != whole)) else { return Ok(()) };
    let (verb, name) = if to_root { ("sends", "reduction") } else { ("receives", "broadcast") };
    let message = format!("task {} {verb} {} B in a {name} of {whole} B", wrong.task, size(wrong));
    Err(Mistake::new(wrong.when.line, message, "one size in all its lines"))
}

/// In an allreduce every task sends a vector and receives one as long.
fn check_vectors(members: &[Member]) -> Result<(), Mistake> {
    let whole = first(members.iter()).map_or(0, |member| member.send);
    let Some(wrong) = first(members.iter().filter(|member| (member.send, member.receive) != (whole, whole)))
    else {
        return Ok(());
    };
    let Member { task, send, receive, .. } = wrong;
    let message = format!("task {task} sends {send} B and receives {receive} B in an allreduce of {whole} B");
    Err(Mistake::new(wrong.when.line, message, "one size in all its lines, sent and received"))
}

/// A barrier has no bytes.
fn check_barrier(members: &[Member]) -> Result<(), Mistake> {
    let Some(wrong) = first(members.iter().filter(|member| member.send > 0 || member.receive > 0)) else {
        return Ok(());
    };
    let Member { task, send, receive, .. } = wrong;
    let message = format!("task {task} sends {send} B and receives {receive} B in a barrier");
    Err(Mistake::new(wrong.when.line, message, "0 B sent and received"))
}

/// What the field of the bytes received says of an all-to-all in vector form: the bytes sent are those for all together.
const VECTOR: u64 = 1;

/// Looks whether every member of an all-to-all says in one of the two ways what it sends, and all in the same.
fn check_forms(members: &[Member]) -> Result<(), Mistake> {
    if let Some(wrong) = first(members.iter().filter(|member| member.receive > VECTOR)) {
        let message = format!("an all-to-all of the form {}", wrong.receive);
        return Err(Mistake::new(
            wrong.when.line,
            message,
            "0, bytes for each task; or 1, bytes for all together",
        ));
    }
    let form = first(members.iter()).map_or(0, |member| member.receive);
    let Some(wrong) = first(members.iter().filter(|member| member.receive != form)) else { return Ok(()) };
    let message = format!("an all-to-all of the form {}, which began with the form {form}", wrong.receive);
    Err(Mistake::new(wrong.when.line, message, "one form in all its lines"))
}

/// Bytes of an all-to-all that a member has for the one at the place `to` of `count`. In vector form its record tells only the sum
/// for all, itself included, and each gets an equal part: parts differ by a byte at most and come to the sum.
pub fn part(member: &Member, to: u32, count: u32) -> u64 {
    if member.receive != VECTOR {
        return member.send;
    }
    share(member.send, to, count)
}

/// What a user has to know of operations whose records do not tell all, or whose sizes are not kept.
pub fn notes(trace: &Trace) -> Vec<String> {
    let some = |operation: u8, is: fn(&Collective) -> bool| {
        let mut those = trace.collectives.iter().filter(|all| all.operation == operation && is(all));
        let first = those.next()?.line;
        Some((those.count() + 1, first))
    };
    let vector = some(ALL_TO_ALL, |collective| {
        collective.members.iter().any(|member| member.receive == VECTOR && member.send > 0)
    });
    let uneven =
        some(ALLGATHER, |collective| collective.members.windows(2).any(|pair| pair[0].send != pair[1].send));
    let vector = vector.map(|(count, line)| {
        format!(
            "{count} of its all-to-alls, the first in line {line}, tells only how much each task sends in all: it goes to all \
             tasks in equal parts"
        )
    });
    let uneven = uneven.map(|(count, line)| {
        format!(
            "{count} of its allgathers, the first in line {line}, has tasks of different sizes: the largest is taken for all"
        )
    });
    vector.into_iter().chain(uneven).collect()
}
