//! The benchmark scenario "beside an attack": how much each attack of the hostile test guest slows down the other policies.
//!
//! The attacker has low limits here, so that all attacks take only minutes; `cargo xtask hostile` runs them with the normal
//! limits. Each repetition runs the two other policies without the attacker and with it. The shortest times of all
//! repetitions are compared, since other load on the machine can only increase a time.

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use crate::beside::{self, Field, Outcome};
use crate::say;

/// The prefix before the attack's name that `--only` is compared with.
const NAME: &str = "beside an attack";

/// Largest allowed time of the policies beside an attack, as a multiple of their time without it.
const GOAL: f64 = 1.2;

/// Number of files that each policy beside the attacker creates.
const FILES: u32 = 1_000;

/// The attacker's limits: seconds instead of minutes. Memory and disk have the normal limits.
const LIMITS: &str = "guest_seconds = 2\nhost_seconds = 5\npause_seconds = 1";

/// All repetitions of one attack.
pub(super) struct Figure {
    attack: String,
    /// The shortest time of the other policies without the attacker, in milliseconds.
    alone: f64,
    /// Their shortest time with it, as a multiple of that.
    slower: f64,
    /// Largest resident set of all repetitions, in kilobytes.
    kilobytes: u64,
    left: u64,
    broken: Vec<String>,
}

/// Measures all attacks with names that contain `only`, and prints each figure when it is ready.
pub(super) fn figures(program: &Path, tool: &Path, runs: usize, only: Option<&str>, told: bool) -> Result<Vec<Figure>> {
    let chosen = |attack: &String| only.is_none_or(|text| format!("{NAME}: {attack}").contains(text));
    let attacks: Vec<String> = beside::attacks()?.into_iter().filter(chosen).collect();
    let field = Field { program: program.to_owned(), tool: tool.to_owned(), files: FILES, limits: LIMITS };
    let mut figures = Vec::new();
    if told && !attacks.is_empty() {
        say::result(&format!("{NAME:<24}        alone   ratio     memory      disk"));
    }
    for attack in attacks {
        let all: Vec<Outcome> = (0..runs).map(|_| field.attack(&attack)).collect::<Result<_>>()?;
        let figure = Figure::new(attack, &all);
        if told {
            say::result(&figure.line());
        }
        figures.push(figure);
    }
    Ok(figures)
}

impl Figure {
    fn new(attack: String, all: &[Outcome]) -> Self {
        let mut broken: Vec<String> = all.iter().flat_map(Outcome::broken).collect();
        broken.sort();
        broken.dedup();
        let least = |time: fn(&Outcome) -> f64| all.iter().map(time).fold(f64::INFINITY, f64::min);
        let alone = least(|one| one.own.0);
        Self {
            attack,
            alone: alone * 1e3,
            slower: least(|one| one.own.1) / alone,
            kilobytes: all.iter().map(|one| one.kilobytes).max().unwrap_or(0),
            left: all.iter().map(|one| one.left).max().unwrap_or(0),
            broken,
        }
    }

    fn reached(&self) -> bool {
        self.slower <= GOAL && self.broken.is_empty()
    }

    fn line(&self) -> String {
        let verdict = if self.slower <= GOAL { "reached" } else { "MISSED" };
        let broken =
            if self.broken.is_empty() { String::new() } else { format!("; MISSED: {}", self.broken.join("; ")) };
        format!(
            "{:<24} {:>9.1} ms {:>7.2} {:>7.1} MB {:>6} kB   goal {GOAL}: {verdict}{broken}",
            self.attack,
            self.alone,
            self.slower,
            self.kilobytes as f64 / 1e3,
            self.left / 1_000,
        )
    }

    /// Returns the figure as JSON for programs.
    pub(super) fn to_json(&self) -> Value {
        json!({
            "attack": self.attack,
            "alone": {"seconds": self.alone / 1e3},
            "ratio": self.slower,
            "kilobytes": self.kilobytes,
            "bytes_left": self.left,
            "broken": self.broken,
            "goal_reached": self.reached(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attack_is_judged_by_its_shortest_times_and_by_its_worst_promises() {
        let once = |with: f64, kilobytes: u64, code: i64| Outcome {
            code: Some(code),
            next: Some(0),
            own: (0.1, with),
            kilobytes,
            budget: (1_000_000, 1_000),
            ..Outcome::default()
        };
        let held = Figure::new("loop".into(), &[once(0.5, 10, 1), once(0.9, 30, 1), once(0.11, 20, 1)]);
        assert!(held.reached() && held.kilobytes == 30, "{}", held.line());
        assert!((held.slower - 1.1).abs() < 1e-9);
        let slow = Figure::new("loop".into(), &[once(0.2, 10, 1)]);
        assert!(!slow.reached() && slow.line().contains("MISSED"), "{}", slow.line());
        let ended = Figure::new("loop".into(), &[once(0.1, 10, 1), once(0.1, 10, 101)]);
        assert!(!ended.reached() && ended.line().contains("the run ended with Some(101)"), "{}", ended.line());
    }
}
