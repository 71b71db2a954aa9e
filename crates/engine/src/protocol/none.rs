//! No congestion control.
use super::{CONTROL, DATA, Pull, Received, Reply, Scheme, Sent, Source};
use crate::core::Tick;
use crate::core::packet::{Kind, Packet};
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
/// Nothing; the reference that the other schemes are compared with. With a `window`, a source waits for acknowledgements as TCP
/// does, but never adapts the window.
///
/// # Where it acts
///
/// Nowhere; acknowledgements are sent if the endpoints ask for them.
///
/// # Parameters
///
/// The window of paper SAA, section 3.2, is one packet.
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
pub struct None {
    /// Largest number of unacknowledged packets from a source to one destination; without it, as many as there is credit for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub window: Option<u32>,
}

/// The source of [`None`].
pub struct Plain {
    window: u32,
    acknowledge: bool,
    control: u8,
    data: u8,
}

impl Source for Plain {
    /// Packets under way, if there is a window.
    type Queue = u32;
    type Sink = ();

    fn pull(&self, queue: &SendQueue<u32>, _now: Tick) -> Pull {
        if queue.has_message() && queue.state < self.window { Pull::Next(self.data) } else { Pull::Wait }
    }

    fn plain(&self, queue: &SendQueue<u32>, _now: Tick) -> Option<u8> {
        (queue.state < self.window).then_some(self.data)
    }

    fn on_sent(&self, queue: &mut SendQueue<u32>, sent: &Sent) {
        if self.window < u32::MAX && sent.packet.hot.kind() == Kind::Data {
            queue.state += 1;
        }
    }

    fn hears(&self, kind: Kind) -> bool {
        self.window < u32::MAX && kind == Kind::Ack
    }

    fn on_control(&self, queue: &mut SendQueue<u32>, _: &Packet, _: Tick) {
        queue.state -= 1;
    }

    fn idle(&self, queue: &SendQueue<u32>, _: Tick) -> bool {
        queue.state == 0
    }

    fn parks(&self) -> bool {
        true
    }

    fn unqueued(&self) -> Option<u8> {
        (self.window == u32::MAX).then_some(self.data)
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

    fn needs_acknowledgements(&self) -> Option<(&'static str, &'static str)> {
        self.window.map(|_| ("a window needs acknowledgements", "acknowledge = true"))
    }

    fn is_fluid(&self) -> bool {
        self.window.is_none()
    }

    fn words(&self) -> bool {
        false
    }

    fn per_destination(&self) -> bool {
        self.window.is_some()
    }

    fn nics(&self, plan: &Arc<Plan>, share: &Share, acknowledge: bool) -> Box<dyn Nics> {
        let window = self.window.unwrap_or(u32::MAX);
        Box::new(NicSet::new(
            Plain { window, acknowledge, control: 0, data: acknowledge.into() },
            plan,
            share,
        ))
    }
}
