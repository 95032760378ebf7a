//! The source of one cookbook: a folder, a repository, an archive, or a Chef server.

use serde_json::{Map, Value};

/// A cookbook's own source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CookbookSource {
    /// A folder, relative to the Policyfile's.
    Path(String),
    /// A git repository, at a branch, tag or commit.
    Git(GitSource),
    /// An archive on a server, as a Supermarket has it.
    Archive(ArchiveSource),
    /// A cookbook that a Chef server has.
    Server(ServerSource),
}

impl CookbookSource {
    /// The folder or the address, as written.
    #[must_use]
    pub fn origin(&self) -> &str {
        match self {
            Self::Path(path) => path,
            Self::Git(source) => &source.uri,
            Self::Archive(source) => &source.url,
            Self::Server(source) => &source.uri,
        }
    }
}

/// An archive of one version of a cookbook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveSource {
    /// The address of the archive.
    pub url: String,
    /// The version in it, as the server names it.
    pub version: String,
}

impl ArchiveSource {
    /// Returns the host of the address, like `URI#host` in Ruby. It is empty if the address does not have one.
    #[must_use]
    pub fn host(&self) -> &str {
        let Some((_, rest)) = self.url.split_once("://") else { return "" };
        let place = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
        match place.split_once(']') {
            Some((address, _)) => place.get(..=address.len()).unwrap_or(place),
            None => place.split(':').next().unwrap_or_default(),
        }
    }
}

/// A cookbook on a Chef server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSource {
    /// The address of the organization on the server.
    pub uri: String,
    /// The cookbook's version or artifact.
    pub object: ServerObject,
}

/// A cookbook as a Chef server stores it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerObject {
    /// A version, as `knife cookbook upload` makes it.
    Version(String),
    /// An artifact by its identifier, as `chef push` makes it.
    Artifact(String),
}

/// A place in a git repository.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GitSource {
    /// The repository's address, as git takes it.
    pub uri: String,
    /// `branch`, `tag` and `ref`, as written.
    pub branch: Option<String>,
    /// The tag, as written: see [`Self::branch`].
    pub tag: Option<String>,
    /// The `ref`, as written: see [`Self::branch`].
    pub reference: Option<String>,
    /// The commit that a lock pins.
    pub revision: Option<String>,
    /// The folder inside the repository.
    pub rel: Option<String>,
}

/// The keys that select a cookbook's source, in order of precedence.
const COOKBOOK_SOURCES: [&str; 7] =
    ["git", "github", "path", "artifactserver", "chef_server", "chef_server_artifact", "artifactory"];

/// Whether a text can be the name of a cookbook: it becomes part of paths, and of keys of a lock.
#[must_use]
pub fn is_cookbook_name(name: &str) -> bool {
    const MAX_LENGTH: usize = 255;
    let is_apart = |one: char| one == '/' || one.is_control() || one.is_whitespace();
    !name.is_empty() && name.len() <= MAX_LENGTH && !matches!(name, "." | "..") && !name.contains(is_apart)
}

/// Reads a cookbook's source options.
///
/// # Errors
/// No source is like this, or none that is supported; the text says why.
pub fn cookbook_source(name: &str, options: &Map<String, Value>) -> Result<Option<CookbookSource>, String> {
    if !is_cookbook_name(name) {
        return Err(format!("{name:?} cannot be the name of a cookbook"));
    }
    let given: Vec<&str> = COOKBOOK_SOURCES.into_iter().filter(|key| options.contains_key(*key)).collect();
    let text = |key: &str| match options.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(format!("`{key}` of cookbook '{name}' must be a string, not {other}")),
    };
    let needed =
        |key: &str| text(key)?.ok_or_else(|| format!("`{key}` of cookbook '{name}' must be a string, not null"));
    match given.as_slice() {
        [] if options.is_empty() => Ok(None),
        [] => Err(format!("cookbook `{name}' has invalid source options {}", shown_options(options))),
        ["path"] => Ok(Some(CookbookSource::Path(needed("path")?))),
        [place @ ("git" | "github")] => {
            let uri = needed(place)?;
            let uri = if *place == "github" { format!("https://github.com/{uri}.git") } else { uri };
            Ok(Some(CookbookSource::Git(GitSource {
                uri,
                branch: text("branch")?,
                tag: text("tag")?,
                reference: text("ref")?,
                revision: text("revision")?,
                rel: text("rel")?,
            })))
        }
        ["artifactserver"] => {
            let (url, version) = (needed("artifactserver")?, text("version")?);
            let version = version
                .ok_or_else(|| format!("cookbook '{name}' from `artifactserver` needs its `version` beside it"))?;
            Ok(Some(CookbookSource::Archive(ArchiveSource { url, version })))
        }
        [place @ ("chef_server" | "chef_server_artifact")] => {
            let uri = needed(place)?;
            // Some releases of chef-cli write the second name to a lock.
            let identifier = text("identifier")?.or(text("server_identifier")?);
            let object = match (text("version")?, identifier) {
                (Some(version), _) if *place == "chef_server" => ServerObject::Version(version),
                (_, Some(identifier)) => ServerObject::Artifact(identifier),
                _ if *place == "chef_server" => {
                    return Err(format!("cookbook '{name}' from `chef_server` needs its `version` beside it"));
                }
                _ => {
                    return Err(format!(
                        "cookbook '{name}' from `chef_server_artifact` needs its `identifier` beside it"
                    ));
                }
            };
            Ok(Some(CookbookSource::Server(ServerSource { uri, object })))
        }
        [kind] => Err(format!(
            "cookbook '{name}' comes from `{kind}`, which is not supported; use path, git, artifactserver or chef_server"
        )),
        several => Err(format!(
            "cookbook '{name}' has several sources, {}: {}; give it one",
            several.join(" and "),
            shown_options(options)
        )),
    }
}

/// Options as a Policyfile writes them.
#[must_use]
pub fn shown_options(options: &Map<String, Value>) -> String {
    let shown: Vec<String> = options.iter().map(|(key, value)| format!("{key}: {value}")).collect();
    format!("{{{}}}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn sources_of_cookbooks_are_read_strictly() {
        #[track_caller]
        fn check(options: Value, expect: &str) {
            let got = match cookbook_source("web", options.as_object().unwrap()) {
                Ok(None) => "none".to_owned(),
                Ok(Some(CookbookSource::Path(path))) => format!("path {path}"),
                Ok(Some(CookbookSource::Git(git))) => format!("git {} {:?}", git.uri, git.branch),
                Ok(Some(CookbookSource::Archive(archive))) => {
                    format!("archive {} of {} at {}", archive.version, archive.url, archive.host())
                }
                Ok(Some(CookbookSource::Server(server))) => format!("{:?} on {}", server.object, server.uri),
                Err(error) => error,
            };
            assert!(got.contains(expect), "{got}");
        }
        check(json!({}), "none");
        check(json!({"path": "c/web"}), "path c/web");
        check(json!({"git": "file:///x", "branch": "main", "tag": null}), "git file:///x Some(\"main\")");
        check(json!({"github": "a/b"}), "git https://github.com/a/b.git None");
        let archive = |url: &str| json!({"artifactserver": url, "version": "1.0.0"});
        check(archive("https://s.example/a?b"), "archive 1.0.0 of https://s.example/a?b at s.example");
        check(archive("http://me@127.0.0.1:80/x"), "at 127.0.0.1");
        check(archive("http://[::1]:80/x"), "at [::1]");
        check(json!({"artifactserver": "https://s.example/a"}), "needs its `version` beside it");
        check(json!({"ftp": "x"}), "invalid source options {ftp: \"x\"}");
        check(json!({"path": "c/web", "git": "file:///x"}), "several sources, git and path");
        check(json!({"path": 3}), "must be a string, not 3");
        check(json!({"chef_server": "https://x", "version": "1.0.0"}), "Version(\"1.0.0\") on https://x");
        check(json!({"chef_server": "https://x"}), "needs its `version`");
        check(json!({"chef_server_artifact": "https://x", "identifier": "ab"}), "Artifact(\"ab\") on https://x");
        check(json!({"chef_server": "https://x", "server_identifier": "ab"}), "Artifact(\"ab\") on https://x");
        check(json!({"chef_server_artifact": "https://x"}), "needs its `identifier`");
        check(json!({"artifactory": "https://x"}), "`artifactory`, which is not supported");
    }
}
