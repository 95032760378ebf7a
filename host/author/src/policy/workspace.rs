//! Checks the cargo workspace of a policy with cookbooks in Rust.
//!
//! Without these checks cargo would fail with errors that do not mention the policy. Or the component would be built without
//! a cookbook and fail on every node.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use plain_files::HeldFolder;
use serde::Deserialize;
use toml::Spanned;

use super::AuthorError;
use super::cookbook::Cookbook;
use super::create::workspace_files;
use super::toml_file::TomlFile;
use artifact::Language;

/// The name and the folder of a cookbook.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) path: PathBuf,
}

/// The cookbooks of a policy, by language.
#[derive(Debug)]
pub(super) struct Workspace {
    pub(super) crates: Vec<Member>,
    in_ruby: Vec<Member>,
}

#[derive(Deserialize)]
struct RootManifest {
    #[serde(default)]
    dependencies: toml::Table,
    workspace: Option<WorkspaceTable>,
}

#[derive(Deserialize)]
struct WorkspaceTable {
    members: Option<Spanned<Vec<String>>>,
    #[serde(default)]
    dependencies: toml::Table,
}

impl Workspace {
    pub(super) fn of(cookbooks: &[Cookbook]) -> Self {
        let of = |language| {
            let of_language = cookbooks.iter().filter(|cookbook| cookbook.language == language);
            of_language.map(|cookbook| Member { name: cookbook.name.clone(), path: cookbook.path.clone() }).collect()
        };
        Self { crates: of(Language::Rust), in_ruby: of(Language::Ruby) }
    }

    /// Checks the Cargo.toml of a policy's folder.
    ///
    /// # Errors
    /// It does not exist, does not link a cookbook, or it takes a cookbook in Ruby for a crate.
    pub(super) fn check(&self, folder: &HeldFolder, name: &str) -> Result<(), AuthorError> {
        let policy = folder.path();
        let Some(file) = TomlFile::read(folder, "Cargo.toml")? else {
            let cookbook = self.crates.first().map(|member| member.path.clone()).unwrap_or_default();
            let (manifest, library) = workspace_files(name, policy, &self.crates);
            return Err(AuthorError::NoWorkspace { folder: policy.to_owned(), cookbook, manifest, library });
        };
        let root: RootManifest = file.parse()?;
        let inherited = root.workspace.as_ref().map(|workspace| &workspace.dependencies);
        let linked: BTreeSet<&str> = [Some(&root.dependencies), inherited]
            .into_iter()
            .flatten()
            .flat_map(|table| table.iter())
            .filter(|(key, _)| root.dependencies.contains_key(key.as_str()))
            .flat_map(|(key, value)| [Some(key.as_str()), value.get("package").and_then(toml::Value::as_str)])
            .flatten()
            .collect();
        for member in &self.crates {
            // The one crate may be both the cookbook and the component.
            if !linked.contains(member.name.as_str()) && !is_same(&member.path, policy) {
                return Err(AuthorError::NotLinked { manifest: file.path, cookbook: member.name.clone() });
            }
        }
        let members = root.workspace.and_then(|workspace| workspace.members);
        let taken = members.as_ref().and_then(|members| {
            let folders = members.get_ref().iter().filter_map(|member| member.strip_suffix("/*"));
            let folders: Vec<_> = folders.map(|folder| policy.join(folder)).collect();
            let is_taken = |one: &&Member| {
                one.path.parent().is_some_and(|parent| folders.iter().any(|folder| is_same(folder, parent)))
            };
            Some((members.span(), self.in_ruby.iter().find(is_taken)?))
        });
        match taken {
            None => Ok(()),
            Some((span, member)) => Err(file.wrong(
                &span,
                format!(
                    "`members` takes the cookbook {} for a crate, but it is in Ruby; remove `members`: \
                     crates that the policy depends on belong to the workspace without it",
                    member.name
                ),
            )),
        }
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    match (fs::canonicalize(one), fs::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}
