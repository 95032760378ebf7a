//! The limits of a policy's use of the host.

use grants::{LimitDefault, LimitSetting, LimitUnit};
use std::time::Duration;

/// The limits, with their names in the grants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Bytes of the host's memory that are kept for the policy.
    HostMemory,
    /// Processor time of the host's own work for the policy. Neither the guest's nor that of the commands it runs.
    HostTime,
    /// Bytes that are written to the disk for the policy.
    Disk,
    /// Files, directories and links that are made for the policy.
    Entries,
    /// Files and directories that are open for the policy at a time.
    OpenFiles,
    /// Processes of one of its commands at a time, with those that they start.
    Processes,
    /// Users and groups that are made for the policy.
    Accounts,
    /// Time in which the policy waits: between tries, and asleep.
    Pauses,
    /// Time from the policy's begin to its end.
    Wall,
}

impl Limit {
    /// Returns the limit's row in the table of the grants.
    pub(crate) const fn setting(self) -> &'static LimitSetting {
        let limit = match self {
            Self::HostMemory => grants::Limit::HostMemory,
            Self::HostTime => grants::Limit::HostTime,
            Self::Disk => grants::Limit::Disk,
            Self::Entries => grants::Limit::Entries,
            Self::OpenFiles => grants::Limit::OpenFiles,
            Self::Processes => grants::Limit::Processes,
            Self::Accounts => grants::Limit::Accounts,
            Self::Pauses => grants::Limit::Pauses,
            Self::Wall => grants::Limit::Wall,
        };
        limit.setting()
    }

    /// Returns the default in the table's unit; 0 for a limit that follows from another one.
    const fn usual(self) -> u64 {
        match self.setting().default {
            LimitDefault::Fixed(number) => number,
            LimitDefault::Setting(..) | LimitDefault::TimesGuestMemory(_) => 0,
        }
    }

    /// Converts a duration to this limit's unit, the millisecond.
    pub(crate) fn amount(self, time: Duration) -> u64 {
        u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
    }

    /// Formats an amount for people.
    pub(crate) fn shown(self, amount: u64) -> String {
        match self.setting().unit {
            LimitUnit::Mebibytes if amount.is_multiple_of(1 << 20) => format!("{} MiB", amount >> 20),
            LimitUnit::Mebibytes => {
                let tenths = u128::from(amount) * 10 / (1 << 20);
                format!("{}.{} MiB", tenths / 10, tenths % 10)
            }
            LimitUnit::Count => amount.to_string(),
            LimitUnit::Seconds => format!("{} s", Duration::from_millis(amount).as_secs_f64()),
        }
    }
}

/// The limits of a policy's use of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccountLimits {
    /// Bytes of the host's memory.
    pub host_memory: u64,
    /// Processor time of the host's own work.
    pub host_time: Duration,
    /// Bytes that are written to the disk.
    pub disk: u64,
    /// Files, directories and links that are made.
    pub entries: u64,
    /// Files and directories that are open at a time.
    pub open_files: u64,
    /// Processes of one command at a time.
    pub processes: u64,
    /// Users and groups that are made in one run.
    pub accounts: u64,
    /// Time in which the policy waits, in all.
    pub pauses: Duration,
    /// Time from the policy's begin to its end.
    pub wall: Duration,
}

impl AccountLimits {
    /// Limits that allow nothing.
    pub(crate) const NOTHING: Self = Self {
        host_memory: 0,
        host_time: Duration::ZERO,
        disk: 0,
        entries: 0,
        open_files: 0,
        processes: 0,
        accounts: 0,
        pauses: Duration::ZERO,
        wall: Duration::ZERO,
    };

    /// Returns the default limits of a policy whose guest may have `bytes` bytes of memory.
    pub const fn for_guest_memory(bytes: u64) -> Self {
        Self {
            host_memory: match Limit::HostMemory.setting().default {
                LimitDefault::TimesGuestMemory(times) => bytes.saturating_mul(times),
                LimitDefault::Fixed(mebibytes) | LimitDefault::Setting(_, mebibytes) => mebibytes << 20,
            },
            host_time: Duration::from_secs(Limit::HostTime.usual()),
            disk: Limit::Disk.usual() << 20,
            entries: Limit::Entries.usual(),
            open_files: Limit::OpenFiles.usual(),
            processes: Limit::Processes.usual(),
            accounts: Limit::Accounts.usual(),
            pauses: Duration::from_secs(Limit::Pauses.usual()),
            wall: Duration::from_secs(Limit::Wall.usual()),
        }
    }

    /// Returns one limit in its unit: bytes, milliseconds or a count.
    pub(crate) fn most(&self, limit: Limit) -> u64 {
        match limit {
            Limit::HostMemory => self.host_memory,
            Limit::HostTime => limit.amount(self.host_time),
            Limit::Disk => self.disk,
            Limit::Entries => self.entries,
            Limit::OpenFiles => self.open_files,
            Limit::Processes => self.processes,
            Limit::Accounts => self.accounts,
            Limit::Pauses => limit.amount(self.pauses),
            Limit::Wall => limit.amount(self.wall),
        }
    }
}

impl Default for AccountLimits {
    fn default() -> Self {
        Self::for_guest_memory(256 << 20)
    }
}
