//! Calls the contract's small interfaces for Ruby: `node`, `output`, `cookbooks`, `schema`, `data`, `clock`, `random`.

use crate::bindings::wrun::cookbooks::files::{self as cookbooks, FileError};
use crate::bindings::wrun::data::data::{self, DataError};
use crate::bindings::wrun::node::attributes::{self as node, AttributeError, Kept, Shape};
use crate::bindings::wrun::node::identity::{self, RunListError};
use crate::bindings::wrun::resources::schema;
use crate::bindings::wrun::turns::events;
use crate::bindings::wrun::{clock::clock, output::log as output, random::random};
use crate::printed;
use crate::reply::Reply;
use crate::request::Request;
use crate::values::{self, for_host, for_ruby, or_null};
use crate::words::{LogLevel, NodeLevel, Origin, Removal, View};
use serde_json::value::RawValue;

type Path = Vec<String>;

/// The arguments of a read: view, path, and the place in the cookbook.
type Asked = (View, Path, Option<Origin>);

pub(crate) fn answer(request: &Request<'_>) -> Result<Reply, Reply> {
    match request.interface {
        "node" => match request.function {
            "read" | "look" | "keep" | "conceals" | "version" | "debug" | "name" | "recipes" => read_node(request),
            _ => change_node(request),
        },
        "output" => answer_output(request),
        "cookbooks" => answer_cookbooks(request),
        "data" => answer_data(request),
        "schema" => match request.function {
            "types" => Ok(Reply::value(&schema::types())),
            "describe" => Ok(Reply::json(schema::describe(&request.argument::<String>()?))),
            _ => Err(request.unknown()),
        },
        "clock" => match request.function {
            "now" => {
                let now = clock::now();
                Ok(Reply::value(&(now.seconds, now.nanoseconds)))
            }
            "monotonic" => Ok(Reply::value(&clock::monotonic())),
            "sleep" => {
                clock::sleep(request.argument()?);
                Ok(Reply::nothing())
            }
            "zone" => {
                let zone = clock::zone(request.argument()?);
                Ok(Reply::value(&(zone.seconds, zone.name)))
            }
            _ => Err(request.unknown()),
        },
        "random" if request.function == "bytes" => {
            Ok(random::bytes(request.argument()?).map_or_else(Reply::nothing, Reply::Bytes))
        }
        _ => Err(request.unknown()),
    }
}

fn refused_attribute(error: AttributeError) -> Reply {
    let (case, text) = match error {
        AttributeError::Denied(text) => ("denied", text),
        AttributeError::TypeMismatch(text) => ("type-mismatch", text),
        AttributeError::ReadOnly(text) => ("read-only", text),
        AttributeError::Invalid(text) => ("invalid", text),
    };
    Reply::Refused(case, vec![text])
}

fn read_node(request: &Request<'_>) -> Result<Reply, Reply> {
    match request.function {
        "read" => {
            let (view, path, at): Asked = request.arguments()?;
            let at = at.map(Into::into);
            Ok(or_null(node::read(view.into(), &path, at.as_ref()).map_err(refused_attribute)?))
        }
        "look" => {
            let (view, path, at): Asked = request.arguments()?;
            let at = at.map(Into::into);
            Ok(match node::shape_of(view.into(), &path, at.as_ref()).map_err(refused_attribute)? {
                None => Reply::nothing(),
                Some(Shape::Scalar(value)) => Reply::Value(format!("[\"scalar\",{}]", for_ruby(value))),
                Some(Shape::Array(length)) => Reply::value(&("array", length)),
                Some(Shape::Object(keys)) => Reply::value(&("object", keys)),
            })
        }
        "keep" => {
            let (view, path): (View, Path) = request.arguments()?;
            Ok(match node::keep(view.into(), &path).map_err(refused_attribute)? {
                Kept::Absent => Reply::nothing(),
                Kept::Whole(value) => Reply::Value(format!("[\"whole\",{}]", for_ruby(value))),
                Kept::Open(value) => Reply::Value(format!("[\"open\",{}]", for_ruby(value))),
                Kept::Hidden => Reply::value(&["hidden"]),
            })
        }
        "conceals" => {
            let (view, path): (View, Path) = request.arguments()?;
            Ok(Reply::value(&node::conceals(view.into(), &path)))
        }
        "version" => Ok(Reply::value(&values::version())),
        "debug" => {
            let levels = node::debug(&request.argument::<Path>()?).map_err(refused_attribute)?;
            let levels = levels.into_iter().map(|one| {
                let level = serde_json::to_string(&one.level).unwrap_or_default();
                one.value.map_or_else(|| format!("[{level}]"), |value| format!("[{level},{}]", for_ruby(value)))
            });
            Ok(Reply::Value(format!("[{}]", levels.collect::<Vec<_>>().join(","))))
        }
        "name" => Ok(Reply::value(&identity::name())),
        _ => Ok(Reply::value(&identity::recipes())),
    }
}

fn change_node(request: &Request<'_>) -> Result<Reply, Reply> {
    values::write();
    type Write<'a> = (NodeLevel, Path, &'a RawValue, Origin);
    match request.function {
        "write" | "write-strict" | "replace" => {
            let (level, path, value, origin): Write<'_> = request.arguments()?;
            let write = match request.function {
                "write" => node::write,
                "replace" => node::replace,
                _ => node::write_strict,
            };
            write(level.into(), &path, &for_host(value)?, &origin.into()).map_err(refused_attribute)?;
            Ok(Reply::nothing())
        }
        "write-unless" => {
            let (level, path, value, origin): Write<'_> = request.arguments()?;
            let written = node::write_unless(level.into(), &path, &for_host(value)?, &origin.into());
            Ok(Reply::value(&written.map_err(refused_attribute)?))
        }
        "remove" => {
            let (what, path, origin): (Removal, Path, Origin) = request.arguments()?;
            Ok(or_null(node::remove(what.into(), &path, &origin.into()).map_err(refused_attribute)?))
        }
        "unlink" => {
            let (level, path, strict, origin): (NodeLevel, Path, bool, Origin) = request.arguments()?;
            let removed = node::unlink(level.into(), &path, strict, &origin.into());
            Ok(or_null(removed.map_err(refused_attribute)?))
        }
        "set-run-list" => {
            identity::set_run_list(&request.argument::<Vec<String>>()?).map_err(|error| match error {
                RunListError::Denied(text) => Reply::Refused("denied", vec![text]),
                RunListError::Invalid(text) => Reply::Refused("invalid", vec![text]),
            })?;
            Ok(Reply::nothing())
        }
        _ => Err(request.unknown()),
    }
}

fn answer_output(request: &Request<'_>) -> Result<Reply, Reply> {
    match request.function {
        "log" | "note" => {
            let (level, line): (LogLevel, String) = request.arguments()?;
            printed::flush();
            let write = if request.function == "log" { output::log } else { output::note };
            write(level.into(), line.as_bytes());
            Ok(Reply::nothing())
        }
        "denied-at" => {
            output::denied_at(&request.argument::<Origin>()?.into());
            Ok(Reply::nothing())
        }
        "listen" => {
            events::listen(&request.argument::<Vec<String>>()?)?;
            Ok(Reply::nothing())
        }
        _ => Err(request.unknown()),
    }
}

fn refused_file(error: FileError) -> Reply {
    match error {
        FileError::NoSuchCookbook(text) => Reply::Refused("no-such-cookbook", vec![text]),
        FileError::TooMuch(text) => Reply::Refused("too-much", vec![text]),
        FileError::NoSuchFile(text) => Reply::Refused("no-such-file", vec![text]),
    }
}

fn answer_cookbooks(request: &Request<'_>) -> Result<Reply, Reply> {
    match request.function {
        "all" => {
            let all = cookbooks::all();
            Ok(Reply::value(&all.iter().map(|it| (&it.name, &it.version)).collect::<Vec<_>>()))
        }
        "paths" => {
            let (cookbook, folder): (String, String) = request.arguments()?;
            Ok(Reply::value(&cookbooks::paths(&cookbook, &folder).map_err(refused_file)?))
        }
        "read" => {
            let (cookbook, path): (String, String) = request.arguments()?;
            Ok(Reply::Bytes(cookbooks::read(&cookbook, &path).map_err(refused_file)?))
        }
        "locate" => {
            let (cookbook, folder, names): (String, String, Vec<String>) = request.arguments()?;
            Ok(Reply::value(&cookbooks::locate(&cookbook, &folder, &names).map_err(refused_file)?))
        }
        _ => Err(request.unknown()),
    }
}

fn refused_data(error: DataError) -> Reply {
    let (case, text) = match error {
        DataError::Denied(text) => ("denied", text),
        DataError::NotFound(text) => ("not-found", text),
        DataError::Invalid(text) => ("invalid", text),
        DataError::BadQuery(text) => ("bad-query", text),
    };
    Reply::Refused(case, vec![text])
}

fn answer_data(request: &Request<'_>) -> Result<Reply, Reply> {
    match request.function {
        "bags" => Ok(Reply::value(&data::bags().map_err(refused_data)?)),
        "bag" => Ok(Reply::value(&data::bag(&request.argument::<String>()?).map_err(refused_data)?)),
        "bag-item" => {
            let (bag, id): (String, String) = request.arguments()?;
            Ok(Reply::Value(data::bag_item(&bag, &id).map_err(refused_data)?))
        }
        "bag-secret" => Ok(data::bag_secret().map_err(refused_data)?.map_or_else(Reply::nothing, Reply::Bytes)),
        "role" => Ok(Reply::Value(data::role(&request.argument::<String>()?).map_err(refused_data)?)),
        "environment" => Ok(Reply::Value(data::environment(&request.argument::<String>()?).map_err(refused_data)?)),
        "search" => {
            let (index, query): (String, String) = request.arguments()?;
            let found = data::search(&index, &query).map_err(refused_data)?;
            Ok(Reply::Value(format!("[{}]", found.join(","))))
        }
        _ => Err(request.unknown()),
    }
}
