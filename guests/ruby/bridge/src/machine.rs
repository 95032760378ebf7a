//! Calls the contract's `machine` interfaces for Ruby.

use crate::bindings::wrun::machine::files::{self, Change, FileStatus, FileTimes, Kind, NewContent, Ownership};
use crate::bindings::wrun::machine::http::{Header, HttpRequest};
use crate::bindings::wrun::machine::types::{MachineError, SystemError};
use crate::bindings::wrun::machine::{accounts, commands, environment, http as web};
use crate::reply::Reply;
use crate::request::{Bytes, Request};
use crate::words::{Command, Origin};
use serde::Deserialize;
use serde_json::json;

pub(crate) fn answer(request: &Request<'_>) -> Result<Reply, Reply> {
    match request.function {
        "stat" => {
            let (path, follow): (String, bool) = request.arguments()?;
            Ok(Reply::value(&files::stat(&path, follow).map_err(refused)?.as_ref().map(status)))
        }
        "read-file" => {
            let (path, offset, length): (String, u64, u64) = request.arguments()?;
            Ok(Reply::Bytes(files::read_file(&path, offset, length).map_err(refused)?))
        }
        "list-directory" => Ok(Reply::value(&files::list_directory(&request.argument::<String>()?).map_err(refused)?)),
        "read-link" => Ok(Reply::value(&files::read_link(&request.argument::<String>()?).map_err(refused)?)),
        "real-path" => Ok(Reply::value(&files::real_path(&request.argument::<String>()?).map_err(refused)?)),
        "run" => run(request),
        "apply" => {
            let (path, change, origin): (String, Wish, Origin) = request.arguments()?;
            files::apply(&path, &change.contract(request)?, Some(&origin.into())).map_err(refused)?;
            Ok(Reply::nothing())
        }
        "environment" => Ok(Reply::value(&environment::get(&request.argument::<String>()?))),
        "set-environment" => {
            let (name, value): (String, Option<String>) = request.arguments()?;
            environment::set(&name, value.as_deref()).map_err(refused)?;
            Ok(Reply::nothing())
        }
        "users" => {
            let users = accounts::users().map_err(refused)?;
            let users = users.iter().map(|user| {
                json!({"name": user.name, "uid": user.uid, "gid": user.gid, "comment": user.comment,
                    "home": user.home, "shell": user.shell})
            });
            Ok(Reply::value(&users.collect::<Vec<_>>()))
        }
        "groups" => {
            let groups = accounts::groups().map_err(refused)?;
            let groups = groups.iter().map(|it| json!({"name": it.name, "gid": it.gid, "members": it.members}));
            Ok(Reply::value(&groups.collect::<Vec<_>>()))
        }
        "http" => http(request),
        _ => Err(request.unknown()),
    }
}

fn refused(error: MachineError) -> Reply {
    match error {
        MachineError::Denied(text) => Reply::Refused("denied", vec![text]),
        MachineError::DryRun(text) => Reply::Refused("dry-run", vec![text]),
        MachineError::System(SystemError { name, about }) => Reply::Refused("system", vec![name, about]),
        MachineError::TooMuch(text) => Reply::Refused("too-much", vec![text]),
    }
}

fn status(status: &FileStatus) -> serde_json::Value {
    let kind = match status.kind {
        Kind::File => "file",
        Kind::Directory => "directory",
        Kind::Link => "link",
        Kind::Special => "special",
    };
    json!({"kind": kind, "mode": status.mode, "uid": status.uid, "gid": status.gid, "size": status.size,
        "modified": status.modified, "identity": [status.identity.device, status.identity.inode], "links": status.links})
}

/// Runs a command. Replies `[code, signal, timed_out, length of the output]`, then output and errors as bytes.
fn run(request: &Request<'_>) -> Result<Reply, Reply> {
    let (command, origin): (Command, Origin) = request.arguments()?;
    let outcome = commands::run(&command.contract(request)?, Some(&origin.into())).map_err(refused)?;
    let head = json!([outcome.code, outcome.signal, outcome.timed_out, outcome.output.len()]);
    let mut tail = outcome.output;
    tail.extend_from_slice(&outcome.errors);
    Ok(Reply::Mixed(head.to_string(), tail))
}

/// Sends an HTTP request `[method, url, headers, body]`. Replies `[status, headers]`, then the body as bytes.
fn http(request: &Request<'_>) -> Result<Reply, Reply> {
    type Words = (String, String, Vec<(String, String)>, Option<Bytes>);
    let (method, url, headers, body): Words = request.arguments()?;
    let body = body.map(|at| request.bytes(at).map(<[u8]>::to_vec)).transpose()?;
    let headers = headers.into_iter().map(|(name, value)| Header { name, value }).collect();
    let response = web::send(&HttpRequest { method, url, headers, body }).map_err(refused)?;
    let headers: Vec<_> = response.headers.iter().map(|it| (&it.name, &it.value)).collect();
    Ok(Reply::Mixed(json!([response.status, headers]).to_string(), response.body))
}

/// A change to the machine's files: `{"write": [bytes, mode]}`, `"remove"`, ..
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Wish {
    Write((Bytes, u32)),
    Append((Bytes, u32)),
    MakeDirectory(u32),
    Link(String),
    Rename(String),
    Remove,
    RemoveDirectory,
    Mode(u32),
    Owner((Option<u32>, Option<u32>)),
    Times((i64, i64)),
}

impl Wish {
    fn contract(self, request: &Request<'_>) -> Result<Change, Reply> {
        Ok(match self {
            Self::Write((bytes, mode)) => Change::Write(NewContent { content: request.bytes(bytes)?.to_vec(), mode }),
            Self::Append((bytes, mode)) => Change::Append(NewContent { content: request.bytes(bytes)?.to_vec(), mode }),
            Self::MakeDirectory(mode) => Change::MakeDirectory(mode),
            Self::Link(target) => Change::Link(target),
            Self::Rename(path) => Change::Rename(path),
            Self::Remove => Change::Remove,
            Self::RemoveDirectory => Change::RemoveDirectory,
            Self::Mode(mode) => Change::Mode(mode),
            Self::Owner((user, group)) => Change::Owner(Ownership { user, group }),
            Self::Times((accessed, modified)) => Change::Times(FileTimes { accessed, modified }),
        })
    }
}
