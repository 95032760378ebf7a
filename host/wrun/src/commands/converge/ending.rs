//! The end of a run: the report, the record, the exit code.

use super::running::Running;
use super::{handlers, note, reports};
use crate::arguments::Suggesting;
use crate::commands::grants::{Consent, Written, write_suggestion};
use crate::exit::Exit;
use crate::printer::Tone;
use crate::settings::Format;
use crate::signals;
use assemble::{Destination, Ending, GrantsFiles, StartedAgain};
use contract::StopReason;
use converge::{PolicyOutcome, RunReport};
use grants::{Addition, Grants, Journal};
use report::denials::Beyond;
use report::{Block, conflicts, denials, denied, due, hidden_reads, json, paused, recap, shared, survey};
use serde_json::Value;
use state::RunId;
use text::{error_chain, escape, escape_line, shell_word};

impl Running<'_> {
    /// Returns the grants that the plan needed. An incomplete plan shows only the first of them.
    pub(super) fn suggestion(
        &self,
        how: &Suggesting,
        journal: &Journal,
        parts: &json::Parts<'_>,
        ending: &Ending<'_>,
    ) -> anyhow::Result<Exit> {
        for text in survey::of(parts.report) {
            self.printer.note(Tone::Warning, &escape_line(&format!("warning: {text}")));
        }
        for text in survey::unread(parts.denials) {
            self.printer.note(Tone::Warning, &escape_line(&format!("note: {text}")));
        }
        let empty = survey::empty(parts.report);
        for text in &empty {
            self.printer.note(Tone::Warning, &escape_line(&format!("note: {text}")));
        }
        for recipe in parts.unseen {
            let text = format!("warning: policy {}: wrun did not see {}", recipe.policy, recipe.heading());
            let from_text = if recipe.read { "; its text asks for:" } else { ":" };
            self.printer.note(Tone::Warning, &escape_line(&format!("{text}{from_text}")));
            recipe.lines().iter().for_each(|line| self.printer.note(Tone::Plain, &escape_line(&format!("  {line}"))));
            journal.reads_in_text(recipe.additions());
        }
        for (policy, count) in journal.sensitive_entries().into_iter().filter(|_| !how.sensitive) {
            let entries = if count == 1 { "1 entry" } else { &format!("{count} entries") };
            let text =
                format!("note: policy {policy}: {entries} for sensitive resources not shown; --sensitive adds them");
            self.printer.note(Tone::Warning, &escape_line(&text));
        }
        // Only `grants check` reads the survey, so a failure here is only a warning.
        if let Err(error) = ending.record_survey(&json::survey(parts, journal)) {
            let text = format!("warning: `wrun grants check` will not know of this: {}", error_chain(&error));
            self.printer.note(Tone::Warning, &escape_line(&text));
        }
        let machine = assemble::machine_view(&self.settings.run.root);
        match &how.write {
            Some(path) => {
                let consent = Consent { yes: how.yes, dangerous: how.dangerous };
                let (additions, settings) = (journal.additions(how.sensitive), &self.settings.run);
                let written = write_suggestion(path, additions, &machine, settings, consent, self.printer)?;
                if written == Written::Declined {
                    return Ok(Exit::Failed);
                }
            }
            None => match journal.suggestion(&machine, how.sensitive, &self.granted()).trim_end() {
                "" if !empty.is_empty() => {}
                "" => self.printer.note(Tone::Plain, "note: nothing was asked for that needs a grant"),
                table => self.printer.line(Tone::Plain, table),
            },
        }
        Ok(if parts.errors.is_empty() { Exit::Done } else { Exit::Failed })
    }

    /// Returns the operator's grants. Those that cannot be read count as none: a suggestion only compares with them.
    fn granted(&self) -> Grants {
        let files = GrantsFiles::read(&self.settings.run.grants, false).ok();
        files.and_then(|files| files.parse().ok()).unwrap_or_else(Grants::nothing)
    }

    /// The report, the record, the exit code.
    pub(super) fn end(&self, parts: &json::Parts<'_>, ending: &mut Ending<'_>) -> anyhow::Result<Exit> {
        let (report, errors) = (parts.report, parts.errors);
        let shown = json::Run(parts);
        // The run is over, so it is recorded even if its report cannot be displayed.
        let mut written = Ok(());
        if self.settings.format == Format::Json || self.arguments.compile_only {
            written = self.printer.json_document(&shown);
        }
        if self.arguments.by_agent {
            note::ended(&self.settings.run.state_dir, report);
        }
        let recorded = self.record_dry_run(&shown, errors, ending);
        if !self.settings.format.is_for_programs() && !self.arguments.compile_only {
            let hidden = hidden_reads::of(report);
            let mut blocks = hidden_reads::blocks(&hidden);
            blocks.extend(self.denials(parts, &hidden_reads::additions(&hidden), recorded));
            blocks.extend(conflicts::block(report));
            blocks.extend(shared::block(report));
            blocks.extend(due::block(&self.interruption.activity.all_due()));
            blocks.extend(parts.paused.as_ref().map(paused::block));
            for block in blocks {
                self.printer.line(Tone::Plain, "");
                self.printer.block(block);
            }
            self.printer.line(Tone::Plain, "");
            recap::blocks(parts).into_iter().for_each(|block| self.printer.block(block));
        }
        // From here on, the run itself writes its record, not the handler of the second signal.
        self.interruption.end();
        let kept = ending.record(&shown, errors.first().map(|(_, error)| error));
        self.keep_report(parts);
        if let Err(error) = kept {
            let text = format!("error: the run could not be recorded: {}", error_chain(&error));
            self.printer.note(Tone::Error, &text);
            handlers::end(self.settings, &shown, true, self.printer);
            self.send_report(parts);
            return Ok(Exit::Failed);
        }
        self.interruption.die_if_at_once();
        handlers::end(self.settings, &shown, report.failure().is_some(), self.printer);
        self.send_report(parts);
        if let Err(error) = written {
            let text = format!("error: the report of the run could not be written: {error:#}");
            self.printer.note(Tone::Error, &text);
            return Ok(Exit::Failed);
        }
        // A signal that arrived after the last policy has interrupted nothing.
        let is_whole = report.policies.iter().all(|policy| matches!(policy.outcome, PolicyOutcome::Succeeded));
        let reason = self.interruption.stop.requested();
        let reason = reason.filter(|reason| !is_whole || matches!(reason, StopReason::Reboot));
        Ok(match (reason, report.failure()) {
            (None, None) if self.arguments.detailed_exitcode && is_pending(report) => Exit::ChangesPending,
            (Some(StopReason::Reboot), _) | (None, None) => self.start_again(ending),
            (reason @ Some(_), _) => signals::exit(reason),
            (None, Some(_)) => Exit::Failed,
        })
    }

    /// Stores the report for its destinations, since a signal may end the program before it is sent.
    fn keep_report(&self, parts: &json::Parts<'_>) {
        let Ok(run) = RunId::parse(&parts.report.run_id) else { return };
        if self.arguments.compile_only {
            return;
        }
        let (settings, is_dry) = (self.settings, self.arguments.is_dry());
        let warnings = Destination::keep(&settings.reports, &settings.run, &run, is_dry, &json::Run(parts));
        // Without such a signal the report is sent soon, so a failure to store it does not matter.
        for warning in warnings.iter().filter(|_| self.interruption.stop.requested_at_once().is_some()) {
            self.printer.note(Tone::Warning, &escape_line(&format!("warning: {warning}")));
        }
    }

    /// Sends the report to the destinations in the settings. Compiling without converging does not count as a run.
    fn send_report(&self, parts: &json::Parts<'_>) {
        if !self.arguments.compile_only {
            let run = &parts.report.run_id;
            reports::send(self.settings, run, self.arguments.is_dry(), &json::Run(parts), self.printer);
        }
    }

    /// Stores the record of a dry run. Returns `false` if there is no record. Nothing depends on the record, so a failure
    /// here does not fail the run.
    fn record_dry_run(&self, shown: &json::Run<'_>, errors: &[(String, Value)], ending: &Ending<'_>) -> bool {
        if self.arguments.compile_only || !self.arguments.why_run {
            return !self.arguments.compile_only;
        }
        let kept = ending.record_dry_run(shown, errors.first().map(|(_, error)| error));
        if let Err(error) = &kept {
            let text = format!("warning: this dry run is not recorded: {}", error_chain(error));
            self.printer.note(Tone::Warning, &text);
        }
        kept.is_ok()
    }

    /// Returns the text about denials, with the grants that would allow them and that would show the `hidden` differences.
    fn denials(&self, parts: &json::Parts<'_>, hidden: &[Addition], recorded: bool) -> Option<Block> {
        if parts.denials.is_empty() && parts.unseen.is_empty() && hidden.is_empty() {
            return None;
        }
        let files = GrantsFiles::read(&self.settings.run.grants, false);
        if let Err(error) = &files {
            let text = format!("warning: no lines for the grants are shown: {}", error_chain(error));
            self.printer.note(Tone::Warning, &text);
        }
        let common = &self.arguments.common;
        let options =
            [("--config", &common.config), ("--state-dir", &common.state_dir), ("--grants", &self.arguments.grants)];
        let given = options.iter().filter_map(|(name, path)| {
            let path = path.as_deref()?.display().to_string();
            Some(format!(" {name} {}", shell_word(&path)))
        });
        let command = recorded.then(|| format!("wrun grants allow --last{}", given.collect::<String>()));
        let (all, left_out) = (parts.denials, parts.denials_left_out);
        let machine = assemble::machine_view(&self.settings.run.root);
        // With `--allow-all`, no grants need to be added.
        let is_limited = !self.arguments.allow_all;
        let mut additions = hidden.to_vec();
        additions.extend(denials::additions(all, parts.unseen));
        additions.retain(|_| is_limited);
        let to_write = files.map(|files| files.new_lines(&additions, &machine)).unwrap_or_default();
        let again = self.as_plan();
        let beyond = match (is_limited, self.arguments.why_run) {
            (false, _) => Beyond::Nothing,
            (true, true) => Beyond::Plan,
            (true, false) if denied::is_cut_short(parts.report) => Beyond::Run(again.as_deref()),
            (true, false) => Beyond::Nothing,
        };
        denials::block(all, left_out, parts.unseen, &to_write, command.as_deref(), beyond)
    }

    /// The command line that makes a plan of this run. `None`: nobody typed the run's, or a plan would not take it as it is, or
    /// it sets attributes, which may be secret.
    fn as_plan(&self) -> Option<String> {
        let arguments = self.arguments;
        let is_taken = !arguments.by_agent && arguments.unchanged_for.is_none() && arguments.parameter.is_empty();
        let mut words = crate::program::typed_after("converge").filter(|_| is_taken)?;
        words.push("--why-run".to_owned());
        Some(format!("wrun converge {}", words.join(" ")))
    }

    /// Reboots the node, if a policy requested it. At this point the run has succeeded and is recorded.
    fn start_again(&self, ending: &Ending<'_>) -> Exit {
        match ending.start_again() {
            Ok(StartedAgain::NotAsked) => Exit::Done,
            Ok(StartedAgain::Scheduled) => Exit::RebootScheduled,
            Ok(StartedAgain::Elsewhere) => {
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

/// Returns whether a dry run found changes, or anything that it could not determine.
fn is_pending(report: &RunReport) -> bool {
    let tally = report.tally();
    tally.updated + tally.unknown + report.writes() + report.commands() > 0
}
