//! `ssh_known_hosts_entry`: host keys that ssh accepts for all users. All entries of a policy are written together at its
//! end.

use super::text::{one_line, one_word};
use super::{Composite, Machine, child, invalid};
use crate::resources::asked;
use contract::{Composition, ErrorKind, Raised, Shared, SharedLine, Wanted};
use schema::types::ssh_known_hosts_entry::SshKnownHostsEntryProperties;
use serde_json::json;

/// The key types of the property and their names in the file.
const KEY_TYPES: [(&str, &str); 4] =
    [("rsa", "ssh-rsa"), ("dsa", "ssh-dss"), ("ecdsa", "ecdsa-sha2-nistp256"), ("ed25519", "ssh-ed25519")];

/// The default port of ssh, which the file omits.
const PORT: u32 = 22;

/// The composite of `ssh_known_hosts_entry`: it adds a host's key.
pub(super) struct SshKnownHostsEntry;

impl Composite for SshKnownHostsEntry {
    fn compose(&self, wanted: &Wanted<'_>, machine: &mut Machine<'_, '_>) -> Result<Composition, Raised> {
        let properties: SshKnownHostsEntryProperties = asked::properties(wanted)?;
        let path = properties.file_location.as_str();
        let file = || {
            let properties = [
                ("path", json!(path)),
                ("owner", json!(properties.owner)),
                ("group", json!(properties.group.as_deref().unwrap_or("root"))),
                ("mode", json!(properties.mode)),
                ("backup", json!(false)),
            ];
            child("template", &format!("update ssh known hosts file {path}"), "nothing", properties)
        };
        if wanted.action == "flush" {
            let warning = "flushed ssh_known_hosts entries to file, later ssh_known_hosts_entry resources will not have been \
                           written";
            let shared = Shared { declaration: file(), action: Some("create"), delayed: None, line: None };
            return Ok(Composition {
                warnings: vec![warning.to_owned()],
                shared: vec![shared],
                ..Composition::default()
            });
        }
        let host = one_word("host", &properties.host)?;
        if host.starts_with(['-', '#', '|', '@']) {
            return Err(invalid(format!("host {host:?} is not the name of a host")));
        }
        let lines = match &properties.key {
            Some(key) => vec![given(&properties, key)?],
            None => match asked_for(&properties, machine)? {
                Some(lines) => lines,
                None => {
                    machine.managed(path)?;
                    let unknown = Some(format!("{host} is not asked for its key in a dry run"));
                    return Ok(Composition { unknown, ..Composition::default() });
                }
            },
        };
        let shared = lines.into_iter().map(|line| Shared {
            declaration: file(),
            action: None,
            delayed: Some("create"),
            line: Some(SharedLine { head: "", line }),
        });
        Ok(Composition { shared: shared.collect(), ..Composition::default() })
    }
}

/// Returns the line of a key that the cookbook gives.
fn given(properties: &SshKnownHostsEntryProperties, key: &str) -> Result<String, Raised> {
    let kind = one_word("key_type", &properties.key_type)?;
    let kind = KEY_TYPES.iter().find(|(name, _)| *name == kind).map_or(kind, |(_, known)| *known);
    let host = with_port(&properties.host, properties.port);
    Ok(format!("{host} {kind} {}", one_line("key", key.trim_end())?))
}

/// Asks the host for its keys and returns the lines of its answer. Returns `None` in a dry run, which does not contact the
/// host.
fn asked_for(
    properties: &SshKnownHostsEntryProperties,
    machine: &mut Machine<'_, '_>,
) -> Result<Option<Vec<String>>, Raised> {
    let host = one_word("host", &properties.host)?;
    if host.starts_with('-') {
        return Err(invalid(format!("host {host:?} is an option of ssh-keyscan")));
    }
    let kind = format!("-t{}", one_word("key_type", &properties.key_type)?);
    let port = properties.port.to_string();
    let mut words = vec![kind.as_str(), "-p", &port];
    if properties.hash_entries {
        words.push("-H");
    }
    words.push(host);
    machine.granted(&[&["ssh-keyscan"], words.as_slice()].concat())?;
    if machine.view.why_run || machine.is_survey {
        return Ok(None);
    }
    let Some(printed) = machine.printed("ssh-keyscan", &words) else {
        let message = format!("ssh-keyscan could not ask {host} for its key");
        return Err(Raised::new(ErrorKind::CommandFailed, message));
    };
    let lines = printed.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| one_line("key", line).map(str::to_owned)).collect::<Result<_, _>>().map(Some)
}

fn with_port(host: &str, port: u32) -> String {
    if port == PORT { host.to_owned() } else { format!("[{host}]:{port}") }
}
