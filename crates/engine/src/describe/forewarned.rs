//! What is told of a scenario before it runs, beside its mistakes.
use crate::core::plan::{LinkPlan, Plan};
use crate::scenario::Scenario;

/// Classes and jobs that will do nothing in the run's times, a rate that nothing reaches, and what traces do not tell.
pub fn forewarned(scenario: &Scenario, plan: &Plan) -> Vec<String> {
    let mut told = Vec::new();
    let (start, end) = plan.window;
    let us = |ticks: u64| ticks as f64 * plan.tick as f64 / 1e6;
    for traffic in &plan.traffic {
        let (name, clock) = (&traffic.class().name, traffic.clock());
        if clock.start >= end {
            told.push(format!(
                "class \"{name}\" would start at {} us, after the measured window, which ends at {} us",
                us(clock.start),
                us(end)
            ));
        } else if let Some(stop) = clock.stop.filter(|&stop| stop <= start) {
            told.push(format!(
                "class \"{name}\" stops at {} us, before the measured window, which begins at {} us",
                us(stop),
                us(start)
            ));
        }
    }
    let host = plan.links[0].rate;
    let usual = scenario.endpoint.takes(host);
    if let Some(drain) = scenario.endpoint.drain_rate.filter(|drain| drain.0 > host.0) {
        told.push(format!(
            "endpoint.drain_rate is {drain}, but no more comes than the {host} of the channel"
        ));
    }
    let mut late = Vec::new();
    for (at, slow) in scenario.endpoint.slow.iter().enumerate() {
        if let Some(rate) = slow.drain_rate.filter(|rate| rate.0 >= usual.0) {
            told.push(format!(
                "endpoint.slow.{at}.drain_rate is {rate}, no less than the {usual} of all endpoints"
            ));
        }
        late.push((format!("endpoint.slow.{at}"), plan.ticks(slow.start)));
    }
    let fastest = plan.links.iter().map(|link| link.rate).max_by_key(|rate| rate.0).unwrap_or(host);
    for (at, slow) in scenario.link.slow.iter().enumerate() {
        let class = plan.links.iter().find(|link| Some(&link.name) == slow.links.class.as_ref());
        let usual = class.map_or(if slow.endpoints.is_none() { fastest } else { host }, |link| link.rate);
        if let Some(rate) = slow.bandwidth.filter(|rate| rate.0 >= usual.0) {
            told.push(format!("link.slow.{at}.bandwidth is {rate}, no less than the {usual} of these links"));
        }
        late.push((format!("link.slow.{at}"), plan.ticks(slow.start)));
    }
    for (path, from) in late.into_iter().filter(|(_, from)| *from >= plan.end) {
        told.push(format!(
            "{path} would start at {} us, after the end of the run, at {} us",
            us(from),
            us(plan.end)
        ));
    }
    told.extend(pauses(plan));
    for job in plan.jobs.iter().filter(|job| !job.idle) {
        let name = &job.name;
        if job.start.0 / plan.tick > plan.end {
            let (at, end) = (job.start.0 as f64 / 1e6, us(plan.end));
            told.push(format!(
                "job \"{name}\" would start at {at} us, after the end of the run, at {end} us"
            ));
        } else if job.start.after(job.application.last_start().0).0 / plan.tick > plan.end {
            let (at, end) = (job.start.after(job.application.last_start().0).0 as f64 / 1e6, us(plan.end));
            told.push(format!(
                "job \"{name}\": some of it would start at {at} us, after the end of the run, at {end} us"
            ));
        }
        told.extend(job.application.notes().iter().map(|note| format!("job \"{name}\": {note}")));
    }
    told
}

/// Priorities of a switch with priority flow control.
const PRIORITIES: usize = 8;

/// Pauses that leave a channel idle, and more virtual channels than there are priorities.
fn pauses(plan: &Plan) -> Vec<String> {
    let mut told = Vec::new();
    for link in &plan.links {
        let (leaving, Some(pauses)) = (link.leaving(), link.pauses) else { continue };
        if let Some(shared) = pauses.shared {
            let left = pauses.xoff + shared.resumes();
            if u64::from(left) < leaving {
                told.push(format!(
                    "link.flow_control: a sender on the {} links resumes when {left} flits are left, even if no other buffer of the switch holds \
                     any (reserve, and the threshold by shared and alpha less xon_offset), but {leaving} can leave before what it then sends: behind a \
                     pause these links may stand idle. A larger shared, alpha or input_buffer keeps them busy",
                    link.name,
                ));
            }
        } else if u64::from(pauses.xon) < leaving {
            told.push(format!(
                "link.flow_control: a sender on the {} links resumes when {} flits are left (xon), but {leaving} can leave before what it \
                 then sends: behind a pause these links may stand idle. A larger xon, or a larger input_buffer, keeps them busy",
                link.name, pauses.xon,
            ));
        }
    }
    let used = |link: &LinkPlan| link.buffer.iter().filter(|&&flits| flits > 0).count();
    let most = plan.links.iter().map(used).max().unwrap_or(0);
    if plan.links[0].pauses.is_some() && most > PRIORITIES {
        told.push(format!(
            "link.flow_control: {most} virtual channels pause by themselves, but priority flow control of Ethernet knows {PRIORITIES} priorities"
        ));
    }
    told
}
