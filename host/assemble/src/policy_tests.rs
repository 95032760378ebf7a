//! Runs the tests of a policy: dry runs below an empty root, with a machine that each test describes.
//!
//! Tests cannot bypass grants or reach the machine: see [`StandIn`].

mod answers;
mod place;

use crate::error::AssembleError;
use crate::known_node::text_fact;
use crate::notice::Notice;
use crate::own_state;
use crate::program::Program;
use crate::ready::Assembly;
use crate::request::{GrantsSource, Mode, Request};
use crate::run_host::DueNotifications;
use crate::settings::Settings;
use crate::stand_in::{PreparedPolicy, StandIn};
use contract::Stop;
use place::Place;
use report::error::{self, Frames};
use report::{KeptLog, denied, json};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// The node's name where the facts do not have one.
const NODE: &str = "node.test";

/// Largest content of a file that a test gets, in bytes.
const MAX_CONTENT: usize = 16 << 20;

/// The policy that is tested.
#[derive(Debug)]
pub struct PolicyTests {
    /// The name of the policy under test.
    pub policy: String,
    /// The directory with its artifact.
    pub policies: PathBuf,
    /// The settings of the program. Tests use only their folders of runtimes and caches.
    pub settings: Settings,
    /// The program that compiles components.
    pub program: Program,
    /// The artifact and compiled code that the tests share. The artifact must not change meanwhile.
    pub prepared: Arc<PreparedPolicy>,
}

/// The input of one test. Every field is optional.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TestCase {
    /// The facts that the policy finds.
    pub facts: Map<String, Value>,
    /// Attributes of the level `normal`.
    pub attributes: Map<String, Value>,
    /// The run list instead of the policy's own.
    pub run_list: Vec<String>,
    /// The policy's named run list that is run.
    pub named_run_list: Option<String>,
    /// The text of a grants file. `None`: everything is granted.
    pub grants: Option<String>,
    /// The answers of commands, by command line.
    pub commands: BTreeMap<String, CommandAnswer>,
    /// The versions of packages in the archives. `None`: the archives do not have the package. Packages that are not named
    /// here have version `1.0`.
    pub packages: BTreeMap<String, Option<String>>,
    /// The versions of installed packages.
    pub installed: BTreeMap<String, String>,
    /// The files on the machine, with their content.
    pub files: BTreeMap<String, String>,
    /// The users on the machine beside root, each with a group of the same name. The values are not used.
    pub users: BTreeMap<String, Value>,
    /// The groups on the machine.
    pub groups: BTreeMap<String, Value>,
    /// Environment variables of the run.
    pub environment: BTreeMap<String, String>,
    /// The items of data bags, by `BAG/ITEM`.
    pub data_bags: BTreeMap<String, Value>,
}

/// How a command ends.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CommandAnswer {
    /// The code with which it exits.
    pub code: i32,
    /// What it prints on standard output.
    pub output: String,
    /// What it prints on standard error.
    pub errors: String,
}

/// The result of a test's run.
#[derive(Debug, Clone, PartialEq)]
pub struct TestOutcome {
    /// The run as JSON, as `--format json` prints it.
    pub run: Value,
    /// The resources that the recipes declared.
    pub declared: Vec<Value>,
    /// The contents that the run would write to files, by path.
    pub contents: Map<String, Value>,
    /// The notices that an operator would have got before the run.
    pub notices: BTreeSet<String>,
}

/// Ignores notifications: they do not become due in a dry run.
struct Nobody;

impl DueNotifications for Nobody {
    fn due(&self, _policy: &str, _receiver: &str, _action: &str) {}

    fn done(&self, _policy: &str, _receiver: &str, _action: &str) {}
}

impl PolicyTests {
    /// Makes the tests cache native code in the user's own cache folder, like dry runs of ordinary users.
    pub fn keep_native_code(&mut self) {
        if let Some(own) = own_state::cache_folder().filter(|own| std::fs::create_dir_all(own).is_ok()) {
            self.settings.cache_dir = own;
        }
    }

    /// Runs the policy once. A failed run is also a valid outcome.
    ///
    /// # Errors
    /// What the test gives is invalid, or the policy cannot be run at all.
    pub fn run(&self, case: &TestCase, stop: &Stop) -> Result<TestOutcome, AssembleError> {
        let compiled_before = self.prepared.compile_time();
        let place = Place::make(case)?;
        let contents = Arc::<Mutex<Map<String, Value>>>::default();
        let kept = Arc::clone(&contents);
        let keep = move |path: &str, content: &[u8]| {
            let shown = content.get(..MAX_CONTENT).unwrap_or(content);
            let value =
                std::str::from_utf8(shown).map_or_else(|_| serde_json::json!({ "bytes": content.len() }), Value::from);
            kept.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), value);
        };
        let stand_in =
            StandIn { answers: answers::of(case), contents: Arc::new(keep), prepared: Arc::clone(&self.prepared) };
        let (request, settings) = (self.request(case, &place, stand_in), self.settings_for(case, &place));
        let program = Program { environment: case.environment.clone().into_iter().collect(), ..self.program.clone() };
        let notices = Arc::<Mutex<BTreeSet<String>>>::default();
        let told = Arc::clone(&notices);
        let assembly = Assembly {
            request: &request,
            settings: &settings,
            program: &program,
            stop,
            notify: Arc::new(move |notice: Notice| {
                told.lock().unwrap_or_else(PoisonError::into_inner).insert(notice.to_string());
            }),
            began: SystemTime::now(),
        };
        let ready = assembly.make_ready(Box::new(Nobody))?.ok_or(AssembleError::TestStopped)?;
        let node = ready.node_name().to_owned();
        let log = KeptLog::default();
        let ended = ready.open(vec![Box::new(log.clone())], false)?.carry_out();
        let errors = error::of_run(&ended.report, &ended.ending.files(), Frames::WithPlaces);
        let (denials, denials_left_out) = denied::of(&ended.report, &ended.journal);
        let parts = json::Parts {
            report: &ended.report,
            node: &node,
            errors: &errors,
            denials: &denials,
            denials_left_out,
            unseen: &[],
            asked: json::asked(&ended.journal),
            layers: &Value::Null,
            releases: &Value::Null,
            grants: None,
            paused: None,
            skipped: None,
            log: log.lines(),
            without_policies: false,
            compile_seconds: ended.ending.compile_time().saturating_sub(compiled_before).as_secs_f64(),
            compiled_is_kept: ended.ending.keeps_compiled(),
        };
        let run = serde_json::to_value(json::Run(&parts)).map_err(AssembleError::TestOutcome)?;
        let declared = ended.report.policies.iter().flat_map(|policy| policy.declared.clone()).collect();
        let take =
            |map: &Mutex<Map<String, Value>>| std::mem::take(&mut *map.lock().unwrap_or_else(PoisonError::into_inner));
        let notices = std::mem::take(&mut *notices.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(TestOutcome { run, declared, contents: take(&contents), notices })
    }

    fn request(&self, case: &TestCase, place: &Place, stand_in: StandIn) -> Request {
        let policy = &self.policy;
        let run_list = (!case.run_list.is_empty()).then(|| format!("{policy}={}", case.run_list.join(",")));
        Request {
            policies: vec![policy.clone()],
            json_attributes: Some(place.attributes()),
            override_run_lists: Vec::from_iter(run_list),
            named_run_lists: case.named_run_list.iter().map(|name| format!("{policy}={name}")).collect(),
            facts: Some(place.facts()),
            grants: if case.grants.is_some() { GrantsSource::NamedFile } else { GrantsSource::Everything },
            mode: Mode::WhyRun,
            stand_in: Some(stand_in),
            ..Request::default()
        }
    }

    fn settings_for(&self, case: &TestCase, place: &Place) -> Settings {
        let own = &self.settings;
        Settings {
            policies: self.policies.clone(),
            node_name: Some(text_fact(&case.facts, "fqdn").unwrap_or_else(|| NODE.to_owned())),
            root: place.root(),
            state_dir: place.state(),
            backup_dir: place.backups(),
            grants: place.grants(),
            data_bags: (!case.data_bags.is_empty()).then(|| place.data_bags()),
            cache_dir: own.cache_dir.clone(),
            runtime_dir: own.runtime_dir.clone(),
            ruby_library: own.ruby_library.clone(),
            min_free: 0,
            ..Settings::default()
        }
    }
}
