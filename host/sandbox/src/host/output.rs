//! Handles log lines and subscriptions to events. It limits the length of the guest's lines. The code that displays the lines
//! escapes them.

use crate::bindings::wrun::{output::log as wit, turns::events, types::types};
use crate::limits::{LOG_BYTES, LOG_LINE};
use crate::policy::{LastWords, State};
use crate::words;
use contract::{ErrorKind, Event, Failure, LogLevel};
use wasmtime::Result;

/// The names, besides events, to which a guest may subscribe.
const PHASES: [&str; 3] = ["start", "report", "exception"];

/// The code that writes a log line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writer {
    Cookbook,
    Library,
}

impl State {
    fn write_line(&mut self, writer: Writer, level: wit::Level, line: &[u8]) {
        let before = self.logged;
        self.logged = before.saturating_add(line.len());
        let line = String::from_utf8_lossy(line);
        let line = match self.run.as_deref() {
            Some(run) => run.without_unshown(line),
            None => line,
        };
        let line = if line.len() > LOG_LINE { words::shorten(&line, LOG_LINE) } else { line.into_owned() };
        let level = match level {
            wit::Level::Trace => LogLevel::Trace,
            wit::Level::Debug => LogLevel::Debug,
            wit::Level::Info => LogLevel::Info,
            wit::Level::Warn => LogLevel::Warn,
            wit::Level::Error => LogLevel::Error,
            wit::Level::Fatal => LogLevel::Fatal,
        };
        let over = self.logged > LOG_BYTES;
        if level == LogLevel::Fatal {
            match writer {
                Writer::Cookbook => self.last_words = LastWords { line: Some(line.clone()), hint: None },
                Writer::Library => {
                    self.last_words.hint = Some(line);
                    return;
                }
            }
        }
        // A component's start code may log before it has the turn. Its lines are dropped, because observers belong to the
        // run.
        let Some(run) = self.run.as_deref_mut() else { return };
        if over && before <= LOG_BYTES {
            let line =
                format!("policy `{}` has written {LOG_BYTES} bytes of log; what follows is dropped", run.policy());
            run.log(LogLevel::Warn, &line);
        } else if !over {
            match writer {
                Writer::Cookbook => run.cookbook_log(level, &line),
                Writer::Library => run.printed(level, &line),
            }
        }
    }
}

impl wit::Host for State {
    fn log(&mut self, level: wit::Level, line: Vec<u8>) -> Result<()> {
        self.call()?;
        self.write_line(Writer::Cookbook, level, &line);
        Ok(())
    }

    fn note(&mut self, level: wit::Level, line: Vec<u8>) -> Result<()> {
        self.call()?;
        self.write_line(Writer::Library, level, &line);
        Ok(())
    }

    fn denied_at(&mut self, at: types::Origin) -> Result<()> {
        self.call()?;
        let Some(run) = self.run.as_deref() else { return Ok(()) };
        let place = super::reading::place(words::origin(run.policy(), at));
        self.services.machine.denied_at(&place);
        Ok(())
    }
}

impl events::Host for State {
    fn listen(&mut self, names: Vec<String>) -> Result<Result<(), types::Raised>> {
        let unknown =
            names.iter().find(|name| !PHASES.contains(&name.as_str()) && !Event::NAMES.contains(&name.as_str()));
        if let Some(name) = unknown {
            let message = format!("there is no event `{}`", words::shorten(name, 100));
            return Ok(Err(words::raised(self.guest, Failure::raised(ErrorKind::InvalidArgument, message))));
        }
        self.run()?.listen(names);
        Ok(Ok(()))
    }
}
