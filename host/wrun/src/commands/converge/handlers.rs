//! Runs the operator's handlers (`handlers` in the settings): programs that receive the run as JSON on their standard input.
//! They never change the outcome of a run.

use crate::printer::{Printer, Tone};
use crate::settings::{Handler, HandlerMoment, Settings};
use serde::Serialize;
use serde_json::json;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Time between two checks whether a handler has ended.
const TICK: Duration = Duration::from_millis(20);

/// Time that a killed handler has to end. The kernel may keep it longer: another process traces it, or it waits for a silent
/// file system.
const AFTER_KILL: Duration = Duration::from_secs(3);

pub(super) fn start(settings: &Settings, run_id: &str, node: &str, why_run: bool, printer: Printer) {
    call(settings, HandlerMoment::Start, &json!({ "run_id": run_id, "node": node, "why_run": why_run }), printer);
}

pub(super) fn end(settings: &Settings, run: &impl Serialize, failed: bool, printer: Printer) {
    let moment = if failed { HandlerMoment::Exception } else { HandlerMoment::Report };
    call(settings, moment, run, printer);
}

fn call(settings: &Settings, moment: HandlerMoment, input: &impl Serialize, printer: Printer) {
    for handler in settings.handlers.iter().filter(|handler| handler.on.contains(&moment)) {
        if let Err(why) = one(handler, input) {
            let line = format!("warning: handler `{}`: {why}", handler.command.join(" "));
            printer.note(Tone::Warning, &line);
        }
    }
}

fn one(handler: &Handler, input: &impl Serialize) -> Result<(), String> {
    let text = serde_json::to_string(input).map_err(|error| error.to_string())?;
    let (program, arguments) = handler.command.split_first().ok_or("it has no program")?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let stdin = child.stdin.take();
    // A handler that does not read must not block the run, so a separate thread writes to the pipe.
    let feeding = std::thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(text.as_bytes())));
    let deadline = Instant::now() + handler.seconds.duration();
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => break,
            Ok(Some(status)) => return Err(format!("ended with {status}")),
            Ok(None) if Instant::now() > deadline => {
                let end = end_after_kill(&mut child);
                return Err(format!("took longer than {} s{end}", handler.seconds.duration().as_secs()));
            }
            Ok(None) => std::thread::sleep(TICK),
            Err(error) => return Err(error.to_string()),
        }
    }
    // A process that the handler left behind may keep the pipe open and never read. So wrun does not wait for the thread.
    drop(feeding);
    Ok(())
}

/// Kills a handler and waits for its end, but not for ever. Returns what to add to the error if it does not end.
fn end_after_kill(child: &mut Child) -> String {
    let _ = child.kill();
    let deadline = Instant::now() + AFTER_KILL;
    while Instant::now() < deadline {
        if !matches!(child.try_wait(), Ok(None)) {
            return String::new();
        }
        std::thread::sleep(TICK);
    }
    format!(", and process {} still exists although it was killed", child.id())
}
