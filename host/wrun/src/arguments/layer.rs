//! The arguments of `wrun layer`.

use super::node::StoredNode;
use crate::settings::View;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum LayerCommand {
    /// List the layers of the node and of its policy groups in order; the last one wins
    List {
        #[command(flatten)]
        node: StoredNode,
        #[command(flatten)]
        group: GroupArgument,
        /// Output format: doc or json
        #[arg(short = 'F', long, value_name = "FORMAT", default_value = "doc")]
        format: View,
    },
    /// Print a layer as JSON, or what all layers come to
    Show {
        #[command(flatten)]
        node: StoredNode,
        /// The layer
        #[arg(value_name = "NAME", required_unless_present = "merged", conflicts_with = "merged")]
        name: Option<String>,
        /// Print what all layers come to
        #[arg(long)]
        merged: bool,
        /// Print each attribute with the layer, the file and the line that it comes from
        #[arg(long, requires = "merged")]
        origin: bool,
        /// Only the layers that this policy sees
        #[arg(long, value_name = "POLICY", requires = "merged")]
        policy: Option<String>,
        #[command(flatten)]
        group: GroupArgument,
        /// Output format of `--origin`: doc or json; all else is JSON
        #[arg(short = 'F', long, value_name = "FORMAT", default_value = "doc")]
        format: View,
    },
    /// Add an environment file (JSON, Ruby, TOML, YAML) as a layer, after all others
    Add {
        #[command(flatten)]
        node: StoredNode,
        /// The file
        #[arg(value_name = "FILE")]
        file: PathBuf,
        #[command(flatten)]
        place: PlaceArguments,
    },
    /// Put the content of a file in the place of a layer
    Replace {
        #[command(flatten)]
        node: StoredNode,
        /// The layer
        #[arg(value_name = "NAME")]
        name: String,
        /// The file
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Move a layer to another place
    Move {
        #[command(flatten)]
        node: StoredNode,
        /// The layer
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        place: PlaceArguments,
    },
    /// Remove a layer
    Remove {
        #[command(flatten)]
        node: StoredNode,
        /// The layer
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Set attributes of a layer, without changing its file
    Set {
        #[command(flatten)]
        node: StoredNode,
        /// The layer
        #[arg(value_name = "NAME")]
        name: String,
        /// The attributes; a VALUE is JSON or text
        #[arg(value_name = "a.b=VALUE", required = true)]
        attributes: Vec<String>,
        /// Set override attributes instead of default ones
        #[arg(long = "override")]
        overrides: bool,
    },
    /// Show how the files of layers differ from what the node keeps
    Diff {
        #[command(flatten)]
        node: StoredNode,
        /// The layer [default: all that came from a file]
        #[arg(value_name = "NAME")]
        name: Option<String>,
        /// Output format: doc or json
        #[arg(short = 'F', long, value_name = "FORMAT", default_value = "doc")]
        format: View,
    },
}

/// The policy group whose layers come before the node's own
#[derive(Debug, Args)]
pub(crate) struct GroupArgument {
    /// The policy group, for the layers that the settings list for it [default: those of the policies of the next run]
    #[arg(long, value_name = "NAME")]
    pub(crate) policy_group: Option<String>,
}

/// A place in the list of layers
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct PlaceArguments {
    /// Before this layer
    #[arg(long, value_name = "NAME")]
    pub(crate) before: Option<String>,
    /// After this layer
    #[arg(long, value_name = "NAME")]
    pub(crate) after: Option<String>,
    /// At this place, from 1
    #[arg(long, value_name = "N")]
    pub(crate) at: Option<usize>,
}
