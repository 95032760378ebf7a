//! The `doc` format, similar to Chef's: each action on a line, with its changes below.
//!
//! An action's line is written with its result, or before the first line that belongs below it. Until then only the status
//! line shows the action. Errors that end a policy appear only in the recap after the run (`report::recap`).

mod failures;
mod live;
mod warnings;

use crate::printer::{Printer, diff_tone};
use contract::{Change, Event, Failure, LogLevel, LogSource, Observer, Resource, Status, StopReason};
use failures::{Failed, Untold, message_of};
use live::Live;
use node::origin::Origin;
use report::{NewThing, Tone, place, ran, would_do};
use std::collections::VecDeque;
use text::{escape, escape_line, versions};
use warnings::Warnings;

/// The indentation of a diff relative to an action's sentences, so that its signs do not look like the dashes of the list.
const DIFF_NESTING: u32 = 3;

/// Largest number of lines below the log level that are shown after a guest's crash.
const LAST_LINES: usize = 10;

/// The observer for the `doc` format.
pub(crate) struct Doc {
    printer: Printer,
    log_level: LogLevel,
    /// Whether the run is a dry run, which continues after a failure.
    why_run: bool,
    /// The recipe of the last action.
    recipe: Option<String>,
    /// The running actions, outermost first.
    begun: Vec<Begun>,
    live: Live,
    /// Failures that may end a policy and then appear in the recap. In a dry run, this is only the first failure.
    untold: Vec<Untold>,
    /// The last failure that was shown in a dry run.
    told: Option<String>,
    /// The end of the next line in wrun's own log, which repeats an ignored failure that was already shown.
    forgiven: Option<String>,
    /// The last failed attempt of the running action.
    attempt: Option<String>,
    /// The text of a panic. It is usually part of the error that ends the policy.
    panicked: Option<String>,
    /// The policy's last lines below the log level.
    unshown: VecDeque<String>,
    /// The warnings that the policy has brought so far.
    warnings: Warnings,
    /// Whether a signal has ended an action of the policy.
    interrupted: bool,
}

/// An action that is running.
struct Begun {
    head: String,
    nesting: u32,
    /// Whether the action's line is already written.
    shown: bool,
    /// A new file or directory. Its sentence is written later, with its owner and mode.
    new: Option<NewThing>,
    /// Whether changes are only simulated: in a dry run, or in the trial run for `:before`.
    dry: bool,
}

impl Doc {
    pub(crate) fn new(printer: Printer, log_level: LogLevel) -> Self {
        Self {
            printer,
            log_level,
            why_run: false,
            recipe: None,
            begun: vec![],
            live: Live::default(),
            untold: vec![],
            told: None,
            forgiven: None,
            attempt: None,
            panicked: None,
            unshown: VecDeque::new(),
            warnings: Warnings::default(),
            interrupted: false,
        }
    }

    fn line(&self, tone: Tone, text: &str) {
        self.printer.prose(tone, text);
    }

    /// Writes the lines of the running actions before a line that belongs below them.
    fn below(&mut self) {
        for at in 0..self.begun.len() {
            let Some(begun) = self.begun.get_mut(at) else { return };
            let head = (!std::mem::replace(&mut begun.shown, true)).then(|| begun.head.clone());
            let (nesting, dry, new) = (begun.nesting, begun.dry, begun.new.take());
            if let Some(head) = head {
                self.line(Tone::Plain, &head);
            }
            if let Some(new) = new {
                self.sentence(nesting, dry, &new.sentence());
                self.diff(nesting, new.diff.as_deref());
            }
        }
    }

    fn started(&mut self, resource: &Resource, action: &str, nesting: u32) {
        self.below();
        if nesting == 0 {
            let origin = &resource.declaration.origin;
            let cookbook = origin.cookbook.as_deref().unwrap_or_default();
            let recipe = format!("{cookbook}::{}", origin.recipe.as_deref().unwrap_or_default());
            if self.recipe.as_ref() != Some(&recipe) {
                self.line(Tone::Heading, &format!("  Recipe: {}", escape_line(&recipe)));
                self.recipe = Some(recipe);
            }
        } else if !self.why_run {
            // A sibling failed, but the policy continued, so that failure does not end the policy.
            self.tell_rescued(nesting);
        }
        self.attempt = None;
        let head = format!("{}* {} action {}", indent(nesting), escape_line(&resource.key), escape_line(action));
        self.begun.push(Begun { head, nesting, shown: false, new: None, dry: false });
    }

    fn changed(&mut self, resource: &Resource, change: &Change, dry: bool, nesting: u32) {
        let diff = change.diff.as_ref().filter(|_| !resource.declaration.sensitive);
        if let Some(new) = self.begun.last_mut().filter(|begun| begun.nesting == nesting).and_then(|it| it.new.as_mut())
            && new.takes(&change.what, diff)
        {
            return;
        }
        self.below();
        let new = NewThing::begun_by(&change.what).filter(|_| diff.is_none());
        match self.begun.last_mut().filter(|begun| begun.nesting == nesting) {
            Some(begun) if new.is_some() => (begun.new, begun.dry) = (new, dry),
            _ => {
                self.sentence(nesting, dry, &change.what);
                self.diff(nesting, diff.map(String::as_str));
            }
        }
    }

    /// Shows a change that a cookbook's own code made, with its place.
    fn by_code(&mut self, depth: u32, dry: bool, what: &str, code: &Origin) {
        self.below();
        let place = place(code).map(|place| format!("  ({place})")).unwrap_or_default();
        let what = if dry { would_do(what) } else { what.to_owned() };
        self.line(Tone::Change, &escape(&indented(&format!("- {what}{place}"), depth)));
    }

    fn sentence(&self, nesting: u32, dry: bool, what: &str) {
        let what = if dry { would_do(what) } else { what.to_owned() };
        self.line(Tone::Change, &escape(&indented(&format!("- {what}"), nesting + 1)));
    }

    fn diff(&self, nesting: u32, diff: Option<&str>) {
        let margin = indent(nesting + DIFF_NESTING);
        for (at, line) in diff.into_iter().flat_map(str::lines).enumerate() {
            let is_remark = at == 0 && line.starts_with('(');
            let tone = if is_remark { Tone::Quiet } else { diff_tone(at, line) };
            self.line(tone, &format!("{margin}{}", escape(line)));
        }
    }

    fn output(&mut self, lines: impl IntoIterator<Item = String>) {
        let nesting = self.begun.last().map_or(0, |begun| begun.nesting);
        for line in lines {
            self.below();
            self.line(Tone::Quiet, &format!("{}  | {}", indent(nesting), escape(&line)));
        }
    }

    fn finished(&mut self, event: &Event<'_>) {
        let Event::ActionFinished { resource, status, conditional, failure, ignored, nesting, action, .. } = event
        else {
            return;
        };
        let rest = self.live.rest();
        self.output(rest);
        if failure.is_none() && !self.why_run {
            self.tell_rescued(nesting + 1);
        }
        if self.begun.last().is_some_and(|begun| begun.new.is_some()) {
            self.below();
        }
        let Some(Begun { head, shown, .. }) = self.begun.pop() else { return };
        if let Some(failure) = failure {
            let head = if shown {
                format!("{}! {} action {}", indent(*nesting), escape_line(&resource.key), escape_line(action))
            } else {
                head
            };
            self.failed(resource, action, &head, Failed { failure, status: *status, ignored: *ignored }, *nesting);
            return;
        }
        let note = match status {
            Status::UpToDate => "up to date".to_owned(),
            Status::Skipped => match conditional {
                Some(contract::NOTHING_CONDITIONAL) => "skipped due to action :nothing".to_owned(),
                Some(guard) => format!("skipped due to {}", escape_line(guard)),
                None => "skipped".to_owned(),
            },
            Status::Bypassed => "bypassed: cannot be simulated".to_owned(),
            Status::Unknown => "unknown: may change".to_owned(),
            Status::Updated | Status::Failed | Status::Interrupted | Status::Unprocessed => String::new(),
        };
        match (shown, note.is_empty()) {
            (false, true) => self.line(Tone::Plain, &head),
            (false, false) => self.line(Tone::Quiet, &format!("{head} ({note})")),
            (true, false) if matches!(status, Status::Bypassed | Status::Unknown) => {
                self.line(Tone::Quiet, &format!("{}  ({note})", indent(*nesting)));
            }
            (true, _) => {}
        }
    }

    /// Writes the text of a guest's panic, unless the recap shows the same text for `failure`.
    fn last_words(&mut self, failure: Option<&str>) {
        if let Some(words) = self.panicked.take().filter(|words| !failure.is_some_and(|told| told.contains(words))) {
            self.line(Tone::Warning, &logged(LogLevel::Fatal, &words));
        }
    }

    /// Writes the last lines below the log level, since they help to find the cause of a panic.
    fn last_lines(&mut self) {
        for line in std::mem::take(&mut self.unshown) {
            self.line(Tone::Quiet, &logged(LogLevel::Info, &line));
        }
    }

    fn logged(&mut self, source: LogSource, level: LogLevel, line: &str) {
        if level < self.log_level {
            if level == LogLevel::Info {
                self.unshown.push_back(line.to_owned());
                self.unshown.drain(..self.unshown.len().saturating_sub(LAST_LINES));
            }
            return;
        }
        if is_panic(level, line) {
            self.last_words(None);
            self.panicked = Some(line.to_owned());
            return;
        }
        // This applies only to the next line. The policy chooses the message, and must not hide other lines with it.
        if source == LogSource::Host
            && self.forgiven.take().is_some_and(|ending| level == LogLevel::Error && line.ends_with(&ending))
        {
            return;
        }
        if level == LogLevel::Warn && !self.warnings.is_new(line) {
            return;
        }
        self.below();
        let tone = if level >= LogLevel::Warn { Tone::Warning } else { Tone::Plain };
        self.line(tone, &logged(level, line));
    }

    /// Writes how often the policy's warnings came again.
    fn tell_repeated(&mut self) {
        for text in self.warnings.repeated() {
            self.line(Tone::Warning, &logged(LogLevel::Warn, &text));
        }
    }

    /// A line of standard output is shown at all levels but the highest; others are lines of the log.
    fn printed(&mut self, policy: &str, level: LogLevel, line: &str) {
        if level != LogLevel::Info {
            self.logged(LogSource::Host, level, line);
        } else if shows_printed(self.log_level) {
            self.below();
            self.line(Tone::Plain, &said(&format!("{policy} printed"), line));
        }
    }
}

/// Whether a line that a policy's code printed is shown. Somebody who prints a value to find a fault wants to see it, whatever
/// the level of the log.
pub(super) fn shows_printed(log_level: LogLevel) -> bool {
    log_level <= LogLevel::Warn
}

/// Returns whether a log line reports a guest's panic. The Rust SDK writes this line before the guest ends.
pub(super) fn is_panic(level: LogLevel, line: &str) -> bool {
    level == LogLevel::Fatal && line.starts_with("panicked")
}

fn indent(nesting: u32) -> String {
    "  ".repeat(2 + nesting.min(contract::MAX_DEPTH) as usize)
}

/// Indents the lines of a text. All lines after the first have a mark, so that a guest's text cannot imitate wrun's own
/// output.
fn indented(text: &str, nesting: u32) -> String {
    let margin = indent(nesting);
    let marked =
        |(at, line): (usize, &str)| if at == 0 { format!("{margin}{line}") } else { format!("{margin}| {line}") };
    text.lines().enumerate().map(marked).collect::<Vec<_>>().join("\n")
}

/// Formats a cookbook's log message. All of its lines are indented further than wrun's own lines.
fn logged(level: LogLevel, line: &str) -> String {
    said(level.name(), line)
}

fn said(by: &str, line: &str) -> String {
    escape(&indented(&format!("[{by}] {line}"), 0))
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
                (self.recipe, self.told) = (None, None);
                self.unshown.clear();
                // Cookbooks in folders have neither a revision nor an artifact.
                let versions = versions(revision, artifact);
                let versions = if versions.is_empty() { versions } else { format!(" ({versions})") };
                let cookbooks: Vec<_> = cookbooks.iter().map(|(name, version)| format!("{name} {version}")).collect();
                self.line(Tone::Heading, &escape_line(&format!("Policy {policy}{versions}")));
                self.line(Tone::Plain, &escape_line(&format!("  Cookbooks: {}", cookbooks.join(", "))));
            }
            Event::ActionStarted { resource, action, nesting, notified, .. } => {
                self.started(resource, action, *nesting);
                if let (Some(since), Some(begun)) =
                    (notified.and_then(|notified| notified.since.as_ref()), self.begun.last_mut())
                {
                    begun.head.push_str(&escape_line(&format!(", due since run {since}")));
                }
            }
            Event::Changed { resource, change, why_run, nesting, code: None } => {
                self.changed(resource, change, *why_run, *nesting);
            }
            Event::Changed { change, why_run, nesting, code: Some(code), .. } => {
                self.by_code(nesting + 1, *why_run, &change.what, code);
            }
            Event::Ran { command } => self.by_code(0, false, &ran(command), &command.origin),
            Event::Written { write, why_run } => self.by_code(0, *why_run, &write.what, &write.origin),
            Event::Output { bytes } => {
                let lines = self.live.take(bytes);
                self.output(lines);
            }
            Event::Assumed { what, nesting, .. } => {
                self.below();
                self.line(Tone::Warning, &escape(&indented(&format!("? {what}"), nesting + 1)));
            }
            Event::Retrying { resource, left, failure, nesting, .. } => {
                self.retrying(resource, *left, failure, *nesting);
            }
            Event::ActionFinished { .. } => self.finished(event),
            Event::HandlersStarted { policy } => {
                self.line(Tone::Heading, &escape_line(&format!("Handlers of policy {policy}")));
            }
            Event::Log { source, level, line, .. } => self.logged(*source, *level, line),
            Event::Printed { policy, level, line } => self.printed(policy, *level, line),
            Event::PolicyFinished { .. } => {
                self.last_words(None);
                self.tell_rescued(0);
                self.tell_repeated();
            }
            Event::PolicyFailed { policy, failure } => {
                self.begun.clear();
                // The recap shows the failure that ended the policy.
                let last = failure.to_string();
                self.last_words(Some(&last));
                if matches!(failure, Failure::GuestLost(_)) {
                    self.last_lines();
                }
                self.untold.retain(|untold| !last.contains(message_of(&untold.raised)));
                if self.why_run {
                    self.tell_others();
                }
                self.tell_rescued(0);
                self.tell_repeated();
                let is_stopped = matches!(failure, Failure::Stopped(StopReason::Signal(_)));
                let word = if std::mem::take(&mut self.interrupted) || is_stopped { "stopped" } else { "failed" };
                self.line(Tone::Error, &escape_line(&format!("Policy {policy} {word}")));
            }
            Event::HandlerFailed { policy, handler, failure } => {
                let text = format!("Handler {handler} of policy {policy} failed: {failure}");
                self.line(Tone::Warning, &escape(&text).replace('\n', "\n    | "));
            }
            Event::PolicyLoaded { .. }
            | Event::RecipeCompiled { .. }
            | Event::CompileFinished { .. }
            | Event::ConvergeStarted
            | Event::ActionCompleted { .. }
            | Event::ConvergeFinished { .. }
            | Event::PolicyStatus { .. }
            | Event::RecipeStarted { .. }
            | Event::AttributeChanged { .. }
            | Event::HiddenReads { .. }
            | Event::RunFinished { .. } => {}
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
        assert_eq!(forged, format!("    [{name}] x\n    | Policy victim failed: forged\n    | \\u{{1b}}[1Gy"));
        assert!(forged.lines().all(|line| line.starts_with("    ")), "{forged}");
    }
}
