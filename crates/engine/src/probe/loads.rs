//! What the flows of phases put on every channel: from it follows the bound W for the routes taken (Y. Birk, V. Zdornov,
//! SYSTOR 2009, eqs. 2 and 4).
use crate::core::Tick;
use crate::core::plan::Plan;

/// The load of each channel in the present phase, and the largest of each phase that is over.
#[derive(Debug, Clone, Default)]
pub struct Loads {
    /// Number of a class among those with phases, by class.
    number: Vec<Option<u32>>,
    /// Classes with phases.
    classes: usize,
    /// By channel, then class: the phase, and ticks that its data took.
    channels: Vec<(u32, Tick)>,
    /// Largest load of a channel, by class, then phase.
    largest: Vec<Vec<Tick>>,
}

impl Loads {
    /// No load on any of `channels`; none if no job has phases.
    pub fn new(plan: &Plan, channels: u32) -> Option<Box<Self>> {
        let (mut number, mut classes) = (vec![None; plan.groups()], 0);
        for (at, job) in plan.jobs.iter().enumerate() {
            if job.application.flows().is_some() {
                number[plan.traffic.len() + at] = Some(classes);
                classes += 1;
            }
        }
        let classes = classes as usize;
        let (channels, largest) = (vec![(0, 0); channels as usize * classes], vec![Vec::new(); classes]);
        (classes > 0).then(|| Box::new(Self { number, classes, channels, largest }))
    }

    /// A channel carries data of a class, of a flow of a phase, for some ticks.
    pub fn carried(&mut self, channel: u32, class: u8, phase: u32, ticks: Tick) {
        let Some(number) = self.number[class as usize] else { return };
        let place = channel as usize * self.classes + number as usize;
        let (of, load) = self.channels[place];
        if of != phase {
            self.fold(number as usize, of, load);
            self.channels[place] = (phase, 0);
        }
        self.channels[place].1 += ticks;
    }

    fn fold(&mut self, number: usize, phase: u32, load: Tick) {
        let largest = &mut self.largest[number];
        if largest.len() <= phase as usize {
            largest.resize(phase as usize + 1, 0);
        }
        let known = &mut largest[phase as usize];
        *known = (*known).max(load);
    }

    /// Ends the phases that the channels are in.
    pub fn finish(&mut self) {
        for place in 0..self.channels.len() {
            let (phase, load) = std::mem::take(&mut self.channels[place]);
            self.fold(place % self.classes, phase, load);
        }
    }

    /// Ticks that the busiest channel between switches, or to an endpoint, was taken by the data of a class and phase.
    pub fn largest(&self, class: usize, phase: u32) -> Tick {
        let of = self.number[class].map(|number| &self.largest[number as usize]);
        of.and_then(|largest| largest.get(phase as usize)).copied().unwrap_or(0)
    }
}
