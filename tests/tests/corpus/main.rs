//! What Chef does: whole runs of small cookbooks, held against what real Chef gave (the corpus's README says how).
//!
//! Every case is run in scratch folders of its own, those that change the machine itself in a throw-away root; cases run
//! beside each other. Prints one line per case and `N passed, M failed`. `WRUN_CORPUS` names another corpus; a folder that
//! is missing is a failure. Words on the command line choose cases by parts of their names, `=NAME` exactly one; differences are
//! shown in full. `--show` also prints what the program gave.
//!
//! ```text
//! cargo test -p specs --test corpus -- =cr-basics
//! ```

mod case;
mod different;
mod place;
mod policyfile;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result, ensure};

use case::Case;

/// The most lines of a difference, and characters of a line, that are shown where several cases are run.
const SHORT: (usize, usize) = (8, 240);

/// What was asked for on the command line.
struct Wanted {
    words: Vec<String>,
    show: bool,
}

impl Wanted {
    fn read() -> Self {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let show = arguments.iter().any(|argument| argument == "--show");
        // The test harness's own options, which a caller of all tests gives, mean nothing here.
        Self { words: arguments.into_iter().filter(|argument| !argument.starts_with('-')).collect(), show }
    }

    fn has(&self, name: &str) -> bool {
        let fits =
            |word: &String| word.strip_prefix('=').map_or_else(|| name.contains(word.as_str()), |exact| exact == name);
        self.words.is_empty() || self.words.iter().any(fits)
    }
}

fn main() -> ExitCode {
    match run(&Wanted::read()) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            say(&format!("corpus: {error:#}\n0 passed, 1 failed\ntest result: FAILED. 0 passed; 1 failed; 0 ignored"));
            ExitCode::FAILURE
        }
    }
}

/// A case of either kind.
enum Task {
    /// A whole run.
    Run(Case),
    /// Commands on a Policyfile.
    Lock(policyfile::Case),
}

impl Task {
    fn title(&self) -> String {
        match self {
            Self::Run(case) => case.title(),
            Self::Lock(case) => case.name.clone(),
        }
    }

    fn differences(&self, show: bool) -> Result<Vec<String>> {
        match self {
            Self::Run(case) => case.differences(show),
            Self::Lock(case) => case.differences(show),
        }
    }
}

/// Runs the cases; returns how many failed.
fn run(wanted: &Wanted) -> Result<usize> {
    let folder = corpus();
    let documented = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/compatibility.md");
    let documents = std::fs::read_to_string(documented).context(documented)?;
    let mut missing = different::undocumented(&documents);
    missing.extend(policyfile::different::undocumented(&documents));
    ensure!(missing.is_empty(), "docs/compatibility.md lacks these lines:\n{}", missing.join("\n"));
    let runs = Case::all(&folder.join("converge"))?;
    let elsewhere = Case::elsewhere(&runs);
    let runs = runs.into_iter().chain(elsewhere).map(Task::Run);
    let locks = policyfile::Case::all(&folder.join("policyfile"))?.into_iter().map(Task::Lock);
    let cases: Vec<Task> = runs.chain(locks).filter(|case| wanted.has(&case.title())).collect();
    ensure!(!cases.is_empty(), "no case of {} has such a name", folder.display());
    let needs_root = cases.iter().any(|case| matches!(case, Task::Run(_)));
    if needs_root && let Some(sentence) = specs::base::missing_prerequisite() {
        anyhow::bail!(sentence);
    }
    let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let out = Mutex::new(());
    std::thread::scope(|scope| {
        let workers = std::thread::available_parallelism().map_or(1, usize::from).min(cases.len());
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let differences = case.differences(wanted.show);
                    let differences = differences.unwrap_or_else(|error| vec![format!("{error:#}")]);
                    failed.fetch_add(usize::from(!differences.is_empty()), Ordering::Relaxed);
                    let _one_at_a_time = out.lock();
                    report(&case.title(), &differences, cases.len() == 1);
                }
            });
        }
    });
    let failed = failed.into_inner();
    let passed = cases.len() - failed;
    let word = if failed == 0 { "ok" } else { "FAILED" };
    say(&format!("{passed} passed, {failed} failed\ntest result: {word}. {passed} passed; {failed} failed; 0 ignored"));
    Ok(failed)
}

/// The corpus's folder: what `WRUN_CORPUS` says, else the project's copy.
fn corpus() -> PathBuf {
    let own = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/corpus"));
    std::env::var_os("WRUN_CORPUS").map_or_else(own, PathBuf::from)
}

fn report(name: &str, differences: &[String], in_full: bool) {
    if differences.is_empty() {
        say(&format!("{name} ... ok"));
    } else {
        let (most, width) = if in_full { (usize::MAX, usize::MAX) } else { SHORT };
        let lines = differences.iter().flat_map(|difference| difference.lines().take(most));
        let lines = lines.map(|line| format!("    {}\n", line.chars().take(width).collect::<String>()));
        say(&format!("{name} ... FAILED\n{}", lines.collect::<String>().trim_end()));
    }
}

/// A reader who closed standard output wants no words.
fn say(text: &str) {
    let _ignored = writeln!(std::io::stdout(), "{text}");
}

/// Reads a JSON file.
fn read_json(path: &std::path::Path) -> Result<serde_json::Value> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))
}
