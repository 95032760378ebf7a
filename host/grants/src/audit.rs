//! The audit log of one policy's decisions.
//!
//! A policy chooses how often it asks, and how long its texts are. So each part of a line is cut, and the lines of a policy
//! have a total limit. Later decisions are only counted, and the last line has their number. Refusals have a separate limit,
//! so that a policy cannot hide one behind many permissions.
//!
//! Repeated decisions are counted. The first one is written at once, and the total number at the end, at the level of
//! permissions. A resource asks for one path several times, and its operator should read one line.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use text::escape_line;
use tracing::{Level, enabled};

/// Maximum length of one part of a line, in bytes: the asked thing, the resource, or the place. Guests choose these lengths.
const MAX_PART: usize = 1_024;

/// Maximum size of the permissions of one policy in a run, in bytes, and the same for its refusals.
const MAX_BYTES: u64 = 16 << 20;

/// Maximum number of different permissions of one policy that are counted. Further ones are written each time.
const MAX_COUNTED: usize = 4_096;

/// The size of a line without the parts that a guest chooses, in bytes: the time, field names, the rule.
const LINE: usize = 256;

/// The audit log of one policy in one run.
#[derive(Debug, Default)]
pub(crate) struct AuditLog {
    permissions: Budget,
    repeated: Repeated,
    refusals: Budget,
    repeated_refusals: Repeated,
}

/// The number of times that each decision was made, by key, asked thing, and the rule or the asking code.
#[derive(Debug, Default)]
struct Repeated(Mutex<BTreeMap<(&'static str, String, String), u64>>);

#[derive(Debug, Default)]
struct Budget {
    bytes: AtomicU64,
    left_out: AtomicU64,
    is_full: AtomicBool,
}

/// A line of the audit log.
pub(crate) struct Decision<'a> {
    pub(crate) policy: &'a str,
    /// The key of the policy's table, such as `packages`.
    pub(crate) key: &'static str,
    pub(crate) asked: &'a str,
}

impl AuditLog {
    /// Records that a rule allowed something.
    pub(crate) fn allowed(&self, decision: &Decision<'_>, rule: &str) {
        if !enabled!(target: "audit", Level::INFO) {
            return;
        }
        let key = decision.key;
        let (policy, asked, rule) = (&escape_line(decision.policy), shown(decision.asked), &escape_line(rule));
        if !self.repeated.is_again(decision.key, &asked, rule) && self.permissions.takes(&[&asked], policy) {
            tracing::info!(target: "audit", decision = "allowed", policy, capability = key, asked, rule);
        }
    }

    /// Records that something was refused, and the code that asked for it.
    pub(crate) fn denied(
        &self,
        decision: &Decision<'_>,
        reason: Option<&str>,
        resource: Option<&str>,
        origin: Option<&str>,
    ) {
        if !enabled!(target: "audit", Level::WARN) {
            return;
        }
        let key = decision.key;
        let (policy, asked) = (&escape_line(decision.policy), shown(decision.asked));
        let [resource, origin] = [resource, origin].map(|part| part.map(shown));
        let reason = reason.map(escape_line);
        let guests = [Some(&asked), resource.as_ref(), origin.as_ref(), reason.as_ref()];
        let parts = guests.map(|part| part.map_or("", String::as_str));
        let code = format!("{} {}", resource.as_deref().unwrap_or_default(), origin.as_deref().unwrap_or_default());
        if !self.repeated_refusals.is_again(decision.key, &asked, &code) && self.refusals.takes(&parts, policy) {
            tracing::warn!(target: "audit", decision = "denied", policy, capability = key, asked, reason, resource, origin);
        }
    }

    /// Records the read of a value that the policy may not see, or may see only in part.
    pub(crate) fn hidden(&self, decision: &Decision<'_>, partly: bool) {
        if !enabled!(target: "audit", Level::WARN) {
            return;
        }
        let key = decision.key;
        let (policy, asked) = (&escape_line(decision.policy), shown(decision.asked));
        if self.refusals.takes(&[&asked], policy) {
            tracing::warn!(target: "audit", decision = "hidden", policy, capability = key, asked, partly);
        }
    }

    /// Records the repeated decisions with their numbers, and the number of decisions that were left out.
    pub(crate) fn close(&self, policy: &str) {
        let policy = &escape_line(policy);
        for ((key, asked, rule), times) in self.repeated.take() {
            if self.permissions.takes(&[&asked], policy) {
                tracing::info!(target: "audit", decision = "allowed", policy, capability = key, asked, rule, times);
            }
        }
        for ((key, asked, code), times) in self.repeated_refusals.take() {
            if enabled!(target: "audit", Level::INFO) && self.refusals.takes(&[&asked, &code], policy) {
                let code = code.trim();
                tracing::info!(target: "audit", decision = "denied", policy, capability = key, asked, code, times);
            }
        }
        for (budget, of) in [(&self.permissions, "permissions"), (&self.refusals, "refusals")] {
            let more = budget.left_out.swap(0, Ordering::Relaxed);
            if more > 0 {
                tracing::warn!(target: "audit", policy, more, "{more} more {of} of policy {policy} were not written");
            }
        }
    }
}

impl Repeated {
    /// Counts a decision. Returns whether it was counted before. A decision beyond the limit is never counted.
    fn is_again(&self, key: &'static str, asked: &str, rule: &str) -> bool {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let permission = (key, asked.to_owned(), rule.to_owned());
        if let Some(times) = counts.get_mut(&permission) {
            *times += 1;
            return true;
        }
        if counts.len() < MAX_COUNTED {
            counts.insert(permission, 1);
        }
        false
    }

    /// Takes out the decisions that were made more than once.
    fn take(&self) -> impl Iterator<Item = ((&'static str, String, String), u64)> {
        let counts = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        counts.into_iter().filter(|(_, times)| *times > 1)
    }
}

impl Budget {
    /// Tells whether a line with these parts is written.
    fn takes(&self, parts: &[&str], policy: &str) -> bool {
        let bytes = parts.iter().map(|part| part.len()).sum::<usize>() + LINE;
        let before = self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        if before.saturating_add(bytes as u64) <= MAX_BYTES {
            return true;
        }
        self.left_out.fetch_add(1, Ordering::Relaxed);
        if !self.is_full.swap(true, Ordering::Relaxed) {
            let mebibytes = MAX_BYTES >> 20;
            tracing::warn!(
                target: "audit",
                policy,
                "policy {policy} has {mebibytes} MiB in this log; its further decisions of this kind are counted and not written"
            );
        }
        false
    }
}

/// Returns a guest's text escaped to one line, and cut. What does not show in a log is escaped.
fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len().min(MAX_PART));
    for character in text.chars() {
        let escaped = match character {
            '\n' | '\r' | '\t' => character.escape_default().to_string(),
            hidden if text::is_hidden(hidden) => hidden.escape_unicode().to_string(),
            plain => plain.escape_debug().to_string(),
        };
        if shown.len() + escaped.len() > MAX_PART {
            shown.push_str("...");
            break;
        }
        shown.push_str(&escaped);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_cut_after_it_is_escaped() {
        assert_eq!(shown("a\u{1b}b\n"), "a\\u{1b}b\\n");
        let long = shown(&"\u{1b}".repeat(MAX_PART));
        assert!(long.ends_with("...") && long.len() <= MAX_PART + 3, "{}", long.len());
    }

    #[test]
    fn attack_a_log_has_no_invisible_letters() {
        let letters = "\u{ad}\u{34f}\u{115f}\u{17b4}\u{180b}\u{200b}\u{202e}\u{2800}\u{3164}\u{fe0f}\u{ffa0}\u{13430}\u{1bca0}\u{e0001}";
        let shown = shown(&format!("{letters}\0\r\"\u{4e2d}"));
        assert!(shown.starts_with("\\u{ad}\\u{34f}\\u{115f}"), "{shown}");
        assert!(shown.ends_with("\\u{e0001}\\u{0}\\r\\\"\u{4e2d}"), "{shown}");
        assert!(!shown.chars().any(text::is_hidden), "{shown}");
    }

    #[test]
    fn what_is_asked_for_again_is_counted() {
        let repeated = Repeated::default();
        let again: Vec<bool> = ["/a", "/b", "/a", "/a"].map(|path| repeated.is_again("paths", path, "/**")).into();
        assert_eq!(again, [false, false, true, true]);
        assert!(!repeated.is_again("read_paths", "/a", "/**") && !repeated.is_again("paths", "/a", "/a"));
        let told: Vec<_> = repeated.take().collect();
        assert_eq!(told, [(("paths", "/a".to_owned(), "/**".to_owned()), 3)]);
        // What there is no room for is written each time.
        for at in 0..MAX_COUNTED {
            assert!(!repeated.is_again("paths", &at.to_string(), ""));
        }
        assert!(!repeated.is_again("paths", "more", "") && !repeated.is_again("paths", "more", ""));
    }

    #[test]
    fn a_full_log_counts_what_it_leaves_out() {
        let budget = Budget::default();
        let part = "x".repeat(MAX_PART);
        let line = (MAX_PART + LINE) as u64;
        for _ in 0..MAX_BYTES / line {
            assert!(budget.takes(&[&part], "web"));
        }
        assert!(!budget.takes(&[&part], "web") && !budget.takes(&[&part], "web"));
        assert_eq!(budget.left_out.load(Ordering::Relaxed), 2);
    }
}
