//! `wrun policy install` and `wrun policy update`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use node::version_constraint::{Version, VersionStyle};
use policyfile::compile::{
    CompileError, From, Input, OwnCookbook, attributes, check_recipes, choose, lock as make_lock, starting_points,
};
use policyfile::constraint::Constraint;
use policyfile::include::Included;
use policyfile::lock::{CookbookLock, CookbookPlace, Lock};
use policyfile::model::{CookbookSource, CookbookSpec, DefaultPlace, DefaultSource, Policy, cookbook_source};
use policyfile::solver::{SolveError, Universe};
use serde_json::{Map, Value};

use super::cookbook::{LocalCookbook, identifier};
use super::error::{PolicyfileError, of_lock};
use super::includes::Pins;
use super::locate::Located;
use super::{Place, Session, Tools};

/// The result of an installation or an update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Installed {
    /// A lock was written.
    Locked {
        /// The revision of the lock.
        revision_id: String,
    },
    /// The cookbooks of the existing lock are installed.
    FromLock,
    /// The attributes of the lock were updated.
    Attributes,
    /// Nothing had to be changed.
    UpToDate,
}

/// The parts that an update replaces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Update {
    /// These cookbooks, with what they depend on. Empty: all.
    pub cookbooks: Vec<String>,
    /// Only the cookbooks themselves.
    pub exclude_deps: bool,
    /// Whether only attributes are locked anew.
    pub attributes: bool,
    /// The commits of these includes; `all` for all of them.
    pub includes: Vec<String>,
}

/// Installs the cookbooks of the lock. Without a lock, makes one.
///
/// # Errors
/// The Policyfile or the lock is wrong, or a cookbook cannot be had.
pub fn install(place: &Place, tools: &Tools<'_>) -> Result<Installed, PolicyfileError> {
    check_there(place)?;
    if place.lock.exists() {
        (tools.say)("Installing cookbooks from lock");
        let lock = place.read_lock()?;
        return Session::of(place, tools).install_locked(place, &lock).map(|()| Installed::FromLock);
    }
    let mut session = Session::of(place, tools);
    let policy = session.evaluate(place)?;
    session.generate(place, &policy, Pins { lock: None, renewed: &[], keeps_fetched: false })
}

/// Updates the lock, or the requested parts of it.
///
/// # Errors
/// As [`install`].
pub fn update(place: &Place, wanted: &Update, tools: &Tools<'_>) -> Result<Installed, PolicyfileError> {
    check_there(place)?;
    let is_there = place.lock.exists();
    if wanted.attributes && !is_there {
        return Err(PolicyfileError::NoLock { path: place.lock.clone() });
    }
    let before = if is_there { Some(place.read_lock()) } else { None };
    let before = match before {
        // A lock that is replaced completely need not be valid.
        Some(Err(PolicyfileError::Lock { place, invalid, .. }))
            if wanted.cookbooks.is_empty() && !wanted.attributes =>
        {
            let why = "so nothing of it is kept, not even the commits of included policies";
            (tools.say)(&format!("note: {}, {why}", of_lock(&place, &invalid).replace('\n', "; ")));
            None
        }
        Some(lock) => Some(lock?),
        None => None,
    };
    let mut session = Session::of(place, tools);
    let mut policy = session.evaluate(place)?;
    let pins = Pins { lock: before.as_ref(), renewed: &wanted.includes, keeps_fetched: false };
    match &before {
        Some(lock) if wanted.attributes => session.update_attributes(place, &policy, lock.clone(), pins),
        Some(lock) if !wanted.cookbooks.is_empty() => {
            pin_others(&mut policy, lock, wanted, tools)?;
            session.generate(place, &policy, pins)
        }
        _ => session.generate(place, &policy, pins),
    }
}

fn check_there(place: &Place) -> Result<(), PolicyfileError> {
    let needed = if place.is_lock { &place.lock } else { &place.policyfile };
    if needed.exists() { Ok(()) } else { Err(PolicyfileError::NotFound { path: needed.clone() }) }
}

/// Pins all cookbooks to their locked versions and sources, except for those to update.
fn pin_others(policy: &mut Policy, lock: &Lock, wanted: &Update, tools: &Tools<'_>) -> Result<(), PolicyfileError> {
    let unknown: Vec<_> = wanted.cookbooks.iter().filter(|name| !lock.dependencies.has(name)).cloned().collect();
    if !unknown.is_empty() {
        return Err(PolicyfileError::Cookbook(format!("the lock does not have {}", unknown.join(", "))));
    }
    let free: BTreeSet<String> = match wanted.exclude_deps {
        true => wanted.cookbooks.iter().cloned().collect(),
        false => lock.dependencies.with_dependencies(&wanted.cookbooks),
    };
    (tools.say)("Will relax constraints on:");
    for name in &free {
        (tools.say)(&format!(" - {name}"));
    }
    for (name, locked) in lock.cookbooks.iter().filter(|(name, _)| !free.contains(*name)) {
        let constraint = exactly(name, &locked.version)?;
        let source = source_of(name, &locked.source_options)?;
        let spec =
            CookbookSpec { name: name.clone(), constraint, options: locked.source_options.clone(), source, line: 0 };
        policy.cookbooks.retain(|known| known.name != *name);
        policy.cookbooks.push(spec);
    }
    Ok(())
}

pub(super) fn exactly(name: &str, version: &str) -> Result<Constraint, PolicyfileError> {
    let parsed = Version::parse(version, VersionStyle::Cookbook);
    parsed
        .map(Constraint::exactly)
        .map_err(|error| PolicyfileError::Cookbook(format!("the locked cookbook {name}: {error}")))
}

pub(super) fn source_of(name: &str, options: &Map<String, Value>) -> Result<Option<CookbookSource>, PolicyfileError> {
    // If a source has several versions of a cookbook, the options must name the locked one.
    let mut options = options.clone();
    if options.contains_key("path") {
        options.shift_remove("version");
    }
    cookbook_source(name, &options).map_err(PolicyfileError::Cookbook)
}

impl Session<'_> {
    /// Makes a lock and writes it.
    fn generate(&mut self, place: &Place, policy: &Policy, pins: Pins<'_>) -> Result<Installed, PolicyfileError> {
        let say = self.tools.say;
        say(&format!("Building policy {}", policy.name.as_deref().unwrap_or_default()));
        let (lock, _) = self.compile(place, policy, pins)?;
        place.write_lock(&lock)?;
        let revision_id = lock.revision_id()?;
        if lock.name.is_none() {
            say("note: the Policyfile gives the policy no name; a lock without a name can be written, but not used");
        }
        say(&format!("Lockfile written to {}", place.lock.display()));
        say(&format!("Policy revision id: {revision_id}"));
        Ok(Installed::Locked { revision_id })
    }

    /// Makes a lock, without writing it, and finds its cookbooks.
    pub(super) fn compile(
        &mut self,
        place: &Place,
        policy: &Policy,
        pins: Pins<'_>,
    ) -> Result<(Lock, BTreeMap<String, Located>), PolicyfileError> {
        let includes = self.includes(place, policy, pins)?;
        let policy = &pins.keep_fetched(policy, &includes)?;
        (self.tools.say)("Caching Cookbooks...");
        let mut located: BTreeMap<String, Located> = BTreeMap::new();
        for spec in &policy.cookbooks {
            let Some(source) = &spec.source else { continue };
            let found = self.locate(&spec.name, &spec.constraint, source, &place.folder);
            let found = found.map_err(|error| of_source(&place.policyfile, spec.line, &spec.name, source, &error));
            located.insert(spec.name.clone(), found?);
        }
        let own = located.iter().map(|(name, Located { cookbook, .. })| {
            let (version, dependencies) = (cookbook.version.clone(), cookbook.dependencies.clone());
            (name.clone(), OwnCookbook { version, dependencies })
        });
        let own = own.collect();
        let known = pins.keeps_fetched.then(|| kept_universe(&includes, &own));
        let opened = self.sources(place, policy, &starting_points(policy, &includes, &own), known.as_ref())?;
        let sources: Vec<_> = opened.iter().map(|opened| opened.source.clone()).collect();
        let file = place.file_name();
        let input = Input { policy, file: &file, includes: &includes, own: &own, sources: &sources };
        let failed = |error| compile_error(place, error);
        let chosen = choose(&input).map_err(|error| {
            let hint = other_sources(place, policy, &error);
            PolicyfileError::Compile { file: place.policyfile.clone(), error: Box::new(error), hint }
        })?;
        for (name, one) in &chosen {
            let source = match &one.from {
                From::Own => continue,
                From::Include(options) => source_of(name, options)?,
                From::Source(index) => opened
                    .get(*index)
                    .and_then(|opened| opened.cookbooks.get(&(name.clone(), one.version.clone())))
                    .cloned(),
            };
            let source = source
                .ok_or_else(|| PolicyfileError::Cookbook(format!("cookbook {name} {} has no source", one.version)))?;
            let found = self.locate(name, &exactly(name, &one.version)?, &source, &place.folder);
            let found = found.map_err(|error| match (&one.from, &source) {
                (From::Include(_), CookbookSource::Path(_)) => of_include(place, policy, &includes, name, error),
                (From::Include(_), _) => {
                    let what = format!("cookbook {name} from {}: {}", source.origin(), text::error_chain(&error));
                    of_include(place, policy, &includes, name, PolicyfileError::Cookbook(what))
                }
                (_, CookbookSource::Path(_)) => error,
                _ => of_source(&place.policyfile, 0, name, &source, &error),
            });
            located.insert(name.clone(), found?);
        }
        self.compare_with_included(place, policy, &includes, &located)?;
        let path = |name: &str| located.get(name).map(|it| it.cookbook.path.display().to_string()).unwrap_or_default();
        let has = |name: &str, recipe: &str| located.get(name).is_some_and(|it| it.cookbook.has_recipe(recipe));
        check_recipes(&input, &chosen, has, path).map_err(failed)?;
        let mut entries = BTreeMap::new();
        for (name, found) in &located {
            entries.insert(name.clone(), self.entry(found)?);
        }
        Ok((make_lock(&input, &chosen, entries).map_err(failed)?, located))
    }

    /// Compares the cookbooks of included policies with what those have locked. A fetched cookbook must be the same. A
    /// cookbook in a folder is used as it is now, as in Chef; a change is reported.
    fn compare_with_included(
        &self,
        place: &Place,
        policy: &Policy,
        includes: &[Included],
        located: &BTreeMap<String, Located>,
    ) -> Result<(), PolicyfileError> {
        for include in includes {
            for (name, locked) in &include.lock.cookbooks {
                let Some(found) = located.get(name) else { continue };
                if self.is_as_locked(found, &locked.identifier)? {
                    continue;
                }
                let (folder, got) = (found.cookbook.path.display(), identifier(&found.cookbook)?);
                let what = format!(
                    "the cookbook {name} in {folder} has the identifier {got}, but {} has locked {}",
                    include.place, locked.identifier
                );
                if found.is_fetched() {
                    let what = format!("{what}: it was changed after it was locked; `update` its policy first");
                    return Err(of_include(place, policy, includes, name, PolicyfileError::Cookbook(what)));
                }
                let note = "it is taken as it is; `wrun policy update` in the included policy locks it anew";
                (self.tools.say)(&format!("note: include_policy {:?}: {what}; {note}", include.name));
            }
        }
        Ok(())
    }

    /// Installs the cookbooks of a lock, and checks that they are those that were locked.
    fn install_locked(&mut self, place: &Place, lock: &Lock) -> Result<(), PolicyfileError> {
        for (name, locked) in &lock.cookbooks {
            let found = self
                .locate_locked(place, name, locked)?
                .map_err(|what| PolicyfileError::Outdated { lock: place.lock.clone(), differences: vec![what] })?;
            (self.tools.say)(&format!("Using {name} {}", locked.version));
            let Some(what) = other_identifier(place, name, &locked.identifier, &found.cookbook)? else { continue };
            match locked.place {
                CookbookPlace::Cached { .. } => return Err(changed_in_cache(&what)),
                // A cookbook in a folder may have changed, and is used as it is now, as in Chef.
                CookbookPlace::Local { .. } => {
                    (self.tools.say)(&format!("note: {what}; `wrun policy update` locks what is there now"));
                }
            }
        }
        Ok(())
    }

    /// Finds a cookbook of a lock. The inner error is a sentence: the folder has another version or another cookbook.
    pub(super) fn locate_locked(
        &mut self,
        place: &Place,
        name: &str,
        locked: &CookbookLock,
    ) -> Result<Result<Located, String>, PolicyfileError> {
        let source = source_of(name, &locked.source_options)?
            .ok_or_else(|| PolicyfileError::Cookbook(format!("the lock has no source options for cookbook {name}")))?;
        if let CookbookSource::Path(path) = &source {
            let folder = super::paths::expanded(path, &place.folder);
            if !folder.is_dir() {
                return Err(gone(name, path, &folder));
            }
        }
        match self.locate(name, &exactly(name, &locked.version)?, &source, &place.folder) {
            Ok(found) => Ok(Ok(found)),
            Err(PolicyfileError::Cookbook(what)) if matches!(source, CookbookSource::Path(_)) => Ok(Err(what)),
            Err(error) => Err(of_source(&place.lock, 0, name, &source, &error)),
        }
    }

    /// Takes the attributes of the Policyfile into a lock.
    fn update_attributes(
        &mut self,
        place: &Place,
        policy: &Policy,
        mut lock: Lock,
        pins: Pins<'_>,
    ) -> Result<Installed, PolicyfileError> {
        let includes: Vec<Included> = self.includes(place, policy, pins)?;
        let file = place.file_name();
        let own = BTreeMap::new();
        let input = Input { policy, file: &file, includes: &includes, own: &own, sources: &[] };
        let (default, r#override) = attributes(&input).map_err(|error| compile_error(place, error))?;
        if lock.default_attributes == default && lock.override_attributes == r#override {
            (self.tools.say)("Attributes already up to date");
            return Ok(Installed::UpToDate);
        }
        (lock.default_attributes, lock.override_attributes) = (default, r#override);
        self.refresh_commits(place, &mut lock)?;
        place.write_lock(&lock)?;
        (self.tools.say)(&format!("Updated attributes in {}", place.lock.display()));
        Ok(Installed::Attributes)
    }

    /// Updates the commits of the lock's folders. The folders must exist.
    pub(super) fn refresh_commits(&mut self, place: &Place, lock: &mut Lock) -> Result<(), PolicyfileError> {
        for (name, locked) in &mut lock.cookbooks {
            if let CookbookPlace::Local { source, scm_info } = &mut locked.place {
                let folder = super::paths::expanded(&*source, &place.folder);
                if !folder.is_dir() {
                    return Err(gone(name, source, &folder));
                }
                if !self.takes_crates {
                    *scm_info = self.working_trees.info(&folder, self.tools.say)?;
                }
            }
        }
        Ok(())
    }
}

/// The cookbooks that have a source of their own, or are locked by an included policy.
fn kept_universe(includes: &[Included], own: &BTreeMap<String, OwnCookbook>) -> Universe {
    // Conflicts are reported later, when cookbooks are chosen.
    let mut universe = policyfile::include::universe(includes).unwrap_or_default();
    for (name, cookbook) in own {
        universe.insert(name.clone(), BTreeMap::from([(cookbook.version.clone(), cookbook.dependencies.clone())]));
    }
    universe
}

/// Returns the error for a cookbook that is not available, at the line that names its source.
fn of_source(file: &Path, line: u32, name: &str, source: &CookbookSource, error: &PolicyfileError) -> PolicyfileError {
    PolicyfileError::Source {
        file: file.to_owned(),
        line,
        name: name.to_owned(),
        origin: source.origin().to_owned(),
        what: text::error_chain(error),
    }
}

/// What is wrong with a cookbook of an included policy, at the line that includes it.
fn of_include(
    place: &Place,
    policy: &Policy,
    includes: &[Included],
    cookbook: &str,
    error: PolicyfileError,
) -> PolicyfileError {
    let include = includes.iter().find(|include| include.lock.cookbooks.contains_key(cookbook));
    let spec = include.and_then(|include| policy.includes.iter().find(|spec| spec.name == include.name));
    match spec {
        None => error,
        Some(spec) => PolicyfileError::Include {
            file: place.policyfile.clone(),
            line: spec.line,
            name: spec.name.clone(),
            what: text::error_chain(&error),
        },
    }
}

pub(super) fn gone(name: &str, source: &str, folder: &Path) -> PolicyfileError {
    PolicyfileError::Cookbook(format!(
        "Cookbook `{name}` not found at path source `{source}` (full path: `{}`)\nput the folder back, or name the place that \
         it has now and run `wrun policy update`",
        folder.display()
    ))
}

/// Returns a sentence if a cookbook's identifier differs from the locked one. It begins with the lock's line.
pub(super) fn other_identifier(
    place: &Place,
    name: &str,
    locked: &str,
    cookbook: &LocalCookbook,
) -> Result<Option<String>, PolicyfileError> {
    let got = identifier(cookbook)?;
    let differs = || {
        let (lock, line, folder) = (place.lock.display(), place.line_of_identifier(name), cookbook.path.display());
        format!("{lock}{line}: cookbook {name} in {folder} has the identifier {got}, and the lock has {locked}")
    };
    Ok((got.as_str() != locked).then(differs))
}

/// The error for a cookbook in the cache that is not the locked one. `what`: the sentence of [`other_identifier`].
pub(super) fn changed_in_cache(what: &str) -> PolicyfileError {
    PolicyfileError::Cookbook(format!(
        "{what}: it was changed after it was locked\nremove the folder to fetch the cookbook again; \
         `wrun policy update` locks what is fetched then"
    ))
}

pub(super) fn compile_error(place: &Place, error: CompileError) -> PolicyfileError {
    PolicyfileError::Compile { file: place.policyfile.clone(), error: Box::new(error), hint: String::new() }
}

/// Returns a hint: the line that adds a source for a missing cookbook. The hint is empty if no cookbook is missing, or if a
/// server is a source already.
fn other_sources(place: &Place, policy: &Policy, error: &CompileError) -> String {
    let CompileError::Solve(SolveError::NoSolution { absent, .. }) = error else { return String::new() };
    let is_folder = |source: &DefaultSource| matches!(source.place, DefaultPlace::ChefRepo(_));
    let Some(name) = absent.first().filter(|_| policy.default_sources.iter().all(is_folder)) else {
        return String::new();
    };
    match place.is_toml() {
        true => format!(
            "\n`supermarket = \"https://supermarket.chef.io\"` in [sources] takes it from the Supermarket; [cookbooks] may name \
             a place of its own, as in `{name} = {{ git = \"..\" }}`"
        ),
        false => format!(
            "\n`default_source :supermarket` takes it from the Supermarket; `cookbook '{name}', git: '..'` or `path: '..'` names a \
             place of its own"
        ),
    }
}
