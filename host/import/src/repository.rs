//! Reads a Chef repository. Each Ruby file is evaluated in its own instance, so no file can change the result of another.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use author::CookbookFolders;
use author::check::Readers;
use author::documents::documents;
use author::folders::Selected;
use contract::{CookbookFiles, ErrorKind, Failure, Question, RubyDocument};
use plain_files::{HeldFolder, leads_out};
use resolve::layers::{MAX_FILE, parse_json, without_lines};
use resolve::objects::{ObjectKind, check_object_name};
use resolve::roles::Role;
use serde_json::Value;

use crate::berksfile::{Berksfile, Source};
use crate::{ImportError, Note, unsaid};

/// Common folders for cookbooks. As in Chef, a cookbook in a later folder replaces one with the same name.
const COOKBOOKS: [&str; 4] = ["berks-cookbooks", "vendor/cookbooks", "cookbooks", "site-cookbooks"];

/// Largest number of data bag items that are checked.
const MAX_ITEMS: usize = 10_000;

/// The content of a Chef repository.
pub(crate) struct Repository {
    /// Its folder, with all links resolved.
    pub(crate) folder: PathBuf,
    held: HeldFolder,
    pub(crate) roles: HashMap<String, Role>,
    /// The file of each role, relative to the folder.
    pub(crate) role_files: BTreeMap<String, String>,
    /// Environments by name, with their files.
    pub(crate) environments: BTreeMap<String, (String, Value)>,
    /// The folders that hold cookbooks.
    pub(crate) cookbooks: Vec<PathBuf>,
    pub(crate) berksfile: Berksfile,
    data_bags: usize,
}

impl Repository {
    pub(crate) fn has_data_bags(&self) -> bool {
        self.data_bags > 0
    }

    /// Returns a path relative to the repository, for messages.
    pub(crate) fn place(&self, path: &Path) -> String {
        path.strip_prefix(&self.folder).unwrap_or(path).display().to_string()
    }
}

/// Reads the repository, and notes unreadable files.
pub(crate) fn read(folder: &Path, readers: &impl Readers) -> Result<(Repository, Vec<Note>), ImportError> {
    let failed = |source| ImportError::Read { path: folder.to_owned(), source: plain_files::explained(folder, source) };
    let held = HeldFolder::open(folder).map_err(failed)?;
    let folder = held.real().to_owned();
    let is_cookbook = ["metadata.rb", "metadata.json"].iter().any(|file| folder.join(file).is_file());
    if is_cookbook || !["roles", "cookbooks", "site-cookbooks"].iter().any(|name| folder.join(name).is_dir()) {
        return Err(ImportError::NotARepository { folder, is_cookbook });
    }
    let cookbooks = COOKBOOKS.iter().map(|name| folder.join(name)).filter(|path| path.is_dir()).collect();
    let mut repository = Repository {
        folder,
        held,
        roles: HashMap::new(),
        role_files: BTreeMap::new(),
        environments: BTreeMap::new(),
        cookbooks,
        berksfile: Berksfile::default(),
        data_bags: 0,
    };
    let mut notes = vec![];
    for kind in [ObjectKind::Role, ObjectKind::Environment] {
        read_documents(&mut repository, kind, readers, &mut notes)?;
    }
    read_berksfile(&mut repository, readers, &mut notes)?;
    read_data_bags(&mut repository, &mut notes);
    for (path, what) in [
        ("Policyfile.rb", "it is a Policyfile already: `wrun policy install` takes it as it is"),
        ("policyfiles", "Policyfiles stay as they are: `wrun policy install` takes them"),
        (
            "nodes",
            "nodes are not imported: name each node's policies in its settings (`policy_name`), and its environment as `policy_group`",
        ),
    ] {
        if repository.folder.join(path).exists() {
            notes.push(Note::hint(path, what));
        }
    }
    Ok((repository, notes))
}

fn read_documents(
    repository: &mut Repository,
    kind: ObjectKind,
    readers: &impl Readers,
    notes: &mut Vec<Note>,
) -> Result<(), ImportError> {
    let folder = repository.folder.join(if kind == ObjectKind::Role { "roles" } else { "environments" });
    if !folder.is_dir() {
        return Ok(());
    }
    let found = documents(&folder).map_err(|(path, source)| ImportError::Read { path, source })?;
    for (name, path) in found {
        let place = repository.place(&path);
        let read = read_source(&path, repository);
        let taken = match &read {
            Ok(source) => document(kind, &name, &path, source, readers)?,
            Err(error) => Err(error.to_string()),
        };
        let value = match taken {
            Ok(value) => value,
            Err(why) => {
                notes.push(Note::problem(place, format!("the {kind} was not taken: {why}")));
                continue;
            }
        };
        let own = value.get("name").and_then(Value::as_str).unwrap_or(&name).to_owned();
        if own != name {
            notes.push(Note::hint(&place, format!("the {kind} calls itself {own:?}, and counts under that name")));
        }
        if let Err(why) = check_object_name(kind, &own) {
            notes.push(Note::problem(place, format!("the {kind} was not taken: {why}")));
            continue;
        }
        let source = read.unwrap_or_default();
        match is_ruby(&path) {
            true => unsaid::of_ruby(&place, &source, notes),
            false => unsaid::of_json(kind, &place, &source, &value, notes),
        }
        match kind {
            ObjectKind::Role => match Role::from_json(&own, &value) {
                Ok(role) => {
                    repository.roles.insert(own.clone(), role);
                    repository.role_files.insert(own, place);
                }
                Err(error) => notes.push(Note::problem(place, format!("the role was not taken: {error}"))),
            },
            _ => drop(repository.environments.insert(own, (place, value))),
        }
    }
    Ok(())
}

/// Reads a file of the repository. What lies elsewhere is the person's and would be published with the policy.
fn read_source(path: &Path, repository: &Repository) -> std::io::Result<String> {
    let below = path.strip_prefix(&repository.folder).unwrap_or(path);
    let read = repository.held.read_text(below, u64::try_from(MAX_FILE).unwrap_or(u64::MAX));
    read.map_err(|error| match leads_out(&error) {
        true => std::io::Error::other("it is a link that leads out of the repository"),
        false => error,
    })
}

fn is_ruby(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "rb")
}

/// Parses a role or an environment from its text. The inner error is about the document.
fn document(
    kind: ObjectKind,
    name: &str,
    path: &Path,
    source: &str,
    readers: &impl Readers,
) -> Result<Result<Value, String>, ImportError> {
    if !is_ruby(path) {
        return Ok(parse_json(source));
    }
    let asked = RubyDocument { name: name.to_owned(), file: path.display().to_string(), source: source.to_owned() };
    let question = if kind == ObjectKind::Role { Question::Role(asked) } else { Question::Environment(asked) };
    let answer = ask(readers, Arc::new(CookbookFolders::default()), question)?;
    Ok(answer.map(without_lines).map_err(|failure| with_line(&failure, path)))
}

/// Opens a new instance and asks it one question.
pub(crate) fn ask(
    readers: &impl Readers,
    files: Arc<dyn CookbookFiles>,
    question: Question,
) -> Result<Result<Value, Failure>, ImportError> {
    let (mut question, mut answer) = (Some(question), None);
    readers.open(files, &mut |ask| answer = question.take().map(&mut *ask)).map_err(ImportError::Ruby)?;
    Ok(answer.unwrap_or_else(|| Err(Failure::raised(ErrorKind::NotStarted, "the instance was not used"))))
}

/// Returns the text of a failure with the line number in the file that raised it.
pub(crate) fn with_line(failure: &Failure, path: &Path) -> String {
    let message = failure.to_string();
    let start = format!("{}:", path.display());
    let texts = failure.backtrace().iter().map(String::as_str).chain(message.lines());
    let line = texts.filter_map(|text| {
        let digits = text.split_once(&start)?.1.split(|one: char| !one.is_ascii_digit()).next()?;
        digits.parse::<u32>().ok()
    });
    match line.into_iter().next() {
        Some(line) => format!("line {line}: {message}"),
        None => message,
    }
}

fn read_berksfile(
    repository: &mut Repository,
    readers: &impl Readers,
    notes: &mut Vec<Note>,
) -> Result<(), ImportError> {
    let path = repository.folder.join("Berksfile");
    if !path.exists() {
        return Ok(());
    }
    let source = match read_source(&path, repository) {
        Ok(source) => source,
        Err(error) => {
            notes.push(Note::problem("Berksfile", error.to_string()));
            return Ok(());
        }
    };
    unsaid::of_ruby("Berksfile", &source, notes);
    let lock = read_source(&repository.folder.join("Berksfile.lock"), repository).unwrap_or_default();
    let Some(name) = repository.folder.file_name() else { return Ok(()) };
    // The instance sees only the repository's files.
    let seen = "repository";
    let selected =
        Selected { name: seen.to_owned(), version: "0.0.0".to_owned(), folder: name.to_string_lossy().into_owned() };
    let files = CookbookFolders::one(&repository.folder).map(|one| one.select(&[selected])).unwrap_or_default();
    let document = RubyDocument { name: seen.to_owned(), file: path.display().to_string(), source };
    match ask(readers, Arc::new(files), Question::Policyfile(document))? {
        Ok(answer) => repository.berksfile = Berksfile::read(&answer, &lock),
        Err(failure) => notes.push(Note::problem("Berksfile", with_line(&failure, &path))),
    }
    // Adds the cookbooks that the Berksfile uses from other folders of the repository.
    for wanted in repository.berksfile.wanted.values() {
        let Source::Path(path) = &wanted.source else { continue };
        let inside =
            repository.folder.join(path).canonicalize().ok().filter(|path| path.starts_with(&repository.folder));
        if let Some(parent) = inside.as_deref().and_then(Path::parent)
            && parent != repository.folder
            && !repository.cookbooks.iter().any(|known| known == parent)
        {
            repository.cookbooks.push(parent.to_owned());
        }
    }
    Ok(())
}

/// Finds data bag items for which copying is not enough.
fn read_data_bags(repository: &mut Repository, notes: &mut Vec<Note>) {
    let list = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut paths: Vec<_> = entries.take(MAX_ITEMS).collect();
        paths.sort();
        paths
    };
    for bag in list(&repository.folder.join("data_bags")).into_iter().filter(|path| path.is_dir()) {
        repository.data_bags += 1;
        let (mut encrypted, mut vaults) = (0, 0);
        for path in list(&bag) {
            let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            if stem.ends_with("_keys") {
                vaults += 1;
                continue;
            }
            let text = read_source(&path, repository).unwrap_or_default();
            encrypted += usize::from(text.contains("\"encrypted_data\""));
        }
        let place = repository.place(&bag);
        if vaults > 0 {
            notes.push(Note::hint(
                &place,
                format!(
                    "{vaults} items of chef-vault: `ChefVault::Item.load` opens them with the node's private key, if the policy may read \
                     its file; new nodes have none, so encrypt the items anew with `wrun data-bag from-file`"
                ),
            ));
        } else if encrypted > 0 {
            notes.push(Note::hint(&place, format!(
                "{encrypted} encrypted items: copy the secret to the nodes, and name it in the settings (`encrypted_data_bag_secret`)"
            )));
        }
    }
}
