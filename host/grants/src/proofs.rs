//! Proofs: the results of checks, which only this crate can create.

use crate::addresses::LocalAddresses;
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
    /// This path, and nothing below it, may be created, changed and removed. The path is resolved: no component except the
    /// last is a link.
    GrantedPath, path
);
named_proof!(
    /// This directory may be renamed or removed with everything below it.
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
    /// This kernel module may be configured. Its name has underscores in place of hyphens.
    GrantedModule, name
);
named_proof!(
    /// This data bag, index, role, environment or variable may be read, or this user's crontab may be changed.
    GrantedName, name
);

/// The node may be rebooted.
#[must_use = "an effect needs this proof"]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantedReboot(pub(crate) ());

/// This file system may be mounted there, with these options, and may be entered in the table of file systems.
#[must_use = "an effect needs this proof"]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantedMount {
    pub(crate) device: String,
    pub(crate) mount_point: String,
    pub(crate) kind: String,
    pub(crate) options: String,
}

impl GrantedMount {
    /// Returns the device as in the table of file systems: a device, `LABEL=..`, `UUID=..`, or a remote share.
    pub fn device(&self) -> &str {
        &self.device
    }

    /// Returns the resolved mount point, or `none` for a file system without one.
    pub fn mount_point(&self) -> &str {
        &self.mount_point
    }

    /// Returns the file system type.
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
    /// Returns the address as the policy wrote it.
    pub fn address(&self) -> &str {
        &self.0
    }
}

/// These options may be given to a package tool.
#[must_use = "an effect needs this proof"]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantedOptions(pub(crate) Vec<String>);

impl GrantedOptions {
    /// Returns the options, one word each.
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
    /// True if the bits may be set only on a directory, because they have a set-id bit that is not granted for files.
    pub(crate) only_directory: bool,
    pub(crate) path: String,
}

impl GrantedMode {
    /// Returns the permission bits for a directory, including set-id and sticky bits.
    pub fn bits_of_directory(&self) -> u32 {
        self.bits
    }

    /// Returns the permission bits for anything but a directory, or `None` if they may only be set on a directory.
    pub fn bits_of_file(&self) -> Option<u32> {
        (!self.only_directory).then_some(self.bits)
    }

    /// Returns the path for which the bits were granted.
    pub fn path(&self) -> &str {
        &self.path
    }
}

/// This URL may be requested. The target of a redirect needs its own check.
#[must_use = "an effect needs this proof"]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantedUrl {
    pub(crate) url: String,
    pub(crate) scheme: String,
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) local: LocalAddresses,
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

    /// Returns the server's name or address in lower case; an IPv6 address without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the port, or the scheme's default port.
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

/// A command in the form in which it is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// Program and arguments, started without a shell.
    Arguments(Vec<String>),
    /// A line for `/bin/sh -c`.
    Shell(String),
    /// A script, which an interpreter reads from its standard input.
    Script {
        /// The interpreter and its flags.
        interpreter: Vec<String>,
        /// The text of the script.
        code: String,
    },
}

/// This command may be run as this user, in this directory, with these variables.
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
    /// False if only a survey allows the command, which must not start it then.
    pub(crate) may_start: bool,
}

impl GrantedCommand {
    /// Tells whether the command may be started. A survey allows every command, and starts only those that a rule allows.
    pub fn may_start(&self) -> bool {
        self.may_start
    }

    /// Returns the program, with its arguments or its text.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Returns the command as the cookbook wrote it, for messages.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Tells whether Chef would start the command through a shell, even if it does not need one. If the program is missing,
    /// the error is then the shell's.
    pub fn by_shell(&self) -> bool {
        self.by_shell
    }

    /// Returns the user. `None` means wrun's own user.
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// Returns the group. `None` means the user's own group.
    pub fn group(&self) -> Option<&str> {
        self.group.as_deref()
    }

    /// Returns the working directory. `None` means the root directory.
    pub fn cwd(&self) -> Option<&str> {
        self.cwd.as_deref()
    }

    /// Returns the file mode creation mask. `None` means the host's.
    pub fn umask(&self) -> Option<u32> {
        self.umask
    }

    /// Returns the variables in addition to the clean environment.
    pub fn environment(&self) -> &[(String, String)] {
        &self.environment
    }

    /// Returns the bytes for its standard input; `None`: it is empty.
    pub fn input(&self) -> Option<&[u8]> {
        self.input.as_deref()
    }

    /// Returns the same command for a staged file, with `%{path}` replaced by its path. A guest can influence the path, and
    /// its meaning for a shell depends on quotes, `eval` or here-documents around it. So only a path without special
    /// characters is put into a line, a script or a longer argument. Returns `None` for any other path.
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

/// The placeholder for the path of a staged file.
const PLACE: &str = "%{path}";

/// Tells whether an argument is only a path, or an option with a path. A longer argument may be code: `bash -c "grep x
/// %{path}"` runs code although no shell is needed to start it.
fn takes_any_path(word: &str) -> bool {
    !word.contains(PLACE) || crate::words::means_itself(&word.replace(PLACE, ""))
}
