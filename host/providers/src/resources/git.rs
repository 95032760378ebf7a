//! `git`: a checkout of a repository.
//!
//! The `git` program does the work, since credentials, proxies and ssh are configured for it. Which commit is meant is asked
//! of the repository itself (`ls-remote`), in dry runs too. Order of checks, sentences and classes are Chef's; so is it that
//! `export` and further remotes count as a change each time.
//!
//! Git is a deputy: whoever writes its configuration, its variables or its hooks decides what it runs, as the user it runs
//! as. So the right to a folder and a server is the right to fetch, and no more: see [`access`].

mod access;
mod call;
mod plain;
mod refs;

use crate::plan::{Assumption, Plan, Provider, Step, View, Writer};
use crate::resources::asked;
use access::Rights;
use call::{Call, Caller, Silence};
use contract::{Certainty, Change, Raised, Wanted};
use machine::command::MAX_OUTPUT;
use machine::denied::denied;
use machine::root::{Kind, absent};
use refs::Target;
use schema::types::git::GitProperties;
use std::collections::HashSet;

/// A checkout of a git repository.
pub(crate) struct Git;

impl Provider for Git {
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        if !matches!(wanted.action, "sync" | "checkout" | "export") {
            let message = format!("{} does not support :{}", wanted.declaration.key(), wanted.action);
            return Err(Raised::new("Chef::Exceptions::UnsupportedAction", message));
        }
        let mut plan = Plan::default();
        let found = Task::read(wanted, view, &mut plan).and_then(|task| Ok((task.resolve(view)?, task)));
        let (target, task) = match found {
            Ok(found) => found,
            Err(Silence::Raised(raised)) => return Err(raised),
            Err(Silence::Unknown(why)) => {
                let why = format!("what {} would do is not known: {why}", wanted.declaration.key());
                plan.certainty.push(Certainty::Unknown(why));
                // What comes later may rely on the checkout.
                let destination = asked::name(wanted, "destination");
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

    /// The branch may have moved on meanwhile.
    fn settles(&self, _action: &str) -> bool {
        false
    }
}

/// One `git` resource, with its properties checked.
#[derive(Clone)]
struct Task {
    key: String,
    destination: String,
    /// As it was written.
    repository: String,
    /// As git gets it: a path on the node resolved, so that no link leads it elsewhere.
    address: String,
    /// As sentences name it.
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
    /// The commit that is checked out.
    current: Option<String>,
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
        };
        if task.is_clone(view)? {
            task.current = task.find_current(view)?;
        }
        task.require(wanted, view, plan)?;
        Ok(task)
    }

    /// What must hold before anything is asked of the repository, in Chef's order.
    fn require(&self, wanted: &Wanted<'_>, view: &mut View<'_>, plan: &mut Plan) -> Result<(), Raised> {
        if let Some(user) = self.caller.missing_user(view) {
            let message = format!("{user} required by resource {} does not exist", wanted.declaration.name);
            missing(view, plan, "Chef::Exceptions::User", message, format!("User {user} does not exist"))?;
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
                let class = "Chef::Exceptions::MissingParentDirectory";
                missing(view, plan, class, message, format!("Directory {parent} does not exist"))?;
            }
        }
        if let Some(branch) = self.revision.strip_prefix("origin/") {
            let message = format!(
                "Deploying remote branches is not supported. Specify the remote branch as a local branch for the git \
                 repository you're deploying from (ie: '{branch}' rather than '{}').",
                self.revision
            );
            return Err(Raised::new("Chef::Exceptions::InvalidRemoteGitReference", message));
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

    /// Which commit is meant.
    fn resolve(&self, view: &mut View<'_>) -> Result<Target, Silence> {
        if refs::is_commit(&self.revision) {
            return Ok(Target::commit(&self.revision));
        }
        let pattern = refs::search_pattern(&self.revision);
        let call = Call::new("ls-remote").quoted_as(&self.address, &self.repository).quoted(&pattern);
        let said = match self.caller.ask(view, &call, &[0]) {
            Err(Silence::Raised(raised))
                if view.why_run && raised.class == COMMAND_FAILED && access::is_elsewhere(&self.repository) =>
            {
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
            Raised::new("Chef::Exceptions::UnresolvableGitReference", message).into()
        })
    }

    fn here(&self, command: &str) -> Call {
        Call::new(command).inside(self.rights.folder())
    }

    fn run(&self, writer: &mut Writer<'_>, call: &Call) -> Result<(), Raised> {
        self.caller.run(writer, call, &[0], &self.rights).map(drop)
    }

    fn is_on(&self, writer: &mut Writer<'_>, branch: &str) -> Result<bool, Raised> {
        let call = self.here("rev-parse").word("--abbrev-ref").word("HEAD");
        let outcome = self.caller.run(writer, &call, &[0, 128], &self.rights)?;
        Ok(String::from_utf8_lossy(&outcome.output).trim() == branch)
    }

    /// Makes the clone, and checks out what it stands at.
    fn clone_whole(&self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        self.run(writer, &self.clone_call())?;
        if !self.caller.limited {
            return Ok(());
        }
        let head = self.here("rev-parse").word("-q").word("--verify").word("HEAD^{commit}");
        let head = self.caller.run(writer, &head, &[0, 1, 128], &self.rights)?;
        let head = String::from_utf8_lossy(&head.output).trim().to_owned();
        if head.is_empty() {
            return Ok(());
        }
        let done =
            self.require_names(writer, &head).and_then(|()| self.run(writer, &self.here("checkout").word("HEAD")));
        // Half a clone would look like a whole one the next time.
        if done.is_err() {
            self.rights.discard(writer)?;
        }
        done
    }

    /// A commit can bring keys (`.ssh`), another commit takes them away, and a file of a commit takes the place of a whole
    /// directory: all that needs rules that reach the keys.
    fn require_names(&self, writer: &mut Writer<'_>, commit: &str) -> Result<(), Raised> {
        if !self.caller.limited {
            return Ok(());
        }
        let tree = self.here("ls-tree").word("-r").word("-z").word("--name-only").word(commit);
        let coming = self.names(&tree, writer)?;
        let known = self.names(&self.here("ls-files").word("-z"), writer)?;
        self.rights.require_names(coming.iter().chain(&known), writer)?;
        let there = writer.root.locate(self.rights.folder())?.names_below()?;
        let slashes = |name: &str| name.match_indices('/').map(|(at, _)| at).collect::<Vec<_>>();
        let is_replaced = |name: &&String| {
            slashes(name).into_iter().filter_map(|end| name.get(..end)).any(|above| coming.contains(above))
        };
        self.rights.require_names(there.iter().filter(is_replaced), writer)
    }

    fn names(&self, call: &Call, writer: &mut Writer<'_>) -> Result<HashSet<String>, Raised> {
        let said = self.caller.run(writer, call, &[0], &self.rights)?.output;
        if said.len() >= MAX_OUTPUT {
            let message = format!("{} has more names than can be checked", self.key);
            return Err(Raised::new("Wrun::TooLarge", message)
                .with_hint("fetch it with an `execute` that is granted, or as an archive"));
        }
        Ok(said.split(|byte| *byte == 0).map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    /// Puts a branch at a commit and switches to it.
    fn switch(&self, writer: &mut Writer<'_>, branch: &str, commit: &str) -> Result<(), Raised> {
        self.run(writer, &self.here("branch").word("-f").word(branch).word(commit))?;
        self.run(writer, &self.here("checkout").word(branch))
    }

    /// The same, and the branch follows the remote's.
    fn follow(&self, writer: &mut Writer<'_>, commit: &str) -> Result<(), Raised> {
        self.switch(writer, &self.revision, commit)?;
        let upstream = format!("{}/{}", self.remote, self.revision);
        self.run(writer, &self.here("branch").word("-u").word(&upstream))
    }

    fn reset(&self, writer: &mut Writer<'_>, commit: &str) -> Result<(), Raised> {
        self.run(writer, &self.here("reset").word("--hard").word(commit))
    }

    fn set_remote(&self, writer: &mut Writer<'_>, name: &str, address: &str) -> Result<(), Raised> {
        let url = format!("remote.{name}.url");
        let found = self.caller.run(writer, &self.here("config").word("--get").word(&url), &[0, 1, 2], &self.rights)?;
        match found.code {
            Some(1) => self.run(writer, &self.here("remote").word("add").word(name).word(address)),
            Some(0) if String::from_utf8_lossy(&found.output).trim() == address => Ok(()),
            _ => self.run(writer, &self.here("config").word("--replace-all").word(&url).quoted(address)),
        }
    }
}

/// A resource whose commit is known.
struct Job {
    task: Task,
    target: Target,
}

impl Job {
    fn step(
        &self,
        plan: &mut Plan,
        sentence: String,
        effect: impl FnOnce(&Task, &Target, &mut Writer<'_>) -> Result<(), Raised> + Send + 'static,
    ) {
        let (task, target) = (self.task.clone(), self.target.clone());
        plan.steps.push(Step::new(Change::new(sentence), move |writer| effect(&task, &target, writer)));
    }

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
        self.step(plan, sentence, |task, _target, writer| task.clone_whole(writer));
        if task.check_out {
            let sentence = format!("checkout ref {} branch {}", self.target.commit, task.revision);
            self.step(plan, sentence, check_out);
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
        plan.steps.push(Step::new(Change::new(sentence), move |writer| {
            Ok(absent(writer.root.tree_site(&tree).and_then(|site| site.remove())).map(drop)?)
        }));
        Ok(())
    }

    fn fetch(&self, plan: &mut Plan) {
        let (remote, address) = (self.task.remote.clone(), self.task.address.clone());
        self.remote(plan, remote.clone(), address);
        self.step(plan, format!("fetch updates for {remote}"), |task, target, writer| {
            task.run(writer, &task.here("fetch").word("--prune").word(&task.remote))?;
            task.run(writer, &task.here("fetch").word(&task.remote).word("--tags"))?;
            task.require_names(writer, &target.commit)?;
            let branch = task.checkout_branch.as_deref().unwrap_or(&task.revision);
            if refs::is_commit(&task.revision) || target.is_tag || task.is_on(writer, branch)? {
                task.reset(writer, &target.commit)
            } else if let Some(branch) = &task.checkout_branch {
                task.switch(writer, branch, &target.commit)
            } else {
                task.follow(writer, &target.commit)
            }
        });
    }

    fn submodules(&self, plan: &mut Plan) {
        if self.task.submodules {
            self.step(plan, format!("enable git submodules for {}", self.task.key), |task, _target, writer| {
                task.run(writer, &task.here("submodule").word("sync"))?;
                task.run(writer, &task.here("submodule").word("update").word("--init").word("--recursive"))
            });
        }
    }

    fn remotes(&self, plan: &mut Plan) {
        for (name, address) in &self.task.remotes {
            let sentence = format!("add remote {name} from {address}");
            plan.steps.push(Step::new(Change::new(sentence), |_writer| Ok(())));
            self.remote(plan, name.clone(), address.clone());
        }
    }

    fn remote(&self, plan: &mut Plan, name: String, address: String) {
        let shown = if address == self.task.address { &self.task.shown_repository } else { &address };
        let sentence = format!("set up remote tracking branches for {shown} at {name}");
        self.step(plan, sentence, move |task, _target, writer| task.set_remote(writer, &name, &address));
    }
}

impl Task {
    fn clone_call(&self) -> Call {
        let mut call = Call::new("clone");
        if self.remote != "origin" {
            call = call.word("-o").word(&self.remote);
        }
        if let Some(depth) = self.depth {
            call = call.word("--depth").word(&depth.to_string()).word("--no-single-branch");
        }
        call.quoted_as(&self.address, &self.repository).quoted_as(self.rights.folder(), &self.destination)
    }
}

/// Checks the commit out: on a branch of its own name where it is a branch's, else on none.
fn check_out(task: &Task, target: &Target, writer: &mut Writer<'_>) -> Result<(), Raised> {
    task.require_names(writer, &target.commit)?;
    if let Some(branch) = &task.checkout_branch {
        task.switch(writer, branch, &target.commit)
    } else if refs::is_commit(&task.revision) || !target.is_branch {
        task.run(writer, &task.here("checkout").word(&target.commit))
    } else if task.is_on(writer, &task.revision)? {
        task.reset(writer, &target.commit)
    } else {
        task.follow(writer, &target.commit)
    }
}

/// The class of a command that ended badly.
const COMMAND_FAILED: &str = "Mixlib::ShellOut::ShellCommandFailed";

/// What git complained of last, without the frame that Chef puts around it.
fn last_line(message: &str) -> &str {
    let mut lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_frame = |line: &&str| line.starts_with("----") || line.starts_with("Ran git");
    lines.rfind(|line| !is_frame(line)).unwrap_or_default()
}

/// An error; in a dry run something that an earlier resource is assumed to see to.
fn missing(view: &View<'_>, plan: &mut Plan, class: &str, message: String, assumed: String) -> Result<(), Raised> {
    if !view.why_run {
        return Err(Raised::new(class, message));
    }
    let rest = "this run will fail unless it has been previously created. Assuming it would have been created.";
    plan.certainty.push(Certainty::Assumed(format!("{assumed}, {rest}")));
    Ok(())
}

/// A value that git takes for no option and no second line.
fn plain(property: &str, value: String) -> Result<String, Raised> {
    if value.is_empty() || value.starts_with('-') || value.contains(char::is_control) {
        let message = format!("{property} {value:?} is empty, begins with `-` or holds a control character");
        return Err(Raised::new("ArgumentError", message));
    }
    Ok(value)
}
