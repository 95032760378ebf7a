//! Tests policies: runs their recipes with facts, attributes and grants from the test.
//!
//! A test is an ordinary `#[test]` below `tests/` of the policy or of one of its cookbooks, run by `cargo test`. It needs no
//! special rights and changes nothing. The program `wrun` (from `PATH`, or from the variable `WRUN`) builds the policy and
//! makes a dry run for each test, in an empty folder. The default facts are those of a Debian 12 machine. Results of commands
//! and versions of packages come from the test. The run neither starts commands nor downloads packages.
//!
//! ```no_run
//! use wrun_sdk::testing::policy;
//!
//! #[test]
//! fn the_port_is_written() {
//!     let run = policy().attribute("web.port", 8080).run().succeeded();
//!     assert!(run.file("/etc/nginx/sites-enabled/default").contains("listen 8080;"));
//!     assert_eq!(run.resource("service[nginx]")["actions"], "enable start".split(' ').collect::<Vec<_>>());
//!     assert_eq!(run.action("service[nginx]", "reload")["status"], "updated");
//! }
//! ```
//!
//! A run without the necessary grants reports the missing ones:
//!
//! ```no_run
//! use wrun_sdk::testing::policy;
//!
//! #[test]
//! fn it_needs_one_path_only() {
//!     let run = policy().grants("[policy.web]\npaths = [\"/etc/nginx/**\"]\n").run();
//!     assert_eq!(run.error().as_deref(), None);
//! }
//!
//! #[test]
//! fn without_the_path_it_is_denied() {
//!     let run = policy().grants("[policy.web]\n").run();
//!     let message = run.denials()[0]["message"].as_str().unwrap();
//!     assert!(message.starts_with("may not manage path /etc/nginx/"), "{message}");
//! }
//! ```

mod case;
mod run;
mod server;

pub use case::{Case, policy, policy_at};
pub use run::Run;

use serde_json::Value;

/// Returns the facts of a Debian 12 machine (bookworm), as `wrun facts` printed them.
pub fn debian_12() -> Value {
    read(include_str!("testing/facts/debian-12.json"))
}

/// Returns the facts of a Debian 13 machine (trixie), as `wrun facts` printed them.
pub fn debian_13() -> Value {
    read(include_str!("testing/facts/debian-13.json"))
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}
