//! Calls the contract's interface `resources/collection` for Ruby.

use crate::bindings::wrun::resources::collection::{self as resources, Property};
use crate::reply::Reply;
use crate::request::Request;
use crate::words::{Amendment, Declaration, GuestType};

pub(crate) fn answer(request: &Request<'_>) -> Result<Reply, Reply> {
    match request.function {
        "define" => {
            resources::define(&request.argument::<GuestType>()?.into())?;
            Ok(Reply::nothing())
        }
        "declare" => {
            let declaration = request.argument::<Declaration<'_>>()?.contract(request)?;
            Ok(Reply::value(&resources::declare(&declaration)?))
        }
        "retract" => {
            resources::retract(request.argument()?)?;
            Ok(Reply::nothing())
        }
        "enter" => {
            let (id, parent) = request.arguments()?;
            Ok(Reply::value(&resources::enter(id, parent)?))
        }
        "find" => {
            let (context, key): (u32, String) = request.arguments()?;
            Ok(Reply::value(&resources::find(context, &key)))
        }
        "all" => Ok(Reply::value(&resources::all(request.argument()?))),
        "describe" => Ok(Reply::value(&resources::describe(request.argument()?).map(|it| (it.kind, it.name)))),
        "amend" => {
            let (id, amendment): (u32, Amendment<'_>) = request.arguments()?;
            resources::amend(id, &amendment.contract(request)?)?;
            Ok(Reply::nothing())
        }
        "read" => {
            let (id, name): (u32, String) = request.arguments()?;
            Ok(property(resources::get_property(id, &name)))
        }
        "look" => {
            let status = resources::status(request.argument()?);
            Ok(Reply::value(&status.map(|status| (status.updated, status.updated_by_last_action))))
        }
        "observed" => {
            let (id, state): (u32, Option<&serde_json::value::RawValue>) = request.arguments()?;
            resources::observed(id, state.map(|state| state.get()))?;
            Ok(Reply::nothing())
        }
        "converge-by" => {
            let (id, what): (u32, Vec<String>) = request.arguments()?;
            Ok(Reply::value(&resources::converge_by(id, &what)?))
        }
        "mark" => {
            let (id, updated) = request.arguments()?;
            resources::set_updated(id, updated)?;
            Ok(Reply::nothing())
        }
        _ => Err(request.unknown()),
    }
}

/// Returns `null` or `[kind, value]`. Bytes are a separate kind of reply.
fn property(property: Option<Property>) -> Reply {
    match property {
        None => Reply::nothing(),
        Some(Property::Text(text)) => Reply::value(&("plain", text)),
        Some(Property::Plain(json)) => Reply::Value(format!("[\"plain\",{json}]")),
        Some(Property::Bytes(bytes)) => Reply::Bytes(bytes),
        Some(Property::Lazy(callback)) => Reply::value(&("lazy", callback)),
        Some(Property::Rendered(callback)) => Reply::value(&("rendered", callback)),
        Some(Property::Verify(callback)) => Reply::value(&("verify", callback)),
    }
}
