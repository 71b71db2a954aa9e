//! The flows of every phase: drawn, or read from a list.
use super::{Pattern, Phases};
use crate::nic::queue::message_flits_max;
use crate::problem::Problem;
use crate::rng::Stream;
use crate::units::{Size, shorten};
use crate::workload::{Setting, in_file};
use std::collections::BTreeMap;

/// A flow, by the numbers of its ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flow {
    /// The rank that sends.
    pub from: u32,
    /// The rank that receives.
    pub to: u32,
    /// Its size.
    pub bytes: u64,
}

/// The flows of a phase: in ascending order of source and destination, with the number that each rank receives.
#[derive(Debug, Clone)]
struct Set {
    flows: Vec<Flow>,
    received: Vec<u32>,
}

/// The flows of all phases.
#[derive(Debug)]
pub struct Schedule {
    /// One for all phases, or one for each.
    sets: Vec<Set>,
    phases: u32,
}

impl Schedule {
    /// The flows that the parameters ask for, or what is wrong with the list.
    pub(super) fn new(of: &Phases, setting: &Setting) -> Result<Self, Vec<Problem>> {
        let bytes = setting.scale.bytes(of.size);
        let sets = match of.flows {
            Pattern::List => vec![read(of, setting)?],
            Pattern::AllToOne => {
                let target = of.target();
                let others = (0..setting.ranks).filter(|&from| from != target);
                vec![others.map(|from| ((from, target), bytes)).collect()]
            }
            Pattern::Permutations => {
                let sets = if of.redraw { of.phases } else { 1 };
                (0..sets).map(|phase| permutations(of.permutations, phase, bytes, setting)).collect()
            }
        };
        let set = |pairs: BTreeMap<(u32, u32), u64>| {
            let mut received = vec![0; setting.ranks as usize];
            pairs.keys().for_each(|&(_, to)| received[to as usize] += 1);
            let flow = |((from, to), bytes)| Flow { from, to, bytes };
            Set { flows: pairs.into_iter().map(flow).collect(), received }
        };
        Ok(Self { sets: sets.into_iter().map(set).collect(), phases: of.phases })
    }

    fn set(&self, phase: u32) -> &Set {
        &self.sets[phase as usize % self.sets.len()]
    }

    /// Bytes held.
    pub(super) fn memory(&self) -> u64 {
        let of =
            |set: &Set| set.flows.capacity() * size_of::<Flow>() + set.received.capacity() * size_of::<u32>();
        self.sets.iter().map(of).sum::<usize>() as u64
    }

    /// Number of phases.
    pub fn phases(&self) -> u32 {
        self.phases
    }

    /// The flows of a phase, in ascending order of source and destination.
    pub fn flows(&self, phase: u32) -> &[Flow] {
        &self.set(phase).flows
    }

    /// The flows of a rank in a phase.
    pub fn sent_by(&self, phase: u32, rank: u32) -> &[Flow] {
        let flows = self.flows(phase);
        let first = |rank: u32| flows.partition_point(|flow| flow.from < rank);
        &flows[first(rank)..first(rank + 1)]
    }

    /// The number of flows that a rank receives in a phase.
    pub fn received_by(&self, phase: u32, rank: u32) -> u32 {
        self.set(phase).received[rank as usize]
    }
}

/// Permutations without a fixed point, all equally likely; a pair that several have gets the sum.
fn permutations(count: u32, phase: u32, bytes: u64, setting: &Setting) -> BTreeMap<(u32, u32), u64> {
    let mut random = Stream::new(setting.seed, "phases", setting.name, phase.into());
    let mut to: Vec<u32> = (0..setting.ranks).collect();
    let mut pairs = BTreeMap::new();
    for _ in 0..count {
        random.derange(&mut to);
        for (from, &to) in (0..).zip(&to) {
            *pairs.entry((from, to)).or_insert(0) += bytes;
        }
    }
    pairs
}

/// Most mistakes of a list that are told.
const TOLD_MAX: usize = 20;

/// Reads a list of flows.
fn read(of: &Phases, setting: &Setting) -> Result<BTreeMap<(u32, u32), u64>, Vec<Problem>> {
    let (mut flows, mut problems) = (BTreeMap::new(), Vec::new());
    let wrong = |place: &str, message: &str, help: &str| in_file(&of.path, "text", place, message, help);
    for (number, line) in (1..).zip(of.text.lines()) {
        let line = line.split('#').next().unwrap_or("").trim();
        if line.is_empty() {
            continue;
        }
        let added = flow(line, of.size, setting).and_then(|flow| {
            match flows.insert((flow.from, flow.to), flow.bytes) {
                None => Ok(()),
                Some(_) => Err((
                    format!("rank {} has another flow to rank {}", flow.from, flow.to),
                    "one flow for each pair, of the sum of both sizes".into(),
                )),
            }
        });
        if let Err((message, help)) = added {
            problems.push(wrong(&format!("line {number}"), &message, &help));
        }
    }
    if problems.is_empty() && flows.is_empty() {
        problems.push(wrong("", "the list has no flow", super::LINES));
    }
    problems.truncate(TOLD_MAX);
    if problems.is_empty() { Ok(flows) } else { Err(problems) }
}

/// A flow of a line, or what is wrong and what would be right.
fn flow(line: &str, size: Size, setting: &Setting) -> Result<Flow, (String, String)> {
    let last = setting.ranks - 1;
    let mut rest = line;
    let mut rank = |what: &str| {
        let (word, behind) =
            rest.trim_start().split_once(char::is_whitespace).unwrap_or((rest.trim_start(), ""));
        rest = behind;
        if word.is_empty() {
            return Err(("the line is cut off".into(), format!("a {what} next, such as: 0 5 2 MB")));
        }
        let number = word.parse::<u32>().map_err(|_| {
            (
                format!("\"{}\" is no number of a rank, where the {what} should be", shorten(word)),
                "such as: 0 5 2 MB".into(),
            )
        })?;
        if number > last {
            return Err((format!("there is no rank {number}"), format!("0 to {last}")));
        }
        Ok(number)
    };
    let (from, to) = (rank("source")?, rank("destination")?);
    if from == to {
        return Err((format!("rank {from} has a flow to itself"), "a flow leads to another rank".into()));
    }
    let size = match rest.trim() {
        "" => size,
        word => word
            .parse::<Size>()
            .map_err(|error| (error.to_string(), "such as \"2 MB\" or \"128 packets\"".into()))?,
    };
    let most = message_flits_max(setting.scale.packet_flits);
    match size.flits(setting.scale) {
        0 => Err(("a flow of size 0".into(), "at least 1 flit".into())),
        flits if flits > most => Err((format!("a flow of {flits} flits"), format!("at most {most} flits"))),
        _ => Ok(Flow { from, to, bytes: setting.scale.bytes(size) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Rate, Scale};
    use crate::workload::mpi::Mpi;

    fn schedule(text: &str, ranks: u32) -> Result<Schedule, Vec<String>> {
        let scale = Scale { flit_bits: 512, packet_flits: 32, host: Rate(10_000_000_000) };
        let mpi = Mpi::default();
        let setting = Setting { ranks, scale: &scale, mpi: &mpi, seed: 1, name: "app", memory: None };
        let phases: Phases = toml::from_str(text).unwrap();
        phases.schedule(&setting).map_err(|problems| problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn in_a_superposition_everyone_sends_and_receives_as_much() {
        for ranks in [2, 3, 10, 100] {
            let schedule = schedule("permutations = 3\nphases = 2", ranks).unwrap();
            assert!(ranks <= 3 || schedule.flows(0) != schedule.flows(1));
            for phase in 0..2 {
                let (mut sent, mut received) = (vec![0; ranks as usize], vec![0; ranks as usize]);
                for flow in schedule.flows(phase) {
                    assert_ne!(flow.from, flow.to);
                    sent[flow.from as usize] += flow.bytes;
                    received[flow.to as usize] += flow.bytes;
                }
                assert!(sent.iter().chain(&received).all(|&bytes| bytes == 3 * 128 * 2048));
                let counted: usize = (0..ranks).map(|rank| schedule.sent_by(phase, rank).len()).sum();
                assert_eq!(counted, schedule.flows(phase).len());
            }
        }
    }

    #[test]
    fn a_list_is_read_line_by_line() {
        let text = "flows = 'list'\ntext = '''\n# from to size\n0 1 2 packets\n2 1 # the rest\n\n1 0 100 B\n'''\nsize = '1 kB'";
        let schedule = schedule(text, 3).unwrap();
        let flows: Vec<_> = schedule.flows(0).iter().map(|flow| (flow.from, flow.to, flow.bytes)).collect();
        assert_eq!(flows, [(0, 1, 4096), (1, 0, 100), (2, 1, 1000)]);
        assert_eq!((schedule.received_by(0, 1), schedule.received_by(0, 2)), (2, 0));
    }

    #[test]
    fn the_columns_of_a_list_may_be_aligned() {
        let text = "flows = 'list'\nsize = '2 kB'\ntext = '''\n  0   1   2 packets\n 1\t\t2\t100 B # the rest\n2  0\n2  1  1  kB\n'''";
        let schedule = schedule(text, 3).unwrap();
        let flows: Vec<_> = schedule.flows(0).iter().map(|flow| (flow.from, flow.to, flow.bytes)).collect();
        assert_eq!(flows, [(0, 1, 4096), (1, 2, 100), (2, 0, 2000), (2, 1, 1000)]);
    }

    #[test]
    fn a_line_that_is_cut_off_says_what_belongs_there() {
        let told = schedule("flows = 'list'\ntext = '''0 1\n2'''", 3).unwrap_err();
        assert_eq!(told, ["text: line 2: the line is cut off (a destination next, such as: 0 5 2 MB)"]);
    }

    #[test]
    fn a_file_that_is_empty_or_was_not_read_is_told_by_its_name() {
        let told = |text: &str| {
            schedule(&format!("flows = 'list'\npath = 'flows.txt'\ntext = '{text}'"), 3).unwrap_err()
        };
        let lines = "lines of source, destination and size, such as: 0 5 2 MB";
        let empty = format!("path: flows.txt: the list of flows is empty, or was not read ({lines})");
        assert_eq!(told(""), [empty]);
        assert_eq!(told("# none"), [format!("path: flows.txt: the list has no flow ({lines})")]);
        let bare = schedule("flows = 'list'", 3).unwrap_err();
        let help = "path = the file of a list, or text = the list itself";
        assert_eq!(bare, [format!("text: the list of flows is empty, or was not read ({help})")]);
    }

    #[test]
    fn keys_of_another_pattern_are_refused() {
        let told = |text: &str| schedule(text, 3).unwrap_err();
        let target = "has no target (leave it out, or flows = \"all-to-one\")";
        let drawn = "draws no permutations (leave it out, or flows = \"permutations\")";
        assert_eq!(told("target = 0"), [format!("target: flows = \"permutations\" {target}")]);
        assert_eq!(
            told("flows = 'list'\ntext = '0 1'\ntarget = 1\npermutations = 2\nredraw = false"),
            [
                format!("target: flows = \"list\" {target}"),
                format!("permutations: flows = \"list\" {drawn}"),
                format!("redraw: flows = \"list\" {drawn}"),
            ]
        );
        assert_eq!(
            told("flows = 'all-to-one'\nredraw = false"),
            [format!("redraw: flows = \"all-to-one\" {drawn}")]
        );
        // What is wrong with the list is told beside it.
        let all = told("flows = 'list'\ntext = '0 x'\nredraw = false");
        assert!(all.len() == 2 && all[1].contains("\"x\" is no number"), "{all:?}");
        // Defaults, which a complete scenario names.
        assert!(schedule("flows = 'all-to-one'\ntarget = 0\npermutations = 1\nredraw = true", 3).is_ok());
    }

    #[test]
    fn every_mistake_of_a_list_is_told_with_its_line() {
        let text = "flows = 'list'\ntext = '''0 0 1 kB\n0 1 1 kB\n0 1 2 kB\n0 9\n1 0 0 B\na b\n1 2 lots'''";
        let told = schedule(text, 3).unwrap_err().join("\n");
        for (line, what) in [
            (1, "itself"),
            (3, "another flow to rank 1"),
            (4, "no rank 9"),
            (5, "size 0"),
            (6, "\"a\" is no number"),
            (7, "lots"),
        ] {
            assert!(told.contains(&format!("line {line}: ")) && told.contains(what), "{line} {what}\n{told}");
        }
        assert!(schedule("flows = 'list'", 3).unwrap_err()[0].contains("empty"));
        assert!(schedule("flows = 'all-to-one'\ntarget = 3", 3).unwrap_err()[0].contains("no rank 3"));
        assert!(schedule("text = '0 1'", 3).unwrap_err()[0].contains("does not ask"));
    }
}
