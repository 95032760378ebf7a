//! Shows the changes of a file as a unified diff, or a sentence that says why no diff is shown.
//!
//! The sentences are those of Chef. The limits are lower than in Chef: people read a diff, and it goes into every report.

use crate::pace::looked_at;
use contract::Account;
use similar::{Algorithm, TextDiff};
use std::io;
use std::time::Duration;

/// Maximum size of a file that is compared line by line, in bytes.
pub const MAX_FILE: u64 = 1_000_000;

/// Maximum size of a diff, in bytes.
const MAX_DIFF: usize = 100_000;

/// Time limit for comparing lines. After it the diff becomes coarser, but is still shown.
const DEADLINE: Duration = Duration::from_millis(500);

/// The number of unchanged lines that are shown around a change.
const CONTEXT: usize = 3;

/// The text in place of the diff of a sensitive resource.
pub const SENSITIVE: &str = "suppressed sensitive resource";

/// The text in place of a diff if the policy has no time left.
const ENDED: &str = "(diff output suppressed: the policy is at its end)";

/// Returns the difference between two contents of a file. An empty old content also means a missing file.
///
/// Charges the account for both contents before it compares them, and for the shown part. It ends early if the policy must
/// end.
pub fn unified(path: &str, old: &[u8], new: &[u8], account: &Account) -> String {
    if old.len().max(new.len()) as u64 > MAX_FILE {
        return format!("(file sizes exceed {MAX_FILE} bytes, diff output suppressed)");
    }
    let Some(old) = text(old) else { return "(current file is binary, diff output suppressed)".into() };
    let Some(new) = text(new) else { return "(new content is binary, diff output suppressed)".into() };
    if looked_at(account, old.len() + new.len()).and_then(|()| ready(account)).is_err() {
        return ENDED.into();
    }
    let diff = TextDiff::configure().algorithm(Algorithm::Myers).timeout(DEADLINE).diff_lines(old, new);
    let mut shown = Shown { bytes: vec![], account };
    let (before, after) = (format!("{path} (before)"), format!("{path} (after)"));
    let mut unified = diff.unified_diff();
    let written = unified.context_radius(CONTEXT).header(&before, &after).to_writer(&mut shown);
    match written {
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            format!("(long diff of over {MAX_DIFF} characters, diff output suppressed)")
        }
        Err(_) => ENDED.into(),
        Ok(()) if shown.bytes.is_empty() => "(no diff)".into(),
        Ok(()) => String::from_utf8_lossy(&shown.bytes).into_owned(),
    }
}

/// Fails if the policy has no time left for a comparison.
fn ready(account: &Account) -> io::Result<()> {
    account.check().map_err(io::Error::other)
}

/// A writer that keeps only as much of a diff as is shown.
struct Shown<'a> {
    bytes: Vec<u8>,
    account: &'a Account,
}

impl io::Write for Shown<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        looked_at(self.account, bytes.len())?;
        if self.bytes.len() + bytes.len() > MAX_DIFF {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the bytes as readable text, or `None` if they are not.
fn text(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    text.chars().all(|one| !one.is_control() || one.is_whitespace()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::{Stop, StopReason};

    fn check(old: &[u8], new: &[u8], expect: &str) {
        assert_eq!(unified("/x", old, new, &Account::unmetered("web")), expect);
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
    fn a_policy_at_its_end_waits_for_no_difference() {
        let (account, stop) = (Account::unmetered("web"), Stop::default());
        account.begin_turn(stop.clone());
        assert_eq!(
            unified("/x", b"a", b"b", &account),
            "--- /x (before)\n+++ /x (after)\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"
        );
        stop.request(StopReason::Signal(15));
        assert_eq!(unified("/x", b"a", b"b", &account), ENDED);
    }

    #[test]
    fn hard_cases_end_in_time() {
        let old: String = (0..90_000u64).map(|line| format!("{}\n", line * 7919 % 1009)).collect();
        let new: String = (0..90_000u64).map(|line| format!("{}\n", line * 104_729 % 997)).collect();
        let processor_time = || rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        let begun = processor_time();
        let account = Account::unmetered("web");
        let shown = unified("/x", old.as_bytes(), new.as_bytes(), &account);
        assert!(account.usage().work >= (old.len() + new.len()) as u64 / 64, "what was compared is counted");
        assert!(shown.starts_with('('), "{}", shown.get(..100).unwrap_or(&shown));
        assert!(processor_time().tv_sec - begun.tv_sec < 5);
    }
}
