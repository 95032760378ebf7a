//! Measures locks and releases: whole processes, and the solver alone.
//!
//! ```text
//! lock 20 cookbooks        `wrun policy update`, with 20 cookbooks in folders, each with a metadata.rb
//! solve, refuse            500 cookbooks with 20 versions each, by the solver alone
//! nothing new released     a converge that asks a repository behind an address, beside one without a repository
//! ```

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use policyfile::constraint::Constraint;
use policyfile::solver::{Demand, Demander, Universe, solve};
use serde_json::{Value, json};
use specs::{Answer, Program, Server};

use crate::say;

/// Number of locked cookbooks.
const COOKBOOKS: usize = 20;

/// Largest allowed time for locking them, in seconds.
const LOCK: f64 = 0.3;

/// Largest allowed time for solving or rejecting a universe, in seconds.
const SOLVE: f64 = 1.0;
const REFUSE: f64 = 2.0;

/// Largest time that an unchanged repository may add to a converge, in seconds.
const NOTHING_NEW: f64 = 0.01;

/// One figure: the median, or the difference of two medians.
pub(super) struct Figure {
    name: &'static str,
    seconds: f64,
    goal: f64,
}

impl Figure {
    fn line(&self) -> String {
        let verdict = if self.seconds <= self.goal { "within" } else { "above" };
        format!("{:<24} {:>9.1} ms   {verdict} the goal of {:.0} ms", self.name, self.seconds * 1e3, self.goal * 1e3)
    }

    pub(super) fn to_json(&self) -> Value {
        json!({ "name": self.name, "seconds": self.seconds, "goal": self.goal, "within": self.seconds <= self.goal })
    }
}

/// Measures all figures with names that contain `only`, and prints each one unless `quiet`.
pub(super) fn figures(executable: &Path, runs: usize, only: Option<&str>, quiet: bool) -> Result<Vec<Figure>> {
    type Take = fn(&Path, usize) -> Result<f64>;
    let all: [(&'static str, f64, Take); 4] = [
        ("lock 20 cookbooks", LOCK, lock_cookbooks),
        ("solve 500 x 20", SOLVE, |_, runs| solver("", runs)),
        ("refuse 500 x 20", REFUSE, |_, runs| solver("> 2.0", runs)),
        ("nothing new released", NOTHING_NEW, nothing_new),
    ];
    let mut figures = vec![];
    for (name, goal, take) in all {
        if only.is_some_and(|text| !name.contains(text)) {
            continue;
        }
        let figure = Figure { name, seconds: take(executable, runs.max(5))?, goal };
        if !quiet {
            say::result(&figure.line());
        }
        figures.push(figure);
    }
    Ok(figures)
}

fn median(mut seconds: Vec<f64>) -> Result<f64> {
    seconds.sort_by(f64::total_cmp);
    seconds.get(seconds.len() / 2).copied().context("no run")
}

/// Runs the program once and returns the time in seconds.
fn once(program: &Program, words: &[&str]) -> Result<f64> {
    let mut command = Command::new(program.executable());
    command.args(words).envs(program.environment()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let begin = Instant::now();
    let status = command.status().context("cannot start the program")?;
    let seconds = begin.elapsed().as_secs_f64();
    ensure!(status.success(), "wrun {} failed", words.join(" "));
    Ok(seconds)
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::create_dir_all(path.parent().context("a file has a folder")?)?;
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Locks cookbooks in folders. The first run fills the caches, and is not counted.
fn lock_cookbooks(executable: &Path, runs: usize) -> Result<f64> {
    let program = Program::at(executable)?;
    let folder = program.configuration().join("policy");
    let mut text = "name 'bench'\nrun_list 'c0'\n".to_owned();
    for number in 0..COOKBOOKS {
        let metadata = format!("name 'c{number}'\nversion '1.{number}.0'\n");
        let next =
            if number + 1 < COOKBOOKS { format!("depends 'c{}', '>= 1.0'\n", number + 1) } else { String::new() };
        write(&folder.join(format!("c{number}/metadata.rb")), &format!("{metadata}{next}"))?;
        write(&folder.join(format!("c{number}/recipes/default.rb")), "log 'hello'\n")?;
        text.push_str(&format!("cookbook 'c{number}', path: 'c{number}'\n"));
    }
    let file = folder.join("Policyfile.rb");
    write(&file, &text)?;
    let file = file.display().to_string();
    let words = ["policy", "update", &file];
    once(&program, &words)?;
    median((0..runs).map(|_| once(&program, &words)).collect::<Result<_>>()?)
}

/// Solves or rejects a universe in which every version depends on three other cookbooks with the same version or newer.
/// `last`: the dependency of the last cookbook on the first one.
fn solver(last: &str, runs: usize) -> Result<f64> {
    let mut universe = Universe::new();
    for cookbook in 0..500_u32 {
        for version in 0..20_u32 {
            let others = [1, 7, 31].into_iter().filter(|step| cookbook + step < 500);
            let others = others.map(|step| (format!("c{}", cookbook + step), format!(">= 1.{}.0", version / step)));
            let mut dependencies: Vec<_> = others.collect();
            if cookbook == 499 && !last.is_empty() {
                dependencies.push(("c0".into(), last.into()));
            }
            universe.entry(format!("c{cookbook}")).or_default().insert(format!("1.{version}.0"), dependencies);
        }
    }
    let demand = Demand { by: Demander::Policyfile, cookbook: "c0".into(), constraint: Constraint::any() };
    let demands = [demand];
    let once = || {
        let begin = Instant::now();
        let solved = solve(&universe, &demands).is_ok();
        ensure!(solved == last.is_empty(), "the solver says something else");
        Ok(begin.elapsed().as_secs_f64())
    };
    median((0..runs).map(|_| once()).collect::<Result<_>>()?)
}

/// Measures the additional time of a remote repository in a converge without news, compared with a converge without a
/// repository. The two alternate, so that other load on the machine affects both.
fn nothing_new(executable: &Path, runs: usize) -> Result<f64> {
    let program = Program::at(executable)?;
    let place = program.configuration();
    let path = |name: &str| place.join(name).display().to_string();
    write(&place.join("web/policy.toml"), "name = \"web\"\nrun_list = [\"web\"]\n")?;
    write(&place.join("web/cookbooks/web/metadata.json"), "{\"name\": \"web\", \"version\": \"1.0.0\"}")?;
    write(&place.join("web/cookbooks/web/recipes/default.rb"), "log 'hello'\n")?;
    std::fs::create_dir_all(place.join("root/etc"))?;
    let (repository, web, policies) = (path("repository"), path("web"), path("policies"));
    for words in [
        &["repository", "init", &repository, "--team", "web"][..],
        &["policy", "push", "prod", &web],
        &["policy", "build", &web, "--output", &policies],
    ] {
        once(&program, words)?;
    }
    let server = served(&place.join("repository"))?;
    let settings = place.join("released.toml");
    write(
        &settings,
        &format!(
            "repository = \"{}\"\nrepository_root = \"{repository}/platform/metadata/1.root.json\"\n\
             repository_refresh = 0\npolicy_group = \"prod\"\n",
            server.address("/")
        ),
    )?;
    let (settings, root) = (settings.display().to_string(), path("root"));
    let fixed = ["converge", "--root", &root, "--node-name", "bench", "--allow-all", "--policy-name", "web"];
    let with = [&fixed[..], &["--config", &settings]].concat();
    let without = [&fixed[..], &["--policies", &policies]].concat();
    once(&program, &with)?;
    once(&program, &without)?;
    let (mut asked, mut alone) = (vec![], vec![]);
    for _ in 0..runs * 4 {
        asked.push(once(&program, &with)?);
        alone.push(once(&program, &without)?);
    }
    Ok(median(asked)? - median(alone)?)
}

/// Starts a server on the loopback that serves all files of a folder.
fn served(top: &Path) -> Result<Server> {
    let server = Server::here()?;
    let mut open = vec![top.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let below = path.strip_prefix(top)?.display().to_string();
            server.answer(&format!("/{below}"), Answer::ok(std::fs::read(&path)?));
        }
    }
    Ok(server)
}
