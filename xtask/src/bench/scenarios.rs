//! The benchmark scenarios, and the goals of some of them.

use serde_json::{Value, json};

use crate::floor;

/// What a scenario does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Work {
    /// Policies without a resource.
    Nothing,
    /// `file` resources with a line of content each.
    Files,
    /// `template` resources with a line of content each.
    Templates,
    /// Folders, links, files, guarded commands, packages, users.
    Mix,
    /// `file` resources with a guard each, in Ruby cookbooks.
    Ruby,
    /// `file` resources without guards, in a Ruby cookbook.
    RubyPlain,
    /// `file` resources with two guards each, one of which looks at the machine, in a Ruby cookbook.
    RubyGuarded,
}

/// One scenario of the benchmark.
pub(super) struct Scenario {
    pub(super) name: &'static str,
    pub(super) work: Work,
    pub(super) count: usize,
    pub(super) policies: usize,
    /// The goal for the second run.
    pub(super) goal: Option<Goal>,
}

/// The largest allowed figures of a second run.
#[derive(Debug, Clone, Copy)]
pub(super) enum Goal {
    /// Largest time in seconds and largest memory in kilobytes.
    Absolute(f64, u64),
    /// Largest time as a multiple of the floor's time.
    Ratio(f64),
}

pub(super) const SCENARIOS: [Scenario; 13] = [
    Scenario { name: "1 empty policy", work: Work::Nothing, count: 0, policies: 1, goal: None },
    Scenario {
        name: "3 empty policies",
        work: Work::Nothing,
        count: 0,
        policies: 3,
        goal: Some(Goal::Absolute(0.025, 40_000)),
    },
    Scenario { name: "10 empty policies", work: Work::Nothing, count: 0, policies: 10, goal: None },
    Scenario { name: "100 empty policies", work: Work::Nothing, count: 0, policies: 100, goal: None },
    Scenario { name: "100 files", work: Work::Files, count: 100, policies: 1, goal: None },
    Scenario { name: "1000 files", work: Work::Files, count: 1000, policies: 1, goal: None },
    Scenario { name: "5000 files", work: Work::Files, count: 5000, policies: 1, goal: Some(Goal::Ratio(3.0)) },
    Scenario { name: "200 templates", work: Work::Templates, count: 200, policies: 1, goal: None },
    Scenario { name: "mix", work: Work::Mix, count: 50, policies: 1, goal: None },
    Scenario {
        name: "3 Ruby policies of 20",
        work: Work::Ruby,
        count: 20,
        policies: 3,
        goal: Some(Goal::Absolute(0.1, 120_000)),
    },
    Scenario { name: "1000 files in Ruby", work: Work::Ruby, count: 1000, policies: 1, goal: None },
    Scenario { name: "5000 files in Ruby", work: Work::RubyPlain, count: 5000, policies: 1, goal: None },
    Scenario { name: "1000 guarded in Ruby", work: Work::RubyGuarded, count: 1000, policies: 1, goal: None },
];

impl Scenario {
    /// Returns the attributes for the guest `load`.
    pub(super) fn attributes(&self) -> Value {
        json!({"load": {
            "count": self.count,
            "folder": "/srv/bench",
            "packages": ["bash", "coreutils", "dpkg", "grep", "tar"],
            "users": floor::USERS,
        }})
    }
}
