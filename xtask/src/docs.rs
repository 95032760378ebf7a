//! `cargo xtask docs`: the pages of docs/ as a book, made by mdBook.
//!
//! The pages are read in a repository and in the book, so that their links have to hold in both: [`links`] checks them, also
//! as one of the style tests. The tests run the examples and need no mdBook, whose build takes minutes.

pub(crate) mod links;

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use crate::{checkout, say};

/// The version of mdBook that the book is made with.
const VERSION: &str = "0.5.4";

/// The name of the environment variable with which the test of the book writes what the commands print into the pages.
const BLESS: &str = "WRUN_BLESS_BOOK";

/// The name of the environment variable that names the only page to try.
const ONLY: &str = "WRUN_BOOK_PAGE";

/// What `cargo xtask docs` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Run the commands of the pages, and write what they print into the pages, instead of making the book
    #[arg(long)]
    bless: bool,
    /// With --bless, only this page, such as `layers.md`
    #[arg(long, value_name = "PAGE", requires = "bless")]
    page: Option<String>,
}

/// Returns a line for each page with a block that nobody tries.
pub(crate) fn blocks() -> Result<Vec<String>> {
    let pages = specs::book::page_files()?;
    Ok(pages.iter().filter_map(|page| specs::book::Page::read(page).err()).map(|error| format!("{error:#}")).collect())
}

/// Checks the pages and makes the book.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if arguments.bless {
        let mut command = checkout::linting_cargo();
        command.args(["test", "--quiet", "--workspace", "--test", "book"]).env(BLESS, "1");
        if let Some(page) = &arguments.page {
            command.args(["--", "pages_"]).env(ONLY, page);
        }
        return checkout::run(&mut command);
    }
    let problems = links::check()?;
    if !problems.is_empty() {
        bail!("the pages have wrong links:\n{}", problems.join("\n"));
    }
    let mdbook = mdbook()?;
    checkout::run(Command::new(mdbook).arg("build").arg(checkout::root().join("docs")))?;
    say::result(&checkout::root().join("target/book/index.html").display().to_string());
    Ok(())
}

/// Returns the program, and installs it into the target folder where it is absent.
fn mdbook() -> Result<PathBuf> {
    if is_wanted_version(&PathBuf::from("mdbook")) {
        return Ok(PathBuf::from("mdbook"));
    }
    let tools = checkout::root().join("target/tools");
    let program = tools.join("bin/mdbook");
    if !is_wanted_version(&program) {
        say::line(&format!("installing mdBook {VERSION} into {} (some minutes, once)", tools.display()));
        let mut command = checkout::cargo();
        command.args(["install", "--quiet", "--locked", "mdbook", "--version", VERSION, "--force"]);
        // Neither the server nor the watching of files is needed, and they are most of its dependencies.
        command.args(["--no-default-features", "--features", "search", "--root"]).arg(&tools);
        command.env_remove("RUSTC_WORKSPACE_WRAPPER").env("CARGO_TARGET_DIR", tools.join("build"));
        checkout::run(&mut command)?;
        // What it was compiled from is not needed again. A folder that stays does no harm.
        let _ignored = std::fs::remove_dir_all(tools.join("build"));
    }
    Ok(program)
}

fn is_wanted_version(program: &PathBuf) -> bool {
    let output = Command::new(program).arg("--version").stderr(Stdio::null()).output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).trim() == format!("mdbook v{VERSION}"))
}
