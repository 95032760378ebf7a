//! `hostname`: the machine's name, now, after the next start, and in `/etc/hosts`.

use super::text::{one_line, plain_name};
use super::{Composite, Machine, child, children, command, invalid, not_if, notifying, with};
use crate::plan::View;
use crate::resources::asked;
use contract::{Composition, Declaration, OwnPart, Raised, Timing, Wanted};
use schema::types::hostname::HostnameProperties;
use serde_json::{Value, json};

/// The file of names and addresses.
const HOSTS: &str = "/etc/hosts";

/// The file with the name that the machine starts with.
const HOSTNAME: &str = "/etc/hostname";

/// The name of the child that gathers the facts about the name again.
const FACTS: &str = "reload hostname";

/// The composite of `hostname`: it names the machine now and for later starts.
pub(super) struct Hostname;

impl Composite for Hostname {
    fn compose(&self, wanted: &Wanted<'_>, machine: &mut Machine<'_, '_>) -> Result<Composition, Raised> {
        let properties: HostnameProperties = asked::properties(wanted)?;
        let name = plain_name("hostname", &properties.hostname, "-._", "the name of a host")?;
        let mut made = vec![child("ohai", FACTS, "nothing", [("plugin", json!("hostname"))])];
        // The present name is read only if the policy may set it.
        let set = ["/bin/hostname", name];
        machine.granted(&set)?;
        // Below another root no kernel uses the name, so the root's own file decides.
        let current = match machine.has_own_kernel() {
            true => machine.printed("hostname", &[]),
            false => machine.system_text(HOSTNAME),
        };
        let is_set = current.as_deref().map(str::trim) == Some(name);
        made.push(not_if(is_set, reloading(command(&format!("set hostname to {name}"), "run", &set))));
        if let Some(address) = address(&properties, machine.view) {
            made.push(hosts(&properties, &address, machine)?);
        }
        made.push(kept(name, machine)?);
        Ok(children(made))
    }
}

/// Makes a child notify the gathering of facts about the name.
fn reloading(child: Declaration) -> Declaration {
    notifying(child, Timing::Delayed, &format!("ohai[{FACTS}]"), "reload")
}

/// Returns the child that stores the name for the next start. Its file depends on the distribution.
fn kept(name: &str, machine: &mut Machine<'_, '_>) -> Result<Declaration, Raised> {
    let has_systemd = machine.exists("/usr/bin/hostnamectl") && machine.exists("/run/systemd/system");
    // Below another root, systemd is that of the machine that wrun runs on.
    if has_systemd && (machine.has_own_kernel() || machine.is_survey) && !machine.is_container() {
        let keep = ["hostnamectl", "set-hostname", name];
        machine.granted(&keep)?;
        // `hostnamectl status` would start a service of systemd, also in a dry run. The name that it shows is in this file.
        let text = machine.system_text(HOSTNAME).unwrap_or_default();
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let is_kept = lines.next() == Some(name);
        return Ok(not_if(is_kept, reloading(command(&format!("hostnamectl set-hostname {name}"), "run", &keep))));
    }
    if !machine.exists(HOSTNAME) {
        if machine.exists("/etc/sysconfig/network") {
            let is_replaced = |line: &str| line.trim_start().starts_with("HOSTNAME");
            return with_line("/etc/sysconfig/network", &format!("HOSTNAME={name}"), is_replaced, machine);
        }
        if machine.exists("/etc/HOSTNAME") {
            return Ok(file("/etc/HOSTNAME", &format!("{name}\n")));
        }
        if machine.exists("/etc/conf.d/hostname") {
            return Ok(file("/etc/conf.d/hostname", &format!("hostname=\"{name}\"\n")));
        }
    }
    Ok(in_place(file(HOSTNAME, &format!("{name}\n")), machine))
}

/// Returns the child that puts the line with the name into `/etc/hosts`.
fn hosts(properties: &HostnameProperties, address: &str, machine: &Machine<'_, '_>) -> Result<Declaration, Raised> {
    if address.is_empty() || address.contains(|sign: char| sign.is_whitespace() || sign.is_control()) {
        return Err(invalid(format!("{address:?} is not an address")));
    }
    let name = properties.hostname.as_str();
    let short = name.split('.').next().unwrap_or(name);
    let aliases = properties.aliases.iter().flatten().map(String::as_str);
    let names = properties.fqdn.as_deref().into_iter().chain([name]).chain(aliases).chain([short]);
    let line = [address].into_iter().chain(names.filter(|one| !one.is_empty())).collect::<Vec<_>>().join(" ");
    one_line("fqdn or aliases", &line)?;
    machine.managed(HOSTS)?;
    let file = with_line(HOSTS, &line, |line| is_about(line, address, name), machine)?;
    Ok(reloading(in_place(file, machine)))
}

/// Tells whether a line of `/etc/hosts` contains the address or the name.
fn is_about(line: &str, address: &str, name: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next() == Some(address) || words.any(|word| word == name)
}

/// Declares a file in which a line replaces others, unless the file already has the line.
fn with_line(
    path: &'static str,
    line: &str,
    is_replaced: impl Fn(&str) -> bool,
    machine: &Machine<'_, '_>,
) -> Result<Declaration, Raised> {
    let before = machine.readable_text(path)?.unwrap_or_default();
    let kept = before.lines().filter(|one| !is_replaced(one)).chain([line]);
    let content = kept.map(|one| format!("{one}\n")).collect::<String>();
    let file = Declaration { own: Some(OwnPart::Lines), ..file(path, &content) };
    Ok(not_if(before.lines().any(|one| one == line), file))
}

/// Makes a file be written in place in a container, where it is mounted from outside and cannot be replaced by a rename.
fn in_place(file: Declaration, machine: &Machine<'_, '_>) -> Declaration {
    if machine.is_container() { with(file, "atomic_update", json!(false)) } else { file }
}

fn file(path: &str, content: &str) -> Declaration {
    let owner = [("owner", json!("root")), ("group", json!("root"))];
    let [owner, group] = owner;
    child("file", path, "create", [("content", json!(content)), owner, group, ("mode", json!("0644"))])
}

/// Tells whether the action sees to a line of the file of names and addresses, and returns the file's path.
pub(crate) fn line_of(wanted: &Wanted<'_>, view: &View<'_>) -> Option<&'static str> {
    let properties: HostnameProperties = asked::properties(wanted).ok()?;
    address(&properties, view).map(|_| HOSTS)
}

/// Returns the address for the name: that of the resource, or the node's own one if the policy may see it.
fn address(properties: &HostnameProperties, view: &View<'_>) -> Option<String> {
    let own = || {
        let found = view.settings.facts.as_ref()?(Some("ipaddress")).ok()?;
        found.get("ipaddress").and_then(Value::as_str).map(str::to_owned)
    };
    properties.ipaddress.clone().or_else(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_the_address_and_of_the_name_are_replaced() {
        let lines = ["127.0.0.1 localhost", "10.0.0.5 old", "10.0.0.6 web other", "10.0.0.7 webs", ""];
        assert_eq!(lines.map(|line| is_about(line, "10.0.0.5", "web")), [false, true, true, false, false]);
    }
}
