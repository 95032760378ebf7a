//! A look at the machine that entries of grants are judged for.

use super::named::{FirstLink, Links};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// What decides on one machine how risky entries are: accounts that are as powerful as root, in addition to those that are so
/// everywhere, and what is on the machine already. The default is an empty machine.
#[derive(Debug, Clone, Default)]
pub struct MachineView {
    /// Login names of accounts that are as powerful as root.
    pub users: BTreeSet<String>,
    /// Names of groups whose members are as powerful as root.
    pub groups: BTreeSet<String>,
    /// Paths of files and programs that decide which accounts these are, wherever they lie.
    pub places: BTreeSet<String>,
    /// The paths that root runs by itself, such as those of cron's jobs, each with the file that names it. A path that ends in a
    /// slash stands for all that is below it.
    pub run_by_root: BTreeMap<String, String>,
    /// True if root may run more by itself than these paths: there was more to read than wrun reads.
    pub runs_more_by_root: bool,
    /// The homes of the accounts in the machine's own files, by login name.
    pub homes: BTreeMap<String, String>,
    /// Login names of accounts that can log in.
    pub logins: BTreeSet<String>,
    pub(super) queries: Queries,
    pub(super) links: Links,
}

impl MachineView {
    /// Creates the view of a machine that answers these questions. Its lists are empty.
    pub fn new(queries: Arc<dyn MachineQueries>) -> Self {
        let same = Arc::clone(&queries);
        let links = Links::new(move |path| same.first_link(path));
        Self { queries: Queries(queries), links, ..Self::default() }
    }
}

/// What is at a path of the machine, once links are followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AtPath {
    /// Nothing. The closest folder above that exists, as its real path.
    Nothing {
        /// The real path of the closest folder above.
        above: String,
    },
    /// Something that every account may read.
    Readable,
    /// Something that only some accounts may read, or that cannot be looked at.
    Closed,
}

/// Questions about single paths and names of a machine as it is now. Paths are absolute and have no `.` and `..`. What cannot
/// be looked at counts as present, and as private.
pub trait MachineQueries: Send + Sync {
    /// Returns what is at a path.
    fn at_path(&self, path: &str) -> AtPath;

    /// Tells whether not every account may read a file, or list a folder. A path that does not exist is for everybody, unless
    /// it lies in a folder that is not.
    fn is_private(&self, path: &str) -> bool;

    /// Returns the first symbolic link on the way of a path, or `None` without a link.
    fn first_link(&self, path: &str) -> Option<FirstLink>;

    /// Tells whether there is a user of this name.
    fn has_user(&self, name: &str) -> bool;

    /// Tells whether there is a group of this name.
    fn has_group(&self, name: &str) -> bool;
}

/// The questions of a view.
#[derive(Clone)]
pub(super) struct Queries(Arc<dyn MachineQueries>);

impl fmt::Debug for Queries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Queries")
    }
}

impl Default for Queries {
    fn default() -> Self {
        Self(Arc::new(NoMachine))
    }
}

impl Deref for Queries {
    type Target = dyn MachineQueries;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

/// No machine: there is nothing on it.
struct NoMachine;

impl MachineQueries for NoMachine {
    fn at_path(&self, _: &str) -> AtPath {
        AtPath::Nothing { above: "/".to_owned() }
    }

    fn is_private(&self, _: &str) -> bool {
        false
    }

    fn first_link(&self, _: &str) -> Option<FirstLink> {
        None
    }

    fn has_user(&self, _: &str) -> bool {
        false
    }

    fn has_group(&self, _: &str) -> bool {
        false
    }
}
