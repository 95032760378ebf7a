//! `fips.kernel.enabled`: Ohai's plugin Fips. If the kernel does not have this setting, it counts as off.

use crate::machine::{Gathered, Machine};
use crate::topics::one;

pub(crate) fn gather(machine: &Machine) -> Gathered {
    let enabled = machine.machine.number::<u8>("/proc/sys/crypto/fips_enabled") == Some(1);
    one("fips", one("kernel", one("enabled", enabled)))
}
