//! `yum_repository`.

use crate::property::{Deputy, Literal, Pattern, Property, TEXT_OR_INTEGER, TEXT_OR_LIST};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::properties;

static NO_SLASH: Pattern = Pattern::new("/^[^\\/]+$/", r"\A[^/\n]+\z");
static DIGITS: Pattern = Pattern::new(r"/^\d+$/", r"\A[0-9]+\z");
static DURATION: Pattern = Pattern::new(r"/^\d+[mhd]$/", r"\A[0-9]+[mhd]\z");
static NEVER: Pattern = Pattern::new("/never/", "never");
static PRIORITY: Pattern = Pattern::new(r"/^(\d?[1-9]|[0-9][0-9])$/", r"\A([0-9]?[1-9]|[0-9][0-9])\z");

/// Adds a source of packages to yum and dnf.
pub static YUM_REPOSITORY: ResourceType = ResourceType {
    name: "yum_repository",
    aliases: &[],
    doc: "Adds a source of packages to yum and dnf.",
    actions: &YUM_REPOSITORY_ACTIONS,
    default_action: "create",
    properties: &[&YUM_REPOSITORY_PROPERTIES],
    implemented_by: ImplementedBy::Children,
    introduced: Some("12.14"),
};

static YUM_REPOSITORY_ACTIONS: [Action; 5] = [
    action("create", "Writes the source's file, or corrects it."),
    action("remove", "Removes the source's file and cleans its cache."),
    action("makecache", "Fetches the source's index."),
    action("add", "The older name of `create`."),
    action("delete", "The older name of `remove`."),
];

/// A check of a time: its message and patterns.
const fn expiry(
    name: &'static str,
    doc: &'static str,
    message: &'static str,
    patterns: &'static [&'static Pattern],
) -> Property {
    Property::text(name, doc).regex(patterns).validation_message(message)
}

static YUM_REPOSITORY_PROPERTIES: [Property; 44] = [
    Property::text("repositoryid", "The source's name in square brackets.")
        .regex(&[&NO_SLASH])
        .validation_message("repositoryid property cannot contain a forward slash '/'")
        .name_property()
        .identity(),
    Property::text("reposdir", "The folder of the file.")
        .default(Literal::Text("/etc/yum.repos.d/"))
        .since("16.9")
        .deputy(Deputy::Path),
    Property::of("baseurl", TEXT_OR_LIST, "The addresses.").aliases(&["url"]),
    Property::text("metalink", "The address of a metalink file."),
    Property::text("mirrorlist", "The address of a list of mirrors."),
    expiry(
        "mirrorlist_expire",
        "How long the list of mirrors is good.",
        "The mirrorlist_expire property must be a numeric value for time in seconds, the string 'never', or a numeric value \
         appended with with `d`, `h`, or `m`!",
        &[&DIGITS, &DURATION],
    ),
    expiry(
        "mirror_expire",
        "How long a mirror's answer is good.",
        "The mirror_expire property must be a numeric value for time in seconds, the string 'never', or a numeric value appended \
         with with `d`, `h`, or `m`!",
        &[&DIGITS, &DURATION],
    )
    .aliases(&["mirrorexpire"]),
    expiry(
        "metadata_expire",
        "How long the index is good.",
        "The metadata_expire property must be a numeric value for time in seconds, the string 'never', or a numeric value \
         appended with with `d`, `h`, or `m`!",
        &[&DIGITS, &DURATION, &NEVER],
    ),
    Property::text("description", "The source's name for people.").default(Literal::Text("Yum Repository")),
    Property::boolean("enabled", "Whether the source is used.").default(Literal::Boolean(true)),
    Property::boolean("enablegroups", "Whether the source may define package groups."),
    Property::text("exclude", "Packages that are not taken from it."),
    Property::text("includepkgs", "The only packages that are taken from it."),
    Property::text("failovermethod", "How the next address is chosen.")
        .equal_to(&[Literal::Text("priority"), Literal::Text("roundrobin")]),
    Property::boolean("fastestmirror_enabled", "Whether the fastest mirror is looked for."),
    Property::boolean("gpgcheck", "Whether packages must be signed.").default(Literal::Boolean(true)),
    Property::boolean("repo_gpgcheck", "Whether the index must be signed."),
    Property::of("gpgkey", TEXT_OR_LIST, "The addresses of the signing keys.").aliases(&["keyurl"]),
    Property::text("http_caching", "What a proxy may keep.")
        .equal_to(&[Literal::Text("packages"), Literal::Text("all"), Literal::Text("none")]),
    Property::text("include_config", "A further configuration file to read."),
    Property::boolean("keepalive", "Whether connections are kept."),
    Property::boolean("make_cache", "Whether the index is fetched after a change.").default(Literal::Boolean(true)),
    Property::boolean("makecache_fast", "Whether only what is needed of the index is fetched.").default(Literal::Boolean(false)),
    Property::boolean("clean_metadata", "Whether the old index is removed before.").default(Literal::Boolean(true)),
    Property::boolean("clean_headers", "Whether old headers are removed before.")
        .default(Literal::Boolean(false))
        .deprecated("it does nothing any more"),
    Property::of("max_retries", TEXT_OR_INTEGER, "How often an address is tried again."),
    Property::text("cost", "How dear the source is, compared with others.")
        .regex(&[&DIGITS])
        .validation_message("The cost property must be a numeric value!"),
    Property::text("priority", "The source's rank, from 1 to 99.")
        .regex(&[&PRIORITY])
        .validation_message("The priority property must be a numeric value from 1-99!"),
    Property::mode("mode", "The file's permission bits.").default(Literal::Text("0644")),
    Property::map("options", "Further settings of the source."),
    Property::text("username", "The user for the source."),
    Property::text("password", "The user's password.").sensitive(),
    Property::text("proxy", "The proxy's address."),
    Property::text("proxy_username", "The user for the proxy."),
    Property::text("proxy_password", "The password for the proxy.").sensitive(),
    Property::boolean("report_instanceid", "Whether the cloud's number of the node is sent along."),
    Property::boolean("skip_if_unavailable", "Whether a source that does not answer is left out."),
    Property::text("source", "A template of the cookbook for the whole file."),
    Property::boolean("sslverify", "Whether the server's certificate is checked."),
    Property::text("sslcacert", "The folder of trusted certificates."),
    Property::text("sslclientcert", "The certificate shown to the server."),
    Property::text("sslclientkey", "The key of that certificate."),
    Property::of("throttle", TEXT_OR_INTEGER, "How much of the network may be used."),
    Property::text("timeout", "Seconds to wait for the server.")
        .regex(&[&DIGITS])
        .validation_message("The timeout property must be a numeric value!"),
];

properties! {
    /// The properties of `yum_repository`.
    pub struct YumRepositoryProperties for YUM_REPOSITORY {
        repositoryid: String,
        reposdir: String,
        baseurl: Option<Vec<String>>,
        metalink: Option<String>,
        mirrorlist: Option<String>,
        mirrorlist_expire: Option<String>,
        mirror_expire: Option<String>,
        metadata_expire: Option<String>,
        description: String,
        enabled: bool,
        enablegroups: Option<bool>,
        exclude: Option<String>,
        includepkgs: Option<String>,
        failovermethod: Option<String>,
        fastestmirror_enabled: Option<bool>,
        gpgcheck: bool,
        repo_gpgcheck: Option<bool>,
        gpgkey: Option<Vec<String>>,
        http_caching: Option<String>,
        include_config: Option<String>,
        keepalive: Option<bool>,
        make_cache: bool,
        makecache_fast: bool,
        clean_metadata: bool,
        clean_headers: bool,
        max_retries: Option<String>,
        cost: Option<String>,
        priority: Option<String>,
        mode: String,
        options: Option<serde_json::Value>,
        username: Option<String>,
        password: Option<String>,
        proxy: Option<String>,
        proxy_username: Option<String>,
        proxy_password: Option<String>,
        report_instanceid: Option<bool>,
        skip_if_unavailable: Option<bool>,
        source: Option<String>,
        sslverify: Option<bool>,
        sslcacert: Option<String>,
        sslclientcert: Option<String>,
        sslclientkey: Option<String>,
        throttle: Option<String>,
        timeout: Option<String>,
    }
}
