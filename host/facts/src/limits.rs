//! Every limit on what is read, with its reason.

/// Bytes of an ordinary file of the system (`/etc/os-release`, a value in `/sys`): the longest real ones are a few kB.
pub(crate) const ORDINARY_FILE: usize = 256 * 1024;

/// Bytes of a table that grows with the machine (`/proc/cpuinfo`, `/proc/self/mountinfo`, `/etc/passwd`): `cpuinfo` is
/// about 1.5 kB for each processor, and there are machines with a thousand.
pub(crate) const TABLE_FILE: usize = 8 * 1024 * 1024;

/// Bytes of a package database: dpkg's status file takes about 1 kB for each package, 3 MB on a full desktop.
pub(crate) const PACKAGE_DATABASE: usize = 64 * 1024 * 1024;

/// Bytes of a facts file: a saved node of a large machine is about 1 MB.
pub(crate) const FACTS_FILE: usize = 64 * 1024 * 1024;

/// Names taken from one directory: `/sys/class/block` of a storage server with thousands of volumes still fits.
pub(crate) const DIRECTORY_ENTRIES: usize = 16 * 1024;

/// Bytes taken from one dump of the kernel's network tables: a router may hold a million routes, which no cookbook
/// wants to see.
pub(crate) const NETLINK_DUMP: usize = 16 * 1024 * 1024;

/// Routes reported in all, for the same reason.
pub(crate) const ROUTES: usize = 4096;

/// Processors reported: more than any kernel is built for, and a bound for a range such as `0-4294967295`.
pub(crate) const PROCESSORS: usize = 16 * 1024;

/// Threads that gather everything at once. The topics are few and short; more threads cost more than they bring.
pub(crate) const GATHERING_THREADS: usize = 4;
