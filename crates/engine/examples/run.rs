//! Runs a scenario file: `cargo run --release --example run -- FILE [key=value]…`; prints the summary and the speed.
use std::path::Path;
use std::time::Instant;
use tailback_engine::report::RunError;
use tailback_engine::scenario::Scenario;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(file) = arguments.next() else {
        eprintln!("usage: run FILE [key=value]…");
        std::process::exit(2);
    };
    let mut overrides: Vec<(String, String)> = arguments
        .filter_map(|argument| argument.split_once('=').map(|(key, value)| (key.into(), value.into())))
        .collect();
    let leave = |file: &Path, reason: String| -> ! {
        eprintln!("{}: {reason}", file.display());
        std::process::exit(2)
    };
    let read = |file: &Path| std::fs::read(file).unwrap_or_else(|error| leave(file, error.to_string()));
    let file = Path::new(&file);
    let text = String::from_utf8(read(file)).unwrap_or_else(|error| leave(file, error.to_string()));
    for (key, path) in Scenario::files(&text, &overrides) {
        let path = file.parent().unwrap_or(file).join(path);
        let contents = Scenario::contents(&key, read(&path));
        overrides.push((key, contents.unwrap_or_else(|| leave(&path, "this is not text".into()))));
    }
    let outcome =
        tailback_engine::run::read(&text, &overrides).map_err(RunError::Problems).and_then(|scenario| {
            let start = Instant::now();
            let output = tailback_engine::run::run(&scenario, &mut |_| true)?;
            Ok((output, start.elapsed().as_secs_f64()))
        });
    match outcome {
        Ok((output, seconds)) => {
            println!("{:#}", output.summary);
            let hops = output.summary["packet_hops"].as_f64().unwrap_or(0.0);
            let events = output.summary["events"].as_f64().unwrap_or(0.0);
            eprintln!(
                "{seconds:.2} s, {:.2} million packet-hops per second, {:.2} events per hop",
                hops / seconds / 1e6,
                events / hops
            );
        }
        Err(RunError::Problems(problems)) => {
            problems.iter().for_each(|problem| eprintln!("{problem}"));
            std::process::exit(2);
        }
        Err(RunError::Failed(message, _)) => {
            eprintln!("{message}");
            std::process::exit(1);
        }
    }
}
