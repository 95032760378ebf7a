//! Implements the loop of turns: passes the turn to the host, answers its requests, and returns when the host is done. It
//! serves compile, converge, child resources that converge at their declaration, and handlers.

use crate::bindings::wrun::turns::turns::{
    self, Answer, GuestMessage, HostMessage, NumberedAnswer, Phase, Question, Request, Task,
};
use crate::bindings::wrun::types::types::Raised;
use crate::cookbook::{self, Cookbook};
use crate::custom;
use crate::error::{Error, Result};
use crate::handlers;
use crate::json::parse;
use crate::log;
use crate::node;
use crate::outside;
use crate::table::{Got, no_such, short, table};
use serde_json::{Value, json};
use std::panic::Location;
use std::rc::Rc;

/// Implements the component's only export: answers the host's requests until the host sends `done`.
pub fn serve(cookbooks: fn() -> Vec<Cookbook>) {
    begin(cookbooks);
    let _ = converse(GuestMessage::Ready);
}

/// Registers the cookbooks, once, and reports panics with their place.
pub fn begin(cookbooks: fn() -> Vec<Cookbook>) {
    std::panic::set_hook(Box::new(|panic| {
        let file = panic.location().map(Location::file).unwrap_or_default();
        let place = panic.location().map(|place| format!("{}: ", short(place))).unwrap_or_default();
        let payload = panic.payload();
        let text =
            payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let text = text.unwrap_or("no message");
        // A place in Rust's own library does not help the author, so it is omitted.
        let advice = outside::advice(text, file);
        let is_without_place = advice.is_some() && file.starts_with("/rustc/");
        let words = if is_without_place { format!("panicked: {text}") } else { format!("panicked at {place}{text}") };
        log::fatal(&words, advice);
    }));
    #[cfg(feature = "log")]
    log::take_the_crates_records();
    let known = table(|table| !table.cookbooks.is_empty());
    if !known {
        let cookbooks = cookbooks().into_iter().map(Rc::new).collect();
        table(|table| table.cookbooks = cookbooks);
    }
}

/// Sends a task to the host, and answers its requests until the task is complete.
pub(crate) fn complete(task: Task) -> Result {
    Ok(converse(GuestMessage::Task(task))?)
}

fn converse(message: GuestMessage) -> std::result::Result<(), Raised> {
    let mut told = next(&message);
    loop {
        match told {
            HostMessage::Done(outcome) => return outcome,
            HostMessage::Request(asked) => {
                let answer = answer(asked.request);
                told = next(&GuestMessage::Answer(NumberedAnswer { number: asked.number, answer }));
            }
        }
    }
}

/// Passes the turn to the host, after writing printed text that lacks a line end.
fn next(message: &GuestMessage) -> HostMessage {
    log::flush();
    let turn = turns::next(message);
    node::begin_turn(turn.attributes_version);
    turn.message
}

/// Answers a request of the host.
pub fn answer(request: Request) -> Answer {
    let finished = match request {
        Request::Evaluate(evaluation) => {
            let closure = table(|table| table.closures.get(&evaluation.callback).cloned());
            let Some(closure) = closure else {
                return Answer::Failed(no_such("closure", &evaluation.callback.to_string()));
            };
            let input = match evaluation.input.map(|json| parse(&json)).transpose() {
                Ok(input) => input,
                Err(error) => return Answer::Failed(error.into_raised()),
            };
            return match closure(input) {
                Ok(Got::Json(value)) => Answer::Value(value.to_string()),
                Ok(Got::Bytes(bytes)) => Answer::Content(bytes),
                Err(error) => Answer::Failed(error.into_raised()),
            };
        }
        Request::Inspect(id) => {
            return match custom::current_value(id) {
                Ok(state) => Answer::Value(state.unwrap_or(Value::Null).to_string()),
                Err(error) => Answer::Failed(error.into_raised()),
            };
        }
        Request::Act(call) => custom::act(&call),
        Request::Forget(context) => {
            table(|table| table.forget(context));
            Ok(())
        }
        Request::Ask(Question::Describe) => return Answer::Value(cookbook::describe().to_string()),
        Request::Ask(_) => Err(Error::new("Wrun::GuestError", "only a language runtime is asked this")),
        Request::Run(phase) => run(&phase),
    };
    finished.map_or_else(|error| Answer::Failed(error.into_raised()), |()| Answer::Finished)
}

fn run(phase: &Phase) -> Result {
    match phase {
        Phase::Load(input) => cookbook::load(input),
        Phase::Compile(recipe) => cookbook::compile(recipe),
        Phase::Start(start) => {
            handlers::run("start", &json!({ "run_id": start.run_id, "start_time": start.start_time }))
        }
        Phase::Event(event) => handlers::run(&event.name, &parse(&event.details)?),
        Phase::Report(status) => handlers::run("report", &parse(status)?),
        Phase::Exception(status) => handlers::run("exception", &parse(status)?),
    }
}
