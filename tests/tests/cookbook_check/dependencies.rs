//! Cookbooks that a checked cookbook uses: named in its metadata, beside it, or absent.

use super::directories::check_all;
use super::{BASE, check, expect, write};
use serde_json::json;
use specs::Program;

#[test]
fn what_a_missing_cookbook_may_bring_is_only_noted() {
    let files = [
        ("metadata.rb", "name 'web'\ndepends 'base'\n"),
        ("recipes/default.rb", "base_clock 'x'\nfile '/a' do\n  base_owner 'x'\nend\ninclude_recipe 'base'\n"),
    ];
    let report = check(&files, &[], 0);
    expect(
        &report["notes"],
        &[
            ("cookbook metadata.rb:2", "the cookbook base is not here"),
            ("resource recipes/default.rb:1", "perhaps of a cookbook that is not here"),
            ("property recipes/default.rb:3", "no property `base_owner`"),
        ],
    );
}

#[test]
fn a_missing_cookbook_is_a_problem_where_the_author_said_where_cookbooks_are() {
    let program = Program::new().unwrap();
    let folder = program.configuration();
    write(
        &folder.join("apart/web"),
        &[("metadata.rb", "name 'web'\ndepends 'gone'\n"), ("recipes/default.rb", "gone_type 'x'\n")],
    );
    write(&folder.join("others/base"), &[("metadata.rb", "name 'base'\n")]);
    let [web, others] = ["apart/web", "others"].map(|name| folder.join(name).display().to_string());
    let told =
        program.run(&["cookbook", "check", &web, "--cookbooks", &others]).unwrap().expect_code(1).unwrap().stdout;
    let expected = "problems\n  metadata.rb:2  the cookbook gone is not here: a run of this cookbook fails\n      \
                    hint: name its directory with --cookbooks too, or remove the dependency\n";
    assert!(told.contains(expected), "{told}");
    assert!(told.contains("notes\n  recipes/default.rb:1"), "{told}");
    let beside = program.run(&["cookbook", "check", &web]).unwrap().expect_code(0).unwrap().stdout;
    assert!(beside.contains("the cookbook gone is not here: what it brings is not known"), "{beside}");
}

#[test]
fn a_cookbook_beside_it_must_be_named_in_the_metadata() {
    let base = [
        ("base/metadata.rb", "name 'base'\n"),
        ("base/attributes/default.rb", "default['base']['port'] = 1\n"),
        ("base/recipes/time.rb", "log 'time'\n"),
        ("base/resources/clock.rb", "action :create do\nend\n"),
        (
            "base/libraries/tools.rb",
            "module BaseTools\n  def self.go = 1\nend\nclass Chef::Recipe\n  def base_word = 1\nend\n",
        ),
    ];
    let recipe = "include_recipe 'base::time'\nbase_clock 'x'\nlog BaseTools.go\nlog node['base']['port']\nlog base_word\n\
        log node['base'].to_s\nlog BaseOther\nbase_clock('y') if windows?\n";
    let report = check(&[("metadata.rb", "name 'web'\n"), ("recipes/default.rb", recipe)], &base, 1);
    let on = "is of the cookbook base, on which the metadata do not depend";
    let said = |what: &str| format!("{what} {on}");
    let messages =
        ["the included recipe base::time", "`base_clock`", "`BaseTools`", "`node['base']`", "`base_word`"].map(said);
    let [recipe_of, clock, tools, port, word] = messages.each_ref().map(String::as_str);
    expect(
        &report["problems"],
        &[
            ("cookbook recipes/default.rb:1", recipe_of),
            ("resource recipes/default.rb:2", clock),
            ("constant recipes/default.rb:3", tools),
            ("attribute recipes/default.rb:4", port),
            ("resource recipes/default.rb:5", word),
        ],
    );
    for problem in report["problems"].as_array().unwrap() {
        assert_eq!(problem["hint"], "add the line `depends 'base'` to metadata.rb");
    }
    // What only another system reaches does not count.
    expect(&report["notes"], &[("resource recipes/default.rb:8", clock)]);
    let named = [("metadata.rb", "name 'web'\ndepends 'base'\n"), ("recipes/default.rb", recipe)];
    expect(&check(&named, &base, 0)["problems"], &[]);
}

#[test]
fn a_constant_of_an_enclosing_class_is_not_one_of_a_cookbook_beside_it() {
    let tools = "class Other\n  class Resource\n  end\n  class Parts\n  end\n  class ActionClass\n  end\n  class Tools\n  end\nend\n";
    let beside = [("other/metadata.rb", "name 'other'\n"), ("other/libraries/tools.rb", tools)];
    let library = "class Chef\n  class Resource::WebSite < Resource::LWRPBase\n    KIND = Resource\n  end\nend\n\
        class WebHost < Chef::Resource\n  RUNS = ActionClass\nend\n\
        module Web\n  class Parts::One\n    TYPE = Parts\n    TOOLS = Tools\n  end\nend\n";
    let files = [("metadata.rb", "name 'web'\n"), ("libraries/web.rb", library)];
    let report = check(&files, &beside, 1);
    expect(&report["problems"], &[("constant libraries/web.rb:12", "`Tools` is of the cookbook other")]);
}

#[test]
fn checks_that_a_missing_cookbook_makes_impossible_are_counted() {
    let files = [
        ("metadata.rb", "name 'web'\ndepends 'base'\n"),
        ("resources/site.rb", "property :port, Integer\naction :create do\n  log new_resource.prot.to_s\nend\n"),
        (
            "recipes/default.rb",
            "web_site 'a' do\n  prot 1\n  port 2\n  action :craete\nend\nlog 'x' do\n  notifies :restart, 'service[nginx]'\nend\n",
        ),
    ];
    let report = check(&files, &[], 0);
    let why = "the cookbook base is not here";
    let left_out = |kind: &str, checks: u32| json!({ "kind": kind, "checks": checks, "why": why });
    assert_eq!(
        report["left_out"],
        json!([left_out("action", 1), left_out("notification", 1), left_out("property", 3)])
    );
    let several: Vec<_> = files.iter().map(|(path, text)| (format!("web/{path}"), *text)).collect();
    let several: Vec<_> = several.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let said = check_all(&several, &["--all"], 1).stdout;
    assert!(said.contains(&format!("\nnot checked\n  web: 1 action check left out: {why}\n")), "{said}");
    assert!(said.contains(&format!("\n  web: 3 property checks left out: {why}\n")), "{said}");
    assert_eq!(check(&files[..2], &BASE, 1)["left_out"], json!([]));
}

#[test]
fn a_receiver_may_be_declared_in_an_included_recipe_or_by_those_who_depend_on_the_cookbook() {
    let recipe = "include_recipe 'base::time'\nlog 'a' do\n  notifies :restart, 'service[ntp]'\n  notifies :restart, 'service[nginx]'\n  \
        notifies :restart, 'service[iis]'\nend\nif windows?\n  service 'iis'\nend\n";
    let files = [("metadata.rb", "name 'web'\ndepends 'base'\n"), ("recipes/default.rb", recipe)];
    let base = [("base/metadata.rb", "name 'base'\n"), ("base/recipes/time.rb", "service 'ntp'\n")];
    let report = check(&files, &base, 1);
    let (nginx, iis) = ("notification recipes/default.rb:4", "notification recipes/default.rb:5");
    expect(
        &report["problems"],
        &[(nginx, "declares `service[nginx]`"), (iis, "`service[iis]` is declared only for windows")],
    );
    let wrapped = [base[0], base[1], ("shop/metadata.rb", "name 'shop'\ndepends 'web'\n")];
    expect(&check(&files, &wrapped, 1)["notes"], &[(nginx, "declares `service[nginx]`")]);
}
