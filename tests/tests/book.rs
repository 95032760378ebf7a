//! The commands of the book: each page's are run in a fresh machine, in order, and print what the page shows.
//!
//! `cargo xtask docs --bless` writes what they print into the pages.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking, and helpers are no tests to the lints"
)]

use specs::Program;
use specs::book::{Page, Reader, Step, is_as_shown};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The name of the environment variable that has the pages written anew.
const BLESS: &str = "WRUN_BLESS_BOOK";

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").canonicalize().unwrap()
}

/// All pages with commands, in the order of their names; the page of the repository is one of them.
fn pages() -> Vec<Page> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(docs()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.push(docs().with_file_name("README.md"));
    files.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    files.sort();
    let pages = files.iter().map(|path| Page::read(path).unwrap_or_else(|error| panic!("{error:#}")));
    pages.filter(Page::has_commands).collect()
}

/// Every page, with or without commands that are run.
fn all_pages() -> Vec<PathBuf> {
    let mut files = vec![docs().with_file_name("README.md")];
    let mut folders = vec![docs()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    files.sort();
    files
}

/// Types what a page says; returns what was printed otherwise than the page shows.
fn follow(page: &Page) -> Vec<String> {
    let program = Program::new().unwrap();
    let runtimes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/share/wrun");
    let runtimes = std::env::var_os("WRUN_RUNTIME_DIR").map_or(runtimes, PathBuf::from).canonicalize().unwrap();
    let root = Reader::root(page).unwrap();
    let mut reader = Reader::new(&root, page, &program.executable().canonicalize().unwrap(), &runtimes).unwrap();
    let (mut problems, mut outputs) = (Vec::new(), Vec::new());
    let mut steps = page.steps.iter().peekable();
    while let Some(step) = steps.next() {
        match step {
            Step::File { path, content, .. } => reader.write(path, content).unwrap(),
            Step::Before { line, script } => {
                let (printed, code) = reader.run(script).unwrap();
                assert_eq!(code, 0, "{}: {printed}", page.place(*line));
            }
            Step::Command(command) => {
                let (printed, code) = reader.run(&command.text).unwrap();
                let asks = matches!(steps.peek(), Some(Step::Command(next)) if next.text == "echo $?");
                let here = page.place(command.line);
                if code != 0 && !asks {
                    problems.push(format!("{here}: `{}` fails with {code}:\n{printed}", command.text));
                }
                let shown = page.expected(command);
                if !is_as_shown(&shown, &printed) {
                    problems
                        .push(format!("{here}: `{}` prints\n{printed}--- the page shows\n{shown}---", command.text));
                    outputs.push((command.output.clone(), printed));
                }
            }
        }
    }
    if std::env::var_os(BLESS).is_some() && !outputs.is_empty() {
        std::fs::write(&page.path, page.with_outputs(&outputs)).unwrap();
    }
    problems
}

/// Follows some pages and fails with all that differed.
fn check(pages: &[Page]) {
    assert!(!pages.is_empty(), "no page has commands");
    let problems: Vec<String> = pages.iter().flat_map(follow).collect();
    assert!(problems.is_empty(), "{}\n(`cargo xtask docs --bless` writes it into the pages)", problems.join("\n"));
}

#[test]
fn pages_show_what_their_commands_print() {
    let (_, plain): (Vec<Page>, Vec<Page>) = pages().into_iter().partition(|page| page.with_compiler);
    check(&plain);
}

#[test]
fn pages_about_rust_show_what_their_commands_print() {
    let (with_compiler, _): (Vec<Page>, Vec<Page>) = pages().into_iter().partition(|page| page.with_compiler);
    check(&with_compiler);
}

/// The program's own description of one command: its subcommands and its options.
struct Description {
    subcommands: BTreeSet<String>,
    options: BTreeSet<String>,
}

impl Description {
    fn of(program: &Program, command: &[String]) -> Self {
        let mut words: Vec<&str> = command.iter().map(String::as_str).collect();
        words.push("--help");
        let help = program.run(&words).unwrap().expect_code(0).unwrap().stdout;
        let (mut subcommands, mut options) = (BTreeSet::new(), BTreeSet::new());
        let mut in_commands = false;
        for line in help.lines() {
            if !line.starts_with(' ') {
                in_commands = line == "Commands:";
            } else if in_commands && let Some(name) = line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')) {
                subcommands.extend(name.split_whitespace().next().map(str::to_owned));
            } else if line.trim_start().starts_with('-') {
                let names = line.split([' ', ',']).filter(|word| word.starts_with('-'));
                options.extend(names.map(str::to_owned));
            }
        }
        Self { subcommands, options }
    }
}

/// The commands of the program that a page names: in code within a sentence, and at the beginning of lines of blocks.
fn named_commands(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut in_block = false;
    for (at, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            in_block = !in_block;
        } else if in_block {
            let command = line.strip_prefix("$ ").unwrap_or(line);
            if command.starts_with("wrun ") {
                found.push((at + 1, command.to_owned()));
            }
        } else {
            let code = line.split('`').skip(1).step_by(2);
            found.extend(code.filter(|code| code.starts_with("wrun ")).map(|code| (at + 1, code.to_owned())));
        }
    }
    found
}

#[test]
fn commands_and_options_that_pages_name_exist() {
    let program = Program::new().unwrap();
    let mut known: BTreeMap<Vec<String>, Description> = BTreeMap::new();
    let (mut problems, mut count) = (Vec::new(), 0);
    for path in all_pages() {
        for (line, command) in named_commands(&std::fs::read_to_string(&path).unwrap()) {
            count += 1;
            let mut here: Vec<String> = Vec::new();
            let mut report = |what: String| problems.push(format!("{}:{line}: `{command}`: {what}", path.display()));
            // What follows is a remark, another command, or the options of another one.
            let typed = command.split(" #").next().unwrap_or_default();
            let words =
                typed.split_whitespace().skip(1).take_while(|word| !["--", "|", "&&", ";", "\\", ">"].contains(word));
            let mut is_argument = false;
            for word in words {
                let word = word.trim_end_matches([';', ',']);
                let description = known.entry(here.clone()).or_insert_with(|| Description::of(&program, &here));
                if word.starts_with('-') {
                    let name = word.split('=').next().unwrap_or_default();
                    if !description.options.contains(name) && name != "--" {
                        report(format!("there is no option {name}"));
                    }
                    is_argument = true;
                } else if description.subcommands.contains(word) {
                    here.push(word.to_owned());
                } else if !is_argument
                    && !description.subcommands.is_empty()
                    && description.options.len() <= 2
                    && word != ".."
                {
                    report(format!("there is no command {word}"));
                    is_argument = true;
                } else {
                    is_argument = true;
                }
            }
        }
    }
    assert!(count > 100, "the pages name {count} commands only");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Classes of errors that nobody is shown: they become something else before.
const NOT_SHOWN: [&str; 3] = ["Wrun::Assumed", "Wrun::CheckFailed", "Wrun::Unknown"];

#[test]
fn every_class_of_errors_is_explained() {
    let page = std::fs::read_to_string(docs().join("errors.md")).unwrap();
    let mut folders = vec![docs().with_file_name("host")];
    let mut missing = BTreeSet::new();
    let mut count = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                if !path.ends_with("tests") {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                for rest in text.split("\"Wrun::").skip(1) {
                    let name: String = rest.chars().take_while(|sign| sign.is_ascii_alphanumeric()).collect();
                    let class = format!("Wrun::{name}");
                    count += 1;
                    if !NOT_SHOWN.contains(&class.as_str()) && !page.contains(&format!("`{class}`")) {
                        missing.insert(class);
                    }
                }
            }
        }
    }
    assert!(count > 20, "{count} classes were found");
    assert!(missing.is_empty(), "docs/errors.md does not explain {missing:?}");
}

/// The blocks of a page in one language, each with the number of its first line.
fn blocks(text: &str, language: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        if line.starts_with("```") {
            let block: Vec<&str> =
                lines.by_ref().map(|(_, line)| line).take_while(|line| !line.starts_with("```")).collect();
            if line == format!("```{language}") {
                found.push((at + 2, block.join("\n")));
            }
        }
    }
    found
}

#[test]
fn examples_of_grants_and_settings_are_read() {
    let program = Program::new().unwrap();
    let mut count = 0;
    for page in ["grants.md", "limits.md"] {
        for (line, block) in blocks(&std::fs::read_to_string(docs().join(page)).unwrap(), "toml") {
            // A part of a policy's table, or what its author asks for under the same keys.
            let table = block.replace("[needs]", "[policy.example]");
            let table = if table.contains("[policy.") { table } else { format!("[policy.example]\n{table}") };
            let place = format!("{page}:{line}");
            grants::Grants::parse(&table, &place).unwrap_or_else(|error| panic!("{place}: {error}"));
            count += 1;
        }
    }
    for page in ["settings.md", "reports.md"] {
        for (line, block) in blocks(&std::fs::read_to_string(docs().join(page)).unwrap(), "toml") {
            let file = program.configuration().join("example.toml");
            std::fs::write(&file, block.replace("{{#include wrun.toml}}", "")).unwrap();
            let read = program.run(&["config", "show", "--config", &file.display().to_string()]).unwrap();
            assert_eq!(read.code, Some(0), "{page}:{line}: {}", read.text());
            count += 1;
        }
    }
    assert!(count > 6, "{count} examples were found");
}
