//! The declared properties that all resources which write a file have in common.

use super::Access;
use crate::plan::View;
use crate::resources::own_part;
use contract::{Declaration, OwnPart, Property, Raised, Wanted};
use grants::{Denied, GrantedPath, PolicyGrants};
use machine::denied::denied;
use machine::guest::ForeseenFile;
use schema::typed::Verification;
use schema::types::file::FileProperties;
use std::collections::HashSet;

/// A kind of verification that is not a command: systemd must accept the content as a unit.
pub(crate) const SYSTEMD_UNIT: &str = ":systemd_unit";

/// The declaration of one file, without its content.
pub(crate) struct FileWish<'a> {
    /// The path as the cookbook wrote it.
    pub(crate) path: &'a str,
    /// The declaration of the resource, for warnings.
    pub(crate) declaration: &'a Declaration,
    /// The declared owner, group and mode.
    pub(crate) access: Access<'a>,
    /// The digest that the content must have.
    pub(crate) checksum: Option<&'a str>,
    /// The number of backups to keep. `None`: that of the settings.
    pub(crate) backup: Option<usize>,
    /// True if content and diffs are never shown.
    pub(crate) sensitive: bool,
    /// True if an existing entry that is not a file is removed first.
    pub(crate) force_unlink: bool,
    /// True if a link at the path is followed, false if it is not. `None`: followed, with a warning.
    pub(crate) manage_symlink_source: Option<bool>,
    /// Commands that must accept the content.
    pub(crate) verify: &'a [Verification],
    /// True if `verify` blocks of the guest must accept it, too.
    pub(crate) verify_blocks: bool,
    /// True if content is put in place by a rename, false if it is written in place. `None`: by a rename wherever that is
    /// possible.
    pub(crate) atomic: Option<bool>,
    /// True for an action that only creates a missing file.
    pub(crate) only_if_missing: bool,
    /// True for an action that sets the times.
    pub(crate) touch: bool,
    /// Real paths of directories that the same plan creates before this file.
    pub(crate) directories_made: Option<&'a HashSet<String>>,
    /// The check of the right to the file, if another right than the one to manage its path suffices.
    pub(crate) grant: Option<&'a Grant<'a>>,
    /// What wrun alone declares.
    pub(crate) own: Option<OwnPart>,
}

/// A check of the right to a real path.
pub(crate) type Grant<'a> = dyn Fn(&PolicyGrants, &str) -> Result<GrantedPath, Denied> + 'a;

impl<'a> FileWish<'a> {
    /// Creates the declaration from the properties of a resource.
    pub(crate) fn of(properties: &'a FileProperties, wanted: &Wanted<'a>) -> Self {
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

    /// Creates the declaration of a file without further properties.
    pub(crate) fn plain(path: &'a str, wanted: &Wanted<'a>) -> Self {
        Self {
            path,
            declaration: wanted.declaration,
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
            own: wanted.declaration.own_part().cloned(),
        }
    }

    /// Returns the policy and the resource with its place, as warnings name them.
    pub(super) fn declared(&self) -> String {
        let origin = &self.declaration.origin;
        let place = origin.place().map(|place| format!(" ({place})")).unwrap_or_default();
        format!("policy {}: {}{place}", origin.policy, self.declaration.key())
    }

    /// Tells whether the resource leaves open whether a link is followed. It is then followed, with a warning.
    pub(super) fn warns_of_link(&self) -> bool {
        self.manage_symlink_source.is_none()
    }

    /// Tells whether the file exists and has this content.
    ///
    /// # Errors
    /// The file exists and the policy may not manage it.
    pub(crate) fn is_text(&self, view: &View<'_>, text: &[u8]) -> Result<bool, Raised> {
        let granted = |real: &str| self.granted(view, real).map(drop);
        let Some(place) = view.told(self.path, view.root.locate_target(self.path), granted)? else { return Ok(false) };
        // The comparison needs the right to manage the file.
        let _granted = self.granted(view, place.real())?;
        if let Some(foreseen) = view.foreseen_file(place.real()) {
            return Ok(matches!(foreseen, ForeseenFile::There { content, .. } if content == text));
        }
        Ok(view.root.read(self.path).is_ok_and(|found| found == text))
    }

    /// Returns the right to the file, by its real path.
    ///
    /// # Errors
    /// The path is not granted.
    pub(crate) fn granted(&self, view: &View<'_>, real: &str) -> Result<GrantedPath, Raised> {
        match self.grant {
            Some(grant) => grant(view.grants, real),
            None => own_part::manage(self.own.as_ref(), view.grants, self.path, real),
        }
        .map_err(denied)
    }
}
