//! The arguments of `wrun role`, `wrun environment` and `wrun data-bag`.

use crate::settings::{Layer, View};
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum RoleCommand {
    /// List the roles
    List {
        #[command(flatten)]
        place: RolesPlace,
        /// Output format: doc or json
        #[arg(short = 'F', long, value_name = "FORMAT", default_value = "doc")]
        format: View,
    },
    /// Print a role as JSON
    Show {
        #[command(flatten)]
        place: RolesPlace,
        /// Its name
        #[arg(value_name = "ROLE")]
        name: String,
    },
    /// Write a role that is not there yet
    Create {
        #[command(flatten)]
        place: RolesPlace,
        /// Its name: letters, digits, - and _
        #[arg(value_name = "ROLE")]
        name: String,
        /// What it is for
        #[arg(short, long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        description: String,
        /// Its run list, such as `recipe[a],role[b]`
        #[arg(short, long, value_name = "ITEM,..", value_delimiter = ',')]
        run_list: Vec<String>,
    },
    /// Change a role in an editor ($VISUAL, $EDITOR)
    Edit {
        #[command(flatten)]
        place: RolesPlace,
        /// Its name
        #[arg(value_name = "ROLE")]
        name: String,
    },
    /// Take roles from JSON files, each with its `name`
    FromFile {
        #[command(flatten)]
        place: RolesPlace,
        /// The files
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
    },
    /// Remove roles
    Delete {
        #[command(flatten)]
        place: RolesPlace,
        /// Their names
        #[arg(value_name = "ROLE", required = true)]
        names: Vec<String>,
    },
    /// Remove all roles whose whole name matches
    BulkDelete {
        #[command(flatten)]
        place: RolesPlace,
        /// The regular expression
        #[arg(value_name = "REGEX")]
        pattern: String,
        /// Remove them; without it they are listed only
        #[arg(short, long)]
        yes: bool,
    },
    /// Change the run list of a role
    #[command(subcommand)]
    RunList(RoleRunListCommand),
    /// Change the run list that a role has in one environment
    #[command(subcommand)]
    EnvRunList(EnvRunListCommand),
}

#[derive(Debug, Subcommand)]
pub(crate) enum RoleRunListCommand {
    /// Add items, after all others
    Add {
        #[command(flatten)]
        list: RoleList,
        #[command(flatten)]
        added: AddedItems,
    },
    /// Remove items
    Remove {
        #[command(flatten)]
        list: RoleList,
        #[command(flatten)]
        items: Items,
    },
    /// Replace the whole run list
    Set {
        #[command(flatten)]
        list: RoleList,
        #[command(flatten)]
        items: Items,
    },
    /// Put another item in the place of one
    Replace {
        #[command(flatten)]
        list: RoleList,
        #[command(flatten)]
        replaced: ReplacedItem,
    },
    /// Remove all items
    Clear {
        #[command(flatten)]
        list: RoleList,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum EnvRunListCommand {
    /// Add items, after all others
    Add {
        #[command(flatten)]
        list: EnvRoleList,
        #[command(flatten)]
        added: AddedItems,
    },
    /// Remove items
    Remove {
        #[command(flatten)]
        list: EnvRoleList,
        #[command(flatten)]
        items: Items,
    },
    /// Replace the whole run list
    Set {
        #[command(flatten)]
        list: EnvRoleList,
        #[command(flatten)]
        items: Items,
    },
    /// Put another item in the place of one
    Replace {
        #[command(flatten)]
        list: EnvRoleList,
        #[command(flatten)]
        replaced: ReplacedItem,
    },
    /// Remove all items: the role brings nothing in this environment
    Clear {
        #[command(flatten)]
        list: EnvRoleList,
    },
}

/// The role whose run list changes
#[derive(Debug, Args)]
pub(crate) struct RoleList {
    #[command(flatten)]
    pub(crate) place: RolesPlace,
    /// The role
    #[arg(value_name = "ROLE")]
    pub(crate) role: String,
}

/// The role whose run list changes, and the environment in which it has that list
#[derive(Debug, Args)]
pub(crate) struct EnvRoleList {
    #[command(flatten)]
    pub(crate) place: RolesPlace,
    /// The role
    #[arg(value_name = "ROLE")]
    pub(crate) role: String,
    /// The environment
    #[arg(value_name = "ENVIRONMENT")]
    pub(crate) environment: String,
}

/// Items of a run list
#[derive(Debug, Args)]
pub(crate) struct Items {
    /// The items, such as `recipe[a]` or `role[b]`
    #[arg(value_name = "ITEM", required = true, value_delimiter = ',')]
    pub(crate) items: Vec<String>,
}

/// Items that are added to a run list
#[derive(Debug, Args)]
pub(crate) struct AddedItems {
    #[command(flatten)]
    pub(crate) items: Items,
    /// Before this item
    #[arg(long, value_name = "ITEM", conflicts_with = "after")]
    pub(crate) before: Option<String>,
    /// After this item
    #[arg(long, value_name = "ITEM")]
    pub(crate) after: Option<String>,
}

/// An item, and the one that comes in its place
#[derive(Debug, Args)]
pub(crate) struct ReplacedItem {
    /// The item that is there
    #[arg(value_name = "OLD")]
    pub(crate) old: String,
    /// The new one
    #[arg(value_name = "NEW")]
    pub(crate) new: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ChefEnvironmentCommand {
    /// List the environments
    List {
        #[command(flatten)]
        place: EnvironmentsPlace,
        /// Output format: doc or json
        #[arg(short = 'F', long, value_name = "FORMAT", default_value = "doc")]
        format: View,
    },
    /// Print an environment as JSON
    Show {
        #[command(flatten)]
        place: EnvironmentsPlace,
        /// Its name
        #[arg(value_name = "ENVIRONMENT")]
        name: String,
    },
    /// Write an environment that is not there yet
    Create {
        #[command(flatten)]
        place: EnvironmentsPlace,
        /// Its name: letters, digits, - and _
        #[arg(value_name = "ENVIRONMENT")]
        name: String,
        /// What it is for
        #[arg(short, long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        description: String,
    },
    /// Change an environment in an editor ($VISUAL, $EDITOR)
    Edit {
        #[command(flatten)]
        place: EnvironmentsPlace,
        /// Its name
        #[arg(value_name = "ENVIRONMENT")]
        name: String,
    },
    /// Take environments from JSON files, each with its `name`
    FromFile {
        #[command(flatten)]
        place: EnvironmentsPlace,
        /// The files
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
    },
    /// Remove environments
    Delete {
        #[command(flatten)]
        place: EnvironmentsPlace,
        /// Their names
        #[arg(value_name = "ENVIRONMENT", required = true)]
        names: Vec<String>,
    },
    /// Compare the cookbook versions of environments
    Compare {
        #[command(flatten)]
        place: EnvironmentsPlace,
        /// The environments [default: all]
        #[arg(value_name = "ENVIRONMENT")]
        names: Vec<String>,
        /// Output format: doc or json
        #[arg(short = 'F', long, value_name = "FORMAT", default_value = "doc")]
        format: View,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum DataBagCommand {
    /// List the data bags
    List {
        #[command(flatten)]
        place: BagsPlace,
        /// Output format: doc or json
        #[arg(short = 'F', long, value_name = "FORMAT", default_value = "doc")]
        format: View,
    },
    /// List the items of a data bag, or print one as JSON, decrypted if a secret is known
    Show {
        #[command(flatten)]
        place: BagsPlace,
        #[command(flatten)]
        secret: SecretFile,
        /// The data bag
        #[arg(value_name = "BAG")]
        bag: String,
        /// The item
        #[arg(value_name = "ITEM")]
        item: Option<String>,
        /// Output format of the list: doc or json
        #[arg(short = 'F', long, value_name = "FORMAT", default_value = "doc")]
        format: View,
    },
    /// Make a data bag, or write an item in an editor ($VISUAL, $EDITOR)
    Create {
        #[command(flatten)]
        place: BagsPlace,
        #[command(flatten)]
        encryption: Encryption,
        /// The data bag; with an ITEM it is made if it is not there
        #[arg(value_name = "BAG")]
        bag: String,
        /// The item
        #[arg(value_name = "ITEM")]
        item: Option<String>,
    },
    /// Change an item in an editor ($VISUAL, $EDITOR); an encrypted one is encrypted again
    Edit {
        #[command(flatten)]
        place: BagsPlace,
        #[command(flatten)]
        encryption: Encryption,
        /// The data bag
        #[arg(value_name = "BAG")]
        bag: String,
        /// The item
        #[arg(value_name = "ITEM")]
        item: String,
    },
    /// Take items from JSON files, each with its `id`
    FromFile {
        #[command(flatten)]
        place: BagsPlace,
        #[command(flatten)]
        encryption: Encryption,
        /// The data bag
        #[arg(value_name = "BAG")]
        bag: String,
        /// The files
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
    },
    /// Remove an item, or a whole data bag
    Delete {
        #[command(flatten)]
        place: BagsPlace,
        /// The data bag
        #[arg(value_name = "BAG")]
        bag: String,
        /// The item
        #[arg(value_name = "ITEM")]
        item: Option<String>,
        /// Remove the data bag with all its items
        #[arg(long, conflicts_with = "item")]
        all: bool,
    },
}

/// The secret that opens items
#[derive(Debug, Args)]
pub(crate) struct SecretFile {
    /// File with the secret [default: `encrypted_data_bag_secret` of the settings]
    #[arg(long, value_name = "FILE")]
    pub(crate) secret_file: Option<PathBuf>,
}

/// How items are encrypted
#[derive(Debug, Args)]
pub(crate) struct Encryption {
    /// File with the secret; what is written is encrypted with it
    #[arg(long, value_name = "FILE")]
    pub(crate) secret_file: Option<PathBuf>,
    /// Encrypt with the secret of the settings (`encrypted_data_bag_secret`)
    #[arg(long)]
    pub(crate) encrypt: bool,
}

/// Where roles are
#[derive(Debug, Args)]
pub(crate) struct RolesPlace {
    /// File of settings [default: /etc/wrun/wrun.toml]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Directory of roles, as NAME.json or NAME.rb
    #[arg(long, value_name = "DIR")]
    pub(crate) roles: Option<PathBuf>,
}

/// Where environments are
#[derive(Debug, Args)]
pub(crate) struct EnvironmentsPlace {
    /// File of settings [default: /etc/wrun/wrun.toml]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Directory of environments, as NAME.json or NAME.rb
    #[arg(long, value_name = "DIR")]
    pub(crate) environments: Option<PathBuf>,
}

/// Where data bags are
#[derive(Debug, Args)]
pub(crate) struct BagsPlace {
    /// File of settings [default: /etc/wrun/wrun.toml]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Directory of data bags, as BAG/ITEM.json
    #[arg(long, value_name = "DIR")]
    pub(crate) data_bags: Option<PathBuf>,
}

impl RolesPlace {
    /// Returns the given options as a layer of settings.
    pub(crate) fn layer(&self) -> Layer {
        Layer { roles: self.roles.clone(), ..Layer::default() }
    }
}

impl EnvironmentsPlace {
    /// Returns the given options as a layer of settings.
    pub(crate) fn layer(&self) -> Layer {
        Layer { environments: self.environments.clone(), ..Layer::default() }
    }
}

impl BagsPlace {
    /// Returns the given options as a layer of settings.
    pub(crate) fn layer(&self) -> Layer {
        Layer { data_bags: self.data_bags.clone(), ..Layer::default() }
    }
}
