//! Runs three policies in a temporary root: one attacker between two normal policies.
//!
//! The two normal policies first run without the attacker, on their own node and in their own root. Then they run with it,
//! and the results, files, and times are compared. Both happen within the same minute on the same machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use artifact::{Artifact, Manifest, ManifestParts};
use serde_json::{Map, Value, json};
use specs::{Machine, Network, Output, Program, Root};

use crate::checkout;

/// Largest memory of a run in addition to the attacker's limit, in kilobytes.
const OWN_MEMORY: u64 = 200_000;

/// The policies before and after the attacker.
pub(crate) const NEIGHBOURS: [&str; 2] = ["before", "after"];

/// The name of the attacker's policy.
const ATTACKER: &str = "hostile";

/// The attacker's grants. They cover the imports of its component, but nothing harmful.
const GRANTS: &str = r#"
[policy.before]
paths = ["/srv/before", "/srv/before/**"]
[policy.after]
paths = ["/srv/after", "/srv/after/**"]
[policy.hostile]
paths = ["/srv/hostile/**"]
clock = true
random = true
environment = ["HOSTILE"]
commands = ["true"]
data_bags = ["hostile"]
"#;

/// Keys of a run's JSON that differ between two runs of the same policies.
const DIFFERENT: [&str; 3] = ["seconds", "start_time", "limits"];

/// The setup for the attacks.
#[derive(Debug)]
pub(crate) struct Field {
    /// The path of the program `wrun`.
    pub(crate) program: PathBuf,
    /// The path of this program, which measures.
    pub(crate) tool: PathBuf,
    /// Number of files that each neighbour creates.
    pub(crate) files: u32,
    /// The attacker's limits, as lines of TOML. Empty: the default limits.
    pub(crate) limits: &'static str,
}

/// The outcome of one attack.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i64>,
    /// Descriptions of the neighbours' results that differ from those without the attacker.
    pub(crate) different: Vec<String>,
    /// Class and message of the attacker's error. Both are empty if it did not fail.
    pub(crate) failure: (String, String),
    /// Wall time of the whole run.
    pub(crate) seconds: f64,
    /// The neighbours' total time in seconds: without the attacker, and with it.
    pub(crate) own: (f64, f64),
    /// The largest resident set, in kilobytes.
    pub(crate) kilobytes: u64,
    /// Additional bytes in the state folder and in the root, compared with the run without the attacker.
    pub(crate) left: u64,
    /// The attacker's budget: memory in kilobytes, disk in bytes.
    pub(crate) budget: (u64, u64),
    /// The exit code of the next run without the attacker.
    pub(crate) next: Option<i32>,
}

impl Outcome {
    /// Returns descriptions of the broken promises. Empty: all promises were kept.
    pub(crate) fn broken(&self) -> Vec<String> {
        let mut broken = self.different.clone();
        let (class, message) = &self.failure;
        if class == "Wrun::PolicyNotStarted" {
            broken.push(format!("it was not tried: {message}"));
        }
        if !matches!(self.code, Some(0 | 1)) {
            broken.push(format!("the run ended with {:?}", self.code));
        }
        if self.kilobytes > self.budget.0 + OWN_MEMORY {
            broken.push(format!("more memory than {} MB", (self.budget.0 + OWN_MEMORY) / 1_000));
        }
        if self.left > self.budget.1 {
            broken.push(format!("more on the disk than {} MB", self.budget.1 / 1_000_000));
        }
        if self.next != Some(0) {
            broken.push(format!("the next run ended with {:?}", self.next));
        }
        broken
    }
}

/// Returns the recipes of the guest `hostile` from its sources, so that a new recipe is included automatically.
pub(crate) fn attacks() -> Result<Vec<String>> {
    let folder = checkout::root().join("guests/fixtures/hostile/src");
    let entries = fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut all = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let names = text.split(".recipe(\"").skip(1).filter_map(|rest| rest.split('"').next());
        all.extend(names.filter(|name| *name != "default").map(str::to_owned));
    }
    all.sort();
    ensure!(!all.is_empty(), "{} has no recipes", folder.display());
    Ok(all)
}

impl Field {
    /// Runs the neighbours alone, then with the attacker between them, then alone again on the same node.
    pub(crate) fn attack(&self, recipe: &str) -> Result<Outcome> {
        let alone = Trial::new(self, None)?.run(&NEIGHBOURS)?;
        let trial = Trial::new(self, Some(recipe))?;
        let [before, after] = NEIGHBOURS;
        let attacked = trial.run(&[before, ATTACKER, after])?;
        let next: Output = trial.program.run_in(&trial.root.machine(Network::Own)?, &trial.arguments(&NEIGHBOURS))?;
        let attacker = attacked.policy(ATTACKER);
        let error = attacker.get("error").cloned().unwrap_or_default();
        let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let limits = attacker.get("limits").cloned().unwrap_or_default();
        let limit = |key: &str, default: u64| {
            let limit = limits.get(key).and_then(|one| one.get("limit")).and_then(Value::as_f64);
            limit.map_or(default, |mib| mib as u64)
        };
        let memory = limit("memory_mib", 256) + limit("host_memory_mib", 512);
        Ok(Outcome {
            code: attacked.code,
            different: differences(&alone, &attacked),
            failure: (text("class"), text("message")),
            seconds: attacked.seconds,
            own: (alone.own_seconds(), attacked.own_seconds()),
            kilobytes: attacked.kilobytes,
            left: attacked.bytes.saturating_sub(alone.bytes),
            budget: (memory * 1_024, limit("disk_mib", 4_096) << 20),
            next: next.code,
        })
    }
}

/// A new node with the policies' artifacts.
struct Trial {
    program: Program,
    root: Root,
    tool: PathBuf,
    grants: PathBuf,
}

/// The results of one run in a trial.
#[derive(Default)]
struct Ran {
    code: Option<i64>,
    seconds: f64,
    kilobytes: u64,
    /// The run as `--format json` prints it.
    run: Value,
    /// The files of each neighbour, as text.
    files: BTreeMap<&'static str, String>,
    /// Size of all written files, in bytes.
    bytes: u64,
}

impl Trial {
    fn new(field: &Field, recipe: Option<&str>) -> Result<Self> {
        let (program, root) = (Program::at(&field.program)?, Root::new()?);
        let policies = program.configuration().join("policies");
        fs::create_dir_all(&policies)?;
        for name in NEIGHBOURS {
            let load = json!({"count": field.files, "folder": format!("/srv/{name}")});
            let attributes = Map::from_iter([("load".to_owned(), load)]);
            fs::write(policies.join(format!("{name}.wasm")), policy(name, "load", "default", attributes)?)?;
        }
        if let Some(recipe) = recipe {
            let attributes = json!({"folder": "/srv/hostile", "count": 1000});
            let attributes = Map::from_iter([("hostile".to_owned(), attributes)]);
            fs::write(policies.join("hostile.wasm"), policy(ATTACKER, "hostile", recipe, attributes)?)?;
        }
        let grants = program.configuration().join("grants.toml");
        fs::write(&grants, format!("{GRANTS}\n[policy.hostile.limits]\n{}\n", field.limits))?;
        fs::create_dir_all(root.path().join("srv/hostile"))?;
        Ok(Self { program, root, tool: field.tool.clone(), grants })
    }

    fn arguments(&self, names: &[&str]) -> Vec<String> {
        let policies = self.program.configuration().join("policies");
        let path = |path: &Path| path.display().to_string();
        let fixed = ["converge", "--keep-going", "--format", "json", "--node-name", "attacked"].map(str::to_owned);
        let pairs = [
            ("--root", path(self.root.path())),
            ("--policies", path(&policies)),
            ("--policy-name", names.join(",")),
            ("--grants", path(&self.grants)),
        ];
        fixed.into_iter().chain(pairs.into_iter().flat_map(|(option, value)| [option.to_owned(), value])).collect()
    }

    /// Runs the program once as the only child of a process, and collects all its results.
    fn run(&self, names: &[&str]) -> Result<Ran> {
        let machine = self.root.machine(Network::Own)?;
        let (measured, told) = measured(&machine, &self.program, &self.tool, &self.arguments(names))?;
        let number = |key: &str| measured.get(key).and_then(Value::as_f64).context("a measurement has numbers");
        let mut files = BTreeMap::new();
        for name in NEIGHBOURS {
            let tree = self.root.tree(Path::new("srv").join(name));
            files.insert(name, tree.map_or_else(|error| error.to_string(), |tree| tree.to_string()));
        }
        Ok(Ran {
            code: measured.get("code").and_then(Value::as_i64),
            seconds: number("seconds")?,
            kilobytes: number("kilobytes")? as u64,
            run: serde_json::from_str(&told).context("the run printed no JSON")?,
            files,
            bytes: size(&[self.program.state(), self.root.changed_files()])?,
        })
    }
}

impl Ran {
    fn policy(&self, name: &str) -> &Value {
        let all = self.run.get("policies").and_then(Value::as_array).into_iter().flatten();
        all.into_iter().find(|one| one.get("name").and_then(Value::as_str) == Some(name)).unwrap_or(&Value::Null)
    }

    /// Returns the total time of the two neighbours, in seconds.
    fn own_seconds(&self) -> f64 {
        let of = |name: &str| self.policy(name).get("seconds").and_then(Value::as_f64).unwrap_or(f64::NAN);
        NEIGHBOURS.into_iter().map(of).sum()
    }

    /// Returns the items of a list that belong to a policy.
    fn about(&self, list: &str, policy: &str) -> Vec<Value> {
        let all = self.run.get(list).and_then(Value::as_array).into_iter().flatten();
        all.filter(|one| one.get("policy").and_then(Value::as_str) == Some(policy)).map(steady).collect()
    }
}

/// Returns descriptions of the neighbours' results that occur only with the attacker.
fn differences(alone: &Ran, attacked: &Ran) -> Vec<String> {
    let mut different = Vec::new();
    for name in NEIGHBOURS {
        let outcome = attacked.policy(name).get("outcome").and_then(Value::as_str).unwrap_or("absent");
        if outcome != "success" {
            different.push(format!("policy {name} ended as {outcome}"));
        }
        let [was, is] = [alone, attacked].map(|ran| steady(ran.policy(name)));
        let keys = |value: &Value| value.as_object().into_iter().flat_map(Map::keys).cloned().collect::<Vec<_>>();
        for key in keys(&was).into_iter().chain(keys(&is).into_iter().filter(|key| was.get(key).is_none())) {
            if was.get(&key) != is.get(&key) {
                different.push(format!("policy {name} has other `{key}`"));
            }
        }
        for list in ["denials", "hidden_reads"] {
            if alone.about(list, name) != attacked.about(list, name) {
                different.push(format!("policy {name} has other `{list}`"));
            }
        }
        let asked = |ran: &Ran| ran.run.get("asked").and_then(|asked| asked.get(name)).cloned();
        if asked(alone) != asked(attacked) {
            different.push(format!("policy {name} asked for other things"));
        }
        if alone.files.get(name) != attacked.files.get(name) {
            different.push(format!("policy {name} made other files"));
        }
    }
    if alone.run.get("conflicts") != attacked.run.get("conflicts") {
        different.push("there are other conflicts".to_owned());
    }
    different
}

/// Returns a value without the keys that change from run to run.
fn steady(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.iter().filter(|(key, _)| !DIFFERENT.contains(&key.as_str()));
            Value::Object(kept.map(|(key, value)| (key.clone(), steady(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(steady).collect()),
        plain => plain.clone(),
    }
}

/// Returns the artifact of a policy that runs one recipe of a test guest.
fn policy(name: &str, guest: &str, recipe: &str, attributes: Map<String, Value>) -> Result<Vec<u8>> {
    let made = Artifact::open(&checkout::fixtures().join(format!("{guest}.wasm")))?;
    let parts = ManifestParts {
        name: name.to_owned(),
        run_list: vec![format!("recipe[{guest}::{recipe}]")],
        cookbooks: made.manifest().cookbooks.clone(),
        default_attributes: attributes,
        ..ManifestParts::default()
    };
    Ok(artifact::write(made.component(), &Manifest::new(parts)?, &[])?)
}

/// Runs the program once as the only child of a process. Returns the measurements and the output.
fn measured(machine: &Machine<'_>, program: &Program, tool: &Path, arguments: &[String]) -> Result<(Value, String)> {
    let printed = program.configuration().join("printed.json");
    let mut measuring = machine.outside(tool);
    measuring.arg("bench-measure").arg("--printed").arg(&printed).arg("--").arg(program.executable()).args(arguments);
    measuring.envs(program.environment());
    let output = measuring.stdin(Stdio::null()).output().context("cannot start a measured command")?;
    let words = || format!("the run failed:\n{}", String::from_utf8_lossy(&output.stderr));
    let measured = serde_json::from_slice(&output.stdout).with_context(words)?;
    let told = fs::read_to_string(&printed).with_context(words)?;
    Ok((measured, told))
}

/// Returns the total size of some folders, in bytes.
fn size(folders: &[PathBuf]) -> Result<u64> {
    let output = Command::new("du").args(["-sbc"]).args(folders).output().context("cannot start du")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let total = text.lines().last().and_then(|line| line.split_whitespace().next()?.parse().ok());
    total.context("du said nothing")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(run: Value) -> Ran {
        Ran { run, ..Ran::default() }
    }

    #[test]
    fn a_neighbour_that_comes_to_something_else_is_noticed() {
        let policy = |name: &str, updated: u32, seconds: f64| {
            let limits = json!({"host_seconds": {"used": seconds}});
            json!({"name": name, "outcome": "success", "updated": updated, "seconds": seconds, "limits": limits})
        };
        let run = |after: Value| ran(json!({"policies": [policy("before", 3, 0.5), after], "conflicts": []}));
        let alone = run(policy("after", 3, 0.25));
        assert!(differences(&alone, &run(policy("after", 3, 7.0))).is_empty(), "times differ");
        assert_eq!(differences(&alone, &run(policy("after", 2, 0.25))), ["policy after has other `updated`"]);
        let failed = run(json!({"name": "after", "outcome": "failure"}));
        let expected =
            ["policy after ended as failure", "policy after has other `outcome`", "policy after has other `updated`"];
        assert_eq!(differences(&alone, &failed), expected);
        let denied = json!({"policies": alone.run["policies"], "denials": [{"policy": "before"}], "conflicts": [1]});
        let expected = ["policy before has other `denials`", "there are other conflicts"];
        assert_eq!(differences(&alone, &ran(denied)), expected);
        assert!((alone.own_seconds() - 0.75).abs() < 1e-9);
    }

    #[test]
    fn each_broken_promise_is_told() {
        let held = Outcome { code: Some(1), next: Some(0), budget: (1_000, 1_000), ..Outcome::default() };
        assert!(held.broken().is_empty());
        let broken = Outcome {
            code: Some(101),
            kilobytes: 300_000,
            left: 2_000,
            next: Some(43),
            failure: ("Wrun::PolicyNotStarted".into(), "it imports what it may not".into()),
            ..held
        };
        assert_eq!(broken.broken().len(), 5, "{:?}", broken.broken());
    }
}
