//! What becomes of a Ruby cookbook's resources: which count as updated, which fail, who hears of it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use serde_json::Value;
use specs::{Machine, Network, Program, Root};
use std::fs;

/// A type whose actions change something in every way there is, and a definition.
const FILES: [(&str, &str); 3] = [
    ("metadata.rb", "name 'web'\n"),
    (
        "resources/thing.rb",
        r#"provides :thing
property :odd, String, frob: 3
action(:write) { ::File.write("/srv/#{new_resource.name}", 'x') }
action(:say) { converge_by('say so') { } }
action(:break) { converge_by('say so') { raise 'broken' } }
action(:child) { file "/srv/#{new_resource.name}" }
action(:try) do
  node.run_state['tries'] = node.run_state['tries'].to_i + 1
  converge_by('say so') { raise 'first' } if node.run_state['tries'] == 1
end
action(:fail_twice) do
  %w(3 4).each { |code| execute("exit #{code}") { action :nothing } }
  execute('true') { %w(3 4).each { |code| notifies :run, "execute[exit #{code}]" } }
end
"#,
    ),
    ("definitions/triple.rb", "define(:triple, one: 1) { log params.inspect }\n"),
];

/// A cookbook on a machine of its own.
struct Cookbook<'a> {
    program: Program,
    machine: Machine<'a>,
}

impl Cookbook<'_> {
    /// Converges a recipe; gives the result, and its resources' actions as lines.
    fn converge(&self, recipe: &str, code: i32) -> (Value, Vec<String>) {
        let cookbooks = self.program.configuration().join("cookbooks");
        fs::write(cookbooks.join("web/recipes/default.rb"), recipe).unwrap();
        let [cookbooks, place] = [&cookbooks, self.machine.root().path()].map(|path| path.display().to_string());
        let mut all = vec!["converge", "--format", "json", "--node-name", "node1", "--allow-all"];
        all.extend(["--cookbooks", &cookbooks, "--run-list", "recipe[web]", "--root", &place]);
        let output = self.program.run_in(&self.machine, &all).unwrap().expect_code(code).unwrap();
        let run: Value = serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error} in {output:?}"));
        let lines = list(&run, "resources").iter().map(line).collect();
        (run, lines)
    }

    /// Converges a recipe that succeeds and holds its actions against the expected ones.
    fn check(&self, recipe: &str, expect: &[&str]) {
        assert_eq!(self.converge(recipe, 0).1, expect, "{recipe}");
    }

    /// Converges a recipe that fails with a class and a message that has certain words.
    fn check_failure(&self, recipe: &str, class: &str, words: &str) {
        let (run, _) = self.converge(recipe, 1);
        let error = run.pointer("/error").unwrap();
        assert_eq!(text(error, "class"), class, "{recipe}: {error:#}");
        assert!(text(error, "message").contains(words), "{recipe}: {error:#}");
    }

    /// Converges a recipe and holds the lines of its log against the expected ones.
    fn check_log(&self, recipe: &str, code: i32, expect: &[&str]) {
        let (run, _) = self.converge(recipe, code);
        assert_eq!(log(&run), expect, "{recipe}");
    }
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn log(run: &Value) -> Vec<&str> {
    let lines = list(run, "log").iter().filter(|line| text(line, "source") == "resource");
    lines.map(|line| text(line, "message")).collect()
}

fn line(resource: &Value) -> String {
    let [kind, name, action, status] = ["type", "name", "action", "status"].map(|key| text(resource, key));
    format!("{kind}[{name}] {action} {status}")
}

fn with_cookbook(test: impl FnOnce(&Cookbook<'_>)) {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let folder = program.configuration().join("cookbooks/web");
    fs::create_dir_all(folder.join("recipes")).unwrap();
    for (path, text) in FILES {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let machine = root.machine(Network::Own).unwrap();
    test(&Cookbook { program, machine });
}

#[test]
fn a_resource_is_updated_by_what_its_action_said_once_the_action_succeeded() {
    with_cookbook(|cookbook| {
        let told = "log('told') { action :nothing }\n";
        let check = |thing: &str, expect: &[&str]| {
            let expect = [&["log[told] nothing skipped"], expect].concat();
            cookbook.check(&format!("{told}{thing}"), &expect);
        };
        check(
            "thing('a') { action :say; notifies :write, 'log[told]' }",
            &["thing[a] say updated", "log[told] write up-to-date"],
        );
        // What Ruby code writes by itself is shown, and counts for nothing.
        check("thing('b') { action :write; notifies :write, 'log[told]' }", &["thing[b] write up-to-date"]);
        let broken = "thing('c') { action :break; ignore_failure true; notifies :write, 'log[told]' }";
        check(broken, &["thing[c] break failed"]);
        let block = "ruby_block('d') { block { raise 'x' }; ignore_failure true; notifies :write, 'log[told]' }";
        check(block, &["ruby_block[d] run failed"]);
        let tried = "thing('e') { action :try; retries 1; retry_delay 0; notifies :write, 'log[told]' }";
        check(tried, &["thing[e] try up-to-date"]);
        // A provider that a cookbook calls by hand says so itself.
        let by_hand = "class ByHand < Chef::Provider
              def load_current_resource = nil
              def action_say = converge_by('say so') { }
            end
            ruby_block('f') { block { one = Chef::Resource.resource_for_node(:thing, node).new('g', run_context)
              ByHand.new(one, run_context).run_action(:say)
              Chef::Log.info(one.updated_by_last_action?.to_s) } }";
        cookbook.check_log(by_hand, 0, &["true"]);
        let (run, _) = cookbook.converge("thing('h') { action :write }", 0);
        let shown = run.pointer("/resources/0/updates/0").and_then(Value::as_str).unwrap();
        assert!(shown.contains("/srv/h"), "{run:#}");
    });
}

#[test]
fn an_action_that_a_type_does_not_have_fails_and_no_actions_run_nothing() {
    with_cookbook(|cookbook| {
        cookbook.check("log('a') { action [] }\nlog('b')", &["log[b] write up-to-date"]);
        for recipe in [
            "file('/srv/a') { action :nothing }.run_action(:foo)",
            "file('/srv/a') { action :nothing }\nexecute('true') { notifies :foo, 'file[/srv/a]' }",
        ] {
            cookbook.check_failure(
                recipe,
                "NoMethodError",
                "undefined method 'action_foo' for an instance of Chef::Provider::File",
            );
        }
        assert!(!cookbook.machine.root().path().join("srv/a").exists());
    });
}

#[test]
fn resources_of_recipes_whose_turn_never_came_are_unprocessed() {
    with_cookbook(|cookbook| {
        let recipe = "execute('true') { notifies :write, 'log[late]', :immediately }
            thing('a') { action :fail_twice }
            log('late') { action [:write, :nothing] }";
        let (run, lines) = cookbook.converge(recipe, 1);
        let expect = ["log[late] write unprocessed", "log[late] nothing unprocessed"];
        assert_eq!(lines.iter().filter(|line| line.ends_with("unprocessed")).collect::<Vec<_>>(), expect, "{lines:?}");
        assert_eq!(lines.iter().filter(|line| *line == "log[late] write up-to-date").count(), 1, "{lines:?}");
        // Several failures inside a resource are told as they are.
        let message = text(run.pointer("/error").unwrap(), "message");
        assert!(message.starts_with("Multiple failures occurred:"), "{message}");
    });
}

#[test]
fn what_is_no_standard_error_is_neither_tried_again_nor_ignored() {
    with_cookbook(|cookbook| {
        let (run, lines) = cookbook.converge(
            "ruby_block('a') { block { require 'nosuchlib' }; ignore_failure true; retries 2; retry_delay 0 }\nlog('b')",
            1,
        );
        let error = run.pointer("/error").unwrap();
        assert_eq!(text(error, "class"), "LoadError", "{error:#}");
        assert!(!text(error, "message").contains("had an error"), "{error:#}");
        assert_eq!(lines, ["ruby_block[a] run unprocessed", "log[b] write unprocessed"]);
        cookbook.check_failure(
            "ruby_block('a') { block { Chef::Application.fatal!('no') }; ignore_failure true }",
            "SystemExit",
            "exit",
        );
        cookbook.check("ruby_block('a') { block { raise 'x' }; ignore_failure true }", &["ruby_block[a] run failed"]);
    });
}

#[test]
fn a_mask_holds_for_children_and_a_name_may_be_lazy() {
    with_cookbook(|cookbook| {
        let recipe = "thing('masked') { action :child; umask '077' }
            file(lazy { \"/srv/#{node.name}\" }) { content 'c' }";
        cookbook.check(
            recipe,
            &["thing[masked] child updated", "file[/srv/masked] create updated", "file[/srv/node1] create updated"],
        );
        let root = cookbook.machine.root().path().to_owned();
        let mode =
            std::os::unix::fs::PermissionsExt::mode(&fs::metadata(root.join("srv/masked")).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::read_to_string(root.join("srv/node1")).unwrap(), "c");
    });
}

#[test]
fn definitions_and_properties_take_what_chefs_take() {
    with_cookbook(|cookbook| {
        let definition = "triple('n') { b 'x', 'y'; c; d { 1 }; e 2 }";
        let expect = r#"{one: 1, b: ["x", "y"], c: [], d: [], e: 2, name: "n"}"#;
        cookbook.check_log(definition, 0, &[expect]);
        // An option that is not a check is found when a value is checked.
        cookbook.check("thing('a') { action :say }", &["thing[a] say updated"]);
        cookbook.check_failure("thing('a') { odd 'x' }", "ArgumentError", "Validation map has unknown check: frob");
        cookbook.check_failure(
            "use = Chef::ResourceDefinition.new\nuse.define('a') { }",
            "ArgumentError",
            "You must use a symbol",
        );
    });
}

#[test]
fn a_notification_has_one_receiver() {
    with_cookbook(|cookbook| {
        let logs = "log('c') { action :nothing }\nlog('d') { action :nothing }\n";
        cookbook.check(
            &format!("{logs}execute('true') {{ notifies :write, {{ log: %w(c) }} }}"),
            &[
                "log[c] nothing skipped",
                "log[d] nothing skipped",
                "execute[true] run updated",
                "log[c] write up-to-date",
            ],
        );
        let invalid = "Chef::Exceptions::InvalidResourceReference";
        let several = "can only notify one resource";
        cookbook.check_failure(&format!("{logs}execute('true') {{ notifies :write, 'log[c,d]' }}"), invalid, several);
        cookbook.check_failure(
            &format!("{logs}execute('true') {{ notifies :write, {{ log: %w(c d) }} }}"),
            invalid,
            several,
        );
        let absent = "Chef::Exceptions::ResourceNotFound";
        cookbook.check_failure(
            "execute('true') { notifies :write, 'log' }",
            absent,
            "notify resource log with action write, but log cannot",
        );
        cookbook.check_failure("execute('true') { notifies :write, 'log[c,d]' }", absent, "resource log[c,d] ");
        let syntax = "Chef::Exceptions::InvalidResourceSpecification";
        cookbook.check_failure(
            "log('c')\nexecute('true') { notifies :write, :log }",
            syntax,
            "but :log is not valid syntax",
        );
    });
}

#[test]
fn event_handlers_hear_what_chefs_hear() {
    with_cookbook(|cookbook| {
        let recipe = r#"
            heard = []
            Chef.event_handler do
              on(:resource_skipped) { |resource, action, conditional| heard << [resource.name, action, conditional.to_text, conditional.description] }
              on(:resource_action_start) { |resource, _, timing, notifier| heard << [resource.name, timing, notifier&.to_s] if timing }
              on(:converge_start) { |context| heard << context.resource_collection.size }
              on(:recipe_file_loaded) { |path, recipe| heard << [File.basename(path), recipe] }
            end
            log('a') { only_if { false } }
            log('b') { not_if 'true' }
            log('c') { action :nothing }
            execute('true') { notifies :write, 'log[c]', :immediately }
            ruby_block('last') { block { Chef::Log.info(heard.inspect) } }
        "#;
        let expect = concat!(
            r#"[["default.rb", "web"], 5, ["a", :write, "only_if { #code block }", "only_if ruby block"], "#,
            r#"["b", :write, "not_if \"true\"", "not_if command `true`"], "#,
            r#"["c", :nothing, "not_if { action == :nothing }", "action :nothing"], ["c", :immediate, "execute[true]"]]"#
        );
        let (run, _) = cookbook.converge(recipe, 0);
        assert_eq!(log(&run).last().copied(), Some(expect), "{run:#}");
    });
}

#[test]
fn handlers_see_the_resources_themselves() {
    with_cookbook(|cookbook| {
        let recipe = r#"
            class Counting < Chef::Handler
              def report
                shown = [run_status.all_resources, run_status.updated_resources, all_resources, updated_resources, skipped_resources]
                Chef::Log.warn(shown.map { |list| list.map(&:to_s) }.inspect)
                Chef::Log.warn(run_status.all_resources.first.class.name)
              end
            end
            Chef::Config[:report_handlers] << Counting.new
            file('/srv/a') { action %i(create touch) }
            log('b') { action :nothing }
            thing('c') { action :child }
        "#;
        let expect = concat!(
            r#"[["file[/srv/a]", "log[b]", "thing[c]"], ["file[/srv/a]", "thing[c]"], "#,
            r#"["file[/srv/a]", "file[/srv/a]", "log[b]", "thing[c]", "file[/srv/c]"], "#,
            r#"["file[/srv/a]", "file[/srv/a]", "thing[c]", "file[/srv/c]"], ["log[b]"]]"#
        );
        cookbook.check_log(recipe, 0, &[expect, "Chef::Resource::File"]);
    });
}

#[test]
fn guards_refuse_interpreters_and_options_that_there_are_not() {
    with_cookbook(|cookbook| {
        cookbook.check("log('a') { guard_interpreter :bash; only_if '[[ a == a ]]' }", &["log[a] write up-to-date"]);
        for (guard, class, words) in [
            (
                "guard_interpreter :file; only_if 'true'",
                "ArgumentError",
                "interpreter class Chef::Resource::File must be a kind of",
            ),
            ("guard_interpreter :nosuch; only_if 'true'", "Chef::Exceptions::NoSuchResourceType", "nosuch"),
            ("only_if 'true', foo: 1", "Mixlib::ShellOut::InvalidCommandOption", "option ':foo' is not a valid option"),
        ] {
            cookbook.check_failure(&format!("log('a') {{ {guard} }}"), class, words);
        }
    });
}

#[test]
fn what_chefs_own_logger_says_is_no_cookbooks_line() {
    with_cookbook(|cookbook| {
        let recipe = "class Failing < Chef::Handler
              def report = raise('no report')
            end
            Chef::Config[:report_handlers] << Failing.new
            log('a') { only_if { 'true' } }
            log('b') { not_if { '' }; sensitive true }";
        let (run, lines) = cookbook.converge(recipe, 0);
        assert_eq!(lines, ["log[a] write up-to-date", "log[b] write skipped"]);
        assert_eq!(log(&run), ["a"]);
        let own = list(&run, "log").iter().filter(|line| text(line, "source") == "logger");
        let own: Vec<_> = own.map(|line| text(line, "message")).collect();
        let warned = r#"only_if block for log[a] returned "true", did you mean to run a command? If so use 'only_if "true"' in your code."#;
        assert_eq!(own, [warned, "Handler report of policy solo failed: no report"]);
    });
}

#[test]
fn a_resource_shows_itself_as_chefs_does() {
    with_cookbook(|cookbook| {
        let recipe = "one = file('/srv/a') { mode '0600' }
            log one.inspect.sub(/source_line: \".*?\"/, 'source_line: X').sub(/allowed_actions: \\[.*?\\]/, 'allowed_actions: []')
            log one.to_text.lines.drop(1).join";
        let inspect = concat!(
            r#"<file[/srv/a] @name: "/srv/a" @before: nil @params: {} @provider: nil @allowed_actions: [] @action: [:create] "#,
            r#"@updated: false @updated_by_last_action: false @source_line: X @guard_interpreter: nil "#,
            r#"@default_guard_interpreter: :default @elapsed_time: 0 @declared_type: :file @cookbook_name: "web" "#,
            r#"@recipe_name: "default" @mode: "0600">"#
        );
        let text = "\nfile(\"/srv/a\") do\n  action [:create]\n  default_guard_interpreter :default\n  declared_type :file\n  \
                    cookbook_name \"web\"\n  recipe_name \"default\"\n  mode \"0600\"\nend\n";
        cookbook.check_log(recipe, 0, &[inspect, text]);
    });
}

#[test]
fn the_files_of_a_remote_directory_and_of_a_unit_are_actions_of_their_own() {
    with_cookbook(|cookbook| {
        let tree = cookbook.program.configuration().join("cookbooks/web/files/tree/deep");
        fs::create_dir_all(&tree).unwrap();
        fs::write(tree.join("b"), "b").unwrap();
        fs::write(tree.join("../a"), "a").unwrap();
        cookbook.machine.root().write_program("/usr/bin/systemctl", "#!/bin/sh\n").unwrap();
        let recipe = "remote_directory('/srv/tree') { source 'tree' }
            systemd_unit('app.service') { content \"[Unit]\\n\"; verify false; action :create }
            file('/srv/last')";
        let (run, lines) = cookbook.converge(recipe, 0);
        let unit = "/etc/systemd/system/app.service";
        let [unit_created, unit_kept] =
            ["create updated", "create up-to-date"].map(|end| format!("systemd_unit[app.service] {end}"));
        assert_eq!(
            lines,
            [
                "remote_directory[/srv/tree] create updated",
                "cookbook_file[/srv/tree/a] create updated",
                "directory[/srv/tree/deep] create updated",
                "cookbook_file[/srv/tree/deep/b] create updated",
                &unit_created,
                &format!("file[{unit}] create updated"),
                "file[/srv/last] create updated",
            ]
        );
        let rows = list(&run, "resources");
        let nesting: Vec<_> = rows.iter().map(|row| row.get("nesting").and_then(Value::as_u64).unwrap()).collect();
        assert_eq!(nesting, [0, 1, 1, 1, 0, 1, 0]);
        let cookbooks: Vec<_> = rows.iter().map(|row| row.get("cookbook").and_then(Value::as_str)).collect();
        assert_eq!(cookbooks[1..6], [Some("web"), Some("web"), Some("web"), Some("web"), None]);
        let [place, own] = ["line", "updates"].map(|key| rows.get(5).unwrap().get(key).cloned().unwrap());
        assert_eq!(place, 2, "where the unit was declared");
        assert!(own.to_string().contains(&format!("create new file {unit}")), "{own}");
        assert_eq!(rows.get(4).and_then(|row| row.pointer("/updates")).unwrap().as_array().unwrap().len(), 1);

        let (_, lines) = cookbook.converge(recipe, 0);
        let kept = ["/srv/tree/a", "/srv/tree/deep/b"].map(|path| format!("cookbook_file[{path}] create up-to-date"));
        assert_eq!(lines[1..4], [kept[0].as_str(), &kept[1], &unit_kept], "{lines:?}");
    });
}
