//! Remembers components that were invalid or too costly to compile, so that the next run does not try again.
//!
//! A verdict is a file beside the native code, with the same name and its own ending. It contains the exceeded limits and the
//! version of wrun. It does not apply to higher limits or other versions. An invalid component is invalid under any limits.
//! Verdicts need no tag, because the folder belongs to one user. An attacker who could forge a verdict could also remove
//! native code. A damaged verdict is not an error: the component is compiled again.

use crate::cache::{NativeCache, open};
use cap_std::fs::{Dir, DirEntry};
use cap_std_ext::dirext::CapStdExtDirExt as _;
use std::io::Read as _;
use std::path::PathBuf;

/// The maximum number of kept verdicts. The newest ones are kept.
const MAX_VERDICTS: usize = 100;

/// The maximum number of bytes that are read of a verdict.
const MAX_BYTES: u64 = 4 << 10;

/// The ending of the names of verdicts.
const ENDING: &str = ".costly";

/// The limits of compiling one component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CompileLimits {
    /// Seconds of processor time.
    pub(crate) seconds: u64,
    /// The maximum memory of the compiler, in bytes.
    pub(crate) memory: u64,
}

/// The reason why a component cannot be used, with a sentence about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Costly(String),
    Invalid(String),
}

/// The word that marks a verdict about an invalid component.
const INVALID: &str = "invalid";

/// Returns the verdict about a component under these limits with its file, or `None` if the component must be tried.
pub(crate) fn known(cache: &NativeCache, name: &str, limits: CompileLimits) -> Option<(Verdict, PathBuf)> {
    let name = format!("{name}{ENDING}");
    let mut bytes = Vec::new();
    open(cache.folder(), &name)?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    // The limit may cut a character.
    let text = String::from_utf8_lossy(&bytes);
    let (first, why) = text.split_once('\n')?;
    let mut words = first.split(' ');
    let is_ours = words.next()? == env!("CARGO_PKG_VERSION");
    let found = CompileLimits { seconds: words.next()?.parse().ok()?, memory: words.next()?.parse().ok()? };
    let is_invalid = words.next() == Some(INVALID);
    let within = limits.seconds <= found.seconds && limits.memory <= found.memory;
    let holds = is_ours && (is_invalid || within) && !why.is_empty();
    let verdict = if is_invalid { Verdict::Invalid } else { Verdict::Costly };
    holds.then(|| (verdict(why.to_owned()), cache.path_of(&name)))
}

/// Writes a verdict about a component under these limits. If writing fails, the next run tries the component again.
pub(crate) fn remember(cache: &NativeCache, name: &str, limits: CompileLimits, verdict: &Verdict) {
    let (why, word) = match verdict {
        Verdict::Costly(why) => (why, ""),
        Verdict::Invalid(why) => (why, INVALID),
    };
    let text = format!("{} {} {} {word}\n{why}", env!("CARGO_PKG_VERSION"), limits.seconds, limits.memory);
    let _ = cache.folder().atomic_write(format!("{name}{ENDING}"), text);
    prune(cache.folder());
}

/// Removes the oldest verdicts beyond the maximum number.
fn prune(folder: &Dir) {
    let Ok(entries) = folder.entries() else { return };
    let age_and_name = |entry: DirEntry| {
        let name = entry.file_name().into_string().ok().filter(|name| name.ends_with(ENDING))?;
        Some((entry.metadata().and_then(|about| about.modified()).ok(), name))
    };
    let mut verdicts: Vec<_> = entries.filter_map(|entry| age_and_name(entry.ok()?)).collect();
    verdicts.sort();
    let surplus = verdicts.len().saturating_sub(MAX_VERDICTS);
    verdicts.iter().take(surplus).for_each(|(_, name)| drop(folder.remove_file(name)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const LIMITS: CompileLimits = CompileLimits { seconds: 60, memory: 2 << 30 };

    fn cache() -> (tempfile::TempDir, NativeCache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = NativeCache::new(folder.path(), [7; 32]).unwrap();
        (folder, cache)
    }

    #[test]
    fn a_verdict_holds_until_a_limit_is_raised() {
        let (_folder, cache) = cache();
        assert_eq!(known(&cache, "a", LIMITS), None);
        remember(&cache, "a", LIMITS, &Verdict::Costly("it takes more than 60 s".into()));
        for (limits, holds) in [
            (LIMITS, true),
            (CompileLimits { seconds: 30, ..LIMITS }, true),
            (CompileLimits { seconds: 61, ..LIMITS }, false),
            (CompileLimits { memory: 3 << 30, ..LIMITS }, false),
        ] {
            assert_eq!(known(&cache, "a", limits).is_some(), holds, "{limits:?}");
        }
        let (why, path) = known(&cache, "a", LIMITS).unwrap();
        assert_eq!(why, Verdict::Costly("it takes more than 60 s".into()));
        assert_eq!(known(&cache, "b", LIMITS), None);
        let text = fs::read_to_string(&path).unwrap();
        for damaged in ["60 seconds", "", &text.replacen('.', "-", 1)] {
            fs::write(&path, damaged).unwrap();
            assert_eq!(known(&cache, "a", LIMITS), None, "{damaged:?} holds for nothing");
        }
    }

    /// An attacker may craft a component that is found invalid only after a minute of work.
    #[test]
    fn attack_what_is_invalid_is_checked_once() {
        let (_folder, cache) = cache();
        let invalid = Verdict::Invalid("type mismatch".into());
        remember(&cache, "a", LIMITS, &invalid);
        for limits in [LIMITS, CompileLimits { seconds: 600, memory: 8 << 30 }] {
            assert_eq!(known(&cache, "a", limits).map(|(verdict, _)| verdict), Some(invalid.clone()), "{limits:?}");
        }
    }

    /// The limit of what is read may lie within a character.
    #[test]
    fn attack_a_long_verdict_counts_wherever_it_is_cut() {
        let (_folder, cache) = cache();
        for padding in 0..3 {
            let why = "a".repeat(padding) + &"\u{20ac}".repeat(2000);
            remember(&cache, "a", LIMITS, &Verdict::Invalid(why));
            assert!(matches!(known(&cache, "a", LIMITS), Some((Verdict::Invalid(_), _))), "{padding}");
        }
    }

    #[test]
    fn verdicts_are_bounded_in_number() {
        let (folder, cache) = cache();
        fs::write(folder.path().join("code"), "native").unwrap();
        let costly = Verdict::Costly("it costs too much".into());
        (0..MAX_VERDICTS + 10).for_each(|at| remember(&cache, &at.to_string(), LIMITS, &costly));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), MAX_VERDICTS + 1);
        assert!(folder.path().join("code").exists());
    }
}
