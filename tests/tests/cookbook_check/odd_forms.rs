//! Every form that Ruby's grammar has may stand in a cookbook. The check reads all of them.

use super::{check, expect, lines};

/// Expressions of all kinds, as the argument of a call or the value of an assignment.
const VALUES: [&str; 69] = [
    "nil",
    "true",
    "false",
    "self",
    "5",
    "-1",
    "1.5",
    "3r",
    "2i",
    "10**30",
    "123456789012345678901234567890",
    "1..2",
    "(1..)",
    "('a'..'b')",
    "/x/",
    "/#{some}/i",
    "''",
    "'a' 'b'",
    "?a",
    "\"\\xff\"",
    "\"a\\0b\"",
    "\"\u{65e5}\"",
    "\"#{some}\"",
    "\"#{1}#{nil}#{:a}\"",
    "<<~X.strip",
    ":a",
    ":\"a b\"",
    ":\"a#{some}\"",
    "[]",
    "[:a, 6, nil]",
    "[[:a], ['b']]",
    "[*1..3]",
    "[*some, 'b']",
    "%w[]",
    "%i[a b]",
    "{}",
    "{ a: 1 }",
    "{ 'a' => { b: nil } }",
    "{ 1 => 2, nil => [1.5], [1] => {} }",
    "{ **some }",
    "{ \"a#{some}\": 1 }",
    "__method__",
    "__FILE__",
    "__LINE__",
    "__dir__",
    "__ENCODING__",
    "->(x) { x }",
    "-> { _1 }",
    "proc { it }",
    "lazy { some }",
    "some",
    "some(1) { |a, (b, c), *d, e: 1, **f, &g| a }",
    "some&.other",
    "some.other = 5",
    "!some",
    "(not some)",
    "some ? 1 : 'a'",
    "(some rescue 5)",
    "(some if other)",
    "begin; some; ensure; other; end",
    "case some; in { a: [Integer => b, *], **nil } if b then 1; in nil | 2 then 'x'; else 3; end",
    "(some in { a: })",
    "defined?(some)",
    "@some",
    "$some",
    "Some::Other",
    "::Some",
    "(some ||= 5)",
    "`ls #{some}`",
];

/// What may stand in the place of an argument alone. Ruby cannot compile a `when` with an infinite number.
const ARGUMENTS: [&str; 7] = ["1e400", "*some", "**some", "&some", "&:a", "*[1, :a]", "'a', *some, **{ b: 1 }"];

/// Uses in a recipe that take any argument. `VALUE` stands for it.
const CALLS: [&str; 44] = [
    "file(VALUE)",
    "file(VALUE) { content 'x' }",
    "declare_resource(VALUE)",
    "declare_resource(:file, VALUE) { mode '0600' }",
    "declare_resource(VALUE, 'x') { action :create }",
    "file('/a') { action(VALUE) }",
    "file('/a') { content(VALUE) }",
    "file('/a') { mode(VALUE) }",
    "file('/a') { owner(VALUE); group(VALUE); backup(VALUE); retries(VALUE); sensitive(VALUE); verify(VALUE) }",
    "file('/a') { notifies(VALUE) }",
    "file('/a') { notifies(:run, VALUE) }",
    "file('/a') { notifies(:run, 'execute[x]', VALUE) }",
    "file('/a') { subscribes(:run, VALUE) }",
    "file('/a') { only_if(VALUE) }",
    "file('/a') { not_if(VALUE) }",
    "service('x') { action(VALUE); options(VALUE) }",
    "package('x') { version(VALUE); options(VALUE) }",
    "execute('x') { command(VALUE); environment(VALUE); returns(VALUE); timeout(VALUE) }",
    "remote_file('/a') { source(VALUE); checksum(VALUE) }",
    "template('/a') { source(VALUE); variables(VALUE); local(VALUE); cookbook(VALUE) }",
    "template('/a') { source('a.erb'); helpers(VALUE) }",
    "user_type('x') { some(VALUE) }",
    "user_type(VALUE)",
    "cron('x') { minute(VALUE); weekday(VALUE) }",
    "mount('/a') { device(VALUE); options(VALUE); pass(VALUE) }",
    "include_recipe(VALUE)",
    "platform?(VALUE)",
    "log('x') if platform_family?(VALUE)",
    "node[VALUE]",
    "node['a'][VALUE]['b']",
    "node.read(VALUE)",
    "node['a'].key?(VALUE)",
    "node.default!(VALUE)",
    "node.write(:default, VALUE)",
    "node.default['a'].merge!(VALUE)",
    "data_bag_item(VALUE)",
    "search(VALUE)",
    "require(VALUE)",
    "shell_out(VALUE)",
    "Mixlib::ShellOut.new(VALUE)",
    "File.read(VALUE)",
    "ENV[VALUE]",
    "Array(VALUE)",
    "raise(VALUE)",
];

/// Uses of what is a value by itself.
const USES: [&str; 13] = [
    "file('/a') { not_if { VALUE } }",
    "file('/a') { content lazy { VALUE } }",
    "template('/a') { source('a.erb'); variables(a: VALUE, 'b' => [VALUE]) }",
    "case node['platform']; when VALUE then log('x'); end",
    "case VALUE; when 'windows' then log('x'); else log('y'); end",
    "log('x') unless VALUE",
    "x = VALUE",
    "y ||= VALUE",
    "node.default['a'][VALUE] = 1",
    "node.default['a']['b'] = VALUE",
    "node.override['a']['b'] ||= VALUE",
    "for one in [VALUE] do log one end",
    "def of_value(a = 1, *b, c: 2, &d) = VALUE",
];

/// Uses in a resource class.
const OF_CLASSES: [&str; 10] = [
    "property(VALUE)",
    "property(:a, VALUE)",
    "property(:b, String, VALUE)",
    "provides(VALUE)",
    "resource_name(VALUE)",
    "actions(VALUE)",
    "default_action(VALUE)",
    "attribute(VALUE)",
    "action(VALUE) { log new_resource.a }",
    "chef_version_for_provides(VALUE)",
];

/// Replaces the value in each use. The texts of heredocs follow their lines.
fn with_value(uses: &[&str], value: &str) -> String {
    let one = |form: &&str| {
        let texts = if value.starts_with("<<~") { form.matches("VALUE").count() } else { 0 };
        format!("{}\n{}", form.replace("VALUE", value), "  text #{some}\nX\n".repeat(texts))
    };
    uses.iter().map(one).collect()
}

#[test]
fn no_form_makes_the_check_itself_fail() {
    let mut files = vec![
        ("metadata.rb".to_owned(), "name 'web'\nsupports 5\nsupports :debain, 1\ndepends :base\ngem 5\n".to_owned()),
        ("templates/a.erb".to_owned(), "<% if @b %><%= @b %><% end %><%= render 5 %><%= render %><%= @c ||= 1 %>\n".to_owned()),
        ("recipes/data.yml".to_owned(), "resources:\n  - type: file\n    name: /a\n    action: [5, create]\n    mode: .inf\n    owner: 2020-01-01\n    backup: {a: ~}\n  - type: 5\n    name: [x]\n  - type: file\n".to_owned()),
    ];
    for (number, value) in VALUES.iter().enumerate() {
        files.push((format!("recipes/value{number}.rb"), with_value(&CALLS, value) + &with_value(&USES, value)));
        files.push((format!("resources/value{number}.rb"), with_value(&OF_CLASSES, value)));
        let attributes = "default[VALUE]['b'] = 1\ndefault['a'] = VALUE\ndefault['a'][VALUE]\ndefault!('a', VALUE)\n\
                          override['c'] = { 'd' => VALUE, VALUE => 1 }\n";
        files
            .push((format!("attributes/value{number}.rb"), with_value(&attributes.lines().collect::<Vec<_>>(), value)));
    }
    for (number, value) in ARGUMENTS.iter().enumerate() {
        // A block is an argument only without another one.
        let calls: Vec<_> =
            CALLS.into_iter().filter(|call| !(value.starts_with('&') && call.contains(") {"))).collect();
        let calls: Vec<_> = calls.into_iter().filter(|call| !(call.contains('[') && value.contains('&'))).collect();
        let is_last = |call: &&str| !call.contains("[VALUE]") && !call.contains("VALUE, ");
        let calls: Vec<_> = calls.into_iter().filter(|call| !value.contains("**") || is_last(call)).collect();
        files.push((format!("recipes/argument{number}.rb"), with_value(&calls, value)));
    }
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let report = check(&files, &[("base/metadata.rb", "name 'base'\n")], 1);
    let all = [lines(&report["problems"]), lines(&report["notes"])].concat();
    let is_failure = |line: &&String| line.starts_with("file ") || line.starts_with("syntax ");
    let failed: Vec<_> = all.iter().filter(is_failure).filter(|line| !line.contains("is not UTF-8")).collect();
    assert!(failed.is_empty() && !all.iter().any(|line| line.contains("CheckFailed")), "{failed:#?}");
    assert!(all.iter().any(|line| line.contains("recipes/value68.rb")), "the last file was read: {all:#?}");
}

#[test]
fn an_action_that_is_not_a_symbol_is_a_problem_of_its_line() {
    let recipe = "file '/srv/a' do\n  action 5\nend\nservice 'x' do\n  action [:start, 6]\nend\nfile '/srv/b' do\n  action nil\nend\n\
                  file '/srv/c' do\n  notifies 7, 'file[/srv/a]'\nend\n";
    let data = "resources:\n  - type: file\n    name: /srv/d\n    action: 5\n";
    let report =
        check(&[("metadata.rb", "name 'web'\n"), ("recipes/default.rb", recipe), ("recipes/d.yml", data)], &[], 1);
    expect(
        &report["problems"],
        &[
            ("action recipes/default.rb:2", "an action must be a symbol such as `:create`, not `5`"),
            ("action recipes/default.rb:5", "not `6`"),
            ("action recipes/default.rb:11", "not `7`"),
            ("action recipes/d.yml:4", "not `5`"),
        ],
    );
    let needs = &report["needs"];
    for (kind, name) in [("paths", "/srv/a"), ("services", "x"), ("paths", "/srv/d")] {
        assert!(needs[kind].to_string().contains(name), "{name} is missing in {needs:#}");
    }
}
