//! The gems that a policy's Ruby cookbooks name in their metadata, from a folder beside them.
//!
//! Without a folder a policy does not have gems. That is an error only if a cookbook names a gem that the runtime does not
//! have itself. A missing gem is better reported here than by a failing `require` on the node.

use std::path::Path;

use plain_files::{HeldFolder, leads_out};

use super::cookbook::Cookbook;
use super::policy_toml::PolicyToml;
use super::toml_file::MAX_FILE;
use super::{AuthorError, Ruby};
use crate::gems::{GemFolder, GemsError, Refused, WantedGem};
use artifact::GemsEntry;
use artifact::gems::{COOKBOOK, Gems};
use artifact::lock::{CookbookIdentifier, FileChecksum};

/// The default folder of gems.
const GEMS: &str = "gems";

const LEADS_OUT: &str = "is a link that leads out of the policy's folder: put the gems there, or name their folder as `gems` in policy.toml";

/// Collects the gems that the cookbooks want. `given` is a folder that overrides the policy's.
pub(super) fn of_cookbooks(
    settings: &PolicyToml,
    cookbooks: &[Cookbook],
    folder: &HeldFolder,
    given: Option<&Path>,
    ruby: &mut dyn Ruby,
) -> Result<Gems, AuthorError> {
    let wanted: Vec<WantedGem> = cookbooks.iter().flat_map(|cookbook| cookbook.gems.iter().cloned()).collect();
    if wanted.is_empty() {
        return Ok(Gems::default());
    }
    let named = given.map(Path::to_owned).or_else(|| Some(folder.path().join(settings.gems.as_ref()?)));
    let there = match named {
        Some(place) => GemFolder::open(&place)?,
        None => beside(folder).map_err(|error| match error {
            GemsError::LeadsOut { path } => AuthorError::File { path, what: LEADS_OUT },
            other => other.into(),
        })?,
    };
    let wrong = |what: String| AuthorError::Wrong { path: settings.path.clone(), line: 1, what };
    let answer = ruby.gems(there.question(&wanted, &settings.without_gems)).map_err(wrong)?;
    there.take(answer, "`without_gems` of the policy.toml").map_err(|error| match error {
        GemsError::Refused(refused) => in_metadata(cookbooks, *refused),
        other => other.into(),
    })
}

/// The folder `gems` of a policy, which a stranger may have made: it lies in the policy's folder.
pub(crate) fn beside(folder: &HeldFolder) -> Result<GemFolder, GemsError> {
    let path = folder.path().join(GEMS);
    match folder.below(GEMS) {
        Ok(Some(gems)) => GemFolder::of(gems),
        Ok(None) => Ok(GemFolder::none(path)),
        Err(error) if leads_out(&error) => Err(GemsError::LeadsOut { path }),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => Ok(GemFolder::none(path)),
        Err(source) => Err(GemsError::Read { path, source }),
    }
}

/// Returns the error about a missing gem, at the line that asks for it.
fn in_metadata(cookbooks: &[Cookbook], refused: Refused) -> AuthorError {
    match cookbooks.iter().find(|cookbook| cookbook.name == refused.cookbook) {
        None => GemsError::Refused(Box::new(refused)).into(),
        Some(cookbook) => AuthorError::Wrong {
            path: cookbook.manifest_path.clone(),
            line: line_of(cookbook, &refused.gem),
            what: refused.what,
        },
    }
}

/// Returns the line of the metadata that names a gem, or 1 if no line does, because another gem may need it.
fn line_of(cookbook: &Cookbook, gem: &str) -> usize {
    let text = plain_files::read_text(&cookbook.manifest_path, MAX_FILE).unwrap_or_default();
    let names = |line: &str| ['"', '\''].iter().any(|quote| line.contains(&format!("{quote}{gem}{quote}")));
    let found = text.lines().position(|line| line.trim_start().starts_with("gem") && names(line));
    found.map_or(1, |index| index + 1)
}

/// Returns the manifest's entry for the gems.
pub(crate) fn entry(gems: &Gems) -> Option<GemsEntry> {
    let files: Vec<_> = gems.files().iter().map(|(path, content)| FileChecksum::of(path, content)).collect();
    (!gems.is_empty()).then(|| GemsEntry {
        identifier: CookbookIdentifier::of(&files).to_string(),
        versions: gems.all().iter().map(|gem| (gem.name.clone(), gem.version.clone())).collect(),
    })
}

/// Returns the gems' files with their paths in the artifact.
pub(crate) fn files(gems: Gems) -> impl Iterator<Item = (String, Vec<u8>)> {
    gems.into_files().into_iter().map(|(path, content)| (format!("{COOKBOOK}/{path}"), content))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn attack_the_folder_gems_of_a_policy_does_not_lead_out_of_it() {
        let top = tempfile::tempdir().unwrap();
        let path = |name: &str| top.path().join(name);
        for folder in ["policy/own", "secrets/backup-2024"] {
            std::fs::create_dir_all(path(folder)).unwrap();
        }
        std::fs::write(path("secrets/backup-2024/dump.sql"), "secret").unwrap();
        std::fs::create_dir(path("policy/own/one-1.0")).unwrap();
        std::fs::write(path("policy/own/one-1.0/one.rb"), "").unwrap();
        let files = || {
            let gems = beside(&HeldFolder::open(&path("policy")).unwrap())?;
            Ok::<_, GemsError>(gems.question(&[], &[])["there"].to_string())
        };
        assert_eq!(files().unwrap(), "[]", "it has no such folder");
        symlink("../secrets", path("policy/gems")).unwrap();
        assert!(matches!(files(), Err(GemsError::LeadsOut { .. })));
        std::fs::remove_file(path("policy/gems")).unwrap();
        symlink("own", path("policy/gems")).unwrap();
        assert_eq!(files().unwrap(), r#"[{"file":"one-1.0","files":["one.rb"]}]"#);
        // A gem in it.
        symlink("../../secrets/backup-2024", path("policy/own/backup-2024")).unwrap();
        assert_eq!(files().unwrap(), r#"[{"file":"one-1.0","files":["one.rb"]}]"#);
    }
}
