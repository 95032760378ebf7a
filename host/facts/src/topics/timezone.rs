//! `time.timezone`: the abbreviation that applies now (`CET`). Ohai's plugin Timezone.
//!
//! The rules come from the root's `/etc/localtime`; without that file the time zone is UTC. The variable `TZ` belongs to the
//! caller and not to the system, so it is ignored.

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
