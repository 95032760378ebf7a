//! The system's resources, really run: in throw-away roots, with the real tools, on packages made here so that no mirror
//! is needed.

#![cfg(test)]

mod account_attacks;
mod accounts;
mod accounts_attacks;
mod along;
mod archive;
mod cron;
mod given_away;
mod keys;
mod mirror;
mod mount;
mod node;
mod package;
mod rpm;
mod service;
mod systemd_unit;
mod uncertain;
mod verified;
