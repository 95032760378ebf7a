//! How a bare name of a directory is opened: a link that has the name is refused, never followed.

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{OpenOptions, OpenOptionsExt as _};
use rustix::fs::OFlags;

/// Opens for reading. The other end of a pipe is not waited for, and a terminal is not taken over.
pub(super) fn to_read() -> OpenOptions {
    with(OpenOptions::new().read(true), OFlags::NONBLOCK | OFlags::NOCTTY)
}

/// Opens an existing file for writing.
pub(super) fn to_write() -> OpenOptions {
    with(OpenOptions::new().write(true), OFlags::NONBLOCK | OFlags::NOCTTY)
}

/// Makes a file and opens it for reading and writing.
pub(super) fn to_create(mode: u32) -> OpenOptions {
    with(OpenOptions::new().read(true).write(true).create_new(true).mode(mode), OFlags::empty())
}

/// Opens a file to lock it, and makes it where it is missing.
pub(super) fn to_lock() -> OpenOptions {
    with(OpenOptions::new().write(true).create(true).mode(0o600), OFlags::NONBLOCK | OFlags::NOCTTY)
}

/// Opens whatever has the name, without any right to its content.
pub(super) fn to_hold() -> OpenOptions {
    with(OpenOptions::new().read(true), OFlags::PATH)
}

/// Opens a directory so that its owner and mode can be set.
pub(super) fn to_set_directory() -> OpenOptions {
    with(OpenOptions::new().read(true), OFlags::DIRECTORY)
}

fn with(options: &mut OpenOptions, flags: OFlags) -> OpenOptions {
    options.follow(FollowSymlinks::No).custom_flags(flags.bits().cast_signed()).clone()
}
