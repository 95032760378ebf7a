//! Resolves a run list with roles in an environment to recipes, cookbooks and attributes.

use std::collections::{BTreeMap, HashMap};

use errors::ErrorKind;
use node::layers::{Layer, LayerFormat, LayerTree};
use node::object::{DEFAULT_ENVIRONMENT, PolicyStart};
use node::run_list::{RunList, RunListError, split_recipe};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::cookbook_choice::{ChoiceError, KnownCookbook, choose_cookbooks};
use crate::environment::{Environment, EnvironmentError};
use crate::expansion::{Expansion, expand};
use crate::roles::{Role, RoleError};

/// A Chef repository: roles, environments and cookbooks by name. The crates that read files implement it.
pub trait Repository {
    /// The reason why a document or a cookbook cannot be used.
    type Error;

    /// Returns a role's JSON document, or `None` if the repository does not have that role.
    fn role(&self, name: &str) -> Option<Result<Value, Self::Error>>;

    /// Returns the path of a role's file, or `None` if the role does not come from one.
    fn role_file(&self, name: &str) -> Option<String>;

    /// Returns an environment's JSON document, or `None` if the repository does not have that environment.
    fn environment(&self, name: &str) -> Option<Result<Value, Self::Error>>;

    /// Returns all cookbooks by name. A cookbook with invalid metadata has no dependencies.
    fn cookbooks(&self) -> BTreeMap<String, KnownCookbook>;

    /// Returns the reason why a cookbook's metadata is invalid, or `None` if it is valid.
    fn broken_cookbook(&self, name: &str) -> Option<Self::Error>;
}

/// The reasons why a run list cannot be run. `Document`: the reason of a [`Repository`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ResolveError<Document> {
    /// An item of the run list, or of a role's, is invalid.
    #[error(transparent)]
    RunList(#[from] RunListError),
    /// A role's document is invalid.
    #[error(transparent)]
    Role(#[from] RoleError),
    /// The run list names roles that the repository does not have.
    #[error("The expanded run list includes nonexistent roles: {}", roles.join(", "))]
    MissingRoles {
        /// The roles' names, at least one.
        roles: Vec<String>,
    },
    /// The repository does not have the environment.
    #[error("there is no environment {name:?}")]
    NoSuchEnvironment {
        /// The name that the repository does not have.
        name: String,
    },
    /// An environment's document is invalid.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// A cookbook is missing, or its version does not satisfy a constraint.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// A document or a cookbook's metadata cannot be used.
    #[error("{0}")]
    Document(Document),
}

impl<Document> ResolveError<Document> {
    /// Returns what went wrong, as the kind of the failure that it becomes.
    pub fn kind(&self) -> Option<ErrorKind> {
        match self {
            Self::RunList(error) => Some(error.kind()),
            Self::Role(error) => Some(error.kind()),
            Self::MissingRoles { .. } => Some(ErrorKind::NoSuchRole),
            Self::NoSuchEnvironment { .. } => Some(ErrorKind::NoSuchEnvironment),
            Self::Environment(error) => Some(error.kind()),
            Self::Choice(error) => Some(error.kind()),
            Self::Document(_) => None,
        }
    }
}

/// The result of resolving a run list. After an error it has the parts that were resolved before, for the report.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Resolution {
    run_list: RunList,
    expansion: Option<Expansion>,
    environment: Option<Environment>,
    cookbooks: Vec<String>,
}

impl Resolution {
    /// Returns the names of the cookbooks in loading order.
    pub fn cookbooks(&self) -> &[String] {
        &self.cookbooks
    }

    /// Returns the recipes in order, as `COOKBOOK::RECIPE`.
    pub fn recipes(&self) -> Vec<String> {
        let recipes = self.expansion.iter().flat_map(|expansion| &expansion.recipes);
        let full_name = |name: &str| {
            let (cookbook, recipe) = split_recipe(name);
            format!("{cookbook}::{recipe}")
        };
        recipes.map(|recipe| full_name(&recipe.name)).collect()
    }

    /// Returns the attributes and lists with which the run begins. Like Chef, it sets attributes only after the environment
    /// is known. If the environment is missing, there are recipes but no attributes.
    pub fn start(&self) -> PolicyStart {
        let run_list = self.run_list.clone();
        let Some(expansion) = &self.expansion else { return PolicyStart { run_list, ..PolicyStart::default() } };
        let lists = PolicyStart {
            run_list,
            recipes: expansion.recipes_with_duplicate_names(),
            expanded_run_list: Some(expansion.fully_qualified_recipes()),
            roles: expansion.roles.clone(),
            ..PolicyStart::default()
        };
        if self.environment.is_none() {
            return lists;
        }
        PolicyStart {
            role_default: expansion.default_attributes.clone(),
            role_override: expansion.override_attributes.clone(),
            attribute_roles: expansion.attribute_roles.clone(),
            ..lists
        }
    }

    /// Returns the environment as a layer, or `None` if it was not found or has no attributes. Its constraints have been
    /// checked.
    pub fn environment_layer(&self) -> Option<Layer> {
        let environment = self.environment.as_ref()?;
        let tree = |values: &Map<String, Value>| LayerTree::new(values.clone(), Vec::new());
        let layer = Layer {
            default_attributes: tree(&environment.default_attributes),
            override_attributes: tree(&environment.override_attributes),
            ..Layer::empty(&environment.name, LayerFormat::Json)
        };
        (!layer.default_attributes.is_empty() || !layer.override_attributes.is_empty()).then_some(layer)
    }
}

/// Expands a run list in an environment and chooses the cookbooks. The second value is the first error; the first value then
/// has the parts that were resolved before it.
pub fn resolve<Known: Repository>(
    run_list: &RunList,
    environment: &str,
    repository: &Known,
) -> (Resolution, Option<ResolveError<Known::Error>>) {
    let mut resolution = Resolution { run_list: run_list.clone(), ..Resolution::default() };
    let error = resolve_into(&mut resolution, environment, repository).err();
    (resolution, error)
}

fn resolve_into<Known: Repository>(
    resolution: &mut Resolution,
    environment: &str,
    repository: &Known,
) -> Result<(), ResolveError<Known::Error>> {
    let expansion = expand_with_roles(&resolution.run_list, environment, repository)?;
    let expansion = resolution.expansion.insert(expansion);
    let environment = find_environment(environment, repository)?;
    let environment = resolution.environment.insert(environment);
    let order = choose_cookbooks(
        &expansion.recipes,
        &repository.cookbooks(),
        (&environment.name, &environment.cookbook_versions),
    );
    // Invalid metadata is reported first, because such a cookbook has neither dependencies nor a version.
    let refused = match &order {
        Err(ChoiceError::Unsatisfied { cookbook, .. }) => Some(cookbook.as_str()),
        _ => None,
    };
    let reached = order.iter().flatten().map(String::as_str).chain(refused);
    let mut reached = reached.chain(expansion.recipes.iter().map(|recipe| split_recipe(&recipe.name).0));
    if let Some(broken) = reached.find_map(|name| repository.broken_cookbook(name)) {
        return Err(ResolveError::Document(broken));
    }
    resolution.cookbooks = order?;
    Ok(())
}

/// Expands the run list and reads only the roles that it reaches, so that an invalid but unused role does not matter.
fn expand_with_roles<Known: Repository>(
    run_list: &RunList,
    environment: &str,
    repository: &Known,
) -> Result<Expansion, ResolveError<Known::Error>> {
    let mut roles: HashMap<String, Role> = HashMap::new();
    loop {
        let expansion = expand(run_list, environment, &roles)?;
        let mut is_complete = true;
        for (name, _) in &expansion.missing_roles {
            let Some(document) = repository.role(name) else { continue };
            let role = Role::from_json(name, &document.map_err(ResolveError::Document)?)?;
            roles.insert(name.clone(), Role { file: repository.role_file(name), ..role });
            is_complete = false;
        }
        if !is_complete {
            continue;
        }
        if expansion.missing_roles.is_empty() {
            return Ok(expansion);
        }
        let roles = expansion.missing_roles.into_iter().map(|(role, _)| role).collect();
        return Err(ResolveError::MissingRoles { roles });
    }
}

/// The default environment exists even if the repository does not have it.
fn find_environment<Known: Repository>(
    name: &str,
    repository: &Known,
) -> Result<Environment, ResolveError<Known::Error>> {
    match repository.environment(name) {
        Some(document) => Ok(Environment::from_json(name, &document.map_err(ResolveError::Document)?)?),
        None if name == DEFAULT_ENVIRONMENT => Ok(Environment::empty(name)),
        None => Err(ResolveError::NoSuchEnvironment { name: name.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Documents and cookbooks by name; a document that is `null` cannot be read.
    struct Folder(Value);

    impl Folder {
        fn document(&self, kind: &str, name: &str) -> Option<Result<Value, String>> {
            let document = self.0.get(kind)?.get(name)?.clone();
            Some(if document.is_null() { Err(format!("{kind}/{name} cannot be read")) } else { Ok(document) })
        }
    }

    impl Repository for Folder {
        type Error = String;

        fn role(&self, name: &str) -> Option<Result<Value, String>> {
            self.document("roles", name)
        }

        fn role_file(&self, name: &str) -> Option<String> {
            Some(format!("roles/{name}.json"))
        }

        fn environment(&self, name: &str) -> Option<Result<Value, String>> {
            self.document("environments", name)
        }

        fn cookbooks(&self) -> BTreeMap<String, KnownCookbook> {
            let cookbooks = self.0["cookbooks"].as_object().into_iter().flatten();
            let known = |version: &Value| KnownCookbook {
                version: version.as_str().unwrap_or("0.0.0").to_owned(),
                ..KnownCookbook::default()
            };
            cookbooks.map(|(name, version)| (name.clone(), known(version))).collect()
        }

        fn broken_cookbook(&self, name: &str) -> Option<String> {
            self.0["cookbooks"].get(name).filter(|version| version.is_null()).map(|_| format!("{name} is invalid"))
        }
    }

    fn repository() -> Folder {
        Folder(json!({
            "roles": {
                "web": { "run_list": ["recipe[nginx]"], "default_attributes": { "port": 80 } },
                "odd": { "run_list": 1 },
                "unread": null,
            },
            "environments": { "stage": { "default_attributes": { "site": "a" }, "cookbook_versions": { "ntp": "~> 2.0" } } },
            "cookbooks": { "nginx": "1.2.3", "ntp": "1.0.0", "torn": null },
        }))
    }

    fn resolved(list: &[&str], environment: &str) -> (Resolution, Option<ResolveError<String>>) {
        resolve(&RunList::parse(list).unwrap(), environment, &repository())
    }

    #[test]
    fn roles_environment_and_cookbooks_become_a_start() {
        let (resolution, error) = resolved(&["role[web]"], "stage");
        assert_eq!(error, None);
        assert_eq!(resolution.recipes(), ["nginx::default"]);
        assert_eq!(resolution.cookbooks(), ["nginx"]);
        let start = resolution.start();
        assert_eq!(start.roles, ["web"]);
        assert_eq!(json!(start.role_default), json!({ "port": 80 }));
        let role = start.attribute_roles.get("default.port").unwrap();
        assert_eq!((role.name.as_str(), role.file.as_deref()), ("web", Some("roles/web.json")));
        let environment = resolution.environment_layer().unwrap();
        assert_eq!(environment.name, "stage");
        assert_eq!(json!(environment.default_attributes.values()), json!({ "site": "a" }));
    }

    #[test]
    fn a_document_that_nobody_reaches_is_not_looked_at() {
        assert_eq!(resolved(&["recipe[nginx]"], "_default").1, None);
    }

    #[test]
    fn each_thing_that_is_wrong_has_its_error_and_kind() {
        #[track_caller]
        fn check(list: &[&str], environment: &str, kind: Option<ErrorKind>, says: &str) -> Resolution {
            let (resolution, error) = resolved(list, environment);
            let error = error.expect("it was resolved");
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.to_string().contains(says), "{error}");
            resolution
        }
        check(&["role[web]", "role[gone]"], "_default", Some(ErrorKind::NoSuchRole), "nonexistent roles: gone");
        check(&["role[odd]"], "_default", Some(ErrorKind::InvalidArgument), "");
        check(&["role[unread]"], "_default", None, "roles/unread cannot be read");
        check(&["recipe[torn]"], "_default", None, "torn is invalid");
        check(&["recipe[gone]"], "_default", Some(ErrorKind::NoSuchCookbook), "gone");
        let early = check(&["role[web]"], "nowhere", Some(ErrorKind::NoSuchEnvironment), "environment \"nowhere\"");
        // The recipes are known, but no attribute is set before the environment is known.
        assert_eq!(early.recipes(), ["nginx::default"]);
        assert!(early.start().role_default.is_empty());
        let unsatisfied = Some(ErrorKind::UnsatisfiableRunList);
        check(&["recipe[ntp]"], "stage", unsatisfied, "the environment stage asks for \"~> 2.0\"");
    }
}
