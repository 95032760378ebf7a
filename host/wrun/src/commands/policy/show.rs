//! `wrun policy show`: shows the content of an artifact, and compares its needs with the operator's grants.

use super::lock::here;
use super::release::{locked_policy, released};
use crate::arguments::ShowPolicyArguments;
use crate::commands::repository::{as_publisher, own_places};
use crate::exit::Exit;
use crate::printer::{Hinted, Printer, Tone};
use crate::settings::{Layer, View};
use crate::table::Table;
use artifact::Artifact;
use artifact::{Language, Manifest, Runtime};
use assemble::GrantsFiles;
use author::release::ReleaseError;
use contract::Stop;
use grants::{CheckedNeed, Grants, NeedAnswer};
use repository::Release;
use serde_json::{Value, json};
use std::path::Path;
use text::{escape_line, shell_word};

/// The version of the JSON output. It grows when the meaning of a key changes or a key is removed.
const VERSION: u32 = 1;

/// Shows an artifact.
///
/// # Errors
/// The artifact, the settings or the grants cannot be read, or the artifact's component is invalid.
pub(super) fn run(arguments: &ShowPolicyArguments, printer: Printer) -> anyhow::Result<Exit> {
    let layer = Layer { grants: arguments.grants.clone(), ..Layer::default() };
    let settings = crate::commands::settings(arguments.config.as_deref(), layer)?;
    let (artifact, release) = match (&arguments.file, &arguments.group) {
        (Some(file), _) => (named(file, &settings.run.policies)?, None),
        (None, Some(group)) => match policy_that_is_meant(arguments)? {
            Some(policy) => {
                let (artifact, release) = of_group(arguments, group, &policy)?;
                (artifact, Some(release))
            }
            None => return groups(arguments, printer),
        },
        (None, None) if has_no_repository(arguments)? => {
            return super::list::list(&settings.run.policies, arguments.format, printer);
        }
        (None, None) => return groups(arguments, printer),
    };
    let manifest = artifact.manifest();
    if manifest.has_own_code() {
        // Loads the component as a run without grants would, since an intact file can still contain invalid code.
        let limits = assemble::limits(&settings.run, &Grants::nothing().policy(&manifest.name, &[]));
        let compiler = assemble::compiler(&settings.run, &crate::program::program(), &Stop::default());
        let examined = sandbox::examine(artifact.component(), limits.memory);
        let examined = examined.and_then(|()| compiler.validate(artifact.component()));
        examined.map_err(|why| anyhow::anyhow!("{} has no valid component: {why}", artifact.path().display()))?;
    }
    let files = GrantsFiles::read(&settings.run.grants, arguments.grants.is_some())?;
    let grants = files.parse()?;
    let cookbooks: Vec<_> = manifest.cookbooks.iter().map(|cookbook| cookbook.name.clone()).collect();
    let held = grants.policy(&manifest.name, &cookbooks).hold(&manifest.needs);
    if arguments.format == View::Json {
        printer.json(&serde_json::to_string_pretty(&as_json(&artifact, &held, release.as_ref()))?);
        return Ok(Exit::Done);
    }
    about(&artifact, release.as_ref(), printer);
    let place = settings.run.grants.display();
    let absent = if files.is_empty() { ", which does not exist" } else { "" };
    needs(&held, &format!("Needs, compared with the grants in {place}{absent}"), printer);
    Ok(Exit::Done)
}

/// The artifact of the policy of that name in the folder of the settings, else the file. What has a `/` is never a name, and what
/// has an ending and is not the name of a policy is a file.
fn named(file: &Path, policies: &Path) -> anyhow::Result<Artifact> {
    let name = file.to_str().filter(|name| !name.contains('/'));
    let has_artifact = |name: &&str| policies.join(format!("{name}.wasm")).is_file();
    if let Some(name) = name.filter(has_artifact) {
        return Ok(artifact::find(policies, name)?);
    }
    if file.is_dir() {
        let error = anyhow::anyhow!("{} is a folder, not an artifact", file.display());
        let hint = match artifact_in(file) {
            Some(artifact) => format!("the artifact in it: wrun policy show {}", shell_word(&artifact)),
            None => "`wrun policy build` makes one of a policy's folder: NAME.wasm".to_owned(),
        };
        return Err(Hinted::new(error, hint).into());
    }
    match name.filter(|_| file.extension().is_none() && !file.exists()) {
        Some(name) => Ok(artifact::find(policies, name)?),
        None => Ok(Artifact::open(file)?),
    }
}

/// Returns the path of the artifact that was built in a policy's folder of the same name, or `None` if it was not built.
fn artifact_in(folder: &Path) -> Option<String> {
    let whole = std::path::absolute(folder).ok()?;
    let artifact = folder.join(whole.file_name()?).with_added_extension("wasm");
    artifact.is_file().then(|| artifact.display().to_string())
}

/// Tells whether no repository is named, neither by the arguments nor by an earlier command.
fn has_no_repository(arguments: &ShowPolicyArguments) -> anyhow::Result<bool> {
    if arguments.policy.is_some() || arguments.repository.repository.is_some() {
        return Ok(false);
    }
    Ok(matches!(own_places()?.repository(None), Err(ReleaseError::NoRepository)))
}

/// Returns the named policy, or the policy of this folder. Returns `None` if the folder has no policy.
fn policy_that_is_meant(arguments: &ShowPolicyArguments) -> anyhow::Result<Option<String>> {
    match &arguments.policy {
        Some(policy) => Ok(Some(policy.clone())),
        None => locked_policy(&here()?),
    }
}

/// Returns the artifact that a group runs, and its signers.
fn of_group(arguments: &ShowPolicyArguments, group: &str, policy: &str) -> anyhow::Result<(Artifact, ShownRelease)> {
    as_publisher(&arguments.repository, |publisher| {
        let platform = publisher.platform()?;
        let team = publisher.owner(&platform, policy)?;
        let current = publisher.team(&platform, team)?.current;
        let release = released(publisher, &current, &team.name, policy, group)?;
        let artifact = publisher.artifact(&current, &release)?;
        Ok((artifact, ShownRelease { team: team.name.clone(), release }))
    })
}

/// Shows the releases of all groups, or of the named group, for one policy or for all.
fn groups(arguments: &ShowPolicyArguments, printer: Printer) -> anyhow::Result<Exit> {
    let mut all = as_publisher(&arguments.repository, |publisher| {
        let platform = publisher.platform()?;
        let mut all = vec![];
        for team in &platform.teams {
            let current = publisher.team(&platform, team)?.current;
            let releases = publisher.groups(&current)?.into_iter();
            let wanted = releases.filter(|release| {
                arguments.policy.as_ref().is_none_or(|name| *name == release.policy)
                    && arguments.group.as_ref().is_none_or(|name| *name == release.group)
            });
            all.extend(wanted.map(|release| ShownRelease { team: team.name.clone(), release }));
        }
        Ok(all)
    })?;
    all.sort_by(|one, other| {
        (&one.release.policy, &one.release.group).cmp(&(&other.release.policy, &other.release.group))
    });
    if arguments.format == View::Json {
        let all: Vec<_> = all.iter().map(ShownRelease::to_json).collect();
        printer.json(&serde_json::to_string_pretty(&json!({ "version": VERSION, "groups": all }))?);
        return Ok(Exit::Done);
    }
    let mut table = Table::new();
    for ShownRelease { team, release } in &all {
        let short = |what: &str, text: &str| format!("{what} {}", text.chars().take(12).collect::<String>());
        let Release { policy, group, revision_id, digest, .. } = release;
        let (revision, artifact) = (short("revision", revision_id), short("artifact", digest));
        table.row(Tone::Plain, [policy, group, &revision, &artifact, &format!("team {team}")]);
    }
    table.print(printer);
    if all.is_empty() {
        let to = arguments.group.as_ref().map(|group| format!(" to the group {group}")).unwrap_or_default();
        printer.note(Tone::Quiet, &escape_line(&format!("nothing has been released{to}")));
    }
    Ok(Exit::Done)
}

/// A release with the team that signed it.
struct ShownRelease {
    team: String,
    release: Release,
}

impl ShownRelease {
    fn to_json(&self) -> Value {
        let Release { policy, group, revision_id, digest, .. } = &self.release;
        json!({ "policy": policy, "group": group, "revision": revision_id, "artifact": digest, "team": self.team })
    }
}

fn about(artifact: &Artifact, release: Option<&ShownRelease>, printer: Printer) {
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
    if let Some(build) = &manifest.build {
        line(&format!("  compiler  {}", build.compiler));
    }
    if let Some(archive) = &manifest.archive {
        line(&format!("  archive   sha256 {archive}; the cookbooks' identifiers are its statement"));
    }
    if let Some(ShownRelease { team, release }) = release {
        line(&format!("  released  to the group {} by team {team}", release.group));
    }
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
    printer.prose(Tone::Heading, &escape_line(heading));
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

fn as_json(artifact: &Artifact, held: &[CheckedNeed], release: Option<&ShownRelease>) -> Value {
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
        "build": artifact.manifest().build.as_ref(),
        "archive": artifact.manifest().archive.as_ref(),
        "release": release.map(ShownRelease::to_json),
        "cookbooks": cookbooks.collect::<Vec<_>>(),
        "gems": gems.as_ref().map(|gems| &gems.versions),
        "run_list": run_list,
        "named_run_lists": named,
        "needs": needs.collect::<Vec<_>>(),
    })
}
