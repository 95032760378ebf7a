//! Compares the inputs of two artifacts of the same policy.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Artifact, Manifest, Runtime};

/// The inputs in which two artifacts differ, each as a sentence without a period; `theirs` comes first. The list is empty if
/// they are equal, byte by byte.
#[must_use]
pub fn differences(theirs: &Artifact, ours: &Artifact) -> Vec<String> {
    if theirs.digest() == ours.digest() {
        return vec![];
    }
    let (before, now) = (theirs.manifest(), ours.manifest());
    let mut found = of_manifests(before, now);
    let files = |artifact: &Artifact| -> BTreeMap<String, Vec<u8>> {
        artifact.files().map(|(path, content)| (path.to_owned(), content.to_vec())).collect()
    };
    let (old, new) = (files(theirs), files(ours));
    let paths: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let differing: Vec<&String> = paths.into_iter().filter(|path| old.get(*path) != new.get(*path)).collect();
    if let Some(first) = differing.first() {
        let more = differing.len() - 1;
        let rest = if more == 0 { String::new() } else { format!(" and {more} more") };
        found.push(format!("the files {first}{rest} differ"));
    }
    if theirs.component_digest() != ours.component_digest() {
        found.push(match found.is_empty() {
            true => "the compiled code differs, although every input that the manifest names is the same".to_owned(),
            false => "the compiled code differs".to_owned(),
        });
    }
    if found.is_empty() {
        found.push("the manifests differ, and not in their inputs".to_owned());
    }
    found
}

fn of_manifests(before: &Manifest, now: &Manifest) -> Vec<String> {
    let mut found = vec![];
    let mut differ = |what: &str, before: String, now: String| {
        if before != now {
            found.push(format!("{what} {before} there, {now} here"));
        }
    };
    let short = |text: &str| text.chars().take(12).collect::<String>();
    differ("the revision is", short(&before.revision_id), short(&now.revision_id));
    differ("the contract is", before.contract.clone(), now.contract.clone());
    let runtime = |manifest: &Manifest| match &manifest.runtime {
        Runtime::Rust => "none".to_owned(),
        Runtime::Shared { name, digest } => format!("{name} ({})", short(digest)),
    };
    differ("the runtime is", runtime(before), runtime(now));
    let compiler = |manifest: &Manifest| manifest.build.as_ref().map_or("unknown".to_owned(), |it| it.compiler.clone());
    differ("the compiler is", compiler(before), compiler(now));
    let cargo_lock = |manifest: &Manifest| {
        let digest = manifest.build.as_ref().and_then(|build| build.cargo_lock.as_deref());
        digest.map_or("unknown".to_owned(), short)
    };
    differ("the digest of Cargo.lock is", cargo_lock(before), cargo_lock(now));
    let profile = |manifest: &Manifest| if manifest.dev { "for trying (--dev)" } else { "for release" }.to_owned();
    differ("the code is compiled", profile(before), profile(now));
    let names = |manifest: &Manifest| manifest.cookbooks.iter().map(|one| one.name.clone()).collect::<BTreeSet<_>>();
    for name in names(before).union(&names(now)) {
        let identifier = |manifest: &Manifest| {
            manifest.cookbook(name).map_or("absent".to_owned(), |cookbook| short(&cookbook.identifier))
        };
        differ(&format!("cookbook {name} is"), identifier(before), identifier(now));
    }
    for (what, is_same) in [
        ("the run lists differ", before.run_list == now.run_list && before.named_run_lists == now.named_run_lists),
        (
            "the attributes differ",
            before.default_attributes == now.default_attributes
                && before.override_attributes == now.override_attributes,
        ),
        ("the lines of attributes in policy.toml differ", before.attribute_lines == now.attribute_lines),
        ("`[needs]` differ", before.needs == now.needs),
        ("the gems differ", before.gems == now.gems),
        ("only one of them was taken from an archive, or they were taken from two", before.archive == now.archive),
    ] {
        if !is_same {
            found.push(what.to_owned());
        }
    }
    found
}
