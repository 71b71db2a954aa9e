//! The drop of packets that waited too long, shared by the protocols that drop by time.
use super::marker::Marker;
use super::{Agent, Departure, Interest, Reply};
use crate::core::Tick;
use crate::core::packet::{Cold, Packet};

/// Refuses packets that waited too long, and marks packets at the root of congestion if asked to.
pub struct TimeOut {
    /// Time in input buffers after which a packet is dropped.
    pub time_to_wait: Tick,
    /// Traffic class of refusals.
    pub control: u8,
    /// Marks, if small messages are to hear of congestion.
    pub marker: Option<Marker>,
}

impl Agent for TimeOut {
    fn interest(&self) -> Interest {
        let marker = self.marker.as_ref().map(Marker::interest).unwrap_or_default();
        Interest { time_to_wait: Some(self.time_to_wait), ..marker }
    }

    fn on_dequeue(&mut self, departure: &Departure, packet: &mut Cold, words: &mut [u64; 2]) {
        if let Some(marker) = &mut self.marker {
            marker.on_dequeue(departure, packet, words);
        }
    }

    fn on_expire(&mut self, packet: &Packet) -> Reply {
        Reply::refusal(self.control, packet, None)
    }
}
