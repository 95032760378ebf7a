//! The arguments of `wrun node`.

use super::Common;
use crate::settings::{Format, Layer, NodeName, View};
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum NodeCommand {
    /// List the saved nodes
    List {
        #[command(flatten)]
        node: StoredNode,
        /// Output format: doc or json
        #[arg(short = 'F', long, value_name = "FORMAT", default_value = "doc")]
        format: View,
    },
    /// Print a summary of the saved node, or one of its attributes
    Show {
        #[command(flatten)]
        common: Common,
        /// The attribute as the last policy saw it, its keys separated by dots (a dot in a key is written `\.`)
        #[arg(value_name = "ATTR")]
        attribute: Option<String>,
        /// The same, as knife has it
        #[arg(short = 'a', long = "attribute", value_name = "ATTR", conflicts_with = "attribute")]
        named: Option<String>,
        /// Print the run list
        #[arg(short, long, conflicts_with_all = ["attribute", "named"])]
        run_list: bool,
        /// Output format: doc (a summary of the node; of an attribute strings without quotes) or json
        #[arg(short = 'F', long, value_name = "FORMAT", default_value = "doc")]
        format: Format,
    },
    /// Show which policy, cookbook, layer or file set an attribute (`ntp.servers`), and which values it overrode
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
    /// Save a node that is not there yet
    Create {
        #[command(flatten)]
        node: StoredNode,
        /// Its name
        #[arg(value_name = "NAME")]
        name: NodeName,
        /// Its run list, such as `recipe[a],role[b]`
        #[arg(short, long, value_name = "ITEM,..", value_delimiter = ',')]
        run_list: Vec<String>,
        /// Its environment
        #[arg(short = 'E', long, value_name = "NAME")]
        environment: Option<String>,
    },
    /// Remove saved nodes
    Delete {
        #[command(flatten)]
        node: StoredNode,
        /// Their names
        #[arg(value_name = "NAME", required = true)]
        names: Vec<String>,
    },
    /// Remove all saved nodes whose whole name matches
    BulkDelete {
        #[command(flatten)]
        node: StoredNode,
        /// The regular expression
        #[arg(value_name = "REGEX")]
        pattern: String,
        /// Remove them; without it they are listed only
        #[arg(short, long)]
        yes: bool,
        /// Output format: doc or json
        #[arg(short = 'F', long, value_name = "FORMAT", default_value = "doc")]
        format: View,
    },
    /// Change run list, environment and `normal` attributes in an editor ($VISUAL, $EDITOR)
    Edit {
        #[command(flatten)]
        node: StoredNode,
    },
    /// Take run list, environment and `normal` attributes from JSON files; nodes that are not there are created
    FromFile {
        #[command(flatten)]
        node: StoredNode,
        /// The files
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
    },
    /// Show the last run of each node, its age and its outcome
    Status {
        #[command(flatten)]
        node: StoredNode,
        /// Output format: doc or json
        #[arg(short = 'F', long, value_name = "FORMAT", default_value = "doc")]
        format: View,
    },
    /// Change the run list of a node without policies
    #[command(subcommand)]
    RunList(RunListCommand),
    /// Change the environment of a node without policies
    #[command(subcommand)]
    Environment(EnvironmentCommand),
    /// Say which policies the node runs, each with its group
    #[command(subcommand)]
    Policy(AssignedPolicyCommand),
    /// Add, remove and list tags
    #[command(subcommand)]
    Tag(TagCommand),
    /// Set and remove `normal` attributes
    #[command(subcommand)]
    Attribute(AttributeCommand),
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunListCommand {
    /// Add items, after all others
    Add {
        #[command(flatten)]
        node: StoredNode,
        /// The items, such as `recipe[a]` or `role[b]`
        #[arg(value_name = "ITEM", required = true, value_delimiter = ',')]
        items: Vec<String>,
        /// Before this item
        #[arg(long, value_name = "ITEM", conflicts_with = "after")]
        before: Option<String>,
        /// After this item
        #[arg(long, value_name = "ITEM")]
        after: Option<String>,
    },
    /// Remove items
    Remove {
        #[command(flatten)]
        node: StoredNode,
        /// The items
        #[arg(value_name = "ITEM", required = true, value_delimiter = ',')]
        items: Vec<String>,
    },
    /// Replace the whole run list
    Set {
        #[command(flatten)]
        node: StoredNode,
        /// The items
        #[arg(value_name = "ITEM", required = true, value_delimiter = ',')]
        items: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum EnvironmentCommand {
    /// Set the environment
    Set {
        #[command(flatten)]
        node: StoredNode,
        /// The environment
        #[arg(value_name = "NAME")]
        name: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum AssignedPolicyCommand {
    /// Set the policies, in the order in which they run
    Set {
        #[command(flatten)]
        node: StoredNode,
        /// The policies; without a group the one of the settings counts
        #[arg(value_name = "POLICY@GROUP,..", required = true)]
        policies: Vec<String>,
    },
    /// Remove all policies from the node: those of the settings count again
    Unset {
        #[command(flatten)]
        node: StoredNode,
    },
    /// List the policies
    List {
        #[command(flatten)]
        node: StoredNode,
        /// Output format: doc or json
        #[arg(short = 'F', long, value_name = "FORMAT", default_value = "doc")]
        format: View,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum TagCommand {
    /// Add tags
    Add {
        #[command(flatten)]
        node: StoredNode,
        /// The tags
        #[arg(value_name = "TAG", required = true)]
        tags: Vec<String>,
    },
    /// Remove tags
    Remove {
        #[command(flatten)]
        node: StoredNode,
        /// The tags
        #[arg(value_name = "TAG", required = true)]
        tags: Vec<String>,
    },
    /// List the tags
    List {
        #[command(flatten)]
        node: StoredNode,
        /// Output format: doc or json
        #[arg(short = 'F', long, value_name = "FORMAT", default_value = "doc")]
        format: View,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum AttributeCommand {
    /// Set attributes, whoever set them before
    Set {
        #[command(flatten)]
        node: StoredNode,
        /// The attributes; a VALUE is JSON or text
        #[arg(value_name = "a.b=VALUE", required = true)]
        attributes: Vec<String>,
    },
    /// Remove attributes
    Unset {
        #[command(flatten)]
        node: StoredNode,
        /// The attributes, their keys separated by dots
        #[arg(value_name = "a.b", required = true)]
        attributes: Vec<String>,
    },
}

/// The node that is meant, for commands that look at the state only
#[derive(Debug, Args)]
pub(crate) struct StoredNode {
    /// File of settings [default: /etc/wrun/wrun.toml]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The node's name [default: the only node that is saved]
    #[arg(short = 'N', long, value_name = "NAME")]
    pub(crate) node_name: Option<NodeName>,
    /// State directory: saved node, run records, lock [default: /var/lib/wrun]
    #[arg(long, value_name = "DIR")]
    pub(crate) state_dir: Option<PathBuf>,
}

impl StoredNode {
    /// Returns the given options as a layer of settings.
    pub(crate) fn layer(&self) -> Layer {
        Layer { node_name: self.node_name.clone(), state_dir: self.state_dir.clone(), ..Layer::default() }
    }
}
