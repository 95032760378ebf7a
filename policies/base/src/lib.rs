//! The component of the policy `base`.

wrun_sdk::policy!(run_report);
