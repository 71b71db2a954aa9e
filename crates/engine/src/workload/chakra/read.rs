//! From the bytes of a rank's file to what the rank does.
use super::schema::{GlobalMetadata, Node};
use super::{Control, Mistake, nodes};
use crate::workload::mpi::collective::Operation;
use crate::workload::mpi::graph::on_a_circle;
use prost::Message;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::io::Read;

/// What a rank does: its nodes in the order in which they could be done one after the other, of those that may come next the one
/// of the lowest number first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    pub records: Vec<Record>,
    /// Process groups that the file itself tells of: ranks by name; none of them, if it is all ranks.
    pub groups: BTreeMap<String, Vec<u32>>,
    /// Dependencies on nodes that the file does not have.
    pub dangling: Vec<(u64, u64)>,
    /// How many dependencies were passed over since they are of control.
    pub ignored: u64,
}

/// An operation of a rank.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The node's own number, and what its name begins with.
    pub id: u64,
    pub name: String,
    pub what: What,
    /// Which others it waits for, by their places.
    pub after: Vec<u32>,
    /// Its duration in ps; of what communicates, as recorded, and of no effect.
    pub duration: u64,
}

/// What an operation is.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// It takes no time.
    Nothing,
    /// It takes time, but no processor.
    Memory,
    /// It takes the host's processor.
    Host,
    /// It takes the accelerator, for so many operations on so many bytes if it has no duration.
    Accelerator {
        operations: u64,
        bytes: u64,
    },
    Send {
        to: i128,
        bytes: u64,
        tag: u32,
    },
    Receive {
        from: i128,
        bytes: u64,
        tag: u32,
    },
    Collective {
        operation: Operation,
        bytes: u64,
        group: Group,
    },
}

/// Who takes part in a collective operation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    All,
    /// The ranks of a process group.
    Named(String),
    /// The ranks that differ in these dimensions only.
    Dimensions(Vec<bool>),
}

/// Bytes that a file may have, unpacked if it is compressed.
const FILE_MAX: u64 = 1 << 30;
/// The first bytes of a compressed file.
const GZIP: [u8; 2] = [0x1f, 0x8b];
const PS_PER_US: u64 = 1_000_000;
/// Characters of a node's name that are told.
pub const NAME_MAX: usize = 60;

/// Reads the file of a rank.
pub fn read(data: &[u8], rank: u32, control: Control) -> Result<Trace, Mistake> {
    let too_long =
        || Mistake::new("", format!("it has over {} MiB, unpacked", FILE_MAX >> 20), "a shorter trace");
    if data.len() as u64 > FILE_MAX {
        return Err(too_long());
    }
    if !data.starts_with(&GZIP) {
        return messages(data, rank, control);
    }
    let mut unpacked = Vec::new();
    let unpack = flate2::read::MultiGzDecoder::new(data).take(FILE_MAX + 1).read_to_end(&mut unpacked);
    unpack.map_err(|error| Mistake::new("", format!("it cannot be unpacked: {error}"), "a whole file"))?;
    if unpacked.len() as u64 > FILE_MAX {
        return Err(too_long());
    }
    messages(&unpacked, rank, control)
}

/// Where nodes stand, and what each waits for, while a file is read.
struct Reader {
    rank: u32,
    control: Control,
    trace: Trace,
    places: HashMap<u64, u32>,
    /// By place.
    after: Vec<Vec<u64>>,
}

fn messages(data: &[u8], rank: u32, control: Control) -> Result<Trace, Mistake> {
    let mut reader =
        Reader { rank, control, trace: Trace::default(), places: HashMap::new(), after: Vec::new() };
    let (mut rest, mut first) = (data, true);
    while !rest.is_empty() {
        let place = format!("byte {}", data.len() - rest.len());
        let cut = || {
            Mistake::new(&place, "the file is cut off here, or is no Chakra trace", "a whole file of Chakra")
        };
        let length = prost::decode_length_delimiter(&mut rest).map_err(|_| cut())?;
        let message = rest.get(..length).ok_or_else(cut)?;
        rest = &rest[length..];
        if std::mem::take(&mut first) {
            let metadata = GlobalMetadata::decode(message);
            metadata.map_err(|error| no_message(&place, "the metadata of a Chakra trace", &error))?;
            continue;
        }
        let node =
            Node::decode(message).map_err(|error| no_message(&place, "a node of a Chakra trace", &error))?;
        reader.add(node)?;
    }
    if first {
        return Err(Mistake::new("", "the file is empty", "a file of Chakra"));
    }
    reader.order()
}

fn no_message(place: &str, expected: &str, error: &prost::DecodeError) -> Mistake {
    let help = "a file of Chakra (MLCommons) in its binary form, version 0.0.4";
    Mistake::new(place, format!("this is not {expected}: {error}"), help)
}

impl Reader {
    fn add(&mut self, node: Node) -> Result<(), Mistake> {
        if self.places.insert(node.id, self.after.len() as u32).is_some() {
            return Err(Mistake::of(
                &node,
                "another node has the same number",
                "a number of its own for each",
            ));
        }
        let duration = node.duration_micros.checked_mul(PS_PER_US);
        let duration =
            duration.ok_or_else(|| Mistake::of(&node, "its duration is too long", "under 10^13 us"))?;
        let what = nodes::what(&node, self.rank)?;
        if what == What::Nothing {
            self.trace.groups.extend(nodes::groups(&node)?);
        }
        let mut after = node.data_deps;
        match self.control {
            Control::Wait => after.extend(node.ctrl_deps),
            Control::Ignore => self.trace.ignored += node.ctrl_deps.len() as u64,
        }
        after.sort_unstable();
        after.dedup();
        self.after.push(after);
        let name = node.name.chars().take(NAME_MAX).collect();
        self.trace.records.push(Record { id: node.id, name, what, after: Vec::new(), duration });
        Ok(())
    }

    /// Puts the records in their order, each with the places of what it waits for.
    fn order(self) -> Result<Trace, Mistake> {
        let Self { mut trace, places, after, .. } = self;
        let count = trace.records.len();
        let (mut left, mut later) = (vec![0_u32; count], vec![Vec::new(); count]);
        for (place, after) in after.iter().enumerate() {
            for earlier in after {
                match places.get(earlier) {
                    Some(&earlier) => {
                        later[earlier as usize].push(place as u32);
                        left[place] += 1;
                    }
                    None => trace.dangling.push((trace.records[place].id, *earlier)),
                }
            }
        }
        let next = |place: usize| Reverse((trace.records[place].id, place));
        let mut free: BinaryHeap<_> = (0..count).filter(|&place| left[place] == 0).map(next).collect();
        let (mut order, mut at) = (Vec::with_capacity(count), vec![0_u32; count]);
        while let Some(Reverse((_, place))) = free.pop() {
            at[place] = order.len() as u32;
            order.push(place);
            for &later in &later[place] {
                left[later as usize] -= 1;
                if left[later as usize] == 0 {
                    free.push(next(later as usize));
                }
            }
        }
        let edges =
            (0..).zip(&later).flat_map(|(place, later)| later.iter().map(move |&later| (place, later)));
        if let Some(waits) = on_a_circle(&left, edges) {
            let Record { id, name, .. } = &trace.records[waits as usize];
            let help = match self.control {
                Control::Wait => {
                    "dependencies without a circle; PyTorch's own traces may need control = \"ignore\""
                }
                Control::Ignore => "dependencies without a circle",
            };
            return Err(Mistake::at((*id, name), "it waits, through others, for itself", help));
        }
        let mut taken: Vec<_> = trace.records.into_iter().map(Some).collect();
        trace.records = order.iter().map(|&place| taken[place].take().expect("each once")).collect();
        for (record, &place) in trace.records.iter_mut().zip(&order) {
            let known = after[place].iter().filter_map(|earlier| places.get(earlier));
            record.after = known.map(|&earlier| at[earlier as usize]).collect();
        }
        Ok(trace)
    }
}
