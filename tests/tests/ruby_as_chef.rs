//! Ruby cookbooks hear what they would hear of Chef: classes and sentences of errors, and what a resource makes of itself.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use serde_json::Value;
use specs::{Network, Program, Root};
use std::fs;

/// What the cookbook has beside its recipe.
const FILES: [(&str, &str); 2] = [
    ("metadata.rb", "name 'web'\n"),
    ("templates/quotes.erb", "<%== %q(<a> & 'b' \"c\") %>\n<% raise 'rendered' if @fails %>"),
];

/// Runs each recipe in a root of its own making, one after the other; what the runs said.
fn runs(recipes: &[&str], arguments: &[&str]) -> Vec<Value> {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let cookbook = program.configuration().join("cookbooks/web");
    for (path, text) in FILES {
        let path = cookbook.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::create_dir_all(cookbook.join("recipes")).unwrap();
    let machine = root.machine(Network::Own).unwrap();
    let cookbooks = program.configuration().join("cookbooks").display().to_string();
    let place = root.path().display().to_string();
    let run = |recipe: &str| {
        fs::write(cookbook.join("recipes/default.rb"), recipe).unwrap();
        let mut all = vec!["converge", "--node-name", "node1", "--cookbooks", &cookbooks, "--allow-all"];
        all.extend(["--root", &place, "--run-list", "recipe[web]", "--format", "json"]);
        all.extend(arguments);
        let output = program.run_in(&machine, &all).unwrap();
        serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error} in {recipe}: {output:?}"))
    };
    recipes.iter().map(|recipe| run(recipe)).collect()
}

/// Each recipe fails with this class and sentence; an empty class: it does not fail.
fn check_errors(cases: &[(&str, &str, &str)]) {
    let recipes: Vec<&str> = cases.iter().map(|(recipe, _, _)| *recipe).collect();
    let mut wrong = vec![];
    for (run, (recipe, class, message)) in runs(&recipes, &[]).iter().zip(cases) {
        let said = |key: &str| run["error"][key].as_str().unwrap_or_default().to_owned();
        if said("class") != *class || !said("message").contains(message) {
            wrong.push(format!(
                "{recipe}\n  wanted {class}: {message}\n  got    {}: {}",
                said("class"),
                said("message")
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn messages_name_types_and_actions_as_chef_declares_them() {
    let invalid = "Chef::Exceptions::ValidationFailed";
    check_errors(&[
        (
            "file('/x') { backup true }",
            invalid,
            "Property backup must be one of: Integer, FalseClass!  You passed true.",
        ),
        ("user('u') { uid [] }", invalid, "Property uid must be one of: String, Integer, NilClass!  You passed []."),
        ("cron('c') { hour [] }", invalid, "Property hour must be one of: Integer, String!  You passed []."),
        ("cron_d('c') { minute 61 }", invalid, "Option minute's value 61 should be a valid minute spec!"),
        (
            "cron_d('c') { weekday 'monster' }",
            invalid,
            "Option weekday's value monster should be a valid weekday spec!",
        ),
        ("launchd('l')", "Chef::Exceptions::NoSuchResourceType", "Cannot find a resource for launchd on debian"),
        (
            "user('u') { shel '/bin/sh' }",
            "NoMethodError",
            "undefined method `shel' for Chef::Resource::User::LinuxUser",
        ),
        ("service('s') { options 1 }", invalid, "Property options must be one of: Array, String!  You passed 1."),
        (
            "archive_file('/x') { overwrite 'auto' }",
            invalid,
            "one of: TrueClass, FalseClass, :auto!  You passed \"auto\".",
        ),
        ("directory('/x') { recursive true }", "", ""),
        (
            "file('/x') { action :foo }",
            invalid,
            "equal to one of: :nothing, :create, :delete, :touch, :create_if_missing!",
        ),
        ("sudo('x') { action :foo }", invalid, "equal to one of: :nothing, :create, :install, :remove, :delete!"),
        (
            "raise Chef::Mixin::WhyRun::ResourceRequirements::Assertion::AssertionFailure, 'as named'",
            "Chef::Mixin::WhyRun::ResourceRequirements::Assertion::AssertionFailure",
            "as named",
        ),
    ]);
}

#[test]
fn what_a_declaration_may_not_say() {
    let (invalid, platform) = ("Chef::Exceptions::ValidationFailed", "Chef::Exceptions::UnsupportedPlatform");
    let (address, verify) =
        ("Chef::Exceptions::InvalidRemoteFileURI", "verify requires either a string, symbol, or a block");
    check_errors(&[
        (
            "execute('true') { password 'x' }",
            platform,
            "Values for `domain` and `password` are only supported on the Windows",
        ),
        (
            "execute('true') { elevated true }",
            platform,
            "Value for `elevated` is only supported on the Windows platform",
        ),
        (
            "bash('x') { command 'true' }",
            "Chef::Exceptions::Script",
            "Do not use the command property on a bash resource, use the 'code' property instead.",
        ),
        ("file('/x') { mode 'abc' }", "ArgumentError", "invalid value for Integer(): \"0abc\""),
        ("directory('/x') { mode '0888' }", "ArgumentError", "invalid value for Integer(): \"0888\""),
        ("link('/x') { to '/y'; mode 'u+x' }", "ArgumentError", "invalid value for Integer(): \"0u+x\""),
        ("file('/x') { mode [] }", "TypeError", "can't convert Array into Integer"),
        ("file('/x') { mode '10000' }", invalid, "Option mode's value 10000 not in valid numeric range!"),
        (
            "file('/x') { owner 'a:b' }",
            invalid,
            "Property owner's value a:b does not match regular expression [/^[^-+~:,",
        ),
        (
            "remote_directory('/x') { files_mode 'u+x' }",
            invalid,
            r"value u+x does not match regular expression /^\d{3,4}$/",
        ),
        ("file('/x') { verify ['true'] }", "ArgumentError", verify),
        ("file('/x') { verify 5 }", "ArgumentError", verify),
        (
            "file('/srv/v') { content 'a'; verify :foo }",
            "Chef::Exceptions::VerificationNotFound",
            "No file verification for foo found.",
        ),
        (
            "file('/srv/v') { content 'a: [b'; verify :yaml }",
            invalid,
            "Proposed content for /srv/v failed verification",
        ),
        ("file('/srv/v') { content 'a: [b]'; verify :yaml }", "", ""),
        (
            "file('/srv/v') { content 'w'; verify 'test \"$A%%$(pwd)\" = \"x%/srv\"', cwd: '/srv', environment: { A: 'x' } }",
            "",
            "",
        ),
        (
            "remote_file('/x') { source 'rel/x' }",
            address,
            "\"rel/x\" is not a valid `source` parameter for remote_file. `source` must",
        ),
        ("remote_file('/x') { source [] }", "ArgumentError", "remote_file has an empty source"),
        ("template('/x') { source 5 }", invalid, "Option source must be a kind of [String, Array]!  You passed 5."),
        (
            "cron('c') { command 'x'; time_out('foo' => 1) }",
            invalid,
            "Key of option time_out must be equal to one of: \"dur",
        ),
        ("package(:x)", invalid, "Property package_name must be one of: String, Array!  You passed :x."),
        ("chef_sleep('x') { seconds 'abc' }", "ArgumentError", "invalid value for Integer(): \"abc\""),
    ]);
}

#[test]
fn what_a_template_needs_is_said_before_it_is_rendered() {
    check_errors(&[
        (
            "template('/none/x') { source 'quotes.erb'; variables(lazy { raise 'computed' }) }",
            "Chef::Exceptions::EnclosingDirectoryDoesNotExist",
            "Parent directory /none does not exist.",
        ),
        (
            "template('/srv/x') { source 'absent.erb'; owner 'nobody-there' }",
            "Chef::Exceptions::UserIDNotFound",
            "cannot determine user id for 'nobody-there'",
        ),
        (
            "template('/srv/x') { source 'quotes.erb'; variables(fails: true) }",
            "Chef::Mixin::Template::TemplateError",
            "rendered",
        ),
        ("file('/srv/x') { content 'there' }", "", ""),
        (
            "template('/srv/x') { source 'quotes.erb'; variables(lazy { raise 'computed' }); action :create_if_missing }\n\
             file('/srv/x') { content lazy { raise 'computed' }; action :create_if_missing }",
            "",
            "",
        ),
        (
            "template('/srv/y') { source '/none.erb'; local true }",
            "Chef::Mixin::WhyRun::ResourceRequirements::Assertion::AssertionFailure",
            "Template source /none.erb could not be found.",
        ),
        (
            "raise 'source' unless template('/x/z.conf') { action :nothing }.source == 'z.conf.erb'\n\
             l = link('/srv/l') { to 'x'; mode '0600'; action :nothing }\n\
             raise 'link' unless [l.path, l.mode] == ['/srv/l', '0600']\n\
             unit = systemd_unit('a.service') { content(Unit: { After: %w(b c) }, Install: {}); action :nothing }\n\
             raise unit.to_ini unless unit.to_ini == \"[Unit]\\nAfter=b\\nAfter=c\\n\\n[Install]\\n\"\n\
             raise 'running' unless service('s') { action :nothing }.running.nil?",
            "",
            "",
        ),
        (
            "template('/srv/quotes') { source 'quotes.erb' }\n\
             ruby_block('look') { block { raise ::File.read('/srv/quotes') unless ::File.read('/srv/quotes') == \"&lt;a&gt; &amp; 'b' &quot;c&quot;\\n\" } }",
            "",
            "",
        ),
    ]);
    let dry = runs(&["template('/srv/y') { source '/none.erb'; local true }"], &["--why-run"]);
    let told = dry[0].to_string();
    assert!(told.contains("Template source /none.erb does not exist. Assuming it would have been created."), "{told}");
    assert!(!told.contains("create new file"), "{told}");
}
