//! Finds the files that root runs by itself on this machine, because a unit of systemd, a job of cron, an init script, a rule
//! of udev or of sudo, or a hook names them. Whoever may change such a file has all rights of root when it is run. Units and
//! jobs of other accounts count, too: a drop-in may change the user, and each account has rights that a policy does not have.
//!
//! Command lines name every path in them. Scripts mention many paths that they only write to, so of a script's text only files
//! count that it can run or read in. What only the program itself can tell, such as `/srv/%i/run`, counts as a whole folder.
//!
//! Policies write some of these texts. So each file of the system that leads to scripts has limits of its own, and one of them
//! cannot use up what others need.

use super::administrators::Administrators;
use machine::root::{Entry, Kind, Root};
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::io::Read as _;

/// The folders of systemd's units.
pub(super) const UNITS: [&str; 9] = [
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

/// The settings of a unit that name files or folders which its programs run, load or see as others. Each path counts as a
/// folder, too.
const LEADING: [&str; 12] = [
    "BindPaths",
    "BindReadOnlyPaths",
    "Environment",
    "EnvironmentFile",
    "ExecSearchPath",
    "ExtensionDirectories",
    "ExtensionImages",
    "LoadCredential",
    "LoadCredentialEncrypted",
    "MountImages",
    "RootDirectory",
    "RootImage",
];

/// The file that names the folders of shared libraries, and the folder of more of them.
const LIBRARIES: &str = "/etc/ld.so.conf";
const LIBRARIES_D: &str = "/etc/ld.so.conf.d";

/// The program that runs all programs of a folder.
const RUN_PARTS: &str = "run-parts";

/// The files of jobs whose lines name a user, and the folder of more of them.
const CRONTAB: &str = "/etc/crontab";
const CRON_D: &str = "/etc/cron.d";

/// The folders of users' jobs.
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

/// Maximum size of each script, in bytes. The text beyond it is not read.
const MAX_SCRIPT: u64 = 64 << 10;

/// Maximum number of paths for which the machine is asked whether they are files, in all and for one file of the system.
const MAX_LOOKS: usize = 20_000;
const MAX_LOOKS_OF_ONE: usize = 1_000;

/// Maximum number of scripts to which one file of the system leads.
const MAX_SCRIPTS_OF_ONE: usize = 50;

/// Maximum number of scripts that are read.
const MAX_SCRIPTS: usize = 500;

/// Maximum number of paths that are found.
const MAX_FOUND: usize = 20_000;

/// Maximum number of scripts that name each other in turn.
const MAX_DEPTH: usize = 4;

/// Characters that a program replaces: what a path is from there on is not known.
const REPLACED: [char; 7] = ['%', '$', '\\', '*', '?', '[', '{'];

/// Returns the paths that root runs by itself, each with the file that names it. A path that ends in a slash stands for all
/// that is below it.
pub(super) fn read(root: &Root, administrators: &Administrators) -> BTreeMap<String, String> {
    let mut search = Search {
        root,
        found: BTreeMap::new(),
        scripts: VecDeque::new(),
        read: HashSet::new(),
        files: 0,
        looks: 0,
        source: 0,
        of_source: BTreeMap::new(),
    };
    for (path, by) in administrators.commands() {
        search.add(&path, by, 0);
    }
    for folder in UNITS {
        search.units(folder);
    }
    search.each_text(CRON_D, |search, text, by| search.jobs(text, by));
    search.text(CRONTAB, |search, text, by| search.jobs(text, by));
    for folder in CRONTABS {
        search.each_text(folder, |search, text, by| search.lines(text, by));
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
    search.text(LIBRARIES, |search, text, by| search.libraries(text, by));
    search.each_text(LIBRARIES_D, |search, text, by| search.libraries(text, by));
    search.scripts();
    search.found
}

/// The state of a search.
struct Search<'s> {
    root: &'s Root,
    found: BTreeMap<String, String>,
    /// Files that may be scripts and are not read yet.
    scripts: VecDeque<Script>,
    /// The files that were read, by device and inode.
    read: HashSet<(u64, u64)>,
    files: usize,
    looks: usize,
    /// The number of the file of the system that is read, or that led to the script that is read.
    source: usize,
    of_source: BTreeMap<usize, Spent>,
}

/// A file that may be a script.
struct Script {
    path: String,
    /// The number of scripts that lead to it.
    depth: usize,
    /// The file of the system that leads to it.
    source: usize,
}

/// What one file of the system has led to.
#[derive(Default)]
struct Spent {
    looks: usize,
    scripts: usize,
}

impl Search<'_> {
    /// Reads the scripts, those first to which the fewest others lead.
    fn scripts(&mut self) {
        let mut read = 0;
        while let Some(Script { path, depth, source }) = self.scripts.pop_front().filter(|_| read < MAX_SCRIPTS) {
            read += 1;
            let Some(text) = self.read(&path, MAX_SCRIPT).filter(|text| text.starts_with("#!")) else { continue };
            self.source = source;
            self.script(&text, &path, depth);
        }
    }

    fn names_in(&self, folder: &str) -> Vec<String> {
        self.root.locate_target(folder).and_then(|place| place.names()).unwrap_or_default()
    }

    /// Hands the text of a file of the system on, unless it was read before.
    fn text(&mut self, path: &str, add: impl FnOnce(&mut Self, &str, &str)) {
        self.source += 1;
        if let Some(text) = self.read(path, MAX_SIZE) {
            add(self, &text, path);
        }
    }

    /// Returns a file's text, unless it was read before. A file that cannot be read runs nothing that is known. Where a link
    /// leads to the file, whoever may change the file itself decides.
    fn read(&mut self, path: &str, limit: u64) -> Option<String> {
        if self.files >= MAX_FILES {
            return None;
        }
        let place = self.root.locate_target(path).ok()?;
        let (file, entry) = place.open_file().ok()?;
        if place.real() != path {
            self.found.entry(place.real().to_owned()).or_insert_with(|| path.to_owned());
        }
        if !self.read.insert(entry.identity) {
            return None;
        }
        self.files += 1;
        let mut bytes = vec![];
        std::fs::File::from(file).take(limit).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
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
        let directory = last("WorkingDirectory").map(|path| path.trim_start_matches('-')).unwrap_or_default();
        for (key, value) in &settings {
            if COMMANDS.contains(key) {
                // Marks before the program choose its rights.
                self.command(value.trim_start_matches(|sign| "@-:+!|".contains(sign)), directory, by);
            } else if LEADING.contains(key) {
                self.folders(value, by);
            }
        }
    }

    /// Adds the paths of a list, as paths and as folders: `/a:/b`, `PATH=/a:/b`, `"NAME=/a" NAME=/b`.
    fn folders(&mut self, list: &str, by: &str) {
        let is_end = |sign: char| sign.is_whitespace() || ['"', '\'', ':', '=', ','].contains(&sign);
        for path in list.split(is_end).map(|path| path.trim_start_matches(['-', '+'])) {
            self.add(path, by, 0);
            self.add(&format!("{}/*", path.trim_end_matches('/')), by, 0);
        }
    }

    /// Adds the folders of shared libraries, which each program of root loads.
    fn libraries(&mut self, text: &str, by: &str) {
        for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
            match line.strip_prefix("include ").map(str::trim) {
                Some(others) => self.add(others, by, 0),
                None => self.folders(line, by),
            }
        }
    }

    /// Adds the jobs of a file whose lines name a time, a user and a command.
    fn jobs(&mut self, text: &str, by: &str) {
        for line in text.lines().map(str::trim_start).filter(|line| !line.starts_with('#')) {
            let is_variable = line.split_once('=').is_some_and(|(name, _)| {
                name.trim_end().bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            });
            if is_variable {
                self.folders(line, by);
            } else {
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
        let words = words(line);
        let runs_parts = words.iter().any(|word| word.rsplit('/').next() == Some(RUN_PARTS));
        for (at, word) in words.iter().enumerate() {
            // The whole word is a path only where blanks are quoted.
            let is_path = |path: &&str| *path != word || !word.contains([';', '&', '|', '>', '<', '(']);
            for path in text::absolute_paths(word).filter(is_path) {
                // A pattern in an argument rather names files to work on.
                let is_broad = path.contains(REPLACED) && at > 0;
                if !is_broad || depth_before(path) > 1 {
                    self.add(path, by, 0);
                }
                if runs_parts && at > 0 {
                    self.add(&format!("{}/*", path.trim_end_matches('/')), by, 0);
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
        let spent = self.of_source.entry(self.source).or_default();
        if path.contains(REPLACED) || self.looks >= MAX_LOOKS || spent.looks >= MAX_LOOKS_OF_ONE {
            return None;
        }
        (self.looks, spent.looks) = (self.looks + 1, spent.looks + 1);
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
        let spent = self.of_source.entry(self.source).or_default();
        let may_be_script = depth < MAX_DEPTH && !is_distributions && !known.ends_with('/');
        if may_be_script && spent.scripts < MAX_SCRIPTS_OF_ONE && !self.found.contains_key(&known) {
            spent.scripts += 1;
            self.scripts.push_back(Script { path: known.clone(), depth: depth + 1, source: self.source });
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
mod tests;
