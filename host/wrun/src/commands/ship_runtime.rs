//! `wrun ship-runtime`: compiles the Ruby runtime to native code for a package. It is a hidden command for the build of
//! packages.

use crate::arguments::ShipRuntimeArguments;
use crate::exit::Exit;
use crate::printer::{Printer, Tone};
use assemble::Runtime;
use text::escape_line;

pub(crate) fn run(arguments: &ShipRuntimeArguments, printer: &Printer) -> anyhow::Result<Exit> {
    let native = Runtime::find(Some(&arguments.folder))?.ship_portable_native()?;
    printer.line(Tone::Plain, &escape_line(&native.display().to_string()));
    Ok(Exit::Done)
}
