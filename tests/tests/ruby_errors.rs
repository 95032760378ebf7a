//! What a Ruby cookbook's failure looks like: class and message, a near name beside them, the cookbook's line, and no frame
//! that is not the cookbook's.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

use serde_json::Value;
use specs::{Machine, Network, Program, Root};
use std::fs;

/// A custom resource with a slip in its action, and one that does what it may not and raises it again.
const FILES: [(&str, &str); 51] = [
    ("metadata.rb", "name 'web'\n"),
    ("resources/site.rb", "property :port, Integer\nprovides :web_site\naction :create do\n  fil '/srv/a'\nend\n"),
    (
        "resources/other.rb",
        "provides :web_other\naction :create do\n  file '/etc/forbidden'\nrescue => error\n  raise error\nend\n",
    ),
    ("libraries/web.rb", "module Web\n  def self.go\n    [1].each do |one|\n      one.upcase\n    end\n  end\nend\n"),
    (
        "recipes/notify_bare.rb",
        "service 'nginx' do\n  action :nothing\nend\nfile '/srv/a' do\n  notifies :restart, 'nginx'\nend\n",
    ),
    (
        "recipes/notify_other.rb",
        "service 'nginx' do\n  action :nothing\nend\nfile '/srv/a' do\n  notifies :restart, 'systemd_unit[nginx]'\nend\n",
    ),
    ("recipes/notify.rb", "file '/srv/a' do\n  notifies :restart, 'service[nginx]'\nend\n"),
    ("recipes/type.rb", "file '/srv/a'\ntemplat '/srv/b' do\n  source 'b'\nend\n"),
    ("recipes/custom.rb", "web_stie 'a'\n"),
    ("recipes/mode.rb", "file '/srv/a' do\n  mode 'rwx'\nend\n"),
    ("recipes/property.rb", "web_site 'a' do\n  prot 80\nend\n"),
    ("recipes/action.rb", "file '/srv/a' do\n  action :craete\nend\n"),
    ("recipes/timing.rb", "file '/srv/a' do\n  notifies :run, 'execute[x]', :immediatly\nend\n"),
    ("recipes/node.rb", "log node.platform\n"),
    ("recipes/removed.rb", "log 'a'\nnode.set['nginx']['port'] = 81\n"),
    ("recipes/nowhere.rb", "log 'a'\ninclude_recipe 'wbe'\n"),
    ("recipes/gone.rb", "include_recipe 'elsewhere::x'\n"),
    ("recipes/inner.rb", "web_site 'a'\n"),
    ("recipes/denied.rb", "web_other 'a'\n"),
    (
        "recipes/nil.rb",
        "%w(a).each do |one|\n  log node['b'].to_s + node['web']['none'][one] + node['web'][one]\nend\n",
    ),
    ("recipes/page.rb", "template '/srv/page' do\n  source \"#{node['web']['page']}.erb\"\nend\n"),
    ("templates/nil.erb", "one\n<%= @list.map { |one| one.name } %>\n"),
    ("templates/open.erb", "<% if true %>\ntwo\nlast\n"),
    ("templates/twice.erb", "one\n<% end %>\nthree\n<%= @a + %>\n"),
    ("recipes/inside.rb", "log 'x'\nuser_ulimit 'web' do\n  filehandle_limit 10\nend\n"),
    ("recipes/syntax.rb", "log 'a'\nfile '/srv/a' do\n  mode ('0600'\nend\n"),
    ("recipes/far.rb", "remote_file '/srv/a' do\n  source 'http://127.0.0.1:9/a'\n  retries 0\nend\n"),
    (
        "recipes/two.rb",
        "notify_group 'a' do\n  action :run; notifies :create, 'file[/srv/no/b]'\nend\nfile '/srv/no/b' do\n  action :nothing\nend\n\
         file '/srv/none/c'\n",
    ),
    ("attributes/default.rb", "default['nginx']['port'] = 80\n"),
    ("recipes/absent.rb", "port = node['nginx']['prot']\nlog 'a'\nlog port.upcase\n"),
    ("recipes/absent_here.rb", "log node['nginx']['prot'].upcase\n"),
    ("recipes/absent_top.rb", "log 'x' + node['ngnix']['port']\n"),
    ("recipes/absent_sum.rb", "log 'x' + node['nginx']['prot']\n"),
    (
        "recipes/absent_page.rb",
        "template '/srv/page' do\n  source 'port.erb'\n  variables port: node['nginx']['prot']\nend\n",
    ),
    ("templates/port.erb", "port <%= @port + 1 %>\n"),
    ("recipes/no_page.rb", "template '/srv/page' do\n  source 'ports.erb'\nend\ncookbook_file '/srv/none'\n"),
    ("recipes/short_page.rb", "template '/srv/page' do\n  source 'y'\nend\n"),
    ("templates/x", "x\n"),
    ("../base/metadata.rb", "name 'base'\n"),
    ("../base/attributes/default.rb", "default['base']['a'] = 1\n"),
    ("../base/recipes/default.rb", "log 'base'\n"),
    ("../base/resources/clock.rb", "action(:create) {}\n"),
    ("../base/libraries/tools.rb", "module BaseTools\nend\n"),
    ("recipes/beside_recipe.rb", "include_recipe 'base'\n"),
    ("recipes/beside_type.rb", "base_clock 'x'\n"),
    ("recipes/beside_class.rb", "log BaseTools.to_s\nlog node['base']['a']\n"),
    ("resources/idle.rb", "provides :web_idle\ndefault_action :run\naction :rnu do\nend\n"),
    ("resources/old.rb", "provides :web_old\nactions :run, :create\naction :create do\nend\n"),
    ("recipes/idle.rb", "log 'a'\n\nweb_idle 'x'\n"),
    ("recipes/old.rb", "log 'a'\nweb_old 'x' do\n\n  action :run\nend\n"),
    ("recipes/library.rb", "file '/srv/c' do\n  mode '0600'\n  content lazy { Web.go }\nend\n"),
];

/// A cookbook on a machine of its own.
struct Cookbook<'a> {
    program: Program,
    machine: Machine<'a>,
}

impl Cookbook<'_> {
    fn converge(&self, recipe: &str, arguments: &[&str]) -> (String, String) {
        let configuration = self.program.configuration();
        let [cookbooks, grants] =
            ["cookbooks", "grants.toml"].map(|name| configuration.join(name).display().to_string());
        let place = self.machine.root().path().display().to_string();
        let run_list = format!("recipe[web::{recipe}]");
        let mut all = vec!["converge", "--node-name", "node1", "--cookbooks", &cookbooks, "--grants", &grants];
        all.extend(["--root", &place, "--run-list", &run_list]);
        all.extend(arguments);
        let output = self.program.run_in(&self.machine, &all).unwrap().expect_code(1).unwrap();
        (output.stdout, output.stderr)
    }

    fn error(&self, recipe: &str) -> Value {
        self.error_with(recipe, &[])
    }

    fn error_with(&self, recipe: &str, options: &[&str]) -> Value {
        let (stdout, _) = self.converge(recipe, &[&["--format", "json"], options].concat());
        let run: Value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error} in {stdout}"));
        run["error"].clone()
    }
}

impl Cookbook<'_> {
    /// Writes a file of JSON; its path.
    fn json(&self, name: &str, text: &str) -> String {
        let path = self.program.configuration().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }
}

fn with_cookbook(test: impl FnOnce(&Cookbook<'_>)) {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    for (path, text) in FILES {
        let path = program.configuration().join("cookbooks/web").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let grants = "[policy.solo]\npaths = [\"/srv/**\"]\nwrite_attributes = [\"nginx\"]\nfacts = [\"*\"]\ndownload_hosts = [\"http://127.0.0.1:9\"]\n";
    fs::write(program.configuration().join("grants.toml"), grants).unwrap();
    let machine = root.machine(Network::Own).unwrap();
    test(&Cookbook { program, machine });
}

#[test]
fn near_names_stand_beside_the_message() {
    with_cookbook(|cookbook| {
        for (recipe, class, name, near, place) in [
            ("type", "NoMethodError", "`templat'", "`template`", "web/recipes/type.rb:2"),
            ("custom", "NoMethodError", "`web_stie'", "`web_site`", "web/recipes/custom.rb:1"),
            ("property", "NoMethodError", "`prot'", "`port`", "web/recipes/property.rb:2"),
            ("action", "Chef::Exceptions::ValidationFailed", ":craete", "`create`", "web/recipes/action.rb:2"),
            ("timing", "ArgumentError", "invalid timing: immediatly", "`immediately`", "web/recipes/timing.rb:2"),
            ("node", "NoMethodError", "'platform'", "`node['platform']`", "web/recipes/node.rb:1"),
            ("inner", "NoMethodError", "'fil'", "`file`", "web/resources/site.rb:4"),
        ] {
            let error = cookbook.error(recipe);
            let message = error["message"].as_str().unwrap();
            assert_eq!(error["class"], class, "{recipe}: {error:#}");
            assert_eq!(error["hint"], format!("did you mean {near}?"), "{recipe}: {error:#}");
            assert!(message.contains(name) && !message.contains("did you mean"), "{recipe}: {message}");
            let excerpt = format!("{}:{}", error["excerpt"]["file"].as_str().unwrap(), error["excerpt"]["line"]);
            assert_eq!(excerpt, place, "{recipe}: {error:#}");
        }
    });
}

#[test]
fn what_chef_removed_and_what_is_not_there_is_told_with_what_is() {
    with_cookbook(|cookbook| {
        let removed = cookbook.error("removed");
        assert!(removed["message"].as_str().unwrap().contains("undefined method 'set'"), "{removed:#}");
        let hint = "Chef 14 removed `node.set`: write `node.default`, `node.normal` or `node.override`";
        assert_eq!(removed["hint"], hint, "{removed:#}");
        let nowhere = cookbook.error("nowhere");
        assert!(nowhere["message"].as_str().unwrap().starts_with("Cookbook wbe not found. "), "{nowhere:#}");
        assert_eq!(nowhere["hint"], "did you mean `web`? the cookbooks here: web", "{nowhere:#}");
        assert_eq!(cookbook.error("gone")["hint"], "the cookbooks here: web");
    });
}

#[test]
fn an_action_that_a_class_names_and_does_not_define_is_told_where_it_was_asked_for() {
    with_cookbook(|cookbook| {
        let place = |error: &Value| (error["excerpt"]["file"].clone(), error["excerpt"]["line"].clone());
        let old = cookbook.error("old");
        assert!(old["message"].as_str().unwrap().contains("undefined method 'action_run' for "), "{old:#}");
        assert_eq!(place(&old), ("web/recipes/old.rb".into(), 4.into()), "{old:#}");
        assert_eq!(
            old["hint"],
            "`web_old` does not define the action `run` (web/resources/old.rb); it defines: create"
        );
        let idle = cookbook.error("idle");
        assert_eq!(place(&idle), ("web/recipes/idle.rb".into(), 3.into()), "{idle:#}");
        assert_eq!(
            idle["hint"],
            "`web_idle` does not define the action `run` (web/resources/idle.rb); it defines: rnu: did you mean `rnu`?"
        );
    });
}

#[test]
fn a_receiver_that_nobody_declared_is_told_at_its_senders_line() {
    with_cookbook(|cookbook| {
        let error = cookbook.error("notify");
        assert_eq!(error["class"], "Chef::Exceptions::ResourceNotFound", "{error:#}");
        // The message is Chef's, with the place as Chef writes it.
        assert!(error["message"].as_str().unwrap().contains("from_file"), "{error:#}");
        assert_eq!(
            (&error["excerpt"]["file"], &error["excerpt"]["line"]),
            (&"web/recipes/default.rb".replace("default", "notify").into(), &1.into())
        );
        assert_eq!(error["hint"], "declare service[nginx] in a recipe that this policy runs");
        let (shown, _) = cookbook.converge("notify", &[]);
        let expect = "service[nginx] cannot be found in the resource collection (web/recipes/notify.rb:1)";
        assert!(shown.contains(expect) && !shown.contains("from_file"), "{shown}");
    });
}

#[test]
fn a_receiver_of_the_same_name_and_another_type_is_near() {
    with_cookbook(|cookbook| {
        for recipe in ["notify_bare", "notify_other"] {
            assert_eq!(cookbook.error(recipe)["hint"], "did you mean `service[nginx]`?", "{recipe}");
        }
    });
}

/// Ruby's own message does not name the property.
#[test]
fn a_mode_that_is_no_number_has_a_hint() {
    with_cookbook(|cookbook| {
        let error = cookbook.error("mode");
        assert_eq!((&error["class"], &error["excerpt"]["line"]), (&"ArgumentError".into(), &2.into()), "{error:#}");
        assert_eq!(error["message"].as_str().unwrap(), "invalid value for Integer(): \"0rwx\"");
        assert!(error["hint"].as_str().unwrap().contains("`mode \"0644\"`"), "{error:#}");
    });
}

#[test]
fn what_the_host_advised_is_kept_on_the_way_through_ruby() {
    with_cookbook(|cookbook| {
        let error = cookbook.error("denied");
        assert_eq!(error["class"], "Wrun::Denied", "{error:#}");
        assert!(error["hint"].as_str().unwrap().contains("paths = [\"/etc/forbidden\"]"), "{error:#}");
        assert!(!error["message"].as_str().unwrap().contains("paths ="), "{error:#}");
    });
}

#[test]
fn people_see_the_cookbooks_line_and_the_resource_and_nothing_of_the_runtime() {
    with_cookbook(|cookbook| {
        let (shown, apart) = cookbook.converge("library", &[]);
        for words in ["NoMethodError: undefined method 'upcase'", "mode \"0600\""] {
            assert_eq!(shown.matches(words).count(), 1, "{words}: {shown}");
        }
        let expect = "(web/libraries/web.rb:4)\n    in file[/srv/c] create, declared in web/recipes/library.rb:1\n         \
                      1 | module Web\n         2 |   def self.go\n         3 |     [1].each do |one|\n    \
                      >    4 |       one.upcase\n         5 |     end\n         6 |   end\n         7 | end\n    \
                      from web/libraries/web.rb:3: in Array#each\n    from web/libraries/web.rb:3: in Web.go\n    \
                      from web/recipes/library.rb:3: in block (2 levels)\n";
        assert!(shown.ends_with(expect), "one block at the end: {shown}");
        assert_eq!(apart, "", "nothing of it elsewhere");
        assert!(!shown.contains("/wrun/"), "{shown}");
        // Whoever looks for a fault in the runtime asks for its frames.
        let (whole, _) = cookbook.converge("library", &["--log-level", "debug"]);
        assert!(whole.contains("from /wrun/"), "{whole}");
    });
}

/// Ruby's own message of a syntax error has the lines, with a mark below what is wrong.
#[test]
fn a_syntax_error_shows_its_lines_once() {
    with_cookbook(|cookbook| {
        let (shown, _) = cookbook.converge("syntax", &[]);
        assert_eq!(shown.matches("mode ('0600'").count(), 1, "{shown}");
        assert_eq!(shown.matches("web/recipes/syntax.rb:").count(), 1, "{shown}");
        assert!(shown.contains("SyntaxError: ") && shown.contains("expected a matching `)`"), "{shown}");
        // Programs get the excerpt.
        assert_eq!(cookbook.error("syntax")["excerpt"]["file"], "web/recipes/syntax.rb");
    });
}

#[test]
fn a_server_that_does_not_answer_is_told_once() {
    with_cookbook(|cookbook| {
        let (shown, apart) = cookbook.converge("far", &[]);
        let all = format!("{shown}{apart}");
        assert_eq!(all.matches("Connection refused").count(), 1, "{all}");
        // Chef's message is the cookbook's to rescue, and stays.
        let message = cookbook.error("far")["message"].as_str().unwrap().to_owned();
        assert!(message.contains("Connection refused - Connection refused connecting to"), "{message}");
    });
}

#[test]
fn each_of_several_failures_has_its_place_and_its_resource() {
    with_cookbook(|cookbook| {
        let (shown, _) = cookbook.converge("two", &[]);
        let recap = shown.split("FAILED").nth(1).unwrap();
        for words in [
            "    2 failures:\n    * Chef::Exceptions::EnclosingDirectoryDoesNotExist: ",
            " (web/recipes/two.rb:7)\n      in file[/srv/none/c] create\n",
            "    * in a delayed notification: Chef::Exceptions::EnclosingDirectoryDoesNotExist: ",
            " (web/recipes/two.rb:4)\n      in file[/srv/no/b] create\n",
        ] {
            assert_eq!(recap.matches(words).count(), 1, "{words}\n{shown}");
        }
        let recorded = cookbook.program.run(&["run", "show"]).unwrap().expect_code(0).unwrap().stdout;
        for place in ["(web/recipes/two.rb:7)", "(web/recipes/two.rb:4)"] {
            assert_eq!(recorded.matches(place).count(), 1, "{recorded}");
        }
        for failed in ["/srv/none does not exist", "/srv/no does not exist"] {
            assert_eq!(recorded.matches(failed).count(), 1, "{recorded}");
        }
        let error = cookbook.error("two");
        let causes = error["causes"].as_array().unwrap();
        let of = |cause: &Value| (cause["resource"]["name"].clone(), cause["origin"]["line"].clone());
        let expect = [("/srv/none/c".into(), 7.into()), ("/srv/no/b".into(), 4.into())];
        assert_eq!(causes.iter().map(of).collect::<Vec<_>>(), expect, "{error:#}");
    });
}

#[test]
fn an_error_about_nil_says_which_expression_was_nil() {
    with_cookbook(|cookbook| {
        let error = cookbook.error("nil");
        assert_eq!(error["message"], "undefined method '[]' for nil", "{error:#}");
        assert_eq!(
            error["hint"], "`node['web']` is nil (web/recipes/nil.rb:2)",
            "of three calls on the line: {error:#}"
        );
        let error = cookbook.error_with("page", &["-j", &cookbook.json("nil.json", r#"{"web": {"page": "nil"}}"#)]);
        assert_eq!(error["hint"], "`@list` is nil (web/templates/nil.erb:2)", "{error:#}");
    });
}

#[test]
fn a_templates_syntax_errors_are_told_by_its_own_lines() {
    with_cookbook(|cookbook| {
        for (page, message, line) in [
            ("open", "syntax error: unexpected end-of-input; expected an `end` to close the conditional clause", 3),
            ("twice", "syntax error: unexpected 'end'; line 4: unexpected ')'", 2),
        ] {
            let options = cookbook.json("page.json", &format!(r#"{{"web": {{"page": "{page}"}}}}"#));
            let error = cookbook.error_with("page", &["-j", &options]);
            assert_eq!(error["class"], "Chef::Mixin::Template::TemplateError", "{error:#}");
            let said = error["message"].as_str().unwrap();
            assert!(said.starts_with(message), "{said}");
            assert!(!said.contains("_buf"), "nobody has written the code that it is made into: {said}");
            let excerpt = &error["excerpt"];
            let place = [&excerpt["file"], &excerpt["line"]];
            assert_eq!(place, [&serde_json::json!(format!("web/templates/{page}.erb")), &serde_json::json!(line)]);
        }
    });
}

#[test]
fn what_a_type_of_the_runtime_declares_stands_where_the_cookbook_declared_that_type() {
    with_cookbook(|cookbook| {
        let (stdout, _) = cookbook.converge("inside", &["--format", "json"]);
        let run: Value = serde_json::from_str(&stdout).unwrap();
        let rows = run["resources"].as_array().unwrap();
        let children: Vec<_> = rows.iter().filter(|row| row["nesting"] == 1).collect();
        assert!(!children.is_empty(), "{run:#}");
        for child in children {
            assert_eq!(
                [&child["file"], &child["line"]],
                [&serde_json::json!("recipes/inside.rb"), &serde_json::json!(2)],
                "{child:#}"
            );
        }
        assert!(!run["error"].to_string().contains("/wrun/"), "{run:#}");
    });
}

#[test]
fn a_cookbook_beside_it_that_it_does_not_depend_on_is_named_with_the_line_for_the_metadata() {
    with_cookbook(|cookbook| {
        let line = "add the line `depends 'base'` to web/metadata.rb";
        for (recipe, what) in [
            ("beside_recipe", ""),
            ("beside_type", ", which brings `base_clock`"),
            ("beside_class", ", which brings `BaseTools`"),
        ] {
            let error = cookbook.error(recipe);
            let expect = format!("cookbook web does not depend on cookbook base{what}: {line}");
            assert!(error["hint"].as_str().unwrap_or_default().contains(&expect), "{recipe}: {error:#}");
        }
    });
}

#[test]
fn an_attribute_without_a_value_is_named_with_a_near_one() {
    with_cookbook(|cookbook| {
        let (absent, meant) = ("`node['nginx']['prot']` has no value", "did you mean `node['nginx']['port']`?");
        for (recipe, hint) in [
            ("absent", format!("`port` is nil (web/recipes/absent.rb:3); {absent} (web/recipes/absent.rb:1): {meant}")),
            ("absent_here", format!("`node['nginx']['prot']` is nil (web/recipes/absent_here.rb:1); {meant}")),
            (
                "absent_top",
                "`node['ngnix']` is nil (web/recipes/absent_top.rb:1); did you mean `node['nginx']`?".to_owned(),
            ),
            ("absent_sum", format!("{absent}: {meant}")),
            (
                "absent_page",
                format!("`@port` is nil (web/templates/port.erb:1); {absent} (web/recipes/absent_page.rb:3): {meant}"),
            ),
        ] {
            let error = cookbook.error(recipe);
            assert_eq!(error["hint"], hint, "{recipe}: {error:#}");
        }
    });
}

#[test]
fn a_template_that_is_not_there_has_a_near_name() {
    with_cookbook(|cookbook| {
        let error = cookbook.error("no_page");
        assert_eq!(error["class"], "Chef::Exceptions::FileNotFound", "{error:#}");
        assert_eq!(error["hint"], "did you mean `port.erb`?", "{error:#}");
        let error = cookbook.error("short_page");
        assert_eq!(error["class"], "Chef::Exceptions::FileNotFound", "{error:#}");
        assert_eq!(error["hint"], Value::Null, "nothing is left of the name: {error:#}");
    });
}
