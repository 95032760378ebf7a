//! Converts between the WIT's types and the runner's. This file, or the crate that receives a value, limits the size of each
//! text and list.

mod phases;
pub(crate) mod values;

use crate::bindings::wrun::{resources::collection as wit, turns::turns, types::types};
use crate::limits::{JSON_VALUES, ORIGIN_FILE, ORIGIN_NAME, RAISED_FRAMES, RAISED_HINT, RAISED_TEXT};
use crate::policy_guest::PolicyGuest;
use crate::rules::ProtocolViolation;
use contract::{
    Amendment, Answer, Call, ClosureValue, CommandLine, CommandTest, Declaration, Errand, ErrorKind, Failure,
    FailureMode, Guard, GuestMessage, HostMessage, Property, Raised, Request, ResourceRef, Test, Timing, Wish,
    json_text_bytes,
};
use node::origin::Origin;
use serde_json::Value;
use text::check_json_values;

/// Returns an upper bound of the additional host memory for a reply while it is parsed, in bytes.
pub(crate) fn message_bytes(message: &turns::GuestMessage) -> u64 {
    match message {
        turns::GuestMessage::Answer(turns::NumberedAnswer { answer: turns::Answer::Value(json), .. }) => {
            json_text_bytes(json)
        }
        _ => 0,
    }
}

/// Converts a guest's message. Returns `None` for `ready`, which is not a message to the runner.
pub(crate) fn said(
    guest: PolicyGuest,
    message: turns::GuestMessage,
) -> Result<Option<GuestMessage>, ProtocolViolation> {
    Ok(Some(match message {
        turns::GuestMessage::Ready => return Ok(None),
        turns::GuestMessage::Task(task) => GuestMessage::Errand(match task {
            turns::Task::Converge(id) => Errand::Settle(id),
            turns::Task::RunAction(turns::ResourceAction { id, action }) => Errand::RunAction(id, action),
            turns::Task::IncludeRecipe(recipe) => Errand::IncludeRecipe(recipe),
            turns::Task::CloseContext(context) => Errand::Leave(context),
            turns::Task::AbandonContext(context) => Errand::Abandon(context),
        }),
        turns::GuestMessage::Answer(turns::NumberedAnswer { number: request, answer }) => {
            GuestMessage::Answer(match answer {
                turns::Answer::Finished => Answer::Finished,
                turns::Answer::Value(json) => match parse(&json) {
                    Ok(value) => Answer::Value(ClosureValue::Json(value)),
                    Err(why) => return Err(ProtocolViolation::BadValue { request, why }),
                },
                turns::Answer::Content(bytes) => Answer::Value(ClosureValue::Bytes(bytes)),
                turns::Answer::Failed(raised) => Answer::Failed(raised_from(guest, raised)),
            })
        }
    }))
}

pub(crate) fn told(guest: PolicyGuest, number: u32, tell: HostMessage) -> turns::HostMessage {
    let request = match tell {
        HostMessage::Done(outcome) => {
            return turns::HostMessage::Done(outcome.map_err(|failure| raised(guest, failure)));
        }
        HostMessage::Request(request) => request,
    };
    let request = match request {
        Request::Phase(phase) => turns::Request::Run(phases::phase(phase)),
        Request::Question(question) => turns::Request::Ask(phases::question(question)),
        Request::Evaluate { callback, input } => turns::Request::Evaluate(turns::Evaluation {
            callback: guest.number(callback),
            input: input.map(|value| value.to_string()),
        }),
        Request::Act(Call { resource, action, context, why_run }) => {
            turns::Request::Act(turns::ActionCall { id: resource, action, context, why_run })
        }
        Request::Inspect(id) => turns::Request::Inspect(id),
        Request::Forget(context) => turns::Request::Forget(context),
    };
    turns::HostMessage::Request(turns::NumberedRequest { number, request })
}

/// Parses a guest's JSON text. It refuses a nesting deeper than the 128 levels that `serde_json` allows. This limit must
/// stay. It also refuses texts with more than [`JSON_VALUES`] values. Each value costs far more memory here than in the
/// guest's text.
pub(crate) fn parse(json: &str) -> Result<Value, String> {
    if let Some(text) = plain_text(json) {
        return Ok(Value::String(text.to_owned()));
    }
    check_json_values(json.as_bytes(), JSON_VALUES)?;
    serde_json::from_str(json).map_err(|error| error.to_string())
}

/// Returns the text of a JSON string without escapes, or `None` for any other JSON. It is a shortcut, because most properties
/// are such strings.
fn plain_text(json: &str) -> Option<&str> {
    let text = json.strip_prefix('"')?.strip_suffix('"')?;
    let is_escaped = |byte: u8| matches!(byte, b'"' | b'\\' | 0..=0x1F);
    (!text.bytes().any(is_escaped)).then_some(text)
}

/// Converts a failure to the exception that guest code gets.
pub(crate) fn raised(guest: PolicyGuest, failure: Failure) -> types::Raised {
    let raised = failure.into_raised();
    let class = raised.class().to_owned();
    let Raised { message, passed, backtrace, object, hint, unshown, .. } = raised;
    let message = unshown.map_or(message, contract::SensitiveMessage::for_its_guest);
    types::Raised { class, message, passed, backtrace, object: object.and_then(|object| guest.own(object)), hint }
}

fn raised_from(guest: PolicyGuest, raised: types::Raised) -> Raised {
    let limit = |text: String, most: usize| if text.len() > most { shorten(&text, most) } else { text };
    let cut = |text: String| limit(text, RAISED_TEXT);
    Raised {
        passed: raised.passed.into_iter().take(contract::MAX_DEPTH as usize).map(cut).collect(),
        backtrace: raised.backtrace.into_iter().take(RAISED_FRAMES).map(cut).collect(),
        object: raised.object.and_then(|object| guest.mark(object)),
        hint: raised.hint.filter(|hint| !hint.is_empty()).map(|hint| limit(hint, RAISED_HINT)),
        ..Raised::of_class(&cut(raised.class), cut(raised.message))
    }
}

/// Returns the beginning of a text, cut between two characters, with three dots.
pub(crate) fn shorten(text: &str, longest: usize) -> String {
    let end = (0..=longest).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}...", text.get(..end).unwrap_or_default())
}

/// Converts a guest's origin, with texts of a kibibyte at most.
pub(crate) fn origin(policy: &str, origin: types::Origin) -> Origin {
    let known = |text: String, longest: usize| {
        let text = if text.len() > longest { shorten(&text, longest) } else { text };
        Some(text).filter(|text| !text.is_empty())
    };
    Origin {
        policy: policy.into(),
        cookbook: known(origin.cookbook, ORIGIN_NAME),
        recipe: known(origin.recipe, ORIGIN_NAME),
        file: known(origin.file, ORIGIN_FILE),
        line: Some(origin.line).filter(|line| *line > 0),
    }
}

/// Returns an upper bound of the additional host memory for a declaration while it is parsed, in bytes.
pub(crate) fn declaration_bytes(declaration: &wit::Declaration) -> u64 {
    declaration.properties.iter().map(|property| property_text_bytes(&property.value)).sum()
}

/// Returns an upper bound of the additional host memory for an amendment while it is parsed, in bytes.
pub(crate) fn amendment_bytes(amendment: &wit::Amendment) -> u64 {
    match amendment {
        wit::Amendment::Property(property) => property_text_bytes(&property.value),
        _ => 0,
    }
}

fn property_text_bytes(property: &wit::Property) -> u64 {
    match property {
        wit::Property::Plain(json) => json_text_bytes(json),
        wit::Property::Text(_)
        | wit::Property::Bytes(_)
        | wit::Property::Lazy(_)
        | wit::Property::Rendered(_)
        | wit::Property::Verify(_) => 0,
    }
}

pub(crate) fn declaration(policy: &str, guest: PolicyGuest, from: wit::Declaration) -> Result<Declaration, Failure> {
    let properties: Result<Vec<_>, Failure> = from
        .properties
        .into_iter()
        .map(|wit::NamedProperty { name, value }| {
            let value = property(guest, &name, value)?;
            Ok((name, value))
        })
        .collect();
    let guards: Result<_, Failure> = from.guards.into_iter().map(|from| guard(guest, from)).collect();
    Ok(Declaration {
        context: from.context,
        kind: from.kind,
        name: from.name,
        origin: origin(policy, from.origin).into(),
        actions: from.actions,
        properties: properties?,
        guards: guards?,
        notifications: from.notifications.into_iter().map(wish).collect(),
        retries: from.retries,
        retry_delay: from.retry_delay,
        on_failure: failure_mode(from.on_failure),
        sensitive: from.sensitive,
        umask: from.umask,
        detached: from.detached,
        guest_id: guest.guest_id(),
        own: None,
    })
}

fn failure_mode(mode: wit::FailureMode) -> FailureMode {
    match mode {
        wit::FailureMode::Raise => FailureMode::Raise,
        wit::FailureMode::Ignore => FailureMode::Ignore,
        wit::FailureMode::IgnoreQuietly => FailureMode::IgnoreQuietly,
    }
}

fn property(guest: PolicyGuest, name: &str, property: wit::Property) -> Result<Property, Failure> {
    Ok(match property {
        wit::Property::Text(text) => Property::Plain(Value::String(text)),
        wit::Property::Plain(json) => {
            Property::Plain(parse(&json).map_err(|why| {
                Failure::raised(ErrorKind::InvalidValue, format!("property {name} is not JSON: {why}"))
            })?)
        }
        wit::Property::Bytes(bytes) => Property::Bytes(bytes),
        wit::Property::Lazy(callback) => Property::Lazy(closure(guest, callback)?),
        wit::Property::Rendered(callback) => Property::Rendered(closure(guest, callback)?),
        wit::Property::Verify(callback) => Property::Verify(closure(guest, callback)?),
    })
}

/// Marks a closure's number as its guest's, or fails if the number is too large.
fn closure(guest: PolicyGuest, callback: u32) -> Result<u32, Failure> {
    let too_large =
        || Failure::raised(ErrorKind::InvalidArgument, format!("{callback} is too large for a closure's number"));
    guest.mark(callback).ok_or_else(too_large)
}

/// Converts a property back to the form in which the guest wrote it.
pub(crate) fn property_back(guest: PolicyGuest, property: &Property) -> wit::Property {
    match property {
        Property::Plain(Value::String(text)) => wit::Property::Text(text.clone()),
        Property::Plain(value) => wit::Property::Plain(value.to_string()),
        Property::Bytes(bytes) => wit::Property::Bytes(bytes.clone()),
        Property::Lazy(callback) => wit::Property::Lazy(guest.number(*callback)),
        Property::Rendered(callback) => wit::Property::Rendered(guest.number(*callback)),
        Property::Verify(callback) => wit::Property::Verify(guest.number(*callback)),
    }
}

fn guard(guest: PolicyGuest, guard: wit::Guard) -> Result<Guard, Failure> {
    let test = match guard.test {
        wit::Test::Command(command_of) => Test::Command(Box::new(command(command_of))),
        wit::Test::Block(callback) => Test::Block(closure(guest, callback)?),
    };
    Ok(Guard { negated: guard.negated, test })
}

pub(crate) fn command(command: types::Command) -> CommandTest {
    CommandTest {
        line: match command.line {
            types::CommandLine::Text(line) => CommandLine::Text(line),
            types::CommandLine::Arguments(arguments) => CommandLine::Arguments(arguments),
        },
        user: command.user,
        group: command.group,
        cwd: command.cwd,
        environment: command.environment.into_iter().map(|it| (it.name, it.value)).collect(),
        timeout: command.timeout,
        umask: command.umask,
        interpreter: command.interpreter,
        input: command.input,
        sensitive: false,
    }
}

fn wish(wish: wit::Notification) -> Wish {
    Wish {
        action: wish.action,
        other: match wish.other {
            wit::Party::Key(key) => ResourceRef::Key(key),
            wit::Party::Declared(id) => ResourceRef::Resource(id),
        },
        timing: match wish.timing {
            wit::Timing::Before => Timing::Before,
            wit::Timing::Immediate => Timing::Immediate,
            wit::Timing::Delayed => Timing::Delayed,
        },
        subscribes: wish.subscribes,
    }
}

pub(crate) fn amendment(guest: PolicyGuest, amendment: wit::Amendment) -> Result<Amendment, Failure> {
    Ok(match amendment {
        wit::Amendment::Actions(actions) => Amendment::Actions(actions),
        wit::Amendment::Property(wit::NamedProperty { name, value }) => {
            let value = property(guest, &name, value)?;
            Amendment::Property(name, value)
        }
        wit::Amendment::Clear(name) => Amendment::Clear(name),
        wit::Amendment::Guard(added) => Amendment::Guard(guard(guest, added)?),
        wit::Amendment::Notification(added) => Amendment::Notification(wish(added)),
        wit::Amendment::Delayed(action) => Amendment::Delayed(action),
        wit::Amendment::Retries(wit::Retry { count, delay }) => Amendment::Retries(count, delay),
        wit::Amendment::OnFailure(mode) => Amendment::OnFailure(failure_mode(mode)),
        wit::Amendment::Sensitive(sensitive) => Amendment::Sensitive(sensitive),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_of_many_values_is_refused_before_it_takes_memory() {
        let zeros = format!("[{}0]", "0,".repeat(JSON_VALUES));
        assert_eq!(parse(&zeros).unwrap_err(), format!("it has more than {JSON_VALUES} values"));
        assert_eq!(parse("[0,0]"), Ok(serde_json::json!([0, 0])));
    }
}
