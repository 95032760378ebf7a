//! `user_ulimit`.

use crate::property::{Coercion, Default, Property, TEXT_OR_INTEGER};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::properties;

/// Limits the resources that a user may use.
pub static USER_ULIMIT: ResourceType = ResourceType {
    name: "user_ulimit",
    aliases: &[],
    doc: "Manages a file in /etc/security/limits.d that limits what one user may use.",
    actions: &USER_ULIMIT_ACTIONS,
    default_action: "create",
    properties: &[&USER_ULIMIT_PROPERTIES],
    implemented_by: ImplementedBy::Children,
    introduced: Some("16.0"),
};

static USER_ULIMIT_ACTIONS: [Action; 2] =
    [action("create", "Writes the file, or corrects it."), action("delete", "Removes the file of limits.")];

const fn limit(name: &'static str, doc: &'static str) -> Property {
    Property::of(name, TEXT_OR_INTEGER, doc)
}

static USER_ULIMIT_PROPERTIES: [Property; 38] = [
    Property::text("username", "The user, or `*` for all.").name_property().identity(),
    Property::text("filename", "The name of the file below `limits.d`.")
        .coerce(Coercion::ConfFileName)
        .default_to(Default::Described("the user's name and _limits.conf, or 00_all_limits.conf")),
    limit("as_limit", "The address space in KiB, soft and hard."),
    limit("as_soft_limit", "The address space in KiB, soft."),
    limit("as_hard_limit", "The address space in KiB, hard."),
    limit("filehandle_limit", "The most open files, soft and hard."),
    limit("filehandle_soft_limit", "The most open files, soft."),
    limit("filehandle_hard_limit", "The most open files, hard."),
    limit("process_limit", "The most processes of the user, soft and hard."),
    limit("process_soft_limit", "The most processes of the user, soft."),
    limit("process_hard_limit", "The most processes of the user, hard."),
    limit("locks_limit", "The most file locks, soft and hard."),
    limit("memory_limit", "Locked memory in KiB, soft and hard."),
    limit("maxlogins_limit", "The most logins at once, soft and hard."),
    limit("maxlogins_soft_limit", "The most logins at once, soft."),
    limit("maxlogins_hard_limit", "The most logins at once, hard."),
    limit("msgqueue_limit", "Bytes in message queues, soft and hard."),
    limit("msgqueue_soft_limit", "Bytes in message queues, soft."),
    limit("msgqueue_hard_limit", "Bytes in message queues, hard."),
    limit("core_limit", "The size of core dumps in KiB, soft and hard."),
    limit("core_soft_limit", "The size of core dumps in KiB, soft."),
    limit("core_hard_limit", "The size of core dumps in KiB, hard."),
    limit("cpu_limit", "Minutes of processor time, soft and hard."),
    limit("cpu_soft_limit", "Minutes of processor time, soft."),
    limit("cpu_hard_limit", "Minutes of processor time, hard."),
    limit("sigpending_limit", "The most pending signals, soft and hard."),
    limit("sigpending_soft_limit", "The most pending signals, soft."),
    limit("sigpending_hard_limit", "The most pending signals, hard."),
    limit("stack_limit", "The size of the stack in KiB, soft and hard."),
    limit("stack_soft_limit", "The size of the stack in KiB, soft."),
    limit("stack_hard_limit", "The size of the stack in KiB, hard."),
    limit("rss_limit", "Resident memory in KiB, soft and hard."),
    limit("rss_soft_limit", "Resident memory in KiB, soft."),
    limit("rss_hard_limit", "Resident memory in KiB, hard."),
    limit("rtprio_limit", "Real-time priority, soft and hard."),
    limit("rtprio_soft_limit", "Real-time priority, soft."),
    limit("rtprio_hard_limit", "Real-time priority, hard."),
    limit("virt_limit", "Virtual memory, soft and hard."),
];

properties! {
    /// The properties of `user_ulimit`.
    pub struct UserUlimitProperties for USER_ULIMIT {
        username: String,
        filename: Option<String>,
        as_limit: Option<String>,
        as_soft_limit: Option<String>,
        as_hard_limit: Option<String>,
        filehandle_limit: Option<String>,
        filehandle_soft_limit: Option<String>,
        filehandle_hard_limit: Option<String>,
        process_limit: Option<String>,
        process_soft_limit: Option<String>,
        process_hard_limit: Option<String>,
        locks_limit: Option<String>,
        memory_limit: Option<String>,
        maxlogins_limit: Option<String>,
        maxlogins_soft_limit: Option<String>,
        maxlogins_hard_limit: Option<String>,
        msgqueue_limit: Option<String>,
        msgqueue_soft_limit: Option<String>,
        msgqueue_hard_limit: Option<String>,
        core_limit: Option<String>,
        core_soft_limit: Option<String>,
        core_hard_limit: Option<String>,
        cpu_limit: Option<String>,
        cpu_soft_limit: Option<String>,
        cpu_hard_limit: Option<String>,
        sigpending_limit: Option<String>,
        sigpending_soft_limit: Option<String>,
        sigpending_hard_limit: Option<String>,
        stack_limit: Option<String>,
        stack_soft_limit: Option<String>,
        stack_hard_limit: Option<String>,
        rss_limit: Option<String>,
        rss_soft_limit: Option<String>,
        rss_hard_limit: Option<String>,
        rtprio_limit: Option<String>,
        rtprio_soft_limit: Option<String>,
        rtprio_hard_limit: Option<String>,
        virt_limit: Option<String>,
    }
}
