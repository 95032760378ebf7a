//! The operator's settings. Command-line options override `WRUN_*` variables, which override the file.
//!
//! Each source is read into a [`Layer`], in which all keys are optional. The layers are merged, and missing keys get their
//! defaults. This module does not read the command line, the environment, or a clock; they are arguments, so that tests can
//! set them.
//!
//! All keys are in one list, [`KEYS`], with their variables. `docs/wrun.toml` explains them, and a test compares the two.

mod reports;
mod shown;
mod times;
mod values;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use agent::Rhythm;
use assemble::{Destination, RepositorySettings};
use node::saved_filter::{LevelFilter, SavedFilters};
use serde::{Deserialize, Serialize};
use text::{nearest, toml_fault};

pub(crate) use reports::Reports;
pub(crate) use shown::{Setting, Sources};
pub(crate) use times::{Age, TimeLimit};
pub(crate) use values::{
    AttributePaths, Color, Format, GroupLayers, Handler, HandlerMoment, Handlers, Level, LogLocation, NodeName, Number,
    PolicyNames, View,
};

/// The path of the settings file, unless `--config` or `WRUN_CONFIG` names another.
pub(crate) const DEFAULT_FILE: &str = "/etc/wrun/wrun.toml";

/// The variable that names the file.
pub(crate) const FILE_VARIABLE: &str = "WRUN_CONFIG";

/// The variable that names a file with the passphrase of keys.
pub(crate) const PASSPHRASE_VARIABLE: &str = "WRUN_KEY_PASSPHRASE_FILE";

/// `WRUN_*` variables that are not settings: the settings file, the compiler and the SDK of `wrun policy`, and the passphrase
/// of keys.
const OTHER_VARIABLES: [&str; 4] = [FILE_VARIABLE, "WRUN_GUEST_COMPILER", PASSPHRASE_VARIABLE, "WRUN_SDK_PATH"];

/// Variables for the project's own tests and development tasks. The program ignores them, so that developers can set them
/// permanently.
const VARIABLES_OF_CHORES: [&str; 4] = ["WRUN_CORPUS", "WRUN_FIXTURES", "WRUN_PROGRAM", "WRUN_VECTORS"];

/// Largest size of the settings file, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// Default time for which a remote repository is not asked again.
const REPOSITORY_REFRESH: Duration = Duration::from_secs(300);

/// Default time between the end of an agent's run and the next run.
const INTERVAL: Duration = Duration::from_secs(30 * 60);

/// Default maximum of the random time that is added to the interval.
const SPLAY: Duration = Duration::from_secs(5 * 60);

/// A time of up to a day.
pub(crate) type Seconds = TimeLimit<0, 86_400>;

/// A time of at least a second, up to a day.
pub(crate) type SomeSeconds = TimeLimit<1, 86_400>;

/// A number of mebibytes, up to 64 GiB.
pub(crate) type Mebibytes = Number<1, 65_536>;

/// A number of mebibytes of a disk, possibly none.
pub(crate) type FreeMebibytes = Number<0, 1_000_000_000>;

/// The number of kept items, such as backups.
pub(crate) type Count = Number<0, 1_000_000>;

/// The reasons why settings are invalid. They occur before any change.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SettingsError {
    /// The file that was named cannot be read.
    #[error("cannot read the settings {}", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is larger than any settings file.
    #[error("the settings {} are longer than {MAX_FILE} bytes", path.display())]
    TooLarge {
        /// The path of the file.
        path: PathBuf,
    },
    /// The file contains an error.
    #[error("{}:{line}: {what}", path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        what: String,
    },
    /// A `WRUN_*` variable is not valid UTF-8.
    #[error("the variable {variable} is not UTF-8: {}", value.display())]
    NotUtf8 {
        /// The name of the variable.
        variable: String,
        /// The value that it has.
        value: OsString,
    },
    /// A `WRUN_*` variable has an unknown name.
    #[error("there is no variable {variable}{}", hint(*near))]
    UnknownVariable {
        /// The variable's name, such as `WRUN_ROOT`.
        variable: String,
        /// A similar known name, if there is one.
        near: Option<&'static str>,
    },
    /// A variable has an invalid value.
    #[error("the variable {variable} is {shown}: {what}")]
    Variable {
        /// The name of the variable.
        variable: &'static str,
        /// Its value, quoted, unless it may hold a secret.
        shown: String,
        /// What is wrong with it.
        what: String,
    },
}

fn hint(near: Option<&str>) -> String {
    near.map(|near| format!("; did you mean {near}?")).unwrap_or_default()
}

macro_rules! keys {
    ($($(#[doc = $doc:literal])+ $key:ident: $type:ty, $variable:literal;)+) => {
        /// The settings of one source. Keys that it does not set are `None`.
        #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub(crate) struct Layer {
            $($(#[doc = $doc])+ pub(crate) $key: Option<$type>,)+
        }

        /// All keys with their variables, in display order.
        pub(crate) const KEYS: &[(&str, &str)] = &[$((stringify!($key), $variable)),+];

        impl Layer {
            /// Reads the settings from environment variables. Empty variables are ignored.
            ///
            /// # Errors
            /// A variable that is set to something that its key cannot be.
            pub(crate) fn from_environment(environment: &BTreeMap<String, String>) -> Result<Self, SettingsError> {
                Ok(Self { $($key: from_variable(environment, $variable)?),+ })
            }

            /// Returns whether this layer sets a key.
            fn has(&self, key: &str) -> bool {
                match key {
                    $(stringify!($key) => self.$key.is_some(),)+
                    _ => false,
                }
            }

            /// Merges this layer with another. Values of this layer have precedence.
            #[must_use]
            pub(crate) fn over(self, other: Self) -> Self {
                Self { $($key: self.$key.or(other.$key)),+ }
            }
        }
    };
}

keys! {
    /// The policies to run, in order.
    policy_name: PolicyNames, "WRUN_POLICY_NAME";
    /// The directory that has the artifacts.
    policies: PathBuf, "WRUN_POLICIES";
    /// The repository of signed releases. It replaces the directory of artifacts.
    repository: String, "WRUN_REPOSITORY";
    /// The trusted root of the repository's platform.
    repository_root: PathBuf, "WRUN_REPOSITORY_ROOT";
    /// Maximum time since the last verification of a revision.
    stale_after: Age, "WRUN_STALE_AFTER";
    /// Seconds for which a remote repository is not asked again.
    repository_refresh: Seconds, "WRUN_REPOSITORY_REFRESH";
    /// The policy group of this node.
    policy_group: String, "WRUN_POLICY_GROUP";
    /// The name of the node.
    node_name: NodeName, "WRUN_NODE_NAME";
    /// The Chef server that Policyfiles may name.
    chef_server: String, "WRUN_CHEF_SERVER";
    /// The name of the client for requests to the Chef server.
    chef_client_name: NodeName, "WRUN_CHEF_CLIENT_NAME";
    /// The file that has the client's key.
    chef_client_key: PathBuf, "WRUN_CHEF_CLIENT_KEY";
    /// The root of the machine to manage.
    root: PathBuf, "WRUN_ROOT";
    /// The state directory (nodes, run records, lock).
    state_dir: PathBuf, "WRUN_STATE_DIR";
    /// The cache directory. Its content can be deleted at any time.
    cache_dir: PathBuf, "WRUN_CACHE_DIR";
    /// The file that has the operator's grants.
    grants: PathBuf, "WRUN_GRANTS";
    /// The directory that has the data bags.
    data_bags: PathBuf, "WRUN_DATA_BAGS";
    /// The directory that has the roles.
    roles: PathBuf, "WRUN_ROLES";
    /// The directory that has the environments.
    environments: PathBuf, "WRUN_ENVIRONMENTS";
    /// The secret for encrypted data bag items.
    encrypted_data_bag_secret: PathBuf, "WRUN_ENCRYPTED_DATA_BAG_SECRET";
    /// How a run is shown.
    format: Format, "WRUN_FORMAT";
    /// Minimum level of logged messages.
    log_level: Level, "WRUN_LOG_LEVEL";
    /// The destination of the log.
    log_location: LogLocation, "WRUN_LOG_LOCATION";
    /// Whether output has colours.
    color: Color, "WRUN_COLOR";
    /// Whether policies run after one that failed.
    keep_going: bool, "WRUN_KEEP_GOING";
    /// Seconds to wait for another run to end.
    lock_timeout: Seconds, "WRUN_LOCK_TIMEOUT";
    /// Seconds to wait for a held lock of the package tools.
    package_lock_timeout: Seconds, "WRUN_PACKAGE_LOCK_TIMEOUT";
    /// Seconds of processor time for each policy's own code.
    guest_seconds: SomeSeconds, "WRUN_GUEST_SECONDS";
    /// Memory for each policy's own code.
    guest_memory_mib: Mebibytes, "WRUN_GUEST_MEMORY_MIB";
    /// Seconds of processor time for compiling a policy's component.
    compile_seconds: SomeSeconds, "WRUN_COMPILE_SECONDS";
    /// Memory for compiling a policy's component.
    compile_mib: Mebibytes, "WRUN_COMPILE_MIB";
    /// The directory for backups of replaced files.
    backup_dir: PathBuf, "WRUN_BACKUP_DIR";
    /// How many backups of a file are kept.
    backups: Count, "WRUN_BACKUPS";
    /// The directory of language runtimes.
    runtime_dir: PathBuf, "WRUN_RUNTIME_DIR";
    /// The library of a developer's Ruby runtime.
    ruby_library: PathBuf, "WRUN_RUBY_LIBRARY";
    /// The largest download, in mebibytes.
    download_mib: Mebibytes, "WRUN_DOWNLOAD_MIB";
    /// Seconds that a download may take.
    download_seconds: SomeSeconds, "WRUN_DOWNLOAD_SECONDS";
    /// How many run records are kept.
    runs_kept: Count, "WRUN_RUNS_KEPT";
    /// Mebibytes of run records that are kept.
    runs_mib: Mebibytes, "WRUN_RUNS_MIB";
    /// Mebibytes of the state's disk that stay free.
    min_free_mib: FreeMebibytes, "WRUN_MIN_FREE_MIB";
    /// Time between the end of an agent's run and the next run.
    interval: Age<1>, "WRUN_INTERVAL";
    /// Maximum of the random time that is added to the interval.
    splay: Age, "WRUN_SPLAY";
    /// Maximum age of a good run that makes a run of the agent unnecessary.
    skip_unchanged: Age<1>, "WRUN_SKIP_UNCHANGED";
    /// The only automatic attributes that are saved.
    allowed_automatic_attributes: AttributePaths, "WRUN_ALLOWED_AUTOMATIC_ATTRIBUTES";
    /// The only default attributes that are saved.
    allowed_default_attributes: AttributePaths, "WRUN_ALLOWED_DEFAULT_ATTRIBUTES";
    /// The only normal attributes that are saved.
    allowed_normal_attributes: AttributePaths, "WRUN_ALLOWED_NORMAL_ATTRIBUTES";
    /// The only override attributes that are saved.
    allowed_override_attributes: AttributePaths, "WRUN_ALLOWED_OVERRIDE_ATTRIBUTES";
    /// Automatic attributes that are not saved.
    blocked_automatic_attributes: AttributePaths, "WRUN_BLOCKED_AUTOMATIC_ATTRIBUTES";
    /// Default attributes that are not saved.
    blocked_default_attributes: AttributePaths, "WRUN_BLOCKED_DEFAULT_ATTRIBUTES";
    /// Normal attributes that are not saved.
    blocked_normal_attributes: AttributePaths, "WRUN_BLOCKED_NORMAL_ATTRIBUTES";
    /// Override attributes that are not saved.
    blocked_override_attributes: AttributePaths, "WRUN_BLOCKED_OVERRIDE_ATTRIBUTES";
    /// Environment files for the policies of a group.
    layers: GroupLayers, "WRUN_LAYERS";
    /// Programs of the operator that are called for runs.
    handlers: Handlers, "WRUN_HANDLERS";
    /// Files and addresses that reports of runs go to.
    report: Reports, "WRUN_REPORT";
}

/// A Chef server that provides cookbooks and policies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChefServerSettings {
    /// Its address with the organization.
    pub(crate) url: String,
    /// The name of the client. `None`: the node's name is used.
    pub(crate) client: Option<String>,
    /// The file with the client's key.
    pub(crate) key: Option<PathBuf>,
}

/// The complete settings: every key has its value or default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The policies to run, in order. Empty if no source names any.
    pub(crate) policy_names: Vec<String>,
    /// The groups of policies that differ from the node's group.
    pub(crate) policy_groups: BTreeMap<String, String>,
    /// How a run is shown.
    pub(crate) format: Format,
    /// The lowest level that is logged.
    pub(crate) log_level: Level,
    /// Where the log goes.
    pub(crate) log_location: LogLocation,
    /// Whether output has colours.
    pub(crate) color: Color,
    /// Programs of the operator that are called for runs.
    pub(crate) handlers: Vec<Handler>,
    /// Files and addresses that reports of runs go to.
    pub(crate) reports: Vec<Destination>,
    /// The times between the agent's runs.
    pub(crate) rhythm: Rhythm,
    /// Maximum age of a good run that makes a run of the agent unnecessary. `None`: no run is skipped.
    pub(crate) skip_unchanged: Option<Duration>,
    /// The Chef server that Policyfiles may use.
    pub(crate) chef_server: Option<ChefServerSettings>,
    /// The settings that runs begin with.
    pub(crate) run: assemble::Settings,
}

/// Merges the sources. Options override variables, which override the file.
///
/// # Errors
/// A variable that is set to something that its key cannot be.
pub(crate) fn resolve(
    flags: Layer,
    environment: &BTreeMap<String, String>,
    file: Layer,
) -> Result<Settings, SettingsError> {
    Ok(Settings::complete(flags.over(Layer::from_environment(environment)?).over(file)))
}

/// Selects the `WRUN_*` variables from the whole environment.
///
/// # Errors
/// One of them is not UTF-8, or nobody reads a variable of that name.
pub(crate) fn own_variables(
    environment: impl Iterator<Item = (OsString, OsString)>,
) -> Result<BTreeMap<String, String>, SettingsError> {
    let named = environment.filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    let own = named.filter(|(name, _)| name.starts_with("WRUN_"));
    let known = || KEYS.iter().map(|(_, variable)| *variable).chain(OTHER_VARIABLES);
    own.map(|(variable, value)| {
        if !known().chain(VARIABLES_OF_CHORES).any(|one| one == variable) {
            let near = nearest(&variable, known());
            return Err(SettingsError::UnknownVariable { variable, near });
        }
        match value.into_string() {
            Ok(value) => Ok((variable, value)),
            Err(value) => Err(SettingsError::NotUtf8 { variable, value }),
        }
    })
    .collect()
}

/// Returns the path of the settings file, from `--config`, the variable, or the default. The flag is true if the file must
/// exist.
pub(crate) fn file_to_read(flag: Option<&Path>, environment: &BTreeMap<String, String>) -> (PathBuf, bool) {
    let named = environment.get(FILE_VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
    match flag.map(Path::to_owned).or(named) {
        Some(path) => (path, true),
        None => (PathBuf::from(DEFAULT_FILE), false),
    }
}

/// Reads the settings file. If it is optional and missing, the layer is empty.
///
/// # Errors
/// It cannot be read, has a key that does not exist, or a value that its key cannot be.
pub(crate) fn read_file(path: &Path, must_exist: bool) -> Result<Layer, SettingsError> {
    let text = read_text(path, must_exist)?;
    text.map_or_else(|| Ok(Layer::default()), |text| parse_file(path, &text))
}

/// Reads the text of the settings file. Returns `None` if it is optional and missing.
fn read_text(path: &Path, must_exist: bool) -> Result<Option<String>, SettingsError> {
    let failed = |source| SettingsError::Read { path: path.to_owned(), source: plain_files::explained(path, source) };
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !must_exist => return Ok(None),
        Err(error) => return Err(failed(error)),
        Ok(status) if status.len() > MAX_FILE => return Err(SettingsError::TooLarge { path: path.to_owned() }),
        Ok(_) => {}
    }
    std::fs::read_to_string(path).map(Some).map_err(failed)
}

/// Parses the text of the settings file. `path` is for errors.
///
/// # Errors
/// As [`read_file`].
pub(crate) fn parse_file(path: &Path, text: &str) -> Result<Layer, SettingsError> {
    let wrong = |line, what| SettingsError::File { path: path.to_owned(), line, what };
    let layer: Layer = toml::from_str(text).map_err(|error: toml::de::Error| {
        let (line, what) = toml_fault(text, error.span().map_or(0, |span| span.start), error.message());
        wrong(line, what)
    })?;
    // With a relative path, each command would look for the node in a different directory.
    if let Some(folder) = layer.state_dir.as_ref().filter(|folder| folder.is_relative()) {
        let line = shown::lines(text).get("state_dir").copied().unwrap_or(1);
        return Err(wrong(line, format!("`state_dir` is an absolute path; {} is not", folder.display())));
    }
    Ok(layer)
}

fn from_variable<T: FromStr>(
    environment: &BTreeMap<String, String>,
    variable: &'static str,
) -> Result<Option<T>, SettingsError>
where
    T::Err: std::fmt::Display,
{
    let Some(value) = environment.get(variable).filter(|value| !value.is_empty()) else { return Ok(None) };
    let wrong = |error: T::Err| {
        // The parser's error quotes the unexpected text, which may contain a secret.
        let what = Some(error.to_string()).filter(|text| !has_address(text));
        SettingsError::Variable {
            variable,
            shown: if has_address(value) { "invalid".to_owned() } else { format!("{value:?}") },
            what: what.unwrap_or_else(|| "an address stands where something else is expected".to_owned()),
        }
    };
    value.parse().map(Some).map_err(wrong)
}

/// Returns whether a text contains an address. It may contain a password, or a token after its `?`.
fn has_address(text: &str) -> bool {
    text.contains("://")
}

impl Settings {
    fn complete(layer: Layer) -> Self {
        let usual = assemble::Settings::default();
        let mebibytes = |given: Option<u64>, usual: u64| given.map_or(usual, |number| number.saturating_mul(1 << 20));
        let count = |given: Option<Count>, usual: usize| {
            given.map_or(usual, |number| usize::try_from(number.get()).unwrap_or(usize::MAX))
        };
        let level = |allowed: Option<AttributePaths>, blocked: Option<AttributePaths>| LevelFilter {
            allowed: allowed.map(AttributePaths::into_items),
            blocked: blocked.map(AttributePaths::into_items),
        };
        let state_dir = layer.state_dir.unwrap_or(usual.state_dir);
        let client = layer.chef_client_name.as_ref().or(layer.node_name.as_ref());
        let client = client.map(|name| name.as_str().to_owned());
        let key = layer.chef_client_key;
        let chef_server = layer.chef_server.map(|url| ChefServerSettings { url, client, key });
        let run = assemble::Settings {
            policies: layer.policies.unwrap_or(usual.policies),
            repository: layer.repository.map(|place| RepositorySettings {
                place,
                root: layer.repository_root,
                stale_after: layer.stale_after.map(Age::duration),
                refresh: layer.repository_refresh.map_or(REPOSITORY_REFRESH, TimeLimit::duration),
            }),
            policy_group: layer.policy_group,
            node_name: layer.node_name.map(|name| name.as_str().to_owned()),
            root: layer.root.unwrap_or(usual.root),
            cache_dir: layer.cache_dir.unwrap_or_else(|| assemble::Settings::usual_cache_dir(&state_dir)),
            backup_dir: layer.backup_dir.unwrap_or_else(|| assemble::Settings::usual_backup_dir(&state_dir)),
            grants: layer.grants.unwrap_or(usual.grants),
            data_bags: layer.data_bags,
            roles: layer.roles,
            environments: layer.environments,
            encrypted_data_bag_secret: layer.encrypted_data_bag_secret,
            runtime_dir: layer.runtime_dir,
            ruby_library: layer.ruby_library,
            keep_going: layer.keep_going.unwrap_or(usual.keep_going),
            lock_timeout: layer.lock_timeout.map_or(usual.lock_timeout, TimeLimit::duration),
            package_lock_timeout: layer.package_lock_timeout.map_or(usual.package_lock_timeout, TimeLimit::duration),
            guest_time: layer.guest_seconds.map_or(usual.guest_time, TimeLimit::duration),
            guest_memory: mebibytes(layer.guest_memory_mib.map(Number::get), usual.guest_memory),
            compile_time: layer.compile_seconds.map_or(usual.compile_time, TimeLimit::duration),
            compile_memory: mebibytes(layer.compile_mib.map(Number::get), usual.compile_memory),
            backups: count(layer.backups, usual.backups),
            download_size: mebibytes(layer.download_mib.map(Number::get), usual.download_size),
            download_time: layer.download_seconds.map_or(usual.download_time, TimeLimit::duration),
            runs_kept: count(layer.runs_kept, usual.runs_kept),
            runs_size: mebibytes(layer.runs_mib.map(Number::get), usual.runs_size),
            min_free: mebibytes(layer.min_free_mib.map(Number::get), usual.min_free),
            saved_attributes: SavedFilters {
                automatic: level(layer.allowed_automatic_attributes, layer.blocked_automatic_attributes),
                default: level(layer.allowed_default_attributes, layer.blocked_default_attributes),
                normal: level(layer.allowed_normal_attributes, layer.blocked_normal_attributes),
                r#override: level(layer.allowed_override_attributes, layer.blocked_override_attributes),
            },
            group_layers: layer.layers.map(GroupLayers::into_files).unwrap_or_default(),
            state_dir,
        };
        let (policy_names, policy_groups) = layer.policy_name.map(PolicyNames::into_names).unwrap_or_default();
        Self {
            policy_names,
            policy_groups,
            format: layer.format.unwrap_or(Format::Doc),
            log_level: layer.log_level.unwrap_or(Level::Warn),
            log_location: layer.log_location.unwrap_or(LogLocation::Stderr),
            color: layer.color.unwrap_or(Color::Auto),
            reports: layer.report.map(Reports::into_destinations).unwrap_or_default(),
            handlers: layer.handlers.map(Handlers::into_list).unwrap_or_default(),
            chef_server,
            skip_unchanged: layer.skip_unchanged.map(Age::duration),
            rhythm: Rhythm {
                interval: layer.interval.map_or(INTERVAL, Age::duration),
                splay: layer.splay.map_or(SPLAY, Age::duration),
            },
            run,
        }
    }
}

#[cfg(test)]
mod tests;
