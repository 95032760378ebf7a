//! The arguments of `wrun bootstrap`.

use crate::settings::{NodeName, PolicyNames};
use clap::Args;
use std::path::PathBuf;

/// The last paragraph of the help.
const AFTER_HELP: &str = "The package, the settings, the trusted root and the grants go to the machine over one ssh connection; then it makes its \
                          first run. Run it again to mend what a broken connection left, or to change what differs. See docs/bootstrap.md.";

/// The usage line. The one that clap generates would show the machine as optional.
const USAGE: &str = "wrun bootstrap [OPTIONS] --policy-name <NAME,..> --policy-group <GROUP> <USER@HOST>\n       \
                     wrun bootstrap [OPTIONS] --policy-name <NAME,..> --policy-group <GROUP> --cloud-init";

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP, override_usage = USAGE)]
pub(crate) struct BootstrapArguments {
    /// The machine, as ssh takes it: USER@HOST, or a name of ~/.ssh/config
    #[arg(value_name = "USER@HOST", required_unless_present = "cloud_init", conflicts_with = "cloud_init")]
    pub(crate) host: Option<String>,
    /// The policies that the machine runs, in order
    #[arg(long, value_name = "NAME,..")]
    pub(crate) policy_name: PolicyNames,
    /// The policy group of the machine
    #[arg(long, value_name = "GROUP")]
    pub(crate) policy_group: String,
    /// The repository of signed releases: an address, or a directory of the machine
    #[arg(long, value_name = "URL")]
    pub(crate) repository: Option<String>,
    /// The root that the machine trusts: a file of this machine, a copy of platform/metadata/1.root.json
    #[arg(long, value_name = "FILE", requires = "repository")]
    pub(crate) repository_root: Option<PathBuf>,
    /// The grants of the machine: a file of this machine
    #[arg(long, value_name = "FILE")]
    pub(crate) grants: Option<PathBuf>,
    /// The secret of encrypted data bags: a file of this machine
    #[arg(long, value_name = "FILE")]
    pub(crate) data_bag_secret: Option<PathBuf>,
    /// The node's name [default: its fully qualified domain name]
    #[arg(short = 'N', long, value_name = "NAME")]
    pub(crate) node_name: Option<NodeName>,
    /// Send this package
    #[arg(long, value_name = "FILE", conflicts_with = "package_url")]
    pub(crate) package: Option<PathBuf>,
    /// Let the machine fetch the package from this address
    #[arg(long, value_name = "URL", requires = "sha256")]
    pub(crate) package_url: Option<String>,
    /// The SHA-256 of the package, in hexadecimal digits
    #[arg(long, value_name = "HEX")]
    pub(crate) sha256: Option<String>,
    /// Become root with sudo; it may ask for a password
    #[arg(long)]
    pub(crate) sudo: bool,
    /// The port of the machine's ssh server
    #[arg(short, long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// An option for ssh, as in ssh_config: `IdentityFile=~/.ssh/ops`
    #[arg(short = 'o', long, value_name = "KEY=VALUE")]
    pub(crate) ssh_option: Vec<String>,
    /// Show each step, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Replace files of the machine that differ, without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print a cloud-config that does the same, instead of logging in
    #[arg(long, conflicts_with_all = ["sudo", "port", "ssh_option", "dry_run", "yes", "package"])]
    pub(crate) cloud_init: bool,
}
