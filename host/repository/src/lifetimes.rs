//! How long documents are valid.

use jiff::Timestamp as Moment;

use crate::error::{RepositoryError, Role};

/// How long documents are valid, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetimes {
    /// Days that a root is valid.
    pub root: i64,
    /// Days that targets are valid.
    pub targets: i64,
    /// Of snapshots and timestamps.
    pub online: i64,
}

const DAY: i64 = 24 * 60 * 60;

impl Lifetimes {
    /// Somebody renews the repository at least once a month.
    pub const USUAL: Self = Self { root: 3650 * DAY, targets: 365 * DAY, online: 30 * DAY };

    /// Nobody renews the repository between releases.
    pub const OFFLINE: Self = Self { online: 365 * DAY, ..Self::USUAL };

    /// The usual ones, with snapshots and timestamps for so many days.
    #[must_use]
    pub fn with_online_days(days: i64) -> Self {
        Self { online: days.saturating_mul(DAY), ..Self::USUAL }
    }

    /// The days for which snapshots and timestamps are valid.
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
