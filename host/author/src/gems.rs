//! Collects gems of plain Ruby that cookbooks name in their metadata, for the artifact.
//!
//! They are in a folder, as `gem fetch` and `gem unpack` leave them. Their specifications are untrusted YAML, and RubyGems'
//! own rules choose the versions. So Ruby in the sandbox does both: [`GemFolder::question`] is the question, and
//! [`GemFolder::take`] reads the files of the gems in the answer.

mod archive;
mod error;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use plain_files::{Entry, HeldFolder, Kind, WalkError};
use serde::Deserialize;
use serde_json::{Value, json};

use artifact::gems::{Gems, TravellingGem};
use artifact::{MAX_FILES, is_component_name};

pub use error::GemsError;

/// How a released gem's file ends.
const EXTENSION: &str = ".gem";

/// Largest number of gems in a folder, and of files in an unpacked gem.
const MAX_THERE: usize = 1000;

/// Largest total size of a policy's gems, in bytes.
const MAX_BYTES: u64 = 128 << 20;

/// Largest total size of a folder's specifications, in bytes. The guest gets them in one question.
const MAX_SPECIFICATIONS: usize = 16 << 20;

/// How deep a gem's folders may be nested.
const MAX_DEPTH: usize = 32;

/// Largest length of a guest's text in a message, in characters.
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
    /// `None`: it does not exist.
    folder: Option<HeldFolder>,
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

impl What {
    /// What a name in a folder of gems is of. `None`: not of a gem.
    fn of(folder: &HeldFolder, entry: &Entry) -> Result<Option<Self>, GemsError> {
        let Some(name) = entry.text() else { return Ok(None) };
        let path = || folder.path().join(name);
        // The folder may be untrusted, so links that lead out of it are ignored.
        let kind = if entry.kind == Kind::Link { folder.kind(name).unwrap_or(None) } else { Some(entry.kind) };
        let failed = |source| GemsError::Read { path: path(), source };
        match kind {
            Some(Kind::Folder) if !entry.is_hidden() => {
                let unpacked = folder.below(name).map_err(failed)?;
                unpacked.map(|unpacked| Ok(Self::Unpacked(files_below(&unpacked)?))).transpose()
            }
            Some(Kind::File | Kind::Other) if name.ends_with(EXTENSION) => {
                let file = folder.open_file(name).map_err(failed)?;
                Ok(Some(Self::Released(archive::specification(file, &path())?)))
            }
            _ => Ok(None),
        }
    }
}

/// The answer of the guest.
#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    chosen: Vec<Chosen>,
    refused: Option<Refused>,
}

/// A gem that goes into the artifact.
#[derive(Deserialize)]
struct Chosen {
    there: usize,
    name: String,
    version: String,
    require_paths: Vec<String>,
}

/// A wanted gem that is not available.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Refused {
    /// The cookbook whose metadata wants it.
    pub cookbook: String,
    /// The name of the gem that cannot be had.
    pub gem: String,
    /// The version constraints on it.
    pub requirement: String,
    /// The end of a sentence: the cookbook that wants it and the reason; then a hint.
    pub what: String,
    /// Whether no version of the gem would be suitable.
    #[serde(default)]
    pub hopeless: bool,
}

impl GemFolder {
    /// Returns an empty folder, so that each wanted gem is reported as missing.
    #[must_use]
    pub fn none(path: PathBuf) -> Self {
        Self { path, folder: None, there: vec![] }
    }

    /// Opens a folder and lists it. What is neither a `.gem` nor a folder is not looked at.
    ///
    /// # Errors
    /// It cannot be read, holds too much, or a `.gem` in it is not a gem.
    pub fn open(path: &Path) -> Result<Self, GemsError> {
        let folder = HeldFolder::open(path).map_err(|source| GemsError::Read { path: path.to_owned(), source })?;
        Self::of(folder)
    }

    /// Lists a folder that is open.
    pub(crate) fn of(folder: HeldFolder) -> Result<Self, GemsError> {
        let too_much = || GemsError::TooMuch { path: folder.path().to_owned(), of: "gems" };
        let (mut there, mut weight) = (vec![], 0);
        let walked = folder.folder().walk(MAX_FILES, |entry| {
            let Some(what) = What::of(&folder, entry)? else { return Ok(false) };
            weight += match &what {
                What::Released(text) => text.len(),
                What::Unpacked(files) => files.iter().map(String::len).sum(),
            };
            there.push(There { name: entry.path.to_string_lossy().into_owned(), what });
            let is_too_much = there.len() > MAX_THERE || weight > MAX_SPECIFICATIONS;
            if is_too_much { Err(too_much()) } else { Ok(false) }
        });
        walked.map_err(|error| told(error, folder.path(), "gems"))?;
        there.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(Self { path: folder.path().to_owned(), folder: Some(folder), there })
    }

    /// Returns the question for Ruby: which of these gems the cookbooks need. `without` names gems that are not loaded,
    /// according to the policy's author.
    #[must_use]
    pub fn question(&self, wanted: &[WantedGem], without: &[String]) -> Value {
        let wanted: Vec<_> = wanted.iter().map(|one| json!([one.cookbook, one.gem])).collect();
        let there = self.there.iter().map(|one| match &one.what {
            What::Released(text) => json!({ "file": one.name, "specification": text }),
            What::Unpacked(files) => json!({ "file": one.name, "files": files }),
        });
        json!({ "wanted": wanted, "without": without, "there": there.collect::<Vec<_>>() })
    }

    /// Reads the files of the gems that Ruby chose. `otherwise` is a hint for messages: where to name gems that are not
    /// needed.
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
            let folder = self.folder.as_ref().ok_or_else(wrong)?;
            let place = self.path.join(&there.name);
            let files = match &there.what {
                What::Released(_) => {
                    let file = folder.open_file(&there.name);
                    let failed = |source| GemsError::Read { path: place.clone(), source };
                    archive::files(file.map_err(failed)?, &place, room)?
                }
                What::Unpacked(files) => read_files(folder, &there.name, files, room)?,
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

    /// Limits the length of a guest's text, and adds the hint.
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

/// The paths of all plain files below a folder, sorted. Links are left out: a gem has its files itself.
fn files_below(folder: &HeldFolder) -> Result<Vec<String>, GemsError> {
    let mut found = vec![];
    let walked = folder.folder().walk(MAX_FILES, |entry| {
        let Some(relative) = entry.text() else { return Ok(false) };
        if entry.kind == Kind::File {
            found.push(relative.to_owned());
        }
        Ok(entry.depth < MAX_DEPTH && !entry.is(".git"))
    });
    walked.map_err(|error| told(error, folder.path(), "files"))?;
    found.sort();
    Ok(found)
}

/// The error of a walk through a folder. `of`: what there is too much of.
fn told(error: WalkError<GemsError>, folder: &Path, of: &'static str) -> GemsError {
    match error {
        WalkError::TooMany => GemsError::TooMuch { path: folder.to_owned(), of },
        WalkError::Read(below, source) => GemsError::Read { path: folder.join(below), source },
        WalkError::Visit(error) => error,
    }
}

/// Reads the files of an unpacked gem.
fn read_files(
    folder: &HeldFolder,
    gem: &str,
    files: &[String],
    room: u64,
) -> Result<Vec<(String, Vec<u8>)>, GemsError> {
    let place = folder.path().join(gem);
    let opened = folder.below(gem).and_then(|gem| gem.ok_or_else(|| io::ErrorKind::NotFound.into()));
    let opened = opened.map_err(|source| GemsError::Read { path: place.clone(), source })?;
    let (mut read, mut room) = (vec![], room);
    for file in files {
        let content = opened.read(file, room).map_err(|source| match source.kind() {
            io::ErrorKind::FileTooLarge => GemsError::TooMuch { path: place.clone(), of: "bytes" },
            _ => GemsError::Read { path: place.join(file), source },
        })?;
        room = room.saturating_sub(u64::try_from(content.len()).unwrap_or(u64::MAX));
        read.push((file.clone(), content));
    }
    Ok(read)
}
