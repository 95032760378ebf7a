//! How much of a run is wrun's own: whole-process figures as ratios to the floor, in one run.
//!
//! Absolute times say more about the machine than about the program, so each figure stands beside the floor's, taken
//! within the same second. Every run starts in a fresh throw-away root; the second run finds what the first one made.
//! Medians of several runs are reported.
//!
//! With `--baseline` another build is measured too, in the same repetitions: a run of this build, a run of the other one,
//! the floor. What else the machine does meanwhile hits all of them, so the median of the ratios of each repetition says
//! which build is faster, also on a busy machine.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Map, Value, json};
use specs::{Machine, Network, Program, Root};

use crate::{bench_attacks, bench_policies, checkout, floor, guests, say};

/// What `cargo xtask bench` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Print the figures as JSON on standard output
    #[arg(long)]
    json: bool,
    /// How often each figure is taken; the median is reported
    #[arg(long, default_value_t = 5, value_name = "NUMBER")]
    runs: usize,
    /// Another checkout, in which `cargo xtask bench` has been run: its build is measured too, and ratios to it are reported
    #[arg(long, value_name = "CHECKOUT")]
    baseline: Option<PathBuf>,
    /// Only the scenarios whose names contain this text
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

/// What the hidden command `bench-measure` takes: a command that it runs once.
#[derive(Debug, clap::Args)]
pub(crate) struct MeasureArguments {
    /// Where what the command prints goes. The command may fail then
    #[arg(long)]
    printed: Option<PathBuf>,
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    command: Vec<String>,
}

/// What a scenario does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Work {
    /// Policies without a resource.
    Nothing,
    /// `file` resources with a line of content each.
    Files,
    /// `template` resources with a line of content each.
    Templates,
    /// Folders, links, files, guarded commands, packages, users.
    Mix,
    /// `file` resources with a line of content each, in Ruby cookbooks.
    Ruby,
}

/// One thing that is measured.
struct Scenario {
    name: &'static str,
    work: Work,
    count: usize,
    policies: usize,
    /// What the first figure of a second run may be.
    goal: Option<Goal>,
}

/// The most that a second run may take.
#[derive(Debug, Clone, Copy)]
enum Goal {
    /// Seconds and kilobytes.
    Absolute(f64, u64),
    /// Times the floor.
    Ratio(f64),
}

const SCENARIOS: [Scenario; 11] = [
    Scenario { name: "1 empty policy", work: Work::Nothing, count: 0, policies: 1, goal: None },
    Scenario {
        name: "3 empty policies",
        work: Work::Nothing,
        count: 0,
        policies: 3,
        goal: Some(Goal::Absolute(0.025, 40_000)),
    },
    Scenario { name: "10 empty policies", work: Work::Nothing, count: 0, policies: 10, goal: None },
    Scenario { name: "100 empty policies", work: Work::Nothing, count: 0, policies: 100, goal: None },
    Scenario { name: "100 files", work: Work::Files, count: 100, policies: 1, goal: None },
    Scenario { name: "1000 files", work: Work::Files, count: 1000, policies: 1, goal: None },
    Scenario { name: "5000 files", work: Work::Files, count: 5000, policies: 1, goal: Some(Goal::Ratio(3.0)) },
    Scenario { name: "200 templates", work: Work::Templates, count: 200, policies: 1, goal: None },
    Scenario { name: "mix", work: Work::Mix, count: 50, policies: 1, goal: None },
    Scenario {
        name: "3 Ruby policies of 20",
        work: Work::Ruby,
        count: 20,
        policies: 3,
        goal: Some(Goal::Absolute(0.1, 120_000)),
    },
    Scenario { name: "1000 files in Ruby", work: Work::Ruby, count: 1000, policies: 1, goal: None },
];

/// One run of one process.
#[derive(Debug, Clone, Copy)]
struct Measured {
    seconds: f64,
    /// The largest resident set.
    kilobytes: u64,
}

/// A first and a second run.
type Pair = [Measured; 2];

/// One repetition of a scenario.
struct Repetition {
    wrun: Pair,
    baseline: Option<Pair>,
    floor: Pair,
}

/// The medians of one scenario's first or second run.
struct Figure {
    scenario: &'static Scenario,
    second_run: bool,
    wrun: Measured,
    baseline: Option<Compared>,
    floor: Measured,
}

/// Another build's figures, and what this one's are as multiples of them: medians of the ratios of each repetition.
struct Compared {
    measured: Measured,
    time: f64,
    memory: f64,
}

impl Figure {
    fn new(scenario: &'static Scenario, second_run: bool, all: &[Repetition]) -> Self {
        let of = |[first, second]: Pair| if second_run { second } else { first };
        let pairs = all.iter().filter_map(|one| Some((of(one.wrun), of(one.baseline?))));
        let pairs: Vec<(Measured, Measured)> = pairs.collect();
        let baseline = (!pairs.is_empty()).then(|| Compared {
            measured: median(pairs.iter().map(|(_, baseline)| *baseline).collect()),
            time: middle(pairs.iter().map(|(wrun, baseline)| wrun.seconds / baseline.seconds).collect()),
            memory: middle(
                pairs.iter().map(|(wrun, baseline)| wrun.kilobytes as f64 / baseline.kilobytes as f64).collect(),
            ),
        });
        Self {
            scenario,
            second_run,
            wrun: median(all.iter().map(|one| of(one.wrun)).collect()),
            baseline,
            floor: median(all.iter().map(|one| of(one.floor)).collect()),
        }
    }

    fn ratio(&self) -> f64 {
        self.wrun.seconds / self.floor.seconds
    }

    /// Whether the goal is reached; nothing where there is none.
    fn reached(&self) -> Option<bool> {
        let goal = self.scenario.goal.filter(|_| self.second_run)?;
        Some(match goal {
            Goal::Absolute(seconds, kilobytes) => self.wrun.seconds <= seconds && self.wrun.kilobytes <= kilobytes,
            Goal::Ratio(ratio) => self.ratio() <= ratio,
        })
    }
}

/// Builds the release profile and takes all figures.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if let Some(sentence) = specs::base::missing_prerequisite() {
        bail!(sentence);
    }
    ensure!(arguments.runs > 0, "--runs is at least 1");
    let baseline = arguments.baseline.as_deref().map(Baseline::find).transpose()?;
    let compiler = guests::find_compiler()?;
    say::line("building the program with the release profile (the first build takes many minutes)");
    let executable = checkout::build_release_program()?;
    guests::build_fixtures(&compiler)?;
    guests::build_runtime(&checkout::RELEASE_WITH_EXAMPLES)?;
    let policies = bench_policies::make(&executable)?;
    specs::base::base_root(&mut say::line)?;
    let tool = executable.with_file_name("xtask");
    let this = Build { program: Program::at(&executable)?, policies };
    let other = baseline.as_ref().map(Baseline::build).transpose()?;
    let bench = Bench { this, other, tool };
    let chosen = |scenario: &&Scenario| arguments.only.as_ref().is_none_or(|text| scenario.name.contains(text));
    let mut figures = Vec::new();
    if !arguments.json {
        let baseline = if arguments.baseline.is_some() { "   baseline    time  memory" } else { "" };
        say::result(&format!("scenario                 run        wrun      floor   ratio     memory{baseline}"));
    }
    for scenario in SCENARIOS.iter().filter(chosen) {
        for figure in bench.figures(scenario, arguments.runs)? {
            if !arguments.json {
                say::result(&line(&figure));
            }
            figures.push(figure);
        }
    }
    let only = arguments.only.as_deref();
    let attacks = bench_attacks::figures(&executable, &bench.tool, arguments.runs, only, !arguments.json)?;
    let costs = sandbox_costs(&checkout::release_examples()?, &checkout::fixtures())?;
    let before = baseline.map(|baseline| sandbox_costs(&baseline.examples(), &baseline.fixtures())).transpose()?;
    if arguments.json {
        let figures: Vec<Value> = figures.iter().map(to_json).collect();
        let sandbox = json!({"sandbox": costs, "sandbox_of_baseline": before});
        let attacks: Vec<Value> = attacks.iter().map(bench_attacks::Figure::to_json).collect();
        let mut all = json!({"version": 1, "runs": arguments.runs, "figures": figures, "attacks": attacks});
        if let (Some(all), Value::Object(sandbox)) = (all.as_object_mut(), sandbox) {
            all.extend(sandbox);
        }
        say::result(&all.to_string());
    } else {
        tell_compared(&figures);
        tell_per_policy(&figures);
        for (name, value) in &costs {
            let before = before.as_ref().and_then(|before| before.get(name));
            let before = before.map(|before| format!(" (baseline: {before})")).unwrap_or_default();
            say::result(&format!("{}: {value}{before}", name.replace('_', " ")));
        }
    }
    Ok(())
}

/// Runs a command once and prints what it took. It is a process of its own, so that the kernel's account is of that
/// command alone.
pub(crate) fn measure(arguments: &MeasureArguments) -> Result<()> {
    let (program, rest) = arguments.command.split_first().context("no command")?;
    let printed = match &arguments.printed {
        Some(path) => std::fs::File::create(path).with_context(|| format!("cannot make {}", path.display()))?.into(),
        None => Stdio::null(),
    };
    let begin = Instant::now();
    let status = Command::new(program).args(rest).stdin(Stdio::null()).stdout(printed).status();
    let seconds = begin.elapsed().as_secs_f64();
    let status = status.with_context(|| format!("cannot start {program}"))?;
    ensure!(status.success() || arguments.printed.is_some(), "{program} failed");
    let kilobytes = specs::machine::largest_child()?;
    say::result(&json!({"seconds": seconds, "kilobytes": kilobytes, "code": status.code()}).to_string());
    Ok(())
}

/// Another checkout that was built for the benchmarks.
struct Baseline {
    target: PathBuf,
}

impl Baseline {
    /// Finds what a benchmark in that checkout has built.
    fn find(checkout: &Path) -> Result<Self> {
        let checkout = checkout.canonicalize().with_context(|| format!("cannot open {}", checkout.display()))?;
        let found = Self { target: checkout.join("target") };
        for path in [found.program(), found.policies(), found.examples(), found.fixtures()] {
            ensure!(
                path.exists(),
                "{} is missing: run `cargo xtask bench --only none --runs 1` in {} first",
                path.display(),
                checkout.display()
            );
        }
        Ok(found)
    }

    fn program(&self) -> PathBuf {
        self.target.join("release/wrun")
    }

    fn policies(&self) -> PathBuf {
        self.target.join("bench-policies")
    }

    fn examples(&self) -> PathBuf {
        self.target.join("release/examples")
    }

    fn fixtures(&self) -> PathBuf {
        self.target.join("fixtures")
    }

    fn build(&self) -> Result<Build> {
        Ok(Build { program: Program::at(&self.program())?, policies: self.policies() })
    }
}

/// A build of wrun with the artifacts that were made for it.
struct Build {
    program: Program,
    /// The folder of the bench policies' artifacts.
    policies: PathBuf,
}

/// What all scenarios share.
struct Bench {
    this: Build,
    /// The baseline.
    other: Option<Build>,
    /// This program in the release profile: the floor, and the one that measures.
    tool: PathBuf,
}

impl Bench {
    /// First and second run of a scenario, with one repetition before that nobody looks at: it fills caches.
    fn figures(&self, scenario: &'static Scenario, runs: usize) -> Result<[Figure; 2]> {
        self.once(scenario, 0)?;
        let all: Vec<_> = (0..runs).map(|number| self.once(scenario, number)).collect::<Result<_>>()?;
        Ok([Figure::new(scenario, false, &all), Figure::new(scenario, true, &all)])
    }

    /// The first and second run of each build, in turn the one or the other before, then the floor's: each pair in a fresh
    /// root.
    fn once(&self, scenario: &Scenario, number: usize) -> Result<Repetition> {
        let other = || self.other.as_ref().map(|other| self.pair(scenario, other)).transpose();
        let (wrun, baseline) = if number.is_multiple_of(2) {
            let wrun = self.pair(scenario, &self.this)?;
            (wrun, other()?)
        } else {
            let baseline = other()?;
            (self.pair(scenario, &self.this)?, baseline)
        };
        let root = Root::new()?;
        let machine = root.machine(Network::Own)?;
        let mut arguments = vec!["bench-floor".to_owned()];
        let work = clap::ValueEnum::to_possible_value(&scenario.work).context("a scenario has a name")?;
        arguments.extend([work.get_name().to_owned(), (scenario.count * scenario.policies).to_string()]);
        arguments.push(root.path().display().to_string());
        let floor = || self.measured(&machine, &self.this.program, &self.tool, &arguments);
        Ok(Repetition { wrun, baseline, floor: [floor()?, floor()?] })
    }

    /// A build's first and second run in a fresh root, on a node that nobody knows.
    fn pair(&self, scenario: &Scenario, build: &Build) -> Result<Pair> {
        let program = &build.program;
        let attributes = program.configuration().join("attributes.json");
        std::fs::write(&attributes, attributes_of(scenario).to_string())?;
        let root = Root::new()?;
        let machine = root.machine(Network::Own)?;
        let arguments = wrun_arguments(scenario, &build.policies, &root, &attributes);
        let state = program.state();
        std::fs::remove_dir_all(&state).and_then(|()| std::fs::create_dir(&state))?;
        let run = || self.measured(&machine, program, program.executable(), &arguments);
        Ok([run()?, run()?])
    }

    /// Runs a command once, with the environment of a build.
    fn measured(
        &self,
        machine: &Machine<'_>,
        program: &Program,
        command: &Path,
        arguments: &[String],
    ) -> Result<Measured> {
        let mut measuring = machine.outside(&self.tool);
        measuring.arg("bench-measure").arg("--").arg(command).args(arguments).envs(program.environment());
        let output = measuring.stdin(Stdio::null()).output().context("cannot start a measured command")?;
        let words = || format!("{} failed:\n{}", command.display(), String::from_utf8_lossy(&output.stderr));
        ensure!(output.status.success(), words());
        let value: Value = serde_json::from_slice(&output.stdout).with_context(words)?;
        let seconds = value.get("seconds").and_then(Value::as_f64).context("a measurement has seconds")?;
        let kilobytes = value.get("kilobytes").and_then(Value::as_u64).context("a measurement has kilobytes")?;
        Ok(Measured { seconds, kilobytes })
    }
}

fn wrun_arguments(scenario: &Scenario, policies: &Path, root: &Root, attributes: &Path) -> Vec<String> {
    let names: Vec<String> = (0..scenario.policies).map(|number| bench_policies::name(scenario.work, number)).collect();
    let path = |path: &Path| path.display().to_string();
    let pairs = [
        ("--root", path(root.path())),
        ("--policies", path(policies)),
        ("--policy-name", names.join(",")),
        ("--json-attributes", path(attributes)),
        ("--node-name", "bench".to_owned()),
    ];
    let pairs = pairs.into_iter().flat_map(|(option, value)| [option.to_owned(), value]);
    ["converge", "--allow-all", "--format", "minimal"].map(str::to_owned).into_iter().chain(pairs).collect()
}

/// What the guest `load` is told.
fn attributes_of(scenario: &Scenario) -> Value {
    json!({"load": {
        "count": scenario.count,
        "folder": "/srv/bench",
        "packages": ["bash", "coreutils", "dpkg", "grep", "tar"],
        "users": floor::USERS,
    }})
}

/// The middle of the times, and the middle of the memories.
fn median(all: Vec<Measured>) -> Measured {
    let mut kilobytes: Vec<u64> = all.iter().map(|one| one.kilobytes).collect();
    kilobytes.sort_unstable();
    Measured {
        seconds: middle(all.iter().map(|one| one.seconds).collect()),
        kilobytes: kilobytes.get(all.len() / 2).copied().unwrap_or(0),
    }
}

/// The middle one of some numbers.
fn middle(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
}

fn line(figure: &Figure) -> String {
    let goal = match (figure.scenario.goal, figure.reached()) {
        (Some(goal), Some(reached)) => {
            let most = match goal {
                Goal::Absolute(seconds, kilobytes) => format!("{:.0} ms, {} MB", seconds * 1e3, kilobytes / 1000),
                Goal::Ratio(ratio) => format!("{ratio} times the floor"),
            };
            format!("   goal {most}: {}", if reached { "reached" } else { "MISSED" })
        }
        _ => String::new(),
    };
    let baseline = figure.baseline.as_ref().map(|baseline| {
        format!(" {:>7.1} ms {:>7.2} {:>7.2}", baseline.measured.seconds * 1e3, baseline.time, baseline.memory)
    });
    let baseline = baseline.unwrap_or_default();
    format!(
        "{:<24} {:<6} {:>7.1} ms {:>7.1} ms {:>7.1} {:>7.1} MB{baseline}{goal}",
        figure.scenario.name,
        if figure.second_run { "second" } else { "first" },
        figure.wrun.seconds * 1e3,
        figure.floor.seconds * 1e3,
        figure.ratio(),
        figure.wrun.kilobytes as f64 / 1e3,
    )
}

fn to_json(figure: &Figure) -> Value {
    json!({
        "scenario": figure.scenario.name,
        "run": if figure.second_run { "second" } else { "first" },
        "wrun": {"seconds": figure.wrun.seconds, "kilobytes": figure.wrun.kilobytes},
        "floor": {"seconds": figure.floor.seconds, "kilobytes": figure.floor.kilobytes},
        "ratio": figure.ratio(),
        "baseline": figure.baseline.as_ref().map(|baseline| json!({
            "seconds": baseline.measured.seconds,
            "kilobytes": baseline.measured.kilobytes,
            "time_ratio": baseline.time,
            "memory_ratio": baseline.memory,
        })),
        "goal_reached": figure.reached(),
    })
}

/// All first and all second runs against the baseline's, as geometric means.
fn tell_compared(figures: &[Figure]) {
    for second_run in [false, true] {
        let chosen = figures.iter().filter(|figure| figure.second_run == second_run);
        let ratios: Vec<f64> = chosen.filter_map(|figure| Some(figure.baseline.as_ref()?.time)).collect();
        if !ratios.is_empty() {
            let word = if second_run { "second" } else { "first" };
            let times = geometric_mean(&ratios);
            say::result(&format!("all {word} runs: {times:.2} times the baseline's time (geometric mean)"));
        }
    }
}

fn geometric_mean(all: &[f64]) -> f64 {
    (all.iter().map(|one| one.ln()).sum::<f64>() / all.len() as f64).exp()
}

/// What one more policy costs a whole run: the slope between 10 and 100 empty ones.
fn tell_per_policy(figures: &[Figure]) {
    let second = |policies: usize| {
        let of = |figure: &&Figure| figure.second_run && figure.scenario.work == Work::Nothing;
        figures.iter().filter(of).find(|figure| figure.scenario.policies == policies)
    };
    let (Some(ten), Some(hundred)) = (second(10), second(100)) else { return };
    let seconds = (hundred.wrun.seconds - ten.wrun.seconds) / 90.0;
    let kilobytes = (hundred.wrun.kilobytes as f64 - ten.wrun.kilobytes as f64) / 90.0;
    say::result(&format!("one more empty policy in a whole run: {:.0} us, {kilobytes:.0} kB", seconds * 1e6));
}

/// Costs inside the sandbox, which no whole process shows: see `tests/examples/sandbox_costs.rs` and
/// `guests/ruby/build/examples/ruby_costs.rs`.
fn sandbox_costs(examples: &Path, fixtures: &Path) -> Result<Map<String, Value>> {
    let mut costs = Map::new();
    for example in ["sandbox_costs", "ruby_costs"] {
        let mut command = Command::new(examples.join(example));
        command.env("WRUN_FIXTURES", fixtures).stdin(Stdio::null()).stderr(Stdio::inherit());
        let output = command.output().with_context(|| format!("cannot start {example}"))?;
        ensure!(output.status.success(), "{example} cannot measure");
        let said: Map<String, Value> =
            serde_json::from_slice(&output.stdout).with_context(|| format!("what {example} says is no JSON"))?;
        costs.extend(said);
    }
    Ok(costs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_taken_apart_for_time_and_memory() {
        let all = [(3.0, 10), (1.0, 30), (2.0, 20)].map(|(seconds, kilobytes)| Measured { seconds, kilobytes });
        let middle = median(all.to_vec());
        assert_eq!((middle.seconds, middle.kilobytes), (2.0, 20));
    }

    #[test]
    fn builds_are_compared_within_each_repetition() {
        let pair = |seconds: f64| [seconds, 2.0 * seconds].map(|seconds| Measured { seconds, kilobytes: 100 });
        // The machine was three times as slow in the second repetition.
        let once = |slow: f64| Repetition { wrun: pair(1.1 * slow), baseline: Some(pair(slow)), floor: pair(slow) };
        let all = [once(1.0), once(3.0), once(1.0)];
        for second_run in [false, true] {
            let figure = Figure::new(&SCENARIOS[0], second_run, &all);
            let baseline = figure.baseline.expect("a baseline");
            assert!((baseline.time - 1.1).abs() < 1e-9 && (baseline.memory - 1.0).abs() < 1e-9);
            assert!((figure.floor.seconds - if second_run { 2.0 } else { 1.0 }).abs() < 1e-9);
        }
        assert!((geometric_mean(&[2.0, 0.5]) - 1.0).abs() < 1e-9);
        let alone = Repetition { baseline: None, ..once(1.0) };
        assert!(Figure::new(&SCENARIOS[0], false, &[alone]).baseline.is_none());
    }

    #[test]
    fn a_checkout_that_was_not_built_is_no_baseline() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let error = Baseline::find(folder.path()).err().expect("nothing is there").to_string();
        assert!(error.contains("release/wrun is missing: run `cargo xtask bench"), "{error}");
    }
}
