//! The operator's grants for each policy. Checks return proofs.
//!
//! The operator's file (`/etc/wrun/grants.toml`, described in `docs/grants.md`) has a table per policy. Absent and empty mean
//! the same: denied. A check ([`PolicyGrants::manage_path`] and its siblings) returns a value with private fields, and
//! effects accept only such values. So no effect is possible without its check. A function `is_allowed(..) -> bool` does not
//! exist: its result could be ignored, or concern another path than the opened one.
//!
//! Of several rules that match, the most specific wins; between equally specific ones, a deny wins. Wide rules do not cover
//! *privileged* things ([`privileged`]): files and accounts that root or the system runs, reads as code, or trusts. Those
//! need their exact name, or a rule in the list for privileged paths. Below directories that many applications share, a rule
//! with wildcards covers nothing unless it names an application's directory ([`reach`]).
//!
//! Every decision is written to the `tracing` target `audit`, within a limit for each policy ([`audit`]).

mod addresses;
mod attributes;
mod audit;
mod breadth;
mod check;
mod commands;
mod covering;
mod denied;
mod downloads;
mod edit;
mod facts;
mod file;
mod file_cache;
mod homes;
mod journal;
mod limits;
mod mounts;
mod names;
mod needs;
mod opens;
mod own_parts;
mod package_tools;
mod paths;
mod pattern;
mod plain_names;
mod policy;
mod privileged;
mod proofs;
mod reach;
mod risk;
mod rules;
mod signs;
mod tidy;
mod words;

pub use addresses::is_local_address;
pub use breadth::OpenPaths;
pub use check::{RulePlace, ShortRule};
pub use commands::{CommandAsked, CommandGrant, LineAsked, entry_of_command, script_entry};
pub use denied::{Capability, Denied, table_name};
pub use edit::{Addition, AdditionFault, Edited, EditedKey, NewLines, add};
pub use facts::{HARMLESS_FACTS, OnHiddenFact, is_harmless_fact};
pub use file::GrantsError;
pub use file_cache::file_cache;
pub use journal::{Asker, Denial, Journal, MAX_VALUE, WhoAsks};
pub use limits::{Limit, LimitDefault, LimitSetting, LimitUnit, Limits, RaisedLimit, raised_limits};
pub use mounts::MountAsked;
pub use needs::{CheckedNeed, NeedAnswer, Needs};
pub use opens::keys_of_interfaces;
pub use package_tools::{PackageTool, are_harmless_options, is_harmless_answer};
pub use policy::{Grants, OwnPlaces, PolicyGrants, SENSITIVE_HINT};
pub use privileged::Standing;
pub use proofs::{
    GrantedAttribute, GrantedCommand, GrantedEnvironment, GrantedGroup, GrantedMode, GrantedModule, GrantedMount,
    GrantedName, GrantedOptions, GrantedPackage, GrantedPath, GrantedReboot, GrantedRepository, GrantedService,
    GrantedTree, GrantedUrl, GrantedUser, Program, ReadablePath,
};
pub use risk::{
    AtPath, FirstLink, MachineQueries, MachineView, Reason, RiskClass, in_question, places, risk_comments, risks,
};
pub use words::split_words;
