//! The validity periods of documents.

use jiff::Timestamp as Moment;

use crate::error::{RepositoryError, Role};

/// The validity periods of documents, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetimes {
    /// The validity of a root, in seconds.
    pub root: i64,
    /// The validity of targets, in seconds.
    pub targets: i64,
    /// The validity of snapshots and timestamps, in seconds.
    pub online: i64,
}

const DAY: i64 = 24 * 60 * 60;

impl Lifetimes {
    /// The usual periods. They require that somebody renews the repository at least once a month.
    pub const USUAL: Self = Self { root: 3650 * DAY, targets: 365 * DAY, online: 30 * DAY };

    /// The periods for a repository that is not renewed between releases.
    pub const OFFLINE: Self = Self { online: 365 * DAY, ..Self::USUAL };

    /// Returns the usual periods, with this number of days for snapshots and timestamps.
    #[must_use]
    pub fn with_online_days(days: i64) -> Self {
        Self { online: days.saturating_mul(DAY), ..Self::USUAL }
    }

    /// Returns the validity of snapshots and timestamps, in days.
    #[must_use]
    pub fn online_days(self) -> i64 {
        self.online / DAY
    }

    fn of(self, role: Role) -> i64 {
        match role {
            Role::Root => self.root,
            Role::Targets => self.targets,
            Role::Snapshot | Role::Timestamp => self.online,
        }
    }

    /// The moment at which a document that is signed now expires.
    ///
    /// # Errors
    /// It is not in the calendar.
    pub fn end(self, role: Role, now: Moment) -> Result<Moment, RepositoryError> {
        let second = now.as_second().saturating_add(self.of(role));
        Moment::from_second(second).map_err(|_| RepositoryError::Other("the clock's time is not a date".into()))
    }
}
