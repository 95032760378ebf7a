//! `gem_package` and `chef_gem`: refused, and said so where it helps.
//!
//! A gem is code that is built and run as root while it is installed, and its native parts could not be loaded where
//! cookbooks run. Rejected: doing nothing. A cookbook that goes on without its gem fails later and elsewhere.

use crate::plan::{Plan, Provider, View};
use crate::resources::asked;
use converge::{Certainty, Raised, Wanted};

/// A package of the Ruby language.
pub(crate) struct Gem;

impl Provider for Gem {
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        let name = asked::name(wanted, "package_name");
        let message = format!("gem {name} is not installed: wrun installs no gems");
        if view.why_run {
            return Ok(Plan::uncertain(Certainty::Unknown(format!("{message}; a real run ends here"))));
        }
        let hint = match wanted.declaration.kind.as_str() {
            "chef_gem" => {
                "gems of plain Ruby can travel in the policy; what else the cookbook needs must come without gems"
            }
            _ => "install it as a package of the distribution, or with an `execute` that is granted",
        };
        Err(Raised::new("Gem::InstallError", message).with_hint(hint))
    }
}
