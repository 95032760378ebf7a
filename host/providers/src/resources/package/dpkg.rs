//! `dpkg_package`: packages from files on the node.

use super::apt::unsupported;
use super::copies::{self, exchanged};
use super::found::FoundPackage;
use super::preseed;
use super::request::{Request, grant, is_name, package_file};
use super::status::Status;
use super::targets::{Aim, Seen, also_removed, change, missing, needs_candidate, removal, step, target};
use super::tools::{self, Transaction};
use crate::found::Found;
use crate::operation::Operation;
use crate::plan::{Assumption, Plan, Provider, View, Writer};
use crate::private_copy::PrivateCopy;
use crate::resources::asked;
use crate::withheld::Withheld;
use contract::{Certainty, CommandOutcome, ErrorKind, Raised, Wanted};
use grants::GrantedPackage;
use machine::command::{Answer, Launch, require_success};
use schema::types::dpkg_package::DpkgPackageProperties;
use std::sync::Arc;

/// The provider of packages from `.deb` files, without their dependencies.
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

/// A package file, with the name and version inside.
#[derive(Debug)]
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
        match source.as_deref().map(|source| package_file(source, view)).transpose()?.flatten() {
            Some(file) => match read(file.real().to_owned(), view)? {
                Ok(archive) => archives.push(archive),
                Err(why) => return Ok(uncertain(request, Certainty::Unknown(why))),
            },
            None => absent.push(source.clone().unwrap_or_else(|| "nil".into())),
        }
    }
    if !absent.is_empty() {
        if view.why_run {
            let assumed = Certainty::Assumed("Assuming they would have been previously created.".into());
            return Ok(uncertain(request, assumed));
        }
        let message = format!("{key} source file(s) do not exist: {}", absent.join(", "));
        return Err(Raised::new(ErrorKind::Package, message));
    }
    // The file's name may be misleading: the package name inside the file decides.
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
    let mut files = vec![];
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
            plan.assume(Assumption::Package(archive.name.clone()));
            files.push(archive);
        }
    }
    if files.is_empty() {
        return Ok(plan);
    }
    plan.steps.extend(preseed::before_install(wanted, request, &chosen, view)?);
    let mut arguments = vec!["-i".to_owned()];
    if !request.options.iter().any(|option| option.contains("--force-conf")) {
        arguments.extend(["--force-confdef".to_owned(), "--force-confold".into()]);
    }
    arguments.extend(request.options.iter().cloned());
    arguments.push("--".into());
    let mut granted = granted;
    let paths = files.iter().map(|file| file.path.as_str());
    let removed = match look_ahead(&simulation(&arguments, paths), view)? {
        Ok(removed) => removed,
        Err(why) => {
            plan.certainty.push(Certainty::Unknown(format!("which packages it would remove is not known: {why}")));
            vec![]
        }
    };
    granted.extend(grant(view, removed.iter().map(String::as_str))?);
    changes.extend(removed.iter().map(|name| also_removed(name, status.version(name), "conflicts with it")));
    found.extend(removed.iter().map(|name| FoundPackage::of(status, name)));
    let transaction = transaction(request, (granted, found), arguments);
    plan.steps.extend(step(changes, Operation::InstallFiles(InstallFiles { transaction, files, removed })));
    Ok(plan)
}

/// Returns the plan of a dry run that cannot read the files. Later resources may rely on the packages.
fn uncertain(request: &Request, why: Certainty) -> Plan {
    let mut plan = Plan::uncertain(why);
    plan.assumptions.extend(request.packages.iter().map(|(name, _)| Assumption::Package(name.clone())));
    plan
}

/// Package files to install.
#[derive(Debug)]
pub(crate) struct InstallFiles {
    /// The call of dpkg, without the files.
    transaction: Transaction,
    files: Vec<Archive>,
    /// The packages that dpkg may remove because they conflict with the files.
    removed: Vec<String>,
}

impl InstallFiles {
    /// Returns the state of the packages when planned, including those to be removed.
    pub(crate) fn found(&self) -> Found {
        self.transaction.found()
    }

    /// Copies the files to a private folder, checks the copies, and installs them.
    ///
    /// # Errors
    /// A file now contains another package, or the failures of [`Transaction::run`].
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        let Self { mut transaction, files, removed } = self;
        let mut copies = vec![];
        for file in &files {
            let copy = copies::copy(&file.path, writer)?;
            let outcome = run(&showing(copy.path()), writer, &[0])?;
            if shown(&outcome) != Some((file.name.clone(), file.version.clone())) {
                return Err(exchanged(&file.path));
            }
            copies.push(copy);
        }
        let paths = copies.iter().map(PrivateCopy::path);
        let ahead = run(&simulation(&transaction.arguments.0, paths.clone()), writer, &FORESEEN)?;
        if let Some(file) = files.first().filter(|_| removals(&ahead).iter().any(|name| !removed.contains(name))) {
            return Err(exchanged(&file.path));
        }
        let as_written = transaction.arguments.0.iter().chain(files.iter().map(|file| &file.path)).cloned();
        transaction.shown = Withheld(Some(as_written.collect()));
        transaction.arguments.0.extend(paths.map(str::to_owned));
        transaction.run(writer)
    }
}

fn run(launch: &Launch, writer: &mut Writer<'_>, codes: &[i32]) -> Result<CommandOutcome, Raised> {
    let outcome = writer.launch(launch).map_err(|failure| failure.into_raised(launch))?;
    require_success(launch, &outcome, codes)?;
    Ok(outcome)
}

/// The accepted exit codes of a simulation. dpkg reports removals even if a file could not be installed.
const FORESEEN: [i32; 2] = [0, 1];

/// Builds the command that simulates dpkg with these files.
fn simulation<'a>(arguments: &[String], paths: impl Iterator<Item = &'a str>) -> Launch {
    let arguments = std::iter::once("--simulate".to_owned()).chain(arguments.iter().cloned());
    Launch::program("dpkg", arguments.chain(paths.map(str::to_owned))).timeout(tools::QUERY)
}

/// Returns the packages that dpkg would remove, or the reason why a dry run cannot know them.
fn look_ahead(launch: &Launch, view: &mut View<'_>) -> Result<Result<Vec<String>, String>, Raised> {
    let outcome = match view.answer(launch).map_err(|failure| failure.into_raised(launch))? {
        Answer::Ended(outcome) => outcome,
        Answer::Unknown(why) => return Ok(Err(why)),
    };
    require_success(launch, &outcome, &FORESEEN)?;
    Ok(Ok(removals(&outcome)))
}

/// Returns the packages in dpkg's lines `dpkg: yes, will remove NAME in favour of OTHER`.
fn removals(outcome: &CommandOutcome) -> Vec<String> {
    let errors = String::from_utf8_lossy(&outcome.errors);
    let removal = |line: &str| {
        let (name, _) = line.split_once("yes, will remove ")?.1.split_once(" in favour of ")?;
        Some(name.to_owned())
    };
    errors.lines().filter_map(removal).collect()
}

/// Fails if a file has another version than the declared one: the resource could then never converge.
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

/// Returns the file of each package: the one in the property `source`, or the package's name if that is a path.
fn sources(named: Vec<String>, request: &Request, view: &View<'_>) -> Vec<Option<String>> {
    let mut named = named.into_iter();
    // A name that the policy may not look up counts as a file, whether it exists or not. So does a missing file in a dry run: an
    // earlier resource may bring it.
    let file = |name: &str| {
        let is_granted = || view.grants.silent().package_source(&view.root.asked_about(name)).is_ok();
        let is_there = || view.root.target_entry(name).is_ok_and(|entry| entry.is_some());
        name.contains('/') && (view.why_run || !is_granted() || is_there())
    };
    let source = |(name, _): &(String, Option<String>)| {
        let named = named.next().filter(|source| !source.is_empty());
        named.or_else(|| file(name).then(|| name.clone()))
    };
    request.packages.iter().map(source).collect()
}

/// Returns Chef's two errors for a missing source, in Chef's order.
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

/// Reads the package in a file, or returns the reason why a dry run cannot know it. `dpkg-deb` unpacks a part of the file.
/// The file is untrusted, so a dry run confines the program.
fn read(path: String, view: &mut View<'_>) -> Result<Result<Archive, String>, Raised> {
    let launch = showing(&path);
    let outcome = match view.answer(&launch).map_err(|failure| failure.into_raised(&launch))? {
        Answer::Ended(outcome) => outcome,
        Answer::Unknown(why) => return Ok(Err(format!("what {path} holds is not known: {why}"))),
    };
    require_success(&launch, &outcome, &[0])?;
    match shown(&outcome) {
        Some((name, version)) => Ok(Ok(Archive { path, name, version })),
        None => Err(Raised::new(ErrorKind::Package, format!("{path} names no package and version"))),
    }
}

fn showing(path: &str) -> Launch {
    let arguments = ["--show", "--showformat", "${Package}\\n${Version}\\n", "--", path];
    Launch::program("dpkg-deb", arguments).timeout(tools::QUERY)
}

/// Parses the name and version from the output, or returns `None` if they are missing.
fn shown(outcome: &CommandOutcome) -> Option<(String, String)> {
    let output = String::from_utf8_lossy(&outcome.output);
    let mut lines = output.lines();
    let (name, version) = (lines.next()?, lines.next()?);
    (is_name(name) && !version.is_empty()).then(|| (name.to_owned(), version.to_owned()))
}

/// Returns the installed version. Returns `None` if an interrupted dpkg left the package half installed, because installing
/// it again helps then.
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
    let operation = Operation::ChangePackages(transaction(request, (granted, found), arguments));
    Ok(Plan::steps(step(vec![change], operation).into_iter().collect()))
}

fn transaction(
    request: &Request,
    (granted, found): (Vec<GrantedPackage>, Vec<FoundPackage>),
    arguments: Vec<String>,
) -> Transaction {
    Transaction {
        program: "dpkg",
        arguments: Withheld(arguments),
        shown: Withheld(None),
        environment: Withheld(request.environment.clone()),
        timeout: request.timeout,
        input: Withheld(None),
        granted,
        found,
    }
}
