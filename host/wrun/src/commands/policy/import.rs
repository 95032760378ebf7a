//! `wrun policy import`: [`import::import`] decides, here are arguments and words.

use crate::arguments::ImportPolicyArguments;
use crate::commands::instances::Instances;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use crate::settings::Layer;
use anyhow::Context as _;
use assemble::known_facts;
use author::policyfile::expanded;
use import::{Written, import, write};
use text::escape_line;

pub(super) fn run(arguments: &ImportPolicyArguments, printer: Printer) -> anyhow::Result<Exit> {
    let settings = crate::commands::settings(None, Layer::default())?;
    let here = super::here()?;
    // Without links on both sides: the Policyfiles name the cookbooks by the way between them.
    let folder = expanded(&arguments.folder, &here);
    let folder =
        folder.canonicalize().with_context(|| format!("there is no Chef repository at {}", folder.display()))?;
    let output = match &arguments.output {
        None => folder.join("wrun"),
        Some(output) => expanded(output, &here.canonicalize().unwrap_or(here.clone())),
    };
    let import = import(&folder, &output, &known_facts(), &Instances::find(&settings)?)?;
    for (path, written) in write(&output, &import.files, arguments.force)? {
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
            printer.prose(tone, &escape_line(&format!("  {note}")));
        }
    }
    let count = |number: usize, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
    let (policies, layers) = (count(import.policies.len(), "policy"), count(import.layers.len(), "layer"));
    let policies = policies.replace("policys", "policies");
    printer.prose(Tone::Plain, &format!("\n{policies} and {layers}. import.md has this list."));
    if let Some(first) = import.policies.first() {
        let file = output.join("policies").join(first).join("Policyfile.rb");
        printer.prose(Tone::Plain, &escape_line(&format!("next: wrun policy install {}", file.display())));
    }
    Ok(Exit::Done)
}
