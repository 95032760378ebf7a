//! What a provider is, and what it may hold while it works.
//!
//! A provider *inspects and compares* in [`Provider::plan`] and gets a [`View`], which cannot write. What is to be done is
//! a list of [`Step`]s, each made by one call out of the sentence that people read and the operation that is carried out,
//! so that a dry run cannot say anything but what the real run does. Only operations get a [`Writer`], and a writer is
//! made in one place, outside dry runs.
//!
//! Rejected: giving effects to the provider as methods of `View` that look at a flag; one forgotten flag would change a
//! machine in a dry run.

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

/// One resource type: inspection and comparison. Implementations hold no state of their own; caches are in [`Caches`].
pub(crate) trait Provider: Send + Sync {
    /// Inspects the machine and says what has to be done. Never changes anything.
    ///
    /// # Errors
    /// What is wanted makes no sense, is denied, or the machine cannot be read.
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised>;

    /// Whether a lazy value is needed, as far as the values before it tell. What is wrong without it is said now.
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

    /// Asks for the grants that the action may come to and that `plan` asks for only as the machine looks: of the commands that
    /// accept new content, say. For surveys.
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    fn survey(&self, _wanted: &Wanted<'_>, _view: &mut View<'_>) -> Result<(), Raised> {
        Ok(())
    }

    /// Actions that may need other grants than the one that is asked for. For surveys; `plan` is asked about each.
    fn others(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether a second `plan` right after the operations must find nothing left to do. False for actions that do something
    /// each time: `execute`, a service's `restart`, `log`.
    fn settles(&self, _action: &str) -> bool {
        true
    }
}

/// What a provider found, complete: the operations make no choices.
#[derive(Default)]
pub(crate) struct Plan {
    /// What is done, in order. None: up to date.
    pub(crate) steps: Vec<Step>,
    /// Resources that are parts of this one, in order; steps name them by their place here.
    pub(crate) parts: Vec<PlannedPart>,
    /// What a dry run takes for granted or cannot know.
    pub(crate) certainty: Vec<Certainty>,
    /// Puts content where the guest's `verify` blocks can look at it.
    pub(crate) staging: Option<Staging>,
    /// Keeps staged content that a block rejected, for people to look at; where.
    pub(crate) rejection: Option<Rejection>,
    /// What later resources of a dry run may take for granted once these steps are done.
    pub(crate) assumptions: Vec<Assumption>,
    /// Earlier resources of a dry run would leave what the steps would: these are shown, and leave nothing new behind.
    pub(crate) is_done_before: bool,
}

impl Plan {
    /// A plan without steps, for a machine that is as declared.
    pub(crate) fn up_to_date() -> Self {
        Self::default()
    }

    /// These steps, nothing assumed.
    pub(crate) fn steps(steps: Vec<Step>) -> Self {
        Self { steps, ..Self::default() }
    }

    /// Nothing to do, as far as this dry run can know.
    pub(crate) fn uncertain(certainty: Certainty) -> Self {
        Self { certainty: vec![certainty], ..Self::default() }
    }

    /// Adds another resource's plan as that of a part.
    pub(crate) fn add_part(&mut self, part: PlannedPart, plan: Self) {
        let at = self.parts.len();
        self.parts.push(part);
        self.steps.extend(plan.steps.into_iter().map(|step| step.of_part(at)));
        self.certainty.extend(plan.certainty);
        self.assumptions.extend(plan.assumptions);
    }

    /// The same plan for a sensitive resource: whoever sees a fingerprint could test guesses of what was found.
    pub(crate) fn without_fingerprints(mut self) -> Self {
        for change in self.steps.iter_mut().flat_map(Step::changes_mut) {
            change.planned_against = None;
        }
        self
    }

    /// Adds something that later resources of a dry run may take for granted.
    pub(crate) fn assume(&mut self, assumption: Assumption) {
        self.assumptions.push(assumption);
    }
}

/// A resource that is a part of another one's action and has a row of its own in the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlannedPart {
    pub(crate) kind: &'static str,
    pub(crate) name: String,
    pub(crate) action: &'static str,
    /// The cookbook that it is taken from.
    pub(crate) cookbook: Option<String>,
    /// A dry run reports it too. Chef's dry run does not begin some parts; their sentences are then the whole resource's.
    pub(crate) in_dry_run: bool,
}

/// One thing that is done to the machine, the sentences that say so, and the fingerprint of what it was planned against,
/// which the first sentence has.
pub(crate) struct Step {
    changes: Vec<Change>,
    operation: Operation,
    part: Option<usize>,
}

impl Step {
    /// A sentence and the operation that makes it true.
    pub(crate) fn new(change: Change, operation: Operation) -> Self {
        let change = Change { planned_against: operation.found().fingerprint(), ..change };
        Self { changes: vec![change], operation, part: None }
    }

    /// An operation that no sentence tells of: the resource counts as changed all the same.
    pub(crate) fn silent(operation: Operation) -> Self {
        Self { changes: vec![], operation, part: None }
    }

    /// A further sentence about the same operation: one rename puts content, mode and owner in place.
    #[must_use]
    pub(crate) fn also(mut self, change: Change) -> Self {
        self.changes.push(change);
        self
    }

    /// The same step as one of a part, by its place in [`Plan::parts`].
    #[must_use]
    pub(crate) fn of_part(mut self, part: usize) -> Self {
        self.part = Some(part);
        self
    }

    /// The part that it belongs to.
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

    /// Returns the operation alone, for a step that stands for several.
    pub(crate) fn into_operation(self) -> Operation {
        self.operation
    }

    /// Does it, and returns what was done.
    pub(crate) fn run(self, writer: &mut Writer<'_>) -> Result<Vec<Change>, Raised> {
        self.operation.carry_out(writer)?;
        Ok(self.changes)
    }
}

/// What a dry run takes for granted because an earlier resource would have seen to it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Assumption {
    /// Something would be at this real path.
    Path(String),
    /// A directory would be at this real path.
    Directory(String),
    /// There would be such a user.
    User(String),
    /// There would be such a group.
    Group(String),
    /// The package would be installed (and with it whatever it brings).
    Package(String),
    /// The service of this name would start with the system (true), or would not.
    ServiceAtBoot(String, bool),
}

/// All that earlier resources of this dry run would have made. Empty, and never asked, in a real run.
#[derive(Debug, Default)]
pub(crate) struct Assumed(HashSet<Assumption>);

impl Assumed {
    /// Whether it would be so.
    pub(crate) fn holds(&self, assumption: &Assumption) -> bool {
        self.0.contains(assumption)
    }

    /// Whether something, a directory or not, would be at this real path.
    pub(crate) fn path(&self, path: &str) -> bool {
        self.holds(&Assumption::Path(path.into())) || self.directory(path)
    }

    /// Whether a directory would be at this real path.
    pub(crate) fn directory(&self, path: &str) -> bool {
        self.holds(&Assumption::Directory(path.into()))
    }

    /// Whether some package would be installed by now.
    pub(crate) fn any_package(&self) -> bool {
        self.0.iter().any(|assumption| matches!(assumption, Assumption::Package(_)))
    }

    /// Whether a service would start with the system; `None`: as the machine has it.
    pub(crate) fn service_at_boot(&self, name: &str) -> Option<bool> {
        [true, false].into_iter().find(|starts| self.holds(&Assumption::ServiceAtBoot(name.into(), *starts)))
    }

    /// Adds what a later resource would have made; of two that contradict each other the later one holds.
    pub(crate) fn extend(&mut self, more: Vec<Assumption>) {
        for assumption in more {
            if let Assumption::ServiceAtBoot(name, starts) = &assumption {
                self.0.remove(&Assumption::ServiceAtBoot(name.clone(), !starts));
            }
            self.0.insert(assumption);
        }
    }
}

/// What is expensive to find out and kept for the length of a policy's run. Whoever changes the thing forgets the cache.
#[derive(Default)]
pub(crate) struct Caches {
    /// Users and groups of the root; re-read when their files changed.
    pub(crate) users: Users,
    /// The root's package database.
    pub(crate) packages: crate::resources::package::PackageCache,
    /// The root's service manager and what it said.
    pub(crate) services: crate::resources::service::ServiceCache,
    /// The policy's backups, once one was made.
    pub(crate) backups: Option<BoundedFolder>,
    /// The policy's notes in wrun's cache, once one was made.
    pub(crate) notes: Option<BoundedFolder>,
}

/// What a provider may look at. Nothing here changes the machine.
pub(crate) struct View<'a> {
    /// The confined file system.
    pub(crate) root: &'a Arc<Root>,
    /// wrun's own directory for downloads and rejected content; none in a dry run.
    pub(crate) cache: Option<&'a Arc<Root>>,
    /// What the operator lets this policy do.
    pub(crate) grants: &'a PolicyGrants,
    /// The files of the policy's cookbooks.
    pub(crate) files: &'a Arc<dyn CookbookFiles>,
    /// Identity of the node, limits, switches.
    pub(crate) settings: &'a Settings,
    /// What is kept for the length of the run.
    pub(crate) caches: &'a mut Caches,
    /// Nothing may be changed.
    pub(crate) why_run: bool,
    /// The resource is sensitive: its commands are not shown.
    pub(crate) sensitive: bool,
    /// What earlier resources of this dry run would have made.
    pub(crate) assumed: &'a Assumed,
    pub(crate) commands: &'a Commands,
}

impl View<'_> {
    /// Users and groups of the root.
    pub(crate) fn users(&mut self) -> &mut Users {
        self.caches.users.refresh(self.root);
        &mut self.caches.users
    }

    /// Where a path would lead if what is missing were made. That it cannot is told only to who has the grant.
    ///
    /// # Errors
    /// As [`Root::future_place`]; or what `granted` says.
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

    /// What a look at a path found; `None`: nothing is there. `granted` asks for the right to the resolved path, before any
    /// failure is told: so a policy gets the same answer for all that it may not see. That the text is not an absolute
    /// path is told at once, since it says nothing of the machine.
    ///
    /// # Errors
    /// What `granted` says; or the failure.
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

    /// The place of a path that is to be managed, the last link not followed, as [`told`](Self::told).
    ///
    /// # Errors
    /// As [`told`](Self::told).
    pub(crate) fn managed_place(&self, path: &str) -> Result<Option<Place>, Raised> {
        self.told(path, self.root.locate(path), |real| self.may_manage(real))
    }

    /// What is at the place of a path that is to be managed, as [`told`](Self::told).
    ///
    /// # Errors
    /// As [`told`](Self::told).
    pub(crate) fn managed_entry(&self, path: &str, place: &Place) -> Result<Option<Entry>, Raised> {
        self.told(path, place.entry(), |real| self.may_manage(real))
    }

    fn may_manage(&self, real: &str) -> Result<(), Raised> {
        self.grants.manage_path(real).map(drop).map_err(denied)
    }

    /// What a path leads to, all links followed, where the policy may read that: its place, and what is there.
    ///
    /// # Errors
    /// It may not be read; or the failure.
    pub(crate) fn readable(&self, path: &str) -> Result<Option<(Place, Entry)>, Raised> {
        let may_read = |real: &str| self.grants.read_path(real).map(drop).map_err(denied);
        let Some(place) = self.told(path, self.root.locate_target(path), may_read)? else { return Ok(None) };
        may_read(place.real())?;
        let entry = self.told(path, place.entry(), may_read)?;
        Ok(entry.map(|entry| (place, entry)))
    }

    /// What a path leads to, all links followed: nothing, something, or why that cannot be told. `None`: the policy may not
    /// look there, which is not a denial, since nobody asked for what is there.
    pub(crate) fn seen_target(&self, path: &str) -> Option<Result<Option<Entry>, Fault>> {
        let real = self.root.asked_about(path);
        self.grants.may_look(&real).map(|_readable| self.root.target_entry(path))
    }

    /// In a dry run, the file at a real path as earlier resources and the cookbook's own code would leave it; `None`: it is as
    /// the machine has it, or nobody knows. The caller holds the right to the path.
    pub(crate) fn foreseen_file(&self, real: &str) -> Option<ForeseenFile> {
        if self.why_run { self.commands.overlay().foreseen_file(real) } else { None }
    }

    /// Checks a command that the cookbook wrote; nothing is started.
    ///
    /// # Errors
    /// It is not granted, or malformed.
    pub(crate) fn command(&self, command: &CommandTest) -> Result<GrantedCommand, Raised> {
        if !self.sensitive {
            return machine::command::check(self.grants, self.root, command);
        }
        machine::command::check(self.grants, self.root, &CommandTest { sensitive: true, ..command.clone() })
    }

    /// The right to remove or rename a directory with all that is in it, keys too (see [`PolicyGrants::manage_below`]).
    ///
    /// # Errors
    /// It is not granted, or what is in it cannot be seen.
    pub(crate) fn manage_whole(&self, place: &Place) -> Result<GrantedTree, Raised> {
        let tree = self.grants.manage_tree(place.real()).map_err(denied)?;
        place.require_below(self.grants, &tree)?.map_err(denied)?;
        Ok(tree)
    }

    /// Runs a program of the host's own choosing that only looks (`dpkg-query`, `systemctl show`), also in a dry run.
    /// Arguments that come from a guest must not be able to become options (`--` before them).
    ///
    /// # Errors
    /// It cannot be started or ran out of time. An exit code other than 0 is not an error.
    pub(crate) fn query(&mut self, launch: &Launch) -> Result<CommandOutcome, CommandFailure> {
        let Self { commands, caches, root, .. } = self;
        caches.users.refresh(root);
        let outcome = commands.run(launch, &mut caches.users, None);
        if !self.why_run {
            return outcome;
        }
        outcome.map_err(|failure| failure.in_dry_run(self.assumed.any_package()))
    }

    /// Asks a granted command in a dry run.
    pub(crate) fn ask(&mut self, launch: &Launch) -> Answer {
        let Self { commands, caches, root, .. } = self;
        caches.users.refresh(root);
        commands.ask(launch, &mut caches.users)
    }

    /// Asks a program whose answer depends on what a policy wrote: as [`query`](Self::query) in a real run, and confined in a dry
    /// run, as [`ask`](Self::ask).
    ///
    /// # Errors
    /// As [`query`](Self::query).
    pub(crate) fn answer(&mut self, launch: &Launch) -> Result<Answer, CommandFailure> {
        if self.why_run { Ok(self.ask(launch)) } else { self.query(launch).map(Answer::Ended) }
    }

    /// Counts one item of a list that the policy wrote as work of the host.
    ///
    /// # Errors
    /// The policy may cost no more, or the run is to end.
    pub(crate) fn looks_at_item(&self) -> Result<(), Raised> {
        let counted = self.settings.account.work(1);
        counted.map_err(|ended| Raised::new(ErrorKind::Failed, format!("the policy {ended}")))
    }
}

/// What an operation acts through. Made only in [`crate::MachineProviders`], never in a dry run.
pub(crate) struct Writer<'a> {
    /// The confined file system.
    pub(crate) root: &'a Arc<Root>,
    /// wrun's own directory for the policy's backups.
    pub(crate) backups: &'a Arc<Root>,
    /// wrun's own directory for downloads and rejected content.
    pub(crate) cache: &'a Arc<Root>,
    /// Identity of the node, limits, switches.
    pub(crate) settings: &'a Settings,
    /// What is kept for the length of the run; operations forget what they made stale.
    pub(crate) caches: &'a mut Caches,
    pub(crate) commands: &'a Commands,
    /// The sentences that [`plan_again`](Self::plan_again) gives; `None` if it was not called.
    pub(crate) again: Option<Vec<Change>>,
    /// Facts that were gathered anew, for the node.
    pub(crate) gathered: &'a mut Option<Map<String, Value>>,
}

impl Writer<'_> {
    /// For what can only be planned once this operation is done: which version there is after the index was refreshed. The
    /// step's own sentences are replaced by these, the steps after it are dropped, and the provider plans again.
    pub(crate) fn plan_again(&mut self, done: Vec<Change>) {
        self.again = Some(done);
    }

    /// Runs a granted command to its end.
    ///
    /// # Errors
    /// It cannot be started or ran out of time. An exit code other than 0 is not an error: see
    /// [`machine::command::require_success`].
    pub(crate) fn run(
        &mut self,
        command: &GrantedCommand,
        how: &machine::command::CommandOptions,
    ) -> Result<CommandOutcome, Raised> {
        let launch = Launch::granted(command, how);
        self.launch(&launch).map_err(|failure| failure.into_raised(&launch))
    }

    /// Users and groups of the root as they are now, whoever has changed them.
    pub(crate) fn users(&mut self) -> &mut Users {
        self.caches.users.doubt();
        self.caches.users.refresh(self.root);
        &mut self.caches.users
    }

    /// Asks a program of the host's own choosing that reads what a policy wrote: it sees the machine and can change nothing.
    pub(crate) fn ask(&mut self, launch: &Launch) -> Answer {
        let Self { commands, caches, root, .. } = self;
        caches.users.refresh(root);
        commands.ask(launch, &mut caches.users)
    }

    /// Runs a program of the host's own choosing (`apt-get`, `useradd`) on behalf of a proof that the caller holds.
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
