//! What real cookbooks taught: small cookbooks of our own that do what those did when they met something that was missing.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use serde_json::Value;
use specs::{Network, Program, Root};
use std::fs;

/// Converges a recipe of a cookbook `probe`, whose libraries are given too, and returns the run.
fn converge(root: &Root, recipe: &str, libraries: &[(&str, &str)]) -> Value {
    let program = Program::new().unwrap();
    let cookbooks = program.configuration().join("cookbooks");
    let cookbook = cookbooks.join("probe");
    for (path, text) in [("metadata.rb", "name 'probe'\n"), ("recipes/default.rb", recipe)].iter().chain(libraries) {
        let path = cookbook.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let machine = root.machine(Network::Own).unwrap();
    let (place, cookbooks) = (root.path().display().to_string(), cookbooks.display().to_string());
    let output = program
        .run_in(
            &machine,
            &[
                "converge",
                "--format",
                "json",
                "--node-name",
                "node1",
                "--allow-all",
                "--root",
                &place,
                "--cookbooks",
                &cookbooks,
                "--run-list",
                "probe",
            ],
        )
        .unwrap()
        .expect_code(0)
        .unwrap();
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error} in\n{}", output.text()))
}

#[test]
fn downloads_find_the_file_cache() {
    let root = Root::new().unwrap();
    let recipe = "file \"#{Chef::Config[:file_cache_path]}/download.txt\" do\n  content 'fetched'\nend\n";
    converge(&root, recipe, &[]);
    assert_eq!(fs::read_to_string(root.path().join("var/chef/cache/download.txt")).unwrap(), "fetched");
}

#[test]
fn an_unreachable_server_is_the_error_that_cookbooks_rescue() {
    let root = Root::new().unwrap();
    let recipe = "
require 'net/http'
said = {}
{
  'name' => 'http://no-such-host.invalid/x', 'port' => 'http://127.0.0.1:9/x'
}.each do |what, url|
  begin
    Net::HTTP.get(URI(url))
  rescue SocketError, Errno::ECONNREFUSED => error
    said[what] = \"#{error.class} #{error.message[/\\A[^(]+/].strip}\"
  end
end
begin
  Chef::HTTP.new('http://no-such-host.invalid').get('x')
rescue SocketError
  said['chef'] = 'SocketError'
end
file '/srv/said' do
  content said.map { |what, text| \"#{what}: #{text}\\n\" }.join
end
";
    converge(&root, recipe, &[]);
    let said = fs::read_to_string(root.path().join("srv/said")).unwrap();
    let expect = "name: SocketError Failed to open TCP connection to no-such-host.invalid:80\n\
                  port: Errno::ECONNREFUSED Failed to open TCP connection to 127.0.0.1:9\n\
                  chef: SocketError\n";
    assert_eq!(said, expect);
}

#[test]
fn constants_wait_for_their_files() {
    let root = Root::new().unwrap();
    // Chef loads all files below `libraries`; this one is elsewhere, so that nobody else asks for it.
    let outer = "module Probe\n  autoload :Late, File.join(__dir__, '..', 'files', 'late.rb')\n  \
                 module Inner\n    def self.word = Late::WORD\n  end\nend\n";
    let late = "module Probe\n  module Late\n    WORD = 'late'\n  end\nend\n";
    let recipe = "waited = Probe.autoload?(:Late) ? 'waited' : 'loaded'\n\
                  file '/srv/said' do\n  content \"#{waited} #{Probe::Inner.word} #{Probe::Late.name}\"\nend\n\
                  begin\n  Probe::Never\nrescue NameError => error\n  \
                  file '/srv/never' do\n    content error.message\n  end\nend\n";
    converge(&root, recipe, &[("libraries/probe.rb", outer), ("files/late.rb", late)]);
    assert_eq!(fs::read_to_string(root.path().join("srv/said")).unwrap(), "waited late Probe::Late");
    assert_eq!(fs::read_to_string(root.path().join("srv/never")).unwrap(), "uninitialized constant Probe::Never");
}

#[test]
fn properties_are_there_under_the_names_they_once_had() {
    let root = Root::new().unwrap();
    let recipe = "archive_file '/srv/none.tar' do\n  extract_to '/srv/unpacked'\n  action :nothing\nend\n\
                  file '/srv/said' do\n  content resources('archive_file[/srv/none.tar]').destination\nend\n";
    converge(&root, recipe, &[]);
    assert_eq!(fs::read_to_string(root.path().join("srv/said")).unwrap(), "/srv/unpacked");
}
