//! The operator's file of grants: bad ones are refused by name and line; good ones decide about anything, and what they
//! were asked to add is in them.

use grants::{Addition, Grants, split_words};

/// The name of the file in messages.
const FILE: &str = "grants.toml";

/// Reads the text as grants, and asks about paths, packages and words that are parts of it.
pub(super) fn read(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let grants = match Grants::parse(text, FILE) {
        Ok(grants) => grants,
        Err(error) => return assert!(error.to_string().contains(FILE), "{error}"),
    };
    let names: Vec<String> = grants.policy_names().map(str::to_owned).collect();
    for name in &names {
        let policy = grants.policy(name, &["ntp".to_owned()]);
        for part in text.split(['"', '\'', '\n', ' ']).filter(|part| !part.is_empty()).take(50) {
            let path = format!("/{}", part.trim_matches('/'));
            let managed = policy.manage_path(&path).is_ok();
            if policy.manage_tree(&path).is_ok() {
                assert!(managed, "{path}: all of it, and not itself");
            }
            let _ = policy.read_path(&path);
            let _ = split_words(part);
        }
    }
    let addition = Addition { policy: "fuzz".into(), key: "packages".into(), value: "\"added\"".into() };
    if let Ok(edited) = grants::add(text, FILE, &[addition]) {
        let now = Grants::parse(&edited.text, FILE).expect("an edited file can be read");
        assert!(now.policy_names().any(|name| name == "fuzz"), "{}", edited.text);
        assert!(names.iter().all(|name| now.policy_names().any(|other| other == name)), "{}", edited.text);
    }
}
