//! `collectd_plugin`: a plugin that collectd loads, and its settings: one file in /etc/collectd/plugins.d.

use wrun_sdk::prelude::*;

/// Where the plugins' files are.
pub const FOLDER: &str = "/etc/collectd/plugins.d";

/// A plugin of collectd with its settings.
#[derive(Resource)]
#[resource(actions(load, unload))]
pub struct CollectdPlugin {
    /// The plugin's name, as collectd knows it.
    #[property(name)]
    plugin: String,
    /// A text is quoted, a list becomes a line for each item, and an object is a block for each of its keys:
    /// `{"Node": {"shop": {"Port": 6379}}}` is `<Node "shop">`.
    #[property(default)]
    settings: Map,
}

impl CollectdPlugin {
    fn load(&self) -> Result {
        template(self.path())
            .source("plugin.conf.j2")
            .mode("0644")
            .variables(json!({ "plugin": self.plugin, "settings": self.settings }))
            // Both are declared outside, by the recipe. A mistake ends the run here, and the old daemon runs on.
            .notifies_immediately("run", "execute[check collectd's configuration]")
            .notifies("restart", "service[collectd]")
            .declare()
    }

    fn unload(&self) -> Result {
        file(self.path()).action_delete().notifies("restart", "service[collectd]").declare()
    }

    fn path(&self) -> String {
        format!("{FOLDER}/{}.conf", self.plugin)
    }
}
