//! Sensitive resources show nothing: not their values, their guards, nor what their blocks and lazy values raise, in no
//! report, record, log or folder of rejected content.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use specs::{Machine, Network, Program, Root};
use std::fs;
use std::path::Path;

/// Put together, so that an excerpt of the cookbook does not hold it.
const SECRET: &str = "s3cr3t";

const RECIPE: &str = r##"
secret = %w(s3c r3t).join
log('guard') { sensitive true; only_if "echo #{secret} | grep -q nothing" }
log('own message') { sensitive true; message "says #{secret}" }
archive_file("moved") { sensitive true; path "/srv/#{secret}.tgz"; destination '/srv/out'; ignore_failure true }
log('words') { sensitive true; only_if ['grep', secret, '/dev/null'] }
log('starts') { sensitive true; only_if "/nowhere/#{secret}"; ignore_failure true }
log('block') { sensitive true; only_if { raise secret }; ignore_failure true }
log('lazy') { sensitive true; message lazy { raise secret }; ignore_failure true }
log('level') { sensitive true; level lazy { secret.to_sym }; ignore_failure true }
ruby_block('ruby') { sensitive true; block { raise secret }; ignore_failure true }
url = "http://me:#{secret}@127.0.0.1:1/x?token=#{secret}"
http_request('posts') { sensitive true; url url; headers('X-Key' => secret); message secret; action :post; ignore_failure true }
http_request('asks') { sensitive true; url "http://127.0.0.1:1/?#{secret}"; action :head; ignore_failure true }
remote_file('/srv/far') { sensitive true; source [url, "http://127.0.0.1:1/#{secret}"]; ignore_failure true }
remote_file('/srv/near') { sensitive true; source "file:///nowhere/#{secret}"; ignore_failure true }
git('/srv/git') { sensitive true; repository "http://127.0.0.1:1/x?#{secret}"; ignore_failure true }
execute('creates') { sensitive true; command "false #{secret}"; creates "/nowhere/#{secret}"; environment('K' => secret); ignore_failure true }
execute('made') { sensitive true; command "false #{secret}"; cwd '/srv'; creates secret; ignore_failure true }
bash('code') { sensitive true; code "echo #{secret}; exit 1"; environment('K' => secret); ignore_failure true }
file('/srv/verified') { sensitive true; content "x #{secret}"; verify "grep -q nothing %{path}"; ignore_failure true }
file('/srv/block') { sensitive true; content "x #{secret}"; verify { |path| false }; ignore_failure true }
file('/srv/json') { sensitive true; content "{#{secret}"; verify :json; ignore_failure true }
file('/srv/says') { sensitive true; content 'x'; verify "echo #{secret}; false"; ignore_failure true }
cron('job') { sensitive true; command "true #{secret}"; environment('K' => secret); user 'nobody9'; ignore_failure true }
archive_file("archive") { sensitive true; path '/srv/none.tgz'; destination '/srv/out'; ignore_failure true }
user('app') { sensitive true; password secret; gid 'nogroup9'; ignore_failure true }
remote_directory('/srv/all') { sensitive true; source secret; ignore_failure true }
cookbook_file('/srv/cf') { sensitive true; source secret; ignore_failure true }
template('/srv/tp') { sensitive true; source secret; ignore_failure true }
package('tool') { sensitive true; version "#{secret}7"; ignore_failure true }
group('people') { sensitive true; members secret; append true; ignore_failure true }
service('svc') { sensitive true; start_command "false #{secret}"; action :start; ignore_failure true }
systemd_unit('u.service') { sensitive true; content %q([Unit) + secret; verify true; action :create; ignore_failure true }
service('prints') { sensitive true; start_command "echo s3c; echo s3''cr3t"; status_command 'false'; action :start; ignore_failure true }
service('fails') { sensitive true; start_command "echo s3''cr3t; echo s3''cr3t >&2; false"; status_command 'false'; action :start; ignore_failure true }
mount('/srv/mounted') { sensitive true; device "//me:#{secret}@127.0.0.1/x"; fstype 'cifs'; options ["password=#{secret}"]; ignore_failure true }
apt_repository('ours') { sensitive true; uri 'http://127.0.0.1:1/x'; key "http://me:#{secret}@127.0.0.1:1/k?#{secret}"; ignore_failure true }
log('plain') { only_if 'echo shown | grep -q nothing' }
"##;

/// A recipe's code reads what its sensitive resources raised, in all ways that Ruby has, and says it to everybody.
const RESCUES: &str = r#"
secret = %w(s3c r3t).join
def rescued = yield.then { nil } rescue $!
raised = rescued { ruby_block('own') { sensitive true; action :nothing; block { raise ArgumentError, "bad key #{secret}" } }.run_action(:run) }
log "same words: #{raised.message.end_with?("ArgumentError: bad key #{secret}")}, same class: #{raised.class}"
lazily = rescued { log('lazily') { sensitive true; action :nothing; level lazy { raise KeyError, "no #{secret}" } }.run_action(:write) }
log "lazily: #{lazily.class} #{lazily.message.end_with?("KeyError: no #{secret}")}"
wrong = rescued { log('wrong') { sensitive true; action :nothing; level lazy { secret.to_sym } }.run_action(:write) }
log "wrong: #{wrong.message.include?(secret)}"
Chef::Log.warn("rescued: #{raised.message}")
again = rescued { ruby_block('again') { action :nothing; block { raise "wrapped: #{raised.message}" } }.run_action(:run) }
log "wrapped: #{again.message.include?(secret)}"
log "in a name: #{raised.message}"
log('in a message') { message "said: #{raised.message}" }
log('later') { message lazy { "later: #{raised.message}" } }
log('amended') { message 'x' }.message("amended: #{raised.message}")
ruby_block('ignored') { ignore_failure true; block { raise raised } }
ruby_block('retried') { ignore_failure true; retries 1; retry_delay 0; block { raise KeyError, "again: #{raised.message}" } }
ruby_block('at the end') { block { raise raised } }
"#;

fn converge(grants: &[&str], dry: bool, machine: &Machine<'_>, program: &Program) -> String {
    let cookbooks = program.configuration().join("cookbooks").display().to_string();
    let root = machine.root().path().display().to_string();
    let mut all = vec!["converge", "--node-name", "node1", "--cookbooks", &cookbooks, "--root", &root];
    all.extend(["--run-list", "recipe[web]", "--log-level", "debug", "--format", "json"]);
    all.extend(grants);
    all.extend(dry.then_some("--why-run"));
    let output = program.run_in(machine, &all).unwrap();
    format!("{}{}", output.stdout, output.stderr)
}

fn suggest(more: &[&str], machine: &Machine<'_>, program: &Program) -> String {
    let cookbooks = program.configuration().join("cookbooks").display().to_string();
    let root = machine.root().path().display().to_string();
    let mut all = vec!["grants", "suggest", "--node-name", "node1", "--cookbooks", &cookbooks, "--root", &root];
    all.extend(["--run-list", "recipe[web]"]);
    all.extend(more);
    program.run_in(machine, &all).unwrap().text()
}

/// All files below a folder that hold the secret.
fn holding_secret(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            holding_secret(&entry, found);
        } else if String::from_utf8_lossy(&fs::read(&entry).unwrap()).contains(SECRET) {
            found.push(entry.display().to_string());
        }
    }
}

/// Writes the cookbook `web` with these files.
fn write_cookbook(program: &Program, files: &[(&str, &str)]) {
    for (path, text) in files.iter().chain([&("metadata.rb", "name 'web'\n")]) {
        let path = program.configuration().join("cookbooks/web").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// Writes a file of grants that allows the policy nothing, and returns its path.
fn nothing_granted(program: &Program) -> String {
    let file = program.configuration().join("grants.toml");
    fs::write(&file, "[policy.solo]\n").unwrap();
    file.display().to_string()
}

#[test]
fn sensitive_things_are_shown_nowhere() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    write_cookbook(&program, &[("recipes/default.rb", RECIPE)]);
    let file = nothing_granted(&program);
    let machine = root.machine(Network::Own).unwrap();
    for grants in [&["--allow-all"][..], &["--grants", &file]] {
        for dry in [false, true] {
            let said = converge(grants, dry, &machine, &program);
            let lines: Vec<&str> = said.lines().filter(|line| line.contains(SECRET)).collect();
            assert_eq!(lines, [""; 0], "{grants:?} {dry}");
            let expect =
                if grants == ["--allow-all"] { "only_if { #suppressed sensitive guard }" } else { "Wrun::Denied" };
            assert!(said.contains(expect), "{said}");
            if grants == ["--allow-all"] {
                assert!(said.contains("echo shown"), "others are shown: {said}");
            }
        }
    }
    // An operator sees what to grant if that was asked for, and nobody by accident.
    let said = suggest(&[], &machine, &program);
    assert!(!said.contains(SECRET) && said.contains("entries for sensitive resources not shown"), "{said}");
    assert!(suggest(&["--sensitive"], &machine, &program).contains("argv = [\"false\", \"s3cr3t\"]"));
    // Records, journal and node, and what was rejected.
    let mut found = vec![];
    holding_secret(program.state().parent().unwrap(), &mut found);
    assert_eq!(found, [""; 0]);
}

/// Properties that name what a resource manages, or as whom, which an operator hears of; and those that are modes and actions.
const SHOWN: [&str; 18] = [
    "action",
    "destination",
    "files_group",
    "files_owner",
    "fstype",
    "gid",
    "group",
    "group_name",
    "home",
    "members",
    "excluded_members",
    "mode",
    "mount_point",
    "owner",
    "package_name",
    "target_file",
    "user",
    "username",
];

/// What else a type needs to come as far as its own property, in Ruby.
fn others(kind: &str) -> &'static [(&'static str, &'static str)] {
    match kind {
        "archive_file" => &[("path", "'/srv/none.tgz'"), ("destination", "'/srv/out'")],
        "apt_preference" => &[("pin", "'version 1'"), ("pin_priority", "'700'")],
        "apt_repository" => &[("uri", "'http://127.0.0.1:1/'")],
        "yum_repository" => &[("baseurl", "'http://127.0.0.1:1/'")],
        "cron" | "cron_d" => &[("command", "'true'")],
        "execute" => &[("command", "'false'")],
        "script" | "bash" | "csh" | "ksh" | "perl" | "python" | "ruby" => &[("code", "'false'")],
        "git" => &[("repository", "'/srv/none'"), ("destination", "'/srv/checkout'")],
        "http_request" => &[("url", "'http://127.0.0.1:1/'")],
        "link" => &[("to", "'/srv/none'")],
        "mount" => &[("device", "'/dev/none'"), ("fstype", "'ext4'")],
        "remote_file" => &[("source", "'file:///srv/none'")],
        "sudo" => &[("user", "'someone'")],
        "sysctl" => &[("value", "'1'")],
        "template" => &[("source", "'none.erb'")],
        "user_ulimit" => &[("filehandle_limit", "1")],
        _ => &[],
    }
}

/// A recipe with a sensitive resource for each type and property, whose value is the secret.
fn every_property() -> (String, usize) {
    let values = [
        (json!("/srv/s3cr3t"), "\"/srv/#{secret}\""),
        (json!("s3cr3t"), "secret"),
        (json!(["/srv/s3cr3t"]), "[\"/srv/#{secret}\"]"),
        (json!({"k": "s3cr3t"}), "{ 'k' => secret }"),
    ];
    let mut recipe = "secret = %w(s3c r3t).join\n".to_owned();
    let mut count = 0;
    // Resources that are made of others have those for parts, by names of their own.
    for kind in schema::builtin().filter(|kind| !schema::is_composite(kind.name)) {
        let names = |name: &str| kind.identity().iter().any(|one| one.name == name && !one.hidden_with_resource);
        let is_value = |name: &str| !SHOWN.contains(&name) && !names(name);
        for property in kind.own_properties().filter(|property| is_value(property.name)) {
            let fits = |value: &Value| schema::validate_one(kind.name, "x", property.name, value.clone()).is_ok();
            for (_, ruby) in values.iter().filter(|(value, _)| fits(value)) {
                let others = others(kind.name).iter().filter(|(name, _)| *name != property.name);
                let others: String = others.map(|(name, value)| format!("{name}({value}); ")).collect();
                let set = format!("{others}{}({ruby})", property.name);
                // What is said of a resource that was never declared is said to its own recipe alone.
                recipe += &format!(
                    "begin; {}('r{count}') {{ sensitive true; ignore_failure true; {set} }}; rescue StandardError; end\n",
                    kind.name
                );
                count += 1;
            }
        }
    }
    (recipe, count)
}

/// Neither what a dry run foresees, nor a refusal, shows the value of any property of any type.
#[test]
fn attack_no_property_of_a_sensitive_resource_of_any_type_is_shown() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let (recipe, count) = every_property();
    assert!(count > 200, "{count}");
    write_cookbook(&program, &[("recipes/default.rb", &recipe)]);
    let file = nothing_granted(&program);
    let machine = root.machine(Network::Own).unwrap();
    for (grants, dry) in [(&["--allow-all"][..], true), (&["--grants", &file], true), (&["--grants", &file], false)] {
        let said = converge(grants, dry, &machine, &program);
        let lines: Vec<&str> = said.lines().filter(|line| line.contains(SECRET)).collect();
        assert_eq!(lines, [""; 0], "{grants:?} {dry}");
        let (run, _) = said.split_once('\n').unwrap();
        let run: Value = serde_json::from_str(run).unwrap();
        assert!(run["total"].as_u64().unwrap() > 150, "{}", run["total"]);
    }
    let mut found = vec![];
    holding_secret(program.state().parent().unwrap(), &mut found);
    assert_eq!(found, [""; 0]);
}

/// Chef gives a `rescue` around a sensitive resource what the resource's code raised. Nobody but the policy's code reads it. The
/// runtime's own refusal of a value does not hold the value.
#[test]
fn a_rescue_around_a_sensitive_resource_reads_what_was_raised() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let handler =
        "Chef.event_handler { on(:resource_failed) { |_, _, error| Chef::Log.warn(\"heard #{error.message}\") } }\n";
    write_cookbook(&program, &[("libraries/hears.rb", handler), ("recipes/default.rb", RESCUES)]);
    let machine = root.machine(Network::Own).unwrap();
    let said = converge(&["--allow-all"], false, &machine, &program);
    let lines: Vec<&str> = said.lines().filter(|line| line.contains(SECRET)).collect();
    assert_eq!(lines, [""; 0]);
    for expect in
        ["same words: true, same class: ArgumentError", "lazily: KeyError true", "wrong: false", "wrapped: true"]
    {
        assert!(said.contains(expect), "{expect}: {said}");
    }
    let error = "the message is not shown, since the resource is sensitive";
    let (run, _) = said.split_once('\n').unwrap();
    let run: Value = serde_json::from_str(run).unwrap();
    assert_eq!((&run["error"]["class"], &run["error"]["origin"]["line"]), (&"ArgumentError".into(), &4.into()));
    assert!(run["error"]["message"].as_str().unwrap().contains(error), "{run:#}");
    let mut found = vec![];
    holding_secret(program.state().parent().unwrap(), &mut found);
    assert_eq!(found, [""; 0]);
}

/// Recipes in which a check refuses the value of a sensitive property or resource.
const REFUSED: [&str; 11] = [
    "http_request('x') { sensitive true; url 'http://127.0.0.1:1/'; headers secret }",
    "user('x') { sensitive true; comment [secret] }",
    "user('x') { comment [secret]; sensitive true }",
    "user('x') { comment [secret]; self.sensitive = true }",
    "execute('true') { sensitive true; environment lazy { secret } }",
    "user('x') { sensitive true }.comment([secret])",
    "t('x') { sensitive true; pw secret }",
    "t('x') { number secret }",
    "t('x') { either secret; sensitive true }",
    "Class.new(Chef::Resource) { property :pw, Integer, default: secret, sensitive: true }",
    "Class.new(Chef::Resource) { property :pw, is: [Integer, Chef::Property.new(is: Symbol)], default: secret, sensitive: true }",
];

const OWN_TYPE: &str = r#"
class T < Chef::Resource
  provides :t
  property :pw, String, regex: /\A[a-z]+\z/
  property :number, [Integer], sensitive: true
  property :either, is: [Integer, Chef::Property.new(equal_to: %w(a b))]
  action(:go) { }
end
"#;

#[test]
fn attack_a_refused_value_of_a_sensitive_resource_is_not_shown() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    for refused in REFUSED {
        let recipe = format!("secret = %w(s3c r3t).join\n{refused}\n");
        write_cookbook(&program, &[("libraries/t.rb", OWN_TYPE), ("recipes/default.rb", &recipe)]);
        let said = converge(&["--allow-all"], false, &machine, &program);
        assert!(!said.contains(SECRET), "{refused}: {said}");
        assert!(said.contains("ValidationFailed"), "{refused}: {said}");
    }
    let mut found = vec![];
    holding_secret(program.state().parent().unwrap(), &mut found);
    assert_eq!(found, [""; 0]);
    let recipe = "secret = %w(s3c r3t).join\nuser('x') { comment [secret] }\n";
    write_cookbook(&program, &[("recipes/default.rb", recipe)]);
    let said = converge(&["--allow-all"], false, &machine, &program);
    assert!(said.contains("You passed") && said.contains(SECRET), "others are shown: {said}");
}
