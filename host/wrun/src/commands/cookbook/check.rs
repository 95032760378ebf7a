//! `wrun cookbook check`: tells before any run what cookbooks need and which parts of them would not work.
//!
//! [`author::check`] judges. Here are the arguments, the Ruby instances that read, and what is shown.

mod show;

use crate::arguments::CheckArguments;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::program::program;
use crate::settings::{Format, Layer, Settings};
use assemble::{Runtime, known_facts};
use author::check::{Ask, Readers, Report, Subject, check};
use contract::{CookbookFiles, Stop};
use std::error::Error;
use std::sync::Arc;

pub(super) fn run(arguments: &CheckArguments, printer: Printer) -> anyhow::Result<Exit> {
    let settings = crate::commands::settings(arguments.config.as_deref(), Layer::default())?;
    let subject = match arguments.all {
        true => Subject::all(&arguments.cookbooks)?,
        false => Subject::one(&arguments.folder, &arguments.cookbooks)?,
    };
    let readers =
        Instances { settings: &settings, runtime: Arc::new(Runtime::find(settings.run.runtime_dir.as_deref())?) };
    let reports = check(&subject, &arguments.run_list, &known_facts(), &readers)?;
    match (arguments.format, reports.as_slice()) {
        (Format::Json | Format::Ndjson, [report]) if !arguments.all => printer.json(&show::json(report).to_string()),
        (Format::Json | Format::Ndjson, reports) => printer.json(&show::all_json(reports).to_string()),
        (_, [report]) if !arguments.all => show::text(report, printer),
        (_, reports) => show::all_text(reports, printer),
    }
    Ok(if reports.iter().all(Report::works) { Exit::Done } else { Exit::Failed })
}

/// Instances of the Ruby runtime, which are granted nothing.
struct Instances<'a> {
    settings: &'a Settings,
    runtime: Arc<Runtime>,
}

impl Readers for Instances<'_> {
    fn open(
        &self,
        files: Arc<dyn CookbookFiles>,
        questions: &mut dyn FnMut(&mut Ask<'_>),
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        let (settings, runtime) = (&self.settings.run, Arc::clone(&self.runtime));
        Ok(assemble::ask(settings, &program(), &Stop::default(), runtime, files, |ask| questions(ask))?)
    }
}
