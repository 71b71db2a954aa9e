//! What MPI says that collective operations deliver, checked by moving real values along the steps of every algorithm.
use super::*;
use crate::units::{Rate, Scale};
use crate::workload::mpi::{AllgatherChoice, AllreduceChoice, Mpi, ReduceScatterChoice};
use std::collections::{HashMap, VecDeque};

/// A rank's vector, unit by unit; none where there is nothing yet.
type Vector = Vec<Option<u64>>;

/// The value that a rank begins with in a unit: no two sums of different sets of them are likely to be equal.
fn value(rank: u32, unit: u32) -> u64 {
    crate::rng::mix(u64::from(rank), u64::from(unit)) >> 20
}

/// A rank with its steps under way: it waits, if it must, for the messages of the steps so far.
struct Walker {
    plan: Plan,
    step: u32,
    input: Vector,
    vector: Vector,
    /// Receives that are not served: from, round, part, adds.
    wanted: Vec<(u32, u16, Part, bool)>,
    waits: bool,
}

/// Messages under way, by sender, receiver and round.
type Post = HashMap<(u32, u32, u16), VecDeque<Vector>>;

fn units(first: u32, count: u32, of: u32) -> impl Iterator<Item = usize> {
    (first..first + count).map(move |unit| (unit % of) as usize)
}

impl Walker {
    /// Takes what has come, then the next step if it may; whether anything happened.
    fn go(&mut self, post: &mut Post) -> bool {
        let rank = self.plan.me.rank;
        let before = self.wanted.len();
        let mut wanted = std::mem::take(&mut self.wanted);
        wanted.retain(|&(from, round, part, adds)| {
            let Some(data) = post.get_mut(&(from, rank, round)).and_then(VecDeque::pop_front) else {
                return true;
            };
            assert_eq!(data.len(), part.count as usize, "both ends agree on the size");
            let at = units(part.first, part.count, self.plan.units);
            for (unit, new) in at.zip(data) {
                let old = &mut self.vector[unit];
                *old = if adds { Some(old.unwrap() + new.unwrap()) } else { new };
            }
            false
        });
        self.wanted = wanted;
        let mut moved = self.wanted.len() < before;
        if (!self.waits || self.wanted.is_empty())
            && let Some(step) = self.plan.step(self.step)
        {
            self.step += 1;
            self.waits = step.waits;
            if let Some(part) = step.send {
                let from = if matches!(self.plan.algorithm, Algorithm::Exchange(_)) {
                    &self.input
                } else {
                    &self.vector
                };
                let data = units(part.first, part.count, self.plan.units).map(|unit| from[unit]).collect();
                post.entry((rank, part.peer, step.round)).or_default().push_back(data);
            }
            if let Some(part) = step.receive {
                self.wanted.push((part.peer, step.round, part, step.adds));
            }
            moved = true;
        }
        moved
    }
}

/// Does an operation with `ranks` ranks, which begin with `begin`; gives their vectors at the end.
fn walk(call: Call, ranks: u32, costs: &Costs, begin: impl Fn(u32, u32) -> Option<u64>) -> Vec<Vector> {
    let mut walkers: Vec<Walker> = (0..ranks)
        .map(|rank| {
            let plan = Plan::new(call, rank, Group::whole(ranks), costs);
            let input: Vector = (0..plan.units).map(|unit| begin(rank, unit)).collect();
            Walker { plan, step: 0, vector: input.clone(), input, wanted: Vec::new(), waits: false }
        })
        .collect();
    let mut post = Post::new();
    // Ranks go in changing orders, so that nothing depends on one.
    let mut turn = 0;
    loop {
        turn += 1;
        let mut moved = false;
        for at in 0..ranks {
            let at = if turn % 2 == 0 { at } else { ranks - 1 - at };
            moved |= walkers[at as usize].go(&mut post);
        }
        if !moved {
            break;
        }
    }
    assert!(post.values().all(VecDeque::is_empty), "{call:?} of {ranks}: a message was not received");
    for walker in &walkers {
        assert!(walker.wanted.is_empty(), "{call:?} of {ranks}: a receive was not served");
        assert!(walker.plan.step(walker.step).is_none(), "{call:?} of {ranks}: a rank stopped half-way");
    }
    walkers.into_iter().map(|walker| walker.vector).collect()
}

fn costs(change: impl Fn(&mut Mpi)) -> Costs {
    let mut mpi = Mpi::default().or_codes();
    change(&mut mpi);
    Costs::new(&mpi, &Scale { flit_bits: 100, packet_flits: 24, host: Rate(100_000_000_000) })
}

/// Powers of two and others, from 1 to 70.
fn all_ranks() -> impl Iterator<Item = u32> {
    1..=70
}

#[test]
fn an_allreduce_gives_every_rank_the_sum_of_all() {
    let of_node = |node: u32| (AllreduceChoice::Nodes, node);
    for (choice, node) in [
        (AllreduceChoice::RecursiveDoubling, 1),
        (AllreduceChoice::Ring, 1),
        (AllreduceChoice::ReduceScatterAllgather, 1),
        of_node(1),
        of_node(2),
        of_node(3),
        of_node(8),
    ] {
        let costs = costs(|mpi| (mpi.allreduce, mpi.node) = (choice, node.try_into().unwrap()));
        for ranks in all_ranks() {
            let ends = walk(Call::allreduce(4096), ranks, &costs, |rank, unit| Some(value(rank, unit)));
            let sum = |unit: u32| Some((0..ranks).map(|rank| value(rank, unit)).sum::<u64>());
            for end in ends {
                let expected: Vector = (0..end.len() as u32).map(sum).collect();
                assert_eq!(end, expected, "{choice:?} of {ranks}");
            }
        }
    }
}

#[test]
fn the_number_of_messages_is_that_of_all_steps() {
    for (broadcast, reduce) in
        [(Broadcast::Binomial, Reduce::Binomial), (Broadcast::ScatterAllgather, Reduce::ReduceScatterGather)]
    {
        let costs = costs(|mpi| (mpi.broadcast, mpi.reduce) = (broadcast, reduce));
        messages_are_those_of_all_steps(&[Operation::Broadcast, Operation::Reduce], &costs);
    }
    for choices in [
        (AllreduceChoice::RecursiveDoubling, ReduceScatterChoice::Halving, AllgatherChoice::Ring),
        (AllreduceChoice::Ring, ReduceScatterChoice::Ring, AllgatherChoice::Bruck),
        (AllreduceChoice::ReduceScatterAllgather, ReduceScatterChoice::Pairwise, AllgatherChoice::Bruck),
        (AllreduceChoice::Nodes, ReduceScatterChoice::Pairwise, AllgatherChoice::Bruck),
    ] {
        let costs = costs(|mpi| (mpi.allreduce, mpi.reduce_scatter, mpi.allgather) = choices);
        let others = [
            Operation::Barrier,
            Operation::Allreduce,
            Operation::ReduceScatter,
            Operation::Allgather,
            Operation::Alltoall,
        ];
        messages_are_those_of_all_steps(&others, &costs);
    }
}

fn messages_are_those_of_all_steps(operations: &[Operation], costs: &Costs) {
    for &operation in operations {
        for ranks in all_ranks() {
            let call = Call { root: ranks / 2, ..Call::new(operation, 100) };
            let sends = |rank: u32| {
                let plan = Plan::new(call, rank, Group::whole(ranks), costs);
                (0..).map_while(|number| plan.step(number)).filter(|step| step.send.is_some()).count()
            };
            let sum: usize = (0..ranks).map(sends).sum();
            let told = Plan::new(call, 0, Group::whole(ranks), costs).messages();
            assert_eq!(told, sum as u64, "{operation:?} of {ranks}, {costs:?}");
        }
    }
}

#[test]
fn a_broadcast_gives_every_rank_the_data_of_the_root() {
    for choice in [Broadcast::Binomial, Broadcast::ScatterAllgather] {
        let costs = costs(|mpi| mpi.broadcast = choice);
        for (ranks, root) in all_ranks().flat_map(|ranks| [0, ranks / 3, ranks - 1].map(|root| (ranks, root)))
        {
            let call = Call { root, ..Call::new(Operation::Broadcast, 100) };
            let ends = walk(call, ranks, &costs, |rank, unit| (rank == root).then(|| value(rank, unit)));
            let expected: Vector = (0..).map(|unit| Some(value(root, unit))).take(ends[0].len()).collect();
            assert!(ends.iter().all(|end| *end == expected), "{choice:?} of {ranks}, root {root}");
        }
    }
}

#[test]
fn a_reduction_gives_the_root_the_sum_of_all() {
    for choice in [Reduce::Binomial, Reduce::ReduceScatterGather] {
        let costs = costs(|mpi| mpi.reduce = choice);
        for (ranks, root) in all_ranks().flat_map(|ranks| [0, ranks / 2, ranks - 1].map(|root| (ranks, root)))
        {
            let call = Call { root, ..Call::new(Operation::Reduce, 100) };
            let ends = walk(call, ranks, &costs, |rank, unit| Some(value(rank, unit)));
            let sum = |unit: u32| Some((0..ranks).map(|rank| value(rank, unit)).sum::<u64>());
            let expected: Vector = (0..).map(sum).take(ends[0].len()).collect();
            assert_eq!(ends[root as usize], expected, "{choice:?} of {ranks}, root {root}");
        }
    }
}

#[test]
fn a_reduce_scatter_gives_every_rank_its_part_of_the_sum() {
    for choice in [ReduceScatterChoice::Halving, ReduceScatterChoice::Ring, ReduceScatterChoice::Pairwise] {
        let costs = costs(|mpi| mpi.reduce_scatter = choice);
        for ranks in all_ranks() {
            let call = Call::new(Operation::ReduceScatter, 4096);
            let ends = walk(call, ranks, &costs, |rank, unit| Some(value(rank, unit)));
            for (part, end) in (0..).zip(ends) {
                let sum = (0..ranks).map(|rank| value(rank, part)).sum();
                assert_eq!(end[part as usize], Some(sum), "{choice:?} of {ranks}, rank {part}");
            }
        }
    }
}

#[test]
fn an_allgather_gives_every_rank_the_data_of_all() {
    for choice in [AllgatherChoice::Ring, AllgatherChoice::Bruck] {
        let costs = costs(|mpi| mpi.allgather = choice);
        for ranks in all_ranks() {
            let call = Call::new(Operation::Allgather, 100);
            let ends = walk(call, ranks, &costs, |rank, unit| (rank == unit).then(|| value(rank, 0)));
            let expected: Vector = (0..ranks).map(|rank| Some(value(rank, 0))).collect();
            assert!(ends.iter().all(|end| *end == expected), "{choice:?} of {ranks}");
        }
    }
}

#[test]
fn an_all_to_all_gives_every_rank_what_all_have_for_it() {
    for how in [Alltoall::Pairwise, Alltoall::AtOnce] {
        let costs = costs(|mpi| mpi.alltoall = how);
        for ranks in all_ranks() {
            let call = Call::new(Operation::Alltoall, 100);
            let ends = walk(call, ranks, &costs, |rank, unit| Some(value(rank, unit)));
            for (rank, end) in ends.iter().enumerate() {
                let expected: Vector = (0..ranks).map(|from| Some(value(from, rank as u32))).collect();
                assert_eq!(*end, expected, "{how:?} of {ranks}");
            }
        }
    }
}

/// Whoever has come to the end of a barrier knows, through whatever chain of messages, that all have come to its beginning.
#[test]
fn nobody_leaves_a_barrier_before_all_have_come() {
    for ranks in all_ranks() {
        let plans: Vec<Plan> = (0..ranks)
            .map(|rank| Plan::new(Call::barrier(), rank, Group::whole(ranks), &costs(|_| ())))
            .collect();
        let mut known: Vec<u128> = (0..ranks).map(|rank| 1 << rank).collect();
        for step in 0.. {
            let steps: Vec<_> = plans.iter().filter_map(|plan| plan.step(step)).collect();
            if steps.is_empty() {
                break;
            }
            let before = known.clone();
            for (rank, step) in steps.iter().enumerate() {
                let from = step.receive.unwrap().peer as usize;
                assert_eq!(steps[from].send.unwrap().peer as usize, rank);
                known[rank] |= before[from];
            }
        }
        assert!(known.iter().all(|all| all.count_ones() == ranks), "{ranks}");
    }
}

/// What every rank of a group sends and receives, under these costs.
fn steps_of(group: Group, costs: &Costs) -> Vec<Vec<Step>> {
    let steps = |place: u32| {
        let plan = Plan::new(Call::allreduce(4096), group.rank(place), group, costs);
        (0..).map_while(|number| plan.step(number)).collect()
    };
    (0..group.size).map(steps).collect()
}

/// Ranks 0 to 7 of the job are a node, 8 to 15 the next, and so on, whatever the places of those that do an allreduce.
#[test]
fn nodes_are_those_of_the_job_not_of_the_group() {
    let nodes = |node: u32| {
        costs(|mpi| (mpi.allreduce, mpi.node) = (AllreduceChoice::Nodes, node.try_into().unwrap()))
    };
    let rings = costs(|mpi| mpi.allreduce = AllreduceChoice::Ring);
    let around = |size: u32, stride: u32| Group::around(3 * stride, size, stride);
    // No two of a group share a node, or all do, or one node has more of them than another.
    for (size, stride) in [(16, 8), (16, 16), (8, 1), (5, 3), (12, 1)] {
        let group = around(size, stride);
        assert_eq!(steps_of(group, &nodes(8)), steps_of(group, &rings), "{size} with a stride of {stride}");
    }
    // Two or four share one.
    for (size, stride, each) in [(16, 4, 2), (16, 2, 4), (8, 2, 4)] {
        let shared = around(size, stride);
        let messages = Plan::new(Call::allreduce(4096), shared.first, shared, &nodes(8)).messages();
        assert_eq!(messages, u64::from(2 * size * (each - 1 + size / each - 1)));
        assert_ne!(steps_of(shared, &nodes(8)), steps_of(shared, &rings));
    }
}

#[test]
fn ranks_in_any_order_share_the_nodes_of_the_job() {
    let each = |ranks: &[u32]| of_each_node(ranks.iter().copied(), 4);
    assert_eq!(each(&[4, 6, 1, 3, 8, 11]), Some(2));
    assert_eq!(each(&[0, 4, 8]), Some(1));
    assert_eq!(each(&[0, 1, 4]), None, "one more in a node than in the other");
    assert_eq!(each(&[0, 4, 1, 5]), None, "those of a node do not follow each other");
}

#[test]
fn the_parts_of_a_vector_have_all_its_bytes() {
    let costs = costs(|mpi| mpi.allreduce = AllreduceChoice::Ring);
    for (bytes, ranks) in [(1000, 7), (3, 8), (0, 5), (u64::MAX, 3)] {
        let plan = Plan::new(Call::allreduce(bytes), 0, Group::whole(ranks), &costs);
        let each: u64 = (0..ranks).map(|first| plan.bytes(&Part { peer: 0, first, count: 1 })).sum();
        assert_eq!(each, bytes);
        assert_eq!(plan.bytes(&Part { peer: 0, first: ranks - 1, count: ranks }), bytes, "cyclically too");
    }
}

/// The ranks of a group do what so many ranks alone would do, under other numbers.
#[test]
fn a_group_does_what_its_ranks_would_do_alone() {
    let costs = costs(|_| ());
    for (size, stride) in [(1, 3), (5, 1), (4, 3), (7, 8)] {
        for rank in 0..2 * size * stride {
            let group = Group::around(rank, size, stride);
            let members: Vec<u32> = (0..2 * size * stride).filter(|&other| group.contains(other)).collect();
            assert_eq!(members.len() as u32, size);
            let place = members.iter().position(|&member| member == rank).unwrap();
            assert!(members.windows(2).all(|pair| pair[1] - pair[0] == stride));
            for call in [Call::allreduce(100_000), Call::barrier(), Call::new(Operation::Alltoall, 9)] {
                let own = Plan::new(call, rank, group, &costs);
                let alone = Plan::new(call, place as u32, Group::whole(size), &costs);
                let told = |part: Part| (members[part.peer as usize], part.first, part.count);
                for number in 0.. {
                    let (step, expected) = (own.step(number), alone.step(number));
                    let parts = |step: Step, how: &dyn Fn(Part) -> (u32, u32, u32)| {
                        (step.round, step.send.map(how), step.receive.map(how))
                    };
                    let step = step.map(|step| parts(step, &|part| (part.peer, part.first, part.count)));
                    assert_eq!(step, expected.map(|step| parts(step, &told)));
                    if step.is_none() {
                        break;
                    }
                }
            }
        }
    }
}
