//! Names that have the signs of patterns in them: what is suggested for one allows that one and nothing else.

#![cfg(test)]

use grants::{CommandAsked, Grants, LineAsked, PolicyGrants};
use std::sync::Arc;

/// A policy that may do everything, and then one that may do what the first was suggested for it.
fn suggested(ask: impl Fn(&PolicyGrants)) -> (Arc<PolicyGrants>, String) {
    let all = Grants::allow_all();
    ask(&all.policy("web", &[]));
    let text = all.journal().suggestion(&Default::default(), true, &Grants::nothing());
    let grants = Grants::parse(&text, "g.toml").unwrap_or_else(|error| panic!("{error} in {text}"));
    (grants.policy("web", &[]), text)
}

fn command<'a>(words: &'a [String], cwd: Option<&'a str>, environment: &'a [(String, String)]) -> CommandAsked<'a> {
    CommandAsked { cwd, environment, ..CommandAsked::plain(LineAsked::Arguments(words)) }
}

#[test]
fn a_suggestion_for_names_with_signs_allows_these_names_alone() {
    let words = ["echo", "<any>", "<path:/**>", "<is:x>", "<rest>"].map(str::to_owned);
    let odd_program = ["<any>".to_owned()];
    let variables = [("PATH".to_owned(), "<any>".to_owned())];
    let ask = |policy: &PolicyGrants| {
        [
            policy.manage_path("/**").is_ok(),
            policy.manage_path("/srv/[*]?").is_ok(),
            policy.data_bag("*", None).is_ok(),
            policy.command(&command(&words, Some("/srv/*"), &variables)).is_ok(),
            policy.command(&command(&odd_program, None, &[])).is_ok(),
        ]
    };
    let (web, text) = suggested(|policy| assert_eq!(ask(policy), [true; 5]));
    assert_eq!(ask(&web), [true; 5], "{text}");
    for path in ["/", "/a", "/srv/x", "/srv/[*]x", "/srv/*?", "/srv/[[*]]?"] {
        assert!(web.manage_path(path).is_err(), "{path} in {text}");
    }
    assert!(web.data_bag("secrets", None).is_err(), "{text}");
    let mut other = words.clone();
    other[1] = "x".to_owned();
    assert!(web.command(&command(&other, Some("/srv/*"), &variables)).is_err(), "{text}");
    assert!(web.command(&command(&words, Some("/srv/x"), &variables)).is_err(), "{text}");
    let elsewhere = [("PATH".to_owned(), "/tmp".to_owned())];
    assert!(web.command(&command(&words, Some("/srv/*"), &elsewhere)).is_err(), "{text}");
    assert!(web.command(&command(&["x".to_owned()], None, &[])).is_err(), "{text}");
}

#[test]
fn what_a_denial_offers_for_a_name_with_signs_is_that_name() {
    let nothing = Grants::parse("[policy.web]\n", "g.toml").unwrap().policy("web", &[]);
    assert_eq!(nothing.manage_path("/**").unwrap_err().line(), r#"paths = ["/[*][*]"]"#);
    assert_eq!(nothing.manage_tree("/srv/*").unwrap_err().line(), r#"paths = ["/srv/[*]"]"#);
    assert_eq!(nothing.data_bag("*", None).unwrap_err().line(), r#"data_bags = ["[*]"]"#);
    let asked = ["<rest>".to_owned()];
    let line = nothing.command(&command(&asked, None, &[])).unwrap_err().line();
    assert_eq!(line, r#"commands = [{ argv = ["<is:<rest>>"] }]"#);
    let own = Grants::parse("[policy.web]\npaths = [\"/srv/[*]/**\"]\n", "g.toml").unwrap().policy("web", &[]);
    assert!(own.manage_tree("/srv/*/a").is_ok() && own.manage_path("/srv/a/b").is_err());
}

#[test]
fn attributes_with_signs_are_offered_as_they_are() {
    let nothing = Grants::parse("[policy.web]\n", "g.toml").unwrap().policy("web", &[]);
    let path = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>();
    assert_eq!(nothing.fact_grant(&path(&["a.b", "*"])), r#"facts = ["a\\.b.[*]"]"#);
    assert_eq!(nothing.fact_grant(&[]), r#"facts = ["*"]"#);
    let star = Grants::parse("[policy.web]\nfacts = [\"disks.[*]\"]\n", "g.toml").unwrap().policy("web", &[]);
    let disks = serde_json::json!({ "disks": { "*": 1, "a": 2 } });
    assert_eq!(star.visible_facts(&disks).into_owned(), serde_json::json!({ "disks": { "*": 1 } }));
}
