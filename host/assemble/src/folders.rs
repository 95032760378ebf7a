//! Runs cookbooks directly from the folders of a Chef repository, instead of policies.
//!
//! A separate Ruby instance evaluates metadata, roles and environments in Ruby before the policy begins. An error in roles,
//! cookbooks or constraints makes the run fail, as in Chef: the run has a report, and handlers get the error.

mod documents;
mod hints;
mod metadata;

use crate::data;
use crate::error::AssembleError;
use crate::request::FolderRequest;
use crate::run_host::{AssembledHost, BuiltinTypes};
use crate::runtime::Runtime;
use crate::settings::Settings;
use crate::source::{Folders, Source};
use artifact::gems::Gems;
use author::CookbookFolders;
use author::folders::Selected;
use author::gems::{GemFolder, GemsError, WantedGem};
use contract::{ErrorKind, Failure, Question};
use converge::{PolicyInput, Questions, RunHost as _};
use documents::Documents;
use grants::{Grants, PolicyGrants};
use machine::data::{BagSecrets, DataFolders};
use metadata::Metadata;
use node::layers::Layer;
use node::object::{JsonAttributes, NodeObject, ObjectError, PolicyStart, is_policys_own};
use node::run_list::RunList;
use pollster::block_on;
use report::FOLDERS_POLICY;
use resolve::asked_run_lists::OVERRIDE_OPTION;
use resolve::cookbook_choice::{ChoiceError, KnownCookbook};
use resolve::repository::{Repository, ResolveError, resolve};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The content of the folders, as far as it can be read without a guest.
pub(crate) struct FolderInput {
    runtime: Arc<Runtime>,
    cookbooks: Arc<CookbookFolders>,
    /// The directories that are searched for cookbooks.
    directories: Vec<PathBuf>,
    roles: Documents,
    environments: Documents,
    data_bags: Option<PathBuf>,
    secrets: BagSecrets,
    run_list: Option<RunList>,
    override_run_list: Option<RunList>,
    environment: Option<String>,
    /// The name of the node that is converged.
    node: String,
    /// Whether there are two run lists: one on the command line, and one under the old name `recipes` in the JSON attributes.
    ambiguous: bool,
}

impl FolderInput {
    pub(crate) fn read(
        given: &FolderRequest,
        override_run_lists: &[String],
        settings: &Settings,
        json: &JsonAttributes,
    ) -> Result<Self, AssembleError> {
        let list = |texts: &[String], option: &'static str| {
            let items = texts.iter().flat_map(|text| text.split(',')).map(str::trim).filter(|item| !item.is_empty());
            let list = RunList::parse(items).map(RunList::without_repeats);
            let list = list.map_err(|source| AssembleError::RunListOption { option, source });
            (!texts.is_empty()).then_some(list).transpose()
        };
        let run_list = list(&given.run_list, "--run-list")?.or_else(|| json.run_list.clone());
        let cookbooks = match given.lenient {
            true => CookbookFolders::open_with_vendored(&given.cookbooks)?,
            false => CookbookFolders::open(&given.cookbooks)?,
        };
        let (data_bags, secrets) = (data::data_bags(settings)?, data::secrets(settings)?);
        Ok(Self {
            runtime: Arc::new(Runtime::find(settings.runtime_dir.as_deref())?),
            cookbooks: Arc::new(cookbooks),
            directories: given.cookbooks.clone(),
            roles: Documents::read(given.roles.as_deref(), "role")?,
            environments: Documents::read(given.environments.as_deref(), "environment")?,
            data_bags,
            secrets,
            run_list,
            override_run_list: list(override_run_lists, OVERRIDE_OPTION)?,
            // The option applies only if the JSON attributes do not name an environment, as in Chef.
            environment: json.chef_environment.clone().or_else(|| given.environment.clone()),
            node: String::new(),
            ambiguous: !given.run_list.is_empty() && json.as_recipes,
        })
    }

    /// The runtime's component, to be checked before anything is changed.
    pub(crate) fn runtime(&self) -> &Arc<Runtime> {
        &self.runtime
    }

    /// Makes one policy of the folders: evaluates what is in Ruby, expands the run list and chooses the cookbooks. Also
    /// returns the environment, which is the first layer.
    ///
    /// # Errors
    /// An environment's or a node's name that is none. All that Chef calls a failed run is in the policy's `refused`.
    pub(crate) fn policy(
        mut self,
        given: &FolderRequest,
        all_grants: &Grants,
        run_host: &mut AssembledHost<'_>,
        node: &mut NodeObject,
    ) -> Result<(PolicyInput, Option<Layer>), AssembleError> {
        node.name().clone_into(&mut self.node);
        node.recall_without_policies();
        if let Some(environment) = &self.environment {
            node.set_chef_environment(environment)?;
        }
        // A search finds this node as it was saved, without the changes that this run is given.
        let own_node = node.to_saved_json(&run_host.settings.saved_attributes)?;
        if let Some(list) = self.run_list.take().filter(|_| !self.ambiguous) {
            node.set_run_list(list);
        }
        let known = self.ask(all_grants, run_host);
        let list = self.override_run_list.take().unwrap_or_else(|| node.run_list().clone());
        let known = if given.lenient { without_missing(known) } else { known };
        let mut resolved = self.resolve(&list, node.chef_environment(), &known);
        let wanted: Vec<_> = resolved.cookbooks.iter().filter_map(|one| known.get(&one.name)).collect();
        let wanted: Vec<_> = wanted.iter().flat_map(|metadata| metadata.gems.iter().cloned()).collect();
        let gems = self.gems(&wanted, given, all_grants, run_host)?.unwrap_or_else(|failure| {
            resolved.refused.get_or_insert(failure);
            Gems::default()
        });
        let chosen = self.cookbooks.select(&resolved.cookbooks);
        let names: Vec<_> = chosen.names().map(str::to_owned).collect();
        let places = names.iter().filter_map(|name| Some((name.clone(), chosen.place(name)?.display().to_string())));
        let places = places.collect();
        let grants = all_grants.policy(FOLDERS_POLICY, &names);
        let data = DataFolders {
            data_bags: self.data_bags,
            nodes: given.nodes.clone(),
            own_node: Some(grants.visible_node(own_node, is_policys_own)),
            roles: self.roles.into_values(),
            environments: self.environments.into_values(),
            secrets: self.secrets,
        };
        let all: Vec<_> = known.iter().map(|(name, metadata)| metadata.selected(name)).collect();
        let folders = Folders {
            runtime: self.runtime,
            files: Arc::new(chosen),
            at_hand: Arc::new(self.cookbooks.select(&all)),
            gems: Arc::new(gems),
            data: Arc::new(data),
        };
        run_host.sources.insert(FOLDERS_POLICY.to_owned(), Source::Folders(folders));
        run_host.grants.insert(FOLDERS_POLICY.to_owned(), grants);
        let policy = PolicyInput {
            file_cache: None,
            name: FOLDERS_POLICY.to_owned(),
            revision: String::new(),
            artifact: String::new(),
            cookbooks: resolved.cookbooks.into_iter().map(|cookbook| (cookbook.name, cookbook.version)).collect(),
            recipes: resolved.recipes,
            start: resolved.start,
            places,
            refused: resolved.refused,
        };
        Ok((policy, resolved.environment))
    }

    /// Evaluates metadata, roles and environments. Returns the cookbooks by name; an error of one is stored with it.
    fn ask(&mut self, all_grants: &Grants, run_host: &mut AssembledHost<'_>) -> BTreeMap<String, Metadata> {
        let (runtime, cookbooks) = (Arc::clone(&self.runtime), Arc::clone(&self.cookbooks));
        asking(Folders::new(runtime, Arc::clone(&cookbooks) as _), all_grants, run_host, |ask| {
            let known = metadata::all(&cookbooks, ask);
            self.roles.evaluate(ask);
            self.environments.evaluate(ask);
            known
        })
    }

    /// Returns the gems that the chosen cookbooks name, if a folder of gems was given.
    fn gems(
        &self,
        wanted: &[WantedGem],
        given: &FolderRequest,
        all_grants: &Grants,
        run_host: &mut AssembledHost<'_>,
    ) -> Result<Result<Gems, Failure>, AssembleError> {
        let Some(place) = given.gems.as_deref().filter(|_| !wanted.is_empty()) else {
            for gem in
                wanted.iter().filter(|gem| !gem.gem.first().is_some_and(|name| given.without_gems.contains(name)))
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
        let question = there.question(wanted, &given.without_gems);
        let nothing = Folders::new(Arc::clone(&self.runtime), Arc::new(CookbookFolders::default()));
        let answer = match asking(nothing, all_grants, run_host, |ask| ask(Question::Gems(question))) {
            Ok(answer) => answer,
            Err(failure) => return Ok(Err(failure)),
        };
        match there.take(answer, "--without-gems") {
            Ok(gems) => Ok(Ok(gems)),
            Err(GemsError::Refused(refused)) => {
                let place = self.cookbooks.place(&refused.cookbook).unwrap_or(Path::new(&refused.cookbook));
                let message = format!("the metadata of {}: {}", place.display(), refused.what);
                Ok(Err(Failure::raised(ErrorKind::GemNotInstalled, message)))
            }
            Err(other) => Err(other.into()),
        }
    }

    /// Resolves the run list. An error goes to `refused`, and the parts that were resolved before it are kept.
    fn resolve(&self, list: &RunList, environment: &str, known: &BTreeMap<String, Metadata>) -> Resolved {
        if self.ambiguous {
            let start = PolicyStart { run_list: list.clone(), ..PolicyStart::default() };
            return Resolved { start, refused: Some(ambiguous()), ..Resolved::default() };
        }
        let (resolution, error) = resolve(list, environment, &Found { input: self, known });
        let selected = resolution.cookbooks().iter().filter_map(|name| Some(known.get(name)?.selected(name)));
        Resolved {
            start: resolution.start(),
            environment: resolution.environment_layer(),
            recipes: resolution.recipes(),
            cookbooks: selected.collect(),
            refused: error.map(|error| self.failure(error, known)),
        }
    }

    /// Turns an error of a run list into a failure with a hint.
    fn failure(&self, error: ResolveError<Failure>, known: &BTreeMap<String, Metadata>) -> Failure {
        let kind = error.kind();
        let raised = |message: String| Failure::raised(kind.clone().unwrap_or_default(), message);
        let message = error.to_string();
        match error {
            ResolveError::Document(failure) => failure,
            ResolveError::MissingRoles { roles } => {
                let first = roles.first().map(String::as_str).unwrap_or_default();
                raised(message).and_hint(self.roles.hint(first, "--roles"))
            }
            ResolveError::NoSuchEnvironment { name } => {
                let hint = self.environments.hint(&name, "--environments");
                raised(message).and_hint(match &self.environment {
                    None => hints::remembered(&name, &self.node, &hint),
                    Some(_) => hint,
                })
            }
            ResolveError::Choice(ChoiceError::Missing(missing)) => {
                let names = known.keys().map(String::as_str);
                raised(message).and_hint(hints::cookbook(&missing.cookbook, names, &self.directories))
            }
            _ => raised(message),
        }
    }
}

/// The roles, environments and cookbooks of the folders, for resolving a run list.
struct Found<'a> {
    input: &'a FolderInput,
    known: &'a BTreeMap<String, Metadata>,
}

impl Repository for Found<'_> {
    type Error = Failure;

    fn role(&self, name: &str) -> Option<Result<Value, Failure>> {
        self.input.roles.value(name)
    }

    fn role_file(&self, name: &str) -> Option<String> {
        self.input.roles.file(name)
    }

    fn environment(&self, name: &str) -> Option<Result<Value, Failure>> {
        self.input.environments.value(name)
    }

    fn cookbooks(&self) -> BTreeMap<String, KnownCookbook> {
        self.known.iter().map(|(name, metadata)| (name.clone(), metadata.known())).collect()
    }

    fn broken_cookbook(&self, name: &str) -> Option<Failure> {
        self.known.get(name)?.broken.clone()
    }
}

/// Questions and their answers.
type Ask<'a> = dyn FnMut(Question) -> Result<Value, Failure> + 'a;

/// Opens an instance that only answers questions, and passes it to `about`.
fn asking<Got>(
    folders: Folders,
    all_grants: &Grants,
    run_host: &mut AssembledHost<'_>,
    about: impl FnOnce(&mut Ask<'_>) -> Got,
) -> Got {
    run_host.sources.insert(FOLDERS_POLICY.to_owned(), Source::Folders(folders));
    let grants: Arc<PolicyGrants> = all_grants.policy(FOLDERS_POLICY, &[]);
    run_host.grants.insert(FOLDERS_POLICY.to_owned(), grants);
    let input = PolicyInput { name: FOLDERS_POLICY.to_owned(), ..PolicyInput::default() };
    let (account, stop) = (run_host.account(&input), run_host.stop.clone());
    let mut opened = run_host.open(&input, &account);
    let mut questions = match &mut opened {
        Ok(instance) => Ok(Questions::new(instance, FOLDERS_POLICY, Arc::new(BuiltinTypes), account, stop)),
        Err(failure) => Err(failure.clone()),
    };
    let got = about(&mut |question| match &mut questions {
        Ok(questions) => block_on(questions.ask(question)),
        Err(failure) => Err(failure.clone()),
    });
    if let Ok(questions) = questions {
        // All questions are answered, so an error at the end does not matter.
        let _ = block_on(questions.end());
    }
    got
}

/// Returns the cookbooks without their dependencies on cookbooks that are missing, and warns of each. A run needs a missing
/// cookbook only if a recipe includes it or uses its resources, and then fails at that place.
fn without_missing(mut known: BTreeMap<String, Metadata>) -> BTreeMap<String, Metadata> {
    let names: BTreeSet<String> = known.keys().cloned().collect();
    for (name, metadata) in &mut known {
        for missing in metadata.drop_dependencies(|dependency| !names.contains(dependency)) {
            tracing::warn!("cookbook {name} depends on {missing}, which was not found; --lenient goes on without it");
        }
    }
    known
}

/// The result of resolving a run list, as far as it succeeded.
#[derive(Default)]
struct Resolved {
    start: PolicyStart,
    environment: Option<Layer>,
    recipes: Vec<String>,
    cookbooks: Vec<Selected>,
    refused: Option<Failure>,
}

fn ambiguous() -> Failure {
    let error = ObjectError::AmbiguousRunList;
    Failure::raised(error.kind(), error.to_string())
}
