//! Resolves a folder with a policy.toml: its includes, sources and constraints.

use std::path::{Path, PathBuf};

use plain_files::HeldFolder;
use policyfile::lock::Lock;
use policyfile::model::{CookbookSource, CookbookSpec, Policy, shown_options};
use serde_json::{Map, Value};

use super::error::PolicyfileError;
use super::includes::Pins;
use super::paths::relative;
use super::{Place, Session, Tools};
use crate::policy::PolicyToml;

/// A policy.toml with everything that it includes.
#[derive(Debug, Clone)]
pub(crate) struct Resolved {
    /// The lock that the policy would get now.
    pub(crate) lock: Lock,
    /// The folders of its cookbooks.
    pub(crate) folders: Vec<PathBuf>,
}

/// Resolves the policy.toml of a folder by its lock: included policies and fetched cookbooks stay at the commits in the lock.
/// Without a lock, the newest commits are used. The lock is not written.
pub(crate) fn resolve_folder(home: &HeldFolder, tools: &Tools<'_>) -> Result<Resolved, PolicyfileError> {
    let folder = std::path::absolute(home.path()).map_err(PolicyfileError::read(home.path()))?;
    let place = Place::of(Some(Path::new(super::POLICY_TOML)), &folder)?;
    let place = place.within(home.clone().with_path(folder));
    let lock = place.lock.exists().then(|| place.read_lock()).transpose()?;
    let mut session = Session::of(&place, tools);
    let policy = session.evaluate(&place)?;
    let pins = Pins { lock: lock.as_ref(), renewed: &[], keeps_fetched: true };
    let (lock, located) = session.compile(&place, &policy, pins)?;
    let folders = located.into_values().map(|located| located.cookbook.path).collect();
    Ok(Resolved { lock, folders })
}

impl Session<'_> {
    /// Reads a policy.toml and the cookbooks in its folder.
    pub(super) fn evaluate_toml(&mut self, place: &Place) -> Result<Policy, PolicyfileError> {
        let settings = PolicyToml::read(place.home()?)?;
        let mut policy = settings.model();
        for folder in settings.cookbook_folders(place.home()?)? {
            let name = self.cookbook(&folder)?.name;
            let path = relative(&place.folder, &super::expanded(&folder, &place.folder));
            let options = Map::from_iter([("path".to_owned(), Value::from(path.clone()))]);
            let source = Some(CookbookSource::Path(path));
            match policy.cookbooks.iter_mut().find(|spec| spec.name == name) {
                None => {
                    let constraint = policyfile::constraint::Constraint::any();
                    policy.cookbooks.push(CookbookSpec { name, constraint, options, source, line: 0 });
                }
                Some(spec) if spec.source.is_none() => (spec.options, spec.source) = (options, source),
                Some(spec) => {
                    let what = format!(
                        "Cookbook '{name}' assigned to conflicting sources: {} here, and the folder {}",
                        shown_options(&spec.options),
                        folder.display()
                    );
                    return Err(settings.wrong_cookbook(spec, what).into());
                }
            }
        }
        Ok(policy)
    }
}
