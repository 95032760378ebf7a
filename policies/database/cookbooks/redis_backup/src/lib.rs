//! A copy of Redis' data every night, made by a user who can do nothing else.

use wrun_sdk::prelude::*;

const USER: &str = "redisbackup";
const SCRIPT: &str = "/usr/local/sbin/redis-backup";

pub fn cookbook() -> Cookbook {
    cookbook!().attributes(attributes).recipe("default", default)
}

fn attributes() -> Result {
    node::DEFAULT.set("redis_backup.directory", "/var/backups/redis")?;
    node::DEFAULT.set("redis_backup.keep_days", 7)?;
    node::DEFAULT.set("redis_backup.readers", json!([]))?;
    // Not all nodes at once. What a node got once it keeps, also when the rule below changes.
    node::NORMAL.set_unless("redis_backup.minute", minute_of(&node::name()))?;
    Ok(())
}

/// A minute of the hour that depends on the node's name alone.
fn minute_of(name: &str) -> u32 {
    name.bytes().fold(0, |sum, byte| (sum * 31 + u32::from(byte)) % 60)
}

fn default() -> Result {
    let directory_path: String = node::get("redis_backup.directory")?;
    let readers: Vec<String> = node::get("redis_backup.readers")?;

    package("cron").options("--no-install-recommends").declare()?;

    group("dba").members(readers).system(true).declare()?;
    user(USER)
        .comment("copies Redis' data")
        .system(true)
        .home(directory_path.as_str())
        .shell("/usr/sbin/nologin")
        .declare()?;

    // Who is in the group may take copies away, and nobody else sees them.
    directory(directory_path.as_str()).owner(USER).group("dba").mode("0750").declare()?;

    template(SCRIPT)
        .source("redis-backup.sh.j2")
        .owner("root")
        .group("root")
        .mode("0755")
        .variables([
            ("port", node::get::<Value>("redis.port")?),
            ("directory", directory_path.into()),
            ("keep_days", node::get::<Value>("redis_backup.keep_days")?),
        ])
        .declare()?;

    cron_d("redis-backup").minute(node::get::<u32>("redis_backup.minute")?).hour(2).user(USER).command(SCRIPT).declare()
}
