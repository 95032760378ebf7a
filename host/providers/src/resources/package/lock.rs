//! Waits for other package tools, and reports which process wrun waits for.
//!
//! apt-get can wait for dpkg's lock, but not for the lock of its lists, and dpkg waits for none. Neither reports in time
//! which process it waits for. debconf and rpm fail at once, debconf with a package half configured, and any user may lock
//! their files. So wrun checks the locks before it starts a tool.

use crate::plan::Writer;
use contract::{ErrorKind, LogLevel, Raised};
use machine::locks::holder;
use machine::remarks::remark;
use std::time::{Duration, Instant};

/// The locks of tools that change packages.
pub(super) const DPKG_LOCKS: [&str; 6] = [
    "/var/lib/dpkg/lock-frontend",
    "/var/lib/dpkg/lock",
    "/var/cache/apt/archives/lock",
    "/var/cache/debconf/config.dat",
    "/var/cache/debconf/passwords.dat",
    "/var/cache/debconf/templates.dat",
];

/// The locks of rpm's database, at both of its places.
pub(super) const RPM_LOCKS: [&str; 2] = ["/var/lib/rpm/.rpm.lock", "/usr/lib/sysimage/rpm/.rpm.lock"];

/// The lock of tools that refresh apt's lists.
pub(super) const LIST_LOCKS: [&str; 1] = ["/var/lib/apt/lists/lock"];

/// The interval for checking the locks.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// Waits until no process holds any of these locks.
///
/// # Errors
/// A process still holds one after the time that the settings allow.
pub(super) fn wait(writer: &Writer<'_>, locks: &[&str]) -> Result<(), Raised> {
    let limit = writer.settings.package_lock_wait;
    let begin = Instant::now();
    let mut told = false;
    while let Some((path, holder)) = locks.iter().find_map(|path| Some((path, holder(writer.root, path)?))) {
        if begin.elapsed() >= limit || writer.settings.stop.requested().is_some() {
            let seconds = begin.elapsed().as_secs();
            let message = format!("{path} is held by {holder}; waited {seconds} seconds for it");
            return Err(Raised::new(ErrorKind::Package, message)
                .with_hint("another package tool is at work: let it finish, or end it, then converge again"));
        }
        if !told {
            let line = format!("waiting for {holder}, which holds {path}");
            remark(&writer.settings.account, LogLevel::Warn, &line);
            told = true;
        }
        std::thread::sleep(LOOK_AGAIN);
    }
    Ok(())
}
