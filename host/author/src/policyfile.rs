//! Policyfiles as their authors use them: evaluated, locked, installed, exported, compared.
//!
//! The crate [`policyfile`] makes the decisions; this module reads folders, starts git, downloads, and writes locks. A
//! Policyfile is untrusted code: it runs in an instance of the Ruby runtime that sees only the Policyfile's own folder. Each
//! cookbook's `metadata.rb` runs in an instance of its own, so none can change the result of another.
//!
//! ```text
//! evaluate     Policyfile.rb, in the Ruby runtime
//! includes     the locks of included policies: from a path, an address, a git repository
//! loops        policies that include themselves
//! sources      default sources: folders of cookbooks, Supermarkets
//! locate       cookbooks: in folders, git repositories, archives, on Chef servers
//! kept         the cache of fetched cookbooks
//! unpack       strangers' archives
//! chef_server  a Chef server's cookbooks and policies; signing signs what it is asked
//! install      install and update
//! export       a Chef repository of a locked policy
//! archive      archives of `chef export -a`
//! compare      what differs between two locks
//! cookbook     a cookbook's metadata, files and identifier
//! folder       the same for a folder with a policy.toml
//! tried        a Policyfile's artifact with what its folders hold now
//! ```

mod archive;
mod chef_server;
mod compare;
mod cookbook;
mod crates;
mod describe;
mod error;
mod evaluate;
mod export;
mod folder;
mod git;
mod git_places;
mod git_process;
mod git_settings;
mod includes;
mod install;
mod kept;
mod locate;
mod locked;
mod loops;
mod outdated;
mod paths;
pub mod signing;
mod sources;
mod tree;
mod tried;
mod unpack;
mod working_tree;

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use archive::{ArchivedPolicy, archived};
pub use chef_server::ChefServer;
pub use compare::{Base, Side, compare};
use cookbook::LocalCookbook;
pub(crate) use cookbook::contents_in;
pub use describe::{Described, describe};
pub use error::{PolicyfileError, Remedy};
pub use export::{ExportOptions, Exported, export};
pub(crate) use folder::{Resolved, resolve_folder};
pub use git::GitError;
pub use install::{Installed, Update, install, update};
pub use locked::{LockedPolicy, locked};
pub use outdated::{LockState, lock_of_folder, locked_name};
pub use paths::{expanded, relative};
pub use tried::{TriedPolicy, local_folders, policyfile_of, tried};

use crate::check::{Ask, Readers};
use contract::{CookbookFiles, Failure, HttpRequest, HttpResponse, Question};
use git::Repositories;
use plain_files::{HeldFolder, leads_out};
use policyfile::lock::{Lock, MAX_VALUES, line_of};
use serde::de::DeserializeOwned;
use serde_json::Value;
use signing::ClientKey;
use text::check_json_values;
use tree::Tree;
use working_tree::WorkingTrees;

/// The name of a Policyfile where none is given.
const POLICYFILE: &str = "Policyfile.rb";

/// The alternative to a Policyfile, for cookbooks in Rust and Ruby.
const POLICY_TOML: &str = "policy.toml";

/// The lock of a folder with a policy.toml.
const FOLDER_LOCK: &str = "policy.lock.json";

/// The largest Policyfile or lock, in bytes.
const MAX_TEXT: u64 = 16 << 20;

/// The tools of the author's machine that this module uses.
pub struct Tools<'a> {
    /// Opens instances of the Ruby runtime.
    pub readers: &'a dyn Readers,
    /// Asks a server, and follows where it redirects to.
    ///
    /// # Errors
    /// Why it does not answer, as a sentence.
    pub request: &'a dyn Fn(&HttpRequest) -> Result<HttpResponse, String>,
    /// The Chef server of the settings.
    pub chef_server: Option<ChefServer>,
    /// Keeps what was fetched.
    pub cache: &'a Path,
    /// Shows the user a line about the work.
    pub say: &'a dyn Fn(&str),
    /// Shows a user at a terminal the step that takes time now. An empty text ends it.
    pub doing: &'a dyn Fn(&str),
}

impl Tools<'_> {
    /// Returns tools that cannot fetch or evaluate Ruby, for policies whose cookbooks are crates in folders.
    #[must_use]
    pub fn offline() -> Self {
        Self {
            readers: &NoReaders,
            request: &|wanted| Err(format!("{} cannot be read here; `wrun policy build` can", wanted.url)),
            chef_server: None,
            cache: Path::new(""),
            say: &|_| {},
            doing: &|_| {},
        }
    }

    /// Sends a request to a server, and returns its answer whatever the status is.
    fn ask(&self, wanted: &HttpRequest) -> Result<HttpResponse, String> {
        (self.doing)(&format!("asking {}", wanted.url));
        let answer = (self.request)(wanted);
        (self.doing)("");
        answer
    }

    /// What a server has at an address.
    fn download(&self, address: &str) -> Result<Vec<u8>, String> {
        let wanted = HttpRequest { method: "GET".into(), url: address.into(), headers: vec![], body: None };
        let answer = self.ask(&wanted)?;
        match answer.status {
            200..300 => Ok(answer.body),
            status => Err(format!("{address} answered with the status {status}")),
        }
    }

    /// The text that a server has at an address.
    fn download_text(&self, address: &str) -> Result<String, String> {
        String::from_utf8(self.download(address)?).map_err(|_| format!("{address} is not UTF-8 text"))
    }
}

/// Opens no instance of the Ruby runtime.
struct NoReaders;

impl Readers for NoReaders {
    fn open(
        &self,
        _files: Arc<dyn CookbookFiles>,
        _questions: &mut dyn FnMut(&mut Ask<'_>),
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        Err("Ruby is not evaluated here; `wrun policy build` does it".into())
    }
}

/// Returns the name of the file that says what the policy in a folder is.
fn usual_name(folder: &Path) -> &'static str {
    match folder.join(POLICYFILE).exists() || !folder.join(POLICY_TOML).exists() {
        true => POLICYFILE,
        false => POLICY_TOML,
    }
}

/// The paths of a Policyfile and its lock.
#[derive(Debug, Clone)]
pub struct Place {
    /// The path of the Policyfile.
    pub policyfile: PathBuf,
    /// The path of its lock.
    pub lock: PathBuf,
    /// The folder that relative paths begin at.
    pub folder: PathBuf,
    /// Whether the user named the lock and not the Policyfile.
    pub is_lock: bool,
    /// The folder itself, opened when something in it is read or written first.
    home: OnceCell<HeldFolder>,
}

impl Place {
    /// The place that a person names: a policy's folder, a Policyfile, a policy.toml or a lock, below a folder.
    ///
    /// # Errors
    /// The folder is not a policy's, or the name ends in neither `.rb` nor `.lock.json`, and is not `policy.toml`.
    pub fn of(named: Option<&Path>, folder: &Path) -> Result<Self, PolicyfileError> {
        let mut path = named.map_or_else(|| folder.join(usual_name(folder)), |named| expanded(named, folder));
        if named.is_some() && path.is_dir() {
            if !Self::has_policy(&path) {
                return Err(PolicyfileError::NotAPolicy { path });
            }
            path.push(usual_name(&path));
        }
        let folder = path.parent().unwrap_or(folder).to_owned();
        // Folders above may have names that are not UTF-8.
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let (is_toml, is_lock) = (path.ends_with(POLICY_TOML), path.ends_with(FOLDER_LOCK));
        if is_toml || (is_lock && !folder.join("policy.rb").exists()) {
            return Ok(Self::new(folder.join(POLICY_TOML), folder.join(FOLDER_LOCK), folder, is_lock));
        }
        if let Some(stem) = name.strip_suffix(".lock.json") {
            let policyfile = path.with_file_name(format!("{stem}.rb"));
            return Ok(Self::new(policyfile, path, folder, true));
        }
        let Some(stem) = name.strip_suffix(".rb") else {
            return Err(match plain_files::missing_part(&path) {
                Some(missing) => PolicyfileError::NoSuchPlace { path, missing },
                None => PolicyfileError::FileName { path },
            });
        };
        let lock = path.with_file_name(format!("{stem}.lock.json"));
        Ok(Self::new(path, lock, folder, false))
    }

    /// Whether a folder has a policy.toml or a Policyfile.rb.
    #[must_use]
    pub fn has_policy(folder: &Path) -> bool {
        [POLICYFILE, POLICY_TOML].iter().any(|name| folder.join(name).exists())
    }

    fn new(policyfile: PathBuf, lock: PathBuf, folder: PathBuf, is_lock: bool) -> Self {
        Self { policyfile, lock, folder, is_lock, home: OnceCell::new() }
    }

    /// The place in a folder that is open already.
    #[must_use]
    pub fn within(self, home: HeldFolder) -> Self {
        Self { home: OnceCell::from(home), ..self }
    }

    /// The folder. It is opened once: what is read and written lies in one folder, whatever its path is exchanged for meanwhile.
    fn home(&self) -> Result<&HeldFolder, PolicyfileError> {
        if let Some(home) = self.home.get() {
            return Ok(home);
        }
        let home = HeldFolder::open(&self.folder).map_err(PolicyfileError::read(&self.folder))?;
        Ok(self.home.get_or_init(|| home))
    }

    /// Reads the Policyfile or a file beside it.
    fn read_text(&self, path: &Path) -> Result<String, PolicyfileError> {
        read_inside(self.home()?, path.strip_prefix(&self.folder).unwrap_or(path), MAX_TEXT)
    }

    /// Returns the path of the file with the policy's needs: `Policyfile.needs.toml`.
    fn needs(&self) -> PathBuf {
        self.policyfile.with_extension("needs.toml")
    }

    /// Whether a policy.toml says what the policy is.
    #[must_use]
    pub fn is_toml(&self) -> bool {
        self.policyfile.ends_with(POLICY_TOML)
    }

    /// The Policyfile's own name, for messages about its lines.
    fn file_name(&self) -> String {
        self.policyfile.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Reads the lock, and checks that it is consistent.
    fn read_lock(&self) -> Result<Lock, PolicyfileError> {
        own_lock(&self.lock, &self.read_text(&self.lock)?)
    }

    /// The line of the lock that has a cookbook's identifier, in the form `:LINE`; empty where it cannot be told.
    fn line_of_identifier(&self, cookbook: &str) -> String {
        let text = self.read_text(&self.lock).unwrap_or_default();
        line_of(&text, &["cookbook_locks", cookbook, "identifier"]).map(|line| format!(":{line}")).unwrap_or_default()
    }

    /// Writes the lock: whole or not at all.
    fn write_lock(&self, lock: &Lock) -> Result<(), PolicyfileError> {
        let name = self.lock.strip_prefix(&self.folder).unwrap_or(&self.lock);
        self.home()?.write(name, lock.to_text()?.as_bytes()).map_err(PolicyfileError::write(&self.lock))
    }
}

/// Parses the text of a policy's own lock, and checks that it is consistent.
fn own_lock(path: &Path, text: &str) -> Result<Lock, PolicyfileError> {
    let place = || path.display().to_string();
    Lock::parse_stated(text).map_err(|invalid| PolicyfileError::Lock {
        place: place(),
        invalid,
        remedy: Remedy::Update,
    })
}

/// The state of one command.
struct Session<'a> {
    tools: &'a Tools<'a>,
    repositories: Repositories<'a>,
    working_trees: WorkingTrees,
    /// The cookbooks whose metadata have been read. They are cached, because each needs an instance of its own and is needed
    /// several times.
    known: BTreeMap<PathBuf, LocalCookbook>,
    /// The key of a Chef server's client.
    client_key: OnceCell<ClientKey>,
    /// A folder with a Cargo.toml is a cookbook in Rust, as beside a policy.toml.
    takes_crates: bool,
}

impl<'a> Session<'a> {
    fn new(tools: &'a Tools<'a>, takes_crates: bool) -> Self {
        let (repositories, working_trees) = (Repositories::new(tools.cache, tools.doing), WorkingTrees::default());
        Self { tools, repositories, working_trees, known: BTreeMap::new(), client_key: OnceCell::new(), takes_crates }
    }

    /// Starts the work for a Policyfile or a policy.toml.
    fn of(place: &Place, tools: &'a Tools<'a>) -> Self {
        Self::new(tools, place.is_toml())
    }

    /// Asks an instance of the Ruby runtime about a folder. The instance sees only that folder and is used only for this
    /// question. So code in one folder can neither read another folder nor change its answers. `question` gets the
    /// placeholder name of the folder.
    fn ask(
        &self,
        folder: HeldFolder,
        question: impl FnOnce(String) -> Question,
    ) -> Result<Result<Value, Failure>, PolicyfileError> {
        let (mut question, mut answer) = (Some(question(Tree::NAME.to_owned())), None);
        let tree = Arc::new(Tree::of(folder));
        let opened = self.tools.readers.open(tree, &mut |ask| answer = question.take().map(&mut *ask));
        opened.map_err(PolicyfileError::Ruby)?;
        answer.ok_or_else(|| PolicyfileError::Ruby("the instance was not used".into()))
    }
}

/// Parses untrusted JSON, with the limits of a lock.
fn bounded_json<T: DeserializeOwned>(text: &[u8]) -> Result<T, String> {
    check_json_values(text, MAX_VALUES)?;
    serde_json::from_slice(text).map_err(|error| error.to_string())
}

/// Reads a lock, which lies in its own folder.
fn read_own_text(path: &Path) -> Result<String, PolicyfileError> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return read_text(path, MAX_TEXT);
    };
    let folder = HeldFolder::open(folder).map_err(PolicyfileError::read(path))?;
    read_inside(&folder, Path::new(name), MAX_TEXT)
}

/// Reads a text of a bounded size below a folder: messages quote what is read.
///
/// # Errors
/// The file is a link that leads out of the folder; or it cannot be read.
fn read_inside(folder: &HeldFolder, below: impl AsRef<Path>, limit: u64) -> Result<String, PolicyfileError> {
    let path = folder.path().join(&below);
    folder.read_text(below, limit).map_err(|error| match error.kind() {
        _ if leads_out(&error) => PolicyfileError::LeadsAway { path, folder: folder.path().to_owned() },
        std::io::ErrorKind::FileTooLarge => PolicyfileError::TooMuch { path, limit, of: "bytes" },
        _ => PolicyfileError::Read { path, source: error },
    })
}

/// Reads a text of a bounded size.
fn read_text(path: &Path, limit: u64) -> Result<String, PolicyfileError> {
    plain_files::read_text(path, limit).map_err(|error| match error.kind() {
        std::io::ErrorKind::FileTooLarge => PolicyfileError::TooMuch { path: path.to_owned(), limit, of: "bytes" },
        _ => PolicyfileError::read(path)(error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn attack_a_lock_goes_to_the_folder_that_its_policyfile_was_read_from() {
        let top = tempfile::tempdir().unwrap();
        let path = |name: &str| top.path().join(name);
        for (folder, text) in [("policy", "name 'own'"), ("elsewhere", "name 'secret'")] {
            fs::create_dir(path(folder)).unwrap();
            fs::write(path(folder).join("Policyfile.rb"), text).unwrap();
        }
        let place = Place::of(Some(Path::new("Policyfile.rb")), &path("policy")).unwrap();
        assert_eq!(place.read_text(&place.policyfile).unwrap(), "name 'own'");
        // Beside it, a link that leads out.
        fs::write(path("secret"), "").unwrap();
        symlink("../secret", path("policy/Policyfile.needs.toml")).unwrap();
        let error = place.read_text(&place.needs()).unwrap_err();
        assert!(matches!(error, PolicyfileError::LeadsAway { .. }), "{error}");
        fs::rename(path("policy"), path("away")).unwrap();
        symlink("elsewhere", path("policy")).unwrap();
        let lock = json!({
            "name": "own", "run_list": [], "cookbook_locks": {}, "default_attributes": {}, "override_attributes": {},
            "solution_dependencies": {"Policyfile": [], "dependencies": {}},
        });
        place.write_lock(&Lock::from_json(&lock).unwrap()).unwrap();
        assert!(path("away/Policyfile.lock.json").is_file() && !path("elsewhere/Policyfile.lock.json").exists());
        assert_eq!(place.read_text(&place.policyfile).unwrap(), "name 'own'");
    }
}
