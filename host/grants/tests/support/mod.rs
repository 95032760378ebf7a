//! Grants of one policy.

use grants::{Denied, Grants, PolicyGrants};
use std::sync::Arc;

/// The grants of the policy `database` with this table.
pub(crate) fn policy(table: &str) -> Arc<PolicyGrants> {
    let grants = Grants::parse(&format!("[policy.database]\n{table}"), "grants.toml").unwrap();
    grants.policy("database", &["mysql".into()])
}

/// Runs a check that must be refused, and then again with the line that the denial proposes: that must be enough.
#[track_caller]
pub(crate) fn denied_until_granted<T: std::fmt::Debug>(
    table: &str,
    check: impl Fn(&PolicyGrants) -> Result<T, Denied>,
) -> Denied {
    let denial = check(&policy(table)).expect_err("should be denied");
    let line = denial.line();
    let key = line.split(" = ").next().unwrap();
    let others: String = table
        .lines()
        .filter(|other| !other.starts_with(&format!("{key} =")))
        .map(|other| format!("{other}\n"))
        .collect();
    let merged = match table.lines().find(|other| other.starts_with(&format!("{key} ="))) {
        Some(old) => format!("{}, {}", old.trim_end_matches(']'), line.split_once('[').unwrap().1),
        None => line.clone(),
    };
    let granted = policy(&format!("{others}{merged}\n"));
    check(&granted).unwrap_or_else(|denial| panic!("`{merged}` should be enough: {denial}"));
    denial
}
