//! Whether a trace can come to its end: no record of it waits, through others, for itself.
//!
//! What a record waits for follows from the format alone: a message from what it names; what comes behind a collective operation
//! from all tasks' coming to it, but behind a broadcast or a scatter from that of the task and its root's, and behind a reduction
//! or a gather, unless the task is the root, from the task's own. How an operation is cut into messages may let a task wait for
//! more: that shows as the trace is run.
use super::shape::{BROADCAST, GATHER, REDUCTION, SCATTER, root};
use super::text::{After, Mistake, Trace};

/// Most lines of a circle that are told, besides the first.
const TOLD_MAX: usize = 4;

/// What waits, or is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Node {
    /// A message is sent.
    Message(u32),
    /// A member of a collective operation comes to it.
    Member(u32, u32),
    /// All members have come to it.
    All(u32),
}

/// Refuses a trace with a record that waits, through others, for itself; in time and memory linear in its records.
pub fn check(trace: &Trace) -> Result<(), Mistake> {
    let mut waits = Waits { trace, roots: Vec::new(), first: Vec::new() };
    let mut count = trace.messages.len();
    for collective in &trace.collectives {
        let rooted = matches!(collective.operation, BROADCAST | REDUCTION | GATHER | SCATTER);
        waits.roots.push(if rooted { root(collective)? as u32 } else { 0 });
        waits.first.push(count);
        count += collective.members.len() + 1;
    }
    let mut states = vec![State::New; count];
    let messages = (0..trace.messages.len() as u32).map(Node::Message);
    let all = (0..).zip(&trace.collectives);
    let members =
        all.flat_map(|(at, of)| (0..of.members.len() as u32).map(move |place| Node::Member(at, place)));
    messages.chain(members).try_for_each(|node| waits.follow(node, &mut states))
}

/// What is known of a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing.
    New,
    /// It is on the way that is followed.
    Open,
    /// It does not wait for itself.
    Good,
}

struct Waits<'a> {
    trace: &'a Trace,
    /// The roots of collective operations that have one.
    roots: Vec<u32>,
    /// The number of the node of each collective operation's first member.
    first: Vec<usize>,
}

impl Waits<'_> {
    /// Follows a node's waits, depth first, to their ends.
    fn follow(&self, node: Node, states: &mut [State]) -> Result<(), Mistake> {
        if states[self.number(node)] != State::New {
            return Ok(());
        }
        states[self.number(node)] = State::Open;
        let mut way = vec![(node, 0)];
        while let Some((node, at)) = way.last_mut() {
            let Some(next) = self.waits_for(*node, *at) else {
                states[self.number(*node)] = State::Good;
                way.pop();
                continue;
            };
            *at += 1;
            match states[self.number(next)] {
                State::Good => {}
                State::New => {
                    states[self.number(next)] = State::Open;
                    way.push((next, 0));
                }
                State::Open => return Err(self.circle(&way, next)),
            }
        }
        Ok(())
    }

    fn number(&self, node: Node) -> usize {
        match node {
            Node::Message(at) => at as usize,
            Node::Member(at, place) => self.first[at as usize] + place as usize,
            Node::All(at) => self.first[at as usize] + self.trace.collectives[at as usize].members.len(),
        }
    }

    /// What a node waits for, one after the other.
    fn waits_for(&self, node: Node, at: usize) -> Option<Node> {
        let collective = |number: u32| &self.trace.collectives[number as usize];
        match node {
            Node::Message(number) => self.before(self.trace.messages[number as usize].when.after, at),
            Node::Member(of, place) => self.before(collective(of).members[place as usize].when.after, at),
            Node::All(of) => (at < collective(of).members.len()).then_some(Node::Member(of, at as u32)),
        }
    }

    fn before(&self, after: After, at: usize) -> Option<Node> {
        let nodes = match after {
            After::Start => [None; 2],
            After::Sent(message) | After::Received(message) => [Some(Node::Message(message)), None],
            After::Done(of, place) => {
                let (own, root) = (Node::Member(of, place), self.roots[of as usize]);
                match self.trace.collectives[of as usize].operation {
                    BROADCAST | SCATTER => [Some(own), Some(Node::Member(of, root))],
                    REDUCTION | GATHER if place != root => [Some(own), None],
                    _ => [Some(Node::All(of)), None],
                }
            }
        };
        nodes.get(at).copied().flatten()
    }

    /// The mistake of a way that leads back to a node on it.
    fn circle(&self, way: &[(Node, usize)], back: Node) -> Mistake {
        let start = way.iter().position(|(node, _)| *node == back).unwrap_or(0);
        let line = |&(node, _): &(Node, usize)| match node {
            Node::Message(at) => Some(self.trace.messages[at as usize].when.line),
            Node::Member(of, place) => {
                Some(self.trace.collectives[of as usize].members[place as usize].when.line)
            }
            Node::All(_) => None,
        };
        let mut lines: Vec<usize> = way[start..].iter().filter_map(line).collect();
        let least = (0..lines.len()).min_by_key(|&at| lines[at]).unwrap_or(0);
        lines.rotate_left(least);
        let (first, others) = lines.split_first().map_or((1, &[][..]), |(first, others)| (*first, others));
        let mut told: Vec<String> = others.iter().take(TOLD_MAX).map(|line| format!("line {line}")).collect();
        told.extend((others.len() > TOLD_MAX).then(|| format!("{} more", others.len() - TOLD_MAX)));
        let through = match told.split_last() {
            None => String::new(),
            Some((only, [])) => format!(", through {only},"),
            Some((last, rest)) => format!(", through {} and {last},", rest.join(", ")),
        };
        Mistake::new(first, format!("this waits{through} for itself"), "dependencies without a circle")
    }
}

#[cfg(test)]
mod tests {
    use super::super::text::read;

    fn told(text: &str) -> String {
        read(text).map_or_else(|mistake| format!("{}: {}", mistake.line, mistake.message), |_| String::new())
    }

    #[test]
    fn messages_that_wait_for_each_other_are_told() {
        let with = |lines: &[&str]| told(&format!("VEF 3 {} 0 0 0 FALSE\n{}", lines.len(), lines.join("\n")));
        assert_eq!(with(&["0 0 1 8 1 0 0"]), "2: this waits for itself");
        assert_eq!(
            with(&["5 0 1 8 0 0 -1", "0 0 1 8 2 0 1", "1 1 0 8 2 0 0"]),
            "3: this waits, through line 4, for itself"
        );
        // What only waits for a circle is not on it.
        assert_eq!(
            with(&["4 2 0 8 1 0 0", "0 2 0 8 2 0 3", "1 0 1 8 2 0 0", "2 1 2 8 2 0 1", "3 1 2 8 1 0 2"]),
            "3: this waits, through line 6, line 5 and line 4, for itself"
        );
        assert_eq!(with(&["0 0 1 8 0 0 -1", "1 1 0 8 2 0 0", "2 0 1 8 2 0 1"]), "");
        let ring: Vec<String> = (0..9).map(|at| format!("{at} 0 1 8 1 0 {}", (at + 1) % 9)).collect();
        let ring: Vec<&str> = ring.iter().map(String::as_str).collect();
        assert_eq!(
            with(&ring),
            "2: this waits, through line 3, line 4, line 5, line 6 and 4 more, for itself"
        );
    }

    /// Two tasks and one collective operation, which task 0 has to do before it sends what task 1 waits for to come to it.
    fn behind(operation: u8, sizes: [(u64, u64); 2]) -> String {
        let [(send, receive), (other_send, other_receive)] = sizes;
        told(&format!(
            "VEF 2 1 1 1 2 FALSE\nC0 0 1\n0 0 1 8 3 0 G0\nG0 0 {operation} 0 {send} {receive} 0 0 -1\n\
             G0 0 {operation} 1 {other_send} {other_receive} 2 0 0\n"
        ))
    }

    #[test]
    fn a_task_is_behind_an_operation_when_those_it_hears_of_have_come() {
        let circle = "3: this waits, through line 5, for itself";
        for (operation, size) in [(2, 8), (5, 8), (6, 0), (7, 0)] {
            assert_eq!(behind(operation, [(size, size); 2]), circle, "{operation}");
        }
        // The root of a broadcast or a scatter hears of nobody, that of a reduction or a gather of all.
        for (operation, from_root) in [(0, true), (4, true), (1, false), (3, false)] {
            let root_first = if from_root { [(8, 0), (0, 8)] } else { [(0, 8), (8, 0)] };
            let root_last = [root_first[1], root_first[0]];
            let expected = if from_root { ["", circle] } else { [circle, ""] };
            assert_eq!(
                [behind(operation, root_first), behind(operation, root_last)],
                expected,
                "{operation}"
            );
        }
    }

    #[test]
    fn an_operation_that_a_member_comes_to_behind_itself_is_told() {
        let text = "VEF 2 0 1 1 2 FALSE\nC0 0 1\nG0 0 6 0 0 0 0 0 -1\nG0 0 6 1 0 0 3 0 0\n";
        assert_eq!(told(text), "4: this waits for itself");
    }

    #[test]
    fn a_long_chain_takes_a_time_in_proportion() {
        let records = 1_000_000;
        let mut text = format!("VEF 2 {records} 0 0 0 FALSE\n");
        for at in 0..records {
            text += &format!("{at} 0 1 8 1 0 {}\n", if at + 1 < records { at + 1 } else { 0 });
        }
        let (first, last) =
            ("2: this waits, through line 3, line 4, line 5, line 6 and ", " more, for itself");
        assert_eq!(told(&text), format!("{first}{}{last}", records - 5));
    }
}
