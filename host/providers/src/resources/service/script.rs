//! Init scripts: what starts services where systemd does not run, and the links that enable them.

use crate::plan::{View, Writer};
use contract::{Certainty, ErrorKind, Raised};
use machine::command::{Answer, Launch, require_success};
use machine::root::{Kind, Root};
use serde_json::Value;

/// The run levels in which something starts with the system.
const LEVELS: [char; 6] = ['1', '2', '3', '4', '5', 'S'];

/// What package tools and we ask before a service is started or stopped.
const POLICY: &str = "/usr/sbin/policy-rc.d";

/// Its answer if an action is forbidden.
const FORBIDDEN: i32 = 101;

/// What makes the links.
const UPDATE: &str = "/usr/sbin/update-rc.d";

/// Where init scripts lie.
pub(super) const FOLDER: &str = "/etc/init.d";

fn path(name: &str) -> String {
    format!("{FOLDER}/{name}")
}

/// Whether a service has an init script.
pub(super) fn exists(root: &Root, name: &str) -> bool {
    root.target_entry(&path(name)).is_ok_and(|entry| entry.is_some())
}

/// Whether an init script has a word for its status.
pub(super) fn knows_status(root: &Root, name: &str) -> bool {
    root.read(&path(name)).is_ok_and(|text| String::from_utf8_lossy(&text).contains("status"))
}

/// What an init script's answer about its status means; none: nothing (a usage error, or a script that does not know).
pub(super) fn meaning(code: Option<i32>) -> Option<bool> {
    match code {
        Some(0) => Some(true),
        // Dead with a process or lock file left behind, or just not running.
        Some(1..=3) => Some(false),
        _ => None,
    }
}

/// A call of an init script.
pub(super) fn launch(name: &str, verb: &str) -> Launch {
    Launch::program(&path(name), [verb])
}

/// The name of the init script to which this one is a link. `None`: it is a script of its own, or its target has no name among
/// the init scripts.
pub(super) fn own_name(root: &Root, name: &str) -> Option<String> {
    let link = path(name);
    root.entry(&link).ok().flatten().filter(|entry| entry.kind == Kind::Link)?;
    let scripts = root.locate_target(FOLDER).ok()?;
    let target = root.locate_target(&link).ok()?;
    let own = target.real().strip_prefix(scripts.real())?.strip_prefix('/')?;
    (!own.contains('/')).then(|| own.to_owned())
}

/// Whether the root's administrator forbids to start or stop services in it. A dry run asks the program confined: the answer
/// that it cannot get counts as no.
pub(super) fn is_forbidden(name: &str, verb: &str, view: &mut View<'_>, certainty: &mut Vec<Certainty>) -> bool {
    if !view.root.target_entry(POLICY).is_ok_and(|entry| entry.is_some()) {
        return false;
    }
    let launch = Launch::program(POLICY, [name, verb]);
    if !view.why_run {
        return view.query(&launch).is_ok_and(|outcome| outcome.code == Some(FORBIDDEN));
    }
    match view.ask(&launch) {
        Answer::Ended(outcome) => outcome.code == Some(FORBIDDEN),
        Answer::Unknown(why) => {
            certainty.push(Certainty::Unknown(format!("whether policy-rc.d forbids it is not known: {why}")));
            false
        }
    }
}

/// Whether a service starts in some run level.
pub(super) fn is_enabled(root: &Root, name: &str) -> bool {
    LEVELS.iter().any(|level| starts(root, name, *level) == Some(true))
}

/// Whether a service starts (true) or stops in a run level; none: nothing is said about it.
fn starts(root: &Root, name: &str, level: char) -> Option<bool> {
    let names = root.locate_target(&format!("/etc/rc{level}.d")).and_then(|place| place.names()).ok()?;
    names.iter().find_map(|link| {
        let number = link.strip_suffix(name)?;
        let (kind, number) = number.split_at_checked(1)?;
        let plain = number.len() == 2 && number.bytes().all(|byte| byte.is_ascii_digit());
        match kind {
            "S" if plain => Some(true),
            "K" if plain => Some(false),
            _ => None,
        }
    })
}

/// In which run levels a resource wants its service started or stopped. A mere number is accepted and means nothing any
/// more: the order of init scripts follows from what they depend on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Priorities(Vec<(char, bool)>);

impl Priorities {
    pub(super) fn read(priority: &Value) -> Result<Self, Raised> {
        let Value::Object(levels) = priority else { return Ok(Self::default()) };
        let mut rules = vec![];
        for (level, value) in levels {
            let action = value.get(0).or(Some(value)).and_then(Value::as_str);
            let known = match (level.as_str().chars().next(), action.map(|action| action.trim_start_matches(':'))) {
                (Some(level), Some("start")) => Some((level, true)),
                (Some(level), Some("stop")) => Some((level, false)),
                _ => None,
            };
            match known.filter(|(level, _)| level.is_ascii_digit() || *level == 'S') {
                Some(rule) => rules.push(rule),
                None => {
                    return Err(Raised::new(
                        ErrorKind::Service,
                        format!("priority: run level {level:?} means nothing"),
                    ));
                }
            }
        }
        Ok(Self(rules))
    }

    /// What the links say in the run levels that are meant.
    pub(super) fn found(&self, root: &Root, name: &str) -> String {
        let word = |level: char| match starts(root, name, level) {
            Some(true) => "start",
            Some(false) => "stop",
            None => "nothing",
        };
        let levels = self.0.iter().map(|(level, _)| format!("{level}:{}", word(*level)));
        levels.collect::<Vec<_>>().join(" ")
    }

    /// Whether the links are as wanted.
    pub(super) fn hold(&self, root: &Root, name: &str) -> bool {
        self.0.iter().all(|(level, start)| starts(root, name, *level) == Some(*start))
    }
}

/// Makes the links that enable or disable a service.
pub(super) fn enable(writer: &mut Writer<'_>, name: &str, enable: bool, rules: &Priorities) -> Result<(), Raised> {
    if !writer.root.target_entry(UPDATE).is_ok_and(|entry| entry.is_some()) {
        return Err(Raised::new(ErrorKind::Service, format!("{UPDATE} does not exist!")));
    }
    // Links in all the levels that the script names, which the second call then turns over.
    update(writer, &[name, "defaults"])?;
    if rules.0.is_empty() {
        return update(writer, &[name, if enable { "enable" } else { "disable" }]);
    }
    for (level, start) in &rules.0 {
        update(writer, &[name, if *start { "enable" } else { "disable" }, &level.to_string()])?;
    }
    Ok(())
}

fn update(writer: &mut Writer<'_>, arguments: &[&str]) -> Result<(), Raised> {
    let launch = Launch::program(UPDATE, arguments.iter().copied());
    let outcome = writer.launch(&launch).map_err(|failure| failure.into_raised(&launch))?;
    require_success(&launch, &outcome, &[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_run_levels_are_read() {
        let folder = tempfile::tempdir().unwrap();
        for link in
            ["etc/rc2.d/S01cron", "etc/rc0.d/K01cron", "etc/rc2.d/K02rsync", "etc/rc2.d/S01notcron", "etc/rc2.d/README"]
        {
            let path = folder.path().join(link);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let root = Root::open(folder.path(), &contract::Account::unmetered("test")).unwrap();
        assert!(is_enabled(&root, "cron"));
        assert!(!is_enabled(&root, "rsync") && !is_enabled(&root, "ron") && !is_enabled(&root, "absent"));
        assert_eq!(starts(&root, "cron", '0'), Some(false));
        assert!(Priorities(vec![('2', true), ('0', false)]).hold(&root, "cron"));
        assert!(!Priorities(vec![('3', true)]).hold(&root, "cron"));
    }

    #[test]
    fn exit_codes_of_status() {
        for (code, expect) in [
            (Some(0), Some(true)),
            (Some(3), Some(false)),
            (Some(1), Some(false)),
            (Some(4), None),
            (Some(127), None),
            (None, None),
        ] {
            assert_eq!(meaning(code), expect, "{code:?}");
        }
    }
}
