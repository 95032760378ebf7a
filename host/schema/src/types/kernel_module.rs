//! `kernel_module`.

use crate::property::{Deputy, Literal, Property};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::properties;

/// Manages a kernel module.
pub static KERNEL_MODULE: ResourceType = ResourceType {
    name: "kernel_module",
    aliases: &[],
    doc: "Manages a kernel module: whether it is loaded, now and when the system starts.",
    actions: &KERNEL_MODULE_ACTIONS,
    default_action: "install",
    properties: &[&[
        Property::text("modname", "The module's name.").name_property().identity(),
        Property::list("options", "Options of the module.").since("15.4"),
        Property::text("load_dir", "The folder of files that load modules at the start.")
            .default(Literal::Text("/etc/modules-load.d"))
            .deputy(Deputy::Path),
        Property::text("unload_dir", "The folder of files that keep modules from being loaded.")
            .default(Literal::Text("/etc/modprobe.d"))
            .deputy(Deputy::Path),
    ]],
    implemented_by: ImplementedBy::Children,
    introduced: Some("14.3"),
};

static KERNEL_MODULE_ACTIONS: [Action; 7] = [
    action("install", "Loads the module, and at every start."),
    action("uninstall", "Unloads the module and loads it no more at the start."),
    action("blacklist", "Keeps the module from being loaded on its own."),
    action("disable", "Keeps the module from being loaded at all."),
    action("enable", "Undoes `disable`."),
    action("load", "Loads the module now."),
    action("unload", "Unloads the module now."),
];

properties! {
    /// The properties of `kernel_module`.
    pub struct KernelModuleProperties for KERNEL_MODULE {
        modname: String,
        options: Option<Vec<String>>,
        load_dir: String,
        unload_dir: String,
    }
}
