//! Built-in types that the host makes of other resources, in cookbooks in Ruby: as they are, with a template of the cookbook's own,
//! and where a cookbook reopens such a type or writes a class below it.

#![cfg(target_arch = "x86_64")]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use serde_json::Value;
use specs::{Network, Program, Root};
use std::fs;

const FILES: &[(&str, &str)] = &[
    ("metadata.rb", "name 'web'\n"),
    ("templates/rules.erb", "# <%= @who %> of <%= node['platform'] %>\n"),
    (
        "libraries/types.rb",
        "class OpenFiles < Chef::Resource::UserUlimit\n  provides :open_files\n  action :create do\n    \
         Chef::Log.warn('before')\n    super()\n  end\nend\n\
         class Plain < Chef::Resource::UserUlimit\n  provides :plain_limits\nend\n\
         class Chef::Resource::OhaiHint\n  action :announce do\n    log \"hint #{new_resource.hint_name}\"\n  end\nend\n",
    ),
    (
        "recipes/default.rb",
        "open_files 'ann' do\n  filehandle_limit 10\nend\n\
         plain_limits 'bob' do\n  cpu_limit lazy { 5 }\nend\n\
         ohai_hint('one') { action [:create, :announce] }\n\
         sudo 'ops' do\n  template 'rules.erb'\n  variables(who: 'ops')\nend\n\
         sudo('dev') { users 'ann'; not_if { false } }\n\
         user_ulimit('cat') { core_limit 0; notifies :write, 'log[told]', :immediately }\n\
         log('told') { action :nothing }\n\
         log \"hint: #{node.run_context.resource_collection.find('sudo[dev]').users.inspect}\"\n",
    ),
    (
        "recipes/attack.rb",
        "tried = false\n\
         Chef.event_handler do\n  on(:resource_action_start) do |*|\n    bridge = Wrun::Bridge\n    \
         part = (0..20).find { |at| bridge.call('resources.describe', at).to_s.include?('limits.d') rescue nil }\n    \
         next if part.nil? || tried\n    tried = true\n    \
         elsewhere = { 'property' => ['path', ['plain', '/srv/elsewhere']] }\n    \
         tries = [\n      \
         -> { bridge.call('resources.amend', part, elsewhere) },\n      \
         -> { bridge.call('resources.mark', part, false) },\n      \
         -> { bridge.call('resources.observed', part, { 'content' => 'x' }) },\n      \
         -> { bridge.call('resources.converge-by', part, ['would do more']) },\n      \
         -> { bridge.call('resources.retract', part) },\n      \
         -> { Wrun::Resources.errand('run-action', part, 'delete') },\n    ]\n    \
         tries.each { |it| Chef::Log.warn(begin; it.call; 'done'; rescue StandardError => error; error.message; end) }\n  \
         end\nend\n\
         user_ulimit('ann') { core_limit 0 }\n",
    ),
    ("recipes/lie.rb", "user_ulimit 'ann' do\n  filename '../../x'\nend\n"),
    ("recipes/undone.rb", "subversion('/srv/x') { action :nothing }\nselinux_port('80') { action :nothing }\n"),
    ("recipes/undone_act.rb", "subversion('/srv/x') { repository 'http://a' }\n"),
];

/// A run of a recipe: the rows, each with its status and nesting, and the result.
fn run(program: &Program, root: &Root, recipe: &str, more: &[&str], code: i32) -> (Vec<String>, Value) {
    let machine = root.machine(Network::Own).unwrap();
    let cookbook = program.configuration().join("cookbooks/web");
    for (path, text) in FILES {
        let path = cookbook.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let [cookbooks, place] = [cookbook.parent().unwrap(), root.path()].map(|path| path.display().to_string());
    let item = format!("recipe[web::{recipe}]");
    let fixed = ["converge", "--format", "json", "--node-name", "n1", "--allow-all", "--cookbooks", &cookbooks];
    let arguments = [&fixed[..], &["--run-list", &item, "--root", &place], more].concat();
    let output = program.run_in(&machine, &arguments).unwrap().expect_code(code).unwrap();
    let run: Value = serde_json::from_str(&output.stdout).unwrap();
    let rows = run["resources"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let row = |row: &Value| {
        let key = format!("{}[{}]", text(&row["type"]), text(&row["name"]));
        format!("{} {key} {} {}", row["nesting"], text(&row["action"]), text(&row["status"]))
    };
    (rows.map(row).collect(), run)
}

#[test]
fn cookbooks_reopen_subclass_and_fill_them() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let limits = "/etc/security/limits.d";
    let expected = [
        "0 open_files[ann] create updated".to_owned(),
        "1 user_ulimit[ann] create updated".to_owned(),
        format!("2 template[{limits}/ann_limits.conf] create updated"),
        "0 plain_limits[bob] create updated".to_owned(),
        "1 user_ulimit[bob] create updated".to_owned(),
        format!("2 template[{limits}/bob_limits.conf] create updated"),
    ];
    for dry in [true, false] {
        let more: &[&str] = if dry { &["--why-run"] } else { &[] };
        let (rows, run) = run(&program, &root, "default", more, 0);
        // Hints are left while the recipe is compiled.
        let hint = rows.iter().position(|row| row == "0 ohai_hint[one] create updated").unwrap();
        assert!(rows[hint..].contains(&"1 ohai_hint[one] create updated".to_owned()), "{rows:#?}");
        assert!(rows.contains(&"1 log[hint one] write up-to-date".to_owned()), "{rows:#?}");
        let at = rows.iter().position(|row| *row == expected[0]).unwrap();
        assert_eq!(rows[at..at + expected.len()], expected, "{rows:#?}");
        for row in [
            "1 template[/etc/sudoers.d/ops] create updated",
            "1 template[/etc/sudoers.d/dev] create updated",
            "0 user_ulimit[cat] create updated",
            "0 log[told] write up-to-date",
        ] {
            assert!(rows.contains(&row.to_owned()), "{row} in {rows:#?}\n{run:#}");
        }
        assert_eq!(root.path().join("etc/sudoers.d/ops").exists(), !dry);
    }
    let read = |path: &str| fs::read_to_string(root.path().join(path)).unwrap();
    assert_eq!(read("etc/sudoers.d/ops"), "# ops of debian\n");
    assert!(read("etc/sudoers.d/dev").ends_with("ann ALL=(ALL) ALL\n"), "{}", read("etc/sudoers.d/dev"));
    assert!(read("etc/security/limits.d/bob_limits.conf").contains("bob - cpu 5\n"));
    let (_, lie) = run(&program, &root, "lie", &[], 1);
    let message = lie["error"]["message"].as_str().unwrap();
    assert!(message.contains("is not the name of a file"), "{message}");
}

#[test]
fn types_without_a_provider_may_be_declared_and_do_not_act() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    run(&program, &root, "undone", &[], 0);
    let (_, run) = run(&program, &root, "undone_act", &[], 1);
    let message = run["error"]["message"].as_str().unwrap();
    assert!(message.contains("wrun cannot act for resources of the type `subversion`"), "{message}");
}

#[test]
fn attack_a_handler_changes_no_part_that_the_host_declares() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let (rows, run) = run(&program, &root, "attack", &[], 0);
    let said: Vec<&str> = run["log"].as_array().unwrap().iter().filter_map(|line| line["message"].as_str()).collect();
    let refused = said.iter().filter(|line| line.contains("is a part of a built-in resource")).count();
    assert_eq!((refused, rows.len()), (6, 2), "{said:?} {rows:?}");
    assert!(!root.path().join("srv/elsewhere").exists());
    assert!(root.path().join("etc/security/limits.d/ann_limits.conf").exists());
}
