//! The limits that a policy's grants may set: their keys, units, defaults and meanings. A test compares them with the table
//! in docs/limits.md.

use crate::file::GrantsError;
use crate::policy::Grants;
use std::time::Duration;
use toml::de::{DeTable, DeValue};

/// The unit of a limit in a file of grants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitUnit {
    /// Mebibytes, of 1,048,576 bytes each.
    Mebibytes,
    /// Seconds of time or processor time, with a precision of milliseconds.
    Seconds,
    /// A number of things.
    Count,
}

/// The value of a limit that the grants do not set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitDefault {
    /// A number in the limit's unit.
    Fixed(u64),
    /// The operator's setting of this name, whose own default is the number.
    Setting(&'static str, u64),
    /// A multiple of `memory_mib`.
    TimesGuestMemory(u64),
}

impl LimitDefault {
    /// Returns the default in the limit's unit, if no operator sets another.
    fn number(self) -> u64 {
        match self {
            Self::Fixed(number) | Self::Setting(_, number) => number,
            Self::TimesGuestMemory(times) => times.saturating_mul(Limit::GuestMemory.setting().default.number()),
        }
    }
}

/// How a limit is written in a file of grants, and its default.
#[derive(Debug)]
pub struct LimitSetting {
    /// The key below `limits`.
    pub key: &'static str,
    /// The unit of its number.
    pub unit: LimitUnit,
    /// The value if the grants do not set the limit.
    pub default: LimitDefault,
    /// The words for messages: "used up its 300 s of ..".
    pub words: &'static str,
    /// The meaning, for docs/limits.md.
    pub meaning: &'static str,
}

/// The limits, in the order of the documentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Memory of the policy's own code.
    GuestMemory,
    /// Processor time of the policy's own code.
    GuestTime,
    /// Memory of the host that is kept for the policy.
    HostMemory,
    /// Processor time of the host's own work for the policy.
    HostTime,
    /// Amount of data that is written to the disk for the policy.
    Disk,
    /// Total size of the backups of files, over all runs.
    Backups,
    /// Number of files, directories and links that are created for the policy.
    Entries,
    /// Number of files and directories that are open for the policy at the same time.
    OpenFiles,
    /// Number of processes of one command at the same time.
    Processes,
    /// Number of users and groups that are created for the policy.
    Accounts,
    /// Total time of the policy's pauses.
    Pauses,
    /// Time from the policy's start to its end.
    Wall,
}

impl Limit {
    /// Every limit, in the order of the documentation.
    pub const ALL: [Self; 12] = [
        Self::GuestMemory,
        Self::GuestTime,
        Self::HostMemory,
        Self::HostTime,
        Self::Disk,
        Self::Backups,
        Self::Entries,
        Self::OpenFiles,
        Self::Processes,
        Self::Accounts,
        Self::Pauses,
        Self::Wall,
    ];

    /// Returns the limit's key, unit, default and meaning.
    pub const fn setting(self) -> &'static LimitSetting {
        match self {
            Self::GuestMemory => &LimitSetting {
                key: "memory_mib",
                unit: LimitUnit::Mebibytes,
                default: LimitDefault::Setting("guest_memory_mib", 256),
                words: "memory",
                meaning: "memory of the policy's own code, with 8 bytes for each element of its tables of functions. A policy with cookbooks in both languages has it once, not for each \
                          language",
            },
            Self::GuestTime => &LimitSetting {
                key: "guest_seconds",
                unit: LimitUnit::Seconds,
                default: LimitDefault::Setting("guest_seconds", 60),
                words: "processor time",
                meaning: "processor time of the policy's own code, with the calls that it makes",
            },
            Self::HostMemory => &LimitSetting {
                key: "host_memory_mib",
                unit: LimitUnit::Mebibytes,
                default: LimitDefault::TimesGuestMemory(2),
                words: "the host's memory",
                meaning: "what wrun keeps for the policy: its artifact, resources with their properties and content, attributes and who wrote \
                          them, notifications, contexts, types, log lines, changes, errors, records",
            },
            Self::HostTime => &LimitSetting {
                key: "host_seconds",
                unit: LimitUnit::Seconds,
                default: LimitDefault::Fixed(300),
                words: "the host's processor time",
                meaning: "processor time of wrun's own work for the policy: resources, differences, archives, copies, searches. \
                          Not that of the commands it runs",
            },
            Self::Disk => &LimitSetting {
                key: "disk_mib",
                unit: LimitUnit::Mebibytes,
                default: LimitDefault::Fixed(4096),
                words: "disk",
                meaning: "bytes that wrun writes to the disk for the policy: files, backups, downloads, swap files, \
                          its part of the node, of the journal and of the record of the run",
            },
            Self::Backups => &LimitSetting {
                key: "backups_mib",
                unit: LimitUnit::Mebibytes,
                default: LimitDefault::Fixed(1024),
                words: "backups",
                meaning: "backups of the policy's files, those of earlier runs too, each with 4 KiB for every part of its path. \
                          Beyond it wrun removes the oldest, never the newest; the policy goes on",
            },
            Self::Entries => &LimitSetting {
                key: "entries",
                unit: LimitUnit::Count,
                default: LimitDefault::Fixed(500_000),
                words: "files and directories",
                meaning: "files, directories and links that wrun makes for the policy",
            },
            Self::OpenFiles => &LimitSetting {
                key: "open_files",
                unit: LimitUnit::Count,
                default: LimitDefault::Fixed(512),
                words: "open files",
                meaning: "files and directories that wrun has open for the policy at a time: parents of files, levels of a tree, \
                          staged files, downloads. Connections are made one at a time, and do not count",
            },
            Self::Processes => &LimitSetting {
                key: "processes",
                unit: LimitUnit::Count,
                default: LimitDefault::Fixed(1024),
                words: "processes at a time",
                meaning: "processes of one command that the policy runs, at a time, with those that they start",
            },
            Self::Accounts => &LimitSetting {
                key: "accounts",
                unit: LimitUnit::Count,
                default: LimitDefault::Fixed(500),
                words: "new users and groups",
                meaning: "users and groups that wrun makes for the policy in one run. By a rule with wildcards it makes one only \
                          while the policy's rules with wildcards match fewer on the machine. Each user may take a range of \
                          numbers in `/etc/subuid`, which has room for some 9,000 by default",
            },
            Self::Pauses => &LimitSetting {
                key: "pause_seconds",
                unit: LimitUnit::Seconds,
                default: LimitDefault::Fixed(900),
                words: "pauses",
                meaning: "waiting: between tries (`retry_delay`), and asleep. A dry run does not wait",
            },
            Self::Wall => &LimitSetting {
                key: "wall_seconds",
                unit: LimitUnit::Seconds,
                default: LimitDefault::Fixed(3600),
                words: "wall time",
                meaning: "time from the beginning of the policy to its end. The handlers at the end of the run have the same time \
                          once more",
            },
        }
    }

    /// Returns the limit with a key.
    pub(crate) fn with_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|limit| limit.setting().key == key)
    }
}

/// The milliseconds of a second.
const MILLISECONDS: u64 = 1_000;

/// A limit that grants raise above its default.
#[derive(Debug, Clone, PartialEq)]
pub struct RaisedLimit {
    /// The name of the policy.
    pub policy: String,
    /// The key below `limits`.
    pub key: &'static str,
    /// The number in the limit's unit.
    pub number: f64,
    /// The default in the same unit.
    pub default: u64,
    /// The line in the text, from 1.
    pub line: usize,
}

/// Returns the limits that the text of a file of grants raises above their defaults.
///
/// # Errors
/// The text is invalid.
pub fn raised_limits(text: &str) -> Result<Vec<RaisedLimit>, GrantsError> {
    let grants = Grants::parse(text, "grants")?;
    let mut all = Vec::new();
    for policy in grants.policy_names() {
        let limits = grants.policy(policy, &[]).limits();
        all.extend(limits.raised().map(|(setting, number, default)| {
            let line = line_of(text, ["policy", policy, "limits", setting.key]);
            RaisedLimit { policy: policy.to_owned(), key: setting.key, number, default, line }
        }));
    }
    all.sort_by_key(|one| one.line);
    Ok(all)
}

/// Returns the line of a value in a text of TOML, from 1.
fn line_of(text: &str, keys: [&str; 4]) -> usize {
    let Ok(table) = DeTable::parse(text) else { return 1 };
    let (mut at, mut offset) = (Some(table.get_ref()), 0);
    for key in keys {
        let Some((_, value)) = at.and_then(|table| table.iter().find(|(name, _)| name.get_ref() == key)) else { break };
        offset = value.span().start;
        at = match value.get_ref() {
            DeValue::Table(table) => Some(table),
            _ => None,
        };
    }
    1 + text.get(..offset).unwrap_or_default().matches('\n').count()
}

/// The limits that a policy's grants set, each in its unit; times in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits([Option<u64>; Limit::ALL.len()]);

impl Limits {
    /// Returns a limit that is a count or a number of mebibytes. `None` if the grants do not set it.
    pub fn get(&self, limit: Limit) -> Option<u64> {
        self.number(limit).filter(|_| limit.setting().unit != LimitUnit::Seconds)
    }

    /// Returns a limit that is a time. `None` if the grants do not set it.
    pub fn time(&self, limit: Limit) -> Option<Duration> {
        let milliseconds = self.number(limit).filter(|_| limit.setting().unit == LimitUnit::Seconds);
        milliseconds.map(Duration::from_millis)
    }

    /// Tells whether the grants set a limit.
    pub fn has(&self, limit: Limit) -> bool {
        self.number(limit).is_some()
    }

    /// Returns the limits that are above their defaults, each with its number and the default, in its unit.
    fn raised(&self) -> impl Iterator<Item = (&'static LimitSetting, f64, u64)> {
        Limit::ALL.into_iter().filter_map(|limit| {
            let setting = limit.setting();
            let default = setting.default.number();
            let parts = if setting.unit == LimitUnit::Seconds { MILLISECONDS } else { 1 };
            let number = self.number(limit).filter(|number| *number > default.saturating_mul(parts))?;
            Some((setting, number as f64 / parts as f64, default))
        })
    }

    fn number(&self, limit: Limit) -> Option<u64> {
        self.0.get(limit as usize).copied().flatten()
    }

    pub(crate) fn set(&mut self, limit: Limit, number: u64) {
        if let Some(place) = self.0.get_mut(limit as usize) {
            *place = Some(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raised_limits_are_told_with_their_lines() {
        let check = |text: &str, expect: &[(&str, f64, u64, usize)]| {
            let found = raised_limits(text).unwrap();
            let found: Vec<_> = found.iter().map(|one| (one.key, one.number, one.default, one.line)).collect();
            assert_eq!(found, expect, "{text}");
        };
        check("[policy.web.limits]\nmemory_mib = 256\nguest_seconds = 60\nhost_memory_mib = 512\n", &[]);
        check(
            "[policy.web]\n[policy.web.limits]\nguest_seconds = 60.5\nentries = 1\nmemory_mib = 257\n",
            &[("guest_seconds", 60.5, 60, 3), ("memory_mib", 257.0, 256, 5)],
        );
        check("policy.web.limits = { wall_seconds = 1e6 }", &[("wall_seconds", 1e6, 3600, 1)]);
        assert!(raised_limits("[policy.web").is_err());
    }
}
