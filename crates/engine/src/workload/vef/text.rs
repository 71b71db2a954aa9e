//! The text of a VEF trace.
//!
//! ```text
//! VEF tasks messages communicators collectives participations onlySendDeps     counts; the last is TRUE or FALSE
//! C0 0 1 2 …                                                  the tasks of each communicator, from C0 on
//! id src dst bytes dep time idDep                             a message
//! Gid communicator op task sendBytes recvBytes dep time idDep    a collective operation, a line for each task of it
//! ```
//! `dep`: 0, at `time`; 1, `time` ns after message `idDep` was sent by this task; 2, after it was received by this task; 3, after this
//! task has done the collective operation `idDep`, which is written with its G or without. `op`: 0 broadcast, 1 reduce, 2 allreduce,
//! 3 gather, 4 scatter, 5 allgather, 6 barrier, 7 all-to-all.
use crate::units::shorten;
pub use crate::workload::recorded::Mistake;
use std::collections::HashMap;

/// Most tasks of a trace.
const TASKS_MAX: u32 = 1 << 20;
/// What something waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// Nothing.
    Start,
    /// A message (by its place in the trace) was sent.
    Sent(u32),
    /// A message was received.
    Received(u32),
    /// A collective operation (by its place) was done by the task, which has this place among its members.
    Done(u32, u32),
}

/// What something waits for, and how long it waits then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct When {
    /// What for.
    pub after: After,
    /// How long, in ps.
    pub time: u64,
    /// The line that says so.
    pub line: usize,
}

/// A message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// Sending task.
    pub from: u32,
    /// Receiving task.
    pub to: u32,
    /// Its size.
    pub bytes: u64,
    /// When it is sent.
    pub when: When,
}

/// A task's part in a collective operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// The task.
    pub task: u32,
    /// Bytes that it sends.
    pub send: u64,
    /// Bytes that it receives.
    pub receive: u64,
    /// When it comes to the operation.
    pub when: When,
}

/// A collective operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collective {
    /// 0 to 7.
    pub operation: u8,
    /// Its members, in the order of their communicator.
    pub members: Vec<Member>,
    /// The line of the first.
    pub line: usize,
}

/// A trace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    /// Number of tasks.
    pub tasks: u32,
    /// Messages, in their order.
    pub messages: Vec<Message>,
    /// Collective operations, in the order of their first lines.
    pub collectives: Vec<Collective>,
}

impl Trace {
    /// Bytes held.
    pub fn memory(&self) -> u64 {
        let members: usize = self.collectives.iter().map(|collective| collective.members.capacity()).sum();
        let all = self.messages.capacity() * size_of::<Message>()
            + self.collectives.capacity() * size_of::<Collective>()
            + members * size_of::<Member>();
        all as u64
    }
}

/// What the header says.
pub(super) struct Header {
    pub(super) tasks: u32,
    pub(super) messages: u64,
    pub(super) communicators: u64,
    pub(super) collectives: u64,
    pub(super) participations: u64,
    pub(super) only_send: bool,
}

/// A `dep time idDep` as it is written.
#[derive(Clone, Copy)]
pub(super) struct Written {
    pub(super) dep: u8,
    pub(super) time: u64,
    pub(super) id: i64,
    pub(super) line: usize,
}

/// Tasks that do collective operations together.
pub(super) struct Communicator {
    pub(super) tasks: Vec<u32>,
    /// The place of each among them.
    pub(super) places: HashMap<u32, u32>,
}

/// What is read line by line, with identifiers as they are written.
pub(super) struct Reader {
    pub(super) header: Header,
    pub(super) communicators: Vec<Communicator>,
    pub(super) messages: Vec<(Message, Written)>,
    pub(super) message_ids: HashMap<u64, u32>,
    pub(super) collectives: Vec<(Collective, Vec<Written>, usize)>,
    pub(super) collective_ids: HashMap<u64, u32>,
}

/// The fields of a line.
struct Fields<'a> {
    line: usize,
    fields: std::str::SplitAsciiWhitespace<'a>,
}

impl<'a> Fields<'a> {
    fn word(&mut self, what: &str) -> Result<&'a str, Mistake> {
        self.fields.next().ok_or_else(|| Mistake::new(self.line, "the line is cut off", what))
    }

    fn number<T: std::str::FromStr>(&mut self, what: &str) -> Result<T, Mistake> {
        let word = self.word(what)?;
        word.parse().map_err(|_| no_number(self.line, word, what))
    }

    fn below(&mut self, limit: u32, what: &str) -> Result<u32, Mistake> {
        let number = self.number(what)?;
        if number < limit {
            return Ok(number);
        }
        let most = i64::from(limit) - 1;
        Err(Mistake::new(self.line, format!("there is no {what} {number}"), format!("0 to {most}")))
    }

    fn end(mut self) -> Result<(), Mistake> {
        match self.fields.next() {
            None => Ok(()),
            Some(word) => {
                let message = format!("\"{}\" stands behind the end of the line", shorten(word));
                Err(Mistake::new(self.line, message, "nothing more in this line"))
            }
        }
    }

    fn written(&mut self) -> Result<Written, Mistake> {
        let dep: u8 = self.number("dep, 0 to 3")?;
        if dep > 3 {
            return Err(Mistake::new(self.line, format!("a dependency of the kind {dep}"), "0 to 3"));
        }
        let time: u64 = self.number("a time in ns")?;
        let word = self.word("idDep, or -1")?;
        // Operations are named with their letter; some leave it out.
        let number = if dep == 3 { word.strip_prefix('G').unwrap_or(word) } else { word };
        let id = number.parse().map_err(|_| no_number(self.line, word, "idDep, or -1"))?;
        if dep == 0 && id != -1 {
            let message = format!("{id} is named, but nothing is waited for (dep is 0)");
            return Err(Mistake::new(self.line, message, "idDep -1, or dep 1 to 3"));
        }
        Ok(Written { dep, time: time.saturating_mul(1_000), id, line: self.line })
    }
}

/// Reads a trace.
///
/// # Errors
///
/// The first mistake with its line.
pub fn read(text: &str) -> Result<Trace, Mistake> {
    let lines = text.lines().enumerate().map(|(at, text)| (at + 1, text));
    let mut lines = lines.filter(|(_, text)| !text.trim().is_empty());
    let Some((line, first)) = lines.next() else {
        return Err(Mistake::new(1, "the trace is empty, or was not read", "a file with a VEF trace"));
    };
    let mut reader = Reader {
        header: header(Fields { line, fields: first.split_ascii_whitespace() })?,
        communicators: Vec::new(),
        messages: Vec::new(),
        message_ids: HashMap::new(),
        collectives: Vec::new(),
        collective_ids: HashMap::new(),
    };
    let mut last = line;
    for (line, text) in lines {
        reader.line(Fields { line, fields: text.split_ascii_whitespace() }, text)?;
        last = line;
    }
    reader.finish(last)
}

fn header(mut fields: Fields) -> Result<Header, Mistake> {
    let help = "VEF tasks messages communicators collectives participations TRUE|FALSE";
    if !fields.word(help)?.starts_with("VEF") {
        return Err(Mistake::new(fields.line, "this is no VEF trace", help));
    }
    let tasks = fields.number("the number of tasks")?;
    if tasks == 0 || tasks > TASKS_MAX {
        return Err(Mistake::new(
            fields.line,
            format!("a trace of {tasks} tasks"),
            format!("1 to {TASKS_MAX}"),
        ));
    }
    let header = Header {
        tasks,
        messages: fields.number("the number of messages")?,
        communicators: fields.number("the number of communicators")?,
        collectives: fields.number("the number of collective operations")?,
        participations: fields.number("the number of lines of collective operations")?,
        only_send: match fields.word("TRUE or FALSE")?.to_ascii_uppercase().as_str() {
            "TRUE" => true,
            "FALSE" => false,
            other => {
                let message = format!("\"{}\" is neither TRUE nor FALSE", shorten(other));
                return Err(Mistake::new(fields.line, message, "whether messages only wait for others sent"));
            }
        },
    };
    fields.end()?;
    Ok(header)
}

impl Reader {
    fn line(&mut self, fields: Fields, text: &str) -> Result<(), Mistake> {
        match text.trim_start().as_bytes()[0] {
            b'C' => self.communicator(fields),
            b'G' => self.collective(fields),
            _ => self.message(fields),
        }
    }

    fn communicator(&mut self, mut fields: Fields) -> Result<(), Mistake> {
        let expected = format!("C{}", self.communicators.len());
        let word = fields.word(&expected)?;
        if word != expected || self.communicators.len() as u64 >= self.header.communicators {
            let message = format!("unexpected communicator {}", shorten(word));
            let help = format!("{} of them, in order from C0 on", self.header.communicators);
            return Err(Mistake::new(fields.line, message, help));
        }
        let (line, mut tasks, mut places) = (fields.line, Vec::new(), HashMap::new());
        while let Some(word) = fields.fields.clone().next() {
            let task = fields.below(self.header.tasks, "task")?;
            if places.insert(task, tasks.len() as u32).is_some() {
                return Err(Mistake::new(
                    line,
                    format!("task {} stands twice", shorten(word)),
                    "each task once",
                ));
            }
            tasks.push(task);
        }
        self.communicators.push(Communicator { tasks, places });
        Ok(())
    }

    fn message(&mut self, mut fields: Fields) -> Result<(), Mistake> {
        let line = fields.line;
        let id: u64 = fields.number("the number of a message, C… or G…")?;
        let from = fields.below(self.header.tasks, "task")?;
        let to = fields.below(self.header.tasks, "task")?;
        let bytes = fields.number("a size in bytes")?;
        let written = fields.written()?;
        fields.end()?;
        if self.header.only_send && written.dep > 1 {
            let message =
                format!("a dependency of the kind {}, but the header says that there are none", written.dep);
            return Err(Mistake::new(line, message, "0 or 1, or FALSE in the header"));
        }
        if self.message_ids.insert(id, self.messages.len() as u32).is_some() {
            return Err(Mistake::new(
                line,
                format!("there are two messages {id}"),
                "a number of its own for each",
            ));
        }
        let when = When { after: After::Start, time: written.time, line };
        self.messages.push((Message { from, to, bytes, when }, written));
        Ok(())
    }

    fn collective(&mut self, mut fields: Fields) -> Result<(), Mistake> {
        let line = fields.line;
        let word = fields.word("G and a number")?;
        let id: u64 = word.strip_prefix('G').and_then(|id| id.parse().ok()).ok_or_else(|| {
            Mistake::new(line, format!("\"{}\" is no collective operation", shorten(word)), "G and a number")
        })?;
        let communicator = fields.below(self.communicators.len() as u32, "communicator")? as usize;
        let operation = fields.below(8, "operation")? as u8;
        let task = fields.below(self.header.tasks, "task")?;
        if !self.communicators[communicator].places.contains_key(&task) {
            let message = format!("task {task} is not of communicator {communicator}");
            return Err(Mistake::new(line, message, format!("a task of C{communicator}")));
        }
        let (send, receive) = (fields.number("bytes sent")?, fields.number("bytes received")?);
        let written = fields.written()?;
        fields.end()?;
        let next = self.collectives.len() as u32;
        let at = *self.collective_ids.entry(id).or_insert(next) as usize;
        if at == next as usize {
            let collective = Collective { operation, members: Vec::new(), line };
            self.collectives.push((collective, Vec::new(), communicator));
        }
        let (collective, all, own) = &mut self.collectives[at];
        if collective.operation != operation || *own != communicator {
            let message = format!("the lines of G{id} do not name the same operation and communicator");
            return Err(Mistake::new(line, message, "the same as in its first line"));
        }
        let when = When { after: After::Start, time: written.time, line };
        collective.members.push(Member { task, send, receive, when });
        all.push(written);
        Ok(())
    }
}

fn no_number(line: usize, word: &str, what: &str) -> Mistake {
    Mistake::new(line, format!("\"{}\" is no such number", shorten(word)), what)
}
