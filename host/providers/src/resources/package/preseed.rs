//! Answers to debconf's questions: `response_file`.
//!
//! The answers come from a file of the cookbook. Chef caches its last answers and acts only if they have changed; wrun does
//! the same. A file can answer questions of any package, so the owner of each question must be granted.

use super::request::{Request, grant, is_name};
use super::status::Status;
use super::tools::Transaction;
use crate::found::{Found, Thing};
use crate::notes;
use crate::operation::Operation;
use crate::plan::{Plan, Step, View, Writer};
use crate::resources::{asked, cookbook_source};
use crate::withheld::Withheld;
use contract::{Change, ErrorKind, Raised, Wanted};
use grants::GrantedPackage;
use machine::digest::Digest;
use machine::root::{ModeBits, NewFileAttributes};
use schema::types::apt_package::ResponseFileProperties;
use std::collections::{HashMap, HashSet};

/// The files in which debconf stores questions with their owners.
const DATABASES: [&str; 2] = ["/var/cache/debconf/config.dat", "/var/cache/debconf/passwords.dat"];

/// The name of the installer as an owner of questions.
const INSTALLER: &str = "d-i";

/// The answers to give to debconf.
#[derive(Debug)]
struct Answers {
    text: Withheld<Vec<u8>>,
    /// The digest of the last given answers, if there were any.
    last: Withheld<Option<Digest>>,
    /// The packages that ask, with their versions.
    chosen: Vec<String>,
    /// The path of the last given answers in wrun's cache.
    record: String,
    /// The proofs for the packages whose questions are answered.
    _granted: Vec<GrantedPackage>,
}

/// Returns the step that gives the answers before packages are installed, if there are new answers. `chosen` has the form
/// `name=version`.
pub(super) fn before_install(
    wanted: &Wanted<'_>,
    request: &Request,
    chosen: &[String],
    view: &View<'_>,
) -> Result<Option<Step>, Raised> {
    let Some(answers) = new_answers(wanted, chosen, view)? else { return Ok(None) };
    let names = chosen.iter().map(|one| one.split_once('=').map_or(one.as_str(), |(name, _)| name));
    let sentence = format!("preseed package {}", names.collect::<Vec<_>>().join(", "));
    let operation = Preseed { selections: selections(request, &answers), configuration: None, answers };
    Ok(Some(Step::new(Change::new(sentence), Operation::Preseed(Box::new(operation)))))
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
    let configuration = Transaction {
        program: "dpkg-reconfigure",
        arguments: Withheld(arguments),
        input: Withheld(None),
        ..selections.clone()
    };
    let operation = Preseed { selections, configuration: Some(configuration), answers };
    Ok(Plan::steps(vec![Step::new(Change::new(sentence), Operation::Preseed(Box::new(operation)))]))
}

/// New answers to debconf's questions.
#[derive(Debug)]
pub(crate) struct Preseed {
    selections: Transaction,
    /// The call that configures installed packages again. `None`: they are configured by their installation.
    configuration: Option<Transaction>,
    answers: Answers,
}

impl Preseed {
    /// Returns the digest of the last given answers, from wrun's own note, which no other program writes. It is secret,
    /// because answers may be passwords.
    pub(crate) fn found(&self) -> Found {
        let Answers { chosen, last, .. } = &self.answers;
        let last = last.0.as_ref().map(|digest| digest.text().to_owned());
        Found::of([Thing::new("answers", chosen.join(" ")).with_any("content", last)]).secret_if(true)
    }

    /// Gives the answers, configures installed packages again, and stores the answers in wrun's cache.
    ///
    /// # Errors
    /// One of the tools fails, or the note cannot be written.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        self.selections.run(writer)?;
        if let Some(configuration) = &self.configuration {
            configuration.run(writer)?;
        }
        self.answers.remember(writer)
    }
}

/// Returns the answers, unless the same ones were given before.
fn new_answers(wanted: &Wanted<'_>, chosen: &[String], view: &View<'_>) -> Result<Option<Answers>, Raised> {
    let ResponseFileProperties { response_file } = asked::properties(wanted)?;
    let Some(file) = response_file else { return Ok(None) };
    let cookbook = cookbook_source::cookbook(None, wanted)?;
    let found = cookbook_source::read(view, cookbook, "files", std::slice::from_ref(&file)).map_err(|raised| {
        raised.with_hint("a response file is taken from the cookbook's files; write one that needs no rendering")
    })?;
    let text = found.bytes;
    let answers = answers(&String::from_utf8_lossy(&text));
    let owners = owners(&answers, &known_owners(view), view.grants.allows_everything()).map_err(|what| {
        Raised::new(ErrorKind::Package, format!("response file {file} answers for {what:?}, which is not a package"))
    })?;
    if !view.grants.allows_everything()
        && let Some(odd) = answers.iter().find(|answer| !grants::is_harmless_answer(&answer.label, &answer.value))
    {
        let (label, value) = (&odd.label, &odd.value);
        let message = format!("response file {file} answers {label} with {value:?}, which debconf would run as code");
        return Err(Raised::new(ErrorKind::Package, message));
    }
    let granted = grant(view, owners.iter().map(String::as_str))?;
    let plain = |text: &str| text.replace(|c: char| !c.is_ascii_alphanumeric() && !"+.=~-".contains(c), "_");
    let record = format!("{}/{}/{}.seed", notes::ANSWERS, plain(cookbook), plain(&chosen.join("-")));
    let given = view.cache.and_then(|cache| cache.read(&record).ok());
    Ok((given.as_deref() != Some(text.as_slice())).then(|| Answers {
        text: Withheld(text),
        last: Withheld(given.map(|given| Digest::of(&given))),
        chosen: chosen.to_vec(),
        record,
        _granted: granted,
    }))
}

impl Answers {
    fn remember(&self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        let site = writer.cache.own_site(&self.record)?;
        site.write(&self.text.0, ModeBits::plain(0o600), &NewFileAttributes::default())?;
        notes::keep(writer.caches, writer.cache, &self.record)
    }
}

fn selections(request: &Request, answers: &Answers) -> Transaction {
    Transaction {
        program: "debconf-set-selections",
        arguments: Withheld(vec![]),
        shown: Withheld(None),
        environment: Withheld(request.environment.clone()),
        timeout: request.timeout,
        input: Withheld(Some(answers.text.0.clone())),
        granted: request.granted.clone(),
        found: vec![],
    }
}

/// One answer: the named owner, the question's label, and the trimmed value.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Answer {
    owner: String,
    label: String,
    value: String,
}

/// Parses the answers of a file as `debconf-set-selections` does: a line that ends in a backslash is joined with the next
/// one, without a blank.
fn answers(text: &str) -> Vec<Answer> {
    let is_blank = |c: char| c.is_ascii_whitespace() || c == '\u{b}';
    let text = text.strip_suffix('\n').unwrap_or(text);
    let mut lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    let mut found = vec![];
    while let Some(line) = lines.next() {
        let mut line = line.to_owned();
        while line.ends_with('\\') {
            let Some(next) = lines.next() else { break };
            line.truncate(line.len() - 1);
            line.push_str(next);
        }
        let mut rest = line.as_str();
        let mut word = || {
            rest = rest.trim_start_matches(is_blank);
            let (word, after) = rest.split_at(rest.find(is_blank).unwrap_or(rest.len()));
            rest = after;
            word
        };
        let (owner, label, _kind) = (word(), word(), word());
        if owner.is_empty() || owner.starts_with('#') {
            continue;
        }
        let value = rest.trim_matches(is_blank).to_owned();
        found.push(Answer { owner: owner.to_owned(), label: label.to_owned(), value });
    }
    found
}

/// Returns the packages whose questions are answered. Debconf finds a question by its label, whatever owner a line names. So
/// the result has the owner in the line and the owners in debconf's database. For an unknown question it also has the package
/// that the label begins with; that must be a valid package name unless everything is granted. The installer `d-i` needs no
/// grant as an owner, but its labels do.
///
/// # Errors
/// A text that is not a valid package name.
fn owners(answers: &[Answer], known: &HashMap<String, Vec<String>>, everything: bool) -> Result<Vec<String>, String> {
    let mut owners = vec![];
    let mut added = HashSet::new();
    let mut add = |owner: &str| {
        if !is_name(owner) {
            return Err(owner.to_owned());
        }
        if added.insert(owner.to_owned()) {
            owners.push(owner.to_owned());
        }
        Ok(())
    };
    for Answer { owner, label, .. } in answers {
        if owner != INSTALLER {
            add(owner)?;
        }
        match known.get(label) {
            Some(known) => known.iter().filter(|owner| *owner != INSTALLER).try_for_each(|owner| add(owner))?,
            None if label.is_empty() => {}
            None => {
                let package = label.split_once('/').map_or(label.as_str(), |(package, _)| package);
                // With an architecture, the label is that of another question than the package's own.
                let is_package = is_name(package) && !package.contains(':');
                if is_package {
                    add(package)?;
                } else if !everything {
                    return Err(label.clone());
                }
            }
        }
    }
    Ok(owners)
}

/// Returns the owners of each question, from debconf's own files.
fn known_owners(view: &View<'_>) -> HashMap<String, Vec<String>> {
    let texts = DATABASES.iter().filter_map(|path| view.root.read(path).ok());
    texts.flat_map(|text| owners_in(&String::from_utf8_lossy(&text))).collect()
}

fn owners_in(database: &str) -> Vec<(String, Vec<String>)> {
    let field = |part: &str, name: &str| part.lines().find_map(|line| Some(line.strip_prefix(name)?.trim().to_owned()));
    let entry = |part: &str| {
        let owners = field(part, "Owners:")?;
        let owners = owners.split(',').map(str::trim).filter(|owner| !owner.is_empty()).map(str::to_owned).collect();
        Some((field(part, "Name:")?, owners))
    };
    database.split("\n\n").filter_map(entry).filter(|(_, owners): &(_, Vec<_>)| !owners.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        let database = "Name: shared/x\nTemplate: shared/x\nOwners: a, b:amd64\n\nName: x/y\nOwners: d-i\nValue: 1\n";
        let known = owners_in(database).into_iter().collect();
        let found = owners(&answers(text), &known, false);
        match expect {
            ["refused"] => assert!(found.is_err(), "{text}: {found:?}"),
            _ => assert_eq!(found.unwrap(), expect, "{text}"),
        }
    }

    #[test]
    fn all_whose_questions_are_answered_are_known() {
        check("# comment\n\npostfix postfix/mailname string example.org\n", &["postfix"]);
        check("  a a/b select c\na a/c select d\nd-i x/y string z\nb b/c note\n", &["a", "b"]);
        check("a a/b string one \\\ntwo three four\n", &["a"]);
        check("-x a/b string c\n", &["refused"]);
    }

    #[test]
    fn a_question_belongs_to_its_label_whoever_is_said_to_ask() {
        check("tzdata libpam-runtime/override boolean true\n", &["tzdata", "libpam-runtime"]);
        check("tzdata debconf/priority seen true\r\n", &["tzdata", "debconf"]);
        check("d-i debconf/priority string low\n", &["debconf"]);
        check("a shared/x boolean true\n", &["a", "b:amd64"]);
        check("a noslash boolean true\n", &["a", "noslash"]);
        for odd in ["a a:b/c string x\n", "a _x/c string x\n", "a\u{a0}b a/b string x\n"] {
            check(odd, &["refused"]);
        }
    }

    #[test]
    fn debconf_frontend_answers_are_told_with_their_value() {
        let value = |text: &str| answers(text).pop().unwrap().value;
        assert_eq!(
            value("debconf  debconf/frontend\tselect  noninteractive; BEGIN { } # \n"),
            "noninteractive; BEGIN { } #"
        );
        assert_eq!(value("debconf debconf/frontend select nonin\\\nteractive"), "noninteractive");
        assert_eq!(value("a a/b string"), "");
    }

    #[test]
    fn lines_are_joined_as_debconf_joins_them() {
        check("tz\\\ndata-evil foo/bar string x\n", &["tzdata-evil", "foo"]);
        check("tz\\\r\ndata-evil foo/bar string x\r\n", &["tzdata-evil", "foo"]);
        check("tz\\\\\n\ndata foo/bar string x\n", &["tzdata", "foo"]);
        check("# remark \\\ntz tz/a string x\nb b/c string d\\\n", &["b"]);
        check("a\u{b}evil/x string y\n", &["a", "evil"]);
    }
}
