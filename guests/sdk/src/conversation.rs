//! The loop: gives the turn away, serves what comes, returns when the host is done. The same for compile, converge, a
//! child that converges where it is declared, and handlers.

use crate::bindings::wrun::cookbook::turns::{self, Answer, Errand, Phase, Request, Said, Told};
use crate::bindings::wrun::cookbook::types::Raised;
use crate::cookbook::{self, Cookbook};
use crate::custom;
use crate::error::Result;
use crate::handlers;
use crate::log;
use crate::outside;
use crate::table::{Got, no_such, short, table};
use serde_json::Value;
use std::panic::Location;
use std::rc::Rc;

/// The component's one export: answers the host until it says that all is done.
pub fn serve(cookbooks: fn() -> Vec<Cookbook>) {
    begin(cookbooks);
    let _ = converse(Said::Ready);
}

/// Makes the cookbooks known, once, and has panics reported with their place.
pub fn begin(cookbooks: fn() -> Vec<Cookbook>) {
    std::panic::set_hook(Box::new(|panic| {
        let file = panic.location().map(Location::file).unwrap_or_default();
        let place = panic.location().map(|place| format!("{}: ", short(place))).unwrap_or_default();
        let payload = panic.payload();
        let text =
            payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let text = text.unwrap_or("no message");
        // Only a place of the author's own says anything about a call that the sandbox does not have.
        log::fatal(&match outside::advice(text, file) {
            Some(advice) if file.starts_with("/rustc/") => format!("panicked: {text}: {advice}"),
            Some(advice) => format!("panicked at {place}{text}: {advice}"),
            None => format!("panicked at {place}{text}"),
        });
    }));
    #[cfg(feature = "log")]
    log::take_the_crates_records();
    let known = table(|table| !table.cookbooks.is_empty());
    if !known {
        let cookbooks = cookbooks().into_iter().map(Rc::new).collect();
        table(|table| table.cookbooks = cookbooks);
    }
}

/// Sends an errand and answers what the host asks until it is over.
pub(crate) fn errand(errand: Errand) -> Result {
    Ok(converse(Said::Errand(errand))?)
}

fn converse(said: Said) -> std::result::Result<(), Raised> {
    let mut told = next(&said);
    loop {
        match told {
            Told::Done(outcome) => return outcome,
            Told::Request((number, request)) => told = next(&Said::Answer((number, answer(request)))),
        }
    }
}

/// Gives the turn away, after writing what was printed without a line end.
fn next(said: &Said) -> Told {
    log::flush();
    turns::next(said)
}

/// Does what the host asks.
pub fn answer(request: Request) -> Answer {
    let finished = match request {
        Request::Evaluate(evaluation) => {
            let closure = table(|table| table.closures.get(&evaluation.callback).cloned());
            let Some(closure) = closure else {
                return Answer::Failed(no_such("closure", &evaluation.callback.to_string()));
            };
            let input = evaluation.input.and_then(|json| serde_json::from_str(&json).ok());
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
        Request::Run(phase) if phase.name == DESCRIBE => return Answer::Value(cookbook::describe().to_string()),
        Request::Run(phase) => run(&phase),
    };
    finished.map_or_else(|error| Answer::Failed(error.into_raised()), |()| Answer::Finished)
}

/// The question that `wrun policy build` asks of a new component.
const DESCRIBE: &str = "describe";

fn run(phase: &Phase) -> Result {
    let input: Value = serde_json::from_str(&phase.input)?;
    match phase.name.as_str() {
        "load" => cookbook::load(&input),
        "compile" => cookbook::compile(input["recipe"].as_str().unwrap_or_default()),
        "event" => handlers::run(input["name"].as_str().unwrap_or_default(), &input),
        // A later host may have phases that this one does not know; they are not for it.
        handler => handlers::run(handler, &input),
    }
}
