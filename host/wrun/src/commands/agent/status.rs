//! `wrun agent status`.

use crate::arguments::AgentStatusArguments;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::View;
use agent::{Doing, LastRun, Moment, Pause, Status, Verdict, about};
use serde_json::{Value, json};
use state::{AgentFile, RunningAgent};
use text::escape_line;

/// The version of the JSON output. It grows when the meaning of a key changes or a key is removed.
const VERSION: u32 = 1;

/// The advice how to start an agent.
const STARTS: &str = "`systemctl enable --now wrun-agent` starts the service, `wrun agent` one in the foreground.";

/// The agent's status as displayed.
struct Shown {
    running: Option<RunningAgent>,
    pause: Option<Pause>,
    status: Option<Status>,
    now: Moment,
}

pub(super) fn run(arguments: &AgentStatusArguments, printer: Printer) -> anyhow::Result<Exit> {
    let settings = super::settings(&arguments.common)?;
    let now = super::now();
    let shown = match super::existing(&settings)? {
        Some(folder) => Shown {
            running: folder.running()?,
            pause: Pause::holding(&folder, now)?,
            status: folder.read::<Status>(AgentFile::Status)?.filter(Status::is_known),
            now,
        },
        None => Shown { running: None, pause: None, status: None, now },
    };
    if arguments.format == View::Json {
        printer.json_document(&shown.json())?;
    } else {
        for (tone, line) in shown.lines(&settings.run.state_dir.display().to_string()) {
            printer.prose(tone, &escape_line(&line));
        }
    }
    let is_well = shown.running.is_some() && shown.last().is_none_or(|last| last.verdict != Verdict::Failure);
    Ok(if is_well { Exit::Done } else { Exit::Failed })
}

impl Shown {
    fn last(&self) -> Option<&LastRun> {
        self.status.as_ref()?.last.as_ref()
    }

    fn json(&self) -> Value {
        let process = self.running.and_then(|running| running.process);
        json!({
            "version": VERSION,
            "running": self.running.is_some(),
            "process": process.map(|process| process.as_raw_nonzero().get()),
            "pause": self.pause,
            "status": self.status,
        })
    }

    fn lines(&self, state_dir: &str) -> Vec<(Tone, String)> {
        let mut lines = vec![match (self.running, &self.status) {
            (None, _) => (Tone::Warning, format!("No agent runs with the state directory {state_dir}. {STARTS}")),
            (Some(running), status) => {
                let process = running.process.map(|process| format!(" as process {}", process.as_raw_nonzero()));
                let since = status.as_ref().map(|status| format!(" since {}", status.since)).unwrap_or_default();
                (Tone::Plain, format!("The agent runs{}{since}.", process.unwrap_or_default()))
            }
        }];
        lines.extend(self.pause.iter().map(|pause| (Tone::Warning, format!("It is {}.", pause.sentence()))));
        let Some(status) = &self.status else { return lines };
        lines.extend(self.last().into_iter().flat_map(last_run));
        if status.failures > 1 {
            let since = match status.last_success {
                Some(success) => format!("; the last one that went well ended at {success}"),
                None => String::new(),
            };
            lines.push((Tone::Error, format!("{} runs in a row have failed{since}.", status.failures)));
        }
        if self.running.is_some() {
            lines.extend(self.next(status));
        }
        lines
    }

    fn next(&self, status: &Status) -> Option<(Tone, String)> {
        let rhythm = format!("every {} s and up to {} s more", status.interval, status.splay);
        let text = match (status.doing, status.running_since, status.next) {
            (Doing::Ending | Doing::Ended, _, _) => "It is about to end.".to_owned(),
            (Doing::Running, Some(since), _) => format!("A run is under way since {since}."),
            (_, _, Some(next)) if self.pause.as_ref().is_some_and(|pause| pause.until > next) => {
                format!("The next run begins when the pause has ended ({rhythm}).")
            }
            (_, _, Some(next)) => {
                format!("The next run begins at {next}, in {} ({rhythm}).", about(self.now.until(next)))
            }
            (_, _, None) => return None,
        };
        Some((Tone::Plain, text))
    }
}

/// Returns the lines about the last run that ended.
fn last_run(last: &LastRun) -> Vec<(Tone, String)> {
    let tone = if last.verdict == Verdict::Failure { Tone::Error } else { Tone::Plain };
    let mut lines = vec![(tone, format!("The last run ended at {} and {}.", last.ended, last.words()))];
    let note = &last.note;
    lines.extend(note.error.iter().map(|error| (tone, format!("  {error}"))));
    lines.extend(note.failed.iter().map(|failed| (tone, format!("  policy {}: {}", failed.policy, failed.message))));
    if let (Some(run), Verdict::Failure) = (&note.run_id, last.verdict) {
        lines.push((Tone::Quiet, format!("  `wrun run show {run}` shows all of it")));
    }
    lines
}
