//! Failures of actions in the `doc` format: which are shown at once, and which only in the recap.

use super::{Doc, indent, indented};
use contract::{Failure, FailureMode, Resource, Status};
use report::{Tone, compiled_lines, sentence};
use text::escape;

/// The failure of an action.
pub(super) struct Failed<'a> {
    pub(super) failure: &'a Failure,
    pub(super) status: Status,
    pub(super) ignored: bool,
}

/// A failure that may end its policy.
pub(super) struct Untold {
    pub(super) key: String,
    pub(super) nesting: u32,
    /// The original text of the failure.
    pub(super) raised: String,
    /// Whether a missing grant caused the failure.
    pub(super) is_denied: bool,
    /// The failure as displayed to people.
    pub(super) sentence: String,
}

impl Doc {
    pub(super) fn failed(&mut self, resource: &Resource, action: &str, head: &str, failed: Failed<'_>, nesting: u32) {
        let Failed { failure, status, ignored } = failed;
        if status == Status::Interrupted {
            self.line(Tone::Warning, &format!("{head} (interrupted)"));
            self.interrupted = true;
            return;
        }
        let raised = format!("{}: {failure}", failure.class());
        let sentence = sentence::with_resources(failure, resource.declaration.origin.file.as_deref());
        // The end of the run lists all denials.
        let is_denied = Failure::is_missing_grant(failure);
        let why = if is_denied { ": denied" } else { "" };
        let word = format!("{}{why}", if self.why_run { "would fail" } else { "failed" });
        if ignored {
            self.line(Tone::Warning, &format!("{head} ({word}, and is ignored)"));
            self.line(Tone::Plain, &escape(&indented(&sentence, nesting + 2)));
            let is_logged = resource.declaration.on_failure == FailureMode::Ignore;
            self.forgiven = is_logged.then(|| format!("{failure}; ignore_failure is set, continuing"));
            return;
        }
        self.line(Tone::Error, &format!("{head} ({word})"));
        // The text of a failure that was passed on contains that of the inner failure.
        let inner = |inner: &str| raised.contains(message_of(inner));
        let is_new = !self.untold.iter().any(|one| inner(&one.raised)) && !self.told.as_deref().is_some_and(inner);
        if self.why_run && is_new && !is_denied && !self.untold.is_empty() {
            self.line(Tone::Plain, &escape(&indented(&sentence, nesting + 2)));
            self.told = Some(raised.clone());
        }
        if is_new && !is_denied {
            let margin = indent(nesting + 2);
            for line in compiled_lines(resource) {
                self.line(Tone::Quiet, &format!("{margin}{line}"));
            }
        }
        if !self.why_run || self.untold.is_empty() {
            self.untold.retain(|untold| !(untold.nesting > nesting && inner(&untold.raised)));
            self.untold.push(Untold {
                key: format!("{} {action}", resource.key),
                nesting,
                raised,
                is_denied,
                sentence,
            });
        }
    }

    /// Shows the failures at this nesting and deeper, which guest code has rescued.
    pub(super) fn tell_rescued(&mut self, from: u32) {
        let (rescued, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.untold).into_iter().partition(|one| one.nesting >= from);
        self.untold = others;
        for Untold { key, nesting, sentence, .. } in rescued {
            let text = format!("! {key} failed, and was rescued: {sentence}");
            self.line(Tone::Warning, &escape(&indented(&text, nesting)));
        }
    }

    /// Shows the failures of a dry run that did not end its policy and were not rescued. Denials are listed at the end.
    pub(super) fn tell_others(&mut self) {
        for Untold { key, nesting, is_denied, sentence, .. } in std::mem::take(&mut self.untold) {
            if !is_denied {
                let text = format!("! {key} would fail: {sentence}");
                self.line(Tone::Warning, &escape(&indented(&text, nesting)));
            }
        }
    }

    pub(super) fn retrying(&mut self, resource: &Resource, left: u32, failure: &Failure, nesting: u32) {
        self.below();
        let file = resource.declaration.origin.file.as_deref();
        // Ruby authors know the class of this failure, so only the message is shown.
        let sentence = sentence::shortly(failure, file);
        let failure = failure.to_string();
        let again = self.attempt.as_ref() == Some(&failure);
        // Only the failure of the last attempt is shown completely.
        let why = if again { "as before" } else { sentence.lines().next().unwrap_or_default() };
        let text = format!("! {} failed, {left} tries left: {why}", resource.key);
        self.line(Tone::Warning, &escape(&indented(&text, nesting)));
        self.attempt = Some(failure);
    }
}

/// Returns a sentence without the class at its beginning.
pub(super) fn message_of(sentence: &str) -> &str {
    sentence.split_once(": ").map_or(sentence, |(_, message)| message)
}
