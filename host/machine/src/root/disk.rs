//! Writes for a policy go through [`Disk`]: it charges the bytes to the policy, and refuses them if less than the operator's
//! `min_free_mib`, or too few files, would stay free.

use contract::{Account, Ended, FreeEntries, FreeSpace};
use rustix::fd::AsFd;

/// A file system that a policy writes to.
#[derive(Debug, Clone)]
pub struct Disk {
    account: Account,
    /// Its number; `None` if the kernel did not say.
    device: Option<u64>,
}

impl Disk {
    /// The one that an open file is on.
    pub fn of(account: &Account, file: impl AsFd) -> Self {
        Self { account: account.clone(), device: device(file) }
    }

    /// Charges bytes that are about to be written to a file on it.
    ///
    /// # Errors
    /// The policy may not write them.
    pub fn write(&self, file: impl AsFd, bytes: u64) -> Result<(), Ended> {
        self.account.write(bytes, self.device, || free(file))
    }
}

/// Keeps the floor of the file system that a directory is on, for an entry that is made in it.
pub(super) fn leave_room(account: &Account, directory: impl AsFd) -> Result<(), Ended> {
    account.leave_free(FreeSpace::ENTRY, device(&directory), || free(directory))
}

fn device(file: impl AsFd) -> Option<u64> {
    rustix::fs::fstat(file).ok().map(|about| about.st_dev)
}

/// What whoever is not root may still write. `None`: the file system does not count it.
fn free(file: impl AsFd) -> Option<FreeSpace> {
    // A file system that does not answer counts as full: a check that cannot be made refuses.
    let Ok(disk) = rustix::fs::fstatvfs(file) else { return Some(FreeSpace::bytes(0)) };
    let entries = (disk.f_files > 0).then_some(FreeEntries { left: disk.f_favail, all: disk.f_files });
    (disk.f_blocks > 0).then(|| FreeSpace { bytes: disk.f_bavail.saturating_mul(disk.f_frsize), entries })
}
