//! The trait of providers, the plans that they return, and their access to the machine.
//!
//! A provider *inspects and compares* in [`Provider::plan`] and gets a [`View`], which cannot write. It returns a list of
//! [`Step`]s. One call creates a step from both the sentence for people and the operation. So a dry run cannot announce
//! anything that the real run does not do. Only operations get a [`Writer`], and one place creates writers, never in a dry
//! run.
//!
//! Rejected: methods of `View` with effects that check a flag. One forgotten check would change a machine in a dry run.

use crate::Settings;
use crate::bounded::BoundedFolder;
use crate::operation::Operation;
use crate::resources::file_content::{Rejection, Staging};
use contract::{Certainty, Change, CommandOutcome, CommandTest, CookbookFiles, ErrorKind, Raised, Wanted};
use grants::{Denied, GrantedCommand, GrantedTree, PolicyGrants};
use machine::command::{Answer, CommandFailure, Commands, Launch};
use machine::denied::denied;
use machine::guest::ForeseenFile;
use machine::root::{Entry, Fault, FuturePlace, Place, Root, absolute};
use machine::users::Users;
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::sync::Arc;

/// One resource type: inspection and comparison. Implementations have no state; caches are in [`Caches`].
pub(crate) trait Provider: Send + Sync {
    /// Inspects the machine and returns the necessary steps. Never changes anything.
    ///
    /// # Errors
    /// The declaration is invalid or denied, or the machine cannot be read.
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised>;

    /// Tells whether a lazy value is needed, judging by the values before it. An error that does not depend on the value is
    /// returned now.
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    fn needs(&self, _wanted: &Wanted<'_>, _property: &str, _view: &mut View<'_>) -> Result<bool, Raised> {
        Ok(true)
    }

    /// Asks for each of the grants that the action needs, also after one was denied; see [`contract::Providers::ask`]. A provider
    /// whose `plan` asks a server, or asks for several grants of which the first denial ends it, has its own.
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    fn ask(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<(), Raised> {
        match self.plan(wanted, view) {
            Ok(_) => Ok(()),
            Err(_) => self.survey(wanted, view),
        }
    }

    /// Checks grants that the action may need on other machines or later, such as those of the commands that verify new
    /// content. `plan` checks only those for the machine's present state. For surveys.
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    fn survey(&self, _wanted: &Wanted<'_>, _view: &mut View<'_>) -> Result<(), Raised> {
        Ok(())
    }

    /// Returns actions that may need other grants than the declared one. A survey also calls `plan` for each of them.
    fn others(&self) -> &'static [&'static str] {
        &[]
    }

    /// Tells whether a second `plan` right after the operations must find no more steps. False for actions that do something
    /// each time: `execute`, a service's `restart`, `log`.
    fn settles(&self, _action: &str) -> bool {
        true
    }
}

/// The complete result of planning: the operations make no choices.
#[derive(Default)]
pub(crate) struct Plan {
    /// The steps in order. If empty, the machine is up to date.
    pub(crate) steps: Vec<Step>,
    /// Resources that are parts of this one, in order; steps refer to them by index.
    pub(crate) parts: Vec<PlannedPart>,
    /// Assumptions of a dry run, and facts that it cannot know.
    pub(crate) certainty: Vec<Certainty>,
    /// Puts content at a place where the guest's `verify` blocks can read it.
    pub(crate) staging: Option<Staging>,
    /// Keeps staged content that a `verify` block rejected, so that people can read it.
    pub(crate) rejection: Option<Rejection>,
    /// Assumptions that later resources of a dry run may make once these steps are done.
    pub(crate) assumptions: Vec<Assumption>,
    /// True if earlier resources of a dry run would already have the same effect. The steps are then shown without a new
    /// effect.
    pub(crate) is_done_before: bool,
}

impl Plan {
    /// A plan without steps, for a machine that is as declared.
    pub(crate) fn up_to_date() -> Self {
        Self::default()
    }

    /// Creates a plan with these steps and without assumptions.
    pub(crate) fn steps(steps: Vec<Step>) -> Self {
        Self { steps, ..Self::default() }
    }

    /// Creates a plan without steps, as far as this dry run can know.
    pub(crate) fn uncertain(certainty: Certainty) -> Self {
        Self { certainty: vec![certainty], ..Self::default() }
    }

    /// Adds another resource's plan as a part of this one.
    pub(crate) fn add_part(&mut self, part: PlannedPart, plan: Self) {
        let at = self.parts.len();
        self.parts.push(part);
        self.steps.extend(plan.steps.into_iter().map(|step| step.of_part(at)));
        self.certainty.extend(plan.certainty);
        self.assumptions.extend(plan.assumptions);
    }

    /// Removes the fingerprints, for a sensitive resource: a reader could use them to test guesses of the state.
    pub(crate) fn without_fingerprints(mut self) -> Self {
        for change in self.steps.iter_mut().flat_map(Step::changes_mut) {
            change.planned_against = None;
        }
        self
    }

    /// Adds an assumption for later resources of a dry run.
    pub(crate) fn assume(&mut self, assumption: Assumption) {
        self.assumptions.push(assumption);
    }
}

/// A resource within another one's action, with its own row in the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlannedPart {
    pub(crate) kind: &'static str,
    pub(crate) name: String,
    pub(crate) action: &'static str,
    /// The cookbook of its source file.
    pub(crate) cookbook: Option<String>,
    /// True if a dry run also reports it. Chef's dry run skips some parts; their sentences then belong to the whole resource.
    pub(crate) in_dry_run: bool,
}

/// One operation with its sentences. The first sentence has the fingerprint of the state for which the operation was planned.
pub(crate) struct Step {
    changes: Vec<Change>,
    operation: Operation,
    part: Option<usize>,
}

impl Step {
    /// Creates a step from a sentence and the operation that makes it true.
    pub(crate) fn new(change: Change, operation: Operation) -> Self {
        let change = Change { planned_against: operation.found().fingerprint(), ..change };
        Self { changes: vec![change], operation, part: None }
    }

    /// Creates a step without a sentence. The resource still counts as changed.
    pub(crate) fn silent(operation: Operation) -> Self {
        Self { changes: vec![], operation, part: None }
    }

    /// Adds another sentence about the same operation: one rename sets content, mode and owner together.
    #[must_use]
    pub(crate) fn also(mut self, change: Change) -> Self {
        self.changes.push(change);
        self
    }

    /// Assigns the step to a part, by its index in [`Plan::parts`].
    #[must_use]
    pub(crate) fn of_part(mut self, part: usize) -> Self {
        self.part = Some(part);
        self
    }

    /// Returns the index of the step's part.
    pub(crate) fn part(&self) -> Option<usize> {
        self.part
    }

    /// Returns the sentences and diffs that people read about the step.
    pub(crate) fn changes(&self) -> &[Change] {
        &self.changes
    }

    pub(crate) fn changes_mut(&mut self) -> &mut [Change] {
        &mut self.changes
    }

    /// Returns the operation that makes the sentences true.
    pub(crate) fn operation(&self) -> &Operation {
        &self.operation
    }

    /// Returns the operation alone, for a step that combines several operations.
    pub(crate) fn into_operation(self) -> Operation {
        self.operation
    }

    /// Carries out the step, and returns its sentences.
    pub(crate) fn run(self, writer: &mut Writer<'_>) -> Result<Vec<Change>, Raised> {
        self.operation.carry_out(writer)?;
        Ok(self.changes)
    }
}

/// An assumption of a dry run: an earlier resource would have caused this state.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Assumption {
    /// An entry would exist at this real path.
    Path(String),
    /// A directory would be at this real path.
    Directory(String),
    /// A user of this name would exist.
    User(String),
    /// A group of this name would exist.
    Group(String),
    /// The package would be installed, with all files and services that it brings.
    Package(String),
    /// The service of this name would start with the system (true) or would not (false).
    ServiceAtBoot(String, bool),
}

/// All assumptions from earlier resources of this dry run. Empty and unused in a real run.
#[derive(Debug, Default)]
pub(crate) struct Assumed(HashSet<Assumption>);

impl Assumed {
    /// Tells whether the assumption was made.
    pub(crate) fn holds(&self, assumption: &Assumption) -> bool {
        self.0.contains(assumption)
    }

    /// Tells whether an entry of any kind would exist at this real path.
    pub(crate) fn path(&self, path: &str) -> bool {
        self.holds(&Assumption::Path(path.into())) || self.directory(path)
    }

    /// Tells whether a directory would exist at this real path.
    pub(crate) fn directory(&self, path: &str) -> bool {
        self.holds(&Assumption::Directory(path.into()))
    }

    /// Tells whether any package would have been installed by now.
    pub(crate) fn any_package(&self) -> bool {
        self.0.iter().any(|assumption| matches!(assumption, Assumption::Package(_)))
    }

    /// Returns whether a service would start with the system, or `None` if no resource changes that.
    pub(crate) fn service_at_boot(&self, name: &str) -> Option<bool> {
        [true, false].into_iter().find(|starts| self.holds(&Assumption::ServiceAtBoot(name.into(), *starts)))
    }

    /// Adds assumptions. If two contradict each other, the later one wins.
    pub(crate) fn extend(&mut self, more: Vec<Assumption>) {
        for assumption in more {
            if let Assumption::ServiceAtBoot(name, starts) = &assumption {
                self.0.remove(&Assumption::ServiceAtBoot(name.clone(), !starts));
            }
            self.0.insert(assumption);
        }
    }
}

/// Expensive lookups, cached during a policy's run. An operation that changes a thing clears its cache.
#[derive(Default)]
pub(crate) struct Caches {
    /// Users and groups of the root; re-read when their files changed.
    pub(crate) users: Users,
    /// The root's package database.
    pub(crate) packages: crate::resources::package::PackageCache,
    /// The root's service manager and its answers.
    pub(crate) services: crate::resources::service::ServiceCache,
    /// The index of the policy's backups, after the first backup.
    pub(crate) backups: Option<BoundedFolder>,
    /// The index of the policy's notes, after the first note.
    pub(crate) notes: Option<BoundedFolder>,
    /// The digests of cookbook files that have been computed.
    pub(crate) digests: crate::resources::cookbook_source::Digests,
}

/// A provider's read access to the machine. Nothing here changes the machine.
pub(crate) struct View<'a> {
    /// The confined file system.
    pub(crate) root: &'a Arc<Root>,
    /// wrun's own directory for downloads and rejected content; `None` in a dry run.
    pub(crate) cache: Option<&'a Arc<Root>>,
    /// The operator's grants for this policy.
    pub(crate) grants: &'a PolicyGrants,
    /// The files of the policy's cookbooks.
    pub(crate) files: &'a Arc<dyn CookbookFiles>,
    /// Identity of the node, limits, switches.
    pub(crate) settings: &'a Settings,
    /// Caches for the duration of the policy's run.
    pub(crate) caches: &'a mut Caches,
    /// True in a dry run.
    pub(crate) why_run: bool,
    /// True if the machine is looked at once more after a change: warnings were given before.
    pub(crate) is_checking: bool,
    /// True if the resource is sensitive: messages do not show its commands.
    pub(crate) sensitive: bool,
    /// Assumptions from earlier resources of this dry run.
    pub(crate) assumed: &'a Assumed,
    pub(crate) commands: &'a Commands,
}

impl View<'_> {
    /// Calls a function with a view for a question about an account; see [`PolicyGrants::asking`].
    pub(crate) fn asking<T>(&mut self, look: impl FnOnce(&mut View<'_>) -> T) -> T {
        look(&mut View { grants: &self.grants.asking(), caches: &mut *self.caches, ..*self })
    }

    /// Users and groups of the root.
    pub(crate) fn users(&mut self) -> &mut Users {
        self.caches.users.refresh(self.root);
        &mut self.caches.users
    }

    /// Resolves a path as if its missing parts existed. If that fails, the error is returned only if the policy has the
    /// grant.
    ///
    /// # Errors
    /// As [`Root::future_place`]; or the error of `granted`.
    pub(crate) fn future_place(
        &self,
        path: &str,
        granted: impl FnOnce(&PolicyGrants, &str) -> Result<(), Denied>,
    ) -> Result<FuturePlace, Raised> {
        absolute(path)?;
        match self.root.future_place(path) {
            Err(fault) => {
                granted(self.grants, &self.root.asked_about(path)).map_err(denied)?;
                Err(fault.into())
            }
            Ok(future_place) => Ok(future_place),
        }
    }

    /// Returns the result of a lookup, or `None` if the path does not exist. Before any failure is returned, `granted` checks
    /// the right to the resolved path. So a policy gets the same answer for everything that it may not see. Only the error
    /// for a path that is not absolute is returned without a check, because it reveals nothing about the machine.
    ///
    /// # Errors
    /// The error of `granted`; or the failure.
    pub(crate) fn told<T>(
        &self,
        path: &str,
        looked: Result<T, Fault>,
        granted: impl FnOnce(&str) -> Result<(), Raised>,
    ) -> Result<Option<T>, Raised> {
        absolute(path)?;
        match looked {
            Ok(found) => Ok(Some(found)),
            Err(fault) => {
                let real = fault.real().map_or_else(|| self.root.asked_about(path), str::to_owned);
                granted(&real)?;
                if fault.is_absence() { Ok(None) } else { Err(fault.into()) }
            }
        }
    }

    /// Returns the place of a path that will be managed, without following the last link. Errors are handled as in
    /// [`told`](Self::told).
    ///
    /// # Errors
    /// As [`told`](Self::told).
    pub(crate) fn managed_place(&self, path: &str) -> Result<Option<Place>, Raised> {
        self.told(path, self.root.locate(path), |real| self.may_manage(real))
    }

    /// Returns the entry at the place of a path that will be managed. Errors are handled as in [`told`](Self::told).
    ///
    /// # Errors
    /// As [`told`](Self::told).
    pub(crate) fn managed_entry(&self, path: &str, place: &Place) -> Result<Option<Entry>, Raised> {
        self.told(path, place.entry(), |real| self.may_manage(real))
    }

    fn may_manage(&self, real: &str) -> Result<(), Raised> {
        self.grants.manage_path(real).map(drop).map_err(denied)
    }

    /// Returns the place and the entry that a path leads to, with all links followed, if the policy may read it.
    ///
    /// # Errors
    /// The policy may not read it; or the failure.
    pub(crate) fn readable(&self, path: &str) -> Result<Option<(Place, Entry)>, Raised> {
        let may_read = |real: &str| self.grants.read_path(real).map(drop).map_err(denied);
        let Some(place) = self.told(path, self.root.locate_target(path), may_read)? else { return Ok(None) };
        may_read(place.real())?;
        let entry = self.told(path, place.entry(), may_read)?;
        Ok(entry.map(|entry| (place, entry)))
    }

    /// Returns the entry that a path leads to, with all links followed, or why it cannot be determined. Returns `None` if the
    /// policy may not look there. That is not a denial, because the policy did not ask for the entry itself.
    pub(crate) fn seen_target(&self, path: &str) -> Option<Result<Option<Entry>, Fault>> {
        let real = self.root.asked_about(path);
        self.grants.may_look(&real).map(|_readable| self.root.target_entry(path))
    }

    /// In a dry run, returns the file at a real path as earlier resources and the cookbook's own code would leave it. Returns
    /// `None` if it is unchanged or unknown. The caller has the right to the path.
    pub(crate) fn foreseen_file(&self, real: &str) -> Option<ForeseenFile> {
        if self.why_run { self.commands.overlay().foreseen_file(real) } else { None }
    }

    /// Checks a command that the cookbook wrote; does not start it.
    ///
    /// # Errors
    /// The command is not granted, or is malformed.
    pub(crate) fn command(&self, command: &CommandTest) -> Result<GrantedCommand, Raised> {
        if !self.sensitive {
            return machine::command::check(self.grants, self.root, command);
        }
        machine::command::check(self.grants, self.root, &CommandTest { sensitive: true, ..command.clone() })
    }

    /// Returns the right to remove or rename a directory with its whole content, including keys (see
    /// [`PolicyGrants::manage_below`]).
    ///
    /// # Errors
    /// The directory or a part of its content is not granted, or the content cannot be read.
    pub(crate) fn manage_whole(&self, place: &Place) -> Result<GrantedTree, Raised> {
        let tree = self.grants.manage_tree(place.real()).map_err(denied)?;
        place.require_below(self.grants, &tree)?.map_err(denied)?;
        Ok(tree)
    }

    /// Runs a program that the host chooses and that only reads (`dpkg-query`, `systemctl show`), also in a dry run.
    /// Arguments from a guest must not be able to become options (`--` before them).
    ///
    /// # Errors
    /// The program cannot be started or exceeded its timeout. An exit code other than 0 is not an error.
    pub(crate) fn query(&mut self, launch: &Launch) -> Result<CommandOutcome, CommandFailure> {
        let Self { commands, caches, root, .. } = self;
        caches.users.refresh(root);
        let outcome = commands.run(launch, &mut caches.users, None);
        if !self.why_run {
            return outcome;
        }
        outcome.map_err(|failure| failure.in_dry_run(self.assumed.any_package()))
    }

    /// Runs a granted command confined, for a dry run.
    pub(crate) fn ask(&mut self, launch: &Launch) -> Answer {
        let Self { commands, caches, root, .. } = self;
        caches.users.refresh(root);
        commands.ask(launch, &mut caches.users)
    }

    /// Runs a program whose answer depends on content that a policy wrote: in a real run as [`query`](Self::query), in a dry
    /// run confined as [`ask`](Self::ask).
    ///
    /// # Errors
    /// As [`query`](Self::query).
    pub(crate) fn answer(&mut self, launch: &Launch) -> Result<Answer, CommandFailure> {
        if self.why_run { Ok(self.ask(launch)) } else { self.query(launch).map(Answer::Ended) }
    }

    /// Charges the policy for one item of a list that it wrote.
    ///
    /// # Errors
    /// The policy's limit is exceeded, or the run must end.
    pub(crate) fn looks_at_item(&self) -> Result<(), Raised> {
        let counted = self.settings.account.work(1);
        counted.map_err(|ended| Raised::new(ErrorKind::Failed, format!("the policy {ended}")))
    }
}

/// An operation's write access to the machine. Only [`crate::MachineProviders`] creates it, and never in a dry run.
pub(crate) struct Writer<'a> {
    /// The confined file system.
    pub(crate) root: &'a Arc<Root>,
    /// wrun's own directory for the policy's backups.
    pub(crate) backups: &'a Arc<Root>,
    /// wrun's own directory for downloads and rejected content.
    pub(crate) cache: &'a Arc<Root>,
    /// Identity of the node, limits, switches.
    pub(crate) settings: &'a Settings,
    /// Caches for the duration of the run; operations clear those that they make outdated.
    pub(crate) caches: &'a mut Caches,
    pub(crate) commands: &'a Commands,
    /// The sentences from [`plan_again`](Self::plan_again), or `None` if it was not called.
    pub(crate) again: Option<Vec<Change>>,
    /// Newly gathered facts for the node.
    pub(crate) gathered: &'a mut Option<Map<String, Value>>,
}

impl Writer<'_> {
    /// Requests a new plan after this operation, because later steps can only be planned then: for example, the available
    /// version is known after the index was refreshed. `done` replaces the step's own sentences, the remaining steps are
    /// dropped, and the provider plans again.
    pub(crate) fn plan_again(&mut self, done: Vec<Change>) {
        self.again = Some(done);
    }

    /// Runs a granted command to its end.
    ///
    /// # Errors
    /// The command cannot be started or exceeded its timeout. An exit code other than 0 is not an error: see
    /// [`machine::command::require_success`].
    pub(crate) fn run(
        &mut self,
        command: &GrantedCommand,
        how: &machine::command::CommandOptions,
    ) -> Result<CommandOutcome, Raised> {
        let launch = Launch::granted(command, how);
        self.launch(&launch).map_err(|failure| failure.into_raised(&launch))
    }

    /// Returns the users and groups of the root as they are now. The files are checked again, because any program may have
    /// changed them.
    pub(crate) fn users(&mut self) -> &mut Users {
        self.caches.users.doubt();
        self.caches.users.refresh(self.root);
        &mut self.caches.users
    }

    /// Runs a program that the host chooses and that reads content of a policy. It runs confined: it can read the machine but
    /// change nothing.
    pub(crate) fn ask(&mut self, launch: &Launch) -> Answer {
        let Self { commands, caches, root, .. } = self;
        caches.users.refresh(root);
        commands.ask(launch, &mut caches.users)
    }

    /// Runs a program that the host chooses (`apt-get`, `useradd`). The caller must have the proof for its effect.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(crate) fn launch(&mut self, launch: &Launch) -> Result<CommandOutcome, CommandFailure> {
        let Self { commands, caches, root, settings, .. } = self;
        caches.users.refresh(root);
        let outcome = commands.run(launch, &mut caches.users, settings.live.as_deref());
        caches.users.doubt();
        outcome
    }
}
