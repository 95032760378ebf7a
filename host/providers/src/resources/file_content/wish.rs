//! The properties that all resources which write a file share, read out of a declaration.

use super::Access;
use crate::plan::View;
use contract::{Property, Raised, Wanted};
use grants::{Denied, GrantedPath, PolicyGrants};
use machine::denied::denied;
use machine::guest::ForeseenFile;
use schema::typed::Verification;
use schema::types::file::FileProperties;
use std::collections::HashSet;

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
    pub(crate) verify: &'a [Verification],
    /// Blocks of the guest must accept it, too.
    pub(crate) verify_blocks: bool,
    /// Whether content is put in place in one step; none: wherever that is possible.
    pub(crate) atomic: Option<bool>,
    /// The action makes a missing file only.
    pub(crate) only_if_missing: bool,
    /// The action sets the times.
    pub(crate) touch: bool,
    /// Real paths of directories that the same plan makes before this file.
    pub(crate) directories_made: Option<&'a HashSet<String>>,
    /// Asks for the right to the file where a right of another kind suffices; none: the right to manage its path.
    pub(crate) grant: Option<&'a Grant<'a>>,
}

/// A check of the right to a real path.
pub(crate) type Grant<'a> = dyn Fn(&PolicyGrants, &str) -> Result<GrantedPath, Denied> + 'a;

impl<'a> FileWish<'a> {
    /// What a resource of a type that writes one file wants.
    pub(crate) fn of(properties: &'a FileProperties, wanted: &Wanted<'_>) -> Self {
        let FileProperties { owner, group, mode, .. } = properties;
        Self {
            access: Access::of(owner.as_ref(), group.as_ref(), *mode),
            checksum: properties.checksum.as_deref(),
            backup: properties.backup.0.map(|kept| kept.0),
            force_unlink: properties.force_unlink,
            manage_symlink_source: properties.manage_symlink_source,
            verify: &properties.verify.0,
            verify_blocks: wanted.declaration.properties.iter().any(|(_, one)| matches!(one, Property::Verify(_))),
            atomic: properties.atomic_update,
            only_if_missing: wanted.action == "create_if_missing",
            touch: wanted.action == "touch",
            ..Self::plain(&properties.path, wanted)
        }
    }

    /// A file at a path, with no properties of its own.
    pub(crate) fn plain(path: &'a str, wanted: &Wanted<'_>) -> Self {
        Self {
            path,
            access: Access::default(),
            checksum: None,
            backup: None,
            sensitive: wanted.declaration.sensitive,
            force_unlink: false,
            manage_symlink_source: None,
            verify: &[],
            verify_blocks: false,
            atomic: None,
            only_if_missing: false,
            touch: false,
            directories_made: None,
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
