//! `package` on Debian and `apt_package`: apt-get, apt-mark and apt-cache.

use super::along::{Along, Fate, grant_along};
use super::found::FoundPackage;
use super::request::{Request, ask, grant, is_name};
use super::targets::{Aim, Seen, change, missing, needs_candidate, removal, step, target};
use super::tools::{self, InstallFromArchives, REFRESH_SENTENCE, RefreshLists, Transaction};
use super::{database, preseed, status::Status, version};
use crate::operation::Operation;
use crate::plan::{Assumption, Plan, Provider, Step, View};
use crate::resources::asked;
use crate::withheld::Withheld;
use contract::{Certainty, Change, ErrorKind, Raised, Wanted};
use grants::PackageTool;
use machine::denied::denied;
use schema::types::apt_package::AptPackageProperties;
use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

/// The provider of packages from apt's repositories.
pub(crate) struct AptPackage;

impl Provider for AptPackage {
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        let mut request = Request::read(wanted, view)?;
        refuse_source(wanted, &request)?;
        release_right(wanted, view)?;
        request.granted = grant(view, request.packages.iter().map(|(name, _)| name.as_str()))?;
        let root = Arc::clone(view.root);
        let status = view.caches.packages.status(&root)?;
        match wanted.action {
            "install" => install(Aim::Install, wanted, &request, &status, view),
            "upgrade" => install(Aim::Upgrade, wanted, &request, &status, view),
            "remove" => remove("remove", &request, &status, view),
            "purge" => remove("purge", &request, &status, view),
            "lock" => mark(true, &request, &status, view),
            "unlock" => mark(false, &request, &status, view),
            "reconfig" => preseed::reconfigure(wanted, &request, &status, view),
            other => Err(unsupported(wanted, other)),
        }
    }

    fn ask(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<(), Raised> {
        release_right(wanted, view).and(ask(wanted, view))
    }

    fn settles(&self, action: &str) -> bool {
        action != "reconfig"
    }
}

/// Returns the error for an action that the tools do not support.
pub(super) fn unsupported(wanted: &Wanted<'_>, action: &str) -> Raised {
    Raised::new(ErrorKind::UnsupportedAction, format!("{} does not support :{action}", wanted.declaration.key()))
}

fn refuse_source(wanted: &Wanted<'_>, request: &Request) -> Result<(), Raised> {
    let AptPackageProperties { source, .. } = asked::properties(wanted)?;
    if source.is_none() {
        return Ok(());
    }
    if request.packages.len() > 1 {
        let message = "You may not specify both multipackage and source";
        return Err(Raised::new(ErrorKind::InvalidRequest, message));
    }
    let message = "apt package provider cannot handle source property. Use dpkg provider instead";
    Err(Raised::new(ErrorKind::Package, message).with_hint("declare it as `dpkg_package`"))
}

/// Checks the grant for another release. It is an option of apt, and moves packages of others to that release too.
fn release_right(wanted: &Wanted<'_>, view: &View<'_>) -> Result<(), Raised> {
    let AptPackageProperties { default_release, .. } = asked::properties(wanted)?;
    let options: Vec<_> = default_release.into_iter().map(|release| format!("--default-release={release}")).collect();
    view.grants.package_options(&options).map(drop).map_err(denied)
}

/// Returns the installed and available versions of all packages of a resource, each with apt's name for the package.
fn look(
    aim: Aim,
    request: &Request,
    release: Option<&str>,
    status: &Status,
    view: &mut View<'_>,
) -> Result<Vec<(Seen, String)>, Raised> {
    let see = |(name, version): &(String, Option<String>)| Seen {
        name: name.clone(),
        wanted: version.clone(),
        current: status.version(name).map(str::to_owned),
        candidate: None,
    };
    let mut all = request.packages.iter().map(|one| (see(one), one.0.clone())).collect::<Vec<_>>();
    let open = all.iter().filter(|(seen, name)| is_name(name) && needs_candidate(aim, seen));
    let open = open.map(|(_, name)| name.clone()).collect::<HashSet<_>>();
    let offers = database::offers(view, release, &open.iter().map(String::as_str).collect::<Vec<_>>())?;
    for (seen, name) in all.iter_mut().filter(|(_, name)| open.contains(name)) {
        match offers.get(name.as_str()) {
            Some(offer) if !offer.versions.is_empty() => {
                seen.candidate = offer.choose(seen.wanted.as_deref()).map(str::to_owned);
            }
            Some(_) if seen.current.is_none() => look_behind(request, release, status, view, seen, name)?,
            _ => {}
        }
    }
    Ok(all)
}

/// Resolves a virtual package to the only package that provides it.
fn look_behind(
    request: &Request,
    release: Option<&str>,
    status: &Status,
    view: &mut View<'_>,
    seen: &mut Seen,
    name: &mut String,
) -> Result<(), Raised> {
    let providers = database::providers(view, name)?;
    if providers.len() > 1 {
        let message = format!(
            "{} is a virtual package provided by multiple packages, you must explicitly select one",
            request.names()
        );
        let names = providers.into_iter().collect::<Vec<_>>().join(", ");
        return Err(Raised::new(ErrorKind::Package, message).with_hint(format!("{name} is provided by: {names}")));
    }
    let Some(provider) = providers.into_iter().next().filter(|provider| is_name(provider)) else { return Ok(()) };
    let offers = database::offers(view, release, &[provider.as_str()])?;
    let candidate = offers.get(&provider).and_then(|offer| offer.choose(seen.wanted.as_deref()));
    seen.candidate = candidate.map(str::to_owned);
    seen.current = status.version(&provider).map(str::to_owned);
    *name = provider;
    Ok(())
}

fn install(
    aim: Aim,
    wanted: &Wanted<'_>,
    request: &Request,
    status: &Status,
    view: &mut View<'_>,
) -> Result<Plan, Raised> {
    let AptPackageProperties { default_release: release, overwrite_config_files, .. } = asked::properties(wanted)?;
    let all = look(aim, request, release.as_deref(), status, view)?;
    let seen = all.iter().map(|(seen, _)| seen.clone()).collect::<Vec<_>>();
    if let Some((sentence, names)) = missing(aim, &seen) {
        return without_candidates(sentence, request, &names, view);
    }
    let mut plan = Plan::default();
    check_interrupted(&all, status, view, &mut plan)?;
    let (mut chosen, mut found) = (vec![], vec![]);
    let mut changes = vec![];
    let mut also_granted = vec![];
    for (seen, name) in &all {
        if let Some(version) = target(aim, seen, true) {
            // A right to a virtual package does not include the package that provides it.
            if *name != seen.name {
                also_granted.extend(grant(view, [name.as_str()])?);
            }
            chosen.push(format!("{name}={version}"));
            found.push(FoundPackage::of(status, name).choosing(version));
            changes.push(change(aim, seen, version));
            plan.assume(Assumption::Package(seen.name.clone()));
        }
    }
    if chosen.is_empty() {
        return Ok(plan);
    }
    plan.steps.extend(preseed::before_install(wanted, request, &chosen, view)?);
    let mut options = configuration_options(request, overwrite_config_files);
    options.extend(tools::release_options(release.as_deref()));
    match simulate("install", request, &options, &chosen, view) {
        Ok(along) => {
            also_granted.extend(grant_along(view, &along, overwrite_config_files)?);
            let installed = || along.iter().filter(|one| one.is_installed());
            found.extend(installed().map(|one| FoundPackage::of(status, &one.name)));
            let change = |one: &Along| one.change(status.version(&one.name), "conflicts with it");
            changes.extend(installed().filter_map(change));
        }
        Err(raised) if view.why_run => plan.certainty.push(Certainty::Unknown(raised.message)),
        Err(raised) => return Err(raised),
    }
    let mut transaction = Transaction { found, ..apt_get(request, "install", options, chosen) };
    transaction.granted.append(&mut also_granted);
    plan.steps.extend(step(changes, Operation::InstallFromArchives(InstallFromArchives { transaction })));
    Ok(plan)
}

/// Plans for packages without an available version. Either apt's lists are missing or old, an earlier resource of a dry run
/// may add a repository, or the package does not exist.
fn without_candidates(sentence: &str, request: &Request, names: &str, view: &View<'_>) -> Result<Plan, Raised> {
    let worth_refreshing = view.caches.packages.worth_refreshing(view.root);
    if view.why_run {
        let certainty = match worth_refreshing {
            true => Certainty::Unknown(format!(
                "whether {names} can be had is not known: the lists of available packages are missing or old, and a real \
                 run refreshes them first"
            )),
            false => {
                Certainty::Assumed(format!("Assuming a repository that offers {names} would have been configured"))
            }
        };
        let mut plan = Plan::uncertain(certainty);
        plan.assumptions.extend(request.packages.iter().map(|(name, _)| Assumption::Package(name.clone())));
        return Ok(plan);
    }
    if worth_refreshing {
        let step = Step::new(Change::new(REFRESH_SENTENCE), Operation::RefreshLists(RefreshLists));
        return Ok(Plan::steps(vec![step]));
    }
    let raised = Raised::new(ErrorKind::Package, format!("{sentence} {names}"));
    Err(match view.caches.packages.complaint() {
        Some(complaint) => {
            raised.with_hint(format!("the lists of available packages could not be refreshed: {complaint}"))
        }
        None => raised,
    })
}

/// Handles a package that an interrupted dpkg left half installed: it counts neither as installed nor as absent.
fn check_interrupted(all: &[(Seen, String)], status: &Status, view: &View<'_>, plan: &mut Plan) -> Result<(), Raised> {
    let broken = all.iter().find_map(|(_, name)| Some((name, status.interrupted(name)?)));
    let Some((name, state)) = broken else { return Ok(()) };
    let what = format!("package {name} is {state}: dpkg was interrupted");
    if view.why_run {
        plan.certainty.push(Certainty::Unknown(format!("{what}; `dpkg --configure -a` must be run first")));
        return Ok(());
    }
    Err(tools::interrupted(&what))
}

fn remove(verb: &'static str, request: &Request, status: &Status, view: &mut View<'_>) -> Result<Plan, Raised> {
    let names = request.present(status, verb == "purge");
    if names.is_empty() {
        return Ok(Plan::up_to_date());
    }
    let also = simulate(verb, request, &[], &names, view)?;
    let mut also_granted = grant_along(view, &also, false)?;
    let sentence = format!("{verb} {}package {}", request.versions(), names.join(", "));
    let mut changes = vec![removal(sentence, names.iter().map(|name| (name.as_str(), status.version(name))))];
    changes.extend(also.iter().filter_map(|one| match one.fate {
        Fate::Removed => {
            let sentence = format!("{verb} package {}, which depends on it", one.name);
            Some(removal(sentence, [(one.name.as_str(), status.version(&one.name))]))
        }
        _ => one.change(status.version(&one.name), ""),
    }));
    let also = also.iter().filter(|one| one.is_installed()).map(|one| &one.name);
    let found = names.iter().chain(also).map(|name| FoundPackage::of(status, name)).collect();
    let mut transaction = Transaction { found, ..apt_get(request, verb, vec![], names) };
    transaction.granted.append(&mut also_granted);
    Ok(Plan::steps(step(changes, Operation::ChangePackages(transaction)).into_iter().collect()))
}

/// Returns the packages that apt would change besides these, by a simulation.
fn simulate(
    verb: &str,
    request: &Request,
    options: &[String],
    names: &[String],
    view: &mut View<'_>,
) -> Result<Vec<Along>, Raised> {
    request.may_ask(PackageTool::Apt, view)?;
    let mut arguments = apt_get(request, verb, options.to_vec(), names.to_vec()).arguments.0;
    arguments.insert(0, "-s".into());
    let output = tools::ask(view, "apt-get", arguments)?;
    // The architecture in a name does not matter here: a right to a package is one for all of them.
    let plain = |name: &str| name.split([':', '=']).next().unwrap_or_default().to_owned();
    let asked_for = names.iter().map(|name| plain(name)).collect::<HashSet<_>>();
    let mut along = simulated(&output)?;
    along.retain(|one| !asked_for.contains(&plain(&one.name)));
    Ok(along)
}

/// Parses the output of a simulation: `Inst NAME (NEW ..)`, `Inst NAME [OLD] (NEW ..)`, `Remv NAME [OLD]`, `Purg NAME [OLD]`.
///
/// # Errors
/// A line of these has another form. What cannot be read cannot be checked.
fn simulated(output: &str) -> Result<Vec<Along>, Raised> {
    let unreadable = |line: &str| {
        let message = format!("which packages apt-get would change cannot be read in what it says: {line}");
        Raised::new(ErrorKind::Package, message)
    };
    let one = |line: &str| {
        let (word, rest) = line.split_once(' ')?;
        let is_installed = match word {
            "Remv" | "Purg" => false,
            "Inst" => true,
            _ => return None,
        };
        Some(if is_installed { installed(rest) } else { removed(rest) }.ok_or_else(|| unreadable(line)))
    };
    output.lines().filter_map(one).collect()
}

fn removed(rest: &str) -> Option<Along> {
    let name = rest.split_ascii_whitespace().next()?.to_owned();
    Some(Along { name, fate: Fate::Removed, version: String::new() })
}

fn installed(rest: &str) -> Option<Along> {
    let mut words = rest.split_ascii_whitespace();
    let name = words.next()?.to_owned();
    let mut word = words.next()?;
    let old = word.strip_prefix('[').and_then(|word| word.strip_suffix(']'));
    if old.is_some() {
        word = words.next()?;
    }
    let version = word.strip_prefix('(')?.trim_end_matches(')').to_owned();
    let fate = match old.map(|old| version::compare(&version, old)) {
        None => Fate::Installed,
        Some(Ordering::Less) => Fate::Downgraded,
        Some(Ordering::Equal) => Fate::Reinstalled,
        Some(Ordering::Greater) => Fate::Upgraded,
    };
    Some(Along { name, fate, version })
}

/// Holds packages at their versions, or releases them. apt-mark treats an unknown name as a pattern over all names, also
/// those of other teams. So it gets only names that it knows.
fn mark(hold: bool, request: &Request, status: &Status, view: &View<'_>) -> Result<Plan, Raised> {
    let due = request.packages.iter().map(|(name, _)| name).filter(|name| status.held(name) != hold);
    let (names, unknown): (Vec<_>, Vec<_>) = due.cloned().partition(|name| is_name(name) && status.knows(name));
    if !unknown.is_empty() {
        return unmarked(hold, &unknown, view);
    }
    if names.is_empty() {
        return Ok(Plan::up_to_date());
    }
    let verb = if hold { "lock" } else { "unlock" };
    let sentence = format!("{verb} {}package {}", request.versions(), names.join(", "));
    let change = names.iter().fold(Change::new(sentence), |change, name| change.turns(Some(name), "locked", hold));
    let mut arguments = request.options.clone();
    arguments.extend([if hold { "hold" } else { "unhold" }.to_owned(), "--".into()]);
    let found = names.iter().map(|name| FoundPackage::of(status, name)).collect();
    arguments.extend(names);
    let transaction = Transaction {
        program: "apt-mark",
        arguments: Withheld(arguments),
        shown: Withheld(None),
        environment: Withheld(request.environment.clone()),
        timeout: request.timeout,
        input: Withheld(None),
        granted: request.granted.clone(),
        found,
    };
    Ok(Plan::steps(vec![Step::new(change, Operation::ChangePackages(transaction))]))
}

/// Handles packages to lock or unlock that are not installed. In a dry run, an earlier resource may install them.
pub(super) fn unmarked(lock: bool, unknown: &[String], view: &View<'_>) -> Result<Plan, Raised> {
    let names = unknown.join(", ");
    let assumed = |name: &String| view.assumed.holds(&Assumption::Package(name.clone()));
    if view.why_run && unknown.iter().all(assumed) {
        return Ok(Plan::uncertain(Certainty::Assumed(format!("Assuming {names} would have been installed"))));
    }
    let verb = if lock { "locked" } else { "unlocked" };
    let message = format!("{names} cannot be {verb}: no package of exactly that name is installed");
    Err(Raised::new(ErrorKind::Package, message)
        .with_hint("name each package as the package tool lists it, and install it first"))
}

/// Returns the options that decide about a changed configuration file: the one on the node is kept, unless the resource says
/// otherwise.
fn configuration_options(request: &Request, overwrite: bool) -> Vec<String> {
    if request.options.iter().any(|option| option.contains("--force-conf")) {
        return vec![];
    }
    let keep: &[&str] = if overwrite { &["--force-confnew"] } else { &["--force-confdef", "--force-confold"] };
    keep.iter().flat_map(|option| ["-o".to_owned(), format!("Dpkg::Options::={option}")]).collect()
}

fn apt_get(request: &Request, verb: &str, options: Vec<String>, names: Vec<String>) -> Transaction {
    let mut arguments = vec!["-q".to_owned(), "-y".into(), "-o".into(), "Dpkg::Use-Pty=0".into()];
    if verb == "install" {
        arguments.push("--allow-downgrades".into());
    }
    // If another process takes the lock after wrun's check, apt waits for it.
    arguments.extend(["-o".to_owned(), "DPkg::Lock::Timeout=60".into()]);
    arguments.extend(options);
    arguments.extend(request.options.iter().cloned());
    arguments.extend([verb.to_owned(), "--".into()]);
    arguments.extend(names);
    let mut environment = vec![];
    if verb == "install" && !arguments.iter().any(|option| option.contains("--force-confnew")) {
        environment.push(("UCF_FORCE_CONFFOLD".to_owned(), "1".to_owned()));
    }
    environment.extend(request.environment.iter().cloned());
    Transaction {
        program: "apt-get",
        arguments: Withheld(arguments),
        shown: Withheld(None),
        environment: Withheld(environment),
        timeout: request.timeout,
        input: Withheld(None),
        granted: request.granted.clone(),
        found: vec![],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(options: &[&str]) -> Request {
        Request {
            packages: vec![],
            options: options.iter().map(ToString::to_string).collect(),
            environment: vec![],
            timeout: std::time::Duration::from_secs(1),
            granted: vec![],
        }
    }

    #[test]
    fn configuration_on_the_node_is_kept_unless_the_resource_says_otherwise() {
        let check = |options: &[&str], overwrite: bool, expect: &str| {
            assert_eq!(configuration_options(&request(options), overwrite).join(" "), expect);
        };
        check(&[], false, "-o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold");
        check(&[], true, "-o Dpkg::Options::=--force-confnew");
        check(&["-o", "Dpkg::Options::=--force-confmiss"], false, "");
    }

    #[test]
    fn a_simulation_names_what_would_change() {
        let output = "Reading package lists...\nInst x (1 Debian)\nRemv collectd [5.12]\nPurg cron:amd64 [3.0]\nConf x (1)\n\
                      Inst libc6 [2.36-9] (2.36-9+deb12u1 Debian:12.1/stable [amd64]) []\n\
                      Inst old:i386 [1:2] (1:1 a:1/stable, b:1/stable [i386])\nInst same [1] (1 x [all])\n";
        let expect = [
            ("x", Fate::Installed, "1"),
            ("collectd", Fate::Removed, ""),
            ("cron:amd64", Fate::Removed, ""),
            ("libc6", Fate::Upgraded, "2.36-9+deb12u1"),
            ("old:i386", Fate::Downgraded, "1:1"),
            ("same", Fate::Reinstalled, "1"),
        ];
        let expect = expect.map(|(name, fate, version)| Along { name: name.into(), fate, version: version.into() });
        assert_eq!(simulated(output).unwrap(), expect);
        assert!(simulated("Inst x\n").is_err() && simulated("Inst x 1\n").is_err());
    }
}
