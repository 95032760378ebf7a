//! What sensitive resources must not show: their guards, what their blocks and lazy values raise.

use super::Runner;
use contract::{
    Answer, Callback, ClosureValue, DRY_REFUSAL, Failure, Guest, Property, Providers, Request, ResourceId, Wanted,
};
use serde_json::Value;
use std::borrow::Cow;

/// What stands for a guard.
pub(super) const SUPPRESSED_GUARD: &str = "suppressed sensitive guard";

/// What stands for the sentences of a composite action.
pub(super) const SUPPRESSED_CHANGE: &str = "suppressed sensitive resource";

/// What stands for a value of a sensitive resource in a provider's message.
const SUPPRESSED_VALUE: &str = "(not shown)";

/// The least bytes of a value that is looked for in a message. Shorter ones are in words of the message itself.
const LEAST_VALUE: usize = 4;

/// A provider's failure, without the values of its resource if that is sensitive. The resource's name stays, as it does
/// everywhere, and so does a denial: that shows nothing of a sensitive resource already.
pub(super) fn without_values(wanted: &Wanted<'_>, failure: Failure) -> Failure {
    if !wanted.declaration.sensitive || failure.is_denial() {
        return failure;
    }
    let mut raised = match failure {
        Failure::Raised(raised) => raised,
        other => return other,
    };
    let mut texts: Vec<Cow<'_, str>> = Vec::new();
    for (_, property) in &wanted.declaration.properties {
        match property {
            Property::Plain(value) => collect(value, &mut texts),
            Property::Bytes(bytes) => texts.extend(std::str::from_utf8(bytes).ok().map(Cow::Borrowed)),
            Property::Lazy(_) | Property::Rendered(_) | Property::Verify(_) => {}
        }
    }
    for (_, value) in &wanted.resolved {
        match value {
            ClosureValue::Json(value) => collect(value, &mut texts),
            ClosureValue::Bytes(bytes) => texts.extend(std::str::from_utf8(bytes).ok().map(Cow::Borrowed)),
        }
    }
    let name = &wanted.declaration.name;
    texts.retain(|text| text.len() >= LEAST_VALUE && !name.contains(text.as_ref()));
    // The longest first: what holds another value goes as a whole.
    texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
    for text in texts {
        for shown in [text.as_ref(), text.escape_debug().to_string().as_str()] {
            for said in std::iter::once(&mut raised.message).chain(&mut raised.hint) {
                if said.contains(shown) {
                    *said = said.replace(shown, SUPPRESSED_VALUE);
                }
            }
        }
    }
    Failure::Raised(raised)
}

/// All texts and numbers in a value.
fn collect<'a>(value: &'a Value, texts: &mut Vec<Cow<'a, str>>) {
    match value {
        Value::String(text) => texts.push(Cow::Borrowed(text)),
        Value::Number(number) => texts.push(Cow::Owned(number.to_string())),
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
            DRY_REFUSAL.clone_into(&mut raised.class);
        }
        hidden
    }

    pub(super) fn is_sensitive(&self, resource: ResourceId) -> bool {
        self.run.known(resource).is_ok_and(|resource| resource.declaration.sensitive)
    }
}
