//! A Chef shop comes over: its repository becomes policies that are locked, released and converged, its client.rb settings.

use serde_json::Value;
use specs::Place;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A Chef repository: roles in roles, an environment's own run list, pins, cookbooks in two folders, from git and from a
/// Supermarket, data bags.
const FILES: &[(&str, &str)] = &[
    (
        "roles/base.rb",
        "name 'base'\ndescription 'All nodes'\nrun_list 'recipe[motd]', 'recipe[accounts::admins]'\n\
      default_attributes('motd' => { 'text' => \"it's #{'here'}\" }, 'site' => { 'name' => 'main' })\n",
    ),
    (
        "roles/web.json",
        r#"{ "name": "web", "chef_type": "role", "json_class": "Chef::Role", "description": "",
        // Chef's tools write comments.
        "default_attributes": { "web": { "port": 80, "hosts": ["a", "b"], "tls": null } },
        "override_attributes": { "motd": { "colour": "red" } },
        "run_list": ["role[base]", "web::site", "recipe[tool]"],
        "env_run_lists": { "production": ["role[base]", "recipe[web::site]"] } }"#,
    ),
    (
        "roles/db.rb",
        "name 'db'\nrun_list 'role[base]', 'role[gone]', 'recipe[db@1.0.0]', 'recipe[postgresql::server]'\n",
    ),
    ("roles/empty.json", r#"{ "name": "empty", "run_list": [] }"#),
    ("roles/broken.rb", "name 'broken'\nrun_list 'recipe[motd]'\nundefined_word 1\n"),
    (
        "environments/production.rb",
        "name 'production'\ncookbook 'motd', '= 1.0.0'\ncookbook_versions 'web' => '~> 2.0', 'motd' => '= 1.0.0'\n\
      default_attributes 'motd' => { 'text' => 'production' }, 'region' => 'north'\noverride_attributes 'web' => { 'port' => 443 }\n",
    ),
    (
        "environments/staging.json",
        r#"{ "name": "staging", "description": "Before production", "cookbook_versions": {},
        "json_class": "Chef::Environment", "chef_type": "environment",
        "default_attributes": { "motd": { "text": "staging" }, "region": "test" }, "override_attributes": {} }"#,
    ),
    ("cookbooks/motd/metadata.rb", "name 'motd'\nversion '0.9.0'\n"),
    ("cookbooks/motd/attributes/default.rb", "default['motd']['text'] = 'none'\n"),
    ("cookbooks/motd/recipes/default.rb", "file('/etc/motd') { content 'not this one' }\n"),
    // A later folder's cookbook counts.
    ("site-cookbooks/motd/metadata.rb", "name 'motd'\nversion '1.0.0'\n"),
    ("site-cookbooks/motd/attributes/default.rb", "default['motd']['text'] = 'none'\n"),
    (
        "site-cookbooks/motd/recipes/default.rb",
        "file '/etc/motd' do\n  content \"#{node['motd']['text']} #{node['motd']['colour']} #{node['region']}\\n\"\nend\n",
    ),
    ("cookbooks/accounts/metadata.json", r#"{ "name": "accounts", "version": "2.1.0", "dependencies": {} }"#),
    (
        "cookbooks/accounts/recipes/admins.rb",
        "ann = data_bag_item('users', 'ann')\nfile \"/etc/admins\" do\n  content ann['id']\nend\n",
    ),
    ("cookbooks/web/metadata.rb", "name 'web'\nversion '1.5.0'\ndepends 'motd'\n"),
    (
        "cookbooks/web/recipes/site.rb",
        "directory '/srv/www'\nfile '/srv/www/port' do\n  content \"#{node['web']['port']} #{node['web']['hosts'].join}\\n\"\nend\n\
      log 'a role' if node['roles'].include?('web')\n",
    ),
    ("cookbooks/db/metadata.rb", "name 'db'\nversion '1.0.0'\ndepends 'postgresql', '~> 7.0'\n"),
    ("cookbooks/db/recipes/default.rb", "package 'postgresql'\nregistry_key 'HKLM\\\\x'\n"),
    ("data_bags/users/ann.json", r#"{ "id": "ann" }"#),
    (
        "data_bags/secrets/api.json",
        r#"{ "id": "api", "key": { "encrypted_data": "x", "iv": "y", "version": 1, "cipher": "aes-256-cbc" } }"#,
    ),
    ("data_bags/vault/tls_keys.json", r#"{ "id": "tls_keys", "admins": [] }"#),
    ("data_bags/vault/tls.json", r#"{ "id": "tls", "crt": { "encrypted_data": "x" } }"#),
    ("nodes/n1.json", "{}"),
    (
        "Berksfile",
        "source 'https://supermarket.chef.io'\n\ngroup :test do\n  cookbook 'web', '~> 1.0', path: 'cookbooks/web'\nend\n\
      cookbook 'postgresql', '~> 7.0'\ncookbook 'tool', git: '@FOLDER@/tool', branch: 'main'\nDir['cookbooks/*'].each { |it| it }\n",
    ),
    (
        "Berksfile.lock",
        "DEPENDENCIES\n  postgresql (~> 7.0)\n\nGRAPH\n  db (1.0.0)\n    postgresql (~> 7.0)\n  postgresql (7.1.8)\n    yum (>= 0.0.0)\n  yum (5.0.0)\n",
    ),
];

/// A place with the repository in `chef`, and the cookbook in git that it names in `tool`.
fn with_repository() -> Place {
    let place = Place::new();
    place.write("tool/metadata.rb", "name 'tool'\nversion '3.0.0'\n");
    place.write("tool/recipes/default.rb", "file('/srv/tool') { content 'tool' }\n");
    place.git("tool", &["init", "-q"]);
    place.commit("tool");
    for (path, text) in FILES {
        place.write(&format!("chef/{path}"), text);
    }
    place
}

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

#[test]
fn a_chef_repository_becomes_policies_that_converge() {
    let place = with_repository();
    let said = place.ends_with(1, "policy import /chef").stdout;
    has(
        &said,
        &[
            "3 policies and 2 layers",
            "roles/broken.rb: the role was not taken: line 3:",
            "roles/db.rb: role[db] names the role gone, which is not there",
            "roles/db.rb: the run list needs the cookbook postgresql, which is not in the repository: it comes from a Supermarket or a server (locked: 7.1.8): `default_source :supermarket` in the Policyfile takes it from there, and `cookbook 'postgresql', '= 7.1.8'` keeps its version",
            "cookbook db: the metadata needs the cookbook postgresql",
            "cookbook db: recipes/default.rb:2: ",
            "cookbook web: recipes/site.rb:5: it asks for the node's roles",
            "environments/production.rb: it pins web to \"~> 2.0\", and the repository has 1.5.0",
            "data_bags/vault: 1 items of chef-vault: `ChefVault::Item.load` opens them",
            "data_bags/secrets: 1 encrypted items",
            "roles/empty.json: the role has no recipes",
            "roles/db.rb: the run list wants db in version 1.0.0",
            "roles/web.json: the environment production has a run list of its own",
            "roles/web.json: tool comes from git",
            "nodes: nodes are not imported",
        ],
    );
    has(&place.read("chef/wrun/import.md"), &["## What would not work", "- `roles/broken.rb`: the role was not taken"]);
    let web = place.read("chef/wrun/policies/web/Policyfile.rb");
    has(
        &web,
        &[
            "name 'web'\n",
            "default_source(:chef_repo, '../../../site-cookbooks') { |s| s.preferred_for 'motd' }\ndefault_source :chef_repo, '../../../cookbooks'\n",
            "run_list 'motd', 'accounts::admins', 'web::site', 'tool'\n",
            "named_run_list 'production', 'motd', 'accounts::admins', 'web::site'\n",
            "cookbook 'web', '~> 1.0', path: '../../../cookbooks/web'\n",
            "default['motd']['text'] = 'it\\'s here'\n",
            "default['web']['hosts'] = ['a', 'b']\ndefault['web']['tls'] = nil\n",
            "override['motd']['colour'] = 'red'\n",
        ],
    );
    assert!(!web.contains("postgresql"), "{web}");
    let grants = place.read("chef/wrun/grants.toml");
    has(
        &grants,
        &["[policy.web]", "data_bags = [\"users/ann\"]", "\"/srv/www/port\"", "read_attributes = [\"region\"]"],
    );
    let production: Value = serde_json::from_str(&place.read("chef/wrun/layers/production.json")).unwrap();
    assert_eq!(production["cookbook_versions"]["motd"], "= 1.0.0");

    // A second import changes nothing; what a person changed stays.
    assert!(!place.ends_with(1, "policy import /chef").stdout.contains("wrote "));
    place.write("chef/wrun/grants.toml", "# mine\n");
    let refused = place.ends_with(43, "policy import /chef").stderr;
    has(&refused, &["grants.toml is there and differs", "nothing was written", "hint: --force replaces"]);
    assert_eq!(place.read("chef/wrun/grants.toml"), "# mine\n");
    has(&place.ends_with(1, "policy import /chef --force").stdout, &["replaced ", "unchanged: "]);

    // What came out is locked, released, and run.
    for policy in ["base", "web"] {
        place.works(&format!("policy install /chef/wrun/policies/{policy}/Policyfile.rb"));
    }
    let failed = place.ends_with(43, "policy install /chef/wrun/policies/db/Policyfile.rb").stderr;
    has(&failed, &["postgresql"]);
    place.works("repository init /srv --team base --team web");
    for group in ["staging", "production"] {
        place.works(&format!("policy push {group} /chef/wrun/policies/base /chef/wrun/policies/web"));
    }
    for folder in ["root/etc", "root/srv"] {
        fs::create_dir_all(place.folder.join(folder)).unwrap();
    }
    let grants = format!("{}\n", place.read("chef/wrun/grants.toml"));
    let text = place.read("chef/wrun/wrun.toml");
    has(
        &text,
        &["data_bags = \"/etc/wrun/data_bags\"", "[layers.staging]\nfiles = [\"/etc/wrun/layers/staging.json\"]"],
    );
    let text = text
        .replace("/etc/wrun/data_bags", &place.path("chef/data_bags"))
        .replace("/etc/wrun/layers", &place.path("chef/wrun/layers"));
    place.write("node.toml", &text);
    place.write("grants.toml", &grants);
    let line = "converge --config /node.toml --grants /grants.toml --repository /srv --root /root --node-name n1 --format json";
    let run = |more: &str, code: i32| place.ends_with(code, &format!("{line} {more}"));
    let dry = run("--policy-name base --policy-group staging --why-run", 0);
    let dry: Value = serde_json::from_str(&dry.stdout).unwrap();
    assert_eq!(dry["outcome"], "success", "{dry:#}");
    assert!(!Path::new(&place.path("root/etc/motd")).exists());
    drop(run("--policy-name base --policy-group staging", 0));
    assert_eq!(place.read("root/etc/motd"), "it's here  test\n");
    assert_eq!(place.read("root/etc/admins"), "ann");
    // The tool's file comes from git, and nobody could grant it before; the pin that does not fit stops the run before that.
    let pinned = run("--policy-name web --policy-group production", 43).stderr;
    has(&pinned, &["web"]);
    let layer = place.read("chef/wrun/layers/production.json").replace("~> 2.0", "~> 1.0");
    place.write("chef/wrun/layers/production.json", &layer);
    drop(run("--policy-name web --policy-group production --named-run-list production", 0));
    assert_eq!(place.read("root/srv/www/port"), "443 ab\n");
    assert_eq!(place.read("root/etc/motd"), "it's here red north\n");
}

#[test]
fn what_is_not_taken_is_listed_with_its_place() {
    let place = with_repository();
    place.write(
        "chef/environments/st.json",
        "{ \"name\": \"st\",\n  \"default_attribute\": { \"a\": 1 },\n  \"cookbook_versions\": { \"motd\": 1 } }",
    );
    place.write(
        "chef/roles/home.rb",
        "name 'home'\n# ENV['NO']\nrun_list 'recipe[motd]'\ndefault_attributes 'home' => ENV['HOME']\n",
    );
    place.write("chef/environments/home.rb", "name 'home'\ndefault_attributes 'home' => ENV.fetch('HOME', 'x')\n");
    place.write("chef/cookbooks/bare/recipes/default.rb", "log 'x'\n");
    place.write("chef/cookbooks/torn/metadata.rb", "name 'torn'\nversion '1.0.0\n");
    let expected = [
        "environments/st.json:2: unknown key `default_attribute` of the environment was not taken, did you mean `default_attributes`?",
        "environments/st.json:3: the pin of motd was not taken: it must be a text",
        "roles/home.rb:4: it reads ENV, and the import shows a file no variables",
        "environments/home.rb:2: it reads ENV",
        "cookbooks/bare: it is not a cookbook, because it has neither metadata.rb nor metadata.json",
        "cookbook torn: metadata.rb:",
    ];
    let said = place.ends_with(1, "policy import /chef").stdout;
    has(&said, &expected);
    assert!(!said.contains("roles/home.rb:2"), "a comment reads nothing: {said}");
    let listed = place.read("chef/wrun/import.md").replace('`', "");
    for line in expected {
        has(&listed, &[&line.replace('`', "")]);
    }
    let checked = place.ends_with(1, "cookbook check --all --cookbooks /chef/cookbooks");
    has(&checked.stderr, &["cookbooks/bare is left out: it has neither metadata.rb nor metadata.json"]);
    has(&checked.stdout, &["torn"]);
}

/// What lies beside the repository is the person's own, and a policy is published.
#[test]
fn nothing_is_taken_through_links_out_of_the_repository() {
    let place = with_repository();
    for kind in ["roles", "environments"] {
        place.write(
            &format!("own/{kind}.json"),
            r#"{ "name": "linked", "default_attributes": { "password": "hunter2" } }"#,
        );
        let link = place.folder.join(format!("chef/{kind}/linked.json"));
        std::os::unix::fs::symlink(format!("../../own/{kind}.json"), link).unwrap();
    }
    let said = place.ends_with(1, "policy import /chef").stdout;
    has(&said, &["roles/linked.json: the role was not taken: it is a link that leads out of the repository"]);
    has(&said, &["environments/linked.json: the environment was not taken: it is a link"]);
    let found = Command::new("grep").args(["-r", "hunter2"]).arg(place.folder.join("chef/wrun")).output().unwrap();
    assert!(found.stdout.is_empty(), "{}", String::from_utf8_lossy(&found.stdout));
}

#[test]
fn what_is_not_a_chef_repository_is_refused() {
    let place = with_repository();
    has(&place.ends_with(43, "policy import /tool").stderr, &["is not a Chef repository", "it is a cookbook"]);
    has(&place.ends_with(43, "policy import /nothing").stderr, &["there is no Chef repository at"]);
    // The repository is a stranger's: where its links lead, nothing is written.
    fs::create_dir(place.folder.join("elsewhere")).unwrap();
    fs::create_dir(place.folder.join("chef/wrun")).unwrap();
    std::os::unix::fs::symlink("../../elsewhere", place.folder.join("chef/wrun/policies")).unwrap();
    has(&place.ends_with(43, "policy import /chef").stderr, &["is a link"]);
    assert_eq!(fs::read_dir(place.folder.join("elsewhere")).unwrap().count(), 0);
}

/// A client.rb as shops have it: computed values, handlers of libraries that are not there, other files, secrets.
const CLIENT: &str = r##"
require 'chef/handler/slack'
current_dir = File.dirname(__FILE__)
log_level :info
log_location STDOUT
chef_server_url "https://chef.example.com/organizations/acme"
validation_key "#{current_dir}/validator.pem"
node_name "web-#{1 + 1}.example.com"
environment 'production'
ssl_verify_mode :verify_none
file_backup_path '/var/backups/chef'
interval 900
splay 60
run_lock_timeout 120
http_proxy 'http://user:s3cret@proxy:3128'
report_handlers << Chef::Handler::Slack.new(token: 's3cret')
blocked_default_attributes ['db/password']
data_collector.server_url = 'https://automate'
ohai.disabled_plugins = [:Passwd]
Chef::Config[:encrypted_data_bag_secret] = '/etc/chef/secret'
knife[:editor] = 'vi'
if File.exist?("#{current_dir}/client.pem")
  node_name 'leaked'
end
Dir.glob(File.join(current_dir, 'client.d', '*.rb')).each { |conf| Chef::Config.from_file(conf) }
"##;

#[test]
fn a_client_rb_becomes_settings() {
    let place = with_repository();
    place.write("etc/client.rb", CLIENT);
    place.write("etc/client.pem", "secret");
    place.write("etc/client.d/10-policy.rb", "policy_group 'blue'\npolicy_name 'web'\nformatter 'nothing'\n");
    let said = place.output("settings import /etc/client.rb --output /wrun.toml").stderr;
    let text = place.read("wrun.toml");
    has(
        &text,
        &[
            "client.rb:8\nnode_name = \"web-2.example.com\"\n",
            "client.rb:6\nchef_server = \"https://chef.example.com/organizations/acme\"\n",
            "log_level = \"info\"",
            "policy_group = \"blue\"",
            "policy_name = [\"web\"]",
            "interval = \"900s\"",
            "splay = \"60s\"",
            "lock_timeout = 120",
            "backup_dir = \"/var/backups/chef\"",
            "encrypted_data_bag_secret = \"/etc/chef/secret\"",
            "blocked_default_attributes = [\"db/password\"]",
        ],
    );
    has(
        &said,
        &[
            "client.rb:2: require chef/handler/slack",
            "client.rb:9: environment: `policy_group` is set already",
            "client.rb:15: http_proxy: wrun does not use a proxy",
            "client.rb:16: report_handlers: a program in `[[handlers]]`",
            "data_collector.server_url: `[[report]]`",
            "ohai.disabled_plugins: facts are wrun's own",
            "10-policy.rb:3: formatter: ",
        ],
    );
    assert!(!said.contains("s3cret") && !text.contains("s3cret") && !text.contains("leaked"), "{said}{text}");
    has(&place.output("config show --config /wrun.toml").stdout, &["web-2.example.com"]);
    has(&place.output("settings import /etc/client.rb --output /wrun.toml").stderr, &["unchanged: "]);
    place.write("wrun.toml", "# mine\nnode_name = \"n\"\n");
    has(
        &place.ends_with(43, "settings import /etc/client.rb --output /wrun.toml").stderr,
        &["is there and differs", "--force replaces it, --output names another file"],
    );
    assert_eq!(place.read("wrun.toml"), "# mine\nnode_name = \"n\"\n");
    // The package's file says nothing: what it explains is in the package's documentation.
    place.write("wrun.toml", include_str!("../../docs/wrun.toml"));
    has(&place.output("settings import /etc/client.rb --output /wrun.toml").stderr, &["wrote "]);
    assert_eq!(place.read("wrun.toml"), text);
    has(&place.output("settings import /etc/client.rb --output -").stdout, &["node_name = "]);
}

#[test]
fn a_client_rb_that_fails_is_read_up_to_there() {
    let place = with_repository();
    place.write("etc/client.rb", "node_name 'n1'\nraise 'no'\nlog_level :debug\n");
    let output = place.ends_with(1, "settings import /etc/client.rb --output -");
    assert!(output.stdout.contains("node_name = \"n1\"") && !output.stdout.contains("log_level"), "{}", output.text());
    has(&output.stderr, &["not read to its end: ", "client.rb:2: RuntimeError: no"]);
    place.write("etc/client.rb", "node_name 'n1' if File.exist?('/etc/passwd')\n");
    has(&place.ends_with(1, "settings import /etc/client.rb --output -").stderr, &["may not read path `/etc/passwd`"]);
    place.write_settings("guest_seconds = 1\n");
    place.write("etc/client.rb", "loop { }\n");
    has(&place.ends_with(1, "settings import /etc/client.rb --output -").stderr, &["not read to its end: "]);
    place.write("etc/client.rb", "node_name 'n1\n");
    has(&place.ends_with(1, "settings import /etc/client.rb --output -").stderr, &["SyntaxError"]);
    drop(place.ends_with(43, "settings import /etc/gone.rb --output -"));
}
