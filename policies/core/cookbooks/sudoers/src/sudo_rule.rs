//! `sudo_rule`: what a group may run as root: one file in /etc/sudoers.d.

use wrun_sdk::prelude::*;

/// A file with a mistake would lock everybody out, so none is put in place unread.
pub const CHECK: &str = "/usr/sbin/visudo -c -f %{path}";

/// What a group may run as root.
#[derive(Resource)]
#[resource(actions(create, remove))]
pub struct SudoRule {
    /// The name of the file in /etc/sudoers.d.
    #[property(name)]
    file: String,
    /// The group that the rule is for.
    group: String,
    /// The commands that its members may run.
    #[property(default = ["ALL"])]
    commands: Vec<String>,
    /// Whether they are not asked for a password.
    #[property(default)]
    without_password: bool,
}

impl SudoRule {
    fn create(&self) -> Result {
        template(self.path()?)
            .source("rule.j2")
            .owner("root")
            .group("root")
            .mode("0440")
            .variables(json!({
                "group": self.group,
                "commands": self.commands,
                "without_password": self.without_password,
            }))
            .verify(CHECK)
            .declare()
    }

    fn remove(&self) -> Result {
        file(self.path()?).action_delete().declare()
    }

    fn path(&self) -> Result<String> {
        // sudo reads no file with a dot in its name, and says nothing.
        if self.file.contains(['.', '/']) {
            bail!("{} cannot be the name of a file in /etc/sudoers.d", self.file);
        }
        Ok(format!("/etc/sudoers.d/{}", self.file))
    }
}
