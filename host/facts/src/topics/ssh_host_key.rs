//! `keys.ssh`: the public keys of the SSH server. Ohai's plugins Keys and SSHHostKey.

use crate::machine::{Gathered, Machine};
use crate::topics::one;

/// Key types, in the order in which Ohai looks for their usual files.
const USUAL_KEYS: [&str; 4] = ["dsa", "rsa", "ecdsa", "ed25519"];

pub(crate) fn gather(machine: &Machine) -> Gathered {
    let mut keys = Gathered::new();
    let configuration = machine.root.text("/etc/ssh/sshd_config").unwrap_or_default();
    for path in configured_keys(&configuration) {
        add_key(machine, &format!("{path}.pub"), &mut keys);
    }
    for kind in USUAL_KEYS {
        if !keys.contains_key(&format!("host_{kind}_public")) {
            add_key(machine, &format!("/etc/ssh/ssh_host_{kind}_key.pub"), &mut keys);
        }
    }
    one("keys", one("ssh", keys))
}

fn configured_keys(configuration: &str) -> impl Iterator<Item = &str> {
    configuration.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let keyword = words.next().filter(|_| line.starts_with(|first: char| !first.is_whitespace()))?;
        keyword.eq_ignore_ascii_case("hostkey").then(|| words.next()).flatten().filter(|path| path.starts_with('/'))
    })
}

fn add_key(machine: &Machine, path: &str, keys: &mut Gathered) {
    let Some(line) = machine.root.line(path) else { return };
    let mut words = line.split_whitespace();
    let (Some(algorithm), Some(key)) = (words.next(), words.next()) else { return };
    let kind = match algorithm {
        "ssh-dss" => "dsa",
        "ssh-rsa" => "rsa",
        "ssh-ed25519" => "ed25519",
        _ if algorithm.starts_with("ecdsa") => "ecdsa",
        _ => return,
    };
    keys.insert(format!("host_{kind}_public"), key.into());
    if kind == "ecdsa" {
        keys.insert("host_ecdsa_type".to_owned(), algorithm.into());
    }
}
