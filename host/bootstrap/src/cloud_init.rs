//! Creates a cloud-config with the same steps, for machines that are set up without a login.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::wanted::{Package, Wanted};

/// Largest size of a cloud-config, in bytes. Most clouds accept no larger user data.
pub const MAX_CLOUD_CONFIG: usize = 16 << 10;

/// The reasons why a cloud-config cannot be created.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CloudConfigError {
    /// The package is a local file, so the machine cannot download it.
    #[error("a cloud-config fetches the package: name it with --package-url and --sha256")]
    NoAddress,
    /// There is a secret, but all users of a machine can read its user data.
    #[error("a cloud-config is no place for a secret: anybody on the machine can read it")]
    Secret,
    /// The grants or the root are too large.
    #[error(
        "the cloud-config has {size} bytes, and clouds take {MAX_CLOUD_CONFIG}: put the grants into a package of your own, or bootstrap over ssh"
    )]
    TooLarge {
        /// Its size in bytes.
        size: usize,
    },
}

/// Returns the cloud-config.
///
/// # Errors
/// The package has no address, there is a secret, or it is too large.
pub fn cloud_config(wanted: &Wanted) -> Result<String, CloudConfigError> {
    let Some(Package::Url { url, sha256 }) = &wanted.package else { return Err(CloudConfigError::NoAddress) };
    if wanted.files.iter().any(|file| file.is_secret) {
        return Err(CloudConfigError::Secret);
    }
    let mut text = "#cloud-config\n# Made by `wrun bootstrap --cloud-init`.\nwrite_files:\n".to_owned();
    let mut file = |path: &str, mode: &str, content: &[u8]| {
        text.push_str(&format!(
            "- path: {path}\n  permissions: '0{mode}'\n  encoding: b64\n  content: {}\n",
            BASE64_STANDARD.encode(content)
        ));
    };
    for wanted in &wanted.files {
        file(wanted.path, wanted.mode, &wanted.content);
    }
    file(SCRIPT, "700", script(url, sha256).as_bytes());
    text.push_str(&format!("runcmd:\n- [/bin/sh, {SCRIPT}]\n"));
    if text.len() >= MAX_CLOUD_CONFIG {
        return Err(CloudConfigError::TooLarge { size: text.len() });
    }
    Ok(text)
}

/// The path of the script that downloads and installs the package.
const SCRIPT: &str = "/var/lib/cloud/wrun-bootstrap";

/// Returns the script. It can be repeated: it does not install the same package again.
fn script(url: &str, sha256: &str) -> String {
    include_str!("remote/cloud.sh").replace("@URL@", &quoted(url)).replace("@SHA256@", sha256)
}

/// Quotes a text as one shell word.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wanted::Settings;

    fn wanted(grants: Vec<u8>) -> Wanted {
        let package = Package::Url { url: "https://x/it's.deb".into(), sha256: "ab".into() };
        let settings =
            Settings { policy_names: vec!["web".into()], policy_group: "prod".into(), ..Settings::default() };
        Wanted::new(Some(package), &settings, None, Some(grants), None)
    }

    #[test]
    fn the_package_is_fetched_by_address_and_digest() {
        let text = cloud_config(&wanted(b"[policy.web]\n".to_vec())).unwrap();
        assert!(text.starts_with("#cloud-config\n") && text.ends_with("- [/bin/sh, /var/lib/cloud/wrun-bootstrap]\n"));
        assert!(text.contains(&BASE64_STANDARD.encode("[policy.web]\n")), "{text}");
        let script = script("https://x/it's.deb", "ab");
        assert!(script.contains("url='https://x/it'\\''s.deb'\n") && script.contains("= ab ]"), "{script}");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let error = cloud_config(&wanted(vec![b'x'; 13_000])).unwrap_err().to_string();
        assert!(error.contains(" bytes, and clouds take 16384: "), "{error}");
        let mut local = wanted(vec![]);
        local.package = None;
        assert_eq!(cloud_config(&local), Err(CloudConfigError::NoAddress));
        let settings = Settings::default();
        let secret = Wanted::new(wanted(vec![]).package, &settings, None, None, Some(vec![1]));
        assert_eq!(cloud_config(&secret), Err(CloudConfigError::Secret));
    }
}
