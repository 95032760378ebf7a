//! The settings of users and of the machine that git and ssh read, and that name programs: helpers, proxies, other programs for
//! transport.
//!
//! Root's own settings and the machine's are the operator's, and count. Those of another user do not, since a policy that may
//! write files and name the user would start programs as that user. Where a policy may write one that counts, git needs the
//! command `git`.

use crate::plan::View;
use contract::Raised;
use machine::root::{Kind, Root, absent};

/// The machine's settings of ssh, which it reads in place of the user's own.
const SSH: &str = "/etc/ssh/ssh_config";

/// The folder of more of them.
const MORE_OF_SSH: &str = "/etc/ssh/ssh_config.d";

/// The machine's settings of git, by where git was installed.
const OF_MACHINE: [&str; 3] = ["/etc/gitconfig", "/usr/local/etc/gitconfig", SSH];

/// Settings in the home of the user as whom wrun runs.
const IN_HOME: [&str; 3] = [".gitconfig", ".config/git/config", ".ssh/config"];

/// How ssh is started for another user: with the machine's settings, and with the keys that have the usual names.
pub(super) fn ssh_of_another(root: &Root) -> String {
    let is_file = |path: &str| matches!(root.target_entry(path), Ok(Some(entry)) if entry.kind == Kind::File);
    format!("ssh -F {}", if is_file(SSH) { SSH } else { "none" })
}

/// Why git may start more than itself: the policy may change a file of settings that counts. `None`: it may change none.
///
/// # Errors
/// The folder of ssh's settings cannot be seen.
pub(super) fn changeable(is_own: bool, view: &mut View<'_>) -> Result<Option<String>, Raised> {
    if view.grants.allows_everything() {
        return Ok(None);
    }
    let mut paths: Vec<String> = OF_MACHINE.map(str::to_owned).to_vec();
    if let Some(folder) = absent(view.root.locate_target(MORE_OF_SSH))?
        && absent(folder.entry())?.is_some_and(|entry| entry.kind == Kind::Directory)
    {
        paths.extend(folder.names()?.into_iter().map(|name| format!("{MORE_OF_SSH}/{name}")));
    }
    if is_own {
        let home = machine::command::home(None, view.users()).unwrap_or_default();
        paths.extend(IN_HOME.map(|name| format!("{}/{name}", home.trim_end_matches('/'))));
    }
    let silent = view.grants.silent();
    let may = |path: &str| {
        // A link is the policy's to exchange, or what is behind it is.
        let real = view.root.locate(path).map_or_else(|_| path.to_owned(), |place| place.real().to_owned());
        silent.manage_path(&real).is_ok() || silent.manage_path(&view.root.asked_about(path)).is_ok()
    };
    let found = paths.iter().find(|path| may(path));
    Ok(found.map(|path| format!("the policy may change {path}, which can name programs for git to run")))
}
