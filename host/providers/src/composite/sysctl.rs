//! `sysctl`: a parameter of the kernel, now and at each start.

use super::text::{one_line, plain_name};
use super::{Composite, Machine, OwnFile, change, child, command, command_in_default_environment, in_real_runs, step};
use crate::resources::asked;
use contract::{Composition, Raised, Wanted};
use schema::types::sysctl::SysctlProperties;
use serde_json::json;

/// The name of the child that loads the parameters again.
const LOAD: &str = "Load sysctl values";

/// A parameter of the kernel.
pub(super) struct Sysctl;

impl Composite for Sysctl {
    fn compose(&self, wanted: &Wanted<'_>, machine: &mut Machine<'_, '_>) -> Result<Composition, Raised> {
        let properties: SysctlProperties = asked::properties(wanted)?;
        let key = plain_name("key", &properties.key, "._-/:@*", "the name of a kernel parameter")?;
        let path = path(&properties);
        if wanted.action == "remove" {
            if machine.is_absent(&path) && !machine.is_survey {
                return Ok(Composition::default());
            }
            let load = command_in_default_environment(LOAD, "run", &["sysctl", "-p"]);
            let mut made = vec![in_real_runs(child("file", &path, "delete", []))];
            if machine.has_own_kernel() || machine.is_survey {
                made.push(in_real_runs(load));
            }
            return Ok(change([format!("removing sysctl config at {path}")], made));
        }
        let value = one_line("value", properties.value.as_deref().unwrap_or_default())?;
        for line in &properties.comment {
            one_line("comment", line)?;
        }
        let assignment = format!("{key}={value}");
        let ignoring = properties.ignore_error.then_some("-e");
        let set: Vec<&str> = ["sysctl"].into_iter().chain(ignoring).chain(["-w", &assignment]).collect();
        let load: Vec<&str> = ["sysctl"].into_iter().chain(ignoring).chain(["-p"]).collect();
        // The kernel's value is read only if the policy may set it.
        machine.granted(&set)?;
        let kept = machine
            .seen_text(&path)
            .and_then(|text| text.lines().find_map(|line| line.split_once(" = ").map(|(_, value)| value.to_owned())));
        // Below another root no kernel uses the value, so the root's own file decides.
        let running = match machine.has_own_kernel() {
            true => machine.printed("sysctl", &["-n", "-e", key]).map(|text| text.replace('\t', " ").trim().to_owned()),
            false => kept.clone(),
        };
        let sentences = match running.filter(|running| kept.as_ref() == Some(running)) {
            Some(current) if current == value && !machine.is_survey => return Ok(Composition::default()),
            Some(current) => [format!("update {key}"), format!("  set value to \"{value}\" (was \"{current}\")")],
            None => [format!("create {key}"), format!("  set value to \"{value}\"")],
        };
        let content = ("content", json!(text(&properties, value)));
        let mut made = vec![
            step(command(&format!("set {key}"), "run", &set)),
            in_real_runs(child("directory", &properties.conf_dir, "create", [])),
            in_real_runs(child("file", &path, "create", [content])),
            in_real_runs(command_in_default_environment(LOAD, "run", &load)),
        ];
        if !machine.has_own_kernel() && !machine.is_survey {
            made.retain(|child| child.declaration.kind != "execute");
        }
        Ok(change(sentences, made))
    }

    fn own_file(&self, wanted: &Wanted<'_>) -> Option<OwnFile> {
        let properties: SysctlProperties = asked::properties(wanted).ok()?;
        let text = properties.value.as_deref().map(|value| text(&properties, value));
        Some(OwnFile { path: path(&properties), text })
    }
}

/// Returns the path of the file that keeps the parameter.
fn path(properties: &SysctlProperties) -> String {
    format!("{}/99-chef-{}.conf", properties.conf_dir, properties.key.replace('/', "."))
}

/// Returns the file's content, as Chef writes it.
fn text(properties: &SysctlProperties, value: &str) -> String {
    let comments = properties.comment.iter().map(|line| format!("# {}\n", line.trim()));
    format!("{}{} = {value}\n", comments.collect::<String>(), properties.key)
}
