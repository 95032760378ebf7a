//! Artifacts: what is written is what is opened, and nothing else is.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::Path;

use artifact::lock::{CookbookIdentifier, FileChecksum};
use artifact::{Artifact, ArtifactError, CONTRACT, CookbookEntry, Language, Manifest, ManifestParts, Needs, Runtime};
use contract::{CookbookFiles as _, FileError};
use serde_json::json;
use wasm_encoder::{
    Component, ComponentImportSection, ComponentSection as _, ComponentTypeRef, ComponentTypeSection, CustomSection,
    InstanceType,
};

/// A component that imports one interface.
fn component(import: &str) -> Vec<u8> {
    let mut types = ComponentTypeSection::new();
    types.instance(&InstanceType::new());
    let mut imports = ComponentImportSection::new();
    imports.import(import, ComponentTypeRef::Instance(0));
    let mut component = Component::new();
    component.section(&types).section(&imports);
    component.finish()
}

fn turns() -> Vec<u8> {
    component("wrun:turns/turns@0.2.0")
}

fn cookbook(name: &str, version: &str, dependencies: &[&str]) -> CookbookEntry {
    CookbookEntry {
        name: name.into(),
        version: version.into(),
        identifier: CookbookIdentifier::of(&[FileChecksum::of(name, b"")]).to_string(),
        dependencies: dependencies.iter().map(|name| ((*name).to_owned(), ">= 0.0.0".to_owned())).collect(),
        language: Language::Rust,
    }
}

fn parts() -> ManifestParts {
    ManifestParts {
        name: "core".into(),
        run_list: vec!["recipe[motd::default]".into()],
        named_run_lists: vec![
            ("second".into(), vec!["recipe[ntp::server]".into()]),
            ("first".into(), vec!["recipe[motd::default]".into(), "recipe[ntp::default]".into()]),
        ],
        cookbooks: vec![cookbook("ntp", "1.2.0", &[]), cookbook("motd", "0.1.0", &["ntp"])],
        default_attributes: json!({"z": {"b": 1, "a": [null, 2.5]}, "a": "x"}).as_object().unwrap().clone(),
        override_attributes: serde_json::Map::new(),
        attribute_lines: BTreeMap::new(),
        needs: Needs::parse("[needs]\npaths = [\"/etc/motd\"]\nclock = true\n", "policy.toml").unwrap(),
        runtime: Runtime::Rust,
        gems: None,
    }
}

fn manifest() -> Manifest {
    Manifest::new(parts()).unwrap()
}

fn files() -> Vec<(String, Vec<u8>)> {
    let paths = [
        "motd/templates/motd.j2",
        "motd/Cargo.toml",
        "motd/templates/default/b",
        "ntp/files/x",
        "motd/templates-old/c",
    ];
    paths.iter().map(|path| ((*path).to_owned(), format!("content of {path}").into_bytes())).collect()
}

fn artifact() -> Artifact {
    let bytes = artifact::write(&turns(), &manifest(), &files()).unwrap();
    Artifact::from_bytes(Path::new("core.wasm"), bytes).unwrap()
}

#[test]
fn what_is_written_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("core.wasm");
    std::fs::write(&path, artifact::write(&turns(), &manifest(), &files()).unwrap()).unwrap();
    let artifact = Artifact::open(&path).unwrap();
    assert_eq!(artifact.manifest(), &manifest());
    assert_eq!(artifact.manifest().runtime, Runtime::Rust);
    assert_eq!(artifact.manifest().contract, CONTRACT);
    assert_eq!(
        serde_json::to_string(&artifact.manifest().default_attributes).unwrap(),
        r#"{"z":{"b":1,"a":[null,2.5]},"a":"x"}"#,
        "attributes keep their order"
    );
    let names: Vec<&str> = artifact.manifest().named_run_lists.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["second", "first"], "their order is part of the revision");
    assert_eq!(artifact.component(), turns());
    assert_eq!((artifact.path(), artifact.digest().len()), (path.as_path(), 64));
    wasmparser::validate(artifact.bytes()).expect("an artifact is a valid component as it stands");
}

#[test]
fn the_same_input_makes_the_same_bytes() {
    let bytes = artifact::write(&turns(), &manifest(), &files()).unwrap();
    let mut other_order = files();
    other_order.reverse();
    assert_eq!(artifact::write(&turns(), &manifest(), &other_order).unwrap(), bytes);
    let mut changed = files();
    changed[0].1.push(b'!');
    let changed = artifact::write(&turns(), &manifest(), &changed).unwrap();
    let changed = Artifact::from_bytes(Path::new("core.wasm"), changed).unwrap();
    assert_ne!(changed.digest(), artifact().digest());
    assert_eq!(changed.component(), artifact().component(), "a changed template compiles nothing");
}

#[test]
fn files_are_served_by_cookbook() {
    let artifact = artifact();
    let versions = artifact.cookbooks();
    assert_eq!(versions, [("ntp".to_owned(), "1.2.0".to_owned()), ("motd".to_owned(), "0.1.0".to_owned())]);
    let templates = ["templates/default/b", "templates/motd.j2"];
    assert_eq!(artifact.paths("motd", "templates").unwrap(), templates);
    assert_eq!(artifact.paths("motd", "templates/").unwrap(), templates);
    assert_eq!(artifact.paths("motd", "").unwrap().len(), 4);
    assert_eq!(artifact.paths("motd", "nothing").unwrap(), Vec::<String>::new());
    assert_eq!(artifact.paths("motd", "..").unwrap(), Vec::<String>::new());
    assert_eq!(artifact.read("ntp", "files/x").unwrap(), b"content of ntp/files/x");
    for path in ["files/y", "", "/etc/passwd", "../motd/Cargo.toml", "files"] {
        let Err(FileError::NoSuchFile(text)) = artifact.read("ntp", path) else { panic!("{path}") };
        assert!(text.starts_with("cookbook ntp (1.2.0) has no file "), "{text}");
    }
    let Err(FileError::NoSuchFile(text)) = artifact.read("motd", "templates/modt.j2") else { panic!() };
    assert!(text.ends_with("in \"templates\" it has templates/default/b, templates/motd.j2"), "{text}");
    let Err(FileError::NoSuchCookbook(text)) = artifact.read("nginx", "x") else { panic!() };
    assert_eq!(text, "policy core has no cookbook \"nginx\"; it has ntp, motd");
}

#[track_caller]
fn check_refused(bytes: Vec<u8>, expect: &str) {
    let error = Artifact::from_bytes(Path::new("/p/core.wasm"), bytes).unwrap_err().to_string();
    assert!(error.starts_with("/p/core.wasm ") && error.contains(expect), "{error}");
}

#[test]
fn what_is_no_artifact_is_refused_with_what_it_is() {
    check_refused(vec![], "is not a policy: it is empty; make one with `wrun policy build`");
    check_refused(b"#!/bin/sh".to_vec(), "it is not WebAssembly");
    check_refused(wasm_encoder::Module::new().finish(), "it is a core WebAssembly module, not a component");
    check_refused(b"\0asm\x0d\0\x02\0".to_vec(), "it is WebAssembly of an unknown kind");
    check_refused(turns(), "is a component without a manifest; make a policy of it with `wrun policy build`");
}

#[test]
fn every_damaged_byte_is_found() {
    let bytes = artifact::write(&turns(), &manifest(), &files()).unwrap();
    for length in 0..bytes.len() {
        let error = Artifact::from_bytes(Path::new("core.wasm"), bytes[..length].to_vec()).unwrap_err();
        assert!(!error.to_string().is_empty());
        let mut changed = bytes.clone();
        changed[length] ^= 0x40;
        let error = Artifact::from_bytes(Path::new("core.wasm"), changed).unwrap_err();
        assert!(
            matches!(
                error,
                ArtifactError::Damaged { .. } | ArtifactError::NotComponent { .. } | ArtifactError::NoManifest { .. }
            ),
            "byte {length}: {error}"
        );
    }
    check_refused([&bytes[..], &bytes[8..]].concat(), "is damaged: it has more sections of wrun's than it may");
    let mut longer = bytes.clone();
    CustomSection { name: "x".into(), data: b"x"[..].into() }.append_to_component(&mut longer);
    check_refused(longer, "is damaged: its sections are not in their places; copy it again, or build it again");
}

/// Each costs some hundred bytes of memory, several times, and an artifact has room for millions.
#[test]
fn attack_values_and_sections_are_bounded_before_they_are_kept() {
    let many = |count: usize| vec![json!(0); count];
    let attributes = forged(&turns(), |manifest| manifest["default_attributes"] = json!({ "x": many(250_000) }));
    check_refused(attributes, "its manifest cannot be read: it has more than 250000 values");
    let needs = forged(&turns(), |manifest| manifest["needs"] = json!({ "packages": vec!["a"; 250_000] }));
    check_refused(needs, "its manifest cannot be read: it has more than 250000 values");
    let mut parts = parts();
    parts.default_attributes.insert("x".into(), many(250_000).into());
    let refused = artifact::write(&turns(), &Manifest::new(parts).unwrap(), &[]).unwrap_err().to_string();
    assert!(refused.contains("it has more than 250000 values"), "nobody writes what no node reads: {refused}");
    let mut sections = turns();
    for _ in 0..4 {
        CustomSection { name: "wrun:".into(), data: b""[..].into() }.append_to_component(&mut sections);
    }
    // What follows is not read any more.
    sections.extend([0xff; 3]);
    check_refused(sections, "it has more sections of wrun's than it may");
}

#[test]
fn other_contracts_are_named() {
    let other = component("wrun:cookbook/turns@0.1.0");
    let error = artifact::write(&other, &manifest(), &[]).unwrap_err().to_string();
    assert!(
        error.contains(
            "for the contract wrun:cookbook@0.1.0, but this wrun speaks wrun:policy@0.2.0; build the policy again"
        ),
        "{error}"
    );
    let newer = artifact::write(&component("wrun:node/attributes@0.3.0"), &manifest(), &[]).unwrap_err().to_string();
    assert!(newer.contains("for the contract wrun:policy@0.3.0, but this wrun speaks wrun:policy@0.2.0"), "{newer}");
    let error = Artifact::from_bytes(
        Path::new("/p/core.wasm"),
        forged(&turns(), |manifest| manifest["contract"] = json!("wrun:policy@1.0.0")),
    )
    .unwrap_err()
    .to_string();
    assert!(
        error.contains("for the contract wrun:policy@1.0.0") && error.contains("build the policy again"),
        "{error}"
    );
    let error = Artifact::from_bytes(Path::new("/p/core.wasm"), forged(&other, |_| {})).unwrap_err();
    assert!(matches!(error, ArtifactError::OtherContract { .. }), "{error}");
    let newer = forged(&turns(), |manifest| manifest["format"] = json!(2));
    check_refused(newer, "has a manifest of format 2, but this wrun reads formats up to 1");
}

/// An artifact whose digest is right and whose manifest is not: what somebody with a hex editor makes.
fn forged(component: &[u8], change: impl FnOnce(&mut serde_json::Value)) -> Vec<u8> {
    use sha2::Digest as _;
    let mut manifest = serde_json::to_value(manifest()).unwrap();
    change(&mut manifest);
    let good = artifact::write(&turns(), &self::manifest(), &files()).unwrap();
    let container = {
        let start = good.windows(10).position(|window| window == b"wrun:files").unwrap() + 10;
        let end = good.windows(11).rposition(|window| window == b"wrun:digest").unwrap();
        // Before the digest section's name stand its kind, its size and its name's length: one byte each.
        good[start..end - 3].to_vec()
    };
    let mut bytes = component.to_vec();
    let mut append = |name: &str, data: &[u8]| {
        CustomSection { name: name.into(), data: data.into() }.append_to_component(&mut bytes);
    };
    append("wrun:manifest", manifest.to_string().as_bytes());
    append("wrun:files", &container);
    let digest = sha2::Sha256::digest(&bytes);
    CustomSection { name: "wrun:digest".into(), data: digest[..].into() }.append_to_component(&mut bytes);
    bytes
}

#[test]
fn manifests_that_contradict_themselves_are_refused() {
    Artifact::from_bytes(Path::new("core.wasm"), forged(&turns(), |_| {})).expect("an honest forgery");
    let check = |change: &dyn Fn(&mut serde_json::Value), expect: &str| check_refused(forged(&turns(), change), expect);
    check(
        &|manifest| manifest["name"] = json!("other"),
        "is damaged: its manifest is not sound: its parts have the revision",
    );
    check(&|manifest| manifest["name"] = json!("../x"), "cannot be a policy's name");
    check(&|manifest| manifest["run_list"] = json!(["motd"]), "\"motd\" is not a `recipe[COOKBOOK::RECIPE]`");
    check(&|manifest| manifest["run_list"] = json!(["recipe[x::y]"]), "there is no cookbook \"x\"");
    check(&|manifest| manifest["cookbooks"][0]["name"] = json!("a/b"), "\"a/b\" cannot be a cookbook's name");
    check(&|manifest| manifest["cookbooks"][1]["name"] = json!("ntp"), "cookbook ntp is there twice");
    check(
        &|manifest| manifest["cookbooks"][1]["dependencies"]["x"] = json!("> 1"),
        "depends on \"x\", which is not there",
    );
    check(
        &|manifest| manifest["cookbooks"][0]["identifier"] = json!("1"),
        "has no identifier of 40 hexadecimal digits",
    );
    check(&|manifest| manifest["surprise"] = json!(1), "unknown field `surprise`");
    check(&|manifest| manifest["needs"] = json!(1), "its manifest cannot be read");
    check(&|manifest| manifest["needs"] = json!({ "beer": [] }), "unknown key `beer`");
    let fewer = |manifest: &mut serde_json::Value| {
        manifest["cookbooks"].as_array_mut().unwrap().pop();
    };
    check(&fewer, "there is no cookbook \"motd\"");
}

#[test]
fn policies_are_found_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let there = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    let error = artifact::find(folder.path(), "core").unwrap_err().to_string();
    assert!(error.contains("there is no policy \"core\" in ") && error.contains("there are none"), "{error}");
    there("core.wasm", artifact().bytes());
    there("copy.wasm", artifact().bytes());
    there("notes.txt", b"");
    assert_eq!(artifact::find(folder.path(), "core").unwrap().manifest().name, "core");
    assert_eq!(artifact::list(folder.path()).unwrap(), ["copy", "core"]);
    let error = artifact::find(folder.path(), "cor").unwrap_err().to_string();
    assert!(error.ends_with("there are copy, core"), "{error}");
    let error = artifact::find(folder.path(), "copy").unwrap_err().to_string();
    assert!(error.ends_with("holds policy \"core\", not \"copy\"; name the file core.wasm"), "{error}");
    for bad in ["", "..", "../core", "a b", "a/b", ".x"] {
        let error = artifact::find(folder.path(), bad).unwrap_err().to_string();
        assert!(error.contains("cannot be a policy's name"), "{error}");
    }
    let missing = folder.path().join("missing");
    assert!(matches!(artifact::find(&missing, "core").unwrap_err(), ArtifactError::NoFolder { .. }));
}

#[test]
fn components_are_made_policies_once() {
    let error = artifact::write(artifact().bytes(), &manifest(), &files()).unwrap_err().to_string();
    assert!(error.contains("it has a manifest already"), "{error}");
    let twice = [files(), files()].concat();
    assert!(artifact::write(&turns(), &manifest(), &twice).unwrap_err().to_string().contains("is there twice"));
    let stray = [("other/x".to_owned(), vec![])];
    let bytes = artifact::write(&turns(), &manifest(), &stray).unwrap();
    check_refused(bytes, "the file \"other/x\" belongs to none of its cookbooks");
}

#[test]
fn what_is_no_file_is_refused_without_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("evil.wasm");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in [pipe.as_path(), Path::new("/dev/zero"), folder.path()] {
        let error = Artifact::open(path).unwrap_err();
        let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        assert!(
            cause.contains("not a plain file") || cause.contains("is a directory"),
            "{}: {error}: {cause}",
            path.display()
        );
    }
}
