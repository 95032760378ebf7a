//! Makes a run ready: all errors in its input are found before anything is changed.

use crate::artifacts::Ready;
use crate::error::AssembleError;
use crate::input::Input;
use crate::known_node::KnownNode;
use crate::layers::{LayerFiles, RunLayers};
use crate::node_changes::LateChanges;
use crate::notice::{Notice, Notify};
use crate::open::OpenRun;
use crate::own_state::DryRecord;
use crate::program::Program;
use crate::releases::{Admitted, Releases};
use crate::request::{GrantsSource, Mode, Request};
use crate::run_host::{AssembledHost, DueNotifications, Keeper, Kept, Remembered, compiler};
use crate::saved_node::{SavedNodeError, saved_node, saved_node_alone};
use crate::settings::Settings;
use crate::source::Source;
use crate::started::Started;
use crate::unchanged::{Given, SkippedRun};
use crate::watchers::Watchers;
use crate::{artifacts, data, native_cache, own_state, stand_in};
use contract::{Event, LogLevel, LogSource, Moment, Observer, Stop};
use converge::{PolicyReport, RunHost as _, RunOptions, RunReport};
use grants::{Journal, Needs};
use machine::guest::LeftOut;
use node::object::NodeObject;
use providers::Reboots;
use report::FOLDERS_POLICY;
use sandbox::{NativeCache, Sandbox};
use serde_json::Value;
use state::{LockRequest, RunFolder, RunId, StateDirectory, Unrecorded};
use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use text::{error_chain, versions};

/// The inputs for assembling a run.
pub struct Assembly<'a> {
    /// The run that is asked for.
    pub request: &'a Request,
    /// The settings of the node.
    pub settings: &'a Settings,
    /// The program that carries the run out.
    pub program: &'a Program,
    /// Asks the run to end early.
    pub stop: &'a Stop,
    /// Gets each message for people at once.
    pub notify: Arc<Notify>,
    /// The time at which the run began.
    pub began: SystemTime,
}

/// The parts of a run that can be prepared before the node's facts are known.
struct Prepared {
    input: Input,
    sources: BTreeMap<String, Source>,
    ungranted: BTreeMap<String, Needs>,
    sandbox: Arc<Sandbox>,
    state: Option<StateDirectory>,
}

/// A run that can begin: it has the lock, the node and each policy's code.
pub struct ReadyRun<'a> {
    assembly: Assembly<'a>,
    input: Input,
    known: KnownNode,
    sources: BTreeMap<String, Source>,
    ungranted: BTreeMap<String, Needs>,
    sandbox: Arc<Sandbox>,
    node: NodeObject,
    layers: RunLayers,
    keeper: Keeper,
    folder: Option<Arc<RunFolder>>,
    id: RunId,
    /// The input of the run, if later runs may be skipped because of it.
    given: Option<Given>,
    /// The good run that did the same, and the time since it ended.
    done_before: Option<(String, Duration)>,
}

impl<'a> Assembly<'a> {
    /// Makes the run ready. `due` is told which notifications are due. Returns `None` if the run was asked to stop meanwhile.
    ///
    /// # Errors
    /// Something is wrong with what the run is given. Nothing has been changed but the state directory and caches.
    pub fn make_ready(self, due: Box<dyn DueNotifications>) -> Result<Option<ReadyRun<'a>>, AssembleError> {
        let Self { request, settings, .. } = self;
        stand_in::check(request, settings)?;
        let notify = Arc::clone(&self.notify);
        let notify = notify.as_ref();
        // Collecting facts means waiting for the kernel a thousand times. So all work that does not need them is done at the
        // same time.
        let (prepared, known) = std::thread::scope(|scope| {
            let gathering = scope.spawn(|| KnownNode::gather(request, settings, self.began));
            let prepared = self.prepare();
            (prepared, gathering.join().unwrap_or(Err(AssembleError::NoFacts)))
        });
        let (Some(prepared), known) = (prepared?, known?) else { return Ok(None) };
        let Prepared { mut input, sources, ungranted, sandbox, state } = prepared;
        let (keeper, folder) = self.keeper(state.as_ref(), &known.name, due)?;
        let mut node = load_node(state.as_ref(), &keeper, &known.name, notify)?;
        let names: Vec<_> = input.policies.iter().map(|policy| policy.name.clone()).collect();
        node.begin_run(&names, input.attributes.clone());
        let layers = RunLayers::of(std::mem::take(&mut input.layers), &mut node)?;
        input.policies.iter_mut().try_for_each(|policy| layers.enter(policy))?;
        let given = request
            .skip_unchanged
            .and_then(|_| Given::new(request, settings, self.program, &input, &layers.summary(), &known.facts));
        let limit = request.skip_unchanged.unwrap_or_default();
        let done_before = match (&given, &state) {
            (Some(given), Some(state)) => given.done_before(state, &node, self.began, limit)?,
            _ => None,
        };
        if let (Keeper::Kept(kept), None) = (&keeper, &done_before) {
            kept.lock.remove_good_run(&known.name)?;
        }
        let folder = folder.map(Arc::new);
        let id = folder.as_ref().map_or_else(|| RunId::new(self.began), |folder| Ok(folder.id().clone()))?;
        Ok(Some(ReadyRun {
            assembly: self,
            input,
            known,
            sources,
            ungranted,
            sandbox,
            node,
            layers,
            keeper,
            folder,
            id,
            given,
            done_before,
        }))
    }

    /// Reads and checks everything that does not depend on the machine's facts. Returns `None` if the run was asked to stop
    /// meanwhile.
    fn prepare(&self) -> Result<Option<Prepared>, AssembleError> {
        let Self { request, settings, stop, .. } = *self;
        let notify = self.notify.as_ref();
        let layer_files = LayerFiles { settings, program: self.program, stop };
        let mut input = Input::read(request, settings, &layer_files)?;
        if request.grants == GrantsSource::Everything && request.mode != Mode::Survey {
            notify(Notice::EverythingGranted);
        }
        std::mem::take(&mut input.warnings).into_iter().for_each(notify);
        let is_dry = request.mode.is_dry();
        let state = open_state(settings, is_dry, notify)?;
        if !is_dry {
            make_own_folders(settings)?;
        }
        let make = || self.sandbox(native_cache::open_for_run(settings, is_dry, notify), &input).map(Arc::new);
        let sandbox = match &request.stand_in {
            Some(stand_in) => stand_in.prepared.sandbox(make)?,
            None => make()?,
        };
        if let Some(folders) = &input.folders {
            let limits = sandbox::Limits::default();
            sandbox.check(FOLDERS_POLICY, folders.runtime().component(), &limits)?;
        }
        let data = data::of_policies(settings)?;
        let ready = artifacts::make_ready(&mut input, data.as_ref(), &sandbox, settings, stop, notify)?;
        Ok(ready.map(|Ready { sources, ungranted }| Prepared { input, sources, ungranted, sandbox, state }))
    }

    /// Creates the engine of the run. In a real run, reports policies that were built only for trying.
    fn sandbox(&self, cache: Option<NativeCache>, input: &Input) -> Result<Sandbox, AssembleError> {
        let is_dry = self.request.mode.is_dry();
        for (name, artifact) in input
            .artifacts
            .iter()
            .map(|(name, one)| (name, one.artifact()))
            .filter(|(_, artifact)| !is_dry && artifact.manifest().dev)
        {
            let versions = versions(&artifact.manifest().revision_id, artifact.digest());
            (self.notify)(Notice::BuiltForTrying { policy: name.clone(), versions });
        }
        let compiler = compiler(self.settings, self.program, self.stop);
        let is_quick =
            is_dry && input.folders.is_none() && input.artifacts.values().map(Admitted::artifact).all(is_for_trying);
        let sandbox =
            if is_quick { Sandbox::quick_to_compile(cache, compiler)? } else { Sandbox::new(cache, compiler)? };
        let notify = Arc::clone(&self.notify);
        Ok(sandbox.announcing(move |policy| notify(Notice::Compiling { policy: policy.to_owned() })))
    }

    /// Takes the lock, unless the run is dry.
    fn keeper(
        &self,
        state: Option<&StateDirectory>,
        node: &str,
        due: Box<dyn DueNotifications>,
    ) -> Result<(Keeper, Option<RunFolder>), AssembleError> {
        let Some(state) = state.filter(|_| !self.request.mode.is_dry()) else {
            let left = state.map(|state| state.left_due(node)).transpose()?;
            return Ok((Keeper::Unrecorded(Unrecorded::new(left.unwrap_or_default())), None));
        };
        let lock = state.lock(LockRequest {
            command: &self.program.command_line,
            began: self.began,
            wait: self.settings.lock_timeout,
            interrupted: &|| self.stop.requested().is_some(),
            waiting: &mut |holder| (self.notify)(Notice::Waiting { holder: holder.cloned() }),
        })?;
        let folder = lock.run_folder(self.began)?;
        let pending = lock.pending(node)?.of_run(folder.id());
        if let Some((place, why)) = pending.set_aside() {
            (self.notify)(Notice::JournalSetAside { place: place.clone(), why: why.to_string() });
        }
        let kept =
            Kept { lock, pending: Remembered::new(pending, due), filters: self.settings.saved_attributes.clone() };
        Ok((Keeper::Kept(Box::new(kept)), Some(folder)))
    }
}

impl<'a> ReadyRun<'a> {
    /// The journal of what the policies ask for.
    pub fn journal(&self) -> &Journal {
        self.input.all_grants.journal()
    }

    /// Returns the identifier of the run.
    pub fn id(&self) -> &RunId {
        &self.id
    }

    /// Returns the name of the node.
    pub fn node_name(&self) -> &str {
        self.node.name()
    }

    /// The time at which the run began.
    pub fn started(&self) -> Moment {
        moment(self.assembly.began)
    }

    /// Returns the deferred changes of the node, for a signal handler that ends the run at once.
    pub fn late_changes(&self) -> LateChanges {
        let settings = self.assembly.settings;
        LateChanges {
            state_dir: settings.state_dir.clone(),
            min_free: settings.min_free,
            node: self.node.name().to_owned(),
            before: self.node.normal().clone(),
            filters: settings.saved_attributes.clone(),
        }
    }

    /// Returns the folder of the run's record, or `None` in a dry run.
    pub fn folder(&self) -> Option<Arc<RunFolder>> {
        self.folder.clone()
    }

    /// Returns the place of this dry run's record, for a signal handler that ends the run at once.
    pub fn dry_record(&self) -> DryRecord {
        DryRecord { settings: self.assembly.settings.clone(), id: self.id.clone() }
    }

    /// Returns the report of the run if it can be skipped, because a good run did the same a short time ago.
    pub fn skipped(&self) -> Option<SkippedRun> {
        let (earlier, age) = self.done_before.clone()?;
        let policies = self.input.policies.iter().map(|policy| PolicyReport {
            revision: policy.revision.clone(),
            artifact: policy.artifact.clone(),
            ..PolicyReport::not_run(policy.name.clone())
        });
        let report = RunReport {
            run_id: self.id.to_string(),
            why_run: false,
            started: self.started(),
            seconds: self.assembly.began.elapsed().unwrap_or_default().as_secs_f64(),
            policies: policies.collect(),
            stopped: None,
            conflicts: vec![],
            conflicts_left_out: 0,
            shared_cookbooks: vec![],
        };
        let releases = self.input.releases.as_ref().map_or(Value::Null, Releases::summary);
        let node = self.node.name().to_owned();
        Some(SkippedRun { earlier, age, report, node, layers: self.layers.summary(), releases })
    }

    /// Tells whether cookbooks in folders are run instead of policies.
    pub fn is_of_folders(&self) -> bool {
        self.input.folders.is_some()
    }

    /// Opens the run for its observers, and evaluates what is in Ruby of cookbooks in folders. `is_live`: observers get the
    /// output of commands while these run.
    ///
    /// # Errors
    /// The environment's name is invalid, or a directory of gems cannot be used.
    pub fn open(self, watchers: Vec<Box<dyn Observer>>, is_live: bool) -> Result<OpenRun<'a>, AssembleError> {
        let watchers = Watchers::new(self.journal().clone(), watchers);
        let started = self.started();
        let Self {
            assembly,
            input,
            known,
            sources,
            ungranted,
            sandbox,
            mut node,
            mut layers,
            keeper,
            folder,
            id,
            given,
            ..
        } = self;
        let Assembly { request, settings, program, stop, .. } = assembly;
        let (log, live) = (watchers.clone(), watchers.clone());
        let mut run_host = AssembledHost {
            settings,
            program,
            sandbox,
            sources,
            ungranted,
            grants: input.grants,
            node: known.identity,
            started,
            why_run: request.mode.is_dry(),
            survey: request.mode == Mode::Survey,
            stop: stop.clone(),
            log: Arc::new(move |policy: &str, level, line: &str| {
                log.clone().notice(&Event::Log { policy: Some(policy), source: LogSource::Cookbook, level, line });
            }),
            live: is_live.then(|| Arc::new(move |bytes: &[u8]| live.clone().notice(&Event::Output { bytes })) as _),
            reboots: Reboots::default(),
            left_out: LeftOut::default(),
            given_facts: request.facts.is_some(),
            stand_in: request.stand_in.clone(),
            keeper,
        };
        let options = RunOptions {
            run_id: id.to_string(),
            started,
            why_run: request.mode.is_why_run(),
            keep_going: settings.keep_going || request.mode == Mode::Survey,
            without_saving: !request.override_run_lists.is_empty(),
            compile_only: request.mode.is_compile_only(),
            survey: request.mode == Mode::Survey,
            all_frames: request.all_frames,
            lists_declared: request.stand_in.is_some(),
        };
        let mut policies = input.policies;
        if let (Some(folders), Some(given)) = (input.folders, &request.folders) {
            let (mut policy, environment) = folders.policy(given, &input.all_grants, &mut run_host, &mut node)?;
            layers.set_environment(environment);
            layers.enter(&mut policy)?;
            if policy.start.run_list.is_empty() {
                // This is Chef's message.
                let line = format!("Node {} has an empty run list.", node.name());
                let event = Event::Log { policy: None, source: LogSource::Host, level: LogLevel::Warn, line: &line };
                watchers.clone().notice(&event);
            }
            policies.push(policy);
        }
        // The node keeps its new layers, even if policies fail.
        if layers.has_new() && !options.without_saving {
            run_host.save(&node).map_err(AssembleError::NotSaved)?;
        }
        if let Some(folder) = &folder {
            let names = policies.iter().map(|policy| policy.name.clone()).collect();
            let names = request.folders.is_none().then_some(names);
            let note = Started::new(id.to_string(), node.name(), started.seconds, &program.command_line, names);
            note.note(folder);
        }
        let journal = input.all_grants.journal().clone();
        let layers = layers.summary();
        let facts = known.facts;
        let releases = input.releases;
        Ok(OpenRun { run_host, options, policies, facts, watchers, node, layers, releases, journal, folder, id, given })
    }
}

/// Opens the state directory, and creates it if necessary, unless this is a dry run.
fn open_state(settings: &Settings, is_dry: bool, notify: &Notify) -> Result<Option<StateDirectory>, AssembleError> {
    if !is_dry {
        let opened = StateDirectory::open_keeping_free(&settings.state_dir, settings.min_free);
        return opened.map(Some).map_err(AssembleError::StateDirectory);
    }
    let (state, notice) = own_state::open_for_looking(settings)?;
    notice.into_iter().for_each(notify);
    Ok(state)
}

/// Creates the folders that every change needs. So a missing folder is an error here, and does not make a resource fail in
/// the middle of a run.
fn make_own_folders(settings: &Settings) -> Result<(), AssembleError> {
    for (key, variable, folder) in
        [("cache_dir", "WRUN_CACHE_DIR", &settings.cache_dir), ("backup_dir", "WRUN_BACKUP_DIR", &settings.backup_dir)]
    {
        let failed = |source| AssembleError::OwnFolder { key, variable, folder: folder.clone(), source };
        make_writable_folder(folder).map_err(failed)?;
    }
    Ok(())
}

/// Creates a folder that only this user can access, or checks that an existing one is writable.
fn make_writable_folder(path: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    Ok(rustix::fs::access(path, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK)?)
}

/// Loads the saved node. A damaged one does not stop any policy: it is reported and moved away, and the run begins with a new
/// one.
fn load_node(
    state: Option<&StateDirectory>,
    keeper: &Keeper,
    name: &str,
    notify: &Notify,
) -> Result<NodeObject, AssembleError> {
    let mut saved = state.map(|state| saved_node(state, name)).transpose();
    if let Err(SavedNodeError::Changes(error)) = &saved
        && error.is_damage()
    {
        // The node itself may be intact, so only the damaged changes are moved away.
        let place = match keeper {
            Keeper::Kept(kept) => Some(kept.lock.set_changes_aside(name)?),
            Keeper::Unrecorded(_) => None,
        };
        notify(Notice::ChangesSetAside { why: error_chain(error), place });
        saved = state.map(|state| saved_node_alone(state, name)).transpose();
    }
    let why = match saved {
        Ok(saved) => return saved.flatten().map_or_else(|| Ok(NodeObject::new(name)?), Ok),
        Err(SavedNodeError::Changes(error)) => return Err(error.into()),
        Err(SavedNodeError::State(error)) if !error.is_damage() => return Err(error.into()),
        // The file is intact but belongs to another node, so somebody has put it here: it is not moved away without asking.
        Err(other @ SavedNodeError::Other { .. }) => return Err(other.into()),
        Err(why) => error_chain(&why),
    };
    let place = match keeper {
        Keeper::Kept(kept) => Some(kept.lock.set_node_aside(name)?),
        Keeper::Unrecorded(_) => None,
    };
    notify(Notice::NodeSetAside { why, place });
    Ok(NodeObject::new(name)?)
}

/// Tells whether a policy was built only for trying. Then fast compilation of its component matters more than fast code. This
/// does not hold for a policy with a language runtime: its native code is cached for the usual engine.
fn is_for_trying(artifact: &artifact::Artifact) -> bool {
    artifact.manifest().dev && artifact.manifest().runtime == artifact::Runtime::Rust
}

fn moment(time: SystemTime) -> Moment {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment { seconds: i64::try_from(since.as_secs()).unwrap_or(i64::MAX), nanoseconds: since.subsec_nanos() }
}
