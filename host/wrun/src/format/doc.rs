//! The `doc` format, after Chef's: every action on a line, what changed below it.

use super::compiled;
use super::progress::Progress;
use super::would;
use crate::printer::{Printer, Tone, escape, escape_line};
use converge::{Event, LogLevel, Observer, Resource, Status, Tally};

/// Shows a run as it goes on.
pub(crate) struct Doc {
    printer: Printer,
    progress: Progress,
    /// The line of the action that has just begun is not ended yet.
    open: bool,
    /// The recipe that the last action belonged to.
    recipe: Option<String>,
    log_level: LogLevel,
    why_run: bool,
    /// The resource that failed has been shown; those around it failed because of it.
    shown_failed: bool,
}

impl Doc {
    pub(crate) fn new(printer: Printer, log_level: LogLevel) -> Self {
        let progress = Progress::new(printer.is_watched());
        Self { printer, progress, open: false, recipe: None, log_level, why_run: false, shown_failed: false }
    }

    fn out(&self, tone: Tone, text: &str) {
        self.progress.above(|| self.printer.out(tone, text));
    }

    fn line(&mut self, tone: Tone, text: &str) {
        if std::mem::take(&mut self.open) {
            self.out(Tone::Plain, "\n");
        }
        self.progress.above(|| self.printer.line(tone, text));
    }

    fn started(&mut self, resource: &Resource, action: &str, nesting: u32) {
        self.progress.begin(&escape_line(&format!("{} {action}", resource.key)));
        if nesting == 0 {
            let origin = &resource.declaration.origin;
            let cookbook = origin.cookbook.as_deref().unwrap_or_default();
            let recipe = format!("{cookbook}::{}", origin.recipe.as_deref().unwrap_or_default());
            if self.recipe.as_ref() != Some(&recipe) {
                self.line(Tone::Heading, &format!("  Recipe: {}", escape_line(&recipe)));
                self.recipe = Some(recipe);
            }
        }
        if self.open {
            self.out(Tone::Plain, "\n");
        }
        let text = format!("{}* {} action {}", indent(nesting), escape_line(&resource.key), escape_line(action));
        self.out(Tone::Plain, &text);
        self.open = true;
    }

    fn finished(&mut self, event: &Event<'_>) {
        let Event::ActionFinished { resource, status, conditional, failure, ignored, nesting, action } = event else {
            return;
        };
        self.progress.advance();
        let note = match status {
            Status::UpToDate => " (up to date)".to_owned(),
            Status::Skipped => match conditional {
                Some("not_if { action == :nothing }") => " (skipped due to action :nothing)".to_owned(),
                Some(guard) => format!(" (skipped due to {})", escape_line(guard)),
                None => " (skipped)".to_owned(),
            },
            Status::Bypassed => " (bypassed: cannot be simulated)".to_owned(),
            Status::Unknown => " (unknown: may change)".to_owned(),
            Status::Updated | Status::Failed | Status::Unprocessed => String::new(),
        };
        if !note.is_empty() {
            if self.open {
                self.out(Tone::Quiet, &note);
                self.line_end();
            } else if matches!(status, Status::Bypassed | Status::Unknown) {
                self.line(Tone::Quiet, &format!("{}  {note}", indent(*nesting)));
            }
        }
        if let Some(failure) = failure {
            let text = indented(&format!("{}: {failure}", failure.class()), *nesting + 2);
            let failed = if self.why_run { "would fail" } else { "failed" };
            let word = if *ignored { format!("{failed}, and is ignored") } else { failed.to_owned() };
            let heading = format!("{}! {} action {action} {word}", indent(*nesting), escape_line(&resource.key));
            self.line(if *ignored { Tone::Warning } else { Tone::Error }, &heading);
            self.line(Tone::Plain, &escape(&text));
            if !ignored && !std::mem::replace(&mut self.shown_failed, true) {
                let margin = indent(*nesting + 2);
                for line in compiled::lines(resource) {
                    self.line(Tone::Quiet, &format!("{margin}{line}"));
                }
            }
        }
        if self.open && *status == Status::Updated {
            self.line_end();
        }
        // A dry run goes on, and may meet another failure.
        self.shown_failed &= *nesting > 0;
    }

    fn summary(&self, tally: Tally) -> String {
        if self.why_run { would(tally) } else { format!("{} of {} resources updated", tally.updated, tally.total) }
    }

    fn line_end(&mut self) {
        self.out(Tone::Plain, "\n");
        self.open = false;
    }
}

fn indent(nesting: u32) -> String {
    "  ".repeat(2 + nesting.min(converge::MAX_DEPTH) as usize)
}

/// Every line of a text, so deep.
fn indented(text: &str, nesting: u32) -> String {
    let margin = indent(nesting);
    text.lines().map(|line| format!("{margin}{line}")).collect::<Vec<_>>().join("\n")
}

/// What a cookbook logs. Every line of it stands to the right of what wrun itself says.
fn logged(level: LogLevel, line: &str) -> String {
    escape(&indented(&format!("[{}] {line}", level.name()), 0))
}

impl Observer for Doc {
    fn notice(&mut self, event: &Event<'_>) {
        match event {
            Event::RunStarted { run_id, node, policies, why_run } => {
                self.why_run = *why_run;
                let dry = if *why_run { " (dry run: nothing will be changed)" } else { "" };
                let text = format!("Run {run_id} on {node}: {}{dry}", policies.join(", "));
                self.line(Tone::Heading, &escape_line(&text));
            }
            Event::PolicyStarted { policy, revision, artifact, cookbooks, .. } => {
                self.recipe = None;
                self.shown_failed = false;
                let versions = match (revision.get(..12), artifact.get(..12)) {
                    (Some(revision), Some(artifact)) => format!(" (revision {revision}, artifact {artifact})"),
                    _ => String::new(),
                };
                let cookbooks: Vec<_> = cookbooks.iter().map(|(name, version)| format!("{name} {version}")).collect();
                self.line(Tone::Heading, &escape_line(&format!("Policy {policy}{versions}")));
                self.line(Tone::Plain, &escape_line(&format!("  Cookbooks: {}", cookbooks.join(", "))));
            }
            Event::CompileFinished { resources } => self.progress.expect(*resources as u64),
            Event::ActionStarted { resource, action, nesting, .. } => self.started(resource, action, *nesting),
            Event::Changed { resource, change, why_run, nesting } => {
                let would = if *why_run { "would " } else { "" };
                let text = indented(&format!("- {would}{}", change.what), nesting + 1);
                self.line(Tone::Change, &escape(&text));
                if let Some(diff) = change.diff.as_ref().filter(|_| !resource.declaration.sensitive) {
                    self.line(Tone::Plain, &escape(&indented(diff, nesting + 1)));
                }
            }
            Event::Assumed { what, nesting, .. } => {
                self.line(Tone::Warning, &escape(&indented(&format!("? {what}"), nesting + 1)));
            }
            Event::Retrying { resource, left, failure, nesting, .. } => {
                let text = format!("! {} failed, {left} tries left: {failure}", resource.key);
                self.line(Tone::Warning, &escape(&indented(&text, *nesting)));
            }
            Event::ActionFinished { .. } => self.finished(event),
            Event::Log { level, line, .. } if *level >= self.log_level => {
                let tone = if *level >= LogLevel::Warn { Tone::Warning } else { Tone::Plain };
                self.line(tone, &logged(*level, line));
            }
            Event::PolicyFinished { policy, tally } => {
                self.line(Tone::Heading, &escape_line(&format!("Policy {policy}: {}", self.summary(*tally))));
            }
            Event::PolicyFailed { policy, failure } => {
                self.line(Tone::Error, &escape_line(&format!("Policy {policy} failed: {}", failure.class())));
                self.line(Tone::Plain, &escape(&indented(&failure.to_string(), 0)));
                if let Some(hint) = failure.hint() {
                    self.line(Tone::Warning, &format!("\n  hint: {}", escape(hint)));
                }
            }
            Event::HandlerFailed { policy, handler, failure } => {
                let text = format!("Handler {handler} of policy {policy} failed: {failure}");
                self.line(Tone::Warning, &escape(&text).replace('\n', "\n    "));
            }
            Event::RunFinished { failed, tally, seconds } => {
                self.progress.finish();
                let word = if *failed { "failed" } else { "finished" };
                let text = format!("Run {word} in {seconds:.2} s: {}", self.summary(*tally));
                self.line(if *failed { Tone::Error } else { Tone::Heading }, &text);
            }
            Event::RecipeStarted { .. } | Event::AttributeChanged { .. } | Event::Log { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookbooks_lines_do_not_pass_for_wruns() {
        let name = LogLevel::Warn.name();
        assert_eq!(logged(LogLevel::Warn, "one"), format!("    [{name}] one"));
        let forged = logged(LogLevel::Warn, "x\nPolicy victim failed: forged\r\n\u{1b}[1Gy");
        assert_eq!(forged, format!("    [{name}] x\n    Policy victim failed: forged\n    \\u{{1b}}[1Gy"));
        assert!(forged.lines().all(|line| line.starts_with("    ")), "{forged}");
    }
}
