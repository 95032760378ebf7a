//! Composite types, one file each: their actions are made of other resources.
//!
//! A composite reads its properties and returns declarations, which the runner converges as children of the action. Each child
//! needs its own grants, is reported by itself, and is planned in a dry run like any other resource.
//!
//! Names and values from the guest end up in paths, in arguments of commands and in lines of files. Each composite checks
//! them for its own case, with the functions of [`text`]. Commands are lists of arguments, never lines for a shell;
//! [`openssl`] explains its exceptions. Files and values that a policy may not see never influence the result: see
//! [`Machine`].

mod alternatives;
mod apt_preference;
mod apt_repository;
mod apt_update;
mod build_essential;
mod cron_access;
mod hostname;
mod kernel_module;
mod locale;
mod machine;
mod ohai_hint;
mod openssl;
mod ssh_known_hosts_entry;
mod sudo;
mod swap_file;
mod sysctl;
mod text;
mod timezone;
mod user_ulimit;
mod yum_repository;

pub(crate) use hostname::line_of as line_of_hostname;
pub(crate) use machine::Machine;

use contract::{
    Change, Child, ChildRow, Composition, Declaration, ErrorKind, Guard, Known, Property, Raised, ResourceRef, Test,
    Timing, Wanted, Wish,
};
use serde_json::{Value, json};

/// A type whose actions are made of other resources.
pub(crate) trait Composite: Sync {
    /// Returns the parts of an action. Never changes anything.
    ///
    /// # Errors
    /// The properties are invalid, or the machine cannot be read.
    fn compose(&self, wanted: &Wanted<'_>, machine: &mut Machine<'_, '_>) -> Result<Composition, Raised>;

    /// Returns the file that an action manages, if its composition may lack a child for it: if there is nothing to do.
    fn own_file(&self, _wanted: &Wanted<'_>) -> Option<OwnFile> {
        None
    }
}

/// The file that an action writes or removes.
pub(crate) struct OwnFile {
    pub(crate) path: String,
    /// The text, if the action writes one that is known beforehand.
    pub(crate) text: Option<String>,
}

/// Returns the composite of a type, or `None` if the type has a provider of its own.
pub(crate) fn find(kind: &str) -> Option<&'static dyn Composite> {
    Some(match kind {
        "alternatives" => &alternatives::Alternatives,
        "apt_preference" => &apt_preference::AptPreference,
        "apt_repository" => &apt_repository::AptRepository,
        "apt_update" => &apt_update::AptUpdate,
        "build_essential" => &build_essential::BuildEssential,
        "cron_access" => &cron_access::CronAccess,
        "hostname" => &hostname::Hostname,
        "kernel_module" => &kernel_module::KernelModule,
        "locale" => &locale::Locale,
        "ohai_hint" => &ohai_hint::OhaiHint,
        "openssl_dhparam" => &openssl::Dhparam,
        "openssl_ec_private_key" => &openssl::PrivateKey(openssl::Kind::Ec),
        "openssl_ec_public_key" => &openssl::PublicKey(openssl::Kind::Ec),
        "openssl_rsa_private_key" => &openssl::PrivateKey(openssl::Kind::Rsa),
        "openssl_rsa_public_key" => &openssl::PublicKey(openssl::Kind::Rsa),
        "openssl_x509_certificate" => &openssl::Certificate,
        "openssl_x509_crl" => &openssl::RevocationList,
        "openssl_x509_request" => &openssl::Request,
        "ssh_known_hosts_entry" => &ssh_known_hosts_entry::SshKnownHostsEntry,
        "sudo" => &sudo::Sudo,
        "swap_file" => &swap_file::SwapFile,
        "sysctl" => &sysctl::Sysctl,
        "timezone" => &timezone::Timezone,
        "user_ulimit" => &user_ulimit::UserUlimit,
        "yum_repository" => &yum_repository::YumRepository,
        _ => return None,
    })
}

/// Returns an action that consists of its children. Each child has its own row in the report.
fn children(children: impl IntoIterator<Item = Declaration>) -> Composition {
    Composition { children: children.into_iter().map(always).collect(), ..Composition::default() }
}

/// Returns an action with its own report sentences.
fn change(sentences: impl IntoIterator<Item = String>, children: Vec<Child>) -> Composition {
    Composition { changes: sentences.into_iter().map(Change::new).collect(), children, ..Composition::default() }
}

/// Returns a child that has a row in the report of every run.
fn always(declaration: Declaration) -> Child {
    Child { declaration, row: ChildRow::Always }
}

/// Returns a child that has a row only in reports of real runs. A dry run shows the action's own sentences instead.
fn in_real_runs(declaration: Declaration) -> Child {
    Child { declaration, row: ChildRow::RealRuns }
}

/// Returns a child without a row in the report: a step of the action itself.
fn step(declaration: Declaration) -> Child {
    Child { declaration, row: ChildRow::Never }
}

/// Declares a child with its type, name, action and properties.
fn child<const N: usize>(kind: &str, name: &str, action: &str, properties: [(&str, Value); N]) -> Declaration {
    Declaration {
        kind: kind.to_owned(),
        name: name.to_owned(),
        actions: vec![action.to_owned()],
        properties: properties.map(|(name, value)| (name.to_owned(), Property::Plain(value))).into(),
        ..Declaration::default()
    }
}

/// Declares a command by its program and arguments.
fn command(name: &str, action: &str, words: &[&str]) -> Declaration {
    child("execute", name, action, [("command", json!(words))])
}

/// Declares a command with Chef's default environment (`default_env`).
fn command_in_default_environment(name: &str, action: &str, words: &[&str]) -> Declaration {
    with(command(name, action, words), "default_env", json!(true))
}

/// Adds a property to a child.
fn with(mut child: Declaration, property: &str, value: Value) -> Declaration {
    child.properties.push((property.to_owned(), Property::Plain(value)));
    child
}

/// Makes a child notify another one when it changes.
fn notifying(mut child: Declaration, timing: Timing, receiver: &str, action: &str) -> Declaration {
    let other = ResourceRef::Key(receiver.to_owned());
    child.notifications.push(Wish { action: action.to_owned(), other, timing, subscribes: false });
    child
}

/// Adds a `not_if` with a known result to a child. Surveys ignore it, as they ignore every guard.
fn not_if(decided: bool, mut child: Declaration) -> Declaration {
    child.guards.push(Guard { negated: true, test: Test::Decided(decided) });
    child
}

/// Returns the content of the file if the policy has rendered it itself.
fn rendered(wanted: &Wanted<'_>) -> Option<Property> {
    Some(match wanted.get("content")? {
        Known::Json(value) => Property::Plain(value.clone()),
        Known::Bytes(bytes) => Property::Bytes(bytes.to_vec()),
    })
}

/// Sets the content of a file to a text that the policy has rendered.
fn with_text(mut file: Declaration, text: Property) -> Declaration {
    file.properties.push(("content".to_owned(), text));
    file
}

fn invalid(message: impl Into<String>) -> Raised {
    Raised::new(ErrorKind::InvalidValue, message)
}

/// Returns the error for missing properties, as Chef raises it: a `raise` without a class.
fn runtime_error(message: impl Into<String>) -> Raised {
    Raised::new(ErrorKind::Failed, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_composite_of_the_schema_is_here_and_has_no_provider() {
        for resource in schema::builtin() {
            let is_composite = schema::is_composite(resource.name);
            assert_eq!(find(resource.name).is_some(), is_composite, "{}", resource.name);
            assert!(!(is_composite && crate::resources::provider(resource.name).is_some()), "{}", resource.name);
        }
    }
}
