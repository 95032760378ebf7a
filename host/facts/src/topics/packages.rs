//! `packages`: Ohai's plugin Packages, from dpkg's own database.
//!
//! RPM's database is a binary file that only RPM's library can read. On such systems `packages` is absent and not empty, so
//! that no cookbook concludes that nothing is installed.

use serde_json::{Value, json};

use crate::limits;
use crate::machine::{Gathered, Machine};
use crate::topics::one;

pub(crate) fn gather(machine: &Machine) -> Gathered {
    match machine.root.text_within("/var/lib/dpkg/status", limits::PACKAGE_DATABASE) {
        Some(status) => one("packages", packages(&status)),
        None => Gathered::new(),
    }
}

/// Returns the packages of a dpkg status file, except those that are not installed at all, sorted by name as in `dpkg-query`.
fn packages(status: &str) -> Gathered {
    let mut packages: Vec<(&str, Value)> = paragraphs(status).filter_map(package).collect();
    packages.sort_by_key(|(name, _)| *name);
    packages.into_iter().map(|(name, package)| (name.to_owned(), package)).collect()
}

fn paragraphs(status: &str) -> impl Iterator<Item = Paragraph<'_>> {
    let mut lines = status.lines();
    std::iter::from_fn(move || {
        let mut paragraph = Paragraph::default();
        let mut has_lines = false;
        for line in lines.by_ref() {
            if line.trim().is_empty() {
                if has_lines {
                    return Some(paragraph);
                }
                continue;
            }
            has_lines = true;
            let Some((field, value)) = line.split_once(':') else { continue };
            let value = Some(value.trim());
            match field {
                "Package" => paragraph.name = value,
                "Version" => paragraph.version = value,
                "Architecture" => paragraph.architecture = value,
                "Status" => paragraph.status = value,
                _ => {}
            }
        }
        has_lines.then_some(paragraph)
    })
}

#[derive(Default)]
struct Paragraph<'a> {
    name: Option<&'a str>,
    version: Option<&'a str>,
    architecture: Option<&'a str>,
    status: Option<&'a str>,
}

fn package(paragraph: Paragraph<'_>) -> Option<(&str, Value)> {
    let name = paragraph.name.filter(|name| !name.is_empty())?;
    // Three words: the wanted state, the error flag, and the present state.
    let status = paragraph.status?.split_whitespace().nth(2).filter(|status| *status != "not-installed")?;
    let package = json!({
        "version": paragraph.version.unwrap_or_default(),
        "arch": paragraph.architecture.unwrap_or_default(),
        "status": status,
    });
    Some((name, package))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_dpkg() {
        let status = "\n\nPackage: zlib1g\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1:1.2.13\n\
                      Description: a\n longer\n text: with a colon\n\nPackage: gone\nStatus: deinstall ok config-files\n\
                      Version: 1\nArchitecture: all\n\nPackage: never\nStatus: purge ok not-installed\n\n\
                      Package: without-status\n\nnonsense\n\nPackage: bash\nStatus: install ok installed\nVersion: 5.2\n\
                      Architecture: amd64";
        assert_eq!(
            serde_json::to_string(&packages(status)).unwrap(),
            serde_json::to_string(&json!({
                "bash": {"version": "5.2", "arch": "amd64", "status": "installed"},
                "gone": {"version": "1", "arch": "all", "status": "config-files"},
                "zlib1g": {"version": "1:1.2.13", "arch": "amd64", "status": "installed"},
            }))
            .unwrap()
        );
        assert_eq!(Value::Object(packages("")), json!({}));
        assert_eq!(Value::Object(packages(":::\n\0\n\nPackage:\nStatus: a b c\n")), json!({}));
    }
}
