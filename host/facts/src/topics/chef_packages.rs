//! `chef_packages`: Ohai's plugins Chef and Ohai.
//!
//! Cookbooks ask it what they may use (`Gem::Version.new(node['chef_packages']['chef']['version'])`), so it names the
//! releases of Chef and Ohai that this program behaves like. Where those would be installed is not said: they are not.

use crate::machine::{Gathered, Machine};
use crate::topics::one;

const CHEF_VERSION: &str = "18.11.21";
const OHAI_VERSION: &str = "18.2.9";

pub(crate) fn gather(_: &Machine) -> Gathered {
    let mut packages = one("chef", one("version", CHEF_VERSION));
    packages.extend(one("ohai", one("version", OHAI_VERSION)));
    one("chef_packages", packages)
}
