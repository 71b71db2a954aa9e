//! From the bytes of a rank's file to what the rank does.
use super::Mistake;
use super::schema::{GlobalMetadata, Node, Value};
use crate::workload::mpi::collective::Operation;
use prost::Message;
use std::collections::{BTreeMap, HashMap};
use std::io::Read;

/// What a rank does, in the order of its file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    pub records: Vec<Record>,
    /// Process groups that the file itself tells of: ranks by name; none of them, if it is all ranks.
    pub groups: BTreeMap<String, Vec<u32>>,
    /// Dependencies on operations that the file does not have.
    pub dangling: Vec<(u64, u64)>,
}

/// An operation of a rank.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The node's own number, and its name.
    pub id: u64,
    pub name: String,
    pub what: What,
    /// Which others it waits for, by their places in the file.
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
    /// It takes the accelerator.
    Accelerator,
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

/// Bytes that a compressed file may have when it is unpacked.
const UNPACKED_MAX: u64 = 4 << 30;
/// The first bytes of a compressed file.
const GZIP: [u8; 2] = [0x1f, 0x8b];
const PS_PER_US: u64 = 1_000_000;

pub fn read(data: &[u8]) -> Result<Trace, Mistake> {
    if data.starts_with(&GZIP) {
        let mut unpacked = Vec::new();
        let unpack = flate2::read::MultiGzDecoder::new(data).take(UNPACKED_MAX).read_to_end(&mut unpacked);
        unpack
            .map_err(|error| Mistake::new("", format!("it cannot be unpacked: {error}"), "a whole file"))?;
        return messages(&unpacked);
    }
    messages(data)
}

fn messages(data: &[u8]) -> Result<Trace, Mistake> {
    let (mut rest, mut nodes, mut first) = (data, Vec::new(), true);
    while !rest.is_empty() {
        let place = format!("byte {}", data.len() - rest.len());
        let cut = || {
            Mistake::new(&place, "the file is cut off here, or is no Chakra trace", "a whole file of Chakra")
        };
        let length = prost::decode_length_delimiter(&mut rest).map_err(|_| cut())?;
        let message = rest.get(..length).ok_or_else(cut)?;
        rest = &rest[length..];
        if std::mem::take(&mut first) {
            GlobalMetadata::decode(message)
                .map_err(|error| no_message(&place, "the metadata of a Chakra trace", &error))?;
            continue;
        }
        nodes.push(
            Node::decode(message).map_err(|error| no_message(&place, "a node of a Chakra trace", &error))?,
        );
    }
    if first {
        return Err(Mistake::new("", "the file is empty", "a file of Chakra"));
    }
    tied(&nodes)
}

fn no_message(place: &str, expected: &str, error: &prost::DecodeError) -> Mistake {
    Mistake::new(
        place,
        format!("this is not {expected}: {error}"),
        "a file of Chakra (MLCommons), version 0.0.4",
    )
}

/// The records of the nodes, each with the places of what it waits for.
fn tied(nodes: &[Node]) -> Result<Trace, Mistake> {
    let mut places: HashMap<u64, u32> = HashMap::with_capacity(nodes.len());
    let mut trace = Trace::default();
    for (place, node) in (0..).zip(nodes) {
        if places.insert(node.id, place).is_some() {
            return Err(Mistake::of(
                node,
                "another node has the same number",
                "a number of its own for each",
            ));
        }
    }
    for node in nodes {
        let mut after = Vec::new();
        for &earlier in &node.data_deps {
            match places.get(&earlier) {
                Some(&place) => after.push(place),
                None => trace.dangling.push((node.id, earlier)),
            }
        }
        after.sort_unstable();
        after.dedup();
        let duration = node.duration_micros.checked_mul(PS_PER_US);
        let duration =
            duration.ok_or_else(|| Mistake::of(node, "its duration is too long", "under 10^13 us"))?;
        let what = what(node)?;
        if matches!(what, What::Nothing)
            && let Some(inputs) = &node.inputs
        {
            trace.groups.extend(groups(&inputs.values));
        }
        trace.records.push(Record { id: node.id, name: node.name.clone(), what, after, duration });
    }
    Ok(trace)
}

/// The process groups of a metadata node that PyTorch writes: a list of tables as a text in a list, with the name and the ranks of each.
fn groups(values: &str) -> Vec<(String, Vec<u32>)> {
    #[derive(serde::Deserialize)]
    struct Told {
        pg_name: String,
        ranks: Vec<u32>,
    }
    let inner = values.trim().trim_start_matches(['[', '\'', '"']).trim_end_matches([']', '\'', '"']);
    let told: Vec<Told> = serde_json::from_str(&format!("[{inner}]")).unwrap_or_default();
    told.into_iter().map(|group| (group.pg_name, group.ranks)).collect()
}

/// The attributes of a node.
struct Attributes<'a>(&'a Node);

impl Attributes<'_> {
    fn find(&self, name: &str) -> Option<&Value> {
        self.0.attr.iter().find(|attribute| attribute.name == name)?.value.as_ref()
    }

    fn number(&self, name: &str) -> Result<Option<i128>, Mistake> {
        let Some(value) = self.find(name) else { return Ok(None) };
        let help = "a whole number";
        let number = value.number();
        number.map(Some).ok_or_else(|| Mistake::of(self.0, format!("{name} is no number"), help))
    }

    fn needed(&self, name: &str) -> Result<i128, Mistake> {
        let missing = || Mistake::of(self.0, format!("it has no {name}"), "an attribute of that name");
        self.number(name)?.ok_or_else(missing)
    }

    fn bytes(&self) -> Result<u64, Mistake> {
        let bytes = self.needed("comm_size")?;
        let wrong = |_| Mistake::of(self.0, format!("comm_size is {bytes}"), "a number of bytes from 0 on");
        bytes.try_into().map_err(wrong)
    }

    fn tag(&self) -> Result<u32, Mistake> {
        let tag = self.number("comm_tag")?.unwrap_or(0);
        // Writers disagree whether it has a sign.
        let tag = u32::try_from(tag).or_else(|_| i32::try_from(tag).map(|tag| tag as u32));
        tag.map_err(|_| Mistake::of(self.0, "comm_tag has over 32 bits", "a tag of 32 bits"))
    }

    fn group(&self) -> Group {
        let named = match self.find("pg_name") {
            Some(Value::Text(name)) => Some(name.clone()),
            Some(value) => value.number().map(|number| number.to_string()),
            None => None,
        };
        match (named, self.find("involved_dim")) {
            (Some(name), _) if !name.is_empty() => Group::Named(name),
            (_, Some(Value::Bools(dims))) if dims.values.contains(&false) => {
                Group::Dimensions(dims.values.clone())
            }
            _ => Group::All,
        }
    }
}

fn what(node: &Node) -> Result<What, Mistake> {
    let attributes = Attributes(node);
    let on_host = attributes.number("is_cpu_op")?.is_some_and(|is| is != 0);
    Ok(match node.kind {
        0 | 1 => What::Nothing,
        2 | 3 => What::Memory,
        4 if on_host => What::Host,
        4 => What::Accelerator,
        // The host's part in what the accelerator communicates.
        5..=7 if on_host => What::Host,
        5 => What::Send {
            to: attributes.needed("comm_dst")?,
            bytes: attributes.bytes()?,
            tag: attributes.tag()?,
        },
        6 => {
            let bytes = attributes.number("comm_size")?.unwrap_or(0);
            let bytes = bytes.try_into().unwrap_or(0);
            What::Receive { from: attributes.needed("comm_src")?, bytes, tag: attributes.tag()? }
        }
        7 => {
            let operation = operation(node, attributes.needed("comm_type")?)?;
            let bytes = if operation == Operation::Barrier { 0 } else { attributes.bytes()? };
            What::Collective { operation, bytes, group: attributes.group() }
        }
        other => {
            let help =
                "0 none, 1 metadata, 2 or 3 memory, 4 computing, 5 send, 6 receive, 7 collective operation";
            return Err(Mistake::of(node, format!("a node of the type {other}"), help));
        }
    })
}

fn operation(node: &Node, told: i128) -> Result<Operation, Mistake> {
    Ok(match told {
        0 => Operation::Allreduce,
        1 => Operation::Reduce,
        2 => Operation::Allgather,
        5 => Operation::Broadcast,
        6 => Operation::Alltoall,
        7 | 8 => Operation::ReduceScatter,
        9 => Operation::Barrier,
        other => {
            let name = match other {
                3 => "a gather, whose root the format does not tell".into(),
                4 => "a scatter, whose root the format does not tell".into(),
                other => format!("an operation of the comm_type {other}"),
            };
            let help = "all-reduce (0), reduce (1), all-gather (2), broadcast (5), all-to-all (6), reduce-scatter (7, 8) or barrier (9)";
            return Err(Mistake::of(node, name, help));
        }
    })
}
