//! Carries out a prepared run with its observers, and passes the result to the module that ends it.

use super::{handlers, note};
use crate::arguments::ConvergeArguments;
use crate::exit::Exit;
use crate::format::All;
use crate::format::doc::Doc;
use crate::format::minimal::Minimal;
use crate::format::ndjson::Ndjson;
use crate::logging::RunLog;
use crate::printer::Printer;
use crate::settings::{Format, LogLocation, Settings};
use crate::signals::Interruption;
use crate::terminal;
use assemble::{Destination, ReadyRun};
use contract::{LogLevel, Observer};
use report::error::{self, Frames};
use report::{Bounded, KeptLog, MAX_SHOWN, Outline, denied, json};

/// The parts of a run that stay the same until its end.
pub(super) struct Running<'a> {
    pub(super) settings: &'a Settings,
    pub(super) arguments: &'a ConvergeArguments,
    pub(super) printer: Printer,
    pub(super) interruption: &'a Interruption,
}

impl Running<'_> {
    pub(super) fn go(&self, ready: ReadyRun<'_>) -> anyhow::Result<Exit> {
        let kept_log = KeptLog::default();
        let outline = Outline::new(ready.started(), ready.journal().clone());
        let watchers = self.watchers(&kept_log, &outline);
        let without_policies = ready.is_of_folders();
        self.record_if_ended_at_once(&ready, outline, without_policies);
        let run_id = ready.id().to_string();
        let node = ready.node_name().to_owned();
        let _named = self.log_names_run(&run_id);
        let open = ready.open(watchers, matches!(self.settings.format, Format::Doc | Format::Ndjson))?;
        if self.arguments.by_agent {
            note::begun(&self.settings.run.state_dir, &run_id);
        }
        if self.arguments.suggest_grants.is_none() {
            handlers::start(self.settings, &run_id, &node, self.arguments.why_run, self.printer);
        }
        let mut ended = open.carry_out();
        let files = ended.ending.files();
        let errors = error::of_run(&ended.report, &files, self.frames());
        let (denials, denials_left_out) = denied::of(&ended.report, &ended.journal);
        let unseen = ended.ending.unseen_recipes(&ended.report, &files, &denials);
        let grants = super::grants_file(self.settings, self.arguments);
        let parts = json::Parts {
            report: &ended.report,
            node: &node,
            errors: &errors,
            denials: &denials,
            denials_left_out,
            unseen: &unseen,
            asked: json::asked(&ended.journal),
            layers: &ended.layers,
            releases: &ended.releases,
            grants: grants.as_deref(),
            paused: super::paused(self.settings),
            skipped: None,
            log: kept_log.lines(),
            without_policies,
            compile_seconds: ended.ending.compile_time().as_secs_f64(),
            compiled_is_kept: ended.ending.keeps_compiled(),
        };
        let exit = if let Some(how) = &self.arguments.suggest_grants {
            self.suggestion(how, &ended.journal, &parts, &ended.ending)
        } else {
            self.end(&parts, &mut ended.ending)
        };
        // The process exits now. The system frees all memory at once, which is faster than dropping each object.
        std::mem::forget(ended);
        exit
    }

    /// Prepares the record that the second signal writes if the run does not end after it. A dry run has only its own record
    /// and report. A survey has neither.
    fn record_if_ended_at_once(&self, ready: &ReadyRun<'_>, outline: Outline, without_policies: bool) {
        let activity = self.interruption.activity.clone();
        let (settings, reports) = (self.settings.run.clone(), self.settings.reports.clone());
        let is_run = !self.arguments.compile_only;
        // The program is ending, so errors are ignored. The next run sends the reports.
        if let Some(folder) = ready.folder() {
            let late = ready.late_changes();
            self.interruption.begin(move |signal| {
                outline.record(signal, activity.action().as_deref(), without_policies, |record, error| {
                    let _ = folder.save_record(record);
                    let _ = error.map(|error| folder.save_error(error));
                    if is_run {
                        let _ = Destination::keep(&reports, &settings, folder.id(), false, record);
                    }
                });
                let _ = late.take_over();
            });
        } else if is_run && self.arguments.suggest_grants.is_none() {
            let place = ready.dry_record();
            self.interruption.begin(move |signal| {
                outline.record(signal, activity.action().as_deref(), without_policies, |record, error| {
                    let _ = place.keep(record, error);
                    let _ = Destination::keep(&reports, &settings, place.id(), true, record);
                });
            });
        }
    }

    /// Debug output also shows functions without a file and a line.
    fn frames(&self) -> Frames {
        let is_debug = self.settings.log_level.threshold() <= LogLevel::Debug;
        if is_debug { Frames::All } else { Frames::WithPlaces }
    }

    /// From now on each line of the log names the run, and marks dry runs. Logs on a terminal omit this, since the user knows
    /// it.
    fn log_names_run(&self, run_id: &str) -> Option<tracing::span::EnteredSpan> {
        let is_read = self.settings.log_location == LogLocation::Stderr && terminal::is_watched();
        let why_run = self.arguments.why_run;
        (!is_read).then(|| tracing::error_span!(target: "run", "run", run_id, why_run).entered())
    }

    /// Returns the observers of the run: the display for people, if any, and the log.
    fn watchers(&self, kept_log: &KeptLog, outline: &Outline) -> Vec<Box<dyn Observer>> {
        let activity = self.interruption.activity.clone();
        let mut writers: Vec<Box<dyn Observer>> = vec![];
        // Messages that are already on the terminal are not logged there again.
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
        vec![
            Box::new(kept_log.clone()),
            Box::new(outline.clone()),
            Box::new(activity),
            Box::new(Bounded::new(All(writers), MAX_SHOWN)),
        ]
    }
}
