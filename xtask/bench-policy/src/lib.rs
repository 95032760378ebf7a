//! The component of the benchmarks' policies.

wrun_sdk::policy!(bench);
