//! `cargo xtask hostile`: runs every attack of the hostile test guest against the default limits of a policy. The attacker is
//! the middle one of three policies.
//!
//! The tests run the same recipes with low limits, so that they take seconds. Here each attack has the default limits: up to
//! a minute of processor time and hundreds of megabytes.

use anyhow::{Context as _, Result, bail, ensure};

use crate::beside::{self, Field};
use crate::{checkout, guests, say};

/// Number of files that each neighbour creates.
const FILES: u32 = 200;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Recipes of the guest `hostile`. All of them if none is named
    attacks: Vec<String>,
}

/// Builds the program and the guests, and runs each attack.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if let Some(sentence) = specs::base::missing_prerequisite() {
        bail!(sentence);
    }
    let program = checkout::build_program()?;
    guests::build_fixtures(&guests::find_compiler()?)?;
    specs::base::base_root(&mut say::line)?;
    let tool = std::env::current_exe().context("this program cannot be found")?;
    let all = beside::attacks()?;
    let chosen = if arguments.attacks.is_empty() { &all } else { &arguments.attacks };
    let unknown: Vec<&str> = chosen.iter().filter(|one| !all.contains(one)).map(String::as_str).collect();
    ensure!(unknown.is_empty(), "the guest `hostile` has no recipe {}; it has {}", unknown.join(", "), all.join(", "));
    let field = Field { program, tool, files: FILES, limits: "" };
    let mut harmed = Vec::new();
    for attack in chosen {
        let outcome = field.attack(attack)?;
        let broken = outcome.broken();
        let held = if broken.is_empty() { "held".to_owned() } else { format!("NOT HELD: {}", broken.join("; ")) };
        let (megabytes, left) = (outcome.kilobytes / 1_000, outcome.left / 1_000);
        let figures = format!("{:>7.1} s {megabytes:>6} MB {left:>8} kB left", outcome.seconds);
        say::result(&format!("{attack:<24} {figures}   {held}"));
        if !broken.is_empty() {
            harmed.push(attack.as_str());
        }
    }
    ensure!(harmed.is_empty(), "these did harm: {}", harmed.join(", "));
    Ok(())
}
