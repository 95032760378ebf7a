//! `wrun policy export`: a Chef repository that holds one locked policy, which `chef-client -z` converges.

use std::path::{Path, PathBuf};

use artifact::Language;
use flate2::Compression;
use flate2::write::GzEncoder;
use policyfile::constraint::Constraint;
use policyfile::lock::{CookbookPlace, Lock, pretty};
use serde_json::{Value, json};

use super::cookbook::{LocalCookbook, files, identifier};
use super::error::PolicyfileError;
use super::install::{changed_in_cache, gone, other_identifier, source_of};
use super::paths::expanded;
use super::{Place, Session, Tools};

/// The options of an export, as the command line gives them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportOptions {
    /// The folder to export to, in full.
    pub folder: PathBuf,
    /// One compressed file in the folder instead of a tree.
    pub archive: bool,
    /// Replace what an earlier export left.
    pub force: bool,
    /// The policy group that the export is for.
    pub group: String,
}

/// The result of an export, for the command's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// The name of the exported policy.
    pub name: String,
    /// The folder or the archive.
    pub target: PathBuf,
}

/// The folders that only an export has. One before it is replaced as a whole.
const FOLDERS: [&str; 3] = ["cookbook_artifacts", "policies", "policy_groups"];

/// The folder of Chef's configuration, and the file in it that an export has.
const CHEF: &str = ".chef";
const CONFIG: &str = "config.rb";

const LOCK: &str = "Policyfile.lock.json";

const README: &str = "README.md";

/// Exports a locked policy. The lock is brought up to date with the cookbooks beside it first, as chef-cli does.
///
/// # Errors
/// There is no sound lock, a cookbook no longer fits it, or the folder has something in it.
pub fn export(place: &Place, options: &ExportOptions, tools: &Tools<'_>) -> Result<Exported, PolicyfileError> {
    if !place.lock.exists() {
        return Err(PolicyfileError::NoLock { path: place.lock.clone() });
    }
    check_group(&options.group)?;
    let folder = &options.folder;
    if !options.archive {
        check_folder(folder, options.force)?;
    }
    let mut lock = place.read_lock()?;
    let locked = lock.revision_id()?;
    let mut session = Session::of(place, tools);
    let cookbooks = session.refresh(place, &mut lock)?;
    if let Some((rust, _)) = cookbooks.iter().find(|(cookbook, _)| cookbook.language == Language::Rust) {
        return Err(PolicyfileError::Cookbook(format!(
            "the cookbook {} is in Rust, which Chef cannot run: only policies of Ruby cookbooks can be exported",
            rust.name
        )));
    }
    let text = lock.to_text()?;
    if super::read_own_text(&place.lock)? != text {
        place.write_lock(&lock)?;
        let short = |revision: &str| revision.chars().take(12).collect::<String>();
        (tools.say)(&format!(
            "note: {} was brought up to date with the cookbooks beside it: revision {} is now {}",
            place.lock.display(),
            short(&locked),
            short(&lock.revision_id()?)
        ));
    }
    let revision = lock.revision_id()?;
    let name = lock.name.clone().unwrap_or_default();
    check_file_name(&name)?;
    std::fs::create_dir_all(folder).map_err(PolicyfileError::write(folder))?;
    let staging = folder.join(plain_files::unfinished_name().map_err(PolicyfileError::write(folder))?);
    std::fs::create_dir(&staging).map_err(PolicyfileError::write(&staging))?;
    let staged = session
        .stage(&staging, &cookbooks)
        .and_then(|()| documents(&staging, &name, &revision, &options.group, &text))
        .and_then(|()| match options.archive {
            true => archive(&staging, &folder.join(format!("{name}-{revision}.tgz"))),
            false => move_into(&staging, folder).map(|()| folder.clone()),
        });
    drop(std::fs::remove_dir_all(&staging));
    Ok(Exported { name, target: staged? })
}

/// The group's name becomes a file's.
fn check_group(group: &str) -> Result<(), PolicyfileError> {
    check_file_name(group)
}

fn check_file_name(name: &str) -> Result<(), PolicyfileError> {
    let is_sound = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0']);
    if is_sound { Ok(()) } else { Err(PolicyfileError::Cookbook(format!("{name:?} cannot be the name of a file"))) }
}

/// Checks that an export may replace what is in a folder. `force`: an earlier export may be replaced.
fn check_folder(folder: &Path, force: bool) -> Result<(), PolicyfileError> {
    let found = conflicts(folder)?;
    if found.is_empty() {
        return Ok(());
    }
    if !force {
        return Err(PolicyfileError::NotEmpty { folder: folder.to_owned(), found });
    }
    // Folders have these two for other reasons, too: then nobody has exported to here.
    let others = [configuration(folder), folder.join(README)].into_iter().filter(|path| is_there(path)).collect();
    let is_export = FOLDERS.iter().all(|name| folder.join(name).is_dir()) && folder.join(LOCK).is_file();
    let others = listed(others);
    match is_export || others.is_empty() {
        true => Ok(()),
        false => Err(PolicyfileError::NoExport { folder: folder.to_owned(), found: others }),
    }
}

/// Whether something is there, be it a link that leads nowhere.
fn is_there(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}

/// Whether a folder is there, and not a link to one.
fn is_folder(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|about| about.is_dir())
}

/// What an export replaces of Chef's configuration: one file in its folder, or what has the folder's name.
fn configuration(folder: &Path) -> PathBuf {
    let chef = folder.join(CHEF);
    if is_folder(&chef) { chef.join(CONFIG) } else { chef }
}

fn listed(paths: Vec<PathBuf>) -> Vec<String> {
    paths.iter().map(|path| path.display().to_string()).collect()
}

/// Everything in a folder that [`move_into`] would replace.
fn conflicts(folder: &Path) -> Result<Vec<String>, PolicyfileError> {
    let mut found = vec![];
    for name in FOLDERS {
        let path = folder.join(name);
        if !is_folder(&path) {
            found.extend(is_there(&path).then_some(path));
            continue;
        }
        let mut inside = vec![];
        for entry in std::fs::read_dir(&path).map_err(PolicyfileError::read(&path))? {
            inside.push(entry.map_err(PolicyfileError::read(&path))?.path());
        }
        inside.sort();
        found.extend(inside);
    }
    let files = [folder.join(LOCK), configuration(folder), folder.join(README)];
    found.extend(files.into_iter().filter(|path| is_there(path)));
    Ok(listed(found))
}

/// A cookbook of the lock, and its name in the export.
type Staged = (LocalCookbook, String);

impl Session<'_> {
    /// Brings a lock up to date with its cookbooks. Fetched ones must be as they were locked.
    fn refresh(&mut self, place: &Place, lock: &mut Lock) -> Result<Vec<Staged>, PolicyfileError> {
        let mut staged = vec![];
        let mut changed = vec![];
        for (name, locked) in &mut lock.cookbooks {
            let folder = match &locked.place {
                CookbookPlace::Local { source, .. } => {
                    let folder = expanded(source, &place.folder);
                    if !folder.is_dir() {
                        return Err(gone(name, source, &folder));
                    }
                    folder
                }
                CookbookPlace::Cached { .. } => {
                    let source = source_of(name, &locked.source_options)?;
                    let folder = source.map_or(Ok(None), |source| self.kept(name, &source))?.ok_or_else(|| {
                        PolicyfileError::Cookbook(format!(
                            "the lock does not say where cookbook {name} is fetched from"
                        ))
                    })?;
                    if !folder.is_dir() {
                        return Err(PolicyfileError::Cookbook(format!(
                            "cookbook {name} is not in the cache ({}); `wrun policy install` fetches it",
                            folder.display()
                        )));
                    }
                    folder
                }
            };
            let cookbook = self.cookbook(&folder)?;
            cookbook.check(name, &Constraint::any())?;
            if matches!(locked.place, CookbookPlace::Cached { .. })
                && let Some(what) = other_identifier(place, name, &locked.identifier, &cookbook)?
            {
                return Err(changed_in_cache(&what));
            }
            let now = identifier(&cookbook)?;
            if now.as_str() != locked.identifier || cookbook.version != locked.version {
                locked.identifier = now.to_string();
                locked.dotted_decimal_identifier = now.dotted_decimal().into();
                locked.version.clone_from(&cookbook.version);
                changed.push(cookbook.clone());
            }
            staged.push((cookbook, format!("{name}-{now}")));
        }
        let mut problems = vec![];
        for cookbook in changed {
            let parsed = |(name, constraint): &(String, String)| {
                (name.clone(), Constraint::parse(constraint).unwrap_or_else(|_| Constraint::any()))
            };
            let demands = cookbook.dependencies.iter().map(parsed).collect();
            problems.extend(lock.dependencies.update(&cookbook.name, &cookbook.version, demands));
        }
        if !problems.is_empty() {
            return Err(PolicyfileError::Outdated { lock: place.lock.clone(), differences: problems });
        }
        self.refresh_commits(place, lock)?;
        Ok(staged)
    }

    /// Copies each cookbook's files to its folder below `cookbook_artifacts`.
    fn stage(&mut self, staging: &Path, cookbooks: &[Staged]) -> Result<(), PolicyfileError> {
        for (cookbook, name) in cookbooks {
            let target = staging.join("cookbook_artifacts").join(name);
            std::fs::create_dir_all(&target).map_err(PolicyfileError::write(&target))?;
            for path in files(&cookbook.path)?.iter().filter(|path| *path != "metadata.rb" && *path != "metadata.json")
            {
                let (from, to) = (cookbook.path.join(path), target.join(path));
                if let Some(parent) = to.parent() {
                    std::fs::create_dir_all(parent).map_err(PolicyfileError::write(parent))?;
                }
                std::fs::copy(&from, &to).map_err(PolicyfileError::write(&to))?;
            }
            let metadata = self.full_metadata(cookbook)?;
            let path = target.join("metadata.json");
            std::fs::write(&path, pretty(&metadata)).map_err(PolicyfileError::write(&path))?;
        }
        Ok(())
    }

    /// A cookbook's metadata as Chef completes it: with the recipes that it has.
    fn full_metadata(&mut self, cookbook: &LocalCookbook) -> Result<Value, PolicyfileError> {
        let mut metadata = self.metadata(&cookbook.path)?;
        for recipe in cookbook.recipes()? {
            let name = match recipe.as_str() {
                "default" => cookbook.name.clone(),
                recipe => format!("{}::{recipe}", cookbook.name),
            };
            for (key, value) in [("recipes", ""), ("providing", ">= 0.0.0")] {
                if let Some(known) = metadata.get_mut(key).and_then(Value::as_object_mut)
                    && (key == "providing" || !known.contains_key(&name))
                {
                    known.insert(name.clone(), value.into());
                }
            }
        }
        Ok(metadata)
    }
}

fn documents(staging: &Path, name: &str, revision: &str, group: &str, lock: &str) -> Result<(), PolicyfileError> {
    let group_document = json!({"policies": {name: {"revision_id": revision}}});
    let config = format!(
        "# Written by `wrun policy export`: `chef-client -z` in the folder above converges this policy.\n\
         policy_name {}\npolicy_group {}\n\nuse_policyfile true\npolicy_document_native_api true\n",
        quoted(name),
        quoted(group)
    );
    let readme = format!(
        "# Policy {name}\n\nPolicy revision: {revision}\n\nThis folder has all cookbooks and the configuration of one locked \
         policy. To converge a system, run `chef-client -z` in this folder with the rights that the cookbooks need.\n\n\
         * Policyfile.lock.json: the lock\n* .chef/config.rb: the policy's name and group for Chef Infra Client\n\
         * cookbook_artifacts/: the cookbooks, each with its identifier\n* policies/: the lock, where Chef Infra Client \
         looks for it\n* policy_groups/: the revision of the group\n"
    );
    let all = [
        (format!("policies/{name}-{revision}.json"), lock.to_owned()),
        (format!("policy_groups/{group}.json"), pretty(&group_document)),
        (LOCK.to_owned(), lock.to_owned()),
        (format!("{CHEF}/{CONFIG}"), config),
        (README.to_owned(), readme),
    ];
    std::fs::create_dir_all(staging.join("cookbook_artifacts")).map_err(PolicyfileError::write(staging))?;
    for (path, text) in all {
        let path = staging.join(path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(PolicyfileError::write(parent))?;
        }
        std::fs::write(&path, text).map_err(PolicyfileError::write(&path))?;
    }
    Ok(())
}

/// A text between Ruby's single quotes.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// Puts the staged export in the place of an earlier one. Other files of [`CHEF`] stay, such as keys.
fn move_into(staging: &Path, folder: &Path) -> Result<(), PolicyfileError> {
    let (from, to) = (configuration(staging), configuration(folder));
    let from = if to.ends_with(CHEF) { staging.join(CHEF) } else { from };
    put(&from, &to)?;
    FOLDERS.into_iter().chain([LOCK, README]).try_for_each(|name| put(&staging.join(name), &folder.join(name)))
}

/// Gives a file or a folder the place of another.
fn put(from: &Path, to: &Path) -> Result<(), PolicyfileError> {
    match std::fs::symlink_metadata(to).map(|found| found.is_dir()) {
        Ok(true) => std::fs::remove_dir_all(to).map_err(PolicyfileError::write(to))?,
        Ok(false) => std::fs::remove_file(to).map_err(PolicyfileError::write(to))?,
        Err(_) => {}
    }
    std::fs::rename(from, to).map_err(PolicyfileError::write(to))
}

/// Packs the staged export into one file.
fn archive(staging: &Path, target: &Path) -> Result<PathBuf, PolicyfileError> {
    let packed = plain_files::replace_with(target, |file| {
        let mut archive = tar::Builder::new(GzEncoder::new(file, Compression::default()));
        for name in FOLDERS.into_iter().chain([CHEF, LOCK, README]) {
            let path = staging.join(name);
            if path.is_dir() {
                archive.append_dir_all(name, &path)?;
            } else {
                archive.append_path_with_name(&path, name)?;
            }
        }
        archive.into_inner()?.finish()?.sync_all()
    });
    packed.map_err(PolicyfileError::write(target))?;
    Ok(target.to_owned())
}
