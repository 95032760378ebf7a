//! What is said beside the error where a cookbook, a recipe, a role or an environment is not there: near names, a list of
//! what is, and the option that would bring it.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use serde_json::Value;
use specs::{Machine, Network, Program, Root};
use std::fs;

const FILES: [(&str, &str); 11] = [
    ("cookbooks/nginx/metadata.rb", "name 'nginx'\n"),
    ("cookbooks/nginx/recipes/default.rb", "log 'here'\n"),
    ("cookbooks/nginx/recipes/server.rb", "log 'here'\n"),
    ("cookbooks/ntp/metadata.rb", "name 'ntp'\n"),
    ("cookbooks/ntp/resources/service.rb", "action(:create) {}\n"),
    ("cookbooks/ntp/resources/sync.rb", "provides :time_sync\naction(:create) {}\n"),
    ("broken/brk/metadata.rb", "name 'brk'\nversion 'abc'\n"),
    ("broken/needy/metadata.rb", "name 'needy'\ndepends 'brk', '~> 2.0'\n"),
    ("broken/needy/recipes/default.rb", "include_recipe 'brk'\n"),
    ("environments/production.json", "{\"name\": \"production\"}"),
    ("roles/web.json", "{\"name\": \"web\", \"run_list\": [\"recipe[nginx]\"]}"),
];

/// Some cookbooks, to be run on a machine.
struct Shop<'a> {
    program: Program,
    machine: Machine<'a>,
}

impl Shop<'_> {
    fn run(&self, cookbooks: &str, more: &[&str]) -> Value {
        let place = |name: &str| self.program.configuration().join(name).display().to_string();
        let (root, cookbooks) = (self.machine.root().path().display().to_string(), place(cookbooks));
        let fixed =
            ["converge", "--format", "json", "-N", "n1", "--allow-all", "--root", &root, "--cookbooks", &cookbooks];
        // Directories are named from here.
        let more: Vec<_> = more.iter().map(|word| word.strip_prefix('@').map_or((*word).to_owned(), place)).collect();
        let more: Vec<_> = more.iter().map(String::as_str).collect();
        let ran = self.program.run_in(&self.machine, &[&fixed[..], &more].concat()).unwrap();
        serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.text()))
    }

    /// What people read, with the options of the caller alone.
    fn told(&self, more: &[&str]) -> String {
        let place = |name: &str| self.program.configuration().join(name).display().to_string();
        let root = self.machine.root().path().display().to_string();
        let fixed = ["converge", "-N", "n1", "--allow-all", "--root", &root];
        let more: Vec<_> = more.iter().map(|word| word.strip_prefix('@').map_or((*word).to_owned(), place)).collect();
        let more: Vec<_> = more.iter().map(String::as_str).collect();
        self.program.run_in(&self.machine, &[&fixed[..], &more].concat()).unwrap().text()
    }

    /// The class of the error and what is said beside it.
    fn failed(&self, cookbooks: &str, more: &[&str]) -> (String, String) {
        let error = &self.run(cookbooks, more)["error"];
        (error["class"].as_str().unwrap().to_owned(), error["hint"].as_str().unwrap_or_default().to_owned())
    }
}

#[test]
fn errors_say_what_is_there_and_what_would_bring_what_is_not() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    for (path, text) in FILES {
        let path = program.configuration().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let shop = Shop { program, machine: root.machine(Network::Own).unwrap() };
    // As outputs name it.
    let place = "[CONFIGURATION]";
    #[track_caller]
    fn check((class, hint): (String, String), expect_class: &str, expect_hint: &str) {
        assert_eq!(class, format!("Chef::Exceptions::{expect_class}"), "{hint}");
        assert_eq!(hint, expect_hint);
    }

    let there = format!("the cookbooks in {place}/cookbooks: nginx, ntp");
    let near = format!("did you mean \"nginx\"? {there}");
    check(shop.failed("cookbooks", &["--run-list", "recipe[nxing]"]), "CookbookNotFound", &near);
    let itself = format!(
        "{place}/cookbooks/nginx is a cookbook itself; name the directory that it is in: --cookbooks {place}/cookbooks"
    );
    check(shop.failed("cookbooks/nginx", &["--run-list", "recipe[nginx]"]), "CookbookNotFound", &itself);

    let only = "ntp has no recipes, only resources to be used in others: ntp_service, time_sync";
    check(shop.failed("cookbooks", &["--run-list", "recipe[ntp]"]), "RecipeNotFound", only);
    let near = "did you mean `server`? the recipes of nginx: default, server";
    check(shop.failed("cookbooks", &["--run-list", "recipe[nginx::servr]"]), "RecipeNotFound", near);

    let option = "no directory of roles was given (--roles DIR)";
    check(shop.failed("cookbooks", &["--run-list", "role[web]"]), "MissingRole", option);
    let near = format!("did you mean \"web\"? the roles in {place}/roles: web");
    check(shop.failed("cookbooks", &["--run-list", "role[wbe]", "--roles", "@roles"]), "MissingRole", &near);

    let line = format!("in the metadata of cookbook brk: {place}/broken/brk/metadata.rb:2");
    check(shop.failed("broken", &["--run-list", "recipe[brk]"]), "InvalidCookbookVersion", &line);

    // It has no version that a constraint could be held against.
    check(shop.failed("broken", &["--run-list", "recipe[needy]"]), "InvalidCookbookVersion", &line);

    let told = shop.told(&["--policy-name", "web", "--policy-group", "prod", "--policies", "@gone"]);
    assert!(told.contains("name the repository with --repository"), "{told}");
    let told = shop.told(&["--cookbooks", "@broken", "-r", "brk"]);
    assert_eq!(told.matches("brk/metadata.rb:2").count(), 1, "the place is told once: {told}");

    // The node keeps the environment of its last run.
    let asked = ["--run-list", "recipe[nginx]", "-E", "production"];
    let option = "no directory of environments was given (--environments DIR)";
    check(shop.failed("cookbooks", &asked), "EnvironmentNotFound", option);
    let ran = shop.run("cookbooks", &[&asked[..], &["--environments", "@environments"]].concat());
    assert_eq!(ran["outcome"], "success", "{ran:#}");
    let remembered = format!(
        "the node n1 remembers the environment \"production\" from an earlier run; {option}; `--environment _default` runs \
         without one, and the node remembers that"
    );
    check(shop.failed("cookbooks", &["--run-list", "recipe[nginx]"]), "EnvironmentNotFound", &remembered);
    let ran = shop.run("cookbooks", &["--run-list", "recipe[nginx]", "-E", "_default"]);
    assert_eq!(ran["outcome"], "success", "{ran:#}");
}

#[test]
fn a_type_that_is_called_by_its_file_alone_has_a_near_name() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let files = [
        ("cookbooks/site/metadata.rb", "name 'site'\n"),
        ("cookbooks/site/resources/vhost.rb", "action(:create) {}\n"),
        ("cookbooks/site/recipes/default.rb", "vhost 'x'\n"),
        ("cookbooks/site/recipes/typo.rb", "vhots 'x'\n"),
        ("cookbooks/site/recipes/declared.rb", "declare_resource(:vhost, 'x')\n"),
        ("cookbooks/site/recipes/bag.rb", "data_bag('users')\n"),
        (
            "cookbooks/site/recipes/told.rb",
            "log('web') { action :nothing }\nlog('x') { notifies :write, 'log[wbe]' }\n",
        ),
    ];
    for (path, text) in files {
        let path = program.configuration().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let shop = Shop { program, machine: root.machine(Network::Own).unwrap() };
    for recipe in ["default", "typo", "declared"] {
        let (_, hint) = shop.failed("cookbooks", &["--run-list", &format!("recipe[site::{recipe}]")]);
        assert_eq!(hint, "did you mean `site_vhost`?", "{recipe}");
    }
    let (class, hint) = shop.failed("cookbooks", &["--run-list", "recipe[site::told]"]);
    assert_eq!((&*class, &*hint), ("Chef::Exceptions::ResourceNotFound", "did you mean `log[web]`?"));
    let told = shop.told(&["--cookbooks", "@cookbooks", "-r", "site::bag"]);
    assert!(told.contains("no directory of data bags was given (--data-bags DIR)"), "{told}");
}

/// Builds a policy in Ruby of one recipe of the cookbook `web`, with a cookbook beside it.
fn build(program: &Program, recipe: &str, more: &[(&str, &str)], code: i32) -> specs::Output {
    let files = [
        ("policy.toml", "name = \"web\"\nrun_list = [\"web\"]\n[default.base]\nport = 1\n"),
        ("cookbooks/web/metadata.rb", "name 'web'\n"),
        ("cookbooks/web/recipes/default.rb", recipe),
        ("cookbooks/base/metadata.rb", "name 'base'\n"),
        ("cookbooks/base/attributes/default.rb", ""),
        ("cookbooks/base/recipes/default.rb", "log 'base'\n"),
        ("cookbooks/base/resources/clock.rb", "action(:create) {}\n"),
        ("cookbooks/base/libraries/tools.rb", "module BaseTools\nend\n"),
    ];
    let folder = program.configuration().join("web");
    for (path, text) in files.iter().chain(more) {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    program.run(&["policy", "build", &folder.display().to_string()]).unwrap().expect_code(code).unwrap()
}

/// A policy in Ruby that may fail on the node is built all the same, and its author is warned.
#[test]
fn a_build_warns_of_what_may_fail_on_the_node() {
    let program = Program::new().unwrap();
    let recipe = "template '/srv/x' do\n  source 'nosuch.erb'\n  ownr 'root'\n  only_if { node['x'] }\nend\nlog 'x' do\n  \
                  notifies :rn, 'execute[y]'\nend\nexecute 'y'\nreturn if node['y']\ncookbook_file '/srv/gone'\n";
    let unused = ("cookbooks/web/recipes/unused.rb", "base_clock 'x'\ntemplate '/srv/unused'\n");
    let built = build(&program, recipe, &[unused], 0);
    let place = "warning: cookbooks/web/recipes/default.rb";
    for expected in [
        format!("{place}:2: `template`: there is no `nosuch.erb` in templates/\n"),
        format!("{place}:3: resource type `template` has no property `ownr`; did you mean `owner`?\n"),
        format!("{place}:7: resource type `execute` has no action `rn`; did you mean `run`?\n"),
        format!("{place}:11: `cookbook_file`: there is no `gone` in files/\n"),
        "warning: cookbooks/web/recipes/unused.rb:1: `base_clock` is of the cookbook base".to_owned(),
        "warning: cookbooks/web/recipes/unused.rb:2: `template`: there is no `unused.erb` in templates/\n".to_owned(),
    ] {
        assert!(built.stderr.contains(&expected), "{expected}\n{}", built.stderr);
    }
    assert!(built.stdout.contains("web.wasm: policy web"), "{}", built.text());
}

/// As a policy in Rust that names a template which is not there.
#[test]
fn a_build_refuses_what_fails_in_each_run() {
    let program = Program::new().unwrap();
    let recipe = "template '/srv/x' do\n  source 'nosuch.erb'\nend\nbase_clock 'x'\nlog BaseTools.to_s\n\
                  log node['base']['port']\ntemplate '/srv/y' do\n  ignore_failure true\nend\n";
    let refused = build(&program, recipe, &[], 43);
    let place = "cookbooks/web/recipes/default.rb";
    let on =
        "is of the cookbook base, on which the metadata do not depend; add the line `depends 'base'` to metadata.rb";
    for expected in [
        format!("{place}:4: `base_clock` {on}"),
        format!("{place}:5: `BaseTools` {on}"),
        format!("{place}:2: `template`: there is no `nosuch.erb` in templates/"),
        "a run of this policy fails there: mend it, or make the code conditional".to_owned(),
    ] {
        assert!(refused.stderr.contains(&expected), "{expected}\n{}", refused.stderr);
    }
    assert!(
        refused.stderr.contains(&format!("warning: {place}:7: `template`: there is no `y.erb`")),
        "{}",
        refused.stderr
    );
    assert!(!refused.stderr.contains("node['base']"), "the policy sets it: {}", refused.stderr);
    assert!(!program.configuration().join("web/web.wasm").exists());
}

#[test]
fn a_run_list_with_a_misspelt_cookbook_is_answered_with_a_near_name() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let settings = |item: &str| format!("name = \"web\"\nrun_list = [\"{item}\"]\n");
    for (item, expected) in [
        ("baes", "cookbook \"baes\" is not available; did you mean `base`?"),
        ("nothing", "cookbook \"nothing\" is not available; the policy has base, web"),
    ] {
        let refused = build(&program, "", &[("policy.toml", &settings(item))], 43);
        assert!(refused.stderr.contains(&format!("policy.toml:2: {expected}")), "{}", refused.stderr);
    }
    let _ = build(&program, "", &[], 0);
    let machine = root.machine(Network::Own).unwrap();
    let (folder, root) = (program.configuration().join("web"), machine.root().path().display().to_string());
    let fixed = ["converge", "-N", "n1", "--allow-all", "--root", &root, "--policy-name", "web", "--policies"];
    for (item, expected) in [("baes", "; did you mean `base`?"), ("nothing", " (it has: base, web)")] {
        let more = [&*folder.display().to_string(), "--override-runlist", item];
        let refused = program.run_in(&machine, &[&fixed[..], &more].concat()).unwrap().expect_code(43).unwrap();
        let said = format!("names a cookbook that policy \"web\" does not have{expected}");
        assert!(refused.stderr.contains(&said), "{}", refused.text());
    }
}

/// Chef runs a recipe whose cookbook another one happens to bring, with a warning.
#[test]
fn a_build_warns_of_a_cookbook_that_another_one_brings() {
    let program = Program::new().unwrap();
    let files = [
        ("policy.toml", "name = \"web\"\nrun_list = [\"web\", \"shop\"]\n"),
        ("cookbooks/shop/metadata.rb", "name 'shop'\ndepends 'base'\n"),
        ("cookbooks/shop/recipes/default.rb", "log 'shop'\n"),
    ];
    let built = build(&program, "base_clock 'x'\ninclude_recipe 'base'\nlog BaseTools.to_s\n", &files, 0);
    for (line, what) in [(1, "`base_clock`"), (2, "the included recipe base"), (3, "`BaseTools`")] {
        let expected =
            format!("warning: cookbooks/web/recipes/default.rb:{line}: {what} is of the cookbook base, on which");
        assert!(built.stderr.contains(&expected), "{expected}\n{}", built.stderr);
    }
}

#[test]
fn a_misspelt_path_is_answered_with_what_is_missing_and_a_near_name() {
    let program = Program::new().unwrap();
    for (path, text) in [
        ("cookbooks/web/metadata.rb", "name 'web'\n"),
        ("roles/web.json", "{\"name\": \"web\"}"),
        ("node.json", "{}"),
        ("settings.toml", ""),
        ("base.wasm", ""),
        ("grants.toml", ""),
        ("shop/policy.toml", ""),
    ] {
        let path = program.configuration().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let run = ["converge", "-N", "n1", "--run-list", "web", "--allow-all"];
    let all: [(&[&str], &[&str], &str, &str); 13] = [
        (&run, &["--cookbooks", "@cookbook"], "cookbook", "cookbooks"),
        (&run, &["--cookbooks", "@cookbook/web"], "cookbook", "cookbooks"),
        (&run, &["--cookbooks", "@cookbooks", "--roles", "@rols"], "rols", "roles"),
        (&run, &["--cookbooks", "@cookbooks", "--environments", "@rols"], "rols", "roles"),
        (&run, &["--cookbooks", "@cookbooks", "--json-attributes", "@nod.json"], "nod.json", "node.json"),
        (&run, &["--cookbooks", "@cookbooks", "--config", "@setings.toml"], "setings.toml", "settings.toml"),
        (&run[..5], &["--cookbooks", "@cookbooks", "--grants", "@grant.toml"], "grant.toml", "grants.toml"),
        (&["policy", "build"], &["@shp"], "shp", "shop"),
        (&["policy", "show"], &["@bse.wasm"], "bse.wasm", "base.wasm"),
        (&["policy", "import"], &["@shp"], "shp", "shop"),
        (&["cookbook", "check"], &["@cookbooks/wbe"], "wbe", "web"),
        (&["cookbook", "check"], &["@cookbooks/web", "--cookbooks", "@cookbook"], "cookbook", "cookbooks"),
        (&["cookbook", "check"], &["@cookbooks/web", "--roles", "@rols"], "rols", "roles"),
    ];
    for (command, more, missing, near) in all {
        let place = |name: &str| program.configuration().join(name).display().to_string();
        let more = more.iter().map(|word| word.strip_prefix('@').map_or((*word).to_owned(), place));
        let words: Vec<String> = command.iter().map(|word| (*word).to_owned()).chain(more).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let said = program.run(&words).unwrap().expect_code(43).unwrap().stderr;
        let named = said.contains(&format!("there is no {missing} in [CONFIGURATION]"));
        assert!(named && said.contains(&format!("; did you mean `{near}`?")), "{words:?}\n{said}");
        assert!(!said.contains("os error") && !said.contains("entity not found"), "{said}");
    }
}
