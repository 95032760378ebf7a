//! Establishes the first trust: in a root that the operator named, or else in the first root of a directory that nobody else
//! can change.
//!
//! The same rule applies to nodes and to authors. A push signs again everything that its team has released, so it must verify
//! those documents.

use text::error_chain;

use crate::chain::check_same_chain;
use crate::error::{RepositoryError, Role};
use crate::metadata::{Target, limit};
use crate::names::PLATFORM;
use crate::node::Remark;
use crate::store::Store;
use crate::trust::{Trust, TrustFolder};
use crate::update::{Trusted, stored_metadata, trusted_root};
use crate::writer::Publisher;

/// The file that may be trusted at first use.
#[must_use]
pub fn first_root() -> String {
    stored_metadata(PLATFORM, Role::Root, 1)
}

/// The largest file with a root, in bytes.
#[must_use]
pub fn max_root() -> u64 {
    limit(Role::Root)
}

/// Begins to trust a store. `root`: the platform's root, if the operator has named one. `is_own`: nobody else can change the
/// store, so its first root may be trusted.
pub(crate) fn first_trust(
    store: &dyn Store,
    root: Option<&[u8]>,
    is_own: bool,
) -> Result<(Trust, Option<Remark>), RepositoryError> {
    if let Some(root) = root {
        trusted_root("the root that was named to be trusted", root, PLATFORM)?;
        let trusted = Trusted::of_root(root.to_owned());
        return Ok((Trust { trusted, named: Some(Target::of(root).sha256), ..Trust::default() }, None));
    }
    if !is_own {
        return Err(untrusted(store));
    }
    let path = first_root();
    let bytes = store.need(&path, limit(Role::Root), "is this a repository? `wrun repository init` makes one")?;
    let root = trusted_root(&store.file(&path), &bytes, PLATFORM)?;
    let keys = root.roles.get(&Role::Root).into_iter().flat_map(|role| role.keys.keys().cloned()).collect();
    Ok((
        Trust { trusted: Trusted::of_root(bytes), ..Trust::default() },
        Some(Remark::FirstUse { file: store.file(&path), keys }),
    ))
}

/// Checks that the trusted documents descend from the root that the operator names, even if it was named after the first use.
/// `folder`: the repository's folder.
///
/// # Errors
/// It does not, or that cannot be found out. Then nothing that was verified before counts.
pub(crate) fn check_named_root(
    store: Result<&dyn Store, &RepositoryError>,
    trust: &Trust,
    root: &[u8],
    folder: &TrustFolder,
) -> Result<Trust, RepositoryError> {
    let named = Target::of(root).sha256;
    if trust.named.as_ref() != Some(&named) {
        let checked = match store {
            Ok(store) => check_same_chain(store, PLATFORM, &trust.trusted.root, root),
            Err(error) => Err(RepositoryError::Other(error_chain(error))),
        };
        checked.map_err(|error| {
            RepositoryError::Other(format!(
                "the root that was named to be trusted cannot be found among those that were trusted until now: {}; remove \
                 {} to forget what was verified and begin with it",
                error_chain(&error),
                folder.path().display()
            ))
        })?;
    }
    Ok(Trust { named: Some(named), ..trust.clone() })
}

/// Returns the error about a store without any trusted root.
pub(crate) fn untrusted(store: &dyn Store) -> RepositoryError {
    RepositoryError::Other(format!(
        "nothing says whom to trust in {}: others than its user can change it; name a copy of its {} that you trust \
         (`repository_root` in the settings of a node, `--repository-root` where releases are made)",
        store.place(),
        first_root()
    ))
}

impl Publisher<'_> {
    /// Begins to trust the repository, if it is not trusted yet. `root`: the platform's root, if the author has named one.
    /// `is_own`: nobody else can change the store.
    ///
    /// # Errors
    /// Nothing says whom to trust, the root is invalid, or what is trusted cannot be read or written.
    pub fn begin(&self, root: Option<&[u8]>, is_own: bool) -> Result<Option<Remark>, RepositoryError> {
        if let Some(trust) = self.trust.read(PLATFORM)? {
            if let Some(root) = root {
                self.trust.write(PLATFORM, &check_named_root(Ok(self.store), &trust, root, self.trust)?)?;
            }
            return Ok(None);
        }
        let (trust, remark) = first_trust(self.store, root, is_own)?;
        self.trust.write(PLATFORM, &trust)?;
        Ok(remark)
    }
}
