//! The arguments of `wrun facts`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Example: wrun facts > tests/facts/web-server.json, for `wrun policy test`")]
pub(crate) struct FactsArguments {
    /// The root of the system that is described [default: /]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
}
