//! The speed and the memory of the engine: `cargo run --release --example bench -- [--markdown] [--quick] [--instructions]`.
//!
//! Every case runs in a process of its own (this program with `case NAME …`), so that its CPU time and its peak memory are
//! its own. User CPU seconds and peak memory are read from `/proc/self` (Linux). `--instructions` counts instructions per
//! packet-hop with valgrind's callgrind instead, as the difference between two run lengths: that figure does not depend
//! on what else the machine does. `--quick` simulates less.
use std::process::{Command, ExitCode};
use tailback_engine::scenario::Scenario;

/// A network and its routing.
struct Network {
    topology: &'static str,
    link: &'static str,
    routing: &'static str,
}

const DRAGONFLY_LINK: &str = "host = '5 ns', local = '50 ns', global = '1 us'";

/// The 1056-endpoint dragonfly of N. Jiang and others, "Network endpoint congestion control for fine-grained
/// communication", SC 2015.
const PAPER: &Network = &Network {
    topology: "kind = 'dragonfly', p = 4, a = 8, h = 4, groups = 33",
    link: DRAGONFLY_LINK,
    routing: "kind = 'par'",
};
/// A balanced dragonfly of 16,512 endpoints.
const LARGE: &Network =
    &Network { topology: "kind = 'dragonfly', p = 8, a = 16, h = 8, groups = 129", ..*PAPER };
/// A dragonfly of 72 endpoints.
const SMALL: &Network =
    &Network { topology: "kind = 'dragonfly', p = 2, a = 4, h = 2, groups = 9", ..*PAPER };
const TORUS: &Network = &Network {
    topology: "kind = 'torus', dims = [16, 16, 16]",
    link: "latency = '10 ns'",
    routing: "kind = 'dor'",
};
const TREE: &Network = &Network {
    topology: "kind = 'fat-tree', levels = 3, arity = 16",
    link: "latency = '10 ns'",
    routing: "kind = 'nca'",
};

/// Runs of a short case whose median is reported.
const REPEATS: usize = 3;
/// Ticks of user CPU time in a second, as Linux shows them in `/proc` on every machine.
const CLOCK_TICKS: f64 = 100.0;

/// What is run: a network under uniform traffic.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    network: &'static Network,
    switch: &'static str,
    scheme: &'static str,
    flits: u32,
    load: f64,
    /// Simulated microseconds before and in the measured part.
    us: (u32, u32),
}

const fn case(
    name: &'static str,
    network: &'static Network,
    scheme: &'static str,
    flits: u32,
    load: f64,
    us: (u32, u32),
) -> Case {
    Case { name, network, switch: "cioq", scheme, flits, load, us }
}

const fn on_switch(switch: &'static str) -> Case {
    Case { switch, ..case(switch, PAPER, "none", 4, 0.5, (4, 16)) }
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
const SWITCHES: [Case; 4] =
    [on_switch("cioq"), on_switch("input-queued"), on_switch("output-queued"), on_switch("shared-buffer")];
const NETWORKS: [Case; 2] = [
    case("torus 16x16x16, dor with date lines, load 0.3", TORUS, "none", 4, 0.3, (2, 4)),
    case("fat tree, 3 levels of 16, nca, load 0.5", TREE, "none", 4, 0.5, (2, 4)),
];
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
        let Case { network, switch, scheme, flits, load, us: (warmup, duration), .. } = self;
        let Network { topology, link, routing } = network;
        format!(
            "topology = {{ {topology} }}\n\
             link = {{ bandwidth = '100 Gb/s', {link} }}\n\
             packet = {{ flit = '100 b', max = '24 flits' }}\n\
             switch = {{ kind = '{switch}' }}\n\
             routing = {{ {routing} }}\n\
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
    fn words(&self) -> [String; 3] {
        [self.name.into(), self.us.0.to_string(), self.us.1.to_string()]
    }

    fn from_words(words: &[String]) -> Option<Self> {
        let [name, warmup, duration] = words else { return None };
        let groups: [&[Case]; 5] = [&SPEED, &[SIZE], &SWITCHES, &NETWORKS, &TIME];
        let known = groups.into_iter().flatten().find(|case| case.name == name)?;
        Some(Self { us: (warmup.parse().ok()?, duration.parse().ok()?), ..*known })
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

/// Measures cases and prints their speeds as a table.
fn table(title: &'static str, cases: &[Case], quick: bool, markdown: bool) -> Result<Vec<Taken>, String> {
    let head = ["case", "M packet-hops/CPU-s", "ns/hop", "events/hop", "simulated ns/CPU-s", "peak MB"];
    let mut table = Table::new(title, &head);
    let mut all = Vec::new();
    for case in cases {
        let large = case.network.topology == LARGE.topology;
        let taken = if quick { case.shortened(4) } else { *case }.measure(if quick || large {
            1
        } else {
            REPEATS
        })?;
        table.rows.push(speed_row(case, &taken));
        all.push(taken);
    }
    table.print(markdown);
    Ok(all)
}

fn speeds(quick: bool, markdown: bool) -> Result<(), String> {
    let title = "Dragonfly of 1056 endpoints, PAR, uniform, acknowledged, one thread";
    let cases: Vec<Case> = SPEED.into_iter().chain([SIZE]).collect();
    let taken = table(title, &cases, quick, markdown)?;
    let ratio = taken[SPEED.len()].ns_per_hop() / taken[1].ns_per_hop();
    println!("Time per packet-hop, 16,512 endpoints over 1056: {ratio:.2}\n");
    table("Switch kinds: the same, none, 4 flits, load 0.5", &SWITCHES, quick, markdown)?;
    table("4096 endpoints of other networks, uniform, 4 flits, 10 ns links", &NETWORKS, quick, markdown)?;
    let title = "Peak memory and simulated time";
    let taken = table(title, &TIME, quick, markdown)?;
    println!(
        "Peak memory of the long run over that of the short one: {:.3}",
        taken[1].peak_bytes / taken[0].peak_bytes
    );
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
