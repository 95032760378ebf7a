//! `chef_packages`: Ohai's plugins Chef and Ohai.
//!
//! Cookbooks use it to find which features exist (`Gem::Version.new(node['chef_packages']['chef']['version'])`). So it has
//! the versions of Chef and Ohai whose behaviour this program follows. It does not have the paths of their installation,
//! because they are not installed.

use crate::machine::{Gathered, Machine};
use crate::topics::one;

const CHEF_VERSION: &str = "18.11.21";
const OHAI_VERSION: &str = "18.2.9";

pub(crate) fn gather(_: &Machine) -> Gathered {
    let mut packages = one("chef", one("version", CHEF_VERSION));
    packages.extend(one("ohai", one("version", OHAI_VERSION)));
    one("chef_packages", packages)
}
