//! What a survey did not see of a policy's needs: actions that failed, and phases that ended early.

use contract::Failure;
use converge::{PolicyOutcome, RunReport, UNSEEN};

/// A sentence for each, in order, each failure once.
pub(super) fn of(report: &RunReport) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut told: Vec<String> = Vec::new();
    for policy in &report.policies {
        let name = &policy.name;
        for record in &policy.records {
            let resource = format!("{}[{}]", record.kind, record.name);
            for doubt in record.uncertain.iter().filter_map(|doubt| doubt.strip_prefix(UNSEEN)) {
                found.push(format!("policy {name}: not all that {resource} would ask for is seen: {doubt}"));
            }
        }
        // Innermost resources were recorded last, and those around them failed of the same.
        for record in policy.records.iter().rev() {
            let Some(failure) = &record.failure else { continue };
            let message = message(failure);
            if !told.contains(&message) {
                let resource = format!("{}[{}]", record.kind, record.name);
                found.push(format!("policy {name}: not all that {resource} would ask for is seen: {message}"));
                told.push(message);
            }
        }
        if let PolicyOutcome::Failed(failure) = &policy.outcome {
            let message = message(failure);
            if !told.iter().any(|told| message.contains(told.as_str())) {
                found.push(format!("policy {name}: what it would ask for after this is not seen: {message}"));
            }
        }
    }
    found
}

/// The message without the resources that the failure passed.
fn message(failure: &Failure) -> String {
    match failure {
        Failure::Raised(raised) => raised.message.clone(),
        other => other.to_string(),
    }
}
