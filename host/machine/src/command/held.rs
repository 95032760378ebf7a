//! Programs that nobody cuts off: a package manager that is ended in the middle leaves packages half installed.

use rustix::process::Pid;
use std::path::Path;

/// Package managers, by the names under which the kernel knows their processes.
const PACKAGE_MANAGERS: [&str; 11] =
    ["apt", "apt-get", "aptitude", "dnf", "dnf5", "dpkg", "microdnf", "rpm", "tdnf", "yum", "zypper"];

/// The package manager that runs in a group of processes, as `apt-get (process 123)`.
pub(super) fn package_manager(group: Pid) -> Option<String> {
    let processes = std::fs::read_dir("/proc").ok()?.flatten();
    let found = processes.filter_map(|process| {
        let number: u32 = process.file_name().to_str()?.parse().ok()?;
        let status = std::fs::read_to_string(process.path().join("stat")).ok()?;
        let (name, of) = name_and_group(&status)?;
        let is_one = of == group.as_raw_nonzero().get() && PACKAGE_MANAGERS.contains(&name);
        is_one.then(|| (number, name.to_owned()))
    });
    // The one that started the others.
    let (number, name) = found.min()?;
    Some(format!("{name} (process {number})"))
}

/// Name and process group in the words of the kernel's `stat`: `12 (name) S 1 12 ..`; the dead no longer count.
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

    #[test]
    fn a_process_is_read_from_the_kernels_line() {
        let check = |stat: &str, expected: Option<(&str, i32)>| assert_eq!(name_and_group(stat), expected, "{stat}");
        check("12 (apt-get) S 1 12 12 0 -1 4194560", Some(("apt-get", 12)));
        // Whoever names a process may put anything into the name.
        check("12 (a) S 1 99 () S 1 7 12 0", Some(("a) S 1 99 (", 7)));
        check("12 (dpkg) Z 1 12 12 0", None);
        check("", None);
    }
}
