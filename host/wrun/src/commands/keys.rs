//! `wrun keys`: handles the keys that sign releases.

use super::repository::{new_passphrase, own_places, say};
use crate::arguments::KeysCommand;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use anyhow::Context as _;
use repository::admin::{own_command_key, own_key};
use repository::key_file::{EXTENSION, KeyFile};
use repository::keys::PublicKey;
use repository::names::check_name;
use text::{error_chain, escape_line};

pub(crate) fn run(command: KeysCommand, printer: &Printer) -> anyhow::Result<Exit> {
    let (printer, folder) = (*printer, own_places()?.keys());
    match command {
        KeysCommand::New { name } => {
            check_name(&name, "key")?;
            let path = folder.join(format!("{name}.{EXTENSION}"));
            anyhow::ensure!(!path.exists(), "the key {} exists already", path.display());
            let key = own_key(&folder, &name, &new_passphrase(printer)?)?;
            printer.note(Tone::Quiet, &format!("{} was made", path.display()));
            say(printer, &key.to_json().to_string());
        }
        KeysCommand::Command { name, public, command } => {
            let public = PublicKey::from_hex(&public);
            let public = public.context("--public takes the 64 hexadecimal digits of an Ed25519 key")?;
            let path = own_command_key(&folder, &name, &public, &command)?;
            printer.note(Tone::Quiet, &format!("{} was made", path.display()));
            say(printer, &public.to_json().to_string());
        }
        KeysCommand::Show { name: Some(name) } => {
            check_name(&name, "key")?;
            let key = KeyFile::read(&folder.join(format!("{name}.{EXTENSION}")))?;
            say(printer, &key.public().to_json().to_string());
        }
        KeysCommand::Show { name: None } => {
            let (files, problems) = KeyFile::all(&folder)?;
            for file in files {
                let name = file.path().file_stem().context("a key's file has a name")?.to_string_lossy().into_owned();
                let kind = match file.command() {
                    Some(command) => format!(", signed for by {}", escape_line(&command.join(" "))),
                    None if file.needs_passphrase() => ", with a passphrase".to_owned(),
                    None => String::new(),
                };
                say(printer, &format!("{name}: {}{kind}", file.public().id()));
            }
            for problem in problems {
                printer.note(Tone::Warning, &escape_line(&format!("warning: {}", error_chain(&problem))));
            }
        }
    }
    Ok(Exit::Done)
}
