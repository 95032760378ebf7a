//! What shells offer for a word that is being typed, asked in the shells themselves.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, and helpers are not tests to the lints")]

use specs::Program;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Asks bash's own function for the completions of the last word.
const BASH: &str = "eval \"$(wrun completions bash)\"\nCOMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1)) COMP_TYPE=9\n\
                    _clap_complete_wrun wrun \"${@: -1}\" \"\" 2> /dev/null\nprintf '%s\\n' \"${COMPREPLY[@]}\"";

/// The same in zsh, which shows them by `_describe`.
const ZSH: &str = "compdef() { }\n_describe() { print -rl -- \"${(@P)3}\" }\neval \"$(wrun completions zsh)\"\n\
                   words=(\"$@\") CURRENT=$#\n_clap_dynamic_completer_wrun";

const FISH: &str = "wrun completions fish | source; complete -C \"$argv\"";

/// The name of a run.
const RUN: &str = "20261101T080000.000Z-00000000";

/// Names that a shell would carry out as commands.
const HOSTILE: [&str; 4] = ["a;touch pwned", "$(touch pwned)", "`touch pwned`", "a b"];

/// The shells of this machine.
fn shells() -> Vec<&'static str> {
    let is_there = |shell: &&str| Path::new("/usr/bin").join(shell).exists();
    ["bash", "zsh", "fish"].into_iter().filter(is_there).collect()
}

/// A program with runs, policies and a node. Some attributes, files and policies have hostile names.
fn program() -> Program {
    let program = Program::new().unwrap();
    let folder = program.configuration();
    for name in ["core", "web"].iter().chain(&HOSTILE) {
        fs::create_dir_all(folder.join("policies")).unwrap();
        fs::write(folder.join("policies").join(format!("{name}.wasm")), "").unwrap();
        fs::write(folder.join(format!("{name}.file")), "").unwrap();
    }
    fs::write(folder.join("grants.toml"), "[policy.mail]\n[policy.\"a;touch pwned\"]\n").unwrap();
    let settings = format!("policies = {:?}\ngrants = {:?}\n", folder.join("policies"), folder.join("grants.toml"));
    fs::write(folder.join("wrun.toml"), settings).unwrap();
    let run = program.state().join("runs").join(RUN);
    fs::create_dir_all(&run).unwrap();
    fs::write(run.join("run.json"), "{}").unwrap();
    let _ = program.run(&["node", "create", "n1"]).unwrap().expect_code(0).unwrap();
    let attributes = ["ntp.servers=1", "ntp.pool=2", "site.title=x", "a;touch pwned=1", "$(touch pwned)=1"];
    let _ = program.run(&[&["node", "attribute", "set"][..], &attributes].concat()).unwrap().expect_code(0).unwrap();
    program
}

/// The words that a shell offers for the last of these, sorted.
fn offered(program: &Program, shell: &str, words: &[&str]) -> Vec<String> {
    let mut command = Command::new(shell);
    match shell {
        "bash" => command.args(["--norc", "-c", BASH, "sh"]).args(words),
        "zsh" => command.args(["-f", "-c", ZSH, "sh"]).args(words),
        _ => command.args(["--no-config", "-c", FISH]).args([words.join(" ")]),
    };
    let folder = program.executable().parent().unwrap().display().to_string();
    command.env_clear().envs(program.environment()).env("PATH", format!("{folder}:/usr/bin:/bin"));
    let output = command.current_dir(program.configuration()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut all: Vec<_> = text.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect();
    all.retain(|word| !word.is_empty() && !word.starts_with('-'));
    all.sort();
    assert!(!program.configuration().join("pwned").exists(), "{shell} {words:?}: {all:?}");
    all
}

#[test]
fn runs_attributes_and_policies_are_offered_in_real_shells() {
    let program = program();
    assert!(!shells().is_empty());
    for shell in shells() {
        for (words, expected) in [
            (&["run", "show", "2026"][..], &[RUN][..]),
            (&["run", "diff", ""], &[RUN]),
            (&["run", "diff", RUN, "2"], &[RUN]),
            (&["grants", "allow", "--from-run", "2026"], &[RUN]),
            (&["node", "show", "nt"], &["ntp", "ntp.pool", "ntp.servers"]),
            (&["node", "explain", "ntp.s"], &["ntp.servers"]),
            (&["node", "show", "-a", "site.t"], &["site.title"]),
            (&["converge", "--policy-name", ""], &["core", "mail", "web"]),
            (&["converge", "--policy-name", "core,w"], &["core,web"]),
            (&["grants", "allow", "--last", "--policy-name", "web,ma"], &["web,mail"]),
            (&["converge", "--policy-name", "web,"], &["web,core", "web,mail"]),
            (&["converge", "--policy-name", "web,web"], &[]),
            (&["resources", "tem"], &["template"]),
            (&["policy", "show", "we"], &["web", "web.file"]),
            (&["policy", "show", "--policy", "c"], &["core"]),
            (&["converge", "--format", ""], &["doc", "json", "minimal", "ndjson"]),
            (&["run", "list", "--format", ""], &["doc", "json"]),
            (&["converge", "--log-level", "d"], &["debug"]),
        ] {
            let typed = [&["wrun"][..], words].concat();
            assert_eq!(offered(&program, shell, &typed), expected, "{shell}: {typed:?}");
        }
    }
}

/// A shell writes what is offered into the line as it is, and runs it with that line.
#[test]
fn names_that_mean_something_to_a_shell_are_not_offered() {
    let program = program();
    for shell in shells() {
        for words in [
            &["node", "show", ""][..],
            &["node", "explain", "a"],
            &["policy", "show", ""],
            &["policy", "show", "a"],
            &["converge", "--policy-name", "a"],
            &["converge", "--grants", "a"],
            &["converge", "--grants", ""],
            &["grants", "allow", "--from-run", ""],
        ] {
            let typed = [&["wrun"][..], words].concat();
            let all = offered(&program, shell, &typed);
            let is_plain =
                |word: &String| word.chars().all(|letter| letter.is_alphanumeric() || "._-/,".contains(letter));
            assert!(all.iter().all(is_plain), "{shell}: {typed:?} {all:?}");
        }
    }
}
