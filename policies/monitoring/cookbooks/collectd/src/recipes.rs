//! The daemon; and what is watched where a database runs.

use crate::plugin::{FOLDER, collectd_plugin};
use wrun_sdk::prelude::*;

pub fn default() -> Result {
    // Plugins load libraries that the package only suggests: this one speaks to Redis.
    package("collectd")
        .package_name(["collectd-core", "libhiredis0.14"])
        .options("--no-install-recommends")
        .declare()?;

    directory(FOLDER).mode("0755").declare()?;

    cookbook_file("/etc/collectd/types.local.db").source("types.db").mode("0644").declare()?;

    template("/etc/collectd/collectd.conf")
        .mode("0644")
        .variables([
            ("name", json!(node::name())),
            ("interval", node::get::<Value>("collectd.interval")?),
            ("plugins", json!(FOLDER)),
        ])
        .notifies("restart", "service[collectd]")
        .declare()?;

    execute("check collectd's configuration").command("/usr/sbin/collectd -t").action_nothing().declare()?;

    for (name, settings) in node::get::<Map>("collectd.plugins")? {
        let plugin = collectd_plugin(name);
        match settings {
            Value::Bool(false) => plugin.action_unload().declare()?,
            settings => plugin.settings(settings).declare()?,
        };
    }
    destination()?;

    service("collectd")
        .action_enable()
        .action_start()
        // A daemon that is stopped while it still starts takes its time.
        .retries(2, 2)
        .subscribes("restart", "cookbook_file[/etc/collectd/types.local.db]")
        .declare()
}

/// Where the values go.
fn destination() -> Result {
    let (graphite, csv) = (collectd_plugin("write_graphite"), collectd_plugin("csv"));
    match node::get::<Option<Value>>("collectd.graphite")? {
        Some(server) => {
            graphite.settings(json!({ "Node": { "graphite": server } })).declare()?;
            csv.action_unload().declare()?;
        }
        None => {
            csv.settings(lazy(|| node::get::<Value>("collectd.csv"))).declare()?;
            graphite.action_unload().declare()?;
        }
    }
    Ok(())
}

/// What the database policy left on the node tells whether there is a server to watch, and where.
pub fn redis() -> Result {
    let plugin = collectd_plugin("redis");
    match node::get::<Option<u16>>("redis.port")? {
        Some(port) => {
            let port = port.to_string();
            plugin.settings(json!({ "Node": { "database": { "Host": "127.0.0.1", "Port": port } } })).declare()?;
        }
        None => {
            log::info("no database on this node, none is watched");
            plugin.action_unload().declare()?;
        }
    }
    Ok(())
}
