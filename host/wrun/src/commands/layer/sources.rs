//! Finds the layers of a node's next run, as far as commands can know them: those of its policy groups and its own.

use super::read_files;
use crate::arguments::{GroupArgument, StoredNode};
use crate::commands::store::Place;
use crate::printer::{Printer, Tone};
use anyhow::bail;
use assemble::{NextGroups, NodeStore as _};
use node::layers::Layer;
use node::object::NodeObject;
use std::borrow::Cow;
use std::fmt;
use text::{did_you_mean, escape_line};

/// A layer with its source.
pub(super) struct SourcedLayer<'a> {
    pub(super) from: LayerSource<'a>,
    pub(super) layer: Cow<'a, Layer>,
}

/// The source of a layer.
#[derive(Clone, Copy)]
pub(super) enum LayerSource<'a> {
    /// The settings list its file for this policy group.
    Group(&'a str),
    /// The node keeps it.
    Node,
}

impl fmt::Display for LayerSource<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Group(group) => write!(formatter, "group {group}"),
            Self::Node => write!(formatter, "node"),
        }
    }
}

/// A node, the settings, and the policy groups of its next run.
pub(super) struct Sources {
    place: Place,
    pub(super) node: NodeObject,
    /// The group on the command line.
    named: Option<String>,
    next: NextGroups,
}

impl Sources {
    pub(super) fn of(node: &StoredNode, group: GroupArgument) -> anyhow::Result<Self> {
        let place = Place::of(node)?;
        let node = place.nodes(false)?.node(&place.name()?)?;
        let settings = &place.settings;
        let next = NextGroups::of(&settings.policy_names, &settings.policy_groups, &node, &settings.run);
        Ok(Self { place, node, named: group.policy_group, next })
    }

    /// Returns all policy groups of the next run, or only the one on the command line.
    pub(super) fn groups(&self) -> Vec<&str> {
        self.named.as_deref().map_or_else(|| self.next.all(), |named| vec![named])
    }

    /// Returns the group of one policy, or the common group of all policies of the next run.
    fn only_group(&self, policy: Option<&str>) -> anyhow::Result<Option<&str>> {
        match (self.groups().as_slice(), policy) {
            ([] | [_], None) => Ok(self.groups().first().copied()),
            (_, Some(policy)) => Ok(self.named.as_deref().or_else(|| self.next.of_policy(policy))),
            (several, None) => bail!(
                "the policies of {} are in several groups, which have layers of their own: {}; say which layers are meant \
                 with --policy-group or --policy",
                self.node.name(),
                several.join(", ")
            ),
        }
    }

    /// Reads the layers of a group from its files, as each run does.
    pub(super) fn of_group<'a>(&self, group: &'a str) -> anyhow::Result<Vec<SourcedLayer<'a>>> {
        let layers = read_files(&self.place, |files| files.of_group(group))?;
        Ok(layers
            .into_iter()
            .map(|layer| SourcedLayer { from: LayerSource::Group(group), layer: Cow::Owned(layer) })
            .collect())
    }

    /// Returns the node's own layers.
    pub(super) fn of_node(&self) -> impl Iterator<Item = SourcedLayer<'_>> {
        let own = self.node.layers().all().iter();
        own.map(|layer| SourcedLayer { from: LayerSource::Node, layer: Cow::Borrowed(layer) })
    }

    /// Returns the layers that are merged for one policy or, without a name, for all policies.
    pub(super) fn merged(&self, policy: Option<&str>) -> anyhow::Result<Vec<Cow<'_, Layer>>> {
        let group = self.only_group(policy)?;
        let mut all = group.map_or_else(|| Ok(vec![]), |group| self.of_group(group))?;
        all.extend(self.of_node());
        let is_seen = |layer: &Cow<'_, Layer>| policy.is_none() || layer.is_for(policy);
        Ok(all.into_iter().map(|one| one.layer).filter(is_seen).collect())
    }

    /// Finds a layer by name: first among the node's own, then among its groups' layers.
    pub(super) fn named(&self, name: &str) -> anyhow::Result<Cow<'_, Layer>> {
        let own = self.node.layers().get(name);
        let Err(missing) = own else { return Ok(Cow::Borrowed(own?)) };
        for group in self.groups() {
            if let Some(found) = self.of_group(group)?.into_iter().find(|one| one.layer.name == name) {
                return Ok(Cow::Owned(found.layer.into_owned()));
            }
        }
        Err(missing.into())
    }

    /// Prints a note if the group on the command line has no layers.
    pub(super) fn note_unknown(&self, printer: Printer) {
        let known = &self.place.settings.run.group_layers;
        if let Some(named) = self.named.as_deref().filter(|named| !known.contains_key(*named)) {
            let near = did_you_mean(named, known.keys().map(String::as_str)).map(|near| format!("; {near}"));
            let note = format!("the settings list no layers for the group {named}{}", near.unwrap_or_default());
            printer.note(Tone::Warning, &escape_line(&note));
        }
    }
}
