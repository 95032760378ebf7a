//! What `author::check` decides, with a reader that answers in the place of Ruby.

#![cfg(test)]

use author::check::{Ask, CheckError, Kind, Readers, Report, Subject, check, table};
use contract::{CookbookFiles, Failure, GuestLost, Question};
use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Answers with the facts of each file.
struct Facts {
    of: fn(&str, &str) -> Value,
    /// The file over which an instance is lost.
    loses: Option<&'static str>,
    /// How many instances were opened.
    opened: Cell<usize>,
}

impl Facts {
    fn new(of: fn(&str, &str) -> Value) -> Self {
        Self { of, loses: None, opened: Cell::new(0) }
    }
}

impl Readers for Facts {
    fn open(
        &self,
        files: Arc<dyn CookbookFiles>,
        questions: &mut dyn FnMut(&mut Ask<'_>),
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.opened.set(self.opened.get() + 1);
        questions(&mut |question| {
            let Question::Check(check) = question else { panic!("{question:?}") };
            let (cookbook, file) = (check.cookbook.as_str(), check.file.as_str());
            assert!(files.read(cookbook, file).is_ok(), "the instance sees {cookbook}/{file}");
            if self.loses == Some(file) {
                let lost = GuestLost { policy: "author".into(), why: "trapped".into(), ..GuestLost::default() };
                return Err(Failure::from(lost));
            }
            Ok((self.of)(cookbook, file))
        });
        Ok(())
    }
}

/// A reader for what must be refused before anything is read.
struct Nobody;

impl Readers for Nobody {
    fn open(
        &self,
        _files: Arc<dyn CookbookFiles>,
        _questions: &mut dyn FnMut(&mut Ask<'_>),
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        Err("there is no Ruby".into())
    }
}

fn write(folder: &Path, path: &str) {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, "").unwrap();
}

/// Two cookbooks: `web` depends on `base`.
fn cookbooks() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for path in [
        "web/metadata.rb",
        "web/recipes/default.rb",
        "web/recipes/windows.rb",
        "web/templates/site.erb",
        "base/metadata.rb",
        "base/recipes/default.rb",
        "notes/README.md",
    ] {
        write(folder.path(), path);
    }
    folder
}

fn resource(line: u32, kind: &str, name: &str, properties: Value) -> Value {
    json!({
        "fact": "resource", "line": line, "type": kind, "names": [name], "sure": true,
        "known": schema::reference::all().any(|found| found.name == kind), "properties": properties,
    })
}

fn facts(cookbook: &str, file: &str) -> Value {
    match (cookbook, file) {
        ("web", "metadata.rb") => json!([
            { "fact": "metadata", "name": "web", "version": "1.2.0" },
            { "fact": "depends", "line": 3, "name": "base", "constraint": ">= 1.0.0" },
        ]),
        ("base", "metadata.rb") => json!([{ "fact": "metadata", "name": "base", "version": "0.1.0" }]),
        ("web", "recipes/default.rb") => json!([
            resource(1, "package", "nginx", json!([])),
            resource(2, "pakage", "curl", json!([])),
            resource(3, "template", "/etc/nginx/site", json!([{ "name": "source", "line": 4, "values": ["sight.erb"] }])),
            resource(5, "apt_repository", "nginx", json!([])),
            { "fact": "attribute", "line": 6, "name": "ipaddress" },
            { "fact": "attribute", "line": 6, "name": "other" },
            { "fact": "recipe", "line": 7, "values": ["base"], "literal": true },
            { "fact": "path", "line": 8, "access": "read", "values": null },
            { "fact": "recipe", "line": 9, "values": ["base::defalt", "::windos", "gone::x"], "literal": true },
            { "fact": "recipe", "line": 10, "values": ["base::computed"], "literal": false },
            resource(11, "openssl_rsa_public_key", "/srv/a.pub", json!([{ "name": "private_key_path", "line": 12, "values": ["/srv/a.key"] }])),
        ]),
        ("web", "recipes/windows.rb") => json!([
            { "fact": "absent", "line": 1, "platform": "windows", "name": "powershell_out", "what": "Windows" },
        ]),
        ("base", "recipes/default.rb") => json!([resource(1, "user", "svc", json!([]))]),
        _ => json!([]),
    }
}

fn automatic() -> BTreeSet<String> {
    BTreeSet::from(["ipaddress".to_owned()])
}

fn checked(subject: &Subject, run_list: &[&str], readers: &impl Readers) -> Result<Vec<Report>, CheckError> {
    let run_list: Vec<String> = run_list.iter().map(|&item| item.to_owned()).collect();
    check(subject, &run_list, &[], &automatic(), readers)
}

#[test]
fn problems_notes_and_needs_are_data() {
    let folder = cookbooks();
    let subject = Subject::one(&folder.path().join("web"), &[]).unwrap();
    let reports = checked(&subject, &[], &Facts::new(facts)).unwrap();
    let [report] = reports.as_slice() else { panic!("{reports:?}") };
    assert_eq!((report.name.as_str(), report.version.as_str(), report.works()), ("web", "1.2.0", false));
    let found: Vec<_> = report
        .findings
        .iter()
        .map(|one| (one.is_problem, one.kind, one.file.as_str(), one.line, one.platform.as_deref()))
        .collect();
    assert!(found.contains(&(true, "resource", "recipes/default.rb", 2, None)), "{found:?}");
    assert!(found.iter().any(|one| one.0 && one.2 == "recipes/default.rb" && one.3 == 4), "{found:?}");
    assert!(found.iter().any(|one| !one.0 && one.4 == Some("windows")), "{found:?}");
    let unknown = report.findings.iter().find(|one| one.line == 2).unwrap();
    assert!(unknown.hint.as_ref().is_some_and(|hint| hint.contains("package")), "{unknown:?}");
    let known = |kind: Kind| report.needs.known.get(&kind).into_iter().flat_map(|all| all.keys()).collect::<Vec<_>>();
    assert_eq!(known(Kind::Packages), ["nginx"]);
    assert_eq!(known(Kind::Facts), ["ipaddress"]);
    assert_eq!(known(Kind::Attributes), ["other"]);
    assert_eq!(report.needs.computed[&Kind::ReadPaths].len(), 1);
    assert_eq!(known(Kind::ReadPaths), ["/srv/a.key"]);
    // A repository also updates the lists, each entry once.
    assert_eq!(known(Kind::Commands), ["apt-cache gencaches", "apt-get -q update"]);
    let table = table("web", &report.needs);
    let grants = grants::Grants::parse(&table, "suggested").unwrap();
    assert_eq!(grants.policy_names().collect::<Vec<_>>(), ["web"]);
    assert!(table.contains("packages = [\"nginx\"]\n") && table.contains("facts = [\"ipaddress\"]\n"), "{table}");
}

#[test]
fn an_included_recipe_that_does_not_exist_is_a_problem_in_another_cookbook_too() {
    let folder = cookbooks();
    let subject = Subject::one(&folder.path().join("web"), &[]).unwrap();
    let reports = checked(&subject, &[], &Facts::new(facts)).unwrap();
    let of_cookbooks = reports.iter().flat_map(|report| &report.findings).filter(|one| one.kind == "cookbook");
    let found: Vec<_> =
        of_cookbooks.map(|one| (one.is_problem, one.line, one.message.as_str(), one.hint.as_deref())).collect();
    let expect = [
        (true, 9, "there is no recipe base::defalt", Some("did you mean `base::default`?")),
        (true, 9, "there is no recipe web::windos", Some("did you mean `web::windows`?")),
        (false, 9, "recipe gone::x is included, and the metadata do not depend on the cookbook gone", None),
    ];
    assert_eq!(found, expect);
}

#[test]
fn a_run_list_leaves_what_it_reaches() {
    let folder = cookbooks();
    let subject = Subject::all(&[folder.path().to_owned()]).unwrap();
    let names = |run_list: &[&str]| -> Vec<(String, usize)> {
        let reports = checked(&subject, run_list, &Facts::new(facts)).unwrap();
        reports.into_iter().map(|report| (report.name, report.findings.len())).collect()
    };
    let all: Vec<_> = names(&[]).into_iter().map(|(name, _)| name).collect();
    assert_eq!(all, ["base", "web"], "a folder without metadata is not a cookbook");
    assert!(
        !subject.left_out().is_empty() && subject.left_out().iter().all(|place| !place.join("metadata.rb").exists())
    );
    assert!(subject.without(|name| all.iter().any(|one| one == name)).is_none());
    assert_eq!(names(&["recipe[base]"]), [("base".to_owned(), 0)]);
    let reached: Vec<_> = names(&["web"]).into_iter().map(|(name, _)| name).collect();
    assert_eq!(reached, ["web", "base"]);
    for (run_list, said) in [
        ("role[x]", "name those of the role x instead"),
        ("web::gone", "the cookbook web does not have the run list's recipe web::gone"),
        ("gone", "the run list's cookbook gone is not in the given directories"),
    ] {
        let error = checked(&subject, &[run_list], &Facts::new(facts)).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn a_dependency_that_is_in_none_of_all_directories_is_a_problem() {
    let folder = cookbooks();
    let depends = |cookbook: &str, file: &str| match (cookbook, file) {
        ("web", "metadata.rb") => json!([
            { "fact": "metadata", "name": "web", "version": "1.2.0" },
            { "fact": "depends", "line": 3, "name": "gone", "constraint": ">= 0.0.0" },
        ]),
        _ => facts(cookbook, file),
    };
    for is_whole in [true, false] {
        let subject = Subject::all(&[folder.path().to_owned()]).unwrap();
        let subject = if is_whole { subject.whole() } else { subject };
        let reports = checked(&subject, &[], &Facts::new(depends)).unwrap();
        let mut found = reports.iter().flat_map(|report| &report.findings);
        let found = found.find(|one| one.file == "metadata.rb" && one.message.contains("cookbook gone is not here"));
        assert_eq!(found.map(|one| one.is_problem), Some(is_whole), "{reports:?}");
    }
}

/// `site_for 'x'` looks like a resource, and is a call.
#[test]
fn methods_of_libraries_are_not_among_the_resource_types() {
    let folder = cookbooks();
    let calls = |cookbook: &str, file: &str| match (cookbook, file) {
        ("web", "recipes/default.rb") => json!([
            { "fact": "method", "line": 1, "name": "site_for" },
            resource(2, "site_for", "x", json!([])),
            resource(3, "package", "nginx", json!([])),
        ]),
        _ => facts(cookbook, file),
    };
    let subject = Subject::one(&folder.path().join("web"), &[]).unwrap();
    let reports = checked(&subject, &[], &Facts::new(calls)).unwrap();
    let types: Vec<_> = reports[0].needs.known[&Kind::Resources].keys().collect();
    assert_eq!(types, ["package"]);
}

#[test]
fn an_instance_that_is_lost_is_replaced_and_its_file_is_a_problem() {
    let folder = cookbooks();
    let subject = Subject::one(&folder.path().join("web"), &[]).unwrap();
    let readers = Facts { loses: Some("recipes/default.rb"), ..Facts::new(facts) };
    let reports = checked(&subject, &[], &readers).unwrap();
    let lost: Vec<_> =
        reports.iter().flat_map(|report| &report.findings).filter(|one| one.message.contains("was lost")).collect();
    assert_eq!((lost.len(), readers.opened.get()), (1, 2), "{reports:?}");
}

#[test]
fn what_is_no_cookbook_is_refused_before_anything_is_read() {
    let folder = cookbooks();
    let at = |path: &str| folder.path().join(path);
    let one = |path: PathBuf| Subject::one(&path, &[]).map(drop).unwrap_err().to_string();
    assert!(one(at("gone")).starts_with("there is no cookbook at "));
    assert!(one(at("notes")).ends_with("is not a cookbook: it has neither metadata.rb nor metadata.json"));
    assert!(one(at("web/recipes")).contains("; it lies in the cookbook "));
    let all = |path: PathBuf| Subject::all(&[path]).map(drop).unwrap_err().to_string();
    assert!(all(at("web")).ends_with("is a cookbook: name the directory above it"));
    assert!(all(at("notes")).starts_with("no cookbook was found in "));
    let subject = Subject::one(&at("web"), &[]).unwrap();
    assert_eq!(checked(&subject, &[], &Nobody).unwrap_err().to_string(), "there is no Ruby");
}
