//! `wrun policy test`: compares the resources that a policy's recipes declare on several machines with saved snapshots.
//!
//! Each facts file describes a machine. A snapshot contains the declared resources, the result of a dry run, and the contents
//! of files. Times and line numbers are left out.

use super::test_files::{case, left_over, machines, misspelt};
use super::test_server::prepare;
use crate::arguments::TestArguments;
use crate::exit::Exit;
use crate::printer::{Hinted, Printer, Tone};
use anyhow::{Context as _, bail};
use assemble::{TestCase, TestOutcome};
use contract::Stop;
use serde_json::{Value, json};
use similar::TextDiff;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;
use text::{escape, escape_line, shell_word};

/// Largest size of a snapshot, in bytes.
const MAX_SNAPSHOT: u64 = 32 << 20;

/// Time for the search of the differences of two snapshots. After it, the differences are correct, but longer.
const DIFFERENCE_TIME: Duration = Duration::from_secs(5);

/// The folder of snapshots in the policy's folder.
const SNAPSHOTS: &str = "tests/snapshots";

/// Keys with values that change from run to run, or when lines are inserted above.
const UNSTABLE: [&str; 2] = ["seconds", "line"];

/// Keys of an error that a snapshot contains.
const OF_ERROR: [&str; 4] = ["class", "message", "hint", "origin"];

pub(super) fn run(arguments: &TestArguments, printer: Printer) -> anyhow::Result<Exit> {
    test(arguments, printer).map_err(|error| hinted(error, &arguments.folder))
}

/// The same error; where the system refused something, with what to do about it.
pub(super) fn hinted(error: anyhow::Error, folder: &Path) -> anyhow::Error {
    let refused = |cause: &(dyn std::error::Error + 'static)| {
        let kind = cause.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
        matches!(kind, Some(ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem))
    };
    if !error.chain().any(refused) || error.is::<Hinted>() {
        return error;
    }
    let hint = format!(
        "a test reads {} and writes what it builds below it: run it as the user who owns that folder, or test a copy of the \
         folder that is your own",
        escape_line(&folder.display().to_string())
    );
    Hinted::new(error, hint).into()
}

fn test(arguments: &TestArguments, printer: Printer) -> anyhow::Result<Exit> {
    let home = author::open_policy(&arguments.folder)?;
    let (machines, case) = (machines(&home)?, case(&home, arguments.allow_higher_limits)?);
    let tests = prepare(&home, arguments.target_dir.as_deref(), printer)?;
    for line in left_over(&home, SNAPSHOTS, &machines)?.into_iter().chain(misspelt(&home)?) {
        printer.note(Tone::Warning, &format!("note: {}", escape_line(&line)));
    }
    let (mut same, mut differing, mut changed) = (0_usize, 0_usize, 0_usize);
    for machine in machines {
        let name = &machine.name;
        let shown = escape_line(name);
        let case = TestCase { facts: machine.facts(&home)?, ..case.clone() };
        let outcome = tests.run(&case, &Stop::default()).with_context(|| format!("{name} cannot be tested"))?;
        let found = serde_json::to_string_pretty(&snapshot(&outcome))? + "\n";
        if found.len() as u64 > MAX_SNAPSHOT {
            bail!("the snapshot of {shown} would have more than {MAX_SNAPSHOT} bytes");
        }
        let below = Path::new(SNAPSHOTS).join(format!("{name}.json"));
        author::refuse_links(&home, &below)?;
        let path = home.path().join(&below);
        let error = outcome.run.get("error").filter(|error| !error.is_null());
        let failed = error.map(|error| format!("; the run fails: {}", escape(&sentence(error)))).unwrap_or_default();
        if arguments.update {
            author::write_below(&home, &below, found.as_bytes())?;
            printer.line(Tone::Plain, &format!("{shown}: wrote {}{failed}", escape_line(&path.display().to_string())));
            match error {
                None => same += 1,
                Some(_) => differing += 1,
            }
            continue;
        }
        let expected = match home.read_text(&below, MAX_SNAPSHOT) {
            Ok(expected) => expected,
            Err(error) => {
                let hint = format!("{} writes it", updating(&arguments.folder));
                let place = escape_line(&path.display().to_string());
                let line = match error.kind() {
                    ErrorKind::NotFound => format!("{shown}: there is no snapshot {place}; {hint}"),
                    _ => format!("{shown}: the snapshot {place} cannot be read: {error}; {hint}"),
                };
                printer.line(Tone::Error, &line);
                differing += 1;
                continue;
            }
        };
        if expected == found {
            printer.line(Tone::Plain, &format!("{shown}: as in {}{failed}", escape_line(&path.display().to_string())));
            same += 1;
        } else {
            let (before, now) = (escape_line(&path.display().to_string()), "now".to_owned());
            let difference = TextDiff::configure().timeout(DIFFERENCE_TIME).diff_lines(&expected, &found);
            let difference = difference.unified_diff().header(&before, &now).to_string();
            printer.line(Tone::Error, &format!("{shown}: differs from {before}{failed}"));
            printer.part(Tone::Plain, &escape(&difference));
            differing += 1;
            changed += 1;
        }
    }
    if changed > 0 {
        let command = updating(&arguments.folder);
        printer.note(Tone::Plain, &format!("if it is meant to be so now, {command} writes the snapshots anew"));
    }
    printer.line(Tone::Plain, &format!("{same} passed, {differing} failed"));
    Ok(if differing == 0 { Exit::Done } else { Exit::Failed })
}

/// Returns the command that writes a policy's snapshots.
fn updating(folder: &Path) -> String {
    match folder == Path::new(".") {
        true => "`wrun policy test --update`".to_owned(),
        false => format!("`wrun policy test {} --update`", escape_line(&shell_word(&folder.display().to_string()))),
    }
}

/// Formats an error as one sentence with its place and its hint.
fn sentence(error: &Value) -> String {
    let text = |path: &str| error.pointer(path).and_then(Value::as_str);
    let line = |path: &str| error.pointer(path).and_then(Value::as_u64);
    let excerpt = text("/excerpt/file").zip(line("/excerpt/line")).map(|(file, line)| format!("{file}:{line}"));
    let origin = || Some(format!("{}/{}:{}", text("/origin/cookbook")?, text("/origin/file")?, line("/origin/line")?));
    let place = excerpt.or_else(origin).map(|place| format!(" ({place})")).unwrap_or_default();
    let hint = text("/hint").map(|hint| format!("\n  hint: {hint}")).unwrap_or_default();
    // Further lines of an exception are indented, so that they do not look like wrun's own.
    let message = text("/message").unwrap_or_default().replace('\n', "\n    | ");
    format!("{message}{place}{hint}")
}

/// Returns the parts of a test's outcome that later outcomes are compared with.
fn snapshot(outcome: &TestOutcome) -> Value {
    let error = outcome.run.get("error").and_then(Value::as_object).map(|error| {
        let kept = OF_ERROR.iter().filter_map(|key| Some(((*key).to_owned(), stable(error.get(*key)?))));
        Value::Object(kept.collect())
    });
    let mut actions = outcome.run.pointer("/policies/0/resources").cloned().unwrap_or_default();
    for action in actions.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        // These values repeat the sentences and differences in a form for programs.
        action.remove("values");
        // This is a digest of the machine's state. A difference in it would not be readable.
        action.remove("planned_against");
    }
    json!({
        "error": error,
        "denials": stable(outcome.run.get("denials").unwrap_or(&Value::Null)),
        "declared": stable(&Value::from(outcome.declared.clone())),
        "actions": stable(&actions),
        "contents": outcome.contents,
    })
}

/// Returns the value without the keys that change from run to run.
fn stable(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(stable).collect(),
        Value::Object(entries) => {
            let kept = entries.iter().filter(|(key, _)| !UNSTABLE.contains(&key.as_str()));
            Value::Object(kept.map(|(key, value)| (key.clone(), stable(value))).collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_of_the_system_has_a_hint() {
        let of = |kind: ErrorKind| {
            let error = anyhow::Error::new(std::io::Error::from(kind)).context("cannot write web.wasm");
            hinted(error, Path::new("/srv/web"))
        };
        assert!(of(ErrorKind::PermissionDenied).is::<Hinted>() && of(ErrorKind::ReadOnlyFilesystem).is::<Hinted>());
        assert_eq!(of(ErrorKind::PermissionDenied).to_string(), "cannot write web.wasm");
        assert!(!of(ErrorKind::NotFound).is::<Hinted>());
    }
}
