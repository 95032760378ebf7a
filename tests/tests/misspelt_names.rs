//! What Chef accepts and hardly means what it says: misspelt attributes and template variables give nil, a mode without its
//! zero is a decimal number, a notification goes to one of two resources. The run warns.

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

const DOUBTFUL: &str = r##"
file '/srv/decimal' do
  mode 640
end
file '/srv/octal' do
  mode 01777
end
file '/srv/text' do
  mode '640'
end
2.times do |at|
  execute 'tell' do
    command "echo #{at} >> /srv/told"
    action :nothing
  end
end
2.times { service('same') { action :nothing } }
file '/srv/sender' do
  notifies :run, 'execute[tell]'
  notifies :nothing, 'service[same]'
end
"##;

#[test]
fn what_chef_accepts_and_hardly_means_is_warned_of() {
    let (program, root) = (Program::new().unwrap(), Root::new().unwrap());
    let cookbook = program.configuration().join("cookbooks/a");
    fs::create_dir_all(cookbook.join("recipes")).unwrap();
    fs::write(cookbook.join("metadata.rb"), "name 'a'\n").unwrap();
    fs::write(cookbook.join("recipes/default.rb"), DOUBTFUL).unwrap();
    let cookbooks = program.configuration().join("cookbooks").display().to_string();
    let machine = root.machine(Network::Own).unwrap();
    let place = root.path().display().to_string();
    let arguments =
        ["converge", "-N", "n1", "--allow-all", "--root", &place, "--cookbooks", &cookbooks, "--run-list", "a"];
    let told = program.run_in(&machine, &arguments).unwrap().expect_code(0).unwrap().text();
    let expected = [
        "file[/srv/decimal]: mode 640 is a decimal number, in octal 01200; write \"0640\" or 0o640 (a/recipes/default.rb:2)",
        "file[/srv/sender] notifies execute[tell], but the recipe declares several different execute[tell]: the last one is notified (a/recipes/default.rb:12)",
    ];
    for warning in expected {
        assert_eq!(told.matches(warning).count(), 1, "{warning}\n{told}");
    }
    assert_eq!((told.matches("decimal number").count(), told.matches("several different").count()), (1, 1), "{told}");
    assert_eq!(fs::read_to_string(root.path().join("srv/told")).unwrap(), "1\n");
}
