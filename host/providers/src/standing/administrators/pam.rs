//! PAM: groups that become root by `su` without a password, and the files that give users groups and capabilities.
//!
//! Of a stack of modules, only lines are read that may end the question who somebody is: those of type `auth` whose success
//! suffices, or that skip others.

use super::Administrators;
use grants::Standing;
use machine::root::Root;
use std::collections::BTreeSet;

/// The folders of services, and the file of a system without such a folder. A line there begins with the service.
const SERVICES: [&str; 4] = ["/etc/pam.d", "/usr/lib/pam.d", "/usr/etc/pam.d", "/usr/local/etc/pam.d"];
const ONE_FILE: &str = "/etc/pam.conf";

/// The files that give capabilities and groups to users who log in.
const CAPABILITIES: &str = "/etc/security/capability.conf";
const GROUPS: &str = "/etc/security/group.conf";

/// The group of `pam_wheel`, unless its line names another one.
const WHEEL: &str = "wheel";

/// A line of a service: type, control, module and arguments.
#[derive(Debug, PartialEq, Eq)]
struct Line {
    kind: String,
    control: String,
    module: String,
    arguments: Vec<String>,
}

impl Line {
    /// Parses a line, or returns `None` if it has no module.
    fn parse(line: &str) -> Option<Self> {
        let mut words = words(line).into_iter();
        let kind = words.next()?.trim_start_matches('-').to_ascii_lowercase();
        let (control, module) = (words.next()?.to_ascii_lowercase(), words.next()?);
        Some(Self { kind, control, module, arguments: words.collect() })
    }

    /// Returns the module's name without its folder and ending.
    fn name(&self) -> &str {
        let name = self.module.rsplit('/').next().unwrap_or_default();
        name.strip_suffix(".so").unwrap_or(name)
    }

    /// Returns the file that the line includes.
    fn included(&self) -> Option<&str> {
        matches!(self.control.as_str(), "include" | "substack").then_some(&self.module)
    }

    /// Tells whether the line may make others unnecessary.
    fn decides(&self) -> bool {
        let jumps = |action: &str| action == "done" || action.bytes().all(|byte| byte.is_ascii_digit());
        let mut actions = self.control.split_whitespace().filter_map(|pair| Some(pair.split_once('=')?.1));
        self.kind == "auth" && (self.control == "sufficient" || actions.any(jumps))
    }

    fn has(&self, argument: &str) -> bool {
        self.arguments.iter().any(|one| one == argument)
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.arguments.iter().find_map(|argument| argument.strip_prefix(name)?.strip_prefix('='))
    }
}

impl Administrators {
    /// Adds the accounts that PAM makes as powerful as root. To be called last, because a file of PAM gives users groups
    /// that other files name.
    pub(super) fn read_pam(&mut self, root: &Root) {
        let mut due: Vec<(String, bool)> = vec![(ONE_FILE.to_owned(), true)];
        for folder in SERVICES {
            due.extend(self.names_in(root, folder).into_iter().map(|name| (format!("{folder}/{name}"), false)));
        }
        let mut read = BTreeSet::new();
        while let Some((path, with_service)) = due.pop() {
            if !read.insert(path.clone()) {
                continue;
            }
            self.with_text(root, &path, |found, text| {
                let included = found.add_service(text, with_service);
                due.extend(included.into_iter().map(|path| (path, false)));
            });
        }
        self.with_text(root, CAPABILITIES, Self::add_capabilities);
        self.with_text(root, GROUPS, Self::add_groups);
    }

    /// Adds the accounts of a service, and returns the absolute paths of files that it includes. Names without a path are in
    /// the folders that are read anyway.
    fn add_service(&mut self, text: &str, with_service: bool) -> Vec<String> {
        let mut included = vec![];
        for line in text.replace("\\\n", " ").lines() {
            let line = line.split('#').next().unwrap_or_default().trim();
            let line = if with_service { line.split_once(char::is_whitespace).unwrap_or_default().1 } else { line };
            if let Some(path) = line.strip_prefix("@include") {
                included.push(path.trim().to_owned());
            } else if let Some(line) = Line::parse(line) {
                match line.included() {
                    Some(path) => included.push(path.to_owned()),
                    None => self.add_module(&line),
                }
            }
        }
        included.retain(|path| path.starts_with('/'));
        self.places.extend(included.iter().cloned());
        included
    }

    fn add_module(&mut self, line: &Line) {
        if line.module.starts_with('/') {
            self.places.insert(line.module.clone());
        }
        match line.name() {
            "pam_exec" | "pam_script" => {
                self.places.extend(line.arguments.iter().find(|argument| argument.starts_with('/')).cloned());
                self.everybody |= line.decides();
            }
            "pam_wheel" if line.decides() && line.has("trust") => {
                // With `deny`, all others are trusted.
                self.everybody |= line.has("deny");
                self.add_identity(line.value("group").unwrap_or(WHEEL), false, true);
            }
            "pam_listfile" => {
                self.places.extend(line.value("file").filter(|path| path.starts_with('/')).map(str::to_owned));
                self.everybody |= line.decides() && line.value("item") == Some("ruser");
            }
            "pam_succeed_if" if line.decides() => self.add_conditions(&line.arguments),
            _ => {}
        }
    }

    /// Adds the accounts of `use_uid user ingroup ops`. Without `use_uid` the conditions are about the account that somebody
    /// wants to become, except those about `ruser`.
    fn add_conditions(&mut self, arguments: &[String]) {
        let of_caller = arguments.iter().any(|argument| argument == "use_uid");
        let is_flag = |word: &&String| {
            matches!(word.as_str(), "debug" | "use_uid" | "quiet" | "quiet_fail" | "quiet_success" | "audit")
        };
        let words: Vec<&str> = arguments.iter().filter(|word| !is_flag(word)).map(String::as_str).collect();
        let (mut is_about_caller, mut is_named) = (of_caller, false);
        for condition in words.chunks(3) {
            let &[field, operator, value] = condition else { continue };
            is_about_caller |= field == "ruser";
            let is_user = field == "ruser" || (field == "user" && of_caller);
            let is_number = of_caller && !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
            match (field, operator) {
                (_, "=" | "eq") if is_user => self.add_identity(value, true, false),
                (_, "in") if is_user => value.split(':').for_each(|name| self.add_identity(name, true, false)),
                (_, "ingroup") if is_user => value.split(':').for_each(|name| self.add_identity(name, false, true)),
                // Root itself needs no rule.
                ("uid", "=" | "eq") if is_number && value == "0" => {}
                ("uid", "=" | "eq") if is_number => self.add_name(&format!("#{value}")),
                ("gid", "=" | "eq") if is_number => self.add_name(&format!("%#{value}")),
                _ => continue,
            }
            is_named = true;
        }
        self.everybody |= is_about_caller && !is_named;
    }

    /// Adds the users and groups of `cap_sys_admin ann @ops`.
    fn add_capabilities(&mut self, text: &str) {
        for line in text.lines() {
            let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
            if words.next().is_none_or(|capabilities| capabilities == "none") {
                continue;
            }
            // All accounts have what `*` has, so it gives no account more power.
            for name in words.filter(|name| *name != "*") {
                match name.strip_prefix('@') {
                    Some(group) => self.add_identity(group, false, true),
                    None => self.add_identity(name, true, false),
                }
            }
        }
    }

    /// Adds the users who get a group that is as powerful as root when they log in: `su;*;ann|bob;Al0000-2400;docker`.
    fn add_groups(&mut self, text: &str) {
        for line in text.replace("\\\n", " ").lines() {
            let line = line.split('#').next().unwrap_or_default();
            let fields: Vec<&str> = line.split(';').map(str::trim).collect();
            let &[_, _, users, _, groups] = fields.as_slice() else { continue };
            let mut groups = groups.split(|c: char| c == ',' || c.is_whitespace()).filter(|group| !group.is_empty());
            let is_elevated =
                |group: &str| Standing::by_name_of_group(group) == Standing::Elevated || self.names_group(group);
            if !groups.any(is_elevated) {
                continue;
            }
            for user in users.split(['|', '&']).map(str::trim).filter(|user| !matches!(*user, "" | "*")) {
                match user.strip_prefix('%') {
                    _ if user.contains(['!', '@', '*']) => self.everybody = true,
                    Some(group) => self.add_identity(group, false, true),
                    None => self.add_identity(user, true, false),
                }
            }
        }
    }
}

/// Splits a line into words. A word in brackets may contain blanks, and is returned without the brackets.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![];
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let (word, after) = match rest.strip_prefix('[') {
            Some(inner) => inner.split_once(']').unwrap_or((inner, "")),
            None => rest.split_at_checked(rest.find(char::is_whitespace).unwrap_or(rest.len())).unwrap_or((rest, "")),
        };
        // An empty word would not be a word of the line, except between brackets.
        if !word.is_empty() || first == '[' {
            words.push(word.to_owned());
        }
        rest = after.trim_start();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(text: &str) -> Administrators {
        let mut found = Administrators::default();
        let _included = found.add_service(text, false);
        found
    }

    #[track_caller]
    fn check(text: &str, names: &[&str], everybody: bool) {
        let found = service(text);
        let expect = names.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!((found.names, found.everybody), (expect, everybody), "{text}");
    }

    #[test]
    fn attack_groups_that_su_trusts_are_as_good_as_root() {
        check("auth sufficient pam_wheel.so trust group=ops\n", &["%ops"], false);
        check("auth  sufficient  /lib/security/pam_wheel.so use_uid trust\n", &["%wheel"], false);
        check("auth [success=done default=ignore] pam_wheel.so trust \\\n group=ops\n", &["%ops"], false);
        check("auth sufficient pam_wheel.so deny trust group=guests\n", &["%guests"], true);
        check("auth sufficient pam_succeed_if.so use_uid user ingroup ops\n", &["%ops"], false);
        check(
            "auth [success=ignore default=1] pam_succeed_if.so quiet user in ann:bob use_uid\n",
            &["ann", "bob"],
            false,
        );
        check("auth sufficient pam_succeed_if.so ruser = ann\n", &["ann"], false);
        check("auth sufficient pam_succeed_if.so use_uid uid >= 1000\n", &[], true);
        check("auth sufficient pam_succeed_if.so use_uid uid = 1007\n", &["#1007"], false);
        check("auth sufficient pam_listfile.so item=ruser sense=allow file=/etc/may-su\n", &[], true);
        check("auth sufficient pam_exec.so quiet /usr/local/bin/judge\n", &[], true);
        // The lines of distributions give nobody root's rights.
        for plain in [
            "auth sufficient pam_rootok.so\n# auth sufficient pam_wheel.so trust\nauth required pam_wheel.so group=ops\n",
            "account sufficient pam_succeed_if.so uid = 0 use_uid quiet\nauth sufficient pam_succeed_if.so uid = 0 use_uid\n",
            "auth requisite pam_succeed_if.so uid >= 1000 quiet_success\nauth sufficient pam_unix.so try_first_pass\n",
            "-session [success=1 default=ignore] pam_succeed_if.so service in crond quiet use_uid\n",
            "auth sufficient pam_succeed_if.so user ingroup nopasswdlogin\nauth [success=1 default=ignore] pam_unix.so nullok\n",
            "session optional pam_exec.so /usr/local/bin/greet\n",
        ] {
            check(plain, &[], false);
        }
        let mut found = Administrators::default();
        let _included = found.add_service("su auth sufficient pam_wheel.so trust group=ops\n", true);
        assert!(found.names_group("ops"));
    }

    #[test]
    fn attack_programs_and_files_that_pam_uses_are_places_of_administrators() {
        let found = service(
            "session optional pam_exec.so quiet /srv/tools/greet x\nauth include /srv/pam/more\n@include common-auth\n\
             auth required pam_listfile.so item=user file=/srv/users sense=deny\nauth optional /srv/lib/pam_x.so\n",
        );
        assert_eq!(
            Vec::from_iter(found.places()),
            ["/srv/lib/pam_x.so", "/srv/pam/more", "/srv/tools/greet", "/srv/users"]
        );
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("etc/pam.d/su", "auth include /srv/pam/more\n"),
            ("srv/pam/more", "auth include /srv/pam/more\nauth sufficient pam_wheel.so trust group=ops\n"),
            ("etc/security/capability.conf", "none *\ncap_sys_admin ann @staff2 * # why\nnone bob\n"),
            (
                "etc/security/group.conf",
                "*;*;*;Al0000-2400;docker\nsu;*;carl|%team;Al0000-2400;games, ops\nx;*;dora;Al;games\n",
            ),
        ] {
            let place = folder.path().join(path);
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::write(place, text).unwrap();
        }
        let root = Root::open(folder.path(), &contract::Account::unmetered("test")).unwrap();
        let found = Administrators::read(&root);
        assert_eq!(Vec::from_iter(&found.names), ["%ops", "%staff2", "%team", "ann", "carl"]);
        assert!(!found.everybody);
    }
}
