//! `wrun policy new` and `wrun policy build`.

mod ruby;

use crate::arguments::PolicyCommand;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::Layer;
use anyhow::{Context as _, bail};
use policy::author::{self, SdkSource};
use policy::build;
use ruby::RuntimeHere;
use std::path::{Path, PathBuf};

pub(crate) fn run(command: PolicyCommand, printer: &Printer) -> anyhow::Result<Exit> {
    match command {
        PolicyCommand::New { folder, name, sdk_path, sdk_git } => start(&folder, name, sdk_path, sdk_git, *printer),
        PolicyCommand::Build { folder, output, gems, target_dir } => {
            let output = output.unwrap_or_else(|| folder.clone());
            let target = target_dir.unwrap_or_else(|| folder.join("target"));
            build_one(&folder, &output, gems.as_deref(), &target, *printer)
        }
    }
}

fn start(
    folder: &Path,
    name: Option<String>,
    sdk_path: Option<PathBuf>,
    sdk_git: Option<String>,
    printer: Printer,
) -> anyhow::Result<Exit> {
    let name = match name {
        Some(name) => name,
        None => {
            let absolute = std::path::absolute(folder).context("there is no current directory")?;
            let last = absolute.file_name().and_then(|name| name.to_str());
            last.with_context(|| {
                format!("{} has no name that a policy could have; give one by --name", folder.display())
            })?
            .to_owned()
        }
    };
    let sdk = match (sdk_path, sdk_git) {
        (Some(path), _) => SdkSource::Path(path),
        (None, Some(url)) => SdkSource::Git { url, revision: None },
        (None, None) => bail!(
            "which SDK? give --sdk-path DIR (the folder guests/sdk of a checkout of wrun) or --sdk-git URL (a repository that has it)"
        ),
    };
    author::create(folder, &name, &sdk)?;
    let folder = folder.display();
    printer
        .line(Tone::Plain, &format!("started policy {name} in {folder}; build it with `wrun policy build {folder}`"));
    Ok(Exit::Done)
}

fn build_one(
    folder: &Path,
    output: &Path,
    gems: Option<&Path>,
    target: &Path,
    printer: Printer,
) -> anyhow::Result<Exit> {
    let settings = build::Settings::from_environment()?;
    let program = super::settings(None, Layer::default())?;
    let mut compiler = || build::guest_compiler(&settings, &mut |sentence| printer.note(Tone::Quiet, sentence));
    let artifact = author::build(folder, gems, &mut RuntimeHere::new(&program), &mut compiler, target)?;
    let path = author::store(&artifact, output)?;
    let manifest = artifact.manifest();
    let revision = manifest.revision_id.get(..12).unwrap_or_default();
    let size = artifact.bytes().len().div_ceil(1024);
    let text = format!("{}: policy {}, revision {revision}, {size} KiB", path.display(), manifest.name);
    printer.line(Tone::Plain, &text);
    Ok(Exit::Done)
}
