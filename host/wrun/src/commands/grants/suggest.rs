//! `wrun grants suggest`: makes a dry run that collects everything a real run could need (a *survey*), and prints it as
//! grants.

use crate::arguments::{ConvergeArguments, SuggestArguments, Suggesting};
use crate::commands::converge;
use crate::exit::Exit;
use crate::printer::Printer;

pub(super) fn run(arguments: SuggestArguments, printer: &Printer) -> anyhow::Result<Exit> {
    let SuggestArguments { converge, write, yes, dangerous, sensitive } = arguments;
    let suggest_grants = Some(Suggesting { write, yes, dangerous, sensitive });
    converge::run(ConvergeArguments { suggest_grants, why_run: true, keep_going: true, ..converge }, printer)
}
