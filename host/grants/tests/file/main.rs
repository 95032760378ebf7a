//! The operator's file: what it may say, what it must not, what is denied without it, and what runs ask of it.

#![cfg(test)]

mod granted;
mod journal;
mod text;

use grants::{CommandAsked, Grants, LineAsked, PolicyGrants};
use std::sync::Arc;

fn policy(table: &str) -> Arc<PolicyGrants> {
    Grants::parse(&format!("[policy.database]\n{table}"), "grants.toml").unwrap().policy("database", &["mysql".into()])
}

fn path(keys: &[&str]) -> Vec<String> {
    keys.iter().map(ToString::to_string).collect()
}

fn shell(line: &str) -> CommandAsked<'_> {
    CommandAsked::plain(LineAsked::Text(line))
}
