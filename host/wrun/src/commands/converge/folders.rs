//! A run of cookbooks from where they lie: the folders of a Chef repository instead of policies.
//!
//! Everything that needs a guest (metadata, roles and environments in Ruby) is asked of an instance of its own before the
//! policy begins. What is wrong with roles, cookbooks and constraints is the run's failure, as in Chef: it has a report,
//! and handlers hear of it.

mod documents;
mod hints;
mod metadata;

use super::data;
use crate::arguments::{ConvergeArguments, FolderArguments};
use crate::house::{BuiltinTypes, Folders, Runtime, Source, TheHouse};
use crate::poll::finish;
use crate::settings::Settings;
use anyhow::Context as _;
use artifact::gems::Gems;
use author::CookbookFolders;
use author::folders::{Selected, vendor_directories};
use author::gems::{GemFolder, GemsError, WantedGem};
use contract::Failure;
use converge::{House as _, PolicyInput, Questions};
use documents::Documents;
use grants::{Grants, PolicyGrants};
use metadata::Metadata;
use node::cookbook_choice::{ChoiceError, KnownCookbook, choose_cookbooks};
use node::object::{Environment, JsonAttributes, NodeObject, ObjectError, PolicyStart, is_policys_own};
use node::roles::Role;
use node::run_list::{Expansion, RunList, expand, split_recipe};
use node::version_constraint::{VersionConstraint, VersionStyle};
use providers::{BagSecrets, DataFolders};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The name under which grants speak of cookbooks that are run from folders.
pub(super) const POLICY: &str = "solo";

/// The name of the run list's own environment.
const DEFAULT_ENVIRONMENT: &str = "_default";

/// What the folders hold, read as far as no guest is needed.
pub(super) struct FolderInput {
    runtime: Arc<Runtime>,
    cookbooks: Arc<CookbookFolders>,
    /// Where cookbooks are looked for.
    directories: Vec<PathBuf>,
    roles: Documents,
    environments: Documents,
    data_bags: Option<PathBuf>,
    secrets: BagSecrets,
    run_list: Option<RunList>,
    override_run_list: Option<RunList>,
    environment: Option<String>,
    /// The node's name.
    node: String,
    /// A run list on the command line, and one under the old name `recipes` in the JSON attributes.
    ambiguous: bool,
}

impl FolderInput {
    pub(super) fn read(
        arguments: &ConvergeArguments,
        settings: &Settings,
        json: &JsonAttributes,
    ) -> anyhow::Result<Self> {
        let given = &arguments.folders;
        let list = |texts: &[String], option: &str| {
            let items = texts.iter().flat_map(|text| text.split(',')).map(str::trim).filter(|item| !item.is_empty());
            let list = RunList::parse(items).map(RunList::without_repeats).with_context(|| option.to_owned());
            (!texts.is_empty()).then_some(list).transpose()
        };
        let run_list = list(&given.run_list, "--run-list")?.or_else(|| json.run_list.clone());
        // Named first: a cookbook that lies in one of the given directories goes before a copy inside another cookbook.
        let mut directories = if given.lenient { vendor_directories(&given.cookbooks) } else { vec![] };
        directories.extend(given.cookbooks.iter().cloned());
        let (data_bags, secrets) = (data::data_bags(settings)?, data::secrets(settings)?);
        Ok(Self {
            runtime: Arc::new(Runtime::find(settings.runtime_dir.as_deref())?),
            cookbooks: Arc::new(CookbookFolders::open(&directories)?),
            directories: given.cookbooks.clone(),
            roles: Documents::read(given.roles.as_deref(), "role")?,
            environments: Documents::read(given.environments.as_deref(), "environment")?,
            data_bags,
            secrets,
            run_list,
            override_run_list: list(&arguments.override_runlist, "--override-runlist")?,
            // What is typed is for nodes that do not say, as in Chef.
            environment: json.chef_environment.clone().or_else(|| given.environment.clone()),
            node: String::new(),
            ambiguous: !given.run_list.is_empty() && json.as_recipes,
        })
    }

    /// The runtime's component, to be checked before anything is changed.
    pub(super) fn runtime(&self) -> &Arc<Runtime> {
        &self.runtime
    }

    /// Makes the one policy of it: asks the guest what only it knows, expands the run list, chooses the cookbooks.
    ///
    /// # Errors
    /// An environment's or a node's name that is none. All that Chef calls a failed run is in the policy's `refused`.
    pub(super) fn policy(
        mut self,
        arguments: &ConvergeArguments,
        all_grants: &Grants,
        house: &mut TheHouse<'_>,
        node: &mut NodeObject,
    ) -> anyhow::Result<PolicyInput> {
        node.name().clone_into(&mut self.node);
        if let Some(environment) = &self.environment {
            node.set_chef_environment(environment)?;
        }
        // What a search finds of this node is what was saved of it, whatever this run is given.
        let own_node = node.to_saved_json(&house.settings.saved_attributes)?;
        if let Some(list) = self.run_list.take().filter(|_| !self.ambiguous) {
            node.set_run_list(list);
        }
        let known = self.ask(all_grants, house);
        let list = self.override_run_list.take().unwrap_or_else(|| node.run_list().clone());
        let known = if arguments.folders.lenient { without_missing(known) } else { known };
        let mut resolved = self.resolve(&list, node.chef_environment(), &known);
        let wanted: Vec<_> = resolved.cookbooks.iter().filter_map(|one| known.get(&one.name)).collect();
        let wanted: Vec<_> = wanted.iter().flat_map(|metadata| metadata.gems.iter().cloned()).collect();
        let gems = self.gems(&wanted, &arguments.folders, all_grants, house)?.unwrap_or_else(|failure| {
            resolved.refused.get_or_insert(failure);
            Gems::default()
        });
        let chosen = self.cookbooks.select(&resolved.cookbooks);
        let names: Vec<_> = chosen.names().map(str::to_owned).collect();
        let places = names.iter().filter_map(|name| Some((name.clone(), chosen.place(name)?.display().to_string())));
        let places = places.collect();
        let grants = all_grants.policy(POLICY, &names);
        let data = DataFolders {
            data_bags: self.data_bags,
            nodes: arguments.folders.nodes.clone(),
            own_node: Some(with_visible_facts(own_node, &grants)),
            roles: self.roles.into_values(),
            environments: self.environments.into_values(),
            secrets: self.secrets,
        };
        let folders =
            Folders { runtime: self.runtime, files: Arc::new(chosen), gems: Arc::new(gems), data: Arc::new(data) };
        house.sources.insert(POLICY.to_owned(), Source::Folders(folders));
        house.grants.insert(POLICY.to_owned(), grants);
        Ok(PolicyInput {
            file_cache: None,
            name: POLICY.to_owned(),
            revision: String::new(),
            artifact: String::new(),
            cookbooks: resolved.cookbooks.into_iter().map(|cookbook| (cookbook.name, cookbook.version)).collect(),
            recipes: resolved.recipes,
            start: resolved.start,
            places,
            refused: resolved.refused,
        })
    }

    /// Asks what only a guest knows. Returns the cookbooks by their names; what is wrong with one is kept with it.
    fn ask(&mut self, all_grants: &Grants, house: &mut TheHouse<'_>) -> BTreeMap<String, Metadata> {
        let (runtime, cookbooks) = (Arc::clone(&self.runtime), Arc::clone(&self.cookbooks));
        asking(Folders::new(runtime, Arc::clone(&cookbooks)), all_grants, house, |ask| {
            let known = metadata::all(&cookbooks, ask);
            self.roles.evaluate(ask);
            self.environments.evaluate(ask);
            known
        })
    }

    /// The gems that the chosen cookbooks name, where a folder of gems was given.
    fn gems(
        &self,
        wanted: &[WantedGem],
        arguments: &FolderArguments,
        all_grants: &Grants,
        house: &mut TheHouse<'_>,
    ) -> anyhow::Result<Result<Gems, Failure>> {
        let Some(place) = arguments.gems.as_deref().filter(|_| !wanted.is_empty()) else {
            for gem in
                wanted.iter().filter(|gem| !gem.gem.first().is_some_and(|name| arguments.without_gems.contains(name)))
            {
                let WantedGem { cookbook, gem } = gem;
                let gem = gem.join(" ");
                tracing::warn!(
                    "the metadata of cookbook {cookbook} names the gem {gem}, and no directory of gems was given: \
                     name one with --gems, or leave the gem out with --without-gems"
                );
            }
            return Ok(Ok(Gems::default()));
        };
        let there = GemFolder::open(place)?;
        let question = there.question(wanted, &arguments.without_gems);
        let nothing = Folders::new(Arc::clone(&self.runtime), CookbookFolders::default());
        let answer = match asking(nothing, all_grants, house, |ask| ask("gems", question)) {
            Ok(answer) => answer,
            Err(failure) => return Ok(Err(failure)),
        };
        match there.take(answer, "--without-gems") {
            Ok(gems) => Ok(Ok(gems)),
            Err(GemsError::Refused(refused)) => {
                let place = self.cookbooks.place(&refused.cookbook).unwrap_or(Path::new(&refused.cookbook));
                let message = format!("the metadata of {}: {}", place.display(), refused.what);
                Ok(Err(Failure::raised("Gem::InstallError", message)))
            }
            Err(other) => Err(other.into()),
        }
    }

    fn resolve(&self, list: &RunList, environment: &str, known: &BTreeMap<String, Metadata>) -> Resolved {
        let mut resolved =
            Resolved { start: PolicyStart { run_list: list.clone(), ..PolicyStart::default() }, ..Resolved::default() };
        let done = match self.ambiguous {
            true => Err(ambiguous()),
            false => self.resolve_into(&mut resolved, list, environment, known),
        };
        resolved.refused = done.err();
        resolved
    }

    /// As far as it goes: what is known when something is wrong is in the report.
    fn resolve_into(
        &self,
        resolved: &mut Resolved,
        list: &RunList,
        name: &str,
        known: &BTreeMap<String, Metadata>,
    ) -> Result<(), Failure> {
        let mut roles = HashMap::new();
        let expansion = loop {
            // Only roles that are reached are read, so that a broken one that nobody uses harms nobody.
            let expansion = expand(list, name, &roles);
            let expansion = expansion.map_err(|error| Failure::raised(error.chef_class(), error.to_string()))?;
            let missing = expansion.missing_roles.iter().map(|(role, _)| role);
            let mut found = false;
            for role in missing.filter(|role| self.roles.has(role)) {
                roles.insert(role.clone(), self.role(role)?);
                found = true;
            }
            if !found {
                break expansion;
            }
        };
        self.missing_roles(&expansion)?;
        // Chef knows what is to be run before it asks for the environment, and sets all attributes after that.
        let start = PolicyStart::of_expansion(list.clone(), &expansion, &Environment::default());
        resolved.start = PolicyStart { role_default: Map::new(), role_override: Map::new(), ..start };
        resolved.recipes = expansion.recipes.iter().map(|recipe| full_name(&recipe.name)).collect();
        let (environment, constraints) = self.environment(name)?;
        resolved.start = PolicyStart::of_expansion(list.clone(), &expansion, &environment);
        let versions = known.iter().map(|(name, metadata)| (name.clone(), metadata.known()));
        let versions: BTreeMap<String, KnownCookbook> = versions.collect();
        let order = choose_cookbooks(&expansion.recipes, &versions, (name, &constraints));
        // A cookbook whose metadata is broken has no dependencies yet; that it is broken comes first.
        let reached = order.iter().flatten().cloned();
        let reached = reached.chain(expansion.recipes.iter().map(|recipe| split_recipe(&recipe.name).0.to_owned()));
        if let Some(broken) = reached.filter_map(|name| known.get(&name)?.broken.clone()).next() {
            return Err(broken);
        }
        let order = order.map_err(|error| {
            let failure = Failure::raised(error.chef_class(), error.to_string());
            match error {
                ChoiceError::Missing(missing) => {
                    let names = known.keys().map(String::as_str);
                    failure.and_hint(hints::cookbook(&missing.cookbook, names, &self.directories))
                }
                _ => failure,
            }
        })?;
        resolved.cookbooks = order.iter().filter_map(|name| Some(known.get(name)?.selected(name))).collect();
        Ok(())
    }

    fn missing_roles(&self, expansion: &Expansion) -> Result<(), Failure> {
        let names: Vec<_> = expansion.missing_roles.iter().map(|(role, _)| role.as_str()).collect();
        let Some(first) = names.first() else { return Ok(()) };
        let message = format!("The expanded run list includes nonexistent roles: {}", names.join(", "));
        let failure = Failure::raised("Chef::Exceptions::MissingRole", message);
        Err(failure.and_hint(self.roles.hint(first, "--roles")))
    }

    fn role(&self, name: &str) -> Result<Role, Failure> {
        let json = self.roles.value(name)?;
        Role::from_json(name, &json).map_err(|error| Failure::raised(error.chef_class(), error.to_string()))
    }

    /// The environment's attributes and its constraints on cookbooks.
    fn environment(&self, name: &str) -> Result<(Environment, BTreeMap<String, String>), Failure> {
        if name == DEFAULT_ENVIRONMENT && !self.environments.has(name) {
            return Ok((Environment { name: name.to_owned(), ..Environment::default() }, BTreeMap::new()));
        }
        if !self.environments.has(name) {
            let message = format!("there is no environment {name:?}");
            let failure = Failure::raised("Chef::Exceptions::EnvironmentNotFound", message);
            let failure = match &self.environment {
                None => failure.and_hint(hints::remembered(name, &self.node)),
                Some(_) => failure,
            };
            return Err(failure.and_hint(self.environments.hint(name, "--environments")));
        }
        let json = self.environments.value(name)?;
        let attributes = |key: &str| json.get(key).and_then(Value::as_object).cloned().unwrap_or_default();
        let environment = Environment {
            name: name.to_owned(),
            default_attributes: attributes("default_attributes"),
            override_attributes: attributes("override_attributes"),
        };
        let constraints = texts(&attributes("cookbook_versions"));
        valid_constraints(&constraints)?;
        Ok((environment, constraints))
    }
}

/// Questions and their answers.
type Ask<'a> = dyn FnMut(&str, Value) -> Result<Value, Failure> + 'a;

/// Asks an instance of its own, which is used for nothing else.
fn asking<Got>(
    folders: Folders,
    all_grants: &Grants,
    house: &mut TheHouse<'_>,
    about: impl FnOnce(&mut Ask<'_>) -> Got,
) -> Got {
    house.sources.insert(POLICY.to_owned(), Source::Folders(folders));
    let grants: Arc<PolicyGrants> = all_grants.policy(POLICY, &[]);
    house.grants.insert(POLICY.to_owned(), grants);
    let input = PolicyInput { name: POLICY.to_owned(), ..PolicyInput::default() };
    let account = house.account(&input);
    let mut opened = house.open(&input, &account);
    let mut questions = match &mut opened {
        Ok(instance) => Ok(Questions::new(instance, POLICY, Arc::new(BuiltinTypes), account)),
        Err(failure) => Err(failure.clone()),
    };
    let got = about(&mut |question, input| match &mut questions {
        Ok(questions) => finish(questions.ask(question, input)),
        Err(failure) => Err(failure.clone()),
    });
    if let Ok(questions) = questions {
        // It has answered all it was asked.
        let _ = finish(questions.end());
    }
    got
}

/// Returns the cookbooks without their dependencies on cookbooks that are missing, and warns of each. A run needs a missing
/// cookbook only if a recipe includes it or uses its resources: it fails there.
fn without_missing(mut known: BTreeMap<String, Metadata>) -> BTreeMap<String, Metadata> {
    let names: BTreeSet<String> = known.keys().cloned().collect();
    for (name, metadata) in &mut known {
        for missing in metadata.drop_dependencies(|dependency| !names.contains(dependency)) {
            tracing::warn!("cookbook {name} depends on {missing}, which was not found; --lenient goes on without it");
        }
    }
    known
}

/// What a run list comes to, as far as it could be found out.
#[derive(Default)]
struct Resolved {
    start: PolicyStart,
    recipes: Vec<String>,
    cookbooks: Vec<Selected>,
    refused: Option<Failure>,
}

/// The node that a search finds, without the facts that the policy may not see.
fn with_visible_facts(mut node: Value, grants: &PolicyGrants) -> Value {
    if let Some(automatic) = node.get_mut("automatic") {
        let own = automatic.as_object().into_iter().flatten().filter(|(key, _)| is_policys_own(key));
        let own: Map<String, Value> = own.map(|(key, value)| (key.clone(), value.clone())).collect();
        let mut visible = grants.visible_facts(automatic);
        if let Some(visible) = visible.as_object_mut() {
            visible.extend(own);
        }
        *automatic = visible;
    }
    node
}

/// The entries of an object that are texts.
fn texts(object: &Map<String, Value>) -> BTreeMap<String, String> {
    object.iter().filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
}

fn full_name(recipe: &str) -> String {
    let (cookbook, recipe) = split_recipe(recipe);
    format!("{cookbook}::{recipe}")
}

fn ambiguous() -> Failure {
    let error = ObjectError::AmbiguousRunList;
    Failure::raised(error.chef_class(), error.to_string())
}

/// All of an environment's constraints are looked at, also those on cookbooks that are not needed.
fn valid_constraints(constraints: &BTreeMap<String, String>) -> Result<(), Failure> {
    let is_one = |text: &String| VersionConstraint::parse(text, VersionStyle::Cookbook).is_ok();
    if constraints.values().all(is_one) {
        return Ok(());
    }
    let shown: Vec<_> = constraints.iter().map(|(name, constraint)| format!("{name:?}=>{constraint:?}")).collect();
    let message = format!(
        "Option cookbook_versions's value {{{}}} should be a valid set of cookbook version requirements!",
        shown.join(", ")
    );
    Err(Failure::raised("Chef::Exceptions::ValidationFailed", message))
}
