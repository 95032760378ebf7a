//! Checks the statements of the map in ARCHITECTURE.md against the sources. Every crate must have a line. Resource types may
//! be named only in their own crates. The program must not contain decisions, and libraries must not change their process.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::targets;
use crate::checkout;

/// Crates that may contain the names of built-in resource types.
const TYPE_ROOMS: [&str; 2] = ["providers", "schema"];

/// Names of types that are also ordinary words. They count only if the line also contains the word `kind`.
const ORDINARY_WORDS: [&str; 28] = [
    "alternatives",
    "bash",
    "breakpoint",
    "cron",
    "csh",
    "directory",
    "execute",
    "file",
    "git",
    "group",
    "hostname",
    "ksh",
    "link",
    "locale",
    "log",
    "mount",
    "ohai",
    "package",
    "perl",
    "python",
    "reboot",
    "ruby",
    "script",
    "service",
    "sudo",
    "sysctl",
    "timezone",
    "user",
];

/// Files of other crates that may name types, each with the reason.
const NAMES_TYPES: [(&str, &str); 5] = [
    ("host/author/src/check/", "the linter of `cookbook check` judges types by what they need"),
    ("host/author/src/policy/sources.rs", "finds the files that a cookbook's source asks for"),
    ("host/author/src/policy/checks.rs", "says which file a template is looked for in"),
    ("host/machine/src/command/failure.rs", "accounts are of two kinds: users and groups"),
    ("host/machine/src/command/start.rs", "accounts are of two kinds: users and groups"),
];

/// The program's files and folders: arguments, settings, printer, signals, and one file per command. A new top-level file
/// probably contains a decision that belongs in another crate.
const PROGRAM: [&str; 19] = [
    "activity.rs",
    "arguments",
    "arguments.rs",
    "commands",
    "commands.rs",
    "exit.rs",
    "format",
    "format.rs",
    "logging",
    "logging.rs",
    "main.rs",
    "printer.rs",
    "program.rs",
    "settings",
    "settings.rs",
    "signals.rs",
    "table.rs",
    "terminal",
    "terminal.rs",
];

/// The program's source files that may access files or start programs, each with the reason.
const PROGRAM_TOUCHES: [(&str, &str); 13] = [
    ("host/wrun/src/commands/agent/signals.rs", "makes the sockets by which signals end the agent's sleep"),
    ("host/wrun/src/commands/agent.rs", "makes the command of a run"),
    ("host/wrun/src/commands/completions.rs", "writes manual pages"),
    ("host/wrun/src/commands/converge/handlers.rs", "starts the operator's handlers"),
    ("host/wrun/src/commands/editor.rs", "starts the operator's editor, and reads what was written"),
    ("host/wrun/src/commands/grants/edit.rs", "writes what the operator agreed to"),
    ("host/wrun/src/commands/node/whole.rs", "reads the file that an operator names"),
    ("host/wrun/src/commands/policy/dev.rs", "watches an author's folder"),
    ("host/wrun/src/commands/policy/test.rs", "reads and writes the snapshots of a policy's author"),
    ("host/wrun/src/logging.rs", "opens the log"),
    ("host/wrun/src/logging/log_file.rs", "writes to the log's file"),
    ("host/wrun/src/settings.rs", "reads the settings' file"),
    ("host/wrun/src/signals.rs", "asks which signals are ignored"),
];

/// Items that providers and the program's other files may not name. Providers may name the type `File`, since they get
/// handles from `machine`.
const TOUCHES: [&str; 5] = ["std::fs", "std::process::Command", "std::net", "rustix::fs", "nix::"];

/// Crates that access files only through `plain_files::Folder`, which follows no links. They may name the type `File`.
const WITHOUT_PATHS: [&str; 3] = ["artifact", "repository", "state"];

/// Items that open, create, or remove files in other ways.
const OTHER_WAYS: [&str; 7] = ["cap_std", "std::fs", "rustix::fs::open", "openat", "mkdirat", "unlinkat", "renameat"];

/// Calls with an effect on the whole process. Libraries may not use them; the exceptions are in [`WHOLE_PROCESS`].
const PROCESS_EFFECTS: [&str; 7] = [
    "mem::forget",
    "set_global_default",
    "env::set_var",
    "env::set_current_dir",
    "process::exit",
    "process::umask",
    "panic::set_hook",
];

/// Files that may affect the whole process or one of its threads, each with the reason.
const WHOLE_PROCESS: [(&str, &str); 6] = [
    ("host/assemble/src/thread.rs", "the mask of a run's own thread"),
    ("host/machine/src/mask.rs", "the mask of a run's own thread"),
    ("host/machine/src/command/start.rs", "in the child, before its program starts"),
    ("host/machine/src/command/confine/launcher.rs", "a process of its own"),
    ("host/wrun/src/logging.rs", "the program's log"),
    ("host/wrun/src/commands/converge/running.rs", "the program ends"),
];

/// Runs the checks on all crates of the host.
pub(super) fn check() -> Result<Vec<String>> {
    let host = checkout::root().join("host");
    let mut problems = rooms_on_the_map(&host)?;
    let listed = NAMES_TYPES.iter().chain(&PROGRAM_TOUCHES).chain(&WHOLE_PROCESS);
    let gone = listed.filter(|(path, _)| path.ends_with(".rs") && !checkout::root().join(path).exists());
    problems.extend(gone.map(|(path, reason)| format!("{path} ({reason}) does not exist: take it out of the list")));
    let types: BTreeSet<&str> = schema::builtin().map(|one| one.name).collect();
    for path in targets::sources(&host) {
        let inside = path.strip_prefix(checkout::root()).unwrap_or(&path).to_owned();
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        problems.extend(in_file(&inside, &text, &types));
    }
    Ok(problems)
}

/// Returns the crates without a line on the map, and the lines without a crate.
fn rooms_on_the_map(host: &Path) -> Result<Vec<String>> {
    let mut rooms = BTreeSet::new();
    for entry in std::fs::read_dir(host)? {
        rooms.insert(entry?.file_name().to_string_lossy().into_owned());
    }
    let page = std::fs::read_to_string(checkout::root().join("ARCHITECTURE.md"))?;
    let mut problems = map_problems(&page, &rooms);
    let gone = source_files(&page).filter(|path| !host.join(path).exists() && !checkout::root().join(path).exists());
    problems.extend(gone.map(|path| format!("ARCHITECTURE.md names {path}, which does not exist")));
    Ok(problems)
}

/// Returns the source files that a page names with their folders, as in `grants/src/facts.rs`. Names in capitals are
/// placeholders.
fn source_files(page: &str) -> impl Iterator<Item = &str> {
    let quoted = page.split('`').skip(1).step_by(2);
    let is_plain = |path: &str| !path.contains(|sign: char| sign.is_whitespace() || sign == '{' || sign.is_uppercase());
    quoted.filter(move |path| path.ends_with(".rs") && path.contains('/') && is_plain(path))
}

/// Checks the map, which is the first code block of the page. Below `host/`, each line with an indentation of two begins with
/// a crate.
fn map_problems(page: &str, rooms: &BTreeSet<String>) -> Vec<String> {
    let below_host = page.lines().skip_while(|line| !line.starts_with("host/")).skip(1);
    let lines = below_host.take_while(|line| line.starts_with("  "));
    let named: BTreeSet<String> =
        lines.filter_map(|line| Some(line.split_whitespace().next()?.strip_suffix('/')?.to_owned())).collect();
    let missing = rooms.difference(&named).map(|room| format!("ARCHITECTURE.md's map has no line for host/{room}"));
    let gone =
        named.difference(rooms).map(|room| format!("ARCHITECTURE.md's map names host/{room}, which does not exist"));
    missing.chain(gone).collect()
}

/// Returns the forbidden names in one source file. `path` is relative to the checkout. Tests may contain any names.
fn in_file(path: &Path, text: &str, types: &BTreeSet<&str>) -> Vec<String> {
    let shown = path.display().to_string();
    let mut parts = shown.split('/').skip(1);
    let (Some(room), Some("src"), Some(top)) = (parts.next(), parts.next(), parts.next()) else { return Vec::new() };
    let is_test = shown.ends_with("tests.rs") || shown.contains("/tests/");
    let mut problems = Vec::new();
    if room == "wrun" && !PROGRAM.contains(&top) {
        problems.push(format!(
            "{shown}: the program has arguments, settings, a printer and commands; decisions have rooms"
        ));
    }
    if is_test {
        return problems;
    }
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    for (number, line) in code.lines().enumerate() {
        let line = line.split("//").next().unwrap_or_default();
        let mut report = |what: String| problems.push(format!("{shown}:{}: {what}", number + 1));
        if !TYPE_ROOMS.contains(&room)
            && !is_listed(&NAMES_TYPES, &shown)
            && let Some(name) = named_type(line, types)
        {
            report(format!("names the resource type {name}, which only {} do", TYPE_ROOMS.join(" and ")));
        }
        if room == "wrun" && !is_listed(&PROGRAM_TOUCHES, &shown) || room == "providers" {
            let line = if room == "providers" { line.replace("std::fs::File", "") } else { line.to_owned() };
            TOUCHES.iter().filter(|name| line.contains(**name)).for_each(|name| report(format!("names {name}")));
        }
        if WITHOUT_PATHS.contains(&room) {
            let line = line.replace("std::fs::File", "");
            let other = OTHER_WAYS.iter().find(|name| line.contains(**name));
            other
                .into_iter()
                .for_each(|name| report(format!("names {name}: use plain_files::Folder, which follows no link")));
        }
        if !is_listed(&WHOLE_PROCESS, &shown) {
            let effects = PROCESS_EFFECTS.iter().filter(|effect| line.contains(**effect));
            effects.for_each(|effect| report(format!("{effect} is felt by the whole process")));
        }
    }
    problems
}

/// Returns whether a file is in a list of files and folders.
fn is_listed(list: &[(&str, &str)], path: &str) -> bool {
    list.iter().any(|(listed, _)| path == *listed || (listed.ends_with('/') && path.starts_with(listed)))
}

/// Returns the resource type that a line of code contains in quotes, if the word has no other meaning there.
fn named_type<'l>(line: &'l str, types: &BTreeSet<&str>) -> Option<&'l str> {
    let quoted = line.split('"').skip(1).step_by(2);
    let is_ordinary = |word: &str| ORDINARY_WORDS.contains(&word);
    let speaks_of_kinds = line.contains("kind");
    quoted.into_iter().find(|word| types.contains(word) && (speaks_of_kinds || !is_ordinary(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_has_a_line_for_every_room() {
        let page = "text\nhost/\n  text/   words\n  gone/   no\n    more\nguests/\n  sdk/\n";
        let rooms = ["text", "new"].map(str::to_owned).into();
        let expect = [
            "ARCHITECTURE.md's map has no line for host/new",
            "ARCHITECTURE.md's map names host/gone, which does not exist",
        ];
        assert_eq!(map_problems(page, &rooms), expect);
    }

    #[test]
    fn a_page_names_source_files_by_their_folders() {
        let page = "see `grants/src/facts.rs`, `ready.rs`, `providers/src/resources/TYPE.rs` and `providers/src/machine/{layer,dry}.rs`";
        assert_eq!(source_files(page).collect::<Vec<_>>(), ["grants/src/facts.rs"]);
    }

    #[test]
    fn types_are_named_where_they_live() {
        let types: BTreeSet<&str> = ["file", "template"].into();
        let check = |path: &str, text: &str, found: bool| {
            assert_eq!(!in_file(Path::new(path), text, &types).is_empty(), found, "{path}: {text}");
        };
        check("host/converge/src/runner.rs", "if kind == \"file\" {", true);
        check("host/converge/src/runner.rs", "json!({ \"file\": 1 })", false);
        check("host/converge/src/runner.rs", "f(\"template\")", true);
        check("host/converge/src/runner.rs", "// f(\"template\")", false);
        check("host/converge/src/runner.rs", "#[cfg(test)]\nf(\"template\")", false);
        check("host/converge/tests/runner.rs", "f(\"template\")", false);
        check("host/schema/src/types.rs", "f(\"template\")", false);
        check("host/providers/src/lib.rs", "f(\"template\")", false);
        check("host/author/src/policy/sources.rs", "f(\"template\")", false);
    }

    #[test]
    fn the_program_decides_nothing_and_libraries_leave_the_process_alone() {
        let found = |path: &str, text: &str| in_file(Path::new(path), text, &BTreeSet::new());
        let decision =
            "host/wrun/src/house.rs: the program has arguments, settings, a printer and commands; decisions have rooms";
        assert_eq!(found("host/wrun/src/house.rs", ""), [decision]);
        assert_eq!(found("host/wrun/src/exit.rs", "use std::fs;"), ["host/wrun/src/exit.rs:1: names std::fs"]);
        assert!(found("host/wrun/src/logging.rs", "use std::fs;").is_empty());
        let process = ["host/assemble/src/a.rs:1: mem::forget is felt by the whole process"];
        assert_eq!(found("host/assemble/src/a.rs", "std::mem::forget(x);"), process);
        assert!(found("host/providers/src/a.rs", "std::fs::File::from(handle)").is_empty());
        assert_eq!(found("host/providers/src/a.rs", "std::fs::read(p)"), ["host/providers/src/a.rs:1: names std::fs"]);
        let followed = |name: &str, line: &str| {
            let expected =
                format!("host/state/src/a.rs:1: names {name}: use plain_files::Folder, which follows no link");
            assert_eq!(found("host/state/src/a.rs", line), [expected]);
        };
        followed("std::fs", "use std::fs::OpenOptions;");
        followed("cap_std", "use cap_std::fs::Dir;");
        followed("openat", "use rustix::fs::{Mode, openat};");
        followed("rustix::fs::open", "let opened = rustix::fs::open(path, flags, mode);");
        assert!(found("host/artifact/src/a.rs", "use std::fs::File;").is_empty());
        assert!(found("host/repository/src/a.rs", "rustix::fs::flock(file, operation)").is_empty());
    }
}
