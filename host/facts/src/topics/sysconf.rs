//! `sysconf`: Ohai's plugin Sysconf, which has the output of `getconf -a`.
//!
//! Most values are constants of the C library that no cookbook reads. This module reports only those that differ between
//! machines, under the same names.

use rustix::process::{Resource, getrlimit};
use serde_json::Value;

use crate::machine::{Gathered, Machine};
use crate::topics::cpu_topology::processors_in;
use crate::topics::{known, one};

/// Maximum length of a host name in Linux, `__NEW_UTS_LEN`.
const HOST_NAME_MAX: u32 = 64;

pub(crate) fn gather(machine: &Machine) -> Gathered {
    let processors = |list: &str| {
        let count = processors_in(&machine.machine.line(&format!("/sys/devices/system/cpu/{list}"))?).len();
        (count > 0).then(|| Value::from(count))
    };
    let page = Value::from(rustix::param::page_size());
    let open_files = getrlimit(Resource::Nofile).current.map(Value::from);
    one(
        "sysconf",
        known([
            ("OPEN_MAX", open_files),
            ("PAGESIZE", Some(page.clone())),
            ("PAGE_SIZE", Some(page)),
            ("CLK_TCK", Some(Value::from(rustix::param::clock_ticks_per_second()))),
            ("HOST_NAME_MAX", Some(Value::from(HOST_NAME_MAX))),
            ("LONG_BIT", Some(Value::from(usize::BITS))),
            ("_NPROCESSORS_CONF", processors("present")),
            ("_NPROCESSORS_ONLN", processors("online")),
        ]),
    )
}
