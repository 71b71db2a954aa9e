//! From the lines of a trace to the trace: counts are checked, and identifiers become places.
use super::text::{After, Collective, Communicator, Member, Message, Mistake, Reader, Trace, When, Written};
use super::{circles, shape};

impl Reader {
    /// The trace; `last` is the last line.
    pub(super) fn finish(self, last: usize) -> Result<Trace, Mistake> {
        let header = &self.header;
        let lines: usize = self.collectives.iter().map(|(collective, ..)| collective.members.len()).sum();
        for (what, said, found) in [
            ("messages", header.messages, self.messages.len()),
            ("communicators", header.communicators, self.communicators.len()),
            ("collective operations", header.collectives, self.collectives.len()),
            ("lines of collective operations", header.participations, lines),
        ] {
            if said != found as u64 {
                let message = format!("there are {found} {what}, but the header says {said}");
                return Err(Mistake::new(last, message, "the same number"));
            }
        }
        let mut trace = Trace { tasks: header.tasks, ..Trace::default() };
        for (message, written) in &self.messages {
            let after = self.after(message.from, written)?;
            trace.messages.push(Message { when: When { after, ..message.when }, ..*message });
        }
        for (collective, written, communicator) in &self.collectives {
            let collective = self.ordered(collective, written, &self.communicators[*communicator])?;
            shape::check(&collective)?;
            trace.collectives.push(collective);
        }
        circles::check(&trace)?;
        Ok(trace)
    }

    /// A collective operation with its members in the order of their communicator.
    fn ordered(
        &self,
        collective: &Collective,
        written: &[Written],
        communicator: &Communicator,
    ) -> Result<Collective, Mistake> {
        let mut members = Vec::with_capacity(written.len());
        for (member, written) in collective.members.iter().zip(written) {
            let after = self.after(member.task, written)?;
            members.push(Member { when: When { after, ..member.when }, ..*member });
        }
        // The reader has seen that each has a place.
        members.sort_by_key(|member| communicator.places[&member.task]);
        if let Some(pair) = members.windows(2).find(|pair| pair[0].task == pair[1].task) {
            let message = format!("task {} takes part twice", pair[1].task);
            return Err(Mistake::new(pair[1].when.line, message, "a line for each task"));
        }
        let there = members.iter().map(|member| member.task);
        let missing = communicator.tasks.iter().zip(there.map(Some).chain(std::iter::repeat(None)));
        if let Some((task, _)) = missing.into_iter().find(|&(task, there)| there != Some(*task)) {
            let (all, few) = (communicator.tasks.len(), members.len());
            let message = format!("{few} tasks take part in an operation of {all}, and task {task} does not");
            return Err(Mistake::new(collective.line, message, "a line for each task of the communicator"));
        }
        Ok(Collective { members, ..collective.clone() })
    }

    /// What a task waits for.
    fn after(&self, task: u32, written: &Written) -> Result<After, Mistake> {
        let Written { dep, id, line, .. } = *written;
        let number = u64::try_from(id).ok();
        let message = || {
            let place = number.and_then(|id| self.message_ids.get(&id)).copied();
            let help = "the number of a message of the trace";
            place.ok_or_else(|| Mistake::new(line, format!("there is no message {id}"), help))
        };
        match dep {
            0 => Ok(After::Start),
            1 | 2 => {
                let place = message()?;
                let other = &self.messages[place as usize].0;
                let (party, verb) = if dep == 1 { (other.from, "sent") } else { (other.to, "received") };
                if party != task {
                    let message =
                        format!("task {task} waits for message {id}, which is {verb} by task {party}");
                    return Err(Mistake::new(line, message, "a message of the same task"));
                }
                Ok(if dep == 1 { After::Sent(place) } else { After::Received(place) })
            }
            _ => {
                let place = number.and_then(|id| self.collective_ids.get(&id)).copied();
                let help = "the number of a collective operation that the task takes part in";
                let none = || Mistake::new(line, format!("there is no collective operation {id}"), help);
                let place = place.ok_or_else(none)?;
                let communicator = self.collectives[place as usize].2;
                let Some(&own) = self.communicators[communicator].places.get(&task) else {
                    let message = format!("task {task} takes no part in G{id}");
                    return Err(Mistake::new(line, message, help));
                };
                Ok(After::Done(place, own))
            }
        }
    }
}
