//! `sudo`: a file below `sudoers.d`. `visudo` must accept it before it replaces the old one.

use super::text::{file_name, one_line};
use super::{Composite, Machine, child, children, invalid, not_if, rendered, runtime_error, with, with_text};
use crate::resources::asked;
use contract::{Composition, Property, Raised, Wanted};
use schema::types::sudo::SudoProperties;
use serde_json::{Value, json};

/// The default folder of `sudoers` and `sudoers.d`.
const PREFIX: &str = "/etc";

/// The usual path of the program that checks the file.
const VISUDO: &str = "/usr/sbin/visudo";

/// A file of sudo's rules.
pub(super) struct Sudo;

impl Composite for Sudo {
    fn compose(&self, wanted: &Wanted<'_>, machine: &mut Machine<'_, '_>) -> Result<Composition, Raised> {
        let properties: SudoProperties = asked::properties(wanted)?;
        let prefix = plain_path("config_prefix", properties.config_prefix.as_deref().unwrap_or(PREFIX))?;
        plain_path("visudo_binary", &properties.visudo_binary)?;
        let folder = format!("{prefix}/sudoers.d/");
        let path = format!("{folder}{}", plain_path("filename", file_name("filename", &properties.filename)?)?);
        if matches!(wanted.action, "delete" | "remove") {
            return Ok(children([child("file", &path, "delete", [])]));
        }
        let own = rendered(wanted);
        let has_people = !properties.users.is_empty() || !properties.groups.is_empty();
        if properties.template.is_some() {
            let hint = "declare a `template` below sudoers.d, with `verify`";
            return Err(invalid("template can be rendered by cookbooks in Ruby only").with_hint(hint));
        }
        if own.is_none() && !has_people && properties.env_keep_add.is_empty() && properties.env_keep_subtract.is_empty()
        {
            let message = "You must specify users, groups, env_keep_add, env_keep_subtract, or template properties!";
            return Err(runtime_error(message));
        }
        let mut made = Vec::new();
        if machine.is_container() {
            made.push(not_if(machine.has_program("sudo"), child(machine.package_type(), "sudo", "install", [])));
        }
        made.push(child("directory", &folder, "create", []));
        let rules = child("template", &path, "create", [("mode", json!("0440"))]);
        let rules =
            with_text(rules, own.map_or_else(|| text(&properties).map(|text| Property::Plain(json!(text))), Ok)?);
        let check = verify(&properties, prefix, &path, machine);
        let mut warnings = Vec::new();
        if check.is_empty() {
            warnings.push(format!(
                "The visudo binary cannot be found at '{}'. Skipping sudoer file validation. If visudo is on this system you \
                 can specify the path using the 'visudo_binary' property.",
                properties.visudo_binary
            ));
        }
        if machine.seen_text(&format!("{prefix}/sudoers")).is_some_and(|main| !main.contains("includedir")) {
            warnings.push(format!(
                "{} will be rendered, but will not take effect because the {prefix}/sudoers config lacks the includedir \
                 directive that loads configs from {prefix}/sudoers.d/!",
                properties.filename
            ));
        }
        made.push(if check.is_empty() { rules } else { with(rules, "verify", json!(check)) });
        Ok(Composition { warnings, ..children(made) })
    }
}

/// Checks a text that becomes a word of the shell line that verifies the file.
fn plain_path<'t>(property: &str, text: &'t str) -> Result<&'t str, Raised> {
    let plain = |sign: char| sign.is_alphanumeric() || "/._+-".contains(sign);
    match text.chars().all(plain) && !text.starts_with('-') {
        true => Ok(text),
        false => Err(invalid(format!("{property} {text:?} has characters other than letters, digits and `/._+-`"))),
    }
}

/// Returns the command that verifies the new file: together with the main file, or on its own if the main file already
/// includes it. A survey returns both, since a node may be in either state. The list is empty if `visudo` is missing.
fn verify(properties: &SudoProperties, prefix: &str, path: &str, machine: &Machine<'_, '_>) -> Vec<String> {
    let (main, program) = (format!("{prefix}/sudoers"), properties.visudo_binary.as_str());
    // The existence of the usual program is not a secret.
    let is_usual = program == VISUDO && machine.exists(VISUDO);
    let changed = || format!("cat {main} | {program} -cf - && {program} -cf %{{path}}");
    let new = || format!("cat {main} %{{path}} | {program} -cf -");
    if machine.is_survey {
        return vec![new(), changed()];
    }
    if !is_usual && !machine.is_seen(program) {
        return vec![];
    }
    vec![if machine.is_seen(path) { changed() } else { new() }]
}

/// Returns the file's content, as Chef's template renders it.
fn text(properties: &SudoProperties) -> Result<String, Raised> {
    let lists = [
        ("groups", &properties.groups),
        ("users", &properties.users),
        ("commands", &properties.commands),
        ("env_keep_add", &properties.env_keep_add),
        ("env_keep_subtract", &properties.env_keep_subtract),
        ("defaults", &properties.defaults),
    ];
    for (property, texts) in lists {
        for text in texts {
            one_line(property, text)?;
        }
    }
    one_line("host", &properties.host)?;
    one_line("runas", &properties.runas)?;
    let people = properties.groups.iter().chain(&properties.users).cloned().collect::<Vec<_>>().join(",");
    let mut text = String::from("# This file is managed by Chef Infra Client. Changes will be overwritten.\n\n");
    for alias in properties.command_aliases.as_array().into_iter().flatten() {
        let name = alias.get("name").and_then(Value::as_str);
        let commands: Option<Vec<&str>> = alias
            .get("command_list")
            .and_then(Value::as_array)
            .and_then(|list| list.iter().map(Value::as_str).collect());
        let (Some(name), Some(commands)) = (name, commands) else {
            return Err(invalid("command_aliases must be maps with `name` and `command_list`"));
        };
        one_line("command_aliases", name)?;
        for command in &commands {
            one_line("command_aliases", command)?;
        }
        text.push_str(&format!("Cmnd_Alias {} = {}\n", name.to_uppercase(), commands.join(", ")));
    }
    for name in &properties.env_keep_add {
        text.push_str(&format!("Defaults    env_keep += \"{name}\"\n"));
    }
    for name in &properties.env_keep_subtract {
        text.push_str(&format!("Defaults    env_keep -= \"{name}\"\n"));
    }
    for command in &properties.commands {
        if !people.is_empty() {
            let SudoProperties { host, runas, .. } = properties;
            text.push_str(&format!("{people} {host}=({runas}) "));
            let tags =
                [("NOEXEC:", properties.noexec), ("NOPASSWD:", properties.nopasswd), ("SETENV:", properties.setenv)];
            tags.iter().filter(|(_, is_set)| *is_set).for_each(|(tag, _)| text.push_str(tag));
            text.push_str(command);
        }
        text.push('\n');
    }
    if !properties.defaults.is_empty() {
        text.push_str(&format!("\nDefaults:{people} {}\n", properties.defaults.join(",")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::typed::{DeclaredValues, TypedProperties as _};
    use serde_json::Map;

    struct Given(Map<String, Value>);

    impl DeclaredValues for Given {
        fn name(&self) -> &str {
            "ops"
        }

        fn value(&self, property: &str) -> Option<&Value> {
            self.0.get(property)
        }
    }

    fn text_of(values: Value) -> Result<String, String> {
        let properties = SudoProperties::read(&Given(values.as_object().unwrap().clone())).unwrap();
        text(&properties).map_err(|raised| raised.message)
    }

    #[test]
    fn rules_are_written_as_chef_writes_them() {
        let values = json!({
            "users": ["ann"], "groups": ["%ops"], "nopasswd": true, "commands": ["/bin/true", "WEB"],
            "command_aliases": [{ "name": "web", "command_list": ["/bin/a", "/bin/b"] }],
            "env_keep_add": ["EDITOR"], "defaults": ["!requiretty"],
        });
        let expected = "# This file is managed by Chef Infra Client. Changes will be overwritten.\n\n\
                        Cmnd_Alias WEB = /bin/a, /bin/b\nDefaults    env_keep += \"EDITOR\"\n\
                        %ops,ann ALL=(ALL) NOPASSWD:/bin/true\n%ops,ann ALL=(ALL) NOPASSWD:WEB\n\n\
                        Defaults:%ops,ann !requiretty\n";
        assert_eq!(text_of(values).unwrap(), expected);
        for injected in [
            json!({ "users": ["ann\nbob ALL=(ALL) ALL"] }),
            json!({ "users": ["ann"], "commands": ["/bin/true\n"] }),
            json!({ "users": ["ann"], "host": "ALL\n" }),
            json!({ "users": ["ann"], "command_aliases": [{ "name": "a\n", "command_list": [] }] }),
        ] {
            assert!(text_of(injected.clone()).unwrap_err().contains("control characters"), "{injected}");
        }
        assert!(text_of(json!({ "users": ["ann"], "command_aliases": [1] })).unwrap_err().contains("command_aliases"));
        let mixed = json!({ "users": ["ann"], "command_aliases": [{ "name": "a", "command_list": ["/bin/a", 1] }] });
        assert!(text_of(mixed).unwrap_err().contains("command_list"), "no part of a list is left out in silence");
    }
}
