//! Types for Chef's own client, the secrets of its vault, and its tests, without an implementation.

use super::NOBODY;
use crate::property::{
    Class, Coercion, INTEGER_OR_TEXT, Literal, Matcher, Property, TEXT_OR_LIST, TEXT_OR_NIL_CLASS, TEXT_OR_SYMBOL,
};
use crate::resource::{ResourceType, action};

/// Writes the settings of Chef's own client.
pub static CHEF_CLIENT_CONFIG: ResourceType = ResourceType {
    name: "chef_client_config",
    doc: "Writes the settings of Chef's own client.",
    actions: &[action("create", "Makes it, or brings it up to date."), action("remove", "Removes it.")],
    default_action: "create",
    properties: &[&[
        Property::text("config_directory", "The folder of the settings.").default(Literal::Text("/etc/chef")),
        Property::text("user", "The owner of the files."),
        Property::text("group", "The group of the files."),
        Property::of("node_name", TEXT_OR_NIL_CLASS, "The node's name on the server."),
        Property::text("chef_server_url", "The address of the Chef server.").required(),
        Property::of(
            "ssl_verify_mode",
            &[Matcher::Class(Class::Symbol), Matcher::Class(Class::Text)],
            "Whether the server's certificate is checked.",
        )
        .equal_to(&[Literal::Symbol("verify_none"), Literal::Symbol("verify_peer")])
        .coerce(Coercion::SymbolWithColon),
        Property::list("formatters", "The formatters of the output.").default(Literal::List(&[])),
        Property::list("event_loggers", "The loggers of events.").default(Literal::List(&[])),
        Property::of("log_level", &[Matcher::Class(Class::Symbol)], "The least level that is logged.").equal_to(&[
            Literal::Symbol("auto"),
            Literal::Symbol("trace"),
            Literal::Symbol("debug"),
            Literal::Symbol("info"),
            Literal::Symbol("warn"),
            Literal::Symbol("fatal"),
        ]),
        Property::of("log_location", TEXT_OR_SYMBOL, "The file or the service that gets the log."),
        Property::text("http_proxy", "The proxy for HTTP."),
        Property::text("https_proxy", "The proxy for HTTPS."),
        Property::text("ftp_proxy", "The proxy for FTP."),
        Property::of("no_proxy", TEXT_OR_LIST, "Addresses that are reached without a proxy.")
            .default(Literal::List(&[])),
        Property::list("ohai_disabled_plugins", "Plugins of Ohai that are left out.").default(Literal::List(&[])),
        Property::list("ohai_optional_plugins", "Optional plugins of Ohai that are run.").default(Literal::List(&[])),
        Property::boolean("policy_persist_run_list", "Whether the run list of a policy is saved in the node.")
            .default(Literal::Boolean(false)),
        Property::boolean("minimal_ohai", "Whether Ohai runs only the plugins that Chef needs.")
            .default(Literal::Boolean(false)),
        Property::list("start_handlers", "Handlers that run at the start.").default(Literal::List(&[])),
        Property::list("report_handlers", "Handlers that run after a good run.").default(Literal::List(&[])),
        Property::of("rubygems_url", TEXT_OR_LIST, "The addresses of gem servers."),
        Property::list("exception_handlers", "Handlers that run after a failed run.").default(Literal::List(&[])),
        Property::text("chef_license", "How the licence is accepted.").equal_to(&[
            Literal::Text("accept"),
            Literal::Text("accept-no-persist"),
            Literal::Text("accept-silent"),
        ]),
        Property::text("policy_name", "The name of the node's policy."),
        Property::text("policy_group", "The group of the node's policy."),
        Property::text("named_run_list", "The run list of the policy that is run."),
        Property::text("pid_file", "The file with the number of the process."),
        Property::text("file_cache_path", "The folder of cached files."),
        Property::text("file_backup_path", "The folder of backups."),
        Property::text("file_staging_uses_destdir", "Whether new files are written beside the old ones."),
        Property::text("additional_config", "Further lines of the settings."),
        Property::text("data_collector_server_url", "The address of the data collector."),
        Property::text("data_collector_token", "The token for the data collector."),
    ]],
    ..NOBODY
};

/// Runs Chef's own client by cron.
pub static CHEF_CLIENT_CRON: ResourceType = ResourceType {
    name: "chef_client_cron",
    doc: "Runs Chef's own client by cron.",
    actions: &[action("add", "Adds it."), action("remove", "Removes it.")],
    default_action: "add",
    properties: &[&[
        Property::text("job_name", "The name of the job.").default(Literal::Text("chef-client")),
        Property::text("comment", "The comment in the crontab."),
        Property::text("user", "The user that the client runs as.").default(Literal::Text("root")),
        Property::of("minute", INTEGER_OR_TEXT, "The minute of the run.").default(Literal::Text("0,30")),
        Property::of("hour", INTEGER_OR_TEXT, "The hour of the run.").default(Literal::Text("*")),
        Property::of("day", INTEGER_OR_TEXT, "The day of the month.").default(Literal::Text("*")),
        Property::of("month", INTEGER_OR_TEXT, "The month of the run.").default(Literal::Text("*")),
        Property::of("weekday", INTEGER_OR_TEXT, "The day of the week.").default(Literal::Text("*")),
        Property::of("splay", INTEGER_OR_TEXT, "The longest random delay, in seconds.").default(Literal::Integer(300)),
        Property::text("mailto", "The address that gets the output."),
        Property::boolean("accept_chef_license", "Whether the licence is accepted.").default(Literal::Boolean(false)),
        Property::text("config_directory", "The folder of the settings.").default(Literal::Text("/etc/chef")),
        Property::text("log_directory", "The folder of the log."),
        Property::text("log_file_name", "The name of the log file.").default(Literal::Text("client.log")),
        Property::boolean("append_log_file", "Whether the log is appended to.").default(Literal::Boolean(true)),
        Property::text("chef_binary_path", "The path of the client.")
            .default(Literal::Text("/opt/chef/bin/chef-client")),
        Property::list("daemon_options", "Further options of the client.").default(Literal::List(&[])),
        Property::map("environment", "Variables of the client.").default(Literal::Map(&[])),
        Property::of("nice", INTEGER_OR_TEXT, "The priority of the client."),
    ]],
    ..NOBODY
};

/// Runs Chef's own client by a timer of systemd.
pub static CHEF_CLIENT_SYSTEMD_TIMER: ResourceType = ResourceType {
    name: "chef_client_systemd_timer",
    doc: "Runs Chef's own client by a timer of systemd.",
    actions: &[action("add", "Adds it."), action("remove", "Removes it.")],
    default_action: "add",
    properties: &[&[
        Property::text("job_name", "The name of the timer.").default(Literal::Text("chef-client")),
        Property::text("description", "The description of the unit.")
            .default(Literal::Text("Chef Infra Client periodic execution")),
        Property::text("user", "The user that the client runs as.").default(Literal::Text("root")),
        Property::text("delay_after_boot", "The delay after the start of the machine.").default(Literal::Text("1min")),
        Property::text("interval", "The time between two runs.").default(Literal::Text("30min")),
        Property::text("splay", "The longest random delay.").default(Literal::Text("5min")),
        Property::boolean("accept_chef_license", "Whether the licence is accepted.").default(Literal::Boolean(false)),
        Property::boolean("run_on_battery", "Whether it runs on battery too.").default(Literal::Boolean(true)),
        Property::text("config_directory", "The folder of the settings.").default(Literal::Text("/etc/chef")),
        Property::text("chef_binary_path", "The path of the client.")
            .default(Literal::Text("/opt/chef/bin/chef-client")),
        Property::list("daemon_options", "Further options of the client.").default(Literal::List(&[])),
        Property::map("environment", "Variables of the client.").default(Literal::Map(&[])),
        Property::of("cpu_quota", INTEGER_OR_TEXT, "The share of processor time, in percent."),
        Property::of("service_umask", INTEGER_OR_TEXT, "The umask of the service."),
    ]],
    ..NOBODY
};

/// Adds a certificate that Chef's own client trusts.
pub static CHEF_CLIENT_TRUSTED_CERTIFICATE: ResourceType = ResourceType {
    name: "chef_client_trusted_certificate",
    doc: "Adds a certificate that Chef's own client trusts.",
    actions: &[action("add", "Adds it."), action("remove", "Removes it.")],
    default_action: "add",
    properties: &[&[
        Property::text("cert_name", "The name of the certificate's file.").name_property(),
        Property::text("certificate", "The text of the certificate.").required_for(&["add"]),
    ]],
    ..NOBODY
};

/// Manages a secret in a vault.
pub static CHEF_VAULT_SECRET: ResourceType = ResourceType {
    name: "chef_vault_secret",
    doc: "Manages a secret in a vault.",
    actions: &[
        action("create", "Makes it, or brings it up to date."),
        action("create_if_missing", "Makes it if it is absent."),
        action("delete", "Deletes it."),
    ],
    default_action: "create",
    properties: &[&[
        Property::text("id", "The name of the secret.").name_property(),
        Property::text("data_bag", "The data bag of the vault.").required().no_state(),
        Property::of("admins", TEXT_OR_LIST, "The users who may change the secret.").required().no_state(),
        Property::of("clients", TEXT_OR_LIST, "The clients that may read the secret.").no_state(),
        Property::text("search", "The search for the nodes that may read the secret.")
            .default(Literal::Text("*:*"))
            .no_state(),
        Property::map("raw_data", "The values of the secret.").default(Literal::Map(&[])),
        Property::of("environment", TEXT_OR_NIL_CLASS, "The Chef environment of the search.").no_state(),
    ]],
    ..NOBODY
};

/// Gives an input to InSpec's tests.
pub static INSPEC_INPUT: ResourceType = ResourceType {
    name: "inspec_input",
    doc: "Gives an input to InSpec's tests.",
    actions: &[action("add", "Adds it.")],
    default_action: "add",
    properties: &[&[
        Property::of(
            "input",
            &[Matcher::Class(Class::Map), Matcher::Class(Class::Text)],
            "The input, or the file that has it.",
        )
        .name_property(),
        Property::of(
            "source",
            &[Matcher::Class(Class::Map), Matcher::Class(Class::Text)],
            "The values, or the file that has them.",
        ),
    ]],
    ..NOBODY
};

/// Adds a waiver of an InSpec test.
pub static INSPEC_WAIVER: ResourceType = ResourceType {
    name: "inspec_waiver",
    doc: "Adds a waiver of an InSpec test.",
    actions: &[action("add", "Adds it.")],
    default_action: "add",
    properties: &[&[
        Property::text("control", "The control that is waived.").name_property(),
        Property::text("expiration", "The last day of the waiver."),
        Property::boolean("run_test", "Whether the test is run all the same."),
        Property::text("justification", "The reason of the waiver."),
        Property::of("source", &[Matcher::Class(Class::Map), Matcher::Class(Class::Text)], "The file of the waiver."),
    ]],
    ..NOBODY
};

/// Adds a waiver to InSpec's file of waivers.
pub static INSPEC_WAIVER_FILE_ENTRY: ResourceType = ResourceType {
    name: "inspec_waiver_file_entry",
    doc: "Adds a waiver to InSpec's file of waivers.",
    actions: &[action("add", "Adds it."), action("remove", "Removes it.")],
    default_action: "add",
    properties: &[&[
        Property::text("control", "The control that is waived.").name_property(),
        Property::text("file_path", "The path of the file.")
            .required()
            .default(Literal::Text("/etc/chef/inspec_waivers.yml")),
        Property::text("expiration", "The last day of the waiver."),
        Property::boolean("run_test", "Whether the test is run all the same."),
        Property::text("justification", "The reason of the waiver."),
        Property::of(
            "backup",
            &[Matcher::Class(Class::False), Matcher::Class(Class::Integer)],
            "How many earlier versions are kept.",
        )
        .default(Literal::Boolean(false)),
    ]],
    ..NOBODY
};
