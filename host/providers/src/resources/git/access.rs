//! The grants that a checkout needs:
//!
//! - The folder with its whole content, and the server of the repository or its path on the node.
//! - The servers or paths of further remotes.
//! - The user that git runs as, if one is named: git reads that user's keys.
//! - Privileged files in the commit, above all `.ssh`, need a rule that reaches them: see [`Rights::require_names`].
//! - The command `git` itself, as that user and with these variables, for whatever can make git run something else:
//!   variables, `ssh_wrapper`, submodules (whose addresses nobody has granted), a checkout or a repository on the node
//!   that is more than what git itself writes (see [`super::plain`]), and settings of git and ssh that the policy may write
//!   (see [`super::user_settings`]). Without that grant, git is restrained: see [`super::call`].

use super::call::{Caller, Confinement};
use super::{plain, user_settings};
use crate::plan::{View, Writer};
use crate::standing;
use contract::{CommandLine, CommandTest, ErrorKind, Raised};
use grants::{GrantedCommand, GrantedRepository, GrantedTree, ReadablePath};
use machine::denied::denied;
use machine::root::Root;
use schema::types::git::GitProperties;

/// The proofs that a checkout needs before git runs.
#[derive(Debug, Clone)]
pub(super) struct Rights {
    folder: GrantedTree,
    _server: Option<GrantedRepository>,
    path: Option<ReadablePath>,
    _command: Option<GrantedCommand>,
}

impl Rights {
    /// Checks all these grants.
    ///
    /// # Errors
    /// A grant is missing.
    pub(super) fn of(
        destination: &str,
        repository: &str,
        caller: &mut Caller,
        submodules: bool,
        view: &mut View<'_>,
    ) -> Result<Self, Raised> {
        let real = view.future_place(destination, |grants, real| grants.manage_tree(real).map(drop))?.real();
        let folder = view.grants.manage_tree(&real).map_err(denied)?;
        let (server, path) = match path_of(repository) {
            Some(path) => (None, Some(readable(&path, view)?)),
            None => (Some(view.grants.repository(repository).map_err(denied)?), None),
        };
        ask_user(caller, view)?;
        ask_group(caller, view)?;
        let everything = view.grants.allows_everything();
        caller.find_numbers(view);
        let uid = caller.uid;
        let is_own = uid == Some(rustix::process::getuid().as_raw());
        let more = if submodules || !caller.environment.is_empty() {
            Some("submodules, variables and an ssh_wrapper can make git run other programs".to_owned())
        } else {
            match odd(&real, path.as_ref(), uid, view.root) {
                // If everything is granted, an unreadable folder is not an error.
                Err(raised) if everything => Some(raised.message),
                Ok(None) => user_settings::changeable(is_own, caller.user.as_deref(), view)?,
                odd => odd?,
            }
        };
        // If everything is granted, this check only serves a survey, which suggests the grant.
        let command = more.map(|why| unrestrained(&why, caller, view)).transpose()?;
        if everything {
            (caller.limited, caller.restrained) = (false, false);
        }
        // Another user's git changes what that user may.
        if caller.restrained && is_own {
            let home = machine::command::home(None, view.users()).unwrap_or_default();
            let known_hosts = format!("{home}/.ssh/known_hosts");
            caller.confinement = Some(Confinement { is_elsewhere: path.is_none(), known_hosts });
        } else if caller.restrained {
            caller.ssh_of_another = Some(user_settings::ssh_of_another(view.root));
        }
        Ok(Self { folder, _server: server, path, _command: command })
    }

    /// Returns the right to the folder with its whole content.
    pub(super) fn tree(&self) -> &GrantedTree {
        &self.folder
    }

    /// Returns the repository as git gets it: a local path is resolved.
    pub(super) fn address(&self, repository: &str) -> String {
        match &self.path {
            None => repository.to_owned(),
            // git decodes the path of a URL, so a `%` must be encoded.
            Some(path) if repository.starts_with("file://") => format!("file://{}", path.path().replace('%', "%25")),
            Some(path) => path.path().to_owned(),
        }
    }

    /// Returns the real path of the folder.
    pub(super) fn folder(&self) -> &str {
        self.folder.path()
    }

    /// Checks that all these names in the folder may be written and removed with it.
    ///
    /// # Errors
    /// A name is privileged and not granted.
    pub(super) fn require_names<'a>(
        &self,
        names: impl IntoIterator<Item = &'a String>,
        writer: &Writer<'_>,
    ) -> Result<(), Raised> {
        let grants = &writer.settings.grants;
        names.into_iter().try_for_each(|name| grants.manage_below(&self.folder, name)).map_err(denied)
    }

    /// Removes a clone from which nothing may be checked out.
    ///
    /// # Errors
    /// The clone cannot be removed.
    pub(super) fn discard(&self, writer: &Writer<'_>) -> Result<(), Raised> {
        let git = format!("{}/.git", self.folder().trim_end_matches('/'));
        let tree = writer.settings.grants.manage_tree(&git).map_err(denied)?;
        Ok(writer.root.tree_site(&tree)?.remove()?)
    }
}

/// Asks for the folder, the repository, the user and the group, each of them, whatever is denied.
pub(super) fn ask(properties: &GitProperties, view: &mut View<'_>) {
    let caller = Caller::read(properties);
    let _folder = view.future_place(&properties.destination, |grants, real| grants.manage_tree(real).map(drop));
    let repository = properties.repository.as_deref().unwrap_or_default();
    let _source = match path_of(repository) {
        Some(path) => readable(&path, view).map(drop),
        None => view.grants.repository(repository).map(drop).map_err(denied),
    };
    for (_, address) in &properties.additional_remotes {
        let _remote = ask_remote(address, view);
    }
    let _user = ask_user(&caller, view);
    let _group = ask_group(&caller, view);
}

/// Checks the grant for the address of a further remote. git only writes it down, but whoever fetches there later trusts it.
///
/// # Errors
/// The server, or the path on the node, is not granted.
pub(super) fn ask_remote(address: &str, view: &View<'_>) -> Result<(), Raised> {
    match path_of(address) {
        Some(path) => view.grants.read_path(&view.root.asked_about(&path)).map(drop).map_err(denied),
        None => view.grants.repository(address).map(drop).map_err(denied),
    }
}

/// The right to the user as whom git is started: a number is that user's, whatever the rules say of it.
fn ask_user(caller: &Caller, view: &mut View<'_>) -> Result<(), Raised> {
    let Some(user) = &caller.user else { return Ok(()) };
    let number = user.parse().ok();
    let name = number.and_then(|number| view.users().user_by_id(number).map(|user| user.name.clone()));
    let user = name.as_ref().unwrap_or(user);
    view.grants.user(user, standing::of_user(user, view)).map(drop).map_err(denied)
}

/// The same for the group.
fn ask_group(caller: &Caller, view: &mut View<'_>) -> Result<(), Raised> {
    let Some(group) = &caller.group else { return Ok(()) };
    let number = group.parse().ok();
    let name = number.and_then(|number| view.users().group_by_id(number).map(|group| group.name.clone()));
    let group = name.as_ref().unwrap_or(group);
    view.grants.group(group, standing::of_group(group, view)).map(drop).map_err(denied)
}

/// Returns why a checkout, or the local repository that it fetches from, is unusual, or `None`.
fn odd(folder: &str, source: Option<&ReadablePath>, uid: Option<u32>, root: &Root) -> Result<Option<String>, Raised> {
    let source = source.map(|path| plain::odd_source(path.path(), uid, root)).transpose()?.flatten();
    source.map_or_else(|| plain::odd_checkout(folder, uid, root), |odd| Ok(Some(odd)))
}

/// Returns the denial for a checkout that became unusual while git worked in it.
pub(super) fn became_odd(why: &str, view: &Writer<'_>) -> Raised {
    let sentence = view.settings.grants.plain_refusal("commands", "git");
    Raised::new(ErrorKind::Denied, format!("{sentence} here; it is needed because {why}")).with_hint(
        "something else changed the folder while git worked in it: let root alone own it and all directories in it, or grant \
         the command `{ argv = [\"git\"] }`",
    )
}

/// Returns the right to run git without restraint. A denial names the reason.
fn unrestrained(why: &str, caller: &mut Caller, view: &View<'_>) -> Result<GrantedCommand, Raised> {
    caller.restrained = false;
    view.command(&command(caller)).map_err(|raised| match raised.kind == ErrorKind::Denied {
        true => Raised { message: format!("{}; it is needed because {why}", raised.message), ..raised },
        false => raised,
    })
}

fn command(caller: &Caller) -> CommandTest {
    CommandTest {
        line: CommandLine::Arguments(vec!["git".into()]),
        user: caller.user.clone(),
        group: caller.group.clone(),
        environment: caller.environment.clone(),
        ..CommandTest::text("")
    }
}

/// Tells whether a repository is on another machine.
pub(super) fn is_elsewhere(repository: &str) -> bool {
    path_of(repository).is_none()
}

/// Returns the path of a repository on the node.
fn path_of(repository: &str) -> Option<String> {
    match repository.strip_prefix("file://") {
        Some(path) => decoded(path),
        None => repository.starts_with('/').then(|| repository.to_owned()),
    }
}

/// The absolute path in a URL, as git reads it. `None`: it is not absolute, or not UTF-8.
fn decoded(path: &str) -> Option<String> {
    let path = percent_encoding::percent_decode_str(path).decode_utf8().ok()?;
    path.starts_with('/').then(|| path.into_owned())
}

/// Finds the local repository. If the path does not exist, git looks for it with `.git` appended.
fn readable(path: &str, view: &View<'_>) -> Result<ReadablePath, Raised> {
    let suffixed = format!("{}.git", path.trim_end_matches('/'));
    // Nothing is read before the policy has the right to read one of the two paths.
    let asked = view.grants.read_path(&view.root.asked_about(path));
    if asked.is_err() {
        let _either = view.grants.read_path(&view.root.asked_about(&suffixed)).or(asked).map_err(denied)?;
    }
    // The existence of the other path is used only if the policy may read it.
    let is_there = |path: &str| view.seen_target(path).is_some_and(|entry| matches!(entry, Ok(Some(_))));
    let found = if !is_there(path) && is_there(&suffixed) { &suffixed } else { path };
    let readable = view.grants.read_path(&view.root.asked_about(found)).map_err(denied)?;
    let _there = view.root.future_place(found)?;
    Ok(readable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_repositories_are_read_as_git_reads_them() {
        let check = |repository: &str, expect: Option<&str>| {
            assert_eq!(path_of(repository).as_deref(), expect, "{repository}");
        };
        check("/srv/a%2fb", Some("/srv/a%2fb"));
        check("file:///srv/a%2f%2e%2E/b", Some("/srv/a/../b"));
        check("file:///srv/100%/b%zz", Some("/srv/100%/b%zz"));
        check("file://host/a", None);
        check("file:///%ff", None);
        check("https://example.org/a", None);
    }
}
