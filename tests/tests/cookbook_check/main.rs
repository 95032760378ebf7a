//! `wrun cookbook check`: what a cookbook needs and what of it would not work, with a cookbook for each, and no run.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod dependencies;
mod directories;
mod elsewhere;
mod odd_forms;
mod refused;
mod required;
mod unset;

use serde_json::{Value, json};
use specs::Program;
use std::fs;
use std::path::Path;

fn write(cookbook: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = cookbook.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// Checks a cookbook among others; what it says as JSON.
fn check(files: &[(&str, &str)], others: &[(&str, &str)], code: i32) -> Value {
    let program = Program::new().unwrap();
    let cookbooks = program.configuration().join("cookbooks");
    write(&cookbooks.join("web"), files);
    write(&cookbooks, others);
    let folder = cookbooks.join("web").display().to_string();
    let output = program.run(&["cookbook", "check", &folder, "--format", "json"]).unwrap().expect_code(code).unwrap();
    serde_json::from_str(&output.stdout).unwrap()
}

/// `kind file:line` of each, with what the message must say.
fn lines(findings: &Value) -> Vec<String> {
    let line = |one: &Value| {
        let word = |key: &str| one[key].as_str().unwrap_or_default().to_owned();
        format!("{} {}:{} {}", word("kind"), word("file"), one["line"], word("message"))
    };
    findings.as_array().unwrap().iter().map(line).collect()
}

#[track_caller]
fn expect(findings: &Value, expected: &[(&str, &str)]) {
    let lines = lines(findings);
    for (place, says) in expected {
        let found = lines.iter().any(|line| line.starts_with(&format!("{place} ")) && line.contains(says));
        assert!(found, "{place}: `{says}` is missing in {lines:#?}");
    }
    assert_eq!(lines.len(), expected.len(), "{lines:#?}");
}

const FINE: [(&str, &str); 8] = [
    ("metadata.rb", "name 'web'\nversion '1.2.0'\ndepends 'base', '~> 2.0'\n"),
    (
        "attributes/default.rb",
        r"
default['web']['port'] = 80
default['base']['x'] = 'https://mirror.example.org/x'
default['web']['root'] = '/srv/www'
default['web']['logs'] = %(#{node['web']['root']}/logs)
",
    ),
    (
        "recipes/default.rb",
        r"
%w(nginx curl).each { |name| package name }
include_recipe 'base::time'
place = '/etc/web'
directory place
template %(#{place}/web.conf) do
  source 'web.erb'
  variables port: node['web']['port'], host: node['fqdn']
  notifies :restart, 'service[nginx]'
  only_if 'test -d /srv'; verify 'nginx -t -c %{path}'; verify { |path| !path.empty? }
end
service('nginx') { action [:enable, :start] }
web_site 'main' do
  port 8080
end
base_clock 'x'
execute 'a' do
  command 'systemctl daemon-reload'
  action :nothing
end
remote_file '/srv/a' do
  source 'https://example.org/a'
end
if windows?
  windows_service 'x'
end
begin
  require 'win32/service'
rescue LoadError
  log 'none'
end
require 'csv'
data_bag_item('secrets', 'web')
directory node['web']['logs']
include_recipe 'web::inner'
case node['platform_family']
when 'suse'
  zypper_repository 'x'
end
",
    ),
    ("recipes/parts/inner.rb", "log 'inner'\n"),
    ("recipes/windows.rb", "registry_key 'HKLM\\x'\n"),
    (
        "resources/site.rb",
        "property :port, Integer\naction :create do\n  web_helper new_resource.port\n  file '/srv/site'\nend\naction_class do\n  def web_helper(port) = log(port.to_s)\nend\n",
    ),
    (
        "libraries/helpers.rb",
        "module Web\n  def self.ready? = ::File.exist?('/srv/ready') && shell_out('uptime').stdout\nend\n",
    ),
    ("templates/web.erb", "port <%= @port %>\n<% if @host -%>\nhost <%= node['hostname'] %>\n<% end -%>\n"),
];

/// What `web` depends on.
const BASE: [(&str, &str); 3] = [
    ("base/metadata.rb", "name 'base'\nversion '2.1.0'\n"),
    ("base/recipes/time.rb", "log 'time'\n"),
    ("base/resources/clock.rb", "action :create do\nend\n"),
];

#[test]
fn a_cookbook_that_would_work() {
    let report = check(&FINE, &BASE, 0);
    assert_eq!(report["works"], true, "{report:#}");
    assert_eq!(report["cookbook"], json!({ "name": "web", "version": "1.2.0" }));
    expect(&report["problems"], &[]);
    expect(
        &report["notes"],
        &[
            ("resource recipes/default.rb:25", "`windows_service` is for Windows only"),
            ("library recipes/default.rb:28", "`win32/service` cannot be required"),
            ("resource recipes/default.rb:38", "`zypper_repository` are not carried out"),
            ("resource recipes/windows.rb:1", "`registry_key` is for Windows only"),
        ],
    );
    let names = |kind: &str| -> Vec<String> {
        let needs = report["needs"][kind].as_array().unwrap_or_else(|| panic!("{kind} is missing in {report:#}"));
        needs
            .iter()
            .filter(|need| need["elsewhere_only"] == false)
            .map(|need| need["name"].as_str().unwrap().into())
            .collect()
    };
    assert_eq!(names("packages"), ["curl", "nginx"]);
    assert_eq!(names("paths"), ["/etc/web", "/etc/web/web.conf", "/srv/a", "/srv/site", "/srv/www/logs"]);
    assert_eq!(names("read_paths"), ["/srv/ready"]);
    assert_eq!(names("services"), ["nginx"]);
    assert_eq!(names("commands"), ["nginx -t -c %{path}", "systemctl daemon-reload", "test -d /srv", "uptime"]);
    assert_eq!(names("hosts"), ["https://example.org", "https://mirror.example.org"]);
    assert_eq!(names("data_bags"), ["secrets/web"]);
    assert_eq!(names("facts"), ["fqdn", "hostname", "platform_family"]);
    assert_eq!(names("cookbooks"), ["base"]);
    assert_eq!(names("libraries"), ["csv", "win32/service"]);
    let site = report["needs"]["resources"].as_array().unwrap().iter().find(|need| need["name"] == "web_site").unwrap();
    assert_eq!(site["places"], json!([{ "file": "recipes/default.rb", "line": 13 }]));
    let grants = grants::Grants::parse(report["grants"].as_str().unwrap(), "suggested").unwrap();
    assert_eq!(grants.policy_names().collect::<Vec<_>>(), ["web"]);
}

#[test]
fn what_would_not_work() {
    let report = check(
        &[
            ("metadata.rb", "name 'web'\nchef_version '>= 99.0'\ngem 'nokogiri'\n"),
            ("attributes/default.rb", "default['web'] = {\n"),
            (
                "recipes/default.rb",
                "templat '/etc/a'\nfile '/etc/b' do\n  contents 'x'\n  action :craete\nend\nwindows_service 'x'\nchef_gem 'y'\nselinux_state 'z'\n\
                 include_recipe 'web::none'\ninclude_recipe 'other'\nchef_gem 'nokogiri'\n",
            ),
            (
                "libraries/helpers.rb",
                "require 'mysql2'\nclass Web\n  def go\n    fork { 1 }\n    TCPSocket.new('a', 1)\n    Chef::Knife.run\n  end\nend\n",
            ),
            ("templates/a.erb", "a\n<% if x %>\n"),
            ("ohai/web.rb", "Ohai.plugin(:Web) { }\n"),
            ("recipes/data.yml", "resources:\n  - type: fil\n    name: /etc/c\n"),
        ],
        &[],
        1,
    );
    assert_eq!(report["works"], false);
    expect(
        &report["problems"],
        &[
            ("metadata metadata.rb:2", "CookbookChefVersionMismatch"),
            ("syntax attributes/default.rb:1", "SyntaxError"),
            ("resource recipes/default.rb:1", "unknown resource type or method `templat`"),
            ("property recipes/default.rb:3", "`file` has no property `contents`"),
            ("action recipes/default.rb:4", "`file` has no action `craete`"),
            ("resource recipes/default.rb:6", "`windows_service` is for Windows only"),
            ("gem recipes/default.rb:7", "no gems are installed"),
            ("resource recipes/default.rb:8", "`selinux_state` are not carried out"),
            ("cookbook recipes/default.rb:9", "there is no recipe web::none"),
            ("library libraries/helpers.rb:1", "calls no foreign libraries"),
            ("sandbox libraries/helpers.rb:4", "`fork`"),
            ("sandbox libraries/helpers.rb:5", "no sockets"),
            ("constant libraries/helpers.rb:6", "`Chef::Knife`"),
            ("syntax templates/a.erb:2", "SyntaxError"),
            ("ohai ohai/web.rb:1", "not run"),
            ("resource recipes/data.yml:3", "`fil`"),
        ],
    );
    let hint = |file: &str, line: u32| {
        let all = report["problems"].as_array().unwrap();
        all.iter().find(|one| one["file"] == file && one["line"] == line).unwrap()["hint"].clone()
    };
    assert_eq!(hint("recipes/default.rb", 1), "did you mean `template`?");
    assert_eq!(hint("recipes/default.rb", 3), "did you mean `content`?");
    assert_eq!(hint("recipes/default.rb", 4), "did you mean `create`?");
    expect(
        &report["notes"],
        &[
            ("gem recipes/default.rb:11", "must travel"),
            ("gem metadata.rb:3", "nokogiri"),
            ("cookbook recipes/default.rb:10", "do not depend on the cookbook other"),
        ],
    );
}

/// Nothing of a cookbook is evaluated, however it is written, and what it says is only text.
#[test]
fn hostile_cookbooks_are_only_read() {
    let deep = format!("{}1{}\n", "[".repeat(20_000), "]".repeat(20_000));
    let report = check(
        &[
            ("metadata.rb", "name 'web'\n"),
            ("recipes/default.rb", "BEGIN { raise 'evaluated' }\nloop { }\nexit\n`touch /tmp/evaluated`\n"),
            ("recipes/deep.rb", &deep),
            ("libraries/words.rb", "require \"\\e[2Jx\"\n"),
            ("recipes/bytes.rb", "file \"/srv/\\xff\"\n"),
            ("resources/next.rb", "action :create do\n  file '/srv/next'\nend\n"),
        ],
        &[],
        1,
    );
    let lines = lines(&report["problems"]);
    assert!(lines.iter().any(|line| line.starts_with("library libraries/words.rb:1")), "{lines:#?}");
    assert!(lines.iter().any(|line| line.starts_with("file recipes/bytes.rb:1")), "{lines:#?}");
    assert!(lines.iter().all(|line| !line.contains("evaluated")), "{lines:#?}");
    // Whatever became of the nested one, the others were read.
    assert!(report["needs"]["paths"].to_string().contains("/srv/next"), "{report:#}");
}

#[test]
fn what_is_no_cookbook_is_bad_usage() {
    let program = Program::new().unwrap();
    let folder = program.configuration().display().to_string();
    let output = program.run(&["cookbook", "check", &folder]).unwrap().expect_code(43).unwrap();
    assert!(output.stderr.contains("neither metadata.rb nor metadata.json"), "{}", output.text());
}

#[test]
fn typing_errors_that_chef_tells_only_while_it_runs() {
    let report = check(
        &[
            ("metadata.rb", "name 'web'\nvresion '1.0.0'\nteam 'b'\ndepends 'base'\nputs 'x' if respond_to?(:puts)\n"),
            (
                "resources/site.rb",
                "unified_mode true\nuse 'shared'\nuse 'parts/_more'\nproperty :size, Integer\nproperty :title, Strng\nproperty :kind, [String, Web::Kind, Kind]\n\
                 alias old_size size\naction :create do\n  log new_resource.sise.to_s\n  log \"#{new_resource.size}#{new_resource.owner}#{new_resource.name}\"\nend\n\
                 %w(start stop).each do |name|\n  action name do\n  end\nend\n",
            ),
            ("resources/_shared.rb", "property :owner, String\n"),
            ("resources/parts/_more.rb", "%w(a b).each { |letter| property letter, String }\n"),
            (
                "resources/open.rb",
                "property :known, String\nmore_properties\naction :create do\n  log new_resource.anything\nend\n",
            ),
            ("libraries/kind.rb", "module Web\n  Kind = Class.new\n  KIND = 1\nend\n"),
            (
                "recipes/default.rb",
                "web_site 'a' do\n  siz 3\n  owner 'x'\n  a 'x'\n  old_size 4\n  action [:create, :start, :stip]\n  sensitive true\nend\n\
                 web_open 'a' do\n  anything 1\n  action :whatever\nend\nbase_clock 'x' do\n  hours 1\nend\n\
                 template '/etc/web/a.conf' do\n  source 'sites.erb'\nend\ntemplate '/etc/web/site.conf'\ncookbook_file '/etc/web/b' do\n  source 'there'\nend\n\
                 template '/etc/c' do\n  source 'none.erb'\n  cookbook 'other'\nend\ntemplate '/etc/d' do\n  source node['web']['template']\nend\n\
                 cookbook_file '/etc/e' do\n  action :delete\nend\nremote_directory '/srv/tree'\nremote_directory '/srv/gone'\n\
                 service 'nginx' do\n  subscribes :restart, 'template[/etc/web/site.conf]'\nend\n\
                 file '/etc/f' do\n  notifies :restart, 'service[ngnix]'\n  notifies :restart, 'service[other]'\n  notifies :run, 'execute[none]'\nend\n\
                 include_recipe \"web::#{node['web']['way']}\"\n\
                 log 'n' do\n  notifies :restrat, 'service[nginx]'\n  notifies :stip, 'web_site[a]'\nend\n",
            ),
            ("attributes/default.rb", "default['web']['way'] = 'none'\n"),
            ("templates/default/site.erb", ""),
            ("templates/site.conf.erb", ""),
            ("files/debian/there", ""),
            ("files/default/tree/leaf", ""),
        ],
        &BASE,
        1,
    );
    expect(
        &report["problems"],
        &[
            ("metadata metadata.rb:2", "`vresion` is not a word of metadata"),
            ("property recipes/default.rb:2", "`web_site` has no property `siz`"),
            ("action recipes/default.rb:6", "`web_site` has no action `stip`"),
            ("property recipes/default.rb:14", "`base_clock` has no property `hours`"),
            ("source recipes/default.rb:17", "`template`: there is no `sites.erb` in templates/"),
            ("source recipes/default.rb:34", "`remote_directory`: there is no `gone` in files/"),
            ("notification recipes/default.rb:39", "no recipe of the cookbook declares `service[ngnix]`"),
            ("notification recipes/default.rb:40", "no recipe of the cookbook declares `service[other]`"),
            ("notification recipes/default.rb:41", "no recipe of the cookbook declares `execute[none]`"),
            ("action recipes/default.rb:45", "`service` has no action `restrat`"),
            ("action recipes/default.rb:46", "`web_site` has no action `stip`"),
            ("constant resources/site.rb:5", "`Strng` is not known here"),
            ("property resources/site.rb:9", "`new_resource.sise`: the resource type has no property `sise`"),
        ],
    );
    let hints: Vec<_> =
        report["problems"].as_array().unwrap().iter().map(|one| one["hint"].as_str().unwrap_or("")).collect();
    let near = |name: &str| format!("did you mean `{name}`?");
    let expected =
        ["version", "size", "stop", "", "site.erb", "", "service[nginx]", "", "", "restart", "stop", "String", "size"];
    let expected: Vec<_> =
        expected.iter().map(|name| if name.is_empty() { String::new() } else { near(name) }).collect();
    assert_eq!(hints, expected);
    expect(&report["notes"], &[("metadata metadata.rb:3", "`team` is not a word of metadata")]);
}

#[test]
fn slips_of_the_pen_are_found_with_near_names() {
    let report = check(
        &[
            ("metadata.rb", "name 'web'\nsupports 'debain'\nsupports 'xcp'\n"),
            ("attributes/default.rb", "defalt['web']['port'] = 80\ndefault['web']['x'] = node['platform']\n"),
            (
                "resources/site.rb",
                "property :port, Integer\nproperty :title, [String, nil]\nproperty :on, [true, false]\n\
                 property :mode, Integer, coerce: proc { |it| it.to_i }\nproperty :old, kind_of: String\naction :create do\nend\n",
            ),
            (
                "recipes/default.rb",
                "web_site 'a' do\n  port 'x'\n  title :a\n  on 'true'\n  mode '1'\n  old 5\nend\nweb_site 'b' do\n  port node['web']['port']\n  \
                 port lazy { nodee['x'] }\nend\nlog nodee['a']\nfile '/srv/a' do\n  content nodee['b']\n  notifies :run, 'execute[x]', :immediatly\nend\n\
                 execute 'x' do\n  action :nothing\nend\nincude_recipe 'web'\ndata_bag_itm('a', 'b')\nunheard_of\ndef helper = 1\nhelper\n",
            ),
        ],
        &[],
        1,
    );
    expect(
        &report["problems"],
        &[
            ("method attributes/default.rb:1", "`defalt`"),
            ("metadata metadata.rb:2", "`debain` is not the name of a platform"),
            ("property recipes/default.rb:2", "`port` of `web_site` takes a value of the class Integer, not \"x\""),
            ("property recipes/default.rb:4", "`on` of `web_site`"),
            ("property recipes/default.rb:6", "`old` of `web_site`"),
            ("method recipes/default.rb:10", "`nodee`"),
            ("method recipes/default.rb:12", "`nodee`"),
            ("method recipes/default.rb:14", "`nodee`"),
            ("notification recipes/default.rb:15", "`:immediatly`"),
            ("resource recipes/default.rb:20", "`incude_recipe`"),
            ("method recipes/default.rb:21", "`data_bag_itm`"),
        ],
    );
    let hints: Vec<_> =
        report["problems"].as_array().unwrap().iter().map(|one| one["hint"].as_str().unwrap_or_default()).collect();
    let near =
        ["default", "debian", "", "", "", "node", "node", "node", ":immediately", "include_recipe", "data_bag_item"];
    let near = near.map(|name| if name.is_empty() { String::new() } else { format!("did you mean `{name}`?") });
    assert_eq!(hints, near);
    expect(&report["notes"], &[("method recipes/default.rb:22", "unknown method or variable `unheard_of`")]);
}

#[test]
fn parts_that_only_other_systems_reach_do_not_count() {
    let report = check(
        &[
            ("metadata.rb", "name 'web'\nsupports 'windows'\nsupports 'debian'\n"),
            (
                "recipes/default.rb",
                "package 'nginx'\ncase node['platform_family']\nwhen 'windows'\n  include_recipe 'web::iis'\nelse\n  include_recipe 'web::unix'\nend\n",
            ),
            // Nothing in it is Windows' alone, but only Windows includes it.
            ("recipes/iis.rb", "gem_package 'iis'\nfile 'C:/web'\npackage 'iis'\n"),
            // Nobody includes it, and it begins with what only Windows has.
            ("recipes/tasks.rb", "web_task 'a'\npackage 'tasks'\ngem_package 'x'\n"),
            ("resources/task.rb", "action :create do\n  windows_task 'a'\n  directory '/tasks'\nend\n"),
            ("recipes/unix.rb", "launchd 'a'\n"),
            ("resources/old.rb", "chef_version_for_provides '< 12.0'\naction :create do\n  log Chef::Gone.to_s\nend\n"),
            // No Linux node has to set it, and one that does fails.
            ("recipes/users.rb", "user 'a' do\n  secure_token true if node['web']['token']\nend\n"),
        ],
        &[],
        1,
    );
    // A recipe that is included for Linux is reached, whatever it declares.
    expect(&report["problems"], &[("resource recipes/unix.rb:1", "`launchd` is for macOS only")]);
    let platforms: Vec<_> = report["notes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["file"].as_str().unwrap(), one["platform"].as_str().unwrap()))
        .collect();
    assert_eq!(
        platforms,
        [
            ("recipes/iis.rb", "windows"),
            ("recipes/tasks.rb", "Windows"),
            ("recipes/tasks.rb", "Windows"),
            ("recipes/users.rb", "macOS"),
            ("resources/old.rb", "Chef < 12.0"),
            ("resources/task.rb", "Windows"),
        ]
    );
    let grants = report["grants"].as_str().unwrap();
    assert!(grants.contains("nginx") && !grants.contains("iis") && !grants.contains("tasks"), "{grants}");
    let report = check(
        &[("metadata.rb", "name 'web'\nsupports 'windows'\n"), ("recipes/default.rb", "windows_service 'a'\n")],
        &[],
        0,
    );
    assert_eq!((report["works"].clone(), report["only_on"].clone()), (json!(true), json!("windows")), "{report:#}");
}

#[test]
fn a_property_of_another_system_is_a_problem_where_nothing_keeps_linux_from_it() {
    let recipe = "user 'a' do\n  iterations 5\nend\nuser 'b' do\n  iterations 5 if node['web']['mac']\nend\nif mac?\n  user 'c' do\n    iterations 5\n  end\nend\n";
    let report = check(&[("metadata.rb", "name 'web'\n"), ("recipes/default.rb", recipe)], &[], 1);
    expect(&report["problems"], &[("property recipes/default.rb:2", "`user` has no property `iterations`")]);
    let only = "`user` has no property `iterations` on Linux: such nodes fail here";
    let notes = [
        ("property recipes/default.rb:5", only),
        ("property recipes/default.rb:9", "`user` has no property `iterations`"),
    ];
    expect(&report["notes"], &notes);
}

#[test]
fn methods_that_nodes_do_not_have_are_problems() {
    let recipe = "node.set['web']['port'] = 1\nnode.set_unless['web']['a'] = 1\nnode.override_unless['web']['b'] = 1\n\
        node.normal['web']['c'] = 1\nlog node.platform\nlog node.chef_environment\nnode.defualt['web']['d'] = 1\n\
        log node.web.to_s\nlog node.entirely_unknown\nnode.site_port\nnode.each { |one| one.set }\nlog node.to_hash.keys.join\n";
    let library = "class Chef::Node\n  def site_port = 80\nend\n";
    let files = [
        ("metadata.rb", "name 'web'\n"),
        ("attributes/default.rb", "set['web']['port'] = 80\ndefault['web']['name'] = node.name\n"),
        ("libraries/node.rb", library),
        ("recipes/default.rb", recipe),
    ];
    let report = check(&files, &[], 1);
    let no = |name: &str| format!("a node has no method `{name}`");
    expect(
        &report["problems"],
        &[
            ("method attributes/default.rb:1", &no("set")),
            ("method recipes/default.rb:1", &no("set")),
            ("method recipes/default.rb:2", &no("set_unless")),
            ("method recipes/default.rb:5", &no("platform")),
            ("method recipes/default.rb:7", &no("defualt")),
            ("method recipes/default.rb:8", &no("web")),
        ],
    );
    expect(&report["notes"], &[("method recipes/default.rb:9", &no("entirely_unknown"))]);
    let hints: Vec<_> =
        report["problems"].as_array().unwrap().iter().map(|one| one["hint"].as_str().unwrap()).collect();
    for hint in [
        "Chef 14 removed `node.set`: write `node.default`, `node.normal` or `node.override`",
        "an attribute is read as `node['platform']`",
        "an attribute is read as `node['web']`",
        "did you mean `node.default`?",
    ] {
        assert!(hints.contains(&hint), "{hint} in {hints:#?}");
    }
}

#[test]
fn what_conditions_keep_for_a_linux_family_is_suggested_for_it_alone() {
    let recipe = "case node['platform_family']\nwhen 'amazon'\n  execute 'amazon-linux-extras install epel'\n\
        when 'rhel', 'fedora'\n  package 'epel-release'\n  package 'dnf-utils'\n  package 'curl'\nend\nif debian?\n  package 'apt-utils'\nend\n\
        package 'curl'\nexecute 'dnf -qy x' do\n  only_if { platform_family?('rhel') }\nend\n";
    let program = Program::new().unwrap();
    let cookbook = program.configuration().join("cookbooks/web");
    write(&cookbook, &[("metadata.rb", "name 'web'\n"), ("recipes/default.rb", recipe)]);
    let folder = cookbook.display().to_string();
    let grants = |more: &[&str]| {
        let fixed = ["cookbook", "check", &folder, "--format", "json"];
        let output = program.run(&[&fixed[..], more].concat()).unwrap().expect_code(0).unwrap();
        let report: Value = serde_json::from_str(&output.stdout).unwrap();
        report["grants"].as_str().unwrap().to_owned()
    };
    let any = grants(&[]);
    let table = any.find("# Only on").unwrap();
    assert!(any[..table].contains("\"curl\"") && !any[..table].contains("epel"), "{any}");
    for comment in [
        "# Only on amazon:\n# commands = [\"amazon-linux-extras install epel\"]\n",
        "# Only on debian:\n# packages = [\"apt-utils\"]\n",
        "# Only on fedora, rhel:\n# packages = [\n#     \"dnf-utils\",\n#     \"epel-release\",\n# ]\n",
        "# Only on rhel:\n# commands = [\"dnf -qy x\"]\n",
    ] {
        assert!(any.contains(comment), "{comment} in {any}");
    }
    let ubuntu = grants(&["--platform", "ubuntu"]);
    assert!(ubuntu.contains("apt-utils") && !ubuntu.contains('#') && !ubuntu.contains("epel"), "{ubuntu}");
    let rocky = grants(&["--platform", "rocky"]);
    assert!(rocky.contains("epel-release") && rocky.contains("dnf") && !rocky.contains("apt-utils"), "{rocky}");
}

#[test]
fn decimal_permission_bits_are_noted() {
    let recipe =
        "file '/etc/a' do\n  mode 644\nend\nfile '/etc/b' do\n  mode 0644\nend\nfile '/etc/c' do\n  mode '0644'\nend\n";
    let found = check(&[("metadata.rb", "name 'web'\n"), ("recipes/default.rb", recipe)], &[], 0);
    expect(
        &found["notes"],
        &[("property recipes/default.rb:2", "`mode 644` is a decimal number: the permission bits are 1204")],
    );
    assert_eq!(found["notes"][0]["hint"], "write `mode '0644'`");
}

#[test]
fn a_type_that_loses_against_chefs_own_is_noted() {
    let resource = "property :own, String\naction :create do\nend\n";
    let with_block = format!("provides(:sysctl) {{ true }}\n{resource}");
    let files = [
        ("metadata.rb", "name 'sudo'\n"),
        ("resources/default.rb", resource),
        ("resources/sysctl.rb", with_block.as_str()),
    ];
    let report = check(&files, &[], 0);
    expect(&report["notes"], &[("resource resources/default.rb:1", "Chef's own `sudo` goes before this class")]);
}
