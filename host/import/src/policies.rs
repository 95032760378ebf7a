//! Creates a Policyfile for each role, and the grants that its cookbooks need.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use author::check::{CheckError, Finding, Kind, Readers, Report, Subject, additions, check};
use author::folders::CookbookFolders;
use author::policyfile::{expanded, relative};
use grants::{Addition, Grants, MachineView};
use node::object::DEFAULT_ENVIRONMENT;
use node::run_list::RunList;
use node::version_constraint::{Version, VersionConstraint, VersionStyle};
use resolve::expansion::{Expansion, expand};
use serde_json::Value;

use crate::berksfile::Source;
use crate::repository::Repository;
use crate::{ImportError, NewFile, Note, ruby};

/// The end of the text about a need of a missing cookbook.
const NOT_HERE: &str = ", not here";

/// The Policyfiles, the grants, and the names of the policies.
pub(crate) struct Policies {
    pub(crate) files: Vec<NewFile>,
    pub(crate) names: Vec<String>,
}

/// The data for the creation of all policies.
struct Work<'a, R> {
    repository: &'a Repository,
    output: &'a Path,
    facts: &'a BTreeSet<String>,
    readers: &'a R,
    /// The cookbooks of the repository, if it has any.
    subject: Option<Subject>,
    notes: &'a mut Vec<Note>,
    grants: Vec<Addition>,
    /// The versions of the cookbooks that policies use.
    versions: BTreeMap<String, String>,
}

/// Creates a Policyfile for each role that has recipes.
pub(crate) fn policies(
    repository: &Repository,
    output: &Path,
    facts: &BTreeSet<String>,
    readers: &impl Readers,
    notes: &mut Vec<Note>,
) -> Result<Policies, ImportError> {
    let subject =
        Subject::all(&repository.cookbooks).ok().map(|subject| subject.with_set_elsewhere(set_by(repository)));
    if subject.is_none() {
        notes.push(Note::problem("cookbooks", "there is no cookbook with metadata"));
    }
    let mut work =
        Work { repository, output, facts, readers, subject, notes, grants: vec![], versions: BTreeMap::new() };
    let mut files = vec![];
    let mut names = vec![];
    for name in repository.role_files.keys() {
        if let Some(file) = work.policy(name)? {
            files.push(file);
            names.push(name.clone());
        }
    }
    work.pins();
    work.unused()?;
    files.push(work.grants_file(&names)?);
    Ok(Policies { files, names })
}

/// Returns the attributes that the roles and environments of a repository set.
fn set_by(repository: &Repository) -> Vec<Value> {
    let of_roles = repository.roles.values().flat_map(|role| [&role.default_attributes, &role.override_attributes]);
    let of_environments = repository.environments.values().flat_map(|(_, value)| {
        ["default_attributes", "override_attributes"].into_iter().filter_map(|level| value.get(level).cloned())
    });
    of_roles.cloned().map(Value::Object).chain(of_environments).collect()
}

impl<R: Readers> Work<'_, R> {
    /// Returns the Policyfile of a role.
    fn policy(&mut self, role: &str) -> Result<Option<NewFile>, ImportError> {
        let place = self.repository.role_files.get(role).cloned().unwrap_or_default();
        let expansion = match self.expanded(role, DEFAULT_ENVIRONMENT) {
            Ok(expansion) => expansion,
            Err(why) => {
                self.notes.push(Note::problem(place, format!("the role has no policy: {why}")));
                return Ok(None);
            }
        };
        for (missing, by) in &expansion.missing_roles {
            self.notes.push(Note::problem(
                &place,
                format!("{by} names the role {missing}, which is not there: it was left out"),
            ));
        }
        let mut lists = self.other_lists(role, &expansion, &place);
        lists.insert(0, (None, expansion.fully_qualified_recipes()));
        for recipe in expansion.recipes.iter().filter(|recipe| recipe.version.is_some()) {
            let version = recipe.version.as_deref().unwrap_or_default();
            self.notes.push(Note::hint(&place, format!(
                "the run list wants {} in version {version}: Policyfiles have no versions there, and the lock says which one runs", recipe.name
            )));
        }
        for (_, recipes) in &mut lists {
            for recipe in recipes.iter_mut() {
                recipe.truncate(recipe.find('@').unwrap_or(recipe.len()));
            }
        }
        if lists.iter().all(|(_, recipes)| recipes.is_empty()) {
            self.notes.push(Note::hint(place, "the role has no recipes, and so no policy; its attributes are in the policies of the roles that have it"));
            return Ok(None);
        }
        if expansion.recipes.is_empty() {
            self.notes.push(Note::problem(
                place,
                "the role has recipes in single environments only: a policy needs a run list of its own",
            ));
            return Ok(None);
        }
        let wanted: BTreeSet<&str> = lists.iter().flat_map(|(_, recipes)| recipes).map(String::as_str).collect();
        let cookbooks = self.closure(role, &wanted, &place)?;
        let mut text = format!(
            "# {}, as `wrun policy import` read it with the roles in it.\nname {}\n",
            text::escape_line(&place.to_string()),
            ruby::text(role)
        );
        text.push_str(&self.sources(role));
        for (name, recipes) in &lists {
            let items: Vec<_> =
                recipes.iter().map(|recipe| ruby::text(recipe.strip_suffix("::default").unwrap_or(recipe))).collect();
            let word = name
                .as_ref()
                .map_or_else(|| "run_list".to_owned(), |name| format!("named_run_list {},", ruby::text(name)));
            text.push_str(&format!("{word} {}\n", items.join(", ")));
        }
        text.push_str(&self.cookbooks(role, &cookbooks));
        for (level, attributes) in
            [("default", &expansion.default_attributes), ("override", &expansion.override_attributes)]
        {
            let lines = ruby::attributes(level, attributes);
            if !lines.is_empty() {
                text.push_str(&format!("\n{lines}"));
            }
        }
        Ok(Some(NewFile { path: format!("policies/{role}/Policyfile.rb").into(), text }))
    }

    /// Returns the recipes and attributes of a role, including those of its nested roles.
    fn expanded(&self, role: &str, environment: &str) -> Result<Expansion, String> {
        let list = RunList::parse([format!("role[{role}]")]).map_err(|error| error.to_string())?;
        expand(&list, environment, &self.repository.roles).map_err(|error| error.to_string())
    }

    /// Returns the run lists of environments in which the role has different recipes.
    fn other_lists(&mut self, role: &str, usual: &Expansion, place: &str) -> Vec<(Option<String>, Vec<String>)> {
        let all = self.repository.roles.values().flat_map(|role| role.env_run_lists.keys());
        let environments: BTreeSet<&String> = all.filter(|name| *name != DEFAULT_ENVIRONMENT).collect();
        let mut lists = vec![];
        for environment in environments {
            let Ok(expansion) = self.expanded(role, environment) else { continue };
            if expansion.recipes == usual.recipes {
                continue;
            }
            if expansion.default_attributes != usual.default_attributes
                || expansion.override_attributes != usual.override_attributes
            {
                self.notes.push(Note::problem(place, format!(
                    "in the environment {environment} other roles bring other attributes: the policy has those of its usual run list; set the others in layers/{environment}.json"
                )));
            }
            self.notes.push(Note::hint(place, format!(
                "the environment {environment} has a run list of its own: nodes there need `wrun converge --named-run-list {environment}`"
            )));
            lists.push((Some(environment.clone()), expansion.fully_qualified_recipes()));
        }
        lists
    }

    /// Returns the known cookbooks that recipes need. Needs of the repository's cookbooks are noted and granted.
    fn closure(
        &mut self,
        policy: &str,
        recipes: &BTreeSet<&str>,
        place: &str,
    ) -> Result<BTreeSet<String>, ImportError> {
        let mut names: BTreeSet<String> = BTreeSet::new();
        let mut left: Vec<String> = recipes.iter().map(|recipe| (*recipe).to_owned()).collect();
        let reports = loop {
            let Some(subject) = self.subject.as_ref().filter(|_| !left.is_empty()) else { break vec![] };
            match check(subject, &left, &[], self.facts, self.readers) {
                Ok(reports) => break reports,
                Err(CheckError::NoCookbook { name: missing, .. }) => {
                    left.retain(|recipe| recipe.split("::").next() != Some(missing.as_str()));
                    self.absent(&missing, place, "the run list");
                    names.insert(missing);
                }
                Err(CheckError::NoRecipe { cookbook, recipe, .. }) => {
                    left.retain(|other| *other != recipe);
                    let what = format!("the cookbook {cookbook} does not have the run list's recipe {recipe}");
                    self.notes.push(Note::problem(place, what));
                }
                Err(CheckError::Reader(error)) => return Err(ImportError::Ruby(error)),
                Err(error) => {
                    self.notes.push(Note::problem(
                        place,
                        format!("its cookbooks could not be checked, and nothing was granted: {error}"),
                    ));
                    break vec![];
                }
            }
        };
        names.extend(reports.iter().map(|report| report.name.clone()));
        let mut missing: BTreeSet<(String, String)> = BTreeSet::new();
        for report in &reports {
            self.versions.insert(report.name.clone(), report.version.clone());
            self.found(report);
            let depends = report.needs.known.get(&Kind::Cookbooks).into_iter().flatten();
            let absent = depends.filter(|(_, need)| need.note.as_deref().is_some_and(|note| note.ends_with(NOT_HERE)));
            missing.extend(absent.map(|(name, _)| (name.clone(), report.name.clone())));
        }
        for (name, by) in missing {
            self.absent(&name, &format!("cookbook {by}"), "the metadata");
            names.insert(name);
        }
        // The Berksfile's lock lists the dependencies of cookbooks from git repositories.
        let locked = &self.repository.berksfile.locked;
        let mut open: Vec<String> = names.iter().cloned().collect();
        while let Some(name) = open.pop() {
            let depends = locked.get(&name).into_iter().flat_map(|locked| &locked.depends);
            open.extend(depends.filter(|name| names.insert((*name).clone())).cloned().collect::<Vec<_>>());
        }
        self.grant(policy, &reports, &names);
        Ok(names)
    }

    /// Notes a cookbook that is not in the repository, unless it comes from git.
    fn absent(&mut self, name: &str, place: &str, whose: &str) {
        let berksfile = &self.repository.berksfile;
        let is_git = berksfile.wanted.get(name).is_some_and(|wanted| matches!(wanted.source, Source::Git(_)));
        self.notes.push(match is_git {
            true => Note::hint(
                place,
                format!("{name} comes from git: what it needs is not in grants.toml; `wrun grants suggest` finds it"),
            ),
            false => Note::problem(
                place,
                format!(
                    "{whose} needs the cookbook {name}, which is not in the repository: {}",
                    berksfile.absence(name)
                ),
            ),
        });
    }

    /// Notes the problems of a cookbook.
    fn found(&mut self, report: &Report) {
        for finding in report.findings.iter().filter(|finding| finding.is_problem) {
            self.notes.push(problem(&report.name, finding));
        }
        let asked =
            [Kind::Facts, Kind::Attributes].into_iter().filter_map(|kind| report.needs.known.get(&kind)).flatten();
        for (fact, need) in asked.filter(|(fact, _)| *fact == "roles" || *fact == "role") {
            let place = need.places.first().map(|(file, line)| format!("cookbook {}: {file}:{line}", report.name));
            self.notes.push(Note::problem(
                place.unwrap_or_default(),
                format!(
                    "it asks for the node's {fact}, and a policy has none: ask for node['policy_name'], or set an attribute in the Policyfile"
                ),
            ));
        }
        let computed: usize = report.needs.computed.values().map(BTreeSet::len).sum();
        if computed > 0 {
            self.notes.push(Note::hint(
                format!("cookbook {}", report.name),
                format!("{computed} places compute what they need: `wrun grants suggest` finds it in a dry run"),
            ));
        }
    }

    /// Adds the needs of a policy's cookbooks to its grants.
    fn grant(&mut self, policy: &str, reports: &[Report], cookbooks: &BTreeSet<String>) {
        // Environments may set top-level attributes that are not names of cookbooks. A policy sees them only if they are
        // granted.
        let set = self.repository.environments.values().flat_map(|(_, environment)| {
            let levels = ["default_attributes", "override_attributes"].into_iter();
            levels.filter_map(|level| environment.get(level)?.as_object()).flat_map(|level| level.keys())
        });
        let set: BTreeSet<&String> = set.collect();
        let needs: Vec<_> = reports.iter().flat_map(|report| additions(policy, &report.needs)).collect();
        // A policy also sees what the operator sets where it may write.
        let written = |name: &String| {
            let value = text::toml_string(name);
            needs.iter().any(|addition| addition.key == "write_attributes" && addition.value == value)
        };
        self.grants.extend(
            needs
                .iter()
                .filter(|addition| {
                    let own = |name: &String| text::toml_string(name) == addition.value;
                    addition.key != "write_attributes" || !cookbooks.iter().any(own)
                })
                .cloned(),
        );
        for report in reports {
            let read = report.needs.known.get(&Kind::Attributes).into_iter().flatten();
            for (name, _) in read.filter(|(name, _)| set.contains(name) && !cookbooks.contains(*name) && !written(name))
            {
                let value = text::toml_string(name);
                self.grants.push(Addition { policy: policy.to_owned(), key: "read_attributes".to_owned(), value });
            }
        }
    }

    /// Returns the default sources of a Policyfile: the cookbook folders, and the preferred folder for cookbooks that are in
    /// several.
    fn sources(&self, role: &str) -> String {
        let here = expanded(format!("policies/{role}"), self.output);
        let mut known: BTreeSet<String> = BTreeSet::new();
        let mut lines = vec![];
        for folder in self.repository.cookbooks.iter().rev() {
            let folders = CookbookFolders::open(std::slice::from_ref(folder)).unwrap_or_default();
            let (both, new): (Vec<_>, Vec<_>) =
                folders.names().map(str::to_owned).partition(|name| known.contains(name));
            known.extend(new);
            lines.push((relative(&here, folder), both));
        }
        let twice: BTreeSet<&String> = lines.iter().flat_map(|(_, both)| both).collect();
        let mut later: BTreeSet<&String> = BTreeSet::new();
        let line = |(path, folder): (&String, &std::path::PathBuf)| {
            let names = CookbookFolders::open(std::slice::from_ref(folder)).unwrap_or_default();
            let preferred: Vec<&String> =
                twice.iter().filter(|name| names.place(name).is_some() && later.insert(name)).copied().collect();
            match preferred.is_empty() {
                true => format!("default_source :chef_repo, {}\n", ruby::text(path)),
                false => {
                    let names: Vec<_> = preferred.into_iter().map(|name| ruby::text(name)).collect();
                    format!(
                        "default_source(:chef_repo, {}) {{ |s| s.preferred_for {} }}\n",
                        ruby::text(path),
                        names.join(", ")
                    )
                }
            }
        };
        lines.iter().map(|(path, _)| path).zip(self.repository.cookbooks.iter().rev()).map(line).collect()
    }

    /// Returns Policyfile lines for needed cookbooks of the Berksfile: those from git, and those with a version constraint.
    fn cookbooks(&mut self, role: &str, cookbooks: &BTreeSet<String>) -> String {
        let here = expanded(format!("policies/{role}"), self.output);
        let mut text = String::new();
        for (name, wanted) in self.repository.berksfile.wanted.iter().filter(|(name, _)| cookbooks.contains(*name)) {
            let mut words = vec![ruby::text(name)];
            let local = self.versions.get(name);
            if !wanted.constraint.is_empty() {
                match local.is_none_or(|version| fits(&wanted.constraint, version)) {
                    true => words.push(ruby::text(&wanted.constraint)),
                    false => self.notes.push(Note::problem(
                        format!("Berksfile:{}", wanted.line),
                        format!(
                            "it wants {name} {}, and the repository has {}: the version was left out",
                            wanted.constraint,
                            local.map_or("", String::as_str)
                        ),
                    )),
                }
            }
            match &wanted.source {
                Source::Git(options) => {
                    words.extend(options.iter().map(|(key, value)| format!("{key}: {}", ruby::text(value))));
                }
                Source::Path(path) => {
                    let folder = expanded(path, &self.repository.folder);
                    words.push(format!("path: {}", ruby::text(&relative(&here, &folder))));
                }
                Source::Elsewhere if words.len() == 1 => continue,
                Source::Elsewhere => {}
            }
            text.push_str(&format!("cookbook {}\n", words.join(", ")));
        }
        text
    }

    /// Notes environments that require other versions than the repository contains, since their layers would stop every run.
    fn pins(&mut self) {
        for (name, (place, environment)) in &self.repository.environments {
            let pins = environment.get("cookbook_versions").and_then(|pins| pins.as_object()).into_iter().flatten();
            for (cookbook, constraint) in pins {
                let constraint = constraint.as_str().unwrap_or_default();
                if let Some(version) = self.versions.get(cookbook).filter(|version| !fits(constraint, version)) {
                    self.notes.push(Note::problem(place, format!(
                        "it pins {cookbook} to {constraint:?}, and the repository has {version}: policies with it do not run with \
                         layers/{name}.json until the repository has such a version, or the pin is taken out there (the lock says which version runs)"
                    )));
                }
            }
        }
    }

    /// Notes cookbooks that no role needs if their metadata is missing or invalid.
    fn unused(&mut self) -> Result<(), ImportError> {
        let Some(subject) = &self.subject else { return Ok(()) };
        for folder in subject.left_out() {
            let what = "it is not a cookbook, because it has neither metadata.rb nor metadata.json: nothing can use it";
            self.notes.push(Note::problem(self.repository.place(folder), what));
        }
        let Some(rest) = subject.without(|folder| self.versions.contains_key(folder)) else { return Ok(()) };
        let reports = match check(&rest, &[], &[], self.facts, self.readers) {
            Ok(reports) => reports,
            Err(CheckError::Reader(error)) => return Err(ImportError::Ruby(error)),
            Err(error) => {
                let what = format!("cookbooks that no role uses could not be checked: {error}");
                self.notes.push(Note::problem("cookbooks", what));
                return Ok(());
            }
        };
        for report in reports {
            let is_meant = |finding: &&Finding| finding.is_problem && finding.file.starts_with("metadata.");
            self.notes.extend(report.findings.iter().filter(is_meant).map(|finding| problem(&report.name, finding)));
        }
        Ok(())
    }

    /// Returns the file with the grants of all policies.
    fn grants_file(&mut self, names: &[String]) -> Result<NewFile, ImportError> {
        let mut start = "# What each policy may do, as far as its cookbooks' text says it. Made by `wrun policy import`: read it before you use it.\n# `wrun grants suggest` adds what only a dry run finds.\n".to_owned();
        for name in names {
            start.push_str(&format!("\n[policy.{}]\n", text::toml_key(name)));
        }
        let file = "grants.toml";
        self.grants.retain(|addition| names.contains(&addition.policy));
        let text = grants::add(&start, file, &self.grants)?.text;
        let risky = grants::risks(&start, file, &self.grants, &Grants::default(), &MachineView::default())?;
        for (Addition { policy, key, value }, reason) in risky {
            self.notes.push(Note::hint(file, format!("policy {policy}: {key} {value} {reason}")));
        }
        Ok(NewFile { path: file.into(), text })
    }
}

/// Returns the note about a problem of a cookbook.
fn problem(cookbook: &str, finding: &Finding) -> Note {
    let place = format!("cookbook {cookbook}: {}:{}", finding.file, finding.line);
    let hint = finding.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    Note::problem(place, format!("{}{hint}", finding.message))
}

/// Returns whether a version satisfies a constraint. An invalid version or constraint never matches.
fn fits(constraint: &str, version: &str) -> bool {
    let constraint = VersionConstraint::parse(constraint, VersionStyle::Cookbook);
    let version = Version::parse(version, VersionStyle::Cookbook);
    constraint.is_ok_and(|constraint| version.is_ok_and(|version| constraint.includes(version)))
}
