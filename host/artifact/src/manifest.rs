//! The manifest of an artifact: the section `wrun:manifest`, JSON, format 1.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use grants::Needs;
use node::run_list::{RunListItem, RunListItemKind, split_recipe};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use text::check_json_values;

use crate::gems;
use crate::lock::{AttributeValue, CookbookIdentifier, InvalidAttribute, RevisionParts};
use crate::ordered::{self, NamedLists};
use crate::sections::speaks;
use crate::{ArtifactError, CONTRACT};

/// The format that is written. Higher numbers are refused.
pub const MANIFEST_FORMAT: u64 = 1;

/// The largest manifest, in bytes.
const MAX_MANIFEST: usize = 16 << 20;

/// Largest number of JSON values of a manifest. Each takes some 100 bytes of memory, several times.
const MAX_VALUES: usize = 250_000;

/// How many cookbooks a policy may have.
const MAX_COOKBOOKS: usize = 4096;

/// How many items a run list may have.
const MAX_RUN_LIST: usize = 4096;

/// The longest name of a compiler, in bytes.
const MAX_COMPILER: usize = 500;

/// The longest name of a policy, in bytes: it is part of file names.
const MAX_NAME: usize = 100;

/// The description of a policy, without its code and files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The version of this shape, [`MANIFEST_FORMAT`].
    pub format: u64,
    /// The contract that the component speaks: `wrun:policy@0.2.0`.
    pub contract: String,
    /// The runtime of the cookbooks.
    pub runtime: Runtime,
    /// The name by which operators and files refer to the policy.
    pub name: String,
    /// The policy's revision, 64 hexadecimal digits.
    pub revision_id: String,
    /// The items in order, as `recipe[COOKBOOK::RECIPE]`.
    pub run_list: Vec<String>,
    /// Further run lists by name.
    #[serde(with = "ordered")]
    pub named_run_lists: NamedLists,
    /// The cookbooks, each after those it depends on.
    pub cookbooks: Vec<CookbookEntry>,
    /// Attributes of the level `default`, an object.
    pub default_attributes: Map<String, Value>,
    /// Attributes of the level `override`, an object.
    pub override_attributes: Map<String, Value>,
    /// The lines of the author's file that set them, from 1, by `default.a.b` (see [`node::object::attribute_key`]). They are
    /// only information, and not part of the revision.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attribute_lines: BTreeMap<String, u32>,
    /// The grants that the author asks for. They are only information, because the operator decides.
    pub needs: Needs,
    /// The gems for its cookbooks in Ruby.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gems: Option<GemsEntry>,
    /// The compiler of its component, if it has cookbooks in Rust. This is only information, because the team signs the
    /// bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<BuildInputs>,
    /// SHA-256 of the archive of `chef export -a` that the cookbooks were taken from, 64 hexadecimal digits. Their
    /// identifiers are then taken from the archive and not verified, because the archive lacks the files that they were
    /// computed from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive: Option<String>,
    /// Whether its component was compiled by `wrun policy build --dev`, for the author's own machine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dev: bool,
}

/// The inputs of a component's compilation, besides the cookbooks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BuildInputs {
    /// The compiler, as `rustc --version` names it.
    pub compiler: String,
    /// SHA-256 of the policy's Cargo.lock, 64 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cargo_lock: Option<String>,
}

/// Gems of plain Ruby whose files are among the policy's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GemsEntry {
    /// The identifier of their files, 40 hexadecimal digits (SHA-1).
    pub identifier: String,
    /// Their versions by their names.
    pub versions: BTreeMap<String, String>,
}

/// A cookbook of a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CookbookEntry {
    /// The name under which recipes and other cookbooks refer to it.
    pub name: String,
    /// The version in its metadata, as `x.y.z`.
    pub version: String,
    /// The identifier of its files, 40 hexadecimal digits (SHA-1).
    pub identifier: String,
    /// Constraints by name of the cookbooks it depends on.
    pub dependencies: BTreeMap<String, String>,
    /// The language of the cookbook.
    #[serde(default, skip_serializing_if = "Language::is_rust")]
    pub language: Language,
}

/// The language of a cookbook.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Compiled into the policy's component.
    #[default]
    Rust,
    /// Its sources are among the policy's files. A runtime on the node evaluates them.
    Ruby,
}

impl Language {
    fn is_rust(&self) -> bool {
        *self == Self::Rust
    }
}

/// The runtime of a policy's cookbooks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Runtime {
    /// The component itself, which contains the compiled code.
    #[default]
    Rust,
    /// A runtime on the node that policies share.
    Shared {
        /// Its name and version.
        name: String,
        /// SHA-256 of the runtime, 64 hexadecimal digits.
        digest: String,
    },
}

/// The errors of a manifest.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// It is not JSON, or not the JSON of a manifest.
    #[error("its manifest cannot be read: {reason}")]
    Unreadable {
        /// The place in the JSON and what is wrong there.
        reason: String,
    },
    /// A newer program wrote it.
    #[error("its manifest has format {found}")]
    NewerFormat {
        /// The format that the manifest states, from 1.
        found: u64,
    },
    /// It is for another contract.
    #[error("it is for the contract {found}")]
    OtherContract {
        /// The contract that the manifest states, such as `wrun:policy@0.1.0`.
        found: String,
    },
    /// The name is not valid for a policy.
    #[error(
        "{name:?} cannot be a policy's name: use up to {MAX_NAME} letters, digits, hyphens, underscores and dots, \
         and no dot at the beginning"
    )]
    Name {
        /// The name that was refused, as given.
        name: String,
    },
    /// Its parts contradict each other.
    #[error("its manifest is not sound: {what}")]
    Unsound {
        /// The sentence that tells the contradiction.
        what: String,
    },
    /// An attribute is not allowed in a policy.
    #[error(transparent)]
    Attribute(#[from] InvalidAttribute),
}

impl ManifestError {
    /// Turns the error into one about an artifact's file.
    pub(super) fn of_artifact(self, path: &Path) -> ArtifactError {
        let path = path.to_owned();
        match self {
            Self::NewerFormat { found } => ArtifactError::NewerFormat { path, found, known: MANIFEST_FORMAT },
            Self::OtherContract { found } => ArtifactError::OtherContract { path, found },
            other => ArtifactError::Damaged { path, what: other.to_string() },
        }
    }
}

/// Checks a policy's name: letters, digits and `-_.`, as in Chef, without a leading dot because it becomes the name of a
/// file.
///
/// # Errors
/// [`ManifestError::Name`].
pub fn check_policy_name(name: &str) -> Result<(), ManifestError> {
    let is_good = !name.is_empty()
        && name.len() <= MAX_NAME
        && !name.starts_with('.')
        && name.chars().all(|character| character.is_ascii_alphanumeric() || "-_.".contains(character));
    if is_good { Ok(()) } else { Err(ManifestError::Name { name: name.chars().take(MAX_NAME).collect() }) }
}

/// Checks the size of a manifest before it is parsed. A manifest that is written is checked too, so that nobody builds an
/// artifact that nodes cannot read.
fn check_size(bytes: &[u8]) -> Result<(), ManifestError> {
    if bytes.len() > MAX_MANIFEST {
        return Err(ManifestError::Unreadable { reason: format!("it is longer than {MAX_MANIFEST} bytes") });
    }
    check_json_values(bytes, MAX_VALUES).map_err(|reason| ManifestError::Unreadable { reason })
}

impl Manifest {
    /// The cookbook of that name.
    #[must_use]
    pub fn cookbook(&self, name: &str) -> Option<&CookbookEntry> {
        self.cookbooks.iter().find(|cookbook| cookbook.name == name)
    }

    /// Returns the allowed first parts of files' paths: the names of the cookbooks, and that of the gems.
    pub(super) fn owners_of_files(&self) -> BTreeSet<&str> {
        let gems = self.gems.iter().map(|_| gems::COOKBOOK);
        self.cookbooks.iter().map(|cookbook| cookbook.name.as_str()).chain(gems).collect()
    }

    /// Computes the revision from the other fields.
    ///
    /// # Errors
    /// An attribute that no policy can have.
    pub fn compute_revision(&self) -> Result<String, InvalidAttribute> {
        let cookbooks = self.cookbooks.iter().map(|one| (one.name.as_str(), one.identifier.as_str()));
        // Chef's policies do not have gems. Here other gems make another revision, like other cookbooks.
        let gems = self.gems.iter().map(|gems| (gems::COOKBOOK, gems.identifier.as_str()));
        let cookbooks = cookbooks.chain(gems).collect();
        RevisionParts {
            name: &self.name,
            run_list: &self.run_list,
            named_run_lists: &self.named_run_lists,
            cookbooks,
            default_attributes: &AttributeValue::from(&self.default_attributes),
            override_attributes: &AttributeValue::from(&self.override_attributes),
        }
        .revision_id()
    }

    pub(super) fn write(&self) -> Result<Vec<u8>, ManifestError> {
        self.check()?;
        let bytes =
            serde_json::to_vec(self).map_err(|error| ManifestError::Unreadable { reason: error.to_string() })?;
        check_size(&bytes)?;
        Ok(bytes)
    }

    /// Reads a manifest: first its format, then the contract, then the rest, so that a newer file is distinguished from a
    /// damaged one.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, ManifestError> {
        #[derive(Deserialize)]
        struct Outline {
            format: u64,
            contract: String,
        }

        let unreadable = |error: serde_json::Error| ManifestError::Unreadable { reason: error.to_string() };
        check_size(bytes)?;
        let outline: Outline = serde_json::from_slice(bytes).map_err(unreadable)?;
        if outline.format > MANIFEST_FORMAT {
            return Err(ManifestError::NewerFormat { found: outline.format });
        }
        if !speaks(&outline.contract) {
            return Err(ManifestError::OtherContract { found: outline.contract.chars().take(MAX_NAME).collect() });
        }
        let manifest: Self = serde_json::from_slice(bytes).map_err(unreadable)?;
        manifest.check()?;
        Ok(manifest)
    }

    /// Checks the rules that the types do not express.
    fn check(&self) -> Result<(), ManifestError> {
        let unsound = |what: String| Err(ManifestError::Unsound { what });
        if self.format != MANIFEST_FORMAT {
            return unsound(format!("there is no format {}", self.format));
        }
        if !speaks(&self.contract) {
            return Err(ManifestError::OtherContract { found: self.contract.clone() });
        }
        check_policy_name(&self.name)?;
        self.check_runtime()?;
        self.check_gems()?;
        self.check_provenance()?;
        if self.cookbooks.len() > MAX_COOKBOOKS {
            return unsound(format!("there are more than {MAX_COOKBOOKS} cookbooks"));
        }
        let mut names = BTreeSet::new();
        for cookbook in &self.cookbooks {
            cookbook.check(&names)?;
            names.insert(cookbook.name.as_str());
        }
        for cookbook in &self.cookbooks {
            if let Some(missing) = cookbook.dependencies.keys().find(|name| !names.contains(name.as_str())) {
                return unsound(format!("cookbook {} depends on {missing:?}, which is not there", cookbook.name));
            }
        }
        let named = self.named_run_lists.iter().map(|(_, list)| list);
        for list in std::iter::once(&self.run_list).chain(named) {
            if list.len() > MAX_RUN_LIST {
                return unsound(format!("a run list has more than {MAX_RUN_LIST} items"));
            }
            for item in list {
                check_item(item, &names)?;
            }
        }
        let revision = self.compute_revision()?;
        if revision != self.revision_id {
            return unsound(format!("its parts have the revision {revision}, but it states {}", self.revision_id));
        }
        Ok(())
    }

    /// Checks that the data about the build and the archive are well-formed.
    fn check_provenance(&self) -> Result<(), ManifestError> {
        let digests = self.archive.iter().chain(self.build.iter().filter_map(|build| build.cargo_lock.as_ref()));
        let is_bad = |digest: &String| digest.len() != 64 || !digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        let compilers = self.build.iter().map(|build| &build.compiler);
        if digests.into_iter().any(is_bad) || compilers.into_iter().any(|name| name.len() > MAX_COMPILER) {
            return Err(ManifestError::Unsound { what: "it says of its build what cannot be".into() });
        }
        Ok(())
    }

    /// Checks that there is a runtime if, and only if, the policy has cookbooks in Ruby.
    fn check_runtime(&self) -> Result<(), ManifestError> {
        let unsound = |what: String| Err(ManifestError::Unsound { what });
        let has_ruby = self.cookbooks.iter().any(|cookbook| cookbook.language == Language::Ruby);
        match &self.runtime {
            Runtime::Rust if has_ruby => unsound("it has cookbooks in Ruby and names no runtime for them".into()),
            Runtime::Shared { .. } if !has_ruby => unsound("it names a runtime that no cookbook of it needs".into()),
            Runtime::Shared { name, digest } => {
                let is_digest = digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
                match is_digest && check_policy_name(name).is_ok() {
                    true => Ok(()),
                    false => unsound("its runtime's name or digest is invalid".into()),
                }
            }
            Runtime::Rust => Ok(()),
        }
    }

    /// Checks the gems, which are allowed only with cookbooks in Ruby.
    fn check_gems(&self) -> Result<(), ManifestError> {
        let unsound = |what: &str| Err(ManifestError::Unsound { what: what.to_owned() });
        let Some(gems) = &self.gems else { return Ok(()) };
        if self.runtime == Runtime::Rust {
            return unsound("it has gems and no cookbook in Ruby");
        }
        if CookbookIdentifier::parse(&gems.identifier).is_none() {
            return unsound("its gems have no identifier of 40 hexadecimal digits");
        }
        let is_good = |(name, version): (&String, &String)| is_component_name(name) && is_component_name(version);
        match gems.versions.len() <= MAX_COOKBOOKS && gems.versions.iter().all(is_good) {
            true => Ok(()),
            false => unsound("its gems have impossible names or versions, or are too many"),
        }
    }

    /// Whether the policy's own component has code: some of its cookbooks are written in Rust.
    #[must_use]
    pub fn has_own_code(&self) -> bool {
        self.runtime == Runtime::Rust || self.cookbooks.iter().any(|cookbook| cookbook.language == Language::Rust)
    }

    /// Makes a manifest for this program's contract, and computes the revision.
    ///
    /// # Errors
    /// The parts contradict each other.
    pub fn new(parts: ManifestParts) -> Result<Self, ManifestError> {
        let ManifestParts {
            name,
            run_list,
            named_run_lists,
            cookbooks,
            default_attributes,
            override_attributes,
            attribute_lines,
            needs,
            runtime,
            gems,
        } = parts;
        let mut manifest = Self {
            format: MANIFEST_FORMAT,
            contract: CONTRACT.to_owned(),
            runtime,
            name,
            revision_id: String::new(),
            run_list,
            named_run_lists,
            cookbooks,
            default_attributes,
            override_attributes,
            attribute_lines,
            needs,
            gems,
            build: None,
            archive: None,
            dev: false,
        };
        manifest.revision_id = manifest.compute_revision()?;
        manifest.check()?;
        Ok(manifest)
    }
}

/// The parts of a manifest that come from the policy's author.
#[derive(Debug, Clone, Default)]
pub struct ManifestParts {
    /// The name by which operators and files refer to the policy.
    pub name: String,
    /// The items in order, as `recipe[COOKBOOK::RECIPE]`.
    pub run_list: Vec<String>,
    /// Further run lists by name, in the order in which they were written.
    pub named_run_lists: Vec<(String, Vec<String>)>,
    /// The cookbooks, each after those it depends on.
    pub cookbooks: Vec<CookbookEntry>,
    /// Attributes of the level `default`.
    pub default_attributes: Map<String, Value>,
    /// Attributes of the level `override`.
    pub override_attributes: Map<String, Value>,
    /// The lines of the author's file that set them, by `default.a.b`.
    pub attribute_lines: BTreeMap<String, u32>,
    /// The entries of the operator's grants that the author asks for.
    pub needs: Needs,
    /// What runs the cookbooks.
    pub runtime: Runtime,
    /// The gems for the cookbooks in Ruby.
    pub gems: Option<GemsEntry>,
}

impl CookbookEntry {
    fn check(&self, before: &BTreeSet<&str>) -> Result<(), ManifestError> {
        let unsound = |what: String| Err(ManifestError::Unsound { what });
        if !is_component_name(&self.name) {
            return unsound(format!("{:?} cannot be a cookbook's name", self.name));
        }
        if before.contains(self.name.as_str()) {
            return unsound(format!("cookbook {} is there twice", self.name));
        }
        if CookbookIdentifier::parse(&self.identifier).is_none() {
            return unsound(format!("cookbook {} has no identifier of 40 hexadecimal digits", self.name));
        }
        Ok(())
    }
}

/// Checks an item of a run list: `recipe[COOKBOOK::RECIPE]` of one of the policy's cookbooks.
fn check_item(text: &str, cookbooks: &BTreeSet<&str>) -> Result<(), ManifestError> {
    let parsed = RunListItem::parse(text).ok().filter(|item| item.kind == RunListItemKind::Recipe);
    let is_full = parsed.as_ref().is_some_and(|item| item.version.is_none() && item.to_string() == text);
    let (cookbook, recipe) = parsed.as_ref().map_or(("", ""), |item| split_recipe(&item.name));
    if !is_full || !text.contains("::") || !is_component_name(cookbook) || !is_component_name(recipe) {
        let shown: String = text.chars().take(MAX_NAME).collect();
        return Err(ManifestError::Unsound { what: format!("{shown:?} is not a `recipe[COOKBOOK::RECIPE]`") });
    }
    if !cookbooks.contains(cookbook) {
        let what = format!("the run list asks for {text}, but there is no cookbook {cookbook:?}");
        return Err(ManifestError::Unsound { what });
    }
    Ok(())
}

/// Tells whether Chef allows a text as the name of a cookbook or recipe in a policy.
pub fn is_component_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= MAX_NAME
        && name != "."
        && name != ".."
        && name.chars().all(|character| character.is_alphanumeric() || "-_.".contains(character))
}
