//! `guest_block` and its Ruby equivalents: code of the guest that runs while the node converges.

use crate::property::Property;
use crate::resource::{Action, ImplementedBy, ResourceType, action};

static BLOCK_ACTIONS: [Action; 2] = [action("run", "Runs the code."), action("create", "The same as `run`.")];

const BLOCK_NAME: Property = Property::text("block_name", "The block's name.").name_property().identity();

/// Runs a closure of a Rust cookbook.
pub static GUEST_BLOCK: ResourceType = ResourceType {
    name: "guest_block",
    aliases: &[],
    doc: "Runs code of the cookbook itself while the node converges.",
    actions: &BLOCK_ACTIONS,
    default_action: "run",
    properties: &[&[BLOCK_NAME]],
    implemented_by: ImplementedBy::Guest,
    introduced: None,
};

/// Runs a block of a Ruby cookbook.
pub static RUBY_BLOCK: ResourceType = ResourceType {
    name: "ruby_block",
    aliases: &[],
    doc: "Runs Ruby code of the cookbook while the node converges. In a dry run it is not run.",
    actions: &BLOCK_ACTIONS,
    default_action: "run",
    properties: &[&[BLOCK_NAME]],
    implemented_by: ImplementedBy::Guest,
    introduced: None,
};

/// Runs a block of a Ruby cookbook, in a dry run too.
pub static WHYRUN_SAFE_RUBY_BLOCK: ResourceType = ResourceType {
    name: "whyrun_safe_ruby_block",
    aliases: &[],
    doc: "Runs Ruby code of the cookbook while the node converges, in a dry run too.",
    actions: &BLOCK_ACTIONS,
    default_action: "run",
    properties: &[&[BLOCK_NAME]],
    implemented_by: ImplementedBy::RubyLibrary,
    introduced: None,
};
