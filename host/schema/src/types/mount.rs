//! `mount`.

use crate::property::{
    Class, Coercion, Deputy, INTEGER_OR_FALSE, Literal, Matcher, Property, TEXT_OR_NIL, TEXT_OR_SYMBOL,
};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::{NumberOrFalse, properties};

/// Manages a mounted file system.
pub static MOUNT: ResourceType = ResourceType {
    name: "mount",
    aliases: &[],
    doc: "Manages a mounted file system and its line in fstab.",
    actions: &MOUNT_ACTIONS,
    default_action: "mount",
    properties: &[&MOUNT_PROPERTIES],
    implemented_by: ImplementedBy::Host,
    introduced: None,
};

static MOUNT_ACTIONS: [Action; 6] = [
    action("mount", "Mounts the device unless it is mounted."),
    action("umount", "Unmounts the device."),
    action("unmount", "The same as `umount`."),
    action("remount", "Mounts the device again, with changed options."),
    action("enable", "Enters the file system in fstab."),
    action("disable", "Removes the file system from fstab."),
];

static MOUNT_PROPERTIES: [Property; 13] = [
    Property::text("mount_point", "Where it is mounted.").coerce(Coercion::NoTrailingSlash).name_property().identity(),
    Property::text("device", "The device, label, number or remote share.").deputy(Deputy::Path),
    Property::of("device_type", TEXT_OR_SYMBOL, "How `device` names it.")
        .coerce(Coercion::Symbol)
        .equal_to(&[Literal::Symbol("device"), Literal::Symbol("label"), Literal::Symbol("uuid")])
        .default(Literal::Symbol("device")),
    Property::of("fstype", TEXT_OR_NIL, "The kind of file system.").default(Literal::Text("auto")),
    Property::of(
        "options",
        &[Matcher::Class(Class::List), Matcher::Class(Class::Text), Matcher::Equal(Literal::Nil)],
        "Options of the mount, as a list or separated by commas.",
    )
    .coerce(Coercion::MountOptions)
    .default(Literal::List(&[Literal::Text("defaults")]))
    .deputy(Deputy::Options),
    Property::of("dump", INTEGER_OR_FALSE, "The dump field of fstab.").default(Literal::Integer(0)),
    Property::of("pass", INTEGER_OR_FALSE, "The field of fstab that says when the file system is checked.")
        .default(Literal::Integer(2)),
    Property::text("fsck_device", "The device to check (Solaris only).").default(Literal::Text("-")),
    Property::of(
        "supports",
        &[Matcher::Class(Class::List), Matcher::Class(Class::Map)],
        "Whether the file system can be mounted again without unmounting.",
    )
    .coerce(Coercion::Flags)
    .default(Literal::Map(&[(Literal::Text("remount"), Literal::Boolean(false))])),
    Property::boolean("enabled", "Whether it is listed in fstab.").default(Literal::Boolean(false)),
    Property::text("username", "The user for a remote share."),
    Property::text("password", "The user's password.").sensitive(),
    Property::text("domain", "The user's domain."),
];

properties! {
    /// The properties of `mount`.
    pub struct MountProperties for MOUNT {
        mount_point: String,
        device: Option<String>,
        device_type: String,
        fstype: String,
        options: Vec<String>,
        dump: NumberOrFalse,
        pass: NumberOrFalse,
        supports: serde_json::Value,
    }
}
