//! Gives guests access to the machine. The implementation of `contract::Machine` checks the grants. This file records the
//! guest's changes and commands in the run. A guest without the turn has no access: see [`State::run`].

use super::{heard, trap};
use crate::bindings::wrun::machine::{accounts, commands, environment, files, http, types as wit};
use crate::bindings::wrun::types::types;
use crate::policy::State;
use crate::words;
use contract::{Applied, CommandEffect, HttpRequest, MachineChange, MachineError, Stat, StatKind};
use node::origin::Origin;
use wasmtime::Result;

type Answer<T> = Result<Result<T, wit::MachineError>>;

fn error(error: MachineError) -> wit::MachineError {
    match error {
        MachineError::Denied(text) => wit::MachineError::Denied(text),
        MachineError::DryRun(text) => wit::MachineError::DryRun(text),
        MachineError::System(name, about) => wit::MachineError::System(wit::SystemError { name, about }),
        MachineError::TooMuch(text) => wit::MachineError::TooMuch(text),
    }
}

fn stat(stat: &Stat) -> files::FileStatus {
    files::FileStatus {
        kind: match stat.kind {
            StatKind::File => files::Kind::File,
            StatKind::Directory => files::Kind::Directory,
            StatKind::Link => files::Kind::Link,
            StatKind::Special => files::Kind::Special,
        },
        mode: stat.mode,
        uid: stat.uid,
        gid: stat.gid,
        size: stat.size,
        modified: stat.modified,
        identity: files::FileIdentity { device: stat.identity.0, inode: stat.identity.1 },
        links: stat.links,
    }
}

fn change(change: files::Change) -> MachineChange {
    match change {
        files::Change::Write(files::NewContent { content, mode }) => MachineChange::Write(content, mode),
        files::Change::Append(files::NewContent { content, mode }) => MachineChange::Append(content, mode),
        files::Change::MakeDirectory(mode) => MachineChange::MakeDirectory(mode),
        files::Change::Link(target) => MachineChange::Link(target),
        files::Change::Rename(to) => MachineChange::Rename(to),
        files::Change::Remove => MachineChange::Remove,
        files::Change::RemoveDirectory => MachineChange::RemoveDirectory,
        files::Change::Mode(mode) => MachineChange::Mode(mode),
        files::Change::Owner(files::Ownership { user, group }) => MachineChange::Owner(user, group),
        files::Change::Times(files::FileTimes { accessed, modified }) => MachineChange::Times(accessed, modified),
    }
}

impl State {
    /// Makes a change for the guest's own code, and records it.
    fn change_machine(&mut self, path: &str, wanted: files::Change, origin: Option<types::Origin>) -> Answer<()> {
        let run = Self::run(self)?;
        let why_run = run.why_run();
        let origin = place(run.policy(), origin);
        let applied = self.on_host_time(|state| {
            state.services.machine.called_from(origin.as_ref());
            let applied = state.services.machine.apply(path, change(wanted), why_run);
            state.services.machine.called_from(None);
            applied
        });
        match applied {
            Ok(Applied { path, what }) => {
                heard(Self::run(self)?.changed_by_guest(path, what, origin))?.map_err(trap)?;
                Ok(Ok(()))
            }
            Err(refused) => Ok(Err(error(refused))),
        }
    }

    /// Runs a command for the guest's own code, and records it. A dry run records commands that it refuses. A command that
    /// was denied or failed to start is not recorded, because nothing ran.
    fn run_command(&mut self, command: types::Command, origin: Option<types::Origin>) -> Answer<commands::Outcome> {
        let run = Self::run(self)?;
        let why_run = run.why_run();
        let origin = place(run.policy(), origin);
        let command = contract::CommandTest { sensitive: run.is_sensitive_here(), ..words::command(command) };
        let ended = self.on_host_time(|state| {
            state.services.machine.called_from(origin.as_ref());
            let ended = state.services.machine.run(&command, why_run);
            state.services.machine.called_from(None);
            ended
        });
        let effect = match &ended {
            Ok(_) if why_run => Some(CommandEffect::Looked),
            Ok(_) => Some(CommandEffect::Ran),
            Err(MachineError::DryRun(_)) => Some(CommandEffect::Unknown),
            // A signal to wrun ended the command.
            Err(MachineError::System(name, _)) if name == "EINTR" => Some(CommandEffect::Ran),
            Err(_) => None,
        };
        if let Some(effect) = effect {
            heard(Self::run(self)?.ran_by_guest(&command, effect, origin))?.map_err(trap)?;
        }
        let outcome = |it: contract::CommandOutcome| commands::Outcome {
            code: it.code,
            signal: it.signal,
            output: it.output,
            errors: it.errors,
            timed_out: it.timed_out,
        };
        Ok(ended.map(outcome).map_err(error))
    }
}

/// Returns the place that the guest gives for its code, or `None` if it does not name a cookbook.
fn place(policy: &str, origin: Option<types::Origin>) -> Option<Origin> {
    origin.map(|origin| words::origin(policy, origin)).filter(|origin| origin.cookbook.is_some())
}

impl files::Host for State {
    fn stat(&mut self, path: String, follow: bool) -> Answer<Option<files::FileStatus>> {
        Self::run(self)?;
        let found = self.services.machine.stat(&path, follow);
        Ok(found.map(|found| found.as_ref().map(stat)).map_err(error))
    }

    fn read_file(&mut self, path: String, offset: u64, length: u64) -> Answer<Vec<u8>> {
        Self::run(self)?;
        Ok(self.on_host_time(|state| state.services.machine.read_file(&path, offset, length)).map_err(error))
    }

    fn list_directory(&mut self, path: String) -> Answer<Vec<String>> {
        Self::run(self)?;
        Ok(self.on_host_time(|state| state.services.machine.list_directory(&path)).map_err(error))
    }

    fn read_link(&mut self, path: String) -> Answer<String> {
        Self::run(self)?;
        Ok(self.services.machine.read_link(&path).map_err(error))
    }

    fn real_path(&mut self, path: String) -> Answer<String> {
        Self::run(self)?;
        Ok(self.services.machine.real_path(&path).map_err(error))
    }

    fn apply(&mut self, path: String, wanted: files::Change, at: Option<types::Origin>) -> Answer<()> {
        self.change_machine(&path, wanted, at)
    }
}

impl commands::Host for State {
    fn run(&mut self, command: types::Command, at: Option<types::Origin>) -> Answer<commands::Outcome> {
        self.run_command(command, at)
    }
}

impl environment::Host for State {
    fn get(&mut self, name: String) -> Result<Option<String>> {
        self.call()?;
        let known = self.services.environment.iter().find(|(other, _)| *other == name);
        let variable = contract::OutsideInput::Variable(&name);
        match known {
            Some(_) => self.services.attributes.uses_outside(variable),
            None => self.services.attributes.refuse_outside(variable),
        }
        Ok(known.map(|(_, value)| value.clone()))
    }

    fn set(&mut self, name: String, value: Option<String>) -> Answer<()> {
        Self::run(self)?;
        Ok(self.services.machine.set_environment(&name, value.as_deref()).map_err(error))
    }
}

impl accounts::Host for State {
    fn users(&mut self) -> Answer<Vec<accounts::User>> {
        Self::run(self)?;
        let user = |it: contract::MachineUser| accounts::User {
            name: it.name,
            uid: it.uid,
            gid: it.gid,
            comment: it.comment,
            home: it.home,
            shell: it.shell,
        };
        Ok(self.services.machine.users().map(|all| all.into_iter().map(user).collect()).map_err(error))
    }

    fn groups(&mut self) -> Answer<Vec<accounts::Group>> {
        Self::run(self)?;
        let group = |it: contract::MachineGroup| accounts::Group { name: it.name, gid: it.gid, members: it.members };
        Ok(self.services.machine.groups().map(|all| all.into_iter().map(group).collect()).map_err(error))
    }
}

impl http::Host for State {
    fn send(&mut self, request: http::HttpRequest) -> Answer<http::HttpResponse> {
        let why_run = Self::run(self)?.why_run();
        let http::HttpRequest { method, url, headers, body } = request;
        let headers = headers.into_iter().map(|it| (it.name, it.value)).collect();
        let request = HttpRequest { method, url, headers, body };
        let came = self.on_host_time(|state| state.services.machine.http(&request, why_run));
        let response = |it: contract::HttpResponse| http::HttpResponse {
            status: it.status,
            headers: it.headers.into_iter().map(|(name, value)| http::Header { name, value }).collect(),
            body: it.body,
        };
        Ok(came.map(response).map_err(error))
    }
}
