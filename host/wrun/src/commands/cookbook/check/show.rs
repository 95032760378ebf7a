//! Formats the report as text and as JSON (docs/cookbook-check.md).

use crate::printer::{Printer, Tone};
use crate::table::Table;
use author::check::{Finding, Kind, LeftOut, Need, Report, table};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use text::{counted, escape, escape_line};

/// The version of the JSON output. It grows when the meaning of a key changes or a key is removed, but not for new keys.
const VERSION: u32 = 1;

/// Largest number of places that are shown for one need.
const SHOWN_PLACES: usize = 3;

/// Largest number of characters that are shown of a need.
const SHOWN_CHARACTERS: usize = 70;

type Places = BTreeSet<(String, u32)>;

/// The numeric columns of the table.
const NUMBERS: [usize; 3] = [2, 3, 4];

/// The columns of the table of several cookbooks.
const COLUMNS: [&str; 5] = ["cookbook", "version", "files", "problems", "notes"];

/// Returns one cookbook's report as JSON, with the version of the format.
pub(super) fn json(report: &Report) -> Value {
    let mut json = report_json(report);
    if let Some(object) = json.as_object_mut() {
        object.insert("version".to_owned(), VERSION.into());
    }
    json
}

/// Returns the reports of several cookbooks as one JSON value.
pub(super) fn all_json(reports: &[Report]) -> Value {
    json!({
        "version": VERSION,
        "works": reports.iter().all(Report::works),
        "cookbooks": reports.iter().map(report_json).collect::<Vec<_>>(),
    })
}

fn report_json(report: &Report) -> Value {
    let findings = |problems: bool| -> Vec<Value> {
        report.findings.iter().filter(|one| one.is_problem == problems).map(finding_json).collect()
    };
    let known = report.needs.known.iter().map(|(kind, needs)| (kind.name(), needs.iter().map(need_json).collect()));
    let computed = report.needs.computed.iter().map(|(kind, places)| (kind.name(), places_json(places)));
    json!({
        "cookbook": { "name": report.name, "version": report.version },
        "works": report.works(),
        "only_on": report.only_on,
        "files": report.files,
        "problems": findings(true),
        "notes": findings(false),
        "left_out": report.left_out.iter().map(left_out_json).collect::<Vec<_>>(),
        "needs": known.collect::<BTreeMap<&str, Vec<Value>>>(),
        "computed": computed.collect::<BTreeMap<&str, Value>>(),
        "grants": table(&report.name, &report.needs),
    })
}

fn finding_json(finding: &Finding) -> Value {
    json!({
        "kind": finding.kind,
        "message": finding.message,
        "hint": finding.hint,
        "file": finding.file,
        "line": finding.line,
        "platform": finding.platform,
    })
}

fn left_out_json(left_out: &LeftOut) -> Value {
    json!({ "kind": left_out.kind, "checks": left_out.checks, "why": left_out.why })
}

fn need_json((name, need): (&String, &Need)) -> Value {
    json!({ "name": name, "note": need.note, "elsewhere_only": !need.here, "places": places_json(&need.places) })
}

fn places_json(places: &Places) -> Value {
    places.iter().map(|(file, line)| json!({ "file": file, "line": line })).collect()
}

pub(super) fn text(report: &Report, printer: Printer) {
    let version = if report.version.is_empty() { String::new() } else { format!(" {}", report.version) };
    let files = counted(report.files, "file");
    let title = format!("cookbook {}{version}, {files}", report.name);
    printer.line(Tone::Heading, &escape_line(&title));
    findings(report, true, "problems", printer);
    findings(report, false, "notes", printer);
    left_out(&[report], printer);
    needs(report, printer);
    let grants = table(&report.name, &report.needs);
    if !grants.is_empty() {
        printer.line(
            Tone::Heading,
            "\nsuggested grants (from literal values only; values computed at run time are not included)",
        );
        printer.line(Tone::Plain, escape(&grants).trim_end());
        printer.line(Tone::Quiet, "(with --cookbooks, without a policy, the table is [policy.solo])");
        if grants.contains("\n# Only on ") {
            printer.line(Tone::Quiet, "(`--platform NAME` takes in what is only for that platform)");
        }
    }
    match report.problems() {
        0 => printer.line(Tone::Change, &format!("\nno problems found in {files}")),
        problems => printer.line(Tone::Error, &format!("\n{} found in {files}", counted(problems, "problem"))),
    }
}

/// Prints the problems of several cookbooks, and a table of all cookbooks.
pub(super) fn all_text(reports: &[Report], printer: Printer) {
    for report in reports.iter().filter(|report| !report.works()) {
        findings(report, true, &escape_line(&format!("problems of {}", report.name)), printer);
    }
    left_out(&reports.iter().collect::<Vec<_>>(), printer);
    let mut table = Table::new().with_numbers(&NUMBERS);
    table.row(Tone::Heading, COLUMNS);
    for report in reports {
        let tone = if report.works() { Tone::Plain } else { Tone::Error };
        table.row(tone, row(report));
    }
    if !reports.iter().all(|report| report.works() && report.left_out.is_empty()) {
        printer.line(Tone::Plain, "");
    }
    table.print(printer);
    let files = counted(reports.iter().map(|report| report.files).sum(), "file");
    let of = format!("{files} of {}", counted(reports.len(), "cookbook"));
    match reports.iter().map(Report::problems).sum() {
        0 => printer.line(Tone::Change, &format!("\nno problems found in {of}")),
        problems => {
            let with = reports.iter().filter(|report| !report.works()).count();
            let problems = counted(problems, "problem");
            printer.line(Tone::Error, &format!("\n{problems} found in {}, of {of}", counted(with, "cookbook")));
        }
    }
    if reports.iter().any(|report| report.findings.len() > report.problems()) {
        printer.line(Tone::Quiet, "`wrun cookbook check` with the name of one cookbook shows its notes");
    }
}

fn row(report: &Report) -> [String; 6] {
    let notes = report.findings.len() - report.problems();
    let [files, problems, notes] = [report.files, report.problems(), notes].map(|count| count.to_string());
    let only = report.only_on.as_ref().map(|platform| format!("only for {platform}")).unwrap_or_default();
    [report.name.clone(), report.version.clone(), files, problems, notes, only]
}

fn findings(report: &Report, problems: bool, heading: &str, printer: Printer) {
    let mut chosen = report.findings.iter().filter(|one| one.is_problem == problems).peekable();
    if chosen.peek().is_none() {
        return;
    }
    printer.line(Tone::Heading, &format!("\n{heading}"));
    for finding in chosen {
        let place = place(&finding.file, finding.line);
        let only = finding.platform.as_ref().map(|platform| format!(" (only on {platform})")).unwrap_or_default();
        let message = escape(&finding.message).replace('\n', "\n      ");
        let tone = if problems { Tone::Error } else { Tone::Plain };
        printer.line(tone, &format!("  {}  {message}{}", escape_line(&place), escape_line(&only)));
        if let Some(hint) = &finding.hint {
            printer.line(Tone::Warning, &format!("      hint: {}", escape_line(hint)));
        }
    }
}

/// The checks that could not be made, a line for each reason.
fn left_out(reports: &[&Report], printer: Printer) {
    if reports.iter().all(|report| report.left_out.is_empty()) {
        return;
    }
    printer.line(Tone::Heading, "\nnot checked");
    for report in reports {
        for left_out in &report.left_out {
            printer.line(Tone::Warning, &escape_line(&format!("  {}: {}", report.name, left_out.sentence())));
        }
    }
}

fn needs(report: &Report, printer: Printer) {
    if report.needs.known.is_empty() && report.needs.computed.is_empty() {
        return;
    }
    printer.line(Tone::Heading, "\nneeds");
    let kinds: BTreeSet<Kind> = report.needs.known.keys().chain(report.needs.computed.keys()).copied().collect();
    for kind in kinds {
        printer.line(Tone::Plain, &format!("  {}", kind.name()));
        for (name, need) in report.needs.known.get(&kind).into_iter().flatten().filter(|(_, need)| need.here) {
            let note = need.note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
            printer
                .line(Tone::Plain, &escape_line(&format!("    {}{note}  {}", shortened(name), places(&need.places))));
        }
        if let Some(computed) = report.needs.computed.get(&kind) {
            printer.line(Tone::Quiet, &escape_line(&format!("    (computed)  {}", places(computed))));
        }
    }
}

fn places(places: &Places) -> String {
    let shown: Vec<_> = places.iter().take(SHOWN_PLACES).map(|(file, line)| place(file, *line)).collect();
    match places.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Formats a place in a file. Line 0 means the whole file.
fn place(file: &str, line: u32) -> String {
    if line == 0 { file.to_owned() } else { format!("{file}:{line}") }
}

fn shortened(name: &str) -> String {
    let name = name.trim_end();
    match name.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}...", name.get(..end).unwrap_or_default()),
        None => name.to_owned(),
    }
}
