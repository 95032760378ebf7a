//! `wrun policy show`: what an artifact holds, and what it needs, held against the operator's grants.

use crate::arguments::ShowPolicyArguments;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::{Layer, View};
use artifact::Artifact;
use artifact::{Language, Manifest, Runtime};
use assemble::GrantsFiles;
use grants::{CheckedNeed, Grants, NeedAnswer};
use serde_json::{Value, json};
use text::escape_line;

/// The version of the JSON form; it grows when a key changes its meaning or goes away.
const VERSION: u32 = 1;

/// Shows an artifact.
///
/// # Errors
/// The artifact, the settings or the grants cannot be read, or the artifact's component is invalid.
pub(super) fn run(arguments: &ShowPolicyArguments, printer: Printer) -> anyhow::Result<Exit> {
    let layer = Layer { grants: arguments.grants.clone(), ..Layer::default() };
    let settings = crate::commands::settings(arguments.config.as_deref(), layer)?;
    let artifact = Artifact::open(&arguments.file)?;
    let manifest = artifact.manifest();
    if manifest.has_own_code() {
        // As a run without grants would: that the file is whole does not say that its code is valid.
        let limits = assemble::limits(&settings.run, &Grants::nothing().policy(&manifest.name, &[]));
        let examined = sandbox::examine(artifact.component(), limits.memory);
        examined.map_err(|why| anyhow::anyhow!("{} has no valid component: {why}", arguments.file.display()))?;
    }
    let files = GrantsFiles::read(&settings.run.grants, arguments.grants.is_some())?;
    let grants = files.parse()?;
    let cookbooks: Vec<_> = manifest.cookbooks.iter().map(|cookbook| cookbook.name.clone()).collect();
    let held = grants.policy(&manifest.name, &cookbooks).hold(&manifest.needs);
    if arguments.format == View::Json {
        printer.json(&serde_json::to_string_pretty(&as_json(&artifact, &held))?);
        return Ok(Exit::Done);
    }
    about(&artifact, printer);
    let place = settings.run.grants.display();
    let absent = if files.is_empty() { ", which does not exist" } else { "" };
    needs(&held, &format!("Needs, compared with the grants in {place}{absent}"), printer);
    Ok(Exit::Done)
}

fn about(artifact: &Artifact, printer: Printer) {
    let manifest = artifact.manifest();
    let line = |text: &str| printer.line(Tone::Plain, &escape_line(text));
    let heading = |text: &str| printer.line(Tone::Heading, &escape_line(text));
    heading(&format!("Policy {}", manifest.name));
    line(&format!("  revision  {}", manifest.revision_id));
    line(&format!("  artifact  {}", artifact.digest()));
    line(&format!("  contract  {}", manifest.contract));
    if let Runtime::Shared { name, digest } = &manifest.runtime {
        line(&format!("  runtime   {name} (sha256 {digest})"));
    }
    line(&format!("  size      {} KiB", artifact.bytes().len().div_ceil(1024)));
    heading("Cookbooks");
    for cookbook in &manifest.cookbooks {
        line(&format!("  {} {} ({})", cookbook.name, cookbook.version, language(cookbook.language)));
    }
    if let Some(gems) = &manifest.gems {
        let all: Vec<_> = gems.versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
        line(&format!("  gems: {}", all.join(", ")));
    }
    heading("Run list");
    manifest.run_list.iter().for_each(|item| line(&format!("  {item}")));
    for (name, list) in manifest.named_run_lists.iter() {
        heading(&format!("Named run list {name}"));
        list.iter().for_each(|item| line(&format!("  {item}")));
    }
}

fn language(language: Language) -> &'static str {
    match language {
        Language::Rust => "Rust",
        Language::Ruby => "Ruby",
    }
}

fn needs(held: &[CheckedNeed], heading: &str, printer: Printer) {
    printer.line(Tone::Heading, &escape_line(heading));
    if held.is_empty() {
        printer.line(Tone::Quiet, "  none are stated");
    }
    for CheckedNeed { key, value, answer } in held {
        let (tone, text) = match answer {
            NeedAnswer::Granted => (Tone::Plain, format!("  granted  {key}: {value}")),
            NeedAnswer::Missing => (Tone::Warning, format!("  missing  {key}: {value}")),
            NeedAnswer::Refused(why) => (Tone::Error, format!("  refused  {key}: {value} ({why})")),
        };
        printer.line(tone, &escape_line(&text));
    }
}

fn as_json(artifact: &Artifact, held: &[CheckedNeed]) -> Value {
    let Manifest { name, revision_id, contract, run_list, named_run_lists, cookbooks, gems, .. } = artifact.manifest();
    let runtime = match &artifact.manifest().runtime {
        Runtime::Rust => Value::Null,
        Runtime::Shared { name, digest } => json!({ "name": name, "sha256": digest }),
    };
    let cookbooks = cookbooks.iter().map(|cookbook| {
        json!({
            "name": cookbook.name,
            "version": cookbook.version,
            "language": language(cookbook.language).to_lowercase(),
            "identifier": cookbook.identifier,
            "dependencies": cookbook.dependencies,
        })
    });
    let needs = held.iter().map(|CheckedNeed { key, value, answer }| {
        let (answer, reason) = match answer {
            NeedAnswer::Granted => ("granted", None),
            NeedAnswer::Missing => ("missing", None),
            NeedAnswer::Refused(why) => ("refused", Some(why)),
        };
        json!({ "key": key, "value": value, "answer": answer, "reason": reason })
    });
    let named: serde_json::Map<_, _> = named_run_lists.iter().map(|(name, list)| (name.clone(), json!(list))).collect();
    json!({
        "version": VERSION,
        "name": name,
        "revision": revision_id,
        "artifact": artifact.digest(),
        "contract": contract,
        "runtime": runtime,
        "bytes": artifact.bytes().len(),
        "cookbooks": cookbooks.collect::<Vec<_>>(),
        "gems": gems.as_ref().map(|gems| &gems.versions),
        "run_list": run_list,
        "named_run_lists": named,
        "needs": needs.collect::<Vec<_>>(),
    })
}
