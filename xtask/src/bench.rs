//! How much of a run is wrun's own: whole-process figures as ratios to the floor, in one run.
//!
//! Absolute times say more about the machine than about the program, so each figure stands beside the floor's, taken
//! within the same second. Every run starts in a fresh throw-away root; the second run finds what the first one made.
//! Medians of several runs are reported.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Map, Value, json};
use specs::{Machine, Network, Program, Root};

use crate::{bench_policies, checkout, floor, guests, say};

/// What `cargo xtask bench` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Print the figures as JSON on standard output
    #[arg(long)]
    json: bool,
    /// How often each figure is taken; the median is reported
    #[arg(long, default_value_t = 5, value_name = "NUMBER")]
    runs: usize,
    /// Only the scenarios whose names contain this text
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

/// What the hidden command `bench-measure` takes: a command that it runs once.
#[derive(Debug, clap::Args)]
pub(crate) struct MeasureArguments {
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

/// The medians of one scenario's first or second run.
struct Figure {
    scenario: &'static Scenario,
    second_run: bool,
    wrun: Measured,
    floor: Measured,
}

impl Figure {
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
    let compiler = guests::find_compiler()?;
    say::line("building the program with the release profile (the first build takes many minutes)");
    let executable = checkout::build_release_program()?;
    guests::build_fixtures(&compiler)?;
    guests::build_runtime(&checkout::RELEASE_WITH_EXAMPLES)?;
    let policies = bench_policies::make(&executable)?;
    specs::base::base_root(&mut say::line)?;
    let bench = Bench { program: Program::at(&executable)?, tool: executable.with_file_name("xtask"), policies };
    let chosen = |scenario: &&Scenario| arguments.only.as_ref().is_none_or(|text| scenario.name.contains(text));
    let mut figures = Vec::new();
    if !arguments.json {
        say::result("scenario                 run        wrun      floor   ratio     memory");
    }
    for scenario in SCENARIOS.iter().filter(chosen) {
        for figure in bench.figures(scenario, arguments.runs)? {
            if !arguments.json {
                say::result(&line(&figure));
            }
            figures.push(figure);
        }
    }
    let costs = sandbox_costs()?;
    if arguments.json {
        let figures: Vec<Value> = figures.iter().map(to_json).collect();
        say::result(&json!({"version": 1, "runs": arguments.runs, "figures": figures, "sandbox": costs}).to_string());
    } else {
        tell_per_policy(&figures);
        for (name, value) in costs {
            say::result(&format!("{}: {value}", name.replace('_', " ")));
        }
    }
    Ok(())
}

/// Runs a command once and prints what it took. It is a process of its own, so that the kernel's account is of that
/// command alone.
pub(crate) fn measure(arguments: &MeasureArguments) -> Result<()> {
    let (program, rest) = arguments.command.split_first().context("no command")?;
    let begin = Instant::now();
    let status = Command::new(program).args(rest).stdin(Stdio::null()).stdout(Stdio::null()).status();
    let seconds = begin.elapsed().as_secs_f64();
    ensure!(status.with_context(|| format!("cannot start {program}"))?.success(), "{program} failed");
    say::result(&json!({"seconds": seconds, "kilobytes": specs::machine::largest_child()?}).to_string());
    Ok(())
}

/// What all scenarios share.
struct Bench {
    program: Program,
    /// This program in the release profile: the floor, and the one that measures.
    tool: PathBuf,
    /// The folder of the bench policies' artifacts.
    policies: PathBuf,
}

impl Bench {
    /// First and second run of a scenario, with one run before that nobody looks at: it fills caches.
    fn figures(&self, scenario: &'static Scenario, runs: usize) -> Result<[Figure; 2]> {
        self.once(scenario)?;
        let all: Vec<[Measured; 4]> = (0..runs).map(|_| self.once(scenario)).collect::<Result<_>>()?;
        let median = |which: fn(&[Measured; 4]) -> Measured| median(all.iter().map(which).collect());
        let first = Figure {
            scenario,
            second_run: false,
            wrun: median(|[wrun, _, _, _]| *wrun),
            floor: median(|[_, _, floor, _]| *floor),
        };
        let second = Figure {
            scenario,
            second_run: true,
            wrun: median(|[_, wrun, _, _]| *wrun),
            floor: median(|[_, _, _, floor]| *floor),
        };
        Ok([first, second])
    }

    /// wrun's first and second run, then the floor's, each pair in a fresh root.
    fn once(&self, scenario: &Scenario) -> Result<[Measured; 4]> {
        let attributes = self.program.configuration().join("attributes.json");
        std::fs::write(&attributes, attributes_of(scenario).to_string())?;
        let root = Root::new()?;
        let machine = root.machine(Network::Own)?;
        let arguments = self.wrun_arguments(scenario, &root, &attributes);
        // Each repetition begins with a node that nobody knows.
        let state = self.program.state();
        std::fs::remove_dir_all(&state).and_then(|()| std::fs::create_dir(&state))?;
        let wrun = self.program.executable();
        let (first, second) = (self.measured(&machine, wrun, &arguments)?, self.measured(&machine, wrun, &arguments)?);
        drop(machine);
        let floor_root = Root::new()?;
        let machine = floor_root.machine(Network::Own)?;
        let mut arguments = vec!["bench-floor".to_owned()];
        let work = clap::ValueEnum::to_possible_value(&scenario.work).context("a scenario has a name")?;
        arguments.extend([work.get_name().to_owned(), (scenario.count * scenario.policies).to_string()]);
        arguments.push(floor_root.path().display().to_string());
        let floor =
            [self.measured(&machine, &self.tool, &arguments)?, self.measured(&machine, &self.tool, &arguments)?];
        let [floor_first, floor_second] = floor;
        Ok([first, second, floor_first, floor_second])
    }

    fn wrun_arguments(&self, scenario: &Scenario, root: &Root, attributes: &Path) -> Vec<String> {
        let names: Vec<String> =
            (0..scenario.policies).map(|number| bench_policies::name(scenario.work, number)).collect();
        let path = |path: &Path| path.display().to_string();
        let pairs = [
            ("--root", path(root.path())),
            ("--policies", path(&self.policies)),
            ("--policy-name", names.join(",")),
            ("--json-attributes", path(attributes)),
            ("--node-name", "bench".to_owned()),
        ];
        let pairs = pairs.into_iter().flat_map(|(option, value)| [option.to_owned(), value]);
        ["converge", "--allow-all", "--format", "minimal"].map(str::to_owned).into_iter().chain(pairs).collect()
    }

    fn measured(&self, machine: &Machine<'_>, program: &Path, arguments: &[String]) -> Result<Measured> {
        let mut command = machine.outside(&self.tool);
        command.arg("bench-measure").arg("--").arg(program).args(arguments).envs(self.program.environment());
        let output = command.stdin(Stdio::null()).output().context("cannot start a measured command")?;
        let words = || format!("{} failed:\n{}", program.display(), String::from_utf8_lossy(&output.stderr));
        ensure!(output.status.success(), words());
        let value: Value = serde_json::from_slice(&output.stdout).with_context(words)?;
        let seconds = value.get("seconds").and_then(Value::as_f64).context("a measurement has seconds")?;
        let kilobytes = value.get("kilobytes").and_then(Value::as_u64).context("a measurement has kilobytes")?;
        Ok(Measured { seconds, kilobytes })
    }
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
    let mut seconds: Vec<f64> = all.iter().map(|one| one.seconds).collect();
    let mut kilobytes: Vec<u64> = all.iter().map(|one| one.kilobytes).collect();
    seconds.sort_by(f64::total_cmp);
    kilobytes.sort_unstable();
    let middle = all.len() / 2;
    Measured {
        seconds: seconds.get(middle).copied().unwrap_or(f64::NAN),
        kilobytes: kilobytes.get(middle).copied().unwrap_or(0),
    }
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
    format!(
        "{:<24} {:<6} {:>7.1} ms {:>7.1} ms {:>7.1} {:>7.1} MB{goal}",
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
        "goal_reached": figure.reached(),
    })
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
fn sandbox_costs() -> Result<Map<String, Value>> {
    let mut costs = Map::new();
    for example in ["sandbox_costs", "ruby_costs"] {
        let mut command = Command::new(checkout::release_example(example)?);
        command.env("WRUN_FIXTURES", checkout::fixtures()).stdin(Stdio::null()).stderr(Stdio::inherit());
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
}
