//! Computes and prints medians of several runs and the ratios of each repetition.

use serde_json::{Value, json};

use super::scenarios::{Goal, Scenario, Work};
use crate::say;

/// The measurements of one run of a process.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measured {
    pub(super) seconds: f64,
    /// The largest resident set, in kilobytes.
    pub(super) kilobytes: u64,
}

/// The measurements of a first and a second run.
pub(super) type Pair = [Measured; 2];

/// One repetition of a scenario.
pub(super) struct Repetition {
    pub(super) wrun: Pair,
    pub(super) baseline: Option<Pair>,
    pub(super) floor: Pair,
}

/// The medians of one scenario's first or second run.
pub(super) struct Figure {
    scenario: &'static Scenario,
    second_run: bool,
    wrun: Measured,
    baseline: Option<Compared>,
    floor: Measured,
}

/// Another build's figures, and the ratios of this build's figures to them: the medians of each repetition's ratios.
struct Compared {
    measured: Measured,
    time: f64,
    memory: f64,
}

impl Figure {
    pub(super) fn new(scenario: &'static Scenario, second_run: bool, all: &[Repetition]) -> Self {
        let of = |[first, second]: Pair| if second_run { second } else { first };
        let pairs = all.iter().filter_map(|one| Some((of(one.wrun), of(one.baseline?))));
        let pairs: Vec<(Measured, Measured)> = pairs.collect();
        let baseline = (!pairs.is_empty()).then(|| Compared {
            measured: median(pairs.iter().map(|(_, baseline)| *baseline).collect()),
            time: middle(pairs.iter().map(|(wrun, baseline)| wrun.seconds / baseline.seconds).collect()),
            memory: middle(
                pairs.iter().map(|(wrun, baseline)| wrun.kilobytes as f64 / baseline.kilobytes as f64).collect(),
            ),
        });
        Self {
            scenario,
            second_run,
            wrun: median(all.iter().map(|one| of(one.wrun)).collect()),
            baseline,
            floor: median(all.iter().map(|one| of(one.floor)).collect()),
        }
    }

    fn ratio(&self) -> f64 {
        self.wrun.seconds / self.floor.seconds
    }

    /// Returns a sentence if the figure exceeds an absolute goal.
    pub(super) fn missed(&self) -> Option<String> {
        let Goal::Absolute(seconds, kilobytes) = self.scenario.goal? else { return None };
        let (taken, name) = (self.wrun, self.scenario.name);
        (self.reached() == Some(false)).then(|| {
            let (taken_ms, taken_mb) = (taken.seconds * 1e3, taken.kilobytes as f64 / 1e3);
            let (most_ms, most_mb) = (seconds * 1e3, kilobytes / 1000);
            format!(
                "{name}: {taken_ms:.1} ms and {taken_mb:.1} MB, at most {most_ms:.0} ms and {most_mb} MB were wanted"
            )
        })
    }

    /// Returns whether the goal is reached, or `None` without a goal.
    fn reached(&self) -> Option<bool> {
        let goal = self.scenario.goal.filter(|_| self.second_run)?;
        Some(match goal {
            Goal::Absolute(seconds, kilobytes) => self.wrun.seconds <= seconds && self.wrun.kilobytes <= kilobytes,
            Goal::Ratio(ratio) => self.ratio() <= ratio,
        })
    }
}

/// Returns the median of the times, and the median of the memory sizes.
fn median(all: Vec<Measured>) -> Measured {
    let mut kilobytes: Vec<u64> = all.iter().map(|one| one.kilobytes).collect();
    kilobytes.sort_unstable();
    Measured {
        seconds: middle(all.iter().map(|one| one.seconds).collect()),
        kilobytes: kilobytes.get(all.len() / 2).copied().unwrap_or(0),
    }
}

/// Returns the median of some numbers.
fn middle(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
}

pub(super) fn line(figure: &Figure) -> String {
    let goal = match (figure.scenario.goal, figure.reached()) {
        (Some(goal), Some(reached)) => {
            let most = match goal {
                Goal::Absolute(seconds, kilobytes) => format!("{:.0} ms, {} MB", seconds * 1e3, kilobytes / 1000),
                Goal::Ratio(ratio) => format!("{ratio} times the floor"),
            };
            format!("   goal {most}: {}", if reached { "reached" } else { "MISSED" })
        }
        _ => String::new(),
    };
    let baseline = figure.baseline.as_ref().map(|baseline| {
        format!(" {:>7.1} ms {:>7.2} {:>7.2}", baseline.measured.seconds * 1e3, baseline.time, baseline.memory)
    });
    let baseline = baseline.unwrap_or_default();
    format!(
        "{:<24} {:<6} {:>7.1} ms {:>7.1} ms {:>7.1} {:>7.1} MB{baseline}{goal}",
        figure.scenario.name,
        if figure.second_run { "second" } else { "first" },
        figure.wrun.seconds * 1e3,
        figure.floor.seconds * 1e3,
        figure.ratio(),
        figure.wrun.kilobytes as f64 / 1e3,
    )
}

pub(super) fn to_json(figure: &Figure) -> Value {
    json!({
        "scenario": figure.scenario.name,
        "run": if figure.second_run { "second" } else { "first" },
        "wrun": {"seconds": figure.wrun.seconds, "kilobytes": figure.wrun.kilobytes},
        "floor": {"seconds": figure.floor.seconds, "kilobytes": figure.floor.kilobytes},
        "ratio": figure.ratio(),
        "baseline": figure.baseline.as_ref().map(|baseline| json!({
            "seconds": baseline.measured.seconds,
            "kilobytes": baseline.measured.kilobytes,
            "time_ratio": baseline.time,
            "memory_ratio": baseline.memory,
        })),
        "goal_reached": figure.reached(),
    })
}

/// Prints the ratios of all first and all second runs to the baseline's, as geometric means.
pub(super) fn tell_compared(figures: &[Figure]) {
    for second_run in [false, true] {
        let chosen = figures.iter().filter(|figure| figure.second_run == second_run);
        let ratios: Vec<f64> = chosen.filter_map(|figure| Some(figure.baseline.as_ref()?.time)).collect();
        if !ratios.is_empty() {
            let word = if second_run { "second" } else { "first" };
            let times = geometric_mean(&ratios);
            say::result(&format!("all {word} runs: {times:.2} times the baseline's time (geometric mean)"));
        }
    }
}

fn geometric_mean(all: &[f64]) -> f64 {
    (all.iter().map(|one| one.ln()).sum::<f64>() / all.len() as f64).exp()
}

/// Prints the cost of one more policy in a whole run: the slope between 10 and 100 empty policies.
pub(super) fn tell_per_policy(figures: &[Figure]) {
    let second = |policies: usize| {
        let of = |figure: &&Figure| figure.second_run && figure.scenario.work == Work::Nothing;
        figures.iter().filter(of).find(|figure| figure.scenario.policies == policies)
    };
    let (Some(ten), Some(hundred)) = (second(10), second(100)) else { return };
    let seconds = (hundred.wrun.seconds - ten.wrun.seconds) / 90.0;
    let kilobytes = (hundred.wrun.kilobytes as f64 - ten.wrun.kilobytes as f64) / 90.0;
    say::result(&format!("one more empty policy in a whole run: {:.0} us, {kilobytes:.0} kB", seconds * 1e6));
}

#[cfg(test)]
mod tests {
    use super::super::scenarios::SCENARIOS;
    use super::*;

    #[test]
    fn medians_are_taken_apart_for_time_and_memory() {
        let all = [(3.0, 10), (1.0, 30), (2.0, 20)].map(|(seconds, kilobytes)| Measured { seconds, kilobytes });
        let middle = median(all.to_vec());
        assert_eq!((middle.seconds, middle.kilobytes), (2.0, 20));
    }

    #[test]
    fn builds_are_compared_within_each_repetition() {
        let pair = |seconds: f64| [seconds, 2.0 * seconds].map(|seconds| Measured { seconds, kilobytes: 100 });
        // The machine was three times as slow in the second repetition.
        let once = |slow: f64| Repetition { wrun: pair(1.1 * slow), baseline: Some(pair(slow)), floor: pair(slow) };
        let all = [once(1.0), once(3.0), once(1.0)];
        for second_run in [false, true] {
            let figure = Figure::new(&SCENARIOS[0], second_run, &all);
            let baseline = figure.baseline.expect("a baseline");
            assert!((baseline.time - 1.1).abs() < 1e-9 && (baseline.memory - 1.0).abs() < 1e-9);
            assert!((figure.floor.seconds - if second_run { 2.0 } else { 1.0 }).abs() < 1e-9);
        }
        assert!((geometric_mean(&[2.0, 0.5]) - 1.0).abs() < 1e-9);
        let alone = Repetition { baseline: None, ..once(1.0) };
        assert!(Figure::new(&SCENARIOS[0], false, &[alone]).baseline.is_none());
    }
}
