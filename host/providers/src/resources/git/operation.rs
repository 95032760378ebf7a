//! The operations of `git`, and the calls that carry them out.

use super::access::became_odd;
use super::call::Call;
use super::refs::{self, Target};
use super::{Task, plain};
use crate::found::{Found, changed_meanwhile};
use crate::plan::Writer;
use crate::withheld::Withheld;
use contract::{ErrorKind, Raised};
use grants::GrantedTree;
use machine::command::MAX_OUTPUT;
use machine::root::absent;
use std::collections::HashSet;

/// A clone to create.
#[derive(Debug)]
pub(crate) struct CloneRepository {
    pub(super) task: Task,
}

impl CloneRepository {
    /// Returns the folder's state when planned.
    pub(crate) fn found(&self) -> Found {
        self.task.found()
    }

    /// Makes the clone.
    ///
    /// # Errors
    /// git fails, the commit contains names that are not granted, or the folder is no longer empty.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        let folder = &self.task.destination;
        let there = absent(writer.root.locate_target(folder).and_then(|place| place.names()))?;
        if there.is_some_and(|names| !names.is_empty()) {
            return Err(changed_meanwhile(folder, "it was absent or empty, and something is in it now"));
        }
        self.task.clone_whole(writer)
    }
}

/// A commit to check out in a new clone.
#[derive(Debug)]
pub(crate) struct CheckOut {
    pub(super) task: Task,
    pub(super) target: Target,
}

impl CheckOut {
    /// Returns the folder's state when planned, and the chosen commit.
    pub(crate) fn found(&self) -> Found {
        self.task.found_for(&self.target)
    }

    /// Checks the commit out: on a branch of the same name if the revision is a branch, else detached.
    ///
    /// # Errors
    /// git fails, or the commit contains names that are not granted.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        let Self { task, target } = &self;
        task.require_names(writer, &target.commit)?;
        if let Some(branch) = &task.checkout_branch {
            task.switch(writer, branch, &target.commit)
        } else if refs::is_commit(&task.revision) || !target.is_branch {
            task.run(writer, &task.here("checkout").word(&target.commit))
        } else if task.is_on(writer, &task.revision)? {
            task.reset(writer, &target.commit)
        } else {
            task.follow(writer, &target.commit)
        }
    }
}

/// A commit to fetch into an existing clone.
#[derive(Debug)]
pub(crate) struct Fetch {
    pub(super) task: Task,
    pub(super) target: Target,
}

impl Fetch {
    /// Returns the checkout's state when planned, and the chosen commit.
    pub(crate) fn found(&self) -> Found {
        self.task.found_for(&self.target)
    }

    /// Fetches new objects, and moves the checkout to the commit.
    ///
    /// # Errors
    /// git fails, the commit contains names that are not granted, or another commit is now checked out.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        let Self { task, target } = &self;
        task.require_current(writer)?;
        task.run(writer, &task.here("fetch").word("--prune").word(&task.remote))?;
        task.run(writer, &task.here("fetch").word(&task.remote).word("--tags"))?;
        // The first fetch may have created directories that other users can change.
        if task.caller.limited {
            task.look_again(writer)?;
        }
        task.require_names(writer, &target.commit)?;
        let branch = task.checkout_branch.as_deref().unwrap_or(&task.revision);
        if refs::is_commit(&task.revision) || target.is_tag || task.is_on(writer, branch)? {
            task.reset(writer, &target.commit)
        } else if let Some(branch) = &task.checkout_branch {
            task.switch(writer, branch, &target.commit)
        } else {
            task.follow(writer, &target.commit)
        }
    }
}

/// The submodules of a checkout.
#[derive(Debug)]
pub(crate) struct UpdateSubmodules {
    pub(super) task: Task,
}

impl UpdateSubmodules {
    /// Returns the checkout's state when planned.
    pub(crate) fn found(&self) -> Found {
        self.task.found()
    }

    /// Fetches the submodules and checks them out.
    ///
    /// # Errors
    /// git fails.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        let task = &self.task;
        task.run(writer, &task.here("submodule").word("sync"))?;
        task.run(writer, &task.here("submodule").word("update").word("--init").word("--recursive"))
    }
}

/// A remote of a clone, with its address.
#[derive(Debug)]
pub(crate) struct SetRemote {
    pub(super) task: Task,
    pub(super) name: String,
    pub(super) address: Withheld<String>,
}

impl SetRemote {
    /// Returns the checkout's state when planned, with its remotes.
    pub(crate) fn found(&self) -> Found {
        self.task.found()
    }

    /// Adds the remote, or corrects its address.
    ///
    /// # Errors
    /// git fails.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        self.task.set_remote(writer, &self.name, &self.address.0)
    }
}

/// The repository within an exported checkout, to remove.
#[derive(Debug)]
pub(crate) struct RemoveRepository {
    pub(super) task: Task,
    pub(super) tree: GrantedTree,
}

impl RemoveRepository {
    /// Returns the folder's state when planned.
    pub(crate) fn found(&self) -> Found {
        self.task.found()
    }

    /// Removes the folder `.git` of the checkout.
    ///
    /// # Errors
    /// The machine refuses.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        Ok(absent(writer.root.tree_site(&self.tree).and_then(|site| site.remove())).map(drop)?)
    }
}

/// Tells whether git never writes such a name in an index or a commit: it would compare files outside the folder.
fn leads_out(name: &str) -> bool {
    let is_odd = |part: &str| matches!(part, "" | "." | "..") || part.eq_ignore_ascii_case(".git");
    !name.is_empty() && name.split('/').any(is_odd)
}

/// The git calls behind the operations.
impl Task {
    fn run(&self, writer: &mut Writer<'_>, call: &Call) -> Result<(), Raised> {
        self.caller.run(writer, call, &[0], &self.rights).map(drop)
    }

    /// Fails if another commit is checked out than when planned: a new commit of somebody else there would be lost.
    fn require_current(&self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        let outcome = self.caller.run(writer, &self.here("rev-parse").word("HEAD"), &[0, 128], &self.rights)?;
        let now = String::from_utf8_lossy(&outcome.output).trim().to_owned();
        if Some(now).filter(|now| refs::is_commit(now)) == self.current {
            return Ok(());
        }
        Err(changed_meanwhile(&self.destination, "another commit is checked out now"))
    }

    fn is_on(&self, writer: &mut Writer<'_>, branch: &str) -> Result<bool, Raised> {
        let call = self.here("rev-parse").word("--abbrev-ref").word("HEAD");
        let outcome = self.caller.run(writer, &call, &[0, 128], &self.rights)?;
        Ok(String::from_utf8_lossy(&outcome.output).trim() == branch)
    }

    /// Creates the clone, and checks out its default commit.
    fn clone_whole(&self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        let was_missing = match self.caller.confinement {
            Some(_) => writer.root.make_granted(self.rights.tree(), self.caller.gid)?,
            None => false,
        };
        let made = self.fill_clone(writer);
        if made.is_err() && was_missing {
            absent(writer.root.tree_site(self.rights.tree()).and_then(|site| site.remove()))?;
        }
        made
    }

    fn fill_clone(&self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        self.look_again(writer)?;
        self.run(writer, &self.clone_call())?;
        if !self.caller.limited {
            return Ok(());
        }
        if let Err(raised) = self.look_again(writer) {
            self.rights.discard(writer)?;
            return Err(raised);
        }
        let head = self.here("rev-parse").word("-q").word("--verify").word("HEAD^{commit}");
        let head = self.caller.run(writer, &head, &[0, 1, 128], &self.rights)?;
        let head = String::from_utf8_lossy(&head.output).trim().to_owned();
        if head.is_empty() {
            return Ok(());
        }
        let done =
            self.require_names(writer, &head).and_then(|()| self.run(writer, &self.here("checkout").word("HEAD")));
        // In the next run, an incomplete clone would look like a complete one.
        if done.is_err() {
            self.rights.discard(writer)?;
        }
        done
    }

    /// Checks again whether others may change the folder, now that it exists.
    fn look_again(&self, writer: &Writer<'_>) -> Result<(), Raised> {
        if !self.caller.restrained {
            return Ok(());
        }
        let odd = plain::odd_checkout(self.rights.folder(), self.caller.uid, writer.root)?;
        odd.map_or(Ok(()), |odd| Err(became_odd(&odd, writer)))
    }

    /// Checks all names that a commit adds, removes or replaces. A commit can add or remove keys (`.ssh`), and a file of a
    /// commit can replace a whole directory. All of that needs rules that reach the keys.
    fn require_names(&self, writer: &mut Writer<'_>, commit: &str) -> Result<(), Raised> {
        if !self.caller.limited {
            return Ok(());
        }
        let tree = self.here("ls-tree").word("-r").word("-z").word("--name-only").word(commit);
        let coming = self.names(&tree, writer)?;
        let known = self.names(&self.here("ls-files").word("-z"), writer)?;
        if let Some(name) = coming.iter().chain(&known).find(|name| leads_out(name)) {
            let message =
                format!("{} cannot be changed: it has the name {name:?}, which leads out of it", self.destination);
            return Err(Raised::new(ErrorKind::Failed, message)
                .with_hint("somebody else than git has written its index or its commit: fetch it into a new folder"));
        }
        self.rights.require_names(coming.iter().chain(&known), writer)?;
        let there = writer.root.locate(self.rights.folder())?.names_below()?;
        let slashes = |name: &str| name.match_indices('/').map(|(at, _)| at).collect::<Vec<_>>();
        let is_replaced = |name: &&String| {
            slashes(name).into_iter().filter_map(|end| name.get(..end)).any(|above| coming.contains(above))
        };
        self.rights.require_names(there.iter().filter(is_replaced), writer)
    }

    fn names(&self, call: &Call, writer: &mut Writer<'_>) -> Result<HashSet<String>, Raised> {
        let said = self.caller.run(writer, call, &[0], &self.rights)?.output;
        if said.len() >= MAX_OUTPUT {
            let message = format!("{} has more names than can be checked", self.key);
            return Err(Raised::new(ErrorKind::TooLarge, message)
                .with_hint("fetch it with an `execute` that is granted, or as an archive"));
        }
        Ok(said.split(|byte| *byte == 0).map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    /// Moves a branch to a commit and switches to it.
    fn switch(&self, writer: &mut Writer<'_>, branch: &str, commit: &str) -> Result<(), Raised> {
        self.run(writer, &self.here("branch").word("-f").word(branch).word(commit))?;
        self.run(writer, &self.here("checkout").word(branch))
    }

    /// Does the same, and makes the branch track the remote branch.
    fn follow(&self, writer: &mut Writer<'_>, commit: &str) -> Result<(), Raised> {
        self.switch(writer, &self.revision, commit)?;
        let upstream = format!("{}/{}", self.remote, self.revision);
        self.run(writer, &self.here("branch").word("-u").word(&upstream))
    }

    fn reset(&self, writer: &mut Writer<'_>, commit: &str) -> Result<(), Raised> {
        self.run(writer, &self.here("reset").word("--hard").word(commit))
    }

    fn set_remote(&self, writer: &mut Writer<'_>, name: &str, address: &str) -> Result<(), Raised> {
        let url = format!("remote.{name}.url");
        let found = self.caller.run(writer, &self.here("config").word("--get").word(&url), &[0, 1, 2], &self.rights)?;
        match found.code {
            Some(1) => self.run(writer, &self.here("remote").word("add").word(name).word(address)),
            Some(0) if String::from_utf8_lossy(&found.output).trim() == address => Ok(()),
            _ => self.run(writer, &self.here("config").word("--replace-all").word(&url).quoted(address)),
        }
    }

    fn clone_call(&self) -> Call {
        let mut call = Call::new("clone");
        if self.remote != "origin" {
            call = call.word("-o").word(&self.remote);
        }
        if let Some(depth) = self.depth {
            call = call.word("--depth").word(&depth.to_string()).word("--no-single-branch");
        }
        call.quoted_as(&self.address, &self.repository)
            .quoted_as(self.rights.folder(), &self.destination)
            .making(self.rights.folder())
    }
}
