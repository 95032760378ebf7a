//! The request for one run. Settings, in contrast, are shared by all runs of a node.

use crate::stand_in::StandIn;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// A run that somebody asks for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The policies to run, in order. Empty: those that the JSON attributes name.
    pub policies: Vec<String>,
    /// The groups of policies that differ from the node's group, by policy.
    pub groups: BTreeMap<String, String>,
    /// Revisions that the node has, instead of the newest ones, by policy.
    pub revisions: BTreeMap<String, String>,
    /// Cookbooks in folders, which are run instead of policies.
    pub folders: Option<FolderRequest>,
    /// The file of JSON attributes that are merged into `normal`.
    pub json_attributes: Option<PathBuf>,
    /// Run lists for this run only, as `POLICY=ITEM,..`; with folders, items.
    pub override_run_lists: Vec<String>,
    /// Run lists by name, as `POLICY=NAME`.
    pub named_run_lists: Vec<String>,
    /// The file that the machine's facts are taken from. `None`: they are gathered.
    pub facts: Option<PathBuf>,
    /// The source of the policies' grants.
    pub grants: GrantsSource,
    /// Environment files that become layers of the node.
    pub environment_files: Vec<PathBuf>,
    /// Files that list more environment files.
    pub environment_lists: Vec<PathBuf>,
    /// Attributes for this run only, above all layers, as `a.b=VALUE`.
    pub parameters: Vec<String>,
    /// What the run may change and what it looks for.
    pub mode: Mode,
    /// Whether backtraces show frames of a language's runtime too.
    pub all_frames: bool,
    /// Files that the program reads, writes or starts, besides those of the settings. A rule with wildcards does not let a
    /// policy write to them.
    pub own_files: OwnFiles,
    /// The run is skipped if a good run that is younger than this did the same. `None`: this run is not skipped, and later
    /// ones are not skipped because of it.
    pub skip_unchanged: Option<Duration>,
    /// The replacement for the machine in a test.
    pub stand_in: Option<StandIn>,
}

/// Cookbooks that are run from the folders of a Chef repository.
#[derive(Debug, Clone, Default)]
pub struct FolderRequest {
    /// The directories of cookbooks. Of two cookbooks with one name, the one in the last directory is used.
    pub cookbooks: Vec<PathBuf>,
    /// The run list, as texts of items between commas. Empty: the JSON attributes', else the node's.
    pub run_list: Vec<String>,
    /// The environment, if neither the node nor the JSON attributes name one.
    pub environment: Option<String>,
    /// The directory of roles.
    pub roles: Option<PathBuf>,
    /// The directory of environments.
    pub environments: Option<PathBuf>,
    /// Whether missing dependencies are looked for in other cookbooks' folders, and left out if they are not there.
    pub lenient: bool,
    /// The directory of other nodes, for searches.
    pub nodes: Option<PathBuf>,
    /// The directory of gems that cookbooks name in their metadata.
    pub gems: Option<PathBuf>,
    /// The gems that this run does not load.
    pub without_gems: Vec<String>,
}

/// The source of the policies' grants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GrantsSource {
    /// The file of the settings. It need not exist: then nothing is granted.
    #[default]
    UsualFile,
    /// The file of the settings, which must exist.
    NamedFile,
    /// Everything is granted, without a file.
    Everything,
}

/// The mode of a run: what it may change, and what it reports.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// The machine is changed.
    #[default]
    Real,
    /// Nothing is changed. The run says what would change.
    WhyRun,
    /// Recipes are compiled and nothing is converged. The report is one of a dry run or of a real one.
    CompileOnly {
        /// Whether the report is one of a dry run.
        why_run: bool,
    },
    /// Nothing is changed. The run asks for all rights that a real run could need.
    Survey,
}

impl Mode {
    /// Tells whether the run changes nothing.
    pub fn is_dry(self) -> bool {
        self != Self::Real
    }

    /// Tells whether the run's report is one of a dry run.
    pub fn is_why_run(self) -> bool {
        matches!(self, Self::WhyRun | Self::Survey | Self::CompileOnly { why_run: true })
    }

    /// Tells whether the run ends after its recipes are compiled.
    pub fn is_compile_only(self) -> bool {
        matches!(self, Self::CompileOnly { .. })
    }
}

/// The program's own files, besides those that the settings and the rest of the request name.
#[derive(Debug, Clone, Default)]
pub struct OwnFiles {
    /// Files that hold settings or the log.
    pub data: Vec<PathBuf>,
    /// Programs that wrun starts with the operator's rights, each with its arguments.
    pub commands: Vec<Vec<String>>,
}
