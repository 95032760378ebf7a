//! Builders for the built-in resource types.
//!
//! @generated from the host's schema by `cargo xtask builders`; do not edit.

use crate::builder::kinds::{Anything, Boolean, BooleanOrInteger, BooleanOrText, Integer, IntegerOrList, List, ListOrMap, Map, Mode, Text, TextOrInteger, TextOrList, TextOrMap};
use crate::builder::{Builder, IntoProperty, common_methods};

/// Chooses which of several programs answers to one command.
///
/// Default action: `install`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct Alternatives(pub(crate) Builder);

/// A new `alternatives` resource. The name is also its `link_name`, unless that is set.
#[track_caller]
pub fn alternatives(name: impl Into<String>) -> Alternatives {
    Alternatives(Builder::new("alternatives", name))
}

impl Alternatives {
    /// The command's name.
    ///
    /// Default: the resource's name.
    pub fn link_name(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("link_name", value.into_property());
        self
    }

    /// The path of the command.
    ///
    /// Default: /usr/bin and the command's name.
    pub fn link(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("link", value.into_property());
        self
    }

    /// The program's path.
    pub fn path(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("path", value.into_property());
        self
    }

    /// The program's rank: the highest is chosen by itself.
    pub fn priority(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("priority", value.into_property());
        self
    }

    /// Adds the program to the choices.
    pub fn action_install(mut self) -> Self {
        self.0.action("install");
        self
    }

    /// Chooses the program.
    pub fn action_set(mut self) -> Self {
        self.0.action("set");
        self
    }

    /// Removes the program from the choices.
    pub fn action_remove(mut self) -> Self {
        self.0.action("remove");
        self
    }

    /// Lets the rank decide.
    pub fn action_auto(mut self) -> Self {
        self.0.action("auto");
        self
    }

    /// Makes the links anew.
    pub fn action_refresh(mut self) -> Self {
        self.0.action("refresh");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(Alternatives);

/// Manages packages with apt. A list of names is handled in one transaction.
///
/// Default action: `install`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct AptPackage(pub(crate) Builder);

/// A new `apt_package` resource. The name is also its `package_name`, unless that is set.
#[track_caller]
pub fn apt_package(name: impl Into<String>) -> AptPackage {
    AptPackage(Builder::new("apt_package", name))
}

impl AptPackage {
    /// The package's name, or several.
    ///
    /// Default: the resource's name.
    pub fn package_name(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("package_name", value.into_property());
        self
    }

    /// The version, or one for each name of the list.
    pub fn version(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("version", value.into_property());
        self
    }

    /// Further arguments for the package manager.
    pub fn options(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("options", value.into_property());
        self
    }

    /// A package file on the node.
    pub fn source(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("source", value.into_property());
        self
    }

    /// Seconds after which the package manager is ended.
    ///
    /// Default: 900.
    pub fn timeout(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("timeout", value.into_property());
        self
    }

    /// Environment variables for the package manager.
    ///
    /// Default: `{}`.
    pub fn environment(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("environment", value.into_property());
        self
    }

    /// The release that versions are taken from, as `-t` of apt-get.
    pub fn default_release(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("default_release", value.into_property());
        self
    }

    /// Whether the package's configuration replaces files changed on the node.
    ///
    /// Default: `false`.
    pub fn overwrite_config_files(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("overwrite_config_files", value.into_property());
        self
    }

    /// A template of the cookbook with answers to debconf's questions.
    pub fn response_file(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("response_file", value.into_property());
        self
    }

    /// What the response file's template sees as its variables.
    ///
    /// Default: `{}`.
    pub fn response_file_variables(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("response_file_variables", value.into_property());
        self
    }

    /// Whether a name that apt takes as a pattern must match whole names.
    ///
    /// Default: `false`.
    pub fn anchor_package_regex(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("anchor_package_regex", value.into_property());
        self
    }

    /// Installs the package; with a version, exactly that one.
    pub fn action_install(mut self) -> Self {
        self.0.action("install");
        self
    }

    /// Installs the package or brings it to the newest version.
    pub fn action_upgrade(mut self) -> Self {
        self.0.action("upgrade");
        self
    }

    /// Removes the package and leaves its configuration.
    pub fn action_remove(mut self) -> Self {
        self.0.action("remove");
        self
    }

    /// Removes the package and its configuration.
    pub fn action_purge(mut self) -> Self {
        self.0.action("purge");
        self
    }

    /// Configures the package again from its response file.
    pub fn action_reconfig(mut self) -> Self {
        self.0.action("reconfig");
        self
    }

    /// Keeps the package at its version.
    pub fn action_lock(mut self) -> Self {
        self.0.action("lock");
        self
    }

    /// Lets the package be upgraded again.
    pub fn action_unlock(mut self) -> Self {
        self.0.action("unlock");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(AptPackage);

/// Tells apt which version or release of a package to prefer.
///
/// Default action: `add`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct AptPreference(pub(crate) Builder);

/// A new `apt_preference` resource. The name is also its `package_name`, unless that is set.
#[track_caller]
pub fn apt_preference(name: impl Into<String>) -> AptPreference {
    AptPreference(Builder::new("apt_preference", name))
}

impl AptPreference {
    /// The package, or a pattern with `*`.
    ///
    /// Default: the resource's name.
    pub fn package_name(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("package_name", value.into_property());
        self
    }

    /// A pattern of packages in place of the name.
    pub fn glob(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("glob", value.into_property());
        self
    }

    /// What is preferred, such as `version 1.2*` or `release a=stable`.
    ///
    /// Required for `add`.
    pub fn pin(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("pin", value.into_property());
        self
    }

    /// How strongly the pinned version is preferred, such as 1001; above 1000 it also replaces newer ones.
    ///
    /// Required for `add`.
    pub fn pin_priority(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("pin_priority", value.into_property());
        self
    }

    /// Writes the preference's file.
    pub fn action_add(mut self) -> Self {
        self.0.action("add");
        self
    }

    /// Removes the preference's file.
    pub fn action_remove(mut self) -> Self {
        self.0.action("remove");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(AptPreference);

/// Adds a source of packages, with its signing key, to apt.
///
/// Default action: `add`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct AptRepository(pub(crate) Builder);

/// A new `apt_repository` resource. The name is also its `repo_name`, unless that is set.
#[track_caller]
pub fn apt_repository(name: impl Into<String>) -> AptRepository {
    AptRepository(Builder::new("apt_repository", name))
}

impl AptRepository {
    /// The name of the file in sources.list.d.
    ///
    /// Default: the resource's name.
    pub fn repo_name(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("repo_name", value.into_property());
        self
    }

    /// The source's address, or `ppa:` and a name.
    pub fn uri(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("uri", value.into_property());
        self
    }

    /// The distribution, most often its code name; null leaves it out.
    ///
    /// Default: the node's own code name.
    pub fn distribution(mut self, value: impl IntoProperty<BooleanOrText>) -> Self {
        self.0.set("distribution", value.into_property());
        self
    }

    /// The components, such as `main`.
    ///
    /// Default: `[]`.
    pub fn components(mut self, value: impl IntoProperty<List>) -> Self {
        self.0.set("components", value.into_property());
        self
    }

    /// The architectures, separated by commas.
    pub fn arch(mut self, value: impl IntoProperty<BooleanOrText>) -> Self {
        self.0.set("arch", value.into_property());
        self
    }

    /// Whether packages are taken without a signature.
    ///
    /// Default: `false`.
    pub fn trusted(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("trusted", value.into_property());
        self
    }

    /// Whether source packages are offered too.
    ///
    /// Default: `false`.
    pub fn deb_src(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("deb_src", value.into_property());
        self
    }

    /// The server from which a key named by its number is fetched.
    ///
    /// Default: `"keyserver.ubuntu.com"`.
    pub fn keyserver(mut self, value: impl IntoProperty<BooleanOrText>) -> Self {
        self.0.set("keyserver", value.into_property());
        self
    }

    /// The signing keys: addresses, files of the cookbook, or numbers to ask the key server for.
    ///
    /// Default: `[]`.
    pub fn key(mut self, value: impl IntoProperty<Anything>) -> Self {
        self.0.set("key", value.into_property());
        self
    }

    /// The proxy for the key server.
    pub fn key_proxy(mut self, value: impl IntoProperty<BooleanOrText>) -> Self {
        self.0.set("key_proxy", value.into_property());
        self
    }

    /// The key ring that must sign this source: a path, or true for one of its own.
    ///
    /// Default: `true`.
    pub fn signed_by(mut self, value: impl IntoProperty<BooleanOrText>) -> Self {
        self.0.set("signed_by", value.into_property());
        self
    }

    /// The cookbook that has the key's file.
    pub fn cookbook(mut self, value: impl IntoProperty<BooleanOrText>) -> Self {
        self.0.set("cookbook", value.into_property());
        self
    }

    /// Whether the index is refreshed after a change.
    ///
    /// Default: `true`.
    pub fn cache_rebuild(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("cache_rebuild", value.into_property());
        self
    }

    /// Further options in the source's line.
    ///
    /// Default: `[]`.
    pub fn options(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("options", value.into_property());
        self
    }

    /// Writes the source's file, installs its key and refreshes the index.
    pub fn action_add(mut self) -> Self {
        self.0.action("add");
        self
    }

    /// Removes the source's file.
    pub fn action_remove(mut self) -> Self {
        self.0.action("remove");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(AptRepository);

/// Refreshes apt's index of packages.
///
/// Default action: `periodic`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct AptUpdate(pub(crate) Builder);

/// A new `apt_update` resource.
#[track_caller]
pub fn apt_update(name: impl Into<String>) -> AptUpdate {
    AptUpdate(Builder::new("apt_update", name))
}

impl AptUpdate {
    /// How old, in seconds, the index may be before `periodic` refreshes it.
    ///
    /// Default: `86400`.
    pub fn frequency(mut self, value: impl IntoProperty<Integer>) -> Self {
        self.0.set("frequency", value.into_property());
        self
    }

    /// Refreshes the index if it is too old.
    pub fn action_periodic(mut self) -> Self {
        self.0.action("periodic");
        self
    }

    /// Refreshes the index.
    pub fn action_update(mut self) -> Self {
        self.0.action("update");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(AptUpdate);

/// Unpacks an archive that is on the node.
///
/// Default action: `extract`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct ArchiveFile(pub(crate) Builder);

/// A new `archive_file` resource. The name is also its `path`, unless that is set.
#[track_caller]
pub fn archive_file(name: impl Into<String>) -> ArchiveFile {
    ArchiveFile(Builder::new("archive_file", name))
}

impl ArchiveFile {
    /// The archive's path.
    ///
    /// Default: the resource's name.
    pub fn path(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("path", value.into_property());
        self
    }

    /// The folder to unpack into.
    ///
    /// Required.
    pub fn destination(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("destination", value.into_property());
        self
    }

    /// The owner of what is unpacked.
    pub fn owner(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("owner", value.into_property());
        self
    }

    /// The group of what is unpacked.
    pub fn group(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("group", value.into_property());
        self
    }

    /// The permission bits of the destination.
    ///
    /// Default: `"755"`.
    pub fn mode(mut self, value: impl IntoProperty<Mode>) -> Self {
        self.0.set("mode", value.into_property());
        self
    }

    /// What is kept of the archive: times, owners and so on.
    ///
    /// Default: `[:time]`.
    pub fn options(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("options", value.into_property());
        self
    }

    /// Whether existing files are replaced; `auto` replaces those that are older.
    ///
    /// Default: `false`.
    pub fn overwrite(mut self, value: impl IntoProperty<BooleanOrText>) -> Self {
        self.0.set("overwrite", value.into_property());
        self
    }

    /// How many leading folders are left out of the paths.
    ///
    /// Default: `0`.
    pub fn strip_components(mut self, value: impl IntoProperty<Integer>) -> Self {
        self.0.set("strip_components", value.into_property());
        self
    }

    /// Unpacks what is missing or differs.
    pub fn action_extract(mut self) -> Self {
        self.0.action("extract");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(ArchiveFile);

/// Runs a script with `bash`. It runs each time unless a guard or `creates` says otherwise.
///
/// Default action: `run`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct Bash(pub(crate) Builder);

/// A new `bash` resource.
#[track_caller]
pub fn bash(name: impl Into<String>) -> Bash {
    Bash(Builder::new("bash", name))
}

impl Bash {
    /// A path: while something exists there, nothing is run.
    pub fn creates(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("creates", value.into_property());
        self
    }

    /// The working directory.
    pub fn cwd(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("cwd", value.into_property());
        self
    }

    /// Environment variables, beside those of the run.
    pub fn environment(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("environment", value.into_property());
        self
    }

    /// The user to run as, by name or number.
    pub fn user(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("user", value.into_property());
        self
    }

    /// The group to run as, by name or number.
    pub fn group(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("group", value.into_property());
        self
    }

    /// Whether the user's groups and login environment apply.
    ///
    /// Default: `false`.
    pub fn login(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("login", value.into_property());
        self
    }

    /// Whether the command's output is shown while it runs.
    ///
    /// Default: `false`.
    pub fn live_stream(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("live_stream", value.into_property());
        self
    }

    /// Whether PATH and the locale are set as for the run's own commands.
    ///
    /// Default: `false`.
    pub fn default_env(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("default_env", value.into_property());
        self
    }

    /// Text for the command's standard input.
    pub fn input(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("input", value.into_property());
        self
    }

    /// The exit status, or a list of them, that means success.
    ///
    /// Default: `0`.
    pub fn returns(mut self, value: impl IntoProperty<IntegerOrList>) -> Self {
        self.0.set("returns", value.into_property());
        self
    }

    /// Seconds after which the command is ended.
    ///
    /// Default: `3600`.
    pub fn timeout(mut self, value: impl IntoProperty<Anything>) -> Self {
        self.0.set("timeout", value.into_property());
        self
    }

    /// The domain of `user` (Windows only).
    pub fn domain(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("domain", value.into_property());
        self
    }

    /// The password of `user` (Windows only).
    ///
    /// Never shown.
    pub fn password(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("password", value.into_property());
        self
    }

    /// Whether the command runs with full rights (Windows only).
    ///
    /// Default: `false`.
    pub fn elevated(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("elevated", value.into_property());
        self
    }

    /// The script itself.
    ///
    /// Required.
    pub fn code(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("code", value.into_property());
        self
    }

    /// The program that runs the script.
    ///
    /// Default: `"bash"`.
    pub fn interpreter(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("interpreter", value.into_property());
        self
    }

    /// Arguments for the interpreter, before the script.
    pub fn flags(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("flags", value.into_property());
        self
    }

    /// Runs it.
    pub fn action_run(mut self) -> Self {
        self.0.action("run");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(Bash);

/// Installs the packages that are needed to compile C programs.
///
/// Default action: `install`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct BuildEssential(pub(crate) Builder);

/// A new `build_essential` resource.
#[track_caller]
pub fn build_essential(name: impl Into<String>) -> BuildEssential {
    BuildEssential(Builder::new("build_essential", name))
}

impl BuildEssential {
    /// Whether an unknown platform is an error.
    ///
    /// Default: `false`.
    pub fn raise_if_unsupported(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("raise_if_unsupported", value.into_property());
        self
    }

    /// Installs the packages.
    pub fn action_install(mut self) -> Self {
        self.0.action("install");
        self
    }

    /// Brings the packages to their newest versions.
    pub fn action_upgrade(mut self) -> Self {
        self.0.action("upgrade");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(BuildEssential);

/// Waits for some seconds.
///
/// Default action: `sleep`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct ChefSleep(pub(crate) Builder);

/// A new `chef_sleep` resource. The name is also its `seconds`, unless that is set.
#[track_caller]
pub fn chef_sleep(name: impl Into<String>) -> ChefSleep {
    ChefSleep(Builder::new("chef_sleep", name))
}

impl ChefSleep {
    /// How long, in seconds.
    ///
    /// Default: the resource's name.
    pub fn seconds(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("seconds", value.into_property());
        self
    }

    /// Waits.
    pub fn action_sleep(mut self) -> Self {
        self.0.action("sleep");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(ChefSleep);

/// Puts a file from a cookbook's `files` folder in place, choosing the most specific one for the node.
///
/// Default action: `create`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct CookbookFile(pub(crate) Builder);

/// A new `cookbook_file` resource. The name is also its `path`, unless that is set.
#[track_caller]
pub fn cookbook_file(name: impl Into<String>) -> CookbookFile {
    CookbookFile(Builder::new("cookbook_file", name))
}

impl CookbookFile {
    /// The owner, as a user's name or number.
    pub fn owner(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("owner", value.into_property());
        self
    }

    /// The owning group, as a name or number.
    pub fn group(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("group", value.into_property());
        self
    }

    /// The permission bits, as octal text or a number.
    pub fn mode(mut self, value: impl IntoProperty<Mode>) -> Self {
        self.0.set("mode", value.into_property());
        self
    }

    /// The file's path.
    ///
    /// Default: the resource's name.
    pub fn path(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("path", value.into_property());
        self
    }

    /// Whether new content replaces the file in one step. Off means it is written in place, for files that are mount points.
    ///
    /// Default: true, but false for files that a container runtime mounts.
    pub fn atomic_update(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("atomic_update", value.into_property());
        self
    }

    /// How many earlier versions are kept in the backup folder; false keeps none.
    ///
    /// Default: `5`.
    pub fn backup(mut self, value: impl IntoProperty<BooleanOrInteger>) -> Self {
        self.0.set("backup", value.into_property());
        self
    }

    /// The SHA-256 digest that the content must have, in hexadecimal.
    pub fn checksum(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("checksum", value.into_property());
        self
    }

    /// Whether something else than a file at the path is removed to make room.
    ///
    /// Default: `false`.
    pub fn force_unlink(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("force_unlink", value.into_property());
        self
    }

    /// Whether a symbolic link at the path is followed and its target managed; unset follows with a warning, false replaces the link.
    pub fn manage_symlink_source(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("manage_symlink_source", value.into_property());
        self
    }

    /// A command that must accept the new content before it is put in place; `%{path}` stands for the file to look at. Several calls collect.
    pub fn verify(mut self, value: impl IntoProperty<List>) -> Self {
        self.0.append("verify", value.into_property());
        self
    }

    /// The difference that the last action made, for reports.
    pub fn diff(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("diff", value.into_property());
        self
    }

    /// The file's path below `files`; of a list, the first that exists.
    ///
    /// Default: the last component of `name`.
    pub fn source(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("source", value.into_property());
        self
    }

    /// The cookbook that has the source.
    ///
    /// Default: the cookbook that declares the resource.
    pub fn cookbook(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("cookbook", value.into_property());
        self
    }

    /// Creates the file, or corrects what differs.
    pub fn action_create(mut self) -> Self {
        self.0.action("create");
        self
    }

    /// Removes the file.
    pub fn action_delete(mut self) -> Self {
        self.0.action("delete");
        self
    }

    /// Creates the file if it is missing, and sets its times to now.
    pub fn action_touch(mut self) -> Self {
        self.0.action("touch");
        self
    }

    /// Creates the file if it does not exist; an existing one is left alone.
    pub fn action_create_if_missing(mut self) -> Self {
        self.0.action("create_if_missing");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(CookbookFile);

/// Manages one job in a user's crontab, found again by its name.
///
/// Default action: `create`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct Cron(pub(crate) Builder);

/// A new `cron` resource.
#[track_caller]
pub fn cron(name: impl Into<String>) -> Cron {
    Cron(Builder::new("cron", name))
}

impl Cron {
    /// The minute, from 0 to 59.
    ///
    /// Default: `"*"`.
    pub fn minute(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("minute", value.into_property());
        self
    }

    /// The hour, from 0 to 23.
    ///
    /// Default: `"*"`.
    pub fn hour(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("hour", value.into_property());
        self
    }

    /// The day of the month, from 1 to 31.
    ///
    /// Default: `"*"`.
    pub fn day(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("day", value.into_property());
        self
    }

    /// The month, from 1 to 12 or by its English abbreviation.
    ///
    /// Default: `"*"`.
    pub fn month(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("month", value.into_property());
        self
    }

    /// The day of the week, from 0 (Sunday) to 7 or by its English name.
    ///
    /// Default: `"*"`.
    pub fn weekday(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("weekday", value.into_property());
        self
    }

    /// The user the job runs as.
    ///
    /// Default: `"root"`.
    pub fn user(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("user", value.into_property());
        self
    }

    /// SHELL in the job's environment.
    pub fn shell(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("shell", value.into_property());
        self
    }

    /// PATH in the job's environment.
    pub fn path(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("path", value.into_property());
        self
    }

    /// HOME in the job's environment.
    pub fn home(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("home", value.into_property());
        self
    }

    /// Whom cron mails the output to.
    pub fn mailto(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("mailto", value.into_property());
        self
    }

    /// Further variables of the job's environment.
    ///
    /// Default: `{}`.
    pub fn environment(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("environment", value.into_property());
        self
    }

    /// Options of the `timeout` command that the job runs under; a number is its duration.
    ///
    /// Default: `{}`.
    pub fn time_out(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("time_out", value.into_property());
        self
    }

    /// The command to run.
    ///
    /// Required for `create`.
    pub fn command(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("command", value.into_property());
        self
    }

    /// A word in place of minute, hour, day, month and weekday.
    ///
    /// One of `reboot`, `yearly`, `annually`, `monthly`, `weekly`, `daily`, `midnight`, `hourly`.
    pub fn time(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("time", value.into_property());
        self
    }

    /// Enters the job, or corrects it.
    pub fn action_create(mut self) -> Self {
        self.0.action("create");
        self
    }

    /// Removes the job from the crontab.
    pub fn action_delete(mut self) -> Self {
        self.0.action("delete");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(Cron);

/// Says whether a user may have a crontab.
///
/// Default action: `allow`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct CronAccess(pub(crate) Builder);

/// A new `cron_access` resource. The name is also its `user`, unless that is set.
#[track_caller]
pub fn cron_access(name: impl Into<String>) -> CronAccess {
    CronAccess(Builder::new("cron_access", name))
}

impl CronAccess {
    /// The user.
    ///
    /// Default: the resource's name.
    pub fn user(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("user", value.into_property());
        self
    }

    /// Enters the user in cron.allow.
    pub fn action_allow(mut self) -> Self {
        self.0.action("allow");
        self
    }

    /// Enters the user in cron.deny.
    pub fn action_deny(mut self) -> Self {
        self.0.action("deny");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(CronAccess);

/// Manages a file in /etc/cron.d with one job.
///
/// Default action: `create`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct CronD(pub(crate) Builder);

/// A new `cron_d` resource. The name is also its `cron_name`, unless that is set.
#[track_caller]
pub fn cron_d(name: impl Into<String>) -> CronD {
    CronD(Builder::new("cron_d", name))
}

impl CronD {
    /// The minute, from 0 to 59.
    ///
    /// Default: `"*"`.
    pub fn minute(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("minute", value.into_property());
        self
    }

    /// The hour, from 0 to 23.
    ///
    /// Default: `"*"`.
    pub fn hour(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("hour", value.into_property());
        self
    }

    /// The day of the month, from 1 to 31.
    ///
    /// Default: `"*"`.
    pub fn day(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("day", value.into_property());
        self
    }

    /// The month, from 1 to 12 or by its English abbreviation.
    ///
    /// Default: `"*"`.
    pub fn month(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("month", value.into_property());
        self
    }

    /// The day of the week, from 0 (Sunday) to 7 or by its English name.
    ///
    /// Default: `"*"`.
    pub fn weekday(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("weekday", value.into_property());
        self
    }

    /// The user the job runs as.
    ///
    /// Default: `"root"`.
    pub fn user(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("user", value.into_property());
        self
    }

    /// SHELL in the job's environment.
    pub fn shell(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("shell", value.into_property());
        self
    }

    /// PATH in the job's environment.
    pub fn path(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("path", value.into_property());
        self
    }

    /// HOME in the job's environment.
    pub fn home(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("home", value.into_property());
        self
    }

    /// Whom cron mails the output to.
    pub fn mailto(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("mailto", value.into_property());
        self
    }

    /// Further variables of the job's environment.
    ///
    /// Default: `{}`.
    pub fn environment(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("environment", value.into_property());
        self
    }

    /// Options of the `timeout` command that the job runs under; a number is its duration.
    ///
    /// Default: `{}`.
    pub fn time_out(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("time_out", value.into_property());
        self
    }

    /// The file's name.
    ///
    /// Default: the resource's name.
    pub fn cron_name(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("cron_name", value.into_property());
        self
    }

    /// A word such as `@daily` in place of minute, hour, day, month and weekday.
    ///
    /// One of `@reboot`, `@yearly`, `@annually`, `@monthly`, `@weekly`, `@daily`, `@midnight`, `@hourly`.
    pub fn predefined_value(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("predefined_value", value.into_property());
        self
    }

    /// The command to run.
    ///
    /// Required for `create`, `create_if_missing`.
    pub fn command(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("command", value.into_property());
        self
    }

    /// A remark in the file.
    pub fn comment(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("comment", value.into_property());
        self
    }

    /// The file's permission bits.
    ///
    /// Default: `"0600"`.
    pub fn mode(mut self, value: impl IntoProperty<Mode>) -> Self {
        self.0.set("mode", value.into_property());
        self
    }

    /// Minutes up to which the start may be delayed, by chance.
    pub fn random_delay(mut self, value: impl IntoProperty<Integer>) -> Self {
        self.0.set("random_delay", value.into_property());
        self
    }

    /// Writes the file, or corrects what differs.
    pub fn action_create(mut self) -> Self {
        self.0.action("create");
        self
    }

    /// Writes the file if it does not exist.
    pub fn action_create_if_missing(mut self) -> Self {
        self.0.action("create_if_missing");
        self
    }

    /// Removes the file.
    pub fn action_delete(mut self) -> Self {
        self.0.action("delete");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(CronD);

/// Runs a script with `csh`. It runs each time unless a guard or `creates` says otherwise.
///
/// Default action: `run`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct Csh(pub(crate) Builder);

/// A new `csh` resource.
#[track_caller]
pub fn csh(name: impl Into<String>) -> Csh {
    Csh(Builder::new("csh", name))
}

impl Csh {
    /// A path: while something exists there, nothing is run.
    pub fn creates(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("creates", value.into_property());
        self
    }

    /// The working directory.
    pub fn cwd(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("cwd", value.into_property());
        self
    }

    /// Environment variables, beside those of the run.
    pub fn environment(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("environment", value.into_property());
        self
    }

    /// The user to run as, by name or number.
    pub fn user(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("user", value.into_property());
        self
    }

    /// The group to run as, by name or number.
    pub fn group(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("group", value.into_property());
        self
    }

    /// Whether the user's groups and login environment apply.
    ///
    /// Default: `false`.
    pub fn login(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("login", value.into_property());
        self
    }

    /// Whether the command's output is shown while it runs.
    ///
    /// Default: `false`.
    pub fn live_stream(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("live_stream", value.into_property());
        self
    }

    /// Whether PATH and the locale are set as for the run's own commands.
    ///
    /// Default: `false`.
    pub fn default_env(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("default_env", value.into_property());
        self
    }

    /// Text for the command's standard input.
    pub fn input(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("input", value.into_property());
        self
    }

    /// The exit status, or a list of them, that means success.
    ///
    /// Default: `0`.
    pub fn returns(mut self, value: impl IntoProperty<IntegerOrList>) -> Self {
        self.0.set("returns", value.into_property());
        self
    }

    /// Seconds after which the command is ended.
    ///
    /// Default: `3600`.
    pub fn timeout(mut self, value: impl IntoProperty<Anything>) -> Self {
        self.0.set("timeout", value.into_property());
        self
    }

    /// The domain of `user` (Windows only).
    pub fn domain(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("domain", value.into_property());
        self
    }

    /// The password of `user` (Windows only).
    ///
    /// Never shown.
    pub fn password(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("password", value.into_property());
        self
    }

    /// Whether the command runs with full rights (Windows only).
    ///
    /// Default: `false`.
    pub fn elevated(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("elevated", value.into_property());
        self
    }

    /// The script itself.
    ///
    /// Required.
    pub fn code(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("code", value.into_property());
        self
    }

    /// The program that runs the script.
    ///
    /// Default: `"csh"`.
    pub fn interpreter(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("interpreter", value.into_property());
        self
    }

    /// Arguments for the interpreter, before the script.
    pub fn flags(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("flags", value.into_property());
        self
    }

    /// Runs it.
    pub fn action_run(mut self) -> Self {
        self.0.action("run");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(Csh);

/// Manages a directory: whether it is there, and who may use it.
///
/// Default action: `create`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct Directory(pub(crate) Builder);

/// A new `directory` resource. The name is also its `path`, unless that is set.
#[track_caller]
pub fn directory(name: impl Into<String>) -> Directory {
    Directory(Builder::new("directory", name))
}

impl Directory {
    /// The owner, as a user's name or number.
    pub fn owner(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("owner", value.into_property());
        self
    }

    /// The owning group, as a name or number.
    pub fn group(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("group", value.into_property());
        self
    }

    /// The permission bits, as octal text or a number.
    pub fn mode(mut self, value: impl IntoProperty<Mode>) -> Self {
        self.0.set("mode", value.into_property());
        self
    }

    /// The directory's path.
    ///
    /// Default: the resource's name.
    pub fn path(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("path", value.into_property());
        self
    }

    /// Whether `create` makes missing parents and `delete` removes what is inside. Owner, group and mode apply to the last directory only.
    ///
    /// Default: `false`.
    pub fn recursive(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("recursive", value.into_property());
        self
    }

    /// Creates the directory, or corrects its owner, group and mode.
    pub fn action_create(mut self) -> Self {
        self.0.action("create");
        self
    }

    /// Removes the directory.
    pub fn action_delete(mut self) -> Self {
        self.0.action("delete");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(Directory);

/// Manages packages with dnf. A list of names is handled in one transaction.
///
/// Default action: `install`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct DnfPackage(pub(crate) Builder);

/// A new `dnf_package` resource. The name is also its `package_name`, unless that is set.
#[track_caller]
pub fn dnf_package(name: impl Into<String>) -> DnfPackage {
    DnfPackage(Builder::new("dnf_package", name))
}

impl DnfPackage {
    /// The package's name, or several.
    ///
    /// Default: the resource's name.
    pub fn package_name(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("package_name", value.into_property());
        self
    }

    /// The version, or one for each name of the list.
    pub fn version(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("version", value.into_property());
        self
    }

    /// Further arguments for the package manager.
    pub fn options(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("options", value.into_property());
        self
    }

    /// A package file on the node.
    pub fn source(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("source", value.into_property());
        self
    }

    /// Seconds after which the package manager is ended.
    ///
    /// Default: 900.
    pub fn timeout(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("timeout", value.into_property());
        self
    }

    /// Environment variables for the package manager.
    ///
    /// Default: `{}`.
    pub fn environment(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("environment", value.into_property());
        self
    }

    /// The architecture, or one for each name of the list.
    pub fn arch(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("arch", value.into_property());
        self
    }

    /// Whether the index is fetched again before or after the action.
    ///
    /// Default: `{"before"=>false, "after"=>false}`.
    pub fn flush_cache(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("flush_cache", value.into_property());
        self
    }

    /// Whether an older version may replace a newer one.
    ///
    /// Default: `true`.
    pub fn allow_downgrade(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("allow_downgrade", value.into_property());
        self
    }

    /// Installs the package; with a version, exactly that one.
    pub fn action_install(mut self) -> Self {
        self.0.action("install");
        self
    }

    /// Installs the package or brings it to the newest version.
    pub fn action_upgrade(mut self) -> Self {
        self.0.action("upgrade");
        self
    }

    /// Removes the package and leaves its configuration.
    pub fn action_remove(mut self) -> Self {
        self.0.action("remove");
        self
    }

    /// Removes the package and its configuration.
    pub fn action_purge(mut self) -> Self {
        self.0.action("purge");
        self
    }

    /// Configures the package again from its response file.
    pub fn action_reconfig(mut self) -> Self {
        self.0.action("reconfig");
        self
    }

    /// Keeps the package at its version.
    pub fn action_lock(mut self) -> Self {
        self.0.action("lock");
        self
    }

    /// Lets the package be upgraded again.
    pub fn action_unlock(mut self) -> Self {
        self.0.action("unlock");
        self
    }

    /// Fetches the index again.
    pub fn action_flush_cache(mut self) -> Self {
        self.0.action("flush_cache");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(DnfPackage);

/// Installs packages from files on the node with dpkg, without their dependencies.
///
/// Default action: `install`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct DpkgPackage(pub(crate) Builder);

/// A new `dpkg_package` resource. The name is also its `package_name`, unless that is set.
#[track_caller]
pub fn dpkg_package(name: impl Into<String>) -> DpkgPackage {
    DpkgPackage(Builder::new("dpkg_package", name))
}

impl DpkgPackage {
    /// The package's name, or several.
    ///
    /// Default: the resource's name.
    pub fn package_name(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("package_name", value.into_property());
        self
    }

    /// The version, or one for each name of the list.
    pub fn version(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("version", value.into_property());
        self
    }

    /// Further arguments for the package manager.
    pub fn options(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("options", value.into_property());
        self
    }

    /// Seconds after which the package manager is ended.
    ///
    /// Default: 900.
    pub fn timeout(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("timeout", value.into_property());
        self
    }

    /// Environment variables for the package manager.
    ///
    /// Default: `{}`.
    pub fn environment(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("environment", value.into_property());
        self
    }

    /// The package's file on the node, or one for each name of the list; else the name is the file.
    pub fn source(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("source", value.into_property());
        self
    }

    /// A template of the cookbook with answers to debconf's questions.
    pub fn response_file(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("response_file", value.into_property());
        self
    }

    /// What the response file's template sees as its variables.
    ///
    /// Default: `{}`.
    pub fn response_file_variables(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("response_file_variables", value.into_property());
        self
    }

    /// Whether an older version may replace a newer one.
    ///
    /// Default: `true`.
    pub fn allow_downgrade(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("allow_downgrade", value.into_property());
        self
    }

    /// Installs the package; with a version, exactly that one.
    pub fn action_install(mut self) -> Self {
        self.0.action("install");
        self
    }

    /// Installs the package or brings it to the newest version.
    pub fn action_upgrade(mut self) -> Self {
        self.0.action("upgrade");
        self
    }

    /// Removes the package and leaves its configuration.
    pub fn action_remove(mut self) -> Self {
        self.0.action("remove");
        self
    }

    /// Removes the package and its configuration.
    pub fn action_purge(mut self) -> Self {
        self.0.action("purge");
        self
    }

    /// Configures the package again from its response file.
    pub fn action_reconfig(mut self) -> Self {
        self.0.action("reconfig");
        self
    }

    /// Keeps the package at its version.
    pub fn action_lock(mut self) -> Self {
        self.0.action("lock");
        self
    }

    /// Lets the package be upgraded again.
    pub fn action_unlock(mut self) -> Self {
        self.0.action("unlock");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(DpkgPackage);

/// Runs one command. It runs each time unless a guard or `creates` says otherwise.
///
/// Default action: `run`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct Execute(pub(crate) Builder);

/// A new `execute` resource. The name is also its `command`, unless that is set.
#[track_caller]
pub fn execute(name: impl Into<String>) -> Execute {
    Execute(Builder::new("execute", name))
}

impl Execute {
    /// A path: while something exists there, nothing is run.
    pub fn creates(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("creates", value.into_property());
        self
    }

    /// The working directory.
    pub fn cwd(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("cwd", value.into_property());
        self
    }

    /// Environment variables, beside those of the run.
    pub fn environment(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("environment", value.into_property());
        self
    }

    /// The user to run as, by name or number.
    pub fn user(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("user", value.into_property());
        self
    }

    /// The group to run as, by name or number.
    pub fn group(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("group", value.into_property());
        self
    }

    /// Whether the user's groups and login environment apply.
    ///
    /// Default: `false`.
    pub fn login(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("login", value.into_property());
        self
    }

    /// Whether the command's output is shown while it runs.
    ///
    /// Default: `false`.
    pub fn live_stream(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("live_stream", value.into_property());
        self
    }

    /// Whether PATH and the locale are set as for the run's own commands.
    ///
    /// Default: `false`.
    pub fn default_env(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("default_env", value.into_property());
        self
    }

    /// Text for the command's standard input.
    pub fn input(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("input", value.into_property());
        self
    }

    /// The exit status, or a list of them, that means success.
    ///
    /// Default: `0`.
    pub fn returns(mut self, value: impl IntoProperty<IntegerOrList>) -> Self {
        self.0.set("returns", value.into_property());
        self
    }

    /// Seconds after which the command is ended.
    ///
    /// Default: `3600`.
    pub fn timeout(mut self, value: impl IntoProperty<Anything>) -> Self {
        self.0.set("timeout", value.into_property());
        self
    }

    /// The domain of `user` (Windows only).
    pub fn domain(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("domain", value.into_property());
        self
    }

    /// The password of `user` (Windows only).
    ///
    /// Never shown.
    pub fn password(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("password", value.into_property());
        self
    }

    /// Whether the command runs with full rights (Windows only).
    ///
    /// Default: `false`.
    pub fn elevated(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("elevated", value.into_property());
        self
    }

    /// The command: a list of program and arguments, or a line, which goes through a shell where it needs one.
    ///
    /// Default: the resource's name.
    pub fn command(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("command", value.into_property());
        self
    }

    /// Runs it.
    pub fn action_run(mut self) -> Self {
        self.0.action("run");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(Execute);

/// Manages one file: its content, owner, group and mode.
///
/// Default action: `create`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct File(pub(crate) Builder);

/// A new `file` resource. The name is also its `path`, unless that is set.
#[track_caller]
pub fn file(name: impl Into<String>) -> File {
    File(Builder::new("file", name))
}

impl File {
    /// The owner, as a user's name or number.
    pub fn owner(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("owner", value.into_property());
        self
    }

    /// The owning group, as a name or number.
    pub fn group(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("group", value.into_property());
        self
    }

    /// The permission bits, as octal text or a number.
    pub fn mode(mut self, value: impl IntoProperty<Mode>) -> Self {
        self.0.set("mode", value.into_property());
        self
    }

    /// The file's path.
    ///
    /// Default: the resource's name.
    pub fn path(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("path", value.into_property());
        self
    }

    /// Whether new content replaces the file in one step. Off means it is written in place, for files that are mount points.
    ///
    /// Default: true, but false for files that a container runtime mounts.
    pub fn atomic_update(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("atomic_update", value.into_property());
        self
    }

    /// How many earlier versions are kept in the backup folder; false keeps none.
    ///
    /// Default: `5`.
    pub fn backup(mut self, value: impl IntoProperty<BooleanOrInteger>) -> Self {
        self.0.set("backup", value.into_property());
        self
    }

    /// The SHA-256 digest that the content must have, in hexadecimal.
    pub fn checksum(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("checksum", value.into_property());
        self
    }

    /// Whether something else than a file at the path is removed to make room.
    ///
    /// Default: `false`.
    pub fn force_unlink(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("force_unlink", value.into_property());
        self
    }

    /// Whether a symbolic link at the path is followed and its target managed; unset follows with a warning, false replaces the link.
    pub fn manage_symlink_source(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("manage_symlink_source", value.into_property());
        self
    }

    /// A command that must accept the new content before it is put in place; `%{path}` stands for the file to look at. Several calls collect.
    pub fn verify(mut self, value: impl IntoProperty<List>) -> Self {
        self.0.append("verify", value.into_property());
        self
    }

    /// The difference that the last action made, for reports.
    pub fn diff(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("diff", value.into_property());
        self
    }

    /// The whole content. Unset leaves an existing file's content alone.
    pub fn content(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("content", value.into_property());
        self
    }

    /// Creates the file, or corrects what differs.
    pub fn action_create(mut self) -> Self {
        self.0.action("create");
        self
    }

    /// Removes the file.
    pub fn action_delete(mut self) -> Self {
        self.0.action("delete");
        self
    }

    /// Creates the file if it is missing, and sets its times to now.
    pub fn action_touch(mut self) -> Self {
        self.0.action("touch");
        self
    }

    /// Creates the file if it does not exist; an existing one is left alone.
    pub fn action_create_if_missing(mut self) -> Self {
        self.0.action("create_if_missing");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(File);

/// Manages a checkout of a git repository.
///
/// Default action: `sync`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct Git(pub(crate) Builder);

/// A new `git` resource. The name is also its `destination`, unless that is set.
#[track_caller]
pub fn git(name: impl Into<String>) -> Git {
    Git(Builder::new("git", name))
}

impl Git {
    /// The folder of the checkout.
    ///
    /// Default: the resource's name.
    pub fn destination(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("destination", value.into_property());
        self
    }

    /// The user who makes and owns the checkout.
    ///
    /// Default: the user who runs the run.
    pub fn user(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("user", value.into_property());
        self
    }

    /// The group that makes and owns the checkout.
    pub fn group(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("group", value.into_property());
        self
    }

    /// Seconds after which a command is ended.
    pub fn timeout(mut self, value: impl IntoProperty<Integer>) -> Self {
        self.0.set("timeout", value.into_property());
        self
    }

    /// Environment variables for the commands.
    pub fn environment(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("environment", value.into_property());
        self
    }

    /// The repository's address.
    pub fn repository(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("repository", value.into_property());
        self
    }

    /// The branch, tag or commit.
    ///
    /// Default: `"HEAD"`.
    pub fn revision(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("revision", value.into_property());
        self
    }

    /// The name of the remote.
    ///
    /// Default: `"origin"`.
    pub fn remote(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("remote", value.into_property());
        self
    }

    /// Further remotes: names and addresses.
    ///
    /// Default: `{}`.
    pub fn additional_remotes(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("additional_remotes", value.into_property());
        self
    }

    /// How many commits of the history are fetched.
    pub fn depth(mut self, value: impl IntoProperty<Integer>) -> Self {
        self.0.set("depth", value.into_property());
        self
    }

    /// Whether submodules are fetched too.
    ///
    /// Default: `false`.
    pub fn enable_submodules(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("enable_submodules", value.into_property());
        self
    }

    /// Whether the revision is checked out on a local branch.
    ///
    /// Default: `true`.
    pub fn enable_checkout(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("enable_checkout", value.into_property());
        self
    }

    /// The local branch for the checkout.
    pub fn checkout_branch(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("checkout_branch", value.into_property());
        self
    }

    /// A program that git runs in place of ssh.
    pub fn ssh_wrapper(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("ssh_wrapper", value.into_property());
        self
    }

    /// Brings the checkout to the revision, or makes it.
    pub fn action_sync(mut self) -> Self {
        self.0.action("sync");
        self
    }

    /// Makes the checkout if it does not exist.
    pub fn action_checkout(mut self) -> Self {
        self.0.action("checkout");
        self
    }

    /// Puts the files of the revision there, without the repository's own data.
    pub fn action_export(mut self) -> Self {
        self.0.action("export");
        self
    }

    /// Shows what differs.
    pub fn action_diff(mut self) -> Self {
        self.0.action("diff");
        self
    }

    /// Shows the history.
    pub fn action_log(mut self) -> Self {
        self.0.action("log");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(Git);

/// Manages a local group and its members.
///
/// Default action: `create`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct Group(pub(crate) Builder);

/// A new `group` resource. The name is also its `group_name`, unless that is set.
#[track_caller]
pub fn group(name: impl Into<String>) -> Group {
    Group(Builder::new("group", name))
}

impl Group {
    /// The group's name.
    ///
    /// Default: the resource's name.
    pub fn group_name(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("group_name", value.into_property());
        self
    }

    /// The group's number.
    pub fn gid(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("gid", value.into_property());
        self
    }

    /// The users who belong to it: all of them, unless `append` is set.
    ///
    /// Default: `[]`.
    pub fn members(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("members", value.into_property());
        self
    }

    /// With `append`: users who must not belong to it.
    ///
    /// Default: `[]`.
    pub fn excluded_members(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("excluded_members", value.into_property());
        self
    }

    /// Whether members are added to those that are there.
    ///
    /// Default: `false`.
    pub fn append(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("append", value.into_property());
        self
    }

    /// Whether a new group gets a number from the system's range.
    ///
    /// Default: `false`.
    pub fn system(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("system", value.into_property());
        self
    }

    /// Whether the number may be another group's too.
    ///
    /// Default: `false`.
    pub fn non_unique(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("non_unique", value.into_property());
        self
    }

    /// A remark for the group, where the platform keeps one.
    pub fn comment(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("comment", value.into_property());
        self
    }

    /// Creates the group, or corrects what differs.
    pub fn action_create(mut self) -> Self {
        self.0.action("create");
        self
    }

    /// Removes the group.
    pub fn action_remove(mut self) -> Self {
        self.0.action("remove");
        self
    }

    /// Corrects an existing group; it is an error if it does not exist.
    pub fn action_modify(mut self) -> Self {
        self.0.action("modify");
        self
    }

    /// Corrects the group if there is one.
    pub fn action_manage(mut self) -> Self {
        self.0.action("manage");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(Group);

/// Runs code of the cookbook itself while the node converges.
///
/// Default action: `run`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct GuestBlock(pub(crate) Builder);

/// A new `guest_block` resource. The name is also its `block_name`, unless that is set.
#[track_caller]
pub fn guest_block(name: impl Into<String>) -> GuestBlock {
    GuestBlock(Builder::new("guest_block", name))
}

impl GuestBlock {
    /// The block's name.
    ///
    /// Default: the resource's name.
    pub fn block_name(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("block_name", value.into_property());
        self
    }

    /// Runs the code.
    pub fn action_run(mut self) -> Self {
        self.0.action("run");
        self
    }

    /// The same as `run`.
    pub fn action_create(mut self) -> Self {
        self.0.action("create");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(GuestBlock);

/// Sets the host's name, also in /etc/hosts.
///
/// Default action: `set`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct Hostname(pub(crate) Builder);

/// A new `hostname` resource. The name is also its `hostname`, unless that is set.
#[track_caller]
pub fn hostname(name: impl Into<String>) -> Hostname {
    Hostname(Builder::new("hostname", name))
}

impl Hostname {
    /// The name.
    ///
    /// Default: the resource's name.
    pub fn hostname(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("hostname", value.into_property());
        self
    }

    /// The full name, where it is more than the name.
    pub fn fqdn(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("fqdn", value.into_property());
        self
    }

    /// The address that the name stands for in /etc/hosts.
    ///
    /// Default: the node's own address.
    pub fn ipaddress(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("ipaddress", value.into_property());
        self
    }

    /// Further names in the line of /etc/hosts.
    ///
    /// Default: `nil`.
    pub fn aliases(mut self, value: impl IntoProperty<List>) -> Self {
        self.0.set("aliases", value.into_property());
        self
    }

    /// Whether the node is started again (Windows only).
    ///
    /// Default: `true`.
    pub fn windows_reboot(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("windows_reboot", value.into_property());
        self
    }

    /// A user who may rename the node (Windows only).
    pub fn domain_user(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("domain_user", value.into_property());
        self
    }

    /// The user's password (Windows only).
    ///
    /// Never shown.
    pub fn domain_password(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("domain_password", value.into_property());
        self
    }

    /// Sets the name.
    pub fn action_set(mut self) -> Self {
        self.0.action("set");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(Hostname);

/// Sends an HTTP request each time.
///
/// Default action: `get`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct HttpRequest(pub(crate) Builder);

/// A new `http_request` resource. The name is also its `message`, unless that is set.
#[track_caller]
pub fn http_request(name: impl Into<String>) -> HttpRequest {
    HttpRequest(Builder::new("http_request", name))
}

impl HttpRequest {
    /// The address.
    pub fn url(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("url", value.into_property());
        self
    }

    /// Headers of the request.
    ///
    /// Default: `{}`.
    pub fn headers(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("headers", value.into_property());
        self
    }

    /// The body of requests that have one; a map or list is sent as JSON.
    ///
    /// Default: the resource's name.
    pub fn message(mut self, value: impl IntoProperty<Anything>) -> Self {
        self.0.set("message", value.into_property());
        self
    }

    /// Sends GET.
    pub fn action_get(mut self) -> Self {
        self.0.action("get");
        self
    }

    /// Sends PATCH with the message.
    pub fn action_patch(mut self) -> Self {
        self.0.action("patch");
        self
    }

    /// Sends PUT with the message.
    pub fn action_put(mut self) -> Self {
        self.0.action("put");
        self
    }

    /// Sends POST with the message.
    pub fn action_post(mut self) -> Self {
        self.0.action("post");
        self
    }

    /// Sends DELETE.
    pub fn action_delete(mut self) -> Self {
        self.0.action("delete");
        self
    }

    /// Sends HEAD.
    pub fn action_head(mut self) -> Self {
        self.0.action("head");
        self
    }

    /// Sends OPTIONS.
    pub fn action_options(mut self) -> Self {
        self.0.action("options");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(HttpRequest);

/// Manages a kernel module: whether it is loaded, now and when the system starts.
///
/// Default action: `install`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct KernelModule(pub(crate) Builder);

/// A new `kernel_module` resource. The name is also its `modname`, unless that is set.
#[track_caller]
pub fn kernel_module(name: impl Into<String>) -> KernelModule {
    KernelModule(Builder::new("kernel_module", name))
}

impl KernelModule {
    /// The module's name.
    ///
    /// Default: the resource's name.
    pub fn modname(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("modname", value.into_property());
        self
    }

    /// Options of the module.
    pub fn options(mut self, value: impl IntoProperty<List>) -> Self {
        self.0.set("options", value.into_property());
        self
    }

    /// The folder of files that load modules at the start.
    ///
    /// Default: `"/etc/modules-load.d"`.
    pub fn load_dir(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("load_dir", value.into_property());
        self
    }

    /// The folder of files that keep modules from being loaded.
    ///
    /// Default: `"/etc/modprobe.d"`.
    pub fn unload_dir(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("unload_dir", value.into_property());
        self
    }

    /// Loads the module, and at every start.
    pub fn action_install(mut self) -> Self {
        self.0.action("install");
        self
    }

    /// Unloads the module and loads it no more at the start.
    pub fn action_uninstall(mut self) -> Self {
        self.0.action("uninstall");
        self
    }

    /// Keeps the module from being loaded on its own.
    pub fn action_blacklist(mut self) -> Self {
        self.0.action("blacklist");
        self
    }

    /// Keeps the module from being loaded at all.
    pub fn action_disable(mut self) -> Self {
        self.0.action("disable");
        self
    }

    /// Undoes `disable`.
    pub fn action_enable(mut self) -> Self {
        self.0.action("enable");
        self
    }

    /// Loads the module now.
    pub fn action_load(mut self) -> Self {
        self.0.action("load");
        self
    }

    /// Unloads the module now.
    pub fn action_unload(mut self) -> Self {
        self.0.action("unload");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(KernelModule);

/// Runs a script with `ksh`. It runs each time unless a guard or `creates` says otherwise.
///
/// Default action: `run`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct Ksh(pub(crate) Builder);

/// A new `ksh` resource.
#[track_caller]
pub fn ksh(name: impl Into<String>) -> Ksh {
    Ksh(Builder::new("ksh", name))
}

impl Ksh {
    /// A path: while something exists there, nothing is run.
    pub fn creates(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("creates", value.into_property());
        self
    }

    /// The working directory.
    pub fn cwd(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("cwd", value.into_property());
        self
    }

    /// Environment variables, beside those of the run.
    pub fn environment(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("environment", value.into_property());
        self
    }

    /// The user to run as, by name or number.
    pub fn user(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("user", value.into_property());
        self
    }

    /// The group to run as, by name or number.
    pub fn group(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("group", value.into_property());
        self
    }

    /// Whether the user's groups and login environment apply.
    ///
    /// Default: `false`.
    pub fn login(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("login", value.into_property());
        self
    }

    /// Whether the command's output is shown while it runs.
    ///
    /// Default: `false`.
    pub fn live_stream(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("live_stream", value.into_property());
        self
    }

    /// Whether PATH and the locale are set as for the run's own commands.
    ///
    /// Default: `false`.
    pub fn default_env(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("default_env", value.into_property());
        self
    }

    /// Text for the command's standard input.
    pub fn input(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("input", value.into_property());
        self
    }

    /// The exit status, or a list of them, that means success.
    ///
    /// Default: `0`.
    pub fn returns(mut self, value: impl IntoProperty<IntegerOrList>) -> Self {
        self.0.set("returns", value.into_property());
        self
    }

    /// Seconds after which the command is ended.
    ///
    /// Default: `3600`.
    pub fn timeout(mut self, value: impl IntoProperty<Anything>) -> Self {
        self.0.set("timeout", value.into_property());
        self
    }

    /// The domain of `user` (Windows only).
    pub fn domain(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("domain", value.into_property());
        self
    }

    /// The password of `user` (Windows only).
    ///
    /// Never shown.
    pub fn password(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("password", value.into_property());
        self
    }

    /// Whether the command runs with full rights (Windows only).
    ///
    /// Default: `false`.
    pub fn elevated(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("elevated", value.into_property());
        self
    }

    /// The script itself.
    ///
    /// Required.
    pub fn code(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("code", value.into_property());
        self
    }

    /// The program that runs the script.
    ///
    /// Default: `"ksh"`.
    pub fn interpreter(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("interpreter", value.into_property());
        self
    }

    /// Arguments for the interpreter, before the script.
    pub fn flags(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("flags", value.into_property());
        self
    }

    /// Runs it.
    pub fn action_run(mut self) -> Self {
        self.0.action("run");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(Ksh);

/// Manages a symbolic or hard link.
///
/// Default action: `create`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct Link(pub(crate) Builder);

/// A new `link` resource. The name is also its `target_file`, unless that is set.
#[track_caller]
pub fn link(name: impl Into<String>) -> Link {
    Link(Builder::new("link", name))
}

impl Link {
    /// The path of the link itself.
    ///
    /// Default: the resource's name.
    pub fn target_file(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("target_file", value.into_property());
        self
    }

    /// What the link points to.
    pub fn to(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("to", value.into_property());
        self
    }

    /// A symbolic or a hard link.
    ///
    /// One of `symbolic`, `hard`. Default: `:symbolic`.
    pub fn link_type(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("link_type", value.into_property());
        self
    }

    /// The owner, as a user's name or number.
    pub fn owner(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("owner", value.into_property());
        self
    }

    /// The owning group, as a name or number.
    pub fn group(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("group", value.into_property());
        self
    }

    /// Creates the link, or points it elsewhere.
    pub fn action_create(mut self) -> Self {
        self.0.action("create");
        self
    }

    /// Removes the link, never what it points to.
    pub fn action_delete(mut self) -> Self {
        self.0.action("delete");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(Link);

/// Manages a local user, as `user` does.
///
/// Default action: `create`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct LinuxUser(pub(crate) Builder);

/// A new `linux_user` resource. The name is also its `username`, unless that is set.
#[track_caller]
pub fn linux_user(name: impl Into<String>) -> LinuxUser {
    LinuxUser(Builder::new("linux_user", name))
}

impl LinuxUser {
    /// The user's name.
    ///
    /// Default: the resource's name.
    pub fn username(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("username", value.into_property());
        self
    }

    /// The full name and what else stands in the comment field.
    pub fn comment(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("comment", value.into_property());
        self
    }

    /// The user's number.
    pub fn uid(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("uid", value.into_property());
        self
    }

    /// The primary group, by name or number.
    pub fn gid(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("gid", value.into_property());
        self
    }

    /// The home directory.
    pub fn home(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("home", value.into_property());
        self
    }

    /// The login shell.
    pub fn shell(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("shell", value.into_property());
        self
    }

    /// The password's hash, as it stands in the shadow file.
    ///
    /// Never shown.
    pub fn password(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("password", value.into_property());
        self
    }

    /// The password's salt (macOS only).
    pub fn salt(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("salt", value.into_property());
        self
    }

    /// Whether the number may be another user's too.
    ///
    /// Default: `false`.
    pub fn non_unique(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("non_unique", value.into_property());
        self
    }

    /// Whether the home directory is created, moved and removed with the user.
    ///
    /// Default: `false`.
    pub fn manage_home(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("manage_home", value.into_property());
        self
    }

    /// Whether a user who is logged in is removed, with home directory and mail.
    ///
    /// Default: `false`.
    pub fn force(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("force", value.into_property());
        self
    }

    /// Whether a new user gets a number from the system's range.
    ///
    /// Default: `false`.
    pub fn system(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("system", value.into_property());
        self
    }

    /// The day on which the account expires, as YYYY-MM-DD.
    pub fn expire_date(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("expire_date", value.into_property());
        self
    }

    /// Days after the password has expired until the account is closed; 0 closes it at once, -1 never.
    pub fn inactive(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("inactive", value.into_property());
        self
    }

    /// Creates the user, or corrects what differs.
    pub fn action_create(mut self) -> Self {
        self.0.action("create");
        self
    }

    /// Removes the user.
    pub fn action_remove(mut self) -> Self {
        self.0.action("remove");
        self
    }

    /// Corrects an existing user; it is an error if it does not exist.
    pub fn action_modify(mut self) -> Self {
        self.0.action("modify");
        self
    }

    /// Corrects the user if there is one.
    pub fn action_manage(mut self) -> Self {
        self.0.action("manage");
        self
    }

    /// Locks the user's password.
    pub fn action_lock(mut self) -> Self {
        self.0.action("lock");
        self
    }

    /// Unlocks the user's password.
    pub fn action_unlock(mut self) -> Self {
        self.0.action("unlock");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(LinuxUser);

/// Sets the language and the regional settings of the system.
///
/// Default action: `update`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct Locale(pub(crate) Builder);

/// A new `locale` resource.
#[track_caller]
pub fn locale(name: impl Into<String>) -> Locale {
    Locale(Builder::new("locale", name))
}

impl Locale {
    /// The language, such as `en_GB.UTF-8`.
    pub fn lang(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("lang", value.into_property());
        self
    }

    /// Regional settings: names beginning with LC_ and their values.
    ///
    /// Default: `{}`.
    pub fn lc_env(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("lc_env", value.into_property());
        self
    }

    /// Sets the language and the settings.
    pub fn action_update(mut self) -> Self {
        self.0.action("update");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(Locale);

/// Writes a message to the run's log. It counts as a change only where it notifies.
///
/// Default action: `write`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct Log(pub(crate) Builder);

/// A new `log` resource. The name is also its `message`, unless that is set.
#[track_caller]
pub fn log(name: impl Into<String>) -> Log {
    Log(Builder::new("log", name))
}

impl Log {
    /// The message.
    ///
    /// Default: the resource's name.
    pub fn message(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("message", value.into_property());
        self
    }

    /// The message's level.
    ///
    /// One of `debug`, `info`, `warn`, `error`, `fatal`. Default: `:info`.
    pub fn level(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("level", value.into_property());
        self
    }

    /// Writes the message.
    pub fn action_write(mut self) -> Self {
        self.0.action("write");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(Log);

/// Manages a mounted file system and its line in fstab.
///
/// Default action: `mount`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct Mount(pub(crate) Builder);

/// A new `mount` resource. The name is also its `mount_point`, unless that is set.
#[track_caller]
pub fn mount(name: impl Into<String>) -> Mount {
    Mount(Builder::new("mount", name))
}

impl Mount {
    /// Where it is mounted.
    ///
    /// Default: the resource's name.
    pub fn mount_point(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("mount_point", value.into_property());
        self
    }

    /// The device, label, number or remote share.
    pub fn device(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("device", value.into_property());
        self
    }

    /// How `device` names it.
    ///
    /// One of `device`, `label`, `uuid`. Default: `:device`.
    pub fn device_type(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("device_type", value.into_property());
        self
    }

    /// The kind of file system.
    ///
    /// Default: `"auto"`.
    pub fn fstype(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("fstype", value.into_property());
        self
    }

    /// Options of the mount, as a list or separated by commas.
    ///
    /// Default: `["defaults"]`.
    pub fn options(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("options", value.into_property());
        self
    }

    /// The dump field of fstab.
    ///
    /// Default: `0`.
    pub fn dump(mut self, value: impl IntoProperty<BooleanOrInteger>) -> Self {
        self.0.set("dump", value.into_property());
        self
    }

    /// The field of fstab that says when the file system is checked.
    ///
    /// Default: `2`.
    pub fn pass(mut self, value: impl IntoProperty<BooleanOrInteger>) -> Self {
        self.0.set("pass", value.into_property());
        self
    }

    /// The device to check (Solaris only).
    ///
    /// Default: `"-"`.
    pub fn fsck_device(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("fsck_device", value.into_property());
        self
    }

    /// Whether the file system can be mounted again without unmounting.
    ///
    /// Default: `{"remount"=>false}`.
    pub fn supports(mut self, value: impl IntoProperty<ListOrMap>) -> Self {
        self.0.set("supports", value.into_property());
        self
    }

    /// Whether it is listed in fstab.
    ///
    /// Default: `false`.
    pub fn enabled(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("enabled", value.into_property());
        self
    }

    /// The user for a remote share.
    pub fn username(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("username", value.into_property());
        self
    }

    /// The user's password.
    ///
    /// Never shown.
    pub fn password(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("password", value.into_property());
        self
    }

    /// The user's domain.
    pub fn domain(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("domain", value.into_property());
        self
    }

    /// Mounts the device unless it is mounted.
    pub fn action_mount(mut self) -> Self {
        self.0.action("mount");
        self
    }

    /// Unmounts the device.
    pub fn action_umount(mut self) -> Self {
        self.0.action("umount");
        self
    }

    /// The same as `umount`.
    pub fn action_unmount(mut self) -> Self {
        self.0.action("unmount");
        self
    }

    /// Mounts the device again, with changed options.
    pub fn action_remount(mut self) -> Self {
        self.0.action("remount");
        self
    }

    /// Enters the file system in fstab.
    pub fn action_enable(mut self) -> Self {
        self.0.action("enable");
        self
    }

    /// Removes the file system from fstab.
    pub fn action_disable(mut self) -> Self {
        self.0.action("disable");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(Mount);

/// Does nothing itself and always counts as changed: one name for several notifications.
///
/// Default action: `nothing`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct NotifyGroup(pub(crate) Builder);

/// A new `notify_group` resource.
#[track_caller]
pub fn notify_group(name: impl Into<String>) -> NotifyGroup {
    NotifyGroup(Builder::new("notify_group", name))
}

impl NotifyGroup {
    /// Sends the notifications.
    pub fn action_run(mut self) -> Self {
        self.0.action("run");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(NotifyGroup);

/// Gathers the node's facts again, for instance after a user was created.
///
/// Default action: `reload`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct Ohai(pub(crate) Builder);

/// A new `ohai` resource.
#[track_caller]
pub fn ohai(name: impl Into<String>) -> Ohai {
    Ohai(Builder::new("ohai", name))
}

impl Ohai {
    /// The group of facts to gather; all if unset.
    pub fn plugin(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("plugin", value.into_property());
        self
    }

    /// Gathers the facts.
    pub fn action_reload(mut self) -> Self {
        self.0.action("reload");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(Ohai);

/// Leaves a file that tells the gathering of facts what it cannot find out, such as the cloud's name.
///
/// Default action: `create`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct OhaiHint(pub(crate) Builder);

/// A new `ohai_hint` resource. The name is also its `hint_name`, unless that is set.
#[track_caller]
pub fn ohai_hint(name: impl Into<String>) -> OhaiHint {
    OhaiHint(Builder::new("ohai_hint", name))
}

impl OhaiHint {
    /// The hint's name.
    ///
    /// Default: the resource's name.
    pub fn hint_name(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("hint_name", value.into_property());
        self
    }

    /// What the hint says.
    pub fn content(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("content", value.into_property());
        self
    }

    /// Writes the hint.
    pub fn action_create(mut self) -> Self {
        self.0.action("create");
        self
    }

    /// Removes the hint.
    pub fn action_delete(mut self) -> Self {
        self.0.action("delete");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(OhaiHint);

/// Manages packages with the package manager of the node's platform. A list of names is handled in one transaction.
///
/// Default action: `install`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct Package(pub(crate) Builder);

/// A new `package` resource. The name is also its `package_name`, unless that is set.
#[track_caller]
pub fn package(name: impl Into<String>) -> Package {
    Package(Builder::new("package", name))
}

impl Package {
    /// The package's name, or several.
    ///
    /// Default: the resource's name.
    pub fn package_name(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("package_name", value.into_property());
        self
    }

    /// The version, or one for each name of the list.
    pub fn version(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("version", value.into_property());
        self
    }

    /// Further arguments for the package manager.
    pub fn options(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("options", value.into_property());
        self
    }

    /// A package file on the node.
    pub fn source(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("source", value.into_property());
        self
    }

    /// Seconds after which the package manager is ended.
    ///
    /// Default: 900.
    pub fn timeout(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("timeout", value.into_property());
        self
    }

    /// Environment variables for the package manager.
    ///
    /// Default: `{}`.
    pub fn environment(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("environment", value.into_property());
        self
    }

    /// The release that versions are taken from, as `-t` of apt-get.
    pub fn default_release(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("default_release", value.into_property());
        self
    }

    /// Whether the package's configuration replaces files changed on the node.
    ///
    /// Default: `false`.
    pub fn overwrite_config_files(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("overwrite_config_files", value.into_property());
        self
    }

    /// A template of the cookbook with answers to debconf's questions.
    pub fn response_file(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("response_file", value.into_property());
        self
    }

    /// What the response file's template sees as its variables.
    ///
    /// Default: `{}`.
    pub fn response_file_variables(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("response_file_variables", value.into_property());
        self
    }

    /// Whether a name that apt takes as a pattern must match whole names.
    ///
    /// Default: `false`.
    pub fn anchor_package_regex(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("anchor_package_regex", value.into_property());
        self
    }

    /// Installs the package; with a version, exactly that one.
    pub fn action_install(mut self) -> Self {
        self.0.action("install");
        self
    }

    /// Installs the package or brings it to the newest version.
    pub fn action_upgrade(mut self) -> Self {
        self.0.action("upgrade");
        self
    }

    /// Removes the package and leaves its configuration.
    pub fn action_remove(mut self) -> Self {
        self.0.action("remove");
        self
    }

    /// Removes the package and its configuration.
    pub fn action_purge(mut self) -> Self {
        self.0.action("purge");
        self
    }

    /// Configures the package again from its response file.
    pub fn action_reconfig(mut self) -> Self {
        self.0.action("reconfig");
        self
    }

    /// Keeps the package at its version.
    pub fn action_lock(mut self) -> Self {
        self.0.action("lock");
        self
    }

    /// Lets the package be upgraded again.
    pub fn action_unlock(mut self) -> Self {
        self.0.action("unlock");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(Package);

/// Runs a script with `perl`. It runs each time unless a guard or `creates` says otherwise.
///
/// Default action: `run`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct Perl(pub(crate) Builder);

/// A new `perl` resource.
#[track_caller]
pub fn perl(name: impl Into<String>) -> Perl {
    Perl(Builder::new("perl", name))
}

impl Perl {
    /// A path: while something exists there, nothing is run.
    pub fn creates(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("creates", value.into_property());
        self
    }

    /// The working directory.
    pub fn cwd(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("cwd", value.into_property());
        self
    }

    /// Environment variables, beside those of the run.
    pub fn environment(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("environment", value.into_property());
        self
    }

    /// The user to run as, by name or number.
    pub fn user(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("user", value.into_property());
        self
    }

    /// The group to run as, by name or number.
    pub fn group(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("group", value.into_property());
        self
    }

    /// Whether the user's groups and login environment apply.
    ///
    /// Default: `false`.
    pub fn login(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("login", value.into_property());
        self
    }

    /// Whether the command's output is shown while it runs.
    ///
    /// Default: `false`.
    pub fn live_stream(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("live_stream", value.into_property());
        self
    }

    /// Whether PATH and the locale are set as for the run's own commands.
    ///
    /// Default: `false`.
    pub fn default_env(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("default_env", value.into_property());
        self
    }

    /// Text for the command's standard input.
    pub fn input(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("input", value.into_property());
        self
    }

    /// The exit status, or a list of them, that means success.
    ///
    /// Default: `0`.
    pub fn returns(mut self, value: impl IntoProperty<IntegerOrList>) -> Self {
        self.0.set("returns", value.into_property());
        self
    }

    /// Seconds after which the command is ended.
    ///
    /// Default: `3600`.
    pub fn timeout(mut self, value: impl IntoProperty<Anything>) -> Self {
        self.0.set("timeout", value.into_property());
        self
    }

    /// The domain of `user` (Windows only).
    pub fn domain(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("domain", value.into_property());
        self
    }

    /// The password of `user` (Windows only).
    ///
    /// Never shown.
    pub fn password(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("password", value.into_property());
        self
    }

    /// Whether the command runs with full rights (Windows only).
    ///
    /// Default: `false`.
    pub fn elevated(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("elevated", value.into_property());
        self
    }

    /// The script itself.
    ///
    /// Required.
    pub fn code(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("code", value.into_property());
        self
    }

    /// The program that runs the script.
    ///
    /// Default: `"perl"`.
    pub fn interpreter(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("interpreter", value.into_property());
        self
    }

    /// Arguments for the interpreter, before the script.
    pub fn flags(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("flags", value.into_property());
        self
    }

    /// Runs it.
    pub fn action_run(mut self) -> Self {
        self.0.action("run");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(Perl);

/// Runs a script with `python`. It runs each time unless a guard or `creates` says otherwise.
///
/// Default action: `run`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct Python(pub(crate) Builder);

/// A new `python` resource.
#[track_caller]
pub fn python(name: impl Into<String>) -> Python {
    Python(Builder::new("python", name))
}

impl Python {
    /// A path: while something exists there, nothing is run.
    pub fn creates(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("creates", value.into_property());
        self
    }

    /// The working directory.
    pub fn cwd(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("cwd", value.into_property());
        self
    }

    /// Environment variables, beside those of the run.
    pub fn environment(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("environment", value.into_property());
        self
    }

    /// The user to run as, by name or number.
    pub fn user(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("user", value.into_property());
        self
    }

    /// The group to run as, by name or number.
    pub fn group(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("group", value.into_property());
        self
    }

    /// Whether the user's groups and login environment apply.
    ///
    /// Default: `false`.
    pub fn login(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("login", value.into_property());
        self
    }

    /// Whether the command's output is shown while it runs.
    ///
    /// Default: `false`.
    pub fn live_stream(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("live_stream", value.into_property());
        self
    }

    /// Whether PATH and the locale are set as for the run's own commands.
    ///
    /// Default: `false`.
    pub fn default_env(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("default_env", value.into_property());
        self
    }

    /// Text for the command's standard input.
    pub fn input(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("input", value.into_property());
        self
    }

    /// The exit status, or a list of them, that means success.
    ///
    /// Default: `0`.
    pub fn returns(mut self, value: impl IntoProperty<IntegerOrList>) -> Self {
        self.0.set("returns", value.into_property());
        self
    }

    /// Seconds after which the command is ended.
    ///
    /// Default: `3600`.
    pub fn timeout(mut self, value: impl IntoProperty<Anything>) -> Self {
        self.0.set("timeout", value.into_property());
        self
    }

    /// The domain of `user` (Windows only).
    pub fn domain(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("domain", value.into_property());
        self
    }

    /// The password of `user` (Windows only).
    ///
    /// Never shown.
    pub fn password(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("password", value.into_property());
        self
    }

    /// Whether the command runs with full rights (Windows only).
    ///
    /// Default: `false`.
    pub fn elevated(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("elevated", value.into_property());
        self
    }

    /// The script itself.
    ///
    /// Required.
    pub fn code(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("code", value.into_property());
        self
    }

    /// The program that runs the script.
    ///
    /// Default: `"python"`.
    pub fn interpreter(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("interpreter", value.into_property());
        self
    }

    /// Arguments for the interpreter, before the script.
    pub fn flags(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("flags", value.into_property());
        self
    }

    /// Runs it.
    pub fn action_run(mut self) -> Self {
        self.0.action("run");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(Python);

/// Starts the node again, at once or after the run.
///
/// Default action: `nothing`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct Reboot(pub(crate) Builder);

/// A new `reboot` resource.
#[track_caller]
pub fn reboot(name: impl Into<String>) -> Reboot {
    Reboot(Builder::new("reboot", name))
}

impl Reboot {
    /// The reason, for the log.
    ///
    /// Default: `"Reboot by Chef Infra Client"`.
    pub fn reason(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("reason", value.into_property());
        self
    }

    /// Minutes to wait.
    ///
    /// Default: `0`.
    pub fn delay_mins(mut self, value: impl IntoProperty<Integer>) -> Self {
        self.0.set("delay_mins", value.into_property());
        self
    }

    /// Starts the node again when the run has ended well.
    pub fn action_request_reboot(mut self) -> Self {
        self.0.action("request_reboot");
        self
    }

    /// Ends the run and starts the node again.
    pub fn action_reboot_now(mut self) -> Self {
        self.0.action("reboot_now");
        self
    }

    /// Takes back a request.
    pub fn action_cancel(mut self) -> Self {
        self.0.action("cancel");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(Reboot);

/// Copies a folder of a cookbook's `files`, with everything in it.
///
/// Default action: `create`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct RemoteDirectory(pub(crate) Builder);

/// A new `remote_directory` resource. The name is also its `path`, unless that is set.
#[track_caller]
pub fn remote_directory(name: impl Into<String>) -> RemoteDirectory {
    RemoteDirectory(Builder::new("remote_directory", name))
}

impl RemoteDirectory {
    /// The owner, as a user's name or number.
    pub fn owner(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("owner", value.into_property());
        self
    }

    /// The owning group, as a name or number.
    pub fn group(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("group", value.into_property());
        self
    }

    /// The permission bits, as octal text or a number.
    pub fn mode(mut self, value: impl IntoProperty<Mode>) -> Self {
        self.0.set("mode", value.into_property());
        self
    }

    /// The directory's path on the node.
    ///
    /// Default: the resource's name.
    pub fn path(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("path", value.into_property());
        self
    }

    /// The folder's path below `files`.
    ///
    /// Default: the last component of `path`.
    pub fn source(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("source", value.into_property());
        self
    }

    /// The cookbook that has the source.
    ///
    /// Default: the cookbook that declares the resource.
    pub fn cookbook(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("cookbook", value.into_property());
        self
    }

    /// Whether missing parents are made, and `delete` removes what is inside.
    ///
    /// Default: `true`.
    pub fn recursive(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("recursive", value.into_property());
        self
    }

    /// Whether files that the cookbook does not have are removed.
    ///
    /// Default: `false`.
    pub fn purge(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("purge", value.into_property());
        self
    }

    /// Whether files that differ are replaced.
    ///
    /// Default: `true`.
    pub fn overwrite(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("overwrite", value.into_property());
        self
    }

    /// How many earlier versions of each file are kept; false keeps none.
    ///
    /// Default: `5`.
    pub fn files_backup(mut self, value: impl IntoProperty<BooleanOrInteger>) -> Self {
        self.0.set("files_backup", value.into_property());
        self
    }

    /// The owner of the files.
    pub fn files_owner(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("files_owner", value.into_property());
        self
    }

    /// The group of the files.
    pub fn files_group(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("files_group", value.into_property());
        self
    }

    /// The permission bits of the files; null leaves them to the umask.
    ///
    /// Default: `"0644"`.
    pub fn files_mode(mut self, value: impl IntoProperty<Mode>) -> Self {
        self.0.set("files_mode", value.into_property());
        self
    }

    /// Creates the directory and its files, or corrects what differs.
    pub fn action_create(mut self) -> Self {
        self.0.action("create");
        self
    }

    /// Removes the directory.
    pub fn action_delete(mut self) -> Self {
        self.0.action("delete");
        self
    }

    /// Creates what is missing; existing files are left alone.
    pub fn action_create_if_missing(mut self) -> Self {
        self.0.action("create_if_missing");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(RemoteDirectory);

/// Downloads a file over HTTP or HTTPS, or copies one by a `file:` address.
///
/// Default action: `create`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct RemoteFile(pub(crate) Builder);

/// A new `remote_file` resource. The name is also its `path`, unless that is set.
#[track_caller]
pub fn remote_file(name: impl Into<String>) -> RemoteFile {
    RemoteFile(Builder::new("remote_file", name))
}

impl RemoteFile {
    /// The owner, as a user's name or number.
    pub fn owner(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("owner", value.into_property());
        self
    }

    /// The owning group, as a name or number.
    pub fn group(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("group", value.into_property());
        self
    }

    /// The permission bits, as octal text or a number.
    pub fn mode(mut self, value: impl IntoProperty<Mode>) -> Self {
        self.0.set("mode", value.into_property());
        self
    }

    /// The file's path.
    ///
    /// Default: the resource's name.
    pub fn path(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("path", value.into_property());
        self
    }

    /// Whether new content replaces the file in one step. Off means it is written in place, for files that are mount points.
    ///
    /// Default: true, but false for files that a container runtime mounts.
    pub fn atomic_update(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("atomic_update", value.into_property());
        self
    }

    /// How many earlier versions are kept in the backup folder; false keeps none.
    ///
    /// Default: `5`.
    pub fn backup(mut self, value: impl IntoProperty<BooleanOrInteger>) -> Self {
        self.0.set("backup", value.into_property());
        self
    }

    /// Whether something else than a file at the path is removed to make room.
    ///
    /// Default: `false`.
    pub fn force_unlink(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("force_unlink", value.into_property());
        self
    }

    /// Whether a symbolic link at the path is followed and its target managed; unset follows with a warning, false replaces the link.
    pub fn manage_symlink_source(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("manage_symlink_source", value.into_property());
        self
    }

    /// A command that must accept the new content before it is put in place; `%{path}` stands for the file to look at. Several calls collect.
    pub fn verify(mut self, value: impl IntoProperty<List>) -> Self {
        self.0.append("verify", value.into_property());
        self
    }

    /// The difference that the last action made, for reports.
    pub fn diff(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("diff", value.into_property());
        self
    }

    /// The address; of a list, the first that answers.
    pub fn source(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("source", value.into_property());
        self
    }

    /// The SHA-256 digest of the content or its beginning, in hexadecimal: a file that has it is not downloaded again, a download that has not is refused.
    pub fn checksum(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("checksum", value.into_property());
        self
    }

    /// Headers of the request.
    ///
    /// Default: `{}`.
    pub fn headers(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("headers", value.into_property());
        self
    }

    /// Whether the server is asked by its last ETag, so that it need not send the file again.
    ///
    /// Default: `true`.
    pub fn use_etag(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("use_etag", value.into_property());
        self
    }

    /// Whether the server is asked by the time of the last download.
    ///
    /// Default: `true`.
    pub fn use_last_modified(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("use_last_modified", value.into_property());
        self
    }

    /// Sets `use_etag` and `use_last_modified` together.
    pub fn use_conditional_get(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("use_conditional_get", value.into_property());
        self
    }

    /// Whether FTP is used in its active mode.
    ///
    /// Default: `false`.
    pub fn ftp_active_mode(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("ftp_active_mode", value.into_property());
        self
    }

    /// Whether progress is shown.
    ///
    /// Default: `false`.
    pub fn show_progress(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("show_progress", value.into_property());
        self
    }

    /// Whether the server's certificate is checked.
    ///
    /// One of `verify_none`, `verify_peer`.
    pub fn ssl_verify_mode(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("ssl_verify_mode", value.into_property());
        self
    }

    /// The user for a share or server that asks for one.
    pub fn remote_user(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("remote_user", value.into_property());
        self
    }

    /// The domain of `remote_user`.
    pub fn remote_domain(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("remote_domain", value.into_property());
        self
    }

    /// The password of `remote_user`.
    ///
    /// Never shown.
    pub fn remote_password(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("remote_password", value.into_property());
        self
    }

    /// Whether `remote_user` is known to the other side or to this node.
    ///
    /// One of `remote`, `local`. Default: `:remote`.
    pub fn authentication(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("authentication", value.into_property());
        self
    }

    /// Further settings of the request.
    ///
    /// Default: `{}`.
    pub fn http_options(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("http_options", value.into_property());
        self
    }

    /// Creates the file, or corrects what differs.
    pub fn action_create(mut self) -> Self {
        self.0.action("create");
        self
    }

    /// Removes the file.
    pub fn action_delete(mut self) -> Self {
        self.0.action("delete");
        self
    }

    /// Creates the file if it is missing, and sets its times to now.
    pub fn action_touch(mut self) -> Self {
        self.0.action("touch");
        self
    }

    /// Creates the file if it does not exist; an existing one is left alone.
    pub fn action_create_if_missing(mut self) -> Self {
        self.0.action("create_if_missing");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(RemoteFile);

/// Installs packages from files on the node with rpm, without their dependencies.
///
/// Default action: `install`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct RpmPackage(pub(crate) Builder);

/// A new `rpm_package` resource. The name is also its `package_name`, unless that is set.
#[track_caller]
pub fn rpm_package(name: impl Into<String>) -> RpmPackage {
    RpmPackage(Builder::new("rpm_package", name))
}

impl RpmPackage {
    /// Further arguments for the package manager.
    pub fn options(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("options", value.into_property());
        self
    }

    /// A package file on the node.
    pub fn source(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("source", value.into_property());
        self
    }

    /// Seconds after which the package manager is ended.
    ///
    /// Default: 900.
    pub fn timeout(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("timeout", value.into_property());
        self
    }

    /// Environment variables for the package manager.
    ///
    /// Default: `{}`.
    pub fn environment(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("environment", value.into_property());
        self
    }

    /// The package's name.
    ///
    /// Default: the resource's name.
    pub fn package_name(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("package_name", value.into_property());
        self
    }

    /// The version.
    pub fn version(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("version", value.into_property());
        self
    }

    /// Whether an older version may replace a newer one.
    ///
    /// Default: `true`.
    pub fn allow_downgrade(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("allow_downgrade", value.into_property());
        self
    }

    /// Installs the package.
    pub fn action_install(mut self) -> Self {
        self.0.action("install");
        self
    }

    /// Installs the package or brings it to this version.
    pub fn action_upgrade(mut self) -> Self {
        self.0.action("upgrade");
        self
    }

    /// Removes the package.
    pub fn action_remove(mut self) -> Self {
        self.0.action("remove");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(RpmPackage);

/// Runs a script with `ruby`. It runs each time unless a guard or `creates` says otherwise.
///
/// Default action: `run`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct Ruby(pub(crate) Builder);

/// A new `ruby` resource.
#[track_caller]
pub fn ruby(name: impl Into<String>) -> Ruby {
    Ruby(Builder::new("ruby", name))
}

impl Ruby {
    /// A path: while something exists there, nothing is run.
    pub fn creates(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("creates", value.into_property());
        self
    }

    /// The working directory.
    pub fn cwd(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("cwd", value.into_property());
        self
    }

    /// Environment variables, beside those of the run.
    pub fn environment(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("environment", value.into_property());
        self
    }

    /// The user to run as, by name or number.
    pub fn user(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("user", value.into_property());
        self
    }

    /// The group to run as, by name or number.
    pub fn group(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("group", value.into_property());
        self
    }

    /// Whether the user's groups and login environment apply.
    ///
    /// Default: `false`.
    pub fn login(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("login", value.into_property());
        self
    }

    /// Whether the command's output is shown while it runs.
    ///
    /// Default: `false`.
    pub fn live_stream(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("live_stream", value.into_property());
        self
    }

    /// Whether PATH and the locale are set as for the run's own commands.
    ///
    /// Default: `false`.
    pub fn default_env(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("default_env", value.into_property());
        self
    }

    /// Text for the command's standard input.
    pub fn input(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("input", value.into_property());
        self
    }

    /// The exit status, or a list of them, that means success.
    ///
    /// Default: `0`.
    pub fn returns(mut self, value: impl IntoProperty<IntegerOrList>) -> Self {
        self.0.set("returns", value.into_property());
        self
    }

    /// Seconds after which the command is ended.
    ///
    /// Default: `3600`.
    pub fn timeout(mut self, value: impl IntoProperty<Anything>) -> Self {
        self.0.set("timeout", value.into_property());
        self
    }

    /// The domain of `user` (Windows only).
    pub fn domain(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("domain", value.into_property());
        self
    }

    /// The password of `user` (Windows only).
    ///
    /// Never shown.
    pub fn password(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("password", value.into_property());
        self
    }

    /// Whether the command runs with full rights (Windows only).
    ///
    /// Default: `false`.
    pub fn elevated(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("elevated", value.into_property());
        self
    }

    /// The script itself.
    ///
    /// Required.
    pub fn code(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("code", value.into_property());
        self
    }

    /// The program that runs the script.
    ///
    /// Default: `"ruby"`.
    pub fn interpreter(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("interpreter", value.into_property());
        self
    }

    /// Arguments for the interpreter, before the script.
    pub fn flags(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("flags", value.into_property());
        self
    }

    /// Runs it.
    pub fn action_run(mut self) -> Self {
        self.0.action("run");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(Ruby);

/// Runs a script with a given interpreter. It runs each time unless a guard or `creates` says otherwise.
///
/// Default action: `run`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct Script(pub(crate) Builder);

/// A new `script` resource.
#[track_caller]
pub fn script(name: impl Into<String>) -> Script {
    Script(Builder::new("script", name))
}

impl Script {
    /// A path: while something exists there, nothing is run.
    pub fn creates(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("creates", value.into_property());
        self
    }

    /// The working directory.
    pub fn cwd(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("cwd", value.into_property());
        self
    }

    /// Environment variables, beside those of the run.
    pub fn environment(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("environment", value.into_property());
        self
    }

    /// The user to run as, by name or number.
    pub fn user(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("user", value.into_property());
        self
    }

    /// The group to run as, by name or number.
    pub fn group(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("group", value.into_property());
        self
    }

    /// Whether the user's groups and login environment apply.
    ///
    /// Default: `false`.
    pub fn login(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("login", value.into_property());
        self
    }

    /// Whether the command's output is shown while it runs.
    ///
    /// Default: `false`.
    pub fn live_stream(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("live_stream", value.into_property());
        self
    }

    /// Whether PATH and the locale are set as for the run's own commands.
    ///
    /// Default: `false`.
    pub fn default_env(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("default_env", value.into_property());
        self
    }

    /// Text for the command's standard input.
    pub fn input(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("input", value.into_property());
        self
    }

    /// The exit status, or a list of them, that means success.
    ///
    /// Default: `0`.
    pub fn returns(mut self, value: impl IntoProperty<IntegerOrList>) -> Self {
        self.0.set("returns", value.into_property());
        self
    }

    /// Seconds after which the command is ended.
    ///
    /// Default: `3600`.
    pub fn timeout(mut self, value: impl IntoProperty<Anything>) -> Self {
        self.0.set("timeout", value.into_property());
        self
    }

    /// The domain of `user` (Windows only).
    pub fn domain(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("domain", value.into_property());
        self
    }

    /// The password of `user` (Windows only).
    ///
    /// Never shown.
    pub fn password(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("password", value.into_property());
        self
    }

    /// Whether the command runs with full rights (Windows only).
    ///
    /// Default: `false`.
    pub fn elevated(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("elevated", value.into_property());
        self
    }

    /// The script itself.
    ///
    /// Required.
    pub fn code(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("code", value.into_property());
        self
    }

    /// The program that runs the script.
    ///
    /// Default: nothing: it must be set.
    pub fn interpreter(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("interpreter", value.into_property());
        self
    }

    /// Arguments for the interpreter, before the script.
    pub fn flags(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("flags", value.into_property());
        self
    }

    /// Runs it.
    pub fn action_run(mut self) -> Self {
        self.0.action("run");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(Script);

/// Manages a service: whether it runs, and whether it starts with the system.
///
/// Default action: `nothing`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct Service(pub(crate) Builder);

/// A new `service` resource. The name is also its `service_name`, unless that is set.
#[track_caller]
pub fn service(name: impl Into<String>) -> Service {
    Service(Builder::new("service", name))
}

impl Service {
    /// The service's name in the init system.
    ///
    /// Default: the resource's name.
    pub fn service_name(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("service_name", value.into_property());
        self
    }

    /// Which of `restart`, `reload` and `status` the service's init script understands.
    ///
    /// Default: `{"restart"=>nil, "reload"=>nil, "status"=>nil}`.
    pub fn supports(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("supports", value.into_property());
        self
    }

    /// What to look for in the process table where the init system cannot tell whether it runs.
    ///
    /// Default: the same as `service_name`.
    pub fn pattern(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("pattern", value.into_property());
        self
    }

    /// The command that starts it.
    pub fn start_command(mut self, value: impl IntoProperty<BooleanOrText>) -> Self {
        self.0.set("start_command", value.into_property());
        self
    }

    /// The command that stops it.
    pub fn stop_command(mut self, value: impl IntoProperty<BooleanOrText>) -> Self {
        self.0.set("stop_command", value.into_property());
        self
    }

    /// The command that tells by its exit status whether it runs.
    pub fn status_command(mut self, value: impl IntoProperty<BooleanOrText>) -> Self {
        self.0.set("status_command", value.into_property());
        self
    }

    /// The command that restarts it.
    pub fn restart_command(mut self, value: impl IntoProperty<BooleanOrText>) -> Self {
        self.0.set("restart_command", value.into_property());
        self
    }

    /// The command that makes it read its configuration again.
    pub fn reload_command(mut self, value: impl IntoProperty<BooleanOrText>) -> Self {
        self.0.set("reload_command", value.into_property());
        self
    }

    /// The path of its init script.
    pub fn init_command(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("init_command", value.into_property());
        self
    }

    /// Further arguments for the init system's command.
    pub fn options(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("options", value.into_property());
        self
    }

    /// When it starts and stops in each run level (System V).
    pub fn priority(mut self, value: impl IntoProperty<Anything>) -> Self {
        self.0.set("priority", value.into_property());
        self
    }

    /// Parameters for the init system's command (Upstart).
    pub fn parameters(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("parameters", value.into_property());
        self
    }

    /// The run levels in which it runs.
    pub fn run_levels(mut self, value: impl IntoProperty<List>) -> Self {
        self.0.set("run_levels", value.into_property());
        self
    }

    /// Seconds after which a command of the init system is ended.
    ///
    /// Default: `900`.
    pub fn timeout(mut self, value: impl IntoProperty<Integer>) -> Self {
        self.0.set("timeout", value.into_property());
        self
    }

    /// The user whose own service manager is meant (systemd).
    pub fn user(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("user", value.into_property());
        self
    }

    /// Makes the service start with the system.
    pub fn action_enable(mut self) -> Self {
        self.0.action("enable");
        self
    }

    /// Keeps the service from starting with the system.
    pub fn action_disable(mut self) -> Self {
        self.0.action("disable");
        self
    }

    /// Starts the service unless it runs.
    pub fn action_start(mut self) -> Self {
        self.0.action("start");
        self
    }

    /// Stops the service if it runs.
    pub fn action_stop(mut self) -> Self {
        self.0.action("stop");
        self
    }

    /// Stops the service and starts it again.
    pub fn action_restart(mut self) -> Self {
        self.0.action("restart");
        self
    }

    /// Makes the service read its configuration again.
    pub fn action_reload(mut self) -> Self {
        self.0.action("reload");
        self
    }

    /// Makes the service impossible to start (systemd).
    pub fn action_mask(mut self) -> Self {
        self.0.action("mask");
        self
    }

    /// Undoes `mask` (systemd).
    pub fn action_unmask(mut self) -> Self {
        self.0.action("unmask");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(Service);

/// Adds a host's key to those that ssh knows.
///
/// Default action: `create`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct SshKnownHostsEntry(pub(crate) Builder);

/// A new `ssh_known_hosts_entry` resource. The name is also its `host`, unless that is set.
#[track_caller]
pub fn ssh_known_hosts_entry(name: impl Into<String>) -> SshKnownHostsEntry {
    SshKnownHostsEntry(Builder::new("ssh_known_hosts_entry", name))
}

impl SshKnownHostsEntry {
    /// The host's name or address.
    ///
    /// Default: the resource's name.
    pub fn host(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("host", value.into_property());
        self
    }

    /// The host's public key; asked from the host itself if unset.
    pub fn key(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("key", value.into_property());
        self
    }

    /// The kind of key to ask for.
    ///
    /// Default: `"rsa"`.
    pub fn key_type(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("key_type", value.into_property());
        self
    }

    /// The host's port.
    ///
    /// Default: `22`.
    pub fn port(mut self, value: impl IntoProperty<Integer>) -> Self {
        self.0.set("port", value.into_property());
        self
    }

    /// Seconds to wait for the host.
    ///
    /// Default: `30`.
    pub fn timeout(mut self, value: impl IntoProperty<Integer>) -> Self {
        self.0.set("timeout", value.into_property());
        self
    }

    /// The file's permission bits.
    ///
    /// Default: `"0644"`.
    pub fn mode(mut self, value: impl IntoProperty<Mode>) -> Self {
        self.0.set("mode", value.into_property());
        self
    }

    /// The file's owner.
    ///
    /// Default: `"root"`.
    pub fn owner(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("owner", value.into_property());
        self
    }

    /// The file's group.
    ///
    /// Default: root's group.
    pub fn group(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("group", value.into_property());
        self
    }

    /// Whether the host's name is kept as a digest.
    ///
    /// Default: `false`.
    pub fn hash_entries(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("hash_entries", value.into_property());
        self
    }

    /// The file.
    ///
    /// Default: `"/etc/ssh/ssh_known_hosts"`.
    pub fn file_location(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("file_location", value.into_property());
        self
    }

    /// Adds the key.
    pub fn action_create(mut self) -> Self {
        self.0.action("create");
        self
    }

    /// Writes the keys that were added in this run.
    pub fn action_flush(mut self) -> Self {
        self.0.action("flush");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(SshKnownHostsEntry);

/// Manages a file in /etc/sudoers.d: who may run what as whom. It is checked before it is put in place.
///
/// Default action: `create`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct Sudo(pub(crate) Builder);

/// A new `sudo` resource. The name is also its `filename`, unless that is set.
#[track_caller]
pub fn sudo(name: impl Into<String>) -> Sudo {
    Sudo(Builder::new("sudo", name))
}

impl Sudo {
    /// The file's name.
    ///
    /// Default: the resource's name.
    pub fn filename(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("filename", value.into_property());
        self
    }

    /// The users who may run the commands.
    ///
    /// Default: `[]`.
    pub fn users(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("users", value.into_property());
        self
    }

    /// The groups whose members may run the commands.
    ///
    /// Default: `[]`.
    pub fn groups(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("groups", value.into_property());
        self
    }

    /// The commands, with their full paths, or names of `command_aliases`.
    ///
    /// Default: `["ALL"]`.
    pub fn commands(mut self, value: impl IntoProperty<List>) -> Self {
        self.0.set("commands", value.into_property());
        self
    }

    /// The host on which the line holds.
    ///
    /// Default: `"ALL"`.
    pub fn host(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("host", value.into_property());
        self
    }

    /// As whom the commands may be run.
    ///
    /// Default: `"ALL"`.
    pub fn runas(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("runas", value.into_property());
        self
    }

    /// Whether no password is asked.
    ///
    /// Default: `false`.
    pub fn nopasswd(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("nopasswd", value.into_property());
        self
    }

    /// Whether the commands are kept from starting others.
    ///
    /// Default: `false`.
    pub fn noexec(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("noexec", value.into_property());
        self
    }

    /// Whether the users may set environment variables.
    ///
    /// Default: `false`.
    pub fn setenv(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("setenv", value.into_property());
        self
    }

    /// Environment variables that are kept.
    ///
    /// Default: `[]`.
    pub fn env_keep_add(mut self, value: impl IntoProperty<List>) -> Self {
        self.0.set("env_keep_add", value.into_property());
        self
    }

    /// Environment variables that are not kept.
    ///
    /// Default: `[]`.
    pub fn env_keep_subtract(mut self, value: impl IntoProperty<List>) -> Self {
        self.0.set("env_keep_subtract", value.into_property());
        self
    }

    /// Settings for these users.
    ///
    /// Default: `[]`.
    pub fn defaults(mut self, value: impl IntoProperty<List>) -> Self {
        self.0.set("defaults", value.into_property());
        self
    }

    /// Names for groups of commands: maps with `name` and `command_list`.
    ///
    /// Default: `[]`.
    pub fn command_aliases(mut self, value: impl IntoProperty<List>) -> Self {
        self.0.set("command_aliases", value.into_property());
        self
    }

    /// A template of the cookbook for the whole file.
    pub fn template(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("template", value.into_property());
        self
    }

    /// What the template sees as its variables.
    ///
    /// Default: `nil`.
    pub fn variables(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("variables", value.into_property());
        self
    }

    /// The folder that has sudoers.d.
    ///
    /// Default: /etc, or the platform's own.
    pub fn config_prefix(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("config_prefix", value.into_property());
        self
    }

    /// The program that checks the file.
    ///
    /// Default: `"/usr/sbin/visudo"`.
    pub fn visudo_binary(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("visudo_binary", value.into_property());
        self
    }

    /// The former name of `visudo_binary`.
    #[deprecated = "use visudo_binary"]
    pub fn visudo_path(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("visudo_path", value.into_property());
        self
    }

    /// Writes the file, or corrects it.
    pub fn action_create(mut self) -> Self {
        self.0.action("create");
        self
    }

    /// The older name of `create`.
    pub fn action_install(mut self) -> Self {
        self.0.action("install");
        self
    }

    /// The older name of `delete`.
    pub fn action_remove(mut self) -> Self {
        self.0.action("remove");
        self
    }

    /// Removes the file.
    pub fn action_delete(mut self) -> Self {
        self.0.action("delete");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(Sudo);

/// Manages a file that is used as swap space.
///
/// Default action: `create`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct SwapFile(pub(crate) Builder);

/// A new `swap_file` resource. The name is also its `path`, unless that is set.
#[track_caller]
pub fn swap_file(name: impl Into<String>) -> SwapFile {
    SwapFile(Builder::new("swap_file", name))
}

impl SwapFile {
    /// The file's path.
    ///
    /// Default: the resource's name.
    pub fn path(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("path", value.into_property());
        self
    }

    /// The size in megabytes.
    pub fn size(mut self, value: impl IntoProperty<Integer>) -> Self {
        self.0.set("size", value.into_property());
        self
    }

    /// Whether it is used after the next start too.
    ///
    /// Default: `false`.
    pub fn persist(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("persist", value.into_property());
        self
    }

    /// Seconds after which making the file is ended.
    ///
    /// Default: `600`.
    pub fn timeout(mut self, value: impl IntoProperty<Integer>) -> Self {
        self.0.set("timeout", value.into_property());
        self
    }

    /// How readily the kernel swaps, from 0 to 100.
    pub fn swappiness(mut self, value: impl IntoProperty<Integer>) -> Self {
        self.0.set("swappiness", value.into_property());
        self
    }

    /// Makes the file and uses it.
    pub fn action_create(mut self) -> Self {
        self.0.action("create");
        self
    }

    /// Uses the file no more and removes it.
    pub fn action_remove(mut self) -> Self {
        self.0.action("remove");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(SwapFile);

/// Sets a kernel parameter, now and for the next start.
///
/// Default action: `apply`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct Sysctl(pub(crate) Builder);

/// A new `sysctl` resource. The name is also its `key`, unless that is set.
#[track_caller]
pub fn sysctl(name: impl Into<String>) -> Sysctl {
    Sysctl(Builder::new("sysctl", name))
}

impl Sysctl {
    /// The parameter's name.
    ///
    /// Default: the resource's name.
    pub fn key(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("key", value.into_property());
        self
    }

    /// The value that the parameter gets.
    ///
    /// Required for `apply`.
    pub fn value(mut self, value: impl IntoProperty<Anything>) -> Self {
        self.0.set("value", value.into_property());
        self
    }

    /// Whether errors of unknown parameters are ignored (`sysctl -e`).
    ///
    /// Default: `false`.
    pub fn ignore_error(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("ignore_error", value.into_property());
        self
    }

    /// Remarks above the parameter in the file.
    ///
    /// Default: `[]`.
    pub fn comment(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("comment", value.into_property());
        self
    }

    /// The folder of the file.
    ///
    /// Default: `"/etc/sysctl.d"`.
    pub fn conf_dir(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("conf_dir", value.into_property());
        self
    }

    /// Sets the value and writes the file.
    pub fn action_apply(mut self) -> Self {
        self.0.action("apply");
        self
    }

    /// Removes the file; the value in use stays.
    pub fn action_remove(mut self) -> Self {
        self.0.action("remove");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(Sysctl);

/// Manages a unit file of systemd and the unit's state.
///
/// Default action: `nothing`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct SystemdUnit(pub(crate) Builder);

/// A new `systemd_unit` resource. The name is also its `unit_name`, unless that is set.
#[track_caller]
pub fn systemd_unit(name: impl Into<String>) -> SystemdUnit {
    SystemdUnit(Builder::new("systemd_unit", name))
}

impl SystemdUnit {
    /// The unit's name with its suffix, such as `collectd.service`.
    ///
    /// Default: the resource's name.
    pub fn unit_name(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("unit_name", value.into_property());
        self
    }

    /// The user whose own systemd is meant.
    pub fn user(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("user", value.into_property());
        self
    }

    /// The unit file: its text, or a map of sections to maps of keys to values.
    pub fn content(mut self, value: impl IntoProperty<TextOrMap>) -> Self {
        self.0.set("content", value.into_property());
        self
    }

    /// Whether systemd reads its units again after a change.
    ///
    /// Default: `true`.
    pub fn triggers_reload(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("triggers_reload", value.into_property());
        self
    }

    /// Whether systemd-analyze must accept the unit first.
    ///
    /// Default: `true`.
    pub fn verify(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("verify", value.into_property());
        self
    }

    /// Writes the unit file, or corrects it.
    pub fn action_create(mut self) -> Self {
        self.0.action("create");
        self
    }

    /// Removes the unit file.
    pub fn action_delete(mut self) -> Self {
        self.0.action("delete");
        self
    }

    /// Enables or disables the unit as the distribution's presets say.
    pub fn action_preset(mut self) -> Self {
        self.0.action("preset");
        self
    }

    /// Goes back to the distribution's version of the unit.
    pub fn action_revert(mut self) -> Self {
        self.0.action("revert");
        self
    }

    /// Makes the unit start with the system.
    pub fn action_enable(mut self) -> Self {
        self.0.action("enable");
        self
    }

    /// Keeps the unit from starting with the system.
    pub fn action_disable(mut self) -> Self {
        self.0.action("disable");
        self
    }

    /// Disables the unit and enables it again.
    pub fn action_reenable(mut self) -> Self {
        self.0.action("reenable");
        self
    }

    /// Makes the unit impossible to start.
    pub fn action_mask(mut self) -> Self {
        self.0.action("mask");
        self
    }

    /// Undoes `mask`.
    pub fn action_unmask(mut self) -> Self {
        self.0.action("unmask");
        self
    }

    /// Starts the unit unless it is active.
    pub fn action_start(mut self) -> Self {
        self.0.action("start");
        self
    }

    /// Stops the unit if it is active.
    pub fn action_stop(mut self) -> Self {
        self.0.action("stop");
        self
    }

    /// Stops the unit and starts it again.
    pub fn action_restart(mut self) -> Self {
        self.0.action("restart");
        self
    }

    /// Makes the unit read its configuration again.
    pub fn action_reload(mut self) -> Self {
        self.0.action("reload");
        self
    }

    /// Restarts the unit if it is active.
    pub fn action_try_restart(mut self) -> Self {
        self.0.action("try_restart");
        self
    }

    /// Reloads the unit if it can, else restarts it.
    pub fn action_reload_or_restart(mut self) -> Self {
        self.0.action("reload_or_restart");
        self
    }

    /// Reloads the unit if it can, else restarts it if it is active.
    pub fn action_reload_or_try_restart(mut self) -> Self {
        self.0.action("reload_or_try_restart");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(SystemdUnit);

/// Writes a file whose content the cookbook renders from one of its templates.
///
/// Default action: `create`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct Template(pub(crate) Builder);

/// A new `template` resource. The name is also its `path`, unless that is set.
#[track_caller]
pub fn template(name: impl Into<String>) -> Template {
    Template(Builder::new("template", name))
}

impl Template {
    /// The owner, as a user's name or number.
    pub fn owner(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("owner", value.into_property());
        self
    }

    /// The owning group, as a name or number.
    pub fn group(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("group", value.into_property());
        self
    }

    /// The permission bits, as octal text or a number.
    pub fn mode(mut self, value: impl IntoProperty<Mode>) -> Self {
        self.0.set("mode", value.into_property());
        self
    }

    /// The file's path.
    ///
    /// Default: the resource's name.
    pub fn path(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("path", value.into_property());
        self
    }

    /// Whether new content replaces the file in one step. Off means it is written in place, for files that are mount points.
    ///
    /// Default: true, but false for files that a container runtime mounts.
    pub fn atomic_update(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("atomic_update", value.into_property());
        self
    }

    /// How many earlier versions are kept in the backup folder; false keeps none.
    ///
    /// Default: `5`.
    pub fn backup(mut self, value: impl IntoProperty<BooleanOrInteger>) -> Self {
        self.0.set("backup", value.into_property());
        self
    }

    /// The SHA-256 digest that the content must have, in hexadecimal.
    pub fn checksum(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("checksum", value.into_property());
        self
    }

    /// Whether something else than a file at the path is removed to make room.
    ///
    /// Default: `false`.
    pub fn force_unlink(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("force_unlink", value.into_property());
        self
    }

    /// Whether a symbolic link at the path is followed and its target managed; unset follows with a warning, false replaces the link.
    pub fn manage_symlink_source(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("manage_symlink_source", value.into_property());
        self
    }

    /// A command that must accept the new content before it is put in place; `%{path}` stands for the file to look at. Several calls collect.
    pub fn verify(mut self, value: impl IntoProperty<List>) -> Self {
        self.0.append("verify", value.into_property());
        self
    }

    /// The difference that the last action made, for reports.
    pub fn diff(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("diff", value.into_property());
        self
    }

    /// The template's path below `templates`; of a list, the first that exists.
    ///
    /// Default: the last component of the name, with .erb behind it.
    pub fn source(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("source", value.into_property());
        self
    }

    /// The cookbook that has the source.
    ///
    /// Default: the cookbook that declares the resource.
    pub fn cookbook(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("cookbook", value.into_property());
        self
    }

    /// Whether the source is a path on the node instead of one in a cookbook.
    ///
    /// Default: `false`.
    pub fn local(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("local", value.into_property());
        self
    }

    /// What the template sees as its variables.
    ///
    /// Default: `{}`.
    pub fn variables(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("variables", value.into_property());
        self
    }

    /// Creates the file, or corrects what differs.
    pub fn action_create(mut self) -> Self {
        self.0.action("create");
        self
    }

    /// Removes the file.
    pub fn action_delete(mut self) -> Self {
        self.0.action("delete");
        self
    }

    /// Creates the file if it is missing, and sets its times to now.
    pub fn action_touch(mut self) -> Self {
        self.0.action("touch");
        self
    }

    /// Creates the file if it does not exist; an existing one is left alone.
    pub fn action_create_if_missing(mut self) -> Self {
        self.0.action("create_if_missing");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(Template);

/// Sets the node's time zone.
///
/// Default action: `set`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct Timezone(pub(crate) Builder);

/// A new `timezone` resource. The name is also its `timezone`, unless that is set.
#[track_caller]
pub fn timezone(name: impl Into<String>) -> Timezone {
    Timezone(Builder::new("timezone", name))
}

impl Timezone {
    /// The zone's name, such as `Europe/Berlin`.
    ///
    /// Default: the resource's name.
    pub fn timezone(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("timezone", value.into_property());
        self
    }

    /// Sets the time zone.
    pub fn action_set(mut self) -> Self {
        self.0.action("set");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(Timezone);

/// Manages a local user.
///
/// Default action: `create`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct User(pub(crate) Builder);

/// A new `user` resource. The name is also its `username`, unless that is set.
#[track_caller]
pub fn user(name: impl Into<String>) -> User {
    User(Builder::new("user", name))
}

impl User {
    /// The user's name.
    ///
    /// Default: the resource's name.
    pub fn username(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("username", value.into_property());
        self
    }

    /// The full name and what else stands in the comment field.
    pub fn comment(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("comment", value.into_property());
        self
    }

    /// The user's number.
    pub fn uid(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("uid", value.into_property());
        self
    }

    /// The primary group, by name or number.
    pub fn gid(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("gid", value.into_property());
        self
    }

    /// The home directory.
    pub fn home(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("home", value.into_property());
        self
    }

    /// The login shell.
    pub fn shell(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("shell", value.into_property());
        self
    }

    /// The password's hash, as it stands in the shadow file.
    ///
    /// Never shown.
    pub fn password(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("password", value.into_property());
        self
    }

    /// The password's salt (macOS only).
    pub fn salt(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("salt", value.into_property());
        self
    }

    /// Whether the number may be another user's too.
    ///
    /// Default: `false`.
    pub fn non_unique(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("non_unique", value.into_property());
        self
    }

    /// Whether the home directory is created, moved and removed with the user.
    ///
    /// Default: `false`.
    pub fn manage_home(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("manage_home", value.into_property());
        self
    }

    /// Whether a user who is logged in is removed, with home directory and mail.
    ///
    /// Default: `false`.
    pub fn force(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("force", value.into_property());
        self
    }

    /// Whether a new user gets a number from the system's range.
    ///
    /// Default: `false`.
    pub fn system(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("system", value.into_property());
        self
    }

    /// The day on which the account expires, as YYYY-MM-DD.
    pub fn expire_date(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("expire_date", value.into_property());
        self
    }

    /// Days after the password has expired until the account is closed; 0 closes it at once, -1 never.
    pub fn inactive(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("inactive", value.into_property());
        self
    }

    /// Creates the user, or corrects what differs.
    pub fn action_create(mut self) -> Self {
        self.0.action("create");
        self
    }

    /// Removes the user.
    pub fn action_remove(mut self) -> Self {
        self.0.action("remove");
        self
    }

    /// Corrects an existing user; it is an error if it does not exist.
    pub fn action_modify(mut self) -> Self {
        self.0.action("modify");
        self
    }

    /// Corrects the user if there is one.
    pub fn action_manage(mut self) -> Self {
        self.0.action("manage");
        self
    }

    /// Locks the user's password.
    pub fn action_lock(mut self) -> Self {
        self.0.action("lock");
        self
    }

    /// Unlocks the user's password.
    pub fn action_unlock(mut self) -> Self {
        self.0.action("unlock");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(User);

/// Manages a file in /etc/security/limits.d that limits what one user may use.
///
/// Default action: `create`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct UserUlimit(pub(crate) Builder);

/// A new `user_ulimit` resource. The name is also its `username`, unless that is set.
#[track_caller]
pub fn user_ulimit(name: impl Into<String>) -> UserUlimit {
    UserUlimit(Builder::new("user_ulimit", name))
}

impl UserUlimit {
    /// The user, or `*` for all.
    ///
    /// Default: the resource's name.
    pub fn username(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("username", value.into_property());
        self
    }

    /// The name of the file below `limits.d`.
    ///
    /// Default: the user's name and _limits.conf, or 00_all_limits.conf.
    pub fn filename(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("filename", value.into_property());
        self
    }

    /// The address space in KiB, soft and hard.
    pub fn as_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("as_limit", value.into_property());
        self
    }

    /// The address space in KiB, soft.
    pub fn as_soft_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("as_soft_limit", value.into_property());
        self
    }

    /// The address space in KiB, hard.
    pub fn as_hard_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("as_hard_limit", value.into_property());
        self
    }

    /// The most open files, soft and hard.
    pub fn filehandle_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("filehandle_limit", value.into_property());
        self
    }

    /// The most open files, soft.
    pub fn filehandle_soft_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("filehandle_soft_limit", value.into_property());
        self
    }

    /// The most open files, hard.
    pub fn filehandle_hard_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("filehandle_hard_limit", value.into_property());
        self
    }

    /// The most processes of the user, soft and hard.
    pub fn process_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("process_limit", value.into_property());
        self
    }

    /// The most processes of the user, soft.
    pub fn process_soft_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("process_soft_limit", value.into_property());
        self
    }

    /// The most processes of the user, hard.
    pub fn process_hard_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("process_hard_limit", value.into_property());
        self
    }

    /// The most file locks, soft and hard.
    pub fn locks_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("locks_limit", value.into_property());
        self
    }

    /// Locked memory in KiB, soft and hard.
    pub fn memory_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("memory_limit", value.into_property());
        self
    }

    /// The most logins at once, soft and hard.
    pub fn maxlogins_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("maxlogins_limit", value.into_property());
        self
    }

    /// The most logins at once, soft.
    pub fn maxlogins_soft_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("maxlogins_soft_limit", value.into_property());
        self
    }

    /// The most logins at once, hard.
    pub fn maxlogins_hard_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("maxlogins_hard_limit", value.into_property());
        self
    }

    /// Bytes in message queues, soft and hard.
    pub fn msgqueue_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("msgqueue_limit", value.into_property());
        self
    }

    /// Bytes in message queues, soft.
    pub fn msgqueue_soft_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("msgqueue_soft_limit", value.into_property());
        self
    }

    /// Bytes in message queues, hard.
    pub fn msgqueue_hard_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("msgqueue_hard_limit", value.into_property());
        self
    }

    /// The size of core dumps in KiB, soft and hard.
    pub fn core_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("core_limit", value.into_property());
        self
    }

    /// The size of core dumps in KiB, soft.
    pub fn core_soft_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("core_soft_limit", value.into_property());
        self
    }

    /// The size of core dumps in KiB, hard.
    pub fn core_hard_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("core_hard_limit", value.into_property());
        self
    }

    /// Minutes of processor time, soft and hard.
    pub fn cpu_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("cpu_limit", value.into_property());
        self
    }

    /// Minutes of processor time, soft.
    pub fn cpu_soft_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("cpu_soft_limit", value.into_property());
        self
    }

    /// Minutes of processor time, hard.
    pub fn cpu_hard_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("cpu_hard_limit", value.into_property());
        self
    }

    /// The most pending signals, soft and hard.
    pub fn sigpending_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("sigpending_limit", value.into_property());
        self
    }

    /// The most pending signals, soft.
    pub fn sigpending_soft_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("sigpending_soft_limit", value.into_property());
        self
    }

    /// The most pending signals, hard.
    pub fn sigpending_hard_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("sigpending_hard_limit", value.into_property());
        self
    }

    /// The size of the stack in KiB, soft and hard.
    pub fn stack_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("stack_limit", value.into_property());
        self
    }

    /// The size of the stack in KiB, soft.
    pub fn stack_soft_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("stack_soft_limit", value.into_property());
        self
    }

    /// The size of the stack in KiB, hard.
    pub fn stack_hard_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("stack_hard_limit", value.into_property());
        self
    }

    /// Resident memory in KiB, soft and hard.
    pub fn rss_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("rss_limit", value.into_property());
        self
    }

    /// Resident memory in KiB, soft.
    pub fn rss_soft_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("rss_soft_limit", value.into_property());
        self
    }

    /// Resident memory in KiB, hard.
    pub fn rss_hard_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("rss_hard_limit", value.into_property());
        self
    }

    /// Real-time priority, soft and hard.
    pub fn rtprio_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("rtprio_limit", value.into_property());
        self
    }

    /// Real-time priority, soft.
    pub fn rtprio_soft_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("rtprio_soft_limit", value.into_property());
        self
    }

    /// Real-time priority, hard.
    pub fn rtprio_hard_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("rtprio_hard_limit", value.into_property());
        self
    }

    /// Virtual memory, soft and hard.
    pub fn virt_limit(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("virt_limit", value.into_property());
        self
    }

    /// Writes the file, or corrects it.
    pub fn action_create(mut self) -> Self {
        self.0.action("create");
        self
    }

    /// Removes the file of limits.
    pub fn action_delete(mut self) -> Self {
        self.0.action("delete");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(UserUlimit);

/// Manages packages with yum. A list of names is handled in one transaction.
///
/// Default action: `install`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct YumPackage(pub(crate) Builder);

/// A new `yum_package` resource. The name is also its `package_name`, unless that is set.
#[track_caller]
pub fn yum_package(name: impl Into<String>) -> YumPackage {
    YumPackage(Builder::new("yum_package", name))
}

impl YumPackage {
    /// The package's name, or several.
    ///
    /// Default: the resource's name.
    pub fn package_name(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("package_name", value.into_property());
        self
    }

    /// The version, or one for each name of the list.
    pub fn version(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("version", value.into_property());
        self
    }

    /// Further arguments for the package manager.
    pub fn options(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("options", value.into_property());
        self
    }

    /// A package file on the node.
    pub fn source(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("source", value.into_property());
        self
    }

    /// Seconds after which the package manager is ended.
    ///
    /// Default: 900.
    pub fn timeout(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("timeout", value.into_property());
        self
    }

    /// Environment variables for the package manager.
    ///
    /// Default: `{}`.
    pub fn environment(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("environment", value.into_property());
        self
    }

    /// The architecture, or one for each name of the list.
    pub fn arch(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("arch", value.into_property());
        self
    }

    /// Whether the index is fetched again before or after the action.
    ///
    /// Default: `{"before"=>false, "after"=>false}`.
    pub fn flush_cache(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("flush_cache", value.into_property());
        self
    }

    /// Whether an older version may replace a newer one.
    ///
    /// Default: `true`.
    pub fn allow_downgrade(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("allow_downgrade", value.into_property());
        self
    }

    /// The yum program.
    pub fn yum_binary(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("yum_binary", value.into_property());
        self
    }

    /// Installs the package; with a version, exactly that one.
    pub fn action_install(mut self) -> Self {
        self.0.action("install");
        self
    }

    /// Installs the package or brings it to the newest version.
    pub fn action_upgrade(mut self) -> Self {
        self.0.action("upgrade");
        self
    }

    /// Removes the package and leaves its configuration.
    pub fn action_remove(mut self) -> Self {
        self.0.action("remove");
        self
    }

    /// Removes the package and its configuration.
    pub fn action_purge(mut self) -> Self {
        self.0.action("purge");
        self
    }

    /// Keeps the package at its version.
    pub fn action_lock(mut self) -> Self {
        self.0.action("lock");
        self
    }

    /// Lets the package be upgraded again.
    pub fn action_unlock(mut self) -> Self {
        self.0.action("unlock");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(YumPackage);

/// Adds a source of packages to yum and dnf.
///
/// Default action: `create`.
#[must_use = "a resource does nothing until it is declared"]
#[derive(Debug)]
pub struct YumRepository(pub(crate) Builder);

/// A new `yum_repository` resource. The name is also its `repositoryid`, unless that is set.
#[track_caller]
pub fn yum_repository(name: impl Into<String>) -> YumRepository {
    YumRepository(Builder::new("yum_repository", name))
}

impl YumRepository {
    /// The source's name in square brackets.
    ///
    /// Default: the resource's name.
    pub fn repositoryid(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("repositoryid", value.into_property());
        self
    }

    /// The folder of the file.
    ///
    /// Default: `"/etc/yum.repos.d/"`.
    pub fn reposdir(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("reposdir", value.into_property());
        self
    }

    /// The addresses.
    pub fn baseurl(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("baseurl", value.into_property());
        self
    }

    /// The address of a metalink file.
    pub fn metalink(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("metalink", value.into_property());
        self
    }

    /// The address of a list of mirrors.
    pub fn mirrorlist(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("mirrorlist", value.into_property());
        self
    }

    /// How long the list of mirrors is good.
    pub fn mirrorlist_expire(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("mirrorlist_expire", value.into_property());
        self
    }

    /// How long a mirror's answer is good.
    pub fn mirror_expire(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("mirror_expire", value.into_property());
        self
    }

    /// How long the index is good.
    pub fn metadata_expire(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("metadata_expire", value.into_property());
        self
    }

    /// The source's name for people.
    ///
    /// Default: `"Yum Repository"`.
    pub fn description(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("description", value.into_property());
        self
    }

    /// Whether the source is used.
    ///
    /// Default: `true`.
    pub fn enabled(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("enabled", value.into_property());
        self
    }

    /// Whether the source may define package groups.
    pub fn enablegroups(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("enablegroups", value.into_property());
        self
    }

    /// Packages that are not taken from it.
    pub fn exclude(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("exclude", value.into_property());
        self
    }

    /// The only packages that are taken from it.
    pub fn includepkgs(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("includepkgs", value.into_property());
        self
    }

    /// How the next address is chosen.
    ///
    /// One of `priority`, `roundrobin`.
    pub fn failovermethod(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("failovermethod", value.into_property());
        self
    }

    /// Whether the fastest mirror is looked for.
    pub fn fastestmirror_enabled(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("fastestmirror_enabled", value.into_property());
        self
    }

    /// Whether packages must be signed.
    ///
    /// Default: `true`.
    pub fn gpgcheck(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("gpgcheck", value.into_property());
        self
    }

    /// Whether the index must be signed.
    pub fn repo_gpgcheck(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("repo_gpgcheck", value.into_property());
        self
    }

    /// The addresses of the signing keys.
    pub fn gpgkey(mut self, value: impl IntoProperty<TextOrList>) -> Self {
        self.0.set("gpgkey", value.into_property());
        self
    }

    /// What a proxy may keep.
    ///
    /// One of `packages`, `all`, `none`.
    pub fn http_caching(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("http_caching", value.into_property());
        self
    }

    /// A further configuration file to read.
    pub fn include_config(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("include_config", value.into_property());
        self
    }

    /// Whether connections are kept.
    pub fn keepalive(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("keepalive", value.into_property());
        self
    }

    /// Whether the index is fetched after a change.
    ///
    /// Default: `true`.
    pub fn make_cache(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("make_cache", value.into_property());
        self
    }

    /// Whether only what is needed of the index is fetched.
    ///
    /// Default: `false`.
    pub fn makecache_fast(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("makecache_fast", value.into_property());
        self
    }

    /// Whether the old index is removed before.
    ///
    /// Default: `true`.
    pub fn clean_metadata(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("clean_metadata", value.into_property());
        self
    }

    /// Whether old headers are removed before.
    ///
    /// Default: `false`.
    #[deprecated = "it does nothing any more"]
    pub fn clean_headers(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("clean_headers", value.into_property());
        self
    }

    /// How often an address is tried again.
    pub fn max_retries(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("max_retries", value.into_property());
        self
    }

    /// How dear the source is, compared with others.
    pub fn cost(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("cost", value.into_property());
        self
    }

    /// The source's rank, from 1 to 99.
    pub fn priority(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("priority", value.into_property());
        self
    }

    /// The file's permission bits.
    ///
    /// Default: `"0644"`.
    pub fn mode(mut self, value: impl IntoProperty<Mode>) -> Self {
        self.0.set("mode", value.into_property());
        self
    }

    /// Further settings of the source.
    pub fn options(mut self, value: impl IntoProperty<Map>) -> Self {
        self.0.set("options", value.into_property());
        self
    }

    /// The user for the source.
    pub fn username(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("username", value.into_property());
        self
    }

    /// The user's password.
    ///
    /// Never shown.
    pub fn password(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("password", value.into_property());
        self
    }

    /// The proxy's address.
    pub fn proxy(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("proxy", value.into_property());
        self
    }

    /// The user for the proxy.
    pub fn proxy_username(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("proxy_username", value.into_property());
        self
    }

    /// The password for the proxy.
    ///
    /// Never shown.
    pub fn proxy_password(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("proxy_password", value.into_property());
        self
    }

    /// Whether the cloud's number of the node is sent along.
    pub fn report_instanceid(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("report_instanceid", value.into_property());
        self
    }

    /// Whether a source that does not answer is left out.
    pub fn skip_if_unavailable(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("skip_if_unavailable", value.into_property());
        self
    }

    /// A template of the cookbook for the whole file.
    pub fn source(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("source", value.into_property());
        self
    }

    /// Whether the server's certificate is checked.
    pub fn sslverify(mut self, value: impl IntoProperty<Boolean>) -> Self {
        self.0.set("sslverify", value.into_property());
        self
    }

    /// The folder of trusted certificates.
    pub fn sslcacert(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("sslcacert", value.into_property());
        self
    }

    /// The certificate shown to the server.
    pub fn sslclientcert(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("sslclientcert", value.into_property());
        self
    }

    /// The key of that certificate.
    pub fn sslclientkey(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("sslclientkey", value.into_property());
        self
    }

    /// How much of the network may be used.
    pub fn throttle(mut self, value: impl IntoProperty<TextOrInteger>) -> Self {
        self.0.set("throttle", value.into_property());
        self
    }

    /// Seconds to wait for the server.
    pub fn timeout(mut self, value: impl IntoProperty<Text>) -> Self {
        self.0.set("timeout", value.into_property());
        self
    }

    /// Writes the source's file, or corrects it.
    pub fn action_create(mut self) -> Self {
        self.0.action("create");
        self
    }

    /// Removes the source's file and cleans its cache.
    pub fn action_remove(mut self) -> Self {
        self.0.action("remove");
        self
    }

    /// Fetches the source's index.
    pub fn action_makecache(mut self) -> Self {
        self.0.action("makecache");
        self
    }

    /// The older name of `create`.
    pub fn action_add(mut self) -> Self {
        self.0.action("add");
        self
    }

    /// The older name of `remove`.
    pub fn action_delete(mut self) -> Self {
        self.0.action("delete");
        self
    }

    /// Does nothing until a notification asks for another action.
    pub fn action_nothing(mut self) -> Self {
        self.0.action("nothing");
        self
    }
}

common_methods!(YumRepository);
