//! Finds a cookbook's needs that its text shows, by kind and with their places.

use super::command_context::{CONTEXT, CommandContext, command_values, line};
use super::composed;
use super::facts::{Access, Fact, Resource, What};
use super::gather::Gathered;
use grants::{LineAsked, entry_of_command};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use text::toml_string;

/// One need of a cookbook.
#[derive(Debug, Default)]
pub struct Need {
    /// The files and lines that need it.
    pub places: BTreeSet<(String, u32)>,
    /// Whether it is needed on Linux in at least one place.
    pub here: bool,
    /// The Linux families and platforms that need it, if all of its places have such conditions. Empty: all need it.
    pub families: BTreeSet<String>,
    /// A detail, such as a cookbook's version constraint or a script's interpreter.
    pub note: Option<String>,
}

/// All needs of a cookbook, by kind.
#[derive(Debug, Default)]
pub struct Needs {
    /// By kind and name.
    pub known: BTreeMap<Kind, BTreeMap<String, Need>>,
    /// Places with a computed need, which is unknown before a run.
    pub computed: BTreeMap<Kind, BTreeSet<(String, u32)>>,
}

/// The kinds of needs, in the order of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Resource types that recipes declare.
    Resources,
    /// Other cookbooks that the metadata names.
    Cookbooks,
    /// Recipes that are included.
    Recipes,
    /// Ruby libraries that are required.
    Libraries,
    /// Gems that the metadata name.
    Gems,
    /// Paths that are changed.
    Paths,
    /// Paths that are read.
    ReadPaths,
    /// Packages of the system.
    Packages,
    /// Services of the system.
    Services,
    /// Accounts that are changed.
    Users,
    /// Groups that are changed.
    Groups,
    /// Accounts whose jobs are scheduled.
    CronUsers,
    /// Mounts, as grants write them.
    Mounts,
    /// Kernel modules that are configured.
    KernelModules,
    /// Starting the node again.
    Reboot,
    /// Command lines that are run as they are.
    Commands,
    /// Scripts. The note has the interpreter.
    Scripts,
    /// Servers that are downloaded from.
    Hosts,
    /// Servers whose purpose is not known.
    Addresses,
    /// Data bags, or items as `bag/item`.
    DataBags,
    /// Indexes that are searched.
    Searches,
    /// Variables of the environment.
    Environment,
    /// Automatic attributes that are read.
    Facts,
    /// Attributes of others that are read.
    Attributes,
    /// Attributes of others that are written.
    WrittenAttributes,
}

impl Kind {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Resources => "resources",
            Self::Cookbooks => "cookbooks",
            Self::Recipes => "recipes",
            Self::Libraries => "libraries",
            Self::Gems => "gems",
            Self::Paths => "paths",
            Self::ReadPaths => "read_paths",
            Self::Packages => "packages",
            Self::Services => "services",
            Self::Users => "users",
            Self::Groups => "groups",
            Self::CronUsers => "cron_users",
            Self::Mounts => "mounts",
            Self::KernelModules => "kernel_modules",
            Self::Reboot => "reboot",
            Self::Commands => "commands",
            Self::Scripts => "scripts",
            Self::Hosts => "hosts",
            Self::Addresses => "addresses",
            Self::DataBags => "data_bags",
            Self::Searches => "search",
            Self::Environment => "environment",
            Self::Facts => "facts",
            Self::Attributes => "attributes",
            Self::WrittenAttributes => "write_attributes",
        }
    }
}

/// Types, the property that names what they act on, and the kind of the need. The property's default is the resource's name.
const OF_TYPES: [(&[&str], &str, Kind); 10] = [
    (&["file", "template", "cookbook_file", "remote_file", "directory", "remote_directory"], "path", Kind::Paths),
    (&["link"], "target_file", Kind::Paths),
    (&["git", "subversion", "archive_file"], "destination", Kind::Paths),
    (
        &["package", "apt_package", "dpkg_package", "dnf_package", "yum_package", "rpm_package"],
        "package_name",
        Kind::Packages,
    ),
    (&["service"], "service_name", Kind::Services),
    (&["systemd_unit"], "unit_name", Kind::Services),
    (&["user", "linux_user"], "username", Kind::Users),
    (&["group"], "group_name", Kind::Groups),
    (&["http_request"], "url", Kind::Hosts),
    (&["cron_d", "cron"], "user", Kind::CronUsers),
];

/// Types that write a file named after the resource, with its folder.
const FILES_OF: [(&str, &str); 2] = [("systemd_unit", "/etc/systemd/system/"), ("cron_d", "/etc/cron.d/")];

/// The resource types that run a script.
const SCRIPTS: [&str; 7] = ["bash", "csh", "ksh", "perl", "python", "ruby", "script"];

/// The property with the address that a type fetches from.
const FETCHED: [(&str, &str); 2] = [("remote_file", "source"), ("git", "repository")];

/// Returns the kinds of what a built-in type's actions may need.
pub(super) fn kinds_of_type(resource_type: &str) -> BTreeSet<Kind> {
    let of_properties = OF_TYPES.iter().filter(|(types, ..)| types.contains(&resource_type)).map(|(.., kind)| *kind);
    let mut kinds: BTreeSet<Kind> = of_properties.chain(composed::kinds(resource_type)).collect();
    let mut add = |is_needed: bool, kind| {
        if is_needed {
            kinds.insert(kind);
        }
    };
    add(FILES_OF.iter().any(|(of, _)| *of == resource_type), Kind::Paths);
    add(FETCHED.iter().any(|(of, _)| *of == resource_type), Kind::Hosts);
    add(SCRIPTS.contains(&resource_type), Kind::Scripts);
    add(resource_type == "execute", Kind::Commands);
    kinds
}

/// `automatic` are the names of the facts that a node has.
pub(super) fn needs(gathered: &Gathered, automatic: &BTreeSet<String>) -> Needs {
    let own: BTreeSet<&str> = gathered.facts.iter().filter_map(|(_, fact)| type_of(fact)).collect();
    let all = || gathered.facts.iter().chain(&gathered.brought).map(|(_, fact)| fact);
    let types: BTreeSet<&str> = all().filter_map(type_of).collect();
    let methods = all().filter_map(|fact| match &fact.what {
        What::Method { name } => Some(name.as_str()),
        _ => None,
    });
    let helpers = methods.filter(|name| !types.contains(name)).collect();
    let mut collector = Collector { gathered, own, helpers, automatic, needs: Needs::default() };
    for (name, constraint) in &gathered.depends {
        let here = if gathered.missing.contains(name) { ", not here" } else { "" };
        let note = format!("{constraint}{here}");
        let place = gathered
            .facts
            .iter()
            .find(|(_, fact)| matches!(&fact.what, What::Depends { name: depends, .. } if depends == name));
        if let Some((file, fact)) = place {
            collector.add(Kind::Cookbooks, name, file, fact);
            collector.note(Kind::Cookbooks, name, note);
        }
    }
    for (file, fact) in &gathered.facts {
        collector.take(file, fact);
    }
    collector.needs
}

/// Returns the name of the type that a fact declares.
fn type_of(fact: &Fact) -> Option<&str> {
    match &fact.what {
        What::Type { name, .. } => Some(name),
        _ => None,
    }
}

struct Collector<'a> {
    gathered: &'a Gathered,
    /// The cookbook's own types.
    own: BTreeSet<&'a str>,
    /// Methods of libraries. A call of one looks like the declaration of a resource.
    helpers: BTreeSet<&'a str>,
    automatic: &'a BTreeSet<String>,
    needs: Needs,
}

impl Collector<'_> {
    fn add(&mut self, kind: Kind, name: &str, file: &str, fact: &Fact) {
        let need = self.needs.known.entry(kind).or_default().entry(name.to_owned()).or_default();
        need.places.insert((file.to_owned(), fact.line));
        if fact.platform.is_some() {
            return;
        }
        // If one place needs it on all platforms, it is needed on all platforms.
        let is_everywhere = fact.families.is_empty() || (need.here && need.families.is_empty());
        need.here = true;
        if is_everywhere { need.families.clear() } else { need.families.extend(fact.families.iter().cloned()) }
    }

    fn note(&mut self, kind: Kind, name: &str, note: String) {
        if let Some(need) = self.needs.known.get_mut(&kind).and_then(|needs| needs.get_mut(name)) {
            need.note = Some(note);
        }
    }

    /// Adds needs with these values, or a computed need. Computed needs of other systems are ignored.
    fn all(&mut self, kind: Kind, values: Option<Vec<String>>, file: &str, fact: &Fact) {
        match values {
            Some(values) => values.iter().for_each(|value| self.add(kind, value, file, fact)),
            None if fact.platform.is_none() => {
                self.needs.computed.entry(kind).or_default().insert((file.to_owned(), fact.line));
            }
            None => {}
        }
    }

    fn take(&mut self, file: &str, fact: &Fact) {
        match &fact.what {
            What::Resource(resource) => self.resource(resource, file, fact),
            What::Command { values, .. } => {
                let lines = values.as_ref().map(|values| values.iter().map(line).collect());
                self.all(Kind::Commands, lines, file, fact);
            }
            What::Path { access: Access::Read, values } => self.all(Kind::ReadPaths, values.clone(), file, fact),
            What::Path { access: Access::Write, values } => self.all(Kind::Paths, values.clone(), file, fact),
            What::Library { name, .. } => self.add(Kind::Libraries, name, file, fact),
            What::Gem { name, .. } => self.add(Kind::Gems, name, file, fact),
            What::Recipe { values, .. } => self.all(Kind::Recipes, values.clone(), file, fact),
            What::Environment { values } => self.all(Kind::Environment, values.clone(), file, fact),
            What::Search { values } => self.all(Kind::Searches, values.clone(), file, fact),
            What::DataBag { values, item } => {
                let with_item =
                    |bag: &String| item.as_ref().map_or_else(|| bag.clone(), |item| format!("{bag}/{item}"));
                let bags = values.as_ref().map(|values| values.iter().map(with_item).collect());
                self.all(Kind::DataBags, bags, file, fact);
            }
            What::Attribute { name, below, .. } => self.attribute(name, below, file, fact),
            What::Written { path, .. } => {
                if let Some((name, below)) = path.split_first().filter(|(name, _)| !self.belongs(name)) {
                    self.add(Kind::WrittenAttributes, &granted_path(name, below), file, fact);
                }
            }
            What::Address { value } => {
                // An address in an attributes file is most likely a download server. The purpose of other addresses is
                // unknown.
                let kind = if file.starts_with("attributes") { Kind::Hosts } else { Kind::Addresses };
                self.addresses(kind, Some(vec![value.clone()]), file, fact);
            }
            _ => {}
        }
    }

    /// Whether attributes below a name are the policy's own.
    fn belongs(&self, name: &str) -> bool {
        name == self.gathered.name || name == "tags" || self.gathered.depends.contains_key(name)
    }

    fn attribute(&mut self, name: &str, below: &[String], file: &str, fact: &Fact) {
        if self.automatic.contains(name) {
            self.add(Kind::Facts, &granted_path(name, below), file, fact);
        } else if !self.belongs(name) {
            self.add(Kind::Attributes, name, file, fact);
        }
    }

    fn resource(&mut self, resource: &Resource, file: &str, fact: &Fact) {
        let kind = resource.kind.as_str();
        let is_own = self.own.contains(kind);
        if !(resource.known || resource.sure && !self.helpers.contains(kind)) {
            return;
        }
        self.add(Kind::Resources, kind, file, fact);
        if is_own || !resource.known {
            return;
        }
        for (_, property, needed) in OF_TYPES.iter().filter(|(kinds, ..)| kinds.contains(&kind)) {
            let values = match property {
                // A cron job without a user runs as root.
                &"user" if resource.property("user").is_none() => Some(vec!["root".to_owned()]),
                _ => resource.named_by(property),
            };
            match needed {
                Kind::Hosts => self.addresses(Kind::Hosts, values, file, fact),
                needed => self.all(*needed, values, file, fact),
            }
        }
        for (_, folder) in FILES_OF.iter().filter(|(of, _)| *of == kind) {
            let names = resource.named_by("name");
            let paths = names.map(|names| names.iter().map(|name| format!("{folder}{name}")).collect());
            self.all(Kind::Paths, paths, file, fact);
        }
        for (needed, values) in composed::needs(resource) {
            self.all(needed, values, file, fact);
        }
        for (_, property) in FETCHED.iter().filter(|(of, _)| *of == kind) {
            self.addresses(Kind::Hosts, resource.texts(property), file, fact);
        }
        if SCRIPTS.contains(&kind) {
            self.script(resource, file, fact);
        }
        if kind == "execute" {
            self.execute(resource, file, fact);
        }
    }

    /// Adds the commands of an `execute` resource, with all parts that a grant of a command has. If one part is computed, the
    /// need counts as computed.
    fn execute(&mut self, resource: &Resource, file: &str, fact: &Fact) {
        let Some((lines, context)) = command_values(resource).zip(CommandContext::of(resource)) else {
            return self.all(Kind::Commands, None, file, fact);
        };
        for line in lines {
            let words = match &line {
                Value::Array(words) => {
                    let words: Option<Vec<String>> =
                        words.iter().map(|word| word.as_str().map(str::to_owned)).collect();
                    words
                }
                _ => None,
            };
            let line = match (&words, &line) {
                (Some(words), _) => LineAsked::Arguments(words),
                (None, Value::String(text)) => LineAsked::Text(text),
                _ => {
                    self.all(Kind::Commands, None, file, fact);
                    continue;
                }
            };
            let Some(entry) = entry_of_command(&context.asked(line)) else { continue };
            let text = match line {
                LineAsked::Arguments(words) => words.join(" "),
                LineAsked::Text(text) | LineAsked::Script { code: text, .. } => text.to_owned(),
            };
            // Each entry of the grants is one need: the same command as another user is another need.
            if entry == toml_string(&text) {
                self.add(Kind::Commands, &text, file, fact);
            } else {
                self.add(Kind::Commands, &entry, file, fact);
                self.note(Kind::Commands, &entry, text);
            }
        }
    }

    fn script(&mut self, resource: &Resource, file: &str, fact: &Fact) {
        // An entry without these properties would be for root in the folder `/`.
        let is_plain = !CONTEXT.iter().any(|name| resource.property(name).is_some());
        let code = resource.texts("code").filter(|_| is_plain);
        let interpreter = match resource.texts("interpreter") {
            Some(named) => named.into_iter().next(),
            None => Some(resource.kind.clone()),
        };
        for text in code.iter().flatten() {
            self.add(Kind::Scripts, text, file, fact);
            self.note(Kind::Scripts, text, interpreter.clone().unwrap_or_default());
        }
        if code.is_none() {
            self.all(Kind::Scripts, None, file, fact);
        }
    }

    /// The servers of addresses.
    fn addresses(&mut self, kind: Kind, values: Option<Vec<String>>, file: &str, fact: &Fact) {
        let servers = values.map(|values| values.iter().filter_map(|value| server(value)).collect());
        self.all(kind, servers, file, fact);
    }
}

/// Returns a path of attributes as grants have it. It ends before a key that grants cannot name, such as one with a dot.
fn granted_path(name: &str, below: &[String]) -> String {
    let below = below.iter().map(String::as_str).take_while(|key| !key.is_empty() && !key.contains(['.', '*', '\\']));
    std::iter::once(name).chain(below).collect::<Vec<_>>().join(".")
}

/// Returns the server of an address as `https://name`, or `None` if the text is not an address with a server.
pub(super) fn server(address: &str) -> Option<String> {
    let (scheme, rest) = address.split_once("://")?;
    let server = rest.split(['/', '?', '#']).next()?.rsplit('@').next()?;
    let is_known = ["http", "https", "ssh", "git"].contains(&scheme);
    let is_name =
        !server.is_empty() && server.chars().all(|letter| letter.is_ascii_alphanumeric() || ".-:".contains(letter));
    (is_known && is_name).then(|| format!("{scheme}://{server}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Types that need nothing of the node, or only what their blocks and commands ask for by themselves.
    const NOTHING: [&str; 11] = [
        "breakpoint",
        "chef_gem",
        "chef_handler",
        "chef_sleep",
        "gem_package",
        "guest_block",
        "log",
        "notify_group",
        "ohai",
        "ruby_block",
        "whyrun_safe_ruby_block",
    ];

    #[test]
    fn every_type_has_needs_or_is_known_to_need_nothing() {
        for kind in schema::reference::all().map(|found| found.name) {
            assert_eq!(kinds_of_type(kind).is_empty(), NOTHING.contains(&kind), "{kind}");
        }
    }

    #[test]
    fn servers_are_told_from_addresses() {
        for (address, expected) in [
            ("https://example.org/a?b", Some("https://example.org")),
            ("http://user:secret@example.org:8080", Some("http://example.org:8080")),
            ("file:///etc/passwd", None),
            ("https://#{host}/x", None),
            ("example.org", None),
        ] {
            assert_eq!(server(address).as_deref(), expected, "{address}");
        }
    }
}
