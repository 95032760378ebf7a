//! Opens, examines and compiles the policies' artifacts before the run changes anything.
//!
//! An artifact comes from a team that the operator does not trust. If it cannot be run, only its policy fails: the failure is
//! found here and reported at once, and the other policies run. The same holds for a policy in the grants whose artifact is
//! missing: a team must not stop the others by removing it. A name with neither an artifact nor a table in the grants is the
//! operator's mistake, and ends the run.

use crate::error::AssembleError;
use crate::input::Input;
use crate::notice::{Notice, Notify};
use crate::releases::{Admitted, Releases};
use crate::run_host;
use crate::runtime;
use crate::settings::Settings;
use crate::source::{Released, Source};
use crate::stand_in::StandIn;
use artifact::{Artifact, ArtifactError};
use contract::{ErrorKind, Failure, Stop};
use grants::{Grants, Needs, PolicyGrants};
use machine::data::DataFolders;
use sandbox::{Sandbox, SandboxError};
use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;
use text::error_chain;

/// The most threads that read artifacts.
const MAX_READERS: usize = 8;

/// The fewest artifacts that a thread is started for.
const LEAST_SHARE: usize = 4;

/// The artifacts of a run's policies.
#[derive(Default)]
pub(crate) struct Artifacts {
    /// The artifacts that can be read, by policy.
    pub(crate) read: BTreeMap<String, Admitted>,
    /// The failures of the policies whose artifacts cannot be read.
    pub(crate) refused: BTreeMap<String, Failure>,
}

impl Artifacts {
    /// Reads the artifact of each policy, or takes the one that was signed.
    ///
    /// # Errors
    /// A policy that the grants do not know has none, or the folder is absent.
    pub(crate) fn read(
        names: &[String],
        settings: &Settings,
        grants: &Grants,
        stand_in: Option<&StandIn>,
        releases: Option<&Releases>,
    ) -> Result<Self, AssembleError> {
        let mut artifacts = Self::default();
        let mut found = match (stand_in, releases) {
            (None, None) => find_all(&settings.policies, names),
            _ => vec![],
        }
        .into_iter();
        for name in names {
            if let Some(releases) = releases {
                match releases.admitted(name) {
                    Ok(admitted) => drop(artifacts.read.insert(name.clone(), admitted)),
                    Err(failure) => drop(artifacts.refused.insert(name.clone(), failure)),
                }
                continue;
            }
            let mut read = || found.next().unwrap_or_else(|| artifact::find(&settings.policies, name));
            let found = match stand_in {
                Some(stand_in) => stand_in.prepared.artifact(read),
                None => read(),
            };
            match found {
                Ok(artifact) => artifacts
                    .read
                    .extend(Admitted::unsigned(artifact, settings).map(|admitted| (name.clone(), admitted))),
                Err(ArtifactError::NoFolder { folder, .. }) if let Some(group) = settings.policy_group.clone() => {
                    return Err(AssembleError::GroupWithoutRepository { group, folder });
                }
                Err(error) if is_of_operator(&error, grants) => return Err(error.into()),
                Err(error) => {
                    let failure = Failure::raised(ErrorKind::NotStarted, error_chain(&error));
                    artifacts.refused.insert(name.clone(), failure);
                }
            }
        }
        Ok(artifacts)
    }
}

/// Finds the artifacts of policies, in the order of their names. Several threads share the work, because each artifact is read
/// and hashed as a whole.
fn find_all(folder: &Path, names: &[String]) -> Vec<Result<Artifact, ArtifactError>> {
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(MAX_READERS);
    let share = names.len().div_ceil(threads).max(LEAST_SHARE);
    let find_share = |names: &[String]| names.iter().map(|name| artifact::find(folder, name)).collect::<Vec<_>>();
    let Some((own, others)) = names.split_at_checked(share.min(names.len())) else { return find_share(names) };
    std::thread::scope(|scope| {
        let others: Vec<_> = others.chunks(share).map(|share| (share, scope.spawn(|| find_share(share)))).collect();
        let mut found = find_share(own);
        for (share, thread) in others {
            found.extend(thread.join().unwrap_or_else(|_| find_share(share)));
        }
        found
    })
}

/// Tells whether the operator's settings caused an error, and not an artifact.
fn is_of_operator(error: &ArtifactError, grants: &Grants) -> bool {
    match error {
        ArtifactError::NotFound { name, .. } => grants.file_of(name).is_none(),
        ArtifactError::NoFolder { .. } | ArtifactError::Name(_) => true,
        _ => false,
    }
}

/// The policies that can be opened, and the needs of those that import interfaces without a grant.
#[derive(Default)]
pub(crate) struct Ready {
    /// The code of each policy that can be opened.
    pub(crate) sources: BTreeMap<String, Source>,
    /// The needs of policies that import an interface without any grant for it, as their authors wrote them.
    pub(crate) ungranted: BTreeMap<String, Needs>,
}

/// Tells whether a component imports an interface without any grant for it. Such a component may still run, because each call
/// is checked.
fn imports_ungranted(imports: &[String], grants: &PolicyGrants) -> bool {
    imports.iter().any(|package| match package.as_str() {
        "machine" => !grants.opens_machine(),
        "data" => !grants.opens_data(),
        "clock" => !grants.clock(),
        "random" => !grants.random(),
        _ => false,
    })
}

/// Compiles the policies' components, and notes which of them import interfaces without a grant. Returns `None` if the run
/// was asked to stop. A policy that cannot be run is marked as refused in `input`, and its failure is reported.
///
/// # Errors
/// The engine fails, or the setting `runtime_dir` names a folder that has no runtime while a policy needs one.
pub(crate) fn make_ready(
    input: &mut Input,
    data: Option<&Arc<DataFolders>>,
    sandbox: &Sandbox,
    settings: &Settings,
    stop: &Stop,
    notify: &Notify,
) -> Result<Option<Ready>, AssembleError> {
    let mut ready = Ready::default();
    for policy in &mut input.policies {
        let name = policy.name.as_str();
        if policy.refused.is_none()
            && let Some(admitted) = input.artifacts.get(name)
            && let Some(grants) = input.grants.get(name)
        {
            let artifact = admitted.artifact();
            let limits = run_host::limits(settings, grants);
            let check = |source: &Source| -> Result<Vec<String>, SandboxError> {
                let own = source.own_code().map(|code| sandbox.check(name, code, &limits)).transpose()?;
                // The imports of a language runtime do not count: it imports every interface, even if its cookbooks call
                // none.
                source.runtime().map(|runtime| sandbox.check(name, runtime.component(), &limits)).transpose()?;
                Ok(own.unwrap_or_default())
            };
            match Released::new(admitted.clone(), data.cloned(), settings).map(Source::Released) {
                // The operator named a folder without any runtime.
                Err(error) if settings.runtime_dir.as_deref().is_some_and(|folder| !runtime::is_in(folder)) => {
                    return Err(error.into());
                }
                Err(error) => policy.refused = Some(Failure::raised(ErrorKind::NotStarted, error_chain(&error))),
                Ok(source) => match check(&source) {
                    Ok(imports) => {
                        if imports_ungranted(&imports, grants) {
                            ready.ungranted.insert(name.to_owned(), artifact.manifest().needs.clone());
                        }
                        ready.sources.insert(name.to_owned(), source);
                    }
                    Err(SandboxError::Interrupted { .. }) if stop.requested().is_some() => return Ok(None),
                    Err(error @ SandboxError::Engine(_)) => return Err(error.into()),
                    Err(error) => policy.refused = Some(Failure::raised(ErrorKind::NotStarted, error_chain(&error))),
                },
            }
        }
        if let Some(failure) = &policy.refused {
            notify(Notice::Refused { policy: policy.name.clone(), failure: failure.clone() });
        }
    }
    Ok(Some(ready))
}
