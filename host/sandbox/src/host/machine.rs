//! The machine as a cookbook sees it. Whoever implements `contract::Machine` checks the grants; what it changes is
//! recorded here, in the run.

use super::{heard, trap};
use crate::bindings::wrun::cookbook::{machine as wit, resources, types};
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
        MachineError::System(name, about) => wit::MachineError::System((name, about)),
        MachineError::TooMuch(text) => wit::MachineError::TooMuch(text),
    }
}

fn stat(stat: &Stat) -> wit::FileStatus {
    wit::FileStatus {
        kind: match stat.kind {
            StatKind::File => wit::Kind::File,
            StatKind::Directory => wit::Kind::Directory,
            StatKind::Link => wit::Kind::Link,
            StatKind::Special => wit::Kind::Special,
        },
        mode: stat.mode,
        uid: stat.uid,
        gid: stat.gid,
        size: stat.size,
        modified: stat.modified,
        identity: stat.identity,
        links: stat.links,
    }
}

fn change(change: wit::Change) -> MachineChange {
    match change {
        wit::Change::Write((content, mode)) => MachineChange::Write(content, mode),
        wit::Change::Append((content, mode)) => MachineChange::Append(content, mode),
        wit::Change::MakeDirectory(mode) => MachineChange::MakeDirectory(mode),
        wit::Change::Link(target) => MachineChange::Link(target),
        wit::Change::Rename(to) => MachineChange::Rename(to),
        wit::Change::Remove => MachineChange::Remove,
        wit::Change::RemoveDirectory => MachineChange::RemoveDirectory,
        wit::Change::Mode(mode) => MachineChange::Mode(mode),
        wit::Change::Owner((user, group)) => MachineChange::Owner(user, group),
        wit::Change::Times((access, change)) => MachineChange::Times(access, change),
    }
}

impl State {
    /// Makes a change that the guest's own code asks for, and records it.
    fn change_machine(&mut self, path: &str, wanted: wit::Change, origin: Option<types::Origin>) -> Answer<()> {
        let run = Self::run(self)?;
        let why_run = run.why_run();
        let origin = place(run.policy(), origin);
        let applied = self.on_host_time(|state| state.services.machine.apply(path, change(wanted), why_run));
        match applied {
            Ok(Applied { path, what }) => {
                heard(Self::run(self)?.changed_by_guest(path, what, origin))?.map_err(trap)?;
                Ok(Ok(()))
            }
            Err(refused) => Ok(Err(error(refused))),
        }
    }

    /// Runs a command that the guest's own code asks for, and records it. One that was refused or could not be started is
    /// not recorded: nothing ran.
    fn run_command(&mut self, command: resources::Command, origin: Option<types::Origin>) -> Answer<wit::Outcome> {
        let run = Self::run(self)?;
        let why_run = run.why_run();
        let origin = place(run.policy(), origin);
        let command = contract::CommandTest { sensitive: run.is_sensitive_here(), ..words::command(command) };
        let ended = self.on_host_time(|state| state.services.machine.run(&command, why_run));
        let effect = match &ended {
            Ok(_) if why_run => Some(CommandEffect::Looked),
            Ok(_) => Some(CommandEffect::Ran),
            Err(MachineError::DryRun(_)) => Some(CommandEffect::Unknown),
            // A signal to wrun ended it.
            Err(MachineError::System(name, _)) if name == "EINTR" => Some(CommandEffect::Ran),
            Err(_) => None,
        };
        if let Some(effect) = effect {
            heard(Self::run(self)?.ran_by_guest(&command, effect, origin))?.map_err(trap)?;
        }
        let outcome = |it: contract::CommandOutcome| wit::Outcome {
            code: it.code,
            signal: it.signal,
            output: it.output,
            errors: it.errors,
            timed_out: it.timed_out,
        };
        Ok(ended.map(outcome).map_err(error))
    }
}

/// The place that a guest says its code has; `None` if it names no cookbook.
fn place(policy: &str, origin: Option<types::Origin>) -> Option<Origin> {
    origin.map(|origin| words::origin(policy, origin)).filter(|origin| origin.cookbook.is_some())
}

impl wit::Host for State {
    fn stat(&mut self, path: String, follow: bool) -> Answer<Option<wit::FileStatus>> {
        let found = self.services.machine.stat(&path, follow);
        Ok(found.map(|found| found.as_ref().map(stat)).map_err(error))
    }

    fn read_file(&mut self, path: String, offset: u64, length: u64) -> Answer<Vec<u8>> {
        Ok(self.on_host_time(|state| state.services.machine.read_file(&path, offset, length)).map_err(error))
    }

    fn list_directory(&mut self, path: String) -> Answer<Vec<String>> {
        Ok(self.on_host_time(|state| state.services.machine.list_directory(&path)).map_err(error))
    }

    fn read_link(&mut self, path: String) -> Answer<String> {
        Ok(self.services.machine.read_link(&path).map_err(error))
    }

    fn real_path(&mut self, path: String) -> Answer<String> {
        Ok(self.services.machine.real_path(&path).map_err(error))
    }

    fn run(&mut self, command: resources::Command) -> Answer<wit::Outcome> {
        self.run_command(command, None)
    }

    fn run_at(&mut self, command: resources::Command, origin: types::Origin) -> Answer<wit::Outcome> {
        self.run_command(command, Some(origin))
    }

    fn apply(&mut self, path: String, wanted: wit::Change) -> Answer<()> {
        self.change_machine(&path, wanted, None)
    }

    fn apply_at(&mut self, path: String, wanted: wit::Change, origin: types::Origin) -> Answer<()> {
        self.change_machine(&path, wanted, Some(origin))
    }

    fn environment(&mut self, name: String) -> Result<Option<String>> {
        let known = self.services.environment.iter().find(|(other, _)| *other == name);
        if known.is_some() {
            self.services.attributes.uses_outside(contract::Outside::Variable(&name));
        }
        Ok(known.map(|(_, value)| value.clone()))
    }

    fn set_environment(&mut self, name: String, value: Option<String>) -> Answer<()> {
        Ok(self.services.machine.set_environment(&name, value.as_deref()).map_err(error))
    }

    fn users(&mut self) -> Answer<Vec<wit::User>> {
        let user = |it: contract::MachineUser| wit::User {
            name: it.name,
            uid: it.uid,
            gid: it.gid,
            comment: it.comment,
            home: it.home,
            shell: it.shell,
        };
        Ok(self.services.machine.users().map(|all| all.into_iter().map(user).collect()).map_err(error))
    }

    fn groups(&mut self) -> Answer<Vec<wit::Group>> {
        let group = |it: contract::MachineGroup| wit::Group { name: it.name, gid: it.gid, members: it.members };
        Ok(self.services.machine.groups().map(|all| all.into_iter().map(group).collect()).map_err(error))
    }

    fn http(&mut self, request: wit::HttpRequest) -> Answer<wit::HttpResponse> {
        let why_run = Self::run(self)?.why_run();
        let wit::HttpRequest { method, url, headers, body } = request;
        let request = HttpRequest { method, url, headers, body };
        let came = self.on_host_time(|state| state.services.machine.http(&request, why_run));
        let response =
            |it: contract::HttpResponse| wit::HttpResponse { status: it.status, headers: it.headers, body: it.body };
        Ok(came.map(response).map_err(error))
    }
}
