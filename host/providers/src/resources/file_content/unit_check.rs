//! `verify :systemd_unit`: checks whether systemd accepts a unit's new content without complaint.
//!
//! `systemd-analyze` is a large program, and the policy wrote the text. It runs other programs that the text names (`man`,
//! for `Documentation=man:`). It also reports whether each named path exists, and errors in other units. So three limits
//! apply. It checks only files in systemd's own folders, which only users with the power of root may change. It runs
//! confined, like commands of a dry run. And the policy sees its messages about this unit, but not those about other files.

use crate::plan::Writer;
use contract::{ErrorKind, Raised};
use machine::command::{Answer, Launch, MAX_PLACED, MISSING_PROGRAM, PLACED};
use machine::root::StagedFile;
use std::io::Read as _;

/// The folders of systemd's unit files, both as written and with links resolved.
const FOLDERS: [&str; 10] = [
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
    "/etc/systemd/user",
    "/run/systemd/user",
    "/usr/local/lib/systemd/user",
    "/usr/lib/systemd/user",
    "/lib/systemd/user",
];

/// The hint for a policy if systemd also complained about other files.
const MORE: &str = "systemd-analyze says more, about other files; `systemd-analyze verify` shows it to an operator";

/// Returns the name of a unit from the path of its file.
///
/// # Errors
/// The file is not in one of systemd's folders.
pub(super) fn unit_at(path: &str) -> Result<String, Raised> {
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let known = parts
        .split_last()
        .filter(|(_, folder)| !parts.contains(&"..") && FOLDERS.contains(&format!("/{}", folder.join("/")).as_str()));
    known.map(|(name, _)| (*name).to_owned()).ok_or_else(|| {
        let message = format!("{path} cannot be verified by :systemd_unit: it is not in a folder of systemd's units");
        Raised::new(ErrorKind::InvalidValue, message)
            .with_hint("verify a file elsewhere by a command, as in verify 'systemd-analyze verify --man=no %{path}'")
    })
}

/// Runs `systemd-analyze`. As in Chef, the check is skipped if systemd is not installed.
///
/// # Errors
/// The program cannot be run; the staged file is not in one of systemd's folders.
pub(super) fn ask(writer: &mut Writer<'_>, staged: &StagedFile, name: &str) -> Result<Result<(), String>, Raised> {
    let real = staged.path();
    unit_at(&real)?;
    let cannot = |why: &str| {
        let message = format!("systemd-analyze cannot be asked about {name}: {why}");
        Raised::new(ErrorKind::InvalidValue, message).with_hint("`verify false` writes the unit unasked")
    };
    let mut content = Vec::new();
    let file = staged.content().map_err(|error| cannot(&error.to_string()))?;
    file.take(MAX_PLACED + 1).read_to_end(&mut content).map_err(|error| cannot(&error.to_string()))?;
    if content.len() as u64 > MAX_PLACED {
        return Err(cannot(&format!("it is larger than {MAX_PLACED} bytes")));
    }
    let placed = format!("{PLACED}/{name}");
    let launch = Launch::program("systemd-analyze", ["verify", "--man=no", "--", &placed])
        .environment("SYSTEMD_LOG_TARGET", "console")
        .placed(name, content)
        .scratch("run");
    match writer.ask(&launch) {
        Answer::Ended(outcome) if outcome.code == Some(0) => Ok(Ok(())),
        Answer::Ended(outcome) => Ok(Err(about_unit(&String::from_utf8_lossy(&outcome.errors), name))),
        Answer::Unknown(why) if why == MISSING_PROGRAM => Ok(Ok(())),
        Answer::Unknown(why) => Err(cannot(&why)),
    }
}

/// Returns the lines of an answer that concern this unit's text and contain no path.
fn about_unit(errors: &str, name: &str) -> String {
    let placed = format!("{PLACED}/{name}:");
    let beside = format!("{name}: ");
    let mut kept = String::new();
    let mut is_more = false;
    for line in errors.lines() {
        let own = line.strip_prefix(&placed).map(|rest| format!("{name}:{rest}"));
        match own.or_else(|| line.starts_with(&beside).then(|| line.to_owned())) {
            Some(own) if !own.contains('/') => kept.extend([own.as_str(), "\n"]),
            _ => is_more = true,
        }
    }
    if is_more {
        kept.extend([MORE, "\n"]);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_systemds_own_folders_are_units() {
        for (path, unit) in [
            ("/etc/systemd/system/a.service", Some("a.service")),
            ("//etc/./systemd/system/a@.service", Some("a@.service")),
            ("/lib/systemd/system/a.timer", Some("a.timer")),
            ("/etc/systemd/user/a.timer", Some("a.timer")),
            ("/srv/app/a.service", None),
            ("/etc/systemd/system/../../../srv/app/a.service", None),
            ("/srv/etc/systemd/system/a.service", None),
            ("/etc/systemd/system.control/a.service", None),
            ("/home/app/.config/systemd/user/a.service", None),
            ("a.service", None),
            ("/etc/systemd/system/..", None),
            ("/", None),
        ] {
            assert_eq!(unit_at(path).ok().as_deref(), unit, "{path}");
        }
    }

    #[test]
    fn a_policy_hears_nothing_of_other_files() {
        let said = "/tmp/.wrun-asked/a.service:3: Unknown key 'Foo' in section [Unit], ignoring.\n\
                    a.service: Command /root/x is not executable: No such file or directory\n\
                    /etc/systemd/system/b.service.d/secret.conf:2: Invalid environment assignment, ignoring: hunter2\n\
                    a.service: Service has no ExecStart= setting. Refusing.\n";
        let expect = "a.service:3: Unknown key 'Foo' in section [Unit], ignoring.\n\
                      a.service: Service has no ExecStart= setting. Refusing.\n";
        assert_eq!(about_unit(said, "a.service"), format!("{expect}{MORE}\n"));
        let only_own = "/tmp/.wrun-asked/a.service:3: Assignment outside of section. Ignoring.\n";
        assert_eq!(about_unit(only_own, "a.service"), "a.service:3: Assignment outside of section. Ignoring.\n");
    }
}
