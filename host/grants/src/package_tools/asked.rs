//! Options with which a dry run may ask a package tool what it would do: they choose what is installed and what is said, and make
//! the tool start nothing, read no other files and speak to no other servers than it would without them.
//!
//! They still need a rule of `package_options`, but for the few that need none. The tables are the tools' manuals, apt-get(8) and
//! dnf(8), read with that question. What is left out starts programs or reads files of the policy's choice (`--option` in
//! general, `--config-file`, `--setopt` in general, `--enableplugin`, `--installroot`, `--repofrompath`, `--with-source`,
//! `--solver`), writes (`--downloaddir`, `--debugsolver`), waits (`--randomwait`), or changes the form of the answer (`--print-uris`).

use super::HARMLESS_OPTIONS;

/// A package tool with options of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackageTool {
    /// The tool `apt-get` of Debian.
    Apt,
    /// The tools `dnf` and `yum`.
    Dnf,
}

/// What an option takes.
#[derive(Debug, Clone, Copy)]
enum Takes {
    /// It takes no value.
    Nothing,
    /// A name or number: letters, digits and these signs. It begins with none of the signs, but for `*`.
    Word(&'static str),
    /// `NAME=VALUE`, with one of these names and a value of letters and digits; or one of these texts, if they have the sign.
    Setting(&'static [&'static str]),
}

/// The longest value of an option, in bytes.
const MAX_VALUE: usize = 128;

/// Signs in names of releases and archives: `bookworm-backports`, `stable/updates`.
const IN_RELEASE: &str = ".+~_/-";

/// Signs in names of packages and archives, in patterns for them and in lists of them.
const IN_NAMES: &str = "._:+*?,@-";

/// A number has none.
const IN_NUMBER: &str = "";

const APT: [(&[&str], Takes); 10] = [
    // The release that versions are taken from.
    (&["-t", "--target-release", "--default-release"], Takes::Word(IN_RELEASE)),
    // What else is installed, upgraded or removed; removals are asked for by the packages' names.
    (&["--only-upgrade", "--no-upgrade", "--reinstall", "--with-new-pkgs", "--ignore-hold"], Takes::Nothing),
    (&["--auto-remove", "--autoremove", "--no-auto-remove", "--purge"], Takes::Nothing),
    // How dependencies that are missing, and archives that cannot be had, are dealt with.
    (&["-f", "--fix-broken", "-m", "--fix-missing", "--ignore-missing"], Takes::Nothing),
    // What it would refuse, or ask about, without them. It does nothing where it is asked.
    (
        &["--allow-downgrades", "--allow-remove-essential", "--allow-change-held-packages", "--force-yes"],
        Takes::Nothing,
    ),
    (&["--allow-unauthenticated", "--allow-insecure-repositories", "--no-allow-insecure-repositories"], Takes::Nothing),
    (&["--allow-releaseinfo-change", "--assume-yes"], Takes::Nothing),
    // Whether it fetches, which it does not do where it is asked.
    (&["--no-download", "--list-cleanup", "--no-list-cleanup"], Takes::Nothing),
    // How much it says. The lines that are read stay.
    (&["--show-progress", "-u", "--show-upgraded", "--no-show-upgraded", "-V", "--verbose-versions"], Takes::Nothing),
    // Numbers and switches, and which configuration file dpkg keeps. Other options of dpkg name programs and files.
    (
        &["-o", "--option"],
        Takes::Setting(&[
            "APT::Install-Recommends",
            "APT::Install-Suggests",
            "Acquire::Retries",
            "DPkg::Lock::Timeout",
            "Dpkg::Lock::Timeout",
            "Dpkg::Use-Pty",
            "Dpkg::Options::=--force-confask",
            "Dpkg::Options::=--force-confdef",
            "Dpkg::Options::=--force-confmiss",
            "Dpkg::Options::=--force-confnew",
            "Dpkg::Options::=--force-confold",
        ]),
    ),
];

const DNF: [(&[&str], Takes); 12] = [
    // Which of the machine's own archives are looked at.
    (&["--enablerepo", "--disablerepo", "--repo", "--repoid"], Takes::Word(IN_NAMES)),
    // Which packages are left out, and whether the configuration's own exclusions count.
    (&["-x", "--exclude", "--excludepkgs", "--disableexcludes", "--disableexcludepkgs"], Takes::Word(IN_NAMES)),
    // Which versions are taken, and what is done where dependencies conflict; removals are asked for by the packages' names.
    (&["--best", "-b", "--nobest", "--skip-broken", "--allowerasing", "--nodocs"], Takes::Nothing),
    // Updates for a purpose.
    (&["--security", "--bugfix", "--enhancement", "--newpackage"], Takes::Nothing),
    (
        &["--advisory", "--advisories", "--bz", "--bzs", "--cve", "--cves", "--sec-severity", "--secseverity"],
        Takes::Word(IN_NAMES),
    ),
    // The release and the processor that the archives are for.
    (&["--releasever", "--forcearch"], Takes::Word("._-")),
    // Fewer plugins than the machine's own configuration says.
    (&["--noplugins"], Takes::Nothing),
    (&["--disableplugin"], Takes::Word(IN_NAMES)),
    // What it would refuse without it, and how it fetches. It does nothing where it is asked.
    (&["--nogpgcheck", "--cacheonly", "-C", "--downloadonly", "-4", "-6"], Takes::Nothing),
    // How much it says, but for what is read.
    (&["-d", "--debuglevel", "-e", "--errorlevel"], Takes::Word(IN_NUMBER)),
    (&["--rpmverbosity", "--color"], Takes::Word("")),
    // Numbers and switches. Other settings name programs, files and servers.
    (
        &["--setopt"],
        Takes::Setting(&[
            "best",
            "clean_requirements_on_remove",
            "install_weak_deps",
            "keepcache",
            "obsoletes",
            "retries",
            "skip_if_unavailable",
            "strict",
            "timeout",
            "tsflags=nodocs",
        ]),
    ),
];

/// Whether a tool may be asked in a dry run with these options.
pub fn are_harmless_options(tool: PackageTool, options: &[String]) -> bool {
    let table = match tool {
        PackageTool::Apt => APT.as_slice(),
        PackageTool::Dnf => DNF.as_slice(),
    };
    let mut words = options.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if HARMLESS_OPTIONS.contains(&word) {
            continue;
        }
        let (name, joined) = match word.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value)),
            _ => (word, None),
        };
        let takes = table.iter().find(|(names, _)| names.contains(&name)).map(|(_, takes)| *takes);
        let is_harmless = match takes {
            None => false,
            Some(Takes::Nothing) => joined.is_none(),
            Some(takes) => joined.or_else(|| words.next()).is_some_and(|value| takes.accepts(value)),
        };
        if !is_harmless {
            return false;
        }
    }
    true
}

impl Takes {
    fn accepts(self, value: &str) -> bool {
        let is_word = |text: &str, signs: &str| {
            text.starts_with(|first: char| first.is_ascii_alphanumeric() || (first == '*' && signs.contains(first)))
                && text.chars().all(|sign| sign.is_ascii_alphanumeric() || signs.contains(sign))
        };
        value.len() <= MAX_VALUE
            && match self {
                Self::Nothing => false,
                Self::Word(signs) => is_word(value, signs),
                Self::Setting(known) => {
                    let named = value.split_once('=');
                    let has_name = |(name, value): (&str, &str)| known.contains(&name) && is_word(value, "");
                    known.iter().any(|one| one.contains('=') && *one == value) || named.is_some_and(has_name)
                }
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(tool: PackageTool, options: &str, expect: bool) {
        let words: Vec<String> = options.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect();
        assert_eq!(are_harmless_options(tool, &words), expect, "{options}");
    }

    #[test]
    fn options_that_only_choose_are_harmless_to_ask_with() {
        for options in [
            "",
            "-t bookworm-backports",
            "--target-release=stable/updates -y --no-install-recommends",
            "--allow-downgrades --reinstall",
            "-o Dpkg::Options::=--force-confold -o APT::Install-Recommends=false",
            "--option=Acquire::Retries=3",
        ] {
            check(PackageTool::Apt, options, true);
        }
        for options in [
            "--enablerepo=epel --disablerepo=*",
            "--enablerepo epel,crb -q",
            "-x kernel* --nobest --releasever 9",
            "--setopt=install_weak_deps=False --setopt tsflags=nodocs",
            "-d 0 -e 0",
        ] {
            check(PackageTool::Dnf, options, true);
        }
    }

    #[test]
    fn attack_options_that_start_programs_or_read_files_are_not_asked_with() {
        for options in [
            "-t",
            "-t -o",
            "-t ../x",
            "-t a;b",
            "-tstable",
            "-t stable APT::Solver=x",
            "-o DPkg::Pre-Invoke::=id",
            "-o APT::Solver=x",
            "-o Dpkg::Options::=--admindir=/srv/x",
            "-o Dpkg::Options::=--force-confold=x",
            "-o Dpkg::Options::",
            "-o APT::Install-Recommends=$(id)",
            "-o Acquire::Retries=3;Dir::Bin::dpkg=x",
            "-oAcquire::Retries=3",
            "-c=/srv/x",
            "--with-source /srv/x.deb",
            "--solver x",
            "--allow-downgrades=x",
            "--enablerepo=epel",
            "-d",
            "--print-uris",
            "x",
        ] {
            check(PackageTool::Apt, options, false);
        }
        for options in [
            "--setopt=pluginpath=/srv/evil",
            "--setopt=epel.baseurl=x",
            "--setopt=timeout=/x",
            "--enableplugin=x",
            "--enablerepo",
            "--enablerepo=/srv/x",
            "--enablerepo -y",
            "--repofrompath=x,/srv/x",
            "--installroot=/srv/x",
            "--releasever=/",
            "-c /srv/x",
            "-t shell",
            "--refresh",
            "--noplugins=x",
            "shell",
        ] {
            check(PackageTool::Dnf, options, false);
        }
    }
}
