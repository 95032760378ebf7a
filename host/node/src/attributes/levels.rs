//! The levels of precedence, lowest to highest.
//!
//! Chef has ten. wrun adds an eleventh, *inherited*: the attributes that earlier policies of this run left. It is the lowest
//! level, so that an earlier policy informs a later one and never overrules it.

use std::fmt;

use serde_json::{Map, Value};

use super::automatic::Automatic;

/// One level of precedence. The order of the variants is the order of precedence, lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The attributes that earlier policies of this run left. A guest cannot write this level.
    Inherited,
    /// `default` in cookbooks: the lowest that guests write.
    Default,
    /// `default` of the environment.
    EnvDefault,
    /// `default` of roles, and of the policy's own attributes.
    RoleDefault,
    /// `force_default` in cookbooks: the highest default level.
    ForceDefault,
    /// `normal`: belongs to the node and is kept after the run.
    Normal,
    /// `override` in cookbooks: the lowest override level.
    Override,
    /// `override` of roles, and of the policy's own attributes.
    RoleOverride,
    /// `override` of the environment.
    EnvOverride,
    /// `force_override` in cookbooks: the highest level that guests write.
    ForceOverride,
    /// The facts. Only the host writes them.
    Automatic,
}

/// A group of levels. Levels of one group are merged first, with arrays united; then each group is merged over the lower
/// ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// The level [`Level::Inherited`] alone, below all others.
    Inherited,
    /// The four default levels.
    Default,
    /// The level [`Level::Normal`] alone, between defaults and overrides.
    Normal,
    /// The four override levels.
    Override,
    /// The level [`Level::Automatic`] alone, above all others.
    Automatic,
}

impl Level {
    /// Every level, lowest first.
    pub const ALL: [Self; 11] = [
        Self::Inherited,
        Self::Default,
        Self::EnvDefault,
        Self::RoleDefault,
        Self::ForceDefault,
        Self::Normal,
        Self::Override,
        Self::RoleOverride,
        Self::EnvOverride,
        Self::ForceOverride,
        Self::Automatic,
    ];

    /// The four default levels, lowest first.
    pub const DEFAULTS: [Self; 4] = [Self::Default, Self::EnvDefault, Self::RoleDefault, Self::ForceDefault];

    /// The four override levels, lowest first.
    pub const OVERRIDES: [Self; 4] = [Self::Override, Self::RoleOverride, Self::EnvOverride, Self::ForceOverride];

    /// The name as Chef writes it, such as `env_default`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Inherited => "inherited",
            Self::Default => "default",
            Self::EnvDefault => "env_default",
            Self::RoleDefault => "role_default",
            Self::ForceDefault => "force_default",
            Self::Normal => "normal",
            Self::Override => "override",
            Self::RoleOverride => "role_override",
            Self::EnvOverride => "env_override",
            Self::ForceOverride => "force_override",
            Self::Automatic => "automatic",
        }
    }

    /// Returns the level with this name, or `None` if the name is unknown.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == name)
    }

    /// The group this level is merged in.
    pub fn group(self) -> Group {
        match self {
            Self::Inherited => Group::Inherited,
            Self::Default | Self::EnvDefault | Self::RoleDefault | Self::ForceDefault => Group::Default,
            Self::Normal => Group::Normal,
            Self::Override | Self::RoleOverride | Self::EnvOverride | Self::ForceOverride => Group::Override,
            Self::Automatic => Group::Automatic,
        }
    }

    /// Whether a guest may write here: everywhere but in `inherited` and `automatic`.
    pub fn is_guest_writable(self) -> bool {
        !matches!(self, Self::Inherited | Self::Automatic)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// The levels of the trees, lowest first. The last level has two trees.
pub(crate) const TREES: [Level; 12] = [
    Level::Inherited,
    Level::Default,
    Level::EnvDefault,
    Level::RoleDefault,
    Level::ForceDefault,
    Level::Normal,
    Level::Override,
    Level::RoleOverride,
    Level::EnvOverride,
    Level::ForceOverride,
    Level::Automatic,
    Level::Automatic,
];

/// One tree per level; two for [`Level::Automatic`]. Every tree is an object.
#[derive(Debug, Clone)]
pub(crate) struct LevelTrees {
    inherited: Value,
    default: Value,
    env_default: Value,
    role_default: Value,
    force_default: Value,
    normal: Value,
    r#override: Value,
    role_override: Value,
    env_override: Value,
    force_override: Value,
    automatic: Automatic,
    /// Whether a removal has left a [gap](super::gaps) in any of the trees. Readers look for gaps only then.
    has_gaps: bool,
}

impl Default for LevelTrees {
    fn default() -> Self {
        let empty = || Value::Object(Map::new());
        Self {
            inherited: empty(),
            default: empty(),
            env_default: empty(),
            role_default: empty(),
            force_default: empty(),
            normal: empty(),
            r#override: empty(),
            role_override: empty(),
            env_override: empty(),
            force_override: empty(),
            automatic: Automatic::default(),
            has_gaps: false,
        }
    }
}

impl LevelTrees {
    /// The tree of a level that a path leads through.
    pub(crate) fn tree<Step: AsRef<str>>(&self, level: Level, path: &[Step]) -> &Value {
        match level {
            Level::Inherited => &self.inherited,
            Level::Default => &self.default,
            Level::EnvDefault => &self.env_default,
            Level::RoleDefault => &self.role_default,
            Level::ForceDefault => &self.force_default,
            Level::Normal => &self.normal,
            Level::Override => &self.r#override,
            Level::RoleOverride => &self.role_override,
            Level::EnvOverride => &self.env_override,
            Level::ForceOverride => &self.force_override,
            Level::Automatic => self.automatic.part(path),
        }
    }

    /// The tree of a level that a path leads through, to change it.
    pub(crate) fn tree_mut<Step: AsRef<str>>(&mut self, level: Level, path: &[Step]) -> &mut Value {
        match level {
            Level::Inherited => &mut self.inherited,
            Level::Default => &mut self.default,
            Level::EnvDefault => &mut self.env_default,
            Level::RoleDefault => &mut self.role_default,
            Level::ForceDefault => &mut self.force_default,
            Level::Normal => &mut self.normal,
            Level::Override => &mut self.r#override,
            Level::RoleOverride => &mut self.role_override,
            Level::EnvOverride => &mut self.env_override,
            Level::ForceOverride => &mut self.force_override,
            Level::Automatic => self.automatic.part_mut(path),
        }
    }

    /// Whether an object may have a gap.
    pub(crate) fn has_gaps(&self) -> bool {
        self.has_gaps
    }

    /// From now on readers look for gaps.
    pub(crate) fn expect_gaps(&mut self) {
        self.has_gaps = true;
    }

    /// The level `automatic`, in its two parts.
    pub(crate) fn automatic(&self) -> &Automatic {
        &self.automatic
    }

    /// Replaces the level `automatic`.
    pub(crate) fn set_automatic(&mut self, automatic: Automatic) {
        self.automatic = automatic;
    }

    /// Every tree with its level, lowest first.
    pub(crate) fn each(&self) -> [(Level, &Value); TREES.len()] {
        let mut parts = self.automatic.parts().into_iter();
        TREES.map(|level| match level {
            Level::Automatic => (level, parts.next().unwrap_or(&Value::Null)),
            level => (level, self.tree::<&str>(level, &[])),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_levels() {
        for level in Level::ALL {
            assert_eq!(Level::from_name(level.as_str()), Some(level));
        }
        assert_eq!(Level::from_name("merged"), None);
    }

    #[test]
    fn the_list_is_in_order_of_precedence() {
        assert!(Level::ALL.is_sorted());
    }
}
