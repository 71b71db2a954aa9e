//! The speed and the memory of the engine: `cargo run --release --example bench -- [--markdown] [--quick]`; `--instructions`,
//! `--switches` or `--protocols` instead for one subject alone.
//!
//! Every case runs in a process of its own (this program with `case NAME …`), so that its CPU time and its peak memory are
//! its own. User CPU seconds and peak memory are read from `/proc/self` (Linux). `--instructions` counts instructions per
//! packet-hop with valgrind's callgrind instead, as the difference between two run lengths: that figure does not depend
//! on what else the machine does. Cases of a table are run in turns, so that a machine that gets slower or faster meanwhile
//! does so for all of them; `--switches` and `--protocols` compare the kinds of switches, and control schemes at load 0.5, in
//! many turns. `--quick` simulates less.
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

/// Runs of a case whose median is reported; of the largest network there is one.
const REPEATS: usize = 3;
/// Runs of each case when kinds of switches or protocols are compared alone: many short ones, since a machine's speed changes
/// within minutes.
const PAIRS: usize = 31;
/// Ticks of user CPU time in a second, as Linux shows them in `/proc` on every machine.
const CLOCK_TICKS: f64 = 100.0;

/// What is run: a network under uniform traffic.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    network: &'static Network,
    /// Words of `[switch]`.
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
    Case { name, network, switch: "kind = 'cioq'", scheme, flits, load, us }
}

const fn on_switch(name: &'static str, switch: &'static str) -> Case {
    Case { switch, ..case(name, PAPER, "none", 4, 0.5, (3, 1)) }
}

const SPEED: [Case; 11] = [
    case("none, 4 flits, load 0.2", PAPER, "none", 4, 0.2, (4, 36)),
    case("none, 4 flits, load 0.5", PAPER, "none", 4, 0.5, (4, 16)),
    case("none, 4 flits, load 0.8", PAPER, "none", 4, 0.8, (4, 10)),
    case("lhrp, 4 flits, load 0.2", PAPER, "lhrp", 4, 0.2, (4, 36)),
    case("lhrp, 4 flits, load 0.5", PAPER, "lhrp", 4, 0.5, (4, 16)),
    case("lhrp, 4 flits, load 0.8", PAPER, "lhrp", 4, 0.8, (4, 10)),
    case("srp, 4 flits, load 0.5", PAPER, "srp", 4, 0.5, (4, 16)),
    case("smsrp, 4 flits, load 0.5", PAPER, "smsrp", 4, 0.5, (4, 16)),
    case("lhrp+srp, 4 flits, load 0.5", PAPER, "lhrp+srp", 4, 0.5, (4, 16)),
    case("none, 24 flits, load 0.5", PAPER, "none", 24, 0.5, (4, 76)),
    case("none, 4 flits, load 0.7", PAPER, "none", 4, 0.7, (4, 10)),
];
/// Schemes that keep a window, a rate or an account for each destination: compared with the others alone.
const DESTINATIONS: [Case; 6] = [
    case("dcqcn, 4 flits, load 0.5", PAPER, "dcqcn", 4, 0.5, (4, 16)),
    case("swift, 4 flits, load 0.5", PAPER, "swift", 4, 0.5, (4, 16)),
    case("hpcc, 4 flits, load 0.5", PAPER, "hpcc", 4, 0.5, (4, 16)),
    case("nscc, 4 flits, load 0.5", PAPER, "nscc", 4, 0.5, (4, 16)),
    case("rccc, 4 flits, load 0.5", PAPER, "rccc", 4, 0.5, (4, 16)),
    case("nscc+rccc, 4 flits, load 0.5", PAPER, "nscc+rccc", 4, 0.5, (4, 16)),
];
const SIZE: Case = case("16,512 endpoints, none, 4 flits, load 0.5", LARGE, "none", 4, 0.5, (2, 1));
const SWITCHES: [Case; 6] = [
    on_switch("cioq, speedup 2", "kind = 'cioq', speedup = 2"),
    on_switch("input-queued, speedup 2", "kind = 'input-queued', speedup = 2"),
    on_switch("cioq, speedup 1", "kind = 'cioq', speedup = 1"),
    on_switch("input-queued, speedup 1", "kind = 'input-queued', speedup = 1"),
    on_switch("output-queued", "kind = 'output-queued'"),
    on_switch("shared-buffer", "kind = 'shared-buffer'"),
];
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
             switch = {{ {switch} }}\n\
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

    fn repeats(&self, most: usize) -> usize {
        if self.network.topology == LARGE.topology { 1 } else { most }
    }

    fn from_words(words: &[String]) -> Option<Self> {
        let [name, warmup, duration] = words else { return None };
        let groups: [&[Case]; 6] = [&SPEED, &DESTINATIONS, &[SIZE], &SWITCHES, &NETWORKS, &TIME];
        let known = groups.into_iter().flatten().find(|case| case.name == name)?;
        Some(Self { us: (warmup.parse().ok()?, duration.parse().ok()?), ..*known })
    }

    /// Runs in a process of its own.
    fn measure(&self) -> Result<Taken, String> {
        eprintln!("{} …", self.name);
        Taken::read(&output(Command::new(program()?).arg("case").args(self.words()))?.0)
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

/// Runs cases in turns, every other turn backwards; what each run of each case took.
fn in_turns(cases: &[Case], turns: usize) -> Result<Vec<Vec<Taken>>, String> {
    let mut all = vec![Vec::new(); cases.len()];
    for turn in 0..turns {
        for at in 0..cases.len() {
            let at = if turn % 2 == 0 { at } else { cases.len() - 1 - at };
            if turn < cases[at].repeats(turns) {
                all[at].push(cases[at].measure()?);
            }
        }
    }
    Ok(all)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Measures cases and prints the run of median CPU time of each as a table; returns all runs.
fn table(
    title: &'static str,
    cases: &[Case],
    turns: usize,
    markdown: bool,
) -> Result<Vec<Vec<Taken>>, String> {
    let head = ["case", "M packet-hops/CPU-s", "ns/hop", "events/hop", "simulated ns/CPU-s", "peak MB"];
    let mut table = Table::new(title, &head);
    let all = in_turns(cases, turns)?;
    for (case, runs) in cases.iter().zip(&all) {
        let mut runs = runs.clone();
        runs.sort_by(|a, b| a.user_seconds.total_cmp(&b.user_seconds));
        table.rows.push(speed_row(case, &runs[runs.len() / 2]));
    }
    table.print(markdown);
    Ok(all)
}

/// Time per packet-hop of one case over another's: the median over the turns of both.
fn ratio(of: &[Taken], to: &[Taken]) -> f64 {
    median(of.iter().zip(to).map(|(of, to)| of.ns_per_hop() / to.ns_per_hop()).collect())
}

/// Prints what the first of each two cases takes in times of the second.
fn compare(cases: &[Case], taken: &[Vec<Taken>], pairs: impl IntoIterator<Item = (usize, usize)>) {
    for (of, to) in pairs {
        let (turns, ratio) = (taken[of].len(), ratio(&taken[of], &taken[to]));
        println!(
            "Time per packet-hop, {} over {}, median of {turns}: {ratio:.2}",
            cases[of].name, cases[to].name
        );
    }
    println!();
}

fn switches(turns: usize, markdown: bool) -> Result<(), String> {
    let taken = table("Switch kinds: the same, none, 4 flits, load 0.5", &SWITCHES, turns, markdown)?;
    compare(&SWITCHES, &taken, [(1, 0), (3, 2), (3, 0), (4, 0), (5, 0)]);
    Ok(())
}

fn protocols(turns: usize, markdown: bool) -> Result<(), String> {
    let same = |case: &Case| case.load == 0.5 && case.flits == 4;
    let all = SPEED.into_iter().filter(same).chain(DESTINATIONS);
    let cases: Vec<Case> = all.map(|case| case.shortened(4)).collect();
    let taken = table("Control schemes: the same, 4 flits, load 0.5", &cases, turns, markdown)?;
    compare(&cases, &taken, (1..cases.len()).map(|at| (at, 0)));
    Ok(())
}

fn speeds(quick: bool, markdown: bool) -> Result<(), String> {
    let turns = if quick { 1 } else { REPEATS };
    let sized = |cases: &[Case]| -> Vec<Case> {
        cases.iter().map(|case| if quick { case.shortened(4) } else { *case }).collect()
    };
    let title = "Dragonfly of 1056 endpoints, PAR, uniform, acknowledged, one thread";
    let cases: Vec<Case> = SPEED.into_iter().chain([SIZE]).collect();
    let taken = table(title, &sized(&cases), turns, markdown)?;
    let none = |case: &Case| [0, 1, 2].into_iter().find(|&at| cases[at].load == case.load && case.flits == 4);
    let others = cases.iter().enumerate().skip(3);
    compare(&cases, &taken, others.filter_map(|(at, case)| Some((at, none(case)?))));
    switches(turns, markdown)?;
    let title = "4096 endpoints of other networks, uniform, 4 flits, 10 ns links";
    table(title, &sized(&NETWORKS), turns, markdown)?;
    let taken = table("Peak memory and simulated time", &sized(&TIME), turns, markdown)?;
    println!(
        "Peak memory of the long run over that of the short one: {:.3}",
        taken[1][0].peak_bytes / taken[0][0].peak_bytes
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
        _ if wants("--switches") => switches(PAIRS, wants("--markdown")),
        _ if wants("--protocols") => protocols(PAIRS, wants("--markdown")),
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
