//! Reads from a Chef server, like chef-cli: the list of its cookbooks, their versions and artifacts, and the locks of its
//! policies.
//!
//! Requests are signed with a client's key, and a signature does not contain the name of the server. So signed requests go
//! only to the server that the settings name: an untrusted Policyfile could otherwise send them to an attacker, who would
//! replay them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use artifact::MAX_FILES;
use artifact::lock::FileChecksum;
use contract::HttpRequest;
use jiff::Timestamp as Moment;
use policyfile::model::{ServerObject, ServerSource};
use serde_json::Value;

use super::Session;
use super::error::PolicyfileError;
use super::signing::{ClientKey, Unsigned};
use super::unpack::{MAX_UNPACKED, plain_path};

/// The largest key file, in bytes.
const MAX_KEY: u64 = 64 << 10;

/// The version of the server's API. Every Chef server since version 12 has it.
const API_VERSION: &str = "1";

/// The version of Chef's client that requests name. Servers answer very old clients in another form.
const CHEF_VERSION: &str = "18.11.21";

/// Largest length of a server's text in a message, in characters.
const MAX_SHOWN: usize = 300;

/// The keys of a cookbook's file lists on a server. Since version 2 of the API there is one list; before, there was one for
/// each kind.
const FILE_LISTS: [&str; 10] = [
    "all_files",
    "attributes",
    "definitions",
    "files",
    "libraries",
    "providers",
    "recipes",
    "resources",
    "root_files",
    "templates",
];

/// The Chef server of the settings.
#[derive(Debug, Clone)]
pub struct ChefServer {
    /// Its address with the organization, as in `https://chef.example.org/organizations/acme`.
    pub url: String,
    /// The name of the client that asks.
    pub client: Option<String>,
    /// The file with the client's key.
    pub key: Option<PathBuf>,
    /// Returns the current time. A signature is valid for a quarter of an hour.
    pub now: fn() -> Moment,
}

impl Session<'_> {
    /// Asks the Chef server for something below an organization's address. `None`: it does not have that.
    pub(super) fn ask_chef_server(&self, uri: &str, path: &str) -> Result<Option<Vec<u8>>, String> {
        self.ask_signed(&format!("{}{path}", uri.trim_end_matches('/')))
    }

    /// Sends a signed request.
    fn ask_signed(&self, address: &str) -> Result<Option<Vec<u8>>, String> {
        let server = self.tools.chef_server.as_ref().ok_or_else(|| {
            format!(
                "{address}: the settings name no Chef server; set `chef_server`, `chef_client_name` and `chef_client_key`"
            )
        })?;
        check_own(address, &server.url)?;
        let key = self.client_key(server)?;
        let path = address
            .split_once("://")
            .map_or("", |(_, rest)| rest.find('/').map_or("/", |at| rest.get(at..).unwrap_or("/")));
        let path = path.split(['?', '#']).next().unwrap_or("/");
        let unsigned = Unsigned { method: "GET", path, body: &[], api_version: Some(API_VERSION) };
        let mut headers = key.headers(&unsigned, (server.now)())?;
        headers.push(("Accept".into(), "application/json".into()));
        headers.push(("X-Chef-Version".into(), CHEF_VERSION.into()));
        let answer = self.tools.ask(&HttpRequest { method: "GET".into(), url: address.into(), headers, body: None })?;
        match answer.status {
            200..300 => Ok(Some(answer.body)),
            404 => Ok(None),
            status => {
                let said = super::bounded_json::<Value>(&answer.body).ok();
                let said = said.as_ref().and_then(|said| said.get("error"));
                let said = said.map(|said| match said.get(0).and_then(Value::as_str).or_else(|| said.as_str()) {
                    Some(text) => format!(": {}", text.chars().take(MAX_SHOWN).collect::<String>()),
                    None => String::new(),
                });
                let hint = match status {
                    401 => format!(
                        "; is {} the name of a client there with the key of the settings, and is the clock right?",
                        key.name()
                    ),
                    _ => String::new(),
                };
                Err(format!("{address} answered with the status {status}{}{hint}", said.unwrap_or_default()))
            }
        }
    }

    /// The key of the settings, which is read when it is needed first.
    fn client_key(&self, server: &ChefServer) -> Result<&ClientKey, String> {
        if let Some(key) = self.client_key.get() {
            return Ok(key);
        }
        let missing = |key: &str| format!("the settings name the Chef server {}, and no `{key}`", server.url);
        let name = server.client.as_ref().ok_or_else(|| missing("chef_client_name"))?;
        let file = server.key.as_ref().ok_or_else(|| missing("chef_client_key"))?;
        let wrong = |what: String| format!("the key {} of the client {name}: {what}", file.display());
        let pem = plain_files::read_text(file, MAX_KEY).map_err(|error| wrong(error.to_string()))?;
        let key = ClientKey::parse(name, &pem).map_err(wrong)?;
        Ok(self.client_key.get_or_init(|| key))
    }

    /// The files of a cookbook on the server.
    pub(super) fn server_files(
        &self,
        name: &str,
        source: &ServerSource,
    ) -> Result<BTreeMap<String, Vec<u8>>, PolicyfileError> {
        let path = match &source.object {
            ServerObject::Version(version) => format!("/cookbooks/{}/{}", segment(name)?, segment(version)?),
            ServerObject::Artifact(identifier) => {
                format!("/cookbook_artifacts/{}/{}", segment(name)?, segment(identifier)?)
            }
        };
        let failed = PolicyfileError::Cookbook;
        let document = self.ask_chef_server(&source.uri, &path).map_err(failed)?;
        let document = document.ok_or_else(|| failed(format!("{} does not have {path}", source.uri)))?;
        let wrong = |what: String| failed(format!("{}{path}: {what}", source.uri));
        let document: Value = super::bounded_json(&document).map_err(wrong)?;
        let lists = FILE_LISTS.into_iter().filter_map(|list| document.get(list)?.as_array());
        let (mut files, mut room) = (BTreeMap::new(), MAX_UNPACKED);
        for entry in lists.flatten() {
            let text = |key: &str| {
                entry
                    .get(key)
                    .and_then(Value::as_str)
                    .ok_or_else(|| wrong(format!("an entry of its files has no `{key}`")))
            };
            let path = plain_path(text("path")?.as_ref(), "the cookbook").map_err(wrong)?;
            let content = self.server_file(text("url")?).map_err(wrong)?;
            if FileChecksum::of(&path, &content).md5 != text("checksum")? {
                return Err(wrong(format!("{path} is not the file that the server names: its checksum is another")));
            }
            room = room.saturating_sub(content.len() as u64);
            let is_new = files.insert(path.clone(), content).is_none();
            match (is_new, room, files.len()) {
                (false, ..) => return Err(wrong(format!("{path} is there twice"))),
                (_, 0, _) => return Err(wrong(format!("its files are more than {MAX_UNPACKED} bytes"))),
                (.., count) if count > MAX_FILES => return Err(wrong(format!("it has more than {MAX_FILES} files"))),
                _ => {}
            }
        }
        Ok(files)
    }

    /// One file. The server may redirect to a storage server on another host, whose addresses contain their own signature.
    fn server_file(&self, url: &str) -> Result<Vec<u8>, String> {
        let own = self.tools.chef_server.as_ref().and_then(|server| authority(&server.url));
        match authority(url) {
            None => Err(format!("{url:?} is not an address")),
            there if there == own => self.ask_signed(url)?.ok_or_else(|| format!("{url} is not there")),
            _ => self.tools.download(url),
        }
    }

    /// The lock of a policy on the server: of a revision, else of a group.
    pub(super) fn server_lock(
        &self,
        uri: &str,
        policy: &str,
        revision: Option<&str>,
        group: Option<&str>,
    ) -> Result<Vec<u8>, PolicyfileError> {
        let policy = segment(policy)?;
        let (path, of) = match (revision, group) {
            (Some(revision), _) => {
                (format!("/policies/{policy}/revisions/{}", segment(revision)?), format!("the revision {revision}"))
            }
            (None, Some(group)) => {
                (format!("/policy_groups/{}/policies/{policy}", segment(group)?), format!("the group {group}"))
            }
            (None, None) => {
                return Err(PolicyfileError::Cookbook("name a policy_group or a policy_revision_id".into()));
            }
        };
        let found = self.ask_chef_server(uri, &path).map_err(PolicyfileError::Cookbook)?;
        found.ok_or_else(|| PolicyfileError::Cookbook(format!("{uri} has no lock of the policy {policy} for {of}")))
    }
}

/// Checks a name that becomes part of an address. Chef's names contain only these characters.
fn segment(name: &str) -> Result<&str, PolicyfileError> {
    let is_sound = !name.is_empty()
        && !matches!(name, "." | "..")
        && name.chars().all(|one| one.is_ascii_alphanumeric() || matches!(one, '_' | '.' | ':' | '-'));
    if is_sound { Ok(name) } else { Err(PolicyfileError::Cookbook(format!("{name:?} is not a name on a Chef server"))) }
}

/// Checks that an address is on the Chef server of the settings, `server`.
///
/// # Errors
/// It is not, or one of the two is not an address: what cannot be told apart is not signed for.
fn check_own(address: &str, server: &str) -> Result<(), String> {
    let Some(own) = authority(server) else {
        return Err(format!(
            "{server:?}, the Chef server of the settings, is not an address such as https://chef.example.org/organizations/acme; \
             a user and a password do not belong there"
        ));
    };
    if authority(address) == Some(own) {
        return Ok(());
    }
    Err(format!(
        "{address} is not on the Chef server of the settings, {server}: requests are signed for that one alone"
    ))
}

/// The server of an address: its scheme, host and port.
fn authority(address: &str) -> Option<(String, String, String)> {
    let (scheme, rest) = address.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let place = rest.split(['/', '?', '#']).next().filter(|place| !place.is_empty() && !place.contains('@'))?;
    let usual = match scheme.as_str() {
        "http" => "80",
        "https" => "443",
        _ => return None,
    };
    let (host, port) = match place.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port),
        _ => (place, usual),
    };
    Some((scheme, host.to_ascii_lowercase(), port.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_told_apart() {
        #[track_caller]
        fn check(one: &str, other: &str, same: bool) {
            assert_eq!(authority(one).is_some() && authority(one) == authority(other), same, "{one} {other}");
        }
        check("https://Chef.example/organizations/a", "https://chef.example:443/bookshelf/x?y", true);
        check("http://[::1]:80/a", "http://[::1]/b", true);
        check("https://chef.example/a", "http://chef.example/a", false);
        check("https://chef.example/a", "https://chef.example:8443/a", false);
        check("https://chef.example/a", "https://chef.example.org/a", false);
        check("https://chef.example/a", "https://chef.example@other.org/a", false);
        check("chef.example", "chef.example", false);
    }

    #[test]
    fn nothing_is_signed_where_servers_cannot_be_told_apart() {
        let own = "https://chef.example/organizations/a";
        assert_eq!(check_own("https://chef.example/organizations/a/universe", own), Ok(()));
        for (address, server) in [
            ("https://me@evil.example/universe", "https://me@chef.example/organizations/a"),
            ("evil.example/universe", "chef.example/organizations/a"),
            ("https://evil.example/universe", own),
            ("evil.example/universe", own),
            ("https://chef.example/universe", "chef.example"),
        ] {
            assert!(check_own(address, server).is_err(), "{address} {server}");
        }
    }

    #[test]
    fn names_stay_within_their_part_of_an_address() {
        for name in ["", ".", "..", "a/b", "a?b", "a%2fb", "a b"] {
            assert!(segment(name).is_err(), "{name:?}");
        }
        assert_eq!(segment("web-1.0_x:y").unwrap(), "web-1.0_x:y");
    }
}
