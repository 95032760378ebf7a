//! The host of a run: what all its policies share, such as artifacts, grants and stored state.

mod fresh_facts;
mod remembered;
mod rights;
mod types;

use crate::program::Program;
use crate::releases::Admitted;
use crate::runtime::RESERVED_MEMORY;
use crate::settings::Settings;
use crate::source::Source;
use crate::stand_in::StandIn;

use contract::{Account, AccountLimits, ErrorKind, Failure, GuestLost, Memory, Moment, Receipt, Services, Stop};
use converge::{Instance, PolicyInput, RunHost};
use grants::{Grants, Limit, Needs, PolicyGrants};
use machine::download::{Downloads, NoServers};
use machine::guest::{GuestMachine, LeftOut};
use node::file_specificity::NodeIdentity;
use node::object::NodeObject;
use node::origin::Origin;
use node::saved_filter::SavedFilters;
use pollster::block_on;
use providers::{MachineProviders, Reboots};
use rights::Rights;
use sandbox::{Code, Compiler, CompilerProcess, Conversation, LimitSource, Limits, Policies, Sandbox};
use serde_json::{Map, Value};
use state::{RunLock, Unrecorded};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use text::error_chain;

use crate::saved_node::node_to_save;
pub use remembered::DueNotifications;
pub(crate) use remembered::Remembered;
pub(crate) use types::BuiltinTypes;

/// Takes the log lines of providers, with the name of the policy.
type PolicyLog = dyn Fn(&str, contract::LogLevel, &str) + Send + Sync;

/// Everything that the policies of a run need, made once.
pub(crate) struct AssembledHost<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) program: &'a Program,
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) sources: BTreeMap<String, Source>,
    /// The needs of policies that import an interface without any grant for it, as their authors wrote them.
    pub(crate) ungranted: BTreeMap<String, Needs>,
    pub(crate) grants: BTreeMap<String, Arc<PolicyGrants>>,
    pub(crate) node: NodeIdentity,
    pub(crate) started: Moment,
    pub(crate) why_run: bool,
    /// Whether this is a survey: nothing is denied, and the needed grants are recorded.
    pub(crate) survey: bool,
    pub(crate) stop: Stop,
    pub(crate) log: Arc<PolicyLog>,
    pub(crate) live: Option<Arc<machine::command::Live>>,
    pub(crate) reboots: Reboots,
    /// The changes that the dry run has left out, of all policies.
    pub(crate) left_out: LeftOut,
    /// Whether the facts came from a file, so that they are not collected again.
    pub(crate) given_facts: bool,
    /// The replacement for the machine in a test.
    pub(crate) stand_in: Option<StandIn>,
    pub(crate) keeper: Keeper,
}

/// The state that is kept after the run. A dry run does not keep any.
pub(crate) enum Keeper {
    /// A real run: the state is written under the run lock.
    Kept(Box<Kept>),
    /// A dry run: the state is read and never written.
    Unrecorded(Unrecorded),
}

/// The state that a real run writes under the run lock.
pub(crate) struct Kept {
    pub(crate) lock: RunLock,
    pub(crate) pending: Remembered,
    pub(crate) filters: SavedFilters,
}

/// A policy's instance with its providers.
pub(crate) struct Opened {
    policies: Policies,
    providers: MachineProviders,
    /// The charge for the policy's artifact, which stays in memory during the whole run.
    _artifact: Receipt,
}

impl Instance for Opened {
    type Session<'a> = Conversation<'a>;
    type Providers = MachineProviders;

    fn conversation(&mut self) -> (Conversation<'_>, &mut MachineProviders) {
        (self.policies.conversation(), &mut self.providers)
    }

    fn end<'a>(session: Conversation<'a>) -> impl Future<Output = Result<(), GuestLost>> + Send
    where
        Self: 'a,
    {
        session.end()
    }
}

/// Returns the limits of a policy's own code: those of its grants, else those of the settings.
pub fn limits(settings: &Settings, grants: &PolicyGrants) -> Limits {
    let own = grants.limits();
    let memory =
        own.get(Limit::GuestMemory).map_or(settings.guest_memory, |mebibytes| mebibytes.saturating_mul(1 << 20));
    let source = |limit| if own.has(limit) { LimitSource::Grants } else { LimitSource::Settings };
    Limits {
        memory: usize::try_from(memory).unwrap_or(usize::MAX),
        reserved: 0,
        guest_time: own.time(Limit::GuestTime).unwrap_or(settings.guest_time),
        memory_from: source(Limit::GuestMemory),
        guest_time_from: source(Limit::GuestTime),
    }
}

/// Returns the compiler of policies' components: this program, in a process of its own.
pub fn compiler(settings: &Settings, program: &Program, stop: &Stop) -> Compiler {
    let stop = stop.clone();
    Compiler::Process(CompilerProcess {
        program: program.path.clone(),
        time: settings.compile_time,
        memory: settings.compile_memory,
        interrupted: Box::new(move || stop.requested().is_some()),
    })
}

/// The grants of all policies of a run.
pub(crate) fn policy_grants(
    grants: &Grants,
    artifacts: &BTreeMap<String, Admitted>,
) -> BTreeMap<String, Arc<PolicyGrants>> {
    let of = |admitted: &Admitted| {
        let manifest = admitted.artifact().manifest();
        let cookbooks: Vec<String> = manifest.cookbooks.iter().map(|cookbook| cookbook.name.clone()).collect();
        grants.policy(&manifest.name, &cookbooks)
    };
    artifacts.iter().map(|(name, artifact)| (name.clone(), of(artifact))).collect()
}

impl AssembledHost<'_> {
    fn grants_of(&self, policy: &str) -> Result<&Arc<PolicyGrants>, Failure> {
        self.grants.get(policy).ok_or_else(|| Failure::raised(ErrorKind::Bug, format!("policy {policy} has no grants")))
    }

    /// Records denials for the `[needs]` of policies that import an interface without any grant for it. Requests of the
    /// policies themselves are recorded already, with their place. A policy that `succeeded` in a real run does not need
    /// more, so it is skipped.
    pub(crate) fn deny_ungranted(&self, succeeded: &[String]) {
        for (policy, needs) in &self.ungranted {
            let ended_early = self.why_run || !succeeded.contains(policy);
            self.grants.get(policy).filter(|_| ended_early).into_iter().for_each(|grants| grants.deny_needs(needs));
        }
    }

    /// Returns the names of wrun's own environment variables in a survey, which records reads of hidden ones.
    fn variables(&self) -> Arc<[String]> {
        self.program.environment.iter().filter(|_| self.survey).map(|(name, _)| name.clone()).collect()
    }

    fn services(
        &self,
        grants: &Arc<PolicyGrants>,
        machine: GuestMachine,
        source: &Source,
        account: &Account,
        is_runtime: bool,
    ) -> Services {
        Services {
            account: account.clone(),
            machine: Box::new(machine),
            data: source.data(grants, account),
            files: source.files(self.settings),
            clock: grants.clock(),
            random: grants.random(),
            environment: grants.visible_environment(self.program.environment.iter().cloned()),
            started: self.started,
            zone: |seconds| local_zone(seconds),
            attributes: Box::new(Rights { grants: Arc::clone(grants), is_runtime, variables: self.variables() }),
            node: self.node.clone(),
            types: Arc::new(BuiltinTypes),
        }
    }

    /// Returns the limits of a policy's use of the host. Defaults for limits that its grants do not set follow from the
    /// memory limit of its guest.
    fn account_limits(&self, grants: &PolicyGrants) -> AccountLimits {
        let own = grants.limits();
        let guest_memory = u64::try_from(limits(self.settings, grants).memory).unwrap_or(u64::MAX);
        let usual = AccountLimits::for_guest_memory(guest_memory);
        AccountLimits {
            host_memory: own.get(Limit::HostMemory).map_or(usual.host_memory, mebibytes),
            host_time: own.time(Limit::HostTime).unwrap_or(usual.host_time),
            disk: own.get(Limit::Disk).map_or(usual.disk, mebibytes),
            entries: own.get(Limit::Entries).unwrap_or(usual.entries),
            open_files: own.get(Limit::OpenFiles).unwrap_or(usual.open_files),
            processes: own.get(Limit::Processes).unwrap_or(usual.processes),
            accounts: own.get(Limit::Accounts).unwrap_or(usual.accounts),
            pauses: own.time(Limit::Pauses).unwrap_or(usual.pauses),
            wall: own.time(Limit::Wall).unwrap_or(usual.wall),
        }
    }

    fn no_servers(&self) -> Option<NoServers> {
        match self.stand_in.is_some() {
            true => Some(NoServers::Test),
            false => self.survey.then_some(NoServers::Survey),
        }
    }

    fn downloads(&self) -> Downloads {
        Downloads { bytes: self.settings.download_size, time: self.settings.download_time, off: self.no_servers() }
    }

    fn provider_settings(
        &self,
        policy: &PolicyInput,
        grants: &Arc<PolicyGrants>,
        source: &Source,
        account: &Account,
    ) -> providers::Settings {
        providers::Settings {
            account: account.clone(),
            root: self.settings.root.clone(),
            grants: Arc::clone(grants),
            files: source.files(self.settings),
            backup_dir: self.settings.backup_dir.join(&policy.name),
            cache_dir: self.settings.cache_dir.join("files").join(&policy.name),
            file_cache: grants::file_cache(policy.start.name.as_deref()),
            node: self.node.clone(),
            why_run: self.why_run,
            launcher: self.stand_in.is_none().then(|| self.program.path.clone()),
            stop: self.stop.clone(),
            package_lock_wait: self.settings.package_lock_timeout,
            backups: self.settings.backups,
            backups_size: grants.limits().get(Limit::Backups).map_or(providers::Settings::BACKUPS_SIZE, mebibytes),
            downloads: self.downloads(),
            reboots: self.reboots.clone(),
            left_out: self.left_out.clone(),
            facts: (!self.given_facts).then(|| fresh_facts::gatherer(&self.settings.root, grants)),
            live: self.live.clone(),
            log: Some({
                let (log, policy) = (Arc::clone(&self.log), policy.name.clone());
                Arc::new(move |level, line: &str| log(&policy, level, line))
            }),
            answers: self.stand_in.as_ref().map(|given| given.answers.clone()),
            contents: self.stand_in.as_ref().map(|given| Arc::clone(&given.contents)),
        }
    }
}

impl RunHost for AssembledHost<'_> {
    type Instance = Opened;

    fn account(&self, policy: &PolicyInput) -> Account {
        let limits = self.grants.get(&policy.name).map(|grants| self.account_limits(grants)).unwrap_or_default();
        let account = Account::new(&policy.name, limits, self.program.meters).leaving_free(self.settings.min_free);
        let has_share = self.grants.get(&policy.name).is_some_and(|grants| grants.limits().get(Limit::Disk).is_some());
        // A disk limit in the grants is used unchanged.
        if self.sources.len() > 1 && !has_share { account.sharing_room() } else { account }
    }

    fn open(&mut self, policy: &PolicyInput, account: &Account) -> Result<Opened, Failure> {
        let name = policy.name.as_str();
        let missing = || Failure::raised(ErrorKind::Bug, format!("policy {name} has no artifact"));
        let source = self.sources.get(name).ok_or_else(missing)?;
        let grants = self.grants_of(name)?;
        let artifact = account.keep(source.artifact_bytes(), || Origin::policy(name)).map_err(Failure::from)?;
        let providers = MachineProviders::new(Arc::new(self.provider_settings(policy, grants, source, account)))?;
        if source.runtime().is_some()
            && let Err(raised) = providers.make_file_cache(&grants::file_cache(policy.start.name.as_deref()))
        {
            tracing::warn!("Chef's file cache is missing: {}", raised.message);
        }
        let start = |code: Code<'_>, limits: &Limits, is_runtime| {
            let services = self.services(grants, providers.machine(), source, account, is_runtime);
            block_on(self.sandbox.open(name, code, limits, services))
                .map_err(|error| Failure::raised(ErrorKind::NotStarted, error.to_string()))
        };
        let limits = limits(self.settings, grants);
        let own = source.own_code().map(|code| start(code, &limits, false)).transpose()?;
        let ruby = source.runtime().map(|runtime| {
            let limits = Limits { reserved: RESERVED_MEMORY, ..limits };
            start(runtime.component().into(), &limits, true)
        });
        let policies = match (own, ruby.transpose()?) {
            (Some(own), Some(ruby)) => Policies::two(own, ruby, source.ruby_cookbooks()),
            (Some(only), None) | (None, Some(only)) => Policies::One(only),
            (None, None) => return Err(Failure::raised(ErrorKind::Bug, format!("policy {name} has no code"))),
        };
        Ok(Opened { policies, providers, _artifact: artifact })
    }

    fn visible<'all>(&self, policy: &PolicyInput, left: &'all Value) -> Cow<'all, Value> {
        self.grants.get(&policy.name).map_or_else(nothing, |grants| grants.visible_attributes(left))
    }

    fn visible_given<'all>(&self, policy: &PolicyInput, given: &'all Value) -> Cow<'all, Value> {
        self.grants.get(&policy.name).map_or_else(nothing, |grants| grants.visible_given(given))
    }

    fn overwrites(&self, policy: &PolicyInput, path: &[String]) -> bool {
        self.grants.get(&policy.name).is_some_and(|grants| grants.overwrites_attribute(path))
    }

    fn visible_facts<'all>(&self, policy: &PolicyInput, facts: &'all Value) -> Cow<'all, Value> {
        self.grants.get(&policy.name).map_or_else(nothing, |grants| grants.visible_facts(facts))
    }

    fn save(&mut self, node: &NodeObject) -> Result<(), Failure> {
        let Keeper::Kept(kept) = &self.keeper else { return Ok(()) };
        let Kept { lock, filters, .. } = kept.as_ref();
        let failed = |why: String| Failure::raised(ErrorKind::StateNotSaved, why);
        let saved = node_to_save(node, filters).map_err(|error| failed(error.to_string()))?;
        lock.save_node(node.name(), &saved).map_err(|error| failed(error_chain(&error)))
    }

    fn advice(&self, policy: &PolicyInput, failure: &Failure) -> Option<String> {
        let source = self.sources.get(&policy.name).filter(|source| source.runtime().is_some())?;
        author::undeclared::hint(&*source.at_hand(self.settings), failure)
    }

    fn memory(&mut self) -> &mut dyn Memory {
        match &mut self.keeper {
            Keeper::Kept(kept) => &mut kept.pending,
            Keeper::Unrecorded(memory) => memory,
        }
    }
}

/// The bytes of a limit that is a number of mebibytes.
fn mebibytes(mebibytes: u64) -> u64 {
    mebibytes.saturating_mul(1 << 20)
}

/// Returns an empty value: the readable part for a policy without grants.
fn nothing<'all>() -> Cow<'all, Value> {
    Cow::Owned(Value::Object(Map::new()))
}

/// The machine's local time zone at a moment.
fn local_zone(seconds: i64) -> (i32, String) {
    let Ok(moment) = jiff::Timestamp::from_second(seconds) else { return (0, "UTC".into()) };
    let zoned = moment.to_zoned(jiff::tz::TimeZone::system());
    (zoned.offset().seconds(), zoned.strftime("%Z").to_string())
}
