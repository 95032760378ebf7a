//! Estimates the host's memory for values. An estimate is never less than half of the real size.

use crate::{Claim, Failure, Guard, Property, Raised, ResourceRef, Test, Wish};
use crate::{CommandLine, CommandTest};
use node::origin::Origin;
use serde_json::Value;

/// Bytes of a JSON value itself, in an array or alone.
const VALUE: u64 = 32;

/// Bytes of an object's member without the text of its key: two cells, a hash and a table entry.
const MEMBER: u64 = 80;

/// Additional bytes of the allocator for a text.
const TEXT: u64 = 40;

/// Estimates the bytes of a JSON value with all its parts.
pub fn value_bytes(value: &Value) -> u64 {
    match value {
        Value::String(text) => VALUE + text_bytes(text),
        Value::Array(array) => VALUE + array.iter().map(value_bytes).sum::<u64>(),
        Value::Object(object) => {
            let members = object.iter().map(|(key, value)| MEMBER + key.len() as u64 + value_bytes(value));
            VALUE + TEXT + members.sum::<u64>()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => VALUE,
    }
}

/// Estimates the maximum bytes of a JSON text's value, without parsing the text.
pub fn json_text_bytes(json: &str) -> u64 {
    // Most texts are one string or number. A text that is neither a list nor an object is one value, so its characters need
    // not be counted.
    if !json.trim_ascii_start().starts_with(['[', '{']) {
        return json.len() as u64 + VALUE + TEXT;
    }
    // Each value except the first follows one of these characters.
    let values = json.bytes().filter(|byte| matches!(byte, b',' | b'[' | b'{' | b':')).count() as u64;
    json.len() as u64 + (values + 1).saturating_mul(VALUE + TEXT)
}

/// Estimates the maximum bytes of a claim and its claimant. A claimant's key is about as long as an identity's name.
pub fn claim_bytes(claim: &Claim) -> u64 {
    let aspects = claim.aspects.iter();
    let aspects = aspects.map(|(_, value)| MEMBER + value.as_ref().map_or(0, |value| text_bytes(value)));
    let kept = claim.kept_below.iter().flatten().map(|path| MEMBER + text_bytes(path));
    512 + 4 * text_bytes(&claim.identity.name) + aspects.sum::<u64>() + kept.sum::<u64>()
}

pub(crate) fn text_bytes(text: &str) -> u64 {
    TEXT + text.len() as u64
}

pub(crate) fn origin_bytes(origin: &Origin) -> u64 {
    let parts = [&origin.cookbook, &origin.recipe, &origin.file];
    128 + parts.into_iter().flatten().map(|text| text_bytes(text)).sum::<u64>()
}

pub(crate) fn property_bytes(name: &str, property: &Property) -> u64 {
    let value = match property {
        Property::Plain(value) => value_bytes(value),
        Property::Bytes(bytes) => TEXT + bytes.len() as u64,
        Property::Lazy(_) | Property::Rendered(_) | Property::Verify(_) => VALUE,
    };
    text_bytes(name) + value
}

pub(crate) fn guard_bytes(guard: &Guard) -> u64 {
    match &guard.test {
        Test::Block(_) | Test::Decided(_) => VALUE,
        Test::Command(command) => command_bytes(command),
    }
}

fn command_bytes(command: &CommandTest) -> u64 {
    let line = match &command.line {
        CommandLine::Text(text) => text_bytes(text),
        CommandLine::Arguments(arguments) => arguments.iter().map(|text| text_bytes(text)).sum(),
    };
    let options = [&command.user, &command.group, &command.cwd, &command.interpreter];
    let options = options.into_iter().flatten().map(|text| text_bytes(text)).sum::<u64>();
    let variables = command.environment.iter();
    let variables = variables.map(|(name, value)| text_bytes(name) + text_bytes(value));
    let input = command.input.as_ref().map_or(0, |input| TEXT + input.len() as u64);
    256 + line + options + variables.sum::<u64>() + input
}

/// Estimates the bytes of a wish (a declared notification) and of the notification itself, with the sender's key.
pub(crate) fn wish_bytes(wish: &Wish, key: &str) -> u64 {
    let other = match &wish.other {
        ResourceRef::Key(key) => text_bytes(key),
        ResourceRef::Resource(_) => 0,
    };
    128 + 2 * (text_bytes(&wish.action) + other) + text_bytes(key)
}

pub(crate) fn failure_bytes(failure: &Failure) -> u64 {
    let texts = |texts: &[String]| texts.iter().map(|text| text_bytes(text)).sum::<u64>();
    match failure {
        Failure::Raised(raised) => {
            let Raised { message, passed, backtrace, hint, .. } = raised.as_ref();
            let hint = hint.as_ref().map_or(0, |hint| text_bytes(hint));
            128 + text_bytes(raised.class()) + text_bytes(message) + texts(passed) + texts(backtrace) + hint
        }
        Failure::GuestLost(lost) => {
            128 + text_bytes(&lost.why) + texts(&lost.backtrace) + lost.hint.as_ref().map_or(0, |hint| text_bytes(hint))
        }
        Failure::Stopped(_) => VALUE,
        Failure::Many(all) => all.iter().map(|(_, failure)| failure_bytes(failure)).sum::<u64>() + VALUE,
    }
}
