//! Hides error messages that the code of sensitive resources raised. The policy's own code may rescue such an error and read
//! its message. If the code raises the message again, logs it, or declares a `log` resource with it, reports do not show it.
//! This also holds for single lines of the message.
//!
//! This prevents a policy from showing its secrets by accident. It cannot prevent code from doing so on purpose, because it
//! does not recognize half a line or a message in another encoding.

use super::{Declaration, Property, Run};
use crate::{Failure, Raised};
use serde_json::Value;
use std::borrow::Cow;

/// The text in reports instead of such a message.
const SUPPRESSED: &str = "the message is not shown, since the resource is sensitive";

/// The maximum number of recognized messages, and of their bytes together. Later texts of the policy are searched for each.
/// Beyond these limits, the policy's code gets only the suppressed text, too.
const MOST: usize = 64;
const MOST_BYTES: usize = 64 << 10;

/// Shorter messages are recognized only as a whole, because they occur in many words by chance.
const SHORTEST_PART: usize = 4;

/// Shorter lines of a longer message are not recognized alone, for the same reason.
const SHORTEST_LINE: usize = 8;

/// The maximum number of lines of all messages together.
const MOST_LINES: usize = 512;

/// The beginning of a line in the message of every failed command. It is not secret, and recognizing it would hide other
/// errors.
const OF_ANY_COMMAND: &str = "Expected process to exit with [";

/// A message that only the policy's own code reads. It cannot be printed.
#[derive(Clone, PartialEq, Eq)]
pub struct SensitiveMessage(String);

impl SensitiveMessage {
    /// Returns the message, for the guest that raised it.
    pub fn for_its_guest(self) -> String {
        self.0
    }
}

impl std::fmt::Debug for SensitiveMessage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[not shown]")
    }
}

/// The recognized exceptions of sensitive resources.
#[derive(Debug, Default)]
pub(super) struct Known {
    messages: Vec<SensitiveMessage>,
    /// The lines of messages with several lines, because code often logs them one by one.
    lines: Vec<SensitiveMessage>,
    objects: Vec<u32>,
    bytes: usize,
}

impl Known {
    fn knows(&self, raised: &Raised) -> bool {
        let texts = [Some(raised.message.as_str()), Some(raised.class()), raised.hint.as_deref()].into_iter().flatten();
        let mut texts = texts.chain(raised.passed.iter().chain(&raised.backtrace).map(String::as_str));
        raised.object.is_some_and(|object| self.objects.contains(&object)) || texts.any(|text| self.is_in(text))
    }

    fn is_in(&self, text: &str) -> bool {
        let found = |known: &SensitiveMessage| match known.0.len() {
            0..SHORTEST_PART => known.0 == text,
            _ => text.contains(&known.0),
        };
        self.messages.iter().any(found) || self.lines.iter().any(|line| text.contains(&line.0))
    }
}

impl Run {
    /// Hides the message of a sensitive resource's failure. Its class and place stay visible.
    pub fn hide(&mut self, failure: Failure) -> Failure {
        match failure {
            Failure::Raised(raised) if raised.unshown.is_none() => Failure::Raised(Box::new(self.hide_raised(*raised))),
            other => other,
        }
    }

    /// Hides the message of a guest's exception if it contains a sensitive resource's message.
    pub fn known_again(&mut self, raised: Raised) -> Raised {
        if self.unshown.messages.is_empty() {
            return raised;
        }
        if self.unshown.knows(&raised) { self.hide_raised(raised) } else { raised }
    }

    /// Returns a guest's log line, or the suppressed text if the line contains a sensitive resource's message. The host's own
    /// lines are never checked, because a policy must not control which of them appear.
    pub fn without_unshown<'a>(&self, line: Cow<'a, str>) -> Cow<'a, str> {
        if self.unshown.is_in(&line) { Cow::Borrowed(SUPPRESSED) } else { line }
    }

    /// Hides sensitive messages in the texts of a declaration that are only shown to people, such as a `log` resource's
    /// message.
    pub(super) fn suppress_shown(&self, declaration: &mut Declaration) {
        if self.unshown.messages.is_empty() || self.type_of(declaration).is_some() {
            return;
        }
        if self.builtin().is_only_shown(&declaration.kind, "name") && self.unshown.is_in(&declaration.name) {
            declaration.name = SUPPRESSED.to_owned();
        }
        for (name, property) in &mut declaration.properties {
            self.suppress_property(&declaration.kind, name, property);
        }
    }

    /// Hides a sensitive message in one property.
    pub(super) fn suppress_property(&self, kind: &str, name: &str, property: &mut Property) {
        if let Property::Plain(Value::String(text)) = property
            && !self.unshown.messages.is_empty()
            && self.builtin().is_only_shown(kind, name)
            && self.unshown.is_in(text)
        {
            *text = SUPPRESSED.to_owned();
        }
    }

    fn hide_raised(&mut self, raised: Raised) -> Raised {
        let Raised { kind, message, passed, backtrace, object, .. } = raised;
        let keeps = self.keep_unshown(&message, object);
        Raised {
            message: SUPPRESSED.into(),
            object: object.filter(|_| keeps),
            unshown: keeps.then_some(SensitiveMessage(message)),
            ..Raised { kind, passed, backtrace, ..Raised::default() }
        }
    }

    /// Stores a message for recognition. Returns false if the limits do not allow it.
    fn keep_unshown(&mut self, message: &str, object: Option<u32>) -> bool {
        let known = self.unshown.messages.iter().any(|known| known.0 == message);
        let objects = usize::from(object.is_some_and(|object| !self.unshown.objects.contains(&object)));
        let lines: Vec<&str> = if known { vec![] } else { telling_lines(message).collect() };
        let (messages, bytes) = if known { (0, 0) } else { (1, 2 * message.len()) };
        let fits = self.unshown.messages.len() + messages <= MOST
            && self.unshown.lines.len() + lines.len() <= MOST_LINES
            && self.unshown.objects.len() + objects <= MOST
            && self.unshown.bytes + bytes <= MOST_BYTES;
        if !fits
            || self.pay((bytes + (messages + lines.len() + objects) * size_of::<SensitiveMessage>()) as u64).is_err()
        {
            return false;
        }
        self.unshown.bytes += bytes;
        if !known {
            self.unshown.messages.push(SensitiveMessage(message.to_owned()));
            self.unshown.lines.extend(lines.into_iter().map(|line| SensitiveMessage(line.to_owned())));
        }
        self.unshown.objects.extend(object.filter(|_| objects > 0));
        true
    }
}

/// Returns the lines by which a message with several lines is recognized.
fn telling_lines(message: &str) -> impl Iterator<Item = &str> {
    let has_several = message.trim_end().contains('\n');
    let lines = message.lines().map(str::trim).filter(move |_| has_several);
    lines.filter(|line| line.len() >= SHORTEST_LINE && !line.starts_with(OF_ANY_COMMAND))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Meters;
    use crate::{Account, AccountLimits, Amendment, ErrorKind, Outcome, Types};

    fn run() -> Run {
        let mut run = Run::default();
        run.charge_to(Account::new("p", AccountLimits::default(), Meters::default()));
        run
    }

    fn raised(message: &str, object: Option<u32>) -> Raised {
        Raised { object, hint: Some("try".into()), ..Raised::new(ErrorKind::Failed, message) }
    }

    fn hide(run: &mut Run, raised: Raised) -> Raised {
        run.hide(raised.into()).into_raised()
    }

    #[test]
    fn only_the_guest_reads_the_message() {
        let mut run = run();
        let hidden = hide(&mut run, raised("key s3cr3t is bad", Some(7)));
        assert!(!format!("{hidden:?}{hidden}").contains("s3cr3t"), "{hidden:?}");
        assert_eq!((hidden.object, &hidden.hint), (Some(7), &None));
        assert_eq!(hidden.unshown.map(SensitiveMessage::for_its_guest).as_deref(), Some("key s3cr3t is bad"));
    }

    #[test]
    fn it_is_known_again_by_its_object_and_by_its_words() {
        let mut run = run();
        let before = run.known_again(raised("key s3cr3t", Some(7)));
        assert_eq!(before.message, "key s3cr3t", "nothing is sensitive yet");
        let _hidden = hide(&mut run, raised("key s3cr3t", Some(7)));
        for again in [
            raised("other words of the same object", Some(7)),
            raised("it failed: key s3cr3t", Some(8)),
            Raised { backtrace: vec!["key s3cr3t:1".into()], ..raised("x", None) },
        ] {
            assert_eq!(run.known_again(again).message, SUPPRESSED);
        }
        assert_eq!(run.known_again(raised("another", Some(9))).message, "another");
        assert_eq!(run.without_unshown("rescued key s3cr3t".into()), SUPPRESSED);
        assert_eq!(run.without_unshown("all is well".into()), "all is well");
    }

    #[test]
    fn each_line_of_a_message_is_known_again() {
        let mut run = run();
        let message = "Expected process to exit with [0], but received '1'\ncould not log in\n  with key s3cr3t\nend";
        let _hidden = hide(&mut run, raised(message, None));
        for text in ["with key s3cr3t", "#<RuntimeError: could not log in\\n  with key s3cr3t>", "> could not log in"] {
            assert_eq!(run.without_unshown(text.into()), SUPPRESSED, "{text}");
        }
        for text in ["the end", "Expected process to exit with [0], but received '1'"] {
            assert_eq!(run.without_unshown(text.into()), text);
        }
    }

    /// A table in which people only read the names and the `text` of the type `line`.
    struct Lines;

    impl Types for Lines {
        fn default_action(&self, _kind: &str) -> Option<&str> {
            Some("write")
        }

        fn check(&self, _declaration: &mut Declaration) -> Outcome {
            Ok(())
        }

        fn uses(&self, _kind: &str, _action: &str, _name: &str) -> bool {
            true
        }

        fn is_only_shown(&self, kind: &str, property: &str) -> bool {
            kind == "line" && ["name", "text"].contains(&property)
        }

        fn check_property(&self, _kind: &str, _name: &str, property: Property) -> Result<Property, Failure> {
            Ok(property)
        }
    }

    #[test]
    fn a_resource_that_only_shows_the_message_is_declared_without_it() {
        let mut run = Run::new("p", false, Default::default(), std::sync::Arc::new(Lines));
        let _hidden = hide(&mut run, raised("key s3cr3t", None));
        let text = |text: &str| Property::Plain(text.into());
        let mut declare = |kind: &str| {
            let id = run.declare(Declaration {
                kind: kind.into(),
                name: "rescued key s3cr3t".into(),
                properties: vec![("text".into(), text("key s3cr3t")), ("path".into(), text("/key s3cr3t"))],
                ..Declaration::default()
            });
            let id = id.unwrap();
            run.amend(id, Amendment::Property("text".into(), text("again: key s3cr3t"))).unwrap();
            run.known(id).unwrap().declaration.clone()
        };
        let line = declare("line");
        assert_eq!(line.name, SUPPRESSED);
        assert_eq!(line.properties, [("text".into(), text(SUPPRESSED)), ("path".into(), text("/key s3cr3t"))]);
        let file = declare("file");
        assert_eq!((file.name.as_str(), &file.properties[0].1), ("rescued key s3cr3t", &text("again: key s3cr3t")));
    }

    #[test]
    fn a_short_message_hides_no_other_words() {
        let mut run = run();
        let _hidden = hide(&mut run, raised("e", None));
        assert_eq!(run.known_again(raised("the end", None)).message, "the end");
        assert_eq!(run.known_again(raised("e", None)).message, SUPPRESSED);
    }

    #[test]
    fn messages_that_would_be_too_many_reach_nobody() {
        let mut run = run();
        let long = "x".repeat(MOST_BYTES / 2 + 1);
        let hidden = hide(&mut run, raised(&long, Some(1)));
        assert_eq!((hidden.unshown, hidden.object), (None, None));
        for at in 0..MOST as u32 {
            assert!(hide(&mut run, raised(&format!("secret {at}"), Some(at))).unshown.is_some());
        }
        let hidden = hide(&mut run, raised("one more secret", Some(1_000)));
        assert_eq!((hidden.message.as_str(), hidden.unshown, hidden.object), (SUPPRESSED, None, None));
        assert!(hide(&mut run, raised("secret 3", Some(3))).unshown.is_some(), "it is known already");
    }
}
