//! Everything that a run is given, read and checked before anything is changed.

use super::artifacts::Artifacts;
use super::folders::FolderInput;
use super::{own_places, read_text};
use crate::arguments::ConvergeArguments;
use crate::grants_files::GrantsFiles;
use crate::house;
use crate::settings::Settings;
use anyhow::{Context as _, bail};
use artifact::Artifact;
use contract::Failure;
use converge::PolicyInput;
use facts::Facts;
use grants::{Grants, PolicyGrants};
use node::file_specificity::NodeIdentity;
use node::object::{JsonAttributes, PolicyStart};
use node::run_list::{RunList, split_recipe};
use providers::parse_written_json;
use resolve::run_list_choice::{RunListChoice, choose_run_list};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

/// What a run is given.
pub(super) struct Input {
    pub(super) node_name: String,
    pub(super) identity: NodeIdentity,
    pub(super) facts: Map<String, Value>,
    pub(super) attributes: Map<String, Value>,
    pub(super) policies: Vec<PolicyInput>,
    /// Cookbooks in folders, which are run instead of policies.
    pub(super) folders: Option<FolderInput>,
    pub(super) artifacts: BTreeMap<String, Artifact>,
    pub(super) all_grants: Grants,
    pub(super) grants: BTreeMap<String, Arc<PolicyGrants>>,
    /// What the operator should look at.
    pub(super) warnings: Vec<String>,
}

/// Run lists named on the command line, each for one policy.
#[derive(Default)]
struct RunLists {
    overriding: BTreeMap<String, RunList>,
    named: BTreeMap<String, String>,
}

impl Input {
    pub(super) fn read(arguments: &ConvergeArguments, settings: &Settings, now: SystemTime) -> anyhow::Result<Self> {
        let json = match &arguments.json_attributes {
            Some(path) => json_attributes(path)?,
            None => JsonAttributes::default(),
        };
        let with_folders = !arguments.folders.cookbooks.is_empty();
        let names = if with_folders { vec![] } else { policy_names(settings, &json)? };
        let lists = if with_folders { RunLists::default() } else { RunLists::read(arguments, &names)? };
        let folders = with_folders.then(|| FolderInput::read(arguments, settings, &json)).transpose()?;
        let group = json.policy_group.as_ref().or(settings.policy_group.as_ref());
        let (all_grants, no_grants) = grants(arguments, settings)?;
        let all_grants = all_grants.keeping(own_places::inside(settings, arguments)?);
        let all_grants = all_grants.with_homes(providers::homes(&settings.root));
        // Facts are gathered while artifacts are read.
        let (Artifacts { read: artifacts, mut refused }, facts) = std::thread::scope(|scope| {
            let gathering = scope.spawn(|| gather(arguments, settings, now));
            let artifacts = Artifacts::read(&names, settings, &all_grants);
            let facts = gathering.join().unwrap_or_else(|_| bail!("the machine's facts could not be gathered"));
            anyhow::Ok((artifacts?, facts?))
        })?;
        let grants = house::policy_grants(&all_grants, &artifacts);
        let mut warnings = Vec::from_iter(no_grants);
        warnings.extend(names.iter().flat_map(|name| rules_without_reach(&all_grants, name)));
        let mut policies = Vec::new();
        for name in &names {
            let Some(artifact) = artifacts.get(name) else {
                policies.extend(refused.remove(name).map(|failure| refused_input(name, group, failure)));
                continue;
            };
            let policy = policy_input(artifact, group.map(String::as_str), &lists, json.run_list.as_ref())?;
            if policy.recipes.is_empty() {
                warnings.push(format!("policy {name} has an empty run list: nothing will be compiled or converged"));
            }
            policies.push(policy);
        }
        let fact = |key: &str| facts.get(key).and_then(Value::as_str).map(str::to_owned);
        let identity =
            NodeIdentity { platform: fact("platform"), platform_version: fact("platform_version"), fqdn: fact("fqdn") };
        let node_name = match (&settings.node_name, &identity.fqdn) {
            (Some(name), _) => name.as_str().to_owned(),
            (None, Some(fqdn)) => fqdn.clone(),
            (None, None) => bail!("this machine has no name; give the node one by --node-name"),
        };
        let attributes = json.attributes;
        Ok(Self { node_name, identity, facts, attributes, policies, folders, artifacts, all_grants, grants, warnings })
    }
}

/// The rules of a policy that reach nothing, so that nobody believes to have granted something by them.
fn rules_without_reach(grants: &Grants, policy: &str) -> Vec<String> {
    let Some(file) = grants.file_of(policy) else { return vec![] };
    let short = grants.policy(policy, &[]).short_rules();
    let empty = short.iter().filter(|rule| rule.is_empty);
    empty.map(|rule| format!("{file}:{}: {}", rule.place.line, rule.sentence())).collect()
}

fn json_attributes(path: &std::path::Path) -> anyhow::Result<JsonAttributes> {
    let text = read_text(path, "the attributes file")?;
    let value =
        parse_written_json(&text).map_err(|error| anyhow::anyhow!("{}:{}: {error}", path.display(), error.line()))?;
    JsonAttributes::from_json(value).with_context(|| format!("the attributes file {} cannot be used", path.display()))
}

fn policy_names(settings: &Settings, json: &JsonAttributes) -> anyhow::Result<Vec<String>> {
    let names =
        if settings.policy_names.is_empty() { json.policy_names.clone() } else { settings.policy_names.clone() };
    if names.is_empty() {
        bail!(
            "which policies? name them with --policy-name, or set `policy_name` in the settings; --cookbooks runs folders"
        );
    }
    if let Some((at, twice)) =
        names.iter().enumerate().find(|(at, name)| names.iter().take(*at).any(|other| other == *name))
    {
        bail!("policy {twice} is named twice, the second time as number {}", at + 1);
    }
    Ok(names)
}

/// The operator's grants, and a warning where there are none at all.
fn grants(arguments: &ConvergeArguments, settings: &Settings) -> anyhow::Result<(Grants, Option<String>)> {
    if arguments.suggest_grants.is_some() || arguments.allow_all {
        return Ok((Grants::allow_all(), None));
    }
    // The default place may be empty: then nothing is granted. A file that was named must be there.
    let files = GrantsFiles::read(&settings.grants, arguments.grants.is_some())?;
    let warning = files.is_empty().then(|| {
        let place = settings.grants.display();
        format!(
            "{place} does not exist, so that nothing is granted to any policy; `wrun grants suggest` prints a file to begin with"
        )
    });
    Ok((files.parse()?, warning))
}

fn gather(arguments: &ConvergeArguments, settings: &Settings, now: SystemTime) -> anyhow::Result<Map<String, Value>> {
    let facts = match &arguments.facts {
        Some(path) => Facts::from_file(path)?,
        None => {
            let now = jiff::Timestamp::try_from(now).context("the clock shows no time that a calendar has")?;
            Facts::new(&facts::Settings::new(&settings.root, now))?
        }
    };
    match facts.all() {
        Value::Object(all) => Ok(all),
        _ => Ok(Map::new()),
    }
}

impl RunLists {
    /// `POLICY=LIST`, or bare with one policy alone.
    fn read(arguments: &ConvergeArguments, names: &[String]) -> anyhow::Result<Self> {
        let mut overriding = BTreeMap::new();
        for text in &arguments.override_runlist {
            let (policy, list) = for_policy(text, names, "--override-runlist")?;
            let items = list.split(',').map(str::trim).filter(|item| !item.is_empty());
            let list = RunList::parse(items).with_context(|| format!("--override-runlist {text}"))?;
            overriding.insert(policy, list);
        }
        let mut named = BTreeMap::new();
        for text in &arguments.named_run_list {
            let (policy, name) = for_policy(text, names, "--named-run-list")?;
            named.insert(policy, name);
        }
        Ok(Self { overriding, named })
    }
}

fn for_policy(text: &str, names: &[String], option: &str) -> anyhow::Result<(String, String)> {
    match (text.split_once('='), names) {
        (Some((policy, rest)), _) if names.iter().any(|name| name == policy) => Ok((policy.into(), rest.into())),
        (Some((policy, _)), _) => {
            bail!("{option} {text}: there is no policy {policy} in this run ({})", names.join(", "))
        }
        (None, [only]) => Ok((only.clone(), text.into())),
        (None, _) => bail!("{option} {text}: say for which of the policies, as in {option} POLICY={text}"),
    }
}

/// A policy whose artifact cannot be read.
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
    lists: &RunLists,
    json: Option<&RunList>,
) -> anyhow::Result<PolicyInput> {
    let manifest = artifact.manifest();
    let name = manifest.name.as_str();
    let named = manifest.named_run_lists.iter().map(|(name, list)| Ok((name.clone(), RunList::parse(list)?)));
    let choice = RunListChoice {
        policy: name,
        revision: &manifest.revision_id,
        artifact: artifact.digest(),
        override_run_list: lists.overriding.get(name),
        json_run_list: json,
        node_run_list: None,
        named: lists.named.get(name).map(String::as_str),
        named_run_lists: named.collect::<anyhow::Result<_>>()?,
        policy_run_list: RunList::parse(&manifest.run_list)?,
    };
    let has = |cookbook: &str| manifest.cookbook(cookbook).is_some();
    let (run_list, _) = choose_run_list(&choice, has)?;
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
