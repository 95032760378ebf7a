//! Where native code is kept between runs: in the cache folder, else, for an ordinary user, in the user's own.
//!
//! Native code is run without further checks, so the folder is this user's alone, and the key that authenticates what is in it
//! lies beside it. Nothing about it depends on the node: a run with another state directory finds the same code.

use crate::house;
use crate::own_state;
use crate::printer::{Printer, Tone};
use crate::settings::Settings;
use anyhow::Context as _;
use sandbox::NativeCache;
use std::path::Path;

/// The folder below the cache folder. Its number changes with what its files mean.
const FOLDER: &str = "native-v2";

/// Opens the cache. `None`: native code is made anew in each run, which is told unless this is a dry run on a machine
/// without a cache folder.
pub(super) fn open(settings: &Settings, dry: bool, printer: Printer) -> Option<NativeCache> {
    // A dry run makes no folder for the node.
    let opened = match dry && !settings.cache_dir.exists() {
        true => Ok(None),
        false => open_below(&settings.cache_dir).map(Some),
    };
    let opened = match opened {
        Ok(Some(cache)) => Ok(Some(cache)),
        other if rustix::process::geteuid().is_root() => other,
        other => own_state::cache_folder().map_or(other, |own| open_below(&own).map(Some)),
    };
    opened.unwrap_or_else(|error| {
        printer.note(Tone::Warning, &format!("warning: {error:#}"));
        None
    })
}

fn open_below(folder: &Path) -> anyhow::Result<NativeCache> {
    let folder = folder.join(FOLDER);
    let opened = || -> anyhow::Result<NativeCache> {
        house::own_folder(&folder)?;
        Ok(NativeCache::new(&folder, *state::cache_key(&folder)?.bytes())?)
    };
    opened().with_context(|| format!("native code is not kept: {}", folder.display()))
}
