//! What must hold for every described type, and what the host says to declarations, the hostile ones among them.

use schema::property::{Default, Matcher, Property, Required, validate_default};
use schema::typed::{self, DeclaredValues};
use schema::types::{self, ALL};
use schema::validation::{MAX_ACTIONS, MAX_NAME_BYTES, MAX_PROPERTIES};
use schema::value::{MAX_DEPTH, MAX_TEXT_BYTES};
use schema::{Given, ResourceType, check_required, find, require, validate, validate_one};
use serde_json::{Map, Value as Json, json};

fn all_types() -> impl Iterator<Item = &'static ResourceType> {
    ALL.into_iter()
}

fn all_properties() -> impl Iterator<Item = (&'static ResourceType, &'static Property)> {
    all_types()
        .flat_map(|resource| resource.properties.iter().copied().flatten().map(move |property| (resource, property)))
}

/// Declares a resource with known values and gives its canonical properties, or the error's text.
#[cfg(test)]
fn declare(kind: &str, properties: &Json, actions: &[&str]) -> Result<Json, String> {
    let properties = properties.as_object().unwrap().clone();
    let given = properties.into_iter().map(|(name, value)| (name, Given::Known(value))).collect();
    validate(kind, "name", given, actions)
        .map(|known| Json::Object(known.into_iter().collect()))
        .map_err(|failure| failure.to_string())
}

#[test]
fn tables_are_in_order() {
    assert!(ALL.windows(2).all(|pair| pair[0].name < pair[1].name), "the table is not in alphabetical order");
    let mut names: Vec<&str> =
        all_types().flat_map(|resource| resource.aliases.iter().copied().chain([resource.name])).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "a name is taken twice");
}

#[test]
fn actions_are_sound() {
    for resource in all_types() {
        assert!(resource.action(resource.default_action).is_some(), "{}: default action", resource.name);
        let mut names: Vec<&str> = resource.actions.iter().map(|action| action.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{}: an action twice", resource.name);
        assert!(!names.contains(&"nothing"), "{}: nothing is everybody's", resource.name);
    }
}

#[test]
fn properties_are_sound() {
    for (resource, property) in all_properties() {
        let at = format!("{}.{}", resource.name, property.name);
        assert!(property.doc.ends_with('.') && !property.doc.contains("  "), "{at}: {}", property.doc);
        assert_eq!(validate_default(property), Ok(()), "{at}: default");
        for pattern in property.regex.unwrap_or_default() {
            assert!(pattern.is_usable(), "{at}: {}", pattern.shown());
        }
        for matcher in property.is.unwrap_or_default() {
            assert!(!matches!(matcher, Matcher::Pattern(pattern) if !pattern.is_usable()), "{at}");
        }
        match property.default {
            Default::SameAs(other) => assert!(resource.property(other).is_some(), "{at}: {other}"),
            Default::BaseNameOf(other) => {
                assert!(other == "name" || resource.property(other).is_some(), "{at}: {other}");
            }
            _ => {}
        }
        if let Required::For(actions) = property.required {
            assert!(actions.iter().all(|action| resource.action(action).is_some()), "{at}: required for {actions:?}");
        }
        for alias in property.aliases {
            assert_eq!(resource.property(alias).map(|found| found.name), Some(property.name), "{at}: alias {alias}");
        }
    }
    for resource in all_types() {
        let names: Vec<&str> = resource.own_properties().map(|property| property.name).collect();
        for (position, name) in names.iter().enumerate() {
            assert!(!names[position + 1..].contains(name), "{}: {name} twice", resource.name);
        }
        assert!(resource.identity().iter().all(|property| resource.property(property.name).is_some()));
    }
}

/// Methods that every builder of the Rust SDK has; a property of the same name would hide one or be hidden.
#[test]
fn builder_methods_do_not_collide() {
    let common =
        ["only_if", "not_if", "notifies", "subscribes", "action", "actions", "declare", "delayed_action", "lazy"];
    for resource in all_types() {
        for property in resource.own_properties() {
            assert!(!common.contains(&property.name), "{}.{}", resource.name, property.name);
            let is_action = property.name.strip_prefix("action_").is_some_and(|name| resource.action(name).is_some());
            assert!(!is_action, "{}.{}", resource.name, property.name);
        }
    }
}

#[test]
fn canonical_values() {
    let check = |kind: &str, given: Json, expected: Json| {
        assert_eq!(declare(kind, &given, &[]), Ok(expected), "{kind} {given}");
    };
    check("file", json!({"mode": "644", "owner": 0}), json!({"mode": "0644", "owner": 0}));
    check("file", json!({"mode": 0o1755, "user": "root"}), json!({"mode": "1755", "owner": "root"}));
    check("file", json!({"backup": false, "content": null}), json!({"backup": false, "content": null}));
    check("file", json!({"verify": "true"}), json!({"verify": ["true"]}));
    check("file", json!({"owner": null}), json!({}));
    check("package", json!({"options": "-o A='b c' -q"}), json!({"options": ["-o", "A=b c", "-q"]}));
    check("package", json!({"package_name": ["a", "b"]}), json!({"package_name": ["a", "b"]}));
    check("group", json!({"members": "a, b"}), json!({"members": ["a", "b"]}));
    check(
        "execute",
        json!({"command": ["true", "x"], "env": {"A": "b"}}),
        json!({"command": ["true", "x"], "environment": {"A": "b"}}),
    );
    check(
        "service",
        json!({"supports": ["restart"], "start_command": false}),
        json!({"supports": {"restart": true}, "start_command": false}),
    );
    check(
        "cron_d",
        json!({"command": "x", "weekday": "Mon", "minute": "*/5"}),
        json!({"command": "x", "weekday": "1", "minute": "*/5"}),
    );
    check("log", json!({"level": "warn"}), json!({"level": "warn"}));
    check(
        "file",
        json!({"ignore_failure": "quiet", "umask": 0o27}),
        json!({"ignore_failure": "quiet", "umask": "0027"}),
    );
}

#[test]
fn refusals_are_in_chefs_words() {
    let check = |kind: &str, given: Json, actions: &[&str], expected: &str| {
        assert_eq!(declare(kind, &given, actions), Err(expected.to_owned()), "{kind} {given} {actions:?}");
    };
    check("file", json!({"mode": true}), &[], "Property mode must be one of: String, Integer!  You passed true.");
    check("file", json!({"mode": "99999"}), &[], "Option mode's value 99999 not in valid numeric range!");
    check(
        "directory",
        json!({"recursive": "yes"}),
        &[],
        "Property recursive must be one of: TrueClass, FalseClass!  You passed \"yes\".",
    );
    check(
        "file",
        json!({"owner": "a:b"}),
        &[],
        r"Property owner's value a:b does not match regular expression /^[^-+~:,\t\r\n\f\0]+[^:,\t\r\n\f\0]*$/",
    );
    check(
        "file",
        json!({"owner": "root\n-x"}),
        &[],
        r"Property owner's value root\n-x does not match regular expression /^[^-+~:,\t\r\n\f\0]+[^:,\t\r\n\f\0]*$/",
    );
    check(
        "link",
        json!({"link_type": "soft"}),
        &[],
        "Option link_type must be equal to one of: :symbolic, :hard!  You passed :soft.",
    );
    check(
        "cron_d",
        json!({"minute": 60, "command": "x"}),
        &[],
        "Option minute's value 60 should be a valid minute spec!",
    );
    check(
        "link",
        json!({}),
        &["destroy"],
        "Option action must be equal to one of: :nothing, :create, :delete!  You passed :destroy.",
    );
    check("file", json!({"colour": 1}), &[], "unknown property `colour` for resource type `file`");
    check("file", json!({"retries": "3"}), &[], "Property retries must be one of: Integer!  You passed \"3\".");
    check("no_such", json!({}), &[], "resource type `no_such` does not exist");
    check("registry_key", json!({}), &[], "resource type `registry_key` is for Windows only");
}

#[test]
fn secrets_stay_out_of_messages() {
    let error = declare("user", &json!({"password": ["hunter2"]}), &[]).unwrap_err();
    assert_eq!(error, "Property password must be one of: String!  You passed *sensitive value suppressed*.");
}

#[test]
fn near_names_stand_beside_the_message() {
    let check = |failure: schema::ValidationFailed, expected: Option<&str>| {
        assert_eq!(failure.did_you_mean(), expected, "{failure}");
        assert!(!failure.to_string().contains("mean"));
    };
    check(validate("file", "x", vec![("onwer".into(), Given::Known(json!(1)))], &[]).unwrap_err(), Some("owner"));
    check(validate("file", "x", vec![("zzz".into(), Given::Lazy)], &[]).unwrap_err(), None);
    check(validate("file", "x", vec![], &["craete"]).unwrap_err(), Some("create"));
    check(require("templat").unwrap_err(), Some("template"));
    assert_eq!(require("templat").unwrap_err().kind(), errors::ErrorKind::NoSuchName);
}

#[test]
fn nothing_needs_nothing() {
    assert_eq!(declare("bash", &json!({}), &["nothing"]), Ok(json!({})));
    let bash = find("bash").unwrap();
    assert_eq!(check_required(bash, "run", |_| false).unwrap_err().to_string(), "code is a required property");
    assert_eq!(check_required(bash, "run", |property| property == "code"), Ok(()));
}

#[test]
fn lazy_values_are_checked_when_known() {
    assert_eq!(validate("bash", "x", vec![("code".into(), Given::Lazy)], &[]), Ok(vec![]));
    assert_eq!(validate_one("file", "x", "mode", json!("755")), Ok(Some(json!("0755"))));
    assert_eq!(validate_one("file", "x", "owner", json!(null)), Ok(None));
    assert!(validate_one("file", "x", "mode", json!([])).is_err());
    let reset = [json!("a"), json!(null)].map(|value| ("code".to_owned(), Given::Known(value)));
    assert_eq!(validate("bash", "x", reset.into(), &[]), Ok(vec![]));
}

#[test]
fn defaults_are_filled_in_on_demand() {
    struct Declared<'a>(&'a str, Map<String, Json>);

    impl DeclaredValues for Declared<'_> {
        fn name(&self) -> &str {
            self.0
        }

        fn value(&self, property: &str) -> Option<&Json> {
            self.1.get(property)
        }
    }

    let check = |kind: &str, name: &str, given: Json, property: &'static str, expected: Json| {
        let declared = Declared(name, given.as_object().unwrap().clone());
        let found: Option<Json> = typed::read(find(kind).unwrap(), property, &declared).unwrap();
        assert_eq!(found.unwrap_or_default(), expected, "{kind}.{property}");
    };
    check("file", "/etc/motd", json!({}), "path", json!("/etc/motd"));
    check("file", "/etc/motd", json!({"path": "/x"}), "path", json!("/x"));
    check("file", "/etc/motd", json!({}), "backup", json!(5));
    check("file", "/etc/motd", json!({}), "content", json!(null));
    check("cookbook_file", "/etc/motd", json!({}), "source", json!("motd"));
    check("remote_directory", "x", json!({"path": "/srv/data/"}), "source", json!("data"));
    check("service", "ssh", json!({}), "pattern", json!("ssh"));
    check("service", "ssh", json!({"service_name": "sshd"}), "pattern", json!("sshd"));
    check("bash", "x", json!({}), "interpreter", json!("bash"));
}

#[test]
fn hostile_declarations_are_refused() {
    let many = vec![("mode".to_owned(), Given::Known(json!(1))); MAX_PROPERTIES + 1];
    assert!(validate("file", "x", many, &[]).is_err());
    assert!(validate("file", "x", vec![], &["create"; MAX_ACTIONS + 1]).is_err());
    assert!(validate("file", &"x".repeat(MAX_NAME_BYTES + 1), vec![], &[]).is_err());
    let mut deep = json!(1);
    for _ in 0..=MAX_DEPTH {
        deep = json!([deep]);
    }
    assert!(validate_one("template", "x", "variables", json!({"a": deep})).is_err());
    assert!(validate_one("file", "x", "content", json!("x".repeat(MAX_TEXT_BYTES + 1))).is_err());
    // A terminal's escapes and endless names do not reach a message.
    let names = ["\u{1b}[2J".to_owned(), "x".repeat(100_000)];
    for name in &names {
        let failures = [
            validate(name, "x", vec![], &[]).unwrap_err(),
            validate("file", "x", vec![(name.clone(), Given::Lazy)], &[]).unwrap_err(),
            validate("file", "x", vec![], &[name]).unwrap_err(),
            validate_one("file", "x", "owner", json!(format!(":{name}"))).unwrap_err(),
        ];
        for failure in failures {
            let message = failure.to_string();
            assert!(!message.contains('\u{1b}') && message.len() < 2000, "{message}");
        }
    }
}

/// For references that say nothing of grants.
const NO_GRANTS: fn(&str) -> Vec<&'static str> = |_| vec![];

#[test]
fn the_reference_names_the_keys_of_grants() {
    let keys = |kind: &str| if kind == "remote_file" { vec!["paths", "download_hosts"] } else { vec![] };
    let of = |name: &str| schema::reference::find(name).unwrap();
    let text = schema::reference::type_text(of("remote_file"), &keys);
    assert!(text.contains("\nKeys of the grants that its actions may need: `paths`, `download_hosts`.\n"), "{text}");
    assert!(!schema::reference::type_text(of("log"), &keys).contains("grants"));
    assert!(schema::reference::list_text(&keys).contains("address. (grants: paths, download_hosts)\n"));
    assert_eq!(
        schema::reference::type_json_with_grants(of("remote_file"), &keys)["grants"],
        json!(["paths", "download_hosts"])
    );
}

#[test]
fn the_reference_names_everything() {
    for resource in schema::reference::all() {
        let text = schema::reference::type_text(resource, &NO_GRANTS);
        for name in resource
            .own_properties()
            .map(|property| property.name)
            .chain(resource.actions.iter().map(|action| action.name))
        {
            assert!(text.contains(&format!("- `{name}`")), "{}: {name}", resource.name);
        }
        assert!(schema::reference::list_text(&NO_GRANTS).contains(resource.name));
    }
    let all = schema::reference::all_json(&NO_GRANTS);
    assert_eq!(all["resources"].as_array().unwrap().len(), types::builtin().count() + types::ruby_only().count());
    assert_eq!(all["version"], schema::reference::JSON_VERSION);
}

#[test]
fn types_for_ruby_only_are_in_the_reference_and_refused_elsewhere() {
    let text = schema::reference::list_text(&NO_GRANTS);
    let line = |name: &str| text.lines().find(|line| line.split_whitespace().next() == Some(name));
    assert!(line("chef_handler").unwrap().ends_with("(Ruby only)"), "{text}");
    assert!(!line("file").unwrap().ends_with("(Ruby only)"), "{text}");
    assert_eq!(line("subversion"), None, "nothing carries it out");
    let languages =
        |name: &str| schema::reference::type_json(schema::reference::find(name).unwrap())["languages"].clone();
    assert_eq!((languages("chef_handler"), languages("sysctl_param")), (json!(["ruby"]), json!(["rust", "ruby"])));
    let handler = schema::reference::type_text(schema::reference::find("chef_handler").unwrap(), &NO_GRANTS);
    assert!(
        handler.contains("\nFor cookbooks in Ruby only.\n") && handler.contains("- `enable` (default)"),
        "{handler}"
    );
    let refused = |name: &str| require(name).unwrap_err().to_string();
    assert_eq!(refused("chef_handler"), "resource type `chef_handler` exists in Ruby cookbooks only");
    assert_eq!(require("subversion").unwrap().name, "subversion", "it may be declared");
    assert_eq!(refused("env"), "resource type `windows_env` is for Windows only");
    let why = |kind: &str| schema::why_no_provider(kind).unwrap_or_default();
    assert_eq!(why("zypper_repo"), "wrun cannot act for resources of the type `zypper_repository`");
    assert_eq!(why("env"), "the resource type `windows_env` is for Windows only");
    assert_eq!((why("file"), why("chef_handler")), (String::new(), String::new()));
    let unknown = schema::reference::find("subversion").unwrap_err().to_string();
    assert_eq!(unknown, "resource type `subversion` has no provider");
    assert_eq!(schema::reference::find("sysctll").unwrap_err().did_you_mean(), Some("sysctl"));
    assert!(schema::reference::find("subversion").is_err());
}

/// The runtime's own table is in Ruby; the host must know the same gems.
#[test]
fn gems_of_the_runtime_are_those_that_its_library_has() {
    let table = include_str!("../../../guests/ruby/lib/wrun/machine/libraries.rb");
    let own = table.split("OWN = {").nth(1).unwrap().split('}').next().unwrap();
    let names = own.split("=>").filter_map(|part| part.rsplit('"').nth(1));
    // The name by which `docker-api` is required is a file's.
    let mut names: Vec<&str> = names.filter(|name| *name != "docker").collect();
    names.pop();
    names.sort_unstable();
    assert_eq!(names, types::gem_package::RUNTIME_GEMS);
}
