//! How much a policy may cost the host.

use std::time::Duration;

/// What is limited, and under which name.
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
    /// Time in which the policy waits: between tries, and asleep.
    Pauses,
    /// Time from the policy's begin to its end.
    Wall,
}

impl Limit {
    /// Every limit, in the order in which they are shown.
    pub const ALL: [Self; 8] = [
        Self::HostMemory,
        Self::HostTime,
        Self::Disk,
        Self::Entries,
        Self::OpenFiles,
        Self::Processes,
        Self::Pauses,
        Self::Wall,
    ];

    /// The name of the setting, below `limits` in the policy's grants.
    pub fn setting(self) -> &'static str {
        match self {
            Self::HostMemory => "host_memory_mib",
            Self::HostTime => "host_seconds",
            Self::Disk => "disk_mib",
            Self::Entries => "entries",
            Self::OpenFiles => "open_files",
            Self::Processes => "processes",
            Self::Pauses => "pause_seconds",
            Self::Wall => "wall_seconds",
        }
    }

    /// A duration in this limit's unit of account, which is the millisecond.
    pub(crate) fn amount(self, time: Duration) -> u64 {
        u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
    }

    /// An amount as people read it.
    pub(crate) fn shown(self, amount: u64) -> String {
        match self {
            Self::HostMemory | Self::Disk if amount.is_multiple_of(1 << 20) => format!("{} MiB", amount >> 20),
            Self::HostMemory | Self::Disk => {
                let tenths = u128::from(amount) * 10 / (1 << 20);
                format!("{}.{} MiB", tenths / 10, tenths % 10)
            }
            Self::Entries | Self::OpenFiles | Self::Processes => amount.to_string(),
            Self::HostTime | Self::Pauses | Self::Wall => format!("{} s", Duration::from_millis(amount).as_secs_f64()),
        }
    }

    /// Returns the words for what is limited, for messages.
    pub(crate) fn of(self) -> &'static str {
        match self {
            Self::HostMemory => "the host's memory",
            Self::HostTime => "the host's processor time",
            Self::Disk => "disk",
            Self::Entries => "files and directories",
            Self::OpenFiles => "open files",
            Self::Processes => "processes at a time",
            Self::Pauses => "pauses",
            Self::Wall => "wall time",
        }
    }
}

/// How much a policy may cost the host.
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
    /// Time in which the policy waits, in all.
    pub pauses: Duration,
    /// Time from the policy's begin to its end.
    pub wall: Duration,
}

impl AccountLimits {
    /// The host's memory for a policy, as a multiple of what its guest may have, if nobody says otherwise.
    pub const HOST_MEMORY_PER_GUEST_MEMORY: u64 = 2;

    /// Limits that allow nothing.
    pub(crate) const NOTHING: Self = Self {
        host_memory: 0,
        host_time: Duration::ZERO,
        disk: 0,
        entries: 0,
        open_files: 0,
        processes: 0,
        pauses: Duration::ZERO,
        wall: Duration::ZERO,
    };

    /// The limits of a policy whose guest may have so many bytes of memory, if nobody says otherwise.
    pub const fn for_guest_memory(bytes: u64) -> Self {
        Self {
            host_memory: bytes.saturating_mul(Self::HOST_MEMORY_PER_GUEST_MEMORY),
            host_time: Duration::from_secs(300),
            disk: 4 << 30,
            entries: 500_000,
            open_files: 512,
            processes: 1_024,
            pauses: Duration::from_secs(900),
            wall: Duration::from_secs(3_600),
        }
    }

    /// The most of one kind, in its unit of account: bytes, milliseconds, a number.
    pub(crate) fn most(&self, limit: Limit) -> u64 {
        match limit {
            Limit::HostMemory => self.host_memory,
            Limit::HostTime => limit.amount(self.host_time),
            Limit::Disk => self.disk,
            Limit::Entries => self.entries,
            Limit::OpenFiles => self.open_files,
            Limit::Processes => self.processes,
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
