//! Reads and checks everything that a run is given, before the run changes anything.

use crate::artifacts::Artifacts;
use crate::error::AssembleError;
use crate::folders::FolderInput;
use crate::grants_files::GrantsFiles;
use crate::known_policies::KnownPolicies;
use crate::layers::{LayerFiles, LayerInput};
use crate::notice::Notice;
use crate::own_places;
use crate::own_state;
use crate::releases::{Admitted, Releases};
use crate::request::{GrantsSource, Mode, Request};
use crate::run_host;
use crate::saved_node::saved_node;
use crate::settings::Settings;
use artifact::Artifact;
use contract::{Account, Failure};
use converge::PolicyInput;
use grants::{Grants, OpenPaths, PolicyGrants, ShortRule};
use machine::data::parse_written_json;
use machine::root::Root;
use node::layers::Layer;
use node::object::{JsonAttributes, PolicyStart};
use node::policy_in_group::PolicyInGroup;
use node::run_list::{RunList, RunListError, split_recipe};
use resolve::asked_run_lists::AskedRunLists;
use resolve::run_list_choice::{RunListChoice, choose_run_list};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The input of a run, without the machine's facts: see [`KnownNode`](crate::known_node::KnownNode).
pub(crate) struct Input {
    pub(crate) attributes: Map<String, Value>,
    pub(crate) policies: Vec<PolicyInput>,
    /// Cookbooks in folders, which are run instead of policies.
    pub(crate) folders: Option<FolderInput>,
    pub(crate) artifacts: BTreeMap<String, Admitted>,
    /// The releases that the artifacts were taken from. `None`: the settings name no repository.
    pub(crate) releases: Option<Releases>,
    pub(crate) all_grants: Grants,
    pub(crate) grants: BTreeMap<String, Arc<PolicyGrants>>,
    pub(crate) layers: LayerInput,
    /// Warnings for the operator, in the order in which they are reported.
    pub(crate) warnings: Vec<Notice>,
}

impl Input {
    pub(crate) fn read(
        request: &Request,
        settings: &Settings,
        layer_files: &LayerFiles<'_>,
    ) -> Result<Self, AssembleError> {
        let mut layers = LayerInput::read(request, layer_files)?;
        let json = match &request.json_attributes {
            Some(path) => json_attributes(path)?,
            None => JsonAttributes::default(),
        };
        let assigned = match (&request.folders, request.policies.is_empty() && json.policy_names.is_empty()) {
            (None, true) => assigned_policies(settings),
            _ => vec![],
        };
        let (names, lists, folders) = match &request.folders {
            Some(given) => {
                let folders = FolderInput::read(given, &request.override_run_lists, settings, &json)?;
                (vec![], AskedRunLists::default(), Some(folders))
            }
            None => {
                let names = policy_names(request, &json, &assigned)?;
                let lists = AskedRunLists::parse(&request.override_run_lists, &request.named_run_lists, &names)?;
                (names, lists, None)
            }
        };
        let common = json.policy_group.as_ref().or(settings.policy_group.as_ref());
        let group_of = |policy: &str| {
            let assigned = assigned.iter().find(|one| one.name == policy).and_then(|one| one.group.as_ref());
            request.groups.get(policy).or(assigned).or(common).cloned()
        };
        layers.read_groups(names.iter().filter_map(|name| group_of(name)).collect(), layer_files);
        let (all_grants, no_grants) = grants(request, settings)?;
        let mut own_places = own_places::inside(settings, request)?;
        own_places.code.extend(providers::places_of_administrators(&settings.root));
        let all_grants = all_grants.keeping(own_places);
        let all_grants = all_grants.with_homes(providers::homes(&settings.root));
        let (releases, told) = Releases::fetch(&names, group_of, request, settings, layer_files.stop)?.unzip();
        let stand_in = request.stand_in.as_ref();
        let artifacts = Artifacts::read(&names, settings, &all_grants, stand_in, releases.as_ref())?;
        let Artifacts { read: artifacts, mut refused } = artifacts;
        let grants = run_host::policy_grants(&all_grants, &artifacts);
        let mut warnings = Vec::from_iter(no_grants);
        warnings.extend(told.unwrap_or_default());
        warnings.extend(misspelt(request, settings, &names, &json, layers.added()));
        warnings.extend(names.iter().flat_map(|name| rules_without_reach(&all_grants, name)));
        let mut policies = Vec::new();
        for name in &names {
            let group = group_of(name);
            let Some(admitted) = artifacts.get(name) else {
                policies.extend(refused.remove(name).map(|failure| refused_input(name, group.as_ref(), failure)));
                continue;
            };
            let policy = policy_input(admitted.artifact(), group.as_deref(), &lists, json.run_list.as_ref())?;
            if policy.recipes.is_empty() {
                warnings.push(Notice::EmptyRunList { policy: name.clone() });
            }
            policies.push(policy);
        }
        let attributes = json.attributes;
        Ok(Self { attributes, policies, folders, artifacts, releases, all_grants, grants, layers, warnings })
    }
}

/// Returns warnings about probable spelling mistakes in files that the command line names.
fn misspelt(
    request: &Request,
    settings: &Settings,
    names: &[String],
    json: &JsonAttributes,
    added: &[Layer],
) -> Vec<Notice> {
    let file = request.json_attributes.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
    let key = json.misspelt_run_list().map(|key| {
        format!("{file}: `{key}` becomes an attribute of the node, and no run list; did you mean `run_list`?")
    });
    let is_given = added.iter().any(|layer| layer.policies.is_some());
    let known = is_given.then(|| KnownPolicies::of(settings, names));
    let in_layers = known.iter().flat_map(|known| added.iter().flat_map(|layer| known.misspelt_in(layer)));
    key.into_iter().chain(in_layers).map(|sentence| Notice::Misspelt { sentence }).collect()
}

/// Returns warnings about a policy's rules that cannot match anything, because the operator may believe that they grant
/// something.
fn rules_without_reach(grants: &Grants, policy: &str) -> Vec<Notice> {
    let Some(file) = grants.file_of(policy) else { return vec![] };
    let short = grants.policy(policy, &[]).short_rules();
    let empty = short.iter().filter(|rule| rule.is_empty);
    let notice = |rule: &ShortRule| Notice::RuleWithoutReach {
        file: file.to_owned(),
        line: rule.place.line,
        sentence: rule.sentence(),
    };
    empty.map(notice).collect()
}

fn json_attributes(path: &Path) -> Result<JsonAttributes, AssembleError> {
    let owned = || path.to_owned();
    let text = std::fs::read_to_string(path).map_err(|source| AssembleError::Read {
        what: "the attributes file",
        path: owned(),
        source: plain_files::explained(path, source),
    })?;
    let value = parse_written_json(&text).map_err(|why| AssembleError::JsonAttributes { path: owned(), why })?;
    JsonAttributes::from_json(value).map_err(|source| AssembleError::Attributes { path: owned(), source })
}

/// Returns the policies that an operator assigned to the node (`wrun node policy set`). The list is empty if the state cannot
/// be read. A damaged node is reported and moved away later, and does not stop any policy.
fn assigned_policies(settings: &Settings) -> Vec<PolicyInGroup> {
    let Ok((Some(state), _)) = own_state::open_for_looking(settings) else { return vec![] };
    let name = match (&settings.node_name, state.node_names().unwrap_or_default().as_slice()) {
        (Some(name), _) => name.clone(),
        (None, [only]) => only.clone(),
        (None, _) => return vec![],
    };
    let node = saved_node(&state, &name).ok().flatten();
    node.map(|node| node.assigned_policies().to_vec()).unwrap_or_default()
}

/// Returns the policies of the run, in order: those of the request, else those of the JSON attributes, else those assigned to
/// the node.
fn policy_names(
    request: &Request,
    json: &JsonAttributes,
    assigned: &[PolicyInGroup],
) -> Result<Vec<String>, AssembleError> {
    let assigned: Vec<String> = assigned.iter().map(|policy| policy.name.clone()).collect();
    let given = if request.policies.is_empty() { &json.policy_names } else { &request.policies };
    let names = if given.is_empty() { &assigned } else { given };
    if names.is_empty() {
        return Err(AssembleError::NoPolicies);
    }
    let mut numbered = names.iter().enumerate();
    let twice = numbered.find(|(at, name)| names.iter().take(*at).any(|other| other == *name));
    match twice {
        Some((at, policy)) => Err(AssembleError::PolicyTwice { policy: policy.clone(), number: at + 1 }),
        None => Ok(names.clone()),
    }
}

/// The operator's grants, and a notice if no file of grants exists.
fn grants(request: &Request, settings: &Settings) -> Result<(Grants, Option<Notice>), AssembleError> {
    let is_named = match request.grants {
        GrantsSource::Everything => return Ok((Grants::allow_all(), None)),
        GrantsSource::NamedFile => true,
        GrantsSource::UsualFile => false,
    };
    let files = GrantsFiles::read(&settings.grants, is_named)?;
    let is_of_folders = request.folders.is_some();
    let is_survey = request.mode == Mode::Survey;
    let is_missing = files.is_empty() && !is_survey;
    let notice = is_missing.then(|| Notice::NoGrants { file: settings.grants.clone(), is_of_folders });
    let grants = files.parse()?;
    let grants = if is_survey { grants.surveying(open_paths(&settings.root)) } else { grants };
    Ok((grants, notice))
}

/// Returns the paths below a root that every user of the machine may read. If users cannot reach the root, there are none.
fn open_paths(root: &Path) -> OpenPaths {
    let account = Account::unmetered("wrun");
    let whole = Root::open(Path::new("/"), &account);
    let real = whole.as_ref().map(|whole| whole.asked_about(&root.to_string_lossy()));
    let is_reached = whole.as_ref().is_ok_and(|whole| real.as_ref().is_ok_and(|real| whole.is_open_to_all(real)));
    let root = Root::open(root, &account);
    OpenPaths::new(move |path| is_reached && root.as_ref().is_ok_and(|root| root.is_open_to_all(path)))
}

/// Returns the input of a policy whose artifact cannot be read: it fails with `failure`.
fn refused_input(name: &str, group: Option<&String>, failure: Failure) -> PolicyInput {
    let group = group.map(String::as_str);
    PolicyInput {
        name: name.to_owned(),
        start: PolicyStart::of_policy(name, group, None, RunList::default(), Map::new(), Map::new()),
        refused: Some(failure),
        ..PolicyInput::default()
    }
}

fn policy_input(
    artifact: &Artifact,
    group: Option<&str>,
    lists: &AskedRunLists,
    json: Option<&RunList>,
) -> Result<PolicyInput, AssembleError> {
    let manifest = artifact.manifest();
    let name = manifest.name.as_str();
    let named = manifest.named_run_lists.iter().map(|(name, list)| Ok((name.clone(), RunList::parse(list)?)));
    let choice = RunListChoice {
        policy: name,
        revision: &manifest.revision_id,
        artifact: artifact.digest(),
        override_run_list: lists.overriding(name),
        json_run_list: json,
        node_run_list: None,
        named: lists.named(name),
        named_run_lists: named.collect::<Result<_, RunListError>>()?,
        policy_run_list: RunList::parse(&manifest.run_list)?,
    };
    let cookbooks: Vec<&str> = manifest.cookbooks.iter().map(|cookbook| cookbook.name.as_str()).collect();
    let (run_list, _) = choose_run_list(&choice, &cookbooks)?;
    let recipes = run_list.items().iter().map(|item| {
        let (cookbook, recipe) = split_recipe(&item.name);
        format!("{cookbook}::{recipe}")
    });
    Ok(PolicyInput {
        file_cache: Some(grants::file_cache(Some(name))),
        name: name.to_owned(),
        revision: manifest.revision_id.clone(),
        artifact: artifact.digest().to_owned(),
        cookbooks: manifest
            .cookbooks
            .iter()
            .map(|cookbook| (cookbook.name.clone(), cookbook.version.clone()))
            .collect(),
        recipes: recipes.collect(),
        start: PolicyStart {
            artifact: Some(artifact.digest().to_owned()),
            attribute_lines: manifest.attribute_lines.clone(),
            ..PolicyStart::of_policy(
                name,
                group,
                Some(&manifest.revision_id),
                run_list.clone(),
                manifest.default_attributes.clone(),
                manifest.override_attributes.clone(),
            )
        },
        ..PolicyInput::default()
    })
}
