//! Reports needs that a survey may have missed, because actions failed or phases ended early.

use contract::Failure;
use converge::{PolicyOutcome, RunReport, UNSEEN};

/// Returns a sentence for each, in order, and each failure once.
pub fn of(report: &RunReport) -> Vec<String> {
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
        // An inner resource is recorded after the resources around it, which failed for the same reason.
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
                let hint = failure.hint().map(|hint| format!(" ({})", hint.replace('\n', "; "))).unwrap_or_default();
                found.push(format!("policy {name}: what it would ask for after this is not seen: {message}{hint}"));
            }
        }
    }
    found
}

/// Returns a sentence for each policy without a recipe to run, which explains why the survey found no needs.
pub fn empty(report: &RunReport) -> Vec<String> {
    let nothing = report.policies.iter().filter(|policy| {
        matches!(policy.outcome, PolicyOutcome::Succeeded) && policy.recipes.is_empty() && policy.records.is_empty()
    });
    nothing
        .map(|policy| {
            let name = &policy.name;
            format!("policy {name}: its run list is empty, so that it asks for nothing; --run-list names recipes")
        })
        .collect()
}

/// Returns the message without the resources that the failure passed through.
fn message(failure: &Failure) -> String {
    match (failure.dry_refusal().and_then(|would| would.strip_prefix("would ")), failure) {
        (Some(change), _) => format!("a dry run does not {change}"),
        (None, Failure::Raised(raised)) => raised.message.clone(),
        (None, other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::message;
    use contract::{ErrorKind, Failure, SystemError};

    #[test]
    fn a_change_that_a_dry_run_refuses_is_told_in_its_own_words() {
        let refused = "Read-only file system - this is a dry run, which would run sysctl -w x=1: its program is not on this machine";
        let said = message(&Failure::raised(SystemError::ReadOnly, refused));
        assert_eq!(said, "a dry run does not run sysctl -w x=1: its program is not on this machine");
        assert_eq!(message(&Failure::raised(ErrorKind::DryRun, "would write /x")), "a dry run does not write /x");
        assert_eq!(message(&Failure::raised(ErrorKind::Failed, "no disk")), "no disk");
    }
}
