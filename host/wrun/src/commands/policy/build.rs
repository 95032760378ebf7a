//! `wrun policy build`.

use super::ruby::RuntimeHere;
use crate::arguments::BuildArguments;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::Layer;
use policy::author;
use policy::build;

/// Builds a policy's folder and writes its artifact.
///
/// # Errors
/// Something in the folder is wrong, there is no compiler, its crates do not compile, or a file cannot be written.
pub(super) fn run(arguments: &BuildArguments, printer: Printer) -> anyhow::Result<Exit> {
    let folder = &arguments.folder;
    let output = arguments.output.as_ref().unwrap_or(folder);
    let target = arguments.target_dir.clone().unwrap_or_else(|| folder.join("target"));
    let settings = build::Settings::from_environment()?;
    let program = crate::commands::settings(None, Layer::default())?;
    let is_first = !target.exists();
    let mut compiler = || {
        let compiler = build::guest_compiler(&settings, &mut |sentence| printer.note(Tone::Quiet, sentence))?;
        let patience = if is_first { "; the first build takes about a minute" } else { "" };
        printer.note(Tone::Quiet, &format!("compiling with {}{patience}", compiler.describe()));
        Ok(compiler)
    };
    let gems = arguments.gems.as_deref();
    let artifact = author::build(folder, gems, &mut RuntimeHere::new(&program), &mut compiler, &target)?;
    let path = author::store(&artifact, output)?;
    let manifest = artifact.manifest();
    let revision = manifest.revision_id.get(..12).unwrap_or_default();
    let size = artifact.bytes().len().div_ceil(1024);
    let digest = artifact.digest().get(..12).unwrap_or_default();
    let (place, name) = (path.display(), &manifest.name);
    let text = format!("{place}: policy {name}, revision {revision}, artifact {digest}, {size} KiB");
    printer.line(Tone::Plain, &text);
    Ok(Exit::Done)
}
