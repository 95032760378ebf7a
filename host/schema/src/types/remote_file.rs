//! `remote_file`.

use super::file::{FILE_ACTIONS, FILE_FAMILY};
use super::securable::SECURABLE;
use crate::property::{Coercion, Deputy, Literal, Property, TEXT_OR_LIST};
use crate::resource::{ImplementedBy, ResourceType};
use crate::typed::{Declared, TextMap, properties};

const VERIFY_MODES: &[Literal] = &[Literal::Symbol("verify_none"), Literal::Symbol("verify_peer")];

/// The type that downloads a file over HTTP or HTTPS.
pub static REMOTE_FILE: ResourceType = ResourceType {
    name: "remote_file",
    aliases: &[],
    doc: "Downloads a file over HTTP or HTTPS, or copies one by a `file:` address.",
    actions: &FILE_ACTIONS,
    default_action: "create",
    properties: &[
        &SECURABLE,
        &FILE_FAMILY,
        &[
            Property::of("source", TEXT_OR_LIST, "The address; of a list, the first that answers.")
                .coerce(Coercion::Flattened)
                .deputy(Deputy::Host),
            Property::text(
                "checksum",
                "The SHA-256 digest of the content or its beginning, in hexadecimal: a file that has it is not downloaded again, \
                 a download that has not is refused.",
            ),
            Property::map("headers", "Headers of the request.").default(Literal::Map(&[])).included_in("the server"),
            Property::boolean(
                "use_etag",
                "Whether the server is asked by its last ETag, so that it need not send the file again.",
            )
            .aliases(&["use_etags"])
            .default(Literal::Boolean(true)),
            Property::boolean("use_last_modified", "Whether the server is asked by the time of the last download.")
                .default(Literal::Boolean(true)),
            Property::boolean("use_conditional_get", "Sets `use_etag` and `use_last_modified` together."),
            Property::boolean("ftp_active_mode", "Whether FTP is used in its active mode.")
                .default(Literal::Boolean(false)),
            Property::boolean("show_progress", "Whether progress is shown.").default(Literal::Boolean(false)),
            Property::symbol("ssl_verify_mode", VERIFY_MODES, "Whether the server's certificate is checked.")
                .since("16.2")
                .included_in("the server"),
            Property::text("remote_user", "The user for a share or server that asks for one.").since("13.4"),
            Property::text("remote_domain", "The domain of `remote_user`.").since("13.4"),
            Property::text("remote_password", "The password of `remote_user`.").sensitive().since("13.4"),
            Property::symbol(
                "authentication",
                &[Literal::Symbol("remote"), Literal::Symbol("local")],
                "Whether `remote_user` is known to the other side or to this node.",
            )
            .default(Literal::Symbol("remote")),
            Property::map("http_options", "Further settings of the request.")
                .default(Literal::Map(&[]))
                .since("17.5")
                .included_in("the server"),
        ],
    ],
    implemented_by: ImplementedBy::Host,
    introduced: None,
};

properties! {
    /// The properties that `remote_file` has beyond those of a file.
    pub struct RemoteFileProperties for REMOTE_FILE {
        source: Option<Vec<String>>,
        checksum: Option<String>,
        headers: TextMap,
        use_etag: Declared<bool>,
        use_last_modified: Declared<bool>,
        use_conditional_get: Option<bool>,
        ssl_verify_mode: Option<String>,
        remote_user: Option<String>,
        remote_domain: Option<String>,
        remote_password: Option<String>,
    }
}
