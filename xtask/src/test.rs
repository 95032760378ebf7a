//! Runs the tests by area.
//!
//! Cargo builds all test programs at once and prints their paths. This module runs them, so that an area can be chosen, all
//! results are counted, and one failure does not hide the others. Several programs run in parallel, since each test uses its
//! own folders, roots, and networks. The area of a test program depends on its package and its source, see [`targets`].

mod border;
mod causes;
mod contract;
mod effects;
mod map;
mod operations;
mod programs;
mod style;
mod supply;
mod targets;
mod waiting;
mod words;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::ScopedJoinHandle;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

use self::targets::TestProgram;
use crate::{checkout, guests, say};

/// The arguments of `cargo xtask test`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Which areas to run; all where none is named
    areas: Vec<Area>,
    /// Run only the tests whose names contain this text
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
}

/// A part of the tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum Area {
    /// Each room's own tests
    Unit,
    /// What Chef computes, from the folder WRUN_VECTORS or tests/vectors
    Vectors,
    /// What Chef does, from the folder WRUN_CORPUS or tests/corpus
    Corpus,
    /// Guests that mean harm
    Hostile,
    /// The whole program in throw-away roots
    Specs,
    /// Formatting, lints, licences, the rooms' walls
    Style,
}

const AREAS: [Area; 6] = [Area::Unit, Area::Vectors, Area::Corpus, Area::Hostile, Area::Specs, Area::Style];

impl Area {
    fn name(self) -> &'static str {
        match self {
            Self::Unit => "unit",
            Self::Vectors => "vectors",
            Self::Corpus => "corpus",
            Self::Hostile => "hostile",
            Self::Specs => "specs",
            Self::Style => "style",
        }
    }
}

/// How many tests passed and failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Count {
    passed: u64,
    failed: u64,
}

impl Count {
    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

/// The slowest test programs, as package and target. They start first, so that none of them still runs alone at the end.
const LONG: [(&str, &str); 13] = [
    ("xtask", "package (test)"),
    ("tests", "book (test)"),
    ("author", "skeleton (test)"),
    ("tests", "bootstrap (test)"),
    ("tests", "ruby_policies (test)"),
    ("providers", "system (test)"),
    ("tests", "policy_tests (test)"),
    ("tests", "example_policies (test)"),
    ("agent", "weeks (test)"),
    ("build", "reproducible (test)"),
    ("monitoring", "collectd (test)"),
    ("tests", "reports (test)"),
    ("build", "hostile (test)"),
];

/// Runs the chosen areas and prints one summary line.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let areas = if arguments.areas.is_empty() { AREAS.to_vec() } else { arguments.areas.clone() };
    let with_programs = areas.iter().any(|area| *area != Area::Style);
    let with_style = areas.contains(&Area::Style) && arguments.filter.is_none();
    if with_programs && let Some(sentence) = specs::base::missing_prerequisite() {
        bail!("{sentence} (`cargo xtask test style` runs without)");
    }
    let built = if with_programs { Some((build()?, targets::build(&areas)?)) } else { None };
    let mut total = Count::default();
    std::thread::scope(|scope| -> Result<()> {
        // The style checks run in parallel to the tests, with a lower priority.
        let style = with_style.then(|| scope.spawn(style::run));
        if let Some((program, programs)) = &built {
            total.add(run_programs(programs, program, arguments.filter.as_deref())?);
            if areas.contains(&Area::Unit) && arguments.filter.is_none() {
                total.add(run_documentation_tests()?);
            }
        }
        if let Some(style) = style {
            total.add(joined(style)?);
        }
        Ok(())
    })?;
    if arguments.filter.is_none() {
        waiting::lines(&areas)?.iter().for_each(|line| say::line(line));
    }
    say::result(&format!("{} passed, {} failed", total.passed, total.failed));
    Ok(if total.failed == 0 && total.passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Builds the program, the guests, the Ruby runtime, and the base root for the tests. Returns the program's path. Independent
/// parts are built in parallel.
fn build() -> Result<PathBuf> {
    let compiler = guests::find_compiler()?;
    std::thread::scope(|scope| {
        let root = scope.spawn(|| specs::base::base_root(&mut say::line));
        say::line("building the program and the tests (the first build takes some minutes)");
        let program = checkout::build_program_and_tests()?;
        let runtime = scope.spawn(|| guests::build_runtime(&checkout::WITH_TESTS));
        guests::build(&compiler)?;
        joined(runtime)?;
        joined(root)?;
        Ok(program)
    })
}

fn joined<T>(thread: ScopedJoinHandle<'_, Result<T>>) -> Result<T> {
    thread.join().unwrap_or_else(|_| bail!("a part of the work could not be done: see above"))
}

/// Runs test programs: first those with hostile guests, one after the other because their time is limited. Then the others
/// run in parallel.
fn run_programs(programs: &[TestProgram], program: &Path, filter: Option<&str>) -> Result<Count> {
    let (hostile, mut others): (Vec<&TestProgram>, Vec<&TestProgram>) =
        programs.iter().partition(|test| test.area == Area::Hostile);
    let place = |test: &TestProgram| LONG.iter().position(|long| *long == (test.package.as_str(), test.name.as_str()));
    others.sort_by_key(|test| (place(test).unwrap_or(LONG.len()), std::cmp::Reverse(test.area)));
    let mut total = run_beside_each_other(&hostile, 1, program, filter)?;
    // One more worker than processors, since many tests wait for a child, a lock, or a clock.
    let workers = std::thread::available_parallelism().map_or(1, usize::from) + 1;
    total.add(run_beside_each_other(&others, workers, program, filter)?);
    Ok(total)
}

fn run_beside_each_other(
    tests: &[&TestProgram],
    workers: usize,
    program: &Path,
    filter: Option<&str>,
) -> Result<Count> {
    let (next, total) = (AtomicUsize::new(0), Mutex::new(Count::default()));
    let work = || -> Result<()> {
        while let Some(test) = tests.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (count, words) = run_program(test, program, filter)?;
            let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
            total.add(count);
            words.iter().for_each(|line| say::line(line));
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        running.into_iter().try_for_each(joined)
    })?;
    Ok(total.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Runs one test program. Returns the lines to print: all output if a test failed or the area is the corpus; otherwise only
/// the counts of vector tests.
fn run_program(test: &TestProgram, program: &Path, filter: Option<&str>) -> Result<(Count, Vec<String>)> {
    let heading = format!("{}: {} {}", test.area.name(), test.package, test.name);
    let mut command = Command::new(&test.executable);
    command
        .arg("--show-output")
        .args(filter)
        .current_dir(&test.folder)
        .env("CARGO_MANIFEST_DIR", &test.folder)
        // A different snapshot must be a failure, not a new snapshot.
        .env("INSTA_UPDATE", "no")
        .stdin(Stdio::null());
    if test.folder.starts_with(checkout::root().join("policies")) {
        // Tests of policies find the program through this variable, as authors' tests do. The program builds guests in the
        // common target folder.
        command.env("WRUN", program).env("CARGO_TARGET_DIR", checkout::guest_target());
    } else {
        command.env("WRUN_PROGRAM", program);
    }
    let began = Instant::now();
    let output = command.output().with_context(|| format!("cannot run {}", test.executable.display()))?;
    let took = began.elapsed().as_secs_f64();
    let text = String::from_utf8_lossy(&output.stdout);
    let count = judge(&text, output.status.success());
    let mut words = Vec::new();
    // For the corpus, all cases are shown, including those that passed.
    if count.failed > 0 || test.area == Area::Corpus {
        words.push(format!("{text}{}", String::from_utf8_lossy(&output.stderr)));
    } else {
        words.extend(text.lines().filter(|line| is_file_count(line)).map(|line| format!("    {}", line.trim())));
    }
    if count != Count::default() {
        words.push(format!("{heading}: {} passed, {} failed ({took:.1} s)", count.passed, count.failed));
    }
    Ok((count, words))
}

/// Runs the examples in documentation comments of the whole workspace and of the SDK. The whole workspace is tested at once,
/// so that features are those of the other tests and nothing is built twice. The SDK's examples are only compiled.
fn run_documentation_tests() -> Result<Count> {
    let mut workspace = checkout::linting_cargo();
    workspace.args(["test", "--quiet", "--doc", "--workspace"]);
    let mut sdk = checkout::cargo();
    sdk.args(["test", "--quiet", "--doc", "--package", "wrun-sdk", "--manifest-path"]);
    sdk.arg(checkout::root().join("guests/Cargo.toml")).arg("--target-dir").arg(checkout::guest_target());
    let mut count = documentation_tests(workspace)?;
    let examples = documentation_tests(sdk)?;
    // If the SDK has moved, cargo may find no examples without an error, so zero examples count as a failure.
    count.add(if examples == Count::default() { Count { passed: 0, failed: 1 } } else { examples });
    say::line(&format!("unit: examples: {} passed, {} failed", count.passed, count.failed));
    Ok(count)
}

fn documentation_tests(mut command: Command) -> Result<Count> {
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let count = judge(&text, output.status.success());
    if count.failed > 0 {
        say::line(&format!("{text}{}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(count)
}

/// Counts the results in a test program's output. A program that fails without naming a failed test counts as one failure.
fn judge(text: &str, succeeded: bool) -> Count {
    let mut count = Count::default();
    for line in text.lines().filter_map(|line| line.trim_start().strip_prefix("test result: ")) {
        let number = |what: &str| {
            let words: Vec<&str> = line.split([' ', ';', '.']).filter(|word| !word.is_empty()).collect();
            words.windows(2).find_map(|pair| match pair {
                [number, word] if *word == what => number.parse::<u64>().ok(),
                _ => None,
            })
        };
        count.passed += number("passed").unwrap_or(0);
        count.failed += number("failed").unwrap_or(0);
    }
    if !succeeded && count.failed == 0 {
        count.failed = 1;
    }
    count
}

/// Returns whether a line is a vector test's count for one file.
fn is_file_count(line: &str) -> bool {
    !line.starts_with("test result") && line.contains(" passed, ") && line.trim_end().ends_with(" failed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_counted() {
        let check = |text: &str, succeeded: bool, passed: u64, failed: u64| {
            assert_eq!(judge(text, succeeded), Count { passed, failed }, "{text}");
        };
        let good = "test result: ok. 15 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s\n";
        let bad = "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.1s\n";
        check(good, true, 15, 0);
        check(&format!("running 5 tests\n{bad}"), false, 3, 2);
        check(&format!("{good}{good}"), true, 30, 0);
        check("running 5 tests\n", false, 0, 1);
        check(good, false, 15, 1);
    }

    #[test]
    fn counts_of_vector_files_are_recognised() {
        assert!(is_file_count("run_list_items.json: 80 passed, 0 failed"));
        assert!(!is_file_count("test result: ok. 1 passed; 0 failed; 0 ignored"));
        assert!(!is_file_count("a resource that has passed, and one that failed twice"));
    }
}
