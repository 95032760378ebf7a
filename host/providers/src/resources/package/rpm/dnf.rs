//! `dnf_package` and `yum_package`.

use super::version::Version;
use super::{LookAhead, RpmFile, RpmTransaction, ahead, inquiry, is_name, package, query};
use crate::found::Thing;
use crate::operation::Operation;
use crate::plan::{Assumption, Plan, Provider, Step, View};
use crate::resources::asked;
use crate::resources::package::along::{Along, grant_along};
use crate::resources::package::apt::{unmarked, unsupported};
use crate::resources::package::request::{Request, ask, grant};
use crate::resources::package::targets::{Aim, Seen, change, missing, needs_candidate, removal, step, target_by};
use crate::withheld::Withheld;
use contract::{Certainty, Change, ErrorKind, Raised, Wanted};
use grants::{GrantedPackage, PackageTool};
use machine::command::require_success;
use schema::types::rpm_packages::{ArchitectureProperties, RpmPackageProperties, YumPackageProperties};
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

/// The provider of packages from the repositories of dnf or yum.
pub(crate) struct DnfPackage {
    pub(crate) program: &'static str,
}

impl Provider for DnfPackage {
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        // No answers are cached between resources. `yum_repository` asks for it under a name that does not belong to a package.
        if wanted.action == "flush_cache" {
            return Ok(Plan::up_to_date());
        }
        let task = Task::read(self.program, wanted, view)?;
        match wanted.action {
            "install" => task.install(Aim::Install, wanted, view),
            "upgrade" => task.install(Aim::Upgrade, wanted, view),
            "remove" | "purge" => task.remove(wanted.action, view),
            "lock" | "unlock" => task.lock(wanted.action == "lock", view),
            other => Err(unsupported(wanted, other)),
        }
    }

    fn ask(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<(), Raised> {
        if wanted.action == "flush_cache" { Ok(()) } else { ask(wanted, view) }
    }
}

/// A package of a resource.
struct Package {
    seen: Seen,
    installed: Option<Version>,
    candidate: Option<Version>,
}

impl Package {
    fn thing(&self) -> Thing {
        package(&self.seen.name, self.installed.as_ref())
    }
}

/// The sentences of a step, the packages that they concern, and the simulation for it.
#[derive(Default)]
struct Deed {
    changes: Vec<Change>,
    things: Vec<Thing>,
    /// The proofs for packages besides the declared ones.
    granted: Vec<GrantedPackage>,
    ahead: Option<LookAhead>,
}

struct Task {
    program: &'static str,
    request: Request,
    architectures: Vec<String>,
    /// The path of a package file, instead of a name.
    source: Option<String>,
    /// True if the file does not exist yet.
    source_is_missing: bool,
}

impl Task {
    fn read(program: &'static str, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Self, Raised> {
        let request = Request::read(wanted, view)?;
        let ArchitectureProperties { arch: architectures } = asked::properties(wanted)?;
        let RpmPackageProperties { source: named, .. } = asked::properties(wanted)?;
        let file = |name: &str| name.starts_with('/') && name.ends_with(".rpm");
        let source = named.or_else(|| request.packages.iter().map(|(name, _)| name.clone()).find(|name| file(name)));
        let mut task = Self { program, architectures, source: None, source_is_missing: false, request };
        if let Some(source) = source {
            if task.request.packages.len() > 1 {
                let message = "You may not specify both multipackage and source";
                return Err(Raised::new(ErrorKind::InvalidRequest, message));
            }
            let real = super::file::find(&source, view)?;
            task.source_is_missing = real.is_none();
            if real.is_none() && !view.why_run {
                let name = task.request.names();
                return Err(Raised::new(ErrorKind::Package, format!("Package {name} not found: {source}")));
            }
            if let Some(real) = &real {
                // The file's name may be misleading: the package name inside the file decides.
                let held = query::in_file(view, real)?;
                if let (Some((name, _)), Some(slot)) = (held.into_iter().next(), task.request.packages.first_mut()) {
                    slot.0 = name;
                }
            }
            task.source = real.or(Some(source));
        }
        if !task.source_is_missing {
            task.request.granted = grant(view, task.request.packages.iter().map(|(name, _)| name.as_str()))?;
        }
        if wanted.declaration.kind == "yum_package" {
            let YumPackageProperties { yum_binary } = asked::properties(wanted)?;
            if let Some(binary) = yum_binary.filter(|binary| !matches!(binary.as_str(), "yum" | "dnf")) {
                let message = format!("yum_binary {binary:?} is neither yum nor dnf");
                return Err(Raised::new(ErrorKind::InvalidValue, message));
            }
        }
        Ok(task)
    }

    fn names(&self) -> Vec<String> {
        self.request.packages.iter().map(|(name, _)| name.clone()).filter(|name| is_name(name)).collect()
    }

    /// Reads the state of all packages of the resource.
    fn look(&self, aim: Option<Aim>, view: &mut View<'_>) -> Result<Vec<Package>, Raised> {
        let installed = by_name(query::installed(view, &self.names())?);
        let mut packages = vec![];
        for (at, (name, version)) in self.request.packages.iter().enumerate() {
            let architecture = self.architectures.get(at).filter(|text| !text.is_empty());
            let fits = |found: &&Version| architecture.is_none_or(|wanted| found.architecture == *wanted);
            let found = newest(installed.get(name).into_iter().flatten().filter(fits));
            let current = found.as_ref().map(Version::text);
            // If the installed version matches a partial declared version, the declaration is fulfilled.
            let answered = found.as_ref().zip(version.as_ref()).is_some_and(|(found, asked)| found.answers(asked));
            let wanted = if answered { current.clone() } else { version.clone() };
            let seen = Seen { name: name.clone(), wanted, current, candidate: None };
            packages.push(Package { seen, installed: found, candidate: None });
        }
        let Some(aim) = aim else { return Ok(packages) };
        self.look_for_candidates(aim, &mut packages, view)?;
        Ok(packages)
    }

    fn look_for_candidates(&self, aim: Aim, packages: &mut [Package], view: &mut View<'_>) -> Result<(), Raised> {
        let open = packages.iter().filter(|package| needs_candidate(aim, &package.seen));
        let open: Vec<String> = open.map(|package| package.seen.name.clone()).filter(|name| is_name(name)).collect();
        let offers = by_name(match &self.source {
            Some(_) if self.source_is_missing => vec![],
            Some(source) => query::in_file(view, source)?,
            None => {
                self.request.may_ask(PackageTool::Dnf, view)?;
                query::available(view, self.program, &self.request.options, &open)?
            }
        });
        let open: HashSet<String> = open.into_iter().collect();
        for (at, package) in packages.iter_mut().enumerate().filter(|(_, package)| open.contains(&package.seen.name)) {
            let architecture = self.architectures.get(at).filter(|text| !text.is_empty());
            let own = |version: &Version| match (architecture, &package.installed) {
                (Some(wanted), _) => version.architecture == *wanted,
                (None, Some(installed)) => {
                    version.architecture == installed.architecture || version.architecture == "noarch"
                }
                // A repository may offer a package for several architectures: 32-bit packages and sources are not the
                // machine's own.
                (None, None) => !matches!(version.architecture.as_str(), "i386" | "i586" | "i686" | "src"),
            };
            let wanted = package.seen.wanted.clone();
            let offered = offers.get(&package.seen.name).into_iter().flatten();
            let fitting =
                offered.filter(|version| own(version) && wanted.as_ref().is_none_or(|asked| version.answers(asked)));
            package.candidate = newest(fitting.chain(package.installed.iter().filter(|_| wanted.is_none())));
            package.seen.candidate = package.candidate.as_ref().map(Version::text);
            if package.seen.candidate.is_some() && wanted.is_some() {
                package.seen.wanted = package.seen.candidate.clone();
            }
        }
        Ok(())
    }

    fn install(&self, aim: Aim, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        if self.source_is_missing {
            let source = self.source.clone().unwrap_or_default();
            return Ok(Plan::uncertain(Certainty::Assumed(format!(
                "assuming {source} would have previously been created"
            ))));
        }
        let packages = self.look(Some(aim), view)?;
        let seen: Vec<Seen> = packages.iter().map(|package| package.seen.clone()).collect();
        let mut plan = Plan::default();
        if let Some((sentence, names)) = missing(aim, &seen) {
            if !view.why_run {
                return Err(Raised::new(ErrorKind::Package, format!("{sentence} {names}")));
            }
            let assumed = format!("Assuming a repository that offers {names} would have been configured");
            plan.certainty.push(Certainty::Assumed(assumed));
        }
        let RpmPackageProperties { allow_downgrade, .. } = asked::properties(wanted)?;
        let (mut changes, mut specifications, mut things) = (vec![], vec![], vec![]);
        for package in &packages {
            let compare = |_: &str, _: &str| match (&package.installed, &package.candidate) {
                (Some(installed), Some(candidate)) => installed.compare(candidate),
                _ => Ordering::Equal,
            };
            if let Some(version) = target_by(compare, aim, &package.seen, allow_downgrade) {
                changes.push(change(aim, &package.seen, version));
                specifications.push(format!("{}-{version}", package.seen.name));
                things.push(package.thing().with("candidate", version));
                plan.assume(Assumption::Package(package.seen.name.clone()));
            }
        }
        if specifications.is_empty() {
            return Ok(plan);
        }
        let mut file = None;
        if let Some(source) = &self.source {
            specifications.clear();
            file = Some(RpmFile::read(source.clone(), view)?);
        }
        let mut deed = Deed { changes, things, ..Deed::default() };
        let path = file.as_ref().map(|file| file.path.as_str());
        match self.look_ahead(("install", "it replaces"), specifications.clone(), path, &mut deed, view) {
            // An earlier resource may provide the missing dependencies.
            Err(raised) if view.why_run && raised.kind != ErrorKind::Denied => {
                let why = format!("which other packages it would change is not known: {}", raised.message);
                plan.certainty.push(Certainty::Unknown(why));
            }
            looked => looked?,
        }
        plan.steps.extend(self.step("install", specifications, file, deed));
        Ok(plan)
    }

    fn remove(&self, action: &str, view: &mut View<'_>) -> Result<Plan, Raised> {
        let packages = self.look(None, view)?;
        let any_version = packages.iter().all(|package| package.seen.wanted.is_none());
        let matches = |package: &&Package| any_version || package.seen.current == package.seen.wanted;
        let present = packages.iter().filter(|package| package.installed.is_some()).filter(matches);
        let present: Vec<&Package> = present.collect();
        if present.is_empty() {
            return Ok(Plan::up_to_date());
        }
        let names: Vec<&str> = present.iter().map(|package| package.seen.name.as_str()).collect();
        let sentence = format!("{action} {}package {}", self.request.versions(), names.join(", "));
        let whole = |package: &&Package| match &package.installed {
            Some(version) => format!("{}-{}", package.seen.name, version.text()),
            None => package.seen.name.clone(),
        };
        let specifications = present.iter().map(whole);
        let removed = present.iter().map(|package| (package.seen.name.as_str(), package.seen.current.as_deref()));
        let change = removal(sentence, removed);
        let things = present.iter().map(|package| package.thing()).collect();
        let mut deed = Deed { changes: vec![change], things, ..Deed::default() };
        let specifications: Vec<String> = specifications.collect();
        let ahead = ("remove", "needs it, or is needed by nothing else");
        self.look_ahead(ahead, specifications.clone(), None, &mut deed, view)?;
        Ok(Plan::steps(self.step("remove", specifications, None, deed).into_iter().collect()))
    }

    /// Finds the packages that the tool would change in addition to the declared ones, and checks the grants for them.
    ///
    /// # Errors
    /// A grant is missing, or the tool cannot be asked: see [`Request::may_ask`].
    fn look_ahead(
        &self,
        (command, why): (&str, &str),
        specifications: Vec<String>,
        path: Option<&str>,
        deed: &mut Deed,
        view: &mut View<'_>,
    ) -> Result<(), Raised> {
        self.request.may_ask(PackageTool::Dnf, view)?;
        let words = std::iter::once(command.to_owned()).chain(specifications).collect();
        let mut ahead =
            LookAhead { options: Withheld(self.request.options.clone()), words: Withheld(words), along: vec![] };
        let mut along = ahead::foreseen(self.program, ahead.question(path), view)?;
        ahead.along.clone_from(&along);
        along.retain(|one| self.request.packages.iter().all(|(own, _)| *own != one.name));
        deed.granted = grant_along(view, &along, false)?;
        let mut installed: Vec<String> =
            along.iter().filter(|one| one.is_installed()).map(|one| one.name.clone()).collect();
        installed.sort_unstable();
        installed.dedup();
        for (name, version) in query::installed(view, &installed)? {
            let of_name = |one: &&Along| one.name == name && one.is_installed();
            let of_architecture = |one: &&Along| one.version.ends_with(&format!(".{}", version.architecture));
            let one = along.iter().filter(of_name).find(of_architecture).or_else(|| along.iter().find(of_name));
            deed.changes.extend(one.and_then(|one| one.change(Some(&version.text()), why)));
            deed.things.push(package(&name, Some(&version)));
        }
        deed.ahead = Some(ahead);
        Ok(())
    }

    fn lock(&self, lock: bool, view: &mut View<'_>) -> Result<Plan, Raised> {
        let question = ["versionlock", "list"].map(str::to_owned);
        let outcome = inquiry::ask(view, self.program, question.clone())?;
        require_success(&inquiry::question(self.program, question), &outcome, &[0])?;
        let mut locked = locks(&String::from_utf8_lossy(&outcome.output));
        let due = self.request.packages.iter().map(|(name, _)| name);
        let due: Vec<String> = due.filter(|name| locked.contains_key(*name) != lock).cloned().collect();
        if due.is_empty() {
            return Ok(Plan::up_to_date());
        }
        if lock {
            // The tool would treat `bash.x86_64` or `bash-5.1` as bash, whose grant may be missing.
            let installed = by_name(query::installed(view, &self.names())?);
            let unknown: Vec<String> = due.iter().filter(|name| !installed.contains_key(*name)).cloned().collect();
            if !unknown.is_empty() {
                return unmarked(lock, &unknown, view);
            }
        }
        let verb = if lock { "lock" } else { "unlock" };
        let sentence = format!("{verb} {}package {}", self.request.versions(), due.join(", "));
        let word = if lock { "add" } else { "delete" };
        let change = due.iter().fold(Change::new(sentence), |change, name| change.turns(Some(name), "locked", lock));
        let things = due.iter().map(|name| Thing::new("package", name).is("locked", !lock)).collect();
        // The list's own entry identifies exactly one lock. A pattern would also match packages whose names begin with this
        // name.
        let specifications =
            due.into_iter().flat_map(|name| if lock { vec![name] } else { locked.remove(&name).unwrap_or_default() });
        let mut arguments = ["-d0", "-e0", "-y"].map(str::to_owned).to_vec();
        arguments.extend(self.request.options.iter().cloned());
        arguments.extend(["versionlock".to_owned(), word.to_owned()]);
        arguments.extend(specifications);
        let deed = Deed { changes: vec![change], things, ..Deed::default() };
        Ok(Plan::steps(self.run(arguments, None, deed).into_iter().collect()))
    }

    fn step(&self, command: &str, specifications: Vec<String>, file: Option<RpmFile>, deed: Deed) -> Option<Step> {
        let mut arguments = self.request.options.clone();
        arguments.extend(["-y".to_owned(), command.to_owned()]);
        arguments.extend(specifications);
        self.run(arguments, file, deed)
    }

    fn run(
        &self,
        arguments: Vec<String>,
        file: Option<RpmFile>,
        Deed { changes, things: found, mut granted, ahead }: Deed,
    ) -> Option<Step> {
        granted.extend(self.request.granted.iter().cloned());
        let transaction = RpmTransaction {
            program: self.program,
            arguments: Withheld(arguments),
            environment: Withheld(self.request.environment.clone()),
            timeout: self.request.timeout,
            file,
            ahead,
            _granted: granted,
            found,
        };
        step(changes, Operation::ChangeRpmPackages(transaction))
    }
}

fn newest<'a>(versions: impl Iterator<Item = &'a Version>) -> Option<Version> {
    versions.max_by(|one, other| one.compare(other)).cloned()
}

fn by_name(found: Vec<(String, Version)>) -> HashMap<String, Vec<Version>> {
    let mut all: HashMap<String, Vec<Version>> = HashMap::new();
    for (name, version) in found {
        all.entry(name).or_default().push(version);
    }
    all
}

/// Parses the output of `versionlock list` by name: `bash-0:5.1.8-6.el9.*`, or yum's `0:bash-5.1.8-6.el7.*`. An entry with
/// another pattern at its end may concern several packages, so no policy may remove it.
fn locks(text: &str) -> HashMap<String, Vec<String>> {
    let entry = |line: &str| {
        let line = line.trim();
        let (rest, release) = line.rsplit_once('-')?;
        let (name, version) = rest.rsplit_once('-')?;
        let name = name.rsplit(':').next().unwrap_or(name);
        let is_one = |part: &str| !part.contains(|sign: char| sign.is_whitespace() || "*?[]!".contains(sign));
        let exact = is_name(name) && is_one(rest) && is_one(version) && is_one(release.trim_end_matches(".*"));
        exact.then(|| (name.to_owned(), line.to_owned()))
    };
    let mut found: HashMap<String, Vec<String>> = HashMap::new();
    for (name, line) in text.lines().filter_map(entry) {
        found.entry(name).or_default().push(line);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_are_read() {
        let text = "Last metadata expiration check: 0:01 ago\nbash-0:5.1.8-6.el9.*\n0:my-tool-1.0-1.el7.*\n\
                    ba*-0:1-2.*\nodd-0:*-6.*\n";
        let mut found: Vec<_> = locks(text).into_iter().collect();
        found.sort_unstable();
        let expect = [("bash", "bash-0:5.1.8-6.el9.*"), ("my-tool", "0:my-tool-1.0-1.el7.*")];
        assert_eq!(found, expect.map(|(name, entry)| (name.to_owned(), vec![entry.to_owned()])));
    }
}
