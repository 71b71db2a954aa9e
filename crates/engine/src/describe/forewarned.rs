//! What is told of a scenario before it runs, beside its mistakes.
use crate::core::plan::Plan;
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
    if let Some(drain) = scenario.endpoint.drain_rate.filter(|drain| drain.0 > host.0) {
        told.push(format!(
            "endpoint.drain_rate is {drain}, but no more comes than the {host} of the channel"
        ));
    }
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
