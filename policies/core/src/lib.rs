//! The component of the policy `core`.

wrun_sdk::policy!(motd, timekeeping, syslog, sudoers);
