//! `wrun policy import`. [`import::import`] contains the decisions; this module handles arguments and messages.

use crate::arguments::ImportPolicyArguments;
use crate::commands::instances::Instances;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::Layer;
use anyhow::Context as _;
use assemble::known_facts;
use author::policyfile::expanded;
use import::{Output, Written, import, write};
use plain_files::HeldFolder;
use text::{counted, escape_line};

/// The folder for what is written, below the repository's.
const OUTPUT: &str = "wrun";

pub(super) fn run(arguments: &ImportPolicyArguments, printer: Printer) -> anyhow::Result<Exit> {
    let settings = crate::commands::settings(None, Layer::default())?;
    let here = super::here()?;
    // Both paths are resolved, since the Policyfiles name the cookbooks by relative paths.
    let folder = expanded(&arguments.folder, &here);
    let found = folder.canonicalize().map_err(|error| plain_files::explained(&folder, error));
    let folder = found.with_context(|| format!("there is no Chef repository at {}", folder.display()))?;
    let output = match &arguments.output {
        None => folder.join(OUTPUT),
        Some(output) => expanded(output, &here.canonicalize().unwrap_or(here.clone())),
    };
    let repository = author::open_policy(&folder)?;
    if arguments.output.is_none() {
        author::refuse_links(&repository, OUTPUT)?;
    }
    let import = import(&folder, &output, &known_facts(), &Instances::find(&settings)?)?;
    // The repository may be untrusted, so links are checked. A folder that the user names may be a link.
    let target = match arguments.output {
        None => author::below_policy(&repository, OUTPUT)?,
        Some(_) => HeldFolder::make(&output).with_context(|| format!("{} cannot be written", output.display()))?,
    };
    for (path, written) in write(&target, &import.files, Output::Folder, arguments.force)? {
        let word = match written {
            Written::Made => "wrote",
            Written::Replaced => "replaced",
            Written::Same => "unchanged:",
        };
        printer.prose(Tone::Plain, &escape_line(&format!("{word} {}", path.display())));
    }
    for problems in [true, false] {
        let notes: Vec<_> = import.notes.iter().filter(|note| note.is_problem == problems).collect();
        let (title, tone) = match problems {
            true => ("would not work", Tone::Warning),
            false => ("to look at", Tone::Plain),
        };
        if !notes.is_empty() {
            printer.prose(Tone::Heading, &format!("\n{title} ({}):", notes.len()));
        }
        for note in notes {
            // The error of a file's evaluation may have several lines.
            printer.prose(tone, &escape_line(&format!("  {}", note.to_string().replace('\n', " "))));
        }
    }
    let (policies, layers) = (counted(import.policies.len(), "policy"), counted(import.layers.len(), "layer"));
    printer.prose(Tone::Plain, &format!("\n{policies} and {layers}. import.md has this list."));
    let mut next = "next:";
    for policy in &import.policies {
        let folder = output.join("policies").join(policy);
        let (folder, file) = (folder.display(), folder.join("Policyfile.rb"));
        // A Policyfile needs a lock before it can be built.
        let commands = format!("{next} wrun policy install {} && wrun policy build {folder}", file.display());
        printer.prose(Tone::Plain, &escape_line(&commands));
        next = "     ";
    }
    let would_fail = import.notes.iter().any(|note| note.is_problem);
    Ok(if would_fail { Exit::Failed } else { Exit::Done })
}
