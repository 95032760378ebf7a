//! Finds the needs of resource types that are made of other resources (`apt_repository` writes files and runs apt), and of a
//! few types whose needs follow from several properties.
//!
//! A table lists them as texts, into which the values of a resource's literal properties are filled. Needs that the table
//! cannot express, such as an openssl command with its variables, count as computed.

use super::facts::Resource;
use super::needs::Kind;
use serde_json::Value;

/// One need of a resource type.
struct Row {
    kind: Kind,
    /// The text, with properties in braces: `{path}` is a property's value, without which there is no need; `{@path}` follows
    /// the resource's name, and `{path=/x}` has a default. `{persist?text}` is `text` if the property is literally true. The
    /// word after `|` changes the value, see [`changed`]. An empty text means that the need is computed.
    text: &'static str,
    /// The actions that need it. Empty: all.
    actions: &'static [&'static str],
    /// The property that must be absent.
    unless: Option<&'static str>,
    /// The property that must be there.
    with: Option<&'static str>,
}

const fn row(kind: Kind, text: &'static str) -> Row {
    Row { kind, text, actions: &[], unless: None, with: None }
}

impl Row {
    const fn of(self, actions: &'static [&'static str]) -> Self {
        Self { actions, ..self }
    }

    const fn unless(self, property: &'static str) -> Self {
        Self { unless: Some(property), ..self }
    }

    const fn with(self, property: &'static str) -> Self {
        Self { with: Some(property), ..self }
    }
}

const UPDATE_LISTS: [Row; 1] = [row(Kind::Commands, "apt-get -q update")];

/// Types that update the package lists, in addition to their needs in [`TYPES`].
const UPDATING_LISTS: [&str; 2] = ["apt_repository", "apt_update"];

const OPENSSL: [Row; 2] = [row(Kind::Paths, "{@path}"), row(Kind::Commands, "")];

/// The needs by type.
const TYPES: &[(&str, &[Row])] = &[
    (
        "alternatives",
        &[
            row(Kind::Commands, "update-alternatives --install {link} {@link_name} {path} {priority}").of(&["install"]),
            row(Kind::Commands, "update-alternatives --install /usr/bin/{@link_name} {@link_name} {path} {priority}")
                .of(&["install"])
                .unless("link"),
            row(Kind::Commands, "update-alternatives --set {@link_name} {path}").of(&["set"]),
            row(Kind::Commands, "update-alternatives --remove {@link_name} {path}").of(&["remove"]),
            row(Kind::Commands, "update-alternatives --auto {@link_name}").of(&["auto"]),
            row(Kind::Commands, "update-alternatives --refresh {@link_name}").of(&["refresh"]),
            row(Kind::ReadPaths, "{path}"),
        ],
    ),
    (
        "apt_preference",
        &[
            row(Kind::Paths, "/etc/apt/preferences.d"),
            row(Kind::Paths, "/etc/apt/preferences.d/{@package_name|preference}.pref"),
            row(Kind::ReadPaths, "/etc/apt/preferences.d/{@package_name|literal}"),
        ],
    ),
    (
        "apt_repository",
        &[
            row(Kind::Paths, "/etc/apt/sources.list.d/{@repo_name}.list"),
            row(Kind::Commands, "apt-cache gencaches"),
            row(Kind::Paths, "/etc/apt/keyrings").with("key"),
            row(Kind::Paths, "/etc/apt/keyrings/{@repo_name}.gpg").with("key"),
            row(Kind::Hosts, "{key|server}"),
            row(Kind::Commands, "").with("key"),
        ],
    ),
    (
        "build_essential",
        &[
            row(Kind::Packages, "autoconf"),
            row(Kind::Packages, "binutils-doc"),
            row(Kind::Packages, "bison"),
            row(Kind::Packages, "build-essential"),
            row(Kind::Packages, "flex"),
            row(Kind::Packages, "gettext"),
            row(Kind::Packages, "ncurses-dev"),
        ],
    ),
    (
        "cron_access",
        &[row(Kind::Paths, "/etc/cron.allow").of(&["allow"]), row(Kind::Paths, "/etc/cron.deny").of(&["deny"])],
    ),
    (
        "hostname",
        &[
            row(Kind::Commands, "/bin/hostname {@hostname}"),
            row(Kind::Commands, "hostnamectl set-hostname {@hostname}"),
            row(Kind::Paths, "/etc/hosts"),
            row(Kind::Paths, "/etc/hostname"),
            row(Kind::Facts, "ipaddress").unless("ipaddress"),
        ],
    ),
    (
        "kernel_module",
        &[
            row(Kind::KernelModules, "{@modname|underscores}").of(&[
                "install",
                "uninstall",
                "blacklist",
                "disable",
                "enable",
            ]),
            row(Kind::Paths, "{load_dir}").of(&["install"]),
            row(Kind::Paths, "{load_dir}/{@modname}.conf").of(&["install", "uninstall"]),
            row(Kind::Paths, "{unload_dir}/options_{@modname}.conf").of(&["install", "uninstall"]),
            row(Kind::Paths, "{unload_dir}/blacklist_{@modname}.conf").of(&["blacklist", "uninstall"]),
            row(Kind::Paths, "{unload_dir}/disable_{@modname}.conf").of(&["disable", "enable", "install"]),
            row(Kind::Commands, "update-initramfs -u").of(&["install", "uninstall", "blacklist", "disable", "enable"]),
            row(Kind::Commands, "modprobe {@modname}").of(&["install", "load"]),
            row(Kind::Commands, "modprobe -r {@modname}").of(&["uninstall", "blacklist", "disable", "unload"]),
        ],
    ),
    ("locale", &[row(Kind::Paths, "/etc/locale.conf"), row(Kind::Commands, "")]),
    ("mount", &[row(Kind::Mounts, "{device} on {@mount_point} type {fstype=auto} ({options=defaults|listed})")]),
    (
        "ohai_hint",
        &[
            row(Kind::Paths, "/etc/chef"),
            row(Kind::Paths, "/etc/chef/ohai"),
            row(Kind::Paths, "/etc/chef/ohai/hints"),
            row(Kind::Paths, "/etc/chef/ohai/hints/{@hint_name|json}"),
        ],
    ),
    ("openssl_dhparam", &OPENSSL),
    ("openssl_ec_private_key", &OPENSSL),
    ("openssl_ec_public_key", &OPENSSL),
    ("openssl_ec_public_key", &[row(Kind::ReadPaths, "{private_key_path}")]),
    ("openssl_rsa_private_key", &OPENSSL),
    ("openssl_rsa_public_key", &OPENSSL),
    ("openssl_rsa_public_key", &[row(Kind::ReadPaths, "{private_key_path}")]),
    ("openssl_x509_certificate", &OPENSSL),
    (
        "openssl_x509_certificate",
        &[
            row(Kind::Paths, "{key_file}"),
            row(Kind::Paths, "{@path|key_file}").unless("key_file"),
            row(Kind::ReadPaths, "{ca_cert_file}"),
            row(Kind::ReadPaths, "{ca_key_file}"),
            row(Kind::ReadPaths, "{csr_file}"),
        ],
    ),
    (
        "openssl_x509_crl",
        &[row(Kind::Paths, "{@path}"), row(Kind::ReadPaths, "{ca_cert_file}"), row(Kind::ReadPaths, "{ca_key_file}")],
    ),
    ("openssl_x509_request", &OPENSSL),
    (
        "openssl_x509_request",
        &[row(Kind::Paths, "{key_file}"), row(Kind::Paths, "{@path|key_file}").unless("key_file")],
    ),
    ("reboot", &[row(Kind::Reboot, "true").of(&["reboot_now", "request_reboot"])]),
    (
        "ssh_known_hosts_entry",
        &[
            row(Kind::Paths, "{file_location=/etc/ssh/ssh_known_hosts}"),
            row(Kind::Commands, "ssh-keyscan -t{key_type=rsa} -p {port=22}{hash_entries? -H} {@host}").unless("key"),
        ],
    ),
    (
        "sudo",
        &[
            row(Kind::Paths, "{config_prefix=/etc}/sudoers.d"),
            row(Kind::Paths, "{config_prefix=/etc}/sudoers.d/{@filename|sudoers}"),
            row(
                Kind::Commands,
                "cat {config_prefix=/etc}/sudoers | {visudo_binary=/usr/sbin/visudo} -cf - && {visudo_binary=/usr/sbin/visudo} -cf %{path}",
            ),
            row(Kind::Commands, "cat {config_prefix=/etc}/sudoers %{path} | {visudo_binary=/usr/sbin/visudo} -cf -"),
        ],
    ),
    (
        "swap_file",
        &[
            row(Kind::Commands, "swapoff {@path}").of(&["remove"]),
            row(Kind::Commands, "swapon {@path}").of(&["create"]),
            row(Kind::Commands, "sysctl -w vm.swappiness={swappiness}"),
            row(Kind::Commands, "sysctl -p").with("swappiness"),
            row(Kind::Paths, "/etc/sysctl.d").with("swappiness"),
            row(Kind::Paths, "/etc/sysctl.d/99-chef-vm.swappiness.conf").with("swappiness"),
        ],
    ),
    (
        "sysctl",
        &[
            row(Kind::Paths, "{conf_dir=/etc/sysctl.d}"),
            row(Kind::Paths, "{conf_dir=/etc/sysctl.d}/99-chef-{@key|dots}.conf"),
            row(Kind::Commands, "sysctl {ignore_error?-e }-w {@key}={value|blanks}").of(&["apply"]),
            row(Kind::Commands, "sysctl {ignore_error?-e }-p").of(&["apply"]),
            row(Kind::Commands, "sysctl -p").of(&["remove"]),
        ],
    ),
    (
        "timezone",
        &[
            row(Kind::Packages, "tzdata"),
            row(Kind::Paths, "/etc/localtime"),
            row(Kind::Paths, "/etc/timezone"),
            row(Kind::Commands, "/usr/bin/timedatectl --no-ask-password set-timezone {@timezone}"),
        ],
    ),
    (
        "user_ulimit",
        &[
            row(Kind::Paths, "/etc/security/limits.d/{filename|conf}"),
            row(Kind::Paths, "/etc/security/limits.d/{@username|limits}").unless("filename"),
        ],
    ),
    (
        "yum_repository",
        &[
            row(Kind::Paths, "{reposdir=/etc/yum.repos.d/|folder_of}{@repositoryid}.repo"),
            row(Kind::Packages, "package-cache-reload-{@repositoryid}"),
            row(Kind::Commands, "yum clean metadata --disablerepo=* --enablerepo={@repositoryid}")
                .of(&["create", "add"]),
            row(Kind::Commands, "yum -q -y makecache --disablerepo=* --enablerepo={@repositoryid}").of(&[
                "create",
                "add",
                "makecache",
            ]),
            row(Kind::Commands, "yum clean all --disablerepo=* --enablerepo={@repositoryid}").of(&["delete", "remove"]),
        ],
    ),
];

/// Returns a resource's needs: kinds with names, or with `None` if the names are computed.
pub(super) fn needs(resource: &Resource) -> Vec<(Kind, Option<Vec<String>>)> {
    let of_type = rows(&resource.kind);
    let default = schema::reference::all().find(|found| found.name == resource.kind).map(|found| found.default_action);
    let wanted = match resource.property("action") {
        // Computed actions may be any of the type's actions.
        Some(_) => resource.texts("action").filter(|actions| !actions.is_empty()),
        None => default.map(|action| vec![action.to_owned()]),
    };
    let is_asked = |row: &&Row| {
        let acts = |wanted: &Vec<String>| wanted.iter().any(|action| row.actions.contains(&action.as_str()));
        let is_set = |name: &str| {
            resource.property(name).is_some_and(|property| {
                !property.values.as_ref().is_some_and(|values| values.iter().all(|one| *one == Value::Bool(false)))
            })
        };
        (row.actions.is_empty() || wanted.as_ref().is_none_or(acts))
            && row.unless.is_none_or(|name| resource.property(name).is_none())
            && row.with.is_none_or(is_set)
    };
    let need = |row: &Row| match expanded(row.text, resource) {
        Expanded::Absent => None,
        Expanded::Computed => Some((row.kind, None)),
        Expanded::Known(texts) => Some((row.kind, Some(texts))),
    };
    of_type.filter(is_asked).filter_map(need).collect()
}

/// Returns the kinds of needs that the table lists for a type.
pub(super) fn kinds(resource_type: &str) -> impl Iterator<Item = Kind> {
    rows(resource_type).map(|row| row.kind)
}

fn rows(resource_type: &str) -> impl Iterator<Item = &'static Row> {
    let own = TYPES.iter().filter(move |(kind, _)| *kind == resource_type).flat_map(|(_, rows)| *rows);
    own.chain(if UPDATING_LISTS.contains(&resource_type) { &UPDATE_LISTS[..] } else { &[] })
}

/// The result of filling in a row's text.
enum Expanded {
    /// A property in the text is not set, so there is no need.
    Absent,
    Computed,
    Known(Vec<String>),
}

/// Largest number of texts from one row.
const MAX_TEXTS: usize = 100;

fn expanded(text: &str, resource: &Resource) -> Expanded {
    if text.is_empty() {
        return Expanded::Computed;
    }
    let mut made = vec![String::new()];
    let mut rest = text;
    while let Some((before, after)) = split_at_property(rest) {
        let Some((property, after)) = after.split_once('}') else { break };
        let values = match value(property, resource) {
            Expanded::Known(values) => values,
            other => return other,
        };
        made = made.iter().flat_map(|one| values.iter().map(move |value| format!("{one}{before}{value}"))).collect();
        made.truncate(MAX_TEXTS);
        rest = after;
    }
    Expanded::Known(made.into_iter().map(|one| format!("{one}{rest}")).collect())
}

/// Splits a text at the opening brace of its first property. Other braces, as in `%{path}` and in awk code, stay in the text.
fn split_at_property(text: &str) -> Option<(&str, &str)> {
    let is_property = |at: &usize| {
        let next = text.get(at + 1..).and_then(|rest| rest.chars().next());
        let is_placeholder = text.get(..*at).is_some_and(|before| before.ends_with('%'));
        !is_placeholder
            && next.is_some_and(|letter| letter == '@' || letter.is_ascii_lowercase())
            && !text.get(at + 1..).is_some_and(|rest| rest.starts_with("print "))
    };
    let at = text.match_indices('{').map(|(at, _)| at).find(is_property)?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// The values of a property as a row asks for it, see [`Row::text`].
fn value(asked: &str, resource: &Resource) -> Expanded {
    let (asked, change) = asked.split_once('|').unwrap_or((asked, ""));
    if let Some((name, text)) = asked.split_once('?') {
        let is_true = resource
            .property(name)
            .and_then(|property| property.values.as_deref())
            .is_some_and(|values| values.first() == Some(&Value::Bool(true)));
        return Expanded::Known(vec![if is_true { text.to_owned() } else { String::new() }]);
    }
    let (name, default) = asked.split_once('=').map_or((asked, None), |(name, default)| (name, Some(default)));
    let values = match (name.strip_prefix('@'), resource.property(name.trim_start_matches('@'))) {
        (_, Some(property)) => match &property.values {
            Some(values) => values.iter().map(|value| changed(texts(value), change)).collect(),
            None => return Expanded::Computed,
        },
        (Some(name), None) => match resource.named_by(name) {
            Some(names) => names.into_iter().map(|name| changed(vec![name], change)).collect(),
            None => return Expanded::Computed,
        },
        (None, None) => match default {
            Some(default) => vec![changed(vec![default.to_owned()], change)],
            None => return Expanded::Absent,
        },
    };
    let values: Vec<String> = values.into_iter().flatten().filter(|value| !value.is_empty()).collect();
    if values.is_empty() { Expanded::Absent } else { Expanded::Known(values) }
}

/// A property's value as texts.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Number(number) => vec![number.to_string()],
        Value::Array(all) => all.iter().flat_map(texts).collect(),
        _ => vec![],
    }
}

/// Changes values as the type does before it uses them.
fn changed(values: Vec<String>, change: &str) -> Vec<String> {
    let each = |change: &dyn Fn(&str) -> String| values.iter().map(|value| change(value)).collect();
    match change {
        "blanks" => vec![values.join(" ")],
        "listed" => vec![values.join(",")],
        "dots" => each(&|value| value.replace('/', ".")),
        "underscores" => each(&|value| value.replace('-', "_")),
        "preference" => each(&|value| value.replace('.', "_").replace('*', "wildcard")),
        "literal" => values.into_iter().filter(|value| !value.contains('*')).collect(),
        "json" => each(&|value| format!("{}.json", value.trim_end_matches(".json"))),
        "sudoers" => each(&|value| value.replace(['.', '~'], "__")),
        "conf" => each(&|value| format!("{}.conf", value.trim_end_matches(".conf"))),
        "limits" => each(&|value| match value {
            "*" => "00_all_limits.conf".to_owned(),
            name => format!("{name}_limits.conf"),
        }),
        "folder" => each(&|value| match value.rsplit_once('/') {
            Some(("", _)) | None => "/".to_owned(),
            Some((folder, _)) => folder.to_owned(),
        }),
        "folder_of" => each(&|value| format!("{}/", value.trim_end_matches('/'))),
        "key_file" => each(&|value| {
            let name = value.rsplit('/').next().unwrap_or(value);
            let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
            format!("{}{stem}.key", value.strip_suffix(name).unwrap_or_default())
        }),
        "server" => values.iter().filter_map(|value| super::needs::server(value)).collect(),
        _ => values,
    }
}
