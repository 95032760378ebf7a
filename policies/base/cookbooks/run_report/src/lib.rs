//! Says in the log what this policy's part of a run was, once the whole run is over.

use std::cell::RefCell;
use wrun_sdk::prelude::*;

thread_local! {
    /// What was changed so far. The policy's instance lives until the run ends, so it can simply be kept.
    static CHANGED: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

pub fn cookbook() -> Cookbook {
    cookbook!().recipe("default", default)
}

fn default() -> Result {
    handlers::on_event("resource_updated", |event| {
        let resource = &event["resource"];
        let name = |key: &str| resource[key].as_str().unwrap_or_default().to_owned();
        CHANGED.with_borrow_mut(|changed| changed.push(format!("{}[{}]", name("type"), name("name"))));
        Ok(())
    })?;
    handlers::on_report(|run| {
        let seconds = run["elapsed"].as_f64().unwrap_or_default();
        CHANGED.with_borrow(|changed| match changed.as_slice() {
            [] => log::info(&format!("nothing to change, in a run of {seconds:.1} s")),
            changed => log::info(&format!("changed {}", changed.join(", "))),
        });
        Ok(())
    })?;
    handlers::on_exception(|run| {
        let message = run["exception"]["message"].as_str().unwrap_or("unknown");
        log::warn(&format!("the run failed, values may be missing: {message}"));
        Ok(())
    })
}
