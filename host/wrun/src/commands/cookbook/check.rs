//! `wrun cookbook check`: tells before any run what cookbooks need and which parts of them would not work.
//!
//! The sandbox parses their text, by the Ruby that would run it, and evaluates only metadata, with nothing granted. It returns
//! facts (`facts.rs`). This program judges them by what it knows of types, libraries and the cookbook's files (`judge.rs`).

mod composed;
mod elsewhere;
mod facts;
mod files;
mod gather;
mod judge;
mod needs;
mod reach;
pub(super) mod rest;
mod shapes;
mod show;
mod suggest;
mod targets;

use crate::arguments::CheckArguments;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::settings::{Format, Layer};
use anyhow::{Context as _, ensure};
use assemble::Runtime;
use author::CookbookFolders;
use contract::CookbookFiles as _;
use gather::{Gathered, Wanted};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// All that is said about one cookbook.
struct Report {
    name: String,
    version: String,
    /// How many files were looked at.
    files: usize,
    findings: Vec<judge::Finding>,
    needs: needs::Needs,
    /// The other system that all of the cookbook is for.
    only_on: Option<String>,
}

impl Report {
    fn of(gathered: &Gathered) -> Self {
        Self {
            name: gathered.name.clone(),
            version: gathered.version.clone(),
            files: gathered.files.len(),
            findings: judge::findings(gathered),
            needs: needs::needs(gathered),
            only_on: gathered.only_on.clone(),
        }
    }

    fn works(&self) -> bool {
        self.problems() == 0
    }

    fn problems(&self) -> usize {
        self.findings.iter().filter(|finding| finding.is_problem).count()
    }
}

pub(super) fn run(arguments: &CheckArguments, printer: Printer) -> anyhow::Result<Exit> {
    let settings = crate::commands::settings(arguments.config.as_deref(), Layer::default())?;
    let recipes = reach::recipes(&arguments.run_list)?;
    let (folders, files) = if arguments.all { open_all(&arguments.cookbooks)? } else { open_one(arguments)? };
    let runtime = Arc::new(Runtime::find(settings.run.runtime_dir.as_deref())?);
    let names: Vec<String> =
        recipes.iter().map(|recipe| recipe.split("::").next().unwrap_or_default().to_owned()).collect();
    let wanted = if recipes.is_empty() { Wanted::Folders(&folders) } else { Wanted::Named(&names) };
    let mut gathered = gather::gather(&settings, &runtime, &Arc::new(files), &wanted)?;
    if !recipes.is_empty() {
        gathered = reach::follow(gathered, &recipes)?;
        gathered.retain(|one| folders.contains(&one.folder));
        ensure!(!gathered.is_empty(), "the run list does not reach the cookbook");
    }
    let reports: Vec<Report> = gathered.iter().map(Report::of).collect();
    match (arguments.format, reports.as_slice()) {
        (Format::Json | Format::Ndjson, [report]) if !arguments.all => printer.json(&show::json(report).to_string()),
        (Format::Json | Format::Ndjson, reports) => printer.json(&show::all_json(reports).to_string()),
        (_, [report]) if !arguments.all => show::text(report, printer),
        (_, reports) => show::all_text(reports, printer),
    }
    Ok(if reports.iter().all(Report::works) { Exit::Done } else { Exit::Failed })
}

/// The cookbook's folder and those beside it.
fn open_one(arguments: &CheckArguments) -> anyhow::Result<(Vec<String>, CookbookFolders)> {
    let place = arguments.folder.canonicalize();
    let place = place.with_context(|| format!("there is no cookbook at {}", arguments.folder.display()))?;
    if !is_cookbook(&place) {
        let hint = if holds_cookbooks(&place) { "; to check all that it holds, use --all --cookbooks DIR" } else { "" };
        anyhow::bail!("{} is not a cookbook: it has neither metadata.rb nor metadata.json{hint}", place.display());
    }
    let (Some(parent), Some(folder)) = (place.parent(), place.file_name()) else {
        anyhow::bail!("{} cannot be checked: a cookbook's directory has a name", place.display());
    };
    let folder = folder
        .to_str()
        .with_context(|| format!("the name of a cookbook's directory must be UTF-8: {}", place.display()))?;
    ensure!(!folder.starts_with('.'), "the name of a cookbook's directory must not begin with a dot: {folder}");
    // Of two folders with one name the later directory's is taken, and that is the one that was asked about.
    let mut directories = arguments.cookbooks.clone();
    directories.push(parent.to_owned());
    Ok((vec![folder.to_owned()], CookbookFolders::open(&directories)?))
}

/// All cookbooks of some directories.
fn open_all(directories: &[PathBuf]) -> anyhow::Result<(Vec<String>, CookbookFolders)> {
    if let Some(cookbook) = directories.iter().find(|directory| is_cookbook(directory)) {
        anyhow::bail!("{} is a cookbook: name the directory above it", cookbook.display());
    }
    let files = CookbookFolders::open(directories)?;
    let has_metadata = |folder: &&str| {
        let paths = files.paths(folder, "").unwrap_or_default();
        paths.iter().any(|path| path == "metadata.rb" || path == "metadata.json")
    };
    let folders: Vec<String> = files.names().filter(has_metadata).map(str::to_owned).collect();
    let shown: Vec<_> = directories.iter().map(|directory| directory.display().to_string()).collect();
    ensure!(!folders.is_empty(), "no cookbook was found in {}: none of its directories has metadata", shown.join(", "));
    Ok((folders, files))
}

fn is_cookbook(place: &Path) -> bool {
    ["metadata.rb", "metadata.json"].iter().any(|file| place.join(file).is_file())
}

fn holds_cookbooks(place: &Path) -> bool {
    CookbookFolders::open(&[place.to_owned()])
        .is_ok_and(|inside| inside.names().any(|name| inside.place(name).is_some_and(is_cookbook)))
}
