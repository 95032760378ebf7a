//! Types for Red Hat's subscriptions, without an implementation.

use super::NOBODY;
use crate::property::{Class, Literal, Matcher, Property, TEXT_OR_LIST};
use crate::resource::{ResourceType, action};

/// Installs the packages of an erratum.
pub static RHSM_ERRATA: ResourceType = ResourceType {
    name: "rhsm_errata",
    doc: "Installs the packages of an erratum.",
    actions: &[action("install", "Installs it.")],
    default_action: "install",
    properties: &[&[Property::text("errata_id", "The name of the erratum.").name_property()]],
    ..NOBODY
};

/// Installs the packages of all errata of a level.
pub static RHSM_ERRATA_LEVEL: ResourceType = ResourceType {
    name: "rhsm_errata_level",
    doc: "Installs the packages of all errata of a level.",
    actions: &[action("install", "Installs it.")],
    default_action: "install",
    properties: &[&[Property::text("errata_level", "The level of the errata.").name_property().equal_to(&[
        Literal::Text("critical"),
        Literal::Text("moderate"),
        Literal::Text("important"),
        Literal::Text("low"),
    ])]],
    ..NOBODY
};

/// Registers the machine with Red Hat.
pub static RHSM_REGISTER: ResourceType = ResourceType {
    name: "rhsm_register",
    doc: "Registers the machine with Red Hat.",
    actions: &[action("register", "Registers the machine."), action("unregister", "Takes the registration back.")],
    default_action: "register",
    properties: &[&[
        Property::of("activation_key", TEXT_OR_LIST, "The keys of activation."),
        Property::text("satellite_host", "The Satellite server."),
        Property::text("organization", "The organisation."),
        Property::text("environment", "The environment of the server."),
        Property::text("username", "The user of the server."),
        Property::text("password", "The user's password."),
        Property::text("system_name", "The name of the machine there."),
        Property::boolean("auto_attach", "Whether a subscription is attached.").default(Literal::Boolean(false)),
        Property::boolean("install_katello_agent", "Whether Katello's agent is installed.")
            .default(Literal::Boolean(true)),
        Property::boolean("force", "Whether a registered machine is registered again.")
            .default(Literal::Boolean(false))
            .no_state(),
        Property::boolean("https_for_ca_consumer", "Whether the certificate is fetched over HTTPS.")
            .default(Literal::Boolean(false))
            .no_state(),
        Property::text("server_url", "The address of the server."),
        Property::text("base_url", "The address of the content."),
        Property::text("service_level", "The level of service."),
        Property::of(
            "release",
            &[Matcher::Class(Class::Float), Matcher::Class(Class::Text)],
            "The release that the machine stays at.",
        ),
    ]],
    ..NOBODY
};

/// Enables a repository of Red Hat.
pub static RHSM_REPO: ResourceType = ResourceType {
    name: "rhsm_repo",
    doc: "Enables a repository of Red Hat.",
    actions: &[action("enable", "Enables it."), action("disable", "Disables it.")],
    default_action: "enable",
    properties: &[&[Property::text("repo_name", "The name of the repository.").name_property()]],
    ..NOBODY
};

/// Attaches a subscription of Red Hat.
pub static RHSM_SUBSCRIPTION: ResourceType = ResourceType {
    name: "rhsm_subscription",
    doc: "Attaches a subscription of Red Hat.",
    actions: &[action("attach", "Attaches the subscription."), action("remove", "Removes it.")],
    default_action: "attach",
    properties: &[&[Property::text("pool_id", "The number of the pool.").name_property()]],
    ..NOBODY
};
