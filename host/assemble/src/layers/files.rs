//! Reads environment files from the disk. Files in Ruby are evaluated once, by an instance without any grants.

use crate::error::{AssembleError, place_in};
use crate::program::Program;
use crate::questions::ask;
use crate::runtime::Runtime;
use crate::settings::Settings;
use author::CookbookFolders;
use contract::{Failure, Question, RubyDocument, Stop};
use node::layers::{Layer, LayerFormat, LayerListError, TreeError};
use resolve::layers::{CombineError, LayerError, LayerSource, MAX_FILE, layer_of_ruby, read_layer};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Largest number of files in one list.
const MAX_LISTED: usize = 1000;

/// The reasons why layers cannot be used. Nothing has been changed.
#[derive(Debug, thiserror::Error)]
pub enum LayersError {
    /// A file cannot be read.
    #[error("the environment file {} cannot be read", path.display())]
    Read {
        /// The path of the environment file.
        path: PathBuf,
        /// The system's error about that file.
        source: io::Error,
    },
    /// A file is too large.
    #[error("the environment file {} has more than {MAX_FILE} bytes", path.display())]
    TooLarge {
        /// The path of the environment file.
        path: PathBuf,
    },
    /// A file is not text.
    #[error("the environment file {} is not UTF-8 text", path.display())]
    NotText {
        /// The path of the environment file.
        path: PathBuf,
    },
    /// The language of a file cannot be told from its extension.
    #[error("{} is not an environment file: its name must end in .json, .rb, .toml, .yaml or .yml", path.display())]
    UnknownEnding {
        /// The path, whose ending is not known.
        path: PathBuf,
    },
    /// A line of a list names something that is not an environment file.
    #[error(
        "{}:{line}: {} is not an environment file: its name must end in .json, .rb, .toml, .yaml or .yml; a list cannot name \
         another list", list.display(), path.display()
    )]
    NotListable {
        /// The path of the list.
        list: PathBuf,
        /// The line of the list, from 1.
        line: usize,
        /// What the line names, whose ending is not known.
        path: PathBuf,
    },
    /// A line of a list names a file that cannot be used.
    #[error("{}:{line} names a file that cannot be used", list.display())]
    Listed {
        /// The path of the list.
        list: PathBuf,
        /// The line of the list, from 1.
        line: usize,
        /// What is wrong with the file.
        source: Box<Self>,
    },
    /// A file of the policy's group is at fault.
    #[error(transparent)]
    Group(Arc<Self>),
    /// A file is not an environment.
    #[error(transparent)]
    Layer(#[from] LayerError),
    /// A file in Ruby cannot be evaluated.
    #[error("the environment file {} cannot be evaluated: {failure}", place_in(path, failure))]
    Ruby {
        /// The path of the environment file.
        path: PathBuf,
        /// The failure. It is part of the message, so it is not the `source`.
        failure: Failure,
    },
    /// The instance that evaluates Ruby cannot be opened.
    #[error("the environment file {} cannot be evaluated", path.display())]
    NotAsked {
        /// The path of the environment file.
        path: PathBuf,
        /// The error of opening it.
        source: Box<AssembleError>,
    },
    /// A list of files names too many.
    #[error("{} names more than {MAX_LISTED} files", path.display())]
    LongList {
        /// The path of the file with the list.
        path: PathBuf,
    },
    /// Two files are layers of the same name.
    #[error("{first} and {second} are both called {name}: set another `name` in one of them")]
    Repeated {
        /// The name that both layers have.
        name: String,
        /// The file named first.
        first: String,
        /// The file named second.
        second: String,
    },
    /// The list of layers cannot be changed.
    #[error(transparent)]
    List(#[from] LayerListError),
    /// Layers cannot be merged.
    #[error(transparent)]
    Combine(#[from] CombineError),
    /// A parameter of the command line is invalid.
    #[error("--parameter {given}: {reason}; write it as a.b=VALUE, where VALUE is JSON or text")]
    Parameter {
        /// The parameter as it was given.
        given: String,
        /// The reason why it is refused.
        reason: String,
    },
    /// A parameter leads through a value that is not an object.
    #[error("--parameter {given}: {reason}")]
    ParameterPath {
        /// The parameter as it was given.
        given: String,
        /// The reason. It is part of the message, so it is not the `source`.
        reason: TreeError,
    },
    /// A cookbook of a policy does not satisfy a layer's constraint.
    #[error(
        "{place}: layer {layer} asks for cookbook {cookbook} {constraint:?}, but {owner} has it locked in version {version}"
    )]
    Constraint {
        /// The layer's file and line.
        place: String,
        /// The layer that asks for the version.
        layer: String,
        /// The cookbook that was locked.
        cookbook: String,
        /// The layer's version constraint.
        constraint: String,
        /// The policy with its revision.
        owner: String,
        /// The version that the policy has.
        version: String,
    },
}

/// Reads environment files from the disk as layers of a node.
pub struct LayerFiles<'a> {
    /// The settings of the node that the layers are for.
    pub settings: &'a Settings,
    /// The program, which compiles the Ruby runtime if that is not compiled.
    pub program: &'a Program,
    /// Ends an evaluation early.
    pub stop: &'a Stop,
}

impl LayerFiles<'_> {
    /// Reads environment files in order.
    ///
    /// # Errors
    /// A file cannot be read or is not an environment, or two of them have one name.
    pub fn read_all(&self, paths: &[PathBuf]) -> Result<Vec<Layer>, LayersError> {
        let mut layers = Vec::new();
        paths.iter().try_for_each(|path| push_new(&mut layers, self.read(path)?))?;
        Ok(layers)
    }

    /// Reads the environment files that a list names, and appends them as layers. An error names the line of the list.
    pub(super) fn read_list(&self, list: &Path, layers: &mut Vec<Layer>) -> Result<(), LayersError> {
        for (line, path) in listed_files(list)? {
            let read = self.read(&path).and_then(|layer| push_new(layers, layer));
            let list = || list.to_owned();
            read.map_err(|error| match error {
                LayersError::UnknownEnding { path } => LayersError::NotListable { list: list(), line, path },
                error => LayersError::Listed { list: list(), line, source: Box::new(error) },
            })?;
        }
        Ok(())
    }

    /// Reads the files that the settings list for a policy group, in order.
    ///
    /// # Errors
    /// A file cannot be read or is not an environment, or two of them have one name.
    pub fn of_group(&self, group: &str) -> Result<Vec<Layer>, LayersError> {
        self.settings.group_layers.get(group).map_or_else(|| Ok(vec![]), |paths| self.read_all(paths))
    }

    /// Reads one environment file. A file in Ruby is evaluated.
    ///
    /// # Errors
    /// The file cannot be read, or is not an environment.
    pub fn read(&self, path: &Path) -> Result<Layer, LayersError> {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let format = LayerFormat::of_ending(ending);
        let format = format.ok_or_else(|| LayersError::UnknownEnding { path: path.to_owned() })?;
        let bytes = read_bounded(path)?;
        let digest = text::hex(Sha256::digest(&bytes));
        let text = String::from_utf8(bytes).map_err(|_| LayersError::NotText { path: path.to_owned() })?;
        // The node stores the path, and later commands may have another working directory.
        let place = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let (file, stem) = (place.display().to_string(), path.file_stem().unwrap_or_default().to_string_lossy());
        let source = LayerSource { file: &file, digest: &digest, stem: &stem };
        match format {
            LayerFormat::Ruby => Ok(layer_of_ruby(&source, self.evaluate(path, &stem, text)?)?),
            format => Ok(read_layer(&source, format, &text)?),
        }
    }

    fn evaluate(&self, path: &Path, name: &str, source: String) -> Result<Value, LayersError> {
        let asked = RubyDocument { name: name.to_owned(), file: path.display().to_string(), source };
        let runtime = Runtime::find(self.settings.runtime_dir.as_deref()).map_err(AssembleError::from);
        let answer = runtime.and_then(|runtime| {
            let nothing = Arc::new(CookbookFolders::default());
            ask(self.settings, self.program, self.stop, Arc::new(runtime), nothing, |ask| {
                ask(Question::Environment(asked))
            })
        });
        let answer =
            answer.map_err(|source| LayersError::NotAsked { path: path.to_owned(), source: Box::new(source) })?;
        answer.map_err(|failure| LayersError::Ruby { path: path.to_owned(), failure })
    }
}

/// Returns the policy groups whose layer files have changed since a run. `given` are the layers of the run's record. A file
/// that cannot be read counts as changed.
pub fn changed_group_layers(settings: &Settings, given: &[Value]) -> Vec<String> {
    let of_file = |path: &PathBuf| read_bounded(path).map(|bytes| text::hex(Sha256::digest(&bytes))).ok();
    let given: Vec<(&str, &str)> = given
        .iter()
        .filter_map(|layer| Some((layer["from"].as_str()?.strip_prefix("group ")?, layer["digest"].as_str()?)))
        .collect();
    // A run's record names only the groups of its own policies.
    let names: BTreeSet<&str> = given.iter().map(|(group, _)| *group).collect();
    let has_changed = |group: &&str| {
        let then: Vec<_> = given.iter().filter(|(name, _)| name == group).map(|(_, digest)| Some(*digest)).collect();
        let now: Vec<_> = settings.group_layers.get(*group).into_iter().flatten().map(of_file).collect();
        then != now.iter().map(Option::as_deref).collect::<Vec<_>>()
    };
    names.into_iter().filter(has_changed).map(str::to_owned).collect()
}

/// Appends a layer, and refuses it if another one has the same name.
fn push_new(layers: &mut Vec<Layer>, layer: Layer) -> Result<(), LayersError> {
    if let Some(first) = layers.iter().find(|other| other.name == layer.name) {
        let [first, second] = [first, &layer].map(|layer| layer.file.clone().unwrap_or_default());
        return Err(LayersError::Repeated { name: layer.name, first, second });
    }
    layers.push(layer);
    Ok(())
}

/// Reads a list of files, one path on each line, and returns the line numbers and paths. A relative path begins at the list's
/// directory. Empty lines and lines that begin with `#` are skipped.
fn listed_files(list: &Path) -> Result<Vec<(usize, PathBuf)>, LayersError> {
    let bytes = read_bounded(list)?;
    let text = String::from_utf8(bytes).map_err(|_| LayersError::NotText { path: list.to_owned() })?;
    let lines = (1..).zip(text.lines().map(str::trim));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let folder = list.parent().unwrap_or(Path::new(""));
    let files: Vec<_> = lines.map(|(number, line)| (number, folder.join(line))).take(MAX_LISTED + 1).collect();
    if files.len() > MAX_LISTED {
        return Err(LayersError::LongList { path: list.to_owned() });
    }
    Ok(files)
}

/// Reads a plain file of at most [`MAX_FILE`] bytes.
fn read_bounded(path: &Path) -> Result<Vec<u8>, LayersError> {
    let failed = |source| LayersError::Read { path: path.to_owned(), source: plain_files::explained(path, source) };
    plain_files::read(path, MAX_FILE as u64).map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => LayersError::TooLarge { path: path.to_owned() },
        _ => failed(error),
    })
}
