//! `collectd_plugin`: a plugin that collectd loads, and its settings: one file in /etc/collectd/plugins.d.

use wrun_sdk::prelude::*;

/// Where the plugins' files are.
pub const FOLDER: &str = "/etc/collectd/plugins.d";

/// A text is quoted, a list becomes a line for each item, and an object is a block for each of its keys:
/// `{"Node": {"shop": {"Port": 6379}}}` is `<Node "shop">`.
pub fn collectd_plugin() -> CustomResource {
    CustomResource::new("collectd_plugin")
        .property(Property::text("plugin").name_property())
        .property(Property::map("settings").default(json!({})))
        .action("load", |plugin| {
            template(path(plugin)?)
                .source("plugin.conf.j2")
                .mode("0644")
                .variables([("plugin", plugin.get("plugin")?), ("settings", plugin.get("settings")?)])
                // Both are declared outside, by the recipe. A mistake ends the run here, and the old daemon runs on.
                .notifies_immediately("run", "execute[check collectd's configuration]")
                .notifies("restart", "service[collectd]")
                .declare()
        })
        .action("unload", |plugin| {
            file(path(plugin)?).action_delete().notifies("restart", "service[collectd]").declare()
        })
}

fn path(plugin: &Resource) -> Result<String> {
    Ok(format!("{FOLDER}/{}.conf", plugin.text("plugin")?))
}
