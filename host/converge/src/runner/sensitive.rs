//! Hides secrets of sensitive resources: their guards, and the errors of their blocks and lazy values.

use super::Runner;
use contract::{
    Answer, Callback, ClosureValue, ErrorKind, Failure, Guest, Property, Providers, Request, ResourceId, Wanted,
};
use errors::chef::OUTPUT_BEGINS;
use serde_json::Value;

/// The text in place of a guard.
pub(super) const SUPPRESSED_GUARD: &str = "suppressed sensitive guard";

/// The text in place of the sentences of a composite action.
pub(super) const SUPPRESSED_CHANGE: &str = "suppressed sensitive resource";

/// The text in place of a secret value in a provider's sentence.
const SUPPRESSED_VALUE: &str = "(not shown)";

/// Minimum length of a hidden value, in bytes. Shorter ones occur in words of the sentence itself.
const LEAST_VALUE: usize = 4;

/// Maximum length of a hidden value, in bytes: no sentence quotes a longer one.
const LONGEST_VALUE: usize = 64 << 10;

/// Maximum amount of text that is searched for the values of one sentence, in bytes. If there is more, the sentence is not
/// shown at all.
const MOST_WORK: usize = 16 << 20;

/// Properties that reports show even for sensitive resources (see `docs/SECURITY.md`).
const PLAIN_TO_SEE: [&str; 3] = ["owner", "group", "mode"];

/// The secret values of a sensitive resource, for hiding them in the texts of its provider. The resource's name is never
/// hidden.
pub(super) struct SecretValues {
    is_sensitive: bool,
    texts: Vec<String>,
}

impl SecretValues {
    /// Collects the secret values; none if the resource is not sensitive.
    pub(super) fn of(wanted: &Wanted<'_>) -> Self {
        let mut texts: Vec<String> = Vec::new();
        let is_sensitive = wanted.declaration.sensitive;
        if !is_sensitive {
            return Self { is_sensitive, texts };
        }
        for (_, property) in wanted.declaration.properties.iter().filter(|(name, _)| !is_plain_to_see(name)) {
            match property {
                Property::Plain(value) => collect(value, &mut texts),
                Property::Bytes(bytes) => texts.extend(text_of(bytes)),
                Property::Lazy(_) | Property::Rendered(_) | Property::Verify(_) => {}
            }
        }
        for (_, value) in wanted.resolved.iter().filter(|(name, _)| !is_plain_to_see(name)) {
            match value {
                ClosureValue::Json(value) => collect(value, &mut texts),
                ClosureValue::Bytes(bytes) => texts.extend(text_of(bytes)),
            }
        }
        let name = &wanted.declaration.name;
        texts.retain(|text| text.len() >= LEAST_VALUE && !name.contains(text.as_str()));
        let escaped: Vec<_> = texts.iter().map(|text| text.escape_debug().to_string()).collect();
        texts.extend(escaped);
        // The longest first, so that a value which contains another one is hidden completely.
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        texts.dedup();
        Self { is_sensitive, texts }
    }

    /// Hides the values in a sentence.
    pub(super) fn hide(&self, mut said: String) -> String {
        if said.len().saturating_mul(self.texts.len()) > MOST_WORK {
            return SUPPRESSED_CHANGE.to_owned();
        }
        for text in &self.texts {
            if said.contains(text.as_str()) {
                said = said.replace(text.as_str(), SUPPRESSED_VALUE);
            }
        }
        said
    }

    /// Hides the values in a provider's failure. A denial never contains them.
    pub(super) fn hide_in(&self, failure: Failure) -> Failure {
        match failure {
            failure if !self.is_sensitive || failure.is_denial() => failure,
            Failure::Raised(mut raised) => {
                // The output of a command is as secret as the command.
                if let Some((sentence, _)) = raised.message.split_once(OUTPUT_BEGINS) {
                    raised.message =
                        format!("{sentence}the command's output is not shown, since the resource is sensitive");
                }
                raised.message = self.hide(raised.message);
                raised.hint = raised.hint.map(|hint| self.hide(hint));
                Failure::Raised(raised)
            }
            other => other,
        }
    }
}

fn is_plain_to_see(property: &str) -> bool {
    PLAIN_TO_SEE.contains(&property)
}

fn text_of(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| text.len() <= LONGEST_VALUE)?;
    Some(text.to_owned())
}

/// Collects all texts and numbers in a value.
fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) if text.len() > LONGEST_VALUE => {}
        Value::String(text) => texts.push(text.clone()),
        Value::Number(number) => texts.push(number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(entries) => entries.values().for_each(|entry| collect(entry, texts)),
        Value::Null | Value::Bool(_) => {}
    }
}

impl<G: Guest, P: Providers> Runner<'_, G, P> {
    /// Evaluates a closure of a resource. Its exception is as secret as the resource's values.
    pub(super) async fn evaluate_of(
        &mut self,
        resource: ResourceId,
        callback: Callback,
        input: Option<Value>,
    ) -> Result<ClosureValue, Failure> {
        match self.ask(Request::Evaluate { callback, input }).await {
            Ok(Answer::Value(value)) => Ok(value),
            // The sandbox rejects answers of a wrong kind, so this does not happen.
            Ok(_) => Err(self.lost("gave no value".into())),
            Err(failure) => Err(self.hidden(resource, failure)),
        }
    }

    /// Removes the message of a failure if the resource is sensitive. The class and the place stay, and also the fact that a
    /// dry run refused an operation.
    pub(super) fn hidden(&mut self, resource: ResourceId, failure: Failure) -> Failure {
        if !self.is_sensitive(resource) {
            return failure;
        }
        let is_refusal = failure.is_dry_refusal();
        let mut hidden = self.run.hide(failure);
        if let Failure::Raised(raised) = &mut hidden
            && is_refusal
        {
            raised.kind = ErrorKind::DryRun;
        }
        hidden
    }

    pub(super) fn is_sensitive(&self, resource: ResourceId) -> bool {
        self.run.known(resource).is_ok_and(|resource| resource.declaration.sensitive)
    }
}
