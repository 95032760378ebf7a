//! `cargo xtask docs`: builds a book from the pages of docs/ with mdBook.
//!
//! The pages are read both in the repository and in the book, so their links must work in both. [`links`] checks them, also
//! as one of the style tests. The tests that run the examples do not need mdBook, whose build takes minutes.

pub(crate) mod links;

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use crate::{checkout, say};

/// The version of mdBook that builds the book.
const VERSION: &str = "0.5.4";

/// The environment variable that makes the book's test write the commands' output into the pages.
const BLESS: &str = "WRUN_BLESS_BOOK";

/// The environment variable that restricts the book's test to one page.
const ONLY: &str = "WRUN_BOOK_PAGE";

/// The arguments of `cargo xtask docs`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Run the commands of the pages, and write what they print into the pages, instead of making the book
    #[arg(long)]
    bless: bool,
    /// With --bless, only this page, such as `layers.md`
    #[arg(long, value_name = "PAGE", requires = "bless")]
    page: Option<String>,
}

/// Returns a line for each page with a block that no test runs.
pub(crate) fn blocks() -> Result<Vec<String>> {
    let pages = specs::book::page_files()?;
    Ok(pages.iter().filter_map(|page| specs::book::Page::read(page).err()).map(|error| format!("{error:#}")).collect())
}

/// Checks the pages and builds the book.
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

/// Returns the path of mdBook, and installs it into the target folder if it is missing.
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
        // The server and the file watcher are not needed, and they cause most of the dependencies.
        command.args(["--no-default-features", "--features", "search", "--root"]).arg(&tools);
        command.env_remove("RUSTC_WORKSPACE_WRAPPER").env("CARGO_TARGET_DIR", tools.join("build"));
        checkout::run(&mut command)?;
        // The build folder is not needed again. A failure to remove it does no harm.
        let _ignored = std::fs::remove_dir_all(tools.join("build"));
    }
    Ok(program)
}

fn is_wanted_version(program: &PathBuf) -> bool {
    let output = Command::new(program).arg("--version").stderr(Stdio::null()).output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).trim() == format!("mdbook v{VERSION}"))
}
