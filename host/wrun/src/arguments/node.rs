//! The arguments of `wrun node`.

use super::Common;
use crate::settings::Format;
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum NodeCommand {
    /// Print the saved node as JSON
    Show {
        #[command(flatten)]
        common: Common,
    },
    /// Say who set an attribute, and who lost: `ntp.servers`
    Explain {
        #[command(flatten)]
        common: Common,
        /// The attribute, its keys separated by dots (a dot in a key is written `\.`)
        #[arg(value_name = "ATTR")]
        attribute: String,
        /// How it is shown: doc or json
        #[arg(short = 'F', long, value_name = "FORMAT", default_value = "doc")]
        format: Format,
    },
}
