//! Opens the cache of native code. It is in the node's cache folder, or, if an ordinary user cannot use that, in the user's
//! own.
//!
//! Native code is run without further checks. So only this user may access the folder, and the key that authenticates the
//! files lies in it. The code does not depend on the node: a run with another state directory finds the same code.

use crate::notice::{Notice, Notify};
use crate::own_state;
use crate::settings::Settings;
use sandbox::NativeCache;
use state::StateError;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use text::error_chain;

/// The folder below the cache folder. Its number changes with the format of its files.
const FOLDER: &str = "native-v2";

/// The reason why native code is not kept.
#[derive(Debug, thiserror::Error)]
#[error("native code is not kept: {}", folder.display())]
struct NotKept {
    folder: PathBuf,
    source: FolderError,
}

/// What is wrong with the folder.
#[derive(Debug, thiserror::Error)]
enum FolderError {
    #[error(transparent)]
    System(#[from] io::Error),
    #[error(transparent)]
    Key(#[from] StateError),
    #[error("others can write to it")]
    OpenToOthers,
}

/// Opens the cache for a run. A dry run of root creates the node's cache folder, as it does the state directory for its
/// record. A dry run of another user does not, and keeps native code in the user's own folder.
pub(crate) fn open_for_run(settings: &Settings, is_dry: bool, notify: &Notify) -> Option<NativeCache> {
    open(settings, !is_dry || rustix::process::geteuid().is_root(), notify)
}

/// Opens the cache. Returns `None` if there is no usable folder: then each run compiles its native code again. The reason is
/// reported, unless it is that the node's cache folder does not exist. `creates` tells whether to create that one.
pub(crate) fn open(settings: &Settings, creates: bool, notify: &Notify) -> Option<NativeCache> {
    let opened = match creates || settings.cache_dir.exists() {
        true => open_below(&settings.cache_dir, settings.min_free).map(Some),
        false => Ok(None),
    };
    let opened = match opened {
        Ok(Some(cache)) => Ok(Some(cache)),
        other if rustix::process::geteuid().is_root() => other,
        other => own_state::cache_folder().map_or(other, |own| open_below(&own, settings.min_free).map(Some)),
    };
    opened.unwrap_or_else(|error| {
        notify(Notice::NativeCodeNotKept { why: error_chain(&error) });
        None
    })
}

fn open_below(folder: &Path, min_free: u64) -> Result<NativeCache, NotKept> {
    let folder = folder.join(FOLDER);
    let opened = || -> Result<NativeCache, FolderError> {
        make_own_folder(&folder)?;
        let cache = NativeCache::new(&folder, *state::cache_key(&folder)?.bytes())?;
        Ok(cache.leaving_free(min_free))
    };
    opened().map_err(|source| NotKept { folder: folder.clone(), source })
}

/// Creates a folder that only this user can access, or checks that an existing one is such a folder.
fn make_own_folder(path: &Path) -> Result<(), FolderError> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    let about = std::fs::symlink_metadata(path)?;
    let is_own = about.is_dir() && about.uid() == rustix::process::geteuid().as_raw() && about.mode() & 0o022 == 0;
    if is_own { Ok(()) } else { Err(FolderError::OpenToOthers) }
}
