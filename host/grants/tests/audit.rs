//! What the audit log shows of secrets, and how much of it a policy can fill.

#![cfg(test)]

use grants::{CommandAsked, Grants, LineAsked};
use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Keeps all fields of all events as text.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<String>>);

impl Subscriber for Heard {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Line(&mut self.0.lock().unwrap()));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Line<'a>(&'a mut String);

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, "{}={value:?} ", field.name()).unwrap();
    }
}

fn asked(line: &str, sensitive: bool) -> CommandAsked<'_> {
    CommandAsked { sensitive, ..CommandAsked::plain(LineAsked::Text(line)) }
}

/// What is heard of a command that this table is asked about.
fn heard(grants: &Grants, sensitive: bool) -> String {
    let heard = Heard::default();
    let policy = grants.policy("p", &[]);
    tracing::subscriber::with_default(heard.clone(), || {
        drop(policy.command(&asked("login --secret hunter2", sensitive)));
    });
    let text = heard.0.lock().unwrap().clone();
    assert!(text.contains("commands"), "nothing was written down: {text}");
    text
}

#[test]
fn commands_of_sensitive_resources_are_not_shown() {
    let table = |lines: &str| Grants::parse(&format!("[policy.p]\n{lines}"), "grants.toml").unwrap();
    let line = "[\"login --secret hunter2\"]";
    let all = [
        (table(""), "denied"),
        (table(&format!("deny_commands = {line}")), "denied"),
        (table("commands = [{ argv = [\"login\", \"--secret\", \"hunter2\"], user = \"a\" }]"), "denied"),
        (table(&format!("commands = {line}")), "allowed"),
        (Grants::allow_all(), "allowed"),
    ];
    for (grants, decision) in all {
        let plain = heard(&grants, false);
        assert!(plain.contains(decision) && plain.contains("hunter2"), "{plain}");
        let secret = heard(&grants, true);
        assert!(secret.contains(decision) && secret.contains("[sensitive]") && !secret.contains("hunter2"), "{secret}");
    }
}

#[test]
fn a_permission_that_is_asked_for_again_is_counted() {
    let heard = Heard::default();
    let grants = Grants::parse("[policy.p]\npackages = [\"a\", \"b\"]", "grants.toml").unwrap();
    let policy = grants.policy("p", &[]);
    tracing::subscriber::with_default(heard.clone(), || {
        for name in ["a", "b", "a", "a"] {
            let _ = policy.package(name).unwrap();
        }
        policy.end_audit();
    });
    let text = heard.0.lock().unwrap().clone();
    assert_eq!((text.matches("asked=\"a\"").count(), text.matches("asked=\"b\"").count()), (2, 1), "{text}");
    assert_eq!(text.matches("times=3").count(), 1, "{text}");
}

#[test]
fn a_flood_of_questions_is_counted_and_hides_no_refusal() {
    const MIB: usize = 1 << 20;
    let heard = Heard::default();
    let grants = Grants::parse("[policy.p]\npackages = [\"*\"]", "grants.toml").unwrap();
    let policy = grants.policy("p", &[]);
    tracing::subscriber::with_default(heard.clone(), || {
        let name = "x".repeat(2_000);
        // Each is another one: what is asked for again is only counted.
        for at in 0..13_500 {
            let _ = policy.package(&format!("{at}{name}"));
        }
        assert!(policy.service("after").is_err());
        policy.end_audit();
    });
    let text = heard.0.lock().unwrap().clone();
    assert!((10 * MIB..20 * MIB).contains(&text.len()), "{} bytes were written", text.len());
    let end = text.get(text.len() - 1_000..).unwrap();
    assert!(end.contains("decision=\"denied\"") && end.contains("asked=\"after\""), "{end}");
    assert!(end.contains("more permissions of policy p were not written"), "{end}");
}
