//! `rpm_package`: packages from files on the node, without their dependencies.

use super::version::Version;
use super::{RpmFile, RpmTransaction, is_name, package, query, removals};
use crate::found::Thing;
use crate::operation::Operation;
use crate::plan::{Assumption, Plan, Provider, Step, View};
use crate::resources::asked;
use crate::resources::package::apt::unsupported;
use crate::resources::package::request::{Request, grant, package_file};
use crate::resources::package::targets::{self, Aim, Seen, also_removed, change, removal, target_by};
use crate::withheld::Withheld;
use contract::{Certainty, Change, ErrorKind, Raised, Wanted};
use grants::GrantedPackage;
use machine::root::Place;
use schema::types::rpm_packages::RpmPackageProperties;
use std::cmp::Ordering;
use std::io::Read as _;

/// The first bytes of a package file.
const LEAD: [u8; 4] = [0xed, 0xab, 0xee, 0xdb];

/// The provider of packages from `.rpm` files.
pub(crate) struct RpmPackage;

impl Provider for RpmPackage {
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        let request = Request::read(wanted, view)?;
        match wanted.action {
            "install" => install(Aim::Install, wanted, &request, view),
            "upgrade" => install(Aim::Upgrade, wanted, &request, view),
            "remove" => remove(&request, view),
            other => Err(unsupported(wanted, other)),
        }
    }
}

/// Returns the real path of a package file, or `None` if it does not exist. A URL, which rpm would fetch itself, is refused,
/// because its content cannot be checked.
pub(super) fn find(source: &str, view: &View<'_>) -> Result<Option<String>, Raised> {
    if source.contains("://") {
        let message = format!("{source} is not a file on the node");
        return Err(Raised::new(ErrorKind::Package, message).with_hint("fetch it with `remote_file` first"));
    }
    let Some(place) = package_file(source, view)? else { return Ok(None) };
    require_package(&place)?;
    Ok(Some(place.real().to_owned()))
}

/// Fails if a file does not begin like a package: rpm treats any other file as a list of files and addresses to install.
pub(super) fn require_package(place: &Place) -> Result<(), Raised> {
    let mut beginning = [0; LEAD.len()];
    let (file, _) = place.open_file()?;
    match std::fs::File::from(file).read_exact(&mut beginning) {
        Ok(()) if beginning == LEAD => Ok(()),
        _ => Err(Raised::new(ErrorKind::Package, format!("{} is not a package of rpm", place.real()))),
    }
}

/// Formats a version as Chef does for this type: without epoch and architecture.
fn short(version: &Version) -> String {
    format!("{}-{}", version.version, version.release)
}

fn current(view: &mut View<'_>, name: &str) -> Result<Option<Version>, Raised> {
    if !is_name(name) {
        return Ok(None);
    }
    // For `bash-5.1` or `bash.x86_64`, rpm also returns `bash`.
    let installed = query::installed(view, &[name.to_owned()])?;
    Ok(installed.into_iter().rfind(|(found, _)| found == name).map(|(_, version)| version))
}

fn install(aim: Aim, wanted: &Wanted<'_>, request: &Request, view: &mut View<'_>) -> Result<Plan, Raised> {
    let name = request.names();
    let RpmPackageProperties { source, allow_downgrade } = asked::properties(wanted)?;
    let source = source.or_else(|| Some(name.clone()).filter(|name| name.starts_with('/')));
    let found = source.as_deref().map(|source| find(source, view)).transpose()?.flatten();
    let Some(path) = found else {
        if view.why_run {
            let assumed = format!("Assuming package {name} would have been made available.");
            let mut plan = Plan::uncertain(Certainty::Assumed(assumed));
            plan.assume(Assumption::Package(name));
            return Ok(plan);
        }
        let message = format!("Package {name} not found: {}", source.unwrap_or_default());
        return Err(Raised::new(ErrorKind::Package, message));
    };
    // The file's name may be misleading: the package name inside the file decides.
    let file = RpmFile::read(path, view)?;
    let Some((name, held)) = file.held.last().filter(|(name, _)| is_name(name)).cloned() else {
        return Err(Raised::new(ErrorKind::Package, format!("{} names no package and version", file.path)));
    };
    let mut granted = grant(view, [name.as_str()])?;
    let installed = current(view, &name)?;
    let seen = Seen {
        name: name.clone(),
        wanted: Some(short(&held)),
        current: installed.as_ref().map(short),
        candidate: Some(short(&held)),
    };
    let order = installed.as_ref().map_or(Ordering::Equal, |installed| installed.compare(&held));
    let Some(version) = target_by(|_, _| order, aim, &seen, allow_downgrade) else { return Ok(Plan::up_to_date()) };
    let mut things = vec![package(&name, installed.as_ref()).with("candidate", held.text())];
    let mut changes = vec![change(aim, &seen, version)];
    if installed.is_some() {
        // When it upgrades a package, rpm removes the packages that it replaces; with `-i` it does not.
        let replaced = removals::replaced(&name, &file.replaces, view)?;
        granted.extend(grant(view, replaced.iter().map(|(name, _)| name.as_str()))?);
        changes.extend(replaced.iter().map(|(name, version)| also_removed(name, Some(&short(version)), "it replaces")));
        things.extend(replaced.iter().map(|(name, version)| package(name, Some(version))));
    }
    let mut arguments = request.options.clone();
    match (&installed, allow_downgrade) {
        (None, _) => arguments.push("-i".into()),
        (Some(_), true) => arguments.extend(["-U", "--oldpackage"].map(str::to_owned)),
        (Some(_), false) => arguments.push("-U".into()),
    }
    let mut plan = Plan::default();
    plan.steps.extend(step(request, granted, arguments, Some(file), (changes, things)));
    plan.assume(Assumption::Package(name));
    Ok(plan)
}

fn remove(request: &Request, view: &mut View<'_>) -> Result<Plan, Raised> {
    let name = request.names();
    let granted = grant(view, [name.as_str()])?;
    let version = request.packages.first().and_then(|(_, version)| version.clone());
    let Some(installed) = current(view, &name)? else { return Ok(Plan::up_to_date()) };
    if version.as_deref().is_some_and(|version| !installed.answers(version)) {
        return Ok(Plan::up_to_date());
    }
    let sentence = format!("remove {}package {name}", request.versions());
    let (there, thing) = (short(&installed), package(&name, Some(&installed)));
    let change = removal(sentence, [(name.as_str(), Some(there.as_str()))]);
    let mut arguments = request.options.clone();
    arguments.push("-e".into());
    arguments.push(match version {
        Some(_) => format!("{name}-{}", short(&installed)),
        None => name,
    });
    Ok(Plan::steps(step(request, granted, arguments, None, (vec![change], vec![thing])).into_iter().collect()))
}

fn step(
    request: &Request,
    granted: Vec<GrantedPackage>,
    arguments: Vec<String>,
    file: Option<RpmFile>,
    (changes, found): (Vec<Change>, Vec<Thing>),
) -> Option<Step> {
    let transaction = RpmTransaction {
        program: "rpm",
        arguments: Withheld(arguments),
        environment: Withheld(request.environment.clone()),
        timeout: request.timeout,
        file,
        ahead: None,
        _granted: granted,
        found,
    };
    targets::step(changes, Operation::ChangeRpmPackages(transaction))
}
