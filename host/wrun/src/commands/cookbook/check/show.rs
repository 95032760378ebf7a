//! The report as text and as JSON (docs/cookbook-check.md).

use super::Report;
use super::judge::Finding;
use super::needs::{Kind, Need};
use super::suggest;
use crate::printer::{Printer, Tone, escape, escape_line};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The version of the JSON. It grows when a key changes its meaning or goes away; new keys do not count.
const VERSION: u32 = 1;

/// The most places that are shown of one need.
const SHOWN_PLACES: usize = 3;

/// The most characters that are shown of a need.
const SHOWN_CHARACTERS: usize = 70;

type Places = BTreeSet<(String, u32)>;

pub(super) fn json(report: &Report) -> Value {
    let findings = |problems: bool| -> Vec<Value> {
        report.findings.iter().filter(|one| one.is_problem == problems).map(finding_json).collect()
    };
    let known = report.needs.known.iter().map(|(kind, needs)| (kind.name(), needs.iter().map(need_json).collect()));
    let computed = report.needs.computed.iter().map(|(kind, places)| (kind.name(), places_json(places)));
    json!({
        "version": VERSION,
        "cookbook": { "name": report.name, "version": report.version },
        "works": report.works(),
        "files": report.files,
        "problems": findings(true),
        "notes": findings(false),
        "needs": known.collect::<BTreeMap<&str, Vec<Value>>>(),
        "computed": computed.collect::<BTreeMap<&str, Value>>(),
        "grants": suggest::table(&report.name, &report.needs),
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

fn need_json((name, need): (&String, &Need)) -> Value {
    json!({ "name": name, "note": need.note, "elsewhere_only": !need.here, "places": places_json(&need.places) })
}

fn places_json(places: &Places) -> Value {
    places.iter().map(|(file, line)| json!({ "file": file, "line": line })).collect()
}

pub(super) fn text(report: &Report, printer: Printer) {
    let version = if report.version.is_empty() { String::new() } else { format!(" {}", report.version) };
    let files = if report.files == 1 { "1 file".to_owned() } else { format!("{} files", report.files) };
    let title = format!("cookbook {}{version}, {files}", report.name);
    printer.line(Tone::Heading, &escape_line(&title));
    findings(report, true, "would not work", printer);
    findings(report, false, "to note", printer);
    needs(report, printer);
    let grants = suggest::table(&report.name, &report.needs);
    if !grants.is_empty() {
        printer.line(Tone::Heading, "\ngrants that the text tells; what is computed comes to them");
        printer.line(Tone::Plain, escape(&grants).trim_end());
    }
    let problems = report.findings.iter().filter(|one| one.is_problem).count();
    match problems {
        0 => printer.line(Tone::Change, "\nall of it would work"),
        1 => printer.line(Tone::Error, "\n1 thing would not work"),
        several => printer.line(Tone::Error, &format!("\n{several} things would not work")),
    }
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

/// Line 0 is none: it is about the whole file.
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
