//! What reaches a partition from others: packets and credits over lines, and signals.
use super::fabric::Fabric;
use super::wheel::Kind;
use super::{NEVER, Tick};
use crate::protocol::signal::Signal;

impl Fabric {
    /// Sends a signal out of band, from a switch (global number); `signal.at` is now.
    pub fn signal(&mut self, from: u32, mut signal: Signal) {
        signal.at += self.plan.signal_delay(from, signal.to);
        if self.plan.seat(signal.to).0 == self.number {
            self.expect_signal(signal);
        } else {
            self.out_signals.push(signal);
        }
    }

    /// A signal will reach an endpoint of this partition.
    pub fn expect_signal(&mut self, signal: Signal) {
        let place = match self.free_signals.pop() {
            Some(place) => {
                self.signals[place as usize] = signal;
                place
            }
            None => {
                self.signals.push(signal);
                self.signals.len() as u32 - 1
            }
        };
        self.wheel.push(signal.at, Kind::Signal, place as u64);
    }

    /// Takes a signal that has come.
    pub fn take_signal(&mut self, place: u32) -> Signal {
        self.free_signals.push(place);
        self.signals[place as usize]
    }

    /// When the first of what came over the lines with the last exchange has an effect: a packet, or a credit that a sender
    /// waits for.
    pub fn next_over_lines(&self) -> Tick {
        let mut first = NEVER;
        for line in self.lines.iter() {
            first = first.min(line.incoming.first().unwrap_or(NEVER));
            if !line.in_credits.is_empty() && self.channels[line.port].starved {
                first = line.in_credits.iter().map(|credit| credit.at()).fold(first, Tick::min);
            }
        }
        first
    }

    /// Takes in what came over the lines with the last exchange.
    pub fn take_lines(&mut self) {
        for at in 0..self.lines.len() as u32 {
            let line = &mut self.lines[at];
            if !line.armed
                && let Some(first) = line.incoming.first()
            {
                line.armed = true;
                self.wheel.push(first, Kind::Line, at as u64);
            }
            if line.in_credits.is_empty() {
                continue;
            }
            let (channel, credits) = (line.port, std::mem::take(&mut line.in_credits));
            for &credit in &credits {
                self.return_credit(channel, credit);
            }
            self.lines[at].in_credits = credits;
            self.lines[at].in_credits.clear();
        }
    }

    /// Takes the packet that arrives over a line now; returns its arrival as an event.
    #[inline(always)]
    pub fn take_packet(&mut self, at: u32) -> u64 {
        let line = &mut self.lines[at];
        debug_assert_eq!(line.incoming.first(), Some(self.now));
        let event = (line.port as u64) << 32 | line.incoming.take_first(&mut self.pool) as u64;
        match line.incoming.first() {
            Some(next) => self.wheel.push(next, Kind::Line, at as u64),
            None => line.armed = false,
        }
        event
    }
}
