//! Reports runs that never began to programs: standard output contains one JSON object with the reason.

use crate::printer::Printer;
use crate::settings::Format;
use report::{error, events};
use serde_json::{Value, json};

/// The environment variable of the setting `format`.
const FORMAT_VARIABLE: &str = "WRUN_FORMAT";

/// The spellings of the format option, with the value in the same argument or in the next one.
const FORMAT_OPTIONS: [&str; 4] = ["--format=", "-F", "--format", "-F="];

/// Prints why a run never began. Prints nothing in formats for people, since they read standard error.
pub(super) fn tell(format: Option<Format>, error: &anyhow::Error, printer: Printer) {
    let mut chain = error.chain().map(ToString::to_string);
    let message = chain.next().unwrap_or_default();
    print(format, &message, &chain.collect::<Vec<_>>(), printer);
}

/// Returns the report of a run that never began, for report destinations.
pub(super) fn report(run_id: &str, node: Option<&str>, cause: &anyhow::Error) -> Value {
    let mut chain = cause.chain().map(ToString::to_string);
    let message = chain.next().unwrap_or_default();
    let why = error::not_begun(&message, &chain.collect::<Vec<_>>());
    json!({ "version": error::VERSION, "run_id": run_id, "node_name": node, "outcome": "failure", "error": why })
}

/// Does the same as [`tell`] for an invalid command line.
pub(super) fn tell_usage_error(error: &clap::Error, printer: Printer) {
    let mut words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    if words.next().as_deref() != Some("converge") {
        return;
    }
    let format = typed_format(&words.collect::<Vec<_>>()).or_else(format_of_environment);
    let text = error.to_string();
    let sentence: Vec<_> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    let sentence = sentence.join(" ");
    print(format, sentence.strip_prefix("error: ").unwrap_or(&sentence), &[], printer);
}

/// Returns the format from the environment, for runs without readable settings.
pub(super) fn format_of_environment() -> Option<Format> {
    std::env::var(FORMAT_VARIABLE).ok()?.parse().ok()
}

/// Returns the format on a command line, which may be invalid otherwise.
fn typed_format(words: &[String]) -> Option<Format> {
    let following = words.iter().skip(1).map(String::as_str).chain([""]);
    let found = words.iter().zip(following).filter_map(|(word, next)| {
        if FORMAT_OPTIONS.contains(&word.as_str()) {
            return next.parse().ok();
        }
        FORMAT_OPTIONS.iter().find_map(|option| word.strip_prefix(option)?.parse().ok())
    });
    found.last()
}

fn print(format: Option<Format>, message: &str, causes: &[String], printer: Printer) {
    let why = error::not_begun(message, causes);
    match format {
        // Only a closed standard output can cause an error, and that is reported at the end.
        Some(Format::Json) => {
            let run = json!({ "version": error::VERSION, "outcome": "failure", "error": why });
            let _ = printer.json_document(&run);
        }
        Some(Format::Ndjson) => {
            printer.json_line(&json!({ "version": events::VERSION, "event": "not_begun", "error": why }));
        }
        Some(Format::Doc | Format::Minimal) | None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_found_on_any_command_line() {
        let check = |words: &[&str], expected: Option<Format>| {
            let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(typed_format(&words), expected, "{words:?}");
        };
        check(&["--wyh-run", "--format", "json"], Some(Format::Json));
        check(&["--format=ndjson", "--oops"], Some(Format::Ndjson));
        check(&["-F", "json"], Some(Format::Json));
        check(&["-Fjson"], Some(Format::Json));
        check(&["-F", "doc", "--format", "ndjson"], Some(Format::Ndjson));
        check(&["-F", "yaml"], None);
        check(&["--oops"], None);
        check(&["-F"], None);
    }
}
