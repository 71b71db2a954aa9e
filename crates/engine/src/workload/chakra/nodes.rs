//! What a node of a Chakra file is, by its type and its attributes.
use super::Mistake;
use super::read::{Group, What};
use super::schema::{Node, Value};
use crate::workload::mpi::collective::Operation;

/// The process groups that are all ranks, as ASTRA-sim has it.
pub const OF_ALL: [&str; 2] = ["", "0"];

/// The attributes of a node.
struct Attributes<'a>(&'a Node);

impl Attributes<'_> {
    /// The value of an attribute that the node has; none in it, if it is of a type that no attribute here has.
    fn find(&self, name: &str) -> Option<Option<&Value>> {
        let found = self.0.attr.iter().find(|attribute| attribute.name == name);
        found.map(|attribute| attribute.value.as_ref())
    }

    fn wrong<T>(&self, message: String, help: &str) -> Result<T, Mistake> {
        Err(Mistake::of(self.0, message, help))
    }

    fn number(&self, name: &str) -> Result<Option<i128>, Mistake> {
        match self.find(name).map(|value| value.and_then(Value::number)) {
            None => Ok(None),
            Some(Some(number)) => Ok(Some(number)),
            Some(None) => {
                self.wrong(format!("{name} is no whole number"), "an attribute of a type such as int64")
            }
        }
    }

    fn needed(&self, name: &str) -> Result<i128, Mistake> {
        let help = "an attribute of that name; PyTorch's traces have none for sends and receives";
        self.number(name)?.map_or_else(|| self.wrong(format!("it has no {name}"), help), Ok)
    }

    fn count(&self, name: &str, told: i128) -> Result<u64, Mistake> {
        told.try_into().or_else(|_| self.wrong(format!("{name} is {told}"), "a number from 0 on"))
    }

    fn bytes(&self) -> Result<u64, Mistake> {
        self.count("comm_size", self.needed("comm_size")?)
    }

    fn tag(&self) -> Result<u32, Mistake> {
        let tag = self.number("comm_tag")?.unwrap_or(0);
        // Writers disagree whether it has a sign.
        let tag = u32::try_from(tag).or_else(|_| i32::try_from(tag).map(|tag| tag as u32));
        tag.or_else(|_| self.wrong("comm_tag has over 32 bits".into(), "a tag of 32 bits"))
    }

    /// Refuses a rank of its own that is told and is another.
    fn own(&self, name: &str, rank: u32) -> Result<(), Mistake> {
        match self.number(name)? {
            Some(told) if told != i128::from(rank) => {
                self.wrong(format!("{name} is {told}, in the file of rank {rank}"), "the rank of the file")
            }
            _ => Ok(()),
        }
    }

    /// The process group, or else the dimensions.
    fn group(&self) -> Result<Group, Mistake> {
        let named = match self.find("pg_name") {
            None => String::new(),
            Some(Some(Value::Text(name))) => name.clone(),
            Some(value) => match value.and_then(Value::number) {
                Some(number) => number.to_string(),
                None => return self.wrong("pg_name is no text".into(), "the name of a process group"),
            },
        };
        if !OF_ALL.contains(&named.as_str()) {
            return Ok(Group::Named(named));
        }
        match self.find("involved_dim") {
            None => Ok(Group::All),
            Some(Some(Value::Bools(dims))) if dims.values.contains(&false) => {
                Ok(Group::Dimensions(dims.values.clone()))
            }
            Some(Some(Value::Bools(_))) => Ok(Group::All),
            Some(_) => self.wrong(
                "involved_dim is no list of truth values".into(),
                "for each dimension, whether it takes part",
            ),
        }
    }
}

/// What a node of a rank's file is.
pub fn what(node: &Node, rank: u32) -> Result<What, Mistake> {
    let attributes = Attributes(node);
    let on_host = attributes.number("is_cpu_op")?.is_some_and(|is| is != 0);
    Ok(match node.kind {
        0 | 1 => What::Nothing,
        2 | 3 => What::Memory,
        4 if on_host => What::Host,
        4 => {
            let count = |name| attributes.number(name)?.map_or(Ok(0), |told| attributes.count(name, told));
            What::Accelerator { operations: count("num_ops")?, bytes: count("tensor_size")? }
        }
        // The host's part in what the accelerator communicates.
        5..=7 if on_host => What::Host,
        5 => {
            attributes.own("comm_src", rank)?;
            What::Send {
                to: attributes.needed("comm_dst")?,
                bytes: attributes.bytes()?,
                tag: attributes.tag()?,
            }
        }
        6 => {
            attributes.own("comm_dst", rank)?;
            let bytes =
                attributes.number("comm_size")?.map_or(Ok(0), |told| attributes.count("comm_size", told))?;
            What::Receive { from: attributes.needed("comm_src")?, bytes, tag: attributes.tag()? }
        }
        7 => {
            let operation = operation(node, attributes.needed("comm_type")?)?;
            let bytes = if operation == Operation::Barrier { 0 } else { attributes.bytes()? };
            What::Collective { operation, bytes, group: attributes.group()? }
        }
        other => {
            let help =
                "0 none, 1 metadata, 2 or 3 memory, 4 computing, 5 send, 6 receive, 7 collective operation";
            return attributes.wrong(format!("a node of the type {other}"), help);
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

/// The process groups that a metadata node of PyTorch tells: a list of tables, as a text in a list, with the name and the ranks of each.
pub fn groups(node: &Node) -> Result<Vec<(String, Vec<u32>)>, Mistake> {
    #[derive(serde::Deserialize)]
    struct Told {
        pg_name: serde_json::Value,
        ranks: Vec<u32>,
    }
    let Some(inputs) = node.inputs.as_ref().filter(|inputs| inputs.values.contains("pg_name")) else {
        return Ok(Vec::new());
    };
    let inner = inputs.values.trim().trim_start_matches(['[', '\'', '"']).trim_end_matches([']', '\'', '"']);
    let told: Result<Vec<Told>, _> = serde_json::from_str(&format!("[{inner}]"));
    let told = told.map_err(|error| {
        let message = format!("its process groups cannot be read: {error}");
        Mistake::of(node, message, "[{\"pg_name\": \"1\", \"ranks\": [0, 1]}], as PyTorch writes them")
    })?;
    let name = |told: serde_json::Value| told.as_str().map_or_else(|| told.to_string(), String::from);
    Ok(told.into_iter().map(|group| (name(group.pg_name), group.ranks)).collect())
}
