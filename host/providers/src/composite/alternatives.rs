//! `alternatives`: chooses the program that a command's name runs.

use super::machine::Family;
use super::text::{absolute_path, plain_name};
use super::{Composite, Machine, change, command, invalid, runtime_error, step, with};
use crate::resources::asked;
use contract::{Composition, Raised, Wanted};
use schema::types::alternatives::AlternativesProperties;
use serde_json::json;

/// A choice between programs.
pub(super) struct Alternatives;

impl Composite for Alternatives {
    fn compose(&self, wanted: &Wanted<'_>, machine: &mut Machine<'_, '_>) -> Result<Composition, Raised> {
        let properties: AlternativesProperties = asked::properties(wanted)?;
        let name = plain_name("link_name", &properties.link_name, "._+-", "the name of a command")?;
        let tool = if machine.family() == Family::Debian { "update-alternatives" } else { "alternatives" };
        let usual = format!("/usr/bin/{name}");
        let link = absolute_path("link", properties.link.as_deref().unwrap_or(&usual))?;
        let priority = properties.priority.map(|priority| priority.to_string());
        let needs_path = matches!(wanted.action, "install" | "set" | "remove");
        let path = match properties.path.as_deref() {
            Some(path) => absolute_path("path", path)?,
            None if needs_path => return Err(missing(name, "you must provide the :path property")),
            None => "",
        };
        let (words, sentence): (Vec<&str>, _) = match wanted.action {
            "install" => {
                let Some(priority) = priority.as_deref() else {
                    return Err(missing(name, "you must provide the :priority property"));
                };
                let sentence = format!("adding alternative {link} {name} {path} {priority}");
                (vec![tool, "--install", link, name, path, priority], sentence)
            }
            "set" => (vec![tool, "--set", name, path], format!("setting alternative {name} {path}")),
            "remove" => (vec![tool, "--remove", name, path], format!("removing alternative {name} {path}")),
            "auto" => (vec![tool, "--auto", name], format!("setting auto alternative {name}")),
            _ => (vec![tool, "--refresh", name], format!("refreshing alternative {name}")),
        };
        // The list of choices is read only if the policy may change them.
        machine.granted(&words)?;
        if needs_path && machine.is_absent(path) && !machine.view.why_run {
            return Err(missing(name, &format!("missing {path}")));
        }
        let shown = machine.printed(tool, &["--display", name]).unwrap_or_default();
        if !machine.is_survey && is_so(wanted.action, &shown, path, priority.as_deref()) {
            return Ok(Composition::default());
        }
        let run = command(&sentence, "run", &words);
        // Chef checks the exit code only for these two actions.
        let is_strict = matches!(wanted.action, "install" | "set");
        let run = if is_strict { run } else { with(run, "returns", json!([0, 1, 2])) };
        Ok(change([sentence], vec![step(run)]))
    }
}

/// Tells from the list of choices whether the action would change nothing.
fn is_so(action: &str, shown: &str, path: &str, priority: Option<&str>) -> bool {
    let priority_of = |line: &str| line.strip_prefix(path)?.strip_prefix(" - priority ").map(|it| it.trim().to_owned());
    let known = shown.lines().find_map(|line| priority_of(line.trim()));
    match action {
        "install" => known.as_deref() == priority,
        "set" => shown.lines().any(|line| {
            line.trim().strip_prefix("link currently points to ").is_some_and(|current| current.trim() == path)
        }),
        "remove" => known.is_none(),
        _ => false,
    }
}

fn missing(name: &str, what: &str) -> Raised {
    let message = format!("Could not set alternatives for {name}, {what}");
    match what.starts_with("missing") {
        true => runtime_error(message),
        false => invalid(message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_choices_tells_what_is_so() {
        let shown = "java - manual mode\n  link best version is /opt/b/java\n  link currently points to /opt/a/java\n  \
                     link java is /usr/bin/java\n/opt/a/java - priority 100\n/opt/b/java - priority 200\n";
        let check = |action, path, priority, expected| {
            assert_eq!(is_so(action, shown, path, priority), expected, "{action} {path} {priority:?}");
        };
        check("install", "/opt/a/java", Some("100"), true);
        check("install", "/opt/a/java", Some("10"), false);
        check("install", "/opt/c/java", Some("100"), false);
        check("set", "/opt/a/java", None, true);
        check("set", "/opt/b/java", None, false);
        check("remove", "/opt/a", None, true);
        check("remove", "/opt/b/java", None, false);
        check("auto", "", None, false);
    }
}
