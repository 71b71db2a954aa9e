//! The generators of an endpoint's traffic, with what the endpoint knows of them.
use super::queue::Message;
use crate::core::{NEVER, Tick};
use crate::traffic::generator::{self, Generator};

/// A generator with what the endpoint knows of it.
pub(super) struct Feed {
    pub(super) generator: Generator,
    /// Creation of its next message.
    pub(super) born: Tick,
    pub(super) class: u8,
    /// The only destination, if there is one: then messages stay in the generator until their turn comes.
    pub(super) only: Option<u32>,
    /// Messages up to here have been counted as offered.
    pub(super) counted: Tick,
}

impl Feed {
    /// Takes the next message.
    pub(super) fn pop(&mut self, traffic: &generator::Plan) -> Message {
        let drawn = self.generator.pop(traffic).expect("a message was due");
        self.born = born(&self.generator, traffic);
        Message::new(drawn.born, drawn.destination, drawn.flits, self.class)
    }
}

pub(super) fn born(generator: &Generator, traffic: &generator::Plan) -> Tick {
    generator.peek(traffic).map_or(NEVER, |message| message.born)
}
