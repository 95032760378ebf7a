//! Mounts. What is mounted hides what was there, brings files of foreign owners, and may be another folder of the same node
//! under a name that is granted, so a mount is granted whole: device, place, kind and options, as `mount` lists them.

use crate::denied::{Capability, Denied};
use crate::pattern::Asked;
use crate::policy::PolicyGrants;
use crate::proofs::{GrantedMount, GrantedPath};
use crate::rules::Verdict;

/// The table of what is mounted at boot.
const TABLE: &str = "/etc/fstab";

/// A mount that is asked for.
#[derive(Debug, Clone, Copy)]
pub struct MountAsked<'a> {
    /// As the table of file systems names it.
    pub device: &'a str,
    /// Resolved.
    pub mount_point: &'a str,
    /// The kind of file system.
    pub kind: &'a str,
    /// Separated by commas.
    pub options: &'a str,
}

impl PolicyGrants {
    /// Whether the policy may mount this, unmount it, and enter it in the table of file systems.
    ///
    /// # Errors
    /// Not granted; or a part holds what would make it look like another mount, or end its line.
    pub fn mount(&self, asked: &MountAsked<'_>) -> Result<GrantedMount, Denied> {
        let MountAsked { device, mount_point, kind, options } = *asked;
        let mount = GrantedMount {
            device: device.into(),
            mount_point: mount_point.into(),
            kind: kind.into(),
            options: options.into(),
        };
        let shown = mount.to_string();
        let odd = |part: &&str| {
            part.is_empty() || part.starts_with('-') || part.contains(|c: char| c.is_whitespace() || c.is_control())
        };
        if [device, mount_point, kind, options].iter().any(odd)
            || [kind, options].iter().any(|part| part.contains(['(', ')']))
        {
            let reason = "a part of it is empty, begins with `-` or holds white space";
            return Err(self.refuse_with(Capability::Mounts, &shown, None, Some(reason.into())));
        }
        self.decide(Capability::Mounts, Asked::Text(&shown), &shown, || false)?;
        Ok(mount)
    }

    /// Whether the line of a granted mount may be written at this resolved path: into the table of file systems, where no
    /// rule refuses that. The caller changes that line alone.
    ///
    /// # Errors
    /// It is another path and not granted, or a rule refuses it.
    pub fn mount_table(&self, mount: &GrantedMount, path: &str) -> Result<GrantedPath, Denied> {
        let rules = self.list(Capability::Paths);
        if path != TABLE || matches!(rules.decide(Asked::Text(path), || false), Verdict::Refused(_)) {
            return self.manage_path(path);
        }
        self.allow(Capability::Mounts, &mount.to_string(), path)?;
        Ok(GrantedPath(path.into()))
    }
}
