//! The host's side of the contract, one file per interface. Thin: it brings a guest's words into the host's own form,
//! and the rooms behind it do the work and check the values.

mod clock;
mod cookbooks;
mod data;
mod machine;
mod node;
mod output;
mod random;
mod reading;
mod resources;
mod schema;
mod turns;

use crate::bindings::wrun::cookbook::types;
use crate::policy::State;
use crate::rules::Lie;
use contract::Run;
use wasmtime::Result;

impl types::Host for State {}

impl State {
    /// The run, if it is this guest's turn.
    fn run(&mut self) -> Result<&mut Run> {
        let lie = if self.rules.closed() { Lie::AfterDone } else { Lie::NotReady };
        self.run.as_deref_mut().ok_or_else(|| lie.into())
    }

    /// The run and the services beside it.
    fn run_and_services(&mut self) -> Result<(&mut Run, &mut contract::Services)> {
        let lie = if self.rules.closed() { Lie::AfterDone } else { Lie::NotReady };
        match self.run.as_deref_mut() {
            Some(run) => Ok((run, &mut self.services)),
            None => Err(lie.into()),
        }
    }

    /// Does work of the host's in the middle of the guest's turn: its time is not the guest's.
    fn on_host_time<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        self.clock.stop();
        let done = work(self);
        self.clock.start();
        done
    }
}
