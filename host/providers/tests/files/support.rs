//! A throw-away root with providers on it, and one call that runs an action as the runner does.

use contract::{
    Account, Certainty, Change, CookbookFiles, Declaration, ErrorKind, FileError, Part, PartStatus, Prepared, Property,
    Providers, Raised, Stop, Wanted,
};
use grants::{Grants, Journal};
use node::file_specificity::NodeIdentity;
use node::origin::Origin;
use providers::{MachineProviders, ReadyPlan, Settings};
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One root, `inside`, and what stands beside it.
pub(crate) struct Machine {
    folder: tempfile::TempDir,
    root: PathBuf,
    journal: Journal,
    reads: Arc<AtomicUsize>,
    pub(crate) providers: MachineProviders,
}

/// What an action came to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Sentences: its own, then those of its parts.
    pub(crate) changes: Vec<String>,
    pub(crate) diffs: Vec<String>,
    pub(crate) certainty: Vec<Certainty>,
    /// Its parts, as `type[name] action status`.
    pub(crate) parts: Vec<String>,
}

/// A resource to be run.
pub(crate) struct Asked {
    declaration: Declaration,
    action: String,
}

pub(crate) fn resource(kind: &str, name: &str, action: &str, properties: Value) -> Asked {
    let properties = properties.as_object().cloned().unwrap_or_default();
    Asked {
        declaration: Declaration {
            kind: kind.into(),
            name: name.into(),
            origin: Origin { cookbook: Some("web".into()), ..Origin::policy("core") }.into(),
            properties: properties.into_iter().map(|(name, value)| (name, Property::Plain(value))).collect(),
            ..Declaration::default()
        },
        action: action.into(),
    }
}

impl Asked {
    pub(crate) fn sensitive(mut self) -> Self {
        self.declaration.sensitive = true;
        self
    }

    pub(crate) fn umask(mut self, umask: u32) -> Self {
        self.declaration.umask = Some(umask);
        self
    }

    pub(crate) fn bytes(mut self, name: &str, bytes: &[u8]) -> Self {
        self.declaration.properties.push((name.into(), Property::Bytes(bytes.to_vec())));
        self
    }

    /// The guest has a `verify` block.
    pub(crate) fn verify_block(mut self) -> Self {
        self.declaration.properties.push(("verify".into(), Property::Verify(1)));
        self
    }

    pub(crate) fn wanted(&self, why_run: bool) -> Wanted<'_> {
        Wanted { resource: 0, declaration: &self.declaration, action: &self.action, resolved: vec![], why_run }
    }
}

impl Machine {
    /// Everything is granted.
    pub(crate) fn open() -> Self {
        Self::with(Grants::allow_all(), false, false)
    }

    /// The root is the whole machine, whose programs can be run; paths are to be made with [`absolute`](Self::absolute).
    pub(crate) fn whole() -> Self {
        Self::with(Grants::allow_all(), false, true)
    }

    /// Everything is granted, nothing is done.
    pub(crate) fn dry() -> Self {
        Self::with(Grants::allow_all(), true, false)
    }

    /// Only what the lines of the operator's file say.
    pub(crate) fn granted(lines: &str) -> Self {
        Self::with(Grants::parse(&format!("[policy.core]\n{lines}\n"), "grants.toml").unwrap(), false, false)
    }

    /// The same for a whole dry run.
    pub(crate) fn granted_dry(lines: &str) -> Self {
        Self::with(Grants::parse(&format!("[policy.core]\n{lines}\n"), "grants.toml").unwrap(), true, false)
    }

    fn with(grants: Grants, why_run: bool, whole: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("inside");
        for directory in ["etc", "srv", "tmp"] {
            std::fs::create_dir_all(root.join(directory)).unwrap();
        }
        std::fs::create_dir(folder.path().join("outside")).unwrap();
        let passwd = "root:x:0:0:root:/root:/bin/sh\nweb:x:1001:1002::/srv:/bin/sh\n";
        std::fs::write(root.join("etc/passwd"), passwd).unwrap();
        std::fs::write(root.join("etc/group"), "root:x:0:\nwww:x:1002:\n").unwrap();
        let reads = Arc::<AtomicUsize>::default();
        let settings = Settings {
            account: Account::unmetered("test"),
            root: if whole { "/".into() } else { root.clone() },
            grants: grants.policy("core", &["web".into()]),
            files: Arc::new(Cookbook::counting(&reads)),
            backup_dir: folder.path().join("backups"),
            cache_dir: folder.path().join("cache"),
            file_cache: "/var/chef/cache".into(),
            node: NodeIdentity {
                platform: Some("debian".into()),
                platform_version: Some("12".into()),
                fqdn: Some("web1.example.org".into()),
            },
            why_run,
            launcher: None,
            stop: Stop::default(),
            package_lock_wait: Settings::PACKAGE_LOCK_WAIT,
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
        let journal = grants.journal().clone();
        Self { folder, root, journal, reads, providers: MachineProviders::new(Arc::new(settings)).unwrap() }
    }

    /// How often files of the cookbook were read.
    pub(crate) fn reads(&self) -> usize {
        self.reads.load(Ordering::Relaxed)
    }

    /// A path of the root, seen from outside.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// The same as text, for providers whose root is the whole machine.
    pub(crate) fn absolute(&self, path: &str) -> String {
        self.at(path).into_os_string().into_string().unwrap()
    }

    /// A path beside the root.
    pub(crate) fn beside(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        std::fs::write(self.at(path), text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.at(path)).unwrap()
    }

    pub(crate) fn mode(&self, path: &str) -> u32 {
        std::fs::symlink_metadata(self.at(path)).unwrap().permissions().mode() & 0o7777
    }

    pub(crate) fn owner(&self, path: &str) -> (u32, u32) {
        let entry = std::fs::symlink_metadata(self.at(path)).unwrap();
        (entry.uid(), entry.gid())
    }

    /// Names in a directory of the root.
    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.at(path)).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs an action; in a dry run, plans it.
    pub(crate) fn run(&mut self, asked: &Asked) -> Result<Outcome, Raised> {
        self.verified(asked, |_| true)
    }

    /// Runs an action whose `verify` blocks answer with this.
    pub(crate) fn verified(&mut self, asked: &Asked, block: impl FnOnce(&str) -> bool) -> Result<Outcome, Raised> {
        let prepared = self.providers.prepare(&asked.wanted(false))?;
        let certainty = prepared.certainty().to_vec();
        let (expected, foreseen) = prepared.expected();
        let parts = self.providers.parts();
        let Some(mut plan) = expected.plan() else {
            return Ok(Outcome { certainty, parts: rows(&parts), ..Outcome::default() });
        };
        if asked.declaration.properties.iter().any(|(_, one)| matches!(one, Property::Verify(_))) {
            let staged = self.providers.stage(&mut plan)?;
            if let Some(path) = staged.as_str()
                && !block(path)
            {
                let kept = self.providers.reject(plan)?.unwrap_or_default();
                return Err(Raised::new(ErrorKind::InvalidValue, kept));
            }
        }
        let changes = self.providers.commit(&asked.wanted(false), plan)?;
        assert_eq!(changes, foreseen, "what was planned is what is said");
        let done = self.providers.parts();
        assert_eq!(done, parts, "for parts too");
        Ok(outcome(changes, certainty, done))
    }

    /// Looks, without doing anything.
    pub(crate) fn prepare(&mut self, wanted: &Wanted<'_>) -> Prepared<ReadyPlan> {
        self.providers.prepare(wanted).unwrap()
    }

    /// Plans an action in a dry run.
    pub(crate) fn plan(&mut self, asked: &Asked) -> Result<Outcome, Raised> {
        let prepared = self.providers.prepare(&asked.wanted(true))?;
        let certainty = prepared.certainty().to_vec();
        let parts = self.providers.parts();
        Ok(outcome(prepared.expected().1, certainty, parts))
    }

    /// Runs an action, which must say this, then again, which must say nothing.
    #[track_caller]
    pub(crate) fn check(&mut self, asked: &Asked, changes: &[&str]) -> Outcome {
        let outcome = self.run(asked).unwrap();
        assert_eq!(outcome.changes, changes);
        let again = self.run(asked).unwrap();
        assert_eq!((again.changes, again.certainty), (vec![], vec![]), "the second run");
        outcome
    }

    /// Runs an action, which must fail so.
    #[track_caller]
    pub(crate) fn fails(&mut self, asked: &Asked, class: &str, message: &str) -> Raised {
        let raised = self.run(asked).unwrap_err();
        assert_eq!(raised.class(), class, "{}", raised.message);
        assert!(raised.message.contains(message), "{}", raised.message);
        raised
    }

    /// Runs an action, which must be denied.
    #[track_caller]
    /// What was denied until now, in order.
    pub(crate) fn denied(&self) -> Vec<String> {
        self.journal.denials().0.into_iter().map(|denial| denial.asked).collect()
    }

    pub(crate) fn denies(&mut self, asked: &Asked) -> Raised {
        let raised = self.fails(asked, "Wrun::Denied", &asked.declaration.key());
        assert!(raised.hint.is_some(), "{}", raised.message);
        raised
    }
}

fn outcome(mut changes: Vec<Change>, certainty: Vec<Certainty>, parts: Vec<Part>) -> Outcome {
    let rows = rows(&parts);
    changes.extend(parts.into_iter().flat_map(|part| part.changes));
    Outcome {
        diffs: changes.iter().filter_map(|change| change.diff.clone()).collect(),
        changes: changes.into_iter().map(|change| change.what).collect(),
        certainty,
        parts: rows,
    }
}

/// Parts as `type[name] action status`.
pub(crate) fn rows(parts: &[Part]) -> Vec<String> {
    let row = |part: &Part| {
        let status = match &part.outcome {
            Ok(PartStatus::Updated) => "updated",
            Ok(PartStatus::UpToDate) => "up-to-date",
            Err(raised) => raised.class(),
        };
        format!("{}[{}] {} {status}", part.kind, part.name, part.action)
    };
    parts.iter().map(row).collect()
}

/// One cookbook, `web`, which counts how often its files are read.
struct Cookbook {
    files: BTreeMap<&'static str, &'static str>,
    reads: Arc<AtomicUsize>,
}

impl Cookbook {
    fn counting(reads: &Arc<AtomicUsize>) -> Self {
        let files = BTreeMap::from([
            ("files/default/motd", "default"),
            ("files/debian-12/motd", "debian 12"),
            ("files/host-web1.example.org/banner", "for this host"),
            ("files/default/banner", "for all"),
            ("files/root.txt", "at the root"),
            ("files/default/site/index.html", "index"),
            ("files/default/site/css/deep/main.css", "css"),
            ("files/default/site/css/a.css", "a"),
            ("templates/default/app.erb", "<%= 1 %>"),
        ]);
        Self { files, reads: Arc::clone(reads) }
    }
}

impl CookbookFiles for Cookbook {
    fn cookbooks(&self) -> Vec<(String, String)> {
        vec![("web".into(), "1.2.3".into())]
    }

    fn paths(&self, cookbook: &str, folder: &str) -> Result<Vec<String>, FileError> {
        if cookbook != "web" {
            return Err(FileError::NoSuchCookbook("web".into()));
        }
        let prefix = format!("{folder}/");
        Ok(self.files.keys().filter(|path| path.starts_with(&prefix)).map(|&path| path.to_owned()).collect())
    }

    fn read(&self, cookbook: &str, path: &str) -> Result<Vec<u8>, FileError> {
        if cookbook != "web" {
            return Err(FileError::NoSuchCookbook("web".into()));
        }
        let text = self.files.get(path).ok_or_else(|| FileError::NoSuchFile(path.into()))?;
        self.reads.fetch_add(1, Ordering::Relaxed);
        Ok(text.as_bytes().to_vec())
    }
}
