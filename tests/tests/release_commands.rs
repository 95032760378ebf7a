//! What the commands of releases say: promoting, signing and verifying, which revision and which artifact.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use specs::{Output, ThreeTeams};
use std::collections::BTreeMap;
use std::fs;

/// The id of a release that waits for signatures, as the push names it.
fn waiting(pushed: &Output) -> String {
    pushed.stdout.rsplit("wrun policy sign ").next().unwrap().trim_end_matches(['`', '\n']).to_owned()
}

/// The same document with the keys of all objects in order, which is the form that is signed.
fn in_order(document: &Value) -> Value {
    match document {
        Value::Object(object) => {
            let ordered: BTreeMap<_, _> = object.iter().map(|(key, value)| (key.clone(), in_order(value))).collect();
            Value::Object(ordered.into_iter().collect())
        }
        Value::Array(items) => items.iter().map(in_order).collect(),
        other => other.clone(),
    }
}

#[test]
fn runtime_native_a_revision_is_promoted_signed_and_verified() {
    let place = ThreeTeams::new();
    place.init();
    place.push("staging");
    let promoted = place.output("policy promote staging prod --policy core");
    assert!(promoted.stdout.contains("the group prod runs nothing of core yet"), "{}", promoted.stdout);
    place.recipe("core", "2");
    place.fails("policy verify /core", &["no longer fits what it locks"]);
    fs::remove_file(place.folder.join("core/policy.lock.json")).unwrap();
    place.works("policy push staging /core");
    place.works("policy verify /core staging");
    place.fails(
        "policy verify /core prod",
        &["the group prod runs revision ", ", artifact ", "and the lock has revision "],
    );
    let promoted = place.output("policy promote staging prod --policy core");
    assert!(
        promoted.stdout.contains("MODIFIED COOKBOOKS") && promoted.stdout.contains("released"),
        "{}",
        promoted.stdout
    );
    assert!(place.output("policy promote staging prod --policy core").stdout.contains("runs this revision already"));
    place.works("policy verify /core prod");
    place.fails(
        "policy promote staging prod --policy core --revision 123",
        &["runs revision ", ", artifact ", "and not the revision 123"],
    );
    place.converge(" --policy-group prod --policy-name core");
    assert!(place.file("core").starts_with("2 core prod"));
    let checked = place.output("repository check");
    assert_eq!(checked.stdout.matches(": good until").count(), 4, "{}", checked.stdout);
    let keys = place.needs_a_second_key("core");
    let pushed = place.output("policy push staging /core");
    assert!(pushed.stdout.contains("waits for signatures, 1 of 2"), "{}", pushed.stdout);
    let id = waiting(&pushed);
    let listed = place.output("policy sign").stdout;
    assert!(
        listed.contains(&id) && listed.contains("nothing -> revision ") && listed.contains(" (artifact "),
        "{listed}"
    );
    // The second one builds it and looks whether it is what waits.
    let verified = place.output(&format!("policy verify /core staging --pending {id}"));
    assert!(verified.stdout.contains("gives it to the group staging"), "{}", verified.stdout);
    place.fails(&format!("policy verify /core prod --pending {id}"), &["gives the group prod no core"]);
    place.fails(&format!("policy sign {}", id.get(..12).unwrap()), &["no release", "waits for signatures"]);
    keys.come_back();
    let signed = place.output(&format!("policy sign {id}"));
    assert!(signed.stdout.contains("policy core, group staging: nothing -> "), "{}", signed.stdout);
    assert!(signed.stdout.contains(": prod/core") || signed.stdout.contains("released"), "{}", signed.stdout);
    place.converge(" --policy-name core");
}

/// The revision leaves a policy's own code out, so that whoever releases, promotes or compares needs the artifact too.
#[test]
fn runtime_native_every_line_of_a_release_that_names_a_revision_names_the_artifact() {
    let place = ThreeTeams::new();
    place.init();
    let mut said = vec![
        place.output("policy push staging /core"),
        place.output("policy promote staging prod --policy core"),
        place.output("policy show --group staging --policy core"),
        place.output("policy show --group staging"),
    ];
    place.change("core", "2");
    said.extend([
        place.output("policy push staging /core"),
        place.output("policy diff /core/policy.toml --group staging...prod"),
        place.run("policy verify /core prod"),
        place.run("policy promote staging prod --policy core --revision 123"),
        place.output("policy promote staging prod --policy core"),
        place.output("policy verify /core prod"),
        place.output("repository check"),
    ]);
    // A second key has to sign from now on, and is elsewhere at first.
    let keys = place.needs_a_second_key("core");
    place.change("core", "3");
    let pushed = place.output("policy push staging /core");
    let id = waiting(&pushed);
    said.extend([pushed, place.output("policy sign")]);
    said.push(place.output(&format!("policy verify /core staging --pending {id}")));
    keys.come_back();
    said.push(place.output(&format!("policy sign {id}")));
    place.works("policy promote staging prod --policy core");
    said.push(place.output("policy clean core"));
    assert!(said.iter().map(|output| output.lines_with_a_revision().count()).sum::<usize>() >= 9, "{said:#?}");
    let alone: Vec<_> = said.iter().flat_map(Output::revisions_without_artifact).collect();
    assert!(alone.is_empty(), "{alone:#?}");
}

#[test]
fn a_group_is_shown_with_all_its_policies_outside_of_a_policys_folder() {
    let place = ThreeTeams::new();
    place.init();
    place.push("staging");
    place.works("policy push prod /core");
    let shown = place.output("policy show --group staging").stdout;
    assert!(shown.lines().count() == 3 && shown.lines().all(|line| line.contains("  staging  ")), "{shown}");
    let shown = place.output("policy show --group prod").stdout;
    assert!(shown.lines().count() == 1 && shown.starts_with("core "), "{shown}");
    let nothing = place.output("policy show --group test");
    assert!(nothing.stderr.contains("nothing has been released to the group test"), "{}", nothing.text());
    let one = place.output("policy show --group staging --policy core").stdout;
    assert!(one.starts_with("Policy core"), "{one}");
}

#[test]
fn a_repository_of_one_team_is_said_to_have_one() {
    let place = ThreeTeams::new();
    let said = place.output("repository init /srv --team core").text();
    assert!(said.contains(": a repository with 1 team\n"), "{said}");
}

/// Whoever signs sees what the release takes away, and whether anybody of the team made it.
#[test]
fn who_signs_is_told_what_goes_and_that_nobody_has_signed() {
    let place = ThreeTeams::new();
    place.init();
    place.push("staging");
    let keys = place.needs_a_second_key("core");
    keys.come_back();
    place.works("policy push staging /core");
    keys.go_away();
    place.change("core", "2");
    let id = waiting(&place.output("policy push staging /core"));
    // A stranger who can write into the folder leaves a release without anything in it.
    let pending = place.folder.join("srv/teams/core/pending");
    let path = pending.join(format!("{id}.json"));
    let mut document: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let kept = document["signed"]["targets"].as_object().unwrap().keys().next().unwrap().clone();
    document["signatures"] = serde_json::json!([]);
    document["signed"]["targets"] = serde_json::json!({});
    let forged = text::hex(Sha256::digest(in_order(&document["signed"]).to_string()));
    fs::write(pending.join(format!("{forged}.json")), document.to_string()).unwrap();
    keys.come_back();
    let listed = place.output("policy sign");
    let of_forged = listed.stdout.split(&forged).nth(1).unwrap_or_default();
    assert!(of_forged.contains("(team core), signed by 0 keys, "), "{}", listed.text());
    assert!(of_forged.contains("policy core, group staging: revision "), "{}", listed.text());
    assert!(of_forged.contains(" -> nothing"), "{}", listed.text());
    assert!(listed.stdout.contains(" is removed"), "{kept}: {}", listed.text());
    let warning = "warning: no key of the team core has signed it: anybody may have left it there";
    assert_eq!(listed.stderr.matches(warning).count(), 1, "{}", listed.text());
    // The one that the team has made is signed all the same.
    let signed = place.output(&format!("policy sign {id}"));
    assert!(signed.stdout.contains("released") && !signed.stdout.contains("is removed"), "{}", signed.text());
}

/// Whoever signs decides by these words: each line, and nothing else.
#[test]
fn attack_policy_sign_says_word_by_word_what_a_release_changes() {
    let place = ThreeTeams::new();
    place.init();
    assert_eq!(place.output("policy sign").stdout, "no release waits for signatures\n");
    let keys = place.needs_a_second_key("core");
    let first = waiting(&place.output("policy push staging /core"));
    let pending = |id: &str| -> Value {
        let path = place.folder.join(format!("srv/teams/core/pending/{id}.json"));
        serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
    };
    let shown = |id: &str| {
        let listed = place.output("policy sign");
        assert_eq!(listed.stderr, "", "{}", listed.text());
        let mut lines = listed.stdout.lines().map(str::to_owned);
        let expires = pending(id)["signed"]["expires"].as_str().unwrap().to_owned();
        assert_eq!(lines.next().unwrap(), format!("{id} (team core), signed by 1 key, good until {expires}"));
        lines.collect::<Vec<_>>()
    };
    let lines = shown(&first);
    let document = pending(&first);
    let paths = document["signed"]["targets"].as_object().unwrap().keys();
    // What is released is named by its digest.
    let digest = paths.filter_map(|path| path.strip_prefix("revisions/core/")?.split('.').next()).next().unwrap();
    let [line] = lines.as_slice() else { panic!("{lines:#?}") };
    let rest = line.strip_prefix("  policy core, group staging: nothing -> revision ").unwrap();
    let (revision, rest) = rest.split_once(' ').unwrap();
    assert_eq!(rest, format!("(artifact {digest})"));
    assert!(revision.len() == 12 && revision.bytes().all(|byte| byte.is_ascii_hexdigit()), "{revision}");
    keys.come_back();
    let signed = place.output(&format!("policy sign {first}"));
    let says = signed.stdout.lines().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(says.len(), 3, "{says:#?}");
    assert_eq!(says[1..2], lines, "the one that is signed is shown in the same words");
    assert!(says[2].contains("released"), "{says:#?}");
    assert_eq!(place.output("policy sign").stdout, "no release waits for signatures\n");
}
