//! `init_package`: the name of the first process. Ohai's plugin InitPackage.
//!
//! Cookbooks use it to detect systemd. For a root that is not running, the first process would be the target of `/sbin/init`.
//! Only systemd gives its process another name than that of the started file.

use crate::machine::{Gathered, Machine};
use crate::topics::one;

const WITHOUT_A_NAME: &str = "init";

pub(crate) fn gather(machine: &Machine) -> Gathered {
    let name = if machine.is_running_system {
        machine.machine.line("/proc/1/comm").unwrap_or_else(|| WITHOUT_A_NAME.to_owned())
    } else {
        let target = machine.root.link_target("/sbin/init").unwrap_or_default();
        match target.rsplit('/').next() {
            Some("systemd") => "systemd".to_owned(),
            _ => WITHOUT_A_NAME.to_owned(),
        }
    };
    one("init_package", name)
}
