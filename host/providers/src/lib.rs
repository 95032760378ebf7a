//! The providers of resource types, one file each: inspect, compare, carry out. This crate decides each change of a policy,
//! and makes it through the crate `machine`.
//!
//! A provider ([`plan::Provider`]) reads the machine and returns a plan: sentences, each with the operation
//! ([`operation::Operation`], a value) that makes it true. [`MachineProviders`] finds the provider of a type, carries out
//! plans, and inspects again afterwards: if the machine is then not as declared, that is an error. Only [`MachineProviders`]
//! creates a [`plan::Writer`], and never in a dry run.
//!
//! Everything is confined in two ways. *Where*: paths are opened inside one root ([`machine::root`]), and programs start
//! inside it ([`machine::command`]). *What*: operations hold proofs of the crate `grants`, which only a check against the
//! operator's file can create.

mod bounded;
mod claims;
mod composite;
mod foreseen;
mod found;
mod gpg;
mod notes;
mod operation;
mod parts;
mod plan;
mod private_copy;
mod reboots;
mod resources;
mod secrets;
mod settings;
mod standing;
mod withheld;

pub use machine::guest::LeftOut;
pub use reboots::{Reboot, Reboots};
pub use settings::{Contents, GatherFacts, Log, Settings};
pub use standing::{homes, machine_view, places_of_administrators};

use contract::{
    Account, Certainty, Change, Claim, CommandTest, Composition, Declaration, ErrorKind, GuardResult, Known, LogLevel,
    Part, Prepared, Property, Providers, Purpose, Raised, SystemError, Wanted,
};
use foreseen::Outcomes;
use grants::PolicyGrants;
use machine::command::{self, Commands};
use machine::guest::{Access, GuestMachine, Planned};
use machine::mask::Mask;
use machine::remarks::remark;
use machine::root::Root;
use machine::written;
use parts::Parts;
use plan::{Assumed, Caches, Plan, View, Writer};
use secrets::Secrets;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum number of times that one action may be planned again, so that it ends.
const MAX_ROUNDS: u32 = 3;

/// The interval for checking, during a pause, whether the run must stop.
const TICK: Duration = Duration::from_millis(50);

/// The providers of one policy.
pub struct MachineProviders {
    settings: Arc<Settings>,
    root: Arc<Root>,
    commands: Commands,
    backups: Option<Arc<Root>>,
    cache: Option<Arc<Root>>,
    caches: Caches,
    assumed: Assumed,
    gathered: Option<Map<String, Value>>,
    /// The parts of the last action, for the report.
    parts: Vec<Part>,
    /// True while the machine is looked at once more after a change.
    is_checking: bool,
}

impl MachineProviders {
    /// Creates the providers of one policy on one root. Nothing is created on the machine yet.
    ///
    /// # Errors
    /// The root cannot be opened as a directory.
    pub fn new(settings: Arc<Settings>) -> Result<Self, Raised> {
        let root = Arc::new(Root::open(&settings.root, &settings.account)?);
        let commands = Commands::new(&settings.root, settings.launcher.as_deref())
            .stopped_by(&settings.stop)
            .charged_to(&settings.account)
            .answered_by(settings.answers.as_ref())
            .surveying(settings.grants.is_survey());
        commands.overlay().share(settings.left_out.clone());
        Ok(Self {
            settings,
            root,
            commands,
            backups: None,
            cache: None,
            caches: Caches::default(),
            assumed: Assumed::default(),
            gathered: None,
            parts: vec![],
            is_checking: false,
        })
    }

    /// Creates the file cache folder, which Chef's cookbooks expect to exist. In a dry run only the guest sees it.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub fn make_file_cache(&self, path: &str) -> Result<(), Raised> {
        if self.settings.why_run {
            self.commands.overlay().has_from_wrun(self.root.future_place(path)?.real_paths());
            Ok(())
        } else {
            Ok(self.root.make_file_cache(path, |path| self.settings.grants.guards(path))?)
        }
    }

    /// Returns the machine for the policy's guest, within the same grants.
    pub fn machine(&self) -> GuestMachine {
        let Settings { account, grants, downloads, why_run, .. } = self.settings.as_ref();
        let access =
            Access { account: account.clone(), grants: Arc::clone(grants), downloads: *downloads, why_run: *why_run };
        GuestMachine::new(access, Arc::clone(&self.root), self.commands.clone())
    }

    /// Records the results of an action in a dry run.
    fn foresee(&self, wanted: &Wanted<'_>, outcomes: Outcomes) -> Result<(), Raised> {
        let key = wanted.declaration.key().to_string();
        let kept = self.commands.overlay().foresee(outcomes, &key, &self.root, &self.settings.account);
        kept.map_err(|ended| Raised::new(ErrorKind::Failed, format!("the policy {ended}")))
    }

    /// Returns the paths of an action with an unknown outcome.
    fn unknown_paths(&mut self, wanted: &Wanted<'_>) -> Outcomes {
        let claims = self.look(wanted, |view| Ok(claims::of(wanted, view))).unwrap_or_default();
        let paths = claims.into_iter().map(|claim| claim.identity).filter(|identity| identity.kind == "path");
        paths.map(|identity| (identity.name, Planned::Unknown)).collect()
    }

    fn inspect(&mut self, wanted: &Wanted<'_>) -> Result<Plan, Raised> {
        let kind = wanted.declaration.kind.as_str();
        let Some(provider) = resources::provider(kind) else {
            let message = format!("there is no provider for resource type `{kind}`");
            return Err(Raised::new(ErrorKind::NoProvider, message));
        };
        let secrets = Secrets::of(wanted);
        let planned = self.look(wanted, |view| provider.plan(wanted, view)).map(|plan| secrets.hide_in_plan(plan));
        match planned.map(|plan| if wanted.declaration.sensitive { plan.without_fingerprints() } else { plan }) {
            Err(raised) if wanted.why_run => match raised.kind {
                ErrorKind::Assumed => Ok(Plan::uncertain(Certainty::Assumed(raised.message))),
                ErrorKind::Unknown => Ok(Plan::uncertain(Certainty::Unknown(raised.message))),
                // A real run usually runs as root, so its result is unknown here.
                ErrorKind::System(SystemError::Access | SystemError::NotPermitted)
                    if !rustix::process::geteuid().is_root() =>
                {
                    let why = format!("only root can look: {}", raised.message);
                    Ok(Plan::uncertain(Certainty::Unknown(why)))
                }
                _ => Err(raised),
            },
            planned => planned,
        }
    }

    /// Calls a function with a view of the machine.
    fn look<T>(
        &mut self,
        wanted: &Wanted<'_>,
        inspect: impl FnOnce(&mut View<'_>) -> Result<T, Raised>,
    ) -> Result<T, Raised> {
        if !(wanted.why_run || self.settings.why_run) {
            let _open = own_directory(&mut self.cache, &self.settings.cache_dir, &self.settings.account)?;
        }
        let sensitive = wanted.declaration.sensitive;
        let hiding = sensitive.then(|| self.settings.grants.hiding());
        let mut view = View {
            root: &self.root,
            cache: self.cache.as_ref(),
            grants: hiding.as_ref().unwrap_or(&self.settings.grants),
            files: &self.settings.files,
            settings: &self.settings,
            caches: &mut self.caches,
            why_run: wanted.why_run,
            is_checking: self.is_checking,
            sensitive,
            assumed: &self.assumed,
            commands: &self.commands,
        };
        self.root.forget_asked();
        let looked = inspect(&mut view);
        let as_written = |raised| {
            let raised = written::as_written(raised, &self.settings.grants, &self.root);
            if sensitive { Secrets::of(wanted).hide_in(raised) } else { raised }
        };
        looked.map_err(|raised| with_origin(as_written(raised), wanted.declaration))
    }

    /// Calls a function with a writer. Only real runs may call this.
    fn write<T>(&mut self, act: impl FnOnce(&mut Writer<'_>) -> Result<T, Raised>) -> Result<T, Raised> {
        let backups = own_directory(&mut self.backups, &self.settings.backup_dir, &self.settings.account)?;
        let cache = own_directory(&mut self.cache, &self.settings.cache_dir, &self.settings.account)?;
        let mut writer = Writer {
            root: &self.root,
            backups: &backups,
            cache: &cache,
            settings: &self.settings,
            caches: &mut self.caches,
            commands: &self.commands,
            again: None,
            gathered: &mut self.gathered,
        };
        let done = act(&mut writer);
        self.caches.users.doubt();
        done
    }

    /// Carries out a plan, and each plan that is made again in its course. Returns the changes.
    fn carry_out(&mut self, wanted: &Wanted<'_>, plan: Plan) -> Result<Vec<Change>, Raised> {
        let mut changes = Vec::new();
        let mut plan = plan;
        for _round in 0..MAX_ROUNDS {
            let mut parts = Parts::of(&plan);
            let mut doing = None;
            let again = self.write(|writer| {
                for step in plan.steps.drain(..) {
                    doing = step.part();
                    let done = step.run(writer)?;
                    if let Some(instead) = writer.again.take() {
                        changes.extend(instead);
                        return Ok(true);
                    }
                    changes.extend(parts.done(doing, done));
                }
                Ok(false)
            });
            let as_written = |raised| {
                let raised = written::as_written(raised, &self.settings.grants, &self.root);
                if wanted.declaration.sensitive { Secrets::of(wanted).hide_in(raised) } else { raised }
            };
            match again.map_err(|raised| with_origin(as_written(raised), wanted.declaration)) {
                Ok(false) => {
                    self.parts = parts.all();
                    return Ok(changes);
                }
                Ok(true) => {}
                Err(raised) => {
                    self.parts = parts.until(doing, &raised);
                    return Err(raised);
                }
            }
            plan = self.inspect(wanted)?;
        }
        Err(not_converged(wanted, &plan))
    }
}

fn own_directory(slot: &mut Option<Arc<Root>>, path: &std::path::Path, account: &Account) -> Result<Arc<Root>, Raised> {
    match slot {
        Some(open) => Ok(Arc::clone(open)),
        None => {
            let open = Arc::new(Root::open_own(path, account)?);
            *slot = Some(Arc::clone(&open));
            Ok(open)
        }
    }
}

/// A complete plan, ready to be carried out.
pub struct ReadyPlan(Plan);

impl Providers for MachineProviders {
    type Plan = ReadyPlan;

    fn begin_compile(&mut self) {
        self.commands.overlay().begin_compile();
    }

    fn begin_converge(&mut self) {
        self.commands.overlay().end_compile(&self.root);
    }

    fn prepare(&mut self, wanted: &Wanted<'_>) -> Result<Prepared<ReadyPlan>, Raised> {
        // A `verify` block that raised an exception has ended, too: its permission to read the staged file ends here.
        self.settings.grants.let_verify(None);
        let mut plan = self.inspect(wanted)?;
        if wanted.why_run && self.settings.why_run {
            let mut outcomes = foreseen::of(&plan);
            let is_unknown = plan.certainty.iter().any(|certainty| matches!(certainty, Certainty::Unknown(_)));
            if plan.steps.is_empty() && is_unknown {
                outcomes.extend(self.unknown_paths(wanted));
            }
            if foreseen::leaves_out(&plan) {
                self.commands.overlay().left_out().note();
            }
            self.foresee(wanted, outcomes)?;
            self.assumed.extend(std::mem::take(&mut plan.assumptions));
        }
        let certainty = std::mem::take(&mut plan.certainty);
        let changes = parts::own_changes(&plan, wanted.why_run);
        self.parts = parts::foreseen(&plan, wanted.why_run);
        let plan = (!plan.steps.is_empty()).then_some(ReadyPlan(plan));
        Ok(Prepared::new(plan, changes, certainty))
    }

    fn compose(&mut self, wanted: &Wanted<'_>, purpose: Purpose) -> Result<Composition, Raised> {
        let Some(composite) = composite::find(&wanted.declaration.kind) else { return Ok(Composition::default()) };
        self.look(wanted, |view| composite.compose(wanted, &mut composite::Machine::new(view, purpose)))
    }

    fn needs(&mut self, wanted: &Wanted<'_>, property: &str) -> Result<bool, Raised> {
        // If more properties follow this one, too little is known to decide.
        let is_last = wanted.declaration.properties.last().is_some_and(|(name, _)| name == property);
        let is_rendered = matches!(wanted.declaration.property(property), Some(Property::Rendered(_)));
        match resources::provider(&wanted.declaration.kind) {
            Some(provider) if is_last || is_rendered => {
                self.look(wanted, |view| provider.needs(wanted, property, view))
            }
            _ => Ok(true),
        }
    }

    fn left_out_code(&mut self) {
        if self.settings.why_run {
            self.commands.overlay().left_out().note();
        }
    }

    fn cannot_foresee(&mut self, wanted: &Wanted<'_>) {
        if self.settings.why_run {
            if !foreseen::changes_what_it_names(&wanted.declaration.kind) {
                self.commands.overlay().left_out().note();
            }
            let outcomes = self.unknown_paths(wanted);
            // If the policy's limit is exceeded, the policy has ended, and its account reports that.
            let _ended = self.foresee(wanted, outcomes);
        }
    }

    fn claims(&mut self, wanted: &Wanted<'_>) -> Vec<Claim> {
        self.look(wanted, |view| Ok(claims::of(wanted, view))).unwrap_or_default()
    }

    fn survey(&mut self, wanted: &Wanted<'_>) {
        // A survey also checks grants that other machines need, whose state may differ.
        self.commands.overlay().left_out().note();
        let Some(provider) = resources::provider(&wanted.declaration.kind) else { return };
        // An error here is not reported: planning the action will fail with the same error.
        let _ = self.look(wanted, |view| provider.survey(wanted, view));
        if wanted.declaration.own.is_some() {
            // No policy can declare another action of it.
            return;
        }
        let grants = Arc::clone(&self.settings.grants);
        grants.journal().looks_at_others(true);
        for action in provider.others().iter().copied().filter(|action| *action != wanted.action) {
            let other =
                Wanted { action, declaration: wanted.declaration, resolved: wanted.resolved.clone(), ..*wanted };
            let _ = self.look(&other, |view| provider.plan(&other, view));
        }
        grants.journal().looks_at_others(false);
    }

    fn ask(&mut self, wanted: &Wanted<'_>) {
        let Some(provider) = resources::provider(&wanted.declaration.kind) else { return };
        let asking = Wanted { resolved: wanted.resolved.clone(), why_run: true, ..*wanted };
        let _ = self.look(&asking, |view| provider.ask(&asking, view));
    }

    fn ask_guard(&mut self, command: &CommandTest) {
        let _ = command::check(&self.settings.grants, &self.root, command);
    }

    fn stage(&mut self, plan: &mut ReadyPlan) -> Result<Value, Raised> {
        match plan.0.staging.take() {
            Some(staging) => {
                let staged = self.write(|writer| staging.carry_out(writer))?;
                self.settings.grants.let_verify(staged.as_str().map(str::to_owned));
                Ok(staged)
            }
            None => Ok(Value::Null),
        }
    }

    fn reject(&mut self, mut plan: ReadyPlan) -> Result<Option<String>, Raised> {
        self.settings.grants.let_verify(None);
        let Some(rejection) = plan.0.rejection.take() else { return Ok(None) };
        self.write(|writer| rejection.carry_out(writer)).map(Some)
    }

    fn parts(&mut self) -> Vec<Part> {
        std::mem::take(&mut self.parts)
    }

    fn gathered(&mut self) -> Option<Map<String, Value>> {
        self.gathered.take()
    }

    fn commit(&mut self, wanted: &Wanted<'_>, plan: ReadyPlan) -> Result<Vec<Change>, Raised> {
        if wanted.why_run || self.settings.why_run {
            return Err(Raised::new(ErrorKind::DryRun, "a dry run changes nothing"));
        }
        // A mask of the policy's choice would let others write to what wrun has chosen.
        let _mask = wanted.declaration.umask.filter(|_| wanted.declaration.own.is_none()).map(Mask::set);
        self.settings.grants.let_verify(None);
        self.parts.clear();
        let changes = self.carry_out(wanted, plan.0)?;
        let settles =
            resources::provider(&wanted.declaration.kind).is_some_and(|provider| provider.settles(wanted.action));
        if settles {
            self.is_checking = true;
            let inspected = self.inspect(wanted);
            self.is_checking = false;
            match inspected {
                Ok(left) if left.steps.is_empty() => {}
                Ok(left) => return Err(not_converged(wanted, &left)),
                // The changes are made. A refusal to inspect again must not make them look undone.
                Err(raised) if raised.kind == ErrorKind::Denied => {
                    let key = wanted.declaration.key();
                    let line = format!("{key} was changed, and the policy may not look at it again");
                    remark(&self.settings.account, LogLevel::Warn, &line);
                }
                Err(raised) => return Err(raised),
            }
        }
        Ok(changes)
    }

    fn guard(&mut self, command: &CommandTest, why_run: bool) -> Result<GuardResult, Raised> {
        let granted = command::check(&self.settings.grants, &self.root, command);
        let granted = granted.map_err(|raised| hidden_guard(raised, command, &self.settings.grants))?;
        let timeout = command.timeout.map(|seconds| Duration::from_secs(seconds.into()));
        let how = command::CommandOptions { timeout, ..command::CommandOptions::default() };
        self.caches.users.refresh(&self.root);
        let launch = command::Launch::granted(&granted, &how);
        if why_run || self.settings.why_run {
            return Ok(match self.commands.ask(&launch, &mut self.caches.users) {
                command::Answer::Ended(outcome) if outcome.code == Some(0) => GuardResult::True,
                command::Answer::Ended(_) => GuardResult::False,
                command::Answer::Unknown(why) => GuardResult::Unknown(why),
            });
        }
        let outcome = self.commands.run(&launch, &mut self.caches.users, None);
        self.caches.users.doubt();
        match outcome {
            Ok(outcome) if outcome.code == Some(0) => Ok(GuardResult::True),
            Ok(_) => Ok(GuardResult::False),
            // A command that could not be started or took too long gives no answer: Chef fails the resource.
            Err(failure) => Err(hidden_guard(failure.into_raised(&launch), command, &self.settings.grants)),
        }
    }

    fn pause(&mut self, seconds: u32) {
        let end = Instant::now() + Duration::from_secs(seconds.into());
        while self.settings.stop.requested().is_none() && self.settings.account.check().is_ok() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(TICK));
        }
    }
}

/// Removes the command and its output from a failed guard's message, if they are secret.
fn hidden_guard(raised: Raised, command: &CommandTest, grants: &PolicyGrants) -> Raised {
    match command.sensitive {
        false => raised,
        true if raised.kind == ErrorKind::Denied => command::denied_secretly(grants),
        true => Raised::new(raised.kind, "the command of a sensitive guard failed; its text and output are not shown"),
    }
}

/// Adds the resource and its origin to a denial.
fn with_origin(raised: Raised, declaration: &Declaration) -> Raised {
    if raised.kind != ErrorKind::Denied {
        return raised;
    }
    let message = format!("{} ({}, declared by {})", raised.message, declaration.key(), declaration.origin);
    Raised { message, ..raised }
}

fn not_converged(wanted: &Wanted<'_>, left: &Plan) -> Raised {
    let changes = left.steps.iter().flat_map(|step| step.changes());
    let what: Vec<&str> = changes.map(|change| change.what.as_str()).collect();
    let message = format!(
        "{} did not converge: after `{}` there is still to do: {}",
        wanted.declaration.key(),
        wanted.action,
        what.join("; ")
    );
    Raised::new(ErrorKind::DidNotConverge, message)
}

/// Returns a property's JSON value, or `None` if it is null, absent or bytes.
fn value<'w>(wanted: &'w Wanted<'_>, name: &str) -> Option<&'w Value> {
    match wanted.get(name)? {
        Known::Json(Value::Null) | Known::Bytes(_) => None,
        Known::Json(value) => Some(value),
    }
}

#[cfg(test)]
mod tests;
