//! What a cookbook needs and what of it would not work, said before any run.
//!
//! The cookbook's text is parsed in the sandbox, by the Ruby that would run it, and never here; only its metadata is evaluated,
//! with nothing granted. What comes back are facts (`facts.rs`), which are held against what this program knows (`judge.rs`).

mod facts;
mod gather;
mod judge;
mod needs;
mod show;
mod suggest;

use crate::arguments::CheckArguments;
use crate::exit::Exit;
use crate::house::Runtime;
use crate::printer::Printer;
use crate::settings::{Format, Layer};
use anyhow::{Context as _, ensure};
use policy::CookbookFolders;
use std::path::Path;
use std::sync::Arc;

/// All that is said about one cookbook.
struct Report {
    name: String,
    version: String,
    /// How many files were looked at.
    files: usize,
    findings: Vec<judge::Finding>,
    needs: needs::Needs,
}

impl Report {
    fn works(&self) -> bool {
        !self.findings.iter().any(|finding| finding.is_problem)
    }
}

pub(super) fn run(arguments: &CheckArguments, printer: Printer) -> anyhow::Result<Exit> {
    let settings = crate::commands::settings(arguments.config.as_deref(), Layer::default())?;
    let place = arguments.folder.canonicalize();
    let place = place.with_context(|| format!("there is no cookbook at {}", arguments.folder.display()))?;
    let (folder, files) = open(&place, arguments)?;
    let runtime = Arc::new(Runtime::find(settings.runtime_dir.as_deref())?);
    let gathered = gather::gather(&settings, &runtime, &Arc::new(files), &folder)?;
    let report = Report {
        name: gathered.name.clone(),
        version: gathered.version.clone(),
        files: gathered.files.len(),
        findings: judge::findings(&gathered),
        needs: needs::needs(&gathered),
    };
    match arguments.format {
        Format::Json => printer.json(&show::json(&report).to_string()),
        Format::Doc | Format::Minimal => show::text(&report, printer),
    }
    Ok(if report.works() { Exit::Done } else { Exit::Failed })
}

/// The cookbook's folder and those beside it.
fn open(place: &Path, arguments: &CheckArguments) -> anyhow::Result<(String, CookbookFolders)> {
    let is_cookbook = ["metadata.rb", "metadata.json"].iter().any(|file| place.join(file).is_file());
    ensure!(is_cookbook, "{} is no cookbook: it has neither metadata.rb nor metadata.json", place.display());
    let (Some(parent), Some(folder)) = (place.parent(), place.file_name()) else {
        anyhow::bail!("a cookbook's folder has a name, and {} has none", place.display());
    };
    let folder = folder
        .to_str()
        .with_context(|| format!("the name of a cookbook's folder is UTF-8, and that of {} is not", place.display()))?;
    ensure!(!folder.starts_with('.'), "the name of a cookbook's folder does not begin with a dot: {folder}");
    // Of two folders with one name the later directory's is taken, and that is the one that was asked about.
    let mut directories = arguments.cookbooks.clone();
    directories.push(parent.to_owned());
    Ok((folder.to_owned(), CookbookFolders::open(&directories)?))
}
