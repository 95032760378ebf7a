//! Writes the log: the messages of wrun's crates through `tracing`, and the log messages of cookbooks.

use crate::settings::{Level, LogLocation, Settings};
use crate::terminal::LogStream;
use anyhow::Context as _;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::Mutex;
use text::escape_line;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::Registry;

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
    let subscriber: Box<dyn tracing::Subscriber + Send + Sync> = match &settings.log_location {
        LogLocation::Stderr => {
            Box::new(Registry::default().with(lines.with_writer(|| LogStream).without_time().with_filter(shown)))
        }
        LogLocation::Journald => {
            let journal = tracing_journald::layer().context("the journal cannot be reached")?;
            Box::new(Registry::default().with(journal.with_filter(level)))
        }
        LogLocation::File(path) => {
            let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
            let file = file.with_context(|| format!("the log {} cannot be opened", path.display()))?;
            Box::new(Registry::default().with(lines.with_writer(Mutex::new(file)).with_filter(level)))
        }
    };
    // Set once per process; a second attempt would be a bug and changes nothing.
    let _ = tracing::subscriber::set_global_default(subscriber);
    Ok(())
}

/// Writes the log messages of a run to the log.
pub(crate) struct RunLog;

impl contract::Observer for RunLog {
    fn notice(&mut self, event: &contract::Event<'_>) {
        use contract::{Event, LogLevel, Tally};
        match event {
            Event::Log { level, line, .. } | Event::Printed { level, line, .. } => {
                let line = escape_line(line);
                match level {
                    LogLevel::Trace => tracing::trace!(target: "cookbook", "{line}"),
                    LogLevel::Debug => tracing::debug!(target: "cookbook", "{line}"),
                    LogLevel::Info => tracing::info!(target: "cookbook", "{line}"),
                    LogLevel::Warn => tracing::warn!(target: "cookbook", "{line}"),
                    LogLevel::Error | LogLevel::Fatal => tracing::error!(target: "cookbook", "{line}"),
                }
            }
            Event::RunStarted { run_id, node, policies, why_run } => {
                tracing::info!(target: "run", run_id, node, policies = policies.join(","), why_run, "run started");
            }
            Event::ActionFinished { resource, action, status, .. } => {
                tracing::debug!(target: "run", "{} {} {}", escape_line(&resource.key), escape_line(action), status.name());
            }
            Event::Changed { resource, change, why_run, .. } => {
                let would = if *why_run { "would " } else { "" };
                tracing::info!(target: "run", "{}: {would}{}", escape_line(&resource.key), escape_line(&change.what));
            }
            Event::Written { write, why_run } => {
                let would = if *why_run { "would " } else { "" };
                let place = report::place(&write.origin).unwrap_or_default();
                tracing::info!(target: "run", "{}: {would}{}", escape_line(&place), escape_line(&write.what));
            }
            Event::Ran { command } => {
                let place = report::place(&command.origin).unwrap_or_default();
                tracing::info!(target: "run", "{}: {}", escape_line(&place), report::ran(command));
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
