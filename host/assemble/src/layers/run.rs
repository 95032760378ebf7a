//! The layers of one run: the environment's, the policy group's, the node's own, and the command line's parameters.

use super::files::{LayerFiles, LayersError};
use super::parameters::{PARAMETERS, parameters};
use crate::request::Request;
use converge::PolicyInput;
use node::layers::{Layer, Layers};
use node::object::NodeObject;
use node::version_constraint::{Version, VersionConstraint, VersionStyle};
use resolve::layers::{cookbook_constraints, merge_layers};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use text::versions;

/// Layers of policy groups, by group. An error in one group's files stops only the policies of that group.
type GroupLayers = BTreeMap<String, Result<Vec<Layer>, Arc<LayersError>>>;

/// The layers that a run is given, read and checked.
#[derive(Debug, Default)]
pub(crate) struct LayerInput {
    groups: GroupLayers,
    /// Layers that are added to the node by this run.
    added: Vec<Layer>,
    parameters: Option<Layer>,
}

impl LayerInput {
    /// Reads the files that the request names.
    ///
    /// # Errors
    /// A file that the request names cannot be read or is not an environment, a name is there twice, or a parameter is invalid.
    pub(crate) fn read(request: &Request, files: &LayerFiles<'_>) -> Result<Self, LayersError> {
        let mut added = files.read_all(&request.environment_files)?;
        request.environment_lists.iter().try_for_each(|list| files.read_list(list, &mut added))?;
        Ok(Self { groups: BTreeMap::new(), added, parameters: parameters(&request.parameters)? })
    }

    /// The layers of the files that the request names.
    pub(crate) fn added(&self) -> &[Layer] {
        &self.added
    }

    /// Reads the files that the settings list for the groups of the run's policies, and no others.
    pub(crate) fn read_groups(&mut self, groups: BTreeSet<String>, files: &LayerFiles<'_>) {
        for group in groups.into_iter().filter(|group| files.settings.group_layers.contains_key(group)) {
            let layers = files.of_group(&group).map_err(Arc::new);
            self.groups.insert(group, layers);
        }
    }
}

/// The layers of a run whose node is known.
#[derive(Debug, Default)]
pub(crate) struct RunLayers {
    environment: Option<Layer>,
    groups: GroupLayers,
    node: Layers,
    parameters: Option<Layer>,
    /// Whether the node's own layers differ from the saved ones.
    has_new: bool,
}

impl RunLayers {
    /// Adds the request's layers to the node, which keeps them after the run.
    ///
    /// # Errors
    /// The node would have too many layers.
    pub(crate) fn of(input: LayerInput, node: &mut NodeObject) -> Result<Self, LayersError> {
        let LayerInput { groups, added, parameters } = input;
        let mut layers = node.layers().clone();
        added.into_iter().try_for_each(|layer| layers.put(layer))?;
        let has_new = layers != *node.layers();
        node.set_layers(layers.clone());
        Ok(Self { environment: None, groups, node: layers, parameters, has_new })
    }

    /// Tells whether the node's own layers differ from the saved ones.
    pub(crate) fn has_new(&self) -> bool {
        self.has_new
    }

    /// Sets the environment of cookbooks in folders as the first layer.
    pub(crate) fn set_environment(&mut self, environment: Option<Layer>) {
        self.environment = environment;
    }

    /// The layers that a policy sees, in order.
    fn of_policy(&self, policy: &str, group: Option<&str>) -> Result<Vec<&Layer>, LayersError> {
        let of_group = match group.and_then(|group| self.groups.get(group)) {
            Some(Err(error)) => return Err(LayersError::Group(Arc::clone(error))),
            Some(Ok(layers)) => layers.as_slice(),
            None => &[],
        };
        let all = self.environment.iter().chain(of_group).chain(self.node.all());
        Ok(all.filter(|layer| layer.is_for(Some(policy))).collect())
    }

    /// Sets the merged attributes of a policy's layers, and checks the policy's cookbooks against their version constraints.
    ///
    /// # Errors
    /// A file of the policy's group cannot be read, the layers cannot be merged, or a cookbook does not satisfy a constraint.
    pub(crate) fn enter(&self, policy: &mut PolicyInput) -> Result<(), LayersError> {
        let layers = self.of_policy(&policy.name, policy.start.group.as_deref())?;
        policy.start.layers = merge_layers(&layers, self.parameters.as_ref())?;
        let constraints = cookbook_constraints(&layers);
        for (cookbook, version) in &policy.cookbooks {
            let Some(wanted) = constraints.get(cookbook) else { continue };
            let constraint = VersionConstraint::parse(&wanted.constraint, VersionStyle::Cookbook);
            let parsed = Version::parse(version, VersionStyle::Cookbook);
            if matches!((&constraint, parsed), (Ok(constraint), Ok(version)) if constraint.includes(version)) {
                continue;
            }
            let versions = versions(&policy.revision, &policy.artifact);
            let versions = if versions.is_empty() { versions } else { format!(" ({versions})") };
            return Err(LayersError::Constraint {
                place: wanted.place.clone(),
                layer: wanted.layer.clone(),
                cookbook: cookbook.clone(),
                constraint: wanted.constraint.clone(),
                owner: format!("policy {}{versions}", policy.name),
                version: version.clone(),
            });
        }
        Ok(())
    }

    /// The layers of the run for its record, in order: `[{from, name, digest, file}]`.
    pub(crate) fn summary(&self) -> Value {
        let of_groups = self
            .groups
            .iter()
            .flat_map(|(group, layers)| layers.iter().flatten().map(move |layer| (format!("group {group}"), layer)));
        let fixed = |from: &'static str| move |layer| (from.to_owned(), layer);
        let all = self.environment.iter().map(fixed("environment"));
        let all = all.chain(of_groups).chain(self.node.all().iter().map(fixed("node")));
        let all = all.chain(self.parameters.iter().map(fixed("command line")));
        let shown = all.map(|(from, layer)| {
            let mut shown = json!({ "from": from, "name": layer.name, "digest": layer.digest, "file": layer.file });
            if layer.name == PARAMETERS
                && let Some(shown) = shown.as_object_mut()
            {
                shown.insert("values".to_owned(), json!(layer.override_attributes.values()));
            }
            shown
        });
        shown.collect()
    }
}
