//! Finds the files that root runs by itself on this machine, because a unit of systemd, a job of cron, an init script, a rule
//! of udev or of sudo, or a hook names them. Whoever may change such a file has all rights of root when it is run.
//!
//! Command lines name every path in them. Scripts mention many paths that they only write to, so of a script's text only files
//! count that it can run or read in. What only the program itself can tell, such as `/srv/%i/run`, counts as a whole folder, and
//! so does a folder that a command line names.
//!
//! Scripts that others than root may change are not read: they are found, and what they run is the choice of those others. So
//! are texts that are too long: a policy must not fill the search by a file of its own that root happens to read. A search that
//! left something out says so.

pub(super) mod units;

use super::administrators::Administrators;
use machine::root::{Entry, Kind, Root};
use rustix::fd::OwnedFd;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::File;
use std::io::Read as _;

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

/// The settings of the dynamic linker, whose lines are folders of libraries.
const LINKER: &str = "/etc/ld.so.conf";
const LINKER_FOLDER: &str = "/etc/ld.so.conf.d";

/// Folders in which only root makes files. What they lead to by a link lies elsewhere.
const OF_ROOT: [&str; 3] = ["/run/systemd/", "/var/spool/cron/", "/dev/"];

/// Programs that work on the files of a folder, and run none of them.
const FILE_TOOLS: [&str; 22] = [
    "borg",
    "cat",
    "chgrp",
    "chmod",
    "chown",
    "cp",
    "df",
    "du",
    "find",
    "install",
    "ls",
    "mkdir",
    "mv",
    "restic",
    "rm",
    "rsync",
    "tar",
    "test",
    "tmpreaper",
    "touch",
    "truncate",
    "[",
];

/// Maximum number of files that are read.
const MAX_FILES: usize = 5_000;

/// Maximum size of each, in bytes.
const MAX_SIZE: u64 = 256 << 10;

/// Maximum size of all scripts outside of the system's folders, in bytes.
const MAX_SCRIPTS: u64 = 4 << 20;

/// Maximum number of paths for which the machine is asked whether they are files.
const MAX_LOOKS: usize = 20_000;

/// Maximum number of paths that are found.
const MAX_FOUND: usize = 20_000;

/// Maximum number of scripts that name each other in turn.
const MAX_DEPTH: usize = 4;

/// Maximum number of variables of a script that are put in.
const MAX_VARIABLES: usize = 50;

/// Characters that a program replaces: what a path is from there on is not known.
const REPLACED: [char; 7] = ['%', '$', '\\', '*', '?', '[', '{'];

/// The paths that root runs by itself.
#[derive(Debug, Default)]
pub(super) struct RunByRoot {
    /// The paths, each with the file that names it. A path that ends in a slash stands for all that is below it.
    pub(super) found: BTreeMap<String, String>,
    /// True if there was more to read than is read.
    pub(super) is_cut: bool,
}

/// Returns the paths that root runs by itself. `powerful` are the users who are as powerful as root.
pub(super) fn read(root: &Root, administrators: &Administrators, powerful: &BTreeSet<String>) -> RunByRoot {
    let mut search = Search {
        root,
        powerful,
        result: RunByRoot::default(),
        scripts: vec![],
        read: HashSet::new(),
        files: 0,
        looks: 0,
        script_bytes: 0,
    };
    for (path, by) in administrators.commands() {
        search.add(&path, by, 0);
    }
    search.units();
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
    search.text(LINKER, |search, text, by| search.libraries(text, by));
    search.each_text(LINKER_FOLDER, |search, text, by| search.libraries(text, by));
    for folder in SCRIPTS {
        search.each_text(folder, |search, text, by| search.script(text, by, 0));
    }
    for file in TEXTS {
        search.text(file, |search, text, by| search.script(text, by, 0));
    }
    while let Some((path, depth)) = search.scripts.pop() {
        search.found_script(&path, depth);
    }
    search.result
}

/// The state of a search.
struct Search<'s> {
    root: &'s Root,
    powerful: &'s BTreeSet<String>,
    result: RunByRoot,
    /// Files that may be scripts and are not read yet, each with the number of scripts that lead to it.
    scripts: Vec<(String, usize)>,
    /// The device and inode numbers of the files that were read.
    read: HashSet<(u64, u64)>,
    files: usize,
    looks: usize,
    script_bytes: u64,
}

impl Search<'_> {
    fn names_in(&mut self, folder: &str) -> Vec<String> {
        let Ok(place) = self.root.locate_target(folder) else { return vec![] };
        let Ok(names) = place.names() else { return vec![] };
        if lies_elsewhere(folder, place.real()) {
            self.whole(place.real(), folder);
            self.keep(folder.to_owned(), folder);
        }
        names
    }

    /// Hands a file's text on, unless it was read before. A file that cannot be read runs nothing that is known.
    fn text(&mut self, path: &str, add: impl FnOnce(&mut Self, &str, &str)) {
        let Ok(place) = self.root.locate_target(path) else { return };
        if lies_elsewhere(path, place.real()) {
            // Whoever may change the file itself decides what root runs; so does whoever may change a link on the way.
            self.keep(path.to_owned(), path);
            self.keep(place.real().to_owned(), path);
        }
        let Ok((file, entry)) = place.open_file() else { return };
        if !self.read.insert(entry.identity) {
            return;
        }
        if let Some(text) = self.text_of(file, MAX_SIZE) {
            add(self, &text, path);
        }
    }

    /// Returns a file's text, also if it was read before.
    fn text_again(&mut self, path: &str) -> Option<String> {
        let (file, _) = self.root.locate_target(path).and_then(|place| place.open_file()).ok()?;
        self.text_of(file, MAX_SIZE)
    }

    fn text_of(&mut self, file: OwnedFd, limit: u64) -> Option<String> {
        if self.files >= MAX_FILES {
            self.result.is_cut = true;
            return None;
        }
        self.files += 1;
        let mut bytes = vec![];
        let read = File::from(file).take(limit + 1).read_to_end(&mut bytes).ok()? as u64;
        self.result.is_cut |= read > limit;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Reads a file that was found, if it is a script that nobody but root may change.
    fn found_script(&mut self, path: &str, depth: usize) {
        let Ok(place) = self.root.locate_target(path) else { return };
        let Ok((file, entry)) = place.open_file() else { return };
        let is_roots = entry.uid == 0 && !entry.others_may_write();
        let mut mark = [0; 2];
        let is_script = rustix::io::pread(&file, &mut mark, 0).is_ok_and(|read| read == 2) && mark == *b"#!";
        if !is_roots || !is_script || !self.read.insert(entry.identity) {
            return;
        }
        let left = MAX_SCRIPTS.saturating_sub(self.script_bytes).min(MAX_SIZE);
        if let Some(text) = self.text_of(file, left) {
            self.script_bytes = self.script_bytes.saturating_add(text.len() as u64);
            self.script(&text, path, depth);
        }
    }

    fn each_text(&mut self, folder: &str, mut add: impl FnMut(&mut Self, &str, &str)) {
        for name in self.names_in(folder) {
            self.text(&format!("{folder}/{name}"), &mut add);
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
            if is_variable {
                self.variables(line, by);
            } else if user.parse::<u32>() == Ok(0) || self.powerful.contains(user) {
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

    /// Adds the folders of a list of libraries.
    fn libraries(&mut self, text: &str, by: &str) {
        for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
            for path in line.split_whitespace().filter(|word| word.starts_with('/')) {
                self.whole(path, by);
            }
        }
    }

    /// Adds the paths of variables, `NAME=VALUE ..`: a folder in which programs or code are looked up as a whole.
    fn variables(&mut self, assignments: &str, by: &str) {
        for word in words(assignments) {
            let (name, value) = word.split_once('=').unwrap_or(("", &word));
            for path in value.split(':').filter(|path| path.starts_with('/')) {
                if name.trim_end().to_ascii_uppercase().ends_with("PATH") {
                    self.whole(path, by);
                } else {
                    self.add_with_folder(path, by);
                }
            }
        }
    }

    /// Adds all paths of a command line: absolute ones, and files below the directory in which it starts or to which it changes.
    fn command(&mut self, line: &str, directory: &str, by: &str) {
        let mut is_of_file_tool = false;
        for (at, word) in words(line).iter().enumerate() {
            let program = word.rsplit('/').next().unwrap_or(word);
            if FILE_TOOLS.contains(&program) {
                is_of_file_tool = true;
            } else if word.contains([';', '&', '|', '(']) {
                is_of_file_tool = false;
            }
            // The whole word is a path only where blanks are quoted.
            let is_path = |path: &&str| *path != word || !word.contains([';', '&', '|', '>', '<', '(']);
            for path in text::absolute_paths(word).filter(is_path) {
                // A pattern in an argument rather names files to work on.
                let is_broad = path.contains(REPLACED) && at > 0;
                if is_broad && depth_before(path) <= 1 {
                    continue;
                }
                if is_of_file_tool {
                    self.add(path, by, 0);
                } else {
                    self.add_with_folder(path, by);
                }
            }
        }
        self.relative(line, directory, by, 0);
    }

    /// Adds the files that a script can run or read in.
    fn script(&mut self, text: &str, by: &str, depth: usize) {
        let variables = Variables::of(text);
        for line in text.lines().map(str::trim_start).filter(|line| !line.starts_with('#')) {
            let line = &*variables.put_into(line);
            let words: Vec<&str> = shell_words(line).collect();
            let runs_parts = words.iter().any(|word| word.rsplit('/').next() == Some("run-parts"));
            for (at, word) in words.iter().enumerate() {
                let is_read_in = at.checked_sub(1).and_then(|at| words.get(at)).is_some_and(|word| is_source(word));
                for path in text::absolute_paths(word) {
                    if runs_parts {
                        self.add_with_folder(path, by);
                    }
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
        self.look(path).filter(|entry| entry.kind == Kind::File)
    }

    fn look(&mut self, path: &str) -> Option<Entry> {
        if path.contains(REPLACED) {
            return None;
        }
        if self.looks >= MAX_LOOKS {
            self.result.is_cut = true;
            return None;
        }
        self.looks += 1;
        self.root.target_entry(path).ok().flatten()
    }

    /// Adds a path, and all that is below it if it is a folder now. A folder directly below the root directory does not count as
    /// a whole: it belongs to many.
    fn add_with_folder(&mut self, path: &str, by: &str) {
        let is_deep = path.trim_end_matches('/').matches('/').count() > 1;
        if is_deep && self.look(path).is_some_and(|entry| entry.kind == Kind::Directory) {
            return self.whole(path, by);
        }
        self.add(path, by, 0);
    }

    /// Adds a folder with all that is below it.
    fn whole(&mut self, path: &str, by: &str) {
        self.add(path, by, 0);
        self.add(&format!("{}/*", path.trim_end_matches('/')), by, 0);
    }

    fn add(&mut self, path: &str, by: &str, depth: usize) {
        if !path.starts_with('/') {
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
        if depth < MAX_DEPTH && !is_of_distribution(&known) && !known.ends_with('/') {
            self.scripts.push((known.clone(), depth + 1));
        }
        self.keep(known, by);
    }

    fn keep(&mut self, path: String, by: &str) {
        if self.result.found.len() < MAX_FOUND {
            self.result.found.entry(path).or_insert_with(|| by.to_owned());
        } else {
            self.result.is_cut |= !self.result.found.contains_key(&path);
        }
    }
}

/// Tells whether nobody but the distribution changes what is at a path.
fn is_of_distribution(path: &str) -> bool {
    OF_DISTRIBUTION.iter().any(|folder| path.starts_with(folder)) && !path.starts_with(LOCAL)
}

/// Tells whether a path leads out of the folders in which only root makes files.
fn lies_elsewhere(path: &str, real: &str) -> bool {
    real != path && !is_of_distribution(real) && !OF_ROOT.iter().any(|folder| real.starts_with(folder))
}

/// The variables of a script that are set to a path: `DIR=/srv/ops`.
struct Variables<'t>(Vec<(&'t str, &'t str)>);

impl<'t> Variables<'t> {
    fn of(text: &'t str) -> Self {
        let assignment = |line: &'t str| {
            let line = line.trim().trim_start_matches("export ").trim_start_matches("readonly ").trim_start();
            let (name, value) = line.split_once('=')?;
            let value = value.trim_matches(['"', '\'']);
            let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            let is_path = value.starts_with('/') && !value.contains(REPLACED) && !value.contains(char::is_whitespace);
            (is_name && is_path).then_some((name, value))
        };
        let mut found: Vec<_> = text.lines().filter_map(assignment).take(MAX_VARIABLES).collect();
        // The longest names first: `$DIRECTORY` is not `$DIR`.
        found.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        Self(found)
    }

    fn put_into<'l>(&self, line: &'l str) -> Cow<'l, str> {
        if self.0.is_empty() || !line.contains('$') {
            return Cow::Borrowed(line);
        }
        let put = |line: String, (name, value): &(&str, &str)| {
            line.replace(&format!("${{{name}}}"), value).replace(&format!("${name}"), value)
        };
        Cow::Owned(self.0.iter().fold(line.to_owned(), put))
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
