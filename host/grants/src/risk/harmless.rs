//! Commands that are harmless as root: their words tell everything that they do, and no word gives more rights.
//!
//! Rejected: a list of dangerous commands. Too many programs start other programs, load code or write where an option says,
//! so such a list is never complete. Every command that is not known here is shown to the operator, who reads it.

use crate::commands::WordPattern;
use crate::privileged;

/// Programs with the words that their arguments may be, and whether arguments may also be plain names. A policy reads their
/// output. So none of them prints data that only root may read, such as password hashes, command lines and logs.
struct Harmless {
    programs: &'static [&'static str],
    words: &'static [&'static str],
    takes_names: bool,
}

const fn harmless(programs: &'static [&'static str], words: &'static [&'static str], takes_names: bool) -> Harmless {
    Harmless { programs, words, takes_names }
}

/// Programs that only print an answer or wait, whatever their arguments are.
const ONLY_ANSWER: [&str; 24] = [
    "true", "false", "test", "[", "echo", "printf", "sleep", "which", "id", "whoami", "uname", "uptime", "arch",
    "basename", "df", "dirname", "expr", "free", "groups", "logname", "nproc", "pwd", "seq", "tty",
];

/// Programs that only print an answer if they have none but these arguments. With others they change something, or print a
/// file that an argument names.
const ANSWER_WITH: [(&str, &[&str]); 7] = [
    (
        "hostname",
        &[
            "-A",
            "-I",
            "-d",
            "-f",
            "-i",
            "-s",
            "-y",
            "--all-fqdns",
            "--all-ip-addresses",
            "--domain",
            "--fqdn",
            "--ip-address",
            "--long",
            "--short",
        ],
    ),
    ("locale", &["-a"]),
    ("lsb_release", &["-a", "-c", "-d", "-i", "-r", "-s", "-cs", "-is", "-rs", "-sc", "-si", "-sr"]),
    ("lsblk", &["-a", "-f", "-n"]),
    ("lscpu", &[]),
    ("lsmod", &[]),
    ("who", &[]),
];

/// The options of `date` that choose how a time is written. Others set the clock, or read times from a file.
const DATE_OPTIONS: [&str; 5] = ["-u", "--utc", "--universal", "-R", "--rfc-email"];

/// The beginnings of such options.
const DATE_BEGINNINGS: [&str; 5] = ["+", "-I", "--iso-8601", "--rfc-3339=", "--date="];

/// Programs that tell what files are, and nothing of their content.
const LOOK_AT_FILES: [&str; 6] = ["test", "[", "stat", "ls", "readlink", "realpath"];

/// Programs that read the files which their arguments name.
const READERS: [&str; 7] = ["cat", "grep", "egrep", "fgrep", "head", "tail", "wc"];

/// The letters of options with which a reader still reads only the named files.
const READERS_LETTERS: &str = "qiwxEFvcnsohl0123456789";

/// Files of a machine that every account may read.
pub(super) const OPEN_FILES: [&str; 22] = [
    "/etc/debian_version",
    "/etc/fstab",
    "/etc/group",
    "/etc/hostname",
    "/etc/hosts",
    "/etc/issue",
    "/etc/locale.conf",
    "/etc/locale.gen",
    "/etc/lsb-release",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/profile",
    "/etc/protocols",
    "/etc/redhat-release",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/shells",
    "/etc/timezone",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/mounts",
];

const HARMLESS: [Harmless; 20] = [
    harmless(
        &["apt-get", "apt"],
        &["update", "clean", "autoclean", "-q", "-qq", "--quiet", "-y", "--yes", "--assume-yes"],
        false,
    ),
    harmless(&["apt-cache"], &["policy", "show", "madison"], true),
    harmless(&["dpkg"], &["--configure", "-a", "-l", "-s", "--print-architecture", "--list", "--status"], true),
    harmless(&["update-ca-certificates"], &["--fresh"], false),
    harmless(&["ldconfig", "update-grub", "newaliases", "systemd-sysusers", "pg_isready", "mandb"], &[], false),
    harmless(&["locale-gen"], &[], true),
    harmless(&["update-initramfs"], &["-u", "-k", "all"], false),
    harmless(
        &["a2ensite", "a2dissite", "a2enmod", "a2dismod", "a2enconf", "a2disconf", "phpenmod", "phpdismod"],
        &["-q", "-f"],
        true,
    ),
    harmless(&["nginx"], &["-t", "-q", "-s", "reload", "reopen"], false),
    harmless(&["apachectl", "apache2ctl"], &["configtest", "-t", "-k", "graceful", "restart"], false),
    harmless(&["sshd", "named-checkconf"], &["-t"], false),
    harmless(&["postfix"], &["check", "reload"], false),
    harmless(&["udevadm"], &["trigger", "settle", "control", "--reload", "--reload-rules"], false),
    harmless(&["sysctl"], &["--system", "-p", "-q"], false),
    harmless(&["depmod"], &["-a"], false),
    harmless(&["systemd-tmpfiles"], &["--create", "--clean"], false),
    harmless(&["journalctl"], &["--flush", "--rotate"], false),
    harmless(&["mysqladmin", "mariadb-admin", "redis-cli", "rabbitmqctl"], &["ping"], false),
    harmless(&["fc-cache"], &["-f", "-v"], false),
    harmless(&["chronyc"], &["makestep", "tracking"], false),
];

/// The folders of the system's own programs.
const FOLDERS: [&str; 4] = ["/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/"];

/// The harmless verbs for a service. Other verbs of `systemctl` do more: they change unit files or the machine's state.
/// `status` prints lines of the journal and the arguments of other programs.
const VERBS: [&str; 14] = [
    "daemon-reload",
    "is-active",
    "is-enabled",
    "is-failed",
    "start",
    "stop",
    "restart",
    "reload",
    "force-reload",
    "try-restart",
    "reload-or-restart",
    "enable",
    "disable",
    "reset-failed",
];

/// Tells whether a command is known to do only what its words say.
pub(super) fn is_harmless(words: &[WordPattern]) -> bool {
    let Some((name, arguments)) = program(words) else { return false };
    only_answers(words)
        || tells_a_service(name, &arguments)
        || HARMLESS.iter().any(|one| {
            let fits = |word: &&str| one.words.contains(word) || (one.takes_names && is_name(word));
            one.programs.contains(&name) && arguments.iter().all(fits)
        })
}

/// Tells whether a command is known to change nothing, and to tell nothing that only root may know.
pub(super) fn only_answers(words: &[WordPattern]) -> bool {
    let Some((name, arguments)) = program(words) else { return false };
    let has_only = |known: &[&str]| arguments.iter().all(|word| known.contains(word));
    ONLY_ANSWER.contains(&name)
        || LOOK_AT_FILES.contains(&name)
        || ANSWER_WITH.iter().any(|(program, known)| *program == name && has_only(known))
        || (name == "date" && tells_a_time(&arguments))
        || asks_an_open_database(name, &arguments)
        || reads_open_files(name, &arguments)
}

/// Tells whether these arguments of `date` only choose a time and how it is written.
fn tells_a_time(arguments: &[&str]) -> bool {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if *word == "-d" {
            let _time = words.next();
        } else if !DATE_OPTIONS.contains(word) && !DATE_BEGINNINGS.iter().any(|beginning| word.starts_with(beginning)) {
            return false;
        }
    }
    true
}

/// Tells whether a command does something to a service that is wrun's own, or that the whole machine depends on.
pub(super) fn acts_on_guarded_service(words: &[WordPattern]) -> bool {
    let Some((name, arguments)) = program(words) else { return false };
    ["systemctl", "service", "rc-service", "invoke-rc.d"].contains(&name)
        && arguments.iter().any(|word| privileged::service(word) || privileged::keeps_machine_reachable(word))
}

/// The verbs of `systemctl` that only ask.
const ASKING: [&str; 3] = ["is-active", "is-enabled", "is-failed"];

/// Returns the services that a command may act on, without the endings of units. Options and verbs count as names, too.
pub(super) fn services_acted_on(words: &[WordPattern]) -> impl Iterator<Item = &str> {
    let tools = ["systemctl", "service", "rc-service", "invoke-rc.d"];
    let (name, arguments) = program(words).unwrap_or_default();
    let acts = tools.contains(&name) && !arguments.iter().any(|word| ASKING.contains(word));
    arguments.into_iter().filter(move |_| acts).map(privileged::unit_stem)
}

/// Tells whether a command only tells what files are. So it does not matter which files these are, and who may change them.
pub(super) fn asks_without_reading(words: &[WordPattern]) -> bool {
    program(words).is_some_and(|(name, _)| LOOK_AT_FILES.contains(&name))
}

/// Returns the name of a program of the system, and its arguments. `None`: a word is a placeholder.
fn program(words: &[WordPattern]) -> Option<(&str, Vec<&str>)> {
    let plain = words.iter().map(|word| match word {
        WordPattern::Word(word) => Some(word.as_str()),
        _ => None,
    });
    let plain = plain.collect::<Option<Vec<_>>>()?;
    let (program, arguments) = plain.split_first()?;
    let name = FOLDERS.iter().find_map(|folder| program.strip_prefix(folder)).unwrap_or(program);
    Some((name, arguments.to_vec()))
}

/// Tells whether the command reads files that everybody may read. The first word of `grep` is a pattern.
fn reads_open_files(program: &str, arguments: &[&str]) -> bool {
    let is_option = |word: &&&str| word.starts_with('-');
    let is_plain_option = |word: &&str| {
        matches!(*word, "--quiet" | "--silent")
            || word
                .strip_prefix('-')
                .is_some_and(|letters| letters.chars().all(|letter| READERS_LETTERS.contains(letter)))
    };
    let (options, words): (Vec<_>, Vec<_>) = arguments.iter().partition(is_option);
    let files = words.get(usize::from(program.ends_with("grep"))..).unwrap_or_default();
    let is_number = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
    READERS.contains(&program)
        && options.iter().all(is_plain_option)
        && files.iter().all(|file| OPEN_FILES.contains(file) || (!program.ends_with("grep") && is_number(file)))
}

/// The databases of `getent` that everybody may read. `shadow` and `gshadow` contain password hashes.
const DATABASES: [&str; 7] = ["passwd", "group", "hosts", "services", "protocols", "networks", "ahosts"];

/// Tells whether the command queries such a database.
fn asks_an_open_database(program: &str, arguments: &[&str]) -> bool {
    match (program, arguments) {
        ("getent", [database, names @ ..]) => DATABASES.contains(database) && names.iter().all(|name| is_name(name)),
        _ => false,
    }
}

/// Tells whether the command starts, stops or queries a service.
fn tells_a_service(program: &str, arguments: &[&str]) -> bool {
    let words: Vec<&str> = arguments.iter().copied().filter(|word| !matches!(*word, "--quiet" | "-q")).collect();
    match (program, words.as_slice()) {
        ("systemctl", [verb, names @ ..]) => VERBS.contains(verb) && names.iter().all(|name| is_name(name)),
        ("service" | "rc-service" | "invoke-rc.d", [name, verb]) => VERBS.contains(verb) && is_name(name),
        _ => false,
    }
}

/// Tells whether a word is the name of a service, a site or a package, and not a path, an option or a target.
fn is_name(word: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "@:._-".contains(letter);
    word.starts_with(|first: char| first.is_ascii_alphanumeric())
        && word.chars().all(is_plain)
        && !word.contains("debug-shell")
        && !privileged::service(word)
        && !privileged::keeps_machine_reachable(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: bool) {
        let words: Vec<_> = line.split(' ').map(|word| WordPattern::Word(word.into())).collect();
        assert_eq!(is_harmless(&words), expected, "{line}");
    }

    /// Their output has what only root may read.
    #[test]
    fn attack_commands_that_print_secrets_are_not_harmless() {
        check("getent passwd deploy", true);
        check("getent group", true);
        for line in [
            "getent shadow root",
            "getent shadow",
            "/usr/bin/getent gshadow",
            "getent -s files shadow",
            "getent passwd shadow -s",
            "getent",
            "systemctl status",
            "systemctl status web",
            "service web status",
            "rabbitmqctl status",
        ] {
            check(line, false);
        }
    }

    #[test]
    fn readers_are_harmless_with_files_that_everybody_may_read() {
        for line in [
            "grep -q foo /etc/passwd",
            "cat /etc/os-release",
            "head -n 1 /etc/fstab",
            "/usr/bin/grep -qx /a /etc/shells",
        ] {
            check(line, true);
        }
        for line in [
            "cat /etc/shadow",
            "cat shadow",
            "grep -r x /etc",
            "grep -f /etc/shadow /etc/passwd",
            "grep -qf/etc/shadow x /etc/passwd",
            "grep x 1",
            "grep root /etc/passwd /root/x",
            "cat /etc/passwd-",
            "cat /etc/../etc/shadow",
            "tail -f /etc/passwd",
            "/srv/cat /etc/passwd",
        ] {
            check(line, false);
        }
        let looks = |line: &str| {
            let words: Vec<_> = line.split(' ').map(|word| WordPattern::Word(word.into())).collect();
            asks_without_reading(&words)
        };
        assert!(looks("test -d /etc") && looks("/usr/bin/[ -f /srv/x ]") && looks("stat /etc/shadow"));
        assert!(!looks("cat /etc/passwd") && !looks("/srv/test x") && !looks("find /etc"));
    }

    #[test]
    fn coreutils_that_only_answer_are_harmless() {
        for line in [
            "date",
            "date +%s",
            "/bin/date -u -d tomorrow +%F",
            "date --date=@0 --iso-8601=seconds",
            "hostname",
            "hostname -f",
            "uname -r",
            "ls -l /srv",
            "lsb_release -cs",
            "nproc",
        ] {
            check(line, true);
        }
        for line in [
            "date -s 2020-01-01",
            "date 010100002020",
            "date -f /etc/shadow",
            "date -us x",
            "date -d x -s y",
            "date --set=x",
            "hostname web1",
            "hostname -F /srv/x",
            "hostname -b x",
            "who /etc/shadow",
            "env date",
            "nice date",
            "timeout 1 date",
            "xargs date",
            "touch /srv/x",
            "sort /etc/shadow",
        ] {
            check(line, false);
        }
    }

    #[test]
    fn only_what_is_known_is_harmless() {
        for line in [
            "true",
            "systemctl daemon-reload",
            "systemctl restart nginx.service",
            "/usr/bin/systemctl is-active --quiet web@1",
            "service web restart",
            "apt-get -q update",
            "a2ensite web",
            "nginx -t",
        ] {
            check(line, true);
        }
        for line in [
            "apt-get -o DPkg::Pre-Invoke::=id update",
            "apt-get install web",
            "git log",
            "systemctl link /srv/x.service",
            "systemctl start debug-shell",
            "systemctl stop wrun-agent",
            "systemctl disable wrun-converge.timer",
            "service wrun-agent stop",
            "service halt start",
            "service sendsigs stop",
            "systemctl start modprobe@evil",
            "systemctl isolate rescue.target",
            "systemctl reboot",
            "systemctl import-environment",
            "service web debug",
            "nginx -c /srv/x",
            "dpkg -i /srv/x.deb",
            "/srv/bin/true",
            "./true",
            "kill -9 1",
            "sysctl -w kernel.core_pattern=|/srv/x",
        ] {
            check(line, false);
        }
        assert!(!is_harmless(&[WordPattern::Word("systemctl".into()), WordPattern::Any]));
        assert!(!is_harmless(&[]));
    }
}
