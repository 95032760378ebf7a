//! Options for opening a bare name in a directory: a link of that name is refused and never followed.

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{OpenOptions, OpenOptionsExt as _};
use rustix::fs::OFlags;

/// Returns options for reading. Opening does not wait for the other end of a pipe and does not take over a terminal.
pub(super) fn to_read() -> OpenOptions {
    with(OpenOptions::new().read(true), OFlags::NONBLOCK | OFlags::NOCTTY)
}

/// Returns options for writing an existing file.
pub(super) fn to_write() -> OpenOptions {
    with(OpenOptions::new().write(true), OFlags::NONBLOCK | OFlags::NOCTTY)
}

/// Returns options for creating a file and opening it for reading and writing.
pub(super) fn to_create(mode: u32) -> OpenOptions {
    with(OpenOptions::new().read(true).write(true).create_new(true).mode(mode), OFlags::empty())
}

/// Opens a file to lock it, and makes it where it is missing.
pub(super) fn to_lock() -> OpenOptions {
    with(OpenOptions::new().write(true).create(true).mode(0o600), OFlags::NONBLOCK | OFlags::NOCTTY)
}

/// Returns options for opening an entry of any kind, without a right to its content.
pub(super) fn to_hold() -> OpenOptions {
    with(OpenOptions::new().read(true), OFlags::PATH)
}

/// Returns options for a directory whose owner and mode will be set.
pub(super) fn to_set_directory() -> OpenOptions {
    with(OpenOptions::new().read(true), OFlags::DIRECTORY)
}

fn with(options: &mut OpenOptions, flags: OFlags) -> OpenOptions {
    options.follow(FollowSymlinks::No).custom_flags(flags.bits().cast_signed()).clone()
}
