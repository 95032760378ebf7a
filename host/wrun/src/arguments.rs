//! What can be typed. [`ConvergeArguments::layer`] lifts it to what it means; after that nobody looks at the command line.

use crate::settings::{Color, Format, Layer, Level, LogLocation, NodeName, PolicyNames, Seconds};
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use std::path::PathBuf;

/// Many teams' cookbooks on one node, none able to hurt another
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options that `wrun grants suggest` shares with `wrun converge` and that change nothing of a suggestion.
const IDLE_IN_SUGGESTIONS: [&str; 6] = ["format", "grants", "allow_all", "keep_going", "why_run", "lock_timeout"];

impl Arguments {
    /// Reads the command line.
    ///
    /// # Errors
    /// It is none, or asks for help.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        let mut command = Self::without_idle_options();
        let matches = command.try_get_matches_from_mut(std::env::args_os())?;
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }

    /// The command line's description; help does not offer what a command takes and does not use.
    fn without_idle_options() -> clap::Command {
        let hide = |names: &'static [&'static str]| {
            move |command: clap::Command| {
                names.iter().fold(command, |command, name| command.mut_arg(name, |argument| argument.hide(true)))
            }
        };
        Self::command()
            .mut_subcommand("grants", |grants| grants.mut_subcommand("suggest", hide(&IDLE_IN_SUGGESTIONS)))
            .mut_subcommand("node", |node| {
                node.mut_subcommand("show", hide(&["root"])).mut_subcommand("explain", hide(&["root"]))
            })
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Bring the node to what its policies ask for
    Converge(Box<ConvergeArguments>),
    /// Look at the saved node
    #[command(subcommand)]
    Node(NodeCommand),
    /// Print the reference of the built-in resource types
    Resources(ResourcesArguments),
    /// Look at cookbooks before they are run
    #[command(subcommand)]
    Cookbook(CookbookCommand),
    /// Start and build policies
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Confine a command of a dry run: wrun starts itself so
    #[command(hide = true)]
    LaunchConfined,
    /// Help with the file of what each policy may do
    #[command(subcommand)]
    Grants(GrantsCommand),
}

/// Where settings come from, for all commands that need any
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Read the settings from this file [default: /etc/wrun/wrun.toml]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The node's name [default: its fully qualified domain name]
    #[arg(short = 'N', long, value_name = "NAME")]
    pub(crate) node_name: Option<NodeName>,
    /// The root of the machine to manage [default: /]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Where what outlives a run is kept [default: /var/lib/wrun]
    #[arg(long, value_name = "DIR")]
    pub(crate) state_dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ConvergeArguments {
    #[command(flatten)]
    pub(crate) common: Common,
    /// The policies to run, in order, separated by commas
    #[arg(long, value_name = "NAME,..")]
    pub(crate) policy_name: Option<PolicyNames>,
    /// Where the policies' artifacts lie [default: /etc/wrun/policies]
    #[arg(long, value_name = "DIR")]
    pub(crate) policies: Option<PathBuf>,
    /// The policy group of this node
    #[arg(long, value_name = "NAME")]
    pub(crate) policy_group: Option<String>,
    /// Change nothing; say what would be changed
    #[arg(short = 'W', long)]
    pub(crate) why_run: bool,
    /// Merge attributes from this JSON file into the node's `normal`; may hold a `run_list` too
    #[arg(short, long, value_name = "FILE")]
    pub(crate) json_attributes: Option<PathBuf>,
    /// Run these items instead of the policy's run list, this once; the node is not saved
    #[arg(short, long, value_name = "[POLICY=]ITEM,..")]
    pub(crate) override_runlist: Vec<String>,
    /// Run one of the policy's named run lists
    #[arg(short, long, value_name = "[POLICY=]NAME")]
    pub(crate) named_run_list: Vec<String>,
    /// What each policy may do [default: /etc/wrun/grants.toml]
    #[arg(long, value_name = "FILE", conflicts_with = "allow_all")]
    pub(crate) grants: Option<PathBuf>,
    /// Where data bags are, as BAG/ITEM.json; each policy reads what it was granted
    #[arg(long, value_name = "DIR")]
    pub(crate) data_bags: Option<PathBuf>,
    /// The secret for encrypted data bag items
    #[arg(long, value_name = "FILE")]
    pub(crate) encrypted_data_bag_secret: Option<PathBuf>,
    /// Let every policy do everything: for one's own machine
    #[arg(long)]
    pub(crate) allow_all: bool,
    /// Run the policies after one that failed; the exit code is still that of a failure
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// How the run is shown: doc, minimal or json [default: doc]
    #[arg(short = 'F', long, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
    /// The least that is logged: trace, debug, info, warn, error or fatal [default: warn]; with debug, backtraces are whole
    #[arg(short, long, value_name = "LEVEL")]
    pub(crate) log_level: Option<Level>,
    /// Where the log goes: stderr, journald or a file [default: stderr]
    #[arg(short = 'L', long, value_name = "PLACE")]
    pub(crate) log_location: Option<LogLocation>,
    /// Whether output has colours: auto, always or never [default: auto]
    #[arg(long, value_name = "WHEN")]
    pub(crate) color: Option<Color>,
    /// Seconds to wait for another run to end [default: 300]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) lock_timeout: Option<Seconds>,
    /// Take the machine's facts from this file: what `ohai` prints, or a saved node
    #[arg(long, value_name = "FILE")]
    pub(crate) facts: Option<PathBuf>,
    /// Compile only, and print the collection as JSON; changes nothing
    #[arg(long)]
    pub(crate) compile_only: bool,
    #[command(flatten)]
    pub(crate) folders: FolderArguments,
    /// Print what the plan asked for instead of the plan: `wrun grants suggest`.
    #[arg(skip)]
    pub(crate) suggest_grants: bool,
}

/// Running cookbooks from where they lie, without a policy: the folders of a Chef repository
#[derive(Debug, Args)]
#[command(next_help_heading = "Cookbooks in folders")]
// On each of them: clap asks for no `cookbooks` where something is given that conflicts with it.
#[group(conflicts_with_all = ["policy_name", "named_run_list"])]
pub(crate) struct FolderArguments {
    /// Run the cookbooks in these directories instead of policies; of two with one name the later is taken
    #[arg(long, value_name = "DIR,..", value_delimiter = ',')]
    pub(crate) cookbooks: Vec<PathBuf>,
    /// The run list, which the node keeps: `recipe[a],role[b]` [default: the attributes file's, else the node's]
    #[arg(long, value_name = "ITEM,..", requires = "cookbooks")]
    pub(crate) run_list: Vec<String>,
    /// The node's environment [default: _default]
    #[arg(short = 'E', long, value_name = "NAME", requires = "cookbooks")]
    pub(crate) environment: Option<String>,
    /// Where roles are, as NAME.json or NAME.rb
    #[arg(long, value_name = "DIR", requires = "cookbooks")]
    pub(crate) roles: Option<PathBuf>,
    /// Where environments are, as NAME.json or NAME.rb
    #[arg(long, value_name = "DIR", requires = "cookbooks")]
    pub(crate) environments: Option<PathBuf>,
    /// Where other nodes are, as NAME.json, for searches
    #[arg(long, value_name = "DIR", requires = "cookbooks")]
    pub(crate) nodes: Option<PathBuf>,
    /// Where the gems are that cookbooks name in their metadata, as NAME-VERSION.gem or unpacked
    #[arg(long, value_name = "DIR", requires = "cookbooks")]
    pub(crate) gems: Option<PathBuf>,
    /// Gems that cookbooks name in their metadata and that nothing of this run loads
    #[arg(long, value_name = "NAME,..", value_delimiter = ',', requires = "gems")]
    pub(crate) without_gems: Vec<String>,
}

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

#[derive(Debug, Args)]
pub(crate) struct ResourcesArguments {
    /// One type; without it all are listed
    #[arg(value_name = "TYPE")]
    pub(crate) name: Option<String>,
    /// How it is shown: doc or json
    #[arg(short = 'F', long, value_name = "FORMAT", default_value = "doc")]
    pub(crate) format: Format,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CookbookCommand {
    /// Say what a Ruby cookbook needs and what of it would not work; nothing of it is run
    Check(CheckArguments),
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// The cookbook's folder
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Look for the cookbooks that it depends on here [default: beside it]
    #[arg(long, value_name = "DIR,..", value_delimiter = ',')]
    pub(crate) cookbooks: Vec<PathBuf>,
    /// How it is shown: doc or json
    #[arg(short = 'F', long, value_name = "FORMAT", default_value = "doc")]
    pub(crate) format: Format,
    /// Read the settings from this file [default: /etc/wrun/wrun.toml]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GrantsCommand {
    /// Print the least file that lets a plan happen: a dry run in which everything is allowed and written down
    ///
    /// Takes what `wrun converge` takes. What only a real run comes to (a recipe that reads what it wrote) is not in it.
    Suggest(Box<ConvergeArguments>),
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Start a policy of Rust cookbooks in a new folder
    New {
        /// The folder; it must be empty or not there
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// The policy's name [default: the folder's]
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// The SDK's folder on this machine
        #[arg(long, value_name = "DIR", env = "WRUN_SDK_PATH")]
        sdk_path: Option<PathBuf>,
        /// The git repository that has the SDK
        #[arg(long, value_name = "URL", conflicts_with = "sdk_path")]
        sdk_git: Option<String>,
    },
    /// Build a policy's artifact
    Build {
        /// The policy's folder
        #[arg(value_name = "DIR", default_value = ".")]
        folder: PathBuf,
        /// Put the artifact here [default: the policy's folder]
        #[arg(short, long, value_name = "DIR")]
        output: Option<PathBuf>,
        /// Take gems of Ruby cookbooks from here [default: `gems` of policy.toml, else DIR/gems]
        #[arg(long, value_name = "DIR")]
        gems: Option<PathBuf>,
        /// Keep what the compiler makes here [default: DIR/target]
        #[arg(long, value_name = "DIR")]
        target_dir: Option<PathBuf>,
    },
}

impl Common {
    /// What was typed, as a layer of settings.
    pub(crate) fn layer(&self) -> Layer {
        Layer {
            node_name: self.node_name.clone(),
            root: self.root.clone(),
            state_dir: self.state_dir.clone(),
            ..Layer::default()
        }
    }
}

impl ConvergeArguments {
    /// What was typed, as a layer of settings.
    pub(crate) fn layer(&self) -> Layer {
        Layer {
            policy_name: self.policy_name.clone(),
            policies: self.policies.clone(),
            policy_group: self.policy_group.clone(),
            grants: self.grants.clone(),
            data_bags: self.data_bags.clone(),
            encrypted_data_bag_secret: self.encrypted_data_bag_secret.clone(),
            format: self.format,
            log_level: self.log_level,
            log_location: self.log_location.clone(),
            color: self.color,
            keep_going: self.keep_going.then_some(true),
            lock_timeout: self.lock_timeout,
            ..self.common.layer()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn help(of: &[&str]) -> String {
        let words = ["wrun"].iter().chain(of).chain(&["--help"]);
        Arguments::without_idle_options().try_get_matches_from(words).unwrap_err().to_string()
    }

    #[test]
    fn help_offers_what_a_command_uses() {
        let suggest = help(&["grants", "suggest"]);
        for option in ["--format", "--grants", "--allow-all", "--keep-going", "--why-run", "--lock-timeout"] {
            assert!(!suggest.contains(&format!("{option} ")) && !suggest.contains(&format!("{option}\n")), "{suggest}");
            assert!(help(&["converge"]).contains(option), "{option}");
        }
        assert!(suggest.contains("--policy-name") && suggest.contains("--cookbooks"), "{suggest}");
        assert!(!help(&["node", "show"]).contains("--root") && help(&["node", "show"]).contains("--state-dir"));
    }

    #[test]
    fn the_description_is_sound() {
        Arguments::without_idle_options().debug_assert();
    }
}
