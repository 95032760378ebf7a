//! Checks that were left out, because what they would be held against is not known.

use super::gather::Gathered;
use std::collections::BTreeMap;
use text::counted;

/// Checks of one kind that were left out for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The subject, as that of findings: `property`, `action`, `notification`.
    pub kind: &'static str,
    /// The number of places that were not checked.
    pub checks: usize,
    /// A clause: `the cookbook base is not here`.
    pub why: String,
}

impl LeftOut {
    /// A sentence for people.
    pub fn sentence(&self) -> String {
        let checks = counted(self.checks, &format!("{} check", self.kind));
        format!("{checks} left out: {}", self.why)
    }
}

/// Counts reasons by the kind of check.
#[derive(Default)]
pub(super) struct Counter(BTreeMap<(&'static str, String), usize>);

impl Counter {
    pub(super) fn add(&mut self, kind: &'static str, why: String) {
        *self.0.entry((kind, why)).or_default() += 1;
    }

    pub(super) fn into_list(self) -> Vec<LeftOut> {
        self.0.into_iter().map(|((kind, why), checks)| LeftOut { kind, checks, why }).collect()
    }
}

/// Why nothing can be said of what a missing cookbook may bring.
pub(super) fn missing(gathered: &Gathered) -> String {
    let names = gathered.missing.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    match gathered.missing.len() {
        1 => format!("the cookbook {names} is not here"),
        _ => format!("the cookbooks {names} are not here"),
    }
}
