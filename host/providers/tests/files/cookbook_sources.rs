use super::support::{Asked, Machine, resource};
use serde_json::{Value, json};

fn made(kind: &str, name: &str, properties: Value) -> (Machine, Asked) {
    let mut machine = Machine::open();
    let asked = resource(kind, name, "create", properties);
    machine.run(&asked).unwrap();
    (machine, asked)
}

#[test]
fn the_most_specific_file_is_taken() {
    for (path, properties, text) in [
        ("/etc/motd", json!({}), "debian 12"),
        ("/etc/banner", json!({}), "for this host"),
        ("/etc/x", json!({ "source": ["root.txt"] }), "at the root"),
        ("/etc/x", json!({ "source": ["none", "default/motd", "root.txt"] }), "default"),
        ("/etc/x", json!({ "source": "site/index.html", "cookbook": "web", "mode": "0600" }), "index"),
    ] {
        let (mut machine, asked) = made("cookbook_file", path, properties);
        assert_eq!(machine.read(path), text);
        assert_eq!(machine.run(&asked).unwrap().changes, Vec::<String>::new());
    }
}

#[test]
fn missing_sources_are_named() {
    let mut machine = Machine::open();
    let raised = machine.fails(
        &resource("cookbook_file", "/etc/none", "create", json!({})),
        "Chef::Exceptions::FileNotFound",
        "Cookbook 'web' (1.2.3) does not contain a file at any of these locations:\n  files/host-web1.example.org/none\n  \
         files/debian-12/none\n  files/debian/none\n  files/default/none\n  files/none\n\nThis cookbook _does_ contain: \
         ['files/debian-12/motd','",
    );
    assert_eq!(raised.hint, None);
    let several = json!({ "source": ["a", "b"] });
    machine.fails(
        &resource("cookbook_file", "/etc/none", "create", several),
        "Chef::Exceptions::FileNotFound",
        "locations:\n  files/a\n  files/b\n\n",
    );
    let other = json!({ "cookbook": "other" });
    machine.fails(&resource("cookbook_file", "/etc/x", "create", other), "Chef::Exceptions::CookbookNotFound", "other");
    let template = resource("template", "/etc/x", "create", json!({ "source": "none.erb" }));
    machine.fails(&template, "Chef::Exceptions::FileNotFound", "templates/default/none.erb");
    assert_eq!(machine.names("/etc"), ["group", "passwd"]);
}

#[test]
fn templates_come_rendered() {
    let (mut machine, asked) = made("template", "/etc/app", json!({ "content": "one", "mode": "0640" }));
    assert_eq!((machine.read("/etc/app").as_str(), machine.mode("/etc/app")), ("one", 0o640));
    assert!(machine.run(&asked).unwrap().changes.is_empty());
    let unrendered = resource("template", "/etc/app", "create", json!({}));
    machine.fails(&unrendered, "Chef::Mixin::Template::TemplateError", "template[/etc/app]");
}

#[test]
fn only_granted_paths_are_managed() {
    let mut machine = Machine::granted("paths = [\"/srv/**\"]");
    machine.denies(&resource("cookbook_file", "/etc/motd", "create", json!({})));
    machine.denies(&resource("template", "/etc/app", "create", json!({ "content": "x" })));
    machine.run(&resource("cookbook_file", "/srv/motd", "create", json!({}))).unwrap();
}
