//! Literals that a run refuses: values of built-in types, and notifications.

use super::{check, expect};
use serde_json::Value;

fn hints(findings: &Value) -> Vec<&str> {
    findings.as_array().unwrap().iter().map(|one| one["hint"].as_str().unwrap_or_default()).collect()
}

#[test]
fn values_that_a_built_in_type_refuses_are_problems() {
    let recipe = "file '/srv/a' do\n  content 5\n  mode :foo\n  owner []\n  backup true\n  retries 'x'\n  checksum 'no'\nend\n\
                  directory '/srv/b' do\n  recursive 'yes'\n  mode 'rwx'\nend\nexecute 'x' do\n  timeout []\n  environment 'A=b'\nend\n\
                  cron 'x' do\n  minute '99'; command 'x'\nend\nmount '/srv/c' do\n  device 'x'\n  device_type :lable\nend\n\
                  remote_file '/srv/d' do\n  source 'relative'\nend\npackage 'x' do\n  version 5\nend\n";
    let report = check(&[("metadata.rb", "name 'web'\n"), ("recipes/default.rb", recipe)], &[], 1);
    let place = |line: u32| format!("property recipes/default.rb:{line}");
    let expected = [
        (2, "Property content must be one of: String, nil!  You passed 5."),
        (3, "`mode` does not take :foo: can't convert Symbol into Integer"),
        (4, "Property owner must be one of"),
        (5, "Property backup must be one of"),
        (6, "Property retries must be one of: Integer!  You passed \"x\"."),
        (7, "does not match regular expression"),
        (10, "Property recursive must be one of"),
        (11, "`mode` does not take \"rwx\": invalid value for Integer()"),
        (14, "Property timeout must be one of"),
        (15, "Property environment must be one of"),
        (18, "minute"),
        (22, "device_type"),
        (25, "is not a valid `source` parameter"),
        (28, "version"),
    ];
    let expected: Vec<_> = expected.iter().map(|(line, says)| (place(*line), *says)).collect();
    let expected: Vec<_> = expected.iter().map(|(place, says)| (place.as_str(), *says)).collect();
    expect(&report["problems"], &expected);
}

/// Whatever a run takes is not a problem, in whichever form.
#[test]
fn values_that_a_built_in_type_takes_are_none() {
    let recipe = "file '/srv/a' do\n  content nil\n  mode 0o644\n  owner 'root'\n  group 0\n  backup false\n  checksum 'A' * 64\n  verify 'true'\nend\n\
                  file '/srv/b' do\n  mode '644'\n  content node['x']\n  sensitive true\n  ignore_failure :quiet\nend\n\
                  execute 'x' do\n  timeout '5'\n  returns [0, 1]\n  environment({ A: 'b', 'C' => nil })\n  command %w(a b)\nend\n\
                  package %w(a b) do\n  version ['1', nil]\n  options '-q'\nend\ncron 'x' do\n  command 'x'; minute 5\n  weekday :monday\nend\n\
                  service 'x' do\n  supports restart: true\n  action %i(start enable)\nend\n\
                  remote_file '/srv/c' do\n  source %w(http://a/b http://c/d)\nend\ntemplate '/srv/d' do\n  source 'd.erb'\n  variables 'a' => :b\nend\n\
                  log 'x' do\n  level :warn\nend\nuser 'x' do\n  uid '5'\nend\nmount '/srv/e' do\n  device 'x'\n  device_type 'label'\n  options 'ro,noexec'\nend\n";
    let files = [("metadata.rb", "name 'web'\n"), ("recipes/default.rb", recipe), ("templates/d.erb", "<%= @a %>\n")];
    expect(&check(&files, &[], 0)["problems"], &[]);
}

#[test]
fn notifications_that_cannot_be_are_problems() {
    let recipe = "file '/srv/a' do\n  notifies :create, 'fil[/srv/a]'\n  notifies :create, 'file /srv/a'\n  notifies :create, 5\n  notifies\n  \
                  notifies :create\n  notifies :create, 'file[/srv/a]', :later\n  notifies :create, 'file[/srv/a]', :immediatly\n  \
                  notifies :create, :x\n  notifies_immediately :create\n  notifies nil, 'file[/srv/a]'\n  subscribes :create, 5\n  \
                  subscribes :create, 'web_stie[a]'\n  notifies :create, 'windows_service[x]'\n  notifies :create, 'apt_update'\nend\n\
                  web_site 'a'\nwindows_service('x') { action :nothing }\napt_update\n";
    let files = [
        ("metadata.rb", "name 'web'\n"),
        ("recipes/default.rb", recipe),
        ("resources/site.rb", "action :create do\n  log('x') { notifies :write, 'no_type[x]' }\nend\n"),
    ];
    let report = check(&files, &[], 1);
    let place = |line: u32| format!("notification recipes/default.rb:{line}");
    let expected = [
        (2, "unknown resource type `fil`"),
        (3, "`\"file /srv/a\"` does not name a resource: write `'type[name]'`"),
        (4, "`5` does not name a resource"),
        (5, "it has 0 of them here"),
        (6, "it has 1 of them here"),
        (7, "`:later` does not say when a notification is sent"),
        (8, "`:immediatly` does not say"),
        (9, "`:x` does not name a resource"),
        (10, "`notifies_immediately` takes an action, a resource; it has 1 of them here"),
        (12, "`5` does not name a resource"),
        (13, "unknown resource type `web_stie`"),
    ];
    let expected: Vec<_> = expected.iter().map(|(line, says)| (place(*line), *says)).collect();
    let mut expected: Vec<_> = expected.iter().map(|(place, says)| (place.as_str(), *says)).collect();
    expected.push(("action recipes/default.rb:11", "not `nil`"));
    expected.push(("resource recipes/default.rb:18", "`windows_service` is for Windows only"));
    expected.push(("notification resources/site.rb:2", "unknown resource type `no_type`"));
    expect(&report["problems"], &expected);
    let hints = hints(&report["problems"]);
    for near in ["file", "web_site", ":immediately"] {
        assert!(hints.contains(&format!("did you mean `{near}`?").as_str()), "{near} is missing in {hints:?}");
    }
}
