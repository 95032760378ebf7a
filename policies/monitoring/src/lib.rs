//! The component of the policy `monitoring`.

wrun_sdk::policy!(collectd, run_report);
