//! The properties that all resources which write a file share, read out of a declaration.

use super::Access;
use crate::plan::View;
use contract::{Known, Property, Raised, Wanted};
use grants::{Denied, GrantedPath, PolicyGrants};
use machine::denied::denied;
use machine::guest::ForeseenFile;
use serde_json::{Map, Value};

/// A kind of verification that is not a command: systemd accepts the content as a unit.
pub(crate) const SYSTEMD_UNIT: &str = ":systemd_unit";

/// What is wanted of one file, its content aside.
pub(crate) struct FileWish<'a> {
    /// The path as the cookbook wrote it.
    pub(crate) path: &'a str,
    /// The owner, group and mode that are wanted.
    pub(crate) access: Access<'a>,
    /// The digest that the content must have.
    pub(crate) checksum: Option<&'a str>,
    /// How many earlier versions are kept; none: as many as the settings say.
    pub(crate) backup: Option<usize>,
    /// Content and diffs are shown nowhere.
    pub(crate) sensitive: bool,
    /// Something else than a file is removed.
    pub(crate) force_unlink: bool,
    /// What a link at the path means; none: it is followed.
    pub(crate) manage_symlink_source: Option<bool>,
    /// Commands that must accept the content.
    pub(crate) verify: Vec<VerifyWish<'a>>,
    /// Blocks of the guest must accept it, too.
    pub(crate) verify_blocks: bool,
    /// Whether content is put in place in one step; none: wherever that is possible.
    pub(crate) atomic: Option<bool>,
    /// The action makes a missing file only.
    pub(crate) only_if_missing: bool,
    /// The action sets the times.
    pub(crate) touch: bool,
    /// Real paths of directories that the same plan makes before this file.
    pub(crate) directories_made: &'a [String],
    /// Asks for the right to the file where a right of another kind suffices; none: the right to manage its path.
    pub(crate) grant: Option<&'a Grant<'a>>,
}

/// A verification, as the cookbook wrote it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VerifyWish<'a> {
    /// The command, or a symbol with its colon.
    pub(crate) line: &'a str,
    /// How the command is run: `cwd`, `environment`, ..
    pub(crate) options: Option<&'a Map<String, Value>>,
}

impl<'a> VerifyWish<'a> {
    /// A command as it is.
    pub(crate) fn plain(line: &'a str) -> Self {
        Self { line, options: None }
    }

    fn of(value: &'a Value) -> Option<Self> {
        match value {
            Value::String(line) => Some(Self::plain(line)),
            Value::Object(options) => Some(Self { line: options.get("command")?.as_str()?, options: Some(options) }),
            _ => None,
        }
    }
}

fn verifications(value: Option<Known<'_>>) -> Vec<VerifyWish<'_>> {
    match value {
        Some(Known::Json(Value::Array(all))) => all.iter().filter_map(VerifyWish::of).collect(),
        Some(Known::Json(one)) => VerifyWish::of(one).into_iter().collect(),
        _ => vec![],
    }
}

/// A check of the right to a real path.
pub(crate) type Grant<'a> = dyn Fn(&PolicyGrants, &str) -> Result<GrantedPath, Denied> + 'a;

impl<'a> FileWish<'a> {
    /// Reads the properties.
    ///
    /// # Errors
    /// A value is out of range.
    pub(crate) fn of(wanted: &'a Wanted<'_>) -> Result<Self, Raised> {
        Ok(Self {
            access: Access::of(wanted)?,
            checksum: text(wanted, "checksum"),
            backup: backups(wanted.get("backup")),
            force_unlink: boolean(wanted, "force_unlink").unwrap_or(false),
            manage_symlink_source: boolean(wanted, "manage_symlink_source"),
            verify: verifications(wanted.get("verify")),
            verify_blocks: wanted.declaration.properties.iter().any(|(_, one)| matches!(one, Property::Verify(_))),
            atomic: boolean(wanted, "atomic_update"),
            only_if_missing: wanted.action == "create_if_missing",
            touch: wanted.action == "touch",
            ..Self::plain(wanted)
        })
    }

    /// A file at the resource's path, with no properties of its own.
    pub(crate) fn plain(wanted: &'a Wanted<'_>) -> Self {
        Self {
            path: text(wanted, "path").unwrap_or(&wanted.declaration.name),
            access: Access::default(),
            checksum: None,
            backup: None,
            sensitive: wanted.declaration.sensitive,
            force_unlink: false,
            manage_symlink_source: None,
            verify: vec![],
            verify_blocks: false,
            atomic: None,
            only_if_missing: false,
            touch: false,
            directories_made: &[],
            grant: None,
        }
    }

    /// Whether nobody says if a link at the path is followed: it is, with a warning.
    pub(super) fn warns_of_link(&self) -> bool {
        self.manage_symlink_source.is_none()
    }

    /// Whether the file is there and holds this text.
    ///
    /// # Errors
    /// It is there and may not be managed.
    pub(crate) fn is_text(&self, view: &View<'_>, text: &[u8]) -> Result<bool, Raised> {
        let granted = |real: &str| self.granted(view, real).map(drop);
        let Some(place) = view.told(self.path, view.root.locate_target(self.path), granted)? else { return Ok(false) };
        // What may not be managed may not be compared, either.
        let _granted = self.granted(view, place.real())?;
        if let Some(foreseen) = view.foreseen_file(place.real()) {
            return Ok(matches!(foreseen, ForeseenFile::There { content, .. } if content == text));
        }
        Ok(view.root.read(self.path).is_ok_and(|found| found == text))
    }

    /// The right to the file, at its real path.
    ///
    /// # Errors
    /// It is not granted.
    pub(crate) fn granted(&self, view: &View<'_>, real: &str) -> Result<GrantedPath, Raised> {
        match self.grant {
            Some(grant) => grant(view.grants, real),
            None => view.grants.manage_path(real),
        }
        .map_err(denied)
    }
}

/// A property that says how many backups are kept; none: it does not say.
pub(crate) fn backups(value: Option<Known<'_>>) -> Option<usize> {
    match value {
        Some(Known::Json(Value::Bool(false))) => Some(0),
        Some(Known::Json(Value::Number(number))) => number.as_i64().map(|number| usize::try_from(number).unwrap_or(0)),
        _ => None,
    }
}

/// A property that is a string.
pub(crate) fn text<'a>(wanted: &'a Wanted<'_>, name: &str) -> Option<&'a str> {
    match wanted.get(name)? {
        Known::Json(value) => value.as_str(),
        Known::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
    }
}

/// A property that is true or false.
pub(crate) fn boolean(wanted: &Wanted<'_>, name: &str) -> Option<bool> {
    match wanted.get(name)? {
        Known::Json(value) => value.as_bool(),
        Known::Bytes(_) => None,
    }
}

/// A property that is a string or a list of strings.
pub(crate) fn texts<'a>(wanted: &'a Wanted<'_>, name: &str) -> Vec<&'a str> {
    match wanted.get(name) {
        Some(Known::Json(Value::String(one))) => vec![one],
        Some(Known::Json(Value::Array(all))) => all.iter().filter_map(Value::as_str).collect(),
        _ => vec![],
    }
}

/// A property that is content: bytes, or a string.
pub(crate) fn bytes<'a>(wanted: &'a Wanted<'_>, name: &str) -> Option<&'a [u8]> {
    match wanted.get(name)? {
        Known::Bytes(bytes) => Some(bytes),
        Known::Json(value) => value.as_str().map(str::as_bytes),
    }
}
