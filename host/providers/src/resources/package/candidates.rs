//! Parses the output of `apt-cache policy` and `apt-cache showpkg`: the versions that apt could install.

use std::collections::{BTreeSet, HashMap};

/// The versions that apt offers for one name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Offer {
    /// The version that apt would choose.
    pub(super) candidate: Option<String>,
    /// All versions that it could install, best first.
    pub(super) versions: Vec<String>,
}

impl Offer {
    /// Returns the version to install for the requested one, or `None` if it does not exist.
    pub(super) fn choose(&self, wanted: Option<&str>) -> Option<&str> {
        match wanted {
            Some(wanted) => self.versions.iter().find(|version| *version == wanted).map(String::as_str),
            None => self.candidate.as_deref(),
        }
    }
}

/// Parses the output of `apt-cache policy NAME..` into offers by name. Names that apt does not know are missing.
pub(super) fn parse_policy(text: &str) -> HashMap<String, Offer> {
    let mut offers: HashMap<String, Offer> = HashMap::new();
    let mut current: Option<&mut Offer> = None;
    for line in text.lines() {
        if !line.starts_with(' ') {
            current = line.strip_suffix(':').map(|name| offers.entry(name.to_owned()).or_default());
            continue;
        }
        let Some(offer) = current.as_mut() else { continue };
        if let Some(candidate) = line.strip_prefix("  Candidate: ") {
            offer.candidate = Some(candidate.trim()).filter(|version| *version != "(none)").map(str::to_owned);
        } else if let Some(version) = parse_version_line(line) {
            offer.versions.push(version.to_owned());
        }
    }
    offers
}

/// Parses a line with a version, such as ` *** 2.10-3 500` or `     2.10-3 500`. The lines below it, with a larger indent,
/// are its sources.
fn parse_version_line(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("     ").or_else(|| line.strip_prefix(" *** "))?;
    if rest.starts_with(' ') {
        return None;
    }
    let (version, priority) = rest.trim_end().split_once(' ')?;
    let priority = priority.split_once(' ').map_or(priority, |(number, _phased)| number);
    priority.parse::<i64>().is_ok().then_some(version)
}

/// Parses the output of `apt-cache showpkg NAME`: the names of the packages that provide it.
pub(super) fn parse_providers(text: &str) -> BTreeSet<String> {
    let after = text.rsplit_once("Reverse Provides:").map_or("", |(_, after)| after);
    after.lines().filter_map(|line| line.split_ascii_whitespace().next()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: &str = "\
hello:
  Installed: 2.9-1
  Candidate: 2.10-3
  Version table:
     2.10-3 500
        500 http://deb.debian.org/debian bookworm/main amd64 Packages
 *** 2.9-1 100
        100 /var/lib/dpkg/status
pinned:
  Installed: (none)
  Candidate: 1:1.0~rc1
  Package pin: 1:1.0~rc1
  Version table:
     2.0 -1
        500 http://deb.debian.org/debian sid/main amd64 Packages
     1:1.0~rc1 990
        990 http://deb.debian.org/debian bookworm/main amd64 Packages
mail-transport-agent:
  Installed: (none)
  Candidate: (none)
  Version table:
phased:
  Candidate: 3
  Version table:
     3 500 (phased 10%)
";

    #[test]
    fn offers_are_read() {
        let offers = parse_policy(POLICY);
        let check = |name: &str, wanted: Option<&str>, expect: Option<&str>| {
            assert_eq!(offers.get(name).and_then(|offer| offer.choose(wanted)), expect, "{name} {wanted:?}");
        };
        check("hello", None, Some("2.10-3"));
        check("hello", Some("2.9-1"), Some("2.9-1"));
        check("hello", Some("2.9"), None);
        check("hello", Some("500"), None);
        check("hello", Some("(none)"), None);
        check("pinned", None, Some("1:1.0~rc1"));
        check("pinned", Some("2.0"), Some("2.0"));
        check("phased", Some("3"), Some("3"));
        check("mail-transport-agent", None, None);
        check("nosuch", None, None);
        assert_eq!(offers.len(), 4);
    }

    #[test]
    fn providers_are_read() {
        let text = "Package: mta\nVersions: \n\nReverse Depends: \n  at,mta\nDependencies: \nProvides: \nReverse Provides: \n\
                    postfix 3.7 (= )\ndma 0.13 (= )\ndma 0.12 (= )\n";
        assert_eq!(parse_providers(text).into_iter().collect::<Vec<_>>(), ["dma", "postfix"]);
        assert!(parse_providers("Reverse Provides: \n").is_empty());
        assert!(parse_providers("").is_empty());
    }
}
