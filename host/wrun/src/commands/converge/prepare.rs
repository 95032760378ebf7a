//! The things that a run needs before it begins: state, folders, the engine, the lock, the saved node.

use super::input::Input;
use crate::house::{self, Keeper, Kept, Remembered, SavedNodeError};
use crate::own_state;
use crate::printer::{Hinted, Printer, Tone};
use crate::settings::Settings;
use crate::signals::Interruption;
use anyhow::Context as _;
use node::object::NodeObject;
use sandbox::{Compiler, NativeCache, Sandbox};
use state::{LockRequest, RunFolder, StateDirectory, Unrecorded};
use std::time::SystemTime;
use text::{escape, escape_line};

/// What an ordinary user can do who may not write to the state directory.
const AS_ORDINARY_USER: &str = "a real run changes the machine and is usually started as root (`sudo wrun converge ..`); \
                                `--why-run` shows what would change, as any user; `--state-dir DIR` names a directory of \
                                this user's own";

/// The state: made where it is not there, unless this is a dry run.
pub(super) fn open_state(settings: &Settings, dry: bool, printer: Printer) -> anyhow::Result<Option<StateDirectory>> {
    if !dry {
        let opened = StateDirectory::open_keeping_free(&settings.state_dir, settings.min_free());
        return opened.map(Some).map_err(|error| match error.is_forbidden() && !rustix::process::geteuid().is_root() {
            true => Hinted::new(error, AS_ORDINARY_USER).into(),
            false => error.into(),
        });
    }
    let (state, warning) = own_state::open_for_looking(settings)?;
    if let Some(text) = warning {
        printer.note(Tone::Warning, &format!("warning: {text}"));
    }
    Ok(state)
}

/// Makes the folders that every change needs, so that one that cannot be had is no resource's fault in the middle of a run.
pub(super) fn own_folders(settings: &Settings) -> anyhow::Result<()> {
    for (key, variable, folder) in
        [("cache_dir", "WRUN_CACHE_DIR", &settings.cache_dir), ("backup_dir", "WRUN_BACKUP_DIR", &settings.backup_dir)]
    {
        house::writable_folder(folder).with_context(|| {
            let folder = folder.display();
            format!("`{key}` {folder} cannot be written to; name another folder in the settings or with {variable}")
        })?;
    }
    Ok(())
}

pub(super) fn keeper(
    settings: &Settings,
    state: Option<&StateDirectory>,
    input: &Input,
    began: SystemTime,
    interruption: &Interruption,
    dry: bool,
    printer: Printer,
) -> anyhow::Result<(Keeper, Option<RunFolder>)> {
    let Some(state) = state.filter(|_| !dry) else {
        let left = state.map(|state| state.left_due(&input.node_name)).transpose()?;
        return Ok((Keeper::Unrecorded(Unrecorded::new(left.unwrap_or_default())), None));
    };
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let command = words.collect::<Vec<_>>().join(" ");
    let request = LockRequest {
        command: &command,
        began,
        wait: settings.lock_timeout.seconds(),
        interrupted: &|| interruption.stop.requested().is_some(),
        waiting: &mut |holder| {
            let who = holder.map_or_else(String::new, |holder| {
                format!(": process {}, since {} (`{}`)", holder.pid, holder.began, escape(&holder.command))
            });
            printer.note(Tone::Warning, &format!("waiting for another run to end{who}"));
        },
    };
    let lock = state.lock(request)?;
    let folder = lock.run_folder(began)?;
    let pending = lock.pending(&input.node_name)?.of_run(folder.id());
    if let Some((place, why)) = pending.set_aside() {
        let text = format!("warning: {why}; the file is now {}, and its whole lines still count", place.display());
        printer.note(Tone::Warning, &escape_line(&text));
    }
    let pending = Remembered::new(pending, interruption.activity.clone());
    let kept = Kept { lock, pending, filters: settings.saved_attributes.clone() };
    Ok((Keeper::Kept(Box::new(kept)), Some(folder)))
}

/// The saved node. A damaged one stops nobody's policies: it is told and set aside, and the run begins with a new one.
pub(super) fn load_node(
    state: Option<&StateDirectory>,
    keeper: &Keeper,
    name: &str,
    printer: Printer,
) -> anyhow::Result<NodeObject> {
    let saved = state.map(|state| house::saved_node(state, name)).transpose();
    let why = match saved {
        Ok(saved) => return saved.flatten().map_or_else(|| Ok(NodeObject::new(name)?), Ok),
        Err(SavedNodeError::State(error)) if !error.is_damage() => return Err(error.into()),
        // It is whole, and somebody has put it here: not to be moved away without being asked.
        Err(other @ SavedNodeError::Other { .. }) => return Err(other.into()),
        Err(why) => why,
    };
    let error = house::error_chain(&why);
    let fate = match keeper {
        Keeper::Kept(kept) => format!("the file is now {}", kept.lock.set_node_aside(name)?.display()),
        Keeper::Unrecorded(_) => "a real run sets the file aside".to_owned(),
    };
    let text = format!("warning: {error}; {fate}, and this run begins without the normal attributes that were saved");
    printer.note(Tone::Warning, &escape_line(&text));
    Ok(NodeObject::new(name)?)
}

/// The engine of the run. In a real run, says which policies were not built for nodes.
pub(super) fn sandbox(
    cache: Option<NativeCache>,
    compiler: Compiler,
    input: &Input,
    dry: bool,
    printer: Printer,
) -> anyhow::Result<Sandbox> {
    for (name, artifact) in input.artifacts.iter().filter(|(_, artifact)| !dry && artifact.manifest().dev) {
        let revision = artifact.manifest().revision_id.get(..12).unwrap_or_default();
        let text = format!(
            "warning: policy {name} (revision {revision}) was built with --dev, for trying; build it without for nodes"
        );
        printer.note(Tone::Warning, &text);
    }
    let is_quick = dry && input.folders.is_none() && input.artifacts.values().all(is_for_trying);
    Ok(if is_quick { Sandbox::quick_to_compile(cache, compiler)? } else { Sandbox::new(cache, compiler)? })
}

/// Whether a policy was built to be tried and changed again: compiling its component fast counts more than running it
/// fast. A runtime's native code is there already, for the engine that all other runs use.
fn is_for_trying(artifact: &artifact::Artifact) -> bool {
    artifact.manifest().dev && artifact.manifest().runtime == artifact::Runtime::Rust
}
