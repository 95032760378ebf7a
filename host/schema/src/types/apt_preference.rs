//! `apt_preference`.

use crate::property::{Pattern, Property, TEXT_OR_INTEGER};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::properties;

static PACKAGE_GLOB: Pattern = Pattern::new(r"/^([a-z]|[A-Z]|[0-9]|_|-|\.|\*|\+)+$/", r"\A[a-zA-Z0-9_.*+-]+\z");

/// The type that pins versions of packages in apt's preferences.
pub static APT_PREFERENCE: ResourceType = ResourceType {
    name: "apt_preference",
    aliases: &[],
    doc: "Tells apt which version or release of a package to prefer.",
    actions: &APT_PREFERENCE_ACTIONS,
    default_action: "add",
    properties: &[&[
        Property::text("package_name", "The package, or a pattern with `*`.")
            .regex(&[&PACKAGE_GLOB])
            .validation_message(
                "The provided package name is not valid. Package names can only contain alphanumeric characters as well as _, -, \
                 +, or *!",
            )
            .name_property()
            .identity(),
        Property::text("glob", "A pattern of packages in place of the name."),
        Property::text("pin", "What is preferred, such as `version 1.2*` or `release a=stable`.").required_for(&["add"]),
        Property::of("pin_priority", TEXT_OR_INTEGER, "How strongly the pinned version is preferred, such as 1001; above 1000 it also replaces newer ones.").required_for(&["add"]),
    ]],
    implemented_by: ImplementedBy::Children,
    introduced: Some("13.3"),
};

static APT_PREFERENCE_ACTIONS: [Action; 2] =
    [action("add", "Writes the preference's file."), action("remove", "Removes the preference's file.")];

properties! {
    /// The properties of `apt_preference`.
    pub struct AptPreferenceProperties for APT_PREFERENCE {
        package_name: String,
        glob: Option<String>,
        pin: Option<String>,
        pin_priority: Option<String>,
    }
}
