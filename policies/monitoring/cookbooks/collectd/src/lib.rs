//! The statistics collection daemon: its configuration, a file per plugin, its service.

mod plugin;
mod recipes;

use plugin::CollectdPlugin;
use wrun_sdk::prelude::*;

pub fn cookbook() -> Cookbook {
    cookbook!()
        .attributes(attributes)
        .recipe("default", recipes::default)
        .recipe("redis", recipes::redis)
        .resource::<CollectdPlugin>()
}

fn attributes() -> Result {
    let collectd = node::DEFAULT;
    collectd.set("collectd.interval", 10)?;
    collectd.set("collectd.plugins", json!({ "cpu": {}, "load": {}, "memory": {} }))?;
    // collectd.graphite: host and port of a server that gets the values. Unset: they are kept on the node.
    collectd.set("collectd.csv", json!({ "DataDir": "/var/lib/collectd/csv", "StoreRates": true }))
}
