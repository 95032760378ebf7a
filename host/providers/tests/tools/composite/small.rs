//! Types made of one or two resources.

use super::{check, children, text};
use serde_json::json;

#[test]
fn small_types_are_made_of_packages_files_and_commands() {
    let packages = "apt_package[autoconf, binutils-doc, bison, build-essential, flex, gettext, ncurses-dev] install";
    check("build_essential", "x", "install", json!({}), &[packages]);
    check("build_essential", "x", "upgrade", json!({}), &[]);
    let made = check(
        "ohai_hint",
        "ec2.json",
        "create",
        json!({ "content": { "a": 1 } }),
        &["directory[/etc/chef/ohai/hints] create", "file[/etc/chef/ohai/hints/ec2.json] create"],
    );
    assert_eq!(text(&made[1], "content"), "{\n  \"a\": 1\n}");
    assert!(children("ohai_hint", "../x", "create", json!({})).is_err());
    let row = "execute[adding alternative /usr/bin/java java /opt/a/java 100] run";
    let properties = json!({ "path": "/opt/a/java", "priority": 100 });
    let wrong = children("alternatives", "java", "install", properties).unwrap_err();
    assert_eq!(wrong.message, "Could not set alternatives for java, missing /opt/a/java", "{row}");
    for (name, properties) in
        [("--force", json!({ "path": "/a" })), ("java", json!({ "path": "a" })), ("java", json!({ "priority": 1 }))]
    {
        assert!(children("alternatives", name, "set", properties.clone()).is_err(), "{name} {properties}");
    }
    let refused = children("locale", "x", "update", json!({ "lang": "en_GB.UTF-8" })).unwrap_err();
    assert_eq!(refused.class(), "Chef::Exceptions::ProviderNotFound");
}
