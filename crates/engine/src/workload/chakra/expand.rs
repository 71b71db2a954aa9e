//! From the files of all ranks to what each does: collective operations cut into messages.
use super::groups::{self, Members};
use super::read::{Group, Record, Trace, What};
use super::{Chakra, Mistake};
use crate::workload::Setting;
use crate::workload::mpi::Costs;
use crate::workload::mpi::collective::{Call, Operation};
use crate::workload::mpi::expansion::{self, COMMUNICATION, Expansion, How, Refused, share};
use crate::workload::mpi::graph::{self, Graph, Label, Node, Tags};
use std::collections::BTreeMap;

/// The processor of the host, and the accelerator: messages take neither.
const HOST: u8 = COMMUNICATION + 1;
const ACCELERATOR: u8 = COMMUNICATION + 2;

/// A mistake in a rank's file.
type Wrong = (u32, Mistake);

/// Where the operations of a group stand in the file of each rank.
type Places = BTreeMap<u32, Vec<usize>>;

/// The ranks of a group, as one of them tells them, and its operations.
type Told = (Vec<u32>, Places);

/// A collective operation: who takes part, and where it stands in the file of each.
struct Collective {
    members: Vec<u32>,
    places: Vec<usize>,
}

/// What each rank does.
pub fn graphs(
    chakra: &Chakra,
    (traces, groups): (&[Trace], &Members),
    costs: &Costs,
    setting: &Setting,
) -> Result<Vec<Graph>, Wrong> {
    let collectives = collectives(traces, groups)?;
    let record = |of: &Collective| &traces[of.members[0] as usize].records[of.places[0]];
    let messages = |of: &Collective| {
        let call = call(record(of), of.members.len() as u32);
        expansion::messages(call, of.members.iter().copied(), costs)
    };
    let counts: Vec<u64> = collectives.iter().map(messages).collect();
    let wrong = |of: &Collective, why| (of.members[0], refused(record(of), why));
    expansion::fits(&counts, setting.memory).map_err(|(over, why)| wrong(&collectives[over], why))?;

    let mut all = Expansion::new(traces.len() as u32, setting.scale);
    let mut tags = Tags::default();
    // Where each record begins, and where it ends.
    let mut gates: Vec<Vec<(u32, u32)>> = Vec::with_capacity(traces.len());
    for (rank, trace) in (0..).zip(traces) {
        let made = trace.records.iter().map(|record| {
            let node = node(chakra, (rank, record), traces.len() as u32, &mut tags)?;
            if let graph::What::Send { bytes, .. } = node.what {
                all.sendable(bytes).map_err(|why| refused(record, why))?;
            }
            let node = all.add(rank, node).map_err(|why| refused(record, why))?;
            Ok((node, node))
        });
        gates.push(made.collect::<Result<_, _>>().map_err(|mistake| (rank, mistake))?);
    }
    for of in &collectives {
        let (record, count) = (record(of), of.members.len() as u32);
        let call = call(record, count);
        let bytes = |_: u32, to: u32, planned: u64| match (call.operation, &record.what) {
            (Operation::Alltoall, What::Collective { bytes, .. }) => share(*bytes, to, count),
            _ => planned,
        };
        let how = How::Steps { call, costs, bytes: &bytes };
        let cut = all.collective(&of.members, &how).map_err(|why| wrong(of, why))?;
        for ((&rank, &place), (begin, end)) in of.members.iter().zip(&of.places).zip(cut) {
            let own = &mut gates[rank as usize][place];
            // What stood in its place is its beginning.
            all.after(rank, begin, own.0);
            own.1 = end;
        }
    }
    tie(&mut all, traces, &gates);
    let mut built = all.build().expect("operations of a group are in an order that the dependencies allow");
    tags.name(&mut built);
    Ok(built)
}

/// Lets every record wait for what it waits for, and each operation of a group for the one before it.
fn tie(all: &mut Expansion, traces: &[Trace], gates: &[Vec<(u32, u32)>]) {
    for (rank, (trace, gates)) in (0..).zip(traces.iter().zip(gates)) {
        let mut last: BTreeMap<&Group, usize> = BTreeMap::new();
        for (place, record) in trace.records.iter().enumerate() {
            let begin = gates[place].0;
            record.after.iter().for_each(|&earlier| all.after(rank, begin, gates[earlier as usize].1));
            if let What::Collective { group, .. } = &record.what
                && let Some(before) = last.insert(group, place)
            {
                all.after(rank, begin, gates[before].1);
            }
        }
    }
}

fn refused(record: &Record, (message, help): Refused) -> Mistake {
    Mistake::at((record.id, &record.name), message, help)
}

/// How long an operation of the accelerator takes in ps: as recorded, or by what it does.
fn duration(chakra: &Chakra, record: &Record) -> u64 {
    let What::Accelerator { operations, bytes } = record.what else { return record.duration };
    if record.duration > 0 {
        return record.duration;
    }
    let computing = chakra.peak.map_or(0.0, |peak| operations as f64 / peak * 1e12);
    let moving = chakra.memory_bandwidth.map_or(0.0, |rate| bytes as f64 * 8.0 / rate.0 as f64 * 1e12);
    computing.max(moving).round() as u64
}

/// What a record does by itself; of a collective operation, that it begins.
fn node(
    chakra: &Chakra,
    (rank, record): (u32, &Record),
    ranks: u32,
    tags: &mut Tags,
) -> Result<Node, Mistake> {
    let place = (record.id, record.name.as_str());
    let other = |told: i128, key: &str| match u32::try_from(told) {
        Ok(other) if other < ranks && other != rank => Ok(other),
        Ok(other) if other == rank => {
            Err(Mistake::at(place, format!("{key} is the rank itself, {rank}"), "another rank"))
        }
        _ => Err(Mistake::at(place, format!("{key} is {told}"), format!("a rank from 0 to {}", ranks - 1))),
    };
    let mut number = |to: u32, tag: u32| {
        tags.number(to, tag).ok_or_else(|| Mistake::at(place, Tags::TOO_MANY, "at most 32,768"))
    };
    let computing = |cpu| Node {
        what: graph::What::Compute(duration(chakra, record)),
        label: Label::AnyTag,
        cpu: Some(cpu),
    };
    Ok(match record.what {
        What::Nothing | What::Collective { .. } => Node::delay(0),
        What::Memory => Node::delay(record.duration),
        What::Host => computing(HOST),
        What::Accelerator { .. } => computing(ACCELERATOR),
        What::Send { to, bytes, tag } => {
            let to = other(to, "comm_dst")?;
            Node { what: graph::What::Send { to, bytes }, label: number(to, tag)?, cpu: Some(COMMUNICATION) }
        }
        What::Receive { from, bytes, tag } => {
            let from = other(from, "comm_src")?;
            Node {
                what: graph::What::Receive { from, bytes },
                label: number(rank, tag)?,
                cpu: Some(COMMUNICATION),
            }
        }
    })
}

/// A collective operation as the algorithms know it.
fn call(record: &Record, ranks: u32) -> Call {
    match record.what {
        What::Collective { operation: Operation::Alltoall, bytes, .. } => {
            Call::new(Operation::Alltoall, bytes / u64::from(ranks))
        }
        What::Collective { operation, bytes, .. } => Call::new(operation, bytes),
        _ => unreachable!("a record that is no collective operation"),
    }
}

/// The collective operations of all ranks: the n-th of a group in the file of each of its ranks are one.
fn collectives(traces: &[Trace], groups: &Members) -> Result<Vec<Collective>, Wrong> {
    // By group: its members, and the places of its operations in the file of each.
    let mut found: BTreeMap<(&Group, Vec<u32>), Told> = BTreeMap::new();
    for (rank, trace) in (0..).zip(traces) {
        let mut own: BTreeMap<&Group, Vec<usize>> = BTreeMap::new();
        for (place, record) in trace.records.iter().enumerate() {
            if let What::Collective { group, .. } = &record.what {
                own.entry(group).or_default().push(place);
            }
        }
        for (group, places) in own {
            let first = &trace.records[places[0]];
            let members =
                groups.of(rank, group, (first.id, &first.name)).map_err(|mistake| (rank, mistake))?;
            let mut sorted = members.clone();
            sorted.sort_unstable();
            // Ranks may tell the same group in another order: that of the first counts.
            let (_, of_rank) = found.entry((group, sorted)).or_insert((members, Places::new()));
            of_rank.insert(rank, places);
        }
    }
    let mut all = Vec::new();
    for ((group, _), (members, places)) in found {
        let first = &places[places.keys().next().expect("a group of an operation")];
        for &rank in &members {
            let own = places.get(&rank).map_or(0, Vec::len);
            if own != first.len() {
                let message = format!(
                    "it has {own} collective operations of {}, and rank {} has {}",
                    told(group),
                    places.keys().next().expect("a group of an operation"),
                    first.len()
                );
                return Err((
                    rank,
                    Mistake::new("", message, "the same operations in the files of all its ranks"),
                ));
            }
        }
        for number in 0..first.len() {
            let places: Vec<usize> = members.iter().map(|rank| places[rank][number]).collect();
            agree(traces, &members, &places)?;
            all.push(Collective { members: members.clone(), places });
        }
    }
    Ok(all)
}

/// Refuses a collective operation that is not the same in all files.
fn agree(traces: &[Trace], members: &[u32], places: &[usize]) -> Result<(), Wrong> {
    let record = |at: usize| &traces[members[at] as usize].records[places[at]];
    let of = |at: usize| match &record(at).what {
        What::Collective { operation, bytes, .. } => (*operation, *bytes),
        _ => unreachable!("a record that is no collective operation"),
    };
    let Some(other) = (1..members.len()).find(|&at| of(at) != of(0)) else { return Ok(()) };
    let ((operation, bytes), (first, of_first)) = (of(other), of(0));
    let (first_rank, first_id) = (members[0], record(0).id);
    let [name, first] = [operation, first].map(|operation| Call::new(operation, 0).kind().name());
    let message = format!(
        "{name} of {bytes} B, which rank {first_rank} has as {first} of {of_first} B (node {first_id})"
    );
    let help = "the same operations, in the same order, in the files of all ranks of a group";
    Err((members[other], Mistake::at((record(other).id, &record(other).name), message, help)))
}

fn told(group: &Group) -> String {
    match group {
        Group::All => "all ranks".into(),
        Group::Named(name) => format!("the process group {name:?}"),
        Group::Dimensions(involved) => format!("the dimensions {involved:?}"),
    }
}

/// What a user has to know of what the files do not tell.
pub fn notes(chakra: &Chakra, traces: &[Trace]) -> Vec<String> {
    let all = || traces.iter().flat_map(|trace| &trace.records);
    let count = |is: &dyn Fn(&Record) -> bool| all().filter(|record| is(record)).count();
    let computes = |record: &Record| matches!(record.what, What::Host | What::Accelerator { .. });
    let computing = count(&computes);
    let timeless = count(&|record| computes(record) && duration(chakra, record) == 0);
    let memory = count(&|record| record.what == What::Memory && record.duration == 0);
    let rootless = count(&|record| {
        matches!(record.what, What::Collective { operation: Operation::Broadcast | Operation::Reduce, .. })
    });
    let alone = count(
        &|record| matches!(&record.what, What::Collective { group, .. } if groups::is_alone(group, &chakra.dims)),
    );
    let dangling: usize = traces.iter().map(|trace| trace.dangling.len()).sum();
    let ignored: u64 = traces.iter().map(|trace| trace.ignored).sum();
    let notes = [
        (
            timeless > 0,
            format!(
                "{timeless} of its {computing} computing operations have no duration, and take no time (peak and memory_bandwidth give one to those that tell their operations)"
            ),
        ),
        (
            memory > 0,
            format!("{memory} loads and stores of remote memory have no duration, and take no time"),
        ),
        (dangling > 0, format!("{dangling} dependencies on nodes that the files do not have were dropped")),
        (ignored > 0, format!("{ignored} control dependencies were ignored")),
        (
            rootless > 0,
            "the root of its broadcasts and reductions is taken to be the first rank of the group".into(),
        ),
        (
            alone > 0,
            format!(
                "{alone} collective operations are of one rank each, by its dimensions, and send nothing"
            ),
        ),
    ];
    notes.into_iter().filter_map(|(is, told)| is.then_some(told)).collect()
}
