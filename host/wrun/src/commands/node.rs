//! `wrun node show` and `wrun node explain`.

mod explanation;

use crate::arguments::{Common, NodeCommand};
use crate::exit::Exit;
use crate::house::{self, HISTORIES};
use crate::printer::{Printer, Tone};
use crate::settings::Format;
use anyhow::{Context as _, bail};
use node::object::NodeObject;
use state::StateDirectory;

pub(crate) fn run(command: NodeCommand, printer: &Printer) -> anyhow::Result<Exit> {
    match command {
        NodeCommand::Show { common } => {
            let (state, name) = find(&common)?;
            let mut saved = state.node(&name)?.context("the saved node is gone")?;
            if let Some(object) = saved.as_object_mut() {
                object.shift_remove(HISTORIES);
            }
            printer.json(&serde_json::to_string_pretty(&saved)?);
        }
        NodeCommand::Explain { common, attribute, format } => {
            let (state, name) = find(&common)?;
            explain(
                &house::saved_node(&state, &name)?.context("the saved node is gone")?,
                &attribute,
                format,
                *printer,
            )?;
        }
    }
    Ok(Exit::Done)
}

/// The state, and the name of the node that is meant, which has been saved there.
fn find(common: &Common) -> anyhow::Result<(StateDirectory, String)> {
    let settings = super::settings(common.config.as_deref(), common.layer())?;
    let place = settings.state_dir.display();
    let state = StateDirectory::open_existing(&settings.state_dir)?;
    let state = state.with_context(|| format!("there is no state in {place}: no run has saved a node there"))?;
    let names = state.node_names()?;
    let name = match (&settings.node_name, names.as_slice()) {
        (Some(name), _) => name.as_str().to_owned(),
        (None, [only]) => only.clone(),
        (None, []) => bail!("no run has saved a node in {place}"),
        (None, several) => bail!("{place} has several nodes; say which with --node-name: {}", several.join(", ")),
    };
    if !names.contains(&name) {
        bail!("{place} has no node {name}; it has: {}", names.join(", "));
    }
    Ok((state, name))
}

/// Keys separated by dots; `\.` is a dot in a key.
fn keys(attribute: &str) -> Vec<String> {
    let mut keys = vec![String::new()];
    let mut characters = attribute.chars();
    while let Some(character) = characters.next() {
        match (character, keys.last_mut()) {
            ('.', _) => keys.push(String::new()),
            ('\\', Some(key)) => key.extend(characters.next()),
            (character, Some(key)) => key.push(character),
            (_, None) => {}
        }
    }
    keys.retain(|key| !key.is_empty());
    keys
}

fn explain(node: &NodeObject, attribute: &str, format: Format, printer: Printer) -> anyhow::Result<()> {
    let keys = keys(attribute);
    if keys.is_empty() {
        bail!("name an attribute, as in `ntp.servers`");
    }
    let explanation = node.explain(&keys);
    if format.is_for_programs() {
        printer.json(&explanation::json(&keys, &explanation).to_string());
    } else {
        printer.line(Tone::Plain, &explanation::text(attribute, &explanation));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_named_with_dots() {
        for (text, expect) in [
            ("ntp.servers", vec!["ntp", "servers"]),
            ("net.a\\.b.c", vec!["net", "a.b", "c"]),
            ("..", vec![]),
            ("list.0", vec!["list", "0"]),
        ] {
            assert_eq!(keys(text), expect, "{text}");
        }
    }
}
