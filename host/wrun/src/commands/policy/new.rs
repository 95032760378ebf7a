//! `wrun policy new`.

use crate::arguments::NewArguments;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use anyhow::Context as _;
use author::{SdkSource, Start};

/// Creates the folder of a new policy with its first files.
///
/// # Errors
/// The name is impossible, the folder is not empty or cannot be written, or the SDK is not where it should be.
pub(super) fn run(arguments: NewArguments, printer: Printer) -> anyhow::Result<Exit> {
    let NewArguments { folder, name, ruby, sdk_path, sdk_git } = arguments;
    let name = match name {
        Some(name) => name,
        None => {
            let absolute = std::path::absolute(&folder).context("the current directory is unknown")?;
            let last = absolute.file_name().and_then(|name| name.to_str());
            last.with_context(|| {
                format!("the name of {} cannot be a policy's; give another one with --name", folder.display())
            })?
            .to_owned()
        }
    };
    let start = match (ruby, sdk_path, sdk_git) {
        (true, _, _) => Start::Ruby,
        (false, Some(path), _) => Start::Rust(SdkSource::Path(path)),
        (false, None, Some(url)) => Start::Rust(SdkSource::Git { url, revision: None }),
        (false, None, None) => Start::Rust(SdkSource::Carried),
    };
    let cookbook = author::create(&folder, &name, &start)?;
    let folder = folder.display();
    printer.prose(Tone::Plain, &format!("started policy {name} in {folder}; its README.md says what is in it"));
    if cookbook != name {
        let language = if ruby { "Ruby" } else { "Rust" };
        let text = format!("its cookbook is called {cookbook}, because code in {language} cannot have the name {name}");
        printer.prose(Tone::Plain, &text);
    }
    let commands = [
        (format!("policy dev {folder} -- --allow-all"), "show what each edit would change"),
        (format!("policy build {folder}"), "make its artifact"),
    ];
    let width = commands.iter().map(|(command, _)| command.len()).max().unwrap_or_default();
    for (command, what) in commands {
        printer.prose(Tone::Plain, &format!("  wrun {command:width$}  # {what}"));
    }
    Ok(Exit::Done)
}
