//! The `openssl_*` types: keys, certificates and parameters.

use crate::property::{CIPHER_NAME, Deputy, INTEGER_OR_TEXT, Literal, Property, TEXT_OR_INTEGER};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::properties;

const OWNER: Property = Property::of("owner", TEXT_OR_INTEGER, "The file's owner.").included_in("the file");
const GROUP: Property = Property::of("group", TEXT_OR_INTEGER, "The file's group.").included_in("the file");
const MODE: Property = Property { is: Some(INTEGER_OR_TEXT), ..Property::mode("mode", "The file's permission bits.") };
const PATH: Property = Property::text("path", "The file's path.").name_property().identity();
const KEY_PASS: Property = Property::text("key_pass", "The password of the key.").sensitive();
const FORCE: Property =
    Property::boolean("force", "Whether a key that is there is replaced.").default(Literal::Boolean(false)).no_state();
const KEY_CIPHER: Property = Property::text("key_cipher", "The cipher that protects the key by its password.")
    .callbacks(&[CIPHER_NAME])
    .default(Literal::Text("des3"));
const KEY_LENGTHS: &[Literal] =
    &[Literal::Integer(1024), Literal::Integer(2048), Literal::Integer(4096), Literal::Integer(8192)];
const KEY_LENGTH: Property =
    Property::integer("key_length", "The key's length in bits.").equal_to(KEY_LENGTHS).default(Literal::Integer(2048));
const KEY_CURVE: Property = Property::text("key_curve", "The curve of an `ec` key.")
    .equal_to(&[Literal::Text("secp384r1"), Literal::Text("secp521r1"), Literal::Text("prime256v1")])
    .default(Literal::Text("prime256v1"));
const KEY_FILE: Property =
    Property::text("key_file", "The file of an existing key; one is made if unset.").deputy(Deputy::ReadPath);
const KEY_TYPE: Property =
    Property::text("key_type", "The kind of key.").equal_to(&[Literal::Text("rsa"), Literal::Text("ec")]);

/// The subject of a certificate or request.
static SUBJECT: [Property; 7] = [
    Property::text("country", "The country of the subject."),
    Property::text("state", "The state of the subject."),
    Property::text("city", "The city of the subject."),
    Property::text("org", "The organisation of the subject."),
    Property::text("org_unit", "The unit of the organisation."),
    Property::text("common_name", "The subject's name."),
    Property::text("email", "The subject's mail address."),
];

/// The properties of all key files.
static OWNED_FILE: [Property; 4] = [PATH, OWNER, GROUP, MODE];

static CREATE: [Action; 1] = [action("create", "Makes the file, or makes it anew where it does not fit.")];

macro_rules! openssl_types {
    ($($(#[$doc:meta])* $constant:ident, $name:literal, $aliases:expr, $introduced:literal, $sentence:literal, [$($group:expr),*];)*) => {$(
        $(#[$doc])*
        pub static $constant: ResourceType = ResourceType {
            name: $name,
            aliases: $aliases,
            doc: $sentence,
            actions: &CREATE,
            default_action: "create",
            properties: &[$($group),*],
            implemented_by: ImplementedBy::Children,
            introduced: Some($introduced),
        };
    )*};
}

openssl_types! {
    /// Makes parameters for key exchange.
    DHPARAM, "openssl_dhparam", &[], "14.0", "Makes a file with parameters for Diffie-Hellman key exchange.", [
        &OWNED_FILE,
        &[
            MODE.default(Literal::Text("0640")),
            KEY_LENGTH.validation_message("key_length must be 1024, 2048, 4096, or 8192."),
            Property::integer("generator", "The generator.")
                .equal_to(&[Literal::Integer(2), Literal::Integer(5)])
                .validation_message("generator must be either 2 or 5.")
                .default(Literal::Integer(2)),
        ]
    ];
    /// Makes a private key on an elliptic curve.
    EC_PRIVATE_KEY, "openssl_ec_private_key", &[], "14.4", "Makes a private key on an elliptic curve.", [
        &OWNED_FILE,
        &[
            MODE.default(Literal::Text("0600")),
            KEY_CURVE.equal_to(&[
                Literal::Text("secp384r1"),
                Literal::Text("secp521r1"),
                Literal::Text("prime256v1"),
                Literal::Text("secp224r1"),
                Literal::Text("secp256k1"),
            ]),
            KEY_PASS,
            KEY_CIPHER,
            FORCE,
        ]
    ];
    /// Makes the public key of a private one on an elliptic curve.
    EC_PUBLIC_KEY, "openssl_ec_public_key", &[], "14.4", "Makes the public key of a private key on an elliptic curve.", [
        &OWNED_FILE,
        &PUBLIC_KEY
    ];
    /// Makes a private RSA key.
    RSA_PRIVATE_KEY, "openssl_rsa_private_key", &["openssl_rsa_key"], "14.0", "Makes a private RSA key.", [
        &OWNED_FILE,
        &[
            MODE.default(Literal::Text("0600")),
            KEY_LENGTH.validation_message("key_length (bits) must be 1024, 2048, 4096, or 8192!"),
            KEY_PASS,
            KEY_CIPHER,
            FORCE,
        ]
    ];
    /// Makes the public key of a private RSA key.
    RSA_PUBLIC_KEY, "openssl_rsa_public_key", &[], "14.0", "Makes the public key of a private RSA key.", [
        &OWNED_FILE,
        &PUBLIC_KEY
    ];
    /// Makes a certificate, signed by itself or by a given authority.
    X509_CERTIFICATE, "openssl_x509_certificate", &["openssl_x509"], "14.4",
        "Makes a certificate, signed by itself or by a given authority.", [
        &OWNED_FILE,
        &SUBJECT,
        &[
            Property::integer("expire", "How many days the certificate is good.").default(Literal::Integer(365)),
            Property::integer("renew_before_expiry", "How many days before its end the certificate is made anew.").since("15.7"),
            Property::map("extensions", "Extensions: names, each with `values` and `critical`.").default(Literal::Map(&[])),
            Property::list("subject_alt_name", "Further names of the subject, such as `DNS:example.com`.")
                .default(Literal::List(&[])),
            KEY_FILE,
            KEY_PASS,
            KEY_TYPE.default(Literal::Text("rsa")),
            KEY_LENGTH,
            KEY_CURVE,
            Property::text("csr_file", "The file of a request to sign.").deputy(Deputy::ReadPath),
            Property::text("ca_cert_file", "The certificate of the authority that signs.").deputy(Deputy::ReadPath),
            Property::text("ca_key_file", "The key of the authority that signs.").deputy(Deputy::ReadPath),
            Property::text("ca_key_pass", "The password of that key.").sensitive(),
        ]
    ];
    /// Makes a list of revoked certificates.
    X509_CRL, "openssl_x509_crl", &[], "14.4", "Makes an authority's list of revoked certificates.", [
        &OWNED_FILE,
        &[
            Property::of("serial_to_revoke", INTEGER_OR_TEXT, "The number of a certificate to revoke."),
            Property::integer("revocation_reason", "The reason, by its number.").default(Literal::Integer(0)),
            Property::integer("expire", "How many days the list is good.").default(Literal::Integer(8)),
            Property::integer("renewal_threshold", "How many days before its end the list is made anew.")
                .default(Literal::Integer(1)),
            Property::text("ca_cert_file", "The authority's certificate.").required().deputy(Deputy::ReadPath),
            Property::text("ca_key_file", "The authority's key.").required().deputy(Deputy::ReadPath),
            Property::text("ca_key_pass", "The password of that key.").sensitive(),
        ]
    ];
    /// Makes a request for a certificate.
    X509_REQUEST, "openssl_x509_request", &[], "14.4", "Makes a request for a certificate.", [
        &OWNED_FILE,
        &SUBJECT,
        &[
            Property::text("common_name", "The subject's name.").required(),
            KEY_FILE,
            KEY_PASS,
            KEY_TYPE.default(Literal::Text("ec")),
            KEY_LENGTH,
            KEY_CURVE,
        ]
    ];
}

static PUBLIC_KEY: [Property; 4] = [
    MODE.default(Literal::Text("0640")),
    Property::text("private_key_path", "The private key's file.").deputy(Deputy::ReadPath),
    Property::text("private_key_content", "The private key itself.").sensitive(),
    Property::text("private_key_pass", "The password of the private key.").sensitive(),
];

properties! {
    /// The properties that all files of keys and certificates have.
    pub struct KeyFileProperties for DHPARAM {
        path: String,
        owner: Option<serde_json::Value>,
        group: Option<serde_json::Value>,
        mode: Option<serde_json::Value>,
    }
}

properties! {
    /// The properties that both types of private keys have beside their file's.
    pub struct PrivateKeyProperties for RSA_PRIVATE_KEY {
        key_pass: Option<String>,
        key_cipher: String,
        force: bool,
    }
}

properties! {
    /// The size of a key of `openssl_rsa_private_key`.
    pub struct RsaKeyProperties for RSA_PRIVATE_KEY {
        key_length: i64,
    }
}

properties! {
    /// The curve of a key of `openssl_ec_private_key`.
    pub struct EcKeyProperties for EC_PRIVATE_KEY {
        key_curve: String,
    }
}

properties! {
    /// The properties of `openssl_dhparam` beside its file's.
    pub struct DhparamProperties for DHPARAM {
        key_length: i64,
        generator: i64,
    }
}

properties! {
    /// The properties of both types of public keys beside their file's.
    pub struct PublicKeyProperties for RSA_PUBLIC_KEY {
        private_key_path: Option<String>,
        private_key_content: Option<String>,
        private_key_pass: Option<String>,
    }
}

properties! {
    /// The properties of certificates and requests: their subject, and its key.
    pub struct SubjectProperties for X509_CERTIFICATE {
        country: Option<String>,
        state: Option<String>,
        city: Option<String>,
        org: Option<String>,
        org_unit: Option<String>,
        common_name: Option<String>,
        email: Option<String>,
        key_file: Option<String>,
        key_pass: Option<String>,
        key_type: String,
        key_length: i64,
        key_curve: String,
    }
}

properties! {
    /// The properties that `openssl_x509_certificate` has beside those of requests.
    pub struct CertificateProperties for X509_CERTIFICATE {
        expire: i64,
        renew_before_expiry: Option<i64>,
        extensions: serde_json::Value,
        subject_alt_name: Vec<String>,
        csr_file: Option<String>,
        ca_cert_file: Option<String>,
        ca_key_file: Option<String>,
        ca_key_pass: Option<String>,
    }
}

properties! {
    /// The properties of `openssl_x509_crl` beside its file's.
    pub struct CrlProperties for X509_CRL {
        serial_to_revoke: Option<serde_json::Value>,
        revocation_reason: i64,
        expire: i64,
        renewal_threshold: i64,
        ca_cert_file: String,
        ca_key_file: String,
        ca_key_pass: Option<String>,
    }
}
