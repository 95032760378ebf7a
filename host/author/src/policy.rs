//! The folder that a policy's author works in.
//!
//! ```text
//! core/
//!   policy.toml            name, run list, attributes, needs: [`policy_toml`]
//!   Cargo.toml, src/       a cargo workspace of its own; its package makes the component
//!   .wrun/sdk/             the SDK that wrun carries: [`sdk`]
//!   cookbooks/motd/        a cookbook: a crate or Ruby sources; its whole folder travels in the artifact: [`cookbook`]
//!   gems/                  the gems that Ruby cookbooks name in their metadata: [`gems`]
//! ```
//!
//! A policy whose cookbooks are all in Ruby needs neither Cargo.toml nor a compiler.
//!
//! The author may make mistakes anywhere, so all errors name file and line.

mod checks;
mod cookbook;
mod create;
mod error;
mod gems;
mod origins;
mod own_folder;
mod policy_toml;
mod sdk;
mod sources;
mod toml_file;
mod unnamed_needs;
mod workspace;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use node::version_constraint::{Version, VersionConstraint, VersionStyle};
use plain_files::HeldFolder;
use resolve::cookbook_order::cookbook_order;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

pub use checks::Described;
pub(crate) use cookbook::Cookbook;
pub use create::{SdkSource, Start, create};
pub use error::AuthorError;
pub(crate) use gems::{beside as gems_beside, entry as gem_entry, files as gem_files};
pub use own_folder::{below_policy, open_policy, refuse_links, write_below};
pub(crate) use policy_toml::PolicyToml;
pub use sdk::shipped_facts;

use crate::build::{GuestCompiler, Profile, ToolchainError, compile_component};
use crate::policyfile::{Resolved, Tools, resolve_folder};
use artifact::lock::{AttributeValue, CookbookIdentifier, FileChecksum};
use artifact::{
    self, Artifact, BuildInputs, CookbookEntry, EMPTY_COMPONENT, Language, Manifest, ManifestParts, Runtime,
};
use policyfile::lock::Lock;
use workspace::Workspace;

/// The largest Cargo.lock, in bytes.
const MAX_CARGO_LOCK: u64 = 16 << 20;

/// The Ruby runtime that cookbooks are built for. It also evaluates Ruby files of the policy.
pub trait Ruby {
    /// Returns the runtime's name and digest for the manifest.
    ///
    /// # Errors
    /// The reason why it does not exist, as a sentence.
    fn runtime(&mut self) -> Result<Runtime, String>;

    /// Evaluates a cookbook's `metadata.rb`, in the form in which Chef writes `metadata.json`.
    ///
    /// # Errors
    /// Why it cannot be evaluated, as a sentence.
    fn metadata(&mut self, cookbook: &Path) -> Result<Value, String>;

    /// Chooses the gems for the artifact: answers [`crate::gems::GemFolder::question`].
    ///
    /// # Errors
    /// Why it cannot be said, as a sentence.
    fn gems(&mut self, question: Value) -> Result<Value, String>;
}

/// A stub without Ruby, for folders that certainly do not have a Ruby cookbook.
#[derive(Debug)]
pub struct NoRuby;

impl Ruby for NoRuby {
    fn runtime(&mut self) -> Result<Runtime, String> {
        Err("cookbooks in Ruby are built with `wrun policy build`, which has the runtime for them".into())
    }

    fn metadata(&mut self, _cookbook: &Path) -> Result<Value, String> {
        self.runtime().map(|_| Value::Null)
    }

    fn gems(&mut self, _question: Value) -> Result<Value, String> {
        self.runtime().map(|_| Value::Null)
    }
}

/// A policy's folder, read and checked.
#[derive(Debug)]
pub struct PolicyFolder {
    home: HeldFolder,
    manifest: Manifest,
    workspace: Workspace,
    /// The items of all run lists with their lines in policy.toml.
    items: Vec<(String, usize)>,
    files: Vec<(String, Vec<u8>)>,
    left_out: Vec<PathBuf>,
    /// The folders of the cookbooks, by name.
    places: BTreeMap<String, PathBuf>,
    /// The lock that the policy would get now, if something had to be resolved.
    resolved: Option<Lock>,
}

impl PolicyFolder {
    /// Reads `policy.toml` and the cookbooks.
    ///
    /// # Errors
    /// Something in the folder is wrong; the message names file and line.
    pub fn read(path: &Path, ruby: &mut dyn Ruby) -> Result<Self, AuthorError> {
        Self::read_with(&open_policy(path)?, None, ruby, &Tools::offline())
    }

    /// Reads the folder like [`Self::read`], with gems from another folder, and with tools to fetch cookbooks and included
    /// policies.
    ///
    /// # Errors
    /// As [`Self::read`], or what the policy includes cannot be resolved.
    pub fn read_with(
        home: &HeldFolder,
        gems: Option<&Path>,
        ruby: &mut dyn Ruby,
        tools: &Tools<'_>,
    ) -> Result<Self, AuthorError> {
        let settings = PolicyToml::read(home)?;
        let resolved = match settings.needs_resolving() {
            true => Some(resolve_folder(home, tools).map_err(|error| AuthorError::Resolve(Box::new(error)))?),
            false => None,
        };
        let parts = Parts::of(&settings, resolved.as_ref(), home)?;
        let open = |path: &PathBuf| settings.open_cookbook(home, path);
        let cookbooks = parts.folders.iter().map(|path| Cookbook::read(&open(path)?, ruby));
        let cookbooks = cookbooks.collect::<Result<Vec<_>, _>>()?;
        let runtime = match cookbooks.iter().find(|cookbook| cookbook.language == Language::Ruby) {
            None => Runtime::Rust,
            Some(cookbook) => ruby.runtime().map_err(|what| AuthorError::Wrong {
                path: cookbook.manifest_path.clone(),
                line: 1,
                what,
            })?,
        };
        let gems = gems::of_cookbooks(&settings, &cookbooks, home, gems, ruby)?;
        let order = loading_order(&settings, &parts, &cookbooks)?;
        let entries = order.iter().map(|cookbook| entry(cookbook)).collect();
        let items = parts.items(&settings);
        let parts = ManifestParts {
            name: settings.name.clone(),
            run_list: parts.run_list,
            named_run_lists: parts.named_run_lists,
            cookbooks: entries,
            default_attributes: parts.default_attributes,
            override_attributes: parts.override_attributes,
            attribute_lines: settings.attribute_lines.clone(),
            needs: settings.needs.clone(),
            runtime,
            gems: gems::entry(&gems),
        };
        let manifest =
            Manifest::new(parts).map_err(|source| AuthorError::Manifest { path: settings.path.clone(), source })?;
        let workspace = Workspace::of(&cookbooks);
        let places = cookbooks.iter().map(|one| (one.name.clone(), one.path.clone())).collect();
        let files = cookbooks.into_iter().flat_map(Cookbook::into_files).chain(gems::files(gems)).collect();
        let left_out = settings.left_out(home);
        let resolved = resolved.map(|resolved| resolved.lock);
        Ok(Self { home: home.clone(), manifest, workspace, items, files, left_out, places, resolved })
    }

    /// The policy's folder, held open since it was read.
    #[must_use]
    pub fn home(&self) -> &HeldFolder {
        &self.home
    }

    fn path(&self) -> &Path {
        self.home.path()
    }

    /// The folders in `cookbooks/` that are not cookbooks, because they have neither metadata nor a Cargo.toml.
    #[must_use]
    pub fn left_out(&self) -> &[PathBuf] {
        &self.left_out
    }

    /// The folder of a cookbook.
    #[must_use]
    pub fn cookbook_place(&self, name: &str) -> Option<&Path> {
        self.places.get(name).map(PathBuf::as_path)
    }

    /// Returns the lock that the policy would get now. `None` if it does not include policies or have sources, so that
    /// nothing had to be resolved.
    pub(crate) fn resolved(&self) -> Option<&Lock> {
        self.resolved.as_ref()
    }

    /// Returns the manifest that the artifact will have.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Checks the files, compiles the policy's crates, if it has any, and makes the artifact.
    ///
    /// # Errors
    /// A file is wrong, there is no compiler, or the crates do not compile.
    pub fn build(
        &self,
        options: &Options<'_>,
        compiler: &mut dyn FnMut() -> Result<GuestCompiler, ToolchainError>,
    ) -> Result<Artifact, AuthorError> {
        let wrong_if_compiled = self.check_files()?;
        if !self.manifest.has_own_code() {
            return self.artifact(EMPTY_COMPONENT);
        }
        self.workspace.check(&self.home, &self.manifest.name)?;
        sdk::bring_up_to_date(&self.home)?;
        let compiler = compiler()?;
        let component = compile_component(self.path(), &compiler, options.target_folder, options.profile)?;
        if let Some(error) = wrong_if_compiled {
            return Err(error);
        }
        let inputs = BuildInputs { compiler: compiler.version(self.path())?, cargo_lock: self.cargo_lock()? };
        let dev = options.profile == Profile::Dev;
        let manifest = Manifest { dev, build: Some(inputs), ..self.manifest.clone() };
        let bytes = artifact::write(&component, &manifest, &self.files)?;
        Ok(Artifact::from_bytes(self.path(), bytes)?)
    }

    /// The digest of the Cargo.lock with which the component was compiled.
    fn cargo_lock(&self) -> Result<Option<String>, AuthorError> {
        let path = self.path().join("Cargo.lock");
        match self.home.read("Cargo.lock", MAX_CARGO_LOCK) {
            Ok(content) => Ok(Some(text::hex(Sha256::digest(content)))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(AuthorError::Read { path, source }),
        }
    }

    /// Makes the artifact with a component that was built from this folder.
    ///
    /// # Errors
    /// It is not a component, or speaks another contract.
    pub fn artifact(&self, component: &[u8]) -> Result<Artifact, AuthorError> {
        let bytes = artifact::write(component, &self.manifest, &self.files)?;
        Ok(Artifact::from_bytes(self.path(), bytes)?)
    }
}

/// How a policy's folder is built.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// Where gems are taken from, instead of the folder that the policy names.
    pub gems: Option<&'a Path>,
    /// Where cargo keeps its files.
    pub target_folder: &'a Path,
    /// How long cargo may take.
    pub profile: Profile,
}

impl<'a> Options<'a> {
    /// Returns the options of a release, with gems from the policy's own folder.
    #[must_use]
    pub fn new(target_folder: &'a Path) -> Self {
        Self { gems: None, target_folder, profile: Profile::Release }
    }
}

/// Builds a policy's folder to its artifact, which is not yet written anywhere. `compiler` is called only if the policy has
/// crates. Cargo's own messages go to standard error.
///
/// # Errors
/// Something in the folder is wrong, there is no compiler, or its crates do not compile.
pub fn build(
    folder: &Path,
    options: &Options<'_>,
    ruby: &mut dyn Ruby,
    compiler: &mut dyn FnMut() -> Result<GuestCompiler, ToolchainError>,
) -> Result<Artifact, AuthorError> {
    // The folder is read first, so that a mistake in policy.toml is reported before minutes of compiling.
    let policy = PolicyFolder::read_with(&open_policy(folder)?, options.gems, ruby, &Tools::offline())?;
    policy.build(options, compiler)
}

/// The folders of a policy's cookbooks, and those of policies that it includes by their paths.
///
/// # Errors
/// policy.toml is wrong, or a folder cannot be read.
pub fn cookbook_folders(policy: &Path) -> Result<Vec<PathBuf>, AuthorError> {
    let home = open_policy(policy)?;
    let settings = PolicyToml::read(&home)?;
    let mut folders = settings.cookbook_folders(&home)?;
    folders.extend(settings.origins.folders().map(|folder| policy.join(folder)));
    Ok(folders)
}

/// The parts of a policy's folder that the check of its cookbooks needs.
pub(crate) struct Outline {
    /// The folders of its own cookbooks.
    pub(crate) cookbooks: Vec<PathBuf>,
    /// The attributes that `policy.toml` sets, as JSON objects.
    pub(crate) attributes: Vec<Value>,
    /// Whether other policies or sources bring further cookbooks.
    pub(crate) needs_resolving: bool,
}

/// Reads `policy.toml`, and none of the folder's other files.
pub(crate) fn outline(policy: &Path) -> Result<Outline, AuthorError> {
    let home = open_policy(policy)?;
    let settings = PolicyToml::read(&home)?;
    let cookbooks = settings.cookbook_folders(&home)?;
    let levels = [&settings.default, &settings.r#override];
    let attributes = levels.map(|level| serde_json::to_value(level).unwrap_or_default());
    Ok(Outline { cookbooks, attributes: attributes.to_vec(), needs_resolving: settings.needs_resolving() })
}

/// Tells whether a policy includes other policies, or takes cookbooks from other sources. Then a lock has its exact parts.
///
/// # Errors
/// policy.toml is wrong.
pub fn needs_resolving(policy: &Path) -> Result<bool, AuthorError> {
    Ok(PolicyToml::read(&open_policy(policy)?)?.needs_resolving())
}

/// Writes an artifact to a folder as `NAME.wasm`, atomically, and returns its path.
///
/// # Errors
/// The file cannot be written.
pub fn store(artifact: &Artifact, folder: &Path) -> Result<PathBuf, AuthorError> {
    let failed = |source| AuthorError::Write { path: folder.to_owned(), source };
    store_in(artifact, &HeldFolder::make(folder).map_err(failed)?)
}

/// As [`store`], in a folder that is open.
///
/// # Errors
/// The file cannot be written.
pub fn store_in(artifact: &Artifact, folder: &HeldFolder) -> Result<PathBuf, AuthorError> {
    let name = format!("{}{}", artifact.manifest().name, artifact::EXTENSION);
    let path = folder.path().join(&name);
    folder.write(name, artifact.bytes()).map_err(|source| AuthorError::Write { path: path.clone(), source })?;
    Ok(path)
}

/// The parts of a policy and of the policies that it includes.
struct Parts {
    run_list: Vec<String>,
    named_run_lists: Vec<(String, Vec<String>)>,
    default_attributes: Map<String, Value>,
    override_attributes: Map<String, Value>,
    /// The folders of the cookbooks.
    folders: Vec<PathBuf>,
}

impl Parts {
    fn of(settings: &PolicyToml, resolved: Option<&Resolved>, home: &HeldFolder) -> Result<Self, AuthorError> {
        if let Some(Resolved { lock, folders }) = resolved {
            return Ok(Self {
                run_list: lock.run_list.clone(),
                named_run_lists: lock.named_run_lists.clone(),
                default_attributes: lock.default_attributes.clone(),
                override_attributes: lock.override_attributes.clone(),
                folders: folders.clone(),
            });
        }
        let attributes = |level, table: &toml::Table| attributes(&settings.path, level, table);
        Ok(Self {
            run_list: settings.run_list.clone(),
            named_run_lists: settings.named_run_lists.clone(),
            default_attributes: attributes("default", &settings.default)?,
            override_attributes: attributes("override", &settings.r#override)?,
            folders: settings.cookbook_folders(home)?,
        })
    }

    /// The items of all run lists with their lines; those of included policies have the line that includes the first one.
    fn items(&self, settings: &PolicyToml) -> Vec<(String, usize)> {
        let mut items = settings.item_lines.clone();
        for item in self.run_list.iter().chain(self.named_run_lists.iter().flat_map(|(_, list)| list)) {
            if !items.iter().any(|(known, _)| known == item) {
                items.push((item.clone(), settings.include_line()));
            }
        }
        items
    }
}

/// The cookbooks in the order in which the policy's run lists load them, then the others by name.
fn loading_order<'a>(
    settings: &PolicyToml,
    parts: &Parts,
    cookbooks: &'a [Cookbook],
) -> Result<Vec<&'a Cookbook>, AuthorError> {
    let mut by_name: BTreeMap<&str, &Cookbook> = BTreeMap::new();
    for cookbook in cookbooks {
        if let Some(first) = by_name.insert(&cookbook.name, cookbook) {
            return Err(AuthorError::Twice {
                name: cookbook.name.clone(),
                first: first.path.clone(),
                second: cookbook.path.clone(),
            });
        }
    }
    for cookbook in cookbooks {
        check_dependencies(cookbook, &by_name)?;
    }
    let of_cookbook = |cookbook: &Cookbook| cookbook.dependencies.keys().cloned().collect();
    let dependencies = by_name.iter().map(|(name, cookbook)| ((*name).to_owned(), of_cookbook(cookbook))).collect();
    let named = parts.named_run_lists.iter().flat_map(|(_, list)| list);
    let recipes = parts.run_list.iter().chain(named);
    let names = recipes.filter_map(|item| item.strip_prefix("recipe[")?.strip_suffix(']'));
    let names = names.chain(by_name.keys().copied());
    let order = cookbook_order(names, &dependencies).map_err(|missing| AuthorError::Wrong {
        path: settings.path.clone(),
        line: settings.line_of(missing.needed_by.as_ref().unwrap_or(&missing.cookbook)),
        what: match text::did_you_mean(&missing.cookbook, by_name.keys().copied()) {
            _ if by_name.is_empty() => {
                format!("{missing}; the policy does not have any cookbook: put it into cookbooks/")
            }
            Some(near) => format!("{missing}; {near}"),
            None => format!("{missing}; the policy has {}", by_name.keys().copied().collect::<Vec<_>>().join(", ")),
        },
    })?;
    Ok(order.iter().filter_map(|name| by_name.get(name.as_str()).copied()).collect())
}

fn check_dependencies(cookbook: &Cookbook, all: &BTreeMap<&str, &Cookbook>) -> Result<(), AuthorError> {
    let wrong =
        |what: String| AuthorError::Wrong { path: cookbook.manifest_path.clone(), line: cookbook.depends_line, what };
    for (name, constraint) in &cookbook.dependencies {
        let Some(found) = all.get(name.as_str()) else {
            return Err(wrong(format!(
                "cookbook {} depends on {name:?}, which the policy does not have",
                cookbook.name
            )));
        };
        let parsed = VersionConstraint::parse(constraint, VersionStyle::Cookbook);
        let version = Version::parse(&found.version, VersionStyle::Cookbook);
        match (parsed, version) {
            (Ok(constraint), Ok(version)) if constraint.includes(version) => {}
            (Err(error), _) | (_, Err(error)) => return Err(wrong(error.to_string())),
            _ => {
                return Err(wrong(format!(
                    "cookbook {} needs {name} {constraint}, but the policy has {name} {}",
                    cookbook.name, found.version
                )));
            }
        }
    }
    Ok(())
}

fn entry(cookbook: &Cookbook) -> CookbookEntry {
    let files: Vec<FileChecksum> =
        cookbook.files.iter().map(|(path, content)| FileChecksum::of(path, content)).collect();
    CookbookEntry {
        name: cookbook.name.clone(),
        version: cookbook.version.clone(),
        identifier: CookbookIdentifier::of(&files).to_string(),
        dependencies: cookbook.dependencies.clone(),
        language: cookbook.language,
    }
}

fn attributes(path: &Path, level: &'static str, table: &toml::Table) -> Result<Map<String, Value>, AuthorError> {
    let json = AttributeValue::from(table).to_json();
    match json.map_err(|source| AuthorError::Attribute { path: path.to_owned(), level, source })? {
        Value::Object(map) => Ok(map),
        _ => Ok(Map::new()),
    }
}
