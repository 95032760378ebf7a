//! The commands of the book: each page's are run in a fresh machine, in order, and print what the page shows.
//!
//! `cargo xtask docs --bless` writes what they print into the pages.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking, and helpers are no tests to the lints"
)]

use specs::Program;
use specs::book::{Page, Reader, follow};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The name of the environment variable that has the pages written anew.
const BLESS: &str = "WRUN_BLESS_BOOK";

/// The name of the environment variable that names the only page to try.
const ONLY: &str = "WRUN_BOOK_PAGE";

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").canonicalize().unwrap()
}

/// The pages with commands, in the order of their names; the page of the repository is one of them. `WRUN_BOOK_PAGE` names one
/// page, for whoever writes it.
fn pages() -> Vec<Page> {
    let mut pages = specs::book::pages().unwrap_or_else(|error| panic!("{error:#}"));
    let only = std::env::var(ONLY).ok();
    let is_wanted = |page: &Page| only.as_ref().is_none_or(|only| page.path.ends_with(only));
    pages.retain(|page| page.has_commands() && is_wanted(page));
    pages
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
fn problems_of(page: &Page) -> Vec<String> {
    let program = Program::new().unwrap();
    let runtimes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/share/wrun");
    let runtimes = std::env::var_os("WRUN_RUNTIME_DIR").map_or(runtimes, PathBuf::from).canonicalize().unwrap();
    let root = Reader::root(page).unwrap();
    let mut reader = Reader::new(&root, page, &program.executable().canonicalize().unwrap(), &runtimes).unwrap();
    let followed = follow(page, &mut reader).unwrap_or_else(|error| panic!("{error:#}"));
    if std::env::var_os(BLESS).is_some() && !followed.outputs.is_empty() {
        std::fs::write(&page.path, page.with_outputs(&followed.outputs)).unwrap();
    }
    followed.problems
}

/// Follows some pages and fails with all that differed.
fn check(pages: &[Page]) {
    assert!(!pages.is_empty() || std::env::var_os(ONLY).is_some(), "no page has commands");
    let problems: Vec<String> = pages.iter().flat_map(problems_of).collect();
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

/// Reads the examples of some kind with what reads the real thing; returns how many there are.
fn examples(kind: &str, read: impl Fn(&str) -> Result<(), String>) -> usize {
    let mut count = 0;
    for page in specs::book::pages().unwrap_or_else(|error| panic!("{error:#}")) {
        for example in page.examples.iter().filter(|example| example.kind == kind) {
            let place = page.place(example.line);
            read(&example.text).unwrap_or_else(|error| panic!("{place}: as {kind}: {error}"));
            count += 1;
        }
    }
    count
}

/// What a command that reads an example says, unless it succeeds.
fn refused(program: &Program, arguments: &[&str]) -> Result<(), String> {
    let ran = program.run(arguments).unwrap();
    if ran.code == Some(0) { Ok(()) } else { Err(ran.text()) }
}

/// Writes an example into a folder of the program's.
fn written(program: &Program, name: &str, text: &str) -> String {
    let path = program.configuration().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// A `policy.toml`, or a part of one.
fn policy_toml(program: &Program, text: &str) -> Result<(), String> {
    let head = if text.contains("run_list") { "" } else { "name = \"web\"\nrun_list = [\"web\"]\n" };
    written(program, "policy/policy.toml", &format!("{head}{text}"));
    author::needs_resolving(&program.configuration().join("policy")).map(drop).map_err(|error| error.to_string())
}

/// A Policyfile, or a part of one. Its words are evaluated; its sources are not there, and the first one is told.
fn policyfile(program: &Program, text: &str) -> Result<(), String> {
    let head = if text.contains("run_list") { "" } else { "name 'web'\nrun_list 'web'\n" };
    let file = written(program, "policy/Policyfile.rb", &format!("{head}{text}"));
    let said = program.run(&["policy", "install", &file]).unwrap().text();
    let is_source =
        said.contains(": include_policy \"base\": the provided path ../platform/base.lock.json does not exist");
    if is_source && !said.contains("SyntaxError") { Ok(()) } else { Err(said) }
}

/// What all machines of a policy's tests have in common.
fn test_case(program: &Program, text: &str) -> Result<(), String> {
    let policy = program.configuration().join("tested").display().to_string();
    refused(program, &["policy", "new", "--ruby", &policy])?;
    written(program, "tested/tests/case.toml", text);
    refused(program, &["policy", "test", &policy, "--update"])
}

/// A part of a file of the sources, which is compiled and run there.
fn part_of(file: &str, text: &str) -> Result<(), String> {
    let whole = std::fs::read_to_string(docs().with_file_name("").join(file)).map_err(|error| error.to_string())?;
    if whole.contains(text) { Ok(()) } else { Err(format!("{file} has no such lines:\n{text}")) }
}

#[test]
fn examples_are_read_by_what_reads_the_real_thing() {
    let program = Program::new().unwrap();
    refused(&program, &["node", "create", "n"]).unwrap();
    let grants = |text: &str| {
        // A part of a policy's table, or what its author asks for under the same keys.
        let table = text.replace("[needs]", "[policy.example]");
        let table = if table.contains("[policy.") { table } else { format!("[policy.example]\n{table}") };
        grants::Grants::parse(&table, "grants.toml").map(drop).map_err(|error| error.to_string())
    };
    let settings = |text: &str| {
        let file = written(&program, "example.toml", &text.replace("{{#include wrun.toml}}", ""));
        refused(&program, &["config", "show", "--config", &file])
    };
    let layer = |text: &str| refused(&program, &["layer", "add", &written(&program, "layer.toml", text)]);
    let json =
        |text: &str| serde_json::from_str::<serde_json::Value>(text).map(drop).map_err(|error| error.to_string());
    const RUST: &str = "policies/monitoring/tests/collectd.rs";
    let counts = [
        examples("grants", grants),
        examples("settings", settings),
        examples("policy.toml", |text| policy_toml(&program, text)),
        examples("Policyfile", |text| policyfile(&program, text)),
        examples("layer", layer),
        examples("tests/case.toml", |text| test_case(&program, text)),
        examples("JSON", json),
        examples(&format!("part of {RUST}"), |text| part_of(RUST, text)),
    ];
    let pages = specs::book::pages().unwrap();
    let all: usize = pages.iter().map(|page| page.examples.len()).sum();
    assert!(!counts.contains(&0) && counts.iter().sum::<usize>() == all, "{counts:?} of {all} examples were read");
}
