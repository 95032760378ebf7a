//! The reasons why a policy must end.

use super::{FreeEntries, Inner, Limit};
use crate::{Failure, GuestLost, StopReason, signal_name};
use grants::LimitSetting;
use node::origin::Origin;
use std::fmt;

/// The reason why a policy must end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// The policy exceeded a limit.
    Exceeded(Box<Exceeded>),
    /// A signal asks the run to end.
    Stopped(StopReason),
}

/// A limit that a policy exceeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exceeded {
    policy: String,
    /// The rest of a sentence that begins with the policy's name.
    why: String,
    origin: Option<Origin>,
}

impl Exceeded {
    /// Creates the error for a limit, with the used and the requested amount.
    pub(super) fn new(inner: &Inner, limit: Limit, used: u64, wanted: u64) -> Self {
        let most = limit.shown(inner.limits.most(limit));
        let LimitSetting { words, key, .. } = limit.setting();
        let used = match (limit, wanted) {
            (Limit::Wall, _) => String::new(),
            (_, 0) => format!(": it used {}", limit.shown(used)),
            (_, wanted) => format!(": it used {} and asked for {} more", limit.shown(used), limit.shown(wanted)),
        };
        let why = format!("used up its {most} of {words}{used} (`limits.{key}` in its grants)");
        Self { policy: inner.policy.clone(), why, origin: None }
    }

    /// Creates the error for memory growth of wrun that exceeds the charges.
    pub(super) fn growth(inner: &Inner, grown: u64) -> Self {
        let limit = Limit::HostMemory;
        let why = format!(
            "made wrun's memory grow by {}, which is more than its {} of {} allow (`limits.{}` in its grants)",
            limit.shown(grown),
            limit.shown(inner.limits.host_memory),
            limit.setting().words,
            limit.setting().key
        );
        Self { policy: inner.policy.clone(), why, origin: None }
    }

    /// Creates the error for a file system with too little free space.
    pub(super) fn floor(inner: &Inner, free: u64) -> Self {
        let [free, least] = [free, inner.least_free].map(|bytes| Limit::Disk.shown(bytes));
        let why = format!(
            "may not write to a file system that has {free} free: {least} are always left (`min_free_mib` of the settings)"
        );
        Self { policy: inner.policy.clone(), why, origin: None }
    }

    /// Creates the error for a file system with too few free entries.
    pub(super) fn entries_floor(inner: &Inner, entries: FreeEntries) -> Self {
        let why = format!(
            "may not write to a file system that can have {} more files: room for {} is always left",
            entries.left,
            entries.least()
        );
        Self { policy: inner.policy.clone(), why, origin: None }
    }

    /// Creates the error for a policy that has used up its half of a file system's free space.
    pub(super) fn share(inner: &Inner, taken: u64) -> Self {
        let why = format!(
            "wrote {} to a file system that has less than half of its room left, which is for the other policies (a limit \
             `limits.{}` in its grants takes the place of this one)",
            Limit::Disk.shown(taken),
            Limit::Disk.setting().key
        );
        Self { policy: inner.policy.clone(), why, origin: None }
    }

    /// Creates the error for an account that belongs to no policy.
    pub(super) fn nobodys() -> Self {
        Self { policy: String::new(), why: "asked for something before its account was opened".into(), origin: None }
    }

    /// Adds the place of the request. It ignores an origin without a file.
    pub(super) fn at(mut self, origin: Origin) -> Self {
        if origin.file.is_some() {
            self.origin = Some(origin);
        }
        self
    }
}

impl Ended {
    /// Adds the place, if the error has none yet.
    #[must_use]
    pub fn or_at(self, origin: impl FnOnce() -> Origin) -> Self {
        match self {
            Self::Exceeded(exceeded) if exceeded.origin.is_none() => Self::Exceeded(Box::new(exceeded.at(origin()))),
            ended => ended,
        }
    }
}

impl From<Exceeded> for Ended {
    fn from(exceeded: Exceeded) -> Self {
        Self::Exceeded(Box::new(exceeded))
    }
}

impl From<Exceeded> for GuestLost {
    fn from(exceeded: Exceeded) -> Self {
        let Exceeded { policy, why, origin } = exceeded;
        let backtrace = origin.as_ref().and_then(frame).into_iter().collect();
        Self { policy, why, backtrace, ..Self::default() }
    }
}

impl From<Ended> for Failure {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Exceeded(exceeded) => GuestLost::from(*exceeded).into(),
            Ended::Stopped(reason) => Self::Stopped(reason),
        }
    }
}

/// Returns a place as a frame of a backtrace: `COOKBOOK/FILE:LINE: in COOKBOOK::RECIPE`.
fn frame(origin: &Origin) -> Option<String> {
    let (cookbook, file, line) = (origin.cookbook.as_ref()?, origin.file.as_ref()?, origin.line?);
    let recipe = origin.recipe.as_ref().map(|recipe| format!(": in {cookbook}::{recipe}"));
    Some(format!("{cookbook}/{file}:{line}{}", recipe.unwrap_or_default()))
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exceeded(exceeded) => exceeded.fmt(f),
            Self::Stopped(StopReason::Signal(signal)) => write!(f, "was stopped by {}", signal_name(*signal)),
            Self::Stopped(StopReason::Reboot) => f.write_str("was ended, to start the node again"),
        }
    }
}

impl std::error::Error for Ended {}
