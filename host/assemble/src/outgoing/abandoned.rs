//! Handles queues whose destination the settings do not name any more. Their reports may still be wanted, so they are not
//! removed at once.

use super::{Destination, FOLDER, reports};
use crate::settings::Settings;
use state::{Outbox, StateDirectory};
use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};
use text::error_chain;

/// The age from which reports without a destination are removed.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

/// Returns a warning for each queue without a destination. Old reports in them are removed.
pub(super) fn warnings(destinations: &[Destination], settings: &Settings) -> Vec<String> {
    let Ok(Some(state)) = StateDirectory::open_existing(&settings.state_dir) else { return vec![] };
    let Ok(entries) = std::fs::read_dir(settings.state_dir.join(FOLDER)) else { return vec![] };
    let named: BTreeSet<String> = destinations.iter().map(|destination| destination.place.key()).collect();
    let keys = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    // In order.
    let keys: BTreeSet<String> = keys.filter(|key| !named.contains(key)).collect();
    let queues = keys.iter().filter_map(|key| state.outbox(key).ok());
    queues.flat_map(|queue| warnings_of(&queue)).collect()
}

fn warnings_of(queue: &Outbox) -> Vec<String> {
    let mut warnings = Vec::new();
    let place = queue.place().unwrap_or_else(|| "a place that is not known".to_owned());
    let moment = SystemTime::now().checked_sub(KEPT).unwrap_or(SystemTime::UNIX_EPOCH);
    match queue.remove_older(moment) {
        Ok(0) => {}
        Ok(old) => warnings.push(format!(
            "removed {} for {place}, older than 30 days: no `[[report]]` of the settings names that place",
            reports(old)
        )),
        Err(error) => warnings.push(format!("old reports for {place} cannot be removed: {}", error_chain(&error))),
    }
    let waiting = queue.waiting().unwrap_or_default().len();
    if waiting > 0 {
        let (wait, them) = if waiting == 1 { ("waits", "it") } else { ("wait", "them") };
        warnings.push(format!(
            "{} {wait} for {place}, which no `[[report]]` of the settings names; name it again, or drop {them} with `rm -r {}`",
            reports(waiting),
            queue.path().display()
        ));
    }
    warnings
}
