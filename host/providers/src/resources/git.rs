//! `git`: a checkout of a repository.
//!
//! The `git` program does the work, since credentials, proxies and ssh are configured for it. The commit of a revision is
//! asked from the repository itself (`ls-remote`), in dry runs too. Order of checks, sentences and classes are those of Chef.
//! As in Chef, `export` and further remotes count as a change in every run.
//!
//! Git acts for others: the author of its configuration, variables or hooks decides which programs it runs, with the rights
//! of its user. So a right to a folder and a server gives only the right to fetch: see [`access`].

mod access;
mod call;
mod operation;
mod plain;
mod refs;
mod settings_text;
mod user_settings;

pub(crate) use operation::{CheckOut, CloneRepository, Fetch, RemoveRepository, SetRemote, UpdateSubmodules};

use crate::found::{Found, Thing};
use crate::operation::Operation;
use crate::plan::{Assumption, Plan, Provider, Step, View};
use crate::resources::asked;
use crate::withheld::Withheld;
use access::Rights;
use call::{Call, Caller, Silence};
use contract::{Certainty, Change, ErrorKind, Raised, Wanted};
use machine::denied::denied;
use machine::root::{Kind, absent};
use refs::Target;
use schema::types::git::GitProperties;
use std::fmt;

/// The provider of `git`.
pub(crate) struct Git;

impl Provider for Git {
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        if !matches!(wanted.action, "sync" | "checkout" | "export") {
            let message = format!("{} does not support :{}", wanted.declaration.key(), wanted.action);
            return Err(Raised::new(ErrorKind::UnsupportedAction, message));
        }
        let mut plan = Plan::default();
        let found = Task::read(wanted, view, &mut plan).and_then(|task| Ok((task.resolve(view)?, task)));
        let (target, task) = match found {
            Ok(found) => found,
            Err(Silence::Raised(raised)) => return Err(raised),
            Err(Silence::Unknown(why)) => {
                let why = format!("what {} would do is not known: {why}", wanted.declaration.key());
                plan.certainty.push(Certainty::Unknown(why));
                // Later resources may rely on the checkout.
                let GitProperties { destination, .. } = asked::properties(wanted)?;
                if let Ok(future_place) = view.root.future_place(&destination) {
                    plan.assumptions.extend(future_place.real_paths().into_iter().map(Assumption::Directory));
                }
                return Ok(plan);
            }
        };
        let job = Job { target, task };
        match wanted.action {
            "sync" => job.sync(view, &mut plan)?,
            "export" => job.export(view, &mut plan)?,
            _ => job.checkout(view, &mut plan)?,
        }
        Ok(plan)
    }

    fn ask(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<(), Raised> {
        let properties: GitProperties = asked::properties(wanted)?;
        access::ask(&properties, view);
        Ok(())
    }

    /// False, because the branch may have moved meanwhile.
    fn settles(&self, _action: &str) -> bool {
        false
    }
}

/// One `git` resource, with its properties checked.
#[derive(Clone)]
struct Task {
    key: String,
    destination: String,
    /// The repository as written in the cookbook.
    repository: String,
    /// The repository as git gets it: a local path is resolved, so that no link leads elsewhere.
    address: String,
    /// The repository as sentences name it.
    shown_repository: String,
    revision: String,
    remote: String,
    depth: Option<u32>,
    submodules: bool,
    check_out: bool,
    checkout_branch: Option<String>,
    remotes: Vec<(String, String)>,
    caller: Caller,
    rights: Rights,
    /// The present commit of the checkout.
    current: Option<String>,
    /// The remotes of the clone with their addresses, from its configuration. Empty if the clone does not exist.
    found_remotes: Withheld<String>,
}

impl fmt::Debug for Task {
    /// Shows neither addresses nor variables, which may hold passwords.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, destination, revision, remote, current, .. } = self;
        let mut shown = f.debug_struct("Task");
        shown.field("key", key).field("destination", destination).field("revision", revision);
        shown.field("remote", remote).field("current", current).finish_non_exhaustive()
    }
}

impl Task {
    fn read(wanted: &Wanted<'_>, view: &mut View<'_>, plan: &mut Plan) -> Result<Self, Silence> {
        let properties: GitProperties = asked::properties(wanted)?;
        let destination = &properties.destination;
        let destination =
            destination.strip_suffix('/').filter(|path| !path.is_empty()).unwrap_or(destination).to_owned();
        let repository = plain("repository", properties.repository.clone().unwrap_or_default())?;
        let revision = properties.revision.clone();
        let revision = if revision.is_empty() { revision } else { plain("revision", revision)? };
        let checkout_branch = properties.checkout_branch.clone().map(|branch| plain("checkout_branch", branch));
        let remote = plain("remote", properties.remote.clone())?;
        let mut remotes = vec![];
        for (name, address) in properties.additional_remotes.clone() {
            remotes.push((plain("additional_remotes", name)?, plain("additional_remotes", address)?));
        }
        let submodules = properties.enable_submodules;
        let mut caller = Caller::read(&properties);
        let rights = Rights::of(&destination, &repository, &mut caller, submodules, view)?;
        remotes.iter().try_for_each(|(_, address)| access::ask_remote(address, view))?;
        let shown_repository = match wanted.declaration.sensitive {
            true => "**Suppressed Sensitive URL**".to_owned(),
            false => repository.clone(),
        };
        let mut task = Self {
            key: wanted.declaration.key(),
            destination,
            address: rights.address(&repository),
            repository,
            shown_repository,
            revision,
            remote,
            depth: properties.depth,
            submodules,
            check_out: properties.enable_checkout,
            checkout_branch: checkout_branch.transpose()?,
            remotes,
            caller,
            rights,
            current: None,
            found_remotes: Withheld(String::new()),
        };
        if task.is_clone(view)? {
            task.current = task.find_current(view)?;
            let configuration = view.root.read(&format!("{}/.git/config", task.destination)).unwrap_or_default();
            task.found_remotes = Withheld(remotes_of(&String::from_utf8_lossy(&configuration)));
        }
        task.require(wanted, view, plan)?;
        Ok(task)
    }

    /// Checks the conditions that must hold before the repository is contacted, in Chef's order.
    fn require(&self, wanted: &Wanted<'_>, view: &mut View<'_>, plan: &mut Plan) -> Result<(), Raised> {
        if let Some(user) = self.caller.missing_user(view) {
            let message = format!("{user} required by resource {} does not exist", wanted.declaration.name);
            missing(view, plan, ErrorKind::User, message, format!("User {user} does not exist"))?;
        }
        if wanted.action != "export" {
            let parent = self.destination.rsplit_once('/').map_or("", |(parent, _)| parent);
            let parent = if parent.is_empty() { "/" } else { parent };
            let is_there = view.root.target_entry(parent)?.is_some_and(|entry| entry.kind == Kind::Directory);
            let assumed = view.why_run && view.assumed.directory(parent);
            if !is_there && !assumed {
                let message = format!(
                    "Cannot clone {} to {}, the enclosing directory {parent} does not exist",
                    self.key, self.destination
                );
                let kind = ErrorKind::NoCheckoutParent;
                missing(view, plan, kind, message, format!("Directory {parent} does not exist"))?;
            }
        }
        if let Some(branch) = self.revision.strip_prefix("origin/") {
            let message = format!(
                "Deploying remote branches is not supported. Specify the remote branch as a local branch for the git \
                 repository you're deploying from (ie: '{branch}' rather than '{}').",
                self.revision
            );
            return Err(Raised::new(ErrorKind::InvalidGitReference, message));
        }
        Ok(())
    }

    fn is_clone(&self, view: &View<'_>) -> Result<bool, Raised> {
        Ok(view.root.target_entry(&format!("{}/.git", self.destination))?.is_some())
    }

    fn find_current(&self, view: &mut View<'_>) -> Result<Option<String>, Silence> {
        let call = self.here("rev-parse").word("HEAD");
        let said = self.caller.ask(view, &call, &[0, 128])?;
        Ok(Some(said.trim().to_owned()).filter(|said| refs::is_commit(said)))
    }

    /// Finds the commit of the declared revision.
    fn resolve(&self, view: &mut View<'_>) -> Result<Target, Silence> {
        if refs::is_commit(&self.revision) {
            return Ok(Target::commit(&self.revision));
        }
        let is_elsewhere = access::is_elsewhere(&self.repository);
        if let Some(off) = view.settings.downloads.off.filter(|_| is_elsewhere) {
            return Err(Silence::Unknown(off.reason().to_owned()));
        }
        let pattern = refs::search_pattern(&self.revision);
        let call = Call::new("ls-remote").quoted_as(&self.address, &self.repository).quoted(&pattern);
        let said = match self.caller.ask(view, &call, &[0]) {
            Err(Silence::Raised(raised)) if view.why_run && raised.kind == ErrorKind::CommandFailed && is_elsewhere => {
                let why = format!("{} does not answer: {}", self.shown_repository, last_line(&raised.message));
                return Err(Silence::Unknown(why));
            }
            said => said?,
        };
        refs::resolve(&said, &self.revision).ok_or_else(|| {
            let message = format!(
                "Unable to parse SHA reference for '{}' in repository '{}'. Verify your (case-sensitive) repository URL \
                 and revision.\n`git ls-remote '{}' '{pattern}'` output: {said}",
                self.revision, self.repository, self.repository
            );
            Raised::new(ErrorKind::NoSuchGitReference, message).into()
        })
    }

    /// Returns the checkout's state when planned: its commit and its remotes. An address may contain a password.
    fn found(&self) -> Found {
        let remotes = &self.found_remotes.0;
        let thing = Thing::new("checkout", self.rights.folder()).with_any("commit", self.current.clone());
        Found::of([thing.with("remotes", remotes)]).secret_if(remotes.lines().any(has_credentials))
    }

    /// Returns the checkout's state when planned, and the commit that the repository gave for the revision.
    fn found_for(&self, target: &Target) -> Found {
        self.found().and(Found::of([Thing::new("revision", &self.revision).with("commit", &target.commit)]))
    }

    fn here(&self, command: &str) -> Call {
        Call::new(command).inside(self.rights.folder())
    }
}

/// A task with its known commit.
struct Job {
    task: Task,
    target: Target,
}

impl Job {
    fn sync(&self, view: &View<'_>, plan: &mut Plan) -> Result<(), Raised> {
        if !self.task.is_clone(view)? {
            return self.checkout(view, plan);
        }
        if self.task.current.as_deref() != Some(&self.target.commit) {
            self.fetch(plan);
            self.submodules(plan);
        }
        self.remotes(plan);
        Ok(())
    }

    fn checkout(&self, view: &View<'_>, plan: &mut Plan) -> Result<(), Raised> {
        let task = &self.task;
        let there = absent(view.root.locate_target(&task.destination))?;
        let there = there.map(|place| absent(place.entry()).map(|entry| entry.map(|_| place))).transpose()?.flatten();
        if let Some(place) = there
            && !place.names()?.is_empty()
        {
            return Ok(());
        }
        let sentence = format!("clone from {} into {}", task.shown_repository, task.destination);
        let operation = Operation::CloneRepository(Box::new(CloneRepository { task: task.clone() }));
        let clone = Change::new(sentence).appears("directory");
        plan.steps.push(Step::new(clone, operation));
        if task.check_out {
            let sentence = format!("checkout ref {} branch {}", self.target.commit, task.revision);
            let operation = CheckOut { task: task.clone(), target: self.target.clone() };
            let change = Change::new(sentence).sets("commit", None, Some(self.target.commit.clone()));
            plan.steps.push(Step::new(change, Operation::CheckOut(Box::new(operation))));
        }
        self.submodules(plan);
        self.remotes(plan);
        Ok(())
    }

    fn export(&self, view: &View<'_>, plan: &mut Plan) -> Result<(), Raised> {
        self.checkout(view, plan)?;
        let real = view.root.future_place(&self.task.destination)?.real();
        let tree = view.grants.manage_tree(&format!("{}/.git", real.trim_end_matches('/'))).map_err(denied)?;
        let sentence = format!("complete the export by removing {}.git after checkout", self.task.destination);
        let operation = Operation::RemoveRepository(Box::new(RemoveRepository { task: self.task.clone(), tree }));
        plan.steps.push(Step::new(Change::new(sentence), operation));
        Ok(())
    }

    fn fetch(&self, plan: &mut Plan) {
        let (remote, address) = (self.task.remote.clone(), self.task.address.clone());
        self.remote(plan, remote.clone(), address);
        let operation = Fetch { task: self.task.clone(), target: self.target.clone() };
        let change = Change::new(format!("fetch updates for {remote}"));
        let change = change.sets("commit", self.task.current.clone(), Some(self.target.commit.clone()));
        plan.steps.push(Step::new(change, Operation::Fetch(Box::new(operation))));
    }

    fn submodules(&self, plan: &mut Plan) {
        if self.task.submodules {
            let change = Change::new(format!("enable git submodules for {}", self.task.key));
            let operation = UpdateSubmodules { task: self.task.clone() };
            plan.steps.push(Step::new(change, Operation::UpdateSubmodules(Box::new(operation))));
        }
    }

    fn remotes(&self, plan: &mut Plan) {
        for (name, address) in &self.task.remotes {
            let sentence = format!("add remote {name} from {address}");
            plan.steps.push(Step::new(Change::new(sentence), Operation::Nothing));
            self.remote(plan, name.clone(), address.clone());
        }
    }

    fn remote(&self, plan: &mut Plan, name: String, address: String) {
        let shown = if address == self.task.address { &self.task.shown_repository } else { &address };
        let sentence = format!("set up remote tracking branches for {shown} at {name}");
        let operation = SetRemote { task: self.task.clone(), name, address: Withheld(address) };
        plan.steps.push(Step::new(Change::new(sentence), Operation::SetRemote(Box::new(operation))));
    }
}

/// Returns the remotes in the configuration of a clone: each name, followed by its addresses.
fn remotes_of(configuration: &str) -> String {
    let mut is_remote = false;
    let is_meant = |line: &&str| {
        if line.starts_with('[') {
            is_remote = line.starts_with("[remote ");
        }
        let key = line.split('=').next().unwrap_or_default().trim();
        is_remote && (line.starts_with('[') || matches!(key, "url" | "pushurl"))
    };
    configuration.lines().map(str::trim).filter(is_meant).collect::<Vec<_>>().join("\n")
}

/// Tells whether an address has a user or a password.
fn has_credentials(address: &str) -> bool {
    address.split_once("://").is_some_and(|(_, rest)| rest.contains('@'))
}

/// Returns git's last error line, without the frame that Chef puts around it.
fn last_line(message: &str) -> &str {
    let mut lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_frame = |line: &&str| line.starts_with("----") || line.starts_with("Ran git");
    lines.rfind(|line| !is_frame(line)).unwrap_or_default()
}

/// Returns an error; a dry run instead assumes that an earlier resource creates the missing thing.
fn missing(view: &View<'_>, plan: &mut Plan, kind: ErrorKind, message: String, assumed: String) -> Result<(), Raised> {
    if !view.why_run {
        return Err(Raised::new(kind, message));
    }
    let rest = "this run will fail unless it has been previously created. Assuming it would have been created.";
    plan.certainty.push(Certainty::Assumed(format!("{assumed}, {rest}")));
    Ok(())
}

/// Checks that a value cannot be an option for git or contain a line end.
fn plain(property: &str, value: String) -> Result<String, Raised> {
    if value.is_empty() || value.starts_with('-') || value.contains(char::is_control) {
        let message = format!("{property} {value:?} is empty, begins with `-` or holds a control character");
        return Err(Raised::new(ErrorKind::InvalidArgument, message));
    }
    Ok(value)
}
