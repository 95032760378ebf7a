//! The complete settings of runs. The program decides where they come from.

use crate::own_state;
use crate::releases::RepositorySettings;
use node::saved_filter::SavedFilters;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The usual cache directory of root.
const CACHE: &str = "/var/cache/wrun";

/// The operator's settings for all runs of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The directory of the policies' artifacts.
    pub policies: PathBuf,
    /// The repository of signed releases, which artifacts are taken from instead.
    pub repository: Option<RepositorySettings>,
    /// The policy group of this node.
    pub policy_group: Option<String>,
    /// The node's name. `None`: its fully qualified domain name.
    pub node_name: Option<String>,
    /// The root of the machine that is managed.
    pub root: PathBuf,
    /// The state directory: node, run records, lock.
    pub state_dir: PathBuf,
    /// The cache directory. Its files can be created again.
    pub cache_dir: PathBuf,
    /// The directory for backups of replaced files.
    pub backup_dir: PathBuf,
    /// The file of grants.
    pub grants: PathBuf,
    /// The directory of data bags.
    pub data_bags: Option<PathBuf>,
    /// The directory of roles.
    pub roles: Option<PathBuf>,
    /// The directory of environments.
    pub environments: Option<PathBuf>,
    /// The file, or the directory of files by policy, with the secret for encrypted data bag items.
    pub encrypted_data_bag_secret: Option<PathBuf>,
    /// The directory of language runtimes. `None`: beside the program.
    pub runtime_dir: Option<PathBuf>,
    /// The directory of the Ruby library, for a runtime without a built-in one. Only developers of the library need it.
    pub ruby_library: Option<PathBuf>,
    /// Whether policies run after one that failed.
    pub keep_going: bool,
    /// How long a run waits for another one to end.
    pub lock_timeout: Duration,
    /// How long a resource waits for a held lock of the package tools.
    pub package_lock_timeout: Duration,
    /// Processor time for each policy's own code.
    pub guest_time: Duration,
    /// Memory for each policy's own code, in bytes.
    pub guest_memory: u64,
    /// Processor time for compiling a policy's component.
    pub compile_time: Duration,
    /// Memory for compiling a policy's component, in bytes.
    pub compile_memory: u64,
    /// How many backups of a file are kept, where the resource does not say.
    pub backups: usize,
    /// The largest download, in bytes.
    pub download_size: u64,
    /// How long a download may take.
    pub download_time: Duration,
    /// How many run records are kept, and as many of dry runs.
    pub runs_kept: usize,
    /// How large run records may be together, in bytes; those of dry runs as large again.
    pub runs_size: u64,
    /// How much of a disk stays free, in bytes.
    pub min_free: u64,
    /// The attributes that are saved.
    pub saved_attributes: SavedFilters,
    /// Environment files for the policies of a group, by group.
    pub group_layers: BTreeMap<String, Vec<PathBuf>>,
}

impl Default for Settings {
    /// Returns the default settings, which docs/wrun.toml documents.
    fn default() -> Self {
        let state_dir = PathBuf::from(state::DEFAULT_PATH);
        Self {
            policies: "/etc/wrun/policies".into(),
            repository: None,
            policy_group: None,
            node_name: None,
            root: "/".into(),
            backup_dir: Self::usual_backup_dir(&state_dir),
            state_dir,
            cache_dir: CACHE.into(),
            grants: "/etc/wrun/grants.toml".into(),
            data_bags: None,
            roles: None,
            environments: None,
            encrypted_data_bag_secret: None,
            runtime_dir: None,
            ruby_library: None,
            keep_going: false,
            lock_timeout: Duration::from_secs(300),
            package_lock_timeout: providers::Settings::PACKAGE_LOCK_WAIT,
            guest_time: Duration::from_secs(60),
            guest_memory: 256 << 20,
            compile_time: Duration::from_secs(60),
            compile_memory: 2048 << 20,
            backups: providers::Settings::BACKUPS,
            download_size: 4096 << 20,
            download_time: Duration::from_secs(1800),
            runs_kept: 100,
            runs_size: 1024 << 20,
            min_free: 256 << 20,
            saved_attributes: SavedFilters::default(),
            group_layers: BTreeMap::new(),
        }
    }
}

impl Settings {
    /// Returns the directory of replaced files that belongs to a state directory.
    pub fn usual_backup_dir(state_dir: &Path) -> PathBuf {
        state_dir.join("backup")
    }

    /// Returns the cache directory. An ordinary user with a state directory of their own gets a cache of their own, too.
    pub fn usual_cache_dir(state_dir: &Path) -> PathBuf {
        let is_own = state_dir != Path::new(state::DEFAULT_PATH) && !rustix::process::geteuid().is_root();
        own_state::cache_folder().filter(|_| is_own).unwrap_or_else(|| CACHE.into())
    }
}
