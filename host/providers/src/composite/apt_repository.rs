//! `apt_repository`: a package repository for apt, and the keys that apt trusts for it.

mod keys;

use super::machine::Family;
use super::text::{file_name, one_line};
use super::{
    Composite, Machine, OwnFile, always, change, child, command_in_default_environment, in_real_runs, invalid,
    notifying,
};
use crate::resources::asked;
use contract::{Child, Composition, Declaration, FailureMode, Known, Raised, Timing, Wanted};
use schema::types::apt_repository::AptRepositoryProperties;
use serde_json::{Value, json};

/// The folder with apt's lists of repositories.
const SOURCES: &str = "/etc/apt/sources.list.d";

/// The folder with the key rings of repositories.
const KEYRINGS: &str = "/etc/apt/keyrings";

/// The name of the child that makes apt read its lists again.
const CACHES: &str = "apt-cache gencaches";

/// The composite of `apt_repository`.
pub(super) struct AptRepository;

impl Composite for AptRepository {
    fn compose(&self, wanted: &Wanted<'_>, machine: &mut Machine<'_, '_>) -> Result<Composition, Raised> {
        let properties: AptRepositoryProperties = asked::properties(wanted)?;
        let repository = Repository { name: &wanted.declaration.name, wanted, properties: &properties };
        let name = file_name("repo_name", &properties.repo_name)?;
        if machine.family() != Family::Debian {
            return Ok(Composition::default());
        }
        let path = list(name);
        match wanted.action {
            "remove" => repository.remove(&path, machine),
            _ => repository.add(&path, machine),
        }
    }

    fn own_file(&self, wanted: &Wanted<'_>) -> Option<OwnFile> {
        let AptRepositoryProperties { repo_name, .. } = asked::properties(wanted).ok()?;
        // Adding it always has a child for the file.
        (wanted.action == "remove").then(|| OwnFile { path: list(&repo_name), text: None })
    }
}

/// Returns the path of a repository's list.
fn list(name: &str) -> String {
    format!("{SOURCES}/{name}.list")
}

/// A resource that declares a repository.
struct Repository<'w> {
    name: &'w str,
    wanted: &'w Wanted<'w>,
    properties: &'w AptRepositoryProperties,
}

impl Repository<'_> {
    fn add(&self, path: &str, machine: &mut Machine<'_, '_>) -> Result<Composition, Raised> {
        let caches = command_in_default_environment(CACHES, "nothing", &["apt-cache", "gencaches"]);
        let caches = Declaration { on_failure: FailureMode::Ignore, ..caches };
        let mut made = vec![always(caches), always(self.update())];
        for key in self.properties.key.iter().flat_map(|keys| &keys.0) {
            made.extend(self.key(key, machine)?);
        }
        let (sentence, removal) = self.older_name(machine)?;
        made.extend(removal);
        let text = self.lines(machine)?;
        let sensitive = text::has_credentials(&text);
        let properties =
            [("owner", json!("root")), ("group", json!("root")), ("mode", json!("0644")), ("content", json!(text))];
        let file = Declaration { sensitive, ..child("file", path, "create", properties) };
        let file = notifying(file, Timing::Immediate, &refresh(), "run");
        made.push(always(self.updating(file)));
        Ok(change(sentence, made))
    }

    fn remove(&self, path: &str, machine: &mut Machine<'_, '_>) -> Result<Composition, Raised> {
        let (sentence, removal) = self.older_name(machine)?;
        let mut sentences: Vec<String> = sentence.into_iter().collect();
        let mut made: Vec<Child> = removal.into_iter().collect();
        if !machine.is_absent(path) || machine.is_survey {
            sentences.push(format!("Removing {} repository from {SOURCES}/", self.properties.repo_name));
            made.push(in_real_runs(self.update()));
            made.push(in_real_runs(child("file", &self.ring(), "delete", [])));
            made.push(in_real_runs(self.updating(child("file", path, "delete", []))));
        }
        Ok(change(sentences, made))
    }

    /// Declares the child that fetches the lists of packages.
    fn update(&self) -> Declaration {
        Declaration { on_failure: FailureMode::Ignore, ..child("apt_update", self.name, "nothing", []) }
    }

    /// Makes a child notify `apt_update`, if the policy wants the lists of packages to be fetched.
    fn updating(&self, file: Declaration) -> Declaration {
        match self.properties.cache_rebuild {
            true => notifying(file, Timing::Immediate, &format!("apt_update[{}]", self.name), "update"),
            false => file,
        }
    }

    /// Returns the path and the removal of an older file: earlier versions of Chef used the resource's name for it.
    fn older_name(&self, machine: &Machine<'_, '_>) -> Result<(Option<String>, Option<Child>), Raised> {
        if self.name == self.properties.repo_name || self.name.contains('/') {
            return Ok((None, None));
        }
        let older = format!("{SOURCES}/{}.list", file_name("name", self.name)?);
        if !machine.is_seen(&older) {
            return Ok((None, None));
        }
        let removal = in_real_runs(child("file", &older, "delete", []));
        Ok((Some(format!("Cleaning up legacy {older} repo file")), Some(removal)))
    }

    /// Returns the path of the key ring that must have signed the repository, or `None` if every key that apt trusts is
    /// accepted.
    fn signing_ring(&self) -> Option<String> {
        match &self.properties.signed_by {
            _ if self.is_null("signed_by") => None,
            Some(Value::Bool(true)) => Some(self.ring()),
            Some(Value::String(ring)) => Some(ring.clone()),
            _ => None,
        }
    }

    /// Tells whether the policy has set a property to null. That differs from leaving it at its default.
    fn is_null(&self, property: &str) -> bool {
        self.wanted.get(property) == Some(Known::Json(&Value::Null))
    }

    /// Returns the path of the repository's own key ring.
    fn ring(&self) -> String {
        format!("{KEYRINGS}/{}.gpg", self.properties.repo_name)
    }

    /// Returns the text of the list file.
    fn lines(&self, machine: &Machine<'_, '_>) -> Result<String, Raised> {
        let AptRepositoryProperties { uri, components, deb_src, .. } = self.properties;
        let Some(uri) = uri else { return Err(invalid("uri is a required property")) };
        if uri.starts_with("ppa:") {
            let hint = "write the archive's address as `uri` and the number of its key as `key`";
            return Err(
                invalid("uri: an archive of Launchpad's is looked up for cookbooks in Ruby only").with_hint(hint)
            );
        }
        let distribution = match &self.properties.distribution {
            Some(Value::String(distribution)) => Some(distribution.clone()),
            Some(_) => None,
            None if self.is_null("distribution") => None,
            None => machine.release("VERSION_CODENAME"),
        };
        let components = components.join(" ");
        let parts = [self.options()?, Some(normalized(uri)), distribution, Some(components)];
        let about = parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
        one_line("uri, distribution, components or options", &about)?;
        let source = if *deb_src { format!("deb-src  {about}\n") } else { String::new() };
        Ok(format!("deb      {about}\n{source}"))
    }

    fn options(&self) -> Result<Option<String>, Raised> {
        let AptRepositoryProperties { arch, trusted, options, .. } = self.properties;
        let mut all = Vec::new();
        if let Some(Value::String(arch)) = arch {
            all.push(format!("arch={arch}"));
        }
        if *trusted {
            all.push("trusted=yes".to_owned());
        }
        all.extend(self.signing_ring().map(|ring| format!("signed-by={ring}")));
        all.extend(options.iter().cloned());
        if all.iter().any(|option| option.contains([']', '['])) {
            return Err(invalid("options must not contain brackets"));
        }
        Ok((!all.is_empty()).then(|| format!("[{}]", all.join(" "))))
    }
}

/// Returns the key of the child that makes apt read its lists again.
fn refresh() -> String {
    format!("execute[{CACHES}]")
}

/// Normalizes an address: scheme and host in lower case, and a path that is not empty.
fn normalized(uri: &str) -> String {
    let Some((scheme, rest)) = uri.split_once("://") else { return uri.to_owned() };
    let end = rest.find('/').unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let path = if path.is_empty() { "/" } else { path };
    let host = match host.rsplit_once('@') {
        Some((user, host)) => format!("{user}@{}", host.to_lowercase()),
        None => host.to_lowercase(),
    };
    format!("{}://{host}{path}", scheme.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::normalized;

    #[test]
    fn addresses_are_written_in_one_way() {
        let check = |uri: &str, expected: &str| assert_eq!(normalized(uri), expected);
        check("HTTPS://Example.ORG", "https://example.org/");
        check("https://User@Example.org/Debian/", "https://User@example.org/Debian/");
        check("cdrom:[x]", "cdrom:[x]");
        check("file:///srv/apt", "file:///srv/apt");
    }
}
