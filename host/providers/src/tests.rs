//! What holds for all providers: a plan is carried out once and held against what is there afterwards, a dry run gets no
//! writer, and a denial says whose it is.

use super::*;
use crate::operation::Operation;
use crate::plan::{Assumption, Provider, Step};
use crate::resources::file_content::Staging;
use contract::{Account, Certainty, CookbookFiles, FileError, LogLevel, Property, Stop};
use grants::Grants;
use machine::root::ModeBits;
use serde_json::json;
use std::path::Path;
use std::sync::Mutex;

/// A provider that does as its resource says. The `path` it makes is its aim.
pub(crate) struct Scripted;

impl Provider for Scripted {
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        let path = value(wanted, "path").and_then(Value::as_str).unwrap_or("/made").to_owned();
        let proof = view.grants.manage_path(&path).map_err(machine::denied::denied)?;
        let file = view.root.entry(&path)?;
        if file.is_some() {
            if wanted.action == "lose_the_right" {
                let _granted = view.grants.manage_path("/lost").map_err(machine::denied::denied)?;
            }
            return Ok(Plan::up_to_date());
        }
        if view.why_run && view.assumed.path(&path) {
            return Ok(Plan::uncertain(Certainty::Assumed(format!("assuming {path} would be there"))));
        }
        let refreshed = view.root.entry("/index")?.is_some();
        let index = view.grants.manage_path("/index").map_err(machine::denied::denied)?;
        let staging = Staging {
            granted: proof.clone(),
            content: None,
            creation_mode: ModeBits::plain(0o600),
            staged: Default::default(),
        };
        let operation = ScriptedOperation { action: wanted.action.to_owned(), refreshed, index, proof };
        let step = Step::new(Change::new(format!("make {path}")), Operation::Scripted(operation));
        let mut plan = Plan::steps(vec![step.also(Change::new("and say so"))]);
        plan.assume(Assumption::Path(path));
        plan.staging = Some(staging);
        Ok(plan)
    }

    fn settles(&self, action: &str) -> bool {
        action != "nothing_to_settle"
    }
}

/// What the scripted provider does, by its action.
#[derive(Debug)]
pub(crate) struct ScriptedOperation {
    action: String,
    refreshed: bool,
    index: grants::GrantedPath,
    proof: grants::GrantedPath,
}

impl ScriptedOperation {
    /// Does it, or asks to be planned again.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        match self.action.as_str() {
            "lie" | "nothing_to_settle" => Ok(()),
            "refresh" if !self.refreshed => {
                make(writer, &self.index)?;
                writer.plan_again(vec![Change::new("refresh the index")]);
                Ok(())
            }
            "refresh_for_ever" => {
                writer.plan_again(vec![]);
                Ok(())
            }
            _ => make(writer, &self.proof),
        }
    }
}

fn make(writer: &Writer<'_>, proof: &grants::GrantedPath) -> Result<(), Raised> {
    Ok(writer.root.site(proof)?.make_directory(ModeBits::plain(0o755))?)
}

struct NoFiles;

impl CookbookFiles for NoFiles {
    fn cookbooks(&self) -> Vec<(String, String)> {
        vec![]
    }
    fn paths(&self, cookbook: &str, _folder: &str) -> Result<Vec<String>, FileError> {
        Err(FileError::NoSuchCookbook(cookbook.into()))
    }
    fn read(&self, cookbook: &str, _path: &str) -> Result<Vec<u8>, FileError> {
        Err(FileError::NoSuchCookbook(cookbook.into()))
    }
}

struct Bench {
    directory: tempfile::TempDir,
    providers: MachineProviders,
}

fn bench(why_run: bool) -> Bench {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("root");
    std::fs::create_dir(&root).unwrap();
    let grants = Grants::parse("[policy.a]\npaths = [\"/made\", \"/index\"]\n", "grants.toml").unwrap();
    let settings = Settings { why_run, ..settings(directory.path(), &grants) };
    Bench { providers: MachineProviders::new(Arc::new(settings)).unwrap(), directory }
}

/// The settings of a real run of policy `a` on the folder `root` below a directory.
pub(crate) fn settings(directory: &Path, grants: &Grants) -> Settings {
    let log: Arc<Mutex<Vec<(LogLevel, String)>>> = Arc::default();
    Settings {
        account: Account::unmetered("test"),
        root: directory.join("root"),
        grants: grants.policy("a", &[]),
        files: Arc::new(NoFiles),
        backup_dir: directory.join("backup"),
        cache_dir: directory.join("cache"),
        file_cache: "/var/chef/cache".into(),
        node: node::file_specificity::NodeIdentity::default(),
        why_run: false,
        launcher: None,
        stop: Stop::default(),
        package_lock_wait: Duration::ZERO,
        backups: Settings::BACKUPS,
        backups_size: Settings::BACKUPS_SIZE,
        downloads: Default::default(),
        reboots: Reboots::default(),
        left_out: LeftOut::default(),
        facts: None,
        live: None,
        answers: None,
        contents: None,
        log: Some(Arc::new(move |level, line: &str| log.lock().unwrap().push((level, line.into())))),
    }
}

impl Bench {
    fn declaration(&self, path: &str) -> Declaration {
        Declaration {
            kind: "test".into(),
            name: "x".into(),
            properties: vec![("path".into(), Property::Plain(json!(path)))],
            origin: node::origin::Origin::policy("a").into(),
            ..Declaration::default()
        }
    }

    fn run(&mut self, path: &str, action: &str, why_run: bool) -> Result<Vec<String>, Raised> {
        let declaration = self.declaration(path);
        let wanted = Wanted { resource: 0, declaration: &declaration, action, resolved: vec![], why_run };
        let prepared = self.providers.prepare(&wanted)?;
        let told: Vec<_> = prepared.certainty().iter().map(|certainty| format!("{certainty:?}")).collect();
        let (expected, changes) = prepared.expected();
        let Some(plan) = expected.plan() else { return Ok(told) };
        let changes = if why_run { changes } else { self.providers.commit(&wanted, plan)? };
        Ok(changes.into_iter().map(|change| change.what).collect())
    }

    fn has(&self, inside: &str) -> bool {
        self.directory.path().join(inside).exists()
    }
}

#[test]
fn what_did_not_reach_its_aim_is_an_error() {
    let mut bench = bench(false);
    let raised = bench.run("/made", "lie", false).unwrap_err();
    assert_eq!(raised.class(), "Wrun::DidNotConverge");
    assert_eq!(raised.message, "test[x] did not converge: after `lie` there is still to do: make /made; and say so");
    assert_eq!(bench.run("/made", "nothing_to_settle", false).unwrap(), ["make /made", "and say so"]);
    assert_eq!(bench.run("/made", "make", false).unwrap(), ["make /made", "and say so"]);
    assert_eq!(bench.run("/made", "make", false).unwrap(), [""; 0]);
}

#[test]
fn what_was_done_is_told_though_it_may_not_be_looked_at_again() {
    let mut bench = bench(false);
    assert_eq!(bench.run("/made", "lose_the_right", false).unwrap(), ["make /made", "and say so"]);
    assert!(bench.has("root/made"));
    assert_eq!(bench.run("/made", "lose_the_right", false).unwrap_err().class(), "Wrun::Denied");
}

#[test]
fn an_effect_may_have_it_planned_again() {
    let mut bench = bench(false);
    assert_eq!(bench.run("/made", "refresh", false).unwrap(), ["refresh the index", "make /made", "and say so"]);
    let _gone = std::fs::remove_dir(bench.directory.path().join("root/made"));
    assert_eq!(bench.run("/made", "refresh_for_ever", false).unwrap_err().class(), "Wrun::DidNotConverge");
}

#[test]
fn a_dry_run_writes_nothing_whatever_it_is_asked_to() {
    let mut bench = bench(true);
    assert_eq!(bench.run("/made", "make", true).unwrap(), ["make /made", "and say so"]);
    assert_eq!(bench.run("/made", "make", true).unwrap(), ["Assumed(\"assuming /made would be there\")"]);
    // Even a caller who forgets that it is one cannot commit.
    let raised = bench.run("/index", "make", false).unwrap_err();
    assert_eq!(raised.class(), "Wrun::DryRun");
    assert!(!bench.has("root/made") && !bench.has("root/index") && !bench.has("cache") && !bench.has("backup"));
}

#[test]
fn a_forced_look_in_a_real_run_assumes_nothing() {
    let mut bench = bench(false);
    assert_eq!(bench.run("/made", "make", true).unwrap(), ["make /made", "and say so"]);
    assert_eq!(bench.run("/made", "make", true).unwrap(), ["make /made", "and say so"]);
    assert!(!bench.has("root/made"));
}

#[test]
fn a_denial_names_policy_resource_and_origin() {
    let raised = bench(false).run("/else", "make", false).unwrap_err();
    assert_eq!(raised.class(), "Wrun::Denied");
    assert_eq!(raised.message, "policy `a` may not manage path `/else` (test[x], declared by a)");
    assert_eq!(raised.hint.as_deref(), Some("to allow it: paths = [\"/else\"] in [policy.a]"));
}

#[test]
fn staging_happens_when_asked_for_and_once() {
    let mut bench = bench(false);
    let declaration = bench.declaration("/made");
    let wanted = Wanted { resource: 0, declaration: &declaration, action: "make", resolved: vec![], why_run: false };
    let mut plan = bench.providers.prepare(&wanted).unwrap().expected().0.plan().unwrap();
    assert!(bench.providers.stage(&mut plan).unwrap().as_str().is_some_and(|path| path.starts_with("/.")));
    assert_eq!(bench.providers.stage(&mut plan), Ok(Value::Null));
    assert!(!bench.has("root/made"));
}

#[test]
fn an_unknown_type_has_no_provider() {
    let mut bench = bench(false);
    let declaration = Declaration { kind: "nonsense".into(), ..Declaration::default() };
    let wanted = Wanted { resource: 0, declaration: &declaration, action: "x", resolved: vec![], why_run: false };
    assert_eq!(bench.providers.prepare(&wanted).err().map(|raised| raised.kind), Some(ErrorKind::NoProvider));
}
