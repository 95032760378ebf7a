//! The services that a guest may call in any turn: the machine, data, the clock. The implementations of these traits check
//! each call against the policy's grants.

use crate::{Account, CommandTest, HiddenRead, ReadKind};
use grants::GrantedAttribute;
use node::file_specificity::{NodeIdentity, given_paths, lookup_paths};
use node::origin::Origin;
use serde_json::Value;
use std::sync::Arc;

/// All services of one policy.
pub struct Services {
    /// The policy's account, with its limits and usage.
    pub account: Account,
    /// The machine: reads, commands and changes.
    pub machine: Box<dyn Machine>,
    /// Data bags, roles, environments and other nodes.
    pub data: Box<dyn Data>,
    /// The files of the policy's cookbooks.
    pub files: Arc<dyn CookbookFiles>,
    /// True if the policy may read the clock. Otherwise the guest gets the time at which the run began.
    pub clock: bool,
    /// True if the policy may have random numbers.
    pub random: bool,
    /// The environment variables that the guest may read, with their values.
    pub environment: Vec<(String, String)>,
    /// The time at which the run began.
    pub started: Moment,
    /// Returns the offset of local time from UTC at a moment, in seconds, and the time zone's name.
    pub zone: fn(i64) -> (i32, String),
    /// The guest's rights to read and write attributes.
    pub attributes: Box<dyn AttributeRights>,
    /// The node's platform and name, for the lookup of cookbook files.
    pub node: NodeIdentity,
    /// The descriptions of built-in types, for guests.
    pub types: Arc<dyn TypeTexts>,
}

/// A policy's rights to read and write attributes. A refusal is the text of the grant that would allow the access.
pub trait AttributeRights: Send {
    /// Returns the proof that the policy may change a path.
    fn write(&self, path: &[String]) -> Result<GrantedAttribute, String>;
    /// Returns the proof that the policy may change a path, or `None`. Nobody records this question as a request.
    fn write_unasked(&self, path: &[String]) -> Option<GrantedAttribute>;
    /// Returns the line of the grants that would allow the policy to read this path. An empty path means everything.
    fn read_grant(&self, kind: ReadKind, path: &[String]) -> String;
    /// Records that the policy read a value of the machine, the operator or another policy, to help to write its grants.
    fn uses(&self, kind: ReadKind, path: &[String]);
    /// Returns the error text for the read of a hidden value, or `None` if the value should appear absent. `is_new` is true for
    /// the first read, which is recorded as a denial.
    fn refuse_read(&self, kind: ReadKind, path: &[String], is_new: bool) -> Option<String>;
    /// Writes a hidden read that was not refused to the audit log.
    fn audit_hidden(&self, read: &HiddenRead);
    /// Records that the policy used a granted outside input, to help to write its grants.
    fn uses_outside(&self, what: OutsideInput<'_>);
    /// Records that the policy requested an outside input without a grant.
    fn refuse_outside(&self, what: OutsideInput<'_>);
}

/// Outside inputs that are granted as a whole, without a decision for each use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutsideInput<'a> {
    /// The present time, of the wall clock.
    Clock,
    /// Random numbers from the operating system.
    Random,
    /// The host's environment variable of this name.
    Variable(&'a str),
}

/// Descriptions of the built-in types.
pub trait TypeTexts: Send + Sync {
    /// Returns the names of all types, without aliases.
    fn names(&self) -> Vec<String>;
    /// Returns the description of a type, as `wrun resources --format json NAME` prints it.
    fn describe(&self, name: &str) -> Option<Value>;
}

/// A moment: seconds and nanoseconds since 1970 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Moment {
    /// Whole seconds since 1970, negative for earlier moments.
    pub seconds: i64,
    /// Nanoseconds within the second, below 1,000,000,000.
    pub nanoseconds: u32,
}

/// The machine interface for cookbooks (`wit/deps/machine/`). With `why_run`, calls that would change something are refused.
pub trait Machine: Send {
    /// Notes the place of the guest's own code that makes the following calls, or `None` after them. Denials name it.
    fn called_from(&mut self, _place: Option<&Origin>) {}
    /// Notes the place of the guest's own code that made the call that was denied last.
    fn denied_at(&mut self, _place: &Origin) {}
    /// Returns the metadata of a path. With `follow`, follows a symbolic link.
    fn stat(&mut self, path: &str, follow: bool) -> Result<Option<Stat>, MachineError>;
    /// Returns up to `length` bytes of a file.
    fn read_file(&mut self, path: &str, offset: u64, length: u64) -> Result<Vec<u8>, MachineError>;
    /// Returns the sorted names in a directory.
    fn list_directory(&mut self, path: &str) -> Result<Vec<String>, MachineError>;
    /// Returns the target of a symbolic link.
    fn read_link(&mut self, path: &str) -> Result<String, MachineError>;
    /// Returns the absolute path with all links resolved.
    fn real_path(&mut self, path: &str) -> Result<String, MachineError>;
    /// Runs a command to its end.
    fn run(&mut self, command: &CommandTest, why_run: bool) -> Result<CommandOutcome, MachineError>;
    /// Changes the file at a path. A dry run changes nothing, but later reads of the guest return the written content if it
    /// could be kept.
    fn apply(&mut self, path: &str, change: MachineChange, why_run: bool) -> Result<Applied, MachineError>;
    /// Sets a variable in the environment of later commands, or removes it with `None`. Denied unless the policy may do
    /// everything.
    fn set_environment(&mut self, name: &str, value: Option<&str>) -> Result<(), MachineError>;
    /// Lists the users in `/etc/passwd`, in its order.
    fn users(&mut self) -> Result<Vec<MachineUser>, MachineError>;
    /// Lists the groups in `/etc/group`, in its order.
    fn groups(&mut self) -> Result<Vec<MachineGroup>, MachineError>;
    /// Sends a request over HTTP.
    fn http(&mut self, request: &HttpRequest, why_run: bool) -> Result<HttpResponse, MachineError>;
}

/// A change that was made, or that a dry run simulates for the guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The real path inside the root.
    pub path: String,
    /// The sentence for the report.
    pub what: String,
}

/// The reason why a call to the machine failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MachineError {
    /// The policy lacks a grant. The text names the grant that would allow the call.
    Denied(String),
    /// A dry run refused the call. The text describes the change.
    DryRun(String),
    /// The system refused the call. The texts are the error's name (`ENOENT`) and its subject.
    System(String, String),
    /// The call exceeds a limit.
    TooMuch(String),
}

/// The kind of file at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatKind {
    /// A regular file, with content.
    File,
    /// A directory, which has entries.
    Directory,
    /// A symbolic link that was not followed.
    Link,
    /// A socket, a pipe, a device.
    Special,
}

/// The metadata of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// The kind of file.
    pub kind: StatKind,
    /// The permission bits, including set-id and sticky bits.
    pub mode: u32,
    /// The id of the owner.
    pub uid: u32,
    /// The id of the owning group.
    pub gid: u32,
    /// The length of its content in bytes.
    pub size: u64,
    /// The time of the content's last change, in seconds since 1970.
    pub modified: i64,
    /// Device and inode numbers, which together identify it on this machine.
    pub identity: (u64, u64),
    /// The number of hard links.
    pub links: u64,
}

/// The result of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandOutcome {
    /// The exit code, or `None` if a signal ended the command.
    pub code: Option<i32>,
    /// The number of the signal that ended it; `None` if it exited.
    pub signal: Option<i32>,
    /// The bytes on standard output.
    pub output: Vec<u8>,
    /// The bytes on standard error.
    pub errors: Vec<u8>,
    /// True if the command exceeded its timeout.
    pub timed_out: bool,
}

/// One change to the machine's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MachineChange {
    /// Writes content. The number has the permission bits of a new file.
    Write(Vec<u8>, u32),
    /// Appends content. The number has the permission bits of a new file.
    Append(Vec<u8>, u32),
    /// Creates a directory with these permission bits.
    MakeDirectory(u32),
    /// Creates a symbolic link with this target.
    Link(String),
    /// Renames to this absolute path.
    Rename(String),
    /// Removes a file or a link.
    Remove,
    /// Removes a directory, which must be empty.
    RemoveDirectory,
    /// Sets the permission bits.
    Mode(u32),
    /// Sets the ids of owner and group. `None` leaves the value.
    Owner(Option<u32>, Option<u32>),
    /// Sets the times of last access and change, in seconds since 1970.
    Times(i64, i64),
}

/// A user of the machine, from `/etc/passwd` or the name service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineUser {
    /// The login name, such as `www-data`.
    pub name: String,
    /// The user's number; 0 is root's.
    pub uid: u32,
    /// The number of the primary group.
    pub gid: u32,
    /// The comment field, usually the full name, and other data after commas.
    pub comment: String,
    /// The home directory's absolute path; it need not exist.
    pub home: String,
    /// The login shell's path. An empty text means `/bin/sh`.
    pub shell: String,
}

/// A group of the machine, from `/etc/group` or the name service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineGroup {
    /// The group's name, such as `adm`.
    pub name: String,
    /// The group's number; 0 is root's.
    pub gid: u32,
    /// The login names of users with this group in addition to their primary group.
    pub members: Vec<String>,
}

/// A request over HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// The method, in capitals.
    pub method: String,
    /// The address to ask, an absolute URL.
    pub url: String,
    /// Header fields in order: names and values.
    pub headers: Vec<(String, String)>,
    /// The bytes to send; `None` for a request without a body.
    pub body: Option<Vec<u8>>,
}

/// The reply of the server to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpResponse {
    /// The status code, such as 200.
    pub status: u16,
    /// Header fields, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The bytes of the reply; empty if it has none.
    pub body: Vec<u8>,
}

/// Data that operators keep outside the cookbooks (`wit/deps/data/data.wit`).
pub trait Data: Send {
    /// Returns the names of all data bags.
    fn bags(&mut self) -> Result<Vec<String>, DataError>;
    /// Returns the sorted ids of a bag's items.
    fn bag(&mut self, name: &str) -> Result<Vec<String>, DataError>;
    /// Returns one item as it is stored.
    fn bag_item(&mut self, bag: &str, id: &str) -> Result<Value, DataError>;
    /// Returns the secret for encrypted items, if the operator has set one.
    fn bag_secret(&mut self) -> Result<Option<Vec<u8>>, DataError>;
    /// Returns a role as a JSON object, in Chef's form.
    fn role(&mut self, name: &str) -> Result<Value, DataError>;
    /// Returns an environment as a JSON object, in Chef's form.
    fn environment(&mut self, name: &str) -> Result<Value, DataError>;
    /// Returns the documents of an index that match a query.
    fn search(&mut self, index: &str, query: &str) -> Result<Vec<Value>, DataError>;
}

/// The reason why a data call failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DataError {
    /// The policy lacks a grant. The text names the grant.
    Denied(String),
    /// The data do not exist. The text names the searched places.
    NotFound(String),
    /// The data are malformed. The text names file and line.
    Invalid(String),
    /// The query is malformed.
    BadQuery(String),
}

/// The files that travel in a policy's artifact.
pub trait CookbookFiles: Send + Sync {
    /// Returns the names and versions of the cookbooks, in load order.
    fn cookbooks(&self) -> Vec<(String, String)>;
    /// Returns the sorted paths of a cookbook's files below a folder. An empty folder means all files.
    fn paths(&self, cookbook: &str, folder: &str) -> Result<Vec<String>, FileError>;
    /// Returns the bytes of one of a cookbook's files.
    fn read(&self, cookbook: &str, path: &str) -> Result<Vec<u8>, FileError>;

    /// Finds the most specific file of a cookbook's `folder` (`templates`, `files`) for a node. Several names (`source` as an
    /// array) are tried as they are, in order.
    ///
    /// # Errors
    /// None of the places has a file. The text names all of them.
    fn locate(&self, cookbook: &str, folder: &str, names: &[String], node: &NodeIdentity) -> Result<String, FileError> {
        let paths = self.paths(cookbook, folder)?;
        let places = match names {
            [name] => lookup_paths(folder, name, node),
            names => given_paths(folder, names),
        };
        if let Some(found) = places.iter().find(|place| paths.binary_search(place).is_ok()) {
            return Ok(found.clone());
        }
        let looked = places.iter().map(|path| format!("  {path}\n")).collect::<String>();
        Err(FileError::NoSuchFile(format!(
            "Cookbook '{cookbook}' does not contain a file at any of these locations:\n{looked}"
        )))
    }
}

/// The reason why a cookbook's file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileError {
    /// The cookbook does not exist. The text names the existing ones.
    NoSuchCookbook(String),
    /// The file does not exist. The text names the searched places.
    NoSuchFile(String),
}
