//! `sysctl`: a parameter of the kernel, now and at each start.

use super::{Composite, child, children, command, granted, invalid, notifying, one_line, printed, seen_text};
use crate::plan::View;
use crate::resources::asked;
use contract::{Change, Composition, Raised, Timing, Wanted};
use schema::types::sysctl::SysctlProperties;
use serde_json::json;

/// The child that loads the parameters again.
const LOAD: &str = "Load sysctl values";

/// A parameter of the kernel.
pub(super) struct Sysctl;

impl Composite for Sysctl {
    fn compose(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Composition, Raised> {
        let properties: SysctlProperties = asked::properties(wanted)?;
        let key = properties.key.as_str();
        let plain = |sign: char| sign.is_ascii_alphanumeric() || "._-/:@*".contains(sign);
        if !key.starts_with(|sign: char| sign.is_ascii_alphanumeric()) || !key.chars().all(plain) {
            return Err(invalid(format!("key {key:?} is not the name of a kernel parameter")));
        }
        let path = format!("{}/99-chef-{}.conf", properties.conf_dir, key.replace('/', "."));
        if wanted.action == "remove" {
            let load = command(LOAD, "nothing", &["sysctl", "-p"]);
            let file = child("file", &path, "delete", []);
            return Ok(children(vec![load, notifying(file, Timing::Immediate, &format!("execute[{LOAD}]"), "run")]));
        }
        let value = one_line("value", properties.value.as_deref().unwrap_or_default())?;
        for line in &properties.comment {
            one_line("comment", line)?;
        }
        let assignment = format!("{key}={value}");
        let ignoring = properties.ignore_error.then_some("-e");
        let set: Vec<&str> = ["sysctl"].into_iter().chain(ignoring).chain(["-w", &assignment]).collect();
        let load: Vec<&str> = ["sysctl"].into_iter().chain(ignoring).chain(["-p"]).collect();
        // The kernel's value is shown only to policies that may set it.
        granted(&set, view)?;
        let running = printed("sysctl", &["-n", "-e", key], view).map(|text| text.replace('\t', " ").trim().to_owned());
        let kept = seen_text(&path, view)
            .and_then(|text| text.lines().find_map(|line| line.split_once(" = ").map(|(_, value)| value.to_owned())));
        let changes = match running.filter(|running| kept.as_ref() == Some(running)) {
            Some(current) if current == value => return Ok(Composition::default()),
            Some(current) => vec![
                Change::new(format!("update {key}")),
                Change::new(format!("  set value to \"{value}\" (was \"{current}\")")),
            ],
            None => vec![Change::new(format!("create {key}")), Change::new(format!("  set value to \"{value}\""))],
        };
        let content = ("content", json!(text(&properties, value)));
        let children = vec![
            command(&format!("set {key}"), "run", &set),
            child("directory", &properties.conf_dir, "create", []),
            child("file", &path, "create", [content]),
            command(LOAD, "run", &load),
        ];
        Ok(Composition { changes, children })
    }
}

/// The file's text, as Chef writes it.
fn text(properties: &SysctlProperties, value: &str) -> String {
    let comments = properties.comment.iter().map(|line| format!("# {}\n", line.trim()));
    format!("{}{} = {value}\n", comments.collect::<String>(), properties.key)
}
