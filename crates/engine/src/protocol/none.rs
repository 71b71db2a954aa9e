//! No congestion control.
use super::{CONTROL, DATA, Pull, Received, Reply, Scheme, Source};
use crate::core::Tick;
use crate::core::plan::{Plan, Share, TrafficClass};
use crate::nic::queue::SendQueue;
use crate::nic::{NicSet, Nics};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// No congestion control: sources send whenever the channel has credit.
///
/// # What it does
///
/// Nothing; the reference that the other schemes are compared with.
///
/// # Where it acts
///
/// Nowhere; acknowledgements are sent if the endpoints ask for them.
///
/// # Parameters
///
/// None.
///
/// # Paper
///
/// The baseline of all of them.
///
/// # Differences from the paper
///
/// None.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct None {}

/// The source of [`None`].
pub struct Plain {
    acknowledge: bool,
    control: u8,
    data: u8,
}

impl Source for Plain {
    type Queue = ();
    type Sink = ();

    fn pull(&self, queue: &SendQueue<()>, _now: Tick) -> Pull {
        if queue.has_message() { Pull::Next(self.data) } else { Pull::Wait }
    }

    fn pulls(&self) -> u64 {
        1 << self.data
    }

    fn reply(&self, _sink: &mut (), received: &Received, replies: &mut Vec<Reply>) {
        if self.acknowledge {
            replies.extend(received.acknowledge(true, self.control));
        }
    }
}

impl Scheme for None {
    fn classes(&self, acknowledge: bool) -> Vec<TrafficClass> {
        if acknowledge { vec![CONTROL, DATA] } else { vec![DATA] }
    }

    fn words(&self) -> bool {
        false
    }

    fn nics(&self, plan: &Arc<Plan>, share: &Share, acknowledge: bool) -> Box<dyn Nics> {
        Box::new(NicSet::new(Plain { acknowledge, control: 0, data: acknowledge.into() }, plan, share))
    }
}
