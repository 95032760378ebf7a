//! Reads a cookbook in a folder: its metadata, the files that count for Chef, and its identifier.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use artifact::lock::{CookbookIdentifier, FileChecksum};
use artifact::{Language, MAX_FILES};
use contract::Question;
use node::version_constraint::{Version, VersionStyle};
use plain_files::{HeldFolder, Kind, WalkError, leads_out};
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

    /// Reads a cookbook's metadata. `folder`: the cookbook's folder, for messages.
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

    /// Checks that this is the expected cookbook, by name and version.
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
        // Only the component knows the recipes of a crate, so they are checked after the build. The name of a recipe in Ruby
        // must not contain a slash.
        self.language == Language::Rust || !recipe.contains('/') && (file("rb") || file("yml"))
    }

    /// The names of its recipes, sorted.
    pub(super) fn recipes(&self) -> Result<Vec<String>, PolicyfileError> {
        let all = files(&open(&self.path)?)?;
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
        self.ask(open(folder)?, question)?.map_err(|failure| PolicyfileError::Metadata {
            path: folder.to_owned(),
            what: format!("{}: {failure}", failure.class()),
        })
    }
}

fn json_metadata(folder: &Path) -> Result<Value, PolicyfileError> {
    let text = super::read_inside(&open(folder)?, "metadata.json", MAX_METADATA)?;
    super::bounded_json(text.as_bytes()).map_err(|what| PolicyfileError::Metadata { path: folder.to_owned(), what })
}

/// The checksums of a cookbook's files.
pub(super) fn checksums(folder: &Path) -> Result<Vec<FileChecksum>, PolicyfileError> {
    let folder = open(folder)?;
    let (mut room, mut sums) = (MAX_BYTES, vec![]);
    for path in files(&folder)? {
        let content = content(&folder, &path, &mut room, MAX_BYTES)?;
        sums.push(FileChecksum::of(&path, &content));
    }
    Ok(sums)
}

/// Opens a cookbook's folder.
pub(super) fn open(folder: &Path) -> Result<HeldFolder, PolicyfileError> {
    HeldFolder::open(folder).map_err(PolicyfileError::read(folder))
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
pub(super) fn contents(folder: &Path, room: &mut u64, limit: u64) -> Result<Vec<(String, Vec<u8>)>, PolicyfileError> {
    contents_in(&open(folder)?, room, limit)
}

/// As [`contents`], in a folder that is open.
pub(crate) fn contents_in(
    folder: &HeldFolder,
    room: &mut u64,
    limit: u64,
) -> Result<Vec<(String, Vec<u8>)>, PolicyfileError> {
    let mut found = vec![];
    for path in files(folder)? {
        let content = content(folder, &path, room, limit)?;
        found.push((path, content));
    }
    Ok(found)
}

/// The content of one of a cookbook's files.
fn content(folder: &HeldFolder, path: &str, room: &mut u64, limit: u64) -> Result<Vec<u8>, PolicyfileError> {
    let content = folder.read(path, *room).map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => PolicyfileError::TooMuch { path: folder.path().to_owned(), limit, of: "bytes" },
        _ => unread(folder, path, error),
    })?;
    *room = room.saturating_sub(u64::try_from(content.len()).unwrap_or(u64::MAX));
    Ok(content)
}

/// The error for a file of a cookbook that cannot be read.
fn unread(folder: &HeldFolder, path: &str, error: std::io::Error) -> PolicyfileError {
    let path = folder.path().join(path);
    match leads_out(&error) {
        // The cookbook may be untrusted, and the linked file would become part of the policy.
        true => PolicyfileError::LeadsOut { path, cookbook: folder.path().to_owned() },
        false => PolicyfileError::Read { path, source: error },
    }
}

/// The files of a cookbook as Chef counts them, sorted: those of `chefignore` and of hidden folders at its top are not its
/// own.
pub(super) fn files(folder: &HeldFolder) -> Result<Vec<String>, PolicyfileError> {
    let unusable = |(path, source): Unusable| PolicyfileError::Read { path, source };
    let mut ignore = Ignore::of_folder_or_above(folder).map_err(unusable)?;
    let mut found = vec![];
    let walked = folder.folder().walk(MAX_FILES, |entry| {
        // If such a file were left out, it would be missing on the node.
        let not_text = || PolicyfileError::NotText { path: folder.path().join(&entry.path) };
        let relative = entry.text().ok_or_else(not_text)?;
        if entry.kind == Kind::Folder {
            return Ok(entry.depth < MAX_DEPTH && !(entry.depth == 0 && entry.is_hidden()));
        }
        let is_foreign = entry.is(".uploaded-cookbook-version.json") || ignore.ignores(relative).map_err(unusable)?;
        if !is_foreign && is_file(folder, relative, entry.kind)? {
            found.push(relative.to_owned());
        }
        Ok(false)
    });
    walked.map_err(|error| match error {
        WalkError::TooMany => {
            let limit = u64::try_from(MAX_FILES).unwrap_or(u64::MAX);
            PolicyfileError::TooMuch { path: folder.path().to_owned(), limit, of: "files" }
        }
        WalkError::Read(below, source) => PolicyfileError::Read { path: folder.path().join(below), source },
        WalkError::Visit(error) => error,
    })?;
    found.sort();
    Ok(found)
}

/// Whether a name in a cookbook is of a file, or of a link to one in the cookbook. A link to a file elsewhere is an error.
fn is_file(folder: &HeldFolder, path: &str, kind: Kind) -> Result<bool, PolicyfileError> {
    // Links to nowhere and to folders are left out, wherever they lead.
    if kind != Kind::Link || !folder.path().join(path).is_file() {
        return Ok(kind == Kind::File);
    }
    match folder.kind(path) {
        Ok(kind) => Ok(kind == Some(Kind::File)),
        Err(error) => Err(unread(folder, path, error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// A folder with a cookbook and a secret beside it.
    fn cookbook() -> (tempfile::TempDir, PathBuf) {
        // In memory where that is possible: one of the tests makes many files.
        let top = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let folder = top.path().join("web");
        fs::create_dir_all(folder.join("files/deep")).unwrap();
        for path in ["metadata.rb", "files/own", "files/deep/own"] {
            fs::write(folder.join(path), "own").unwrap();
        }
        fs::write(top.path().join("own"), "secret").unwrap();
        (top, folder)
    }

    #[test]
    fn attack_a_listed_file_that_is_exchanged_for_a_link_is_not_read() {
        let (top, folder) = cookbook();
        let open = open(&folder).unwrap();
        let listed = files(&open).unwrap();
        assert_eq!(listed, ["files/deep/own", "files/own", "metadata.rb"]);
        fs::remove_file(folder.join("files/own")).unwrap();
        symlink("../../own", folder.join("files/own")).unwrap();
        fs::rename(folder.join("files/deep"), top.path().join("away")).unwrap();
        symlink(top.path(), folder.join("files/deep")).unwrap();
        for path in ["files/own", "files/deep/own"] {
            let error = content(&open, path, &mut 100, 100).unwrap_err();
            assert!(matches!(error, PolicyfileError::LeadsOut { .. }), "{error}");
        }
        assert_eq!(content(&open, "metadata.rb", &mut 100, 100).unwrap(), b"own");
    }

    #[test]
    fn attack_a_cookbooks_folder_that_is_exchanged_for_a_link_stays_the_one_that_was_opened() {
        let (top, folder) = cookbook();
        let open = open(&folder).unwrap();
        fs::rename(&folder, top.path().join("away")).unwrap();
        let elsewhere = top.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        fs::write(elsewhere.join("secret"), "secret").unwrap();
        symlink("elsewhere", &folder).unwrap();
        let contents = contents_in(&open, &mut 100, 100).unwrap();
        assert!(contents.len() == 3 && contents.iter().all(|(_, content)| content == b"own"), "{contents:?}");
    }

    #[test]
    fn attack_names_of_a_cookbook_are_counted_while_they_are_read() {
        let (_top, folder) = cookbook();
        // Folders count as well, and files that are left out.
        fs::write(folder.join("chefignore"), "files/*\n").unwrap();
        for name in 0..MAX_FILES {
            fs::write(folder.join(format!("files/{name}")), "").unwrap();
        }
        let error = files(&open(&folder).unwrap()).unwrap_err();
        assert!(matches!(error, PolicyfileError::TooMuch { of: "files", .. }), "{error}");
    }
}
