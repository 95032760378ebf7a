//! `turns.next`: the one call that gives the turn away.

use crate::bindings::wrun::cookbook::turns::{self, Answer, Errand, Said, Told};
use crate::printed;
use crate::reply::{Reply, raised_json};
use crate::request::Request;
use crate::words::{Raised, parse};
use serde::Deserialize;
use serde_json::value::RawValue;

pub(crate) fn answer(request: &Request<'_>) -> Result<Reply, Reply> {
    if request.function != "next" {
        return Err(request.unknown());
    }
    let said = said(request)?;
    printed::flush();
    Ok(Reply::Value(told(turns::next(&said))))
}

/// `["ready"]`, `["settle", id]`, .., `["finished", number]`, `["value", number, json]`, ..
fn said(request: &Request<'_>) -> Result<Said, Reply> {
    let words = request.arguments::<Vec<&RawValue>>()?;
    fn word<'a, T: Deserialize<'a>>(words: &[&'a RawValue], at: usize) -> Result<T, Reply> {
        words.get(at).ok_or_else(|| Reply::argument_error("turns.next lacks a word")).and_then(|raw| parse(raw))
    }
    let errand = |errand| Ok(Said::Errand(errand));
    match word::<String>(&words, 0)?.as_str() {
        "ready" => Ok(Said::Ready),
        "settle" => errand(Errand::Settle(word(&words, 1)?)),
        "run-action" => errand(Errand::RunAction((word(&words, 1)?, word(&words, 2)?))),
        "include-recipe" => errand(Errand::IncludeRecipe(word(&words, 1)?)),
        "leave" => errand(Errand::Leave(word(&words, 1)?)),
        "abandon" => errand(Errand::Abandon(word(&words, 1)?)),
        answered => {
            let answer = match answered {
                "finished" => Answer::Finished,
                "value" => Answer::Value(word::<&RawValue>(&words, 2)?.get().to_owned()),
                "content" => Answer::Content(request.bytes(word(&words, 2)?)?.to_vec()),
                "failed" => Answer::Failed(word::<Raised>(&words, 2)?.into()),
                other => return Err(Reply::argument_error(&format!("turns.next knows no word {other:?}"))),
            };
            Ok(Said::Answer((word(&words, 1)?, answer)))
        }
    }
}

/// `["done"]`, `["done", raised]`, `["run", number, name, input]`, `["evaluate", number, callback, input]`, ..
fn told(told: Told) -> String {
    let text = |text: &str| serde_json::to_string(text).unwrap_or_default();
    match told {
        Told::Done(Ok(())) => "[\"done\"]".to_owned(),
        Told::Done(Err(raised)) => format!("[\"done\",{}]", raised_json(&raised)),
        Told::Request((number, request)) => match request {
            turns::Request::Run(phase) => format!("[\"run\",{number},{},{}]", text(&phase.name), phase.input),
            turns::Request::Evaluate(turns::Evaluation { callback, input }) => {
                format!("[\"evaluate\",{number},{callback},{}]", input.as_deref().unwrap_or("null"))
            }
            turns::Request::Act(turns::Call { id, action, context, why_run }) => {
                format!("[\"act\",{number},{id},{},{context},{why_run}]", text(&action))
            }
            turns::Request::Inspect(id) => format!("[\"inspect\",{number},{id}]"),
            turns::Request::Forget(context) => format!("[\"forget\",{number},{context}]"),
        },
    }
}
