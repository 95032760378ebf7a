//! The arguments of `wrun agent`.

use super::Common;
use crate::settings::{Age, Layer, View};
use clap::{Args, Subcommand};
use std::ffi::OsString;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct AgentArguments {
    #[command(subcommand)]
    pub(crate) command: Option<AgentCommand>,
    #[command(flatten)]
    pub(crate) common: Common,
    /// The time from the end of a run to the next one: 30m, 12h, 45s [default: 30m]
    #[arg(long, value_name = "TIME")]
    pub(crate) interval: Option<Age<1>>,
    /// The most that is added to the interval at random [default: 5m]
    #[arg(long, value_name = "TIME")]
    pub(crate) splay: Option<Age>,
    /// Leave a run out if a good one that is younger than this did the same; not one that somebody asks for
    #[arg(long, value_name = "TIME")]
    pub(crate) skip_unchanged: Option<Age<1>>,
    /// Options of `wrun converge` for each run
    #[arg(last = true, value_name = "OPTION")]
    pub(crate) converge: Vec<OsString>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    /// Make the agent start a run at once
    RunNow(AgentPlace),
    /// Show when the agent ran, runs next, and what failed; exit with 1 if no agent runs or the last run failed
    Status(AgentStatusArguments),
    /// Let no run begin for a while: neither the agent's nor those of `wrun converge --unless-paused`
    Pause(PauseArguments),
    /// End a pause
    Resume(AgentPlace),
}

#[derive(Debug, Args)]
pub(crate) struct AgentPlace {
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
pub(crate) struct AgentStatusArguments {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Output format: doc or json
    #[arg(short = 'F', long, value_name = "FORMAT", default_value = "doc")]
    pub(crate) format: View,
}

#[derive(Debug, Args)]
pub(crate) struct PauseArguments {
    #[command(flatten)]
    pub(crate) common: Common,
    /// How long: 2h, 30m, 1d
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) time: Age<1>,
    /// Why, for those who wonder; shown in every report until the pause ends
    #[arg(long, value_name = "TEXT")]
    pub(crate) because: String,
}

impl AgentArguments {
    /// Returns the given options as a layer of settings.
    pub(crate) fn layer(&self) -> Layer {
        Layer { interval: self.interval, splay: self.splay, skip_unchanged: self.skip_unchanged, ..self.common.layer() }
    }

    /// Returns the arguments of a run's command line. `skip_unchanged`: the maximum age of a good run that makes this one
    /// unnecessary.
    pub(crate) fn run(&self, skip_unchanged: Option<Duration>) -> Vec<OsString> {
        let common = &self.common;
        let mut words: Vec<OsString> = vec!["converge".into(), "--by-agent".into()];
        let paths = [("--config", &common.config), ("--root", &common.root), ("--state-dir", &common.state_dir)];
        for (option, path) in paths {
            words.extend(path.iter().flat_map(|path| [option.into(), path.into()]));
        }
        words.extend(common.node_name.iter().flat_map(|name| ["--node-name".into(), name.as_str().into()]));
        if let Some(age) = skip_unchanged {
            words.extend(["--skip-unchanged".into(), format!("{}s", age.as_secs()).into()]);
        }
        words.extend(self.converge.iter().cloned());
        words
    }
}
