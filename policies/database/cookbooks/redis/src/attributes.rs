//! What is so unless the policy, a role or the node says otherwise.

use wrun_sdk::prelude::*;

/// The share of the machine's memory that the data may have: saving needs as much again.
const MEMORY_SHARE: i64 = 4;

pub fn default() -> Result {
    let redis = node::DEFAULT;
    redis.set("redis.port", 6379)?;
    redis.set("redis.bind", json!(["127.0.0.1", "-::1"]))?;
    redis.set("redis.data_directory", "/var/lib/redis/data")?;
    // Seconds and changes: after so many seconds, if there were so many changes, the data are saved.
    redis.set("redis.save", json!([[3600, 1], [300, 100], [60, 10000]]))?;
    redis.set("redis.kernel", json!({ "vm.overcommit_memory": 1 }))?;
    // Computed when it is read: a role may say less, and then nobody asks how much memory there is.
    redis.set_lazy("redis.megabytes", || Ok((memory_in_kilobytes()? / 1024 / MEMORY_SHARE).max(16)))
}

/// The fact reads `16384256kB`.
fn memory_in_kilobytes() -> Result<i64> {
    let total: String = node::get("memory.total")?;
    Ok(total.trim_end_matches("kB").parse()?)
}
