//! A Chef server as a source: its cookbooks, the locks of its policies, and whom wrun signs requests for.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and helpers are not tests to the lints"
)]

#[path = "support/stated.rs"]
mod support;

use artifact::lock::{CookbookIdentifier, FileChecksum};
use serde_json::{Value, json};
use specs::chef_signature::{Received, verify};
use specs::server::Request;
use specs::{Answer, Place, Server};
use std::collections::BTreeMap;
use std::fs;
use std::ops::Deref;
use std::path::PathBuf;
use support::stated;

/// The address of the organization on the server.
const ORGANIZATION: &str = "/organizations/acme";

fn vectors() -> Value {
    let folder =
        std::env::var("WRUN_VECTORS").unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/vectors").to_owned());
    let text = fs::read_to_string(PathBuf::from(folder).join("signed_requests.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn lower(headers: &Value) -> BTreeMap<String, String> {
    let headers = headers.as_object().unwrap().iter();
    headers.map(|(name, value)| (name.to_lowercase(), value.as_str().unwrap().to_owned())).collect()
}

/// The judge of these tests judges as mixlib-authentication and the Chef server's own verifier do. Of the vectors those of
/// version 1.3 apply: wrun signs with no other, so the judge takes no other.
#[test]
fn the_judge_of_signatures_judges_as_chef_does() {
    let vectors = vectors();
    let (mut passed, mut failed) = (0, vec![]);
    let lists = ["verify", "captured"].into_iter().flat_map(|list| vectors[list].as_array().unwrap());
    for case in lists.filter(|case| case["headers"]["X-Ops-Sign"].as_str().unwrap_or_default().contains("version=1.3"))
    {
        let text = |key: &str| case[key].as_str().unwrap_or_default();
        let path = case["path"].as_str().or_else(|| text("target").split('?').next()).unwrap();
        let received =
            Received { method: text("method"), path, headers: &lower(&case["headers"]), body: text("body").as_bytes() };
        let key = vectors["keys"][text("verify_with_key")]["private"].as_str().unwrap();
        let verdict = verify(&received, key, text("now").parse().unwrap());
        let expected = match case["accept"].as_bool().unwrap_or(true) {
            true => Ok(()),
            false => Err(u16::try_from(case["status"].as_u64().unwrap()).unwrap()),
        };
        match verdict == expected {
            true => passed += 1,
            false => failed.push(format!("{}: {verdict:?}", text("name"))),
        }
    }
    println!("signed_requests.json: {passed} passed, {} failed", failed.len());
    assert!(failed.is_empty() && passed > 50, "{failed:#?}");
}

/// A Chef server with a store for files on another host, and a place for who uses it.
struct Served {
    place: Place,
    chef: Server,
    store: Server,
}

impl Deref for Served {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.place
    }
}

impl Served {
    fn new() -> Self {
        let (chef, store) = (Server::here().unwrap(), Server::here().unwrap());
        let served = Self { place: Place::new().with_name("@SERVER@", chef.address(ORGANIZATION)), chef, store };
        let keys = vectors()["keys"].clone();
        let ann = keys["ann"]["private"].as_str().unwrap().to_owned();
        served.write("ann.pem", &ann);
        served.write("ben.pem", keys["ben"]["private"].as_str().unwrap());
        served.chef.guard(move |request: &Request| {
            let path = request.path.split('?').next().unwrap_or_default();
            let received = Received { method: &request.method, path, headers: &request.headers, body: &request.body };
            let status = verify(&received, &ann, jiff::Timestamp::now()).err()?;
            let said = json!({"error": ["Invalid signature for user or client 'ann'"]}).to_string();
            Some(Answer { status, ..Answer::ok(said) })
        });
        served.settings("ann.pem");
        served
    }

    fn settings(&self, key: &str) {
        self.write_settings(&format!(
            "chef_server = \"{}\"\nchef_client_name = \"ann\"\nchef_client_key = \"{}\"\n",
            self.chef.address(ORGANIZATION),
            self.path(key)
        ));
    }

    /// Puts a cookbook on the server, below one of its addresses. The recipe lies in the store, all else on the server itself.
    fn cookbook(&self, below: &str, name: &str, version: &str, lists: bool) -> CookbookIdentifier {
        let metadata = json!({"name": name, "version": version, "dependencies": {}}).to_string();
        let files = [("metadata.json", metadata), ("recipes/default.rb", format!("log '{name} {version}'\n"))];
        let (mut entries, mut sums) = (vec![], vec![]);
        for (path, content) in files {
            let sum = FileChecksum::of(path, content.as_bytes());
            let stored = format!("/bookshelf/{}", sum.md5);
            let server = if path.starts_with("recipes") { &self.store } else { &self.chef };
            server.answer(&format!("{stored}?signature=x"), Answer::ok(content));
            let url = server.address(&format!("{stored}?signature=x"));
            entries
                .push(json!({"name": path, "path": path, "checksum": sum.md5, "specificity": "default", "url": url}));
            sums.push(sum);
        }
        // Two forms: one list since version 2 of the interface, before it one for each kind.
        let document = match lists {
            true => json!({"root_files": [entries[0]], "recipes": [entries[1]], "files": []}),
            false => json!({"all_files": entries}),
        };
        let identifier = CookbookIdentifier::of(&sums);
        let path = below.replace("@IDENTIFIER@", identifier.as_str());
        self.chef.answer(&format!("{ORGANIZATION}{path}"), Answer::ok(document.to_string()));
        identifier
    }
}

const POLICYFILE: &str = "name 'p'\ndefault_source :chef_server, '@SERVER@'\nrun_list 'app'\n";

/// Two cookbooks on the server, one in two versions.
fn served() -> Served {
    let place = Served::new();
    for (name, version, lists) in [("app", "1.0.0", true), ("lib", "1.0.0", false), ("lib", "2.0.0", false)] {
        place.cookbook(&format!("/cookbooks/{name}/{version}"), name, version, lists);
    }
    let version = |dependencies: Value| json!({"location_type": "chef_server", "dependencies": dependencies});
    let universe = json!({
        "app": {"1.0.0": version(json!({"lib": "~> 1.0"}))},
        "lib": {"1.0.0": version(json!({})), "2.0.0": version(json!({})), "3.0.0": version(json!({"app": "x"}))},
    });
    place.chef.answer(&format!("{ORGANIZATION}/universe"), Answer::ok(universe.to_string()));
    place.write("Policyfile.rb", POLICYFILE);
    place
}

#[test]
fn a_policy_is_locked_and_installed_from_a_chef_server() {
    let place = served();
    let said = place.output("policy install /Policyfile.rb").stderr;
    assert!(said.contains("cookbook lib 3.0.0 is left out"), "{said}");
    let uri = place.chef.address(ORGANIZATION);
    let lock = place.json("Policyfile.lock.json");
    let lib = &lock["cookbook_locks"]["lib"];
    assert_eq!(lib["source_options"], json!({"chef_server": uri, "version": "1.0.0"}));
    assert_eq!((&lib["cache_key"], &lib["origin"]), (&json!("lib-1.0.0"), &json!(uri)));
    // The store on another host gets no signature of the server's client.
    let of_store = place.store.requests();
    assert!(of_store.len() == 2 && of_store.iter().all(|one| one.headers.keys().all(|key| !key.starts_with("x-ops"))));
    let asked = place.chef.requests().len();
    place.works("policy install /Policyfile.rb");
    place.works("policy export /Policyfile.rb /exported");
    place.works("policy build / --output /out");
    assert_eq!(place.chef.requests().len(), asked, "what is in the cache is not asked for again");
    place.write("one.rb", "name 'o'\nrun_list 'lib'\ncookbook 'lib', chef_server: '@SERVER@', version: '2.0.0'\n");
    place.works("policy install /one.rb");
    assert_eq!(place.json("one.lock.json")["cookbook_locks"]["lib"]["version"], "2.0.0");
}

#[test]
fn requests_are_signed_for_the_server_of_the_settings_alone() {
    let place = served();
    place.settings("ben.pem");
    place.fails(
        "policy install /Policyfile.rb",
        &["Policyfile.rb:2: ", "status 401: Invalid signature for user or client 'ann'; is ann the name of a client"],
    );
    place.settings("gone.pem");
    place.fails("policy install /Policyfile.rb", &["gone.pem of the client ann: No such file"]);
    place.settings("Policyfile.rb");
    place.fails("policy install /Policyfile.rb", &["it has no `-----BEGIN RSA PRIVATE KEY-----`"]);
    place.settings("ann.pem");
    // A stranger's Policyfile names a server of his own, which would use the signatures elsewhere.
    let other = Server::here().unwrap();
    place.write("other.rb", &POLICYFILE.replace("@SERVER@", &other.address(ORGANIZATION)));
    place.fails("policy install /other.rb", &["other.rb:2: ", "is not on the Chef server of the settings"]);
    assert!(other.requests().is_empty());
    // A redirect takes no signature along.
    place.chef.answer(&format!("{ORGANIZATION}/universe"), Answer::redirect(other.address("/universe")));
    other.answer("/universe", Answer::ok("{}"));
    place.fails("policy install /Policyfile.rb", &["no source has cookbook app"]);
    assert!(other.requests().iter().all(|one| one.headers.keys().all(|key| !key.starts_with("x-ops"))));
    let settings = format!("chef_server = \"{}\"\nnode_name = \"ann\"\n", place.chef.address(ORGANIZATION));
    place.write_settings(&settings);
    place.fails("policy install /Policyfile.rb", &["and no `chef_client_key`"]);
    place.write_settings("");
    place.fails("policy install /Policyfile.rb", &["the settings name no Chef server"]);
}

#[test]
fn a_client_rb_names_the_server_and_the_key() {
    let place = served();
    let key = place.path("ann.pem");
    place.write("client.rb", &format!("chef_server_url '@SERVER@'\nnode_name 'ann'\nclient_key '{key}'\n"));
    place.write_settings("");
    place.works("settings import /client.rb --output /imported.toml");
    place.write_settings(&place.read("imported.toml"));
    place.works("policy install /Policyfile.rb");
}

#[test]
fn what_a_server_sends_is_held_against_what_it_says() {
    let place = served();
    let path = format!("{ORGANIZATION}/cookbooks/lib/1.0.0");
    let check = |entries: Value, part: &str| {
        place.chef.answer(&path, Answer::ok(json!({"all_files": entries}).to_string()));
        place.fails("policy install /Policyfile.rb", &[part]);
        assert!(!place.folder.join("Policyfile.lock.json").exists());
    };
    place.store.answer("/f", Answer::ok("x"));
    let url = place.store.address("/f");
    let md5 = FileChecksum::of("x", b"x").md5;
    let file = |path: &str, sum: &str| json!({"path": path, "url": url, "checksum": sum});
    check(json!([file("../x", &md5)]), "leads out of the cookbook");
    check(json!([file("/etc/x", &md5)]), "leads out of the cookbook");
    check(json!([file("x", "0")]), "its checksum is another");
    check(json!([file("x", &md5), file("x", &md5)]), "x is there twice");
    check(json!([{"path": "x", "checksum": md5}]), "has no `url`");
    check(json!([{"path": "x", "checksum": md5, "url": "file:///etc/passwd"}]), "is not an address");
    check(json!([file("x", &md5)]), "it has no cookbook in the folder of its name");
    place.chef.answer(&path, Answer::ok("no JSON"));
    place.fails("policy install /Policyfile.rb", &["/cookbooks/lib/1.0.0: "]);
    place.chef.answer(&path, Answer::status(404));
    place.fails("policy install /Policyfile.rb", &["does not have /cookbooks/lib/1.0.0"]);
}

/// A server with two revisions of the policy `base`; the first is the group's. Returns their ids.
fn with_policies() -> (Served, [String; 2]) {
    let place = Served::new();
    let revisions = ["1.0.0", "2.0.0"].map(|version| {
        let identifier = place.cookbook("/cookbook_artifacts/base/@IDENTIFIER@", "base", version, true);
        let lock = stated(json!({
            "name": "base", "run_list": ["recipe[base::default]"],
            "included_policy_locks": [], "default_attributes": {"base": version}, "override_attributes": {},
            "cookbook_locks": {"base": {
                "version": version, "identifier": identifier.as_str(),
                "cache_key": null, "source": "cookbooks/base", "scm_info": null, "source_options": {"path": "cookbooks/base"},
            }},
            "solution_dependencies": {
                "Policyfile": [["base", ">= 0.0.0"]], "dependencies": {format!("base ({version})"): []},
            },
        }));
        let revision = lock["revision_id"].as_str().unwrap().to_owned();
        let path = format!("{ORGANIZATION}/policies/base/revisions/{revision}");
        place.chef.answer(&path, Answer::ok(lock.to_string()));
        revision
    });
    release(&place, &revisions[0]);
    (place, revisions)
}

/// Makes a revision the one of the group `prod`.
fn release(place: &Served, revision: &str) {
    let path = format!("{ORGANIZATION}/policies/base/revisions/{revision}");
    let lock = place.chef.answered(&path).unwrap();
    place.chef.answer(&format!("{ORGANIZATION}/policy_groups/prod/policies/base"), lock);
}

#[test]
fn a_policy_of_a_server_is_included_and_stays_at_its_revision() {
    let (place, [first, second]) = with_policies();
    let uri = place.chef.address(ORGANIZATION);
    place.write(
        "Policyfile.rb",
        "name 'p'\nrun_list 'base'\ninclude_policy 'base', server: '@SERVER@', policy_group: 'prod'\n",
    );
    place.works("policy install /Policyfile.rb");
    let lock = place.json("Policyfile.lock.json");
    assert_eq!(lock["default_attributes"], json!({"base": "1.0.0"}));
    let options = json!({"server": uri, "policy_group": "prod", "policy_name": "base", "policy_revision_id": first});
    assert_eq!(lock["included_policy_locks"][0]["source_options"], options);
    let base = &lock["cookbook_locks"]["base"];
    let artifact = json!({"chef_server_artifact": uri, "identifier": base["identifier"]});
    assert_eq!(base["source_options"], artifact);
    let key = format!("base-{}", base["identifier"].as_str().unwrap());
    assert_eq!((&base["cache_key"], &base["origin"]), (&json!(key), &json!(uri)));
    // The group's revision is another one now. It is taken where somebody says so.
    release(&place, &second);
    place.works("policy update /Policyfile.rb");
    assert_eq!(place.json("Policyfile.lock.json")["cookbook_locks"]["base"]["version"], "1.0.0");
    place.works("policy update /Policyfile.rb --include base");
    assert_eq!(place.json("Policyfile.lock.json")["cookbook_locks"]["base"]["version"], "2.0.0");
    place.works("policy export /Policyfile.rb /exported");
    place.write(
        "other.rb",
        &format!(
            "name 'o'\nrun_list 'base'\ninclude_policy 'b', server: '@SERVER@', policy_name: 'base', policy_revision_id: '{first}'\n"
        ),
    );
    place.works("policy install /other.rb");
    assert_eq!(place.json("other.lock.json")["cookbook_locks"]["base"]["version"], "1.0.0");
    place.write("none.rb", "name 'o'\nrun_list 'x'\ninclude_policy 'x', server: '@SERVER@', policy_group: 'prod'\n");
    place.fails(
        "policy install /none.rb",
        &["none.rb:3: include_policy \"x\": ", "has no lock of the policy x for the group prod"],
    );
    place.write("bad.rb", "name 'o'\nrun_list 'x'\ninclude_policy '../x', server: '@SERVER@', policy_group: 'prod'\n");
    place.fails("policy install /bad.rb", &["bad.rb:3: ", "is not a name on a Chef server"]);
}

#[test]
fn a_server_that_sends_something_else_than_was_locked_is_refused() {
    let (place, [first, second]) = with_policies();
    place.write(
        "Policyfile.rb",
        "name 'p'\nrun_list 'base'\ninclude_policy 'base', server: '@SERVER@', policy_group: 'prod'\n",
    );
    let lock: Value = serde_json::from_slice(
        &place.chef.answered(&format!("{ORGANIZATION}/policies/base/revisions/{first}")).unwrap().body,
    )
    .unwrap();
    let identifier = lock["cookbook_locks"]["base"]["identifier"].as_str().unwrap();
    let path = format!("/cookbook_artifacts/base/{identifier}");
    place.cookbook(&path, "base", "1.0.1", true);
    let part = format!("and not {identifier}");
    place.fails("policy install /Policyfile.rb", &["Policyfile.rb:3: ", "has sent files of the cookbook base", &part]);
    place.cookbook(&path, "base", "1.0.0", false);
    place.works("policy install /Policyfile.rb");
    // Another lock under the revision that was asked for.
    let other = place.chef.answered(&format!("{ORGANIZATION}/policies/base/revisions/{second}")).unwrap();
    place.chef.answer(&format!("{ORGANIZATION}/policies/base/revisions/{first}"), other);
    place.fails("policy update /Policyfile.rb", &["as it was asked for"]);
}
