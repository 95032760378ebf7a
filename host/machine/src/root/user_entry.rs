//! One user's entry in the root's file of users, changed without `usermod`: that one would also give away
//! files in the home and the mailbox, by their paths as text.
//!
//! The login tools take a lock on a file of its own before they change the database, and so does wrun.

use super::fault::{errno, errno_of};
use super::{Fault, ModeBits, NewFileAttributes, Root, open};
use contract::FileCall;
use grants::GrantedPath;
use rustix::fs::FlockOperation;
use rustix::io::Errno;
use std::fs::File;
use std::io::Read as _;
use std::time::{Duration, Instant};

/// The lock of the C library's `lckpwdf`.
const LOCK: &str = "/etc/.pwd.lock";

/// How long another process may have the lock: that is how long the login tools wait.
const PATIENCE: Duration = Duration::from_secs(15);

/// How long is waited between two tries.
const PAUSE: Duration = Duration::from_millis(50);

/// The largest file of users that is changed, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// New values of an entry; `None`: the value stays.
#[derive(Debug, Clone, Copy, Default)]
pub struct UserEntryChange {
    /// The number of the user.
    pub uid: Option<u32>,
    /// The number of the primary group.
    pub gid: Option<u32>,
}

impl Root {
    /// Changes a user's entry. Returns whether the file has one. No file in the home is looked at.
    ///
    /// # Errors
    /// Another process keeps the lock, or the file cannot be replaced.
    pub fn change_user_entry(
        &self,
        database: &GrantedPath,
        name: &str,
        change: UserEntryChange,
    ) -> Result<bool, Fault> {
        let _lock = self.lock_users()?;
        let site = self.site(database)?;
        let (file, entry) = site.open_file()?;
        let mut file = File::from(file);
        let mut content = Vec::new();
        let read = file.by_ref().take(MAX_BYTES + 1).read_to_end(&mut content);
        read.map_err(|error| Fault::new(errno(&error), FileCall::Open, database.path()))?;
        if content.len() as u64 > MAX_BYTES {
            return Err(Fault::new(Errno::FBIG, FileCall::Open, database.path()));
        }
        let Some(content) = changed(&content, name, change) else { return Ok(false) };
        let mut staged = site.stage(ModeBits::plain(0o600))?;
        staged.write(&content)?;
        let mode = Some(ModeBits::plain(entry.mode));
        staged.publish(&NewFileAttributes { mode, old: Some(file.into()), ..NewFileAttributes::default() })?;
        Ok(true)
    }

    /// Takes the lock of the login tools; closing the file gives it back.
    fn lock_users(&self) -> Result<File, Fault> {
        let fault = |errno| Fault::new(errno, FileCall::Open, LOCK);
        let place = self.exact(LOCK)?;
        let opened = place.parent.open_with(&place.name, &open::to_lock());
        let file = opened.map_err(|error| fault(errno(&error)))?.into_std();
        let end = Instant::now() + PATIENCE;
        loop {
            match rustix::fs::fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(file),
                Err(Errno::AGAIN | Errno::ACCESS) if Instant::now() < end => {}
                Err(errno) => return Err(fault(errno)),
            }
            place.account().check_waiting().map_err(|ended| fault(errno_of(&ended)))?;
            std::thread::sleep(PAUSE);
        }
    }
}

/// The file's content with one entry changed. `None`: it has no such entry.
fn changed(content: &[u8], name: &str, change: UserEntryChange) -> Option<Vec<u8>> {
    let mut is_found = false;
    let mut text = Vec::with_capacity(content.len());
    for line in content.split_inclusive(|byte| *byte == b'\n') {
        let fields: Vec<&[u8]> = line.split(|byte| *byte == b':').collect();
        match fields.as_slice() {
            [user, password, uid, gid, comment, home, shell] if !is_found && *user == name.as_bytes() => {
                is_found = true;
                let [new_uid, new_gid] = [change.uid, change.gid].map(|number| number.map(|number| number.to_string()));
                let uid = new_uid.as_ref().map_or(*uid, |uid| uid.as_bytes());
                let gid = new_gid.as_ref().map_or(*gid, |gid| gid.as_bytes());
                text.extend([*user, password, uid, gid, comment, home, shell].join(&b':'));
            }
            _ => text.extend_from_slice(line),
        }
    }
    is_found.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_entry_is_changed_and_the_rest_stays() {
        let before = b"root:x:0:0::/root:/bin/sh\nann:x:7:8:A\xff:/home/ann:/bin/sh\n+::::::\nannie:x:9:9::/:/bin/sh";
        let change = |uid, gid| changed(before, "ann", UserEntryChange { uid, gid }).unwrap();
        assert_eq!(change(None, None), before);
        let now = change(Some(70), Some(80));
        assert_eq!(
            now,
            b"root:x:0:0::/root:/bin/sh\nann:x:70:80:A\xff:/home/ann:/bin/sh\n+::::::\nannie:x:9:9::/:/bin/sh"
        );
        assert!(changed(before, "bob", UserEntryChange::default()).is_none());
    }
}
