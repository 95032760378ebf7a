//! Finds runs that would do the same as the last good run: with the same artifacts, layers, parameters, grants, settings,
//! data and saved attributes, and the same values of the facts that it read. Such a run may be skipped for a while. Except
//! for its facts, the machine is not looked at: an operator who skips runs accepts that changes on the machine are noticed
//! later.

use crate::grants_files::GrantsFiles;
use crate::input::Input;
use crate::program::Program;
use crate::request::Request;
use crate::saved_node::saved_node;
use crate::settings::Settings;
use converge::{PolicyOutcome, PolicyReport, RunReport};
use node::object::NodeObject;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use state::{RunId, RunLock, StateDirectory, StateError};
use std::fmt::Debug;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Version of the stored data about a good run.
const FORMAT: u32 = 1;

/// The file that names the boot of this machine.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// Largest number of data bag files that are compared. With more of them, runs are not skipped.
const MAX_DATA_FILES: usize = 20_000;

/// The stored data about a good run.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct GoodRun {
    format: u32,
    run_id: String,
    /// When the run ended, in milliseconds since 1970.
    ended: u64,
    /// The digest of everything that the run was given.
    inputs: String,
    /// The digest of the node as the run left it.
    node: String,
    /// The facts that the run's policies read.
    facts: Vec<Vec<String>>,
    /// The digest of their values.
    values: String,
}

/// A run that is skipped because an earlier one did the same.
pub struct SkippedRun {
    /// The identifier of the earlier run.
    pub earlier: String,
    /// The time since it ended.
    pub age: Duration,
    /// The report of the skipped run, in which no policy ran.
    pub report: RunReport,
    /// The name of the node.
    pub node: String,
    /// The layers of environment files, in order.
    pub layers: Value,
    /// The releases of the run, or `null`.
    pub releases: Value,
}

/// The input of the current run, for comparing it with later ones.
pub(crate) struct Given {
    inputs: String,
    facts: Map<String, Value>,
    /// The facts that were read; `None` before the run has ended well.
    read: Option<Vec<Vec<String>>>,
}

impl Given {
    /// Computes the digest of a run's input. Returns `None` if the input cannot be compared, so that the run does not count
    /// for later ones.
    pub(crate) fn new(
        request: &Request,
        settings: &Settings,
        program: &Program,
        input: &Input,
        layers: &Value,
        facts: &Map<String, Value>,
    ) -> Option<Self> {
        if input.folders.is_some() || request.facts.is_some() || request.stand_in.is_some() {
            return None;
        }
        let mut digest = Sha256::new();
        let mut add = |part: &dyn Debug| digest.update(format!("{part:?}\0").as_bytes());
        let file = std::fs::metadata(&program.path).ok()?;
        add(&(env!("CARGO_PKG_VERSION"), file.ino(), file.len(), file.mtime(), file.mtime_nsec()));
        add(settings);
        // A reboot undoes changes in memory: mounts, `/run`, kernel parameters, and services that are not enabled.
        add(&std::fs::read_to_string(BOOT_ID).ok());
        add(&(&request.revisions, &request.override_run_lists, &request.named_run_lists, request.grants));
        add(&GrantsFiles::read(&settings.grants, false).ok()?);
        add(&input.attributes);
        for policy in &input.policies {
            add(&(&policy.name, &policy.artifact, &policy.recipes, &policy.start));
        }
        add(&layers.to_string());
        for place in [&settings.data_bags, &settings.encrypted_data_bag_secret].into_iter().flatten() {
            let mut stamps = Vec::new();
            stamp(place, &mut stamps)?;
            add(&stamps);
        }
        Some(Self { inputs: text::hex(digest.finalize()), facts: facts.clone(), read: None })
    }

    /// Notes the end of the run. The run counts for later ones only if all policies succeeded and all facts that they read
    /// are known.
    pub(crate) fn ended(&mut self, report: &RunReport, asks_for_restart: bool) {
        let is_good =
            |policy: &PolicyReport| matches!(policy.outcome, PolicyOutcome::Succeeded) && !policy.reads.incomplete;
        let all_good = !report.policies.is_empty() && report.policies.iter().all(is_good);
        let paths = report.policies.iter().flat_map(|policy| policy.reads.facts.iter().cloned());
        self.read = (all_good && !asks_for_restart).then(|| {
            let mut paths: Vec<_> = paths.collect();
            paths.sort_unstable();
            paths.dedup();
            paths
        });
    }

    /// Stores the data of the run, if it counts for later ones.
    pub(crate) fn keep(
        self,
        lock: &RunLock,
        state: &StateDirectory,
        node: &str,
        run_id: &RunId,
    ) -> Result<(), StateError> {
        let Some(facts) = self.read else { return Ok(()) };
        let Ok(Some(saved)) = saved_node(state, node) else { return Ok(()) };
        let good = GoodRun {
            format: FORMAT,
            run_id: run_id.to_string(),
            ended: milliseconds(SystemTime::now()),
            inputs: self.inputs,
            node: digest_of_node(&saved),
            values: digest_of_values(&self.facts, &facts),
            facts,
        };
        lock.save_good_run(node, &good)
    }

    /// Returns the last good run and the time since it ended, if its input was the same and it is younger than `limit`.
    pub(crate) fn done_before(
        &self,
        state: &StateDirectory,
        node: &NodeObject,
        now: SystemTime,
        limit: Duration,
    ) -> Result<Option<(String, Duration)>, StateError> {
        let Some(good) = state.good_run::<GoodRun>(node.name())? else { return Ok(None) };
        // A run in the future means that the clock was set back.
        let Some(age) = milliseconds(now).checked_sub(good.ended).map(Duration::from_millis) else { return Ok(None) };
        let is_same = good.format == FORMAT
            && age < limit
            && good.inputs == self.inputs
            && good.node == digest_of_node(node)
            && good.values == digest_of_values(&self.facts, &good.facts)
            && state.left_due(node.name())?.is_empty()
            && state.waiting_changes(node.name())?.is_empty();
        Ok(is_same.then_some((good.run_id, age)))
    }
}

/// Returns the digest of a node's saved parts that influence a run: environment, run list, layers and `normal` attributes.
fn digest_of_node(node: &NodeObject) -> String {
    let mut digest = Sha256::new();
    digest.update(format!("{}\0{:?}\0{:?}\0", node.chef_environment(), node.run_list(), node.layers()));
    digest.update(json!(node.normal()).to_string());
    text::hex(digest.finalize())
}

fn digest_of_values(facts: &Map<String, Value>, paths: &[Vec<String>]) -> String {
    let mut digest = Sha256::new();
    for path in paths {
        digest.update(format!("{path:?}\0"));
        let value = match path.split_first() {
            None => Some(json!(facts)),
            Some((first, rest)) => facts.get(first).and_then(|value| rest.iter().try_fold(value, below)).cloned(),
        };
        digest.update(format!("{}\0", value.map(|value| value.to_string()).unwrap_or_default()));
    }
    text::hex(digest.finalize())
}

/// The value of a key below another value.
fn below<'all>(value: &'all Value, key: &String) -> Option<&'all Value> {
    match value {
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        value => value.get(key),
    }
}

fn milliseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Collects path, size and change time (`ctime`) of a file, or of a folder and everything below it. Returns `None` if they
/// cannot be read, one of them is a link, or there are too many.
fn stamp(path: &Path, stamps: &mut Vec<(String, u64, i64, i64)>) -> Option<()> {
    let status = std::fs::symlink_metadata(path).ok()?;
    if stamps.len() >= MAX_DATA_FILES || status.is_symlink() {
        return None;
    }
    stamps.push((path.display().to_string(), status.len(), status.ctime(), status.ctime_nsec()));
    if status.is_dir() {
        let mut entries: Vec<_> = std::fs::read_dir(path).ok()?.collect::<Result<_, _>>().ok()?;
        entries.sort_unstable_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            stamp(&entry.path(), stamps)?;
        }
    }
    Some(())
}
