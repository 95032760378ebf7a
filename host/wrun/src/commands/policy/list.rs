//! `wrun policy list`: the policies whose artifacts are in the folder of the settings.

use crate::arguments::ListPoliciesArguments;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::{Layer, View};
use crate::table::Table;
use artifact::{Artifact, ArtifactError};
use serde_json::{Value, json};
use std::path::Path;
use text::{escape_line, shell_word};

/// The version of the JSON output. It grows when the meaning of a key changes or a key is removed.
const VERSION: u32 = 1;

pub(super) fn run(arguments: &ListPoliciesArguments, printer: Printer) -> anyhow::Result<Exit> {
    let layer = Layer { policies: arguments.policies.clone(), ..Layer::default() };
    let settings = crate::commands::settings(arguments.config.as_deref(), layer)?;
    list(&settings.run.policies, arguments.format, printer)
}

/// Lists the artifacts of a folder. An empty or absent folder is not an error, because a new node has none.
///
/// # Errors
/// The folder cannot be read.
pub(super) fn list(folder: &Path, format: View, printer: Printer) -> anyhow::Result<Exit> {
    let (names, is_absent) = match artifact::list(folder) {
        Ok(names) => (names, false),
        Err(ArtifactError::NoFolder { .. }) => (vec![], true),
        Err(error) => return Err(error.into()),
    };
    // A damaged artifact must not hide the others.
    let found: Vec<_> = names.into_iter().map(|name| (artifact::find(folder, &name), name)).collect();
    if format == View::Json {
        let policies: Vec<_> = found.iter().map(|(artifact, name)| as_json(name, artifact)).collect();
        let all = json!({ "version": VERSION, "folder": folder, "policies": policies });
        printer.json(&serde_json::to_string_pretty(&all)?);
        return Ok(Exit::Done);
    }
    let mut table = Table::new();
    for (artifact, name) in &found {
        match artifact {
            Ok(artifact) => {
                let versions = text::versions(&artifact.manifest().revision_id, artifact.digest());
                table.row(Tone::Plain, [name, &versions]);
            }
            Err(error) => table.row(Tone::Warning, [name, &text::error_chain(error)]),
        }
    }
    table.print(printer);
    if found.is_empty() {
        let shown = folder.display();
        let what = if is_absent { format!("{shown} does not exist") } else { format!("no policy is in {shown}") };
        let tip = format!("hint: `wrun policy build DIR --output {}` puts one there", shell_word(&shown.to_string()));
        printer.note(Tone::Plain, &escape_line(&what));
        printer.note(Tone::Warning, &escape_line(&tip));
    }
    Ok(Exit::Done)
}

fn as_json(name: &str, artifact: &Result<Artifact, ArtifactError>) -> Value {
    match artifact {
        Ok(artifact) => {
            json!({ "name": name, "revision": artifact.manifest().revision_id, "artifact": artifact.digest() })
        }
        Err(error) => json!({ "name": name, "error": text::error_chain(error) }),
    }
}
