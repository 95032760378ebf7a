//! Where logs go: rsyslog's rules.

use wrun_sdk::prelude::*;

pub fn cookbook() -> Cookbook {
    cookbook!().attributes(attributes).recipe("default", default)
}

fn attributes() -> Result {
    // What applications write, by facility: its name is the file's.
    node::DEFAULT.set("syslog.applications", json!({ "local0": "applications", "local7": "deployments" }))
    // syslog.forward_to: a host that gets a copy of everything. Unset: nobody does.
}

fn default() -> Result {
    package("rsyslog").options("--no-install-recommends").declare()?;

    template("/etc/rsyslog.d/20-applications.conf")
        .source("applications.conf.j2")
        .mode("0644")
        .variables([("applications", node::get::<Value>("syslog.applications")?)])
        .verify("/usr/sbin/rsyslogd -N1 -f %{path}")
        .notifies("restart", "service[rsyslog]")
        .declare()?;

    let forwarding = template("/etc/rsyslog.d/30-forward.conf")
        .source("forward.conf.j2")
        .mode("0644")
        .notifies("restart", "service[rsyslog]");
    match node::get::<Option<Value>>("syslog.forward_to")? {
        Some(host) => forwarding.variables([("host", host)]).action_create().declare()?,
        // A node that forwarded once and no longer does must not go on.
        None => forwarding.action_delete().declare()?,
    };

    // Debian's rsyslog has a unit and no init script: without systemd nothing can be started, and in a container the
    // log belongs to the host.
    service("rsyslog")
        .action_enable()
        .action_start()
        .only_if(|| Ok(node::get::<Option<String>>("init_package")?.as_deref() == Some("systemd")))
        .declare()
}
