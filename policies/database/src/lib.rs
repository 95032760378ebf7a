//! The component of the policy `database`.

wrun_sdk::policy!(redis, redis_backup);
