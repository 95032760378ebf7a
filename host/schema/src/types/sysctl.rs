//! `sysctl`.

use crate::property::{Class, Coercion, Deputy, LIST_OR_TEXT, Literal, Matcher, Property};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::properties;

/// Sets a kernel parameter.
pub static SYSCTL: ResourceType = ResourceType {
    name: "sysctl",
    aliases: &["sysctl_param"],
    doc: "Sets a kernel parameter, now and for the next start.",
    actions: &SYSCTL_ACTIONS,
    default_action: "apply",
    properties: &[&[
        Property::text("key", "The parameter's name.").name_property().identity(),
        Property::of(
            "value",
            &[
                Matcher::Class(Class::List),
                Matcher::Class(Class::Text),
                Matcher::Class(Class::Integer),
                Matcher::Class(Class::Float),
            ],
            "The value that the parameter gets.",
        )
        .coerce(Coercion::JoinedByBlanks)
        .required_for(&["apply"]),
        Property::boolean("ignore_error", "Whether errors of unknown parameters are ignored (`sysctl -e`).")
            .default(Literal::Boolean(false))
            .no_state(),
        Property::of("comment", LIST_OR_TEXT, "Remarks above the parameter in the file.")
            .default(Literal::List(&[]))
            .no_state()
            .since("15.8"),
        Property::text("conf_dir", "The folder of the file.")
            .default(Literal::Text("/etc/sysctl.d"))
            .deputy(Deputy::Path),
    ]],
    implemented_by: ImplementedBy::Children,
    introduced: Some("14.0"),
};

static SYSCTL_ACTIONS: [Action; 2] = [
    action("apply", "Sets the value and writes the file."),
    action("remove", "Removes the file; the value in use stays."),
];

properties! {
    /// The properties of `sysctl`.
    pub struct SysctlProperties for SYSCTL {
        key: String,
        value: Option<String>,
        ignore_error: bool,
        comment: Vec<String>,
        conf_dir: String,
    }
}
