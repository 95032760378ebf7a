//! A throw-away root, and one policy's providers on it.

use ::node::origin::Origin;
use contract::{
    Account, Certainty, CookbookFiles, Declaration, Expected, FileError, Property, Providers as _, Raised, Status,
    Wanted,
};
use grants::Grants;
use providers::{MachineProviders, Settings};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;

/// A root, and the providers of the policy `test` on it.
pub(crate) struct Node {
    pub(crate) providers: MachineProviders,
    pub(crate) root: specs::Root,
    /// wrun's own folders; goes with the node.
    _own: tempfile::TempDir,
}

/// What is said when apt's lists are fetched.
pub(crate) const REFRESH: &str = "refresh the lists of available packages";

/// What a dry run said.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Foreseen {
    pub(crate) status: Status,
    pub(crate) changes: Vec<String>,
    pub(crate) assumed: Vec<String>,
    pub(crate) unknown: Vec<String>,
}

impl Default for Foreseen {
    fn default() -> Self {
        Self { status: Status::Updated, changes: vec![], assumed: vec![], unknown: vec![] }
    }
}

/// A cookbook with one file.
struct Files(Vec<(&'static str, String)>);

impl CookbookFiles for Files {
    fn cookbooks(&self) -> Vec<(String, String)> {
        vec![("book".into(), "1.0.0".into())]
    }

    fn paths(&self, _cookbook: &str, folder: &str) -> Result<Vec<String>, FileError> {
        Ok(self.0.iter().map(|(path, _)| (*path).to_owned()).filter(|path| path.starts_with(folder)).collect())
    }

    fn read(&self, _cookbook: &str, path: &str) -> Result<Vec<u8>, FileError> {
        let found = self.0.iter().find(|(known, _)| *known == path);
        found.map(|(_, text)| text.clone().into_bytes()).ok_or_else(|| FileError::NoSuchFile(path.into()))
    }
}

impl Node {
    /// A fresh root, on which everything is granted.
    pub(crate) fn new() -> Self {
        Self::on(specs::Root::new().unwrap(), &Grants::allow_all(), false, &[])
    }

    /// A fresh root with an operator's file.
    pub(crate) fn granting(grants: &str) -> Self {
        let grants = Grants::parse(&format!("[policy.test]\n{grants}"), "grants.toml").unwrap();
        Self::on(specs::Root::new().unwrap(), &grants, false, &[])
    }

    /// The same root with an operator's file, or with all granted (none): a next run.
    pub(crate) fn again(self, grants: Option<&str>) -> Self {
        let grants = match grants {
            Some(grants) => Grants::parse(&format!("[policy.test]\n{grants}"), "grants.toml").unwrap(),
            None => Grants::allow_all(),
        };
        Self::on(self.root, &grants, false, &[])
    }

    /// The same root with a cookbook's files.
    pub(crate) fn with_files(self, files: &[(&'static str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| (*path, (*text).to_owned())).collect::<Vec<_>>();
        Self::on(self.root, &Grants::allow_all(), false, &files)
    }

    /// The same with an operator's file.
    pub(crate) fn with_granted_files(self, grants: &str, files: &[(&'static str, &str)]) -> Self {
        let grants = Grants::parse(&format!("[policy.test]\n{grants}"), "grants.toml").unwrap();
        let files = files.iter().map(|(path, text)| (*path, (*text).to_owned())).collect::<Vec<_>>();
        Self::on(self.root, &grants, false, &files)
    }

    /// The same root in a dry run.
    pub(crate) fn dry(self) -> Self {
        Self::on(self.root, &Grants::allow_all(), true, &[])
    }

    /// The same root, whose locks are waited for.
    pub(crate) fn patient(self) -> Self {
        Self::waiting(self.root, &Grants::allow_all(), false, &[], Duration::from_secs(60))
    }

    fn on(root: specs::Root, grants: &Grants, why_run: bool, files: &[(&'static str, String)]) -> Self {
        Self::waiting(root, grants, why_run, files, Duration::from_millis(700))
    }

    fn waiting(
        root: specs::Root,
        grants: &Grants,
        why_run: bool,
        files: &[(&'static str, String)],
        package_lock_wait: Duration,
    ) -> Self {
        let own = tempfile::tempdir().unwrap();
        let settings = Settings {
            account: Account::unmetered("test"),
            root: root.path().to_owned(),
            grants: grants.policy("test", &["book".into()]),
            files: Arc::new(Files(files.to_vec())),
            backup_dir: own.path().join("backup"),
            cache_dir: own.path().join("cache"),
            file_cache: "/var/chef/cache".into(),
            node: ::node::file_specificity::NodeIdentity::default(),
            why_run,
            launcher: Some(specs::program::executable().unwrap()),
            stop: contract::Stop::default(),
            package_lock_wait,
            backups: Settings::BACKUPS,
            backups_size: Settings::BACKUPS_SIZE,
            downloads: machine::download::Downloads::default(),
            reboots: providers::Reboots::default(),
            left_out: providers::LeftOut::default(),
            facts: None,
            live: None,
            log: None,
            answers: None,
            contents: None,
        };
        Self { providers: MachineProviders::new(Arc::new(settings)).unwrap(), root, _own: own }
    }

    /// Runs one action; what it changed. Nothing: it was up to date.
    pub(crate) fn act(
        &mut self,
        kind: &str,
        name: &str,
        action: &str,
        properties: Value,
    ) -> Result<Vec<String>, Raised> {
        self.carry_out(&declaration(kind, name, action, properties), action)
    }

    /// The same with a file mode creation mask.
    pub(crate) fn act_masked(
        &mut self,
        kind: &str,
        name: &str,
        action: &str,
        umask: u32,
    ) -> Result<Vec<String>, Raised> {
        let declaration =
            Declaration { umask: Some(umask), ..declaration(kind, name, action, Value::Object(Map::new())) };
        self.carry_out(&declaration, action)
    }

    /// The same with something that happens between the plan and the deed.
    pub(crate) fn act_after(
        &mut self,
        (kind, name, action): (&str, &str, &str),
        properties: Value,
        meanwhile: impl FnOnce(&specs::Root),
    ) -> Result<Vec<String>, Raised> {
        self.carry_out_after(&declaration(kind, name, action, properties), action, meanwhile)
    }

    fn carry_out(&mut self, declaration: &Declaration, action: &str) -> Result<Vec<String>, Raised> {
        self.carry_out_after(declaration, action, |_| {})
    }

    fn carry_out_after(
        &mut self,
        declaration: &Declaration,
        action: &str,
        meanwhile: impl FnOnce(&specs::Root),
    ) -> Result<Vec<String>, Raised> {
        let wanted = wanted(declaration, action, false);
        let prepared = self.providers.prepare(&wanted)?;
        let (expected, changes) = prepared.expected();
        let Some(plan) = expected.plan() else { return Ok(vec![]) };
        meanwhile(&self.root);
        let foreseen = words(changes);
        let done = words(self.providers.commit(&wanted, plan)?);
        // The sentences of the plan are those of the deed, unless it had to be planned again.
        let again = done.first().is_some_and(|first| first == REFRESH);
        assert!(done == foreseen || again, "{foreseen:?} {done:?}");
        Ok(done)
    }

    /// What a dry run says of one action.
    pub(crate) fn foresee(
        &mut self,
        kind: &str,
        name: &str,
        action: &str,
        properties: Value,
    ) -> Result<Foreseen, Raised> {
        let declaration = declaration(kind, name, action, properties);
        let prepared = self.providers.prepare(&wanted(&declaration, action, true))?;
        let certainties = prepared.certainty().to_vec();
        let (expected, changes) = prepared.expected();
        let status = match expected {
            Expected::Change(_) => Status::Updated,
            Expected::Unknown => Status::Unknown,
            Expected::Nothing => Status::UpToDate,
        };
        let mut foreseen = Foreseen { status, changes: words(changes), ..Foreseen::default() };
        for certainty in certainties {
            match certainty {
                Certainty::Assumed(what) => foreseen.assumed.push(what),
                Certainty::Unknown(what) => foreseen.unknown.push(what),
            }
        }
        Ok(foreseen)
    }

    /// The output of a command inside, which must succeed.
    pub(crate) fn output(&self, command: &str) -> String {
        let output = self.root.run(&["sh", "-c", command]).unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{command}: {out}{err}");
        out.trim_end().to_owned()
    }
}

fn declaration(kind: &str, name: &str, action: &str, properties: Value) -> Declaration {
    let properties: Map<String, Value> = serde_json::from_value(properties).unwrap();
    Declaration {
        kind: kind.into(),
        name: name.into(),
        origin: Origin { cookbook: Some("book".into()), ..Origin::policy("test") }.into(),
        actions: vec![action.into()],
        properties: properties.into_iter().map(|(name, value)| (name, Property::Plain(value))).collect(),
        ..Declaration::default()
    }
}

fn wanted<'a>(declaration: &'a Declaration, action: &'a str, why_run: bool) -> Wanted<'a> {
    Wanted { resource: 0, declaration, action, resolved: vec![], why_run }
}

fn words(changes: Vec<contract::Change>) -> Vec<String> {
    changes.into_iter().map(|change| change.what).collect()
}
