//! `systemd_paths`: the directories of `systemd-path`, if it is installed. Ohai's plugin SystemdPaths.
//!
//! The system's directories are the same everywhere, except two that depend on the distribution. The directories of the
//! calling user do not belong to the node and are left out.

use serde_json::Value;

use crate::machine::{Gathered, Machine};
use crate::topics::{known, one};

const SYSTEM_DIRECTORIES: &[(&str, &str)] = &[
    ("temporary", "/tmp"),
    ("temporary-large", "/var/tmp"),
    ("system-binaries", "/usr/bin"),
    ("system-include", "/usr/include"),
    ("system-library-private", "/usr/lib"),
    ("system-shared", "/usr/share"),
    ("system-configuration-factory", "/usr/share/factory/etc"),
    ("system-state-factory", "/usr/share/factory/var"),
    ("system-configuration", "/etc"),
    ("system-runtime", "/run"),
    ("system-runtime-logs", "/run/log"),
    ("system-state-private", "/var/lib"),
    ("system-state-logs", "/var/log"),
    ("system-state-cache", "/var/cache"),
    ("system-state-spool", "/var/spool"),
    ("systemd-system-conf", "/etc/systemd/system"),
    ("systemd-user-unit", "/usr/lib/systemd/user"),
    ("systemd-user-conf", "/etc/systemd/user"),
    ("systemd-user-generator", "/usr/lib/systemd/user-generators"),
    ("tmpfiles", "/usr/lib/tmpfiles.d"),
    ("sysusers", "/usr/lib/sysusers.d"),
    ("sysctl", "/usr/lib/sysctl.d"),
    ("binfmt", "/usr/lib/binfmt.d"),
    ("modules-load", "/usr/lib/modules-load.d"),
    ("catalog", "/usr/lib/systemd/catalog"),
];

/// The names of directories within systemd's own directory.
const OWN_DIRECTORIES: [(&str, &str); 6] = [
    ("systemd-system-unit", "system"),
    ("systemd-system-preset", "system-preset"),
    ("systemd-user-preset", "user-preset"),
    ("systemd-system-generator", "system-generators"),
    ("systemd-sleep", "system-sleep"),
    ("systemd-shutdown", "system-shutdown"),
];

pub(crate) fn gather(machine: &Machine) -> Gathered {
    if !machine.root.has_program("systemd-path") {
        return Gathered::new();
    }
    // If /lib is not a link to /usr/lib, systemd is installed there.
    let own = if machine.root.link_target("/sbin/init").is_some_and(|target| target.starts_with("/lib/")) {
        "/lib/systemd"
    } else {
        "/usr/lib/systemd"
    };
    let mut paths = known(SYSTEM_DIRECTORIES.iter().map(|(name, path)| (*name, Some(*path))));
    paths.extend(one("systemd-util", own));
    for (name, directory) in OWN_DIRECTORIES {
        paths.extend(one(name, format!("{own}/{directory}")));
    }
    one("systemd_paths", Value::Object(paths))
}
