//! Checks changes of owner, group or mode that give other users power over files.
//!
//! A user who may write in a directory may rename everything in it at any time. So a change of a directory's owner counts as
//! a change of its whole content. A right to the directory alone does not cover SSH keys of a home, paths that another rule
//! refuses, or files that are hidden from the policy. A directory above a path in `/etc/fstab` needs a rule that names it. A
//! file is given away with its content, which the policy must be allowed to read, and with its other names (hard links).

use super::step::look_unmounted;
use super::{Entry, Fault, Kind, Place, absent, access_list, fault, open, tree};
use contract::FileCall;
use grants::{Denied, PolicyGrants};
use rustix::io::Errno;

/// The bits by which a group and everybody may read.
const GROUP_READS: u32 = 0o040;
const OTHERS_READ: u32 = 0o004;

/// The bits by which a group may write.
const GROUP_WRITES: u32 = 0o020;

/// The bits by which everybody may write.
const OTHERS_WRITE: u32 = 0o002;

/// New owner, group and permission bits. `None` keeps the present value.
#[derive(Debug, Clone, Copy, Default)]
pub struct Given {
    /// Numeric id of the new owner.
    pub uid: Option<u32>,
    /// Numeric id of the new group.
    pub gid: Option<u32>,
    /// The new permission bits.
    pub mode: Option<u32>,
}

/// The users, besides root, who may rename entries of a directory or read a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Holders {
    owner: u32,
    group: Option<u32>,
    everybody: bool,
    /// Those whom the access list names. The group's bits are the most that the list can give.
    named: bool,
}

impl Holders {
    /// Returns the users who may rename entries of a directory. `named`: its access list lets others do so.
    fn writers(entry: &Entry, given: Given, named: bool) -> Self {
        Self::by_bits(entry, given, (GROUP_WRITES, OTHERS_WRITE), named)
    }

    /// Returns the users who may read a file. The owner counts, because an owner can always add the right. `named`: its
    /// access list lets others do so.
    fn readers(entry: &Entry, given: Given, named: bool) -> Self {
        Self::by_bits(entry, given, (GROUP_READS, OTHERS_READ), named)
    }

    fn by_bits(entry: &Entry, given: Given, (of_group, of_others): (u32, u32), named: bool) -> Self {
        let mode = given.mode.unwrap_or(entry.mode);
        Self {
            owner: given.uid.unwrap_or(entry.uid),
            group: (mode & of_group != 0).then(|| given.gid.unwrap_or(entry.gid)),
            everybody: mode & of_others != 0,
            named: named && mode & of_group != 0,
        }
    }

    /// Tells whether somebody is added who did not have the right before.
    fn adds_to(self, before: Self) -> bool {
        let owner = self.owner != 0 && self.owner != before.owner;
        let group = self.group.is_some_and(|group| group != 0 && before.group != Some(group));
        owner || group || (self.everybody && !before.everybody) || (self.named && !before.named)
    }
}

impl Place {
    /// Checks whether the policy may set owner, group and mode of the directory, with its content, or of the file, with all
    /// its names. Other kinds of entries need no check, and neither does a change that gives nobody new power.
    ///
    /// # Errors
    /// The content cannot be read. The inner error means that an entry of it, or another name of the file, is not granted.
    pub fn require_giving(&self, grants: &PolicyGrants, given: Given) -> Result<Result<(), Denied>, Fault> {
        if grants.allows_everything() {
            return Ok(Ok(()));
        }
        let Some(entry) = absent(self.entry())? else { return Ok(Ok(())) };
        match entry.kind {
            Kind::Directory => {}
            Kind::File => return self.require_giving_file(grants, &entry, given),
            _ => return Ok(Ok(())),
        }
        let named = self.list_names_others(access_list::lets_others_write, &entry)?;
        let before = Holders::writers(&entry, Given::default(), named);
        if !Holders::writers(&entry, given, named).adds_to(before) {
            return Ok(Ok(()));
        }
        let leads = self.boot_mounts.names_below(self.real()).map_err(|errno| self.fault(errno, FileCall::Change))?;
        if leads && let Err(denied) = grants.give_way_to_boot_mounts(self.real()) {
            return Ok(Err(denied));
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

    /// Checks whether the policy may change the file in place, with all its names.
    ///
    /// # Errors
    /// The names beside it cannot be read. The inner error means that a name is not granted.
    pub fn require_names(&self, grants: &PolicyGrants) -> Result<Result<(), Denied>, Fault> {
        if grants.allows_everything() {
            return Ok(Ok(()));
        }
        match absent(self.entry())?.filter(|entry| entry.kind == Kind::File) {
            Some(entry) => self.require_names_of(grants, &entry),
            None => Ok(Ok(())),
        }
    }

    fn require_names_of(&self, grants: &PolicyGrants, entry: &Entry) -> Result<Result<(), Denied>, Fault> {
        let is_granted = entry.links <= 1 || self.granted_names(grants, entry)? >= entry.links;
        Ok(if is_granted { Ok(()) } else { Err(grants.refuse_other_names(self.real())) })
    }

    fn require_giving_file(
        &self,
        grants: &PolicyGrants,
        entry: &Entry,
        given: Given,
    ) -> Result<Result<(), Denied>, Fault> {
        let differs = |new: Option<u32>, now: u32| new.is_some_and(|new| new != now);
        let changes = differs(given.uid, entry.uid) || differs(given.gid, entry.gid) || differs(given.mode, entry.mode);
        if changes && let Err(denied) = self.require_names_of(grants, entry)? {
            return Ok(Err(denied));
        }
        if !grants.refuses_reads() {
            return Ok(Ok(()));
        }
        let named = self.list_names_others(access_list::lets_others_read, entry)?;
        let before = Holders::readers(entry, Given::default(), named);
        let is_read = Holders::readers(entry, given, named).adds_to(before);
        Ok(if is_read { grants.read_path(self.real()).map(drop) } else { Ok(()) })
    }

    /// Whether the access list of what is there lets others do something, whatever the mode takes away now.
    fn list_names_others(&self, lets: fn(cap_std::fs::File, Kind, u32) -> bool, entry: &Entry) -> Result<bool, Fault> {
        match self.parent.open_with(&self.name, &open::to_hold()) {
            Ok(handle) => Ok(lets(handle, entry.kind, 0)),
            Err(error) => match fault::errno(&error) {
                Errno::NOENT => Ok(false),
                errno => Err(self.fault(errno, FileCall::Look)),
            },
        }
    }

    /// Returns how many names of the file lie in the same directory and are granted. It does not search for names elsewhere.
    fn granted_names(&self, grants: &PolicyGrants, entry: &Entry) -> Result<u64, Fault> {
        let silent = grants.silent();
        let directory = self.real().rsplit_once('/').map_or("", |(directory, _)| directory);
        let names = tree::names(&self.parent).map_err(|errno| self.fault(errno, FileCall::List))?;
        let is_name = |name: &&String| {
            // A mount is not another name of the file, and a look at it would ask its server.
            let seen = look_unmounted(&self.parent, name.as_ref());
            let is_it = seen.is_ok_and(|seen| seen.identity == entry.identity);
            is_it && silent.manage_path(&format!("{directory}/{name}")).is_ok()
        };
        Ok(names.iter().filter(is_name).count() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn power_is_what_somebody_else_gets() {
        let entry = Entry { mode: 0o755, uid: 1000, gid: 1000, ..Entry::directory() };
        let adds_beside = |given: Given, named: bool| {
            Holders::writers(&entry, given, named).adds_to(Holders::writers(&entry, Given::default(), named))
        };
        let adds = |given: Given| adds_beside(given, false);
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
        let unmasking = given(None, Some(0), Some(0o775));
        assert!(!adds(unmasking) && adds_beside(unmasking, true));
    }
}
