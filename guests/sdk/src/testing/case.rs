//! Describes the run that a test makes.

use super::run::Run;
use super::server;
use crate::node::Path as AttributePath;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// The description of a run: facts, attributes, grants and the state of the machine.
#[derive(Debug, Clone)]
#[must_use = "a case does nothing until it is run"]
pub struct Case {
    folder: PathBuf,
    facts: Value,
    attributes: Value,
    asked: Map<String, Value>,
}

/// Describes a run of the policy to which this test's crate belongs: the nearest enclosing folder with a `policy.toml`.
///
/// # Panics
/// The folder does not exist.
pub fn policy() -> Case {
    let start = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from("."), PathBuf::from);
    let start = start.canonicalize().unwrap_or(start);
    match start.ancestors().find(|folder| folder.join("policy.toml").is_file()) {
        Some(folder) => policy_at(folder),
        None => panic!("neither {} nor a folder above it has a policy.toml", start.display()),
    }
}

/// Describes a run of the policy in a folder.
pub fn policy_at(folder: impl AsRef<Path>) -> Case {
    let folder = folder.as_ref().to_owned();
    Case { folder, facts: super::debian_12(), attributes: json!({}), asked: Map::new() }
}

impl Case {
    /// Replaces the facts of Debian 12 with these facts, an object. See also [`debian_13`](super::debian_13).
    pub fn facts(mut self, facts: Value) -> Self {
        self.facts = facts;
        self
    }

    /// Sets one fact: `.fact("memory.total", "2048000kB")`.
    pub fn fact(mut self, path: impl AttributePath, value: impl Into<Value>) -> Self {
        put(&mut self.facts, &path.keys(), value.into());
        self
    }

    /// Sets an attribute, as the operator's JSON attributes would (level `normal`).
    pub fn attribute(mut self, path: impl AttributePath, value: impl Into<Value>) -> Self {
        put(&mut self.attributes, &path.keys(), value.into());
        self
    }

    /// Runs these items, such as `redis::kernel`, instead of the policy's run list.
    pub fn run_list(self, items: &[&str]) -> Self {
        self.set("run_list", json!(items))
    }

    /// Runs the named run list of `policy.toml`.
    pub fn named_run_list(self, name: &str) -> Self {
        self.set("named_run_list", name.into())
    }

    /// Sets the grants to this text of a grants file. Without it, the policy may do everything.
    pub fn grants(self, toml: &str) -> Self {
        self.set("grants", toml.into())
    }

    /// Sets the exit code and the output of a command, for guards, checks and code of cookbooks. The resource
    /// `execute` does not run it, and counts as updated. The result of any other
    /// command is unknown, as in a dry run that may not run it.
    pub fn command(self, line: &str, code: i32, output: &str) -> Self {
        self.add("commands", line, json!({ "code": code, "output": output }))
    }

    /// Sets the version of a package in the package sources. All other packages have version `1.0`.
    pub fn package(self, name: &str, version: &str) -> Self {
        self.add("packages", name, version.into())
    }

    /// Removes a package from the package sources. As in every dry run, the action's `uncertain` then reports it.
    pub fn no_package(self, name: &str) -> Self {
        self.add("packages", name, Value::Null)
    }

    /// Adds an installed package in this version.
    pub fn installed(self, name: &str, version: &str) -> Self {
        self.add("installed", name, version.into())
    }

    /// Adds a file to the machine.
    pub fn file(self, path: &str, content: &str) -> Self {
        self.add("files", path, content.into())
    }

    /// Adds a user and a group of the same name to the machine. `root` always exists.
    pub fn user(self, name: &str) -> Self {
        self.add("users", name, Value::Null)
    }

    /// Adds a group to the machine.
    pub fn group(self, name: &str) -> Self {
        self.add("groups", name, Value::Null)
    }

    /// Sets an environment variable of the run, for policies with the grant to read it.
    pub fn environment(self, name: &str, value: &str) -> Self {
        self.add("environment", name, value.into())
    }

    /// Adds an item to a data bag.
    pub fn data_bag_item(self, bag: &str, id: &str, item: Value) -> Self {
        self.add("data_bags", &format!("{bag}/{id}"), item)
    }

    /// Makes a dry run and returns its result.
    ///
    /// # Panics
    /// The program `wrun` is missing or too old, the policy cannot be built, or the test's input is invalid. A failed run
    /// does not panic: see [`Run::succeeded`] and [`Run::error`].
    #[track_caller]
    pub fn run(self) -> Run {
        let Self { folder, facts, attributes, mut asked } = self;
        asked.insert("facts".into(), facts);
        asked.insert("attributes".into(), attributes);
        match server::ask(&folder, &Value::Object(asked)) {
            Ok(answer) => Run::new(answer),
            Err(why) => panic!("{why}"),
        }
    }

    fn set(mut self, key: &str, value: Value) -> Self {
        self.asked.insert(key.into(), value);
        self
    }

    fn add(mut self, table: &str, key: &str, value: Value) -> Self {
        let entries = self.asked.entry(table).or_insert_with(|| json!({}));
        if let Some(entries) = entries.as_object_mut() {
            entries.insert(key.into(), value);
        }
        self
    }
}

/// Sets a value at a path below an object. It replaces values on the path that are not objects.
fn put(place: &mut Value, keys: &[String], value: Value) {
    let Some((key, below)) = keys.split_first() else {
        *place = value;
        return;
    };
    if !place.is_object() {
        *place = json!({});
    }
    if let Some(object) = place.as_object_mut() {
        put(object.entry(key.as_str()).or_insert(Value::Null), below, value);
    }
}
