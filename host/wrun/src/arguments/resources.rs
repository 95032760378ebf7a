//! The arguments of `wrun resources`.

use crate::settings::View;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ResourcesArguments {
    /// One type; without it all are listed
    #[arg(value_name = "TYPE")]
    pub(crate) name: Option<String>,
    /// Output format: doc or json
    #[arg(short = 'F', long, value_name = "FORMAT", default_value = "doc")]
    pub(crate) format: View,
}
