//! The command line, one file per command. [`ConvergeArguments::layer`] turns options into settings; later code reads only
//! the settings.

mod agent;
mod bootstrap;
mod config;
mod converge;
mod cookbook;
mod facts;
mod grants;
mod import;
mod layer;
mod node;
mod objects;
mod policy;
mod repository;
mod resources;
mod run;
mod search;
mod shell;

use crate::settings::{FILE_VARIABLE, KEYS, Layer, NodeName};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

pub(crate) use agent::{AgentArguments, AgentCommand, AgentPlace, AgentStatusArguments, PauseArguments};
pub(crate) use bootstrap::BootstrapArguments;
pub(crate) use config::{ConfigCommand, ShowConfigArguments};
pub(crate) use converge::{ConvergeArguments, Suggesting};
pub(crate) use cookbook::{CheckArguments, CookbookCommand, DescribeArguments};
pub(crate) use facts::FactsArguments;
pub(crate) use grants::{AllowArguments, CheckGrantsArguments, GrantsCommand, SuggestArguments, WhichRun};
pub(crate) use import::{ImportPolicyArguments, ImportSettingsArguments, SettingsCommand};
pub(crate) use layer::{GroupArgument, LayerCommand, PlaceArguments};
pub(crate) use node::{
    AssignedPolicyCommand, AttributeCommand, EnvironmentCommand, NodeCommand, RunListCommand, StoredNode, TagCommand,
};
pub(crate) use objects::{
    AddedItems, BagsPlace, ChefEnvironmentCommand, DataBagCommand, Encryption, EnvRunListCommand, EnvironmentsPlace,
    RoleCommand, RoleRunListCommand, RolesPlace,
};
pub(crate) use policy::{
    BuildArguments, DevArguments, ExportArguments, InstallArguments, ListPoliciesArguments, LockDiffArguments,
    NewArguments, PolicyCommand, ShowPolicyArguments, TestArguments, TestServerArguments, UpdateArguments,
};
pub(crate) use repository::{
    AddTeamArguments, CleanArguments, InitArguments, KeysCommand, PromoteArguments, PushArchiveArguments,
    PushArguments, RefreshArguments, RepositoryCommand, RepositoryPlace, RotateArguments, SignArguments,
    VerifyArguments,
};
pub(crate) use resources::ResourcesArguments;
pub(crate) use run::{DiffArguments, ListArguments, RunCommand, ShowRunArguments};
pub(crate) use search::SearchArguments;
pub(crate) use shell::{CompletionsArguments, ManArguments, ShipRuntimeArguments};

/// The last paragraph of the help.
const AFTER_HELP: &str = "Each setting is also a variable (WRUN_STATE_DIR for --state-dir); an unknown WRUN_ variable is an \
                          error.\n`wrun config show` lists all settings, their variables and where each value comes from.";

/// Run many teams' cookbooks on one node, each sandboxed with the rights the operator grants
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Arguments {
    /// Reads the command line.
    ///
    /// # Errors
    /// It is not a valid command line, or asks for help.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        let words: Vec<_> = std::env::args_os().collect();
        Self::read_converge(&words).map_or_else(|| Self::read_any(&words), Ok)
    }

    /// Reads the command line of any command.
    fn read_any(words: &[OsString]) -> Result<Self, clap::Error> {
        let mut command = Self::description();
        let matches = command.try_get_matches_from_mut(words).map_err(with_tip)?;
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }

    /// Reads a valid command line of `wrun converge`. Returns `None` for all others, and if help or an error must be printed.
    ///
    /// Each run of a node begins with this command. Building the description of all commands would take an eighth of a small
    /// run's time.
    fn read_converge(words: &[OsString]) -> Option<Self> {
        const NAME: &str = "converge";
        let is_converge = words.get(1).is_some_and(|word| word == NAME);
        let description = || ConvergeArguments::augment_args(clap::Command::new(NAME));
        let alone = is_converge.then(|| clap::Command::new("wrun").subcommand(description()))?;
        let matches = alone.try_get_matches_from(words).ok()?;
        Self::from_arg_matches(&matches).ok()
    }

    /// Checks the words of a command line without carrying it out.
    ///
    /// # Errors
    /// They are not a command line of this program.
    pub(crate) fn check(words: &[OsString]) -> Result<(), clap::Error> {
        let name: OsString = "wrun".into();
        Self::description().try_get_matches_from(std::iter::once(&name).chain(words)).map(drop)
    }

    /// Returns the command line's description. Its help names the variables of settings.
    pub(crate) fn description() -> clap::Command {
        with_variables(Self::without_idle_options())
    }

    /// Returns the description. Options that a command accepts but does not use are hidden from the help.
    fn without_idle_options() -> clap::Command {
        let hide = |names: &'static [&'static str]| {
            move |command: clap::Command| {
                names.iter().fold(command, |command, name| command.mut_arg(name, |argument| argument.hide(true)))
            }
        };
        Self::command()
            .mut_subcommand("grants", |grants| grants.mut_subcommand("suggest", hide(&grants::IDLE_IN_SUGGESTIONS)))
            .mut_subcommand("node", |node| {
                node.mut_subcommand("show", hide(&["root"])).mut_subcommand("explain", hide(&["root"]))
            })
    }
}

/// Options of chef-client that wrun does not have, and their replacements.
const CHEFS_OPTIONS: [(&[&str], &str); 7] = [
    (&["-z", "--local-mode"], "wrun always runs locally; name the cookbooks with `--cookbooks DIR`"),
    (&["-S", "--server", "--server-url"], "wrun does not talk to a Chef Infra Server; see docs/from-chef.md"),
    (
        &["-d", "--daemonize", "-i", "--interval", "-s", "--splay"],
        "`wrun agent` runs again and again; `interval` and `splay` are settings",
    ),
    (&["-f", "--fork", "--no-fork"], "each policy always runs in a sandbox of its own; leave it out"),
    (&["--once"], "wrun always runs once; leave it out"),
    (&["--chef-license"], "wrun does not ask for Chef's licence; leave it out"),
    (&["--recipe-url"], "unpack the archive, and name the cookbooks with `--cookbooks DIR`"),
];

/// Commands of Chef, and what does their work.
const CHEFS_COMMANDS: [(&str, &str); 6] = [
    ("ohai", "`wrun facts` prints the facts of this machine"),
    ("chef-client", "`wrun converge` runs policies; see docs/chef-commands.md"),
    ("chef-solo", "`wrun converge --cookbooks DIR` runs cookbooks from a folder; see docs/chef-commands.md"),
    ("chef-apply", "put the recipe into a cookbook, then `wrun converge --cookbooks DIR`"),
    ("knife", "docs/chef-commands.md has the command for each of knife's"),
    ("cookstyle", "`wrun cookbook check` finds what would not work"),
];

/// Commands without positional arguments, and the option that the user probably meant. The first match counts.
const WITHOUT_WORDS: [(&str, &str); 5] = [
    ("wrun facts ", "all facts are printed at once; `wrun facts | jq .NAME` takes one of them"),
    ("wrun grants allow ", "a run is named with `--from-run ID`, the newest one with `--last`"),
    ("wrun converge ", "policies are named with `--policy-name NAME,..`"),
    ("wrun grants ", "a file of grants is named with `--grants FILE`"),
    ("wrun agent ", "options and policies of its runs are settings, or come after `--`"),
];

/// Options that a command does not have, and what does their work.
const ELSEWHERE: [(&str, &str, &str); 4] = [
    ("wrun policy new ", "--from", "`wrun policy import DIR` makes policies of a Chef repository"),
    ("wrun policy new ", "--language", "a policy is in Rust, or with `--ruby` in Ruby"),
    ("wrun policy new ", "--rust", "a policy is in Rust without any option; `--ruby` makes one in Ruby"),
    ("wrun policy test ", "--bless", "`--update` writes the snapshots anew"),
];

/// Improves the tips of an error, and leaves out what does not help beside a tip: the usage, and the advice to pass an unknown
/// option as a value.
fn with_tip(error: clap::Error) -> clap::Error {
    let mut error = with_own_tip(error);
    if error.kind() == ErrorKind::UnknownArgument
        && let Some(ContextValue::StyledStrs(tips)) = error.get(ContextKind::Suggested)
    {
        let tips: Vec<_> = tips.iter().filter(|tip| !tip.to_string().starts_with("to pass ")).cloned().collect();
        error.remove(ContextKind::Suggested);
        if !tips.is_empty() {
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
        }
    }
    let tips = [
        ContextKind::Suggested,
        ContextKind::SuggestedArg,
        ContextKind::SuggestedCommand,
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedValue,
    ];
    if tips.into_iter().any(|kind| error.get(kind).is_some()) {
        error.remove(ContextKind::Usage);
    }
    error
}

/// Adds a tip to the error about an unknown command or argument: a command of Chef, an option that only chef-client or another command has, or a name without
/// its option.
fn with_own_tip(mut error: clap::Error) -> clap::Error {
    if let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidSubcommand) {
        if let Some((_, tip)) = CHEFS_COMMANDS.iter().find(|(name, _)| name == given) {
            error.remove(ContextKind::SuggestedSubcommand);
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![(*tip).into()]));
        }
        return error;
    }
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else { return error };
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    let of_chef = CHEFS_OPTIONS.iter().find(|(options, _)| options.contains(&given.as_str()));
    let of_word = WITHOUT_WORDS.iter().find(|(command, _)| !given.starts_with('-') && usage.contains(command));
    let elsewhere = ELSEWHERE.iter().find(|(command, option, _)| given == option && usage.contains(command));
    let tips = [of_chef.map(|(_, tip)| *tip), elsewhere.map(|(.., tip)| *tip), of_word.map(|(_, tip)| *tip)];
    if let Some(tip) = tips.into_iter().flatten().next() {
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// Adds the environment variable of each setting's option to the help of a command and its subcommands.
fn with_variables(command: clap::Command) -> clap::Command {
    // An option with its own default is not a setting, even if it has the name of one.
    let has_settings = command.get_arguments().any(|argument| argument.get_id() == "config");
    let command = command.mut_args(|argument| {
        let name = argument.get_id().as_str();
        let variable = match name {
            "config" => Some(FILE_VARIABLE),
            _ if has_settings && argument.get_default_values().is_empty() => {
                KEYS.iter().find(|(key, _)| *key == name).map(|(_, variable)| *variable)
            }
            _ => None,
        };
        // Each command runs this code at its start, so only changed arguments are rebuilt.
        match variable.and_then(|variable| Some((variable, argument.get_help()?.to_string()))) {
            Some((variable, help)) => argument.help(format!("{help} [env: {variable}]")),
            None => argument,
        }
    });
    command.mut_subcommands(with_variables)
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run policies, or cookbooks from folders, on this node
    #[command(after_help = "Examples:\n  \
        wrun converge --why-run                        Show what would be changed\n  \
        wrun converge --policy-name core,web           Run these policies\n  \
        wrun converge --cookbooks DIR --run-list site  Run cookbooks from a folder")]
    Converge(Box<ConvergeArguments>),
    /// Converge again and again, one run at a time; ask the agent what it does, pause it
    Agent(AgentArguments),
    /// Show and change saved nodes; tell who set their attributes
    #[command(
        subcommand,
        after_help = "Examples:\n  \
        wrun node show ntp.servers           Print one attribute\n  \
        wrun node explain ntp.servers        Tell who set it, who lost, and where\n  \
        wrun node policy set web@prod        Assign a policy to the node"
    )]
    Node(NodeCommand),
    /// Show and change a node's layers: environment files, of which the last one wins
    #[command(subcommand)]
    Layer(LayerCommand),
    /// Search nodes, roles, environments and data bags
    Search(SearchArguments),
    /// Show and change roles
    #[command(subcommand)]
    Role(RoleCommand),
    /// Show and change environments
    #[command(subcommand)]
    Environment(ChefEnvironmentCommand),
    /// Show and change data bags and their items
    #[command(subcommand)]
    DataBag(DataBagCommand),
    /// List, show and compare earlier runs
    #[command(
        subcommand,
        after_help = "Examples:\n  \
        wrun run list                        List the runs, dry ones too\n  \
        wrun run show                        Show what the last one did\n  \
        wrun run diff                        Compare the last two"
    )]
    Run(RunCommand),
    /// Show the settings and where each comes from
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Put wrun on a machine over ssh, and make its first run
    Bootstrap(Box<BootstrapArguments>),
    /// Take over settings of Chef
    #[command(subcommand)]
    Settings(SettingsCommand),
    /// Print the facts of this machine as JSON
    Facts(FactsArguments),
    /// Print the reference of the built-in resource types
    Resources(ResourcesArguments),
    /// Check cookbooks before they are run
    #[command(subcommand)]
    Cookbook(CookbookCommand),
    /// Start, build and show policies
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Start and keep a repository of signed releases
    #[command(subcommand)]
    Repository(RepositoryCommand),
    /// Make and show the keys that sign releases
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Print a shell's completions for this program
    Completions(CompletionsArguments),
    /// Print the manual page, or write the pages of all commands into a directory
    Man(ManArguments),
    /// Compile the Ruby runtime of a directory for all x86-64-v2 processors, to be packaged with it
    #[command(hide = true)]
    ShipRuntime(ShipRuntimeArguments),
    /// Write and check the grants: what each policy may do
    #[command(
        subcommand,
        after_help = "Examples:\n  \
        wrun grants suggest --policy-name web    Print all that a policy needs\n  \
        wrun grants allow --last                 Add what the last run was denied\n  \
        wrun grants check                        Find rules that nobody uses"
    )]
    Grants(GrantsCommand),
}

/// Where settings come from, for all commands that need any
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// File of settings [default: /etc/wrun/wrun.toml]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The node's name [default: its fully qualified domain name]
    #[arg(short = 'N', long, value_name = "NAME")]
    pub(crate) node_name: Option<NodeName>,
    /// The root of the machine to manage [default: /]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// State directory: saved node, run records, lock [default: /var/lib/wrun]
    #[arg(long, value_name = "DIR")]
    pub(crate) state_dir: Option<PathBuf>,
}

impl Common {
    /// Returns the given options as a layer of settings.
    pub(crate) fn layer(&self) -> Layer {
        Layer {
            node_name: self.node_name.clone(),
            root: self.root.clone(),
            state_dir: self.state_dir.clone(),
            ..Layer::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn help(of: &[&str]) -> String {
        let words = ["wrun"].iter().chain(of).chain(&["--help"]);
        Arguments::description().try_get_matches_from(words).unwrap_err().to_string()
    }

    #[test]
    fn converge_is_read_alone_as_with_all_commands() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let lines = [
            "wrun converge",
            "wrun converge --why-run --policy-name core,web --format json --root /r",
            "wrun converge -c /etc/x.toml --grants g.toml -j a.json --keep-going --lock-timeout 3",
            "wrun converge --cookbooks a --cookbooks b --run-list recipe[a],b",
        ];
        for line in lines {
            let words = words(line);
            let alone = Arguments::read_converge(&words).map(|read| format!("{read:?}"));
            assert_eq!(alone, Some(format!("{:?}", Arguments::read_any(&words).unwrap())), "{line}");
        }
        for line in
            ["wrun", "wrun agent", "wrun converge --help", "wrun converge --nosuch", "wrun converge x", "wrun run list"]
        {
            assert!(Arguments::read_converge(&words(line)).is_none(), "{line}");
        }
    }

    #[test]
    fn help_offers_what_a_command_uses() {
        let suggest = help(&["grants", "suggest"]);
        for option in ["--format", "--keep-going", "--why-run", "--lock-timeout"] {
            assert!(!suggest.contains(&format!("{option} ")) && !suggest.contains(&format!("{option}\n")), "{suggest}");
            assert!(help(&["converge"]).contains(option), "{option}");
        }
        for option in ["--policy-name", "--cookbooks", "--grants", "--allow-all"] {
            assert!(suggest.contains(option), "{suggest}");
        }
        assert!(!help(&["node", "show"]).contains("--root") && help(&["node", "show"]).contains("--state-dir"));
    }

    #[test]
    fn what_people_type_most_has_examples_of_one_row_each() {
        for command in ["converge", "node", "run", "grants"] {
            let help = help(&[command]);
            let (_, examples) = help.split_once("\nExamples:\n").unwrap();
            let rows: Vec<_> = examples.lines().collect();
            assert!(rows.len() == 3 && rows.iter().all(|row| row.len() <= 80), "{help}");
            assert!(rows.iter().all(|row| row.starts_with(&format!("  wrun {command} "))), "{help}");
        }
    }

    #[test]
    fn options_of_chef_client_have_a_tip() {
        let said = |option: &str| {
            let error = Arguments::description().try_get_matches_from(["wrun", "converge", option]).unwrap_err();
            with_tip(error).to_string()
        };
        let local = said("-z");
        assert!(
            local.contains("unexpected argument '-z'") && local.contains("tip: wrun always runs locally"),
            "{local}"
        );
        assert!(said("--once").contains("tip: wrun always runs once"), "{}", said("--once"));
        assert!(said("--server-url").contains("tip: wrun does not talk to a Chef"), "{}", said("--server-url"));
        assert!(said("--fork").contains("tip: each policy always runs in a sandbox"), "{}", said("--fork"));
        assert!(said("--why-rum").contains("--why-run"), "other near names stay");
    }

    #[test]
    fn options_under_another_name_have_a_tip() {
        for (words, tip) in [
            (["policy", "new", "--language"], "tip: a policy is in Rust, or with `--ruby` in Ruby"),
            (["policy", "new", "--rust"], "`--ruby` makes one in Ruby"),
            (["policy", "test", "--bless"], "tip: `--update` writes the snapshots anew"),
        ] {
            let words = std::iter::once("wrun").chain(words);
            let said = with_tip(Arguments::description().try_get_matches_from(words).unwrap_err()).to_string();
            assert!(said.contains(tip), "{said}");
        }
    }

    #[test]
    fn the_description_is_sound() {
        Arguments::description().debug_assert();
    }

    #[test]
    fn help_names_the_variables_of_settings() {
        // Lines are wrapped anywhere.
        let help = |of: &[&str]| help(of).split_whitespace().collect::<Vec<_>>().join(" ");
        let converge = help(&["converge"]);
        for variable in ["WRUN_CONFIG", "WRUN_STATE_DIR", "WRUN_FORMAT", "WRUN_LOCK_TIMEOUT", "WRUN_POLICY_NAME"] {
            assert!(converge.contains(&format!("[env: {variable}]")), "{variable}: {converge}");
        }
        let explain = help(&["node", "explain"]);
        assert!(explain.contains("[env: WRUN_STATE_DIR]") && !explain.contains("WRUN_FORMAT"), "{explain}");
        assert!(!help(&["policy", "build"]).contains("[env: "), "it takes no settings");
    }
}
