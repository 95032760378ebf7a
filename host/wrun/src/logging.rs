//! Writes the log: the messages of wrun's crates through `tracing`, and the log messages of cookbooks.

mod log_file;

use crate::settings::{Level, LogLocation, Settings};
use crate::terminal::LogStream;
use anyhow::Context as _;
use contract::LogLevel;
use log_file::LogFile;
use std::fmt::{self, Write as _};
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::Mutex;
use text::escape_line;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::fmt::FmtContext;
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Full, Writer};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::{LookupSpan, Registry};

/// Opens the log for the rest of the program.
///
/// # Errors
/// The place cannot be written to.
pub(crate) fn open(settings: &Settings) -> anyhow::Result<()> {
    let level = match settings.log_level {
        Level::Trace => LevelFilter::TRACE,
        Level::Debug => LevelFilter::DEBUG,
        Level::Info => LevelFilter::INFO,
        Level::Warn => LevelFilter::WARN,
        Level::Error | Level::Fatal => LevelFilter::ERROR,
    };
    // The end of a run shows its denials to people, so they are not also logged.
    let with_audit = settings.format.is_for_programs() || settings.log_level != Level::Warn;
    let shown = filter_fn(move |line| *line.level() <= level && (with_audit || line.target() != "audit"))
        .with_max_level_hint(level);
    let lines = tracing_subscriber::fmt::layer().with_target(true).with_ansi(false);
    let subscriber: Box<dyn Subscriber + Send + Sync> = match &settings.log_location {
        LogLocation::Stderr => {
            let lines = lines.with_writer(|| LogStream).without_time();
            match settings.format.is_for_programs() {
                true => Box::new(Registry::default().with(lines.with_filter(shown))),
                false => Box::new(Registry::default().with(lines.map_event_format(ForPeople).with_filter(shown))),
            }
        }
        LogLocation::Journald => {
            let journal = tracing_journald::layer().context("the journal cannot be reached")?;
            Box::new(Registry::default().with(journal.with_filter(level)))
        }
        LogLocation::File(path) => {
            let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
            let file = file.with_context(|| format!("the log {} cannot be opened", path.display()))?;
            let log = Mutex::new(LogFile::new(file, settings.run.min_free.saturating_mul(2)));
            Box::new(Registry::default().with(lines.with_writer(log).with_filter(level)))
        }
    };
    // Set once per process; a second attempt would be a bug and changes nothing.
    let _ = tracing::subscriber::set_global_default(subscriber);
    Ok(())
}

/// Writes warnings and errors of wrun as all others that people see: `warning: TEXT`, without module names. Other lines keep
/// the form of the log, since only a person who asked for them sees them.
struct ForPeople<F>(F);

impl<S, N, T> FormatEvent<S, N> for ForPeople<tracing_subscriber::fmt::format::Format<Full, T>>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    T: tracing_subscriber::fmt::time::FormatTime,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let metadata = event.metadata();
        let word = match *metadata.level() {
            tracing::Level::ERROR => "error",
            tracing::Level::WARN => "warning",
            _ => return self.0.format_event(context, writer, event),
        };
        // The decisions about rights are fields without a text.
        if metadata.target() == "audit" {
            return self.0.format_event(context, writer, event);
        }
        let mut sentence = Sentence::default();
        event.record(&mut sentence);
        let policy = sentence.policy.map(|policy| format!("policy {policy}: ")).unwrap_or_default();
        writeln!(writer, "{}", escape_line(&format!("{word}: {policy}{}{}", sentence.text, sentence.more)))
    }
}

/// The text of a log line, and its fields.
#[derive(Default)]
struct Sentence {
    policy: Option<String>,
    text: String,
    more: String,
}

impl Visit for Sentence {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "policy" => self.policy = Some(value.to_owned()),
            _ => self.record_debug(field, &value),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = match field.name() {
            "message" => write!(self.text, "{value:?}"),
            name => write!(self.more, " {name}={value:?}"),
        };
    }
}

/// Writes the log messages of a run to the log.
pub(crate) struct RunLog;

impl contract::Observer for RunLog {
    fn notice(&mut self, event: &contract::Event<'_>) {
        use contract::{Event, Tally};
        match event {
            Event::Log { policy, level, line, .. } => logged(*policy, *level, line),
            Event::Printed { policy, level, line } => logged(Some(policy), *level, line),
            Event::RunStarted { run_id, node, policies, why_run } => {
                tracing::info!(target: "run", run_id, node, policies = policies.join(","), why_run, "run started");
            }
            Event::ActionFinished { resource, action, status, .. } => {
                let policy = resource.declaration.origin.policy.as_str();
                tracing::debug!(
                    target: "run", policy, "{} {} {}", escape_line(&resource.key), escape_line(action), status.name()
                );
            }
            Event::Changed { resource, change, why_run, .. } => {
                let what = if *why_run { report::would_do(&change.what) } else { change.what.clone() };
                let policy = resource.declaration.origin.policy.as_str();
                tracing::info!(target: "run", policy, "{}: {}", escape_line(&resource.key), escape_line(&what));
            }
            Event::Written { write, why_run } => {
                let would = if *why_run { "would " } else { "" };
                let place = report::place(&write.origin).unwrap_or_default();
                let policy = write.origin.policy.as_str();
                tracing::info!(target: "run", policy, "{}: {would}{}", escape_line(&place), escape_line(&write.what));
            }
            Event::Ran { command } => {
                let place = report::place(&command.origin).unwrap_or_default();
                let policy = command.origin.policy.as_str();
                tracing::info!(target: "run", policy, "{}: {}", escape_line(&place), report::ran(command));
            }
            Event::PolicyFailed { policy, failure } => {
                tracing::error!(target: "run", policy, class = failure.class(), "{}", escape_line(&failure.to_string()));
            }
            Event::HiddenReads { policy, reads } => {
                let paths = reads.iter().map(contract::HiddenRead::shown).collect::<Vec<_>>().join(", ");
                tracing::warn!(target: "run", policy, "read values that it is not granted: {}", escape_line(&paths));
            }
            Event::RunFinished { failed, tally, seconds, .. } => {
                let Tally { updated, unknown, total, .. } = tally;
                tracing::info!(target: "run", failed, updated, unknown, total, seconds, "run finished");
            }
            _ => {}
        }
    }
}

/// Writes a line of a cookbook or about a policy to the log, with the policy's name.
fn logged(policy: Option<&str>, level: LogLevel, line: &str) {
    let line = escape_line(line);
    match level {
        LogLevel::Trace => tracing::trace!(target: "cookbook", policy, "{line}"),
        LogLevel::Debug => tracing::debug!(target: "cookbook", policy, "{line}"),
        LogLevel::Info => tracing::info!(target: "cookbook", policy, "{line}"),
        LogLevel::Warn => tracing::warn!(target: "cookbook", policy, "{line}"),
        LogLevel::Error | LogLevel::Fatal => tracing::error!(target: "cookbook", policy, "{line}"),
    }
}
