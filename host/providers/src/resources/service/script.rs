//! Init scripts, which start services on a machine without systemd, and the links that enable them.

use crate::plan::{View, Writer};
use contract::{Certainty, ErrorKind, Raised};
use machine::command::{Answer, Launch, require_success};
use machine::root::{Kind, Root};
use serde_json::Value;

/// The run levels that count as starting with the system.
const LEVELS: [char; 6] = ['1', '2', '3', '4', '5', 'S'];

/// The program that package tools and wrun call before they start or stop a service.
const POLICY: &str = "/usr/sbin/policy-rc.d";

/// Its exit code for a forbidden action.
const FORBIDDEN: i32 = 101;

/// The program that creates the links.
const UPDATE: &str = "/usr/sbin/update-rc.d";

/// The folder of init scripts.
pub(super) const FOLDER: &str = "/etc/init.d";

fn path(name: &str) -> String {
    format!("{FOLDER}/{name}")
}

/// Tells whether a service has an init script.
pub(super) fn exists(root: &Root, name: &str) -> bool {
    root.target_entry(&path(name)).is_ok_and(|entry| entry.is_some())
}

/// Tells whether an init script supports `status`.
pub(super) fn knows_status(root: &Root, name: &str) -> bool {
    root.read(&path(name)).is_ok_and(|text| String::from_utf8_lossy(&text).contains("status"))
}

/// Interprets the exit code of `status`. Returns `None` for a code without a meaning (a usage error, or a script that cannot
/// tell).
pub(super) fn meaning(code: Option<i32>) -> Option<bool> {
    match code {
        Some(0) => Some(true),
        // Stopped, perhaps with a process or lock file left behind.
        Some(1..=3) => Some(false),
        _ => None,
    }
}

/// Builds the call of an init script.
pub(super) fn launch(name: &str, verb: &str) -> Launch {
    Launch::program(&path(name), [verb])
}

/// Returns the name of the init script to which this one is a link. Returns `None` if it is not a link, or if its target is
/// not in the folder of init scripts.
pub(super) fn own_name(root: &Root, name: &str) -> Option<String> {
    let link = path(name);
    root.entry(&link).ok().flatten().filter(|entry| entry.kind == Kind::Link)?;
    let scripts = root.locate_target(FOLDER).ok()?;
    let target = root.locate_target(&link).ok()?;
    let own = target.real().strip_prefix(scripts.real())?.strip_prefix('/')?;
    (!own.contains('/')).then(|| own.to_owned())
}

/// Tells whether the administrator of the root forbids starting or stopping services. A dry run runs that program confined;
/// an unknown answer counts as not forbidden.
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

/// Tells whether a service starts in some run level.
pub(super) fn is_enabled(root: &Root, name: &str) -> bool {
    LEVELS.iter().any(|level| starts(root, name, *level) == Some(true))
}

/// Returns whether a service starts (true) or stops (false) in a run level, or `None` without a link.
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

/// The run levels in which a resource declares its service started or stopped. A plain number is accepted and ignored: today
/// the order of init scripts follows from their dependencies.
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

    /// Returns the state of the links in these run levels.
    pub(super) fn found(&self, root: &Root, name: &str) -> String {
        let word = |level: char| match starts(root, name, level) {
            Some(true) => "start",
            Some(false) => "stop",
            None => "nothing",
        };
        let levels = self.0.iter().map(|(level, _)| format!("{level}:{}", word(*level)));
        levels.collect::<Vec<_>>().join(" ")
    }

    /// Tells whether the links are as declared.
    pub(super) fn hold(&self, root: &Root, name: &str) -> bool {
        self.0.iter().all(|(level, start)| starts(root, name, *level) == Some(*start))
    }
}

/// Creates the links that enable or disable a service.
pub(super) fn enable(writer: &mut Writer<'_>, name: &str, enable: bool, rules: &Priorities) -> Result<(), Raised> {
    if !writer.root.target_entry(UPDATE).is_ok_and(|entry| entry.is_some()) {
        return Err(Raised::new(ErrorKind::Service, format!("{UPDATE} does not exist!")));
    }
    // The first call creates links in all levels that the script names; the second call then changes them.
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
