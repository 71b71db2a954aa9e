//! Link-level flow control: how the sender of a channel knows whether it may send to the buffer at its end.
mod credits;
mod headroom;
mod pfc;
mod pfc_dynamic;

use crate::problem::Problem;
use crate::units::{Duration, Scale};

/// What a flow control of a scenario provides.
pub trait LinkControl {
    /// What an order of a buffer to its sender takes beyond a credit; nothing where the sender counts the room, and gets no orders.
    fn response(&self) -> Option<Duration> {
        None
    }
    /// Flits of a virtual channel above which a buffer has its sender paused, and at which it has it resume: of one with room for so many
    /// beside the headroom.
    fn thresholds(&self, _room: u64, _: &Scale) -> (u64, u64) {
        (0, 0)
    }
    /// What the input buffers of a switch share, if they do: thresholds then are those of a buffer when nothing is left of it.
    fn sharing(&self, _: &Scale) -> Option<Sharing> {
        None
    }
    /// Mistakes in the parameters, for such a buffer of a virtual channel behind links of this name.
    fn problems(&self, _: Ahead, _: &Scale, _links: &str) -> Vec<Problem> {
        Vec::new()
    }
}

/// The buffer of a virtual channel, in flits.
#[derive(Debug, Clone, Copy)]
pub struct Ahead {
    /// All of it.
    pub flits: u64,
    /// What may come until its sender obeys an order.
    pub headroom: u64,
}

/// Memory that the input buffers of a switch share, and how each has its threshold by what is free of it.
#[derive(Debug, Clone, Copy)]
pub struct Sharing {
    /// Its flits.
    pub flits: u32,
    /// The part of what is free that a buffer may hold.
    pub alpha: f64,
    /// Flits below its threshold at which a sender may resume.
    pub offset: u32,
}

impl Sharing {
    /// Flits that a buffer may hold where so many are in use.
    pub fn threshold(self, used: u32) -> u64 {
        (self.alpha * f64::from(self.flits - used)) as u64
    }

    /// Flits with which a buffer's sender resumes where no other buffer holds any: so far below the threshold that follows from them.
    pub fn resumes(self) -> u32 {
        let below = self.alpha * f64::from(self.flits) - f64::from(self.offset);
        (below / (1.0 + self.alpha)).max(0.0) as u32
    }

    /// Flits that so many buffers come to hold together, where no others do.
    pub fn together(self, buffers: u32) -> u32 {
        let parts = self.alpha * f64::from(buffers);
        (f64::from(self.flits) * parts / (1.0 + parts)) as u32
    }
}

crate::kinds::kinds! {
    /// `flow_control = …` of `[link]`: how a sender knows of the buffer ahead. The list of kinds, one line each.
    pub enum FlowControl by "kind" {
        Credits(credits::Credits) = "credits",
        Pfc(pfc::Pfc) = "pfc",
        PfcDynamic(pfc_dynamic::PfcDynamic) = "pfc-dynamic",
    }
    /// What the flow control provides, whichever kind it is.
    pub fn control -> dyn LinkControl;
}

impl Default for FlowControl {
    fn default() -> Self {
        Self::Credits(credits::Credits {})
    }
}
