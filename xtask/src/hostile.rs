//! `cargo xtask hostile`: every attack of the tests' hostile guest at full size, against the limits that a policy has without
//! any settings, each as the middle one of three policies.
//!
//! The tests try the same recipes with low limits, so that they take seconds. Here each may take what it may: up to its
//! minute of processor time and its hundreds of megabytes.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use artifact::{Artifact, Manifest, ManifestParts};
use serde_json::{Value, json};
use specs::{Machine, Network, Output, Program, Root};

use crate::{checkout, guests, say};

/// How much memory a run may take beside what the attacker may, in kilobytes.
const OWN_MEMORY: u64 = 200_000;

/// The policy before the attacker, the attacker, and the policy after it.
const NAMES: [&str; 3] = ["empty", "hostile", "load"];

/// How many files the policy after the attacker makes.
const FILES: u32 = 200;

/// The attacker may do what its component imports, and nothing of it that matters.
const GRANTS: &str = r#"
[policy.empty]
[policy.load]
paths = ["/srv/load", "/srv/load/**"]
[policy.hostile]
paths = ["/srv/hostile/**"]
clock = true
random = true
environment = ["HOSTILE"]
commands = ["true"]
data_bags = ["hostile"]
"#;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Recipes of the guest `hostile`. All of them if none is named
    attacks: Vec<String>,
}

/// What a run came to.
struct Outcome {
    code: Option<i32>,
    /// How the policies beside the attacker ended.
    others: Vec<String>,
    /// The files that the last policy made.
    files: usize,
    /// What the attacker failed of, as class and message.
    failure: (String, String),
    seconds: f64,
    /// The largest resident set, in kilobytes.
    kilobytes: u64,
    /// What is left of it in the state folder and in the root, in bytes.
    left: u64,
    /// What the attacker may take: memory in kilobytes, disk in bytes.
    most: (u64, u64),
    /// How the next run without the attacker ended.
    next: Option<i32>,
}

impl Outcome {
    /// What did not hold, in words. Empty: all of it held.
    fn broken(&self) -> Vec<String> {
        let mut broken = Vec::new();
        let (class, message) = &self.failure;
        if class == "Wrun::PolicyNotStarted" {
            broken.push(format!("it was not tried: {message}"));
        }
        if !matches!(self.code, Some(0 | 1)) {
            broken.push(format!("the run ended with {:?}", self.code));
        }
        let succeeded = self.others.iter().filter(|outcome| *outcome == "success").count();
        if succeeded != 2 || self.files != FILES as usize {
            broken.push(format!("of the other policies, {succeeded} succeeded and made {} files", self.files));
        }
        if self.kilobytes > self.most.0 + OWN_MEMORY {
            broken.push(format!("more memory than {} MB", (self.most.0 + OWN_MEMORY) / 1_000));
        }
        if self.left > self.most.1 {
            broken.push(format!("more on the disk than {} MB", self.most.1 / 1_000_000));
        }
        if self.next != Some(0) {
            broken.push(format!("the next run ended with {:?}", self.next));
        }
        broken
    }
}

/// Builds what is needed and tries each attack.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if let Some(sentence) = specs::base::missing_prerequisite() {
        bail!(sentence);
    }
    let program = checkout::build_program()?;
    guests::build_fixtures(&guests::find_compiler()?)?;
    specs::base::base_root(&mut say::line)?;
    let tool = std::env::current_exe().context("this program cannot be found")?;
    let all = attacks()?;
    let chosen = if arguments.attacks.is_empty() { &all } else { &arguments.attacks };
    let unknown: Vec<&str> = chosen.iter().filter(|one| !all.contains(one)).map(String::as_str).collect();
    ensure!(unknown.is_empty(), "the guest `hostile` has no recipe {}; it has {}", unknown.join(", "), all.join(", "));
    let mut harmed = Vec::new();
    for attack in chosen {
        let outcome = once(&program, &tool, attack)?;
        let broken = outcome.broken();
        let held = if broken.is_empty() { "held".to_owned() } else { format!("NOT HELD: {}", broken.join("; ")) };
        let (megabytes, left) = (outcome.kilobytes / 1_000, outcome.left / 1_000);
        let figures = format!("{:>7.1} s {megabytes:>6} MB {left:>8} kB left", outcome.seconds);
        say::result(&format!("{attack:<24} {figures}   {held}"));
        if !broken.is_empty() {
            harmed.push(attack.as_str());
        }
    }
    ensure!(harmed.is_empty(), "these did harm: {}", harmed.join(", "));
    Ok(())
}

/// The recipes of the guest `hostile`, as its sources have them: a new one is tried without being listed here.
fn attacks() -> Result<Vec<String>> {
    let folder = checkout::root().join("guests/fixtures/hostile/src");
    let entries = std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut all = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let names = text.split(".recipe(\"").skip(1).filter_map(|rest| rest.split('"').next());
        all.extend(names.filter(|name| *name != "default").map(str::to_owned));
    }
    all.sort();
    ensure!(!all.is_empty(), "{} has no recipes", folder.display());
    Ok(all)
}

/// Runs the three policies in a fresh root, then the two others again.
fn once(executable: &Path, tool: &Path, attack: &str) -> Result<Outcome> {
    let (program, root) = (Program::at(executable)?, Root::new()?);
    let policies = program.configuration().join("policies");
    std::fs::create_dir_all(&policies)?;
    for name in ["empty", "load"] {
        let file = format!("{name}.wasm");
        std::fs::copy(checkout::fixtures().join(&file), policies.join(&file))?;
    }
    std::fs::write(policies.join("hostile.wasm"), hostile(attack)?)?;
    let grants = GRANTS;
    let attributes =
        json!({"load": {"count": FILES, "folder": "/srv/load"}, "hostile": {"folder": "/srv/hostile", "count": 1000}});
    let write = |name: &str, text: &str| {
        let path = program.configuration().join(name);
        std::fs::write(&path, text).map(|()| path.display().to_string())
    };
    let (grants, attributes) = (write("grants.toml", grants)?, write("attributes.json", &attributes.to_string())?);
    std::fs::create_dir_all(root.path().join("srv/hostile"))?;
    let machine = root.machine(Network::Own)?;
    let places = [root.path(), &policies].map(|path| path.display().to_string());
    let converge = |names: &[&str]| {
        let [root, policies] = places.clone();
        let fixed = ["converge", "--keep-going", "--format", "json", "--node-name", "attacked"].map(str::to_owned);
        let pairs = [("--root", root), ("--policies", policies), ("--policy-name", names.join(","))];
        let more = [("--grants", grants.clone()), ("--json-attributes", attributes.clone())];
        let pairs = pairs.into_iter().chain(more).flat_map(|(option, value)| [option.to_owned(), value]);
        fixed.into_iter().chain(pairs).collect::<Vec<String>>()
    };
    let before = size(&[program.state(), root.path().join("srv"), root.path().join("tmp")])?;
    let (measured, told) = measured(&machine, &program, tool, &converge(&NAMES))?;
    let left = size(&[program.state(), root.path().join("srv"), root.path().join("tmp")])?.saturating_sub(before);
    let run: Value = serde_json::from_str(&told).context("the run printed no JSON")?;
    let policy = |name: &str| {
        let all = run.get("policies").and_then(Value::as_array).into_iter().flatten();
        all.into_iter().find(|one| one.get("name").and_then(Value::as_str) == Some(name)).cloned().unwrap_or_default()
    };
    let other = |name: &str| policy(name).get("outcome").and_then(Value::as_str).unwrap_or("absent").to_owned();
    let error = policy("hostile").get("error").cloned().unwrap_or_default();
    let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let limits = policy("hostile").get("limits").cloned().unwrap_or_default();
    let limit = |key: &str, default: u64| {
        let limit = limits.get(key).and_then(|one| one.get("limit")).and_then(Value::as_f64);
        limit.map_or(default, |mib| mib as u64)
    };
    let memory = limit("memory_mib", 256) + limit("host_memory_mib", 512);
    let files = std::fs::read_dir(root.path().join("srv/load")).map_or(0, Iterator::count);
    let next: Output = program.run_in(&machine, &converge(&["empty", "load"]))?;
    Ok(Outcome {
        code: measured.get("code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok()),
        others: vec![other("empty"), other("load")],
        files,
        failure: (text("class"), text("message")),
        seconds: measured.get("seconds").and_then(Value::as_f64).context("a measurement has seconds")?,
        kilobytes: measured.get("kilobytes").and_then(Value::as_u64).context("a measurement has kilobytes")?,
        left,
        most: (memory * 1_024, limit("disk_mib", 1_024) << 20),
        next: next.code,
    })
}

/// The guest `hostile` as a policy that runs one of its recipes.
fn hostile(recipe: &str) -> Result<Vec<u8>> {
    let made = Artifact::open(&checkout::fixtures().join("hostile.wasm"))?;
    let parts = ManifestParts {
        name: "hostile".into(),
        run_list: vec![format!("recipe[hostile::{recipe}]")],
        cookbooks: made.manifest().cookbooks.clone(),
        ..ManifestParts::default()
    };
    Ok(artifact::write(made.component(), &Manifest::new(parts)?, &[])?)
}

/// Runs the program once as the only child of a process; what it took, and what it printed.
fn measured(machine: &Machine<'_>, program: &Program, tool: &Path, arguments: &[String]) -> Result<(Value, String)> {
    let printed = program.configuration().join("printed.json");
    let mut measuring = machine.outside(tool);
    measuring.arg("bench-measure").arg("--printed").arg(&printed).arg("--").arg(program.executable()).args(arguments);
    measuring.envs(program.environment());
    let output = measuring.stdin(Stdio::null()).output().context("cannot start a measured command")?;
    let words = || format!("the run failed:\n{}", String::from_utf8_lossy(&output.stderr));
    let measured = serde_json::from_slice(&output.stdout).with_context(words)?;
    let told = std::fs::read_to_string(&printed).with_context(words)?;
    Ok((measured, told))
}

/// What is below some folders, in bytes. A folder that is missing has none.
fn size(folders: &[PathBuf]) -> Result<u64> {
    let there: Vec<&PathBuf> = folders.iter().filter(|folder| folder.exists()).collect();
    let output = Command::new("du").args(["-sbc"]).args(there).output().context("cannot start du")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let total = text.lines().last().and_then(|line| line.split_whitespace().next()?.parse().ok());
    total.context("du said nothing")
}
