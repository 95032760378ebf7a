//! `platform`, `platform_version`, `platform_family`: Ohai's plugin Platform.
//!
//! These facts are read more often than all others: cookbooks choose package names by them. So the names must be those of
//! Ohai, which differ from those of os-release(5) (`rhel` is `redhat`, `amzn` is `amazon`).

use crate::files::SystemFiles;
use crate::machine::{Gathered, Machine};
use crate::topics::known;
use crate::topics::os::kernel_release;
use crate::topics::os_release::OsRelease;

/// Ohai's names from the time before os-release, by the `ID` of os-release.
const RENAMED: &[(&str, &str)] = &[
    ("alinux", "alibabalinux"),
    ("amzn", "amazon"),
    ("archarm", "arch"),
    ("clear-linux-os", "clearlinux"),
    ("cumulus-linux", "cumulus"),
    ("ol", "oracle"),
    ("opensuse-leap", "opensuseleap"),
    ("rhel", "redhat"),
    ("sles", "suse"),
    ("sles_sap", "suse"),
    ("xenenterprise", "xenserver"),
];

/// Parts of platform names by family. The first part that occurs in the name decides. The order is that of Ohai.
const FAMILIES: &[(&str, &[&str])] = &[
    ("debian", &["ubuntu", "debian", "linuxmint", "raspbian", "cumulus", "kali", "pop"]),
    (
        "rhel",
        &[
            "centos",
            "redhat",
            "oracle",
            "almalinux",
            "rocky",
            "scientific",
            "enterpriseenterprise",
            "xenserver",
            "xcp-ng",
            "cloudlinux",
            "alibabalinux",
            "sangoma",
            "clearos",
            "parallels",
            "ibm_powerkvm",
            "nexus_centos",
            "bigip",
            "virtuozzo",
        ],
    ),
    ("amazon", &["amazon"]),
    ("suse", &["suse", "sles", "sled", "sle-", "sle_"]),
    ("fedora", &["fedora", "arista_eos"]),
    ("wrlinux", &["nexus", "ios_xr"]),
    ("gentoo", &["gentoo"]),
    ("arch", &["arch", "manjaro"]),
    ("exherbo", &["exherbo"]),
    ("alpine", &["alpine"]),
    ("clearlinux", &["clearlinux"]),
    ("mandriva", &["mangeia"]),
    ("slackware", &["slackware"]),
];

pub(crate) fn gather(machine: &Machine) -> Gathered {
    let (platform, version) = platform_of(&machine.root);
    let family = platform_family(&platform).unwrap_or(&platform).to_owned();
    known([("platform", Some(platform)), ("platform_version", version), ("platform_family", Some(family))])
}

/// Returns name and version of the system in a root. If the root does not tell, the name is `linux`.
fn platform_of(root: &SystemFiles) -> (String, Option<String>) {
    if let Some(release) = OsRelease::read(root, "/etc/os-release").filter(|release| release.get("ID").is_some()) {
        return by_os_release(root, &release);
    }
    if let Some(found) = by_older_files(root) {
        return found;
    }
    match OsRelease::read(root, "/usr/lib/os-release").filter(|release| release.get("ID").is_some()) {
        Some(release) => by_os_release(root, &release),
        None => ("linux".to_owned(), Some(kernel_release())),
    }
}

fn by_os_release(root: &SystemFiles, release: &OsRelease) -> (String, Option<String>) {
    let identity = release.get("ID").unwrap_or_default();
    let version = release.get("VERSION_ID").map(str::to_owned);
    let version = match identity {
        // On CentOS, os-release has only the major version.
        "centos" => root.line("/etc/redhat-release").and_then(|line| version_after_space(&line)).or(version),
        // On Debian testing and unstable, os-release has no version.
        "debian" => version.or_else(|| root.line("/etc/debian_version")),
        _ => version.or_else(|| Some(kernel_release())),
    };
    let name = identity.to_lowercase();
    let renamed = RENAMED.iter().find(|(own, _)| *own == name).map_or(name.as_str(), |(_, ohai)| ohai);
    (renamed.to_owned(), version)
}

/// Reads the identification files that were used before os-release, in Ohai's order.
fn by_older_files(root: &SystemFiles) -> Option<(String, Option<String>)> {
    let named = |path: &str, name: &str| {
        let line = root.line(path)?;
        Some((name.to_owned(), version_after_space(&line)))
    };
    let first_word = |path: &str| {
        let line = root.line(path)?;
        Some((redhat_like_name(&line)?, version_after_space(&line)))
    };
    named("/etc/oracle-release", "oracle")
        .or_else(|| named("/etc/enterprise-release", "oracle"))
        .or_else(|| named("/etc/f5-release", "bigip"))
        .or_else(|| debian_without_os_release(root))
        .or_else(|| first_word("/etc/parallels-release"))
        .or_else(|| named("/etc/Eos-release", "arista_eos"))
        .or_else(|| first_word("/etc/redhat-release"))
        .or_else(|| first_word("/etc/system-release"))
        .or_else(|| suse_without_os_release(root))
        .or_else(|| named("/etc/slackware-version", "slackware"))
        .or_else(|| root.exists("/etc/exherbo-release").then(|| ("exherbo".to_owned(), Some(kernel_release()))))
}

fn debian_without_os_release(root: &SystemFiles) -> Option<(String, Option<String>)> {
    let version = root.line("/etc/debian_version")?;
    let lsb = OsRelease::read(root, "/etc/lsb-release");
    match lsb.as_ref().filter(|lsb| lsb.get("DISTRIB_ID").is_some_and(|name| name.eq_ignore_ascii_case("ubuntu"))) {
        Some(lsb) => Some(("ubuntu".to_owned(), lsb.get("DISTRIB_RELEASE").map(str::to_owned))),
        None => Some(("debian".to_owned(), Some(version))),
    }
}

fn suse_without_os_release(root: &SystemFiles) -> Option<(String, Option<String>)> {
    let text = root.text("/etc/SuSE-release")?;
    let field = |name: &str| {
        text.lines().find_map(|line| {
            let (field, value) = line.split_once('=')?;
            (field.trim() == name).then(|| value.trim().to_owned())
        })
    };
    let version = match (field("VERSION"), field("PATCHLEVEL")) {
        (Some(version), Some(level)) => Some(format!("{version}.{level}")),
        (version, _) => version,
    };
    let major = version.as_deref().and_then(|version| version.split('.').next()?.parse::<u32>().ok()).unwrap_or(0);
    // openSUSE's version numbers start again at 42 with the name Leap.
    let name = match (text.starts_with("openSUSE"), major) {
        (false, _) => "suse",
        (true, ..42) => "opensuse",
        (true, _) => "opensuseleap",
    };
    Some((name.to_owned(), version))
}

/// Returns the name in a release line: `CentOS release 6.10 (Final)` is `centos`; Red Hat itself is `redhat`.
fn redhat_like_name(line: &str) -> Option<String> {
    if line.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("red hat")) {
        return Some("redhat".to_owned());
    }
    let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    line.split(|character: char| !is_word(character)).find(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Returns the first run of digits and dots after a space: `CentOS release 6.10 (Final)` has `6.10`.
fn version_after_space(line: &str) -> Option<String> {
    let is_part = |character: char| character.is_ascii_digit() || character == '.';
    let rest = line.split(' ').skip(1).find(|word| word.starts_with(is_part))?;
    Some(rest.chars().take_while(|character| is_part(*character)).collect())
}

/// Returns the family of a platform, such as `rhel` for `rocky`, if Ohai knows one.
pub fn platform_family(platform: &str) -> Option<&'static str> {
    FAMILIES.iter().find(|(_, parts)| parts.iter().any(|part| platform.contains(part))).map(|(family, _)| *family)
}

/// Returns the names of platforms whose family is known.
pub fn known_platforms() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().flat_map(|(_, parts)| parts.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_as_ohai() {
        for (platform, expect) in [
            ("debian", Some("debian")),
            ("ubuntu", Some("debian")),
            ("linuxmint", Some("debian")),
            ("pop", Some("debian")),
            ("centos", Some("rhel")),
            ("rocky", Some("rhel")),
            ("almalinux", Some("rhel")),
            ("oracle", Some("rhel")),
            ("amazon", Some("amazon")),
            ("opensuse-tumbleweed", Some("suse")),
            ("sled", Some("suse")),
            ("fedora", Some("fedora")),
            ("arch", Some("arch")),
            ("alpine", Some("alpine")),
            ("void", None),
            ("sleepy", None),
        ] {
            assert_eq!(platform_family(platform), expect, "for {platform}");
        }
    }

    #[test]
    fn versions_in_release_lines() {
        for (line, expect) in [
            ("CentOS Linux release 7.9.2009 (Core)", Some("7.9.2009")),
            ("CentOS Stream release 9", Some("9")),
            ("Red Hat Enterprise Linux Server release 6.10 (Santiago)", Some("6.10")),
            ("Slackware 15.0+", Some("15.0")),
            ("BIG-IP release 10.2.3", Some("10.2.3")),
            ("7", None),
            ("", None),
        ] {
            assert_eq!(version_after_space(line).as_deref(), expect, "for {line}");
        }
    }
}
