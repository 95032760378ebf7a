//! Mounts. A mount hides the files below it, contains files of foreign owners, and may show another folder of the node under
//! a granted path. So a grant names the whole mount: device, mount point, type and options, as `mount` lists them.

mod options;

use crate::denied::{Capability, Denied, literal_entry};
use crate::pattern::{Asked, NamePattern, Pattern};
use crate::policy::PolicyGrants;
use crate::proofs::{GrantedMount, GrantedPath};
use crate::rules::{Rule, Verdict};

/// The table of file systems that are mounted at boot.
const TABLE: &str = "/etc/fstab";

/// A mount that a policy asks for.
#[derive(Debug, Clone, Copy)]
pub struct MountAsked<'a> {
    /// The device as in the table of file systems.
    pub device: &'a str,
    /// The directory that is mounted on, as a resolved path.
    pub mount_point: &'a str,
    /// The kind of file system.
    pub kind: &'a str,
    /// Mount options, separated by commas, such as `ro,noexec`.
    pub options: &'a str,
}

/// A rule about mounts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MountPattern {
    device: NamePattern,
    mount_point: NamePattern,
    kind: NamePattern,
    /// The options, sorted and without repetitions.
    options: Vec<NamePattern>,
}

impl MountPattern {
    /// Parses a pattern, or returns the error.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not of the form `DEVICE on MOUNT_POINT type TYPE (OPTIONS)`");
        let words: Vec<&str> = text.split(' ').collect();
        let [device, "on", mount_point, "type", kind, options] = words.as_slice() else { return Err(wrong()) };
        let options = options.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).ok_or_else(wrong)?;
        let [device, mount_point, kind] = [device, mount_point, kind].map(|part| NamePattern::new(part));
        Ok(Self { device, mount_point, kind, options: set(options).into_iter().map(NamePattern::new).collect() })
    }

    pub(crate) fn matches(&self, asked: &MountAsked<'_>) -> bool {
        self.device.matches(asked.device)
            && self.mount_point.matches(asked.mount_point)
            && self.kind.matches(asked.kind)
            && self.matches_options(asked.options)
    }

    /// Tells whether the options are the same set. Each asked option must match one of the rule, and each exact option of the
    /// rule must be asked for. So `(nosuid)` does not allow a mount without it, or with `suid` after it.
    fn matches_options(&self, asked: &str) -> bool {
        let asked = set(asked);
        let is_named = |option: &str| self.options.iter().any(|rule| rule.matches(option));
        let is_asked = |rule: &NamePattern| !rule.is_exact() || asked.iter().any(|option| rule.matches(option));
        asked.iter().all(|option| is_named(option)) && self.options.iter().all(is_asked)
    }

    /// Tells whether a wildcard of the options stands for more than is known to be harmless, if the rule matches a mount.
    pub(crate) fn is_too_wide(&self, asked: &MountAsked<'_>) -> bool {
        !set(asked.options).into_iter().all(|option| self.allows_option(option, asked.kind))
    }

    /// Tells whether the rule has an option without wildcards, or a wildcard for a harmless one. A wildcard does not give an
    /// option another value than the one that the rule states, since `mount` takes the last value.
    fn allows_option(&self, option: &str, kind: &str) -> bool {
        let name = options::name(option);
        let is_stated = || self.options.iter().any(|rule| rule.is_exact() && options::name(rule.text()) == name);
        let is_written = |rule: &NamePattern| rule.text().strip_prefix(name).is_some_and(|rest| rest.starts_with('='));
        let mut matching = self.options.iter().filter(|rule| rule.matches(option));
        matching.any(|rule| rule.is_exact() || (!is_stated() && options::is_harmless(option, kind, is_written(rule))))
    }

    /// Tells whether no part of the rule has a wildcard.
    fn is_literal(&self) -> bool {
        self.is_exact() && self.options.iter().all(NamePattern::is_exact)
    }

    /// Tells whether device, mount point and type have no wildcards.
    pub(crate) fn is_exact(&self) -> bool {
        [&self.device, &self.mount_point, &self.kind].into_iter().all(NamePattern::is_exact)
    }

    /// Tells whether this pattern matches every mount that the other one matches. If in doubt, returns false.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        self.device.covers(&other.device)
            && self.mount_point.covers(&other.mount_point)
            && self.kind.covers(&other.kind)
            && self.options == other.options
    }

    /// Returns the whole pattern as one text, to compute how specific it is.
    pub(crate) fn text(&self) -> String {
        let options: Vec<&str> = self.options.iter().map(NamePattern::text).collect();
        let (device, place, kind) = (self.device.text(), self.mount_point.text(), self.kind.text());
        format!("{device} on {place} type {kind} ({})", options.join(","))
    }
}

/// Tells whether a text has a character as an octal number. In the table of file systems that can be a comma, which would
/// turn one option into two.
fn has_escape(text: &str) -> bool {
    text.split('\\').skip(1).any(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
}

/// Tells whether options are read differently by `mount`, which takes commas between quotation marks and after a backslash for
/// parts of a value. A backslash before a letter is plain, as in `username=TEAM\\ann`.
fn hides_commas(options: &str) -> bool {
    let is_plain = |rest: &str| rest.starts_with(|first: char| first.is_ascii_alphabetic());
    options.contains('"') || !options.split('\\').skip(1).all(is_plain)
}

/// Returns the options, sorted and without repetitions.
fn set(options: &str) -> Vec<&str> {
    let mut options: Vec<&str> = options.split(',').filter(|option| !option.is_empty()).collect();
    options.sort_unstable();
    options.dedup();
    options
}

impl PolicyGrants {
    /// Checks whether the policy may mount and unmount this, and enter it in the table of file systems.
    ///
    /// # Errors
    /// The mount is not granted; or a part contains characters that would make it look like another mount, or end its line.
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
            || [kind, options].iter().any(|part| part.contains(['(', ')']) || has_escape(part))
            || (!self.allows_everything() && hides_commas(options))
        {
            let reason = "a part of it is empty, begins with `-`, or holds white space, a bracket, a quotation mark, a \
                          backslash or a sign by its number";
            return Err(self.refuse_with(Capability::Mounts, &shown, None, Some(reason.into())));
        }
        self.decide(Capability::Mounts, Asked::Mount(asked), &shown, || self.is_privileged(mount_point))?;
        Ok(mount)
    }

    /// Checks whether a granted mount may be entered in the table of file systems, from which the machine mounts at its next
    /// start. A mount that fails there ends the start in the emergency mode, with no service of any policy. So its options
    /// must have `nofail` or `noauto`, unless a rule names all of it without wildcards.
    ///
    /// # Errors
    /// The mount could stop the start.
    pub fn mount_at_start(&self, mount: &GrantedMount) -> Result<(), Denied> {
        let GrantedMount { device, mount_point, kind, options } = mount;
        let asked = MountAsked { device, mount_point, kind, options };
        let names_all = |rule: &Rule| match &rule.pattern {
            Pattern::Mount(pattern) => rule.allow && pattern.is_literal() && pattern.matches(&asked),
            _ => false,
        };
        if self.allows_everything()
            || options::may_fail_at_start(options)
            || self.list(Capability::Mounts).iter().any(names_all)
        {
            return Ok(());
        }
        let shown = mount.to_string();
        let reason = "at the next start a mount that fails stops the machine: add the option `nofail`, or let the grants name \
                      the whole mount without wildcards";
        Err(self.refuse_with(Capability::Mounts, &shown, Some(literal_entry(&shown)), Some(reason.into())))
    }

    /// Checks whether the line of a granted mount may be written to this resolved path. The table of file systems needs no
    /// further grant, unless a rule refuses it. The caller changes only that line.
    ///
    /// # Errors
    /// The path is another one and not granted, or a rule refuses it.
    pub fn mount_table(&self, mount: &GrantedMount, path: &str) -> Result<GrantedPath, Denied> {
        let rules = self.list(Capability::Paths);
        if path != TABLE || matches!(rules.decide(self.as_path(path), || false), Verdict::Refused(_)) {
            return self.manage_path(path);
        }
        self.allow(Capability::Mounts, &mount.to_string(), path)?;
        Ok(GrantedPath(path.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rule: &str, options: &str, expect: bool) {
        let rule = MountPattern::new(&format!("tmpfs on /srv/* type tmpfs ({rule})")).unwrap();
        let asked = MountAsked { device: "tmpfs", mount_point: "/srv/x", kind: "tmpfs", options };
        assert_eq!(rule.matches(&asked) && !rule.is_too_wide(&asked), expect, "{options}");
    }

    #[test]
    fn mount_options_are_compared_as_sets() {
        check("nosuid,noatime", "noatime,nosuid", true);
        check("nosuid,noatime", "noatime,,nosuid,noatime", true);
        check("nosuid,noatime", "noatime", false);
        check("nosuid", "nosuid,noatime", false);
        check("nosuid,*", "nosuid,noatime,size=1m", true);
        check("nosuid,size=*", "nosuid,size=1m", true);
        check("nosuid*", "nosuid", true);
        check("defaults", "defaults", true);
        for rule in ["nosuid*", "nosuid,*", "nosuid,*id", "nosuid,?uid"] {
            check(rule, "nosuid,suid", false);
        }
        for wide in ["suid", "dev", "exec", "defaults", "bind", "remount", "x-systemd.requires=x", "uid=0", "rw"] {
            check("nosuid,*", &format!("nosuid,{wide}"), false);
            check(&format!("nosuid,{wide}"), &format!("{wide},nosuid"), true);
        }
        check("nosuid,uid=*", "nosuid,uid=33", true);
        check("nosuid,size=1m,*", "nosuid,size=1m,noatime", true);
    }

    #[test]
    fn attack_a_wildcard_does_not_change_what_the_rule_states() {
        check("nosuid,size=1m,*", "nosuid,size=1m,size=9g", false);
        check("nosuid,nosymfollow,*", "nosuid,nosymfollow,symfollow", false);
        check("nosuid,size=*", "nosuid,size=/srv/a:/srv/b", false);
        check("nosuid,size=*", "nosuid,size=nonsense", false);
        check("nosuid,ip=*", "nosuid,ip=203.0.113.6", false);
    }

    /// A refusal with a wildcard reaches all that it matches, harmless or not.
    #[test]
    fn attack_a_refusal_of_options_reaches_all_of_them() {
        let rules = "[policy.web]\nmounts = [\"tmpfs on /srv/* type tmpfs (exec)\"]\n\
                     deny_mounts = [\"tmpfs on /srv/x type tmpfs (*)\"]\n";
        let grants = crate::Grants::parse(rules, "grants.toml").unwrap().policy("web", &[]);
        let asked = MountAsked { device: "tmpfs", mount_point: "/srv/y", kind: "tmpfs", options: "exec" };
        let _granted = grants.mount(&asked).unwrap();
        let denied = grants.mount(&MountAsked { mount_point: "/srv/x", ..asked }).unwrap_err();
        assert!(denied.reason.unwrap().contains("refuses it"));
    }

    /// `mount` takes `comment=",nosuid,comment="` for one option.
    #[test]
    fn attack_quotes_and_backslashes_hide_no_option() {
        let grants = "[policy.web]\nmounts = [\"team on /srv/x type tmpfs (nosuid,*)\", \
                      \"team on /srv/x type tmpfs (nosuid,comment=a[*])\"]\n";
        let grants = crate::Grants::parse(grants, "grants.toml").unwrap().policy("web", &[]);
        for options in ["comment=\",nosuid,comment=\"", "comment=\\,nosuid", "nosuid,comment=a\\", "nosuid,a\\\\b"] {
            let asked = MountAsked { device: "team", mount_point: "/srv/x", kind: "tmpfs", options };
            let denied = grants.mount(&asked).unwrap_err();
            assert!(denied.reason.unwrap().contains("a quotation mark, a backslash"), "{options}");
        }
        assert!(!hides_commas("username=TEAM\\ann,ro"));
        let all = crate::Grants::allow_all().policy("web", &[]);
        let context = "context=\"system_u:object_r:tmp_t:s0:c1,c2\"";
        let asked = MountAsked { device: "team", mount_point: "/srv/x", kind: "tmpfs", options: context };
        let _granted = all.mount(&asked).unwrap();
    }

    #[test]
    fn attack_an_entry_of_the_table_does_not_stop_the_start() {
        let grants = "[policy.web]\nmounts = [\"tmpfs on /srv/x type tmpfs (nosuid,*)\", \"tmpfs on /srv/* type tmpfs (ro)\", \
                      \"tmpfs on /srv/y type tmpfs (nosuid,size=1m)\"]\n";
        let grants = crate::Grants::parse(grants, "grants.toml").unwrap().policy("web", &[]);
        for (mount_point, options, expect) in [
            ("/srv/x", "nosuid,size=1m", false),
            ("/srv/x", "nosuid,size=1m,nofail", true),
            ("/srv/x", "nosuid,noauto", true),
            ("/srv/x", "nosuid,noauto,auto", false),
            ("/srv/y", "size=1m,nosuid", true),
            ("/srv/z", "ro", false),
        ] {
            let granted = grants.mount(&MountAsked { device: "tmpfs", mount_point, kind: "tmpfs", options }).unwrap();
            let checked = grants.mount_at_start(&granted);
            assert_eq!(checked.is_ok(), expect, "{mount_point} {options}");
            let entry = format!("\"tmpfs on {mount_point} type tmpfs ({options})\"");
            assert!(checked.err().is_none_or(|denied| denied.value == Some(entry)), "{mount_point} {options}");
        }
    }

    /// The table of file systems has `\\054` for a comma, so that one granted option would be several.
    #[test]
    fn attack_a_comma_by_its_number_is_no_part_of_an_option() {
        let grants = "[policy.web]\nmounts = [\"tmpfs on /srv/x type tmpfs (nosuid,size=*)\"]\n";
        let grants = crate::Grants::parse(grants, "grants.toml").unwrap().policy("web", &[]);
        let asked = |options| MountAsked { device: "tmpfs", mount_point: "/srv/x", kind: "tmpfs", options };
        let _granted = grants.mount(&asked("nosuid,size=1m")).unwrap();
        grants.mount(&asked("nosuid,size=1m\\054suid")).unwrap_err();
        assert!(!has_escape("username=TEAM\\ann") && has_escape("a\\b\\040"));
    }

    #[test]
    fn mount_rules_have_one_form() {
        for bad in ["*", "a on b", "a on b type c", "a on b type c d", "a on b type c (d) e", "a  on b type c (d)"] {
            assert!(MountPattern::new(bad).is_err(), "{bad}");
        }
        assert_eq!(MountPattern::new("a on /b type c (e,d)").unwrap().text(), "a on /b type c (d,e)");
    }
}
