//! Lists the places where the host looks for a cookbook's file or template, the most specific one first.

/// The parts of a cookbook whose files may differ by host and platform.
const SPECIFIC_SEGMENTS: [&str; 2] = ["files", "templates"];

/// Stands for a platform that is not known; no folder has such a name.
const UNKNOWN: &str = "/unknown_platform/";

/// The facts of a node that the lookup of files depends on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeIdentity {
    /// `automatic.platform`, such as `debian`; `None` if the node has no such fact.
    pub platform: Option<String>,
    /// `automatic.platform_version`, such as `12.5`; `None` if the node has no such fact.
    pub platform_version: Option<String>,
    /// `automatic.fqdn`, such as `web1.example.org`; `None` if the node has no such fact.
    pub fqdn: Option<String>,
}

/// The places in which to look for `name` in a cookbook's `segment`, in order, relative to the cookbook.
///
/// For `files` and `templates`: `host-FQDN`, the platform with its version and ever shorter parts of it, the platform,
/// `default`, and the segment itself. Other segments have one place only.
pub fn lookup_paths(segment: &str, name: &str, node: &NodeIdentity) -> Vec<String> {
    if !SPECIFIC_SEGMENTS.contains(&segment) {
        return vec![format!("{segment}/{name}")];
    }
    let (platform, version) = match (&node.platform, &node.platform_version) {
        (Some(platform), Some(version)) => (platform.as_str(), version.as_str()),
        _ => (UNKNOWN, UNKNOWN),
    };
    let mut folders = vec![format!("host-{}", node.fqdn.as_deref().unwrap_or_default())];
    let mut version = version.trim_end_matches('.');
    while !version.is_empty() {
        folders.push(format!("{platform}-{version}"));
        version = version.rsplit_once('.').map_or("", |(shorter, _)| shorter);
    }
    folders.extend([platform.to_owned(), "default".to_owned()]);
    let places = folders.into_iter().map(|folder| format!("{segment}/{folder}/{name}"));
    places.chain([format!("{segment}/{name}")]).collect()
}

/// Returns the places for a resource whose `source` is an array: the declaration itself names them.
pub fn given_paths<Name: AsRef<str>>(segment: &str, names: &[Name]) -> Vec<String> {
    names.iter().map(|name| format!("{segment}/{}", name.as_ref())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_segments_and_unknown_platforms() {
        assert_eq!(lookup_paths("recipes", "a.rb", &NodeIdentity::default()), ["recipes/a.rb"]);
        let places = lookup_paths("files", "a", &NodeIdentity::default());
        assert_eq!(places.last().map(String::as_str), Some("files/a"));
        assert!(places.contains(&"files/default/a".to_owned()));
        assert_eq!(given_paths("templates", &["x/a.erb", "a.erb"]), ["templates/x/a.erb", "templates/a.erb"]);
    }
}
