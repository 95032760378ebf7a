//! Limits the events of one policy on the terminal and in the log.
//!
//! A policy chooses the texts of its events (names, sentences, lines) and their number. Events beyond the limit are counted
//! and not shown. The run's record and its decisions do not depend on them.

use contract::{Event, LogLevel, LogSource, Observer};
use std::collections::BTreeMap;

/// The most bytes of events that are shown of one policy, handlers included.
pub const MAX_SHOWN: u64 = 128 << 20;

/// Bytes that an event takes besides its texts.
const EVENT: u64 = 64;

/// Bytes that a hidden character takes once it is escaped.
const ESCAPED: u64 = 6;

/// Passes events on until the current policy has used up its limit.
pub struct Bounded<O> {
    inner: O,
    most: u64,
    /// The bytes of events that were shown of each policy, by its name.
    shown: BTreeMap<String, u64>,
    /// Number of events of the current policy that were not shown.
    left_out: u64,
    /// The policy that the present events are of.
    policy: String,
    /// For each running action, innermost last: whether its begin was shown. If so, its end is shown too.
    begun: Vec<bool>,
}

impl<O: Observer> Bounded<O> {
    /// `most`: bytes of events of one policy.
    pub fn new(inner: O, most: u64) -> Self {
        Self { inner, most, shown: BTreeMap::new(), left_out: 0, policy: String::new(), begun: vec![] }
    }

    /// Whether an event of this length is shown.
    fn has_room(&mut self, bytes: u64) -> bool {
        let shown = self.shown.entry(self.policy.clone()).or_default();
        *shown = shown.saturating_add(bytes);
        let has_room = *shown <= self.most;
        self.left_out += u64::from(!has_room);
        has_room
    }

    /// Reports how many events of the policy were left out.
    fn tell_left_out(&mut self) {
        let more = std::mem::take(&mut self.left_out);
        if more > 0 {
            let (policy, mebibytes) = (&self.policy, self.most >> 20);
            let line =
                format!("policy {policy} has {mebibytes} MiB of output and log; {more} more events were not written");
            let policy = Some(self.policy.as_str());
            self.inner.notice(&Event::Log { policy, source: LogSource::Host, level: LogLevel::Warn, line: &line });
        }
    }
}

impl<O: Observer> Observer for Bounded<O> {
    fn notice(&mut self, event: &Event<'_>) {
        match event {
            Event::PolicyStarted { policy, .. } | Event::HandlersStarted { policy } => {
                self.tell_left_out();
                self.begun.clear();
                (*policy).clone_into(&mut self.policy);
            }
            Event::PolicyFinished { .. } | Event::PolicyFailed { .. } | Event::RunFinished { .. } => {
                self.tell_left_out();
            }
            // These events are never shown.
            Event::ActionCompleted { .. } | Event::PolicyStatus { .. } => return,
            Event::ActionStarted { .. } => {
                let has_room = self.has_room(bytes_of(event));
                self.begun.push(has_room);
                if !has_room {
                    return;
                }
            }
            Event::ActionFinished { .. } => {
                let has_room = self.has_room(bytes_of(event));
                if !self.begun.pop().unwrap_or(has_room) {
                    return;
                }
            }
            event => {
                if !self.has_room(bytes_of(event)) {
                    return;
                }
            }
        }
        self.inner.notice(event);
    }
}

/// Estimates the bytes of an event when it is written.
fn bytes_of(event: &Event<'_>) -> u64 {
    let words = match event {
        Event::ActionStarted { resource, action, .. } => text(&resource.key) + text(action),
        Event::Changed { resource, change, .. } => {
            text(&resource.key) + text(&change.what) + change.diff.as_deref().map_or(0, text)
        }
        Event::Assumed { resource, what, .. } => text(&resource.key) + text(what),
        Event::Retrying { resource, action, failure, .. } => {
            text(&resource.key) + text(action) + text(&failure.to_string())
        }
        Event::ActionFinished { resource, action, conditional, failure, .. } => {
            let failure = failure.map_or(0, |failure| text(&failure.to_string()));
            text(&resource.key) + text(action) + conditional.map_or(0, text) + failure
        }
        Event::Ran { command } => text(&command.command),
        Event::Written { write, .. } => text(&write.path) + text(&write.what),
        Event::Log { line, .. } | Event::Printed { line, .. } => text(line),
        Event::Output { bytes } => bytes.len() as u64,
        Event::HandlerFailed { failure, .. } => text(&failure.to_string()),
        Event::AttributeChanged { path, .. } => path.iter().map(|step| text(step)).sum(),
        // These occur once per policy or run, and are limited where they are made.
        _ => 0,
    };
    EVENT + words
}

/// Bytes of a text once it is escaped.
fn text(text: &str) -> u64 {
    let controls = text.bytes().filter(u8::is_ascii_control).count() as u64;
    text.len() as u64 + (ESCAPED - 1) * controls
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::Tally;
    use std::sync::{Arc, Mutex};

    struct Heard(Arc<Mutex<Vec<String>>>);

    impl Observer for Heard {
        fn notice(&mut self, event: &Event<'_>) {
            let word = match event {
                Event::Log { line, .. } => (*line).to_owned(),
                Event::PolicyStarted { policy, .. } | Event::PolicyFinished { policy, .. } => (*policy).to_owned(),
                _ => return,
            };
            self.0.lock().unwrap().push(word);
        }
    }

    fn log(line: &str) -> Event<'_> {
        Event::Log { policy: None, source: LogSource::Cookbook, level: LogLevel::Info, line }
    }

    #[test]
    fn a_policy_that_floods_is_cut_and_the_next_one_is_shown() {
        let heard = Arc::<Mutex<Vec<String>>>::default();
        let mut bounded = Bounded::new(Heard(Arc::clone(&heard)), 4 << 20);
        let start = |policy| Event::PolicyStarted { policy, revision: "", artifact: "", recipes: &[], cookbooks: &[] };
        bounded.notice(&start("flood"));
        let line = "x".repeat(1 << 20);
        (0..10).for_each(|_| bounded.notice(&log(&line)));
        // Short events are not shown either: after the limit, nothing of the policy is shown.
        bounded.notice(&log("short"));
        bounded.notice(&Event::PolicyFinished { policy: "flood", tally: Tally::default() });
        bounded.notice(&start("next"));
        bounded.notice(&log("shown"));
        bounded.notice(&Event::PolicyFinished { policy: "next", tally: Tally::default() });
        // The handlers of the first policy have only what it left.
        bounded.notice(&Event::HandlersStarted { policy: "flood" });
        bounded.notice(&log("late"));
        bounded.notice(&Event::HandlersStarted { policy: "next" });
        bounded.notice(&log("late and shown"));
        let mut heard = heard.lock().unwrap().clone();
        heard.retain(|word| *word != line);
        let told = "policy flood has 4 MiB of output and log; 8 more events were not written";
        let late = "policy flood has 4 MiB of output and log; 1 more events were not written";
        assert_eq!(heard, ["flood", told, "flood", "next", "shown", "next", late, "late and shown"]);
    }

    #[test]
    fn control_characters_count_as_they_are_written() {
        assert_eq!((text("ab"), text("a\u{1b}")), (2, 7));
    }
}
