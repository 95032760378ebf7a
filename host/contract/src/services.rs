//! What a guest may call in any turn: the machine, data, the clock. Each call is checked against the policy's grants by
//! whoever implements these traits.

use crate::{Account, CommandTest, HiddenRead, ReadKind};
use grants::GrantedAttribute;
use node::file_specificity::{NodeIdentity, given_paths, lookup_paths};
use serde_json::Value;
use std::sync::Arc;

/// All services of one policy.
pub struct Services {
    /// What the policy may cost the host, and what it has cost.
    pub account: Account,
    /// Reads, commands and changes.
    pub machine: Box<dyn Machine>,
    /// Data bags, roles, environments, other nodes.
    pub data: Box<dyn Data>,
    /// The files of the policy's cookbooks.
    pub files: Arc<dyn CookbookFiles>,
    /// The granted clock, else none: the guest hears when the run began.
    pub clock: bool,
    /// Whether randomness is granted.
    pub random: bool,
    /// Names of environment variables that the guest may read, with their values.
    pub environment: Vec<(String, String)>,
    /// When the run began.
    pub started: Moment,
    /// The offset of local time from UTC at a moment, in seconds, and its zone's name.
    pub zone: fn(i64) -> (i32, String),
    /// What the guest may read and write of the node.
    pub attributes: Box<dyn AttributeRights>,
    /// The node's platform and name, for the lookup of cookbook files.
    pub node: NodeIdentity,
    /// The built-in types, for guests that ask.
    pub types: Arc<dyn TypeTexts>,
}

/// What a policy may read and write of the node. A refusal is the text of the grant that would allow it.
pub trait AttributeRights: Send {
    /// The proof that it may change what is at a path.
    fn write(&self, path: &[String]) -> Result<GrantedAttribute, String>;
    /// The line of the policy's table that would let it read this path. An empty path means everything.
    fn read_grant(&self, kind: ReadKind, path: &[String]) -> String;
    /// Writes down that the policy read a value of the machine or of another policy, for those who write its grants.
    fn uses(&self, kind: ReadKind, path: &[String]);
    /// The text of the error for reading a fact that the policy does not see. `None`: the fact reads as nothing. `is_new`:
    /// it has not been said before, and is written down as a denial.
    fn refuse_fact(&self, path: &[String], is_new: bool) -> Option<String>;
    /// Writes a hidden read that is not refused into the audit log.
    fn audit_hidden(&self, read: &HiddenRead);
    /// Writes down that the policy used a thing from outside that it is granted, for those who write its grants.
    fn uses_outside(&self, what: OutsideInput<'_>);
    /// Writes down that the policy asked for a thing from outside that it is not granted.
    fn refuse_outside(&self, what: OutsideInput<'_>);
}

/// Things from outside that are granted as a whole, without a decision for each use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutsideInput<'a> {
    /// The present time, of the wall clock.
    Clock,
    /// Random numbers from the operating system.
    Random,
    /// The host's environment variable of this name.
    Variable(&'a str),
}

/// The built-in types as texts.
pub trait TypeTexts: Send + Sync {
    /// The names of all types, without aliases.
    fn names(&self) -> Vec<String>;
    /// One of them, as `wrun resources --format json NAME` prints it.
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

/// The machine as a cookbook sees it (`wit/deps/machine/`). `why_run`: whatever would change something is refused.
pub trait Machine: Send {
    /// What is at a path; `follow`: of a link, what it leads to.
    fn stat(&mut self, path: &str, follow: bool) -> Result<Option<Stat>, MachineError>;
    /// Up to `length` bytes of a file.
    fn read_file(&mut self, path: &str, offset: u64, length: u64) -> Result<Vec<u8>, MachineError>;
    /// The names in a directory, sorted.
    fn list_directory(&mut self, path: &str) -> Result<Vec<String>, MachineError>;
    /// What a link says.
    fn read_link(&mut self, path: &str) -> Result<String, MachineError>;
    /// The absolute path without links.
    fn real_path(&mut self, path: &str) -> Result<String, MachineError>;
    /// Runs a command to its end.
    fn run(&mut self, command: &CommandTest, why_run: bool) -> Result<CommandOutcome, MachineError>;
    /// Changes what is at a path. In a dry run nothing is changed; the guest finds what it wrote, as far as that can be
    /// kept.
    fn apply(&mut self, path: &str, change: MachineChange, why_run: bool) -> Result<Applied, MachineError>;
    /// Sets a variable in the environment of the commands that follow; `None` removes it. Denied unless the policy is granted
    /// everything.
    fn set_environment(&mut self, name: &str, value: Option<&str>) -> Result<(), MachineError>;
    /// Lists the users in `/etc/passwd`, in its order.
    fn users(&mut self) -> Result<Vec<MachineUser>, MachineError>;
    /// Lists the groups in `/etc/group`, in its order.
    fn groups(&mut self) -> Result<Vec<MachineGroup>, MachineError>;
    /// Sends a request over HTTP.
    fn http(&mut self, request: &HttpRequest, why_run: bool) -> Result<HttpResponse, MachineError>;
}

/// A change that was made, or that a dry run keeps for the guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The real path inside the root.
    pub path: String,
    /// The sentence for the report.
    pub what: String,
}

/// Why the machine did not do what it was asked to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MachineError {
    /// Not granted; the text names the grant that would allow it.
    Denied(String),
    /// A dry run; the text says what would change.
    DryRun(String),
    /// The error's name (`ENOENT`) and what it was about.
    System(String, String),
    /// More than a limit allows.
    TooMuch(String),
}

/// What kind of thing is at a path.
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

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// Whether it is a file, a directory, a link or something else.
    pub kind: StatKind,
    /// Permission bits, set-id and sticky too.
    pub mode: u32,
    /// The number of the user who owns it.
    pub uid: u32,
    /// The number of the group that owns it.
    pub gid: u32,
    /// The length of its content in bytes.
    pub size: u64,
    /// When its content changed last, in seconds since 1970.
    pub modified: i64,
    /// Device and inode numbers, which together identify it on this machine.
    pub identity: (u64, u64),
    /// How many names it has.
    pub links: u64,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandOutcome {
    /// Exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// The number of the signal that ended it; `None` if it exited.
    pub signal: Option<i32>,
    /// The bytes it wrote to standard output.
    pub output: Vec<u8>,
    /// The bytes it wrote to standard error.
    pub errors: Vec<u8>,
    /// It ran into its timeout.
    pub timed_out: bool,
}

/// One change to the machine's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MachineChange {
    /// Content, and permission bits for a new file.
    Write(Vec<u8>, u32),
    /// Content to add, and permission bits for a new file.
    Append(Vec<u8>, u32),
    /// The permission bits of the new directory.
    MakeDirectory(u32),
    /// What the link says.
    Link(String),
    /// The path it gets, absolute.
    Rename(String),
    /// A file or a link.
    Remove,
    /// Removes a directory, which must be empty.
    RemoveDirectory,
    /// The permission bits it gets.
    Mode(u32),
    /// User and group numbers; none leaves it.
    Owner(Option<u32>, Option<u32>),
    /// Last access and change, in seconds since 1970.
    Times(i64, i64),
}

/// A user of the machine, as the root's `/etc/passwd` or the name service has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineUser {
    /// The login name, such as `www-data`.
    pub name: String,
    /// The user's number; 0 is root's.
    pub uid: u32,
    /// The number of the primary group.
    pub gid: u32,
    /// The comment field: by habit the full name, and other data behind commas.
    pub comment: String,
    /// The home directory's absolute path; it need not exist.
    pub home: String,
    /// The login shell's path; empty stands for `/bin/sh`.
    pub shell: String,
}

/// A group of the machine, as the root's `/etc/group` or the name service has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineGroup {
    /// The group's name, such as `adm`.
    pub name: String,
    /// The group's number; 0 is root's.
    pub gid: u32,
    /// Login names of the users that have it beside their primary group.
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

/// Data that operators keep beside the cookbooks (`wit/deps/data/data.wit`).
pub trait Data: Send {
    /// The names of all data bags.
    fn bags(&mut self) -> Result<Vec<String>, DataError>;
    /// The identifiers of a bag's items, sorted.
    fn bag(&mut self, name: &str) -> Result<Vec<String>, DataError>;
    /// One item, as stored.
    fn bag_item(&mut self, bag: &str, id: &str) -> Result<Value, DataError>;
    /// The secret for encrypted items.
    fn bag_secret(&mut self) -> Result<Option<Vec<u8>>, DataError>;
    /// Returns a role as a JSON object, in Chef's form.
    fn role(&mut self, name: &str) -> Result<Value, DataError>;
    /// Returns an environment as a JSON object, in Chef's form.
    fn environment(&mut self, name: &str) -> Result<Value, DataError>;
    /// What an index has for a query.
    fn search(&mut self, index: &str, query: &str) -> Result<Vec<Value>, DataError>;
}

/// Why there are no data to hand over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DataError {
    /// Not granted; the text names the grant.
    Denied(String),
    /// It does not exist; the text says where the host looked.
    NotFound(String),
    /// What is there is malformed; the text names file and line.
    Invalid(String),
    /// The query is malformed.
    BadQuery(String),
}

/// The files that travel in a policy's artifact.
pub trait CookbookFiles: Send + Sync {
    /// Names and versions, in load order.
    fn cookbooks(&self) -> Vec<(String, String)>;
    /// The paths of a cookbook's files below a folder (empty: all), sorted.
    fn paths(&self, cookbook: &str, folder: &str) -> Result<Vec<String>, FileError>;
    /// Returns the bytes of one of a cookbook's files.
    fn read(&self, cookbook: &str, path: &str) -> Result<Vec<u8>, FileError>;

    /// The most specific of a cookbook's files of `folder` (`templates`, `files`) for a node. Several names are places
    /// of their own, tried as they are (`source` given as an array).
    ///
    /// # Errors
    /// None of the places has a file; the text names them all.
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

/// Why a cookbook's file cannot be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileError {
    /// The text names the cookbooks there are.
    NoSuchCookbook(String),
    /// The text names the places that were looked at.
    NoSuchFile(String),
}
