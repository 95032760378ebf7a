//! Gems of plain Ruby that travel with the cookbooks that name them in their metadata.
//!
//! They lie in a folder, as `gem fetch` and `gem unpack` leave them. What they say of themselves is a stranger's YAML, and
//! which version fits whom is RubyGems' own business, so both are asked of Ruby in the sandbox: [`GemFolder::question`] is
//! the question, [`GemFolder::take`] reads the files of those that the answer names.

mod archive;
mod error;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use artifact::gems::{Gems, TravellingGem};
use artifact::{MAX_FILES, is_component_name};

pub use error::GemsError;

/// How a released gem's file ends.
const EXTENSION: &str = ".gem";

/// How many gems a folder may hold, and how many files one may have that is looked at before it is chosen.
const MAX_THERE: usize = 1000;

/// What all gems of a policy may weigh together, in bytes.
const MAX_BYTES: u64 = 128 << 20;

/// What all specifications of a folder may weigh together, in bytes: they go to the guest in one question.
const MAX_SPECIFICATIONS: usize = 16 << 20;

/// How deep a gem's folders may be nested.
const MAX_DEPTH: usize = 32;

/// The longest of a guest's words in a message, in characters.
const MAX_SAID: usize = 2000;

/// A gem that a cookbook's metadata names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedGem {
    /// The cookbook whose metadata names the gem.
    pub cookbook: String,
    /// The gem's name, then constraints on its version.
    pub gem: Vec<String>,
}

/// The gems that a cookbook's metadata names, in the JSON that Chef writes: lists of a name and constraints.
#[must_use]
pub fn wanted_gems(cookbook: &str, metadata: &Value) -> Vec<WantedGem> {
    let lists = metadata.get("gems").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_array);
    lists
        .map(|list| list.iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>())
        .filter(|gem| !gem.is_empty())
        .map(|gem| WantedGem { cookbook: cookbook.to_owned(), gem })
        .collect()
}

/// A folder of gems, listed.
#[derive(Debug)]
pub struct GemFolder {
    path: PathBuf,
    there: Vec<There>,
}

/// A gem in it.
#[derive(Debug)]
struct There {
    /// The name of its file or folder.
    name: String,
    what: What,
}

#[derive(Debug)]
enum What {
    /// `NAME-VERSION.gem`, and what it says of itself.
    Released(String),
    /// `NAME-VERSION/`, and the paths of its files.
    Unpacked(Vec<String>),
}

/// What the guest says.
#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    chosen: Vec<Chosen>,
    refused: Option<Refused>,
}

/// A gem that is to travel.
#[derive(Deserialize)]
struct Chosen {
    there: usize,
    name: String,
    version: String,
    require_paths: Vec<String>,
}

/// What cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Refused {
    /// The cookbook whose metadata wants it.
    pub cookbook: String,
    /// The name of the gem that cannot be had.
    pub gem: String,
    /// Which versions of it.
    pub requirement: String,
    /// Who wants it and why it cannot be had, as half a sentence; then what to do about it.
    pub what: String,
    /// Whether no version of it would do.
    #[serde(default)]
    pub hopeless: bool,
}

impl GemFolder {
    /// A folder that is not there, so that what is missing is said.
    #[must_use]
    pub fn none(path: PathBuf) -> Self {
        Self { path, there: vec![] }
    }

    /// Lists a folder. What is neither a `.gem` nor a folder is not looked at.
    ///
    /// # Errors
    /// It cannot be read, holds too much, or a `.gem` in it is not a gem.
    pub fn open(path: &Path) -> Result<Self, GemsError> {
        let failed = |source| GemsError::Read { path: path.to_owned(), source };
        let mut there = vec![];
        let mut weight = 0;
        for entry in std::fs::read_dir(path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            // The folder may be a stranger's: a link in it leads to nothing outside of it.
            if entry.file_type().map_err(failed)?.is_symlink() && !plain_files::leads_inside(&entry.path(), path) {
                continue;
            }
            let is_folder = entry.path().is_dir();
            let what = if is_folder && !name.starts_with('.') {
                What::Unpacked(files_below(&entry.path())?)
            } else if !is_folder && name.ends_with(EXTENSION) {
                What::Released(archive::specification(&entry.path())?)
            } else {
                continue;
            };
            weight += match &what {
                What::Released(text) => text.len(),
                What::Unpacked(files) => files.iter().map(String::len).sum(),
            };
            there.push(There { name, what });
            if there.len() > MAX_THERE || weight > MAX_SPECIFICATIONS {
                return Err(GemsError::TooMuch { path: path.to_owned(), of: "gems" });
            }
        }
        there.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(Self { path: path.to_owned(), there })
    }

    /// What is asked of Ruby: which of these gems are to travel with cookbooks that want some. `without` names gems that
    /// the policy's author knows not to be loaded.
    #[must_use]
    pub fn question(&self, wanted: &[WantedGem], without: &[String]) -> Value {
        let wanted: Vec<_> = wanted.iter().map(|one| json!([one.cookbook, one.gem])).collect();
        let there = self.there.iter().map(|one| match &one.what {
            What::Released(text) => json!({ "file": one.name, "specification": text }),
            What::Unpacked(files) => json!({ "file": one.name, "files": files }),
        });
        json!({ "wanted": wanted, "without": without, "there": there.collect::<Vec<_>>() })
    }

    /// Reads the files of the gems that Ruby chose. `otherwise` says where a gem can be named that is not needed.
    ///
    /// # Errors
    /// It chose none, and why; or their files cannot be had. The answer is a guest's: whatever is wrong with it is an error.
    pub fn take(&self, answer: Value, otherwise: &str) -> Result<Gems, GemsError> {
        let answer: Answer =
            serde_json::from_value(answer).map_err(|error| GemsError::Answer { what: error.to_string() })?;
        if let Some(refused) = answer.refused {
            return Err(GemsError::Refused(Box::new(self.shortened(refused, otherwise))));
        }
        let mut gems = vec![];
        let mut gem_files = BTreeMap::new();
        let mut room = MAX_BYTES;
        for chosen in answer.chosen {
            let wrong = || GemsError::Answer { what: "it chose what is not there".into() };
            let there = self.there.get(chosen.there).ok_or_else(wrong)?;
            if !is_component_name(&chosen.name) || !is_component_name(&chosen.version) {
                return Err(wrong());
            }
            let place = self.path.join(&there.name);
            let files = match &there.what {
                What::Released(_) => archive::files(&place, room)?,
                What::Unpacked(files) => read_files(&place, files, room)?,
            };
            let folder = format!("{}-{}", chosen.name, chosen.version);
            for (path, content) in files {
                room = room.saturating_sub(u64::try_from(content.len()).unwrap_or(u64::MAX));
                gem_files.insert(format!("{folder}/{path}"), content);
            }
            if gem_files.len() > MAX_FILES {
                return Err(GemsError::TooMuch { path: self.path.clone(), of: "files" });
            }
            let Chosen { name, version, require_paths, .. } = chosen;
            gems.push(TravellingGem { name, version, require_paths });
        }
        Gems::new(gems, gem_files).map_err(|error| GemsError::Answer { what: error.to_string() })
    }

    /// A guest's words, bounded, and what to do about them.
    fn shortened(&self, refused: Refused, otherwise: &str) -> Refused {
        let short = |text: &str| text.chars().take(MAX_SAID).collect::<String>();
        let (gem, requirement) = (short(&refused.gem), short(&refused.requirement));
        let place = self.path.display();
        let what = short(&refused.what);
        let what = match refused.hopeless {
            true => format!("{what}; if nothing loads it, name it in {otherwise}"),
            false => format!(
                "{what}; put one that fits into {place} (`gem fetch {gem} --version '{requirement}'`), \
                 or name it in {otherwise} if nothing loads it"
            ),
        };
        Refused { cookbook: short(&refused.cookbook), gem, requirement, what, hopeless: refused.hopeless }
    }
}

/// The paths of all plain files below a folder, sorted. Links are none: a gem has its files itself.
fn files_below(folder: &Path) -> Result<Vec<String>, GemsError> {
    let mut found = vec![];
    let mut folders = vec![(folder.to_owned(), String::new(), 0)];
    while let Some((path, prefix, depth)) = folders.pop() {
        let failed = |source| GemsError::Read { path: path.clone(), source };
        for entry in std::fs::read_dir(&path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() && depth < MAX_DEPTH && name != ".git" {
                folders.push((entry.path(), format!("{prefix}{name}/"), depth + 1));
            } else if kind.is_file() {
                found.push(format!("{prefix}{name}"));
            }
        }
        if found.len() > MAX_FILES {
            return Err(GemsError::TooMuch { path: folder.to_owned(), of: "files" });
        }
    }
    found.sort();
    Ok(found)
}

fn read_files(folder: &Path, files: &[String], room: u64) -> Result<Vec<(String, Vec<u8>)>, GemsError> {
    let mut read = vec![];
    let mut room = room;
    for file in files {
        let path = folder.join(file);
        let content = plain_files::read(&path, room).map_err(|error| match error.kind() {
            io::ErrorKind::FileTooLarge => GemsError::TooMuch { path: folder.to_owned(), of: "bytes" },
            _ => GemsError::Read { path: path.clone(), source: error },
        })?;
        room = room.saturating_sub(u64::try_from(content.len()).unwrap_or(u64::MAX));
        read.push((file.clone(), content));
    }
    Ok(read)
}
