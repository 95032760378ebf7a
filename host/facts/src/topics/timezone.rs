//! `time.timezone`: the abbreviation in force now (`CET`). Ohai's plugin Timezone.
//!
//! The rules are those of the root's `/etc/localtime`; a system without one keeps UTC. The variable `TZ` is of the caller,
//! not of the system, and is not looked at.

use jiff::tz::TimeZone;

use crate::limits;
use crate::machine::{Gathered, Machine};
use crate::topics::one;

pub(crate) fn gather(machine: &Machine) -> Gathered {
    let zone = machine
        .root
        .bytes("/etc/localtime", limits::ORDINARY_FILE)
        .and_then(|rules| TimeZone::tzif("localtime", &rules).ok())
        .unwrap_or(TimeZone::UTC);
    one("time", one("timezone", zone.to_offset_info(machine.now).abbreviation()))
}
