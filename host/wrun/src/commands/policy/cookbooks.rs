//! What `wrun policy build` says of the cookbooks in Ruby, so that it does not appear first on a node.

use crate::commands::instances::Instances;
use crate::printer::{Printer, Tone};
use crate::settings::Settings;
use artifact::Manifest;
use assemble::known_facts;
use author::PolicyFolder;
use author::check::{Finding, Report, Subject, check};
use node::run_list::split_recipe;
use serde_json::Value;
use text::{counted, escape_line};

/// Largest number of cookbook problems that a build shows.
const MAX_SHOWN: usize = 20;

/// The kinds of problems with which each run may fail.
const FAILING: [&str; 3] = ["source", "resource", "constant"];

/// Checks the cookbooks in Ruby, and warns of problems.
///
/// # Errors
/// A file cannot be parsed, or each run of one of the policy's run lists fails at a place, in Chef too.
pub(super) fn check_cookbooks(policy: &PolicyFolder, settings: &Settings, printer: Printer) -> anyhow::Result<()> {
    // Cookbooks in Rust have no metadata.
    let Ok(subject) = Subject::all(&[policy.home().path().join("cookbooks")]) else { return Ok(()) };
    let manifest = policy.manifest();
    let attributes = [&manifest.default_attributes, &manifest.override_attributes];
    let subject = subject.with_attributes(attributes.map(|level| Value::Object(level.clone())).to_vec());
    let (instances, facts) = (Instances::find(settings)?, known_facts());
    let reports = check(&subject, &[], &[], &facts, &instances)?;
    let unreadable = problems(&reports, |finding| finding.kind == "syntax");
    if !unreadable.is_empty() {
        anyhow::bail!("{}", unreadable.join("\n"));
    }
    let mut failing = vec![];
    if !problems(&reports, |finding| FAILING.contains(&finding.kind)).is_empty() {
        for run_list in run_lists(manifest, &reports) {
            // A run list that cannot be followed has an error of its own, with its line.
            if let Ok(reached) = check(&subject, &run_list, &[], &facts, &instances) {
                failing.extend(problems(&reached, |finding| finding.is_certain));
            }
        }
    }
    let mut warnings = problems(&reports, |_| true);
    warnings.retain(|problem| !failing.contains(problem));
    warn(&warnings, printer);
    failing.sort();
    failing.dedup();
    if failing.is_empty() {
        return Ok(());
    }
    failing.push("a run of this policy fails there: mend it, or make the code conditional".to_owned());
    anyhow::bail!("{}", failing.join("\n"))
}

fn warn(problems: &[String], printer: Printer) {
    for text in problems.iter().take(MAX_SHOWN) {
        printer.note(Tone::Warning, &escape_line(&format!("warning: {text}")));
    }
    if problems.len() > MAX_SHOWN {
        let text = format!(
            "warning: {}: `wrun cookbook check --all --cookbooks DIR` lists all",
            counted(problems.len().saturating_sub(MAX_SHOWN), "more problem")
        );
        printer.note(Tone::Warning, &text);
    }
}

/// Returns the problems of one kind, as lines with their places.
fn problems(reports: &[Report], is_one: impl Fn(&Finding) -> bool) -> Vec<String> {
    let of = |report: &Report, finding: &Finding| {
        let hint = finding.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
        format!("cookbooks/{}/{}:{}: {}{hint}", report.name, finding.file, finding.line, finding.message)
    };
    let all = reports.iter().flat_map(|report| report.findings.iter().map(move |finding| (report, finding)));
    let chosen = all.filter(|(_, finding)| finding.is_problem && is_one(finding));
    chosen.map(|(report, finding)| of(report, finding)).collect()
}

/// Returns the run lists of a policy, with the recipes of checked cookbooks alone.
fn run_lists(manifest: &Manifest, reports: &[Report]) -> Vec<Vec<String>> {
    let is_checked = |item: &&String| {
        let recipe = item.strip_prefix("recipe[").and_then(|item| item.strip_suffix(']'));
        recipe.is_some_and(|recipe| reports.iter().any(|report| report.name == split_recipe(recipe).0))
    };
    let named = manifest.named_run_lists.iter().map(|(_, list)| list);
    let lists = std::iter::once(&manifest.run_list).chain(named);
    let checked = lists.map(|list| list.iter().filter(is_checked).cloned().collect::<Vec<_>>());
    checked.filter(|list| !list.is_empty()).collect()
}
