//! What changed in a file, as a unified diff; or a sentence why there is none.
//!
//! The sentences are Chef's. The limits are lower than Chef's: a diff is for people, and goes into every report.

use similar::{Algorithm, TextDiff};
use std::time::Duration;

/// The largest file that is compared line by line, in bytes.
pub(crate) const MAXIMUM_FILE: u64 = 1_000_000;

/// The longest diff that is shown, in bytes.
const MAXIMUM_DIFF: usize = 100_000;

/// How long lines are compared; after it the diff is coarser, never missing.
const DEADLINE: Duration = Duration::from_millis(500);

/// Lines around a change.
const CONTEXT: usize = 3;

/// Stands for the diff of a sensitive resource.
pub(crate) const SENSITIVE: &str = "suppressed sensitive resource";

/// The difference between two contents of a file. An old one that is empty may as well be missing.
pub(crate) fn unified(path: &str, old: &[u8], new: &[u8]) -> String {
    if old.len().max(new.len()) as u64 > MAXIMUM_FILE {
        return format!("(file sizes exceed {MAXIMUM_FILE} bytes, diff output suppressed)");
    }
    let Some(old) = text(old) else { return "(current file is binary, diff output suppressed)".into() };
    let Some(new) = text(new) else { return "(new content is binary, diff output suppressed)".into() };
    let diff = TextDiff::configure().algorithm(Algorithm::Myers).timeout(DEADLINE).diff_lines(old, new);
    let shown = diff
        .unified_diff()
        .context_radius(CONTEXT)
        .header(&format!("{path} (before)"), &format!("{path} (after)"))
        .to_string();
    if shown.is_empty() {
        return "(no diff)".into();
    }
    if shown.len() > MAXIMUM_DIFF {
        return format!("(long diff of over {MAXIMUM_DIFF} characters, diff output suppressed)");
    }
    shown
}

/// Text that people can read, or none.
fn text(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    text.chars().all(|one| !one.is_control() || one.is_whitespace()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &[u8], new: &[u8], expect: &str) {
        assert_eq!(unified("/x", old, new), expect);
    }

    #[test]
    fn text_is_compared_and_anything_else_is_named() {
        check(b"a\nb\nc\n", b"a\nB\nc\n", "--- /x (before)\n+++ /x (after)\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
        check(b"", b"one\n", "--- /x (before)\n+++ /x (after)\n@@ -0,0 +1 @@\n+one\n");
        check(b"a", b"a", "(no diff)");
        check(b"a\0b", b"a", "(current file is binary, diff output suppressed)");
        check(b"", b"\xff\xfe", "(new content is binary, diff output suppressed)");
        check(b"", b"\x1b[31mred", "(new content is binary, diff output suppressed)");
        let huge = vec![b'a'; 1_000_001];
        check(&huge, b"", "(file sizes exceed 1000000 bytes, diff output suppressed)");
        let long: Vec<u8> = (0..20_000).flat_map(|line| format!("{line}\n").into_bytes()).collect();
        check(b"", &long, "(long diff of over 100000 characters, diff output suppressed)");
    }

    #[test]
    fn hard_cases_end_in_time() {
        let old: String = (0..90_000u64).map(|line| format!("{}\n", line * 7919 % 1009)).collect();
        let new: String = (0..90_000u64).map(|line| format!("{}\n", line * 104_729 % 997)).collect();
        let processor_time = || rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        let begun = processor_time();
        let shown = unified("/x", old.as_bytes(), new.as_bytes());
        assert!(shown.starts_with('('), "{}", shown.get(..100).unwrap_or(&shown));
        assert!(processor_time().tv_sec - begun.tv_sec < 5);
    }
}
