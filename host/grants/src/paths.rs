//! Paths: managing, reading, whole trees, set-id bits, and the files through which `cron_d` runs commands.

use crate::denied::{Capability, Denied};
use crate::pattern::{Asked, Pattern};
use crate::policy::PolicyGrants;
use crate::privileged::{self, Standing};
use crate::proofs::{GrantedMode, GrantedName, GrantedPath, GrantedService, GrantedTree, ReadablePath};
use crate::reach;
use crate::rules::Verdict;
use crate::signs::literal_pattern;
use text::toml_string;

/// Set-user-id and set-group-id, as bits of a file's mode.
const SET_ID_BITS: u32 = 0o6000;

/// Where `cron_d` puts its files.
const CRON_DIRECTORY: &str = "/etc/cron.d/";

impl PolicyGrants {
    pub(crate) fn is_privileged(&self, path: &str) -> bool {
        privileged::path(path)
            || reach::decides_in_home(path, &self.homes)
            || self.meets_own_places(path)
            || self.is_anothers_cache(path)
    }

    pub(crate) fn is_secret(&self, path: &str) -> bool {
        privileged::secret(path) || privileged::lies_in(path, &self.own_places.data) || self.is_anothers_cache(path)
    }

    /// A resolved path as the rules see it.
    pub(crate) fn as_path<'a>(&'a self, path: &'a str) -> Asked<'a> {
        Asked::Path(path, &self.homes)
    }

    /// Whether a path is one of wrun's own places, lies below one, or leads to one.
    fn meets_own_places(&self, path: &str) -> bool {
        let own = &self.own_places;
        privileged::meets(path, &own.data) || privileged::meets(path, &own.code)
    }

    /// Whether what stands at this resolved path is more than a file: what root runs, reads as code or trusts, or wrun's
    /// own. For what the host makes unasked, where somebody else may have laid a link.
    pub fn guards(&self, path: &str) -> bool {
        self.is_privileged(path)
    }

    /// Whether the policy may create, change and remove what is at this path. The path must be resolved inside the root:
    /// absolute, and no component but the last a link. So a link that was put into a granted directory does not lead to
    /// what it points at.
    ///
    /// Not for hard links alone: the other name is a way to change the same file, so its path must be asked for too.
    ///
    /// # Errors
    /// Not granted; or privileged, and the rule has wildcards and does not stand in `privileged_paths`.
    pub fn manage_path(&self, path: &str) -> Result<GrantedPath, Denied> {
        self.decide(Capability::Paths, self.as_path(path), path, || self.is_privileged(path))?;
        Ok(GrantedPath(path.into()))
    }

    /// Whether the policy may give a directory to others that leads to what the table of file systems names: they could exchange
    /// what leads there, and the next start would mount it, as root, where they want.
    ///
    /// # Errors
    /// Not granted, or by a rule with wildcards that does not stand in `privileged_paths`.
    pub fn give_way_to_boot_mounts(&self, path: &str) -> Result<GrantedPath, Denied> {
        self.decide(Capability::Paths, self.as_path(path), path, || true)?;
        Ok(GrantedPath(path.into()))
    }

    /// Whether the policy may rename or remove a directory with all that is in it, unseen.
    ///
    /// # Errors
    /// As [`manage_path`](Self::manage_path); or the rule does not cover all below the directory, another rule refuses
    /// something there, or something privileged lies there.
    pub fn manage_tree(&self, path: &str) -> Result<GrantedTree, Denied> {
        let _root_of_tree = self.manage_path(path)?;
        let below = Some(toml_string(&format!("{}/**", literal_pattern(path.trim_end_matches('/')))));
        let privileged =
            privileged::lies_below(path) || self.meets_own_places(path) || self.touches_anothers_cache(path);
        let capability = if privileged { Capability::PrivilegedPaths } else { Capability::Paths };
        if self.everything {
            self.uses(capability.key(), below);
            return Ok(GrantedTree(path.into()));
        }
        let rules = self.list(Capability::Paths);
        for rule in rules.iter() {
            if let Pattern::Path(pattern) = &rule.pattern
                && !rule.allow
                && pattern.may_match_below(path)
            {
                let reason = format!("{} refuses `{}` below it", self.line(rule.line), rule.text);
                return Err(self.refuse_with(capability, path, None, Some(reason)));
            }
        }
        let covers = rules.iter().any(|rule| {
            let Pattern::Path(pattern) = &rule.pattern else { return false };
            let reaches = rule.privileged || (!privileged && rule.pattern.too_wide(self.as_path(path)).is_none());
            rule.allow && reaches && pattern.covers_below() && pattern.matches(path)
        });
        if covers {
            self.uses(capability.key(), below);
            Ok(GrantedTree(path.into()))
        } else {
            let reason = "the grant does not cover all that is below it".to_owned();
            Err(self.refuse_with(capability, path, below, Some(reason)))
        }
    }

    /// The refusal to change a file by a granted name, since it has others that the policy may not manage.
    pub fn refuse_other_names(&self, path: &str) -> Denied {
        let reason = "the file has other names, and the policy may not manage all of them".to_owned();
        self.refuse_with(Capability::Paths, path, None, Some(reason))
    }

    /// Whether what has this name may be changed with a granted directory that it lies in: keys and what they open
    /// (`.ssh`) need a rule of their own wherever they are, and hidden names in homes one that names them. For whoever can see the names.
    ///
    /// # Errors
    /// It is privileged, and the rule that grants the directory is too wide to reach it.
    pub fn manage_below(&self, tree: &GrantedTree, name: &str) -> Result<(), Denied> {
        let path = format!("{}/{name}", tree.path().trim_end_matches('/'));
        let asked = self.as_path(&path);
        let is_hidden = matches!(self.list(Capability::Paths).decide(asked, || false), Verdict::TooWide(..));
        if !self.is_privileged(&path) && !is_hidden {
            return Ok(());
        }
        self.manage_path(&path).map(drop)
    }

    /// Whether the policy may read what is at this resolved path. What it may manage it may read, and new content of its own
    /// while it verifies that.
    ///
    /// # Errors
    /// Not granted, or `deny_read_paths` refuses it; or a secret (`/etc/shadow`, private keys), and the rule has wildcards.
    pub fn read_path(&self, path: &str) -> Result<ReadablePath, Denied> {
        if self.is_verified_now(path) {
            return Ok(ReadablePath(path.into()));
        }
        let asked = self.as_path(path);
        let refused = matches!(self.list(Capability::ReadPaths).decide(asked, || false), Verdict::Refused(_));
        let managed = self.list(Capability::Paths).decide(asked, || self.is_privileged(path));
        // A rule against reading is worth more than one for changing: what may be changed could be read in its place.
        if let Verdict::Allowed(rule) = managed
            && !refused
        {
            self.allow(Capability::ReadPaths, path, &rule.text)?;
        } else {
            self.decide(Capability::ReadPaths, asked, path, || self.is_secret(path))?;
        }
        Ok(ReadablePath(path.into()))
    }

    /// The right to give what is at one resolved path another name: what may not be read must not become readable by it.
    ///
    /// # Errors
    /// The policy may read what is at the new path, and not what is at the old one.
    pub fn read_under_another_name(&self, old: &str, new: &str) -> Result<(), Denied> {
        if self.may_look(new).is_none() { Ok(()) } else { self.read_path(old).map(drop) }
    }

    /// Whether a rule refuses this policy to read something: then the names below a directory matter that is renamed.
    pub fn refuses_reads(&self) -> bool {
        !self.everything && self.list(Capability::ReadPaths).iter().any(|rule| !rule.allow)
    }

    /// The right to look at what is at this resolved path, where nobody asked to: what a link leads to. `None`: the policy may
    /// not read there. Nothing is written down, since its absence is not a denial.
    pub fn may_look(&self, path: &str) -> Option<ReadablePath> {
        let asked = self.as_path(path);
        let read = self.list(Capability::ReadPaths).decide(asked, || self.is_secret(path));
        let managed = self.list(Capability::Paths).decide(asked, || self.is_privileged(path));
        let granted = match read {
            Verdict::Allowed(_) => true,
            Verdict::Refused(_) => false,
            _ => matches!(managed, Verdict::Allowed(_)),
        };
        (self.everything || granted).then(|| ReadablePath(path.into()))
    }

    /// Whether the policy may give these permission bits to what is at a granted path. Set-id bits on files need a rule
    /// of their own, since such a file lends its owner's rights to whoever starts it. On directories they lend nothing:
    /// without that rule, the proof holds for a directory only, and the effect must look at the handle it has opened.
    ///
    /// # Errors
    /// The bits hold set-id bits that are not granted.
    pub fn file_mode(&self, path: &GrantedPath, mode: u32, is_directory: bool) -> Result<GrantedMode, Denied> {
        let has_set_id = mode & SET_ID_BITS != 0;
        if has_set_id && !is_directory {
            self.decide(Capability::SetId, self.as_path(path.path()), path.path(), || false)?;
        }
        Ok(GrantedMode { bits: mode & 0o7777, only_directory: has_set_id && is_directory, path: path.path().into() })
    }

    /// Whether the policy may have this package file installed. What is in it runs as root, so the right to a package's
    /// name is not a right to it.
    ///
    /// # Errors
    /// Not granted.
    pub fn package_source(&self, path: &str) -> Result<ReadablePath, Denied> {
        self.decide(Capability::PackageSources, self.as_path(path), path, || false)?;
        Ok(ReadablePath(path.into()))
    }

    /// Whether the policy may write this file below `/etc/cron.d` for a job that runs as this user: it may write any
    /// content there (its exact path is granted), or `cron_users` has the user, which reaches neither root nor
    /// users of the system by a wildcard. The caller writes the line, and must refuse line breaks in every field of it.
    ///
    /// # Errors
    /// Neither is granted.
    pub fn cron_entry(&self, path: &str, user: &str, standing: Standing) -> Result<GrantedPath, Denied> {
        let managed = self.list(Capability::Paths).decide(self.as_path(path), || self.is_privileged(path));
        let plain_name = path.strip_prefix(CRON_DIRECTORY).is_some_and(|name| !name.is_empty() && !name.contains('/'));
        match managed {
            Verdict::Refused(_) => return self.manage_path(path),
            Verdict::Allowed(_) if !self.everything => return self.manage_path(path),
            // Whoever may do everything needs no more than this for a job either: suggestions are made of it.
            _ if !plain_name || (self.everything && user.bytes().all(|byte| byte.is_ascii_digit())) => {
                return self.manage_path(path);
            }
            _ => {}
        }
        let _user = self.account(Capability::CronUsers, user, standing)?;
        Ok(GrantedPath(path.into()))
    }

    /// Whether the policy may change a user's crontab: `cron_users` has the user, which reaches neither root nor
    /// users of the system by a wildcard. The caller writes the job, and must refuse line breaks in every field of it.
    ///
    /// # Errors
    /// Not granted.
    pub fn crontab(&self, user: &str, standing: Standing) -> Result<GrantedName, Denied> {
        self.account(Capability::CronUsers, user, standing).map(GrantedName)
    }

    /// Whether links that enable or mask a granted service may be made at this path: the unit's own name in
    /// `/etc/systemd/system`, the same in a `.wants` or `.requires` directory there, and such a directory itself. The
    /// right to a service is the right to have it started, and not the right to say what it starts: the caller makes
    /// links to units that exist, and directories, nothing else.
    ///
    /// # Errors
    /// It is another path and not granted, or a rule refuses it.
    pub fn unit_link(&self, service: &GrantedService, path: &str) -> Result<GrantedPath, Denied> {
        let rules = self.list(Capability::Paths);
        if matches!(rules.decide(self.as_path(path), || false), Verdict::Refused(_)) || !is_unit_link(service, path) {
            return self.manage_path(path);
        }
        self.allow(Capability::Services, service.name(), path)?;
        Ok(GrantedPath(path.into()))
    }
}

fn is_unit_link(service: &GrantedService, path: &str) -> bool {
    let unit = format!("{}.service", service.name());
    let is_group = |directory: &str| {
        let name = directory.strip_suffix(".wants").or_else(|| directory.strip_suffix(".requires"));
        name.is_some_and(|name| !name.is_empty())
    };
    let Some(inner) = path.strip_prefix("/etc/systemd/system/") else { return false };
    match inner.split_once('/') {
        Some((directory, name)) => is_group(directory) && name == unit,
        None => inner == unit || is_group(inner),
    }
}
