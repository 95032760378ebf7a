//! The arguments of `wrun search`.

use crate::settings::{Layer, View};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct SearchArguments {
    /// The index: node, role, environment, or the name of a data bag; without a QUERY this is the query, for nodes
    #[arg(value_name = "INDEX")]
    pub(crate) index: String,
    /// The query, such as `platform:debian AND ntp_servers:10.*`, or a word
    #[arg(value_name = "QUERY")]
    pub(crate) query: Option<String>,
    /// Print these attributes of what is found (`ntp.servers`)
    #[arg(short = 'a', long = "attribute", value_name = "ATTR")]
    pub(crate) attributes: Vec<String>,
    /// Print names only
    #[arg(short = 'i', long, conflicts_with = "attributes")]
    pub(crate) id_only: bool,
    /// Print the run lists of nodes
    #[arg(short = 'r', long, conflicts_with_all = ["attributes", "id_only"])]
    pub(crate) run_list: bool,
    /// Output format: doc or json
    #[arg(short = 'F', long, value_name = "FORMAT", default_value = "doc")]
    pub(crate) format: View,
    /// File of settings [default: /etc/wrun/wrun.toml]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// State directory, which has the saved nodes [default: /var/lib/wrun]
    #[arg(long, value_name = "DIR")]
    pub(crate) state_dir: Option<PathBuf>,
    /// Directory of roles, as NAME.json or NAME.rb
    #[arg(long, value_name = "DIR")]
    pub(crate) roles: Option<PathBuf>,
    /// Directory of environments, as NAME.json or NAME.rb
    #[arg(long, value_name = "DIR")]
    pub(crate) environments: Option<PathBuf>,
    /// Directory of data bags, as BAG/ITEM.json
    #[arg(long, value_name = "DIR")]
    pub(crate) data_bags: Option<PathBuf>,
}

impl SearchArguments {
    /// Returns the given options as a layer of settings.
    pub(crate) fn layer(&self) -> Layer {
        Layer {
            state_dir: self.state_dir.clone(),
            roles: self.roles.clone(),
            environments: self.environments.clone(),
            data_bags: self.data_bags.clone(),
            ..Layer::default()
        }
    }
}
