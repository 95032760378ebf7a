//! `wrun converge`: brings the node to what its policies ask for.
//!
//! Everything that can be wrong with the input is found before anything is changed: settings, grants, artifacts, run lists,
//! attributes, the state. Then the run, its report, its record.

mod askers;
mod data;
mod denials;
mod folders;
mod handlers;
mod input;
mod not_begun;
mod outline;
mod own_places;
mod unseen;

use crate::activity::Activity;
use crate::arguments::{ConvergeArguments, SuggestArguments, Suggesting};
use crate::commands::grants::{Written, write_suggestion};
use crate::errors;
use crate::exit::Exit;
use crate::format::blocks::Block;
use crate::format::doc::Doc;
use crate::format::kept_log::KeptLog;
use crate::format::minimal::Minimal;
use crate::format::ndjson::Ndjson;
use crate::format::{self, All, Shared, conflicts, hidden, json, recap};
use crate::grants_files::GrantsFiles;
use crate::house::{self, BuiltinTypes, Keeper, Kept, Released, Source, TheHouse};
use crate::logging::{self, RunLog};
use crate::own_state;
use crate::poll::finish;
use crate::printer::{Printer, Tone};
use crate::settings::{Color, Format, LogLocation, Settings};
use crate::signals::{self, Interruption};
use crate::terminal;
use anyhow::Context as _;
use askers::Askers;
use contract::{CookbookFiles, Event, LogLevel, LogSource, Moment, Observer, Stop};
use converge::{PolicyOutcome, RunOptions, RunReport, WholeRun};
use grants::Journal;
use input::Input;
use node::object::NodeObject;
use outline::Outline;
use providers::Reboots;
use sandbox::{NativeCache, Sandbox};
use serde_json::{Map, Value, json};
use state::{LockRequest, RunFolder, RunId, StateDirectory, StateError, Unrecorded};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use text::{escape, escape_line};

/// A dry run that prints what it asked for, as the operator's file of grants would say it.
pub(crate) fn suggest_grants(arguments: SuggestArguments, printer: &Printer) -> anyhow::Result<Exit> {
    let SuggestArguments { converge, write, yes } = arguments;
    let suggest_grants = Some(Suggesting { write, yes });
    run(ConvergeArguments { suggest_grants, why_run: true, keep_going: true, ..converge }, printer)
}

pub(crate) fn run(arguments: ConvergeArguments, printer: &Printer) -> anyhow::Result<Exit> {
    // Without settings nobody knows the format but the command line and its variable.
    let mut format = arguments.format.or_else(not_begun::format_of_environment);
    let ended = begin(arguments, &mut format, printer);
    if let Err(error) = &ended {
        not_begun::tell(format, error, *printer);
    }
    ended
}

/// Says on standard output that the command line is wrong, if it asks for a format for programs.
pub(crate) fn tell_usage_error(error: &clap::Error) {
    not_begun::tell_usage_error(error, Printer::new());
}

fn begin(arguments: ConvergeArguments, format: &mut Option<Format>, printer: &Printer) -> anyhow::Result<Exit> {
    let settings = super::settings(arguments.common.config.as_deref(), arguments.layer())?;
    // A suggestion is text in all formats.
    *format = Some(settings.format).filter(|_| arguments.suggest_grants.is_none());
    colours(settings.color);
    logging::open(&settings)?;
    let is_watched = settings.format == Format::Doc && !arguments.compile_only && arguments.suggest_grants.is_none();
    let activity = if is_watched { Activity::shown() } else { Activity::default() };
    let interruption = Interruption::default().with_activity(activity);
    signals::listen(&interruption, *printer).context("signals cannot be listened to")?;
    let outcome = prepare_and_run(arguments, settings, &interruption, *printer);
    interruption.die_if_at_once();
    outcome
}

fn prepare_and_run(
    arguments: ConvergeArguments,
    settings: Settings,
    interruption: &Interruption,
    printer: Printer,
) -> anyhow::Result<Exit> {
    let stop = &interruption.stop;
    let began = SystemTime::now();
    let input = Input::read(&arguments, &settings, began)?;
    if arguments.allow_all {
        let text = "every policy may do everything on this machine (--allow-all)";
        printer.note(Tone::Warning, &format!("warning: {text}"));
    }
    for warning in &input.warnings {
        printer.note(Tone::Warning, &format!("warning: {warning}"));
    }
    let dry = arguments.why_run || arguments.compile_only;
    let state = open_state(&settings, dry, printer)?;
    if !dry {
        own_folders(&settings)?;
    }
    let mut sandbox = sandbox(native_cache(&settings, state.as_ref(), printer), &input, dry, printer)?;
    if settings.format != Format::Json && !arguments.compile_only {
        sandbox = sandbox.announcing(move |policy| {
            let text = format!("compiling native code of policy {policy}");
            printer.note(Tone::Quiet, &escape_line(&text));
        });
    }
    if let Some(folders) = &input.folders {
        sandbox.check(folders::POLICY, folders.runtime().component(), contract::Interfaces::ALL)?;
    }
    let data = data::of_policies(&settings)?;
    let mut sources = BTreeMap::new();
    for (name, artifact) in &input.artifacts {
        let source = Source::Released(Released::new(artifact.clone(), data.clone(), &settings)?);
        if let (Some(code), Some(grants)) = (source.own_code(), input.grants.get(name)) {
            sandbox.check(name, code, house::interfaces(grants))?;
        }
        if let Some(runtime) = source.runtime() {
            sandbox.check(name, runtime.component(), contract::Interfaces::ALL)?;
        }
        sources.insert(name.clone(), source);
    }
    let (keeper, folder) = match keeper(&settings, state.as_ref(), &input, began, stop, dry, printer) {
        Err(error) if matches!(error.downcast_ref(), Some(StateError::Interrupted)) => {
            printer.error(&error);
            not_begun::tell(Some(settings.format), &error, printer);
            return Ok(signals::exit(stop.requested()));
        }
        other => other?,
    };
    let mut node = load_node(state.as_ref(), &input.node_name)?;
    let names: Vec<_> = input.policies.iter().map(|policy| policy.name.clone()).collect();
    node.begin_run(&names, input.attributes.clone());
    let run = Running { settings: &settings, arguments: &arguments, printer, interruption, began };
    run.go(input, sources, sandbox, node, keeper, folder)
}

/// What stays the same from the first resource to the last word.
struct Running<'a> {
    settings: &'a Settings,
    arguments: &'a ConvergeArguments,
    printer: Printer,
    interruption: &'a Interruption,
    began: SystemTime,
}

impl Running<'_> {
    fn go(
        &self,
        input: Input,
        sources: BTreeMap<String, Source>,
        sandbox: Sandbox,
        mut node: NodeObject,
        keeper: Keeper,
        folder: Option<RunFolder>,
    ) -> anyhow::Result<Exit> {
        let kept_log = KeptLog::default();
        let journal = input.all_grants.journal().clone();
        let started = moment(self.began);
        let outline = Outline::new(started, journal.clone());
        let shared = self.observer(&kept_log, &outline, journal.clone());
        let without_policies = input.folders.is_some();
        let folder = folder.map(Arc::new);
        if let Some(folder) = folder.clone() {
            let activity = self.interruption.activity.clone();
            self.interruption.begin(move |signal| {
                outline.record(&folder, signal, activity.action().as_deref(), without_policies);
            });
        }
        let (log, live) = (shared.clone(), shared.clone());
        let mut house = TheHouse {
            settings: self.settings,
            sandbox,
            sources,
            grants: input.grants,
            node: input.identity,
            started,
            why_run: self.arguments.why_run || self.arguments.compile_only,
            stop: self.interruption.stop.clone(),
            log: Arc::new(move |level, line: &str| {
                log.clone().notice(&Event::Log { source: LogSource::Cookbook, level, line });
            }),
            live: matches!(self.settings.format, Format::Doc | Format::Ndjson)
                .then(|| Arc::new(move |bytes: &[u8]| live.clone().notice(&Event::Output { bytes })) as _),
            reboots: Reboots::default(),
            given_facts: self.arguments.facts.is_some(),
            links_all: false,
            keeper,
        };
        let id = folder.as_ref().map_or_else(|| RunId::new(self.began), |folder| Ok(folder.id().clone()))?;
        let run_id = id.to_string();
        let _named = self.log_names_run(&run_id);
        let options = RunOptions {
            run_id: run_id.clone(),
            started,
            why_run: self.arguments.why_run,
            keep_going: self.settings.keep_going,
            without_saving: !self.arguments.override_runlist.is_empty(),
            compile_only: self.arguments.compile_only,
            survey: self.arguments.suggest_grants.is_some(),
            all_frames: self.settings.log_level.threshold() <= LogLevel::Debug,
        };
        let mut policies = input.policies;
        if let Some(folders) = input.folders {
            let policy = folders.policy(self.arguments, &input.all_grants, &mut house, &mut node)?;
            if policy.start.run_list.is_empty() {
                // Chef's words.
                let line = format!("Node {} has an empty run list.", node.name());
                shared.clone().notice(&Event::Log { source: LogSource::Host, level: LogLevel::Warn, line: &line });
            }
            policies.push(policy);
        }
        if self.arguments.suggest_grants.is_none() {
            handlers::start(self.settings, &run_id, node.name(), self.arguments.why_run, self.printer);
        }
        let whole = WholeRun::new(
            &mut house,
            options,
            Arc::new(BuiltinTypes),
            input.facts,
            Box::new(shared),
            self.interruption.stop.clone(),
        );
        let report = finish(whole.run(&mut node, policies));
        let files = house.sources.iter().map(|(name, source)| (name.clone(), source.files(self.settings))).collect();
        let errors = errors_of(&report, &files);
        let (denials, denials_left_out) = denials::of(&report, &journal);
        let parts = json::Parts {
            report: &report,
            node: node.name(),
            errors: &errors,
            denials: &denials,
            denials_left_out,
            asked: asked(&journal),
            log: kept_log.lines(),
            without_policies,
            compile_seconds: house.sandbox.compile_time().as_secs_f64(),
        };
        let exit = if let Some(how) = &self.arguments.suggest_grants {
            self.suggestion(how, &journal, &report, &errors)
        } else {
            self.end(&parts, house.keeper, folder, &id, &house.reboots)
        };
        // The process ends now, and gives all memory back at once: faster than piece by piece.
        std::mem::forget((house.sandbox, report, node));
        exit
    }

    /// From now on each line of the log names the run, and says if it is a dry one. A person at a terminal knows.
    fn log_names_run(&self, run_id: &str) -> Option<tracing::span::EnteredSpan> {
        let is_read = self.settings.log_location == LogLocation::Stderr && terminal::is_watched();
        let why_run = self.arguments.why_run;
        (!is_read).then(|| tracing::error_span!(target: "run", "run", run_id, why_run).entered())
    }

    /// Who watches the run: people or nobody, and the log.
    fn observer(&self, kept_log: &KeptLog, outline: &Outline, journal: Journal) -> Shared {
        let activity = self.interruption.activity.clone();
        let mut watchers: Vec<Box<dyn Observer>> = vec![
            Box::new(Askers::new(journal)),
            Box::new(kept_log.clone()),
            Box::new(outline.clone()),
            Box::new(activity),
        ];
        // What people read on the terminal is not said there a second time.
        let seen = self.settings.log_location == LogLocation::Stderr && !self.settings.format.is_for_programs();
        if !seen || self.arguments.compile_only {
            watchers.push(Box::new(RunLog));
        }
        let level = self.settings.log_level.threshold();
        match self.settings.format {
            _ if self.arguments.compile_only || self.arguments.suggest_grants.is_some() => {}
            Format::Doc => watchers.push(Box::new(Doc::new(self.printer, level))),
            Format::Minimal => watchers.push(Box::new(Minimal::new(self.printer, level))),
            Format::Ndjson => watchers.push(Box::new(Ndjson::new(self.printer))),
            Format::Json => {}
        }
        Shared::new(All(watchers))
    }

    /// What the plan asked for. A plan that was not made to its end asked for the first part of what it needs.
    fn suggestion(
        &self,
        how: &Suggesting,
        journal: &Journal,
        report: &RunReport,
        errors: &[(String, Value)],
    ) -> anyhow::Result<Exit> {
        for text in unseen::of(report) {
            self.printer.note(Tone::Warning, &escape_line(&format!("warning: {text}")));
        }
        match &how.write {
            Some(path) => {
                let written = write_suggestion(path, &journal.additions(), how.yes, self.printer)?;
                if written == Written::Declined {
                    return Ok(Exit::Failed);
                }
            }
            None => self.printer.line(Tone::Plain, journal.suggestion().trim_end()),
        }
        Ok(if errors.is_empty() { Exit::Done } else { Exit::Failed })
    }

    /// The report, the record, the exit code.
    fn end(
        &self,
        parts: &json::Parts<'_>,
        keeper: Keeper,
        folder: Option<Arc<RunFolder>>,
        id: &RunId,
        reboots: &Reboots,
    ) -> anyhow::Result<Exit> {
        let (report, errors) = (parts.report, parts.errors);
        let shown = json::Run(parts);
        if self.settings.format == Format::Json || self.arguments.compile_only {
            self.printer.json_document(&shown)?;
        }
        let recorded = self.record_dry_run(&shown, errors, id);
        if !self.settings.format.is_for_programs() && !self.arguments.compile_only {
            let mut blocks = hidden::blocks(report);
            blocks.extend(self.denials(parts, recorded)?);
            blocks.extend(conflicts::block(report));
            recap::show(self.printer, parts, &blocks);
        }
        // From here on the run records itself.
        self.interruption.end();
        if let Keeper::Kept(kept) = keeper {
            let Kept { lock, pending, .. } = *kept;
            let kept = keep(&lock, folder.as_deref(), &shown, errors.first().map(|(_, error)| error), self.settings);
            let finished = pending.finish();
            if let Err(error) = kept.and(finished) {
                self.printer.note(
                    Tone::Error,
                    &format!("error: the run could not be recorded: {}", house::error_chain(&error)),
                );
                handlers::end(self.settings, &shown, true, self.printer);
                return Ok(Exit::Failed);
            }
        }
        self.interruption.die_if_at_once();
        handlers::end(self.settings, &shown, report.failure().is_some(), self.printer);
        Ok(match (self.interruption.stop.requested(), report.failure()) {
            (None, None) if self.arguments.detailed_exitcode && is_pending(report) => Exit::ChangesPending,
            (Some(Stop::REBOOT), _) | (None, None) => self.start_again(reboots),
            (Some(signal), _) => signals::exit(Some(signal)),
            (None, Some(_)) => Exit::Failed,
        })
    }

    /// Keeps the record of a dry run; false: it has none. Nothing depends on it, so that one that cannot be kept is no failure.
    fn record_dry_run(&self, shown: &json::Run<'_>, errors: &[(String, Value)], id: &RunId) -> bool {
        if self.arguments.compile_only || !self.arguments.why_run {
            return !self.arguments.compile_only;
        }
        let kept = own_state::keep_dry_run(self.settings, id, |folder| {
            folder.save_record(shown)?;
            errors.first().map_or(Ok(()), |(_, error)| folder.save_error(error))
        });
        if let Err(error) = &kept {
            let text = format!("warning: this dry run is not recorded: {}", house::error_chain(error));
            self.printer.note(Tone::Warning, &text);
        }
        kept.is_ok()
    }

    /// What was denied, and what would allow it.
    fn denials(&self, parts: &json::Parts<'_>, recorded: bool) -> anyhow::Result<Vec<Block>> {
        if parts.denials.is_empty() {
            return Ok(vec![]);
        }
        let files = GrantsFiles::read(&self.settings.grants, false)?;
        let common = &self.arguments.common;
        let options =
            [("--config", &common.config), ("--state-dir", &common.state_dir), ("--grants", &self.arguments.grants)];
        let given = options.iter().filter_map(|(name, path)| Some(format!(" {name} {}", quoted(path.as_deref()?))));
        let command = recorded.then(|| format!("wrun grants allow --last{}", given.collect::<String>()));
        Ok(format::denials::block(parts.denials, parts.denials_left_out, &files, command.as_deref())
            .into_iter()
            .collect())
    }

    /// Starts the node again, if a policy asked for it: the run went well and is recorded.
    fn start_again(&self, reboots: &Reboots) -> Exit {
        match reboots.carry_out(&self.settings.root) {
            Ok(None) => Exit::Done,
            Ok(Some(true)) => Exit::RebootScheduled,
            Ok(Some(false)) => {
                self.printer.note(Tone::Warning, "the node must be started again: it is not this machine");
                Exit::RebootNeeded
            }
            Err(raised) => {
                self.printer
                    .note(Tone::Error, &format!("error: the node was not started again: {}", escape(&raised.message)));
                Exit::RebootFailed
            }
        }
    }
}

/// A path as a shell reads it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+:,@%=".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// What the policies asked of their grants, by policy.
fn asked(journal: &Journal) -> Value {
    let asked = journal.asked().into_iter();
    asked
        .map(|(policy, entries, complete)| (policy, json!({ "complete": complete, "entries": entries })))
        .collect::<Map<_, _>>()
        .into()
}

/// Whether a dry run found anything that would change, or that it could not know.
fn is_pending(report: &RunReport) -> bool {
    let tally = report.tally();
    tally.updated + tally.unknown > 0
}

/// The engine of the run. In a real run, says which policies were not built for nodes.
fn sandbox(cache: Option<NativeCache>, input: &Input, dry: bool, printer: Printer) -> anyhow::Result<Sandbox> {
    for (name, artifact) in input.artifacts.iter().filter(|(_, artifact)| !dry && artifact.manifest().dev) {
        let revision = artifact.manifest().revision_id.get(..12).unwrap_or_default();
        let text = format!(
            "warning: policy {name} (revision {revision}) was built with --dev, for trying; build it without for nodes"
        );
        printer.note(Tone::Warning, &text);
    }
    let is_quick = dry && input.folders.is_none() && input.artifacts.values().all(is_for_trying);
    Ok(if is_quick { Sandbox::quick_to_compile(cache)? } else { Sandbox::new(cache)? })
}

/// Whether a policy was built to be tried and changed again: compiling its component fast counts more than running it
/// fast. A runtime's native code is there already, for the engine that all other runs use.
fn is_for_trying(artifact: &policy::Artifact) -> bool {
    artifact.manifest().dev && artifact.manifest().runtime == policy::artifact::Runtime::Rust
}

fn colours(color: Color) {
    let choice = match color {
        Color::Auto => return,
        Color::Always => anstream::ColorChoice::Always,
        Color::Never => anstream::ColorChoice::Never,
    };
    choice.write_global();
}

fn moment(time: SystemTime) -> Moment {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment { seconds: i64::try_from(since.as_secs()).unwrap_or(i64::MAX), nanoseconds: since.subsec_nanos() }
}

/// The state: made where it is not there, unless this is a dry run.
fn open_state(settings: &Settings, dry: bool, printer: Printer) -> anyhow::Result<Option<StateDirectory>> {
    if !dry {
        return Ok(Some(StateDirectory::open(&settings.state_dir)?));
    }
    let (state, warning) = own_state::open_for_looking(settings)?;
    if let Some(text) = warning {
        printer.note(Tone::Warning, &format!("warning: {text}"));
    }
    Ok(state)
}

/// Makes the folders that every change needs, so that one that cannot be had is no resource's fault in the middle of a run.
fn own_folders(settings: &Settings) -> anyhow::Result<()> {
    for (key, variable, folder) in
        [("cache_dir", "WRUN_CACHE_DIR", &settings.cache_dir), ("backup_dir", "WRUN_BACKUP_DIR", &settings.backup_dir)]
    {
        house::writable_folder(folder).with_context(|| {
            let folder = folder.display();
            format!("`{key}` {folder} cannot be written to; name another folder in the settings or with {variable}")
        })?;
    }
    Ok(())
}

/// Native code is kept between runs where the folder is ours alone; else it is compiled each time, and that is said.
fn native_cache(settings: &Settings, state: Option<&StateDirectory>, printer: Printer) -> Option<NativeCache> {
    let state = state?;
    let folder = settings.cache_dir.join("native-v1");
    let opened = house::own_folder(&folder)
        .and_then(|()| Ok(NativeCache::new(&folder, *state.cache_key()?.bytes())?))
        .with_context(|| format!("native code is not kept: {}", folder.display()));
    match opened {
        Ok(cache) => Some(cache),
        Err(error) => {
            printer.note(Tone::Warning, &format!("warning: {error:#}"));
            None
        }
    }
}

fn keeper(
    settings: &Settings,
    state: Option<&StateDirectory>,
    input: &Input,
    began: SystemTime,
    stop: &Stop,
    dry: bool,
    printer: Printer,
) -> anyhow::Result<(Keeper, Option<RunFolder>)> {
    let Some(state) = state.filter(|_| !dry) else {
        let left = state.map(|state| state.left_due(&input.node_name)).transpose()?;
        return Ok((Keeper::Unrecorded(Unrecorded::new(left.unwrap_or_default())), None));
    };
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let command = words.collect::<Vec<_>>().join(" ");
    let request = LockRequest {
        command: &command,
        began,
        wait: settings.lock_timeout.seconds(),
        interrupted: &|| stop.requested().is_some(),
        waiting: &mut |holder| {
            let who = holder.map_or_else(String::new, |holder| {
                format!(": process {}, since {} (`{}`)", holder.pid, holder.began, escape(&holder.command))
            });
            printer.note(Tone::Warning, &format!("waiting for another run to end{who}"));
        },
    };
    let lock = state.lock(request)?;
    let folder = lock.run_folder(began)?;
    let pending = lock.pending(&input.node_name)?.of_run(folder.id());
    let kept = Kept { lock, pending, filters: settings.saved_attributes.clone() };
    Ok((Keeper::Kept(Box::new(kept)), Some(folder)))
}

fn load_node(state: Option<&StateDirectory>, name: &str) -> anyhow::Result<NodeObject> {
    match state.map(|state| house::saved_node(state, name)).transpose()?.flatten() {
        Some(saved) => Ok(saved),
        None => Ok(NodeObject::new(name)?),
    }
}

/// The error of each policy that failed, as JSON.
fn errors_of(report: &RunReport, files: &BTreeMap<String, Arc<dyn CookbookFiles>>) -> Vec<(String, Value)> {
    let failed = report.policies.iter().filter_map(|policy| match &policy.outcome {
        PolicyOutcome::Failed(failure) => Some((policy, failure)),
        _ => None,
    });
    failed
        .map(|(policy, failure)| {
            let files = files.get(&policy.name).map(AsRef::as_ref);
            (policy.name.clone(), errors::json(policy, failure, files))
        })
        .collect()
}

/// Keeps the run's record, and its error.
fn keep(
    lock: &state::RunLock,
    folder: Option<&RunFolder>,
    shown: &json::Run<'_>,
    error: Option<&Value>,
    settings: &Settings,
) -> Result<(), StateError> {
    let Some(folder) = folder else { return Ok(()) };
    folder.save_record(shown)?;
    if let Some(error) = error {
        folder.save_error(error)?;
    }
    lock.prune_runs(usize::try_from(settings.runs_kept.get()).unwrap_or(usize::MAX))
}

/// The text of a file that was named on the command line.
fn read_text(path: &Path, what: &str) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("{what} {} cannot be read", path.display()))
}
