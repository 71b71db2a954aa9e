//! NSCC and RCCC together: what a window lets through, as far as there is credit for it.
use super::nscc::{Nscc, Signals, Window};
use super::rccc::{Account, Credits, Purse, Rccc};
use super::red::Red;
use super::round_trip::RoundTrip;
use super::{Agent, Defaults, Departure, Interest, Prompt, Pull, Received, Reply, Scheme, Sent, Source};
use crate::core::packet::{Cold, Kind, Packet};
use crate::core::plan::{Plan, Share};
use crate::core::{NEVER, Tick};
use crate::nic::queue::SendQueue;
use crate::nic::{NicSet, Nics};
use crate::problem::Problem;
use crate::units::Scale;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// NSCC and RCCC together, the whole congestion control of Ultra Ethernet: destinations give credit, as under `rccc`, and sources keep
/// windows, as under `nscc`.
///
/// # What it does
///
/// A send queue sends what it has credit for, or may send without, as long as its window has room; one that has neither asks even if its
/// window has none. A queue tells the destination of no more than, with the credit that it has, its window and a packet, so that credit
/// goes to those that can use it. So credit keeps many sources from
/// sending more to a destination than that can take, and the window acts on congestion inside the network, which destinations do not know
/// of: outputs to endpoints mark nothing.
///
/// # Where it acts
///
/// Switch (marks what leaves for another switch), destination (acknowledges, gives credit), source (window, waits for credit).
///
/// # Parameters
///
/// Those of the two, each in a table of its own: `nscc = { target = "2 us" }, rccc = { unsolicited = "8 packets" }`.
///
/// # Paper
///
/// Ultra Ethernet Consortium, "Ultra Ethernet Specification 1.0", 2025; T. Hoefler and others, "Ultra Ethernet's Design Principles and
/// Architectural Innovations", arXiv:2508.08906; see `nscc` and `rccc`.
///
/// # Differences from the paper
///
/// Those of the two. A queue that its window holds back keeps the credit it has. A queue
/// that was silent for `restart` begins anew when both say so.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NsccRccc {
    /// The windows.
    pub nscc: Nscc,
    /// The credit.
    pub rccc: Rccc,
}

/// State of a send queue.
#[derive(Debug, Default)]
struct Both {
    window: Window,
    account: Account,
}

/// The endpoints of [`NsccRccc`].
struct Endpoint {
    signals: Signals,
    credits: Credits,
}

impl Source for Endpoint {
    type Queue = Both;
    type Sink = Purse;

    fn on_message(&self, state: &mut Both, flits: u32) {
        self.credits.joined(&mut state.account, flits);
    }

    fn pull(&self, queue: &SendQueue<Both>, now: Tick) -> Pull {
        let Both { window, account } = &queue.state;
        if queue.has_message() {
            let by_credit = self.credits.next(account, self.signals.usable(window));
            if !matches!(by_credit, Pull::Next(_)) {
                return by_credit;
            }
        }
        match self.signals.end(window).max(self.credits.end(account)) {
            NEVER if !queue.has_message() => Pull::Wait,
            end => self.signals.next(window, queue, end, now),
        }
    }

    fn looks_ahead(&self) -> bool {
        true
    }

    fn stamp(&self, queue: &SendQueue<Both>, _: Pull, packet: &mut Packet) {
        let Both { window, account } = &queue.state;
        packet.notes.words = self.credits.words(account, self.signals.usable(window), packet);
    }

    fn on_sent(&self, queue: &mut SendQueue<Both>, sent: &Sent) {
        self.signals.sent(&mut queue.state.window, sent);
        self.credits.sent(&mut queue.state.account, sent);
    }

    fn hears(&self, kind: Kind) -> bool {
        matches!(kind, Kind::Ack | Kind::Credit)
    }

    fn on_control(&self, queue: &mut SendQueue<Both>, packet: &Packet, now: Tick) {
        let Both { window, account } = &mut queue.state;
        match packet.hot.kind() {
            Kind::Ack => self.signals.acknowledged(window, packet, now),
            _ => self.credits.given(account, packet, now),
        }
    }

    fn allowed_towards(&self, queue: &SendQueue<Both>, _dst: u32, _now: Tick) -> Option<(u32, Tick)> {
        Some((self.signals.allows(&queue.state.window), 0))
    }

    fn idle(&self, queue: &SendQueue<Both>, now: Tick) -> bool {
        let Both { window, account } = &queue.state;
        self.signals.is_idle(window, now) && self.credits.end(account) <= now
    }

    fn memory(&self, sink: &Purse) -> usize {
        sink.memory()
    }

    fn reply(&self, purse: &mut Purse, received: &Received, replies: &mut Vec<Reply>) {
        replies.extend(self.signals.acknowledge(received));
        self.credits.told(purse, received.packet);
    }

    fn prompts(&self) -> bool {
        true
    }

    fn prompt(&self, purse: &mut Purse, now: Tick) -> Prompt {
        self.credits.prompt(purse, now)
    }
}

/// Marks at outputs to other switches.
struct Inside(Red);

impl Agent for Inside {
    fn interest(&self) -> Interest {
        self.0.interest()
    }

    fn on_dequeue(&mut self, departure: &Departure, packet: &mut Cold, words: &mut [u64; 2]) {
        if departure.endpoint.is_none() {
            self.0.on_dequeue(departure, packet, words);
        }
    }
}

/// What one of the two says of its keys, with the table that they stand in here.
fn within(table: &str, remarks: Vec<String>) -> impl Iterator<Item = String> {
    const WHOLE: &str = "congestion_control.";
    remarks.into_iter().map(move |remark| remark.replacen(WHOLE, &format!("{WHOLE}{table}."), 1))
}

impl Scheme for NsccRccc {
    fn knows_priorities(&self) -> bool {
        false
    }

    fn tells_rates(&self) -> bool {
        self.nscc.tells_rates()
    }

    fn problems(&self, scale: &Scale) -> Vec<Problem> {
        let of = |table: &'static str, problems: Vec<Problem>| {
            problems
                .into_iter()
                .map(move |problem| Problem { path: format!("{table}.{}", problem.path), ..problem })
        };
        of("nscc", self.nscc.problems(scale)).chain(of("rccc", self.rccc.problems(scale))).collect()
    }

    fn needs_acknowledgements(&self) -> Option<(&'static str, &'static str)> {
        self.nscc.needs_acknowledgements()
    }

    fn knows_flows(&self) -> bool {
        false
    }

    fn remarks(&self, plan: &Plan) -> Vec<String> {
        within("nscc", self.nscc.remarks(plan)).chain(within("rccc", self.rccc.remarks(plan))).collect()
    }

    fn round_trip(&self, plan: &Plan) -> Option<RoundTrip> {
        self.nscc.round_trip(plan).map(|of| RoundTrip { key: "nscc.base_rtt", ..of })
    }

    fn defaults(&self, plan: &Plan) -> Defaults {
        let of = |table: &'static str, defaults: Defaults| {
            defaults.into_iter().map(move |(key, value)| (format!("{table}.{key}"), value))
        };
        of("nscc", self.nscc.defaults(plan)).chain(of("rccc", self.rccc.defaults(plan))).collect()
    }

    fn nics(&self, plan: &Arc<Plan>, share: &Share, acknowledge: bool) -> Box<dyn Nics> {
        let source =
            Endpoint { signals: self.nscc.source(plan), credits: self.rccc.source(plan, acknowledge) };
        Box::new(NicSet::new(source, plan, share))
    }

    fn agent(&self, plan: &Plan, _share: &Share) -> Box<dyn Agent> {
        Box::new(Inside(self.nscc.marks(plan).agent(plan, 1.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::testing;

    #[test]
    fn the_channels_to_endpoints_mark_nothing() {
        let mut agent = Inside(Red { from: 0, all: 0, chance: 1.0, seed: 1, flit: None });
        let marks = [None, Some(3)].map(|endpoint| {
            let mut packet = Cold::default();
            let departure = Departure { endpoint, ..testing::departure(5, 25, 24, Kind::Data) };
            agent.on_dequeue(&departure, &mut packet, &mut [0; 2]);
            packet.marked()
        });
        assert_eq!(marks, [true, false]);
    }
}
