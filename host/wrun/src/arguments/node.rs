//! The arguments of `wrun node`.

use super::Common;
use crate::settings::Format;
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum NodeCommand {
    /// Print the saved node as JSON, or one of its attributes
    Show {
        #[command(flatten)]
        common: Common,
        /// The attribute as the last policy saw it, its keys separated by dots (a dot in a key is written `\.`)
        #[arg(value_name = "ATTR")]
        attribute: Option<String>,
        /// Output format of an attribute: doc (strings without quotes) or json
        #[arg(short = 'F', long, value_name = "FORMAT", default_value = "doc")]
        format: Format,
    },
    /// Show which policy, cookbook or file set an attribute (`ntp.servers`), and which values it overrode
    Explain {
        #[command(flatten)]
        common: Common,
        /// The attribute, its keys separated by dots (a dot in a key is written `\.`)
        #[arg(value_name = "ATTR")]
        attribute: String,
        /// Output format: doc or json
        #[arg(short = 'F', long, value_name = "FORMAT", default_value = "doc")]
        format: Format,
    },
}
