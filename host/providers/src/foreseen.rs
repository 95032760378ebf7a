//! Computes the result of a plan, for code that reads the machine later in the same dry run.
//!
//! Operations on files, directories and links state their result by real path. The effects of programs are not known. The
//! plan's assumptions name the paths that an action may change so, and these paths are unknown from then on.

use crate::operation::Operation;
use crate::plan::{Assumption, Plan};
use machine::guest::Planned;
use std::collections::BTreeSet;

/// Real paths with their planned states, in the order of the plan.
pub(crate) type Outcomes = Vec<(String, Planned)>;

/// Returns the outcomes of a plan.
pub(crate) fn of(plan: &Plan) -> Outcomes {
    let mut known = Outcomes::new();
    if plan.is_done_before {
        return known;
    }
    for step in &plan.steps {
        step.operation().foresee(&mut known);
    }
    let named: BTreeSet<&str> = known.iter().map(|(path, _)| path.as_str()).collect();
    let assumed = plan.assumptions.iter().filter_map(|assumption| match assumption {
        Assumption::Path(path) | Assumption::Directory(path) => Some(path),
        Assumption::User(_) | Assumption::Group(_) | Assumption::Package(_) | Assumption::ServiceAtBoot(..) => None,
    });
    let unknown = assumed.filter(|path| !named.contains(path.as_str()));
    let mut all: Outcomes = unknown.map(|path| (path.clone(), Planned::Unknown)).collect();
    all.append(&mut known);
    all
}

/// Tells whether a dry run skips a step of a plan with unknown effects, or assumes something.
pub(crate) fn leaves_out(plan: &Plan) -> bool {
    let brings_package = plan.assumptions.iter().any(|assumption| matches!(assumption, Assumption::Package(_)));
    !plan.certainty.is_empty() || brings_package || plan.steps.iter().any(|step| step.operation().is_open())
}

/// Types whose actions change the files, accounts and services that they name, and nothing else.
const NAMING: [&str; 13] = [
    "file",
    "template",
    "cookbook_file",
    "remote_file",
    "directory",
    "remote_directory",
    "link",
    "user",
    "linux_user",
    "group",
    "service",
    "systemd_unit",
    "log",
];

/// Tells whether the actions of a type change only the files, accounts and services that they name.
pub(crate) fn changes_what_it_names(kind: &str) -> bool {
    NAMING.contains(&kind)
}

impl Operation {
    /// Tells whether the operation may change more than it names, because it runs programs or code, or unpacks an archive.
    fn is_open(&self) -> bool {
        match self {
            Self::RunCommand(_)
            | Self::Preseed(_)
            | Self::InstallFromArchives(_)
            | Self::InstallFiles(_)
            | Self::ChangePackages(_)
            | Self::ChangeRpmPackages(_)
            | Self::UnpackArchive(_)
            | Self::CloneRepository(_)
            | Self::CheckOut(_)
            | Self::Fetch(_)
            | Self::UpdateSubmodules(_)
            | Self::ChangeMounts(_) => true,
            Self::Sequence(operation) => operation.operations().iter().any(Self::is_open),
            Self::Nothing
            | Self::WriteFile(_)
            | Self::SetAccess(_)
            | Self::Touch(_)
            | Self::RemoveFile(_)
            | Self::MakeDirectory(_)
            | Self::RemoveDirectory(_)
            | Self::PurgeDirectory(_)
            | Self::MakeLink(_)
            | Self::RemoveLink(_)
            | Self::MakeGroup(_)
            | Self::ChangeGroup(_)
            | Self::RemoveGroup(_)
            | Self::MakeUser(_)
            | Self::ChangeUser(_)
            | Self::RemoveUser(_)
            | Self::LockUser(_)
            | Self::RefreshLists(_)
            | Self::EnableService(_)
            | Self::EnableAtBoot(_)
            | Self::MaskService(_)
            | Self::ChangeUnitLinks(_)
            | Self::ControlService(_)
            | Self::ReloadSystemd(_)
            | Self::ControlUnit(_)
            | Self::MakeDestination(_)
            | Self::GiveAway(_)
            | Self::SetRemote(_)
            | Self::RemoveRepository(_)
            | Self::WriteCrontab(_)
            | Self::SendRequest(_)
            | Self::GatherFacts(_)
            | Self::RequestReboot(_)
            | Self::CancelReboot(_)
            | Self::Sleep(_) => false,
            #[cfg(test)]
            Self::Scripted(_) => false,
        }
    }

    /// Adds the result of the operation, if it is one on files, directories or links.
    fn foresee(&self, outcomes: &mut Outcomes) {
        match self {
            Self::WriteFile(operation) => operation.foresee(outcomes),
            Self::SetAccess(operation) => operation.foresee(outcomes),
            Self::Touch(operation) => operation.foresee(outcomes),
            Self::RemoveFile(operation) => operation.foresee(outcomes),
            Self::MakeDirectory(operation) => operation.foresee(outcomes),
            Self::RemoveDirectory(operation) => operation.foresee(outcomes),
            Self::PurgeDirectory(operation) => operation.foresee(outcomes),
            Self::MakeLink(operation) => operation.foresee(outcomes),
            Self::RemoveLink(operation) => operation.foresee(outcomes),
            Self::Sequence(operation) => {
                operation.operations().iter().for_each(|operation| operation.foresee(outcomes));
            }
            // The effects of programs, services and servers cannot be foreseen.
            _ => {}
        }
    }
}
