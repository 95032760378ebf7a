//! A run that is prepared: it is watched, carried out and handed to its end.

use super::askers::Askers;
use super::input::Input;
use super::outline::Outline;
use super::{denials, ending, handlers, rest};
use crate::arguments::ConvergeArguments;
use crate::exit::Exit;
use crate::format::bounded::{Bounded, MAX_SHOWN};
use crate::format::doc::Doc;
use crate::format::kept_log::KeptLog;
use crate::format::minimal::Minimal;
use crate::format::ndjson::Ndjson;
use crate::format::{All, Shared, json};
use crate::house::{BuiltinTypes, Keeper, Source, TheHouse};
use crate::logging::RunLog;
use crate::poll::finish;
use crate::printer::Printer;
use crate::settings::{Format, LogLocation, Settings};
use crate::signals::Interruption;
use crate::terminal;
use contract::{Event, LogLevel, LogSource, Moment, Observer};
use converge::{RunOptions, WholeRun};
use grants::Journal;
use node::object::NodeObject;
use providers::Reboots;
use sandbox::Sandbox;
use state::{RunFolder, RunId};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// What stays the same from the first resource to the last word.
pub(super) struct Running<'a> {
    pub(super) settings: &'a Settings,
    pub(super) arguments: &'a ConvergeArguments,
    pub(super) printer: Printer,
    pub(super) interruption: &'a Interruption,
    pub(super) began: SystemTime,
}

impl Running<'_> {
    pub(super) fn go(
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
        house.grants.values().for_each(|grants| grants.end_audit());
        let files = house.sources.iter().map(|(name, source)| (name.clone(), source.files(self.settings))).collect();
        let errors = ending::errors_of(&report, &files);
        let (denials, denials_left_out) = denials::of(&report, &journal);
        let unseen = rest::of(&report, &house, &files, &denials);
        let parts = json::Parts {
            report: &report,
            node: node.name(),
            errors: &errors,
            denials: &denials,
            denials_left_out,
            unseen: &unseen,
            asked: ending::asked(&journal),
            log: kept_log.lines(),
            without_policies,
            compile_seconds: house.sandbox.compile_time().as_secs_f64(),
        };
        let exit = if let Some(how) = &self.arguments.suggest_grants {
            self.suggestion(how, &journal, &parts)
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
        let mut writers: Vec<Box<dyn Observer>> = vec![];
        // What people read on the terminal is not said there a second time.
        let seen = self.settings.log_location == LogLocation::Stderr && !self.settings.format.is_for_programs();
        if !seen || self.arguments.compile_only {
            writers.push(Box::new(RunLog));
        }
        let level = self.settings.log_level.threshold();
        match self.settings.format {
            _ if self.arguments.compile_only || self.arguments.suggest_grants.is_some() => {}
            Format::Doc => writers.push(Box::new(Doc::new(self.printer, level))),
            Format::Minimal => writers.push(Box::new(Minimal::new(self.printer, level))),
            Format::Ndjson => writers.push(Box::new(Ndjson::new(self.printer))),
            Format::Json => {}
        }
        Shared::new(All(vec![
            Box::new(Askers::new(journal)),
            Box::new(kept_log.clone()),
            Box::new(outline.clone()),
            Box::new(activity),
            Box::new(Bounded::new(All(writers), MAX_SHOWN)),
        ]))
    }
}

fn moment(time: SystemTime) -> Moment {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment { seconds: i64::try_from(since.as_secs()).unwrap_or(i64::MAX), nanoseconds: since.subsec_nanos() }
}
