//! The rights to parts of composite types that wrun alone chooses: path and content.
//!
//! A policy that may manage such a path could write any content there: a setting of apt names a command, and so does one of
//! `modprobe`. So these parts do not ask for the path. The right to what they belong to covers them, and nothing that a policy
//! declares itself can be such a part. What wrun has chosen is kept beside the right
//! ([`Declaration::own_part`](contract::Declaration::own_part)): a part that was changed meanwhile has no such right.

use super::mount;
use contract::OwnPart;
use grants::{CommandAsked, Denied, GrantedPath, LineAsked, PolicyGrants};

/// Returns the right to a real path for a resource. `written` is the path that wrun has chosen, or that the granted command
/// names: what lies behind a link needs a right of its own.
///
/// # Errors
/// Neither the path nor what it is a part of is granted.
pub(crate) fn manage(
    own: Option<&OwnPart>,
    grants: &PolicyGrants,
    written: &str,
    real: &str,
) -> Result<GrantedPath, Denied> {
    match own.filter(|_| real == written) {
        Some(OwnPart::OfCommand(words, _)) => of_command(words, real, grants),
        // A policy that may manage the file would read there what other processes had in memory.
        Some(OwnPart::SwapSpace { is_covered: true, .. }) => {
            of_command(&["swapon".to_owned(), written.to_owned()], real, grants)
        }
        // The right to use the file is the right to use it at the next start.
        Some(OwnPart::SwapLine { swap_file, .. }) if real == mount::TABLE => {
            of_command(&["swapon".to_owned(), swap_file.clone()], real, grants)
        }
        // A right to the path is enough as well.
        Some(OwnPart::OfKernelModule(name, _)) if !has_path_alone(name, real, grants) => {
            grants.part_of_kernel_module(&grants.kernel_module(name)?, real)
        }
        _ => grants.manage_path(real),
    }
}

fn of_command(words: &[String], path: &str, grants: &PolicyGrants) -> Result<GrantedPath, Denied> {
    let asked = CommandAsked::plain(LineAsked::Arguments(words));
    grants.part_of_command(&grants.command(&asked)?, path)
}

fn has_path_alone(module: &str, path: &str, grants: &PolicyGrants) -> bool {
    let silent = grants.silent();
    silent.kernel_module(module).is_err() && silent.manage_path(path).is_ok()
}
