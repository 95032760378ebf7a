//! Operations: every change to the machine that a plan can contain, as a value.
//!
//! A provider inspects the machine, compares it with the declaration, and returns steps. Each step has one operation with its
//! proofs and the state for which it was planned. This module only lists the operations and calls their code, which lies
//! beside the provider. All effects start in [`Operation::carry_out`].
//!
//! The debug output of an operation never contains content that may be secret.
//!
//! Rejected: a closure for each step. Its content would be hidden, so a plan could not be shown, stored or compared.
//!
//! Rejected: the code of the operations in the crate `machine`. The code completes the meaning of a resource type, and
//! `machine` would have to know every type. Instead, this code reaches the machine only through functions of `machine`, which
//! need proofs (`xtask/src/test/effects.rs` checks that).

use crate::found::Found;
use crate::plan::Writer;
use crate::resources::archive_file::{GiveAway, MakeDestination, UnpackArchive};
use crate::resources::chef_sleep::Sleep;
use crate::resources::cron::WriteCrontab;
use crate::resources::directory::{MakeDirectory, RemoveDirectory};
use crate::resources::execute::RunCommand;
use crate::resources::file_content::{RemoveFile, SetAccess, Touch, WriteFile};
use crate::resources::git::{CheckOut, CloneRepository, Fetch, RemoveRepository, SetRemote, UpdateSubmodules};
use crate::resources::group::{ChangeGroup, MakeGroup, RemoveGroup};
use crate::resources::http_request::SendRequest;
use crate::resources::link::{MakeLink, RemoveLink};
use crate::resources::mount::ChangeMounts;
use crate::resources::nested::Sequence;
use crate::resources::ohai::GatherFacts;
use crate::resources::package::{
    InstallFiles, InstallFromArchives, Preseed, RefreshLists, RpmTransaction, Transaction,
};
use crate::resources::reboot::{CancelReboot, RequestReboot};
use crate::resources::remote_directory::PurgeDirectory;
use crate::resources::service::{ControlService, EnableAtBoot, EnableService, Links, MaskService};
use crate::resources::systemd_unit::{ControlUnit, ReloadSystemd};
use crate::resources::user::{ChangeUser, LockUser, MakeUser, RemoveUser};
use contract::Raised;

/// One complete change to the machine. Carrying it out makes no choice that planning could have made.
#[derive(Debug)]
pub(crate) enum Operation {
    /// Changes nothing. The sentence announces the next steps, or the action counts as a change without an effect.
    Nothing,
    /// Puts a new or changed file in place with one rename: content, owner, group and mode at once.
    WriteFile(Box<WriteFile>),
    /// Sets owner, group and mode of an existing file, directory or link.
    SetAccess(SetAccess),
    /// Sets the times of a file to the present.
    Touch(Touch),
    /// Removes a file or a link, after a backup if the resource keeps one.
    RemoveFile(RemoveFile),
    /// Creates a directory and its missing parents.
    MakeDirectory(MakeDirectory),
    /// Removes a directory, with its whole content if that is granted.
    RemoveDirectory(RemoveDirectory),
    /// Removes an empty directory that the cookbook's folder does not contain.
    PurgeDirectory(PurgeDirectory),
    /// Creates a symbolic or hard link, and replaces an existing entry of its name.
    MakeLink(Box<MakeLink>),
    /// Removes a symbolic or hard link.
    RemoveLink(RemoveLink),
    /// Makes a group with `groupadd` and gives it its members.
    MakeGroup(MakeGroup),
    /// Changes a group's number or members.
    ChangeGroup(ChangeGroup),
    /// Removes a group with `groupdel`.
    RemoveGroup(RemoveGroup),
    /// Makes a user with `useradd`, sets the password and makes the home.
    MakeUser(Box<MakeUser>),
    /// Changes a user with `usermod`, sets the password and moves the home.
    ChangeUser(Box<ChangeUser>),
    /// Removes a user with `userdel`, and also home and mailbox if the resource says so.
    RemoveUser(Box<RemoveUser>),
    /// Locks or unlocks a user's password.
    LockUser(LockUser),
    /// Runs a command of the cookbook, which may change anything that its user can change.
    RunCommand(Box<RunCommand>),
    /// Answers debconf's questions, and configures installed packages again if needed.
    Preseed(Box<Preseed>),
    /// Refreshes apt's lists of available packages; the provider then plans again.
    RefreshLists(RefreshLists),
    /// Installs packages from apt's repositories. If the lists are too old, it refreshes them, and the provider plans again.
    InstallFromArchives(InstallFromArchives),
    /// Installs package files with dpkg, each from wrun's own copy.
    InstallFiles(InstallFiles),
    /// Runs apt-get, apt-mark or dpkg to change packages.
    ChangePackages(Transaction),
    /// Runs rpm, dnf or yum to change packages.
    ChangeRpmPackages(RpmTransaction),
    /// Enables or disables a unit through systemd.
    EnableService(EnableService),
    /// Enables or disables a service by links in the root's files.
    EnableAtBoot(EnableAtBoot),
    /// Masks or unmasks a unit through systemd.
    MaskService(MaskService),
    /// Makes and removes links of a unit in the root's files.
    ChangeUnitLinks(Links),
    /// Starts, stops, restarts or reloads a service.
    ControlService(Box<ControlService>),
    /// Makes systemd reload its unit files.
    ReloadSystemd(ReloadSystemd),
    /// Runs `systemctl` for one unit.
    ControlUnit(ControlUnit),
    /// Creates the destination directory of an archive.
    MakeDestination(MakeDestination),
    /// Unpacks the entries of an archive.
    UnpackArchive(Box<UnpackArchive>),
    /// Sets owner and group of all entries of an archive.
    GiveAway(Box<GiveAway>),
    /// Clones a git repository.
    CloneRepository(Box<CloneRepository>),
    /// Checks a commit out in a new clone.
    CheckOut(Box<CheckOut>),
    /// Fetches into a clone and puts its checkout at a commit.
    Fetch(Box<Fetch>),
    /// Fetches the submodules of a checkout.
    UpdateSubmodules(Box<UpdateSubmodules>),
    /// Adds a remote to a clone, or corrects its address.
    SetRemote(Box<SetRemote>),
    /// Removes the folder `.git` of an exported checkout.
    RemoveRepository(Box<RemoveRepository>),
    /// Replaces a user's crontab.
    WriteCrontab(WriteCrontab),
    /// Mounts or unmounts a file system.
    ChangeMounts(ChangeMounts),
    /// Sends a request over HTTP; its effect depends on the server.
    SendRequest(Box<SendRequest>),
    /// Gathers the node's facts again; changes the node's attributes alone.
    GatherFacts(GatherFacts),
    /// Requests a reboot of the node, which happens after the run.
    RequestReboot(Box<RequestReboot>),
    /// Withdraws the policy's request for a reboot.
    CancelReboot(CancelReboot),
    /// Waits, and changes nothing.
    Sleep(Sleep),
    /// Carries out several operations in order, as one step.
    Sequence(Sequence),
    /// Does what the scripted provider of the tests specifies.
    #[cfg(test)]
    Scripted(crate::tests::ScriptedOperation),
}

impl Operation {
    /// Returns the state for which the operation was planned.
    pub(crate) fn found(&self) -> Found {
        match self {
            // These operations do not depend on the machine's state: they announce something, send requests or wait.
            Self::Nothing
            | Self::RefreshLists(_)
            | Self::ReloadSystemd(_)
            | Self::SendRequest(_)
            | Self::GatherFacts(_)
            | Self::RequestReboot(_)
            | Self::CancelReboot(_)
            | Self::Sleep(_) => Found::Nothing,
            Self::WriteFile(operation) => operation.found(),
            Self::SetAccess(operation) => operation.found(),
            Self::Touch(operation) => operation.found(),
            Self::RemoveFile(operation) => operation.found(),
            Self::MakeDirectory(operation) => operation.found(),
            Self::RemoveDirectory(operation) => operation.found(),
            Self::PurgeDirectory(operation) => operation.found(),
            Self::MakeLink(operation) => operation.found(),
            Self::RemoveLink(operation) => operation.found(),
            Self::MakeGroup(operation) => operation.found(),
            Self::ChangeGroup(operation) => operation.found(),
            Self::RemoveGroup(operation) => operation.found(),
            Self::MakeUser(operation) => operation.found(),
            Self::ChangeUser(operation) => operation.found(),
            Self::RemoveUser(operation) => operation.found(),
            Self::LockUser(operation) => operation.found(),
            Self::RunCommand(operation) => operation.found(),
            Self::Preseed(operation) => operation.found(),
            Self::InstallFromArchives(operation) => operation.found(),
            Self::ChangePackages(operation) => operation.found(),
            Self::InstallFiles(operation) => operation.found(),
            Self::ChangeRpmPackages(operation) => operation.found(),
            Self::EnableService(operation) => operation.found(),
            Self::EnableAtBoot(operation) => operation.found(),
            Self::MaskService(operation) => operation.found(),
            Self::ChangeUnitLinks(operation) => operation.found(),
            Self::ControlService(operation) => operation.found(),
            Self::ControlUnit(operation) => operation.found(),
            Self::MakeDestination(operation) => operation.found(),
            Self::UnpackArchive(operation) => operation.found(),
            Self::GiveAway(operation) => operation.found(),
            Self::CloneRepository(operation) => operation.found(),
            Self::CheckOut(operation) => operation.found(),
            Self::Fetch(operation) => operation.found(),
            Self::UpdateSubmodules(operation) => operation.found(),
            Self::SetRemote(operation) => operation.found(),
            Self::RemoveRepository(operation) => operation.found(),
            Self::WriteCrontab(operation) => operation.found(),
            Self::ChangeMounts(operation) => operation.found(),
            Self::Sequence(operation) => {
                operation.operations().iter().fold(Found::Nothing, |found, next| found.and(next.found()))
            }
            #[cfg(test)]
            Self::Scripted(_) => Found::Nothing,
        }
    }

    /// Carries the operation out.
    ///
    /// # Errors
    /// The machine refuses a call. Or a thing has changed since the operation was planned
    /// ([`contract::ErrorKind::ChangedMeanwhile`]): files, directories, links, accounts, crontabs, mount points, checkouts,
    /// archives and dpkg's packages are checked again. Services are not checked again, because their operations bring them to
    /// a state and do no harm if that is already reached.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        match self {
            Self::Nothing => Ok(()),
            Self::WriteFile(operation) => operation.carry_out(writer),
            Self::SetAccess(operation) => operation.carry_out(writer),
            Self::Touch(operation) => operation.carry_out(writer),
            Self::RemoveFile(operation) => operation.carry_out(writer),
            Self::MakeDirectory(operation) => operation.carry_out(writer),
            Self::RemoveDirectory(operation) => operation.carry_out(writer),
            Self::PurgeDirectory(operation) => operation.carry_out(writer),
            Self::MakeLink(operation) => operation.carry_out(writer),
            Self::RemoveLink(operation) => operation.carry_out(writer),
            Self::MakeGroup(operation) => operation.carry_out(writer),
            Self::ChangeGroup(operation) => operation.carry_out(writer),
            Self::RemoveGroup(operation) => operation.carry_out(writer),
            Self::MakeUser(operation) => operation.carry_out(writer),
            Self::ChangeUser(operation) => operation.carry_out(writer),
            Self::RemoveUser(operation) => operation.carry_out(writer),
            Self::LockUser(operation) => operation.carry_out(writer),
            Self::RunCommand(operation) => operation.carry_out(writer),
            Self::Preseed(operation) => operation.carry_out(writer),
            Self::RefreshLists(operation) => operation.carry_out(writer),
            Self::InstallFromArchives(operation) => operation.carry_out(writer),
            Self::InstallFiles(operation) => operation.carry_out(writer),
            Self::ChangePackages(operation) => operation.carry_out(writer),
            Self::ChangeRpmPackages(operation) => operation.carry_out(writer),
            Self::EnableService(operation) => operation.carry_out(writer),
            Self::EnableAtBoot(operation) => operation.carry_out(writer),
            Self::MaskService(operation) => operation.carry_out(writer),
            Self::ChangeUnitLinks(operation) => operation.carry_out(writer),
            Self::ControlService(operation) => operation.carry_out(writer),
            Self::ReloadSystemd(operation) => operation.carry_out(writer),
            Self::ControlUnit(operation) => operation.carry_out(writer),
            Self::MakeDestination(operation) => operation.carry_out(writer),
            Self::UnpackArchive(operation) => operation.carry_out(writer),
            Self::GiveAway(operation) => operation.carry_out(writer),
            Self::CloneRepository(operation) => operation.carry_out(writer),
            Self::CheckOut(operation) => operation.carry_out(writer),
            Self::Fetch(operation) => operation.carry_out(writer),
            Self::UpdateSubmodules(operation) => operation.carry_out(writer),
            Self::SetRemote(operation) => operation.carry_out(writer),
            Self::RemoveRepository(operation) => operation.carry_out(writer),
            Self::WriteCrontab(operation) => operation.carry_out(writer),
            Self::ChangeMounts(operation) => operation.carry_out(writer),
            Self::SendRequest(operation) => operation.carry_out(writer),
            Self::GatherFacts(operation) => operation.carry_out(writer),
            Self::RequestReboot(operation) => operation.carry_out(writer),
            Self::CancelReboot(operation) => operation.carry_out(writer),
            Self::Sleep(operation) => operation.carry_out(writer),
            Self::Sequence(operation) => operation.carry_out(writer),
            #[cfg(test)]
            Self::Scripted(operation) => operation.carry_out(writer),
        }
    }
}

#[cfg(test)]
mod tests;
