//! A repository in a folder of its own, for tests: teams push, nodes fetch, and somebody changes what lies there.

use artifact::{Artifact, CookbookEntry, EMPTY_COMPONENT, Language, Manifest, ManifestParts, Runtime};
use jiff::Timestamp as Moment;
use repository::admin::{TeamKeys, own_key};
use repository::keyring::KeyRing;
use repository::keys::PublicKey;
use repository::names::PolicyPattern;
use repository::node::{Fetched, NodeSettings, Wanted, fetch};
use repository::release::Revision;
use repository::store::Store;
use repository::teams::Team;
use repository::trust::TrustFolder;
use repository::writer::{Lifetimes, Published, Publisher};
use repository::{DirectoryStore, RepositoryError};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The moment at which each test begins.
pub(crate) const BEGIN: i64 = 1_800_000_000;

/// Seconds of a day.
pub(crate) const DAY: i64 = 86_400;

pub(crate) struct Place {
    pub(crate) folder: TempDir,
    pub(crate) now: Moment,
}

impl Place {
    /// A repository with the teams `core` and `web`, each with the policy of its name.
    pub(crate) fn new() -> Self {
        let place = Self::empty();
        place.init(&[place.team("core", 1), place.team("web", 1)]).unwrap();
        place
    }

    pub(crate) fn empty() -> Self {
        // In memory where that is possible: every file is flushed, and a test writes hundreds.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        std::fs::create_dir(folder.path().join("repository")).unwrap();
        Self { folder, now: Moment::from_second(BEGIN).unwrap() }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join("repository").join(path)
    }

    pub(crate) fn store(&self) -> DirectoryStore {
        DirectoryStore::open(&self.path("")).unwrap()
    }

    pub(crate) fn later(&mut self, days: i64) {
        self.now = Moment::from_second(self.now.as_second() + days * DAY).unwrap();
    }

    pub(crate) fn key(&self, name: &str) -> PublicKey {
        own_key(&self.folder.path().join("keys"), name, "").unwrap()
    }

    /// A team with `threshold + 1` keys where more than one has to sign, else with one.
    pub(crate) fn team(&self, name: &str, threshold: usize) -> TeamKeys {
        let count = if threshold > 1 { threshold + 1 } else { 1 };
        let keys = (0..count).map(|number| self.key(&format!("{name}-{number}"))).collect();
        let policies = vec![PolicyPattern::try_from(name.to_owned()).unwrap()];
        let team = Team { name: name.to_owned(), policies };
        TeamKeys { team, keys, threshold, online: self.key(&format!("{name}-online")) }
    }

    /// Does something as an author whose keys are in `keys`, and who remembers what he has seen in `trust-NAME`.
    pub(crate) fn as_author<T>(&self, name: &str, keys: &Path, work: impl FnOnce(&Publisher<'_>) -> T) -> T {
        let store = self.store();
        let ask = |_: &repository::key_file::KeyFile| Ok(String::new());
        let keys = KeyRing::new(keys.to_owned(), &ask);
        let trust = TrustFolder::new(self.folder.path().join(format!("trust-{name}")));
        let publisher = Publisher { store: &store, keys: &keys, trust: &trust, now: self.now };
        if self.path("platform").exists() {
            publisher.begin(None, true).unwrap();
        }
        work(&publisher)
    }

    pub(crate) fn publisher<T>(&self, work: impl FnOnce(&Publisher<'_>) -> T) -> T {
        self.as_author("admin", &self.folder.path().join("keys"), work)
    }

    pub(crate) fn init(&self, teams: &[TeamKeys]) -> Result<(), RepositoryError> {
        let (root, online) = (self.key("platform"), self.key("platform-online"));
        self.publisher(|publisher| publisher.init(&root, &online, teams, Lifetimes::USUAL))
    }

    /// Releases a revision of a policy, which differs from others by its version.
    pub(crate) fn push(&self, policy: &str, group: &str, version: u32) -> Result<Published, RepositoryError> {
        self.publisher(|publisher| publisher.push(&revision(policy, version), group))
    }

    /// A folder that holds only these keys.
    pub(crate) fn some_keys(&self, names: &[&str]) -> PathBuf {
        let folder = self.folder.path().join(format!("keys-{}", names.join("-")));
        std::fs::create_dir_all(&folder).unwrap();
        for name in names {
            let name = format!("{name}.key");
            std::fs::copy(self.folder.path().join("keys").join(&name), folder.join(&name)).unwrap();
        }
        folder
    }

    /// A node's settings, with its own folder, which trusts at first use and refreshes at once.
    pub(crate) fn node_settings<'s>(
        &self,
        store: Result<&'s dyn Store, RepositoryError>,
        folder: PathBuf,
    ) -> NodeSettings<'s> {
        NodeSettings {
            store,
            folder,
            root: None,
            first_use: true,
            stale_after: None,
            refresh: None,
            keeps: true,
            min_free: 0,
            now: self.now,
        }
    }

    pub(crate) fn fetch_from(&self, store: &dyn Store, node: &str, policies: &[&str]) -> Fetched {
        let settings = self.node_settings(Ok(store), self.folder.path().join(format!("node-{node}")));
        let wanted: Vec<_> = policies.iter().map(|policy| wanted(policy)).collect();
        fetch(settings, &wanted).unwrap()
    }

    /// What the node `a` runs of policies in the group `staging`.
    pub(crate) fn fetch(&self, policies: &[&str]) -> Fetched {
        self.fetch_from(&self.store(), "a", policies)
    }

    /// The version of a policy that the node runs now, without a word of staleness.
    #[track_caller]
    pub(crate) fn runs(&self, policy: &str) -> u32 {
        let fetched = self.fetch(&[policy]);
        assert!(fetched.refused.is_empty(), "{:?}", fetched.refused);
        let artifact = &fetched.artifacts[policy];
        assert_eq!(artifact.stale(), None);
        version(artifact.artifact())
    }

    /// The version that the node runs because nothing newer can be believed, and why.
    #[track_caller]
    pub(crate) fn runs_stale(&self, policy: &str) -> (u32, String) {
        let fetched = self.fetch(&[policy]);
        assert!(fetched.refused.is_empty(), "{:?}", fetched.refused);
        let artifact = &fetched.artifacts[policy];
        (version(artifact.artifact()), artifact.stale().expect("the revision should be stale").reason.clone())
    }

    /// Why the node has nothing to run.
    #[track_caller]
    pub(crate) fn refused(&self, policy: &str) -> String {
        let mut fetched = self.fetch(&[policy]);
        assert!(fetched.artifacts.is_empty(), "the policy is run");
        text::error_chain(&fetched.refused.remove(policy).unwrap())
    }

    pub(crate) fn read(&self, path: &str) -> Vec<u8> {
        std::fs::read(self.path(path)).unwrap()
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(path), content).unwrap();
    }

    /// All files of a folder of the repository, to be put back later.
    pub(crate) fn snapshot(&self, folder: &str) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = vec![];
        let mut open = vec![self.path(folder)];
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    found.push((path.clone(), std::fs::read(path).unwrap()));
                }
            }
        }
        found
    }

    pub(crate) fn put_back(&self, folder: &str, files: &[(PathBuf, Vec<u8>)]) {
        std::fs::remove_dir_all(self.path(folder)).unwrap();
        for (path, content) in files {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
    }
}

/// What a release says that drops nothing.
pub(crate) fn done(version: u64) -> Published {
    Published::Done { version, dropped: vec![] }
}

pub(crate) fn wanted(policy: &str) -> Wanted {
    Wanted { policy: policy.to_owned(), group: "staging".to_owned(), revision: None }
}

/// A policy whose revisions only its attributes tell apart.
pub(crate) fn revision(policy: &str, version: u32) -> Revision {
    revision_with(policy, version, [("version".to_owned(), version.into())].into_iter().collect())
}

/// A revision with these attributes of the level `default`.
pub(crate) fn revision_with(
    policy: &str,
    version: u32,
    attributes: serde_json::Map<String, serde_json::Value>,
) -> Revision {
    let cookbook = CookbookEntry {
        name: "a".into(),
        version: "1.0.0".into(),
        identifier: "0".repeat(40),
        dependencies: BTreeMap::new(),
        language: Language::Ruby,
    };
    let parts = ManifestParts {
        name: policy.to_owned(),
        run_list: vec![],
        named_run_lists: vec![],
        cookbooks: vec![cookbook],
        default_attributes: attributes,
        override_attributes: serde_json::Map::new(),
        attribute_lines: BTreeMap::new(),
        needs: artifact::Needs::default(),
        runtime: Runtime::Shared { name: "ruby-4.0.0-1".into(), digest: "0".repeat(64) },
        gems: None,
    };
    let bytes = artifact::write(EMPTY_COMPONENT, &Manifest::new(parts).unwrap(), &[]).unwrap();
    let artifact = Artifact::from_bytes(Path::new("test.wasm"), bytes).unwrap();
    Revision { lock: format!("{{\"version\": {version}}}\n").into_bytes(), artifact }
}

pub(crate) fn version(artifact: &Artifact) -> u32 {
    u32::try_from(artifact.manifest().default_attributes["version"].as_u64().unwrap()).unwrap()
}
