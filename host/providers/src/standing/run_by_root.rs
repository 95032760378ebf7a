//! Finds the files that root runs by itself on this machine, because a unit of systemd, a job of cron, an init script, a rule
//! of udev or of sudo, or a hook names them. Whoever may change such a file has all rights of root when it is run.
//!
//! Command lines name every path in them. Scripts mention many paths that they only write to, so of a script's text only files
//! count that it can run or read in. What only the program itself can tell, such as `/srv/%i/run`, counts as a whole folder.

use super::administrators::Administrators;
use machine::root::{Entry, Kind, Root};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::Read as _;

/// The folders of systemd's units.
const UNITS: [&str; 9] = [
    "/etc/systemd/system",
    "/run/systemd/system",
    "/run/systemd/transient",
    "/run/systemd/generator",
    "/run/systemd/generator.early",
    "/run/systemd/generator.late",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
];

/// The settings of a unit that are command lines.
const COMMANDS: [&str; 7] =
    ["ExecCondition", "ExecStartPre", "ExecStart", "ExecStartPost", "ExecReload", "ExecStop", "ExecStopPost"];

/// The files of jobs whose lines name a user, and the folder of more of them.
const CRONTAB: &str = "/etc/crontab";
const CRON_D: &str = "/etc/cron.d";

/// The folders of users' jobs. Each file has the name of its user.
const CRONTABS: [&str; 4] = ["/var/spool/cron/crontabs", "/var/spool/cron", "/var/spool/cron/tabs", "/etc/crontabs"];

/// Files with command lines of root.
const LINES: [&str; 2] = ["/etc/anacrontab", "/etc/inittab"];

/// The folders of udev's rules, and of modprobe's, which may name commands.
const RULES: [&str; 10] = [
    "/etc/udev/rules.d",
    "/run/udev/rules.d",
    "/usr/local/lib/udev/rules.d",
    "/usr/lib/udev/rules.d",
    "/lib/udev/rules.d",
    "/etc/modprobe.d",
    "/run/modprobe.d",
    "/usr/local/lib/modprobe.d",
    "/usr/lib/modprobe.d",
    "/lib/modprobe.d",
];

/// The folders of scripts that root runs, or of texts with such scripts in them.
const SCRIPTS: [&str; 21] = [
    "/etc/init.d",
    "/etc/rc.d",
    "/etc/cron.hourly",
    "/etc/cron.daily",
    "/etc/cron.weekly",
    "/etc/cron.monthly",
    "/etc/cron.yearly",
    "/etc/logrotate.d",
    "/etc/update-motd.d",
    "/etc/NetworkManager/dispatcher.d",
    "/etc/network/if-pre-up.d",
    "/etc/network/if-up.d",
    "/etc/network/if-down.d",
    "/etc/network/if-post-down.d",
    "/etc/dhcp/dhclient-enter-hooks.d",
    "/etc/dhcp/dhclient-exit-hooks.d",
    "/etc/ppp/ip-up.d",
    "/etc/ppp/ip-down.d",
    "/etc/kernel/postinst.d",
    "/etc/kernel/postrm.d",
    "/etc/apt/apt.conf.d",
];

/// Further texts with scripts in them.
const TEXTS: [&str; 4] = ["/etc/rc.local", "/etc/rc.d/rc.local", "/etc/logrotate.conf", "/etc/network/interfaces"];

/// The folders of the distribution's programs. Their scripts are not read: nobody but root changes them, and they name no files
/// of others.
const OF_DISTRIBUTION: [&str; 7] = ["/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/", "/snap/", "/nix/"];

/// Programs that were added by hand.
const LOCAL: &str = "/usr/local/";

/// The endings of scripts that an interpreter runs, whether they are executable or not.
const ENDINGS: [&str; 7] = [".sh", ".bash", ".py", ".pl", ".rb", ".php", ".js"];

/// Maximum number of files that are read.
const MAX_FILES: usize = 5_000;

/// Maximum size of each, in bytes.
const MAX_SIZE: u64 = 256 << 10;

/// Maximum number of paths for which the machine is asked whether they are files.
const MAX_LOOKS: usize = 20_000;

/// Maximum number of paths that are found.
const MAX_FOUND: usize = 20_000;

/// Maximum number of scripts that name each other in turn.
const MAX_DEPTH: usize = 4;

/// Characters that a program replaces: what a path is from there on is not known.
const REPLACED: [char; 7] = ['%', '$', '\\', '*', '?', '[', '{'];

/// Returns the paths that root runs by itself, each with the file that names it. A path that ends in a slash stands for all
/// that is below it. `powerful` are the users who are as powerful as root.
pub(super) fn read(
    root: &Root,
    administrators: &Administrators,
    powerful: &BTreeSet<String>,
) -> BTreeMap<String, String> {
    let mut search =
        Search { root, powerful, found: BTreeMap::new(), scripts: vec![], read: HashSet::new(), files: 0, looks: 0 };
    for (path, by) in administrators.commands() {
        search.add(&path, by, 0);
    }
    for folder in UNITS {
        search.units(folder);
    }
    search.each_text(CRON_D, |search, text, by| search.jobs(text, by));
    search.text(CRONTAB, |search, text, by| search.jobs(text, by));
    for user in powerful {
        for folder in CRONTABS {
            search.text(&format!("{folder}/{user}"), |search, text, by| search.lines(text, by));
        }
    }
    for file in LINES {
        search.text(file, |search, text, by| search.lines(text, by));
    }
    for folder in RULES {
        search.each_text(folder, |search, text, by| search.rules(text, by));
    }
    for folder in SCRIPTS {
        search.each_text(folder, |search, text, by| search.script(text, by, 0));
    }
    for file in TEXTS {
        search.text(file, |search, text, by| search.script(text, by, 0));
    }
    while let Some((path, depth)) = search.scripts.pop() {
        search.text(&path, |search, text, by| {
            if text.starts_with("#!") {
                search.script(text, by, depth);
            }
        });
    }
    search.found
}

/// The state of a search.
struct Search<'s> {
    root: &'s Root,
    powerful: &'s BTreeSet<String>,
    found: BTreeMap<String, String>,
    /// Files that may be scripts and are not read yet, each with the number of scripts that lead to it.
    scripts: Vec<(String, usize)>,
    /// The resolved paths of the files that were read.
    read: HashSet<String>,
    files: usize,
    looks: usize,
}

impl Search<'_> {
    fn names_in(&self, folder: &str) -> Vec<String> {
        self.root.locate_target(folder).and_then(|place| place.names()).unwrap_or_default()
    }

    /// Hands a file's text on, unless it was read before. A file that cannot be read runs nothing that is known.
    fn text(&mut self, path: &str, add: impl FnOnce(&mut Self, &str, &str)) {
        if self.files >= MAX_FILES {
            return;
        }
        let Ok(place) = self.root.locate_target(path) else { return };
        if !self.read.insert(place.real().to_owned()) {
            return;
        }
        let Ok((file, _)) = place.open_file() else { return };
        self.files += 1;
        let mut bytes = vec![];
        if std::fs::File::from(file).take(MAX_SIZE).read_to_end(&mut bytes).is_ok() {
            add(self, &String::from_utf8_lossy(&bytes), path);
        }
    }

    fn each_text(&mut self, folder: &str, mut add: impl FnMut(&mut Self, &str, &str)) {
        for name in self.names_in(folder) {
            self.text(&format!("{folder}/{name}"), &mut add);
        }
    }

    /// Adds the commands of all units in a folder, and of the files beside them that change them.
    fn units(&mut self, folder: &str) {
        for name in self.names_in(folder) {
            let path = format!("{folder}/{name}");
            match name.rsplit_once('.').map(|(_, kind)| kind) {
                Some("service" | "socket" | "mount" | "swap") => self.text(&path, Self::unit),
                Some("d") => self.each_text(&path, Self::unit),
                _ => {}
            }
        }
    }

    fn unit(&mut self, text: &str, by: &str) {
        let text = text.replace("\\\n", " ");
        let settings: Vec<(&str, &str)> = text
            .lines()
            .filter_map(|line| line.split_once('='))
            .map(|(key, value)| (key.trim(), value.trim()))
            .collect();
        let last = |wanted: &str| settings.iter().rev().find(|(key, _)| *key == wanted).map(|(_, value)| *value);
        let is_dynamic = last("DynamicUser").is_some_and(|value| ["yes", "true", "on", "1"].contains(&value));
        let is_powerful = |user: &str| matches!(user, "" | "0") || self.powerful.contains(user);
        let is_root = !is_dynamic && last("User").is_none_or(is_powerful);
        let directory = last("WorkingDirectory").map(|path| path.trim_start_matches('-')).unwrap_or_default();
        for (key, value) in &settings {
            // A plus or an exclamation mark before the program leaves it root's rights.
            let marks = value.find(|sign| !"@-:+!|".contains(sign)).unwrap_or(value.len());
            let (marks, command) = value.split_at(marks);
            if COMMANDS.contains(key) && (is_root || marks.contains(['+', '!'])) {
                self.command(command, directory, by);
            } else if *key == "EnvironmentFile" && is_root {
                self.add(value.trim_start_matches('-'), by, 0);
            } else if matches!(*key, "RootDirectory" | "RootImage") && is_root {
                self.add(value, by, 0);
                self.add(&format!("{}/*", value.trim_end_matches('/')), by, 0);
            }
        }
    }

    /// Adds the jobs of powerful users: five fields of a time, or one that begins with `@`, then the user and the command.
    fn jobs(&mut self, text: &str, by: &str) {
        for line in text.lines().map(str::trim_start).filter(|line| !line.starts_with('#')) {
            let times = if line.starts_with('@') { 1 } else { 5 };
            let user = line.split_whitespace().nth(times).unwrap_or_default();
            let is_variable = line.split_once('=').is_some_and(|(name, _)| {
                name.trim_end().bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            });
            if is_variable || user.parse::<u32>() == Ok(0) || self.powerful.contains(user) {
                self.command(line, "", by);
            }
        }
    }

    fn lines(&mut self, text: &str, by: &str) {
        for line in text.lines().map(str::trim_start).filter(|line| !line.starts_with('#')) {
            self.command(line, "", by);
        }
    }

    fn rules(&mut self, text: &str, by: &str) {
        let text = text.replace("\\\n", " ");
        let names_command = |line: &&str| {
            ["RUN", "PROGRAM", "IMPORT{program}"].iter().any(|key| line.contains(key))
                || line.starts_with("install ")
                || line.starts_with("remove ")
        };
        for line in text.lines().map(str::trim_start).filter(|line| !line.starts_with('#')).filter(names_command) {
            self.command(line, "", by);
        }
    }

    /// Adds all paths of a command line: absolute ones, and files below the directory in which it starts or to which it changes.
    fn command(&mut self, line: &str, directory: &str, by: &str) {
        for (at, word) in words(line).iter().enumerate() {
            // The whole word is a path only where blanks are quoted.
            let is_path = |path: &&str| *path != word || !word.contains([';', '&', '|', '>', '<', '(']);
            for path in text::absolute_paths(word).filter(is_path) {
                // A pattern in an argument rather names files to work on.
                let is_broad = path.contains(REPLACED) && at > 0;
                if !is_broad || depth_before(path) > 1 {
                    self.add(path, by, 0);
                }
            }
        }
        self.relative(line, directory, by, 0);
    }

    /// Adds the files that a script can run or read in.
    fn script(&mut self, text: &str, by: &str, depth: usize) {
        for line in text.lines().map(str::trim_start).filter(|line| !line.starts_with('#')) {
            let words: Vec<&str> = shell_words(line).collect();
            for (at, word) in words.iter().enumerate() {
                let is_read_in = at.checked_sub(1).and_then(|at| words.get(at)).is_some_and(|word| is_source(word));
                for path in text::absolute_paths(word) {
                    let is_named = is_read_in || ENDINGS.iter().any(|ending| path.ends_with(ending));
                    if self.file(path).is_some_and(|entry| is_named || entry.mode & 0o111 != 0) {
                        self.add(path, by, depth);
                    }
                }
            }
            self.relative(line, "", by, depth);
        }
    }

    /// Adds the words of a line that are files below the directory in which it starts, or to which `cd` changes.
    fn relative(&mut self, line: &str, directory: &str, by: &str, depth: usize) {
        let mut directory = directory.to_owned();
        let mut words = shell_words(line);
        while let Some(word) = words.next() {
            if word == "cd" {
                directory = words.next().unwrap_or_default().to_owned();
            } else if directory.starts_with('/') && !word.starts_with(['/', '-']) {
                let path = format!("{}/{}", directory.trim_end_matches('/'), word.trim_start_matches("./"));
                if self.file(&path).is_some() {
                    self.add(&path, by, depth);
                }
            }
        }
    }

    /// Returns what a path leads to, if it is a file.
    fn file(&mut self, path: &str) -> Option<Entry> {
        if path.contains(REPLACED) || self.looks >= MAX_LOOKS {
            return None;
        }
        self.looks += 1;
        self.root.target_entry(path).ok().flatten().filter(|entry| entry.kind == Kind::File)
    }

    fn add(&mut self, path: &str, by: &str, depth: usize) {
        if !path.starts_with('/') || self.found.len() >= MAX_FOUND {
            return;
        }
        let known = match path.find(REPLACED) {
            Some(at) => {
                path.get(..at).and_then(|before| before.rsplit_once('/')).map(|(folder, _)| format!("{folder}/"))
            }
            None => Some(path.trim_end_matches('/').to_owned()),
        };
        // If all of it is replaced, it may be any path.
        let Some(known) = known.filter(|known| known.len() > 1) else { return };
        let is_distributions =
            OF_DISTRIBUTION.iter().any(|folder| known.starts_with(folder)) && !known.starts_with(LOCAL);
        if depth < MAX_DEPTH && !is_distributions && !known.ends_with('/') {
            self.scripts.push((known.clone(), depth + 1));
        }
        self.found.entry(known).or_insert_with(|| by.to_owned());
    }
}

/// Returns the number of folders before the first character of a path that is replaced.
fn depth_before(path: &str) -> usize {
    let before = path.find(REPLACED).and_then(|at| path.get(..at)).unwrap_or(path);
    before.matches('/').count().saturating_sub(1)
}

/// Tells whether a word of a shell reads the next one in.
fn is_source(word: &str) -> bool {
    matches!(word, "." | "source")
}

/// Splits a line where shells do. Quotation marks count as blanks.
fn shell_words(line: &str) -> impl Iterator<Item = &str> {
    let is_end =
        |sign: char| sign.is_whitespace() || ['"', '\'', '`', ';', '&', '|', '(', ')', '<', '>'].contains(&sign);
    line.split(is_end).filter(|word| !word.is_empty())
}

/// Splits a command line at blanks that no quotation marks enclose.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut open) = (vec![], String::new(), None);
    for sign in line.chars() {
        match (open, sign) {
            (Some(mark), sign) if mark == sign => open = None,
            (None, '"' | '\'') => open = Some(sign),
            (None, sign) if sign.is_whitespace() => words.push(std::mem::take(&mut word)),
            (_, sign) => word.push(sign),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    /// Returns what is found on a machine with these files. Those below `/srv` are executable.
    fn found(files: &[(&str, &str)]) -> BTreeMap<String, String> {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let place = folder.path().join(path.trim_start_matches('/'));
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::write(&place, text).unwrap();
            let mode = if path.starts_with("/srv") { 0o755 } else { 0o644 };
            std::fs::set_permissions(&place, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let root = Root::open(folder.path(), &contract::Account::unmetered("test")).unwrap();
        read(&root, &Administrators::read(&root), &["root".to_owned()].into())
    }

    #[track_caller]
    fn check(files: &[(&str, &str)], expect: &[&str]) {
        let found = found(files);
        let others = found.keys().filter(|path| !OF_DISTRIBUTION.iter().any(|folder| path.starts_with(folder)));
        assert_eq!(others.map(String::as_str).collect::<Vec<_>>(), expect, "{files:?}");
    }

    #[test]
    fn attack_files_of_units_are_found() {
        let unit = |text: &str, expect: &[&str]| check(&[("/etc/systemd/system/a.service", text)], expect);
        unit("[Service]\nExecStart=/srv/a/run --fast /srv/a/conf\n", &["/srv/a/conf", "/srv/a/run"]);
        unit("[Service]\nExecStartPre=-/srv/a/run\nEnvironmentFile=-/srv/a/env\n", &["/srv/a/env", "/srv/a/run"]);
        unit("[Service]\nExecStart=/usr/bin/env \\\n  \"/srv/a b/run\"\n", &["/srv/a", "/srv/a b/run"]);
        unit("[Service]\nExecStart=/srv/jobs/%i/run\n", &["/srv/jobs/"]);
        unit("[Service]\nUser=web\nExecStart=/srv/a/run\nExecStartPre=+/srv/a/prepare\n", &["/srv/a/prepare"]);
        unit("[Service]\nUser=root\nExecStop=/srv/a/run\n", &["/srv/a/run"]);
        unit("[Service]\nDynamicUser=yes\nExecStart=/srv/a/run\n", &[]);
        let unit = "[Service]\nWorkingDirectory=/srv/a\nExecStart=/usr/bin/node server.js data\n";
        check(&[("/lib/systemd/system/a.service", unit), ("/srv/a/server.js", "")], &["/srv/a/server.js"]);
        check(&[("/etc/systemd/system/a.service.d/x.conf", "[Service]\nExecStop=/srv/x\n")], &["/srv/x"]);
    }

    #[test]
    fn attack_files_of_jobs_are_found() {
        let jobs = "SHELL=/srv/shell\n# 0 3 * * * root /srv/no\n0 3 * * * root /srv/ops/nightly >/dev/null\n\
                    @daily root cd /srv/ops && ./weekly\n* * * * * web /srv/web/job\n";
        let expect = ["/dev/null", "/srv/ops", "/srv/ops/nightly", "/srv/ops/weekly", "/srv/shell"];
        check(&[("/etc/cron.d/ops", jobs), ("/srv/ops/weekly", "")], &expect);
        let own = ("/var/spool/cron/crontabs/root", "*/5 * * * * /srv/own\n");
        check(&[own, ("/var/spool/cron/crontabs/web", "* * * * * /srv/web\n")], &["/srv/own"]);
    }

    #[test]
    fn attack_files_that_scripts_run_are_found() {
        let script = "#!/bin/sh\n. /srv/lib/common\n/srv/ops/backup /srv/data/all >/var/log/ops\n";
        let others =
            [("/srv/lib/common", "x"), ("/srv/ops/backup", "#!/bin/sh\n/srv/ops/last\n"), ("/srv/ops/last", "")];
        let mut files = others.to_vec();
        files.push(("/etc/cron.daily/ops", script));
        check(&files, &["/srv/lib/common", "/srv/ops/backup", "/srv/ops/last"]);
        files.push(("/etc/init.d/ops", "#!/bin/sh\nDAEMON=/srv/ops/missing\n"));
        check(&files, &["/srv/lib/common", "/srv/ops/backup", "/srv/ops/last"]);
        // A unit of the distribution leads there, too.
        check(
            &[("/lib/systemd/system/a.service", "[Service]\nExecStart=/srv/ops/backup\n"), others[1], others[2]],
            &["/srv/ops/backup", "/srv/ops/last"],
        );
    }

    #[test]
    fn attack_files_of_rules_are_found() {
        check(&[("/etc/udev/rules.d/9.rules", "ACTION==\"add\", RUN+=\"/srv/plug %k\"\n")], &["/srv/plug"]);
        check(&[("/etc/modprobe.d/x.conf", "install x /srv/x; true\noptions y z=/srv/no\n")], &["/srv/x"]);
        let sudoers = "Cmnd_Alias OPS = /srv/ops/a, /srv/ops/all/\n%ops ALL=(root) NOPASSWD: /srv/ops/b\n# /srv/no\n";
        check(&[("/etc/sudoers", sudoers)], &["/srv/ops/a", "/srv/ops/all/", "/srv/ops/b"]);
    }
}
