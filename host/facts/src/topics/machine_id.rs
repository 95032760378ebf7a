//! `machine_id`: Ohai's plugin Machineid.

use crate::machine::{Gathered, Machine};
use crate::topics::known;

pub(crate) fn gather(machine: &Machine) -> Gathered {
    let identity = machine.root.line("/etc/machine-id").or_else(|| machine.root.line("/var/lib/dbus/machine-id"));
    known([("machine_id", identity)])
}
