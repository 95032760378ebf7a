//! All limits for reading, each with its reason.

/// Maximum size of an ordinary file of the system, in bytes (`/etc/os-release`, a value in `/sys`): the longest real ones are
/// a few kB.
pub(crate) const ORDINARY_FILE: usize = 256 * 1024;

/// Maximum size of a table that grows with the machine, in bytes (`/proc/cpuinfo`, `/proc/self/mountinfo`, `/etc/passwd`):
/// `cpuinfo` is about 1.5 kB for each processor, and there are machines with a thousand.
pub(crate) const TABLE_FILE: usize = 8 * 1024 * 1024;

/// Maximum size of the part of the table of mounts that is read, in bytes: some thousand mounts. Users may mount file systems of
/// their own, and choose their names. They come after those that the machine has mounted at its start.
pub(crate) const MOUNTS: usize = 1024 * 1024;

/// Maximum length of the name of a device or a mount point, in bytes. Both together are an attribute's key, which may have 4,096.
pub(crate) const MOUNT_NAME: usize = 2000;

/// Maximum size of a package database, in bytes: dpkg's status file takes about 1 kB for each package, 3 MB on a full
/// desktop.
pub(crate) const PACKAGE_DATABASE: usize = 64 * 1024 * 1024;

/// Maximum size of a facts file, in bytes: a saved node of a large machine is about 1 MB.
pub(crate) const FACTS_FILE: usize = 64 * 1024 * 1024;

/// Maximum number of names from one directory: `/sys/class/block` of a storage server with thousands of volumes still fits.
pub(crate) const DIRECTORY_ENTRIES: usize = 16 * 1024;

/// Maximum size of one dump of the kernel's network tables, in bytes. A router may have a million routes, which no cookbook
/// needs.
pub(crate) const NETLINK_DUMP: usize = 16 * 1024 * 1024;

/// Maximum number of reported routes, for the same reason.
pub(crate) const ROUTES: usize = 4096;

/// Maximum number of reported processors: more than any kernel supports, and a limit for a range such as `0-4294967295`.
pub(crate) const PROCESSORS: usize = 16 * 1024;

/// Number of threads that gather all facts in parallel. There are few and short topics; more threads would cost more time
/// than they save.
pub(crate) const GATHERING_THREADS: usize = 4;
