//! Connection matrices of htsim.
use super::host::{SHORTER, too_long};
use super::ledger::Activity;
use super::mpi::Mpi;
use super::recorded::{Mistake, Once, given};
use super::{Actions, Application, Bind, Rank, Setting, first_few};
use crate::problem::Problem;
use crate::units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

mod text;

use text::Kind;
pub(super) use text::{Connection, Matrix, NODES_MAX, Start};

/// Connections as htsim and its Ultra Ethernet version read them from files `.cm`: each sends so many bytes from a node to another, at a
/// time or when a trigger fires; triggers fire when a connection is sent or received. `oneshot` starts all its connections, `barrier` does when it
/// has been fired `count` times, and `multishot` starts one more each time. The nodes are the ranks of the job, as many as `Nodes` says.
///
/// Whoever calls the engine reads the file at `path` and hands it in as `text`; a result keeps it. Source: htsim (Broadcom/csg-htsim,
/// `connection_matrix.cpp`). Differences: a connection is sent when its last flit has left, where htsim waits for its last acknowledgement;
/// those from a node to the same other share a send queue, in the order of their starts, as do messages; `prio`, `msg` and `addon` are read
/// and make no difference; a trigger must be fired at the node whose connections it starts; endless connections (`size 0`) and failures are refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConnectionMatrix {
    /// The file, relative to the scenario's. Give this or `text`.
    #[serde(default)]
    pub path: String,
    /// The matrix itself.
    #[serde(default)]
    pub text: String,
    /// The unit of the starts, in ps. Source: htsim, 1 ps; older files count in microseconds: 1,000,000.
    #[serde(default = "picosecond")]
    #[schemars(range(min = 1))]
    pub unit_ps: u32,
    /// What was read, once it was asked for.
    #[serde(skip)]
    #[schemars(skip)]
    read: Once<Matrix, Mistake>,
}

fn picosecond() -> u32 {
    1
}

/// Starts up to here, in ps, are likely to be of another unit.
const SHORT: f64 = 1_000.0;

impl ConnectionMatrix {
    fn matrix(&self) -> Result<&Arc<Matrix>, Vec<Problem>> {
        let read = || text::read(given(&self.path, &self.text, "no connection matrix is given", MATRIX)?);
        self.read.get(read).map_err(|mistake| vec![mistake.problem(&self.path)])
    }
}

const MATRIX: &str = "path = \"matrix.cm\", a connection matrix of htsim, or the matrix itself as text";

impl Bind for ConnectionMatrix {
    fn ranks(&self) -> Result<Option<u32>, Vec<Problem>> {
        self.matrix().map(|matrix| Some(matrix.nodes))
    }

    fn has_mpi(&self) -> bool {
        false
    }

    fn bind(&self, setting: &Setting) -> Result<Box<dyn Application>, Vec<Problem>> {
        let matrix = self.matrix()?;
        let mut all = bound(matrix, self.unit_ps, setting, &self.path)?;
        let starts = matrix.connections.iter().map(|connection| match connection.start {
            Start::At(at) => at * f64::from(self.unit_ps),
            Start::Trigger(_) => 0.0,
        });
        let last = starts.fold(0.0, f64::max);
        if last > 0.0 && last < SHORT {
            all.notes.push(format!(
                "its last connection starts after {last} ps: older files count in microseconds (unit_ps = 1000000)"
            ));
        }
        Ok(Box::new(all))
    }
}

/// What sends the connections of a matrix from the file at `path`, whose starts are in units of so many ps.
pub(super) fn bound(
    matrix: &Arc<Matrix>,
    unit_ps: u32,
    setting: &Setting,
    path: &str,
) -> Result<Bound, Vec<Problem>> {
    if *setting.mpi != Mpi::default() {
        let message = "connections are sent as they are, not by MPI";
        return Err(vec![Problem::new("mpi", message, "leave it out")]);
    }
    for connection in &matrix.connections {
        if let Some(why) = too_long(connection.bytes, setting.scale) {
            return Err(vec![Mistake::new(connection.line, why, SHORTER).problem(path)]);
        }
    }
    let mut nodes = vec![Ends::default(); matrix.nodes as usize];
    for (at, connection) in (0..).zip(&matrix.connections) {
        nodes[connection.from as usize].sends.push(at);
        nodes[connection.to as usize].receives += 1;
    }
    Ok(Bound { matrix: matrix.clone(), unit_ps, nodes, notes: Vec::new() })
}

/// A bound [`ConnectionMatrix`].
#[derive(Debug)]
pub(super) struct Bound {
    matrix: Arc<Matrix>,
    unit_ps: u32,
    nodes: Vec<Ends>,
    notes: Vec<String>,
}

/// The connections of a node: those that it sends, and how many it receives.
#[derive(Debug, Default, Clone)]
struct Ends {
    sends: Vec<u32>,
    receives: u32,
}

impl Application for Bound {
    fn rank(&self, number: u32) -> Box<dyn Rank> {
        Box::new(Node {
            matrix: self.matrix.clone(),
            unit_ps: self.unit_ps,
            ends: self.nodes[number as usize].clone(),
            sent: 0,
            received: 0,
            fired: HashMap::new(),
            under_way: HashMap::new(),
            started: None,
            end: None,
        })
    }

    fn memory(&self) -> u64 {
        let matrix = &self.matrix;
        (matrix.connections.capacity() * size_of::<Connection>()
            + matrix.triggers.capacity() * size_of::<text::Trigger>()
            + 2 * size_of::<u32>() * matrix.connections.len()) as u64
    }

    fn last_start(&self) -> Time {
        let starts = self.matrix.connections.iter().map(|connection| connection.after(self.unit_ps));
        starts.flatten().max().unwrap_or(Time(0))
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// A rank.
struct Node {
    matrix: Arc<Matrix>,
    unit_ps: u32,
    ends: Ends,
    /// How many of its connections were sent, and received.
    sent: u32,
    received: u32,
    /// How often its triggers have been fired.
    fired: HashMap<u32, u32>,
    /// When the connections that it has begun to send started.
    under_way: HashMap<u32, Time>,
    started: Option<Time>,
    end: Option<Time>,
}

impl Node {
    fn start(&mut self, connection: u32, at: Time, act: &mut Actions) {
        let Connection { to, bytes, .. } = self.matrix.connections[connection as usize];
        self.under_way.insert(connection, at);
        act.send(at, to, bytes, connection);
    }

    fn fire(&mut self, trigger: Option<u32>, act: &mut Actions) {
        let Some(trigger) = trigger else { return };
        let fired = self.fired.entry(trigger).or_default();
        *fired += 1;
        let (fired, matrix) = (*fired, self.matrix.clone());
        let text::Trigger { kind, targets, .. } = &matrix.triggers[trigger as usize];
        let started = match *kind {
            Kind::OneShot => &targets[..],
            Kind::Barrier(count) if fired == count => &targets[..],
            Kind::Barrier(_) => &[],
            Kind::MultiShot => targets.get(fired as usize - 1).map_or(&[][..], std::slice::from_ref),
        };
        for &connection in started {
            self.start(connection, act.now, act);
        }
    }

    /// Time since the start of the job.
    fn passed(&self, now: Time) -> u64 {
        self.started.map_or(0, |started| now.0.saturating_sub(started.0))
    }

    fn end_if_done(&mut self, act: &mut Actions) {
        let is_done = (self.sent as usize, self.received) == (self.ends.sends.len(), self.ends.receives);
        if is_done && self.end.is_none() {
            act.ledger.communicating += self.passed(act.now);
            self.end = Some(act.now);
        }
    }
}

impl Rank for Node {
    fn on_start(&mut self, act: &mut Actions) {
        self.started = Some(act.now);
        let matrix = self.matrix.clone();
        for connection in self.ends.sends.clone() {
            if let Some(after) = matrix.connections[connection as usize].after(self.unit_ps) {
                self.start(connection, act.now.after(after.0), act);
            }
        }
        self.end_if_done(act);
    }

    fn on_injected(&mut self, _to: u32, connection: u32, act: &mut Actions) {
        let since =
            self.under_way.remove(&connection).expect("law broken: a connection was sent that was not begun");
        act.ledger.overlapping(Activity::Isend, Time(act.now.0 - since.0));
        self.sent += 1;
        self.fire(self.matrix.connections[connection as usize].sent, act);
        self.end_if_done(act);
    }

    fn on_delivered(&mut self, _from: u32, connection: u32, act: &mut Actions) {
        self.received += 1;
        self.fire(self.matrix.connections[connection as usize].received, act);
        self.end_if_done(act);
    }

    fn end(&self) -> Option<Time> {
        self.end
    }

    fn uncounted(&self, now: Time) -> i64 {
        if self.end.is_none() { self.passed(now) as i64 } else { 0 }
    }

    fn memory(&self) -> u64 {
        let entries = self.ends.sends.capacity() + 2 * self.fired.capacity() + 4 * self.under_way.capacity();
        (entries * size_of::<u32>()) as u64
    }

    fn waits_for(&self) -> String {
        let waiting = self.ends.sends.iter().filter_map(|&connection| {
            let Connection { start, line, to, .. } = self.matrix.connections[connection as usize];
            let Start::Trigger(trigger) = start else { return None };
            let text::Trigger { id, kind, .. } = &self.matrix.triggers[trigger as usize];
            let fired = self.fired.get(&trigger).copied().unwrap_or(0);
            let is_waiting = match *kind {
                Kind::OneShot => fired == 0,
                Kind::Barrier(count) => fired < count,
                Kind::MultiShot => {
                    let targets = &self.matrix.triggers[trigger as usize].targets;
                    targets
                        .iter()
                        .position(|&target| target == connection)
                        .is_some_and(|at| at >= fired as usize)
                }
            };
            is_waiting.then(|| format!("trigger {id}, to send to node {to} (line {line})"))
        });
        let receives = self.ends.receives - self.received;
        first_few(waiting.chain((receives > 0).then(|| format!("{receives} connections to it"))))
    }
}
