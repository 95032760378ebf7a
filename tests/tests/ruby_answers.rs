//! What Ruby cookbooks are answered, odd as it may be: Chef 18's own answers, class and words. Each row is an expression
//! that a recipe evaluates, and what it gives: a value as Ruby shows it, or `Class: message` of what it raises.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use specs::Program;
use std::fs;

/// Evaluates a row. What differs between Rubies in how they show a value is kept out of it.
const ASKING: &str = "
answer = lambda do |text|
  shown = eval(text)
  shown.is_a?(String) ? shown : shown.inspect
rescue StandardError => error
  \"#{error.class}: #{error.message}\"
end
node.normal['answers'] = JSON.parse(File.read(File.join(__dir__, '..', 'rows.json'))).map(&answer)
";

/// A repository of the cookbook `t` and what else a row needs.
struct Repository {
    program: Program,
}

impl Repository {
    fn new(files: &[(&str, &str)]) -> Self {
        let repository = Self { program: Program::new().unwrap() };
        repository.write("cookbooks/t/metadata.rb", "name 't'\nversion '1.0.0'\n");
        repository.write("cookbooks/t/recipes/default.rb", ASKING);
        for (path, text) in files {
            repository.write(path, text);
        }
        repository
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.program.configuration().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn place(&self, folder: &str) -> String {
        self.program.configuration().join(folder).display().to_string()
    }

    /// The report of a run of `t` with these arguments, in which `@` at the beginning stands for the repository's place.
    fn run(&self, code: i32, arguments: &[&str]) -> Value {
        let cookbooks = self.place("cookbooks");
        let mut all =
            vec!["converge", "--cookbooks", &cookbooks, "--allow-all", "--format", "json", "--node-name", "n1"];
        let placed = |argument: &str| match argument.strip_prefix('@') {
            Some(path) => self.place(path),
            None => argument.to_owned(),
        };
        let more: Vec<String> = arguments.iter().map(|argument| placed(argument)).collect();
        all.extend(more.iter().map(String::as_str));
        let output = self.program.run(&all).unwrap().expect_code(code).unwrap();
        serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error} in {}", output.stdout))
    }

    #[track_caller]
    fn answers(&self, rows: &[(&str, &str)], arguments: &[&str]) {
        let questions: Vec<&str> = rows.iter().map(|(question, _)| *question).collect();
        self.write("cookbooks/t/rows.json", &json!(questions).to_string());
        let run = self.run(0, &[&["--run-list", "t"], arguments].concat());
        let answers =
            run["node"]["normal"]["answers"].as_array().unwrap().iter().map(|answer| answer.as_str().unwrap());
        let wrong: Vec<String> = rows
            .iter()
            .zip(answers)
            .filter(|((_, wanted), answer)| wanted != answer)
            .map(|((question, wanted), answer)| format!("{question}\n  wanted {wanted}\n     got {answer}"))
            .collect();
        assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    }
}

#[test]
fn of_the_node_and_its_attributes() {
    let attribute = "for an instance of Chef::Node::Attribute";
    let unknown = format!("NoMethodError: undefined method 'x' {attribute}");
    let unset = format!("NoMethodError: undefined method 'set_unless' {attribute}");
    Repository::new(&[]).answers(
        &[
            ("node.x", &unknown),
            ("node.set_unless['a'] = 1", &unset),
            ("node.exist?('absent')", "true"),
            ("node.read!('absent')", "nil"),
            ("node.exist?('absent', 'x')", "false"),
            ("node.default['i'][1] = 'x'; node['i'].keys", "[1]"),
            ("node.default['h'] = { 'a' => 1, 'b' => nil }; node['h'].slice('a').class", "Hash"),
            ("node['h'].compact.class", "Hash"),
            ("node['h'].to_h { |key, value| [value, key] }['a']", "1"),
            ("node['cookbooks']['t']['version']", "1.0.0"),
            ("node.to_h.key?('run_list')", "false"),
            ("node.to_hash['recipe']", "[\"t\"]"),
            ("other = Chef::Node.build('n2'); other.default['z']['y'] = 1; [other['z']['y'], node.key?('z'), other.name]", "[1, false, \"n2\"]"),
        ],
        &[],
    );
}

#[test]
fn of_run_lists() {
    let item = "ArgumentError: Unable to create Chef::RunList::RunListItem from";
    let symbol = format!("{item} Symbol::t: must be a Hash or String");
    let bad = format!("{item} String:\"recipes[t]\": must be recipe[] or role[]");
    Repository::new(&[]).answers(
        &[
            ("node.run_list?('t')", "false"),
            ("node.run_list?('recipe[t]')", "true"),
            ("node.recipe?('t')", "true"),
            ("node.role?(:r)", "false"),
            ("node.recipe?(:t)", &symbol),
            ("node.run_list.include?('recipes[t]')", &bad),
            ("node.run_list.include?({ 'type' => 'recipe', 'name' => 't' })", "true"),
            ("node.run_list.respond_to?(:size)", "false"),
            ("[node.override_runlist_set?, node.override_runlist.to_s]", "[false, \"\"]"),
            ("include_recipe nil", "NoMethodError: undefined method 'to_sym' for nil"),
            (
                "include_recipe ''",
                "Chef::Exceptions::CookbookNotFound: Cookbook  not found. If you're loading  from another cookbook, \
                 make sure you configure the dependency in your metadata",
            ),
        ],
        &[],
    );
}

#[test]
fn of_data_and_searches() {
    let nodes: Vec<(String, String)> = (2..6)
        .map(|number| {
            (format!("nodes/n{number}.json"), json!({"name": format!("n{number}"), "run_list": ["t"]}).to_string())
        })
        .collect();
    let mut files: Vec<(&str, &str)> = nodes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    files.push(("bags/people/zed.json", r#"{"id": "zed", "age": 4}"#));
    let missing = "Net::HTTPServerException: 404 \"Not Found\"";
    let identifier = "Chef::Exceptions::InvalidDataBagItemID: Data Bag items must have an id matching /^[\\.\\-[:alnum:]_]+$/, \
                      you gave:";
    Repository::new(&files).answers(
        &[
            ("data_bag_item('people', 'ann')", missing),
            ("data_bag('animals')", missing),
            ("begin; data_bag('animals'); rescue Net::HTTPClientException => e; e.response.code; end", "404"),
            ("data_bag_item('people', 1)", &format!("{identifier} 1")),
            ("data_bag_item('people', 'a b')", &format!("{identifier} \"a b\"")),
            ("data_bag_item(:people, :zed).name", "data_bag_item_people_zed"),
            ("data_bag_item('people', 'zed').fetch('age')", "4"),
            (
                "data_bag_item('people', 'zed').fetch('size')",
                "NoMethodError: undefined method 'fetch' for an instance of Chef::DataBagItem",
            ),
            (
                "Chef::DataBagItem.new.name",
                "Chef::Exceptions::ValidationFailed: You must have an 'id' or :id key in the raw data",
            ),
            ("Chef::EncryptedDataBagItem.new({ 'id' => 'x' }, 's').respond_to?(:keys)", "false"),
            (
                "search(:node, 'recipe:t AND run_list:recipe\\\\[t\\\\]').map(&:name).sort",
                "[\"n2\", \"n3\", \"n4\", \"n5\"]",
            ),
            ("search(:node, 'name:n*', rows: 2).size", "2"),
            ("search(:node, 'name:n*', start: 1, rows: 2).size", "1"),
            ("search(:node, '[').size", "Net::HTTPServerException: 400 \"Bad Request\""),
            ("search(:node, 'name:n1').map { |one| [one.class, one.run_list.to_s] }", "[[Chef::Node, \"\"]]"),
        ],
        &["--nodes", "@nodes", "--data-bags", "@bags"],
    );
}

#[test]
fn of_the_words_of_recipes() {
    let services =
        "Supported services are: :example :aws_secrets_manager :azure_key_vault :hashi_vault :akeyless_vault";
    let absent =
        "Chef::Exceptions::FileNotFound: Cookbook 't' (1.0.0) does not contain a file at any of these locations:\n";
    let there = "\n\nThis cookbook _does_ contain: ['templates/there.erb']";
    let list = format!("{absent}  templates/x\n  templates/y{there}");
    let one = format!(
        "{absent}  templates/host-f/x\n  templates/debian-12/x\n  templates/debian/x\n  templates/default/x\n  templates/x{there}"
    );
    let find = "cookbook = run_context.cookbook_collection['t']; cookbook.preferred_filename_on_disk_location";
    let about = "{ 'fqdn' => 'f', 'platform' => 'debian', 'platform_version' => '12' }";
    let said = "STDOUT: \nSTDERR: no\n---- End";
    Repository::new(&[("cookbooks/t/templates/there.erb", "")]).answers(
        &[
            (&format!("{find}({about}, :templates, ['x', 'y'])"), &list),
            (&format!("{find}({about}, :templates, 'x')"), &one),
            ("secret(name: 'a', service: :example, config: { 'a' => 'b' })", "b"),
            ("secret(name: 'a')", &format!("Chef::Exceptions::Secret::MissingFetcher: No secret service provided. {services}")),
            (
                "secret(name: 'a', service: :x)",
                &format!(
                    "Chef::Exceptions::Secret::InvalidFetcherService: Unsupported secret service: 'x' is not a supported \
                     secrets service.  {services}"
                ),
            ),
            ("secret(service: :example, config: {})", "Chef::Exceptions::Secret::MissingSecretName: Chef::Exceptions::Secret::MissingSecretName"),
            ("secret(name: 'a', service: :example, config: {})", "Chef::Exceptions::Secret::FetchFailed: Secret a) not found."),
            (
                "secret(name: 'a', service: :example, config: 1)",
                "Chef::Exceptions::Secret::ConfigurationInvalid: The Example fetcher requires a hash of secrets",
            ),
            ("with_secret_service(:example) { secret(name: 'a', config: { 'a' => 'c' }) }", "c"),
            ("with_secret_service(:example)", "ArgumentError: You must pass a block to #with_secret_service"),
            ("with_run_context(:root) rescue run_context.class", "Chef::RunContext"),
            (
                "shell_out!('sh', '-c', 'echo no >&2; exit 3')",
                &format!(
                    "Mixlib::ShellOut::ShellCommandFailed: Expected process to exit with [0], but received '3'\n---- Begin \
                     output of [\"sh\", \"-c\", \"echo no >&2; exit 3\"] ----\n{said} output of [\"sh\", \"-c\", \"echo no \
                     >&2; exit 3\"] ----\nRan [\"sh\", \"-c\", \"echo no >&2; exit 3\"] returned 3"
                ),
            ),
            ("shell_out('true', user: 'nobody-here').exitstatus", "1"),
            ("render_yaml({ 'a' => 1 })", "nil"),
            (
                "render_toml({ 'b' => { 'c' => { 'd' => [1, \"x\"] } }, 'a' => true, 'e' => [{ 'f' => { 'g' => 1 } }] })",
                "a = true\n[b.c]\nd = [1, \"x\"]\n[[e]]\n[e.f]\ng = 1\n",
            ),
        ],
        &[],
    );
}

#[test]
fn of_the_library() {
    let parse = "Chef::Exceptions::JSON::ParseError:";
    Repository::new(&[]).answers(
        &[
            ("Chef::JSONCompat.to_json_pretty({})", "{\n\n}"),
            ("Chef::JSONCompat.to_json_pretty({ a: [], b: '{}' })", "{\n  \"a\": [\n\n  ],\n  \"b\": \"{}\"\n}"),
            (
                "Chef::JSONCompat.from_json('')",
                &format!("{parse} Top level JSON object must be a Hash or Array. (actual: NilClass)"),
            ),
            ("Chef::JSONCompat.parse(1)", &format!("{parse} input must be a string or IO")),
            ("Set[1, 2]", "#<Set: {1, 2}>"),
            ("Chef::VersionString.new(nil)", ""),
            ("Chef::VersionString.new('1.2').satisfies?('>= 1.0', '< 2')", "true"),
            (
                "Chef::Log.level = :bogus",
                "ArgumentError: Log level must be one of :trace, :debug, :info, :warn, :error, or :fatal",
            ),
            (
                "raise Chef::Exceptions::RunLockTimeout.new(5, 7)",
                "Chef::Exceptions::RunLockTimeout: Unable to acquire lock. Waited 5 seconds for 7 to release.",
            ),
            (
                "all = Chef::Exceptions::MultipleFailures.new; all.notification_failure(IOError.new('x')); all.message",
                "Multiple failures occurred:\n* IOError occurred in delayed notification: x\n",
            ),
            ("Chef::Exceptions::CookbookChefVersionMismatch.superclass", "RuntimeError"),
            ("Chef::Exceptions::ShellCommandFailed", "Mixlib::ShellOut::ShellCommandFailed"),
            ("Chef::Exceptions::NoSuchThing", "NameError: uninitialized constant Chef::Exceptions::NoSuchThing"),
            ("Chef::Util::PathHelper.relative_path_from('/a/b', '/a/c').to_s", "../c"),
            ("Chef::Util::PathHelper.split_args('a \"b c\" d')", "[\"a\", \"\\\"b c\\\"\", \"d\"]"),
            ("Chef::Digester.instance.generate_checksum(StringIO.new('')) == Digest::SHA256.hexdigest('')", "true"),
            (
                "Chef::FileCache.load(1)",
                "Chef::Exceptions::ValidationFailed: Option path must be a kind of [String]!  You passed 1.",
            ),
            ("Ohai::Config[:plugin_path].class", "Array"),
        ],
        &[],
    );
}

#[test]
fn runs_that_fail_before_a_recipe() {
    let repository = Repository::new(&[
        ("roles/bad.json", r#"{"name": "bad", "run_list": ["rcp[t]"]}"#),
        ("roles/fine.json", r#"{"name": "fine", "run_list": ["t"], "default_attributes": {"a": 1}}"#),
        ("environments/dev.json", r#"{"name": "dev", "cookbook_versions": {"x": "bad"}}"#),
        ("dev.json", r#"{"chef_environment": "dev"}"#),
        ("recipes.json", r#"{"recipes": ["t"]}"#),
    ]);
    let folders = ["--roles", "@roles", "--environments", "@environments"];
    for (arguments, class, message) in [
        (
            &["--run-list", "role[bad]"][..],
            "ArgumentError",
            "Unable to create Chef::RunList::RunListItem from String:\"recipe[rcp[t]]\": must be recipe[] or role[]",
        ),
        // What the node's attributes say goes before what is typed.
        (
            &["--run-list", "t", "--environment", "gone", "-j", "@dev.json"],
            "Chef::Exceptions::ValidationFailed",
            "Option cookbook_versions's value {\"x\"=>\"bad\"} should be a valid set of cookbook version requirements!",
        ),
        (
            &["--run-list", "t", "-j", "@recipes.json"],
            "Chef::Exceptions::AmbiguousRunlistSpecification",
            "please set the node's run list using the 'run_list' attribute only.",
        ),
        (
            &["--run-list", "t@1.0"],
            "Chef::Exceptions::CookbookVersionSelection::UnsatisfiableRunListItem",
            "cookbook \"t\" is there in version 1.0.0, but the run list asks for \"1.0\"",
        ),
        (
            &["--run-list", "role[gone]", "--environment", "gone"],
            "Chef::Exceptions::MissingRole",
            "The expanded run list includes nonexistent roles: gone",
        ),
    ] {
        let run = repository.run(1, &[arguments, &folders].concat());
        assert_eq!((run["error"]["class"].as_str(), run["error"]["message"].as_str()), (Some(class), Some(message)));
    }
    let gone = ["--run-list", "role[fine]", "--environment", "gone"];
    let run = repository.run(1, &[&gone[..], &folders].concat());
    assert_eq!(run["error"]["class"], "Chef::Exceptions::EnvironmentNotFound");
    assert_eq!((&run["roles"], &run["node"]["default"]), (&json!(["fine"]), &json!({})));
    // The one denied beside them is not: the same role where the environment is there.
    repository.write("environments/gone.json", r#"{"name": "gone"}"#);
    repository.write("cookbooks/t/rows.json", "[]");
    assert_eq!(repository.run(0, &[&gone[..], &folders].concat())["node"]["default"], json!({"a": 1}));
}
