//! `wrun cookbook check --cookbooks DIR`: whole directories of cookbooks, and what a run list reaches of them.

use super::{lines, write};
use serde_json::{Value, json};
use specs::Program;
use std::fs;
use std::path::Path;

const SEVERAL: [(&str, &str); 9] = [
    ("web/metadata.rb", "name 'web'\nversion '1.2.0'\ndepends 'base'\n"),
    ("web/recipes/default.rb", "include_recipe 'base'\nbase_clock 'x'\ngone_word 'x' do\n  a 1\nend\n"),
    ("web/recipes/unused.rb", "gem_package 'x'\nweb_site 'a'\n"),
    ("web/resources/site.rb", "action :create do\n  chef_gem 'x'\nend\n"),
    ("base/metadata.rb", "name 'base'\nversion '2.1.0'\n"),
    ("base/recipes/default.rb", "log 'base'\n"),
    ("base/resources/clock.rb", "action :create do\n  fork { 1 }\nend\n"),
    ("other/metadata.rb", "name 'other'\n"),
    ("notes/README.md", "not a cookbook\n"),
];

/// Runs `cookbook check` over a directory of cookbooks.
pub(super) fn check_all(files: &[(&str, &str)], arguments: &[&str], code: i32) -> specs::Output {
    let program = Program::new().unwrap();
    let cookbooks = program.configuration().join("cookbooks");
    fs::create_dir_all(&cookbooks).unwrap();
    write(&cookbooks, files);
    let place = cookbooks.display().to_string();
    program
        .run(&[&["cookbook", "check", "--cookbooks", &place][..], arguments].concat())
        .unwrap()
        .expect_code(code)
        .unwrap()
}

#[test]
fn all_cookbooks_of_a_directory_end_in_a_table() {
    let said = check_all(&SEVERAL, &["--all"], 1).stdout;
    let table = said.split("cookbook  ").nth(1).unwrap();
    let expected = "version  files  problems  notes\n\
                    base      2.1.0        3         1      0\n\
                    other     0.0.0        1         0      0\n\
                    web       1.2.0        4         3      0\n\
                    \n4 problems found in 2 cookbooks, of 8 files of 3 cookbooks\n";
    assert_eq!(table, expected, "{said}");
    assert!(
        said.contains("problems of web\n  recipes/default.rb:3  unknown resource type or method `gone_word`"),
        "{said}"
    );
    let json: Value = serde_json::from_str(&check_all(&SEVERAL, &["--all", "--format", "json"], 1).stdout).unwrap();
    let works: Vec<_> = json["cookbooks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["cookbook"]["name"].clone(), one["works"].clone()))
        .collect();
    assert_eq!(json!(works), json!([["base", false], ["other", true], ["web", false]]));
    assert_eq!((&json["version"], &json["works"]), (&json!(1), &json!(false)));
    let fine = check_all(&SEVERAL[7..], &["--all"], 0).stdout;
    assert!(fine.ends_with("\nno problems found in 1 file of 1 cookbook\n"), "{fine}");
}

#[test]
fn what_is_not_a_directory_of_cookbooks_is_bad_usage() {
    let said = check_all(&[("README.md", "")], &["--all"], 43).stderr;
    assert!(said.contains("no cookbook was found in"), "{said}");
    let said = check_all(&[("metadata.rb", "name 'web'\n")], &["--all"], 43).stderr;
    assert!(said.contains("is a cookbook: name the directory above it"), "{said}");
    let program = Program::new().unwrap();
    let empty = program.configuration().join("empty");
    fs::create_dir_all(&empty).unwrap();
    let empty = empty.display().to_string();
    let said = program.run(&["cookbook", "check", &empty, "--all"]).unwrap().expect_code(43).unwrap().stderr;
    assert!(said.contains("is not a cookbook"), "{said}");
    let both = ["cookbook", "check", &empty, "--all", "--cookbooks", &empty];
    let said = program.run(&both).unwrap().expect_code(43).unwrap().stderr;
    assert!(said.contains("checks the cookbooks of those directories, so that [CONFIGURATION]/empty cannot"), "{said}");
}

#[test]
fn a_directory_of_cookbooks_may_be_named_with_all() {
    let program = Program::new().unwrap();
    let cookbooks = program.configuration().join("cookbooks");
    write(&cookbooks, &SEVERAL);
    let place = cookbooks.display().to_string();
    let check = |arguments: &[&str]| {
        let output = program.run(&[&["cookbook", "check"][..], arguments].concat()).unwrap();
        output.expect_code(1).unwrap().stdout
    };
    assert_eq!(check(&[&place, "--all"]), check(&[&place]));
}

#[test]
fn misspelt_run_lists_and_platforms_are_answered_with_near_names() {
    for (item, expected) in [
        ("wbe", "the run list's cookbook wbe is not in the given directories; did you mean `web`?"),
        (
            "web::unsued",
            "the cookbook web does not have the run list's recipe web::unsued; did you mean `web::unused`?",
        ),
    ] {
        let said = check_all(&SEVERAL, &["--all", "--run-list", item], 43).stderr;
        assert!(said.contains(expected), "{said}");
    }
    let said = |platform: &str| check_all(&SEVERAL[7..], &["--all", "--platform", platform], 0).stderr;
    let expected = "warning: no family of platforms is known that debain belongs to; did you mean `debian`?\n";
    assert!(said("debain").contains(expected), "{}", said("debain"));
    assert!(!said("debian").contains("family"), "{}", said("debian"));
}

#[test]
fn a_run_list_leaves_out_what_it_does_not_reach() {
    let all = |run_list: &str, code: i32| -> Value {
        let said = check_all(&SEVERAL, &["--all", "--format", "json", "--run-list", run_list], code).stdout;
        serde_json::from_str(&said).unwrap()
    };
    let problems = |json: &Value| -> Vec<String> {
        let of = |one: &Value| {
            lines(&one["problems"])
                .into_iter()
                .map(|line| line.split(' ').nth(1).unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        json["cookbooks"].as_array().unwrap().iter().flat_map(of).collect()
    };
    // The type of a dependency is reached by its use, `unused` and what it uses are not.
    assert_eq!(problems(&all("recipe[web]", 1)), ["recipes/default.rb:3", "resources/clock.rb:2"]);
    assert_eq!(problems(&all("web::unused", 1)), ["recipes/unused.rb:1", "resources/site.rb:2"]);
    assert_eq!(problems(&all("base", 0)), Vec::<String>::new());
    for (run_list, says) in [
        ("role[web]", "--run-list takes recipes"),
        ("gone", "the run list's cookbook gone is not in the given directories"),
        ("web::gone", "the cookbook web does not have the run list's recipe web::gone"),
    ] {
        let said = check_all(&SEVERAL, &["--all", "--run-list", run_list], 43).stderr;
        assert!(said.contains(says), "{said}");
    }
}

#[test]
fn a_name_instead_of_a_folder_is_told_where_the_cookbook_is() {
    let program = Program::new().unwrap();
    let cookbooks = program.configuration().join("cookbooks");
    write(&cookbooks, &[("only-here/metadata.rb", "name 'only-here'\n")]);
    let folder = cookbooks.display().to_string();
    let check = |name: &str| {
        let said = program.run(&["cookbook", "check", name, "--cookbooks", &folder]).unwrap().expect_code(43).unwrap();
        said.stderr
    };
    let near = check("only-here");
    assert!(near.contains("did you mean [CONFIGURATION]/cookbooks/only-here?"), "{near}");
    let unknown = check("not-here-either");
    assert!(unknown.contains("this is the path of a directory, from the working directory"), "{unknown}");
}

/// Checks a folder; the names of the checked cookbooks, with the messages of their problems.
fn check_folder(program: &Program, folder: &Path, code: i32) -> Vec<(String, Vec<String>)> {
    let folder = folder.display().to_string();
    let run = program.run(&["cookbook", "check", &folder, "--format", "json"]).unwrap();
    let json: Value = serde_json::from_str(&run.expect_code(code).unwrap().stdout).unwrap();
    let message = |problem: &Value| problem.get("message").and_then(Value::as_str).unwrap().to_owned();
    let list = |one: &Value, key: &str| one.get(key).and_then(Value::as_array).unwrap().clone();
    let report = |one: &Value| {
        let name = one.pointer("/cookbook/name").and_then(Value::as_str).unwrap();
        (name.to_owned(), list(one, "problems").iter().map(message).collect())
    };
    list(&json, "cookbooks").iter().map(report).collect()
}

#[test]
fn a_chef_repository_stands_for_its_own_cookbooks() {
    let program = Program::new().unwrap();
    let repository = program.configuration().join("repository");
    let files = [
        ("site-cookbooks/web/metadata.rb", "name 'web'\ndepends 'base'\ndepends 'shop'\n"),
        ("site-cookbooks/web/recipes/default.rb", "base_clock 'x'\n"),
        ("cookbooks/shop/metadata.rb", "name 'shop'\n"),
        ("vendor/cookbooks/base/metadata.rb", "name 'base'\n"),
        ("vendor/cookbooks/base/resources/clock.rb", "action :create do\n  fork { 1 }\nend\n"),
    ];
    write(&repository, &files);
    let fine = |name: &str| (name.to_owned(), vec![]);
    assert_eq!(check_folder(&program, &repository, 0), [fine("shop"), fine("web")]);
    // A directory of cookbooks stands for all that are in it.
    let gone = |name: &str| format!("the cookbook {name} is not here: a run of this cookbook fails");
    let web = check_folder(&program, &repository.join("site-cookbooks"), 1);
    assert_eq!(web[0].1, [gone("base"), gone("shop")]);
    // A Berksfile may bring the rest.
    write(&repository, &[("cookbooks/shop/metadata.rb", "name 'shop'\ndepends 'fetched'\n"), ("Berksfile", "")]);
    assert_eq!(check_folder(&program, &repository, 0), [fine("shop"), fine("web")]);
}

#[test]
fn the_folder_of_a_policy_stands_for_its_cookbooks_in_ruby() {
    let program = Program::new().unwrap();
    let policy = program.configuration().join("shop");
    let toml = "name = \"shop\"\nrun_list = [\"web\"]\n\n[default.web]\nports = [1]\n";
    let files = [
        ("policy.toml", toml),
        ("cookbooks/web/metadata.rb", "name 'web'\n"),
        ("cookbooks/web/attributes/default.rb", "default['web']['port'] = 1\n"),
        ("cookbooks/web/recipes/default.rb", "log node['web']['ports']\nlog node['web']['prot']\n"),
        ("cookbooks/tool/Cargo.toml", "[package]\nname = \"tool\"\n"),
    ];
    write(&policy, &files);
    let unset = "`node['web']['prot']` has no value: nothing here sets it".to_owned();
    assert_eq!(check_folder(&program, &policy, 1), [("web".to_owned(), vec![unset])]);
    fs::remove_dir_all(policy.join("cookbooks/web")).unwrap();
    let folder = policy.display().to_string();
    let said = program.run(&["cookbook", "check", &folder]).unwrap().expect_code(43).unwrap().stderr;
    assert!(said.contains("has no cookbooks in Ruby, which this command checks; `wrun policy build` checks"), "{said}");
}
