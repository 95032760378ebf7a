//! `gem_package` and `chef_gem`: refused with an explanation, except for a `chef_gem` that is part of the policy's artifact.
//!
//! Installing a gem builds and runs its code as root, and its native parts could not be loaded where cookbooks run. Rejected:
//! ignoring the resource. A cookbook without its gem would fail later and at another place.

use crate::plan::{Plan, Provider, View};
use crate::resources::asked;
use contract::{ErrorKind, Raised, Wanted};
use schema::types::gem_package::{GemPackageProperties, RUNTIME_GEMS};

/// The pseudo-cookbook with the policy's gems, in folders named NAME-VERSION.
const GEMS: &str = "wrun:gems";

/// The provider of `gem_package` and `chef_gem`.
pub(crate) struct Gem;

impl Provider for Gem {
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        let GemPackageProperties { package_name: name, version } = asked::properties(wanted)?;
        let is_chef_gem = wanted.declaration.kind == "chef_gem";
        // Cookbooks find the gems of their policy's artifact, and those of the runtime.
        let is_there = is_chef_gem
            && (travels(view, &name, version.as_deref())
                || (version.is_none() && RUNTIME_GEMS.contains(&name.as_str())));
        let is_removal = matches!(wanted.action, "remove" | "purge");
        if is_chef_gem && is_there != is_removal {
            return Ok(Plan::up_to_date());
        }
        let message = match is_removal {
            true => format!("gem {name} is not removed: wrun removes no gems"),
            false => format!("gem {name} is not installed: wrun installs no gems"),
        };
        let hint = if is_chef_gem {
            "gems of plain Ruby that the cookbook's metadata name can travel with the policy; what else the cookbook \
             needs must come without gems"
        } else {
            "install it as a package of the distribution, or with an `execute` that is granted"
        };
        Err(Raised::new(ErrorKind::GemNotInstalled, message).with_hint(hint))
    }
}

/// Tells whether the policy's artifact contains a gem, in exactly the declared version if there is one.
fn travels(view: &View<'_>, name: &str, version: Option<&str>) -> bool {
    let paths = view.files.paths(GEMS, "").unwrap_or_default();
    paths.iter().filter_map(|path| path.split_once('/')).any(|(folder, _)| {
        let found = folder.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
        found.is_some_and(|found| match version {
            Some(version) => found == version,
            None => found.starts_with(|first: char| first.is_ascii_digit()),
        })
    })
}
