//! `wrun cookbook check`: what a cookbook needs and what of it would not work, with a cookbook for each, and no run.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

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
  only_if 'test -d /srv'
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
const BASE: [(&str, &str); 2] =
    [("base/metadata.rb", "name 'base'\nversion '2.1.0'\n"), ("base/resources/clock.rb", "action :create do\nend\n")];

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
    assert_eq!(names("commands"), ["systemctl daemon-reload", "test -d /srv", "uptime"]);
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
