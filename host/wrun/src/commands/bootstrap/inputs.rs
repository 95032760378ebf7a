//! Reads and checks the files that the arguments name, before anything is sent.

use crate::arguments::BootstrapArguments;
use crate::settings::parse_file;
use anyhow::{Context as _, ensure};
use bootstrap::{Package, Settings, Wanted, package_digest};
use grants::Grants;
use std::path::Path;

/// Largest size of the grants, the trusted root, or a secret, in bytes.
const MAX_FILE: u64 = 4 << 20;

/// Returns the desired state of the machine.
pub(super) fn wanted(arguments: &BootstrapArguments) -> anyhow::Result<Wanted> {
    let package = package(arguments)?;
    let file = |path: &Option<std::path::PathBuf>, what: &str| {
        let read = |path: &std::path::PathBuf| {
            plain_files::read(path, MAX_FILE).with_context(|| format!("{what} {} cannot be read", path.display()))
        };
        path.as_ref().map(read).transpose()
    };
    let grants = file(&arguments.grants, "the grants")?;
    if let Some(bytes) = &grants {
        let text = std::str::from_utf8(bytes).context("the grants are not UTF-8 text")?;
        let name = arguments.grants.as_deref().unwrap_or(Path::new("grants")).display().to_string();
        let _sound = Grants::parse(text, &name)?;
    }
    let root = file(&arguments.repository_root, "the root")?;
    if let Some(repository) = &arguments.repository {
        let is_address = repository.contains("://");
        ensure!(
            !is_address || root.is_some(),
            "a machine has to know whom to trust in a repository behind an address: name its root with --repository-root"
        );
        ensure!(
            is_address || Path::new(repository).is_absolute(),
            "{repository:?} is neither an address nor the absolute path of a directory of the machine"
        );
    }
    if let Some(bytes) = &root {
        let json: Option<serde_json::Value> = serde_json::from_slice(bytes).ok();
        let is_root =
            json.as_ref().is_some_and(|json| json.pointer("/signed/_type").is_some_and(|kind| kind == "root"));
        ensure!(is_root, "the file of --repository-root is not the root of a repository");
    }
    let secret = file(&arguments.data_bag_secret, "the secret")?;
    let (names, groups) = arguments.policy_name.clone().into_names();
    let shown = |name: String| match groups.get(&name) {
        Some(group) => format!("{name}@{group}"),
        None => name,
    };
    let settings = Settings {
        policy_names: names.into_iter().map(shown).collect(),
        policy_group: arguments.policy_group.clone(),
        repository: arguments.repository.clone(),
        node_name: arguments.node_name.as_ref().map(|name| name.as_str().to_owned()),
    };
    let wanted = Wanted::new(package, &settings, root, grants, secret);
    let text = wanted.files.last().map(|file| String::from_utf8_lossy(&file.content).into_owned());
    parse_file(Path::new("wrun.toml"), &text.unwrap_or_default())?;
    Ok(wanted)
}

fn package(arguments: &BootstrapArguments) -> anyhow::Result<Option<Package>> {
    let sha256 = arguments.sha256.as_ref().map(|text| text.to_ascii_lowercase());
    if let Some(sha256) = &sha256 {
        let is_digest = sha256.len() == 64 && sha256.chars().all(|one| one.is_ascii_hexdigit());
        ensure!(is_digest, "{sha256:?} is not a SHA-256: it has 64 hexadecimal digits");
    }
    if let Some(url) = &arguments.package_url {
        let is_address = url.starts_with("https://") || url.starts_with("http://");
        let is_one_word = url.chars().all(|one| one.is_ascii_graphic());
        ensure!(is_address && is_one_word, "{url:?} is not an address (https://..) without blanks");
        let sha256 = sha256.context("--package-url needs --sha256")?;
        return Ok(Some(Package::Url { url: url.clone(), sha256 }));
    }
    let Some(path) = &arguments.package else {
        ensure!(sha256.is_none(), "--sha256 is the digest of a package: name it with --package or --package-url");
        return Ok(None);
    };
    let cannot = || format!("the package {} cannot be read", path.display());
    let mut file = plain_files::open(path).with_context(cannot)?;
    let (size, found) = package_digest(&mut file).with_context(cannot)?;
    if let Some(sha256) = sha256 {
        ensure!(sha256 == found, "{} has the SHA-256 {found}, and not {sha256}", path.display());
    }
    Ok(Some(Package::File { path: path.clone(), size, sha256: found }))
}
