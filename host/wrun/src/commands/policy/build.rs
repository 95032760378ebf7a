//! `wrun policy build`.

use super::cookbooks::check_cookbooks;
use super::describe;
use super::lock::with_tools;
use super::ruby::RuntimeHere;
use crate::arguments::BuildArguments;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::Layer;
use artifact::Artifact;
use author::build::{self, Profile};
use author::policyfile::{Place, local_folders, policyfile_of, tried};
use author::{Options, PolicyFolder};
use plain_files::HeldFolder;
use std::path::{Path, PathBuf};
use text::escape_line;

/// Builds a policy's folder and writes its artifact.
///
/// # Errors
/// Something in the folder is wrong, there is no compiler, its crates do not compile, the component lacks what the policy
/// asks of it, or a file cannot be written.
pub(super) fn run(arguments: &BuildArguments, printer: Printer) -> anyhow::Result<Exit> {
    // Opened once: what is read and where the artifact goes is one folder, whatever its path is exchanged for meanwhile.
    let home = author::open_policy(&arguments.folder)?;
    let folder = home.path();
    // This check comes before minutes of compiling.
    if let Some(output) = arguments.output.as_ref().filter(|output| output.exists() && !output.is_dir()) {
        anyhow::bail!("--output names a directory, but {} is a file", output.display());
    }
    if let Some(output) = arguments
        .output
        .as_ref()
        .filter(|output| !output.exists() && output.extension().is_some_and(|ending| ending == "wasm"))
    {
        let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        anyhow::bail!(
            "--output names the directory for the artifact, which is called as the policy is: give {} instead of {}",
            folder.display(),
            output.display()
        );
    }
    let target = target_folder(folder, arguments.target_dir.as_deref());
    let profile = if arguments.dev { Profile::Dev } else { Profile::Release };
    let options = Options { gems: arguments.gems.as_deref(), target_folder: &target, profile };
    let artifact = built(&home, &options, printer)?;
    check_output(&home, arguments.output.as_deref().unwrap_or(folder))?;
    let path = match &arguments.output {
        Some(output) => author::store(&artifact, output)?,
        None => author::store_in(&artifact, &home)?,
    };
    let manifest = artifact.manifest();
    let versions = text::versions(&manifest.revision_id, artifact.digest());
    let size = artifact.bytes().len().div_ceil(1024);
    let (place, name) = (path.display(), &manifest.name);
    let dev = if manifest.dev { ", for this machine (--dev)" } else { "" };
    let text = format!("{place}: policy {name}, {versions}, {size} KiB{dev}");
    printer.prose(Tone::Plain, &text);
    Ok(Exit::Done)
}

/// Returns the target folder for cargo.
pub(super) fn target_folder(folder: &Path, given: Option<&Path>) -> PathBuf {
    given.map_or_else(|| folder.join("target"), Path::to_owned)
}

/// Refuses to write the artifact into a cookbook of the policy, since it would become one of the cookbook's files.
fn check_output(home: &HeldFolder, output: &Path) -> anyhow::Result<()> {
    let cookbooks = policyfile_of(home).map(|place| local_folders(&place)).unwrap_or_default();
    let Ok(real) = output.canonicalize() else { return Ok(()) };
    match cookbooks.iter().find(|cookbook| cookbook.canonicalize().is_ok_and(|cookbook| real.starts_with(cookbook))) {
        None => Ok(()),
        Some(cookbook) => anyhow::bail!(
            "the artifact in {} would be a file of the cookbook in {}: name another directory with --output",
            output.display(),
            cookbook.display()
        ),
    }
}

/// Builds an artifact and checks it, without writing it anywhere.
///
/// # Errors
/// As [`run`], but for writing.
pub(super) fn built(home: &HeldFolder, options: &Options<'_>, printer: Printer) -> anyhow::Result<Artifact> {
    if let Some(place) = policyfile_of(home) {
        return of_policyfile(&place, options, printer);
    }
    build_policy(&read_policy(home, options, printer)?, options, printer)
}

/// Builds a Policyfile's policy with the current content of the cookbooks' folders.
fn of_policyfile(place: &Place, options: &Options<'_>, printer: Printer) -> anyhow::Result<Artifact> {
    if options.gems.is_some() {
        anyhow::bail!("--gems is for a policy.toml: the gems of a Policyfile are in the folder `gems` beside it");
    }
    let settings = crate::commands::settings(None, Layer::default())?;
    let policy = with_tools(printer, |tools| Ok(tried(place, tools, &mut RuntimeHere::new(&settings))?))?;
    if let Some((lock, differences)) = policy.outdated {
        let (lock, file) = (lock.display(), place.policyfile.display());
        let text = format!(
            "note: {lock} does not fit what was built; `wrun policy update {file}` locks it, and `wrun policy push` needs that"
        );
        printer.note(Tone::Quiet, &escape_line(&text));
        for difference in differences {
            printer.note(Tone::Quiet, &escape_line(&format!("- {difference}")));
        }
    }
    Ok(policy.artifact)
}

/// Reads a policy's folder and makes all checks that need no compiling.
///
/// # Errors
/// Something in the folder is wrong.
pub(super) fn read_policy(home: &HeldFolder, options: &Options<'_>, printer: Printer) -> anyhow::Result<PolicyFolder> {
    let settings = crate::commands::settings(None, Layer::default())?;
    let policy = with_tools(printer, |tools| {
        Ok(PolicyFolder::read_with(home, options.gems, &mut RuntimeHere::new(&settings), tools)?)
    })?;
    for folder in policy.left_out() {
        let why = "it is not a cookbook: it has no metadata.rb, no metadata.json and no Cargo.toml";
        printer.note(Tone::Warning, &escape_line(&format!("warning: {} is left out: {why}", folder.display())));
    }
    check_cookbooks(&policy, &settings, printer)?;
    Ok(policy)
}

/// Builds the artifact of a policy that [`read_policy`] returned.
///
/// # Errors
/// There is no compiler, the crates do not compile, or the component lacks what the policy asks of it.
pub(super) fn build_policy(policy: &PolicyFolder, options: &Options<'_>, printer: Printer) -> anyhow::Result<Artifact> {
    let compilers = build::Settings::from_environment()?;
    let settings = crate::commands::settings(None, Layer::default())?;
    let is_first = !options.target_folder.join(build::toolchain::GUEST_TARGET).join(options.profile.folder()).exists();
    let mut compiler = || {
        let compiler = build::guest_compiler(&compilers, &mut |sentence| printer.note(Tone::Quiet, sentence))?;
        if is_first || options.profile == Profile::Release {
            let patience = if is_first { "; the first build takes a minute or more" } else { "" };
            printer.note(Tone::Quiet, &format!("compiling with {}{patience}", compiler.describe()));
        }
        Ok(compiler)
    };
    let artifact = policy.build(options, &mut compiler)?;
    if artifact.manifest().has_own_code() {
        policy.check_component(&describe::component(&settings, &artifact)?)?;
        for text in policy.silent_calls().into_iter().chain(policy.unnamed_needs(&artifact)) {
            printer.note(Tone::Warning, &escape_line(&format!("warning: {text}")));
        }
    }
    Ok(artifact)
}
