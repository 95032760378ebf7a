//! Objects as files in the folders that settings name.

use super::files::FolderLock;
use super::{Expected, KeptObject, ObjectStore, ObjectsError, Shelf};
use crate::error::AssembleError;
use crate::program::Program;
use crate::questions::ask;
use crate::runtime::Runtime;
use crate::settings::Settings;
use author::CookbookFolders;
use author::documents::{MAX_ENTRIES, documents};
use contract::{Question, RubyDocument, Stop};
use databag::{check_bag_name, check_item_name};
use node::object::DEFAULT_ENVIRONMENT;
use plain_files::{HeldFolder, leads_out};
use resolve::layers::without_lines;
use resolve::objects::{ObjectKind, check_object, check_object_name, read_object};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use text::nearest;

/// The largest file that is read, in bytes.
const MAX_FILE: u64 = 4 << 20;

/// The modes of new files: items may hold passwords.
const ITEM_MODE: u32 = 0o600;
const DOCUMENT_MODE: u32 = 0o644;

/// The ending of files in JSON.
const JSON: &str = "json";

/// The folders of this machine.
pub struct LocalObjects<'a> {
    /// The settings, which name the folders.
    pub settings: &'a Settings,
    /// The program, which compiles the Ruby runtime if that is not compiled.
    pub program: &'a Program,
    /// Ends an evaluation early.
    pub stop: &'a Stop,
}

impl LocalObjects<'_> {
    /// The directory of roles, environments or bags.
    fn folder(&self, kind: ObjectKind) -> Result<&Path, ObjectsError> {
        let (folder, what, key, variable, option) = match kind {
            ObjectKind::Role => (&self.settings.roles, "roles", "roles", "WRUN_ROLES", "--roles"),
            ObjectKind::Environment => {
                (&self.settings.environments, "environments", "environments", "WRUN_ENVIRONMENTS", "--environments")
            }
            ObjectKind::Item => (&self.settings.data_bags, "data bags", "data_bags", "WRUN_DATA_BAGS", "--data-bags"),
        };
        let folder = folder.as_deref().ok_or(ObjectsError::NoFolder { what, key, variable, option })?;
        let failed = |source| {
            let source = plain_files::explained(folder, source);
            ObjectsError::Folder { what, folder: folder.to_owned(), source }
        };
        std::fs::read_dir(folder).map_err(failed)?;
        Ok(folder)
    }

    /// Returns the directory of an existing bag.
    fn bag(&self, name: &str) -> Result<PathBuf, ObjectsError> {
        check_bag_name(name)?;
        let bags = self.bags()?;
        if bags.iter().any(|bag| bag == name) {
            return Ok(self.folder(ObjectKind::Item)?.join(name));
        }
        Err(ObjectsError::Missing {
            what: "data bag".to_owned(),
            name: name.to_owned(),
            near: nearest(name, bags.iter().map(String::as_str)).map(str::to_owned),
            list: "wrun data-bag list".to_owned(),
        })
    }

    /// Returns the files of a collection by object name, and the directory for new files.
    fn files(&self, shelf: &Shelf) -> Result<(PathBuf, BTreeMap<String, PathBuf>), ObjectsError> {
        let Shelf::DataBag(bag) = shelf else {
            let kind = shelf.kind();
            let folder = self.folder(kind)?;
            let what = if kind == ObjectKind::Role { "roles" } else { "environments" };
            let found = documents(folder);
            let found = found.map_err(|(folder, source)| ObjectsError::Folder { what, folder, source })?;
            return Ok((folder.to_owned(), found));
        };
        let folder = self.bag(bag)?;
        let paths = entries(&folder)?.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == JSON));
        let named = paths.filter_map(|path| Some((path.file_stem()?.to_str()?.to_owned(), path)));
        let found = named.filter(|(name, _)| !name.starts_with('.')).collect();
        Ok((folder, found))
    }

    fn check_name(&self, shelf: &Shelf, name: &str) -> Result<(), ObjectsError> {
        match shelf.kind() {
            ObjectKind::Item => Ok(check_item_name(name)?),
            ObjectKind::Environment if name == DEFAULT_ENVIRONMENT => Err(ObjectsError::DefaultEnvironment),
            kind => check_object_name(kind, name).map_err(ObjectsError::Name),
        }
    }

    fn missing(&self, shelf: &Shelf, name: &str, there: &BTreeMap<String, PathBuf>) -> ObjectsError {
        let what = match shelf {
            Shelf::DataBag(bag) => format!("item in the data bag {bag}:"),
            shelf => shelf.kind().to_string(),
        };
        let near = nearest(name, there.keys().map(String::as_str)).map(str::to_owned);
        ObjectsError::Missing { what, name: name.to_owned(), near, list: shelf.list_command() }
    }

    /// Reads a file of a collection. Returns its text and the digest of its bytes.
    fn text(&self, kind: ObjectKind, path: &Path) -> Result<(String, String), ObjectsError> {
        if !is_ruby(path) {
            return text(path);
        }
        // The author of the repository may make a link to a secret file at any time, and an error in Ruby quotes lines of the
        // file.
        let folder = self.folder(kind)?;
        let below = path.strip_prefix(folder).unwrap_or(path);
        let bytes = HeldFolder::open(folder).and_then(|held| held.read(below, MAX_FILE));
        bytes.map_err(|source| unread(path, folder, source)).and_then(|bytes| text_of(path, bytes))
    }

    /// Evaluates files in Ruby, all by one instance without any grants.
    fn evaluate(&self, kind: ObjectKind, files: &[(String, PathBuf, String)]) -> Result<Vec<Value>, ObjectsError> {
        let Some((_, first, _)) = files.first() else { return Ok(vec![]) };
        let runtime = Runtime::find(self.settings.runtime_dir.as_deref()).map_err(AssembleError::from);
        let answers = runtime.and_then(|runtime| {
            let nothing = Arc::new(CookbookFolders::default());
            ask(self.settings, self.program, self.stop, Arc::new(runtime), nothing, |ask| {
                let question = |(name, path, source): &(String, PathBuf, String)| {
                    let asked =
                        RubyDocument { name: name.clone(), file: path.display().to_string(), source: source.clone() };
                    let question =
                        if kind == ObjectKind::Role { Question::Role(asked) } else { Question::Environment(asked) };
                    ask(question)
                        .map(without_lines)
                        .map_err(|failure| ObjectsError::Ruby { path: path.clone(), failure })
                };
                files.iter().map(question).collect::<Result<Vec<_>, _>>()
            })
        });
        answers.map_err(|source| ObjectsError::NotAsked { path: first.clone(), source: Box::new(source) })?
    }
}

impl ObjectStore for LocalObjects<'_> {
    fn bags(&self) -> Result<Vec<String>, ObjectsError> {
        let folders = entries(self.folder(ObjectKind::Item)?)?.into_iter().filter(|path| path.is_dir());
        let names = folders.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()));
        let mut names: Vec<_> = names.filter(|name| check_bag_name(name).is_ok()).collect();
        names.sort();
        Ok(names)
    }

    fn create_bag(&self, name: &str) -> Result<(), ObjectsError> {
        check_bag_name(name)?;
        let folder = self.folder(ObjectKind::Item)?.join(name);
        std::fs::create_dir(&folder).map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => ObjectsError::BagExists { name: name.to_owned() },
            _ => ObjectsError::Write { path: folder.clone(), source },
        })
    }

    fn remove_bag(&self, name: &str) -> Result<(), ObjectsError> {
        let folder = self.bag(name)?;
        FolderLock::take(self.folder(ObjectKind::Item)?)?.remove_folder(&folder)
    }

    fn names(&self, shelf: &Shelf) -> Result<Vec<String>, ObjectsError> {
        let mut names: Vec<_> = self.files(shelf)?.1.into_keys().collect();
        if *shelf == Shelf::Environments && !names.iter().any(|name| name == DEFAULT_ENVIRONMENT) {
            names.push(DEFAULT_ENVIRONMENT.to_owned());
            names.sort();
        }
        Ok(names)
    }

    fn object(&self, shelf: &Shelf, name: &str) -> Result<KeptObject, ObjectsError> {
        let (_, files) = self.files(shelf)?;
        let Some(path) = files.get(name) else {
            return match shelf {
                Shelf::Environments if name == DEFAULT_ENVIRONMENT => Ok(default_environment()),
                shelf => Err(self.missing(shelf, name, &files)),
            };
        };
        let (text, version) = self.text(shelf.kind(), path)?;
        let place = path.display().to_string();
        let is_ruby = is_ruby(path);
        let value = match is_ruby {
            true => {
                let evaluated = self.evaluate(shelf.kind(), &[(name.to_owned(), path.clone(), text)])?;
                check_object(shelf.kind(), &place, name, evaluated.into_iter().next().unwrap_or_default())?
            }
            false => read_object(shelf.kind(), &place, Some(name), &text)?.1,
        };
        Ok(KeptObject { value, place, is_ruby, version })
    }

    fn all(&self, shelf: &Shelf) -> Result<Vec<(String, Value)>, ObjectsError> {
        let (mut all, mut ruby) = (BTreeMap::new(), vec![]);
        for (name, path) in self.files(shelf)?.1 {
            let (text, _) = self.text(shelf.kind(), &path)?;
            match is_ruby(&path) {
                true => ruby.push((name, path, text)),
                false => {
                    let (_, value) = read_object(shelf.kind(), &path.display().to_string(), Some(&name), &text)?;
                    all.insert(name, value);
                }
            }
        }
        let evaluated = self.evaluate(shelf.kind(), &ruby)?;
        for ((name, path, _), value) in ruby.into_iter().zip(evaluated) {
            let value = check_object(shelf.kind(), &path.display().to_string(), &name, value)?;
            all.insert(name, value);
        }
        Ok(all.into_iter().collect())
    }

    fn put(&self, shelf: &Shelf, name: &str, value: &Value, expected: &Expected) -> Result<bool, ObjectsError> {
        self.check_name(shelf, name)?;
        let what = shelf.kind();
        // A value from the caller is checked like one from a file.
        let value = check_object(what, &format!("the {what} {name}"), name, value.clone())?;
        let folder = self.files(shelf)?.0;
        let lock = FolderLock::take(&folder)?;
        let (_, files) = self.files(shelf)?;
        let there = files.get(name);
        let path = there.cloned().unwrap_or_else(|| folder.join(format!("{name}.{JSON}")));
        let shown = path.display().to_string();
        if there.is_some() && *expected == Expected::Absent {
            return Err(ObjectsError::exists(shelf, name, shown));
        }
        if is_ruby(&path) {
            return Err(ObjectsError::InRuby { what, name: name.to_owned(), place: shown });
        }
        let place = lock.place(&path)?;
        let mut old = None;
        if there.is_some() {
            let read = place.read(MAX_FILE).and_then(|found| found.ok_or_else(|| io::ErrorKind::NotFound.into()));
            let (text, version) = text_of(&path, read.map_err(|source| unread(&path, Path::new(""), source))?)?;
            // The author of the repository may have made a link to any file: a file that is not such an object is not
            // replaced.
            if !place.is_inside && read_object(what, &shown, Some(name), &text).is_err() {
                return Err(ObjectsError::LeadsElsewhere { path, what });
            }
            old = Some((text, version));
        }
        if let Expected::Version(version) = expected
            && old.as_ref().is_none_or(|(_, old)| old != version)
        {
            return Err(ObjectsError::ChangedMeanwhile { what, name: name.to_owned() });
        }
        let new = format!("{}\n", serde_json::to_string_pretty(&value).unwrap_or_default());
        if old.is_some_and(|(old, _)| old == new) {
            return Ok(false);
        }
        let mode = if what == ObjectKind::Item { ITEM_MODE } else { DOCUMENT_MODE };
        lock.write(&place, &path, &new, mode)?;
        Ok(true)
    }

    fn remove(&self, shelf: &Shelf, name: &str) -> Result<(), ObjectsError> {
        if *shelf == Shelf::Environments && name == DEFAULT_ENVIRONMENT {
            return Err(ObjectsError::DefaultEnvironment);
        }
        let lock = FolderLock::take(&self.files(shelf)?.0)?;
        let (_, files) = self.files(shelf)?;
        let path = files.get(name).ok_or_else(|| self.missing(shelf, name, &files))?;
        lock.remove(path)
    }
}

/// Reads a JSON file that the user names. Returns the object with its name, which is in the file.
///
/// # Errors
/// The file cannot be read, or is not such an object.
pub fn read_object_file(kind: ObjectKind, path: &Path) -> Result<(String, Value), ObjectsError> {
    if is_ruby(path) {
        let reason = format!("the {kind} is written in Ruby: put the file itself where the others lie");
        return Err(ObjectsError::NotText { path: path.to_owned(), reason });
    }
    Ok(read_object(kind, &path.display().to_string(), None, &text(path)?.0)?)
}

/// Returns the built-in environment `_default`, which does not have a file.
fn default_environment() -> KeptObject {
    let value = json!({
        "name": DEFAULT_ENVIRONMENT,
        "description": "The default Chef environment",
        "cookbook_versions": {},
        "json_class": "Chef::Environment",
        "chef_type": "environment",
        "default_attributes": {},
        "override_attributes": {},
    });
    KeptObject { value, place: "built in".to_owned(), is_ruby: false, version: String::new() }
}

fn is_ruby(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "rb")
}

/// Reads a file. Returns its text and the digest of its bytes.
fn text(path: &Path) -> Result<(String, String), ObjectsError> {
    let bytes = plain_files::read(path, MAX_FILE).map_err(|source| unread(path, Path::new(""), source))?;
    text_of(path, bytes)
}

fn text_of(path: &Path, bytes: Vec<u8>) -> Result<(String, String), ObjectsError> {
    let version = text::hex(Sha256::digest(&bytes));
    let wrong = || ObjectsError::NotText { path: path.to_owned(), reason: "the file is not UTF-8 text".to_owned() };
    Ok((String::from_utf8(bytes).map_err(|_| wrong())?, version))
}

/// Returns the failure of reading a file, which may lead out of its folder.
fn unread(path: &Path, folder: &Path, source: io::Error) -> ObjectsError {
    match source.kind() {
        _ if leads_out(&source) => ObjectsError::LeadsOut { path: path.to_owned(), folder: folder.to_owned() },
        io::ErrorKind::FileTooLarge => ObjectsError::NotText { path: path.to_owned(), reason: source.to_string() },
        _ => ObjectsError::Read { path: path.to_owned(), source: plain_files::explained(path, source) },
    }
}

/// What is in a directory, sorted.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, ObjectsError> {
    let failed = |source| ObjectsError::Read { path: folder.to_owned(), source };
    let mut found = vec![];
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        found.push(entry.map_err(failed)?.path());
        if found.len() > MAX_ENTRIES {
            return Err(ObjectsError::TooManyFiles { folder: folder.to_owned(), limit: MAX_ENTRIES });
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::Meters;

    /// Whether a file lies in its folder is not looked at by its path after it was read: by then, the link may be another.
    #[test]
    fn attack_a_file_in_ruby_outside_of_its_folder_is_not_read() {
        let top = tempfile::tempdir().unwrap();
        let roles = top.path().join("roles");
        std::fs::create_dir(&roles).unwrap();
        std::fs::write(top.path().join("secret"), "hunter2").unwrap();
        std::fs::write(roles.join("web.rb"), "name 'web'").unwrap();
        std::os::unix::fs::symlink("../secret", roles.join("out.rb")).unwrap();
        std::os::unix::fs::symlink("web.rb", roles.join("in.rb")).unwrap();
        let settings = Settings { roles: Some(roles.clone()), ..Settings::default() };
        let program = Program {
            path: PathBuf::new(),
            command_line: String::new(),
            environment: vec![],
            meters: Meters::default(),
        };
        let objects = LocalObjects { settings: &settings, program: &program, stop: &Stop::default() };
        let text = |name: &str| objects.text(ObjectKind::Role, &roles.join(name)).map(|(text, _)| text);
        assert_eq!((text("web.rb").unwrap(), text("in.rb").unwrap()), ("name 'web'".into(), "name 'web'".into()));
        assert!(matches!(text("out.rb"), Err(ObjectsError::LeadsOut { .. })));
    }
}
