//! What checks return: values that only this crate can make.

use std::fmt;

macro_rules! named_proof {
    ($(#[$doc:meta])* $name:ident, $accessor:ident) => {
        $(#[$doc])*
        #[must_use = "an effect needs this proof"]
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub struct $name(pub(crate) String);

        impl $name {
            /// Returns the name or path as it was granted.
            pub fn $accessor(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

named_proof!(
    /// This path, and nothing below it, may be created, changed and removed. It is a resolved path: no component but the
    /// last is a link.
    GrantedPath, path
);
named_proof!(
    /// This directory and all that is below it may be renamed or removed as a whole.
    GrantedTree, path
);
named_proof!(
    /// This resolved path may be read.
    ReadablePath, path
);
named_proof!(
    /// This package may be installed, changed and removed.
    GrantedPackage, name
);
named_proof!(
    /// This service may be managed. A systemd unit's name is without `.service`.
    GrantedService, name
);
named_proof!(
    /// This user may be managed.
    GrantedUser, name
);
named_proof!(
    /// This group may be managed, its members too.
    GrantedGroup, name
);
named_proof!(
    /// This data bag, index, role, environment or variable may be read, or this device of chance may be used.
    GrantedName, name
);

/// The node may be started again.
#[must_use = "an effect needs this proof"]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantedReboot(pub(crate) ());

/// This file system may be mounted there, with these options, and have its line in the table of file systems.
#[must_use = "an effect needs this proof"]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantedMount {
    pub(crate) device: String,
    pub(crate) mount_point: String,
    pub(crate) kind: String,
    pub(crate) options: String,
}

impl GrantedMount {
    /// As the table of file systems names it: a device, `LABEL=..`, `UUID=..`, a remote share.
    pub fn device(&self) -> &str {
        &self.device
    }

    /// The resolved path; `none` for what has no place.
    pub fn mount_point(&self) -> &str {
        &self.mount_point
    }

    /// The kind of file system.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Returns the mount options, separated by commas.
    pub fn options(&self) -> &str {
        &self.options
    }
}

impl fmt::Display for GrantedMount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {} type {} ({})", self.device, self.mount_point, self.kind, self.options)
    }
}

/// This repository may be fetched by a program that speaks its protocol.
#[must_use = "an effect needs this proof"]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantedRepository(pub(crate) String);

impl GrantedRepository {
    /// The address, as it was asked.
    pub fn address(&self) -> &str {
        &self.0
    }
}

/// These options may be given to a package tool.
#[must_use = "an effect needs this proof"]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantedOptions(pub(crate) Vec<String>);

impl GrantedOptions {
    /// The options, one word each.
    pub fn words(&self) -> &[String] {
        &self.0
    }
}

/// These variables may be given to a package tool.
#[must_use = "an effect needs this proof"]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantedEnvironment(pub(crate) Vec<(String, String)>);

impl GrantedEnvironment {
    /// Returns the names of the variables with their values.
    pub fn variables(&self) -> &[(String, String)] {
        &self.0
    }
}

/// These permission bits may be set on the path they were asked for.
#[must_use = "an effect needs this proof"]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantedMode {
    pub(crate) bits: u32,
    /// The bits may be set on a directory only: a set-id bit among them was not granted for files.
    pub(crate) only_directory: bool,
    pub(crate) path: String,
}

impl GrantedMode {
    /// Returns the permission bits for a directory, set-id and sticky ones too.
    pub fn bits_of_directory(&self) -> u32 {
        self.bits
    }

    /// Returns the permission bits for anything but a directory, or `None` if they may only be set on a directory.
    pub fn bits_of_file(&self) -> Option<u32> {
        (!self.only_directory).then_some(self.bits)
    }

    /// The path they were granted for.
    pub fn path(&self) -> &str {
        &self.path
    }
}

/// This URL may be asked. Where it redirects to must be asked for again.
#[must_use = "an effect needs this proof"]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantedUrl {
    pub(crate) url: String,
    pub(crate) scheme: String,
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl GrantedUrl {
    /// Returns the whole URL, with path and query.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the scheme: `http` or `https`.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// The server's name or address in lower case; IPv6 without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port, the scheme's own if none was said.
    pub fn port(&self) -> u16 {
        self.port
    }
}

/// This attribute path may be read or written.
#[must_use = "an effect needs this proof"]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantedAttribute(pub(crate) Vec<String>);

impl GrantedAttribute {
    /// Returns the keys that lead to the attribute.
    pub fn path(&self) -> &[String] {
        &self.0
    }
}

/// A program in the form in which it is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// Program and arguments, started without a shell.
    Arguments(Vec<String>),
    /// A line for `/bin/sh -c`.
    Shell(String),
    /// A text that an interpreter gets as a file.
    Script {
        /// The interpreter and its flags.
        interpreter: Vec<String>,
        /// The text that the interpreter gets.
        code: String,
    },
}

/// This command may be run, as this user, there, with these variables.
#[must_use = "an effect needs this proof"]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantedCommand {
    pub(crate) program: Program,
    pub(crate) shown: String,
    pub(crate) by_shell: bool,
    pub(crate) user: Option<String>,
    pub(crate) group: Option<String>,
    pub(crate) cwd: Option<String>,
    pub(crate) umask: Option<u32>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) input: Option<Vec<u8>>,
}

impl GrantedCommand {
    /// Returns the program, with its arguments or its text.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The command as the cookbook wrote it, for messages.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Whether Chef has a shell start it, though it may need none: where the program does not exist, it is the shell that
    /// says so.
    pub fn by_shell(&self) -> bool {
        self.by_shell
    }

    /// As whom; none: as wrun.
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// In which group; none: the user's.
    pub fn group(&self) -> Option<&str> {
        self.group.as_deref()
    }

    /// Where; none: in the root.
    pub fn cwd(&self) -> Option<&str> {
        self.cwd.as_deref()
    }

    /// The file mode creation mask; none: the host's.
    pub fn umask(&self) -> Option<u32> {
        self.umask
    }

    /// Variables beside the clean environment.
    pub fn environment(&self) -> &[(String, String)] {
        &self.environment
    }

    /// Returns the bytes for its standard input; `None`: it is empty.
    pub fn input(&self) -> Option<&[u8]> {
        self.input.as_deref()
    }

    /// The same command about a staged file: `%{path}` becomes its path. A guest had a say in the path, and what a shell
    /// makes of it depends on the quotes, the `eval` and the here-document around it: so only a path in which no shell finds
    /// anything is put into a line, a script or a longer argument. None: the path is another.
    pub fn with_path(&self, path: &str) -> Option<Self> {
        let harmless = crate::words::means_itself(path);
        let program = match &self.program {
            Program::Arguments(words) if harmless || words.iter().all(|word| takes_any_path(word)) => {
                Program::Arguments(words.iter().map(|word| word.replace(PLACE, path)).collect())
            }
            Program::Shell(line) if harmless => Program::Shell(line.replace(PLACE, path)),
            Program::Script { interpreter, code } if harmless => {
                Program::Script { interpreter: interpreter.clone(), code: code.replace(PLACE, path) }
            }
            _ => return None,
        };
        Some(Self { program, shown: self.shown.replace(PLACE, path), ..self.clone() })
    }
}

/// What stands for the path of a staged file.
const PLACE: &str = "%{path}";

/// Whether nothing but a path is made of an argument: it is the path or an option with it. A longer one may be code:
/// `bash -c "grep x %{path}"` needs no shell to be started.
fn takes_any_path(word: &str) -> bool {
    !word.contains(PLACE) || crate::words::means_itself(&word.replace(PLACE, ""))
}
