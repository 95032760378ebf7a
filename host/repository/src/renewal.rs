//! Renews documents that expire, and repairs a repository with damaged targets.
//!
//! A file of the repository may change between two reads. So the new snapshot and timestamp refer to the verified bytes and
//! not to a second read. If the file has changed, the verified bytes are written back.

use jiff::Timestamp as Moment;

use crate::admin::lifetimes_of;
use crate::error::{RepositoryError, Role};
use crate::names::PLATFORM;
use crate::store::Writer;
use crate::update::{Ages, Trusted, Update, Verified, stored_metadata};
use crate::writer::{Current, Lifetimes, Numbers, Publisher, role_keys};

/// Remaining validity, in seconds, below which targets are renewed.
const SOON: i64 = 60 * 24 * 60 * 60;

impl Publisher<'_> {
    /// Renews the snapshot and the timestamp, and targets that expire soon if their keys are here. Damaged targets are
    /// restored, if this publisher has verified them before. Returns the moment at which the targets expire if that is soon.
    ///
    /// # Errors
    /// Nothing was published, a key is missing, or the store cannot be read or written.
    pub fn refresh(
        &self,
        folder: &str,
        vouched: Option<&[u8]>,
        lifetimes: Lifetimes,
    ) -> Result<Option<Moment>, RepositoryError> {
        self.renew(folder, vouched, |_| lifetimes)
    }

    /// Renews the platform's documents as [`Self::refresh`] does, with the lifetimes that the platform has chosen. It also
    /// repairs a platform whose teams cannot be read.
    ///
    /// # Errors
    /// As [`Self::refresh`].
    pub fn refresh_platform(&self) -> Result<Option<Moment>, RepositoryError> {
        self.renew(PLATFORM, None, |current| lifetimes_of(current.verified()))
    }

    fn renew(
        &self,
        folder: &str,
        vouched: Option<&[u8]>,
        lifetimes: impl FnOnce(&Current) -> Lifetimes,
    ) -> Result<Option<Moment>, RepositoryError> {
        let writer = self.store.writer(folder)?;
        let current = match self.current(folder, vouched) {
            // The first error is more useful than the failure of the repair.
            Err(error) => self.with_targets_of_before(folder, vouched).ok().flatten().ok_or(error)?,
            Ok(current) => current,
        };
        let lifetimes = lifetimes(&current);
        let Some(verified) = &current.verified else {
            let file = self.store.file(&stored_metadata(folder, Role::Timestamp, 0));
            let hint = "nothing has been released yet with the present keys; `wrun policy push` does";
            return Err(RepositoryError::Missing { file, hint });
        };
        let (version, expires) = (verified.targets().version, verified.targets().expires);
        let is_soon = expires.as_second() - self.now.as_second() < SOON;
        if is_soon {
            let keys = role_keys(&current.root, Role::Targets)?;
            // If no passphrase can be asked for, the other documents are still renewed.
            if self.keys.of_role(keys, &[]).is_ok_and(|found| found.len() >= keys.threshold) {
                self.release(writer.as_ref(), &current, &[], current.targets(), lifetimes)?;
                return Ok(None);
            }
        }
        self.put_back(writer.as_ref(), folder, verified)?;
        self.point(writer.as_ref(), &current, version, verified.targets_bytes(), lifetimes, None)?;
        Ok(is_soon.then_some(expires))
    }

    /// Writes the verified targets back, if the file has another content.
    fn put_back(&self, writer: &dyn Writer, folder: &str, verified: &Verified) -> Result<(), RepositoryError> {
        let (path, bytes) =
            (stored_metadata(folder, Role::Targets, verified.targets().version), verified.targets_bytes());
        let there = self.store.get(&path, bytes.len() as u64);
        // An unreadable file also differs from the verified one.
        if there.is_ok_and(|there| there.as_deref() == Some(bytes)) {
            return Ok(());
        }
        writer.replace(&path, bytes)
    }

    /// Returns the state of a repository with valid pointers and invalid targets, using the targets that this publisher has
    /// verified before. Returns `None` if it has not verified this version.
    fn with_targets_of_before(&self, folder: &str, vouched: Option<&[u8]>) -> Result<Option<Current>, RepositoryError> {
        let Some(trust) = self.trust.read(folder)? else { return Ok(None) };
        let update = Update { store: self.store, folder, now: self.now, ages: Ages::Root };
        let keep = |trusted: &Trusted| self.trust.write(folder, &trust.with(trusted.clone()));
        let (trusted, root) = update.roots(&trust.trusted, vouched, &keep)?;
        let Some((timestamp, verified)) = update.misled(&root, &trusted)? else { return Ok(None) };
        Ok(Some(Current {
            folder: folder.to_owned(),
            root,
            root_bytes: trusted.root,
            numbers: Numbers::of(&verified),
            verified: Some(verified),
            superseded: None,
            timestamp: Some(timestamp),
        }))
    }
}
