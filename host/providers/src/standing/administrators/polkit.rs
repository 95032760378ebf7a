//! The rules of polkit: programs in JavaScript, and identity lists of older versions.
//!
//! A rule is a program, which nobody but polkit can evaluate. Its quoted texts are taken for names of users and groups. That
//! finds all accounts as long as the rule compares the user and the groups with whole names. A rule that does more with them,
//! such as a pattern, makes all accounts count as named.

use super::Administrators;
use machine::root::Root;

/// The folders of rules in JavaScript.
const RULES: [&str; 4] = [
    "/etc/polkit-1/rules.d",
    "/run/polkit-1/rules.d",
    "/usr/local/share/polkit-1/rules.d",
    "/usr/share/polkit-1/rules.d",
];

/// The folders of identity lists of older versions, and of their subfolders.
const LISTS: [&str; 3] =
    ["/etc/polkit-1/localauthority.conf.d", "/etc/polkit-1/localauthority", "/var/lib/polkit-1/localauthority"];

/// The members of a subject that say who it is: its user's name, and its groups.
const USER: &str = "user";
const MEMBERS: [&str; 2] = [USER, "groups"];

/// The functions of lists that look for a whole element.
const WHOLE_ELEMENT: [&str; 2] = [".indexOf(", ".includes("];

impl Administrators {
    /// Adds the accounts of all rules and lists of polkit.
    pub(super) fn read_polkit(&mut self, root: &Root) {
        for folder in RULES {
            for file in self.names_in(root, folder).into_iter().filter(|name| name.ends_with(".rules")) {
                self.with_text(root, &format!("{folder}/{file}"), Self::add_polkit_rules);
            }
        }
        for folder in LISTS {
            for name in self.names_in(root, folder) {
                let path = format!("{folder}/{name}");
                if name.ends_with(".conf") {
                    self.with_text(root, &path, Self::add_polkit_list);
                    continue;
                }
                for file in self.names_in(root, &path).into_iter().filter(|name| name.ends_with(".pkla")) {
                    self.with_text(root, &format!("{path}/{file}"), Self::add_polkit_list);
                }
            }
        }
    }

    /// Adds each quoted text that can be a name, as a user and as a group.
    fn add_polkit_rules(&mut self, text: &str) {
        let code = code_of(text);
        // Every quotation mark may open a text, so that an apostrophe in a comment does not swap the others.
        for quoted in code.split(is_mark).skip(1) {
            let name = quoted.strip_prefix("unix-user:").or_else(|| quoted.strip_prefix("unix-group:"));
            // `"unix-group:" + name` is computed, and so is a name with a sign by its number.
            let is_computed = name.is_some_and(|name| name.trim().is_empty() || name.contains("${"));
            self.everybody |= is_computed || has_numbered_sign(quoted);
            let name = name.unwrap_or(quoted).replace("\\\\", "\\");
            let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '@' | '$' | '\\' | ' ');
            if !name.trim().is_empty() && name.chars().all(is_name) {
                self.add_identity(&name, true, true);
            }
        }
        self.everybody |= ["unix-netgroup:", "isInNetGroup", "polkit.spawn"].iter().any(|word| code.contains(word));
        self.everybody |= !compares_whole_names(&code);
    }

    /// Adds the accounts of a list: `Identity=unix-group:admin;unix-user:ann`.
    fn add_polkit_list(&mut self, text: &str) {
        for word in text.split(|c: char| c.is_whitespace() || matches!(c, ';' | ',' | '=')) {
            match word.split_once(':') {
                // All accounts have this right, so it gives no account more power.
                Some((_, "*")) => {}
                Some(("unix-user" | "unix-group", name)) if name.contains(['*', '?', '[', '\\']) => {
                    self.everybody = true;
                }
                Some(("unix-user", name)) => self.add_identity(name, true, false),
                Some(("unix-group", name)) => self.add_identity(name, false, true),
                Some(("unix-netgroup", _)) => self.everybody = true,
                _ => {}
            }
        }
    }
}

fn is_mark(character: char) -> bool {
    matches!(character, '"' | '\'' | '`')
}

/// Returns the rules without lines that are comments, and without calls that only write to the log.
fn code_of(text: &str) -> String {
    let is_code = |line: &&str| {
        let line = line.trim();
        let is_log = line.starts_with("polkit.log(") && line.ends_with(");") && line.matches(';').count() == 1;
        !line.starts_with("//") && !is_log
    };
    text.lines().filter(is_code).flat_map(|line| [line, "\n"]).collect()
}

/// Tells whether a text of JavaScript has a sign that is written by its number, such as `\x61`.
fn has_numbered_sign(quoted: &str) -> bool {
    let mut characters = quoted.chars();
    while let Some(character) = characters.next() {
        if character == '\\' && characters.next().is_some_and(|next| matches!(next, 'x' | 'u' | '0'..='7')) {
            return true;
        }
    }
    false
}

/// Tells whether the code does no more with a subject's user and groups than to compare them with whole quoted names.
fn compares_whole_names(code: &str) -> bool {
    if MEMBERS.iter().any(|member| is_indexed(code, member)) {
        return false;
    }
    let code = masked(code);
    let after = |at: usize, length: usize| code.get(at + length..).unwrap_or_default();
    let groups_are_names = code.match_indices("isInGroup").all(|(at, word)| {
        let argument = after(at, word.len()).trim_start().strip_prefix('(');
        argument.and_then(|rest| literal(rest.trim_start())).is_some_and(|rest| rest.trim_start().starts_with(')'))
    });
    let is_compared = |member: &str, at: usize| {
        let (before, after) = (code.get(..at).unwrap_or_default().trim_end(), after(at, member.len()));
        if after.starts_with(is_of_name) || before.ends_with(is_of_name) {
            return true;
        }
        let after = after.trim_start();
        // `{ user } = subject` gives the user another name.
        let is_taken_apart = before.ends_with(['{', ',']) && after.starts_with(['}', ',', ':']);
        before.strip_suffix('.').map_or(!is_taken_apart, |before| is_comparison(member, before, after))
    };
    groups_are_names && MEMBERS.iter().all(|member| code.match_indices(*member).all(|(at, _)| is_compared(member, at)))
}

fn is_of_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$')
}

/// Tells whether the code takes a member by its quoted name: `subject["user"]`.
fn is_indexed(code: &str, member: &str) -> bool {
    let code: String = code.split_whitespace().collect();
    ['"', '\'', '`'].iter().any(|mark| {
        let indexed = format!("[{mark}{member}{mark}]");
        let mut before = code.match_indices(&indexed).filter_map(|(at, _)| code.get(..at));
        before.any(|before| before.ends_with(|c: char| is_of_name(c) || matches!(c, ')' | ']')))
    })
}

/// Returns the code with an `x` for each letter and digit in quoted texts, so that no word of the code is found in them. A
/// quotation mark that is not closed in its line is not one: it is the apostrophe of a comment.
fn masked(code: &str) -> String {
    let mut masked = String::new();
    for line in code.split_inclusive('\n') {
        let mut rest = line;
        while let Some(begin) = rest.find(is_mark) {
            let (plain, quoted) = rest.split_at_checked(begin).unwrap_or((rest, ""));
            masked.push_str(plain);
            let end = end_of_literal(quoted).unwrap_or(1);
            let (quoted, after) = quoted.split_at_checked(end).unwrap_or((quoted, ""));
            masked.extend(quoted.chars().map(|c| if c.is_alphanumeric() { 'x' } else { c }));
            rest = after;
        }
        masked.push_str(rest);
    }
    masked
}

/// Returns the length of the quoted text that the code begins with, with its marks, or `None` if it is not closed.
fn end_of_literal(code: &str) -> Option<usize> {
    let mut characters = code.char_indices();
    let (_, mark) = characters.next()?;
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => drop(characters.next()),
            _ if character == mark => return Some(at + mark.len_utf8()),
            _ => {}
        }
    }
    None
}

/// Tells whether a member of a subject is compared with whole names: `subject.user == "ann"`, `["ann"].indexOf(subject.user)`,
/// `subject.groups.indexOf("ops")`, `switch (subject.user)`. `before` ends with the subject.
fn is_comparison(member: &str, before: &str, after: &str) -> bool {
    let before = before.trim_end_matches(is_of_name).trim_end();
    // A text, unlike a list, also finds a part of a name.
    let is_text = |list: &str| list.trim_end().ends_with(is_mark);
    let is_looked_for = WHOLE_ELEMENT.iter().any(|call| before.strip_suffix(*call).is_some_and(|list| !is_text(list)));
    let is_switch = before.strip_suffix('(').is_some_and(|before| before.trim_end().ends_with("switch"));
    if is_looked_for || is_switch {
        return after.starts_with(')');
    }
    if let Some(argument) = WHOLE_ELEMENT.iter().find_map(|call| after.strip_prefix(*call)) {
        return member != USER && literal(argument.trim_start()).is_some_and(|rest| rest.trim_start().starts_with(')'));
    }
    let compared = ["===", "!==", "==", "!="].iter().find_map(|operator| after.strip_prefix(operator));
    compared.and_then(|rest| literal(rest.trim_start())).is_some_and(|rest| !rest.trim_start().starts_with(['+', '.']))
}

/// Returns what follows the quoted text that the code begins with, or `None` if it begins with something else.
fn literal(code: &str) -> Option<&str> {
    code.starts_with(is_mark).then_some(())?;
    let (quoted, rest) = code.split_at_checked(end_of_literal(code)?)?;
    (!quoted.contains("${")).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polkit_names_users_and_groups() {
        let mut found = Administrators::default();
        found.add_polkit_rules(
            "// don't\npolkit.addAdminRule(function(a, s) { return [\"unix-group:sudo\", 'unix-user:0']; });\n\
             polkit.addRule(function(a, s) { if (s.isInGroup(\"netops\")) return polkit.Result.YES; });\n",
        );
        assert!(found.names_group("sudo") && found.names_group("netops") && found.names_user("x", Some(0)));
        assert!(!found.names_group("polkit") && !found.everybody);
        let mut found = Administrators::default();
        found.add_polkit_list("[x]\nIdentity=unix-group:ops;unix-user:ann;unix-user:*\nAction=org.x\n");
        assert!(found.names_group("ops") && found.names_user("ann", None) && !found.names_user("ops", None));
        assert!(!found.everybody);
    }

    #[test]
    fn attack_rules_of_polkit_with_patterns_name_everybody() {
        let everybody = |rule: &str| {
            let mut found = Administrators::default();
            found.add_polkit_rules(rule);
            found.everybody
        };
        for rule in [
            r#"if (subject.user == "ann" || subject.user !== 'bob') return polkit.Result.YES;"#,
            r#"if (["ann", "bob"].indexOf(subject.user) >= 0 && subject.active) {"#,
            r#"if (subject.groups.indexOf("ops") > -1) {"#,
            r#"var admins = ["ann"]; if (admins.includes(subject.user)) {"#,
            r#"switch (subject.user) { case "ann": return YES; }"#,
            r#"if (action.id.indexOf("org.freedesktop.login1.") == 0 && subject.isInGroup ( "ops" ))"#,
            r#"return ["unix-group:DOMAIN\\admins"];"#,
            "    polkit.log(\"asked by \" + subject.user);\n// subject.user.match(/x/)\n",
            r#"action.lookup("users"); var username = "x"; action.lookup("user");"#,
            r#"if (action.id == "org.freedesktop.accounts.user-administration" && subject.isInGroup("ops"))"#,
            "/* don't */ if (subject.user == 'ann')",
        ] {
            assert!(!everybody(rule), "{rule}");
        }
        for rule in [
            "if (subject.user.match(/^adm/)) return YES;",
            r#"if (subject.user.indexOf("adm") == 0)"#,
            "if (/^adm/.test(subject.user))",
            "var user = subject.user;",
            r#"if (subject["user"] == x)"#,
            "let { user } = subject;",
            r#"if (subject.user == "ad" + "m")"#,
            r#"if (subject.isInGroup("op" + x))"#,
            "if (subject.isInGroup(x))",
            r#"if ("ann,bob".indexOf(subject.user) >= 0)"#,
            "if (subject.groups.some(g => g.length == 3))",
            r#"if (subject.groups.includes("op" + "s"))"#,
            r#"return ["unix-group:" + name];"#,
            r#"return ["unix-user:\x61nn"];"#,
            r#"if (subject.isInNetGroup("x"))"#,
            r#"polkit.spawn(["/usr/bin/judge"]);"#,
            "polkit.log(\"x\"); if (/a/.test(subject.user)) f();",
        ] {
            assert!(everybody(rule), "{rule}");
        }
        for list in ["Identity=unix-user:adm*", "Identity=unix-group:op?", "AdminIdentities=unix-user:[ab]"] {
            let mut found = Administrators::default();
            found.add_polkit_list(list);
            assert!(found.everybody, "{list}");
        }
    }
}
