//! The server, and what the kernel must know for it.

use wrun_sdk::prelude::*;

const CONFIGURATION: &str = "/etc/redis/redis.conf";

pub fn default() -> Result {
    let port: u16 = node::get("redis.port")?;
    let data_directory: String = node::get("redis.data_directory")?;

    package("redis").package_name(["redis-server", "redis-tools"]).options("--no-install-recommends").declare()?;

    // The package brings the user; the data are nobody else's business.
    directory(data_directory.as_str()).owner("redis").group("redis").mode("0700").declare()?;

    include_recipe("::kernel")?;

    let save = execute("save the data")
        .command(format!("redis-cli -p {port} save"))
        .only_if_command(&format!("redis-cli -p {port} ping"))
        .action_nothing();
    let server = service("redis-server").action_enable().action_start().retries(2, 1);
    template(CONFIGURATION)
        .owner("redis")
        .group("redis")
        .mode("0640")
        .variables([
            ("port", port.into()),
            ("bind", node::get::<Value>("redis.bind")?),
            ("data_directory", data_directory.into()),
            ("save", node::get::<Value>("redis.save")?),
            ("megabytes", node::get::<Value>("redis.megabytes")?),
        ])
        // What clients have written since the last save must survive the restart.
        .notifies_before("run", &save)
        .notifies("restart", &server)
        .declare()?;

    save.declare()?;
    server.declare()
}

/// Saving forks, and the kernel must be willing to promise more memory than there is.
pub fn kernel() -> Result {
    package("procps").options("--no-install-recommends").declare()?;

    let settings: Map = node::get("redis.kernel")?;
    let lines: String = settings.iter().map(|(name, value)| format!("{name} = {value}\n")).collect();
    // The kernel of a container is its host's.
    let load = execute("load kernel settings")
        .command("sysctl --quiet --load /etc/sysctl.d/60-redis.conf")
        .only_if(|| Ok(node::get::<Option<String>>("init_package")?.as_deref() == Some("systemd")))
        .action_nothing();
    file("/etc/sysctl.d/60-redis.conf")
        .content(format!("# Managed by the database team.\n{lines}"))
        .mode("0644")
        .notifies_immediately("run", &load)
        .declare()?;

    load.declare()
}
