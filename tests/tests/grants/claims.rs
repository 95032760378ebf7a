//! What the reference says of properties: each that is said to need a grant of its own is asked for.

use super::{Bench, json};
use schema::ResourceType;
use schema::property::{Deputy, Property};
use serde_json::{Value, json as literal};
use specs::{Network, Root};
use std::fs;

/// Types whose properties are asked for one by one. Others are a part of a file, a command or an account that is asked for whole.
const KINDS: [&str; 7] = ["apt_repository", "dnf_package", "execute", "git", "http_request", "mount", "rpm_package"];

/// Properties that need the command `git`, whatever their values are.
const OF_GIT: [&str; 2] = ["environment", "ssh_wrapper"];

/// Returns a value for a property, in Ruby, that has a word which nothing else has.
fn value(kind: &ResourceType, property: &Property, word: &str) -> Option<String> {
    let text = match property.deputy {
        Deputy::Host => format!("https://{word}.example/x"),
        Deputy::Path | Deputy::ReadPath | Deputy::Command => format!("/srv/{word}"),
        _ => word.to_owned(),
    };
    let values: [(Value, String); 3] = [
        (literal!(text), format!("'{text}'")),
        (literal!([text]), format!("['{text}']")),
        (literal!({ word: text }), format!("{{ '{word}' => '{text}' }}")),
    ];
    let fits = |value: &Value| schema::validate_one(kind.name, "x", property.name, value.clone()).is_ok();
    values.into_iter().find(|(value, _)| fits(value)).map(|(_, ruby)| ruby)
}

/// What else a type needs to come as far as its own property, in Ruby.
fn others(kind: &str) -> &'static [(&'static str, &'static str)] {
    match kind {
        "apt_repository" => &[("uri", "'http://127.0.0.1:1/'"), ("key", "'ABCDEF01'"), ("keyserver", "'keys.example'")],
        "execute" => &[("command", "'false'")],
        "git" => &[("repository", "'https://a.example/none'"), ("destination", "'/srv/checkout'")],
        "http_request" => &[("url", "'http://127.0.0.1:1/'")],
        "mount" => &[("device", "'/dev/none'"), ("fstype", "'ext4'")],
        _ => &[],
    }
}

#[test]
fn attack_each_property_that_is_said_to_need_a_grant_is_asked_for() {
    let (mut recipe, mut asked) = (String::new(), vec![]);
    for kind in schema::builtin().filter(|kind| KINDS.contains(&kind.name)) {
        let is_own = |property: &&Property| property.deputy.word().is_some() && !OF_GIT.contains(&property.name);
        for property in kind.own_properties().filter(is_own) {
            let word = format!("sentinel{}", asked.len());
            let Some(value) = value(kind, property, &word) else { continue };
            let others = others(kind.name).iter().filter(|(name, _)| *name != property.name);
            let others: String = others.map(|(name, value)| format!("{name}({value}); ")).collect();
            recipe += &format!(
                "begin; {}('r{}') {{ ignore_failure true; {others}{}({value}) }}; rescue StandardError; end\n",
                kind.name,
                asked.len(),
                property.name
            );
            asked.push((kind.name, property.name, word));
        }
    }
    let (bench, root) = (Bench::new(&recipe), Root::new().unwrap());
    let machine = root.machine(Network::Own).unwrap();
    fs::write(bench.grants(), "").unwrap();
    let run = json(&bench.converge(&machine, &["--format", "json", "--why-run"]));
    let denials = run.get("denials").unwrap().to_string();
    let is_told = |word: &str| denials.split(word).skip(1).any(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()));
    let silent: Vec<_> =
        asked.iter().filter(|(.., word)| !is_told(word)).map(|(kind, name, _)| format!("{kind} {name}")).collect();
    assert_eq!(silent, [""; 0]);
    assert!(asked.len() > 15, "{}", asked.len());
}
