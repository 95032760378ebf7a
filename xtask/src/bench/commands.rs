//! Measures commands that read a node with 200 layers of 100 attributes each. The times are those of the whole process.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use specs::{Network, Program, Root};

use crate::say;

/// Number of layers of the node.
const LAYERS: usize = 200;

/// Number of attributes of each layer. A quarter of them is in every layer, so that they must be merged.
const LEAVES: usize = 100;

/// A command, its largest allowed time in seconds, and the words of a shell that asks for completions.
struct Timed {
    name: &'static str,
    words: &'static [&'static str],
    goal: f64,
    is_completion: bool,
}

const COMMANDS: [Timed; 7] = [
    Timed { name: "wrun --help", words: &["--help"], goal: 0.010, is_completion: false },
    Timed { name: "wrun converge --help", words: &["converge", "--help"], goal: 0.010, is_completion: false },
    Timed { name: "wrun completions bash", words: &["completions", "bash"], goal: 0.010, is_completion: false },
    Timed { name: "completion of a command", words: &["no"], goal: 0.010, is_completion: true },
    Timed { name: "completion of a node", words: &["node", "show", "-N", "n"], goal: 0.010, is_completion: true },
    Timed { name: "200 layers merged", words: &["layer", "show", "--merged"], goal: 0.020, is_completion: false },
    Timed { name: "wrun node explain", words: &["node", "explain", "shared.key7"], goal: 0.030, is_completion: false },
];

/// The median of one command.
pub(super) struct Figure {
    name: &'static str,
    seconds: f64,
    goal: f64,
}

/// Measures all figures with names that contain `only`, and prints each one unless `quiet`.
pub(super) fn figures(executable: &Path, runs: usize, only: Option<&str>, quiet: bool) -> Result<Vec<Figure>> {
    let chosen: Vec<&Timed> = COMMANDS.iter().filter(|one| only.is_none_or(|text| one.name.contains(text))).collect();
    if chosen.is_empty() {
        return Ok(vec![]);
    }
    let program = Program::at(executable)?;
    make_node(&program)?;
    let mut figures = vec![];
    for one in chosen {
        let mut seconds = (0..runs.max(5) * 4).map(|_| once(&program, one)).collect::<Result<Vec<f64>>>()?;
        seconds.sort_by(f64::total_cmp);
        let median = seconds.get(seconds.len() / 2).copied().context("no run")?;
        let figure = Figure { name: one.name, seconds: median, goal: one.goal };
        if !quiet {
            say::result(&figure.line());
        }
        figures.push(figure);
    }
    Ok(figures)
}

fn once(program: &Program, one: &Timed) -> Result<f64> {
    let mut command = Command::new(program.executable());
    if one.is_completion {
        command
            .args(["--", "wrun"])
            .env("_WRUN_COMPLETE", "bash")
            .env("_CLAP_COMPLETE_INDEX", one.words.len().to_string());
    }
    command.args(one.words).envs(program.environment()).stdin(Stdio::null()).stdout(Stdio::null());
    let begin = Instant::now();
    let status = command.status().with_context(|| format!("cannot start {}", one.name))?;
    let seconds = begin.elapsed().as_secs_f64();
    ensure!(status.success(), "{} failed", one.name);
    Ok(seconds)
}

/// Creates a node with all layers, and makes a run with them.
fn make_node(program: &Program) -> Result<()> {
    let _ = program.run(&["node", "create", "n"])?.expect_code(0)?;
    for layer in 0..LAYERS {
        let path = program.configuration().join(format!("layer{layer}.json"));
        let shared = (0..LEAVES / 4).map(|key| (format!("key{key}"), json!(layer)));
        let own = (LEAVES / 4..LEAVES).map(|key| (format!("key{key}"), json!(format!("value {key}"))));
        let shared: serde_json::Map<String, Value> = shared.collect();
        let own: serde_json::Map<String, Value> = own.collect();
        let document = json!({ "default_attributes": { "shared": shared, format!("own{layer}"): own } });
        std::fs::write(&path, serde_json::to_string_pretty(&document)?)?;
        let _ = program.run(&["layer", "add", &path.display().to_string()])?.expect_code(0)?;
    }
    let cookbook = program.configuration().join("cookbooks/empty");
    std::fs::create_dir_all(cookbook.join("recipes"))?;
    std::fs::write(cookbook.join("metadata.rb"), "name 'empty'\n")?;
    std::fs::write(cookbook.join("recipes/default.rb"), "")?;
    let (root, cookbooks) = (Root::new()?, program.configuration().join("cookbooks").display().to_string());
    let (machine, place) = (root.machine(Network::Own)?, root.path().display().to_string());
    let arguments =
        ["converge", "-N", "n", "--allow-all", "--root", &place, "--cookbooks", &cookbooks, "--run-list", "empty"];
    let _ = program.run_in(&machine, &arguments)?.expect_code(0)?;
    Ok(())
}

impl Figure {
    /// Returns a sentence if the figure exceeds its goal.
    pub(super) fn missed(&self) -> Option<String> {
        let (taken, most) = (self.seconds * 1e3, self.goal * 1e3);
        (!self.is_within()).then(|| format!("{}: {taken:.1} ms, at most {most:.0} ms were wanted", self.name))
    }

    fn is_within(&self) -> bool {
        self.seconds <= self.goal
    }

    fn line(&self) -> String {
        let verdict = if self.is_within() { "within" } else { "above" };
        format!("{:<24} {:>9.1} ms   {verdict} the goal of {:.0} ms", self.name, self.seconds * 1e3, self.goal * 1e3)
    }

    pub(super) fn to_json(&self) -> Value {
        json!({ "name": self.name, "seconds": self.seconds, "goal": self.goal, "within": self.is_within() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_above_its_goal_is_told() {
        let figure = |seconds: f64| Figure { name: "wrun --help", seconds, goal: 0.010 };
        assert_eq!(figure(0.010).missed(), None);
        assert_eq!(figure(0.012).missed().as_deref(), Some("wrun --help: 12.0 ms, at most 10 ms were wanted"));
        assert!(figure(0.012).line().contains("above the goal of 10 ms"));
    }
}
