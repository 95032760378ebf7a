//! All writes for a policy use [`Disk`], which charges the bytes to the policy. It refuses them if less than the operator's
//! `min_free_mib`, or too few inodes, would stay free.

use contract::{Account, Ended, FreeEntries, FreeSpace};
use rustix::fd::AsFd;

/// A file system that a policy writes to.
#[derive(Debug, Clone)]
pub struct Disk {
    account: Account,
    /// The device number. `None`: the kernel did not give it.
    device: Option<u64>,
}

impl Disk {
    /// Returns the file system of an open file.
    pub fn of(account: &Account, file: impl AsFd) -> Self {
        Self { account: account.clone(), device: device(file) }
    }

    /// Charges bytes that will be written to a file on this file system.
    ///
    /// # Errors
    /// A limit of the policy or the minimum of free space would be exceeded.
    pub fn write(&self, file: impl AsFd, bytes: u64) -> Result<(), Ended> {
        self.account.write(bytes, self.device, || free(file))
    }
}

/// Fails if a new entry in a directory would leave less free space than the operator requires.
pub(super) fn leave_room(account: &Account, directory: impl AsFd) -> Result<(), Ended> {
    account.leave_free(FreeSpace::ENTRY, device(&directory), || free(directory))
}

fn device(file: impl AsFd) -> Option<u64> {
    rustix::fs::fstat(file).ok().map(|about| about.st_dev)
}

/// Returns the space that users other than root may still use. `None`: the file system does not count it.
fn free(file: impl AsFd) -> Option<FreeSpace> {
    // A file system that does not answer counts as full: if the check cannot be made, it refuses.
    let Ok(disk) = rustix::fs::fstatvfs(file) else { return Some(FreeSpace::bytes(0)) };
    let entries = (disk.f_files > 0).then_some(FreeEntries { left: disk.f_favail, all: disk.f_files });
    (disk.f_blocks > 0).then(|| FreeSpace { bytes: disk.f_bavail.saturating_mul(disk.f_frsize), entries })
}
