//! Attributes and variables of templates that nothing sets, with a near name among those that are set.

use super::{check, expect, write};
use serde_json::Value;
use specs::Program;

const ATTRIBUTES: &str = "default['mail']['greeting'] = 'hello'\ndefault['mail']['hosts'] = { 'main' => 'a', 'other' => { 'port' => 1 } }\n\
    node.default['mail']['opened'] = other_values\ndefault['mail'][node['platform']]['x'] = 1\ndefault_unless['mail']['later'] = 1\n\
    default['open']['known'] = 1\ndefault['open'][name] = 2\n";

const BASE: [(&str, &str); 2] =
    [("base/metadata.rb", "name 'base'\n"), ("base/attributes/default.rb", "default['base']['address'] = 1\n")];

#[test]
fn a_misspelt_attribute_is_a_problem_with_the_one_that_was_meant() {
    // The level below `mail` is closed only without the computed key.
    let attributes = ATTRIBUTES.replace("default['mail'][node['platform']]['x'] = 1\n", "");
    let recipe = "log node['mail']['greting']\nlog \"#{node['mail']['hosts']['mian']}\"\nlog node['ipaddres']\nlog node[:base][:adress]\n\
                  log node['mail']['hosts']['other']['prot']\nlog node.default['mail']['unknown']\n";
    let files = [
        ("metadata.rb", "name 'web'\ndepends 'base'\n"),
        ("attributes/default.rb", attributes.as_str()),
        ("attributes/more.rb", "override['mail']['all'] = \"#{node['mail']['greeeting']}\"\n"),
        ("recipes/default.rb", recipe),
        ("templates/a.erb", "one\n<%= node['mail']['gretting'] %>\n"),
    ];
    let report = check(&files, &BASE, 1);
    let nothing = |path: &str| format!("`node{path}` has no value: nothing here sets it");
    let all = [
        ("attribute recipes/default.rb:1", nothing("['mail']['greting']")),
        ("attribute recipes/default.rb:2", nothing("['mail']['hosts']['mian']")),
        ("attribute recipes/default.rb:3", nothing("['ipaddres']")),
        ("attribute recipes/default.rb:4", nothing("['base']['adress']")),
        ("attribute attributes/more.rb:1", nothing("['mail']['greeeting']")),
        ("attribute templates/a.erb:2", nothing("['mail']['gretting']")),
    ];
    let mut expected: Vec<_> = all.iter().map(|(place, says)| (*place, says.as_str())).collect();
    expected.push(("attribute recipes/default.rb:5", "node['mail']['hosts']['other']['prot']"));
    expect(&report["problems"], &expected);
    let of = |line: u32| {
        let all = report["problems"].as_array().unwrap();
        let found = all.iter().find(|one| one["file"] == "recipes/default.rb" && one["line"] == line).unwrap();
        found["hint"].as_str().unwrap().to_owned()
    };
    assert_eq!(of(1), "did you mean `node['mail']['greeting']`?");
    assert_eq!(of(3), "did you mean `node['ipaddress']`?");
}

#[test]
fn nothing_is_said_where_others_may_set_it_or_the_code_expects_nil() {
    let attributes = ATTRIBUTES.replace("default['mail'][node['platform']]['x'] = 1\n", "");
    let recipe = "log 'x' if node['mail']['greting']\nlog node['mail']['greting']\nlog node['mail']['gretings'] || 'x'\n\
        log node['mail']['greetin'].nil?.to_s\nlog node['mail']&.[]('greeing')\nlog Array(node['mail']['greeding']).to_s\n\
        file '/a' do\n  only_if { node['mail']['greiting'] }\nend\nlog node['mail'].key?('greating').to_s\nlog node['mail']['greating']\n\
        log node.read('mail', 'reeting').to_s\nlog node['mail']['reeting']\nlog node['mail']['opened']['anything']\n\
        log node['open']['knwon']\nlog node['mail']['unlike']\nlog node['mail']['from_base']\nlog node['mail']['later']\n\
        case node['mail']['greetign'] when nil then log 'x' end\nlog node['mail']['greetingg'] ? 'a' : 'b'\n";
    let base = [BASE[0], ("base/recipes/set.rb", "node.default['mail']['greetings'] = 1\n")];
    let files = [
        ("metadata.rb", "name 'web'\n"),
        ("attributes/default.rb", attributes.as_str()),
        ("recipes/default.rb", recipe),
        ("recipes/wrapped.rb", "log node['mail']['greetings']\n"),
    ];
    expect(&check(&files, &base, 0)["problems"], &[]);
    let open = [files[0], ("attributes/default.rb", ATTRIBUTES), ("recipes/a.rb", "log node['mail']['greting']\n")];
    expect(&check(&open, &BASE, 0)["problems"], &[]);
}

#[test]
fn a_misspelt_variable_of_a_template_is_a_problem() {
    let recipe = "template '/a' do\n  source 'a.erb'\n  variables greeting: 'x', host: node['fqdn']\nend\n\
        template '/a2' do\n  source 'a.erb'\n  variables 'other' => 1\nend\ntemplate '/srv/b' do\n  variables(lazy { { x: 1 } })\nend\n";
    let template = "<%= @greting %>\n<%= @other %><%= @host %><%= @nodename %><% if @hots %><%= @hots %><% end %>\n\
        <% @otehr = 1 %><%= @otehr %><%= @node['platform'] %><%= @unlike_all %>\n";
    let files = [
        ("metadata.rb", "name 'web'\n"),
        ("recipes/default.rb", recipe),
        ("templates/default/a.erb", template),
        ("templates/b.erb", "<%= @greting %>\n"),
        ("templates/unused.erb", "<%= @greting %>\n"),
    ];
    let report = check(&files, &[], 1);
    expect(&report["problems"], &[("variable templates/default/a.erb:1", "`@greting` has no value")]);
    assert_eq!(report["problems"][0]["hint"], "did you mean `@greeting`?");
    // A partial is given what its caller says.
    let partial = [files[0], files[1], files[2], files[3], ("templates/c.erb", "<%= render 'a.erb' %>\n")];
    expect(&check(&partial, &[], 0)["problems"], &[]);
    let computed = [
        files[0],
        ("recipes/default.rb", &recipe.replace("'a.erb'\n  variables 'o", "node['web']['source']\n  variables 'o")),
        files[2],
        files[3],
    ];
    expect(&check(&computed, &[], 0)["problems"], &[]);
}

#[test]
fn attributes_of_roles_and_environments_count_as_set() {
    let program = Program::new().unwrap();
    let folder = program.configuration();
    let files = [
        ("cookbooks/app/metadata.rb", "name 'app'\n"),
        ("cookbooks/app/attributes/default.rb", "default['app']['port'] = 1\ndefault['app']['hosts'] = 1\n"),
        ("cookbooks/app/recipes/default.rb", "log node['app']['ports']\nlog node['app']['host']\n"),
    ];
    write(&folder, &files);
    let cookbook = folder.join("cookbooks/app").display().to_string();
    let check = |arguments: &[&str], code: i32| {
        let arguments = [&["cookbook", "check", &cookbook, "--format", "json"][..], arguments].concat();
        let output = program.run(&arguments).unwrap().expect_code(code).unwrap();
        (serde_json::from_str::<Value>(&output.stdout).unwrap()["problems"].clone(), output.stderr)
    };
    let nothing = |name: &str| format!("`node['app']['{name}']` has no value: nothing here sets it");
    let (ports, host) = (nothing("ports"), nothing("host"));
    let (of_ports, of_host) = (("attribute recipes/default.rb:1", &*ports), ("attribute recipes/default.rb:2", &*host));
    expect(&check(&[], 1).0, &[of_ports, of_host]);
    let role = "{\"name\": \"web\", \"override_attributes\": {\"app\": {\"ports\": [1]}}}";
    let environment = "name 'test'\ndefault_attributes 'app' => { 'host' => 'a' }\n";
    write(&folder.join("elsewhere"), &[("test.rb", environment)]);
    let elsewhere = folder.join("elsewhere").display().to_string();
    expect(&check(&["--environments", &elsewhere], 1).0, &[of_ports]);
    write(&folder, &[("roles/web.json", role), ("environments/test.rb", environment)]);
    expect(&check(&[], 0).0, &[]);
    write(&folder, &[("environments/test.rb", "nam 'x'\n")]);
    let (problems, said) = check(&[], 1);
    expect(&problems, &[of_host]);
    assert!(said.contains("environments/test.rb sets is not known: "), "{said}");
    let said =
        program.run(&["cookbook", "check", &cookbook, "--roles", "/nowhere"]).unwrap().expect_code(43).unwrap().stderr;
    assert!(said.contains("roles cannot be read from /nowhere"), "{said}");
}

/// A right to what is above would open more than the recipe writes.
#[test]
fn written_attributes_are_suggested_by_their_whole_path() {
    let recipe = "node.default['backup']['paths'] = %w(/srv)\nnode.override['backup'][node['x']] = 1\nnode.default['web']['own'] = 1\n\
                  node.default['odd']['a.b']['c'] = 1\nnode.default['whole'] = { 'a' => 1 }\n";
    let grants = |recipe: &str| {
        let report = check(&[("metadata.rb", "name 'web'\n"), ("recipes/default.rb", recipe)], &[], 0);
        report["grants"].as_str().unwrap().to_owned()
    };
    let all = grants(recipe);
    let lines: Vec<_> = all.lines().skip_while(|line| !line.starts_with("write_attributes")).take(5).collect();
    assert_eq!(
        lines,
        ["write_attributes = [", "    \"backup\",", "    \"backup.paths\",", "    \"odd\",", "    \"whole\","]
    );
    let one = grants(recipe.lines().next().unwrap());
    assert!(one.contains("write_attributes = [\"backup.paths\"]\n"), "{one}");
}
