//! A throw-away root with providers on it, for tests that ask what a run would do and then do it.

#![allow(dead_code, reason = "each test binary uses its own part of it")]

use contract::{
    Account, Change, CookbookFiles, Declaration, FileError, LogLevel, Property, Providers as _, Raised, Stop, Wanted,
};
use grants::Grants;
use node::file_specificity::NodeIdentity;
use providers::{MachineProviders, Settings};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The policy whose grants a bench reads.
pub(crate) const POLICY: &str = "database";

/// A root, and what wrun keeps beside it.
pub(crate) struct Bench {
    pub(crate) directory: tempfile::TempDir,
    pub(crate) root: PathBuf,
    grants: Grants,
    /// Acts as the whole machine rather than as a chroot: for commands, which a bare root has none of.
    whole: bool,
    pub(crate) log: Arc<Mutex<Vec<(LogLevel, String)>>>,
}

/// Files of cookbooks, `(cookbook, path, content)`.
#[derive(Default)]
pub(crate) struct Files(pub(crate) Vec<(String, String, Vec<u8>)>);

impl CookbookFiles for Files {
    fn cookbooks(&self) -> Vec<(String, String)> {
        let mut names: Vec<(String, String)> =
            self.0.iter().map(|(name, _, _)| (name.clone(), "1.0.0".into())).collect();
        names.dedup();
        names
    }

    fn paths(&self, cookbook: &str, folder: &str) -> Result<Vec<String>, FileError> {
        let inside = |path: &str| folder.is_empty() || path.starts_with(&format!("{folder}/"));
        Ok(self
            .0
            .iter()
            .filter(|(name, path, _)| name == cookbook && inside(path))
            .map(|(_, path, _)| path.clone())
            .collect())
    }

    fn read(&self, cookbook: &str, path: &str) -> Result<Vec<u8>, FileError> {
        if !self.0.iter().any(|(name, _, _)| name == cookbook) {
            return Err(FileError::NoSuchCookbook(cookbook.into()));
        }
        let found = self.0.iter().find(|(name, other, _)| name == cookbook && other == path);
        found.map(|(_, _, content)| content.clone()).ok_or_else(|| FileError::NoSuchFile(path.into()))
    }
}

/// How one action ended.
#[derive(Debug, Default)]
pub(crate) struct Done {
    pub(crate) changes: Vec<Change>,
    pub(crate) updated: bool,
    pub(crate) certainty: Vec<contract::Certainty>,
}

impl Done {
    /// The sentences alone.
    pub(crate) fn sentences(&self) -> Vec<&str> {
        self.changes.iter().map(|change| change.what.as_str()).collect()
    }
}

impl Bench {
    /// An empty root, a table of the operator's file for it.
    pub(crate) fn new(table: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap().join("root");
        std::fs::create_dir_all(root.join("etc")).unwrap();
        let grants = Grants::parse(&format!("[policy.{POLICY}]\n{table}"), "grants.toml").unwrap();
        Self { directory, root, grants, whole: false, log: Arc::default() }
    }

    /// The machine itself; `ROOT` in the table stands for a directory that goes away with the bench.
    pub(crate) fn whole(table: &str) -> Self {
        let bench = Self::new("");
        let table = table.replace("ROOT", bench.root.to_str().unwrap());
        let grants = Grants::parse(&format!("[policy.{POLICY}]\n{table}"), "grants.toml").unwrap();
        Self { grants, whole: true, ..bench }
    }

    /// With everything granted.
    pub(crate) fn unlimited(mut self) -> Self {
        self.grants = Grants::allow_all();
        self
    }

    pub(crate) fn settings(&self, why_run: bool) -> Settings {
        self.settings_with(why_run, Files::default())
    }

    pub(crate) fn settings_with(&self, why_run: bool, files: Files) -> Settings {
        let log = Arc::clone(&self.log);
        Settings {
            account: Account::unmetered("test"),
            root: if self.whole { "/".into() } else { self.root.clone() },
            grants: self.grants.policy(POLICY, &[]),
            files: Arc::new(files),
            backup_dir: self.directory.path().join("backup"),
            cache_dir: self.directory.path().join("cache"),
            file_cache: grants::file_cache(Some(POLICY)),
            node: NodeIdentity {
                platform: Some("debian".into()),
                platform_version: Some("12.5".into()),
                fqdn: Some("node.example.org".into()),
            },
            why_run,
            launcher: Some(specs::program::executable().unwrap()),
            stop: Stop::default(),
            package_lock_wait: Duration::from_secs(1),
            backups: Settings::BACKUPS,
            backups_size: Settings::BACKUPS_SIZE,
            downloads: Default::default(),
            reboots: providers::Reboots::default(),
            left_out: providers::LeftOut::default(),
            facts: None,
            live: None,
            log: Some(Arc::new(move |level, line: &str| log.lock().unwrap().push((level, line.into())))),
            answers: None,
            contents: None,
        }
    }

    pub(crate) fn providers(&self, why_run: bool) -> MachineProviders {
        MachineProviders::new(Arc::new(self.settings(why_run))).unwrap()
    }

    /// A path of the root as the test machine sees it.
    pub(crate) fn path(&self, inside: &str) -> PathBuf {
        self.root.join(inside.trim_start_matches('/'))
    }

    pub(crate) fn read(&self, inside: &str) -> String {
        std::fs::read_to_string(self.path(inside)).unwrap_or_else(|error| format!("{inside}: {error}"))
    }

    /// What stands in for `ROOT` in properties and names.
    pub(crate) fn text(&self, text: &str) -> String {
        text.replace("ROOT", self.root.to_str().unwrap())
    }

    fn substituted(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(&text)),
            Value::Array(all) => all.into_iter().map(|one| self.substituted(one)).collect(),
            Value::Object(all) => {
                Value::Object(all.into_iter().map(|(key, one)| (key, self.substituted(one))).collect::<Map<_, _>>())
            }
            other => other,
        }
    }

    /// A declaration; `ROOT` in it stands for the root's path.
    pub(crate) fn declaration(&self, kind: &str, name: &str, properties: Value) -> Declaration {
        let properties = match self.substituted(properties) {
            Value::Object(all) => all.into_iter().map(|(key, value)| (key, Property::Plain(value))).collect(),
            _ => vec![],
        };
        let origin = node::origin::Origin {
            cookbook: Some("mysql".into()),
            recipe: Some("default".into()),
            ..node::origin::Origin::policy(POLICY)
        }
        .into();
        Declaration { kind: kind.into(), name: self.text(name), properties, origin, ..Declaration::default() }
    }

    /// Runs one action for real.
    pub(crate) fn run(&self, kind: &str, name: &str, action: &str, properties: Value) -> Result<Done, Raised> {
        run(&mut self.providers(false), &self.declaration(kind, name, properties), action, false)
    }

    /// Asks what it would do.
    pub(crate) fn why_run(&self, kind: &str, name: &str, action: &str, properties: Value) -> Result<Done, Raised> {
        run(&mut self.providers(true), &self.declaration(kind, name, properties), action, true)
    }
}

/// Runs one action as the runner does.
pub(crate) fn run(
    providers: &mut MachineProviders,
    declaration: &Declaration,
    action: &str,
    why_run: bool,
) -> Result<Done, Raised> {
    let wanted = Wanted { resource: 0, declaration, action, resolved: vec![], why_run };
    let prepared = providers.prepare(&wanted)?;
    let certainty = prepared.certainty().to_vec();
    let (expected, changes) = prepared.expected();
    let Some(plan) = expected.plan() else { return Ok(Done { certainty, ..Done::default() }) };
    if why_run {
        return Ok(Done { changes, updated: true, certainty });
    }
    let changes = providers.commit(&wanted, plan)?;
    Ok(Done { changes, updated: true, certainty })
}

/// Whether something of this name is there at all.
pub(crate) fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
