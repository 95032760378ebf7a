//! Measures wrun's own share of a run: times of whole processes as ratios to the floor, taken in the same benchmark.
//!
//! Absolute times depend more on the machine than on the program. So each figure is compared with the floor's figure from the
//! same second. Each pair of runs uses a new temporary root; the second run finds the results of the first. Medians of
//! several runs are reported.
//!
//! With `--baseline`, another build is also measured in the same repetitions: a run of this build, a run of the other build,
//! and the floor. Other load on the machine affects all of them. So the median of the ratios shows which build is faster,
//! even on a busy machine.

mod attacks;
mod baseline;
mod commands;
mod figures;
mod policies;
mod releases;
mod scenarios;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Map, Value, json};
use specs::{Machine, Network, Program, Root};

use baseline::{Baseline, Build};
use figures::{Figure, Measured, Pair, Repetition};
use scenarios::{SCENARIOS, Scenario};

pub(crate) use scenarios::Work;

use crate::{checkout, guests, say};

/// The arguments of `cargo xtask bench`.
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

/// The arguments of the hidden command `bench-measure`: a command that it runs once.
#[derive(Debug, clap::Args)]
pub(crate) struct MeasureArguments {
    /// Where what the command prints goes. The command may fail then
    #[arg(long)]
    printed: Option<PathBuf>,
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    command: Vec<String>,
}

/// Builds the release profile and measures all figures. It fails if a figure exceeds a goal for time or memory. Ratios are
/// only reported.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
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
    let artifacts = policies::make(&executable)?;
    specs::base::base_root(&mut say::line)?;
    let tool = executable.with_file_name("xtask");
    let this = Build { program: Program::at(&executable)?, policies: artifacts };
    let other = baseline.as_ref().map(Baseline::build).transpose()?;
    let bench = Bench { this, other, tool };
    let chosen = |scenario: &&Scenario| arguments.only.as_ref().is_none_or(|text| scenario.name.contains(text));
    let mut taken = Vec::new();
    if !arguments.json {
        let baseline = if arguments.baseline.is_some() { "   baseline    time  memory" } else { "" };
        say::result(&format!("scenario                 run        wrun      floor   ratio     memory{baseline}"));
    }
    for scenario in SCENARIOS.iter().filter(chosen) {
        for figure in bench.figures(scenario, arguments.runs)? {
            if !arguments.json {
                say::result(&figures::line(&figure));
            }
            taken.push(figure);
        }
    }
    let only = arguments.only.as_deref();
    let attacks_taken = attacks::figures(&executable, &bench.tool, arguments.runs, only, !arguments.json)?;
    let commands_taken = commands::figures(&executable, arguments.runs, only, arguments.json)?;
    let releases_taken = releases::figures(&executable, arguments.runs, only, arguments.json)?;
    let costs = sandbox_costs(&checkout::release_examples()?, &checkout::fixtures())?;
    let before = baseline.map(|baseline| sandbox_costs(&baseline.examples(), &baseline.fixtures())).transpose()?;
    if arguments.json {
        let figures: Vec<Value> = taken.iter().map(figures::to_json).collect();
        let sandbox = json!({"sandbox": costs, "sandbox_of_baseline": before});
        let attacks: Vec<Value> = attacks_taken.iter().map(attacks::Figure::to_json).collect();
        let commands: Vec<Value> = commands_taken.iter().map(commands::Figure::to_json).collect();
        let releases: Vec<Value> = releases_taken.iter().map(releases::Figure::to_json).collect();
        let mut all = json!({
            "version": 1, "runs": arguments.runs, "figures": figures, "attacks": attacks, "commands": commands,
            "releases": releases,
        });
        if let (Some(all), Value::Object(sandbox)) = (all.as_object_mut(), sandbox) {
            all.extend(sandbox);
        }
        say::result(&all.to_string());
    } else {
        figures::tell_compared(&taken);
        figures::tell_per_policy(&taken);
        for (name, value) in &costs {
            let before = before.as_ref().and_then(|before| before.get(name));
            let before = before.map(|before| format!(" (baseline: {before})")).unwrap_or_default();
            say::result(&format!("{}: {value}{before}", name.replace('_', " ")));
        }
    }
    let missed =
        taken.iter().filter_map(Figure::missed).chain(commands_taken.iter().filter_map(commands::Figure::missed));
    let missed: Vec<String> = missed.collect();
    missed.iter().for_each(|sentence| say::line(&format!("goal missed: {sentence}")));
    Ok(if missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs a command once and prints its time and memory. This is a separate process, so that the kernel's figures cover only
/// that command.
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

/// The common data of all scenarios.
struct Bench {
    this: Build,
    /// The build that this one is compared with. `None`: there is no comparison.
    other: Option<Build>,
    /// The path of this program in the release profile. It measures commands and contains the floor.
    tool: PathBuf,
}

impl Bench {
    /// Measures the first and second run of a scenario. One repetition before fills the caches and is not counted.
    fn figures(&self, scenario: &'static Scenario, runs: usize) -> Result<[Figure; 2]> {
        self.once(scenario, 0)?;
        let all: Vec<_> = (0..runs).map(|number| self.once(scenario, number)).collect::<Result<_>>()?;
        Ok([Figure::new(scenario, false, &all), Figure::new(scenario, true, &all)])
    }

    /// Measures the first and second run of each build, and then of the floor. Each pair has a new root. The order of the
    /// builds alternates.
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

    /// Measures a build's first and second run in a new root, on a new node.
    fn pair(&self, scenario: &Scenario, build: &Build) -> Result<Pair> {
        let program = &build.program;
        let attributes = program.configuration().join("attributes.json");
        std::fs::write(&attributes, scenario.attributes().to_string())?;
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
    let names: Vec<String> = (0..scenario.policies).map(|number| policies::name(scenario.work, number)).collect();
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

/// Measures costs inside the sandbox, which are not visible in the time of a whole process: see
/// `tests/examples/sandbox_costs.rs` and `guests/ruby/build/examples/ruby_costs.rs`.
fn sandbox_costs(examples: &Path, fixtures: &Path) -> Result<Map<String, Value>> {
    let mut costs = Map::new();
    for example in ["sandbox_costs", "ruby_costs"] {
        let mut command = Command::new(examples.join(example));
        command.env("WRUN_FIXTURES", fixtures).stdin(Stdio::null()).stderr(Stdio::inherit());
        let output = command.output().with_context(|| format!("cannot start {example}"))?;
        ensure!(output.status.success(), "{example} cannot measure");
        let said: Map<String, Value> =
            serde_json::from_slice(&output.stdout).with_context(|| format!("what {example} says is not JSON"))?;
        costs.extend(said);
    }
    Ok(costs)
}
