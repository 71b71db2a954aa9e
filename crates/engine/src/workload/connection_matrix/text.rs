//! The text of a connection matrix.
use crate::units::Time;
use crate::workload::recorded::Mistake;
use std::collections::{BTreeMap, HashSet};

/// Most nodes of a file.
pub const NODES_MAX: u32 = 1 << 20;

/// What a file holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Matrix {
    pub nodes: u32,
    pub connections: Vec<Connection>,
    pub triggers: Vec<Trigger>,
}

/// A connection: so many bytes from a node to another.
#[derive(Debug, Clone, PartialEq)]
pub struct Connection {
    pub from: u32,
    pub to: u32,
    pub bytes: u64,
    pub start: Start,
    /// The triggers, by number in the list, that fire when it is sent, and when it is received.
    pub sent: Option<u32>,
    pub received: Option<u32>,
    pub line: usize,
}

impl Connection {
    /// When it starts, from the start of the job, if that is a time, in units of so many ps.
    pub fn after(&self, unit_ps: u32) -> Option<Time> {
        match self.start {
            Start::At(at) => Some(Time((at * f64::from(unit_ps)).round() as u64)),
            Start::Trigger(_) => None,
        }
    }
}

/// When a connection starts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Start {
    /// At a time, in the file's unit.
    At(f64),
    /// When a trigger fires, by its number in the list.
    Trigger(u32),
}

/// A trigger.
#[derive(Debug, Clone, PartialEq)]
pub struct Trigger {
    pub id: u32,
    pub kind: Kind,
    /// What it starts, in the order of the file.
    pub targets: Vec<u32>,
}

/// What a trigger starts when it is fired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// All, once.
    OneShot,
    /// One more each time.
    MultiShot,
    /// All, when it has been fired so many times.
    Barrier(u32),
}

/// Reads a file.
///
/// # Errors
///
/// The first mistake with its line.
pub fn read(text: &str) -> Result<Matrix, Mistake> {
    let mut reader = Reader::default();
    for (line, words) in (1..).zip(text.lines()) {
        let words: Vec<&str> = words.split_whitespace().collect();
        let Some(&first) = words.first().filter(|first| !first.starts_with('#')) else { continue };
        let mut words = Words { words: &words[1..], keys: Vec::new(), line };
        match first {
            "Nodes" | "Connections" | "Triggers" | "Failures" => reader.header(first, &mut words)?,
            "trigger" => reader.trigger(&mut words)?,
            "failure" => {
                return Err(Mistake::new(
                    line,
                    "failures of links and switches are not simulated",
                    "leave it out",
                ));
            }
            ends if ends.contains("->") => reader.connection(ends, &mut words)?,
            other => {
                let help = "Nodes, Connections, Triggers, a connection such as 0->13 start 0 size 2000000, or trigger id 1 oneshot";
                return Err(Mistake::new(
                    line,
                    format!("{other:?} begins no line of a connection matrix"),
                    help,
                ));
            }
        }
    }
    reader.finish()
}

/// The words of a line behind the first.
struct Words<'a> {
    words: &'a [&'a str],
    /// The keys that came already.
    keys: Vec<&'a str>,
    line: usize,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }

    /// The next word as a key, which may come once.
    fn key(&mut self) -> Result<Option<&'a str>, Mistake> {
        let Some(key) = self.next() else { return Ok(None) };
        if self.keys.contains(&key) {
            return Err(self.wrong(format!("{key} is told twice"), "once"));
        }
        self.keys.push(key);
        Ok(Some(key))
    }

    fn wrong(&self, message: impl Into<String>, help: impl Into<String>) -> Mistake {
        Mistake::new(self.line, message, help)
    }

    /// The number behind a word.
    fn number<N: std::str::FromStr>(&mut self, of: &str) -> Result<N, Mistake> {
        let word = self.next().ok_or_else(|| self.wrong(format!("{of} has no number"), format!("{of} 1")))?;
        word.parse()
            .map_err(|_| self.wrong(format!("{of} is {word:?}"), "a whole number that is not too large"))
    }
}

#[derive(Default)]
struct Reader {
    /// The numbers of the header, with their lines.
    counts: BTreeMap<&'static str, (u64, usize)>,
    connections: Vec<Connection>,
    ids: HashSet<u64>,
    /// Triggers by id: what is said of them, and the line in which they are spoken of first.
    triggers: BTreeMap<u32, (Option<Kind>, usize)>,
}

impl Reader {
    fn header(&mut self, key: &str, words: &mut Words) -> Result<(), Mistake> {
        let count = (words.number(key)?, words.line);
        let key = ["Nodes", "Connections", "Triggers", "Failures"].into_iter().find(|&known| known == key);
        if self.counts.insert(key.expect("one of them"), count).is_some() {
            return Err(words.wrong("it is told twice", "once"));
        }
        Ok(())
    }

    /// The id of a trigger that a connection speaks of.
    fn of(&mut self, words: &mut Words, key: &str) -> Result<u32, Mistake> {
        let id = words.number(key)?;
        if id == 0 {
            return Err(words.wrong("no trigger has the id 0", "ids from 1 on"));
        }
        self.triggers.entry(id).or_insert((None, words.line));
        Ok(id)
    }

    fn connection(&mut self, ends: &str, words: &mut Words) -> Result<(), Mistake> {
        let (from, to) = ends.split_once("->").expect("seen");
        let node = |word: &str| {
            word.parse()
                .map_err(|_| words.wrong(format!("{ends} does not lead from a node to a node"), "0->13"))
        };
        let (from, to) = (node(from)?, node(to)?);
        let (mut start, mut bytes, mut sent, mut received) = (None, None, None, None);
        while let Some(word) = words.key()? {
            match word {
                "start" => {
                    let at: f64 = words.number(word)?;
                    if !(at.is_finite() && at >= 0.0) {
                        return Err(words.wrong(format!("start is {at}"), "a time from 0 on"));
                    }
                    refuse_second(words, &start)?;
                    start = Some(Start::At(at));
                }
                "trigger" => {
                    refuse_second(words, &start)?;
                    start = Some(Start::Trigger(self.of(words, word)?));
                }
                "size" => bytes = Some(words.number::<u64>(word)?),
                "send_done_trigger" => sent = Some(self.of(words, word)?),
                "recv_done_trigger" => received = Some(self.of(words, word)?),
                "id" => {
                    let id = words.number(word)?;
                    if id == 0 || !self.ids.insert(id) {
                        return Err(words
                            .wrong(format!("the id {id} is 0, or another's"), "an id from 1 on for each"));
                    }
                }
                "prio" | "msg" => drop(words.number::<u64>(word)?),
                "addon" => {}
                other => {
                    let help =
                        "id, start, trigger, size, send_done_trigger, recv_done_trigger, prio, msg, addon";
                    return Err(words.wrong(format!("{other:?} says nothing of a connection"), help));
                }
            }
        }
        let missing = |what: &str, help: &str| words.wrong(format!("the connection has no {what}"), help);
        let start = start.ok_or_else(|| missing("start", "start 0, or trigger 1"))?;
        let bytes = bytes.ok_or_else(|| missing("size", "size 2000000"))?;
        if bytes == 0 {
            return Err(words.wrong("a connection of the size 0 goes on for ever", "a number of bytes"));
        }
        if from == to {
            return Err(words.wrong(format!("node {from} sends to itself"), "another node"));
        }
        let line = words.line;
        self.connections.push(Connection { from, to, bytes, start, sent, received, line });
        Ok(())
    }

    fn trigger(&mut self, words: &mut Words) -> Result<(), Mistake> {
        let (mut id, mut kind, mut count) = (None, None, None);
        while let Some(word) = words.key()? {
            match word {
                "id" => id = Some(self.of(words, word)?),
                "count" => count = Some(words.number::<u32>(word)?),
                "oneshot" => kind = Some(Kind::OneShot),
                "multishot" => kind = Some(Kind::MultiShot),
                "barrier" => kind = Some(Kind::Barrier(0)),
                other => {
                    let help = "id, oneshot, multishot, barrier, count";
                    return Err(words.wrong(format!("{other:?} says nothing of a trigger"), help));
                }
            }
        }
        let Some((id, kind)) = id.zip(kind) else {
            return Err(words.wrong("the trigger has no id, or no kind", "trigger id 1 oneshot"));
        };
        let kind = match kind {
            Kind::Barrier(_) => match count.filter(|&count| count > 0) {
                Some(count) => Kind::Barrier(count),
                None => return Err(words.wrong("the barrier has no count", "trigger id 1 barrier count 2")),
            },
            other => other,
        };
        let (known, _) = self.triggers.get_mut(&id).expect("noted with its id");
        if known.replace(kind).is_some() {
            return Err(words.wrong(format!("trigger {id} is told twice"), "once"));
        }
        Ok(())
    }

    fn finish(self) -> Result<Matrix, Mistake> {
        let count = |key: &str| self.counts.get(key).copied();
        let (nodes, line) =
            count("Nodes").ok_or_else(|| Mistake::new(1, "there is no line Nodes", "Nodes 16"))?;
        let nodes =
            u32::try_from(nodes).ok().filter(|nodes| (1..=NODES_MAX).contains(nodes)).ok_or_else(|| {
                Mistake::new(line, format!("a matrix of {nodes} nodes"), format!("1 to {NODES_MAX}"))
            })?;
        let told = self.triggers.values().filter(|(kind, _)| kind.is_some()).count();
        for (key, there) in [("Connections", self.connections.len()), ("Triggers", told)] {
            let (told, line) = count(key).unwrap_or((0, 1));
            if told != there as u64 {
                return Err(Mistake::new(
                    line,
                    format!("{key} is {told}, but there are {there}"),
                    there.to_string(),
                ));
            }
        }
        let mut numbers = BTreeMap::new();
        let mut triggers = Vec::new();
        for (&id, &(kind, line)) in &self.triggers {
            let kind = kind.ok_or_else(|| {
                Mistake::new(
                    line,
                    format!("nothing says what trigger {id} is"),
                    format!("trigger id {id} oneshot"),
                )
            })?;
            numbers.insert(id, triggers.len() as u32);
            triggers.push(Trigger { id, kind, targets: Vec::new() });
        }
        let mut connections = self.connections;
        for (at, connection) in (0..).zip(&mut connections) {
            let Connection { from, to, line, .. } = *connection;
            if let Some(node) = [from, to].into_iter().find(|&node| node >= nodes) {
                return Err(Mistake::new(
                    line,
                    format!("there is no node {node}"),
                    format!("0 to {}", nodes - 1),
                ));
            }
            if let Start::Trigger(id) = &mut connection.start {
                *id = numbers[id];
                triggers[*id as usize].targets.push(at);
            }
            for fires in [&mut connection.sent, &mut connection.received] {
                *fires = fires.map(|id| numbers[&id]);
            }
        }
        let matrix = Matrix { nodes, connections, triggers };
        matrix.check()?;
        Ok(matrix)
    }
}

fn refuse_second(words: &Words, start: &Option<Start>) -> Result<(), Mistake> {
    match start {
        Some(_) => Err(words.wrong("the connection is told twice when it starts", "start, or trigger")),
        None => Ok(()),
    }
}

impl Matrix {
    /// Refuses triggers that are fired at another node than that whose connections they start, and those that are fired too often or not
    /// often enough.
    fn check(&self) -> Result<(), Mistake> {
        let mut fired = vec![0_u32; self.triggers.len()];
        for connection in &self.connections {
            for (fires, node) in [(connection.sent, connection.from), (connection.received, connection.to)] {
                let Some(trigger) = fires else { continue };
                fired[trigger as usize] += 1;
                let Trigger { id, targets, .. } = &self.triggers[trigger as usize];
                let mut from = targets.iter().map(|&target| self.connections[target as usize].from);
                if let Some(other) = from.find(|&from| from != node) {
                    let message = format!(
                        "trigger {id} is fired at node {node} and starts a connection of node {other}"
                    );
                    let help = "a trigger that is fired where its connections start: nodes know of others by what they send";
                    return Err(Mistake::new(connection.line, message, help));
                }
            }
        }
        for (trigger, fired) in self.triggers.iter().zip(fired) {
            let Some(&first) = trigger.targets.first() else { continue };
            let (needed, most) = match trigger.kind {
                Kind::OneShot => (1, 1),
                Kind::MultiShot => (trigger.targets.len() as u32, u32::MAX),
                Kind::Barrier(count) => (count, count),
            };
            if fired < needed || fired > most {
                let message = format!("trigger {} is fired by {fired} connections", trigger.id);
                let kind = match trigger.kind {
                    Kind::OneShot => "oneshot",
                    Kind::MultiShot => "multishot",
                    Kind::Barrier(_) => "a barrier",
                };
                let least = if most > needed { "at least " } else { "" };
                let help = format!("{least}{needed}, as it is {kind}");
                return Err(Mistake::new(self.connections[first as usize].line, message, help));
            }
        }
        Ok(())
    }
}
