//! `sudo_rule`: what a group may run as root: one file in /etc/sudoers.d.

use wrun_sdk::prelude::*;

/// A file with a mistake would lock everybody out, so none is put in place unread.
pub const CHECK: &str = "/usr/sbin/visudo -c -f %{path}";

pub fn sudo_rule() -> CustomResource {
    CustomResource::new("sudo_rule")
        .property(Property::text("file").name_property())
        .property(Property::text("group").required())
        .property(Property::list("commands").default(json!(["ALL"])))
        .property(Property::boolean("without_password").default(false))
        .action("create", |rule| {
            template(path(rule)?)
                .source("rule.j2")
                .owner("root")
                .group("root")
                .mode("0440")
                .variables([
                    ("group", rule.get("group")?),
                    ("commands", rule.get("commands")?),
                    ("without_password", rule.get("without_password")?),
                ])
                .verify(CHECK)
                .declare()
        })
        .action("remove", |rule| file(path(rule)?).action_delete().declare())
}

fn path(rule: &Resource) -> Result<String> {
    let name = rule.text("file")?;
    // sudo reads no file with a dot in its name, and says nothing.
    if name.contains(['.', '/']) {
        bail!("{name} cannot be the name of a file in /etc/sudoers.d");
    }
    Ok(format!("/etc/sudoers.d/{name}"))
}
