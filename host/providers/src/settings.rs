//! What the providers of one policy need to know of the run.

use crate::command::Live;
use converge::{CookbookFiles, LogLevel, Stop};
use grants::PolicyGrants;
use node::file_specificity::NodeIdentity;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Takes lines for the run's log.
pub type Log = dyn Fn(LogLevel, &str) + Send + Sync;

/// What the providers of one policy need to know of the run.
pub struct Settings {
    /// The root: `/`, or `--root DIR`.
    pub root: PathBuf,
    /// What the operator lets the policy do.
    pub grants: Arc<PolicyGrants>,
    /// The files of the policy's cookbooks.
    pub files: Arc<dyn CookbookFiles>,
    /// Where replaced files are kept. Outside the root's reach; made when first needed.
    pub backup_dir: PathBuf,
    /// Where downloads and rejected content are kept. Made when first needed.
    pub cache_dir: PathBuf,
    /// Of the machine, for the lookup of cookbook files.
    pub node: NodeIdentity,
    /// The whole run is a dry run.
    pub why_run: bool,
    /// Set when a signal asks the run to end.
    pub stop: Stop,
    /// How long a held lock of the package tools is waited for.
    pub package_lock_wait: Duration,
    /// Hears the output of commands with `live_stream`, while they run.
    pub live: Option<Arc<Live>>,
    /// Hears what `log` resources say.
    pub log: Option<Arc<Log>>,
}

impl Settings {
    /// How long a held lock of the package tools is waited for, if nobody says otherwise.
    pub const PACKAGE_LOCK_WAIT: Duration = Duration::from_secs(120);
}
