//! Training of a large language model, in three dimensions.
use super::mpi::collective::Operation;
use super::mpi::{self, Call, Group, Op, Script, expansion::share};
use super::{Application, Bind, Setting};
use crate::problem::Problem;
use crate::units::{Duration, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// Training of a transformer whose layers are divided among `tensor` ranks, whose stages stand behind each other in a pipeline, and of
/// which the rest of the ranks are replicas (Megatron-LM: Shoeybi and others 2019; Narayanan and others, SC 2021).
/// Rank = t + tensor·(d + replicas·p), of place t in its layer, replica d and stage p.
///
/// In an iteration every replica takes `micro_batches` through the pipeline, forward and backward, in the order of one forward, one
/// backward (PipeDream-Flush; as much forward before as there are stages behind). A layer computes twice for half of its time;
/// after each half its ranks add up `activation` (allreduce), and before and after the second half ranks with `experts` exchange
/// what is `routed` (all-to-all; GShard: Lepikhin and others 2020). Backward is the same in twice the time. Every rank sends its part of
/// `activation` to the next stage, and of its gradient to the one before. At the end the replicas add up `gradients`.
///
/// Nothing is sent while a rank computes: what real libraries hide behind computing shows. How collective
/// operations are cut into messages is said in `mpi`. Source of the defaults: ours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Training {
    /// Ranks that divide a layer.
    pub tensor: NonZeroU32,
    /// Stages of the pipeline.
    pub pipeline: NonZeroU32,
    /// Replicas, one beside the other, that divide the experts of a layer (mixture of experts); 1: there are none.
    pub experts: NonZeroU32,
    /// Micro-batches of a replica in an iteration; without it, as many as stages.
    pub micro_batches: Option<NonZeroU32>,
    /// Layers of a stage.
    pub layers: NonZeroU32,
    /// Output of a layer for a micro-batch: its tokens × the hidden size × bytes of a value. Needed with several ranks a layer or stages.
    pub activation: Option<Size>,
    /// What a rank has for the experts of a layer, its own included, for a micro-batch. Needed with `experts`.
    pub routed: Option<Size>,
    /// Gradients of a rank. Needed with several replicas.
    pub gradients: Option<Size>,
    /// How they are added up.
    pub gradient_sum: GradientSum,
    /// Computing of a layer for a micro-batch, forward; backward takes twice as long.
    pub compute: Duration,
    /// Number of iterations.
    pub iterations: u32,
}

impl Default for Training {
    fn default() -> Self {
        let one = NonZeroU32::MIN;
        Self {
            tensor: one,
            pipeline: one,
            experts: one,
            micro_batches: None,
            layers: one,
            activation: None,
            routed: None,
            gradients: None,
            gradient_sum: GradientSum::Allreduce,
            compute: Duration::Ps(0),
            iterations: 1,
        }
    }
}

/// How replicas add up their gradients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GradientSum {
    /// All of the sum to all.
    Allreduce,
    /// A part of the sum to each, and then its part of the weights to all (ZeRO: Rajbhandari and others 2020).
    Sharded,
}

/// The groups of a rank, by number: those that divide its layer, its replicas, and those of them that share experts.
const TENSOR: u8 = 1;
const REPLICAS: u8 = 2;
const EXPERTS: u8 = 3;

impl Bind for Training {
    fn bind(&self, setting: &Setting) -> Result<Box<dyn Application>, Vec<Problem>> {
        let (tensor, stages) = (self.tensor.get(), self.pipeline.get());
        let one = u64::from(tensor) * u64::from(stages);
        if !u64::from(setting.ranks).is_multiple_of(one) {
            let message = format!(
                "{} ranks are no whole number of replicas, each of {stages} stages of {tensor} ranks",
                setting.ranks
            );
            let key = if tensor > 1 { "tensor" } else { "pipeline" };
            return Err(vec![Problem::new(key, message, format!("ranks = a multiple of {one}"))]);
        }
        let replicas = (u64::from(setting.ranks) / one) as u32;
        let mut problems = Vec::new();
        if !replicas.is_multiple_of(self.experts.get()) {
            let message = format!("{replicas} replicas cannot be put into groups of {}", self.experts);
            problems.push(Problem::new("experts", message, format!("a divisor of {replicas}")));
        }
        let mut bytes = |key: &str, size: Option<Size>, why: Option<&str>| {
            if let (None, Some(why)) = (size, why) {
                problems.push(Problem::new(key, format!("missing: {why}"), "a size"));
            }
            setting.scale.bytes(size.unwrap_or(Size::Bits(0)))
        };
        let passes = if tensor > 1 { "the ranks of a layer add it up" } else { "a stage passes it on" };
        let plan = Plan {
            tensor,
            stages,
            replicas,
            experts: self.experts.get(),
            micro_batches: self.micro_batches.unwrap_or(self.pipeline).get(),
            layers: self.layers.get(),
            activation: bytes("activation", self.activation, (one > 1).then_some(passes)),
            routed: bytes("routed", self.routed, (self.experts.get() > 1).then_some("the experts get it")),
            gradients: bytes("gradients", self.gradients, (replicas > 1).then_some("replicas add them up")),
            gradient_sum: self.gradient_sum,
            half: self.compute.time(setting.scale).0 / 2,
            iterations: self.iterations,
        };
        if problems.is_empty() {
            plan.sendable(setting)?;
            return Ok(mpi::program(plan, setting));
        }
        Err(problems)
    }
}

/// A bound [`Training`].
#[derive(Debug)]
struct Plan {
    tensor: u32,
    stages: u32,
    replicas: u32,
    experts: u32,
    micro_batches: u32,
    layers: u32,
    activation: u64,
    routed: u64,
    gradients: u64,
    gradient_sum: GradientSum,
    /// Computing of half a layer, forward.
    half: u64,
    iterations: u32,
}

/// What a stage does in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// Takes a micro-batch forward, which it receives first; then passes it on, or (`swaps`) does so while it receives a gradient.
    Forward { receives: bool, swaps: bool },
    /// Takes one backward, whose gradient it receives first; then passes that back, or does so while it receives the next micro-batch.
    Backward { receives: bool, swaps: bool },
}

impl Plan {
    /// The turn of a stage in an iteration, of two for each micro-batch.
    fn turn(&self, stage: u32, number: u64) -> Turn {
        let batches = u64::from(self.micro_batches);
        let ahead = u64::from(self.stages - stage - 1).min(batches);
        let steady = 2 * (batches - ahead);
        let Some(place) = number.checked_sub(ahead) else {
            return Turn::Forward { receives: true, swaps: false };
        };
        if place >= steady {
            return Turn::Backward { receives: true, swaps: false };
        }
        if place.is_multiple_of(2) {
            return Turn::Forward { receives: place == 0, swaps: true };
        }
        Turn::Backward { receives: false, swaps: place + 1 < steady }
    }

    /// Refuses messages that are too long.
    fn sendable(&self, setting: &Setting) -> Result<(), Vec<Problem>> {
        let groups = self.groups(0);
        let mut calls: Vec<_> = self.sums().into_iter().map(|call| ("gradients", call)).collect();
        calls.extend((self.tensor > 1).then(|| ("activation", self.tensor_sum())));
        calls.extend((self.experts > 1).then(|| ("routed", self.exchange())));
        for (key, call) in calls {
            setting.collective(key, call, groups[usize::from(call.group) - 1])?;
        }
        let passed = if self.stages > 1 { share(self.activation, 0, self.tensor) } else { 0 };
        setting.sendable("activation", passed)
    }

    /// What the ranks of a layer add up.
    fn tensor_sum(&self) -> Call {
        Call::allreduce(self.activation).among(TENSOR)
    }

    /// What those that share its experts exchange.
    fn exchange(&self) -> Call {
        Call::new(Operation::Alltoall, self.routed.div_ceil(u64::from(self.experts))).among(EXPERTS)
    }

    /// A layer: two halves of computing, with what its ranks and those that share its experts exchange.
    fn layer(&self, half: u64, ops: &mut Vec<Op>) {
        let compute = (half > 0).then_some(Op::Compute(half));
        let sum = (self.tensor > 1).then(|| Op::Collective(self.tensor_sum()));
        let exchange = (self.experts > 1).then(|| Op::Collective(self.exchange()));
        ops.extend([compute, sum, exchange, compute, exchange, sum].into_iter().flatten());
    }

    /// The sum of the gradients at the end of an iteration.
    fn sums(&self) -> Vec<Call> {
        let whole = self.gradients;
        let calls = match self.gradient_sum {
            _ if self.replicas == 1 => vec![],
            GradientSum::Allreduce => vec![Call::allreduce(whole)],
            GradientSum::Sharded => vec![
                Call::new(Operation::ReduceScatter, whole),
                Call::new(Operation::Allgather, whole.div_ceil(self.replicas.into())),
            ],
        };
        calls.into_iter().map(|call| call.among(REPLICAS)).collect()
    }
}

impl Script for Plan {
    /// A section is a layer in a turn, or the sum at the end of an iteration.
    fn section(&self, rank: u32, number: u64, ops: &mut Vec<Op>) -> bool {
        let (iteration, place) = (number / self.iteration(), number % self.iteration());
        if iteration >= u64::from(self.iterations) {
            return false;
        }
        if place + 1 == self.iteration() {
            ops.extend(self.sums().into_iter().map(Op::Collective));
            return true;
        }
        let width = self.tensor * self.replicas;
        let stage = rank / width;
        let ahead = (stage + 1 < self.stages).then_some(rank + width);
        let behind = rank.checked_sub(width);
        let bytes = share(self.activation, rank % self.tensor, self.tensor);
        let layers = u64::from(self.layers);
        let (turn, layer) = (place / layers, place % layers);
        let (from, to, half, receives, swaps) = match self.turn(stage, turn) {
            Turn::Forward { receives, swaps } => (behind, ahead, self.half, receives, swaps),
            Turn::Backward { receives, swaps } => (ahead, behind, 2 * self.half, receives, swaps),
        };
        if let Some(from) = from.filter(|_| receives && layer == 0) {
            ops.push(Op::Receive { from, tag: 0 });
        }
        self.layer(half, ops);
        if let Some(to) = to.filter(|_| layer + 1 == layers) {
            ops.push(match swaps {
                true => Op::Exchange { to, bytes, from: to, tag: 0 },
                false => Op::Send { to, bytes, tag: 0 },
            });
        }
        true
    }

    fn iteration(&self) -> u64 {
        (2 * u64::from(self.micro_batches)).saturating_mul(self.layers.into()).saturating_add(1)
    }

    fn groups(&self, rank: u32) -> Vec<Group> {
        let around = |size, stride| Group::around(rank, size, stride);
        vec![around(self.tensor, 1), around(self.replicas, self.tensor), around(self.experts, self.tensor)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pipeline of ranks that share no layer.
    fn pipeline(stages: u32, micro_batches: u32) -> Plan {
        Plan {
            tensor: 1,
            stages,
            replicas: 1,
            experts: 1,
            micro_batches,
            layers: 1,
            activation: 100,
            routed: 0,
            gradients: 0,
            gradient_sum: GradientSum::Allreduce,
            half: 1,
            iterations: 1,
        }
    }

    /// Narayanan and others 2021, figure 4 (top): four devices, eight micro-batches.
    #[test]
    fn the_order_of_turns_is_the_published_one() {
        let order = |stage: u32| -> String {
            let turns = (0..16).map(|number| pipeline(4, 8).turn(stage, number));
            turns.map(|turn| if matches!(turn, Turn::Forward { .. }) { 'F' } else { 'B' }).collect()
        };
        assert_eq!(order(0), "FFFFBFBFBFBFBBBB");
        assert_eq!(order(1), "FFFBFBFBFBFBFBBB");
        assert_eq!(order(2), "FFBFBFBFBFBFBFBB");
        assert_eq!(order(3), "FBFBFBFBFBFBFBFB");
    }

    #[test]
    fn what_stages_pass_on_is_received_by_the_next_in_any_pipeline() {
        for (stages, batches) in [(1, 3), (2, 1), (2, 2), (5, 2), (3, 7), (6, 6)] {
            let plan = Plan { layers: 3, ..pipeline(stages, batches) };
            // What is sent and received from one stage to another.
            let mut passed = vec![(0, 0); (stages * stages) as usize];
            let way = |from: u32, to: u32| (from * stages + to) as usize;
            for rank in 0..stages {
                let mut ops = Vec::new();
                (0..).take_while(|&number| plan.section(rank, number, &mut ops)).for_each(drop);
                for op in ops {
                    if let Op::Send { to, .. } | Op::Exchange { to, .. } = op {
                        passed[way(rank, to)].0 += 1;
                    }
                    if let Op::Receive { from, .. } | Op::Exchange { from, .. } = op {
                        passed[way(from, rank)].1 += 1;
                    }
                }
            }
            for from in 0..stages {
                for to in 0..stages {
                    let count = if from.abs_diff(to) == 1 { batches } else { 0 };
                    assert_eq!(passed[way(from, to)], (count, count), "{from} to {to}");
                }
            }
        }
    }

    #[test]
    fn the_groups_of_a_rank_are_those_of_its_place() {
        let plan = Plan { tensor: 2, stages: 2, replicas: 6, experts: 3, ..pipeline(2, 1) };
        let members = |rank: u32| {
            let of = |group: &Group| (0..24).filter(|&other| group.contains(other)).collect::<Vec<u32>>();
            plan.groups(rank).iter().map(of).collect::<Vec<_>>()
        };
        let told = vec![vec![18, 19], vec![13, 15, 17, 19, 21, 23], vec![19, 21, 23]];
        assert_eq!(members(19), told);
    }
}
