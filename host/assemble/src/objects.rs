//! Reads and changes roles, environments and data bag items, for the commands about them. On this machine they are files in
//! the folders that the settings name. A server can store them behind the same trait.
//!
//! ```text
//! local     the folders, with what is evaluated in Ruby
//! files     which file has which name; files written whole
//! items     data bag items: what is encrypted with which secret
//! shown     parts of objects that people ask for
//! search    an index of objects or nodes, searched
//! ```

mod files;
mod items;
mod local;
mod search;
mod shown;

use crate::error::{AssembleError, place_in};
use contract::Failure;
use databag::NameError;
use node::run_list::RunListError;
use node::search::BadQuery;
use resolve::objects::ObjectFault;
use serde_json::Value;
use std::io;
use std::path::PathBuf;

pub(crate) use author::documents::documents;
pub use items::{ItemSecret, Items, OpenedItem};
pub use local::{LocalObjects, read_object_file};
pub use resolve::objects::{ObjectKind, read_object};
pub use search::{SearchError, SearchIndex, indexes, search};
pub use shown::{attribute_of, cookbook_versions, empty_item, new_object, node_summary};

/// The collection that an object belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shelf {
    /// In the directory of roles.
    Roles,
    /// In the directory of environments.
    Environments,
    /// In the data bag of this name.
    DataBag(String),
}

impl Shelf {
    /// Returns the kind of the objects in the collection.
    pub fn kind(&self) -> ObjectKind {
        match self {
            Self::Roles => ObjectKind::Role,
            Self::Environments => ObjectKind::Environment,
            Self::DataBag(_) => ObjectKind::Item,
        }
    }

    /// Returns the command that lists the objects of the collection.
    fn list_command(&self) -> String {
        match self {
            Self::Roles => "wrun role list".to_owned(),
            Self::Environments => "wrun environment list".to_owned(),
            Self::DataBag(bag) => format!("wrun data-bag show {bag}"),
        }
    }
}

/// An object in its stored form.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptObject {
    /// The document as it was read.
    pub value: Value,
    /// The file, or another place that people know.
    pub place: String,
    /// Whether the object is written in Ruby. Then it can only be changed by editing its file.
    pub is_ruby: bool,
    /// An identifier of this state of the object: another one means that it was changed.
    pub version: String,
}

/// The state that an object must have when it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// No object of that name.
    Absent,
    /// The object of this version.
    Version(String),
    /// Any state, or none.
    Anything,
}

/// The reasons why objects cannot be read or changed. Nothing has been changed.
#[derive(Debug, thiserror::Error)]
pub enum ObjectsError {
    /// No setting names the directory.
    #[error(
        "no directory of {what} is set: name one with `{key} = \"DIR\"` in the settings, with {variable}=DIR or with {option} DIR"
    )]
    NoFolder {
        /// The objects that the directory would have, such as `roles`.
        what: &'static str,
        /// The key of the settings.
        key: &'static str,
        /// The variable that names the directory.
        variable: &'static str,
        /// The option of the command.
        option: &'static str,
    },
    /// The directory that a setting names cannot be read.
    #[error("the directory of {what} {} cannot be read", folder.display())]
    Folder {
        /// What would be in it.
        what: &'static str,
        /// The path of the directory.
        folder: PathBuf,
        /// The error that the system gives.
        source: io::Error,
    },
    /// The directory has too many entries.
    #[error("{} has more than {limit} entries, or directories below each other without end", folder.display())]
    TooManyFiles {
        /// The path of the directory.
        folder: PathBuf,
        /// The number of entries that are allowed.
        limit: usize,
    },
    /// An object does not exist.
    #[error("there is no {what} {name:?}{}", hint(near.as_deref(), list))]
    Missing {
        /// The kind of what is missing.
        what: String,
        /// The name that was asked for.
        name: String,
        /// A name that may have been meant.
        near: Option<String>,
        /// The command that lists the names.
        list: String,
    },
    /// An object of this name exists already.
    #[error("there is a {what} {name:?} already ({place}): change it with `wrun {command} edit`, or take another name")]
    Exists {
        /// The kind of the object, such as a role.
        what: ObjectKind,
        /// The name that was asked for.
        name: String,
        /// The file that holds it.
        place: String,
        /// The command of such objects.
        command: &'static str,
    },
    /// A data bag of this name exists already.
    #[error("there is a data bag {name:?} already")]
    BagExists {
        /// The name that was asked for.
        name: String,
    },
    /// The object was changed since it was read.
    #[error("the {what} {name:?} has changed meanwhile")]
    ChangedMeanwhile {
        /// The kind of what has changed.
        what: ObjectKind,
        /// The name that was asked for.
        name: String,
    },
    /// The object is written in Ruby, so it cannot be changed here.
    #[error("the {what} {name:?} is written in Ruby, so a command cannot change it: change {place} itself")]
    InRuby {
        /// The kind of the object.
        what: ObjectKind,
        /// The name that was asked for.
        name: String,
        /// The file that holds it.
        place: String,
    },
    /// A link leads to a file in Ruby outside of the directory.
    #[error(
        "{} is a link that leads out of {}: put the file itself there, since what Ruby says of it would show what is in it",
        path.display(), folder.display()
    )]
    LeadsOut {
        /// The path of the link.
        path: PathBuf,
        /// The directory of the objects.
        folder: PathBuf,
    },
    /// A link leads to a file that is not such an object, so it is not replaced.
    #[error("{} leads to a file that is no {what}, so it is left alone: remove the link", path.display())]
    LeadsElsewhere {
        /// The path of the link.
        path: PathBuf,
        /// The kind of the object that would be written.
        what: ObjectKind,
    },
    /// A name is invalid.
    #[error("{0}")]
    Name(String),
    /// The built-in environment is not a file.
    #[error(
        "the environment _default is part of every node without one and cannot be changed: create another environment"
    )]
    DefaultEnvironment,
    /// A document is invalid.
    #[error(transparent)]
    Fault(#[from] ObjectFault),
    /// The run list of a role refuses the change.
    #[error(transparent)]
    RunList(#[from] RunListError),
    /// A file cannot be read.
    #[error("{} cannot be read", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The error that the system gives.
        source: io::Error,
    },
    /// A file is too large, or not text.
    #[error("{}: {reason}", path.display())]
    NotText {
        /// The path of the file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file cannot be written.
    #[error("{} cannot be written", path.display())]
    Write {
        /// The path of the file.
        path: PathBuf,
        /// The error that the system gives.
        source: io::Error,
    },
    /// A file in Ruby cannot be evaluated.
    #[error("{} cannot be evaluated: {failure}", place_in(path, failure))]
    Ruby {
        /// The path of the file.
        path: PathBuf,
        /// The reason. Part of the message, hence no `source`.
        failure: Failure,
    },
    /// The instance that evaluates Ruby cannot be opened.
    #[error("{} cannot be evaluated", path.display())]
    NotAsked {
        /// The path of the file.
        path: PathBuf,
        /// The reason in plain words.
        source: Box<AssembleError>,
    },
    /// Other commands change objects, and have not finished in time.
    #[error("others have been changing {} for {seconds} seconds; try again", folder.display())]
    Busy {
        /// The path of the directory.
        folder: PathBuf,
        /// How long the command has waited.
        seconds: u64,
    },
    /// The secret for encrypted items is missing.
    #[error("{0}")]
    Secret(String),
    /// The file of the secret cannot be used.
    #[error(transparent)]
    SecretFile(Box<AssembleError>),
    /// An item cannot be decrypted or encrypted.
    #[error("the data bag item {item:?}: {reason}")]
    Encryption {
        /// The bag and the item, as `BAG/ITEM`.
        item: String,
        /// The reason in plain words.
        reason: String,
    },
    /// A query is malformed.
    #[error(transparent)]
    Query(#[from] BadQuery),
    /// A search takes too long.
    #[error(
        "the search was ended: the query and the objects are so large that it would take too long; ask for single fields"
    )]
    Costly,
    /// A search names an index that does not exist.
    #[error(
        "the index {name:?} does not exist{}: the indexes are node, role, environment and the names of data bags",
        near.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
    )]
    NoIndex {
        /// The name as it was given.
        name: String,
        /// A name that may have been meant.
        near: Option<String>,
    },
}

impl From<NameError> for ObjectsError {
    fn from(error: NameError) -> Self {
        Self::Name(error.to_string())
    }
}

impl ObjectsError {
    /// Returns the error about an object that exists already.
    fn exists(shelf: &Shelf, name: &str, place: String) -> Self {
        let command = match shelf {
            Shelf::Roles => "role",
            Shelf::Environments => "environment",
            Shelf::DataBag(_) => "data-bag",
        };
        Self::Exists { what: shelf.kind(), name: name.to_owned(), place, command }
    }

    /// Returns the error about a change of an object that is written in Ruby.
    pub fn in_ruby(what: ObjectKind, name: &str, kept: &KeptObject) -> Self {
        Self::InRuby { what, name: name.to_owned(), place: kept.place.clone() }
    }

    /// Tells whether a later attempt may succeed.
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Busy { .. })
    }
}

fn hint(near: Option<&str>, list: &str) -> String {
    match near {
        Some(near) => format!("; did you mean `{near}`?"),
        None => format!("; `{list}` lists those that there are"),
    }
}

/// A store of roles, environments and data bags.
pub trait ObjectStore {
    /// Returns the names of all data bags, sorted.
    ///
    /// # Errors
    /// They cannot be listed.
    fn bags(&self) -> Result<Vec<String>, ObjectsError>;

    /// Makes a data bag.
    ///
    /// # Errors
    /// The name is invalid, the bag is there, or it cannot be made.
    fn create_bag(&self, name: &str) -> Result<(), ObjectsError>;

    /// Removes a data bag with all its items.
    ///
    /// # Errors
    /// The bag does not exist, or it cannot be removed.
    fn remove_bag(&self, name: &str) -> Result<(), ObjectsError>;

    /// Returns the names of all objects of a collection, sorted.
    ///
    /// # Errors
    /// They cannot be listed.
    fn names(&self, shelf: &Shelf) -> Result<Vec<String>, ObjectsError>;

    /// Returns an object by its name.
    ///
    /// # Errors
    /// The object does not exist, or it cannot be read.
    fn object(&self, shelf: &Shelf, name: &str) -> Result<KeptObject, ObjectsError>;

    /// Returns all objects of a collection with their names.
    ///
    /// # Errors
    /// One of them cannot be read.
    fn all(&self, shelf: &Shelf) -> Result<Vec<(String, Value)>, ObjectsError>;

    /// Writes an object, replacing all of it. Returns whether it has changed.
    ///
    /// # Errors
    /// Somebody else has changed the object, the new one is invalid, or it cannot be written.
    fn put(&self, shelf: &Shelf, name: &str, value: &Value, expected: &Expected) -> Result<bool, ObjectsError>;

    /// Removes an object by its name.
    ///
    /// # Errors
    /// The object does not exist, or it cannot be removed.
    fn remove(&self, shelf: &Shelf, name: &str) -> Result<(), ObjectsError>;
}

/// Changes the run list of a role: its own, or that of an environment. If other commands change the role at the same time,
/// all changes are made. Returns whether the role has changed.
///
/// # Errors
/// The role does not exist, an item is invalid or not there, or the role cannot be written.
pub fn change_role_run_list(
    store: &dyn ObjectStore,
    role: &str,
    environment: Option<&str>,
    edit: &node::run_list::RunListEdit,
) -> Result<bool, ObjectsError> {
    loop {
        let kept = store.object(&Shelf::Roles, role)?;
        if kept.is_ruby {
            return Err(ObjectsError::in_ruby(ObjectKind::Role, role, &kept));
        }
        let mut value = kept.value;
        if !resolve::objects::change_run_list(&mut value, environment, edit)? {
            return Ok(false);
        }
        match store.put(&Shelf::Roles, role, &value, &Expected::Version(kept.version)) {
            Err(ObjectsError::ChangedMeanwhile { .. }) => {}
            other => return other,
        }
    }
}
