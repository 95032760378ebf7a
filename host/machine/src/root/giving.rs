//! Who gets power over what is in a directory with its owner or its permission bits.
//!
//! Whoever may write in a directory may give everything in it another name, at once and at any time. So a directory is given
//! away as a whole: a right to the directory alone does not cover the keys of a home, what another rule refuses, or what the
//! policy may not read.

use super::{Entry, Fault, Kind, Place, absent};
use grants::{Denied, PolicyGrants};

/// The bits by which a group may write.
const GROUP_WRITES: u32 = 0o020;

/// The bits by which everybody may write.
const OTHERS_WRITE: u32 = 0o002;

/// Owner, group and permission bits that something gets; `None`: it keeps its own.
#[derive(Debug, Clone, Copy, Default)]
pub struct Given {
    /// The number of the new owner.
    pub uid: Option<u32>,
    /// The number of the new group.
    pub gid: Option<u32>,
    /// The new permission bits.
    pub mode: Option<u32>,
}

/// Who may change names in a directory, root aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Writers {
    owner: u32,
    group: Option<u32>,
    everybody: bool,
}

impl Writers {
    fn of(entry: &Entry, given: Given) -> Self {
        let mode = given.mode.unwrap_or(entry.mode);
        Self {
            owner: given.uid.unwrap_or(entry.uid),
            group: (mode & GROUP_WRITES != 0).then(|| given.gid.unwrap_or(entry.gid)),
            everybody: mode & OTHERS_WRITE != 0,
        }
    }

    /// Whether there is somebody who was not one before.
    fn adds_to(self, before: Self) -> bool {
        let owner = self.owner != 0 && self.owner != before.owner;
        let group = self.group.is_some_and(|group| group != 0 && before.group != Some(group));
        owner || group || (self.everybody && !before.everybody)
    }
}

impl Place {
    /// Whether owner and bits may be given to the directory that is there, with all that is in it. Of anything else, and of
    /// a directory in which nobody gets power who had none, nothing is asked.
    ///
    /// # Errors
    /// What is in it cannot be seen; something in it is not granted.
    pub fn require_giving(&self, grants: &PolicyGrants, given: Given) -> Result<Result<(), Denied>, Fault> {
        if grants.allows_everything() {
            return Ok(Ok(()));
        }
        let Some(entry) = absent(self.entry())?.filter(|entry| entry.kind == Kind::Directory) else {
            return Ok(Ok(()));
        };
        if !Writers::of(&entry, given).adds_to(Writers::of(&entry, Given::default())) {
            return Ok(Ok(()));
        }
        let names = self.names_below()?;
        if names.is_empty() {
            return Ok(Ok(()));
        }
        Ok(grants.manage_tree(self.real()).and_then(|tree| {
            names.iter().try_for_each(|name| {
                grants.manage_below(&tree, name)?;
                if !grants.refuses_reads() {
                    return Ok(());
                }
                grants.read_path(&format!("{}/{name}", self.real().trim_end_matches('/'))).map(drop)
            })
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn power_is_what_somebody_else_gets() {
        let entry = Entry { mode: 0o755, uid: 1000, gid: 1000, ..Entry::directory() };
        let adds = |given: Given| Writers::of(&entry, given).adds_to(Writers::of(&entry, Given::default()));
        let given = |uid: Option<u32>, gid: Option<u32>, mode: Option<u32>| Given { uid, gid, mode };
        for harmless in [
            given(None, None, None),
            given(Some(1000), Some(1000), Some(0o700)),
            given(Some(0), Some(0), Some(0o775)),
            given(None, Some(7), Some(0o755)),
            given(None, None, Some(0o4755)),
        ] {
            assert!(!adds(harmless), "{harmless:?}");
        }
        for powerful in [
            given(Some(1001), None, None),
            given(None, None, Some(0o775)),
            given(None, Some(7), Some(0o775)),
            given(None, None, Some(0o777)),
            given(Some(0), None, Some(0o757)),
        ] {
            assert!(adds(powerful), "{powerful:?}");
        }
    }
}
