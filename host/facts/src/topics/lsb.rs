//! `lsb`: the data of `lsb_release -a`. Ohai's plugin LSB.
//!
//! Ohai starts `lsb_release`, and leaves `lsb` empty if it is not installed. That program only formats `/etc/lsb-release` and
//! `/etc/os-release`. Here those files are read directly, so `lsb` exists on every system: cookbooks that read `lsb.codename`
//! want the release, not the program.

use crate::machine::{Gathered, Machine};
use crate::topics::os_release::OsRelease;
use crate::topics::{known, one};

/// Distributors whose name is not the capitalised platform, by Ohai's platform.
const DISTRIBUTORS: &[(&str, &str)] = &[
    ("almalinux", "AlmaLinux"),
    ("centos", "CentOS"),
    ("linuxmint", "Linuxmint"),
    ("opensuse", "openSUSE"),
    ("opensuse-tumbleweed", "openSUSE"),
    ("opensuseleap", "openSUSE"),
    ("oracle", "OracleServer"),
    ("redhat", "RedHatEnterprise"),
    ("suse", "SUSE"),
];

pub(crate) fn gather(machine: &Machine) -> Gathered {
    let own = OsRelease::read(&machine.root, "/etc/lsb-release");
    let general = OsRelease::read(&machine.root, "/etc/os-release");
    let field = |name: &str, other: &str| {
        let first = own.as_ref().and_then(|release| release.get(name));
        first.or_else(|| general.as_ref()?.get(other)).map(str::to_owned)
    };
    let platform = machine.get("platform").and_then(|platform| platform.as_str());
    let version = || machine.get("platform_version").and_then(|version| version.as_str()).map(str::to_owned);
    let own_name = own.as_ref().and_then(|release| release.get("DISTRIB_ID")).map(str::to_owned);
    let distributor = own_name.or_else(|| platform.filter(|platform| *platform != "linux").map(distributor_of));
    // A system without a distributor does not get a release: its version would be that of the kernel.
    let release = field("DISTRIB_RELEASE", "VERSION_ID").or_else(version).filter(|_| distributor.is_some());
    let codename = field("DISTRIB_CODENAME", "VERSION_CODENAME")
        .or_else(|| codename_in_brackets(general.as_ref()?.get("VERSION")?));
    one(
        "lsb",
        known([
            ("id", distributor),
            ("description", field("DISTRIB_DESCRIPTION", "PRETTY_NAME")),
            ("release", release),
            ("codename", codename),
        ]),
    )
}

fn distributor_of(platform: &str) -> String {
    if let Some((_, name)) = DISTRIBUTORS.iter().find(|(own, _)| *own == platform) {
        return (*name).to_owned();
    }
    let mut letters = platform.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Returns the code name of a version: `8.9 (Green Obsidian)` has `GreenObsidian`.
fn codename_in_brackets(version: &str) -> Option<String> {
    let (_, rest) = version.split_once('(')?;
    let (name, _) = rest.split_once(')')?;
    let name: String = name.split_whitespace().collect();
    (!name.is_empty()).then_some(name)
}
