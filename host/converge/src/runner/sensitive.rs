//! What sensitive resources must not show: their guards, what their blocks and lazy values raise.

use super::Runner;
use contract::{
    Answer, Callback, ClosureValue, ErrorKind, Failure, Guest, Property, Providers, Request, ResourceId, Wanted,
};
use errors::chef::OUTPUT_BEGINS;
use serde_json::Value;

/// What stands for a guard.
pub(super) const SUPPRESSED_GUARD: &str = "suppressed sensitive guard";

/// What stands for the sentences of a composite action.
pub(super) const SUPPRESSED_CHANGE: &str = "suppressed sensitive resource";

/// What stands for a value of a sensitive resource in a sentence of its provider.
const SUPPRESSED_VALUE: &str = "(not shown)";

/// The least bytes of a value that is looked for in a sentence. Shorter ones are in words of the sentence itself.
const LEAST_VALUE: usize = 4;

/// The most bytes of a value that is looked for: no sentence quotes a longer one.
const LONGEST_VALUE: usize = 64 << 10;

/// The most bytes that are looked through for all values of one sentence. A longer sentence, or one for more values, is not
/// shown at all.
const MOST_WORK: usize = 16 << 20;

/// Properties that reports show of sensitive resources too, as `docs/SECURITY.md` says.
const PLAIN_TO_SEE: [&str; 3] = ["owner", "group", "mode"];

/// The values of a sensitive resource, to take them out of what its provider says. The resource's name stays, as it does
/// everywhere.
pub(super) struct SecretValues {
    is_sensitive: bool,
    texts: Vec<String>,
}

impl SecretValues {
    /// None, if the resource is not sensitive.
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
        // The longest first: what holds another value goes as a whole.
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        texts.dedup();
        Self { is_sensitive, texts }
    }

    /// A sentence without them.
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

    /// A provider's failure without them. A denial shows nothing of a sensitive resource already.
    pub(super) fn hide_in(&self, failure: Failure) -> Failure {
        match failure {
            failure if !self.is_sensitive || failure.is_denial() => failure,
            Failure::Raised(mut raised) => {
                // What a command printed is as secret as the command.
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

/// All texts and numbers in a value.
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
    /// Evaluates a closure of a resource. What it raises is as sensitive as the resource.
    pub(super) async fn evaluate_of(
        &mut self,
        resource: ResourceId,
        callback: Callback,
        input: Option<Value>,
    ) -> Result<ClosureValue, Failure> {
        match self.ask(Request::Evaluate { callback, input }).await {
            Ok(Answer::Value(value)) => Ok(value),
            // The sandbox lets no answer of the wrong kind through.
            Ok(_) => Err(self.lost("gave no value".into())),
            Err(failure) => Err(self.hidden(resource, failure)),
        }
    }

    /// A failure without its message, if the resource is sensitive. The class and the place stay; so does that a dry run
    /// refused something.
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
