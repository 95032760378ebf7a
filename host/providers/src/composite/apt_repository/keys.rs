//! The keys of a repository. They come from an address, a file of the cookbook or a key server. They go into the repository's
//! own key ring or, if the policy wants that, into apt's.

use super::super::text::one_word;
use super::super::{Machine, always, child, command_in_default_environment, invalid, not_if, notifying, step, with};
use super::{KEYRINGS, Repository, refresh};
use crate::gpg::{key_of_ring, keys_of, public_keys};
use contract::{Child, Declaration, ErrorKind, Raised, Timing};
use node::file_specificity::lookup_paths;
use serde_json::{Value, json};
use std::collections::HashSet;

impl Repository<'_> {
    /// Returns the children that make apt trust a key.
    pub(super) fn key(&self, key: &str, machine: &mut Machine<'_, '_>) -> Result<Vec<Child>, Raised> {
        if is_number(key) && !self.is_own_file(key, machine) {
            return self.fetched_by_number(key, machine);
        }
        let source = if key.starts_with("http") {
            "remote_file"
        } else if self.is_own_file(key, machine) {
            "cookbook_file"
        } else {
            return Err(Raised::new(ErrorKind::NoSuchFile, format!("Cannot locate key file: {key}")));
        };
        match self.has_own_ring() {
            true => self.kept_in_ring(source, key, machine),
            false => self.added_to_trusted(source, key, machine),
        }
    }

    fn has_own_ring(&self) -> bool {
        self.signing_ring().is_some()
    }

    fn cookbook(&self) -> Option<&str> {
        let named = match &self.properties.cookbook {
            Some(Value::String(name)) => Some(name.as_str()),
            _ => None,
        };
        named.or(self.wanted.declaration.origin.cookbook.as_deref())
    }

    fn is_own_file(&self, name: &str, machine: &Machine<'_, '_>) -> bool {
        let Some(cookbook) = self.cookbook() else { return false };
        let Ok(paths) = machine.view.files.paths(cookbook, "files") else { return false };
        lookup_paths("files", name, &machine.view.settings.node).iter().any(|place| paths.contains(place))
    }

    fn fetch(&self, source: &str, key: &str, path: &str) -> Declaration {
        let properties = [
            ("source", json!(key)),
            ("mode", json!("0644")),
            ("verify", json!(["gpg %{path}"])),
            ("path", json!(path)),
        ];
        let child = child(source, path, "create", properties);
        match (source, self.cookbook()) {
            ("cookbook_file", Some(cookbook)) => with(child, "cookbook", json!(cookbook)),
            _ => child,
        }
    }

    fn kept_in_ring(&self, source: &str, key: &str, machine: &mut Machine<'_, '_>) -> Result<Vec<Child>, Raised> {
        let ring = self.ring();
        let plain = |sign: char| if sign.is_ascii_alphanumeric() || sign == '-' { sign } else { '_' };
        let cache = machine.view.settings.file_cache.clone();
        let name = without_secrets(key, machine.view.sensitive);
        let staged = format!("{cache}/{}", name.chars().map(plain).collect::<String>());
        let import = format!("import {ring}");
        let receiver = format!("execute[{import}]");
        // apt before version 3 reads key rings of one format only.
        let version = machine.printed("apt", &["-v"]).unwrap_or_default();
        let version = version.split(|sign: char| !sign.is_ascii_digit()).find(|digits| !digits.is_empty());
        let is_new = version.and_then(|digits| digits.parse::<u32>().ok()).is_some_and(|version| version > 2);
        let target = format!("{}{ring}", if is_new { "gnupg-ring:" } else { "" });
        let words = ["gpg", "--import", "--batch", "--yes", "--no-default-keyring", "--keyring", &target, &staged];
        let file = child("file", &ring, "create", [("mode", json!("0644"))]);
        let file = if machine.is_seen(&ring) { file } else { notifying(file, Timing::Before, &receiver, "run") };
        let mut made = Vec::new();
        // For policies with cookbooks in Ruby, wrun creates this folder. It belongs to the policy and its existence is not
        // secret.
        if !machine.view.root.target_entry(&cache).is_ok_and(|entry| entry.is_some()) {
            made.push(step(child("directory", &cache, "create", [("recursive", json!(true))])));
        }
        let rows = [
            child("directory", KEYRINGS, "create", [("mode", json!("0755"))]),
            notifying(self.fetch(source, key, &staged), Timing::Immediate, &receiver, "run"),
            command_in_default_environment(&import, "nothing", &words),
            file,
        ];
        made.extend(rows.map(always));
        Ok(made)
    }

    fn added_to_trusted(&self, source: &str, key: &str, machine: &mut Machine<'_, '_>) -> Result<Vec<Child>, Raised> {
        let path = self.ring();
        let add = format!("apt-key add {path}");
        let words = ["apt-key", "add", &path];
        machine.granted(&words)?;
        let is_trusted = machine.is_seen(&path) && {
            let listed = machine.seen_bytes(&path).and_then(|file| machine.asked_confined(&keys_of(file)));
            let own = public_keys(&listed.unwrap_or_default());
            let all = machine.printed_confined("apt-key", &TRUSTED).unwrap_or_default();
            let all: HashSet<_> = public_keys(&all).into_iter().collect();
            !own.is_empty() && own.iter().all(|key| all.contains(key))
        };
        let receiver = format!("execute[{add}]");
        let fetch = self.fetch(source, key, &path);
        let add = notifying(command_in_default_environment(&add, "run", &words), Timing::Immediate, &refresh(), "run");
        Ok(if is_trusted {
            // If the key file changes, a notification adds the key; no guard may suppress it.
            let fetch = notifying(fetch, Timing::Immediate, &receiver, "run");
            vec![always(fetch), always(Declaration { actions: vec!["nothing".into()], ..add })]
        } else {
            vec![always(fetch), always(add)]
        })
    }

    fn fetched_by_number(&self, key: &str, machine: &mut Machine<'_, '_>) -> Result<Vec<Child>, Raised> {
        let text = |value: &Option<Value>| value.as_ref().and_then(Value::as_str).map(str::to_owned);
        let Some(server) = text(&self.properties.keyserver) else {
            return Err(invalid("keyserver is a required property for a key that is a number"));
        };
        let server = one_word("keyserver", &server)?;
        let server = if server.starts_with("hkp://") { server.to_owned() } else { format!("hkp://{server}:80") };
        let ring = self.ring();
        let proxy = text(&self.properties.key_proxy).map(|proxy| format!("http-proxy={proxy}"));
        let through: Vec<&str> = proxy.iter().flat_map(|proxy| ["--keyserver-options", proxy]).collect();
        let words: Vec<&str> = match self.has_own_ring() {
            true => [
                ["gpg", "--no-default-keyring", "--keyring", &ring].as_slice(),
                &through,
                &["--keyserver", &server, "--recv", key],
            ]
            .concat(),
            false => {
                [["apt-key", "adv", "--no-tty", "--recv"].as_slice(), &through, &["--keyserver", &server, key]].concat()
            }
        };
        machine.granted(&words)?;
        let is_there = self.has_key(&key.to_uppercase(), machine);
        let install = command_in_default_environment(&format!("install-key {key}"), "run", &words);
        let install = not_if(is_there, notifying(install, Timing::Immediate, &refresh(), "run"));
        match self.has_own_ring() {
            true => {
                let folder = child("directory", KEYRINGS, "create", [("mode", json!("0755"))]);
                Ok(vec![step(folder), always(install)])
            }
            false => Ok(vec![always(install)]),
        }
    }

    /// Tells whether a key is present and valid.
    fn has_key(&self, key: &str, machine: &mut Machine<'_, '_>) -> bool {
        if self.has_own_ring() {
            let ring = self.ring();
            machine.would_read(&ring);
            let listed = machine.seen_bytes(&ring).and_then(|ring| machine.asked_confined(&key_of_ring(ring, key)));
            return listed.is_some_and(|listed| !listed.contains("[expired:") && !listed.contains("[revoked:"));
        }
        let all = machine.printed_confined("apt-key", &TRUSTED).unwrap_or_default();
        all.lines()
            .any(|line| line.starts_with("fpr:") && line.trim_end_matches(':').ends_with(key.trim_start_matches("0X")))
    }
}

/// The arguments that make apt list its trusted keys.
const TRUSTED: [&str; 4] = ["adv", "--list-public-keys", "--with-fingerprint", "--with-colons"];

/// Tells whether a key is given by its number, as for key servers.
fn is_number(key: &str) -> bool {
    let digits = key.strip_prefix("0x").unwrap_or(key);
    [8, 16, 40].contains(&digits.len()) && digits.chars().all(|sign| sign.is_ascii_hexdigit())
}

/// Returns a key's address for the name of its file: without user and password, and without the query of a sensitive
/// resource.
fn without_secrets(key: &str, sensitive: bool) -> String {
    let Some((scheme, rest)) = key.split_once("://") else { return key.to_owned() };
    let (server, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let server = server.rsplit_once('@').map_or(server, |(_, server)| server);
    let path = path.split_once('?').filter(|_| sensitive).map_or(path, |(path, _)| path);
    format!("{scheme}://{server}{path}")
}
