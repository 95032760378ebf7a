//! Programs that a run does not cut off: a package manager that is ended in the middle leaves packages half installed.
//!
//! Anybody may name a program `dpkg`. So only processes that root started count. A setuid program does not count, because it
//! keeps the real user of the process that started it.

use rustix::process::Pid;
use std::path::{Path, PathBuf};

/// Package managers, by the names under which the kernel knows their processes.
const PACKAGE_MANAGERS: [&str; 11] =
    ["apt", "apt-get", "aptitude", "dnf", "dnf5", "dpkg", "microdnf", "rpm", "tdnf", "yum", "zypper"];

/// Returns the package manager that runs in a group of processes, as `apt-get (process 123)`.
pub(super) fn package_manager(group: Pid) -> Option<String> {
    let processes = std::fs::read_dir("/proc").ok()?.flatten();
    let found = processes.filter_map(|process| {
        let number: u32 = process.file_name().to_str()?.parse().ok()?;
        let status = std::fs::read_to_string(process.path().join("stat")).ok()?;
        let (name, of) = name_and_group(&status)?;
        let is_one = of == group.as_raw_nonzero().get() && PACKAGE_MANAGERS.contains(&name);
        (is_one && is_roots(&process.path())).then(|| (number, name.to_owned()))
    });
    // The lowest number is the process that started the others.
    let (number, name) = found.min()?;
    Some(format!("{name} (process {number})"))
}

/// Tells whether a process is a package manager that root started and that has not ended.
pub(super) fn is_package_manager(process: Pid) -> bool {
    let folder = PathBuf::from(format!("/proc/{}", process.as_raw_nonzero()));
    let status = std::fs::read_to_string(folder.join("stat")).unwrap_or_default();
    name_and_group(&status).is_some_and(|(name, _)| PACKAGE_MANAGERS.contains(&name)) && is_roots(&folder)
}

/// Tells whether root started a process, by its folder in `/proc`.
fn is_roots(process: &Path) -> bool {
    let status = std::fs::read_to_string(process.join("status")).unwrap_or_default();
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    users.and_then(|users| users.split_whitespace().next()) == Some("0")
}

/// Parses the name and process group from the kernel's `stat` line: `12 (name) S 1 12 ..`. Returns `None` for a dead process.
fn name_and_group(stat: &str) -> Option<(&str, i32)> {
    let (head, rest) = stat.rsplit_once(") ")?;
    let (_, name) = head.split_once(" (")?;
    let mut fields = rest.split(' ');
    let is_dead = matches!(fields.next()?, "Z" | "X");
    let group = fields.nth(1)?.parse().ok()?;
    let name = Path::new(name).file_name()?.to_str()?;
    (!is_dead).then_some((name, group))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt as _;

    #[test]
    fn a_process_is_read_from_the_kernels_line() {
        let check = |stat: &str, expected: Option<(&str, i32)>| assert_eq!(name_and_group(stat), expected, "{stat}");
        check("12 (apt-get) S 1 12 12 0 -1 4194560", Some(("apt-get", 12)));
        // Whoever names a process may put anything into the name.
        check("12 (a) S 1 99 () S 1 7 12 0", Some(("a) S 1 99 (", 7)));
        check("12 (dpkg) Z 1 12 12 0", None);
        check("", None);
    }

    /// A policy's own user could keep its command beyond all limits, and the run's lock with it.
    #[test]
    fn a_program_with_the_name_of_a_package_manager_is_none_unless_root_started_it() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        for name in ["dpkg", "apt-get"] {
            let program = folder.path().join(name);
            std::fs::copy("/bin/sleep", &program).unwrap();
            let check = |uid: u32, expected: bool| {
                let mut command = std::process::Command::new(&program);
                let mut child = command.arg("1000").uid(uid).process_group(0).spawn().unwrap();
                let group = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
                let found = package_manager(group);
                let is_one = is_package_manager(group);
                child.kill().unwrap();
                child.wait().unwrap();
                assert_eq!((found.is_some(), is_one), (expected, expected), "{name} of user {uid}: {found:?}");
            };
            check(65534, false);
            check(0, true);
        }
    }
}
