//! A cookbook in a folder: what its metadata says, its files as Chef counts them, its identifier.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use artifact::lock::{CookbookIdentifier, FileChecksum};
use artifact::{Language, MAX_FILES};
use contract::Question;
use node::version_constraint::{Version, VersionStyle};
use policyfile::constraint::Constraint;
use policyfile::model::is_cookbook_name;
use serde_json::Value;

use super::Session;
use super::error::PolicyfileError;
use crate::gems::{WantedGem, wanted_gems};
use crate::ignore::{Ignore, Unusable};

/// What a cookbook's files may weigh together, in bytes.
pub(super) const MAX_BYTES: u64 = 512 << 20;

/// How deep a cookbook's folders may be nested.
const MAX_DEPTH: usize = 32;

/// The largest metadata.json, in bytes.
const MAX_METADATA: u64 = 16 << 20;

/// A cookbook in a folder.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LocalCookbook {
    /// The folder of the cookbook.
    pub(super) path: PathBuf,
    pub(super) name: String,
    /// The version, as three numbers.
    pub(super) version: String,
    /// Names and constraints, in the order of the metadata.
    pub(super) dependencies: Vec<(String, String)>,
    /// The gems that its metadata name.
    pub(super) gems: Vec<WantedGem>,
    pub(super) language: Language,
}

impl LocalCookbook {
    pub(super) fn is_in(folder: &Path) -> bool {
        ["metadata.rb", "metadata.json"].iter().any(|file| folder.join(file).exists())
    }

    /// Reads what metadata say. `folder`: the cookbook's, for messages.
    pub(super) fn of_metadata(folder: &Path, metadata: &Value) -> Result<Self, PolicyfileError> {
        let wrong = |what: String| PolicyfileError::Metadata { path: folder.to_owned(), what };
        let text = |key: &str| metadata.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        let name = text("name").ok_or_else(|| wrong("the `name` attribute is required in cookbook metadata".into()))?;
        if !is_cookbook_name(name) {
            return Err(wrong(format!("{name:?} cannot be a cookbook's name")));
        }
        let version = Version::parse(text("version").unwrap_or("0.0.0"), VersionStyle::Cookbook);
        let dependencies = metadata.get("dependencies").and_then(Value::as_object).into_iter().flatten();
        let pair = |(name, constraint): (&String, &Value)| {
            let constraint = constraint.as_str().unwrap_or(">= 0.0.0");
            Constraint::parse(constraint).map_err(|error| wrong(error.to_string()))?;
            Ok((name.clone(), constraint.to_owned()))
        };
        Ok(Self {
            path: folder.to_owned(),
            name: name.to_owned(),
            version: version.map_err(|error| wrong(error.to_string()))?.to_string(),
            dependencies: dependencies.map(pair).collect::<Result<_, PolicyfileError>>()?,
            gems: wanted_gems(name, metadata),
            language: Language::Ruby,
        })
    }

    /// Checks that it is the cookbook that was meant. `wanted`: how the Policyfile names it.
    pub(super) fn check(&self, name: &str, constraint: &Constraint) -> Result<(), PolicyfileError> {
        let place = self.path.display();
        let version = Version::parse(&self.version, VersionStyle::Cookbook);
        if !version.is_ok_and(|version| constraint.includes(version)) {
            return Err(PolicyfileError::Cookbook(format!(
                "the cookbook '{name}' in {place} is version {}, which does not satisfy the constraint {constraint}",
                self.version
            )));
        }
        if self.name != name {
            return Err(PolicyfileError::Cookbook(format!(
                "the Policyfile names the cookbook '{name}', but the metadata in {place} calls it '{}'",
                self.name
            )));
        }
        Ok(())
    }

    pub(super) fn has_recipe(&self, recipe: &str) -> bool {
        let file = |ending: &str| self.path.join("recipes").join(format!("{recipe}.{ending}")).is_file();
        // Only the component knows the recipes of a crate: they are checked when it was built. A name from a run list has no
        // slash.
        self.language == Language::Rust || !recipe.contains('/') && (file("rb") || file("yml"))
    }

    /// The names of its recipes, sorted.
    pub(super) fn recipes(&self) -> Result<Vec<String>, PolicyfileError> {
        let all = files(&self.path)?;
        let recipe = |path: &String| {
            let name = path.strip_prefix("recipes/")?;
            let name = name
                .strip_suffix(".rb")
                .or_else(|| name.strip_suffix(".yml").or_else(|| name.strip_suffix(".yaml")))?;
            (!name.contains('/')).then(|| name.to_owned())
        };
        Ok(all.iter().filter_map(recipe).collect())
    }
}

impl Session<'_> {
    /// Reads a cookbook's metadata.
    pub(super) fn cookbook(&mut self, folder: &Path) -> Result<LocalCookbook, PolicyfileError> {
        if let Some(known) = self.known.get(folder) {
            return Ok(known.clone());
        }
        let found = self.read_cookbook(folder)?;
        self.known.insert(folder.to_owned(), found.clone());
        Ok(found)
    }

    /// Reads a cookbook's metadata anew.
    pub(super) fn read_cookbook(&self, folder: &Path) -> Result<LocalCookbook, PolicyfileError> {
        if let Some(found) = self.crate_cookbook(folder)? {
            return Ok(found);
        }
        let metadata =
            if folder.join("metadata.json").exists() { json_metadata(folder)? } else { self.metadata(folder)? };
        LocalCookbook::of_metadata(folder, &metadata)
    }

    /// A cookbook's metadata with all fields, as Chef writes it.
    pub(super) fn metadata(&self, folder: &Path) -> Result<Value, PolicyfileError> {
        if !LocalCookbook::is_in(folder) {
            return Err(self.not_a_cookbook(folder));
        }
        let question = |cookbook| Question::Metadata { cookbook, place: folder.display().to_string() };
        self.ask(folder, question)?.map_err(|failure| PolicyfileError::Metadata {
            path: folder.to_owned(),
            what: format!("{}: {failure}", failure.class()),
        })
    }
}

fn json_metadata(folder: &Path) -> Result<Value, PolicyfileError> {
    let path = folder.join("metadata.json");
    super::check_inside(&path, folder)?;
    let text = super::read_text(&path, MAX_METADATA)?;
    super::bounded_json(text.as_bytes()).map_err(|what| PolicyfileError::Metadata { path: folder.to_owned(), what })
}

/// The checksums of a cookbook's files.
pub(super) fn checksums(folder: &Path) -> Result<Vec<FileChecksum>, PolicyfileError> {
    let mut room = MAX_BYTES;
    let mut sums = vec![];
    for path in files(folder)? {
        let full = folder.join(&path);
        let content = plain_files::read(&full, room).map_err(|error| match error.kind() {
            ErrorKind::FileTooLarge => {
                PolicyfileError::TooMuch { path: folder.to_owned(), limit: MAX_BYTES, of: "bytes" }
            }
            _ => PolicyfileError::read(&full)(error),
        })?;
        room = room.saturating_sub(u64::try_from(content.len()).unwrap_or(u64::MAX));
        sums.push(FileChecksum::of(&path, &content));
    }
    Ok(sums)
}

/// Computes the identifier of a cookbook, as chef-cli does.
pub(super) fn identifier(cookbook: &LocalCookbook) -> Result<CookbookIdentifier, PolicyfileError> {
    Ok(CookbookIdentifier::of(&sums(cookbook)?))
}

/// The checksums that a cookbook's identifier is made of.
pub(super) fn sums(cookbook: &LocalCookbook) -> Result<Vec<FileChecksum>, PolicyfileError> {
    match cookbook.language {
        Language::Rust => super::crates::checksums(&cookbook.path),
        Language::Ruby => checksums(&cookbook.path),
    }
}

/// The files of a cookbook with their contents, as Chef counts them. `room`: how many bytes they may have, of `limit`.
pub(crate) fn contents(folder: &Path, room: &mut u64, limit: u64) -> Result<Vec<(String, Vec<u8>)>, PolicyfileError> {
    let mut found = vec![];
    for path in files(folder)? {
        let full = folder.join(&path);
        let content = plain_files::read(&full, *room).map_err(|error| match error.kind() {
            ErrorKind::FileTooLarge => PolicyfileError::TooMuch { path: folder.to_owned(), limit, of: "bytes" },
            _ => PolicyfileError::read(&full)(error),
        })?;
        *room = room.saturating_sub(content.len() as u64);
        found.push((path, content));
    }
    Ok(found)
}

/// The files of a cookbook as Chef counts them, sorted: those of `chefignore` and of hidden folders at its top are not its
/// own.
pub(super) fn files(folder: &Path) -> Result<Vec<String>, PolicyfileError> {
    let unusable = |(path, source): Unusable| PolicyfileError::Read { path, source };
    let mut ignore = Ignore::of_folder_or_above(folder).map_err(unusable)?;
    let mut found = vec![];
    let mut open = vec![(folder.to_owned(), String::new(), 0)];
    while let Some((path, prefix, depth)) = open.pop() {
        for entry in std::fs::read_dir(&path).map_err(PolicyfileError::read(&path))? {
            let entry = entry.map_err(PolicyfileError::read(&path))?;
            // Left out, it would be missed on the node, by whoever runs the policy.
            let name = entry.file_name().into_string().map_err(|_| PolicyfileError::NotText { path: entry.path() })?;
            let kind = entry.file_type().map_err(PolicyfileError::read(entry.path()))?;
            let relative = format!("{prefix}{name}");
            if kind.is_dir() {
                if depth < MAX_DEPTH && !(depth == 0 && name.starts_with('.')) {
                    open.push((entry.path(), format!("{relative}/"), depth + 1));
                }
            } else if name == ".uploaded-cookbook-version.json"
                || ignore.ignores(&relative).map_err(unusable)?
                || !entry.path().is_file()
            {
                // Not the cookbook's own.
            } else if kind.is_symlink() && !plain_files::leads_inside(&entry.path(), folder) {
                // The cookbook may be a stranger's, and what it leads to would travel with the policy.
                return Err(PolicyfileError::LeadsOut { path: entry.path(), cookbook: folder.to_owned() });
            } else {
                found.push(relative);
            }
        }
        if found.len() > MAX_FILES {
            let limit = u64::try_from(MAX_FILES).unwrap_or(u64::MAX);
            return Err(PolicyfileError::TooMuch { path: folder.to_owned(), limit, of: "files" });
        }
    }
    found.sort();
    Ok(found)
}
