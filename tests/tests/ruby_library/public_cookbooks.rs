//! Libraries and small classes of Chef's own process that public cookbooks use without saying so.

use super::{answers, json, run};
use serde_json::Value;
use specs::{Network, Program, Root};
use std::fs;

#[test]
fn libraries_that_chefs_process_has_are_there_without_require() {
    answers(
        &[],
        &[
            ("OpenStruct.new(a: 1).a", "1"),
            ("Resolv::IPv4::Regex.match?('10.0.0.1')", "true"),
            ("Erubis::Eruby.new('a <%= 1 + 1 %>').result", "a 2"),
            ("Addressable::URI.escape('http://h:80/my job/\u{fc}?a=b c')", "http://h:80/my%20job/%C3%BC?a=b%20c"),
            ("Addressable::URI.join('http://a/b/c', '../d').to_s", "http://a/d"),
            ("Addressable::URI.parse('HTTP://Host:80').normalize.to_s", "http://host/"),
            ("Addressable::URI.parse('file:///etc/x').to_s", "file:///etc/x"),
            (
                "u = Addressable::URI.parse('https://me:pw@h:8443/a.tgz?x=1#f'); [u.user, u.port, u.extname, u.query_values]",
                r#"["me", 8443, ".tgz", {"x" => "1"}]"#,
            ),
            ("Addressable::URI.encode_component('a/b c', Addressable::URI::CharacterClasses::UNRESERVED)", "a%2Fb%20c"),
        ],
    );
}

#[test]
fn settings_of_ones_own_have_defaults_contexts_and_a_strict_mode() {
    let settings = "require 'mixlib/config'
module Own
  extend Mixlib::Config
  config_strict_mode true
  default :port, 80
  configurable(:name).writes_value { |value| value.upcase }
  config_context(:tls) { default :on, false }
  config_context_list(:hosts, :host) { default :role, 'web' }
end\n";
    answers(
        &[("cookbooks/t/libraries/own.rb", settings)],
        &[
            ("[Own.port, Own[:port], Own.is_default?(:port)]", "[80, 80, true]"),
            ("Own.port 81; Own.name = 'a'; [Own.port, Own.name, Own.is_default?(:port)]", r#"[81, "A", false]"#),
            ("Own.tls { on true }; Own.tls.on", "true"),
            ("Own.host { role 'db' }; Own.host { |host| host }; Own.hosts.map(&:role)", r#"["db", "web"]"#),
            ("Own.save", r#"{port: 81, name: "A", tls: {on: true}, hosts: [{role: "db"}, {role: "web"}]}"#),
            ("Own.unknown", "Mixlib::Config::UnknownConfigOptionError: Reading unsupported config value unknown."),
            ("Own.reset; Own.save", r#"{hosts: [{role: "db"}, {role: "web"}]}"#),
        ],
    );
}

#[test]
fn small_classes_of_chef_answer() {
    answers(
        &[],
        &[
            (
                "Chef::AttributeAllowlist.filter({ 'a' => { 'b' => 1, 'c' => 2 }, 'd/e' => 3 }, ['a/b', ['d/e'], 'x/y'])",
                r#"{"a" => {"b" => 1}, "d/e" => 3}"#,
            ),
            ("Chef::Formatters.by_name(:doc)", "Chef::Formatters::Doc"),
            (
                "node.consume_attributes('run_list' => ['x'], 'c' => { 'd' => 1 }); [node['c']['d'], node['run_list']]",
                "[1, nil]",
            ),
            ("OpenSSL::ASN1::PRINTABLESTRING", "19"),
            ("1.is_a?(OpenSSL::X509::Request)", "false"),
            (
                "OpenSSL::X509::Request.new",
                "NotImplementedError: the sandbox makes no certificates in Ruby: use openssl_x509_request",
            ),
        ],
    );
}

#[test]
fn a_resource_tells_whether_its_guards_would_skip_an_action() {
    answers(
        &[],
        &[
            ("!!file('/a') { only_if { true }; not_if { false }; action :nothing }.should_skip?(:create)", "false"),
            ("!!file('/b') { only_if { false }; action :nothing }.should_skip?(:create)", "true"),
            ("!!file('/c') { action :nothing }.should_skip?(:nothing)", "true"),
            ("!!file('/d') { not_if 'exit 1'; action :nothing }.should_skip?(:create)", "false"),
            (
                "execute('e') { command 'true'; not_if 'exit 0'; action :nothing }.should_skip?(:run).class",
                "Chef::Resource::Conditional",
            ),
            (
                "!!file('/f') { only_if '[[ a == a ]] && [ \"$X\" = 1 ]', environment: { 'X' => '1' }; guard_interpreter :bash; action :nothing }.should_skip?(:create)",
                "false",
            ),
        ],
    );
}

/// Code that waits for a service tries as often as in a real run, and does not spin until the time is over.
#[test]
fn a_dry_run_gives_up_waiting_after_as_many_tries_as_a_real_run() {
    let recipe = "tries = 0
begin
  Timeout.timeout(120) { loop { tries += 1; sleep 0.5 } }
rescue Timeout::Error
  log \"tries #{tries.between?(200, 245)}\"
end\n";
    let run = json(run("--why-run", &[("cookbooks/t/recipes/default.rb", recipe)], &[]), 0);
    assert_eq!(run["resources"][0]["name"], "tries true", "{run:#}");
}

/// What code could not ask in a dry run leaves the file's content unknown, also where a template asks.
#[test]
fn a_template_that_asks_a_command_is_unknown_in_a_dry_run() {
    let files = [
        ("cookbooks/t/recipes/default.rb", "template '/srv/a' do\n  source 'a.erb'\nend\n"),
        ("cookbooks/t/templates/a.erb", "<%= `wrun-no-such-program --version` %>\n"),
    ];
    let run = json(run("--why-run", &files, &[]), 0);
    assert_eq!(run["resources"][0]["status"], "unknown", "{run:#}");
}

const IN_A_RUN: &str = r#"
require 'openssl'
require 'mixlib/archive'
%w(x y z).each { |name| execute(name) { command 'true'; action :nothing } }
ruby_block 'immediately' do
  block do
    self.notifies :run, 'execute[x]', :immediately
    self.resolve_notification_references
  end
end
ruby_block('delayed') { block { notifies :run, 'execute[y]', :delayed } }
ruby_block('by object') { block { notifies :run, resources('execute[z]'), :immediately } }
ruby_block 'keys and archives' do
  block do
    key = OpenSSL::PKey::RSA.new(2048)
    File.write('/srv/k.pem', key.to_pem)
    File.write('/srv/p.pem', key.public_key.to_pem)
    told = [OpenSSL::PKey::RSA.new(key.to_pem).params == key.params, key.public_key.private?]
    told << shell_out('openssl rsa -in /srv/k.pem -check -noout').stdout.strip
    told << shell_out('openssl rsa -in /srv/k.pem -pubout 2>/dev/null | cmp - /srv/p.pem && echo same').stdout.strip
    told << OpenSSL::PKey::DH.new(OpenSSL::PKey::DH.new(512).to_pem).g
    FileUtils.mkdir_p('/srv/in/d')
    File.write('/srv/in/a', 'A')
    File.write('/srv/in/d/b', 'B')
    Mixlib::Archive.archive_directory('/srv/in', '/srv/x.tgz', gzip: true)
    Mixlib::Archive.new('/srv/x.tgz').extract('/srv/out', ignore: [/^a$/])
    told << Dir['/srv/out/**/*']
    told << (Mixlib::Archive.new('/srv/none') rescue $!.message)
    missing = Mixlib::ShellOut.new('/srv/no-such-program')
    missing.run_command rescue Errno::ENOENT
    told << missing.exitstatus
    node.normal['told'] = told
  end
end
t_old 'a'
own_shell('own') { code 'echo "$WORD" >/srv/word'; environment 'WORD' => 'said' }
"#;

const OWN_SHELL: &str = "class OwnShell < Chef::Resource::Bash
  provides :own_shell
  resource_name :own_shell
end
Chef::Provider::Script.provides(:own_shell)\n";

const OLD_PROVIDER: &str = "property :name, name_property: true
action :install do
  recipe_eval { file('/srv/of_old') { content 'x' } }
  node.normal['there'] = ::File.exist?('/srv/of_old')
end\n";

#[test]
fn what_code_does_while_an_action_runs_is_done_as_in_chef() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    let cookbooks = program.configuration().join("cookbooks");
    for (path, text) in [
        ("metadata.rb", "name 't'\n"),
        ("recipes/default.rb", IN_A_RUN),
        ("resources/old.rb", OLD_PROVIDER),
        ("libraries/own.rb", OWN_SHELL),
    ] {
        let path = cookbooks.join("t").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let [cookbooks, place] = [cookbooks.as_path(), root.path()].map(|path| path.display().to_string());
    let all = ["converge", "--allow-all", "--format", "json", "--node-name", "n1", "--run-list", "t"];
    let all = [&all[..], &["--cookbooks", &cookbooks, "--root", &place]].concat();
    let output = program.run_in(&machine, &all).unwrap().expect_code(0).unwrap();
    let run: Value = serde_json::from_str(&output.stdout).unwrap();
    let ran: Vec<&str> = run["resources"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["action"] != "nothing")
        .map(|row| row["name"].as_str().unwrap())
        .collect();
    let expect = ["immediately", "x", "delayed", "by object", "z", "keys and archives", "a", "/srv/of_old", "own", "y"];
    assert_eq!(ran, expect, "{run:#}");
    let told = &run["node"]["normal"]["told"];
    let expect = json!([
        true,
        false,
        "RSA key ok",
        "same",
        2,
        ["/srv/out/d", "/srv/out/d/b"],
        "Archive file not found: /srv/none",
        1
    ]);
    assert_eq!(*told, expect, "{run:#}");
    assert_eq!(run["node"]["normal"]["there"], true);
    assert_eq!(fs::read_to_string(root.path().join("srv/word")).unwrap(), "said\n");
}
