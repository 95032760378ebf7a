//! gpg as a reader of keys that come from a policy or a server.
//!
//! Without a command, gpg does what its input asks for: it unpacks a message beside the file. It also follows the settings in
//! its home directory. So it always gets a command, reads standard input or a file that no other process sees, has an empty
//! home directory of its own, and must run confined.

use machine::command::{Launch, PLACED};

/// The options that make gpg only read. Its home directory is the private directory of a confined program.
const ONLY_READING: [&str; 11] = [
    "--quiet",
    "--no-options",
    "--homedir",
    PLACED,
    "--batch",
    "--no-autostart",
    "--no-default-keyring",
    "--lock-never",
    "--no-auto-check-trustdb",
    "--trust-model",
    "always",
];

/// The name of a key ring in the private directory.
const RING: &str = "ring.gpg";

/// Returns the call that lists the keys in a text, for [`public_keys`].
pub(crate) fn keys_of(text: Vec<u8>) -> Launch {
    let words = ONLY_READING.into_iter().chain(["--with-colons", "--show-keys"]);
    // The private directory is there only if it has a file.
    Launch::program("gpg", words).placed("empty", vec![]).input(text)
}

/// Returns the call that lists one key of a ring for people. It fails if the ring does not have the key.
pub(crate) fn key_of_ring(ring: Vec<u8>, number: &str) -> Launch {
    let ring_path = format!("{PLACED}/{RING}");
    let words = ONLY_READING.into_iter().chain(["--keyring", &ring_path, "--list-public-keys", "--", number]);
    Launch::program("gpg", words).placed(RING, ring)
}

/// Returns the public keys in a listing, each with its kind, number and date.
pub(crate) fn public_keys(listed: &str) -> Vec<String> {
    let keys = listed.lines().filter(|line| line.starts_with("pub:"));
    keys.map(|line| line.split(':').take(6).collect::<Vec<_>>().join(":")).collect()
}

/// Tells whether a listing has a key, public or secret.
pub(crate) fn has_keys(listed: &str) -> bool {
    listed.lines().any(|line| line.starts_with("pub:") || line.starts_with("sec:"))
}
