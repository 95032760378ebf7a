//! Questions to dnf, yum and rpm, which write while they answer: logs, what they fetch, the time of their last look, a history,
//! what readers of the database share.
//!
//! A real run lets them. In a dry run they are confined as a guard's command is, with a throw-away layer over the folders
//! in which they write. They are told that there is no network then, and answer from what was fetched before. Their locks in such a folder would be
//! nobody else's, and are not taken at all. Where commands cannot be confined, rpm is asked all the same: what readers share is
//! all that it writes.

use super::QUERY;
use crate::plan::View;
use contract::{CommandOutcome, ErrorKind, Raised};
use machine::command::{Answer, CommandFailure, Launch, MISSING_PROGRAM};

/// The folders in which dnf and yum write while they answer, and the database of installed packages where it is kept now.
const WRITTEN: [&str; 5] = ["var/cache", "var/lib", "var/log", "run", "usr/lib/sysimage"];

/// Keeps them from asking servers, which they could not reach.
const FROM_CACHE: &str = "-C";

/// What they say where nothing was fetched before, in lower case.
const NOTHING_FETCHED: [&str; 3] = ["ignoring repositories", "cache-only", "cacheonly"];

/// A question to dnf or yum.
pub(super) fn question(program: &str, words: impl IntoIterator<Item = String>) -> Launch {
    Launch::program(program, words).timeout(QUERY)
}

/// Asks.
///
/// # Errors
/// It cannot be started or ran out of time. In a dry run, [`ErrorKind::Unknown`]: it wanted to do more than look, or nothing
/// was fetched before.
pub(super) fn ask(
    view: &mut View<'_>,
    program: &str,
    words: impl IntoIterator<Item = String>,
) -> Result<CommandOutcome, Raised> {
    if !view.why_run {
        let launch = question(program, words);
        return view.query(&launch).map_err(|failure| failure.into_raised(&launch));
    }
    let launch = question(program, std::iter::once(FROM_CACHE.to_owned()).chain(words));
    let unknown = |why: &str| Raised::new(ErrorKind::Unknown, format!("what {program} would say is not known: {why}"));
    match view.ask(&with_layers(launch)) {
        Answer::Unknown(why) if why == MISSING_PROGRAM && view.assumed.any_package() => {
            let message = format!("{program} is not there, assuming that a package of an earlier resource brings it");
            Err(Raised::new(ErrorKind::Assumed, message))
        }
        Answer::Unknown(why) => Err(unknown(&why)),
        Answer::Ended(outcome) => {
            let errors = String::from_utf8_lossy(&outcome.errors).to_lowercase();
            if outcome.code != Some(0) && NOTHING_FETCHED.iter().any(|words| errors.contains(words)) {
                return Err(unknown("a dry run fetches no lists of packages, and none were fetched before"));
            }
            Ok(outcome)
        }
    }
}

/// Asks rpm, which only looks.
///
/// # Errors
/// It cannot be started or ran out of time. An exit code other than 0 is not an error.
pub(super) fn ask_rpm(view: &mut View<'_>, launch: &Launch) -> Result<CommandOutcome, CommandFailure> {
    if view.why_run
        && let Answer::Ended(outcome) = view.ask(&with_layers(launch.clone()))
    {
        return Ok(outcome);
    }
    view.query(launch)
}

fn with_layers(launch: Launch) -> Launch {
    WRITTEN.into_iter().fold(launch, Launch::scratch).pretending_locks().without_network()
}
