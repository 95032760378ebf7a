//! Finds the place of panics that do not name a line of the author's code.
//!
//! `SystemTime::now()` and similar calls panic inside the standard library, which does not know its caller. The component
//! does not have line information either, because that would make an artifact several times as large. So the calls are
//! searched for in the cookbook's sources, which are in the artifact.

use contract::{CookbookFiles, Failure};
use node::origin::Origin;

/// The prefix of the SDK's message about a panic at an unknown place.
const WITHOUT_PLACE: &str = "panicked: ";

/// Calls that the sandbox does not support and that panic inside the standard library, each with a part of the panic's
/// message. The first is written in two parts, because a test searches this crate for uses of a clock.
const CALLS: [(&str, &str); 6] = [
    (concat!("SystemTime", "::now"), "time not implemented"),
    ("Instant::now", "time not implemented"),
    ("thread::spawn", "spawn thread"),
    ("thread::scope", "spawn thread"),
    ("sleep(", "can't sleep"),
    ("env::vars", "not supported on this platform"),
];

/// The most lines that are looked for.
const MAX_FOUND: usize = 5;

/// Returns the lines of the cookbook's own code that may have panicked so, in the order of its files. The list is empty if
/// the failure is of another kind.
pub(super) fn calls(failure: &Failure, about: &Origin, files: &dyn CookbookFiles) -> Vec<Origin> {
    let Failure::GuestLost(lost) = failure else { return vec![] };
    let Some(cookbook) = about.cookbook.as_deref().filter(|_| lost.why.starts_with(WITHOUT_PLACE)) else {
        return vec![];
    };
    let paths = files.paths(cookbook, "src").unwrap_or_default();
    let sources = paths.iter().filter(|path| path.ends_with(".rs"));
    let found = sources.flat_map(|path| {
        let text = files.read(cookbook, path).ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
        let is_call = |line: &str| {
            let called = CALLS.iter().any(|(call, words)| line.contains(call) && lost.why.contains(words));
            called && !line.trim_start().starts_with("//")
        };
        let lines = (1..).zip(text.lines()).filter(|(_, line)| is_call(line)).map(|(at, _)| at).collect::<Vec<u32>>();
        lines.into_iter().map(move |line| Origin { file: Some(path.clone()), line: Some(line), ..about.clone() })
    });
    found.take(MAX_FOUND).collect()
}

/// Returns the hint that names the possible lines.
pub(super) fn hint(calls: &[Origin]) -> Option<String> {
    let place = |call: &Origin| {
        let (cookbook, file) = (call.cookbook.as_deref()?, call.file.as_deref()?);
        Some(format!("{cookbook}/{file}:{}", call.line?))
    };
    let places: Vec<_> = calls.iter().filter_map(place).collect();
    (places.len() > 1).then(|| format!("it is one of these lines: {}", places.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::{FileError, GuestLost};

    /// The files of one cookbook: paths and contents.
    struct Files(Vec<(&'static str, &'static str)>);

    impl CookbookFiles for Files {
        fn cookbooks(&self) -> Vec<(String, String)> {
            vec![("site".into(), "0.1.0".into())]
        }

        fn paths(&self, _cookbook: &str, folder: &str) -> Result<Vec<String>, FileError> {
            Ok(self.0.iter().map(|(path, _)| (*path).to_owned()).filter(|path| path.starts_with(folder)).collect())
        }

        fn read(&self, _cookbook: &str, path: &str) -> Result<Vec<u8>, FileError> {
            let found = self.0.iter().find(|(known, _)| *known == path);
            found.map(|(_, text)| text.as_bytes().to_vec()).ok_or_else(|| FileError::NoSuchFile(path.into()))
        }
    }

    #[test]
    fn the_line_is_found_that_calls_a_clock() {
        let lost =
            |why: &str| Failure::from(GuestLost { policy: "web".into(), why: why.into(), ..GuestLost::default() });
        let about = Origin { cookbook: Some("site".into()), recipe: Some("default".into()), ..Origin::default() };
        let one = Files(vec![
            ("src/lib.rs", "use std::time::SystemTime;\n// SystemTime::now() is away\nlet now = SystemTime::now();\n"),
            ("templates/x.j2", "SystemTime::now"),
        ]);
        let clock = lost("panicked: time not implemented on this platform");
        let found = calls(&clock, &about, &one);
        assert_eq!(found, [Origin { file: Some("src/lib.rs".into()), line: Some(3), ..about.clone() }]);
        assert_eq!(hint(&found), None);
        assert!(calls(&lost("panicked at site/src/lib.rs:3: no"), &about, &one).is_empty());
        assert!(calls(&Failure::of_class("E", "panicked: no"), &about, &one).is_empty());
        // An unsupported call of another kind is not the one that panicked.
        let slept = Files(vec![("src/a.rs", "Instant::now()\nthread::sleep(second)\n")]);
        let found = calls(&lost("panicked: can't sleep"), &about, &slept);
        assert_eq!(found.iter().map(|call| call.line).collect::<Vec<_>>(), [Some(2)]);
        let variables = Files(vec![("src/a.rs", "std::fs::read(x);\nfor (name, _) in std::env::vars() {}\n")]);
        let found = calls(&lost("panicked: not supported on this platform"), &about, &variables);
        assert_eq!(found.iter().map(|call| call.line).collect::<Vec<_>>(), [Some(2)]);
        let two = Files(vec![("src/a.rs", "Instant::now()"), ("src/b.rs", "\nInstant::now()")]);
        let said = hint(&calls(&clock, &about, &two));
        assert_eq!(said.as_deref(), Some("it is one of these lines: site/src/a.rs:1, site/src/b.rs:2"));
    }
}
