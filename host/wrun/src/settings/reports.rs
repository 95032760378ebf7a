//! The destinations for reports of runs: `[[report]]` in the settings.

use super::times::TimeLimit;
use super::values::Number;
use assemble::{Destination, Place};
use core::net::IpAddr;
use grants::Grants;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::str::FromStr;

/// Files and addresses that receive reports. An environment variable contains them as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reports(Vec<ReportTo>);

/// One destination: either a file or an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written")]
struct ReportTo {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token_file: Option<PathBuf>,
    seconds: TimeLimit<1, 3600>,
    queue_mib: Number<1, 65_536>,
    dry_runs: bool,
}

/// A destination as written in the settings, before its keys are checked for consistency.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    file: Option<PathBuf>,
    url: Option<String>,
    token_file: Option<PathBuf>,
    seconds: Option<TimeLimit<1, 3600>>,
    queue_mib: Option<Number<1, 65_536>>,
    #[serde(default)]
    dry_runs: bool,
}

impl Reports {
    /// Returns the destinations, in order.
    pub(crate) fn into_destinations(self) -> Vec<Destination> {
        self.0.into_iter().filter_map(ReportTo::destination).collect()
    }
}

impl FromStr for Reports {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        serde_json::from_str(text)
    }
}

impl ReportTo {
    fn destination(self) -> Option<Destination> {
        let place = match (self.file, self.url) {
            (Some(file), _) => Place::File(file),
            (None, Some(url)) => Place::Address { url, token_file: self.token_file },
            (None, None) => return None,
        };
        let (time, queue) = (self.seconds.duration(), self.queue_mib.get().saturating_mul(1 << 20));
        Some(Destination { place, time, queue, dry_runs: self.dry_runs })
    }
}

impl TryFrom<Written> for ReportTo {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let Written { file, url, token_file, seconds, queue_mib, dry_runs } = written;
        match (&file, &url) {
            (Some(file), None) if file.is_absolute() => {}
            (Some(file), None) => {
                return Err(format!("the `file` of a report is an absolute path; {} is not", file.display()));
            }
            (None, Some(url)) => check_url(url, token_file.is_some())?,
            _ => return Err("a report goes to a `file` or to a `url`: name one of them".to_owned()),
        }
        if file.is_some() && token_file.is_some() {
            return Err("a `token_file` belongs to a `url`".to_owned());
        }
        let (seconds, queue_mib) =
            (seconds.unwrap_or(TimeLimit::constant::<30>()), queue_mib.unwrap_or(Number::constant::<64>()));
        Ok(Self { file, url, token_file, seconds, queue_mib, dry_runs })
    }
}

/// Checks an address with the parser of the client that sends reports. Without encryption, a token may only be sent to this
/// machine.
fn check_url(url: &str, with_token: bool) -> Result<(), String> {
    // The error shows the address without its password.
    let read = Grants::allow_all().policy("settings", &[]).silent().download(url).map_err(|denied| {
        format!(
            "the `url` of a report begins with https:// or http://, and names no user and no password (use `token_file`); {:?} \
             is not such a URL",
            denied.asked
        )
    })?;
    if with_token && read.scheme() != "https" && !is_this_machine(read.host()) {
        return Err(format!("the `url` {url:?} of a report would send its token in plain text; use https://"));
    }
    Ok(())
}

fn is_this_machine(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_goes_to_one_place_and_keeps_its_token_secret() {
        let good = |text: &str| serde_json::from_str::<ReportTo>(text).unwrap().destination().unwrap();
        let file = good(r#"{"file": "/var/log/wrun/runs.ndjson"}"#);
        assert_eq!(
            (file.place, file.time.as_secs(), file.queue),
            (Place::File("/var/log/wrun/runs.ndjson".into()), 30, 64 << 20)
        );
        good(r#"{"url": "http://reports.example.com/runs"}"#);
        good(r#"{"url": "https://reports.example.com/runs", "token_file": "/etc/wrun/token", "dry_runs": true}"#);
        for host in ["127.0.0.1:8080", "127.0.0.1", "localhost", "localhost:8080", "[::1]", "[::1]:8080"] {
            good(&format!(r#"{{"url": "http://{host}/runs", "token_file": "/etc/wrun/token"}}"#));
        }
        for bad in [
            "{}",
            r#"{"file": "runs.ndjson"}"#,
            r#"{"file": "/a", "url": "https://b"}"#,
            r#"{"file": "/a", "token_file": "/t"}"#,
            r#"{"url": "ftp://b"}"#,
            r#"{"url": "https://"}"#,
            r#"{"url": "http://reports.example.com/runs", "token_file": "/t"}"#,
            r#"{"url": "http://localhost.example.com/runs", "token_file": "/t"}"#,
            r#"{"url": "http://localhost:x@evil.example/", "token_file": "/t"}"#,
            r#"{"url": "http://[::1]@evil.example/", "token_file": "/t"}"#,
            r#"{"url": "http://[::1].evil.example/", "token_file": "/t"}"#,
            r#"{"url": "http://evil.example\\@localhost/", "token_file": "/t"}"#,
            r#"{"url": "http://[fe80::1]/", "token_file": "/t"}"#,
            r#"{"url": "https://user@b/"}"#,
            r#"{"url": "https://b", "tokenfile": "/t"}"#,
            r#"{"url": "https://b", "seconds": 0}"#,
        ] {
            assert!(serde_json::from_str::<ReportTo>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_password_in_an_address_is_refused_and_not_shown() {
        let said = serde_json::from_str::<ReportTo>(r#"{"url": "https://me:s3cret@b/runs"}"#).unwrap_err().to_string();
        assert!(said.contains("names no user and no password") && said.contains("\"https://b/runs\""), "{said}");
        assert!(!said.contains("s3cret"), "{said}");
    }
}
