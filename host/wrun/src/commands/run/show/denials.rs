//! The denials of a recorded run, in the words of the run itself.

use crate::arguments::ShowRunArguments;
use crate::settings::Settings;
use assemble::GrantsFiles;
use grants::Denial;
use report::denials::{self, Beyond};
use report::{Block, Record};
use std::path::Path;
use text::shell_word;

/// Returns the denials of a run. A list that no run wrote counts as empty, since the rest of the record is shown all the same.
pub(super) fn of(record: &Record) -> Vec<Denial> {
    record.denials().unwrap_or_default()
}

/// Returns the block about denials, with the lines that the grants of today would need. Returns `None` if nothing was denied.
pub(super) fn block(
    record: &Record,
    all: &[Denial],
    settings: &Settings,
    arguments: &ShowRunArguments,
) -> Option<Block> {
    let unseen = record.unseen_recipes().unwrap_or_default();
    if all.is_empty() && unseen.is_empty() {
        return None;
    }
    let mut additions = record.hidden_read_additions(&[]);
    additions.extend(denials::additions(all, &unseen));
    // Lines for a file that cannot be read would be wrong.
    let usual = std::path::absolute(&settings.run.grants).unwrap_or_else(|_| settings.run.grants.clone());
    let named = record.grants().filter(|used| *used != usual).map(Path::to_owned);
    let files = GrantsFiles::read(named.as_deref().unwrap_or(&usual), false).ok();
    let machine = assemble::machine_view(&settings.run.root);
    let to_write = files.map(|files| files.new_lines(&additions, &machine)).unwrap_or_default();
    let common = &arguments.common;
    let options = [("--config", &common.config), ("--state-dir", &common.state_dir), ("--grants", &named)];
    let given = options.iter().filter_map(|(name, path)| {
        let path = path.as_deref()?.display().to_string();
        Some(format!(" {name} {}", shell_word(&path)))
    });
    let command = record.id().map(|id| format!("wrun grants allow --from-run {id}{}", given.collect::<String>()));
    let left_out = record.json()["denials_left_out"].as_u64().and_then(|more| usize::try_from(more).ok());
    let beyond = match (record.is_dry(), record.has_failed()) {
        (true, _) => Beyond::Plan,
        (false, true) => Beyond::Run(None),
        (false, false) => Beyond::Nothing,
    };
    denials::block(all, left_out.unwrap_or_default(), &unseen, &to_write, command.as_deref(), beyond)
}
