//! The tests of whole runs, in one program, so that what they share is built once: `cargo test --test whole golden::`
//! runs those of one file.
mod common;
#[path = "common/full.rs"]
mod full;

mod abatement;
mod accounts;
mod badinput;
mod chakra;
mod connections;
mod describe;
mod determinism;
mod exact;
mod failed_links;
mod flow_list;
mod flows;
mod goal;
mod golden;
mod jobs;
mod laws;
mod message_sizes;
mod mistakes;
mod networks;
mod operations;
mod pauses;
mod physics;
mod priorities;
mod queue_pairs;
mod queueing;
mod reservation;
mod results;
mod scenario;
mod schemes;
mod shared_memory;
mod slow;
mod slow_links;
mod slowdowns;
mod training;
mod trees;
mod turns;
mod vef;
mod windows;

#[test]
fn every_file_of_tests_is_part_of_this_program() {
    let this = include_str!("main.rs");
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(module) = name.strip_suffix(".rs").filter(|&module| module != "main") {
            assert!(this.contains(&format!("\nmod {module};\n")), "tests/main.rs has no `mod {module};`");
        }
    }
}
