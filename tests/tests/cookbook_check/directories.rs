//! `wrun cookbook check --cookbooks DIR`: whole directories of cookbooks, and what a run list reaches of them.

use super::{lines, write};
use serde_json::{Value, json};
use specs::Program;
use std::fs;

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
    let said = program.run(&["cookbook", "check", "--all"]).unwrap().expect_code(43).unwrap().stderr;
    assert!(said.contains("--cookbooks"), "{said}");
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
