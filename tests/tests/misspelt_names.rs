//! Misspelt attributes and template variables give nil, as in Chef. Where nil becomes part of a text, the run warns.

use specs::{Network, Program, Root};
use std::fs;

const RECIPE: &str = r##"
file '/srv/a' do
  content "to #{node['mail']['greting']}\n"
end
template '/srv/b' do
  source 'b.erb'
  variables greeting: 'x', host: nil
end
2.times { |at| log "#{node['mail']['greting']} #{at}" }
mail = node['mail']
log "short #{mail['greting']}"
log "no near one: #{node['mail']['unlike']}; asked: #{node['mail']['greting'] || 'none'}"
log 'asked too' unless node['mail']['greting']
log node.read('mail', 'greting').to_s
log "set: #{node['mail']['greeting']}"
"#{node['mail']['greting']}".empty? || log('never') if node['mail']['greting'].nil?
"##;

const TEMPLATE: &str = "<%= @greting %>|<%= node['mail']['greting'] %>\n<%= @host %><%= @unlike %><% if @hots %><%= @hots %><% end %>\n\
    <%= @cookbook_nme %><%= node['mail']['greeting'] %>\n";

#[test]
fn a_text_with_the_nil_of_a_misspelt_name_is_warned_of_once_for_each_place() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let cookbook = program.configuration().join("cookbooks/mail");
    for (path, text) in [
        ("metadata.rb", "name 'mail'\n"),
        ("attributes/default.rb", "default['mail']['greeting'] = 'hello'\n"),
        ("recipes/default.rb", RECIPE),
        ("templates/b.erb", TEMPLATE),
    ] {
        let path = cookbook.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let cookbooks = program.configuration().join("cookbooks").display().to_string();
    let machine = root.machine(Network::Own).unwrap();
    let place = root.path().display().to_string();
    let arguments =
        ["converge", "-N", "n1", "--allow-all", "--root", &place, "--cookbooks", &cookbooks, "--run-list", "mail"];
    let run = program.run_in(&machine, &arguments).unwrap().expect_code(0).unwrap();
    // The texts are those of Chef.
    let [file, rendered] = ["srv/a", "srv/b"].map(|path| fs::read_to_string(root.path().join(path)).unwrap());
    assert_eq!((file.as_str(), rendered.as_str()), ("to \n", "|\n\nhello\n"));
    let told = run.text();
    let attribute = "`node['mail']['greting']` has no value: did you mean `node['mail']['greeting']`?";
    let expected = [
        format!("{attribute} (mail/recipes/default.rb:3)"),
        format!("{attribute} (mail/recipes/default.rb:9)"),
        format!("{attribute} (mail/recipes/default.rb:11)"),
        format!("{attribute} (mail/templates/b.erb:1)"),
        "`@greting` has no value: did you mean `@greeting`? (mail/templates/b.erb:1)".to_owned(),
    ];
    for warning in &expected {
        assert_eq!(told.matches(warning).count(), 1, "{warning}\n{told}");
    }
    assert_eq!(told.matches("has no value").count(), expected.len(), "{told}");
}
