//! Tailback's engine: lossless HPC and AI interconnects, and what keeps congestion from spreading in them.
//!
//! A run is a function of a [`scenario::Scenario`]: integer picoseconds, deterministic ties, one named random
//! stream per purpose and component. The engine has no input or output of its own.
pub mod base64;
pub mod core;
pub mod deadlock;
pub mod describe;
pub mod flow_control;
pub mod fluid;
pub mod graph;
mod keyed;
mod kinds;
mod lists;
pub mod nic;
mod outcomes;
pub mod probe;
pub mod problem;
pub mod protocol;
pub mod queueing;
pub mod registry;
pub mod report;
pub mod rng;
pub mod routing;
pub mod run;
pub mod scenario;
pub mod switch;
pub mod topology;
pub mod traffic;
pub mod units;
pub mod workload;
mod zero_load;
