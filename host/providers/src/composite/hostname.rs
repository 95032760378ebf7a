//! `hostname`: the machine's name, now, at its next start and in `/etc/hosts`.

use super::{
    Composite, child, children, command, exists, granted, invalid, notifying, one_line, printed, readable_text,
};
use crate::plan::View;
use crate::resources::asked;
use contract::{Composition, Declaration, Raised, Timing, Wanted};
use machine::denied::denied;
use schema::types::hostname::HostnameProperties;
use serde_json::{Value, json};

/// The file of names and addresses.
const HOSTS: &str = "/etc/hosts";

/// The file with the name that the machine starts with.
const HOSTNAME: &str = "/etc/hostname";

/// The child that gathers the name's facts anew.
const FACTS: &str = "reload hostname";

/// The machine's name.
pub(super) struct Hostname;

impl Composite for Hostname {
    fn compose(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Composition, Raised> {
        let properties: HostnameProperties = asked::properties(wanted)?;
        let name = properties.hostname.as_str();
        let plain = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '.' | '_');
        if !name.starts_with(|sign: char| sign.is_ascii_alphanumeric()) || !name.chars().all(plain) {
            return Err(invalid(format!("hostname {name:?} is not the name of a host")));
        }
        let changing = |child| notifying(child, Timing::Delayed, &format!("ohai[{FACTS}]"), "reload");
        let mut made = vec![child("ohai", FACTS, "nothing", [("plugin", json!("hostname"))])];
        // The machine's name is shown only to policies that may set it.
        let set = ["/bin/hostname", name];
        granted(&set, view)?;
        if printed("hostname", &[], view).as_deref().map(str::trim) != Some(name) {
            made.push(changing(command(&format!("set hostname to {name}"), "run", &set)));
        }
        if let Some(address) = properties.ipaddress.clone().or_else(|| own_address(view)) {
            made.extend(hosts(&properties, &address, view)?.map(changing));
        }
        if exists("/usr/bin/hostnamectl", view) && exists("/run/systemd/system", view) {
            let keep = ["hostnamectl", "set-hostname", name];
            granted(&keep, view)?;
            let status = printed("hostnamectl", &["status"], view).unwrap_or_default();
            let mut lines = status.lines().filter_map(|line| line.trim().strip_prefix("Static hostname:"));
            if !lines.any(|kept| kept.trim() == name) {
                made.push(changing(command(&format!("hostnamectl set-hostname {name}"), "run", &keep)));
            }
        } else {
            made.push(file(HOSTNAME, format!("{name}\n")));
        }
        Ok(children(made))
    }
}

/// The child that puts the name's line into `/etc/hosts`; `None` if the line is there.
fn hosts(properties: &HostnameProperties, address: &str, view: &View<'_>) -> Result<Option<Declaration>, Raised> {
    if address.is_empty() || address.contains(|sign: char| sign.is_whitespace() || sign.is_control()) {
        return Err(invalid(format!("{address:?} is not an address")));
    }
    let name = properties.hostname.as_str();
    let short = name.split('.').next().unwrap_or(name);
    let aliases = properties.aliases.iter().flatten().map(String::as_str);
    let names = properties.fqdn.as_deref().into_iter().chain([name]).chain(aliases).chain([short]);
    let line = [address].into_iter().chain(names.filter(|one| !one.is_empty())).collect::<Vec<_>>().join(" ");
    one_line("fqdn or aliases", &line)?;
    let _file = view.grants.manage_path(HOSTS).map_err(denied)?;
    let before = readable_text(HOSTS, view)?.unwrap_or_default();
    if before.lines().any(|one| one == line) {
        return Ok(None);
    }
    Ok(Some(file(HOSTS, with_line(&before, address, name, &line))))
}

/// The text with a line in the place of those of the address or of the name.
fn with_line(text: &str, address: &str, name: &str, line: &str) -> String {
    let is_replaced = |one: &&str| {
        let mut words = one.split_whitespace();
        words.next() == Some(address) || words.any(|word| word == name)
    };
    text.lines().filter(|one| !is_replaced(one)).chain([line]).map(|one| format!("{one}\n")).collect()
}

fn file(path: &str, content: String) -> Declaration {
    let owner = ("owner", json!("root"));
    child(
        "file",
        path,
        "create",
        [("content", json!(content)), owner, ("group", json!("root")), ("mode", json!("0644"))],
    )
}

/// Returns the node's own address, if the policy may see it.
fn own_address(view: &View<'_>) -> Option<String> {
    let facts = view.settings.facts.as_ref()?;
    let found = facts(Some("ipaddress")).ok()?;
    found.get("ipaddress").and_then(Value::as_str).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_the_address_and_of_the_name_are_replaced() {
        let before = "127.0.0.1 localhost\n10.0.0.5 old\n10.0.0.6 web other\n10.0.0.7 webs\n";
        let after = "127.0.0.1 localhost\n10.0.0.7 webs\n10.0.0.5 web\n";
        assert_eq!(with_line(before, "10.0.0.5", "web", "10.0.0.5 web"), after);
    }
}
