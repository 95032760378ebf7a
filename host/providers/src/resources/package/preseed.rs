//! Answers to debconf's questions: `response_file`.
//!
//! The answers come as a file of the cookbook. Chef keeps what it answered last in its cache and acts only when that
//! changed; so does this. A file can answer any package's questions, so the owner of each answer must be granted.

use super::PACKAGE_ERROR;
use super::request::{Request, grant, is_name};
use super::status::Status;
use super::tools::Transaction;
use crate::plan::{Plan, Step, View};
use crate::resources::{asked, cookbook_source};
use crate::root::{Dress, ModeBits};
use converge::{Change, Raised, Wanted};

/// Answers that are to be given.
struct Answers {
    text: Vec<u8>,
    /// Where in wrun's cache those given last are kept.
    record: String,
}

/// The step that answers before packages are installed, if there are new answers. `chosen`: `name=version`.
pub(super) fn before_install(
    wanted: &Wanted<'_>,
    request: &Request,
    chosen: &[String],
    view: &View<'_>,
) -> Result<Option<Step>, Raised> {
    let Some(answers) = new_answers(wanted, chosen, view)? else { return Ok(None) };
    let names = chosen.iter().map(|one| one.split_once('=').map_or(one.as_str(), |(name, _)| name));
    let sentence = format!("preseed package {}", names.collect::<Vec<_>>().join(", "));
    let transaction = selections(request, &answers);
    Ok(Some(Step::new(Change::new(sentence), move |writer| {
        transaction.run(writer)?;
        answers.remember(writer)
    })))
}

/// Configures installed packages again if there are new answers for them.
pub(super) fn reconfigure(
    wanted: &Wanted<'_>,
    request: &Request,
    status: &Status,
    view: &View<'_>,
) -> Result<Plan, Raised> {
    let installed = request.packages.iter().filter_map(|(name, _)| Some((name, status.version(name)?)));
    let installed = installed.filter(|(name, _)| is_name(name)).collect::<Vec<_>>();
    if installed.is_empty() {
        return Ok(Plan::up_to_date());
    }
    let chosen = installed.iter().map(|(name, version)| format!("{name}={version}")).collect::<Vec<_>>();
    let Some(answers) = new_answers(wanted, &chosen, view)? else { return Ok(Plan::up_to_date()) };
    let sentence = format!("reconfigure package {}", request.names());
    let selections = selections(request, &answers);
    let mut arguments = vec!["--".to_owned()];
    arguments.extend(installed.iter().map(|(name, _)| (*name).clone()));
    let configuration = Transaction { program: "dpkg-reconfigure", arguments, input: None, ..selections.clone() };
    Ok(Plan::steps(vec![Step::new(Change::new(sentence), move |writer| {
        selections.run(writer)?;
        configuration.run(writer)?;
        answers.remember(writer)
    })]))
}

/// The answers, unless these same ones were given before.
fn new_answers(wanted: &Wanted<'_>, chosen: &[String], view: &View<'_>) -> Result<Option<Answers>, Raised> {
    let Some(file) = asked::text(wanted, "response_file") else { return Ok(None) };
    let cookbook = cookbook_source::cookbook(wanted)?;
    let text = cookbook_source::read(view, cookbook, "files", &[file.as_str()]).map_err(|raised| {
        raised.with_hint("a response file is taken from the cookbook's files; write one that needs no rendering")
    })?;
    let owners = owners(&String::from_utf8_lossy(&text), &file)?;
    let _granted = grant(view, owners.iter().map(String::as_str))?;
    let plain = |text: &str| text.replace(|c: char| !c.is_ascii_alphanumeric() && !"+.=~-".contains(c), "_");
    let record = format!("/preseed/{}/{}.seed", plain(cookbook), plain(&chosen.join("-")));
    let given = view.cache.and_then(|cache| cache.read(&record).ok());
    Ok((given.as_deref() != Some(text.as_slice())).then_some(Answers { text, record }))
}

impl Answers {
    fn remember(&self, writer: &crate::plan::Writer<'_>) -> Result<(), Raised> {
        let site = writer.cache.own_site(&self.record)?;
        Ok(site.write(&self.text, ModeBits::plain(0o600), &Dress::default())?)
    }
}

fn selections(request: &Request, answers: &Answers) -> Transaction {
    Transaction {
        program: "debconf-set-selections",
        arguments: vec![],
        environment: request.environment.clone(),
        timeout: request.timeout,
        input: Some(answers.text.clone()),
    }
}

/// Whose questions are answered: the first word of each line. `d-i` is the installer, whose answers nobody reads later.
fn owners(text: &str, file: &str) -> Result<Vec<String>, Raised> {
    let mut owners = vec![];
    let joined = text.replace("\\\n", " ");
    for line in joined.lines().map(str::trim_start).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let owner = line.split_ascii_whitespace().next().unwrap_or_default();
        if owner == "d-i" || owners.iter().any(|known| known == owner) {
            continue;
        }
        if !is_name(owner) {
            return Err(Raised::new(
                PACKAGE_ERROR,
                format!("response file {file} answers for {owner:?}, which is no package"),
            ));
        }
        owners.push(owner.to_owned());
    }
    Ok(owners)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_whose_questions_are_answered_are_known() {
        let check = |text: &str, expect: &[&str]| assert_eq!(owners(text, "x").unwrap(), expect, "{text}");
        check("# comment\n\npostfix postfix/mailname string example.org\n", &["postfix"]);
        check("  a a/b select c\na a/c select d\nd-i x/y string z\nb b/c note\n", &["a", "b"]);
        check("a a/b string one \\\ntwo three four\n", &["a"]);
        assert!(owners("-x a/b string c\n", "x").is_err());
    }
}
