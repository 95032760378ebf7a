//! Releases from archives of `chef export -a`, what groups run, and whether it can be built again.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, and helpers are not tests to the lints")]

use serde_json::Value;
use specs::Place;
use std::fs;

/// A Policyfile with a cookbook that writes a file, and a repository with its team.
fn place() -> Place {
    let place = Place::new();
    place.write("Policyfile.rb", "name 'web'\nrun_list 'web'\ncookbook 'web', path: 'c/web'\n");
    place.write("c/web/metadata.rb", "name 'web'\nversion '1.0.0'\n");
    place.write("c/web/recipes/default.rb", "file '/tmp/web' do\n  content 'web'\nend\n");
    fs::create_dir_all(place.folder.join("root/tmp")).unwrap();
    place.works("repository init /srv --team web");
    place
}

/// The JSON that the program prints.
fn printed(place: &Place, line: &str) -> Value {
    serde_json::from_str(&place.output(line).stdout).unwrap()
}

/// Exports the locked policy and returns the archive's path.
fn export(place: &Place, folder: &str) -> String {
    place.works("policy update /Policyfile.rb");
    place.works(&format!("policy export /Policyfile.rb /{folder} -a"));
    let name = fs::read_dir(place.folder.join(folder)).unwrap().next().unwrap().unwrap().file_name();
    format!("/{folder}/{}", name.to_str().unwrap())
}

#[test]
fn an_archive_is_released_and_runs_as_its_team_has_signed_it() {
    let place = place();
    let archive = export(&place, "out");
    let pushed = place.output(&format!("policy push-archive prod {archive} --repository /srv"));
    let digest =
        pushed.stdout.lines().find_map(|line| line.strip_prefix("the archive has the SHA-256 ")).unwrap().to_owned();
    assert!(
        pushed.stdout.contains("policy web, revision") && pushed.stdout.contains("group prod: released"),
        "{}",
        pushed.stdout
    );
    assert_eq!((pushed.lines_with_a_revision().count(), pushed.revisions_without_artifact()), (1, vec![]));
    let lock: Value =
        serde_json::from_str(&fs::read_to_string(place.folder.join("Policyfile.lock.json")).unwrap()).unwrap();
    let shown = printed(&place, "policy show --group prod --policy web --repository /srv --format json");
    assert_eq!((&shown["revision"], &shown["archive"]), (&lock["revision_id"], &digest.clone().into()));
    assert_eq!((&shown["release"]["group"], &shown["release"]["team"]), (&"prod".into(), &"web".into()));
    let text = place.output("policy show --group prod --policy web --repository /srv").stdout;
    assert!(text.contains("the cookbooks' identifiers are its statement"), "{text}");
    let run = "converge --repository /srv --root /root --allow-all --node-name n1 --policy-name web --policy-group";
    place.works(&format!("{run} prod"));
    assert_eq!(fs::read_to_string(place.folder.join("root/tmp/web")).unwrap(), "web");
    place.works(&format!("policy push-archive staging {archive} --sha256 {digest} --repository /srv"));
    place.fails(
        &format!("policy push-archive staging {archive} --sha256 {} --repository /srv", "0".repeat(64)),
        &["its SHA-256 is"],
    );
    let all = printed(&place, "policy show --repository /srv --format json");
    let groups: Vec<_> = all["groups"].as_array().unwrap().iter().map(|one| one["group"].as_str().unwrap()).collect();
    assert_eq!(groups, ["prod", "staging"]);
    let text = place.output("policy show --repository /srv").stdout;
    assert!(text.contains("web  prod     revision"), "{text}");
    // The folder that was exported has the same files but for its metadata.
    place.works("policy push canary /Policyfile.rb --repository /srv");
    place.works(&format!("policy push-archive canary {archive} --repository /srv"));
}

#[test]
fn an_archive_with_other_files_than_its_revision_was_released_with_is_refused() {
    let place = place();
    let archive = export(&place, "out");
    place.works(&format!("policy push-archive prod {archive} --repository /srv"));
    let path = place.folder.join(archive.trim_start_matches('/'));
    let mut unpacked = vec![];
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(fs::File::open(&path).unwrap()), &mut unpacked)
        .unwrap();
    let text = b"content 'web'";
    let at = unpacked.windows(text.len()).position(|window| window == text).unwrap();
    unpacked[at..at + text.len()].copy_from_slice(b"content 'bad'");
    let mut packed = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, &unpacked).unwrap();
    fs::write(place.folder.join("bad.tgz"), packed.finish().unwrap()).unwrap();
    place.fails(
        "policy push-archive staging /bad.tgz --repository /srv",
        &["the group prod runs the revision", "with other files than this archive has"],
    );
}

#[test]
fn what_differs_is_named_when_a_policy_is_built_again() {
    let place = place();
    place.write("web/policy.toml", "name = \"web\"\nrun_list = [\"web\"]\n");
    place.write("web/cookbooks/web/metadata.rb", "name 'web'\nversion '1.0.0'\n");
    place.write("web/cookbooks/web/recipes/default.rb", "log 'web'\n");
    place.works("policy push prod /web --repository /srv");
    let same = place.output("policy verify /web prod --rebuild --repository /srv").stdout;
    assert!(same.contains("runs what is built from it, byte by byte"), "{same}");
    place.write("web/policy.toml", "name = \"web\"\nrun_list = [\"web\"]\n[needs]\npackages = [\"nginx\"]\n");
    place.fails(
        "policy verify /web prod --rebuild --repository /srv",
        &["runs this revision as the artifact", "- `[needs]` differ"],
    );
    place.fails(
        "policy verify /web canary --repository /srv",
        &["has not released the policy \"web\" to the group \"canary\""],
    );
}
