//! The units of systemd: what root runs and reads because of them.

use super::Search;
use std::collections::BTreeSet;

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

/// The setting of the command that the unit is for.
const MAIN: &str = "ExecStart";

/// The settings of a unit that are command lines.
const COMMANDS: [&str; 7] =
    ["ExecCondition", "ExecStartPre", MAIN, "ExecStartPost", "ExecReload", "ExecStop", "ExecStopPost"];

/// Settings with folders or images that lie over what the unit's programs find elsewhere: `PATH` or `PATH:ELSEWHERE`.
const OVERLAYS: [&str; 6] =
    ["BindPaths", "BindReadOnlyPaths", "ExtensionDirectories", "ExtensionImages", "MountImages", "ExecSearchPath"];

/// Settings with files that root reads for the unit, whatever its user is: `NAME:PATH`.
const CREDENTIALS: [&str; 2] = ["LoadCredential", "LoadCredentialEncrypted"];

/// The units that files beside them make run as root.
#[derive(Default)]
pub(super) struct MadeRoots(BTreeSet<String>);

impl MadeRoots {
    /// Tells whether a unit is one of them. Files may be for all units of a kind, for those with a common beginning, and for
    /// one instance of a template.
    fn have(&self, unit: &str) -> bool {
        let beginning = |name: &str| name.split_once('@').map(|(before, _)| before.to_owned());
        let is_it = |named: &String| {
            let (stem, kind) = named.rsplit_once('.').unwrap_or(("", named));
            named == unit
                || (stem.is_empty() && unit.ends_with(kind))
                || (stem.ends_with('-') && unit.starts_with(stem) && unit.ends_with(kind))
                || (beginning(named).is_some() && beginning(named) == beginning(unit))
        };
        self.0.iter().any(is_it)
    }
}

/// The settings of one file.
struct Settings<'t>(Vec<(&'t str, &'t str)>);

impl<'t> Settings<'t> {
    fn of(text: &'t str) -> Self {
        let settings = text.lines().filter_map(|line| line.split_once('='));
        Self(settings.map(|(key, value)| (key.trim(), value.trim())).collect())
    }

    fn last(&self, wanted: &str) -> Option<&'t str> {
        self.0.iter().rev().find(|(key, _)| *key == wanted).map(|(_, value)| *value)
    }

    fn is_yes(&self, wanted: &str) -> Option<bool> {
        let value = self.last(wanted)?.to_ascii_lowercase();
        Some(["yes", "y", "true", "t", "on", "1"].contains(&value.as_str()))
    }
}

impl Search<'_> {
    /// Adds the commands of all units, and of the files beside them that change them.
    pub(super) fn units(&mut self) {
        let made_roots = self.made_roots();
        for folder in UNITS {
            for name in self.names_in(folder) {
                let path = format!("{folder}/{name}");
                match name.rsplit_once('.').map(|(_, kind)| kind) {
                    Some("service" | "socket" | "mount" | "swap") if made_roots.have(&name) => {
                        // It may have been read under another name, as a unit of another user.
                        if let Some(text) = self.text_again(&path) {
                            self.unit(&text, &path, true);
                        }
                    }
                    Some("service" | "socket" | "mount" | "swap") => {
                        self.text(&path, |search, text, by| search.unit(text, by, false));
                    }
                    Some("d") => self.each_text(&path, |search, text, by| search.unit(text, by, false)),
                    _ => {}
                }
            }
        }
    }

    /// Returns the units for which a file beside them names root as their user.
    fn made_roots(&mut self) -> MadeRoots {
        let mut found = MadeRoots::default();
        for folder in UNITS {
            for name in self.names_in(folder) {
                let Some(unit) = name.strip_suffix(".d") else { continue };
                for file in self.names_in(&format!("{folder}/{name}")) {
                    let Some(text) = self.text_again(&format!("{folder}/{name}/{file}")) else { continue };
                    let settings = Settings::of(&text);
                    let is_root = settings.last("User").is_some_and(|user| self.is_powerful(user));
                    if is_root || settings.is_yes("DynamicUser") == Some(false) {
                        found.0.insert(unit.to_owned());
                    }
                }
            }
        }
        found
    }

    /// Tells whether a unit's user may be as powerful as root. What stands for an instance may be any name.
    fn is_powerful(&self, user: &str) -> bool {
        matches!(user, "" | "0") || user.contains('%') || self.powerful.contains(user)
    }

    fn unit(&mut self, text: &str, by: &str, is_made_root: bool) {
        let text = text.replace("\\\n", " ");
        let settings = Settings::of(&text);
        let is_dynamic = settings.is_yes("DynamicUser") == Some(true);
        let is_users = is_dynamic || settings.last("User").is_some_and(|user| !self.is_powerful(user));
        let is_root = is_made_root || !is_users;
        let only_start = settings.is_yes("PermissionsStartOnly") == Some(true);
        let directory = settings.last("WorkingDirectory").map(|path| path.trim_start_matches('-')).unwrap_or_default();
        for (key, value) in &settings.0 {
            // A plus or an exclamation mark before the program leaves it root's rights.
            let marks = value.find(|sign| !"@-:+!|".contains(sign)).unwrap_or(value.len());
            let (marks, command) = value.split_at(marks);
            if COMMANDS.contains(key) && (is_root || marks.contains(['+', '!']) || (only_start && *key != MAIN)) {
                self.command(command, directory, by);
            } else if CREDENTIALS.contains(key) {
                self.add(value.split_once(':').map_or(value, |(_, path)| path), by, 0);
            } else if is_root {
                self.setting(key, value, by);
            }
        }
    }

    /// Adds what a setting names of a unit of root.
    fn setting(&mut self, key: &str, value: &str, by: &str) {
        match key {
            "Environment" => self.variables(value, by),
            "EnvironmentFile" => self.add(value.trim_start_matches('-'), by, 0),
            "RootDirectory" | "RootImage" => self.whole(value, by),
            _ if OVERLAYS.contains(&key) => {
                let is_end = |sign: char| sign.is_whitespace() || sign == ':';
                for path in value.split(is_end).map(|path| path.trim_start_matches(['-', '+', '"', '\''])) {
                    self.whole(path.trim_end_matches(['"', '\'']), by);
                }
            }
            _ => {}
        }
    }
}
