//! Resources that are declared without a property that their type requires.

use super::{check, expect};

const METADATA: (&str, &str) = ("metadata.rb", "name 'web'\n");
const SITE: (&str, &str) = (
    "resources/site.rb",
    "property :domain, String, name_property: true\nproperty :port, Integer, required: true\n\
     property :owner, String, required: %i(create)\nproperty :level, String, required: [:create, :remove]\n\
     property :mode, String, default: '0644'\naction(:create) {}\naction(:remove) {}\n",
);

#[test]
fn a_resource_without_a_required_property_is_a_problem() {
    let recipe = "web_site 'a'\nweb_site('b') { action :create }\nweb_site 'c' do\n  port 80\n  action :remove\nend\n\
                  web_site 'd' do\n  port 80\n  owner 'x'\n  level lazy { node['level'] }\n  only_if { true }\nend\n\
                  bash 'e'\ncron 'f' do\n  hour '5'\nend\nsysctl 'g' do\n  action :remove\nend\n\
                  declare_resource(:web_site, 'h')\n";
    let data = "resources:\n- type: script\n  name: a\n  interpreter: sh\n";
    let files = [METADATA, SITE, ("recipes/default.rb", recipe), ("recipes/data.yml", data)];
    let lacks = |kind: &str, name: &str| format!("`{kind}` is declared without its required property `{name}`");
    let expected = [
        ("default.rb:1", lacks("web_site", "port")),
        ("default.rb:1", lacks("web_site", "level")),
        ("default.rb:2", lacks("web_site", "port")),
        ("default.rb:2", lacks("web_site", "owner")),
        ("default.rb:2", lacks("web_site", "level")),
        ("default.rb:3", lacks("web_site", "level")),
        ("default.rb:13", lacks("bash", "code")),
        ("default.rb:14", lacks("cron", "command")),
        ("data.yml:3", lacks("script", "code")),
    ];
    let expected: Vec<_> =
        expected.iter().map(|(place, says)| (format!("property recipes/{place}"), says.as_str())).collect();
    let expected: Vec<_> = expected.iter().map(|(place, says)| (place.as_str(), *says)).collect();
    expect(&check(&files, &[], 1)["problems"], &expected);
}

/// Whatever may set the property keeps the check silent.
#[test]
fn a_property_that_may_be_set_elsewhere_is_none() {
    let recipe = "settings = { port: 80 }\n\
                  web_site('a') { settings.each { |name, value| send(name, value) } }\n\
                  web_site('b') { self.port = 80 }\nweb_site('c') { |site| site.port 80 }\n\
                  web_site('d', &settings)\nweb_site('e') { usual_settings }\nweb_site('f') { port 80 if node['x'] }\n\
                  web_site('g') { action :nothing }\nweb_site('h') { action node['x'] }\nweb_site('i') { @port = 80 }\n\
                  web_site('j') { instance_exec(&settings) }\nweb_site('k') { %i(port).each(&method(:public_send)) }\n\
                  web_later 'a'\nweb_filled 'a'\nweb_aliased('a') { listen 80 }\nweb_defaults 'a'\nweb_maybe 'a'\nbash('b') { eval 'code 1' }\n\
                  edit_resource(:web_later, 'a') { port 80 }\nscript('c') { action :nothing }\n\
                  find_resource(:execute, 'd') { command 'true' }\nweb_site('l') { it.port 80 }\nsysctl 'm'\n";
    let port = "property :port, Integer, required: true\n";
    let later = format!("{port}action(:create) {{}}\n");
    let filled = format!("{port}def after_created\n  port(80)\nend\naction(:create) {{}}\n");
    let aliased = format!("{port}deprecated_property_alias 'listen', 'port', 'x'\naction(:create) {{}}\n");
    let maybe = "property :port, Integer, required: ::File.exist?('/x')\nproperty :b, Integer, required: true if ENV['x']\n\
                 action(:create) {}\n";
    let files = [
        METADATA,
        ("resources/site.rb", "property :port, Integer, required: true\naction(:create) {}\n"),
        ("resources/later.rb", later.as_str()),
        ("resources/filled.rb", filled.as_str()),
        ("resources/aliased.rb", aliased.as_str()),
        ("resources/defaults.rb", "property :port, Integer, name_property: true, required: true\naction(:create) {}\n"),
        ("resources/maybe.rb", maybe),
        (
            "libraries/usual.rb",
            "module Usual\n  def usual_settings\n    port 80\n  end\nend\nChef::Resource.include Usual\n\
                              class Chef::Resource::Sysctl\n  property :value, String, default: '1'\nend\n",
        ),
        ("recipes/default.rb", recipe),
    ];
    expect(&check(&files, &[], 0)["problems"], &[]);
}

/// A cookbook that sets a property of another's resource does so by a look-up.
#[test]
fn a_cookbook_that_looks_resources_up_may_set_their_properties() {
    let others = [
        ("base/metadata.rb", "name 'base'\n"),
        (
            "base/recipes/default.rb",
            "run_context.resource_collection.each { |one| one.code 'true' if one.name == 'x' }\n",
        ),
    ];
    let files =
        [("metadata.rb", "name 'web'\ndepends 'base'\n"), ("recipes/default.rb", "include_recipe 'base'\nbash 'x'\n")];
    expect(&check(&files, &others, 0)["problems"], &[]);
    let alone = [METADATA, ("recipes/default.rb", "bash 'x'\n")];
    expect(&check(&alone, &[], 1)["problems"], &[("property recipes/default.rb:1", "`code`")]);
}
