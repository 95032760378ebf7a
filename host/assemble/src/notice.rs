//! Messages for people while a run is made ready. They are values, because a library does not print.

use contract::Failure;
use state::Holder;
use std::fmt;
use std::path::PathBuf;

/// A message for people before a run begins. Its text is a clause or a sentence without a final period, and is not escaped.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice {
    /// Everything is granted to every policy.
    EverythingGranted,
    /// No file of grants exists.
    NoGrants {
        /// The file that would hold them.
        file: PathBuf,
        /// True if cookbooks run from folders, without a policy.
        is_of_folders: bool,
    },
    /// A rule of the grants cannot match anything.
    RuleWithoutReach {
        /// The file of grants.
        file: String,
        /// The rule's line, from 1.
        line: usize,
        /// What is wrong with the rule.
        sentence: String,
    },
    /// A name is probably misspelt: it does not exist, but a near one does.
    Misspelt {
        /// The sentence with the unknown name and the near one.
        sentence: String,
    },
    /// The root of a repository is trusted at its first use.
    FirstUse {
        /// The path of the root's file, or its address.
        file: String,
        /// The ids of its keys.
        keys: Vec<String>,
    },
    /// The clock is behind an earlier run's.
    ClockWentBack {
        /// The moment of the earlier run.
        before: String,
    },
    /// A policy runs in a revision that was verified earlier.
    Stale {
        /// The name of the policy.
        policy: String,
        /// The moment at which it was verified.
        verified: String,
        /// How many days ago that was.
        days: i64,
        /// The reason why a newer revision is not run.
        reason: String,
    },
    /// A policy's run list is empty.
    EmptyRunList {
        /// The name of the policy.
        policy: String,
    },
    /// A dry run's user may not read the state directory.
    StateUnreadable {
        /// The path of the directory.
        place: PathBuf,
    },
    /// Native code cannot be cached between runs.
    NativeCodeNotKept {
        /// The error with its causes.
        why: String,
    },
    /// A policy of a real run was built for trying.
    BuiltForTrying {
        /// The name of the policy.
        policy: String,
        /// Its revision and its artifact, in words.
        versions: String,
    },
    /// Native code of a policy is made, which takes time.
    Compiling {
        /// The name of the policy.
        policy: String,
    },
    /// A policy cannot be run.
    Refused {
        /// The name of the policy.
        policy: String,
        /// What ended the policy.
        failure: Failure,
    },
    /// Another run holds the lock.
    Waiting {
        /// The run that holds the lock, if it is known.
        holder: Option<Holder>,
    },
    /// The journal of due notifications is damaged and was moved.
    JournalSetAside {
        /// The path that it has now.
        place: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The changes of operators that waited for the run are damaged.
    ChangesSetAside {
        /// What is wrong with them.
        why: String,
        /// Their file's new place. `None`: a dry run leaves it.
        place: Option<PathBuf>,
    },
    /// The saved node is damaged.
    NodeSetAside {
        /// What is wrong with it.
        why: String,
        /// Its new place. `None`: a dry run leaves it.
        place: Option<PathBuf>,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EverythingGranted => f.write_str("every policy may do everything on this machine (--allow-all)"),
            Self::NoGrants { file, is_of_folders } => write!(
                f,
                "{} does not exist, so that nothing is granted to any policy; `wrun grants suggest {}` prints a file to begin \
                 with",
                file.display(),
                if *is_of_folders { "--cookbooks DIR --run-list ITEM,.." } else { "--policy-name NAME" }
            ),
            Self::RuleWithoutReach { file, line, sentence } => write!(f, "{file}:{line}: {sentence}"),
            Self::Misspelt { sentence } => f.write_str(sentence),
            Self::FirstUse { file, keys } => write!(
                f,
                "{file} is trusted from the first real run on, since this node has no other root and nobody but root can change it; it has \
                 the key {}",
                keys.join(", ")
            ),
            Self::ClockWentBack { before } => write!(
                f,
                "the clock is behind the last run, which was at {before}: releases that have expired since cannot be told"
            ),
            Self::Stale { policy, verified, days, reason } => write!(
                f,
                "policy {policy} runs in the revision that was verified at {verified}, {days} days ago: {reason}"
            ),
            Self::EmptyRunList { policy } => {
                write!(f, "policy {policy} has an empty run list: nothing will be compiled or converged")
            }
            Self::StateUnreadable { place } => write!(
                f,
                "this user may not read {}: what the node has saved there is not in this dry run",
                place.display()
            ),
            Self::NativeCodeNotKept { why } => f.write_str(why),
            Self::BuiltForTrying { policy, versions } => {
                write!(f, "policy {policy} ({versions}) was built with --dev, for trying; build it without for nodes")
            }
            Self::Compiling { policy } => write!(f, "compiling native code of policy {policy}"),
            Self::Refused { policy, failure } => {
                write!(f, "{failure}; policy {policy} will fail when its turn comes")
            }
            Self::Waiting { holder } => {
                f.write_str("waiting for another run to end")?;
                let Some(holder) = holder else { return Ok(()) };
                write!(f, ": process {}, since {} (`{}`)", holder.pid, holder.began, holder.command)
            }
            Self::JournalSetAside { place, why } => {
                write!(f, "{why}; the file is now {}, and its whole lines still count", place.display())
            }
            Self::ChangesSetAside { why, place } => {
                write!(f, "{why}; {}, and the changes that waited in it are not applied", fate(place.as_ref()))
            }
            Self::NodeSetAside { why, place } => {
                let fate = fate(place.as_ref());
                write!(f, "{why}; {fate}, and this run begins without the normal attributes that were saved")
            }
        }
    }
}

/// Returns the end of a sentence: what wrun does with a damaged file.
fn fate(place: Option<&PathBuf>) -> String {
    match place {
        Some(place) => format!("the file is now {}", place.display()),
        None => "a real run sets the file aside".to_owned(),
    }
}

/// A function that gets each notice at once.
pub type Notify = dyn Fn(Notice) + Send + Sync;
