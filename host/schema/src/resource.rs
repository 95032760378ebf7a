//! The specification of a resource type: its name, actions and properties.

use crate::property::{Deputy, Property};

/// The implementation of a type's actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImplementedBy {
    /// A provider of the host.
    Host,
    /// Other resources, which the host declares and converges inside the action.
    Children,
    /// Code of the guest that declared the resource. The host only decides when it runs.
    Guest,
    /// The library of Ruby cookbooks.
    RubyLibrary,
    /// No implementation: an action fails.
    Nobody,
}

impl ImplementedBy {
    /// Tells whether cookbooks in every language may declare such a type.
    pub fn is_for_every_language(self) -> bool {
        matches!(self, Self::Host | Self::Children | Self::Guest)
    }

    /// The word in the reference's JSON.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Host | Self::Children => "host",
            Self::Guest | Self::RubyLibrary => "guest",
            Self::Nobody => "nobody",
        }
    }
}

/// One action of a type.
#[derive(Clone, Copy, Debug)]
pub struct Action {
    /// Its name, without Ruby's colon.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub doc: &'static str,
}

/// One built-in resource type. The action `nothing` belongs to every type and is not listed.
#[derive(Clone, Copy, Debug)]
pub struct ResourceType {
    /// Its name in recipes.
    pub name: &'static str,
    /// Other names under which recipes may declare it.
    pub aliases: &'static [&'static str],
    /// The purpose, in one or two sentences.
    pub doc: &'static str,
    /// Its actions, in the order of the reference.
    pub actions: &'static [Action],
    /// The action of a declaration that names none; may be `nothing`.
    pub default_action: &'static str,
    /// Its own properties, in groups that types share.
    pub properties: &'static [&'static [Property]],
    /// The implementation of its actions.
    pub implemented_by: ImplementedBy,
    /// The Chef version that introduced it, if documented.
    pub introduced: Option<&'static str>,
}

/// The action that every type has.
pub const NOTHING: Action =
    Action { name: "nothing", doc: "Does nothing until a notification asks for another action." };

/// An action and its sentence.
pub(crate) const fn action(name: &'static str, doc: &'static str) -> Action {
    Action { name, doc }
}

impl ResourceType {
    /// Its own properties. A property of a later group replaces one of the same name in an earlier group.
    pub fn own_properties(&self) -> impl Iterator<Item = &'static Property> {
        let groups = self.properties;
        groups.iter().enumerate().flat_map(move |(position, group)| {
            let later = groups.get(position + 1..).unwrap_or_default();
            group.iter().filter(move |property| {
                !later.iter().any(|group| group.iter().any(|other| other.name == property.name))
            })
        })
    }

    /// Its own properties as the reference describes them. Types share properties, and some do not ask for a grant that others
    /// ask for: set-id bits give no rights on directories, wrun installs no gems, and the right to a file of `cron.d` includes
    /// any job.
    pub fn documented_properties(&self) -> impl Iterator<Item = Property> {
        self.own_properties().map(|property| match (self.name, property.name) {
            ("directory" | "remote_directory", "mode") | ("gem_package" | "chef_gem", "environment") => {
                property.deputy(Deputy::None)
            }
            ("cron_d", "user") => property.included_in("the file; without that, `cron_users` names the user"),
            _ => *property,
        })
    }

    /// A property of its own or one that all types have.
    pub fn property(&self, name: &str) -> Option<&'static Property> {
        self.properties
            .iter()
            .rev()
            .find_map(|group| group.iter().find(|property| property.is_called(name)))
            .or_else(|| crate::common::COMMON.iter().find(|property| property.is_called(name)))
    }

    /// The property that takes its value from the resource's name.
    pub fn name_property(&self) -> Option<&'static Property> {
        self.own_properties().find(|property| property.is_name_property())
    }

    /// Returns the properties that together identify the thing on the machine: those marked as identity, or else the name
    /// property. If there are none, the resource's name identifies it. Conflicts between policies are found by this identity.
    /// So it differs from Chef's where Chef's would not distinguish two things: a mount is identified by its mount point and
    /// not its device, and a line of a crontab by its name and not its command.
    pub fn identity(&self) -> Vec<&'static Property> {
        let marked: Vec<_> = self.own_properties().filter(|property| property.identity).collect();
        if marked.is_empty() { self.name_property().into_iter().collect() } else { marked }
    }

    /// One of its actions, `nothing` among them.
    pub fn action(&self, name: &str) -> Option<Action> {
        self.actions.iter().copied().chain([NOTHING]).find(|action| action.name == name)
    }
}
