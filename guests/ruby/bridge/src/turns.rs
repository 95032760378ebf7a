//! Implements `turns.next`, the only call that passes the turn to the host.

use crate::bindings::wrun::turns::turns::{
    self, ActionCall, Answer, Document, Evaluation, GuestMessage, HostMessage, Load, NumberedAnswer, NumberedRequest,
    Phase, Question, ResourceAction, Task,
};
use crate::printed;
use crate::reply::{Reply, raised_json};
use crate::request::Request;
use crate::values;
use crate::words::{Raised, parse};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json, json};

pub(crate) fn answer(request: &Request<'_>) -> Result<Reply, Reply> {
    if request.function != "next" {
        return Err(request.unknown());
    }
    let message = message(request)?;
    printed::flush();
    let turn = turns::next(&message);
    values::begin_turn(turn.attributes_version);
    Ok(Reply::Value(told(turn.message)))
}

/// `["ready"]`, `["settle", id]`, .., `["finished", number]`, `["value", number, json]`, ..
fn message(request: &Request<'_>) -> Result<GuestMessage, Reply> {
    let words = request.arguments::<Vec<&RawValue>>()?;
    fn word<'a, T: Deserialize<'a>>(words: &[&'a RawValue], at: usize) -> Result<T, Reply> {
        words.get(at).ok_or_else(|| Reply::argument_error("turns.next lacks a word")).and_then(|raw| parse(raw))
    }
    let task = |task| Ok(GuestMessage::Task(task));
    match word::<String>(&words, 0)?.as_str() {
        "ready" => Ok(GuestMessage::Ready),
        "settle" => task(Task::Converge(word(&words, 1)?)),
        "run-action" => task(Task::RunAction(ResourceAction { id: word(&words, 1)?, action: word(&words, 2)? })),
        "include-recipe" => task(Task::IncludeRecipe(word(&words, 1)?)),
        "leave" => task(Task::CloseContext(word(&words, 1)?)),
        "abandon" => task(Task::AbandonContext(word(&words, 1)?)),
        answered => {
            let answer = match answered {
                "finished" => Answer::Finished,
                "value" => Answer::Value(word::<&RawValue>(&words, 2)?.get().to_owned()),
                "content" => Answer::Content(request.bytes(word(&words, 2)?)?.to_vec()),
                "failed" => Answer::Failed(word::<Raised>(&words, 2)?.into()),
                other => return Err(Reply::argument_error(&format!("turns.next knows no word {other:?}"))),
            };
            Ok(GuestMessage::Answer(NumberedAnswer { number: word(&words, 1)?, answer }))
        }
    }
}

/// `["done"]`, `["done", raised]`, `["run", number, name, input]`, `["evaluate", number, callback, input]`, ..
fn told(message: HostMessage) -> String {
    let text = |text: &str| serde_json::to_string(text).unwrap_or_default();
    match message {
        HostMessage::Done(Ok(())) => "[\"done\"]".to_owned(),
        HostMessage::Done(Err(raised)) => format!("[\"done\",{}]", raised_json(&raised)),
        HostMessage::Request(NumberedRequest { number, request }) => match request {
            turns::Request::Run(asked) => {
                let (name, input) = phase(asked);
                format!("[\"run\",{number},\"{name}\",{input}]")
            }
            turns::Request::Ask(asked) => {
                let (name, input) = question(asked);
                format!("[\"run\",{number},\"{name}\",{input}]")
            }
            turns::Request::Evaluate(Evaluation { callback, input }) => {
                format!("[\"evaluate\",{number},{callback},{}]", input.as_deref().unwrap_or("null"))
            }
            turns::Request::Act(ActionCall { id, action, context, why_run }) => {
                format!("[\"act\",{number},{id},{},{context},{why_run}]", text(&action))
            }
            turns::Request::Inspect(id) => format!("[\"inspect\",{number},{id}]"),
            turns::Request::Forget(context) => format!("[\"forget\",{number},{context}]"),
        },
    }
}

/// Returns a phase's name and its input as JSON.
fn phase(phase: Phase) -> (&'static str, String) {
    match phase {
        Phase::Load(input) => ("load", load(input)),
        Phase::Compile(recipe) => ("compile", json!({ "recipe": recipe }).to_string()),
        Phase::Start(start) => ("start", json!({ "run_id": start.run_id, "start_time": start.start_time }).to_string()),
        Phase::Event(event) => ("event", event.details),
        Phase::Report(status) => ("report", status),
        Phase::Exception(status) => ("exception", status),
    }
}

fn load(input: Load) -> String {
    let places = input.places.into_iter().map(|it| (it.cookbook, Json::String(it.directory)));
    json!({
        "policy": input.policy,
        "cookbooks": input.cookbooks,
        "why_run": input.why_run,
        "survey": input.survey,
        "all_frames": input.all_frames,
        "places": places.collect::<Map<_, _>>(),
        "file_cache": input.file_cache,
        "run_list": input.run_list,
        "primary_run_list": input.primary_run_list,
        "environment": input.environment,
    })
    .to_string()
}

/// Returns a question's name and its input as JSON.
fn question(question: Question) -> (&'static str, String) {
    let document = |Document { name, file, source }| json!({ "name": name, "file": file, "source": source });
    match question {
        Question::Describe => ("describe", "{}".to_owned()),
        Question::Metadata(it) => ("metadata", json!({ "cookbook": it.cookbook, "place": it.place }).to_string()),
        Question::Check(it) => {
            let strings = json!({ "cookbook": it.cookbook, "name": it.name, "place": it.place, "file": it.file });
            let mut text = strings.to_string();
            text.pop();
            ("check", format!("{text},\"attributes\":{},\"properties\":{}}}", it.attributes, it.properties))
        }
        Question::Role(asked) => ("role", document(asked).to_string()),
        Question::Environment(asked) => ("environment", document(asked).to_string()),
        Question::Gems(asked) => ("gems", asked),
    }
}
