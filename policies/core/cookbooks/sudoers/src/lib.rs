//! Who may become root, and how.

mod sudo_rule;

use sudo_rule::{CHECK, SudoRule, sudo_rule};
use wrun_sdk::prelude::*;

pub fn cookbook() -> Cookbook {
    cookbook!().attributes(attributes).recipe("default", default).resource::<SudoRule>()
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
        .verify(CHECK)
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

    sudo_rule("10-administrators").group(&administrators).declare()?;
    sudo_rule("20-look-only")
        .group(administrators)
        // Whole command lines: a wildcard would match blanks and slashes too, and a pager could start a shell.
        .commands(["/usr/bin/journalctl --no-pager --since today", "/usr/bin/chronyc -n tracking"])
        .without_password(true)
        .declare()?;

    motd::note("administrators", &members.join(", "))
}
