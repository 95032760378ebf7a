//! The host's own remarks in the log, about steps that failed without stopping the run. They contain names that guests
//! choose, so each remark is escaped and cut, and each policy has a limit for their size.

use contract::{Account, LogLevel, Remark};
use text::{cut, escape_line};

/// Maximum size of one remark, in bytes.
const MAX_LINE: usize = 4_096;

/// Writes a remark, unless the policy has caused too many of them.
pub fn remark(account: &Account, level: LogLevel, line: &str) {
    let line = escape_line(&cut(line, MAX_LINE));
    match account.remarks(&line) {
        Remark::Written if level <= LogLevel::Debug => tracing::debug!("{line}"),
        Remark::Written if level <= LogLevel::Info => tracing::info!("{line}"),
        Remark::Written if level <= LogLevel::Warn => tracing::warn!("{line}"),
        Remark::Written => tracing::error!("{line}"),
        Remark::FirstLeftOut => tracing::warn!("this policy has caused too many remarks: further ones are not written"),
        Remark::LeftOut => {}
    }
}
