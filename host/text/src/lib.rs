//! The words that rooms share: near names, numbers of things, the characters that may reach a terminal or a log, hexadecimal digests, TOML
//! quoting, the number of values in JSON, chains of errors, words of a shell, which build of a policy is meant, and credentials in addresses. Pure, and without dependencies, so that every room can use it.

mod chain;
mod complaints;
mod counted;
mod credentials;
mod hex;
mod json;
mod near;
mod paths;
mod shell;
mod shown;
mod toml;
mod toml_faults;
mod versions;

pub use chain::error_chain;
pub use complaints::plainly;
pub use counted::counted;
pub use credentials::{has_credentials, without_credentials};
pub use hex::{hex, unhex};
pub use json::{check_json_values, json_values};
pub use near::{did_you_mean, did_you_mean_type, nearest};
pub use paths::absolute_paths;
pub use shell::shell_word;
pub use shown::{cut, escape, escape_json, escape_line, is_hidden};
pub use toml::{toml_key, toml_string};
pub use toml_faults::toml_fault;
pub use versions::versions;
