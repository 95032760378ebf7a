//! Checks of paths: managing, reading, whole trees, set-id bits, and the files of `cron_d` jobs.

use crate::denied::{Capability, Denied, literal_entry};
use crate::pattern::{Asked, Pattern};
use crate::policy::PolicyGrants;
use crate::privileged::{self, Standing};
use crate::proofs::{GrantedMode, GrantedName, GrantedPath, GrantedService, GrantedTree, ReadablePath};
use crate::reach;
use crate::rules::{Rule, Verdict};
use crate::signs::literal_pattern;
use text::toml_string;

/// Set-user-id and set-group-id, as bits of a file's mode.
const SET_ID_BITS: u32 = 0o6000;

/// The folder of `cron_d` files.
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

    /// Returns a resolved path in the form that rules compare.
    pub(crate) fn as_path<'a>(&'a self, path: &'a str) -> Asked<'a> {
        Asked::Path(path, &self.homes)
    }

    /// Tells whether a path is one of wrun's own places, or is below or above one.
    fn meets_own_places(&self, path: &str) -> bool {
        let own = &self.own_places;
        privileged::meets(path, &own.data) || privileged::meets(path, &own.code)
    }

    /// Tells whether the file at this resolved path is special: root runs it, reads it as code or trusts it, or it belongs to
    /// wrun. For files that the host creates by itself, at places where somebody else may have put a link.
    pub fn guards(&self, path: &str) -> bool {
        self.is_privileged(path)
    }

    /// Checks whether the policy may create, change and remove the file at this path. The path must be resolved inside the
    /// root: it is absolute, and no component except the last is a link. So a link in a granted directory gives no right to
    /// its target.
    ///
    /// For a hard link this check is not enough: the other name leads to the same file, so its path must be checked too.
    ///
    /// # Errors
    /// The path is not granted; or it is privileged, and the rule has wildcards and is not in `privileged_paths`.
    pub fn manage_path(&self, path: &str) -> Result<GrantedPath, Denied> {
        self.decide(Capability::Paths, self.as_path(path), path, || self.is_privileged(path))?;
        Ok(GrantedPath(path.into()))
    }

    /// Checks whether the policy may give other users a directory above a path in the table of file systems. They could
    /// replace the directories on the way, and the next start would mount there as root.
    ///
    /// # Errors
    /// The directory is not granted, or only by a rule with wildcards outside `privileged_paths`.
    pub fn give_way_to_boot_mounts(&self, path: &str) -> Result<GrantedPath, Denied> {
        self.decide(Capability::Paths, self.as_path(path), path, || true)?;
        Ok(GrantedPath(path.into()))
    }

    /// Checks whether the policy may rename or remove a directory with its whole content, without knowing the names in it.
    ///
    /// # Errors
    /// As [`manage_path`](Self::manage_path); or the rule does not cover everything below the directory, another rule refuses
    /// a path there, or a privileged path is there.
    pub fn manage_tree(&self, path: &str) -> Result<GrantedTree, Denied> {
        let rules = self.list(Capability::Paths);
        let refuses_below = |rule: &&Rule| {
            let Pattern::Path(pattern) = &rule.pattern else { return false };
            !rule.allow && pattern.may_match_below(path)
        };
        let refusing = rules.iter().find(refuses_below);
        // One entry allows the directory and its content, so without any rule one denial is recorded for both.
        let is_unheard = !self.allows_everything()
            && refusing.is_none()
            && matches!(rules.decide(self.as_path(path), || self.is_privileged(path)), Verdict::Unheard);
        if !is_unheard {
            let _directory = self.manage_path(path)?;
        }
        let below = Some(toml_string(&format!("{}/**", literal_pattern(path.trim_end_matches('/')))));
        let privileged =
            privileged::lies_below(path) || self.meets_own_places(path) || self.touches_anothers_cache(path);
        let capability = if privileged { Capability::PrivilegedPaths } else { Capability::Paths };
        if self.allows_everything() {
            self.uses(capability.key(), below);
            return Ok(GrantedTree(path.into()));
        }
        if let Some(rule) = refusing {
            let reason = format!("{} refuses `{}` below it", self.line(rule.line), rule.text);
            return Err(self.refuse_with(capability, path, None, Some(reason)));
        }
        if is_unheard {
            // The policy gets the denial of the directory itself, whose words do not depend on what the path leads to.
            let of_both = self.refused(self.refuse_with(capability, path, below, None));
            let of_directory = || self.denial(Capability::Paths, path, Some(literal_entry(path)), None);
            return of_both.map(|()| GrantedTree(path.into())).map_err(|_| of_directory());
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
            self.refused(self.refuse_with(capability, path, below, Some(reason)))?;
            Ok(GrantedTree(path.into()))
        }
    }

    /// Returns the denial of changing a file by a granted name, because the file has other names that are not granted.
    pub fn refuse_other_names(&self, path: &str) -> Denied {
        let reason = "the file has other names, and the policy may not manage all of them".to_owned();
        self.refuse_with(Capability::Paths, path, None, Some(reason))
    }

    /// Checks whether an entry may be changed together with a granted directory above it. Keys and similar files (`.ssh`)
    /// need their own rule everywhere, and hidden names in homes need a rule that names them. For callers that know the
    /// names.
    ///
    /// # Errors
    /// The entry is privileged, and the rule for the directory is too wide to cover it.
    pub fn manage_below(&self, tree: &GrantedTree, name: &str) -> Result<(), Denied> {
        let path = format!("{}/{name}", tree.path().trim_end_matches('/'));
        let asked = self.as_path(&path);
        let is_hidden = matches!(self.list(Capability::Paths).decide(asked, || false), Verdict::TooWide(..));
        if !self.is_privileged(&path) && !is_hidden {
            return Ok(());
        }
        self.manage_path(&path).map(drop)
    }

    /// Checks whether the policy may read the file at this resolved path. It may read what it may manage, and also its own
    /// new content during verification.
    ///
    /// # Errors
    /// The path is not granted, or `deny_read_paths` refuses it; or it is a secret (`/etc/shadow`, private keys), and the
    /// rule has wildcards.
    pub fn read_path(&self, path: &str) -> Result<ReadablePath, Denied> {
        if self.is_verified_now(path) {
            return Ok(ReadablePath(path.into()));
        }
        let asked = self.as_path(path);
        let refused = matches!(self.list(Capability::ReadPaths).decide(asked, || false), Verdict::Refused(_));
        let managed = self.list(Capability::Paths).decide(asked, || self.is_privileged(path));
        // A rule that denies reading overrides one that allows changing. A policy that may replace a file can do without
        // reading it.
        if let Verdict::Allowed(rule) = managed
            && !refused
        {
            self.allow(Capability::ReadPaths, path, &rule.text)?;
        } else if !refused && self.is_open_in_survey(path) {
            self.allow(Capability::ReadPaths, path, self.beyond_rules())?;
        } else {
            self.decide(Capability::ReadPaths, asked, path, || self.is_secret(path))?;
        }
        Ok(ReadablePath(path.into()))
    }

    /// Checks whether a file may get another path: a file that the policy may not read must not become readable by a rename.
    ///
    /// # Errors
    /// The policy may read the new path, but not the old one.
    pub fn read_under_another_name(&self, old: &str, new: &str) -> Result<(), Denied> {
        // In a survey, more may be readable a moment later: other users may open their folders.
        let stays_unread = !self.is_survey() && !self.is_verified_now(new) && self.may_look(new).is_none();
        if stays_unread { Ok(()) } else { self.read_path(old).map(drop) }
    }

    /// Tells whether the policy may not read some paths that it may manage. Then a rename of a directory must check all names
    /// in it.
    pub fn refuses_reads(&self) -> bool {
        self.is_survey() || self.list(Capability::ReadPaths).iter().any(|rule| !rule.allow)
    }

    /// Returns the right to read this resolved path for a lookup that the policy did not ask for, such as a link's target.
    /// Returns `None` if the policy may not read there. Nothing is recorded, since the result is not a denial.
    pub fn may_look(&self, path: &str) -> Option<ReadablePath> {
        let by_rules = self.reading_by_rules(path);
        let is_readable = self.is_unlimited() || by_rules.unwrap_or_else(|| self.is_open_in_survey(path));
        is_readable.then(|| ReadablePath(path.into()))
    }

    /// Returns the decision of the rules about reading a path, or `None` without a rule for it.
    fn reading_by_rules(&self, path: &str) -> Option<bool> {
        let asked = self.as_path(path);
        match self.list(Capability::ReadPaths).decide(asked, || self.is_secret(path)) {
            Verdict::Allowed(_) => Some(true),
            Verdict::Refused(_) => Some(false),
            Verdict::TooWide(..) | Verdict::Unheard => {
                let managed = self.list(Capability::Paths).decide(asked, || self.is_privileged(path));
                matches!(managed, Verdict::Allowed(_)).then_some(true)
            }
        }
    }

    /// Tells whether this is a survey in which the policy reads this resolved path without a rule, as every user may.
    pub fn reads_as_every_user(&self, path: &str) -> bool {
        self.is_survey() && !self.is_verified_now(path) && self.reading_by_rules(path) != Some(true)
    }

    /// Checks whether the policy may set these permission bits at a granted path. Set-id bits on files need their own rule,
    /// since such a file runs with its owner's rights. On directories they give no rights. Without that rule, the proof is
    /// valid for a directory only, and the effect must check the handle that it has opened.
    ///
    /// # Errors
    /// The mode has set-id bits that are not granted.
    pub fn file_mode(&self, path: &GrantedPath, mode: u32, is_directory: bool) -> Result<GrantedMode, Denied> {
        let has_set_id = mode & SET_ID_BITS != 0;
        if has_set_id && !is_directory {
            self.decide(Capability::SetId, self.as_path(path.path()), path.path(), || false)?;
        }
        Ok(GrantedMode { bits: mode & 0o7777, only_directory: has_set_id && is_directory, path: path.path().into() })
    }

    /// Checks whether the policy may install this package file. Its scripts run as root, so a right to the package's name is
    /// not enough.
    ///
    /// # Errors
    /// Not granted.
    pub fn package_source(&self, path: &str) -> Result<ReadablePath, Denied> {
        self.decide(Capability::PackageSources, self.as_path(path), path, || false)?;
        Ok(ReadablePath(path.into()))
    }

    /// Checks whether the policy may write this file below `/etc/cron.d` for a job of this user. That needs either a grant of
    /// the exact path, which allows any content, or the user in `cron_users`. A wildcard there covers neither root nor system
    /// users. The caller writes the line, and must refuse line breaks in all fields.
    ///
    /// # Errors
    /// Neither the path nor the user is granted.
    pub fn cron_entry(&self, path: &str, user: &str, standing: Standing) -> Result<GrantedPath, Denied> {
        let managed = self.list(Capability::Paths).decide(self.as_path(path), || self.is_privileged(path));
        let plain_name = path.strip_prefix(CRON_DIRECTORY).is_some_and(|name| !name.is_empty() && !name.contains('/'));
        match managed {
            Verdict::Refused(_) => return self.manage_path(path),
            Verdict::Allowed(_) if !self.allows_everything() => return self.manage_path(path),
            // A policy with all rights also needs only this right for a job, because suggestions are based on it.
            _ if !plain_name || (self.allows_everything() && user.bytes().all(|byte| byte.is_ascii_digit())) => {
                return self.manage_path(path);
            }
            _ => {}
        }
        let _user = self.account(Capability::CronUsers, user, standing)?;
        Ok(GrantedPath(path.into()))
    }

    /// Checks whether the policy may change a user's crontab: the user must be in `cron_users`. A wildcard there covers
    /// neither root nor system users. The caller writes the job, and must refuse line breaks in all fields.
    ///
    /// # Errors
    /// Not granted.
    pub fn crontab(&self, user: &str, standing: Standing) -> Result<GrantedName, Denied> {
        self.account(Capability::CronUsers, user, standing).map(GrantedName)
    }

    /// Checks whether links that enable or mask a granted service may be created at this path. Allowed are the unit's own
    /// name in `/etc/systemd/system`, the same in a `.wants` or `.requires` directory there, and such a directory itself. A
    /// right to a service is the right to start it, not to define the programs that it starts. So the caller creates only
    /// directories and links to existing units.
    ///
    /// # Errors
    /// The path is another one and not granted, or a rule refuses it.
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
    // The name of a socket, timer or path says what it is.
    let is_service = privileged::unit_stem(service.name()) == service.name();
    let unit = if is_service { format!("{}.service", service.name()) } else { service.name().to_owned() };
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
