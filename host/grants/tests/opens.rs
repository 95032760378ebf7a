//! Which interfaces grants open, and what they leave visible of a node.

#![cfg(test)]

use grants::Grants;
use serde_json::json;

fn parse(text: &str) -> Grants {
    Grants::parse(text, "grants.toml").unwrap()
}

#[test]
fn an_interface_is_open_if_one_of_its_capabilities_is_granted() {
    let check = |table: &str, machine: bool, data: bool| {
        let grants = parse(&format!("[policy.web]\n{table}\n")).policy("web", &[]);
        assert_eq!((grants.opens_machine(), grants.opens_data()), (machine, data), "{table}");
    };
    check("", false, false);
    check("packages = [\"nginx\"]", false, false);
    check("paths = [\"/etc/motd\"]", true, false);
    check("read_paths = [\"/etc/motd\"]", true, false);
    check("commands = [\"/bin/true\"]", true, false);
    check("download_hosts = [\"example.com\"]", true, false);
    check("environment = [\"LANG\"]", true, false);
    check("data_bags = [\"users\"]", false, true);
    check("search = [\"node\"]", false, true);
    check("roles = [\"web\"]", false, true);
    check("environments = [\"prod\"]", false, true);
    let everything = Grants::allow_all().policy("web", &[]);
    assert!(everything.opens_machine() && everything.opens_data());
    let nothing = Grants::nothing().policy("web", &[]);
    assert!(!nothing.opens_machine() && !nothing.opens_data());
}

#[test]
fn a_visible_node_has_the_policys_own_keys_and_the_facts_it_may_read() {
    let node =
        json!({ "name": "n", "automatic": { "recipes": ["web"], "platform": "debian", "ipaddress": "10.0.0.1" } });
    let seen = |text: &str| parse(text).policy("web", &[]).visible_node(node.clone(), |key| key == "recipes");
    let without = json!({ "name": "n", "automatic": { "platform": "debian", "recipes": ["web"] } });
    assert_eq!(seen("[policy.web]\n"), without);
    assert_eq!(seen("[policy.web]\nfacts = [\"ipaddress\"]\n")["automatic"]["ipaddress"], "10.0.0.1");
    let none = json!({ "name": "n" });
    assert_eq!(Grants::nothing().policy("web", &[]).visible_node(none.clone(), |_| true), none);
}
