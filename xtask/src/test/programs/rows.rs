//! The rows of the list of programs. Keep them in the order of the files.

use super::Chooser::{Checked, Fixed, Guest, Resolved};
use super::Place;

/// Names that are arguments after `--`, or that begin with a letter or a digit.
const NAME: super::Chooser = Checked("a plain name that is granted: no option, path or list");

/// Options of package tools that the operator has granted.
const OPTIONS: super::Chooser =
    Checked("each option and variable is granted by `package_options` and `package_environment`");

/// Package files that are arguments of package tools.
const FILE: super::Chooser = Resolved(
    "a package file that root alone may change or exchange, granted by `package_sources`; to install, a copy of it",
);

/// All places where providers start a program that the host chooses.
pub(super) const PLACES: &[Place] = &[
    ("composite/alternatives.rs", r#"printed(tool, &["--display", name])"#, &[Fixed, NAME]),
    ("composite/apt_repository/keys.rs", r#"printed("apt", &["-v"])"#, &[Fixed]),
    ("composite/apt_repository/keys.rs", r#"printed_confined("apt-key", &TRUSTED)"#, &[Fixed]),
    ("composite/hostname.rs", r#"printed("hostname", &[])"#, &[Fixed]),
    ("composite/locale.rs", r#"printed("locale", &["-a"])"#, &[Fixed]),
    (
        "composite/machine.rs",
        "Launch::program(program, arguments.iter().copied())",
        &[Checked("the callers are listed here as `printed` and `printed_confined`")],
    ),
    (
        "composite/openssl.rs",
        r#"Launch::program("openssl", words.iter().copied())"#,
        &[
            Fixed,
            Checked("a number of days"),
            Guest(
                "a subject, one word after `-subj`; keys, requests and extensions are files of this confined call alone",
            ),
        ],
    ),
    (
        "composite/ssh_known_hosts_entry.rs",
        r#"printed("ssh-keyscan", &words)"#,
        &[Fixed, Checked("a port, a type of key and a host that is no option; all of it is granted as a command")],
    ),
    ("composite/swap_file.rs", r#"printed("swapon", &["--summary"])"#, &[Fixed]),
    (
        "composite/sysctl.rs",
        r#"printed("sysctl", &["-n", "-e", key])"#,
        &[Fixed, Checked("the name of a kernel parameter, which is no option; setting it is granted")],
    ),
    ("composite/yum_repository.rs", r#"printed_confined("yum", &["repolist", "all"])"#, &[Fixed]),
    ("gpg.rs", r#"Launch::program("gpg", words)"#, &[Fixed, Checked("a key's number in hexadecimal, after `--`")]),
    (
        "reboots.rs",
        r#"Launch::program("shutdown", ["-r", "--", &format!("+{minutes}"), &reason])"#,
        &[Fixed, Checked("a number of minutes"), Guest("the reason, one word after `--`, without control characters")],
    ),
    (
        "resources/cron.rs",
        r#"Launch::program("crontab", ["-u", self.granted.name(), "-"])"#,
        &[Fixed, NAME, Guest("the crontab on standard input: jobs of a user that `cron_users` grants")],
    ),
    ("resources/cron.rs", r#"Launch::program("crontab", ["-l", "-u", user])"#, &[Fixed, NAME]),
    (
        "resources/file_content/unit_check.rs",
        r#"Launch::program("systemd-analyze", ["verify", "--man=no", "--", &placed])"#,
        &[Fixed, Guest("a copy of a unit, for a file in systemd's own folders; the program is confined")],
    ),
    (
        "resources/git/call.rs",
        r#"Launch::program("git", words)"#,
        &[
            Checked(
                "`git/call.rs` has the words: options of the host, and addresses, names and paths that begin with no dash",
            ),
            Resolved("the checkout is the working directory, which is compared when the program starts"),
        ],
    ),
    ("resources/group.rs", "Launch::program(program, arguments)", &[Checked("the callers are listed here as `run`")]),
    ("resources/group.rs", r#"run(writer, "groupdel", vec![], &self.name)"#, &[Fixed, NAME]),
    (
        "resources/group.rs",
        r#"run(writer, "groupmod", arguments, &wish.name)"#,
        &[Fixed, Checked("a number that is nobody else's"), NAME],
    ),
    (
        "resources/group.rs",
        r#"run(writer, "gpasswd", vec!["-M".into(), members.join(",")], &wish.name)"#,
        &[Fixed, NAME],
    ),
    ("resources/group.rs", r#"run(writer, "gpasswd", vec!["-a".into(), member.clone()], &wish.name)"#, &[Fixed, NAME]),
    ("resources/group.rs", r#"run(writer, "gpasswd", vec!["-d".into(), member.clone()], &wish.name)"#, &[Fixed, NAME]),
    ("resources/mount/mounted.rs", r#"Launch::program("findmnt", ["-rn"])"#, &[Fixed]),
    ("resources/mount.rs", r#"Launch::program("losetup", ["-a"])"#, &[Fixed]),
    (
        "resources/mount.rs",
        r#"Launch::program("findfs", [in_table])"#,
        &[Checked("one word that begins with `LABEL=` or `UUID=`, of a mount that is granted")],
    ),
    (
        "resources/mount/calls.rs",
        r#"Launch::program("mount", all)"#,
        &[
            Checked(
                "kind, options, label and number of a mount that is granted whole, none of which begins with a dash",
            ),
            Resolved(
                "place, device and paths in options: held open, or below directories that root alone may exchange",
            ),
        ],
    ),
    (
        "resources/mount/calls.rs",
        r#"Launch::program("umount", [mount_point])"#,
        &[Resolved("a granted place below directories that root alone may exchange")],
    ),
    ("resources/package/apt.rs", r#"tools::ask(view, "apt-get", arguments)"#, &[Fixed, OPTIONS, NAME]),
    ("resources/package/apt.rs", r#"program: "apt-mark""#, &[Fixed, OPTIONS, NAME]),
    ("resources/package/apt.rs", r#"program: "apt-get""#, &[Fixed, OPTIONS, NAME]),
    ("resources/package/choice.rs", r#"program: "dnf""#, &[Fixed]),
    ("resources/package/choice.rs", r#"program: "yum""#, &[Fixed]),
    ("resources.rs", r#"program: "dnf""#, &[Fixed]),
    ("resources.rs", r#"program: "yum""#, &[Fixed]),
    ("resources/package/database.rs", r#"tools::ask(view, "apt-cache", arguments)"#, &[Fixed, OPTIONS, NAME]),
    ("resources/package/database.rs", r#"tools::ask(view, "apt-cache", arguments.to_vec())"#, &[Fixed]),
    (
        "resources/package/dpkg.rs",
        r#"Launch::program("dpkg", arguments.chain(paths.map(str::to_owned)))"#,
        &[Fixed, OPTIONS, FILE, Guest("what is in the file; dpkg simulates, and a dry run confines it")],
    ),
    (
        "resources/package/dpkg.rs",
        r#"Launch::program("dpkg-deb", arguments)"#,
        &[
            Fixed,
            FILE,
            Guest("what is in the file, which the operator lets root install; a dry run confines the program"),
        ],
    ),
    ("resources/package/dpkg.rs", r#"program: "dpkg""#, &[Fixed, OPTIONS, NAME, FILE]),
    ("resources/package/preseed.rs", r#"program: "dpkg-reconfigure""#, &[Fixed, OPTIONS, NAME]),
    (
        "resources/package/preseed.rs",
        r#"program: "debconf-set-selections""#,
        &[Fixed, Checked("answers on standard input, each for a question of a package that is granted")],
    ),
    (
        "resources/package/rpm.rs",
        "Launch::program(self.program, words(copy.as_ref().map(PrivateCopy::path)))",
        &[Checked("the callers are listed here by `program`"), FILE],
    ),
    ("resources/package/rpm/file.rs", r#"program: "rpm""#, &[Fixed, OPTIONS, NAME, FILE]),
    ("resources/package/rpm/inquiry.rs", "Launch::program(program, words)", &[Fixed, OPTIONS, NAME, FILE]),
    (
        "resources/package/rpm/query.rs",
        r#"Launch::program("rpm", ["-qp", "--queryformat", format, "--", path])"#,
        &[Fixed, FILE, Guest("what is in the file, whose first bytes are those of a package; nothing of it is run")],
    ),
    ("resources/package/rpm/query.rs", r#"Launch::program("rpm", arguments)"#, &[Fixed, NAME]),
    (
        "resources/package/tools.rs",
        "Launch::program(program, all)",
        &[Checked("the callers are listed here as `tools::ask`")],
    ),
    (
        "resources/package/tools.rs",
        "Launch::program(self.program, self.arguments.0.clone())",
        &[Checked("the callers are listed here by `program`")],
    ),
    ("resources/package/tools.rs", r#"Launch::program("apt-get", ["-q", "update"])"#, &[Fixed]),
    (
        "resources/service/script.rs",
        "Launch::program(&path(name), [verb])",
        &[Checked("the script of a granted service in `/etc/init.d`, where root alone puts scripts"), Fixed],
    ),
    ("resources/service/script.rs", "Launch::program(POLICY, [name, verb])", &[Fixed, NAME]),
    (
        "resources/service/script.rs",
        "Launch::program(UPDATE, arguments.iter().copied())",
        &[Fixed, NAME, Checked("a run level of one letter")],
    ),
    (
        "resources/systemd_unit.rs",
        r#"Launch::program("systemctl", [&[whose], words].concat())"#,
        &[Fixed, Checked("the name of a unit, which begins with no dash and has no slash")],
    ),
    (
        "resources/systemd_unit.rs",
        r#"launch(&["show", "-p", "UnitFileState", "-p", "ActiveState", self.name()])"#,
        &[Fixed, Checked("the name of a unit, which begins with no dash and has no slash")],
    ),
    ("resources/user.rs", "Launch::program(program, arguments)", &[Checked("the callers are listed here as `run`")]),
    ("resources/user.rs", r#"run(writer, "usermod", vec![option.into()], &self.name)"#, &[Fixed, NAME]),
    (
        "resources/user/change.rs",
        r#"Launch::program("chpasswd", ["-e"])"#,
        &[Fixed, Checked("on standard input: a granted name and a hash without colons and line ends")],
    ),
    (
        "resources/user/change.rs",
        r#"Launch::program("usermod", words)"#,
        &[Fixed, Checked("never started: a number and a granted name, in the message of a refusal")],
    ),
    (
        "resources/user/change.rs",
        r#"run(writer, "useradd", arguments, &wish.name)"#,
        &[
            Fixed,
            Checked("values without colons and control characters, each behind its option"),
            Resolved("a home that wrun makes"),
            NAME,
        ],
    ),
    (
        "resources/user/change.rs",
        r#"run(writer, "usermod", arguments, &wish.name)"#,
        &[
            Fixed,
            Checked("values without colons and control characters, each behind its option; no number"),
            Resolved("a home that is granted"),
            NAME,
        ],
    ),
    ("resources/user/change.rs", r#"run(writer, "userdel", arguments, &wish.name)"#, &[Fixed, NAME]),
];
