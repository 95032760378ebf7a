//! Hides the values of sensitive resources in sentences, diffs, uncertainties and errors.
//!
//! Providers leave secrets out of their own texts. This module also checks everything that leaves the crate, because a
//! message of the kernel, a server or a parser may repeat its input.

use crate::plan::Plan;
use contract::{Certainty, Change, Known, Raised, Wanted};
use schema::resource::ResourceType;
use serde_json::Value;

/// The text in place of a secret.
pub(crate) const SENSITIVE: &str = "[sensitive]";

/// Properties whose values may be secrets, in types of cookbooks too. Those of the built-in types that are marked as secret, or as
/// hidden with their resource, count as well. What a resource manages (a path, an owner, a package) is shown.
const SECRET: [&str; 24] = [
    "additional_remotes",
    "ca_key_pass",
    "code",
    "command",
    "content",
    "creates",
    "default_release",
    "device",
    "env",
    "environment",
    "flags",
    "headers",
    "input",
    "key_pass",
    "message",
    "options",
    "password",
    "private_key_content",
    "private_key_pass",
    "repository",
    "source",
    "url",
    "variables",
    "verify",
];

/// Minimum length of a text that is hidden, in bytes: shorter ones occur within other words.
const SHORTEST: usize = 4;

/// Maximum number of hidden texts of one resource.
const MOST: usize = 1_000;

/// Maximum length of a text that is searched as a whole, in bytes. Of a longer text, each line is searched.
const LONGEST: usize = 64 << 10;

/// The secret texts of a resource, the longest first.
#[derive(Debug, Default)]
pub(crate) struct Secrets(Vec<String>);

impl Secrets {
    /// Returns the secrets of a sensitive resource; none for any other resource.
    pub(crate) fn of(wanted: &Wanted<'_>) -> Self {
        let mut texts = Vec::new();
        if wanted.declaration.sensitive {
            let marked = schema::find(&wanted.declaration.kind).into_iter().flat_map(ResourceType::own_properties);
            let marked = marked.filter(|property| property.sensitive || property.hidden_with_resource);
            for name in SECRET.into_iter().chain(marked.map(|property| property.name)) {
                match wanted.get(name) {
                    Some(Known::Json(value)) => collect(value, &mut texts),
                    Some(Known::Bytes(bytes)) => add(&String::from_utf8_lossy(bytes), &mut texts),
                    None => {}
                }
            }
        }
        // The resource's name is never hidden.
        texts.retain(|text| !wanted.declaration.name.contains(text.as_str()));
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        texts.dedup();
        Self(texts)
    }

    fn hide(&self, text: &mut String) {
        for secret in &self.0 {
            if text.contains(secret.as_str()) {
                *text = text.replace(secret.as_str(), SENSITIVE);
            }
        }
    }

    /// Hides the secrets in an exception.
    pub(crate) fn hide_in(&self, mut raised: Raised) -> Raised {
        self.hide(&mut raised.message);
        raised.hint.iter_mut().for_each(|hint| self.hide(hint));
        raised
    }

    /// Hides the secrets in a plan's sentences.
    pub(crate) fn hide_in_plan(&self, mut plan: Plan) -> Plan {
        if self.0.is_empty() {
            return plan;
        }
        for change in plan.steps.iter_mut().flat_map(|step| step.changes_mut()) {
            let Change { what, diff, .. } = change;
            self.hide(what);
            diff.iter_mut().for_each(|diff| self.hide(diff));
        }
        for certainty in &mut plan.certainty {
            let (Certainty::Assumed(why) | Certainty::Unknown(why)) = certainty;
            self.hide(why);
        }
        plan.parts.iter_mut().for_each(|part| self.hide(&mut part.name));
        plan
    }
}

/// Collects all texts of a value.
fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => add(text, texts),
        Value::Array(all) => all.iter().for_each(|one| collect(one, texts)),
        Value::Object(all) => all.values().for_each(|one| collect(one, texts)),
        _ => {}
    }
}

/// Adds a text, its lines, and for an address the user part and the part after the server: messages may repeat each of them
/// alone.
fn add(text: &str, texts: &mut Vec<String>) {
    let address = text.split_once("://").map(|(_, rest)| rest);
    let user = address.and_then(|rest| rest.rsplit_once('@')).map(|(user, _)| user);
    let rest = address.and_then(|rest| rest.split_once(['/', '?']));
    let query = text.split_once('?').map(|(_, query)| query);
    let password = user.and_then(|user| user.split_once(':')).map(|(_, password)| password);
    let path = text.strip_prefix("file://");
    let lines = text.lines().map(str::trim).filter(|_| text.contains('\n'));
    let parts = [user, rest.map(|(_, rest)| rest), query, password, path];
    let whole = Some(text).filter(|text| text.len() <= LONGEST);
    for part in whole.into_iter().chain(parts.into_iter().flatten()).chain(lines) {
        if texts.len() >= MOST {
            return;
        }
        if part.len() >= SHORTEST {
            texts.push(part.to_owned());
        }
    }
}
