//! The arguments of `wrun converge`.

use super::Common;
use crate::settings::{Age, Color, Format, Layer, Level, LogLocation, PolicyNames, Seconds, Settings};
use assemble::{FolderRequest, GrantsSource, Mode, OwnFiles, Request};
use clap::Args;
use contract::LogLevel;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(crate) struct ConvergeArguments {
    #[command(flatten)]
    pub(crate) common: Common,
    /// The policies to run, in order, separated by commas; NAME@GROUP takes the revision of another group
    #[arg(long, value_name = "NAME,..")]
    pub(crate) policy_name: Option<PolicyNames>,
    /// Repository of signed releases, a directory or an address; only what a policy's team has signed runs
    #[arg(long, value_name = "DIR|URL", conflicts_with = "policies")]
    pub(crate) repository: Option<String>,
    /// Run a revision that this node has instead of the newest one
    #[arg(long, value_name = "POLICY=ID", value_parser = of_policy)]
    pub(crate) revision: Vec<String>,
    /// Directory of the policies' artifacts, NAME.wasm each, which nobody has signed [default: /etc/wrun/policies]
    #[arg(long, value_name = "DIR")]
    pub(crate) policies: Option<PathBuf>,
    /// The policy group of this node
    #[arg(long, value_name = "NAME")]
    pub(crate) policy_group: Option<String>,
    /// Dry run: change nothing and show what would change
    #[arg(short = 'W', long)]
    pub(crate) why_run: bool,
    /// In a dry run, exit with 4 if something would change or may change
    #[arg(long, requires = "why_run")]
    pub(crate) detailed_exitcode: bool,
    /// Merge attributes from this JSON file into the node's `normal` level; the file may also have a `run_list`
    #[arg(short, long, value_name = "FILE")]
    pub(crate) json_attributes: Option<PathBuf>,
    /// Make this environment file (JSON, Ruby, TOML, YAML) a layer of the node, or replace the layer of its name; the node keeps it
    #[arg(long, value_name = "FILE")]
    pub(crate) environment_file: Vec<PathBuf>,
    /// The same for each file that this list names, one per line, in order
    #[arg(long, value_name = "LIST")]
    pub(crate) environment_files: Vec<PathBuf>,
    /// Set an override attribute above all layers, for this run only; VALUE is JSON or text
    #[arg(long, value_name = "a.b=VALUE")]
    pub(crate) parameter: Vec<String>,
    /// Run these items instead of the run list, for this run only; the node is not saved
    #[arg(short, long, value_name = "[POLICY=]ITEM,..")]
    pub(crate) override_runlist: Vec<String>,
    /// Run one of the policy's named run lists
    #[arg(short, long, value_name = "[POLICY=]NAME")]
    pub(crate) named_run_list: Vec<String>,
    /// File of grants: what each policy may do [default: /etc/wrun/grants.toml]
    #[arg(long, value_name = "FILE", conflicts_with = "allow_all")]
    pub(crate) grants: Option<PathBuf>,
    /// Directory of data bags, as BAG/ITEM.json; a policy reads only those that it is granted
    #[arg(long, value_name = "DIR")]
    pub(crate) data_bags: Option<PathBuf>,
    /// The secret for encrypted data bag items
    #[arg(long, value_name = "FILE")]
    pub(crate) encrypted_data_bag_secret: Option<PathBuf>,
    /// Grant everything to every policy; for trying on your own machine
    #[arg(long)]
    pub(crate) allow_all: bool,
    /// Go on with the next policy after one failed; the exit code stays that of a failure
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// Output format: doc, minimal, json, or ndjson (events as they happen, one per line) [default: doc]
    #[arg(short = 'F', long, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
    /// Minimum log level: trace, debug, info, warn, error or fatal [default: warn]; debug shows whole backtraces
    #[arg(short, long, value_name = "LEVEL")]
    pub(crate) log_level: Option<Level>,
    /// Log destination: stderr, journald or a file [default: stderr]
    #[arg(short = 'L', long, value_name = "PLACE")]
    pub(crate) log_location: Option<LogLocation>,
    /// Colours: auto, always or never [default: auto]
    #[arg(long, value_name = "WHEN")]
    pub(crate) color: Option<Color>,
    /// How long to wait for another run to end: seconds, or a time such as `5m` [default: 300]
    #[arg(long, value_name = "TIME")]
    pub(crate) lock_timeout: Option<Seconds>,
    /// Take the machine's facts from this file: the output of `ohai`, or a saved node
    #[arg(long, value_name = "FILE")]
    pub(crate) facts: Option<PathBuf>,
    /// Compile the recipes, print the resource collection as JSON and stop; changes nothing
    #[arg(long)]
    pub(crate) compile_only: bool,
    /// Make no run if a good one that is younger than this did the same: nothing that it was given, and no fact that it read, has
    /// changed
    #[arg(long = "skip-unchanged", value_name = "TIME", conflicts_with_all = ["why_run", "compile_only", "facts", "cookbooks"])]
    pub(crate) unchanged_for: Option<Age>,
    /// Make no run while the agent is paused
    #[arg(long)]
    pub(crate) unless_paused: bool,
    /// Tell the agent, which started this run, how it went.
    #[arg(long, hide = true)]
    pub(crate) by_agent: bool,
    #[command(flatten)]
    pub(crate) folders: FolderArguments,
    /// Print what the plan asked for instead of the plan: `wrun grants suggest`.
    #[arg(skip)]
    pub(crate) suggest_grants: Option<Suggesting>,
}

/// How a run handles its suggestion of grants.
#[derive(Debug, Clone, Default)]
pub(crate) struct Suggesting {
    /// Dangerous entries are written like others.
    pub(crate) dangerous: bool,
    /// The file that the entries are added to. `None`: they are printed.
    pub(crate) write: Option<PathBuf>,
    /// The suggestion includes entries for sensitive resources.
    pub(crate) sensitive: bool,
    /// The entries are written without a question.
    pub(crate) yes: bool,
}

/// Run cookbooks from the folders of a Chef repository, without a policy
#[derive(Debug, Args)]
#[command(next_help_heading = "Cookbooks in folders")]
// Each argument needs this attribute: clap does not require `cookbooks` if a conflicting argument is given.
#[group(conflicts_with_all = ["policy_name", "named_run_list"])]
pub(crate) struct FolderArguments {
    /// Run the cookbooks in these directories instead of policies; if two have one name, the one in the last directory is used
    #[arg(long, value_name = "DIR,..", value_delimiter = ',')]
    pub(crate) cookbooks: Vec<PathBuf>,
    /// Run list, such as `recipe[a],role[b]`; the node keeps it [default: the attributes file's, else the node's]
    #[arg(short, long, value_name = "ITEM,..", requires = "cookbooks")]
    pub(crate) run_list: Vec<String>,
    /// The node's environment [default: _default]
    #[arg(short = 'E', long, value_name = "NAME", requires = "cookbooks")]
    pub(crate) environment: Option<String>,
    /// Directory of roles, as NAME.json or NAME.rb
    #[arg(long, value_name = "DIR", requires = "cookbooks")]
    pub(crate) roles: Option<PathBuf>,
    /// Directory of environments, as NAME.json or NAME.rb
    #[arg(long, value_name = "DIR", requires = "cookbooks")]
    pub(crate) environments: Option<PathBuf>,
    /// Look for missing dependencies in the other cookbooks' folders; warn instead of failing if they are not there either
    #[arg(long, requires = "cookbooks")]
    pub(crate) lenient: bool,
    /// Directory of other nodes for searches, as NAME.json
    #[arg(long, value_name = "DIR", requires = "cookbooks")]
    pub(crate) nodes: Option<PathBuf>,
    /// Directory of the gems that cookbooks name in their metadata, as NAME-VERSION.gem or unpacked
    #[arg(long, value_name = "DIR", requires = "cookbooks")]
    pub(crate) gems: Option<PathBuf>,
    /// Gems that cookbooks name in their metadata but that this run does not load
    #[arg(long, value_name = "NAME,..", value_delimiter = ',', requires = "gems")]
    pub(crate) without_gems: Vec<String>,
}

impl ConvergeArguments {
    /// Returns the request for the run. `settings` already include these arguments.
    pub(crate) fn request(&self, settings: &Settings) -> Request {
        let grants = match (self.allow_all, &self.grants) {
            (true, _) => GrantsSource::Everything,
            // A suggestion may make the file.
            (false, Some(named)) if !self.suggests_into(named) => GrantsSource::NamedFile,
            (false, _) => GrantsSource::UsualFile,
        };
        let config = self.common.config.clone().unwrap_or_else(crate::commands::settings_file);
        let log = match &settings.log_location {
            LogLocation::File(path) => Some(path.clone()),
            LogLocation::Stderr | LogLocation::Journald => None,
        };
        let reports = settings.reports.iter().flat_map(|report| report.own_files().cloned());
        let client_key = settings.chef_server.iter().filter_map(|server| server.key.clone());
        Request {
            policies: settings.policy_names.clone(),
            groups: settings.policy_groups.clone(),
            revisions: self.revision.iter().filter_map(|one| one.split_once('=')).map(owned).collect(),
            folders: self.folders.request(settings),
            json_attributes: self.json_attributes.clone(),
            environment_files: self.environment_file.clone(),
            environment_lists: self.environment_files.clone(),
            parameters: self.parameter.clone(),
            override_run_lists: self.override_runlist.clone(),
            named_run_lists: self.named_run_list.clone(),
            facts: self.facts.clone(),
            grants,
            mode: self.mode(),
            skip_unchanged: self.unchanged_for.map(Age::duration).filter(|_| self.mode() == Mode::Real),
            stand_in: None,
            all_frames: settings.log_level.threshold() <= LogLevel::Debug,
            own_files: OwnFiles {
                data: log.into_iter().chain([config]).chain(reports).chain(client_key).collect(),
                commands: settings.handlers.iter().map(|handler| handler.command.clone()).collect(),
            },
        }
    }

    /// Tells whether the run adds its suggestion to this file.
    fn suggests_into(&self, file: &Path) -> bool {
        self.suggest_grants.as_ref().is_some_and(|suggesting| suggesting.write.as_deref() == Some(file))
    }

    /// Tells whether the run must not change anything.
    pub(crate) fn is_dry(&self) -> bool {
        self.mode().is_dry()
    }

    fn mode(&self) -> Mode {
        match (self.suggest_grants.is_some(), self.compile_only, self.why_run) {
            (true, _, _) => Mode::Survey,
            (false, true, why_run) => Mode::CompileOnly { why_run },
            (false, false, true) => Mode::WhyRun,
            (false, false, false) => Mode::Real,
        }
    }

    /// Returns the given options as a layer of settings.
    pub(crate) fn layer(&self) -> Layer {
        Layer {
            policy_name: self.policy_name.clone(),
            policies: self.policies.clone(),
            repository: self.repository.clone(),
            policy_group: self.policy_group.clone(),
            grants: self.grants.clone(),
            data_bags: self.data_bags.clone(),
            roles: self.folders.roles.clone(),
            environments: self.folders.environments.clone(),
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

/// Returns both parts of a typed pair as owned strings.
fn owned((name, value): (&str, &str)) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

/// Checks that a revision option names its policy.
fn of_policy(text: &str) -> Result<String, String> {
    match text.split_once('=') {
        Some((policy, id)) if !policy.is_empty() && !id.is_empty() => Ok(text.to_owned()),
        _ => Err("name the policy and the beginning of the revision: POLICY=ID".to_owned()),
    }
}

impl FolderArguments {
    /// Returns the request for cookbooks in folders, if the options name any.
    fn request(&self, settings: &Settings) -> Option<FolderRequest> {
        (!self.cookbooks.is_empty()).then(|| FolderRequest {
            cookbooks: self.cookbooks.clone(),
            run_list: self.run_list.clone(),
            environment: self.environment.clone(),
            roles: settings.run.roles.clone(),
            environments: settings.run.environments.clone(),
            lenient: self.lenient,
            nodes: self.nodes.clone(),
            gems: self.gems.clone(),
            without_gems: self.without_gems.clone(),
        })
    }
}
