//! The right time: chrony, and the time zone.

mod time_zone;

use time_zone::{TimeZone, time_zone};
use wrun_sdk::prelude::*;

pub fn cookbook() -> Cookbook {
    cookbook!().attributes(attributes).recipe("default", default).recipe("zone", zone).resource::<TimeZone>()
}

fn attributes() -> Result {
    node::DEFAULT.set("timekeeping.pools", json!(["2.debian.pool.ntp.org"]))?;
    node::DEFAULT.set("timekeeping.servers", json!([]))?;
    node::DEFAULT.set("timekeeping.time_zone", "Etc/UTC")?;
    // A machine that does not boot by itself (a container, an image that is being built) has its clock from its host,
    // and must leave it alone. Computed whenever it is read, so that a role may still override it.
    node::DEFAULT.set_lazy("timekeeping.steers_clock", || {
        Ok(node::get::<Option<String>>("init_package")?.as_deref() == Some("systemd"))
    })
}

fn default() -> Result {
    package("chrony").options("--no-install-recommends").declare()?;

    template("/etc/chrony/chrony.conf")
        .owner("root")
        .group("root")
        .mode("0644")
        .variables([
            ("pools", node::get::<Value>("timekeeping.pools")?),
            ("servers", node::get::<Value>("timekeeping.servers")?),
        ])
        .verify("/usr/sbin/chronyd -p -f %{path}")
        .notifies("restart", "service[chrony]")
        .declare()?;

    // -F 1: chrony's system call filter; -x: watch the clock, but never set it.
    let options = if node::get::<bool>("timekeeping.steers_clock")? { "-F 1" } else { "-F 1 -x" };
    file("/etc/default/chrony")
        .content(format!("# Managed by the core team.\nDAEMON_OPTS=\"{options}\"\n"))
        .mode("0644")
        .notifies("restart", "service[chrony]")
        .declare()?;

    // Its script starts nothing while the daemon that it stopped still ends.
    service("chrony").action_enable().action_start().retries(2, 2).declare()?;

    include_recipe("::zone")?;
    motd::note("time", &format!("chrony, {}", node::get::<String>("timekeeping.time_zone")?))
}

fn zone() -> Result {
    time_zone(node::get::<String>("timekeeping.time_zone")?).declare()
}
