//! `ohai_time`: the time of gathering, in seconds since 1970. Ohai's plugin OhaiTime.

use crate::machine::{Gathered, Machine};
use crate::topics::one;

pub(crate) fn gather(machine: &Machine) -> Gathered {
    let seconds = machine.now.duration_since(jiff::Timestamp::UNIX_EPOCH).as_secs_f64();
    one("ohai_time", seconds)
}
