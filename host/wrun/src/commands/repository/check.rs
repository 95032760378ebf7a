//! `wrun repository check`.

use super::{as_publisher, say};
use crate::arguments::RepositoryPlace;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use text::escape_line;

/// Checks the whole repository. The exit code is 1 if it finds an error.
pub(super) fn run(place: &RepositoryPlace, printer: Printer) -> anyhow::Result<Exit> {
    let checked = as_publisher(place, |publisher| Ok(publisher.check()))?;
    let mut exit = Exit::Done;
    for one in checked {
        let state = match one.expires {
            _ if !one.problems.is_empty() => "has problems".to_owned(),
            Some((moment, role)) => format!("good until {moment} ({role})"),
            None => "has released nothing yet".to_owned(),
        };
        say(printer, &format!("{}: {state}", one.name));
        for problem in one.problems {
            exit = Exit::Failed;
            printer.note(Tone::Error, &escape_line(&format!("error: {}: {problem}", one.name)));
        }
    }
    Ok(exit)
}
