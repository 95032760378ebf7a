//! Who may become root, and how.

mod sudo_rule;

use wrun_sdk::prelude::*;

pub fn cookbook() -> Cookbook {
    cookbook!().attributes(attributes).recipe("default", default).resource(sudo_rule::sudo_rule())
}

fn attributes() -> Result {
    node::DEFAULT.set("sudoers.administrators", json!({ "group": "administrators", "members": [] }))
}

fn default() -> Result {
    package("sudo").options("--no-install-recommends").declare()?;

    cookbook_file("/etc/sudoers.d/00-defaults")
        .source("defaults")
        .owner("root")
        .group("root")
        .mode("0440")
        .verify(sudo_rule::CHECK)
        .declare()?;

    let administrators: String = node::get("sudoers.administrators.group")?;
    let members: Vec<String> = node::get("sudoers.administrators.members")?;
    for name in &members {
        user(name)
            .comment("administrator")
            .home(format!("/home/{name}"))
            .manage_home(true)
            .shell("/bin/bash")
            .declare()?;
    }
    group(&administrators).members(&members[..]).declare()?;

    custom("sudo_rule", "10-administrators").set("group", administrators.as_str()).declare()?;
    custom("sudo_rule", "20-look-only")
        .set("group", administrators)
        // Whole command lines: a wildcard would match blanks and slashes too, and a pager could start a shell.
        .set("commands", ["/usr/bin/journalctl --no-pager --since today", "/usr/bin/chronyc -n tracking"])
        .set("without_password", true)
        .declare()?;

    motd::note("administrators", &members.join(", "))
}
