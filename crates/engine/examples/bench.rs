//! The speed and the memory of the engine: `cargo run --release --example bench -- [--markdown] [--quick] [--instructions]`.
//!
//! Every case runs in a process of its own (this program with `case NAME …`), so that its CPU time and its peak memory are
//! its own. User CPU seconds and peak memory are read from `/proc/self` (Linux). `--instructions` counts instructions per
//! packet-hop with valgrind's callgrind instead, as the difference between two run lengths: that figure does not depend
//! on what else the machine does. `--quick` simulates less.
use std::process::{Command, ExitCode};
use tailback_engine::scenario::Scenario;

/// The 1056-endpoint dragonfly of N. Jiang and others, "Network endpoint congestion control for fine-grained
/// communication", SC 2015.
const PAPER: &str = "p = 4, a = 8, h = 4, groups = 33";
/// A balanced dragonfly of 16,512 endpoints.
const LARGE: &str = "p = 8, a = 16, h = 8, groups = 129";
/// A dragonfly of 72 endpoints.
const SMALL: &str = "p = 2, a = 4, h = 2, groups = 9";
/// Runs of a short case whose median is reported.
const REPEATS: usize = 3;
/// Ticks of user CPU time in a second, as Linux shows them in `/proc` on every machine.
const CLOCK_TICKS: f64 = 100.0;

/// What is run: a network under uniform traffic.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    /// Parameters of the dragonfly.
    network: &'static str,
    scheme: &'static str,
    flits: u32,
    load: f64,
    /// Simulated microseconds before and in the measured part.
    us: (u32, u32),
}

const fn case(
    name: &'static str,
    network: &'static str,
    scheme: &'static str,
    flits: u32,
    load: f64,
    us: (u32, u32),
) -> Case {
    Case { name, network, scheme, flits, load, us }
}

const SPEED: [Case; 8] = [
    case("none, 4 flits, load 0.2", PAPER, "none", 4, 0.2, (4, 36)),
    case("none, 4 flits, load 0.5", PAPER, "none", 4, 0.5, (4, 16)),
    case("none, 4 flits, load 0.8", PAPER, "none", 4, 0.8, (4, 10)),
    case("lhrp, 4 flits, load 0.2", PAPER, "lhrp", 4, 0.2, (4, 36)),
    case("lhrp, 4 flits, load 0.5", PAPER, "lhrp", 4, 0.5, (4, 16)),
    case("lhrp, 4 flits, load 0.8", PAPER, "lhrp", 4, 0.8, (4, 10)),
    case("none, 24 flits, load 0.5", PAPER, "none", 24, 0.5, (4, 76)),
    case("none, 4 flits, load 0.7", PAPER, "none", 4, 0.7, (4, 10)),
];
const SIZE: Case = case("16,512 endpoints, none, 4 flits, load 0.5", LARGE, "none", 4, 0.5, (2, 1));
const TIME: [Case; 2] = [
    case("72 endpoints, none, 4 flits, load 0.5, 1 ms", SMALL, "none", 4, 0.5, (20, 980)),
    case("72 endpoints, none, 4 flits, load 0.5, 10 ms", SMALL, "none", 4, 0.5, (20, 9980)),
];
/// Simulated microseconds of the two runs whose instructions are compared.
const INSTRUCTION_US: [(u32, u32); 2] = [(2, 1), (2, 2)];

/// What one run took.
#[derive(Clone, Copy, Default)]
struct Taken {
    hops: f64,
    events: f64,
    user_seconds: f64,
    peak_bytes: f64,
    simulated_ns: f64,
}

impl Case {
    fn scenario(&self) -> String {
        let Case { network, scheme, flits, load, us: (warmup, duration), .. } = self;
        format!(
            "topology = {{ kind = 'dragonfly', {network} }}\n\
             link = {{ bandwidth = '100 Gb/s', host = '5 ns', local = '50 ns', global = '1 us' }}\n\
             packet = {{ flit = '100 b', max = '24 flits' }}\n\
             routing = {{ kind = 'par' }}\n\
             congestion_control = {{ kind = '{scheme}' }}\n\
             traffic = [{{ name = 'all traffic', pattern = 'uniform', load = {load}, message = '{flits} flits' }}]\n\
             run = {{ warmup = '{warmup} us', duration = '{duration} us', drain = '0 us' }}\n"
        )
    }

    fn shortened(self, factor: u32) -> Self {
        Self { us: (self.us.0, (self.us.1 / factor).max(1)), ..self }
    }

    /// Runs in this process.
    fn run(&self) -> Result<Taken, String> {
        let problems = |list: Vec<_>| format!("{list:?}");
        let scenario = Scenario::parse(&self.scenario(), &[]).map_err(problems)?;
        let before = user_seconds();
        let output =
            tailback_engine::run::run(&scenario, &mut |_| true).map_err(|error| format!("{error:?}"))?;
        let number = |key: &str| output.summary[key].as_f64().unwrap_or(f64::NAN);
        Ok(Taken {
            hops: number("packet_hops"),
            events: number("events"),
            user_seconds: user_seconds() - before,
            peak_bytes: peak_bytes(),
            simulated_ns: number("simulated_ns"),
        })
    }

    /// The words from which `from_words` makes the case again.
    fn words(&self) -> [String; 6] {
        let Case { network, scheme, flits, load, us: (warmup, duration), .. } = self;
        let numbers = [f64::from(*flits), *load, f64::from(*warmup), f64::from(*duration)];
        let [flits, load, warmup, duration] = numbers.map(|number| number.to_string());
        [(*network).into(), (*scheme).into(), flits, load, warmup, duration]
    }

    fn from_words(words: &[String]) -> Option<Self> {
        let [network, scheme, flits, load, warmup, duration] = words else { return None };
        let network = [PAPER, LARGE, SMALL].into_iter().find(|known| known == network)?;
        let scheme = ["none", "lhrp"].into_iter().find(|known| known == scheme)?;
        let us = (warmup.parse().ok()?, duration.parse().ok()?);
        Some(case("", network, scheme, flits.parse().ok()?, load.parse().ok()?, us))
    }

    /// Runs in a process of its own, `repeats` times; the run of median CPU time.
    fn measure(&self, repeats: usize) -> Result<Taken, String> {
        let mut runs = Vec::new();
        for _ in 0..repeats {
            eprintln!("{} …", self.name);
            runs.push(Taken::read(&output(Command::new(program()?).arg("case").args(self.words()))?.0)?);
        }
        runs.sort_by(|a, b| a.user_seconds.total_cmp(&b.user_seconds));
        Ok(runs[runs.len() / 2])
    }

    /// Hops and instructions of a run under callgrind.
    fn instructions(&self) -> Result<(f64, f64), String> {
        eprintln!("{}, {} us under callgrind …", self.name, self.us.0 + self.us.1);
        let mut command = Command::new("valgrind");
        command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program()?).arg("case");
        let (printed, report) = output(command.args(self.words()))?;
        let collected = report.lines().find_map(|line| line.split_once("Collected :"));
        let count = collected.and_then(|(_, count)| count.trim().parse().ok());
        Ok((Taken::read(&printed)?.hops, count.ok_or("valgrind told no count")?))
    }
}

impl Taken {
    fn print(&self) {
        let Taken { hops, events, user_seconds, peak_bytes, simulated_ns } = self;
        println!("{hops} {events} {user_seconds} {peak_bytes} {simulated_ns}");
    }

    fn read(text: &str) -> Result<Self, String> {
        let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [hops, events, user_seconds, peak_bytes, simulated_ns] = numbers[..] else {
            return Err(format!("a run printed {text:?}"));
        };
        Ok(Self { hops, events, user_seconds, peak_bytes, simulated_ns })
    }

    fn ns_per_hop(&self) -> f64 {
        self.user_seconds * 1e9 / self.hops
    }
}

fn program() -> Result<std::path::PathBuf, String> {
    std::env::current_exe().map_err(|error| error.to_string())
}

/// Standard output and standard error of a command that succeeds.
fn output(command: &mut Command) -> Result<(String, String), String> {
    let done = command.output().map_err(|error| format!("{:?}: {error}", command.get_program()))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if done.status.success() { Ok((text(&done.stdout), text(&done.stderr))) } else { Err(text(&done.stderr)) }
}

/// User CPU time of this process: field 14 of `/proc/self/stat`, the 12th after the name in brackets.
fn user_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks = fields.split_whitespace().nth(11).and_then(|ticks| ticks.parse::<f64>().ok());
    ticks.map_or(f64::NAN, |ticks| ticks / CLOCK_TICKS)
}

/// Largest resident memory of this process.
fn peak_bytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")).and_then(|kib| kib.parse::<f64>().ok());
    kib.map_or(f64::NAN, |kib| kib * 1024.0)
}

/// A table as text, or as Markdown.
struct Table {
    title: &'static str,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn new(title: &'static str, head: &[&str]) -> Self {
        Self { title, rows: vec![head.iter().map(|name| (*name).into()).collect()] }
    }

    fn print(&self, markdown: bool) {
        let width = |at: usize| self.rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
        let (left, between, right) = if markdown { ("| ", " | ", " |") } else { ("", "  ", "") };
        println!("{}{}\n", if markdown { "### " } else { "" }, self.title);
        for (number, row) in self.rows.iter().enumerate() {
            let cell = |(at, text): (usize, &String)| match at {
                0 => format!("{text:<0$}", width(at)),
                _ => format!("{text:>0$}", width(at)),
            };
            let cells: Vec<String> = row.iter().enumerate().map(cell).collect();
            println!("{left}{}{right}", cells.join(between).trim_end());
            if number == 0 && markdown {
                println!("|{}|", vec!["---"; row.len()].join("|"));
            }
        }
        println!();
    }
}

fn mb(bytes: f64) -> String {
    format!("{:.1}", bytes / 1e6)
}

fn speed_row(case: &Case, taken: &Taken) -> Vec<String> {
    vec![
        case.name.into(),
        format!("{:.2}", taken.hops / taken.user_seconds / 1e6),
        format!("{:.0}", taken.ns_per_hop()),
        format!("{:.2}", taken.events / taken.hops),
        format!("{:.0}", taken.simulated_ns / taken.user_seconds),
        mb(taken.peak_bytes),
    ]
}

fn speeds(quick: bool, markdown: bool) -> Result<(), String> {
    let head = ["case", "M packet-hops/CPU-s", "ns/hop", "events/hop", "simulated ns/CPU-s", "peak MB"];
    let mut table = Table::new("Dragonfly of 1056 endpoints, PAR, uniform, acknowledged, one thread", &head);
    let shorten = |case: Case| if quick { case.shortened(4) } else { case };
    let mut paper = None;
    for case in SPEED.map(shorten) {
        let taken = case.measure(if quick { 1 } else { REPEATS })?;
        if (case.scheme, case.flits, case.load) == ("none", 4, 0.5) {
            paper = Some(taken);
        }
        table.rows.push(speed_row(&case, &taken));
    }
    let large = shorten(SIZE).measure(1)?;
    table.rows.push(speed_row(&SIZE, &large));
    table.print(markdown);
    if let Some(paper) = paper {
        let ratio = large.ns_per_hop() / paper.ns_per_hop();
        println!("Time per packet-hop, 16,512 endpoints over 1056: {ratio:.2}\n");
    }
    let mut table = Table::new("Peak memory and simulated time", &["case", "peak MB", "M packet-hops/CPU-s"]);
    let mut peaks = Vec::new();
    for case in TIME.map(shorten) {
        let taken = case.measure(1)?;
        peaks.push(taken.peak_bytes);
        let speed = format!("{:.2}", taken.hops / taken.user_seconds / 1e6);
        table.rows.push(vec![case.name.into(), mb(taken.peak_bytes), speed]);
    }
    table.print(markdown);
    println!("Peak memory of the long run over that of the short one: {:.3}", peaks[1] / peaks[0]);
    Ok(())
}

fn instructions(markdown: bool) -> Result<(), String> {
    let mut table =
        Table::new("Instructions by callgrind, 1056 endpoints", &["case", "instructions per packet-hop"]);
    for case in SPEED.into_iter().filter(|case| case.load == 0.5) {
        let [short, long] = INSTRUCTION_US.map(|us| Case { us, ..case }.instructions());
        let (short, long) = (short?, long?);
        let count = (long.1 - short.1) / (long.0 - short.0);
        table.rows.push(vec![case.name.into(), format!("{count:.0}")]);
    }
    table.print(markdown);
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let wants = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let done = match arguments.split_first() {
        Some((first, words)) if first == "case" => Case::from_words(words)
            .ok_or_else(|| "an unknown case".to_string())
            .and_then(|case| case.run())
            .map(|taken| taken.print()),
        _ if wants("--instructions") => instructions(wants("--markdown")),
        _ => speeds(wants("--quick"), wants("--markdown")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
