//! Chef's own library as cookbooks find it: classes, settings, files by their names, the order of types, and vaults.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

mod public_cookbooks;

use serde_json::{Value, json};
use specs::{Output, Program};
use std::fs;
use std::path::Path;

/// A private key that is nobody's, and a vault that is encrypted for it.
const KEY: &str = "-----BEGIN RSA PRIVATE KEY-----
MIICWwIBAAKBgQDa5TK16Bn+zg/VxQ70oaOoaQTzBD5ZDzJH2AdWb2yzsRW54/Pv
Er74QZL7I9fid74kLyFhhp6KeIBQCmP5EIBVOqmvLFem1qAmQbsnQk4B46dy0Of/
hDSF4aSxangJgPPiAwbkvoMSaoiJGzSTnBr+50ZftUJcz2+R1cdTBEx8ywIDAQAB
AoGAQFNYWqKReRKfDqfxJCyYBnaOMMgPdmaD1R8D0P+/hvLEOrNlTN1KZ3QFuG2p
FHEx3DpJafqAfpq4wky7YkbaHyY746x6p8GgTpQ38rDGXO4IqO8BDhGRwerCs5sK
le3Gl4C4qX5JbFzKEOmyIvu/fHvB7QEOpAtGfPpDpxOGjDkCQQD98Dpmju91HL1V
mTgeqws9OsUdW31REUFi2n8Iid7G0fzHeqkc3MRTfdXBnuDOyYWe6Rs+7QwYk6Aa
VmHAM4FHAkEA3KwjZ4XMf7nu0uxJcFH57ZWsSJWZhQ/JoD0hz2sCpTrNRn+kYH2w
F7oxI9Dk5ycRUaMVLlvyZ7w2NIAynAhKXQJAUQBVEKvddETznB9gyF+VGTXq9H9f
jQFtEwRRaz7XQiJveI4G7b76HQvRqI5udWfQ6KzA1SS2LAzDEEOnsLB9NwJAPXQm
y+6j+7IBA3ZQIVqC+pojB3e58CdsZBaCMuw/KVqNziM/2KtH/eOZSbsj9AeaOBzt
iiKLCD6O7eIBthhM9QJAJYL7EKoR7ws1HvL03bYxNwpqD2VnSh1dUw/0hEyHU2KH
MvG6BYz3rnwQ8h3fF+7qA0mbt+gv5mRWl/Yg9Uw94w==
-----END RSA PRIVATE KEY-----\n";
const VAULT: [(&str, &str); 4] = [
    (
        "bags/creds/web.json",
        r#"{"id":"web","password":{"encrypted_data":"R2ZbZA65JUCeexjmas1QFMC5p0hmX6lC2AAXM6LV\n","iv":"LdkktMuAa3deHDTf\n","auth_tag":"scezB05zcgBQ5ygr/gtX1Q==\n","version":3,"cipher":"aes-256-gcm"}}"#,
    ),
    (
        "bags/creds/web_keys.json",
        r#"{"id":"web_keys","admins":[],"clients":["n1"],"search_query":"*:*","mode":"default","n1":"U5MLOe6tvDmcCTNj+9TJRAXtuObdkFwGoEPum8nlTV0KoeuvqgCkdq6qXc3l\n+4RkXKroWKAeBiUS2Ijh4V4ZC9ySiDk1NP9JyznBvI4sKUBUu2iZUdV6iRso\nlk2sT14wynaNPBgZ2ovNLaC6mjcrhzT8TCr5QU+UQw6vw5KOIbA=\n"}"#,
    ),
    ("bags/creds/plain.json", r#"{"id":"plain","password":"open"}"#),
    ("cookbooks/t/files/client.pem", KEY),
];

fn write(place: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = place.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// Compiles the cookbook `t`, which may have others beside it.
fn compile(files: &[(&str, &str)], arguments: &[&str]) -> Output {
    run("--compile-only", files, arguments)
}

fn run(how: &str, files: &[(&str, &str)], arguments: &[&str]) -> Output {
    let program = Program::new().unwrap();
    let place = program.configuration();
    write(&place, &[("cookbooks/t/metadata.rb", "name 't'\n")]);
    write(&place, files);
    let folder = |name: &str| place.join(name).display().to_string();
    let mut all = vec!["converge", how, "--allow-all", "--format", "json", "--node-name", "n1"];
    let (cookbooks, bags) = (folder("cookbooks"), folder("bags"));
    all.extend(["--cookbooks", &cookbooks, "--run-list", "t"]);
    if place.join("bags").is_dir() {
        all.extend(["--data-bags", &bags]);
    }
    all.extend(arguments);
    program.run(&all).unwrap()
}

fn json(output: Output, code: i32) -> Value {
    let output = output.expect_code(code).unwrap();
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error} in {}", output.text()))
}

/// Evaluates expressions in a recipe and compares the results, as Ruby shows them, or the class and message of the exception.
#[track_caller]
fn answers(files: &[(&str, &str)], rows: &[(&str, &str)]) {
    let questions: Vec<&str> = rows.iter().map(|(question, _)| *question).collect();
    let questions = json!(questions).to_string();
    let recipe = "node.normal['answers'] = JSON.parse(File.read(File.join(__dir__, '..', 'rows.json'))).map do |text|
  shown = eval(text, binding, __FILE__)
  shown.is_a?(String) ? shown : shown.inspect
rescue StandardError, LoadError, NotImplementedError => error
  \"#{error.class}: #{error.message}\"
end\n";
    let own = [("cookbooks/t/recipes/default.rb", recipe), ("cookbooks/t/rows.json", questions.as_str())];
    let run = json(compile(&[files, &own].concat(), &[]), 0);
    let got: Vec<&str> =
        run["node"]["normal"]["answers"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    for ((question, wanted), got) in rows.iter().zip(got) {
        assert_eq!(*wanted, got, "{question}");
    }
}

#[test]
fn settings_are_those_of_local_mode() {
    answers(
        &[],
        &[
            ("Chef::Config.chef_server_url", "chefzero://localhost:1"),
            ("Chef::Config[:chef_server_root]", "chefzero://localhost:1"),
            ("Chef::Config[:validation_client_name]", "chef-validator"),
            (
                "[:validation_key, :client_key].map { |key| [Chef::Config.key?(key), Chef::Config[key]] }",
                "[[true, nil], [true, nil]]",
            ),
            ("Chef::Config.chef_zero.enabled && Chef::Config[:chef_zero][:single_org]", "chef"),
            ("[Chef::Config.target_mode?, Chef::Config.target_mode.enabled]", "[false, false]"),
            ("Chef::Config[:nothing_of_the_kind]", "nil"),
            ("Ohai::Config.ohai.equal?(Chef::Config[:ohai])", "true"),
            ("Ohai.config['plugin_path'] << '/srv/plugins'; Ohai::Config.ohai[:plugin_path].last", "/srv/plugins"),
            ("Ohai::Config.ohai.disabled_plugins = [:C]; Chef::Config.ohai[:disabled_plugins]", "[:C]"),
            ("ChefConfig::Config.equal?(Chef::Config)", "true"),
        ],
    );
}

#[test]
fn ciphers_are_named_though_only_some_are_there() {
    answers(
        &[],
        &[
            ("OpenSSL::Cipher.ciphers.size", "170"),
            ("%w(des3 aes-256-cbc id-aes256-GCM camellia256 chacha20) - OpenSSL::Cipher.ciphers", "[]"),
            ("OpenSSL::Cipher.new('aes-256-gcm').key_len", "32"),
            (
                "OpenSSL::Cipher.new('des3')",
                "OpenSSL::Cipher::CipherError: unsupported cipher algorithm (des3): the sandbox has AES in CBC and GCM",
            ),
        ],
    );
}

#[test]
fn a_file_of_chefs_is_required_or_fails_by_its_name() {
    let missing = |name: &str| {
        format!(
            "LoadError: cannot load such file -- {name} (the sandbox that policies run in does not have this part of Chef)"
        )
    };
    answers(
        &[],
        &[
            ("require 'chef/mixin/shell_out'", "false"),
            (
                "require 'chef/mixin/homebrew'; Chef::Mixin::Homebrew.instance_methods(false).sort",
                "[:find_homebrew_uid, :find_homebrew_username, :homebrew_bin_path]",
            ),
            (
                "%w(chef chef/resources chef/version_class chef/resource/scm/git chef/data_bag_item chef/json_compat ohai mixlib/log).map { |name| require name }.uniq",
                "[false]",
            ),
            ("require 'chef/nothing_of_the_kind'", &missing("chef/nothing_of_the_kind")),
            ("require 'chef/knife/bootstrap'", &missing("chef/knife/bootstrap")),
            (
                "require 'chef/win32/version'",
                "LoadError: cannot load such file -- chef/win32/version (the sandbox that policies run in is not Windows)",
            ),
            (
                "require 'chef/api_client'; Chef::ApiClient.list",
                "NotImplementedError: Chef::ApiClient.list: there is no Chef server",
            ),
            ("Class.new { extend Mixlib::Log }.info('said')", "true"),
            ("Ohai::Log.debug('not said')", "false"),
        ],
    );
}

#[test]
fn caches_of_package_tools_can_be_emptied() {
    answers(
        &[],
        &[
            ("Chef::Provider::Package::Yum::YumCache.instance.reload", "nil"),
            ("Chef::Provider::Package::Dnf::PythonHelper.instance.restart", "nil"),
            ("Chef::Provider::Package::Yum::PythonHelper.instance.respond_to?(:package_query)", "false"),
        ],
    );
}

#[test]
fn homebrew_is_found_or_its_absence_told() {
    answers(
        &[],
        &[
            ("Object.new.extend(Chef::Mixin::Homebrew).find_homebrew_uid(7)", "7"),
            ("Object.new.extend(Chef::Mixin::Homebrew).find_homebrew_uid('root')", "0"),
            (
                "Object.new.extend(Chef::Mixin::Homebrew).homebrew_bin_path",
                "Chef::Exceptions::CannotDetermineHomebrewPath: Couldn't find the \"brew\" executable anywhere on the path.",
            ),
        ],
    );
}

/// Two classes of one name, neither with a filter: the later goes first, until another order is asked for.
#[test]
fn the_order_of_classes_can_be_set() {
    let libraries = "class First < Chef::Resource\n  provides :ordered\nend\nclass Second < Chef::Resource\n  provides :ordered\nend\n\
                     class OwnProvider < Chef::Provider\n  def action_run; end\nend\n";
    let of = "Chef::ResourceResolver.resolve(:ordered, node: node)";
    answers(
        &[("cookbooks/t/libraries/ordered.rb", libraries)],
        &[
            ("defined?(Chef::Platform::ProviderPriorityMap)", "constant"),
            (of, "Second"),
            ("Chef::Platform::ResourcePriorityMap.instance.priority(:ordered, [First], os: 'plan9')", "[First]"),
            (of, "Second"),
            ("Chef.set_resource_priority_array(:ordered, [First, Second])", "[First, Second]"),
            (of, "First"),
            ("Chef.get_resource_priority_array(:ordered)", "[First, Second]"),
            (
                "Chef::Platform.set(resource: :ordered, provider: OwnProvider); Chef.provider_handler_map.list(node, :ordered)",
                "[OwnProvider]",
            ),
        ],
    );
}

#[test]
fn types_that_chef_declares_with_a_block_go_before_a_cookbooks() {
    let resource = "property :own, String\naction :create do\nend\n";
    let recipe = "sudo 'a' do\n  user 'joe'\nend\nsysctl 'b' do\n  own 'x'\nend\ntimezone 'c' do\n  own 'x'\nend\n";
    let output = compile(
        &[
            ("cookbooks/sudo/metadata.rb", "name 'sudo'\n"),
            ("cookbooks/sudo/resources/default.rb", resource),
            ("cookbooks/t/metadata.rb", "name 't'\ndepends 'sudo'\n"),
            ("cookbooks/t/resources/sysctl.rb", &format!("provides(:sysctl) {{ true }}\n{resource}")),
            ("cookbooks/t/resources/timezone.rb", &format!("provides :timezone\n{resource}")),
            ("cookbooks/t/recipes/default.rb", recipe),
        ],
        &[],
    );
    let said = output.stderr.clone();
    let run = json(output, 0);
    assert_eq!(run["error"], Value::Null, "{run:#}");
    let actions: Vec<_> = run["collection"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row[0].as_str().unwrap(), row[2].to_string()))
        .collect();
    // The built-in `sudo` has the property `user`; the cookbook's class does not.
    assert_eq!(
        actions,
        [
            ("sudo", r#"["create"]"#.to_owned()),
            ("sysctl", r#"["create"]"#.to_owned()),
            ("timezone", r#"["create"]"#.to_owned())
        ]
    );
    for name in ["sudo", "sysctl", "timezone"] {
        assert!(
            said.contains(&format!(
                "Resource {name} built into Chef Infra Client is being overridden by the resource from a cookbook."
            )),
            "{said}"
        );
    }
    assert!(said.contains("Resource sudo from a cookbook is declared without a block: the one built into"), "{said}");
    assert!(!said.contains("Resource timezone from a cookbook is declared without a block"), "{said}");
}

#[test]
fn vaults_are_opened_with_the_clients_key() {
    let load = "ChefVault::Item.load('creds', 'web', client_key_path: File.join(__dir__, '..', 'files', 'client.pem'))";
    let no_key = "ChefVault::Exceptions::SecretDecryption: creds/web is encrypted for n1, and there is no private key: \
                  name its file with Chef::Config[:client_key] or client_key_path";
    answers(
        &VAULT,
        &[
            (
                "require 'chef-vault'; %w(web plain).map { |id| ChefVault::Item.data_bag_item_type('creds', id) }",
                "[:vault, :normal]",
            ),
            (&format!("{load}['password']"), "open sesame"),
            (&format!("{load}.get_clients"), "[\"n1\"]"),
            ("ChefVault::Item.load('creds', 'web')", no_key),
            (
                "ChefVault::Item.load('creds', 'web', node_name: 'n2')",
                "ChefVault::Exceptions::SecretDecryption: creds/web is not encrypted with your public key.  Contact an administrator of the vault item to encrypt for you!",
            ),
            (
                "ChefVault::Item.load('creds', 'gone')",
                "ChefVault::Exceptions::KeysNotFound: creds/gone_keys could not be found",
            ),
            ("chef_vault('creds').sort", "[\"plain\", \"web\"]"),
            ("chef_vault('gone')", "RuntimeError: 'gone' is not a vault"),
            (
                "chef_vault_item('creds', 'plain')",
                "RuntimeError: Trying to load a regular data bag item plain from creds, and databag_fallback is disabled",
            ),
            (
                "node.default['chef-vault']['databag_fallback'] = true; chef_vault_item('creds', 'plain')['password']",
                "open",
            ),
            (
                "Chef::Config[:client_key] = File.join(__dir__, '..', 'files', 'client.pem'); chef_vault_item('creds', 'web')['password']",
                "open sesame",
            ),
            (
                "OpenSSL::PKey::RSA.new(File.read(Chef::Config[:client_key])).private_decrypt('x' * 128)",
                "OpenSSL::PKey::RSAError: padding check failed",
            ),
        ],
    );
}

#[test]
fn missing_dependencies_end_a_run_unless_it_is_lenient() {
    let files = [
        ("cookbooks/t/metadata.rb", "name 't'\ndepends 'gone'\ndepends 'inner'\n"),
        ("cookbooks/t/recipes/default.rb", "log inner_word\n"),
        ("cookbooks/t/vendor/inner/metadata.rb", "name 'inner'\n"),
        ("cookbooks/t/vendor/inner/libraries/word.rb", "def inner_word = 'found inside'\n"),
    ];
    let run = json(compile(&files, &[]), 1);
    assert_eq!(run["error"]["class"], "Chef::Exceptions::CookbookNotFound", "{run:#}");
    let output = compile(&files, &["--lenient"]);
    assert!(output.stderr.contains("cookbook t depends on gone, which was not found"), "{}", output.text());
    let run = json(output, 0);
    assert_eq!(run["collection"][0][1], "found inside", "{run:#}");
    let includes = [&files[..], &[("cookbooks/t/recipes/default.rb", "include_recipe 'gone'\n")]].concat();
    let run = json(compile(&includes, &["--lenient"]), 1);
    assert!(run["error"]["message"].as_str().unwrap().contains("Cookbook gone not found"), "{run:#}");
}

#[test]
fn actions_describe_themselves() {
    let resource = "action :create do\n  description 'Makes the thing'\n  introduced '1.0'\n  log \"#{description} #{introduced}\"\nend\n";
    let files = [("cookbooks/t/resources/thing.rb", resource), ("cookbooks/t/recipes/default.rb", "t_thing 'a'\n")];
    let run = json(run("--why-run", &files, &[]), 0);
    let names: Vec<_> = run["resources"].as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
    assert!(names.contains(&json!("Makes the thing 1.0")), "{run:#}");
}

#[test]
fn recipes_that_are_data_include_others() {
    let files = [
        ("cookbooks/t/recipes/default.json", r#"{"include_recipes": ["t::other"]}"#),
        (
            "cookbooks/t/recipes/other.yml",
            "resources:\n  - type: log\n    name: other\ninclude_recipes:\n  - t::last\n",
        ),
        ("cookbooks/t/recipes/last.rb", "log 'last'\n"),
    ];
    let run = json(compile(&files, &[]), 0);
    let names: Vec<_> = run["collection"].as_array().unwrap().iter().map(|row| row[1].clone()).collect();
    assert_eq!(json!(names), json!(["other", "last"]), "{run:#}");
}
