//! Reports needs that a survey may have missed, because actions failed or phases ended early.

use contract::Failure;
use converge::{PolicyOutcome, RunReport, UNSEEN};
use grants::Denial;

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

/// The most things that a sentence about unread things lists.
const MAX_LISTED: usize = 5;

/// Returns a sentence for each policy that was refused something to read. A survey refuses what is not granted, because the
/// suggestion itself could tell others about it.
pub fn unread(denials: &[Denial]) -> Vec<String> {
    let mut policies: Vec<(&str, Vec<&str>)> = Vec::new();
    for denial in denials {
        match policies.iter_mut().find(|(policy, _)| *policy == denial.policy) {
            Some((_, all)) => all.push(&denial.message),
            None => policies.push((&denial.policy, vec![&denial.message])),
        }
    }
    let sentence = |(policy, all): (&str, Vec<&str>)| {
        let listed: Vec<&str> = all.iter().take(MAX_LISTED).copied().collect();
        let more = match all.len().saturating_sub(MAX_LISTED) {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        format!(
            "policy {policy}: the plan does not give it what is not granted yet (it {}{more}), so there may be more to ask \
             for; grant this and run the command again, or use --allow-all if you trust the policy",
            listed.join(", ")
        )
    };
    policies.into_iter().map(sentence).collect()
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
    use super::{message, unread};
    use contract::{ErrorKind, Failure, SystemError};

    #[test]
    fn unread_things_are_listed_for_each_policy() {
        let denials = grants::Grants::nothing().surveying(grants::OpenPaths::new(|_| false));
        for number in 0..7 {
            let _denied = denials.policy("a", &[]).data_bag(&format!("bag{number}"), None).unwrap_err();
        }
        let _denied = denials.policy("b", &[]).read_path("/root/key").unwrap_err();
        let said = unread(&denials.journal().denials().0);
        assert_eq!(said.len(), 2);
        assert!(said[0].contains("policy a") && said[0].contains("bag4, and 2 more)") && !said[0].contains("bag5"));
        assert!(said[1].contains("policy b") && said[1].contains("(it may not read path /root/key)"), "{said:?}");
    }

    #[test]
    fn a_change_that_a_dry_run_refuses_is_told_in_its_own_words() {
        let refused = "Read-only file system - this is a dry run, which would run sysctl -w x=1: its program is not on this machine";
        let said = message(&Failure::raised(SystemError::ReadOnly, refused));
        assert_eq!(said, "a dry run does not run sysctl -w x=1: its program is not on this machine");
        assert_eq!(message(&Failure::raised(ErrorKind::DryRun, "would write /x")), "a dry run does not write /x");
        assert_eq!(message(&Failure::raised(ErrorKind::Failed, "no disk")), "no disk");
    }
}
