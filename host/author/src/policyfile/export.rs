//! Exports one locked policy as a Chef repository for `wrun policy export`. `chef-client -z` can converge it.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

use artifact::Language;
use flate2::Compression;
use flate2::write::GzEncoder;
use plain_files::{Existing, HeldFolder, Kind, Survives, WalkError, is_not_plain};
use policyfile::constraint::Constraint;
use policyfile::lock::{CookbookPlace, Lock, pretty};
use serde_json::{Value, json};

use super::cookbook::{LocalCookbook, files, identifier, open};
use super::error::PolicyfileError;
use super::install::{changed_in_cache, gone, other_identifier, source_of};
use super::paths::expanded;
use super::{Place, Session, Tools};

/// The options of an export, as the command line gives them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportOptions {
    /// The folder to export to, in full.
    pub folder: PathBuf,
    /// Whether to write one compressed file into the folder instead of a tree.
    pub archive: bool,
    /// Whether to replace an earlier export.
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

/// The folders that only an export has. Those of an earlier export are replaced.
const FOLDERS: [&str; 3] = ["cookbook_artifacts", "policies", "policy_groups"];

/// The folder of Chef's configuration, and the file in it that an export has.
const CHEF: &str = ".chef";
const CONFIG: &str = "config.rb";

const LOCK: &str = "Policyfile.lock.json";

const README: &str = "README.md";

/// Exports a locked policy. First updates the lock with the current cookbooks in folders, as chef-cli does.
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
    if place.read_text(&place.lock)? != text {
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
    let target = HeldFolder::make(folder).map_err(PolicyfileError::write(folder))?;
    let unfinished = plain_files::unfinished_name().map_err(PolicyfileError::write(folder))?;
    let staging = target.own(&unfinished).map_err(PolicyfileError::write(folder.join(&unfinished)))?;
    let staged = session
        .stage(&staging, &cookbooks)
        .and_then(|()| documents(&staging, &name, &revision, &options.group, &text))
        .and_then(|()| match options.archive {
            true => archive(&staging, &target, &format!("{name}-{revision}.tgz")),
            false => move_into(&staging, &target).map(|()| folder.clone()),
        });
    drop(target.folder().remove_folder(&unfinished));
    Ok(Exported { name, target: staged? })
}

/// Writes a file of the export.
fn write(staging: &HeldFolder, below: impl AsRef<Path>, content: &[u8]) -> Result<(), PolicyfileError> {
    staging.write(&below, content).map_err(PolicyfileError::write(staging.path().join(&below)))
}

/// Checks the group's name, because it becomes the name of a file.
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
    // A folder may have these two files for other reasons. Without the folders of an export they do not belong to one.
    let others = [configuration(folder), folder.join(README)].into_iter().filter(|path| is_there(path)).collect();
    let is_export = FOLDERS.iter().all(|name| folder.join(name).is_dir()) && folder.join(LOCK).is_file();
    let others = listed(others);
    match is_export || others.is_empty() {
        true => Ok(()),
        false => Err(PolicyfileError::NoExport { folder: folder.to_owned(), found: others }),
    }
}

/// Tells whether something exists at a path, even a broken link.
fn is_there(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}

/// Whether a folder is there, and not a link to one.
fn is_folder(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|about| about.is_dir())
}

/// Returns the path that an export replaces for Chef's configuration: one file in the folder `.chef`, or whatever has the
/// folder's name.
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
    /// Brings a lock up to date with its cookbooks. Fetched cookbooks must not have changed since they were locked.
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
    fn stage(&mut self, staging: &HeldFolder, cookbooks: &[Staged]) -> Result<(), PolicyfileError> {
        for (cookbook, name) in cookbooks {
            let below = Path::new("cookbook_artifacts").join(name);
            let to = staging.path().join(&below);
            let target = staging.own(&below).map_err(PolicyfileError::write(&to))?;
            let source = open(&cookbook.path)?;
            for path in files(&source)?.iter().filter(|path| *path != "metadata.rb" && *path != "metadata.json") {
                let file = source.open_file(path).map_err(PolicyfileError::read(cookbook.path.join(path)))?;
                target.copy(file, path).map_err(PolicyfileError::write(to.join(path)))?;
            }
            let metadata = self.full_metadata(cookbook)?;
            write(&target, "metadata.json", pretty(&metadata).as_bytes())?;
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

fn documents(staging: &HeldFolder, name: &str, revision: &str, group: &str, lock: &str) -> Result<(), PolicyfileError> {
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
    staging.own("cookbook_artifacts").map_err(PolicyfileError::write(staging.path()))?;
    all.iter().try_for_each(|(path, text)| write(staging, path, text.as_bytes()))
}

/// A text between Ruby's single quotes.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// Replaces an earlier export by the staged one. Other files in [`CHEF`], such as keys, are kept.
fn move_into(staging: &HeldFolder, target: &HeldFolder) -> Result<(), PolicyfileError> {
    let has_folder = target.folder().kind(CHEF).is_ok_and(|kind| kind == Some(Kind::Folder));
    match has_folder {
        true => {
            let failed = || PolicyfileError::write(target.path().join(CHEF));
            let from = staging.own(CHEF).map_err(failed())?;
            put(&from, &target.own(CHEF).map_err(failed())?, CONFIG)?;
        }
        false => put(staging, target, CHEF)?,
    }
    FOLDERS.into_iter().chain([LOCK, README]).try_for_each(|name| put(staging, target, name))
}

/// Moves a file or a folder into the place of what has its name in another folder.
fn put(from: &HeldFolder, to: &HeldFolder, name: &str) -> Result<(), PolicyfileError> {
    from.folder().move_to(name, to.folder(), name).map_err(PolicyfileError::write(to.path().join(name)))
}

/// Packs the staged export into one file.
fn archive(staging: &HeldFolder, target: &HeldFolder, name: &str) -> Result<PathBuf, PolicyfileError> {
    let path = target.path().join(name);
    let packed = target.folder().write_with(name, 0o666, Existing::Replaced, Survives::Kill, |file| {
        let mut archive = tar::Builder::new(GzEncoder::new(file, Compression::default()));
        for name in FOLDERS.into_iter().chain([CHEF, LOCK, README]) {
            pack(&mut archive, staging, name)?;
        }
        archive.into_inner()?.finish()?.sync_all()
    });
    packed.map_err(PolicyfileError::write(&path))?;
    Ok(path)
}

/// Packs a file, or a folder with all that is in it.
fn pack<W: Write>(archive: &mut tar::Builder<W>, staging: &HeldFolder, name: &str) -> io::Result<()> {
    let mut found = vec![PathBuf::from(name)];
    if let Some(folder) =
        staging.below(name).or_else(|error| if is_not_plain(&error) { Ok(None) } else { Err(error) })?
    {
        let walked = folder.folder().walk(usize::MAX, |entry| {
            found.push(Path::new(name).join(&entry.path));
            Ok::<_, io::Error>(true)
        });
        walked.map_err(|error| match error {
            WalkError::TooMany => io::ErrorKind::Other.into(),
            WalkError::Read(_, error) | WalkError::Visit(error) => error,
        })?;
    }
    found.sort();
    for path in found {
        match staging.folder().kind(&path)? {
            Some(Kind::Folder) => {
                let folder = staging.folder().below(&path)?.ok_or(io::ErrorKind::NotFound)?;
                let about = File::from(folder.as_fd().try_clone_to_owned()?).metadata()?;
                let mut header = tar::Header::new_gnu();
                header.set_metadata(&about);
                header.set_size(0);
                archive.append_data(&mut header, &path, io::empty())?;
            }
            _ => archive.append_file(&path, &mut staging.open_file(&path)?)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn attack_an_export_goes_to_the_folder_that_was_opened() {
        let top = tempfile::tempdir().unwrap();
        let path = |name: &str| top.path().join(name);
        fs::create_dir_all(path("elsewhere/policies")).unwrap();
        fs::write(path("elsewhere/policies/own"), "kept").unwrap();
        fs::create_dir_all(path("out/policies/old")).unwrap();
        let target = HeldFolder::make(&path("out")).unwrap();
        let staging = target.own("staging").unwrap();
        fs::rename(path("out"), path("away")).unwrap();
        std::os::unix::fs::symlink("elsewhere", path("out")).unwrap();
        documents(&staging, "web", "1", "prod", "{}").unwrap();
        archive(&staging, &target, "web-1.tgz").unwrap();
        move_into(&staging, &target).unwrap();
        for made in ["web-1.tgz", "policies/web-1.json", ".chef/config.rb", "Policyfile.lock.json", "README.md"] {
            assert!(path("away").join(made).is_file(), "{made}");
        }
        assert!(!path("away/policies/old").exists());
        let names = |folder: &str| fs::read_dir(path(folder)).unwrap().count();
        assert_eq!((names("elsewhere"), names("elsewhere/policies")), (1, 1));
        // What the archive holds, in order.
        let packed = flate2::read::GzDecoder::new(File::open(path("away/web-1.tgz")).unwrap());
        let mut packed = tar::Archive::new(packed);
        let entries = packed.entries().unwrap().map(|entry| entry.unwrap().path().unwrap().display().to_string());
        let expected = [
            "cookbook_artifacts",
            "policies",
            "policies/web-1.json",
            "policy_groups",
            "policy_groups/prod.json",
            ".chef",
            ".chef/config.rb",
            "Policyfile.lock.json",
            "README.md",
        ];
        assert_eq!(entries.collect::<Vec<_>>(), expected);
    }
}
