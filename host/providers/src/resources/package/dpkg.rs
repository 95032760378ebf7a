//! `dpkg_package`: packages from files on the node.

use super::apt::unsupported;
use super::found::FoundPackage;
use super::preseed;
use super::request::{Request, grant, is_name, require_roots_own};
use super::status::Status;
use super::targets::{Aim, Seen, change, missing, needs_candidate, removal, step, target};
use super::tools::{self, Transaction};
use crate::operation::Operation;
use crate::plan::{Assumption, Plan, Provider, Step, View};
use crate::resources::asked;
use crate::withheld::Withheld;
use contract::{Certainty, Change, ErrorKind, Raised, Wanted};
use grants::GrantedPackage;
use machine::command::{Answer, Launch, require_success};
use machine::denied::denied;
use schema::types::dpkg_package::DpkgPackageProperties;
use std::sync::Arc;

/// Packages from `.deb` files, without their dependencies.
pub(crate) struct DpkgPackage;

impl Provider for DpkgPackage {
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        let mut request = Request::read(wanted, view)?;
        let root = Arc::clone(view.root);
        let status = view.caches.packages.status(&root)?;
        match wanted.action {
            "install" => install(Aim::Install, wanted, &request, &status, view),
            "upgrade" => install(Aim::Upgrade, wanted, &request, &status, view),
            "remove" => remove(&request, false, &status, view),
            "purge" => remove(&request, true, &status, view),
            "reconfig" => {
                request.granted = grant(view, request.packages.iter().map(|(name, _)| name.as_str()))?;
                preseed::reconfigure(wanted, &request, &status, view)
            }
            other => Err(unsupported(wanted, other)),
        }
    }

    fn settles(&self, action: &str) -> bool {
        action != "reconfig"
    }
}

/// A package file, and what it says of itself.
struct Archive {
    /// Its real path in the root.
    path: String,
    name: String,
    version: String,
}

fn install(
    aim: Aim,
    wanted: &Wanted<'_>,
    request: &Request,
    status: &Status,
    view: &mut View<'_>,
) -> Result<Plan, Raised> {
    let key = wanted.declaration.key();
    let DpkgPackageProperties { source, allow_downgrade } = asked::properties(wanted)?;
    let sources = sources(source, request, view);
    if sources.iter().all(Option::is_none) {
        return without_sources(aim, request, &key, status, view);
    }
    let mut archives = vec![];
    let mut absent = vec![];
    for source in &sources {
        match source.as_deref().map(|source| find(source, view)).transpose()?.flatten() {
            Some(real) => match read(real, view)? {
                Ok(archive) => archives.push(archive),
                Err(why) => {
                    let mut plan = Plan::uncertain(Certainty::Unknown(why));
                    plan.assumptions.extend(request.packages.iter().map(|(name, _)| Assumption::Package(name.clone())));
                    return Ok(plan);
                }
            },
            None => absent.push(source.clone().unwrap_or_else(|| "nil".into())),
        }
    }
    if !absent.is_empty() {
        if view.why_run {
            let mut plan =
                Plan::uncertain(Certainty::Assumed("Assuming they would have been previously created.".into()));
            plan.assumptions.extend(request.packages.iter().map(|(name, _)| Assumption::Package(name.clone())));
            return Ok(plan);
        }
        let message = format!("{key} source file(s) do not exist: {}", absent.join(", "));
        return Err(Raised::new(ErrorKind::Package, message));
    }
    // A file may hold any package whatever it is called: the name inside is what counts.
    let granted = grant(view, archives.iter().map(|archive| archive.name.as_str()))?;
    let versions = request.packages.iter().map(|(_, version)| version.clone());
    let all = archives.into_iter().zip(versions).map(|(archive, wanted)| {
        let seen = Seen {
            name: archive.name.clone(),
            wanted,
            current: current(status, &archive.name),
            candidate: Some(archive.version.clone()),
        };
        (archive, seen)
    });
    let mut plan = Plan::default();
    let mut changes = vec![];
    let mut paths = vec![];
    let (mut chosen, mut found) = (vec![], vec![]);
    for (archive, seen) in all.collect::<Vec<_>>() {
        if !needs_candidate(aim, &seen) {
            continue;
        }
        if let Some(version) = target(aim, &seen, allow_downgrade) {
            check_version(&archive, version)?;
            changes.push(change(aim, &seen, version));
            chosen.push(format!("{}={version}", archive.name));
            found.push(FoundPackage::of(status, &archive.name).choosing(version));
            plan.assume(Assumption::Package(archive.name));
            paths.push(archive.path);
        }
    }
    if paths.is_empty() {
        return Ok(plan);
    }
    plan.steps.extend(preseed::before_install(wanted, request, &chosen, view)?);
    let mut arguments = vec!["-i".to_owned()];
    if !request.options.iter().any(|option| option.contains("--force-conf")) {
        arguments.extend(["--force-confdef".to_owned(), "--force-confold".into()]);
    }
    arguments.extend(request.options.iter().cloned());
    arguments.push("--".into());
    arguments.extend(paths);
    plan.steps.extend(dpkg(request, (granted, found), arguments, changes));
    Ok(plan)
}

/// A file of another version than the one asked for would never make the resource true.
fn check_version(archive: &Archive, version: &str) -> Result<(), Raised> {
    if archive.version == version {
        return Ok(());
    }
    let message = format!(
        "version {version} of package {} is wanted, but {} holds {}",
        archive.name, archive.path, archive.version
    );
    Err(Raised::new(ErrorKind::Package, message))
}

/// The file of each package: the one the resource names, or its name if that is one.
fn sources(named: Vec<String>, request: &Request, view: &View<'_>) -> Vec<Option<String>> {
    let mut named = named.into_iter();
    // A name that may not be looked at is taken for a file, whether there is one or not.
    let file = |name: &str| {
        let is_granted = || view.grants.silent().package_source(&view.root.asked_about(name)).is_ok();
        let is_there = || view.root.target_entry(name).is_ok_and(|entry| entry.is_some());
        name.contains('/') && (!is_granted() || is_there())
    };
    let source = |(name, _): &(String, Option<String>)| {
        let named = named.next().filter(|source| !source.is_empty());
        named.or_else(|| file(name).then(|| name.clone()))
    };
    request.packages.iter().map(source).collect()
}

/// Chef's two complaints about a missing source, in its order.
fn without_sources(aim: Aim, request: &Request, key: &str, status: &Status, view: &View<'_>) -> Result<Plan, Raised> {
    let _granted = grant(view, request.packages.iter().map(|(name, _)| name.as_str()))?;
    let see = |(name, wanted): &(String, Option<String>)| Seen {
        name: name.clone(),
        wanted: wanted.clone(),
        current: current(status, name),
        candidate: None,
    };
    let seen = request.packages.iter().map(see).collect::<Vec<_>>();
    let message = match missing(aim, &seen) {
        Some((sentence, names)) => format!("{sentence} {names}"),
        None => format!("{key} the source property is required for action :install or :upgrade"),
    };
    Err(Raised::new(ErrorKind::Package, message))
}

/// The real path of a package file; none: it is not there.
fn find(source: &str, view: &View<'_>) -> Result<Option<String>, Raised> {
    // Whether it is there is told only to who may have it installed.
    let granted = view.grants.package_source(&view.root.asked_about(source)).map_err(denied)?;
    let Ok(place) = view.root.locate_target(source) else { return Ok(None) };
    if place.real() != granted.path() {
        return Ok(None);
    }
    if place.entry().is_err() {
        return Ok(None);
    }
    require_roots_own(granted.path(), view)?;
    Ok(Some(granted.path().to_owned()))
}

/// What a file holds; or why a dry run cannot know it. `dpkg-deb` unpacks a part of the file to read it, so a dry run confines
/// it: the file is anybody's, and may unpack to anything.
fn read(path: String, view: &mut View<'_>) -> Result<Result<Archive, String>, Raised> {
    let arguments = ["--show", "--showformat", "${Package}\\n${Version}\\n", "--"];
    let mut arguments = arguments.map(str::to_owned).to_vec();
    arguments.push(path.clone());
    let output = if view.why_run {
        let launch = Launch::program("dpkg-deb", arguments).timeout(tools::QUERY);
        match view.ask(&launch) {
            Answer::Ended(outcome) => {
                require_success(&launch, &outcome, &[0])?;
                String::from_utf8_lossy(&outcome.output).into_owned()
            }
            Answer::Unknown(why) => return Ok(Err(format!("what {path} holds is not known: {why}"))),
        }
    } else {
        tools::ask(view, "dpkg-deb", arguments)?
    };
    let mut lines = output.lines();
    match (lines.next(), lines.next()) {
        (Some(name), Some(version)) if is_name(name) && !version.is_empty() => {
            Ok(Ok(Archive { path, name: name.into(), version: version.into() }))
        }
        _ => Err(Raised::new(ErrorKind::Package, format!("{path} names no package and version"))),
    }
}

/// The version that is there, unless an interrupted dpkg left it half done: installing again is what helps then.
fn current(status: &Status, name: &str) -> Option<String> {
    let working = status.interrupted(name).is_none();
    status.version(name).filter(|_| working).map(str::to_owned)
}

fn remove(request: &Request, purge: bool, status: &Status, view: &mut View<'_>) -> Result<Plan, Raised> {
    let granted = grant(view, request.packages.iter().map(|(name, _)| name.as_str()))?;
    let names = request.present(status, purge);
    if names.is_empty() {
        return Ok(Plan::up_to_date());
    }
    let (verb, option) = if purge { ("purge", "-P") } else { ("remove", "-r") };
    let sentence = format!("{verb} {}package {}", request.versions(), names.join(", "));
    let change = removal(sentence, names.iter().map(|name| (name.as_str(), status.version(name))));
    let mut arguments = vec![option.to_owned()];
    arguments.extend(request.options.iter().cloned());
    arguments.push("--".into());
    let found = names.iter().map(|name| FoundPackage::of(status, name)).collect();
    arguments.extend(names);
    Ok(Plan::steps(dpkg(request, (granted, found), arguments, vec![change]).into_iter().collect()))
}

fn dpkg(
    request: &Request,
    (granted, found): (Vec<GrantedPackage>, Vec<FoundPackage>),
    arguments: Vec<String>,
    changes: Vec<Change>,
) -> Option<Step> {
    let transaction = Transaction {
        program: "dpkg",
        arguments: Withheld(arguments),
        environment: Withheld(request.environment.clone()),
        timeout: request.timeout,
        input: Withheld(None),
        granted,
        found,
    };
    step(changes, Operation::ChangePackages(transaction))
}
