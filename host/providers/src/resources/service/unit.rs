//! systemd's units as files: does the work of `systemctl --root`, for roots without a running systemd.
//!
//! Only links are created, and only to existing units: a right to a service is the right to start it, not to define the
//! programs that it starts.

use crate::found::{Found, FoundPath, Still, Thing, taken};
use crate::plan::{View, Writer};
use contract::{ErrorKind, Raised};
use grants::{GrantedPath, GrantedService};
use machine::denied::denied;
use machine::root::{Kind, ModeBits, Root, Site};
use machine::systemd::Standing;

/// The folder of the administrator's units, and of the links that enable units.
pub(super) const CONFIGURATION: &str = "/etc/systemd/system";

/// The folders of units, in the order of the search.
pub(super) const FOLDERS: [&str; 5] = [
    CONFIGURATION,
    "/run/systemd/system",
    "/usr/local/lib/systemd/system",
    "/lib/systemd/system",
    "/usr/lib/systemd/system",
];

/// The target of a masked unit's link.
pub(super) const NOTHING: &str = "/dev/null";

/// Permission bits of a new directory for links.
const DIRECTORY: ModeBits = ModeBits::plain(0o755);

/// A unit that was found, with its `[Install]` section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unit {
    /// The unit's name with suffix and instance.
    name: String,
    /// The path of the unit's file.
    path: String,
    masked: bool,
    install: Install,
}

/// The section of a unit that defines how it is enabled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Install {
    wanted_by: Vec<String>,
    required_by: Vec<String>,
    alias: Vec<String>,
    also: Vec<String>,
}

/// The suffix of a service's unit, which a name may omit.
const SERVICE: &str = ".service";

/// The suffixes of units.
const SUFFIXES: [&str; 7] = [SERVICE, ".socket", ".timer", ".target", ".path", ".mount", ".slice"];

pub(super) fn unit_name(name: &str) -> String {
    if SUFFIXES.iter().any(|suffix| name.ends_with(suffix)) { name.into() } else { format!("{name}.service") }
}

/// Tells whether systemd is installed in the root.
pub(super) fn systemd_is_installed(root: &Root) -> bool {
    ["/lib/systemd/systemd", "/usr/lib/systemd/systemd"]
        .iter()
        .any(|path| root.target_entry(path).is_ok_and(|entry| entry.is_some()))
}

/// Finds a service's unit, or returns `None` if it does not have a file.
pub(super) fn find(root: &Root, name: &str) -> Result<Option<Unit>, Raised> {
    let name = &unit_name(name);
    let template = name.split_once('@').and_then(|(base, rest)| Some(format!("{base}@.{}", rest.rsplit_once('.')?.1)));
    for file in [Some(name), template.as_ref()].into_iter().flatten() {
        for folder in FOLDERS {
            let path = format!("{folder}/{file}");
            let Some(entry) = root.entry(&path)? else { continue };
            let link = match entry.kind {
                Kind::Link => root.locate(&path)?.read_link().unwrap_or_default(),
                _ => String::new(),
            };
            if link == NOTHING {
                return Ok(Some(Unit { name: name.clone(), path, masked: true, install: Install::default() }));
            }
            let Ok(text) = root.read(&path) else { continue };
            let install = parse(&String::from_utf8_lossy(&text));
            return Ok(Some(Unit { name: name.clone(), path, masked: text.is_empty(), install }));
        }
    }
    Ok(None)
}

/// Returns the name of the unit for an alias, without `.service`, or `None` if the name is not an alias. Aliases are links to
/// the unit's file.
pub(super) fn own_name(root: &Root, name: &str) -> Option<String> {
    let file = unit_name(name);
    let link = FOLDERS.iter().map(|folder| format!("{folder}/{file}")).find(|path| {
        let entry = root.entry(path).ok().flatten();
        entry.is_some_and(|entry| entry.kind == Kind::Link)
    })?;
    let target = root.locate_target(&link).ok()?;
    let own = target.real().rsplit('/').next().filter(|own| *own != file && target.real() != NOTHING)?;
    // The file name of a template does not name an instance.
    (!own.contains("@.")).then(|| own.strip_suffix(".service").unwrap_or(own).to_owned())
}

/// Returns the names of all services with a unit or an init script, without `.service`.
pub(super) fn all_names(root: &Root) -> Vec<String> {
    let folders = FOLDERS.into_iter().chain([super::script::FOLDER]);
    let listed = folders.filter_map(|folder| Some((folder, root.locate_target(folder).ok()?.names().ok()?)));
    let service = |(folder, names): (&str, Vec<String>)| {
        let is_script = folder == super::script::FOLDER;
        names.into_iter().filter_map(move |name| match name.strip_suffix(".service") {
            Some(service) => Some(service.to_owned()),
            None => is_script.then_some(name),
        })
    };
    listed.flat_map(service).collect()
}

/// Returns the hint for a missing unit or service: the nearest name that the policy may use. Returns `None` if the unit has a
/// file, or if no such name is near. Names of services that the policy may not use are not revealed.
pub(super) fn near(name: &str, view: &View<'_>) -> Option<String> {
    if !matches!(find(view.root, name), Ok(None)) {
        return None;
    }
    let is_granted = |candidate: &&str| view.grants.may_use_service(candidate);
    let ending = SUFFIXES.into_iter().find(|suffix| name.ends_with(suffix));
    let all = match ending {
        None | Some(SERVICE) => all_names(view.root),
        Some(ending) => names_of(view.root, ending),
    };
    let plain = name.strip_suffix(SERVICE).unwrap_or(name);
    let near = text::nearest(plain, all.iter().map(String::as_str).filter(is_granted))?;
    let ending = if plain == name { "" } else { SERVICE };
    Some(format!("did you mean `{near}{ending}`?"))
}

/// Returns the full names of all units with a suffix.
fn names_of(root: &Root, ending: &str) -> Vec<String> {
    let listed = FOLDERS.into_iter().filter_map(|folder| root.locate_target(folder).ok()?.names().ok());
    listed.flatten().filter(|name| name.ends_with(ending)).collect()
}

/// Returns the state of a service; the default if it does not have a unit.
pub(super) fn standing(root: &Root, name: &str) -> Result<Standing, Raised> {
    find(root, name)?.map_or(Ok(Standing::default()), |unit| unit.standing(root))
}

/// Returns the words of the `[Install]` section of a unit's text, each with its key; other sections are skipped.
pub(super) fn install_words(text: &str) -> Vec<(String, String)> {
    let mut words = vec![];
    let mut inside = false;
    for line in text.replace("\\\n", " ").lines().map(str::trim) {
        if line.starts_with('[') {
            inside = line == "[Install]";
        }
        let Some((key, value)) = line.split_once('=').filter(|_| inside && !line.starts_with(['#', ';'])) else {
            continue;
        };
        words.extend(value.split_ascii_whitespace().map(|word| (key.trim().to_owned(), word.to_owned())));
    }
    words
}

/// Reads the `[Install]` section of a unit's text.
fn parse(text: &str) -> Install {
    let mut install = Install::default();
    for (key, word) in install_words(text) {
        let list = match key.as_str() {
            "WantedBy" => &mut install.wanted_by,
            "RequiredBy" => &mut install.required_by,
            "Alias" => &mut install.alias,
            "Also" => &mut install.also,
            _ => continue,
        };
        // A word that is not the plain name of a unit could be a path.
        if !word.contains(['/', '%']) && !word.starts_with('.') {
            list.push(word);
        }
    }
    install
}

impl Unit {
    /// Returns whether the unit is enabled, masked, or cannot be enabled.
    pub(super) fn standing(&self, root: &Root) -> Result<Standing, Raised> {
        let fixed =
            self.install.wanted_by.is_empty() && self.install.required_by.is_empty() && self.install.alias.is_empty();
        if self.masked {
            return Ok(Standing { masked: true, ..Standing::default() });
        }
        Ok(Standing { enabled: fixed || !self.enabling_links(root)?.is_empty(), fixed, masked: false })
    }

    /// Returns the existing links that enable the unit.
    fn enabling_links(&self, root: &Root) -> Result<Vec<String>, Raised> {
        let Ok(place) = root.locate_target(CONFIGURATION) else { return Ok(vec![]) };
        let mut links = vec![];
        for folder in place.names().unwrap_or_default() {
            if folder.ends_with(".wants") || folder.ends_with(".requires") {
                let path = format!("{CONFIGURATION}/{folder}/{}", self.name);
                if root.entry(&path)?.is_some_and(|entry| entry.kind == Kind::Link) {
                    links.push(path);
                }
            }
        }
        Ok(links)
    }

    /// Returns the links to create or remove, also those of all units that are enabled together with this one. Each of these
    /// needs the right to its service.
    pub(super) fn links(&self, enable: bool, service: &GrantedService, view: &View<'_>) -> Result<Links, Raised> {
        let mut links = self.own_links(enable, service, view)?;
        let mut seen = vec![self.name.clone()];
        let mut waiting = self.install.also.clone();
        while let Some(other) = waiting.pop().map(|other| unit_name(&other)) {
            if seen.contains(&other) {
                continue;
            }
            if let Some(unit) = find(view.root, &other)? {
                let granted = view.grants.service(other.strip_suffix(SERVICE).unwrap_or(&other)).map_err(denied)?;
                links.extend(unit.own_links(enable, &granted, view)?);
                waiting.extend(unit.install.also);
            }
            seen.push(other);
        }
        Ok(links)
    }

    /// Returns the links of this unit alone. An alias needs the right to its path, and is skipped without it: if it matters,
    /// packages contain it.
    fn own_links(&self, enable: bool, service: &GrantedService, view: &View<'_>) -> Result<Links, Raised> {
        let mut links = Links::default();
        if !enable {
            for path in self.enabling_links(view.root)? {
                links.remove.push(LinkSite::of(grant(service, &path, view)?, view)?);
            }
            return Ok(links);
        }
        let wants = self.install.wanted_by.iter().map(|target| format!("{CONFIGURATION}/{target}.wants"));
        let requires = self.install.required_by.iter().map(|target| format!("{CONFIGURATION}/{target}.requires"));
        for folder in wants.chain(requires) {
            if view.root.target_entry(&folder)?.is_none() {
                links.directories.push(grant(service, &folder, view)?);
            }
            let link = grant(service, &format!("{folder}/{}", self.name), view)?;
            links.make.push((LinkSite::of(link, view)?, self.path.clone()));
        }
        for alias in &self.install.alias {
            let path = format!("{CONFIGURATION}/{alias}");
            if view.root.entry(&path)?.is_none()
                && let Ok(granted) = grant(service, &path, view)
            {
                links.make.push((LinkSite::of(granted, view)?, self.path.clone()));
            }
        }
        Ok(links)
    }
}

/// Plans the link that masks a service.
pub(super) fn mask(mask: bool, name: &str, service: &GrantedService, view: &View<'_>) -> Result<Links, Raised> {
    let path = format!("{CONFIGURATION}/{}", unit_name(name));
    let link = LinkSite::of(grant(service, &path, view)?, view)?;
    if !mask {
        return Ok(Links { remove: vec![link], ..Links::default() });
    }
    if view.root.entry(&path)?.is_some() {
        let message = format!("Failed to mask unit: File {path} already exists.");
        return Err(Raised::new(ErrorKind::Service, message));
    }
    Ok(Links { make: vec![(link, NOTHING.into())], ..Links::default() })
}

/// Returns the right to a link, by its real path.
fn grant(service: &GrantedService, path: &str, view: &View<'_>) -> Result<GrantedPath, Raised> {
    let real = match view.root.locate(path) {
        Ok(place) => place.real().to_owned(),
        // Its directory will be created first.
        Err(fault) if fault.is_absence() => path.to_owned(),
        Err(fault) => return Err(fault.into()),
    };
    view.grants.unit_link(service, &real).map_err(denied)
}

/// The place of a link, with its state when planned.
#[derive(Debug)]
struct LinkSite {
    granted: GrantedPath,
    found: FoundPath,
}

impl LinkSite {
    fn of(granted: GrantedPath, view: &View<'_>) -> Result<Self, Raised> {
        let found = FoundPath::look(view.root, granted.path())?;
        Ok(Self { granted, found })
    }

    /// Opens the place for a change, if its state is unchanged.
    fn open(&self, writer: &Writer<'_>) -> Result<Site, Raised> {
        let site = writer.root.site(&self.granted)?;
        self.found.require(Still::Itself, site.entry(), self.granted.path())?;
        Ok(site)
    }
}

/// Links of a unit to create and to remove, with the directories for them.
#[derive(Debug, Default)]
pub(crate) struct Links {
    directories: Vec<GrantedPath>,
    make: Vec<(LinkSite, String)>,
    remove: Vec<LinkSite>,
}

impl Links {
    /// Returns the state of the links' places, and of their directories, when planned.
    pub(crate) fn found(&self) -> Found {
        let directories = self.directories.iter().map(|directory| Thing::absent("path", directory.path()));
        let links = self.make.iter().map(|(link, _)| link).chain(&self.remove);
        Found::of(directories.chain(links.map(|link| link.found.thing(link.granted.path()))))
    }

    fn extend(&mut self, other: Self) {
        // The same target may want two units.
        let is_new = |new: &GrantedPath| !self.directories.iter().any(|known| known.path() == new.path());
        let directories: Vec<_> = other.directories.into_iter().filter(is_new).collect();
        self.directories.extend(directories);
        self.make.extend(other.make);
        self.remove.extend(other.remove);
    }

    /// Creates the directories and links, then removes the other links.
    ///
    /// # Errors
    /// The machine refuses, or another entry is now at one of the places.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        for directory in &self.directories {
            let made = writer.root.site(directory)?.make_directory(DIRECTORY);
            made.map_err(|fault| taken(fault, directory.path()))?;
        }
        for (link, text) in &self.make {
            let replaces = link.found.is_there();
            link.open(writer)?.make_link(text, replaces).map_err(|fault| taken(fault, link.granted.path()))?;
        }
        for link in &self.remove {
            link.open(writer)?.remove_file()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_install_section_is_read() {
        let text = "[Unit]\nWantedBy=no.target\n[Service]\nExecStart=/bin/x\n\n[Install]\n# WantedBy=no.target\n\
                    WantedBy=multi-user.target graphical.target\nWantedBy=../evil /etc/x other.target\nRequiredBy = a.target\n\
                    Alias=x.service \\\n  y.service\nAlso=z.socket\n";
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        let expect = Install {
            wanted_by: words(&["multi-user.target", "graphical.target", "other.target"]),
            required_by: words(&["a.target"]),
            alias: words(&["x.service", "y.service"]),
            also: words(&["z.socket"]),
        };
        assert_eq!(parse(text), expect);
    }

    #[test]
    fn units_are_found_where_systemd_finds_them() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("lib/systemd/system/a.service", "[Install]\nWantedBy=multi-user.target\n");
        write("lib/systemd/system/s.service", "[Service]\nExecStart=/bin/x\n");
        write("lib/systemd/system/t@.service", "[Install]\nWantedBy=multi-user.target\n");
        write("etc/systemd/system/multi-user.target.wants/.keep", "");
        let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, folder.path().join(at)).unwrap();
        link("/dev/null", "etc/systemd/system/m.service");
        link("/lib/systemd/system/t@.service", "etc/systemd/system/multi-user.target.wants/t@1.service");
        let root = Root::open(folder.path(), &contract::Account::unmetered("test")).unwrap();
        let check = |name: &str, enabled: bool, masked: bool, fixed: bool| {
            assert_eq!(standing(&root, name).unwrap(), Standing { enabled, masked, fixed }, "{name}");
        };
        check("a", false, false, false);
        check("a.service", false, false, false);
        check("s", true, false, true);
        check("m", false, true, false);
        check("t@1", true, false, false);
        check("t@2", false, false, false);
        check("absent", false, false, false);
        link("/lib/systemd/system/a.service", "etc/systemd/system/multi-user.target.wants/a.service");
        check("a", true, false, false);
    }
}
