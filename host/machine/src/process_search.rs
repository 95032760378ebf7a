//! The process table, for services that nobody else can tell about.

use contract::{ErrorKind, Raised};
use std::path::Path;

/// How large a pattern may grow when it is compiled, in bytes: a guest wrote it.
const MAXIMUM_PATTERN: usize = 1 << 20;

/// How much of a process is held against a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Its whole command line, as Chef does.
    Line,
    /// Its program alone: arguments may hold others' passwords, and a pattern that matches or does not could find them out
    /// letter by letter.
    Program,
}

/// Whether any process of the root matches. The kernel's threads have no command line and are named in brackets.
pub fn any_matches(pattern: &str, scope: Scope, root: &Path) -> Result<bool, Raised> {
    let pattern = regex::RegexBuilder::new(pattern).size_limit(MAXIMUM_PATTERN).build().map_err(|error| {
        let message = format!("pattern {pattern:?}: {}", error.to_string().lines().last().unwrap_or_default());
        Raised::new(ErrorKind::InvalidPattern, message)
    })?;
    let whole = root == Path::new("/");
    let root = std::fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
    let own = std::process::id().to_string();
    let Ok(entries) = std::fs::read_dir("/proc") else { return Ok(false) };
    let mut processes = entries.flatten().filter(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.bytes().all(|byte| byte.is_ascii_digit()) && name != own
    });
    Ok(processes.any(|process| {
        let folder = process.path();
        // Of another root only its own processes count; of the whole machine all.
        let is_inside = whole || std::fs::read_link(folder.join("root")).is_ok_and(|its| its.starts_with(&root));
        is_inside && looks(&folder, scope).iter().any(|text| pattern.is_match(text))
    }))
}

/// The texts that a process is known by.
fn looks(folder: &Path, scope: Scope) -> Vec<String> {
    let Ok(bytes) = std::fs::read(folder.join("cmdline")) else { return vec![] };
    let name = std::fs::read_to_string(folder.join("comm")).map(|name| name.trim_end().to_owned());
    let words = bytes.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect::<Vec<_>>();
    let line = words.join(" ").trim_end().to_owned();
    match (name, scope) {
        (Ok(name), _) if line.is_empty() => vec![format!("[{name}]")],
        (_, Scope::Line) => vec![line],
        // Who renames itself writes a whole sentence there.
        (name, Scope::Program) => line.split(' ').next().map(str::to_owned).into_iter().chain(name.ok()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_found_by_their_command_line() {
        let mut child = std::process::Command::new("sleep").arg("98.7654").spawn().unwrap();
        // The kernel lets the parent go on a moment before the child's command line can be read.
        let line = format!("/proc/{}/cmdline", child.id());
        while std::fs::read(&line).unwrap().is_empty() {
            std::thread::yield_now();
        }
        let whole = r"^sleep 98\.76\d+$";
        let found = any_matches(whole, Scope::Line, Path::new("/"));
        let elsewhere = any_matches(whole, Scope::Line, Path::new("/proc"));
        let by_argument = any_matches(r"98\.76", Scope::Program, Path::new("/"));
        let by_program = any_matches("^sleep$", Scope::Program, Path::new("/"));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found.unwrap() && !elsewhere.unwrap());
        assert!(by_program.unwrap() && !by_argument.unwrap());
        assert!(!any_matches("no such process here at all", Scope::Line, Path::new("/")).unwrap());
        assert_eq!(any_matches("(", Scope::Program, Path::new("/")).unwrap_err().kind, ErrorKind::InvalidPattern);
    }
}
