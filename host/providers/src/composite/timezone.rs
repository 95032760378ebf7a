//! `timezone`: the machine's local time.

use super::{Composite, child, children, command, exists, granted, invalid, printed};
use crate::plan::View;
use crate::resources::asked;
use contract::{Change, Composition, Raised, Wanted};
use schema::types::timezone::TimezoneProperties;
use serde_json::json;

/// The folder of the zones' files.
const ZONES: &str = "/usr/share/zoneinfo";

/// The file that has the zone's name on Debian.
const NAME: &str = "/etc/timezone";

/// The machine's time zone.
pub(super) struct Timezone;

impl Composite for Timezone {
    fn compose(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Composition, Raised> {
        let TimezoneProperties { timezone } = asked::properties(wanted)?;
        let zone = timezone.as_str();
        let plain = |sign: char| sign.is_ascii_alphanumeric() || "_+-".contains(sign);
        let is_part =
            |part: &str| part.starts_with(|sign: char| sign.is_ascii_alphanumeric()) && part.chars().all(plain);
        if !zone.split('/').all(is_part) {
            return Err(invalid(format!("timezone {zone:?} is not the name of a time zone")));
        }
        let package = || child("package", "tzdata", "install", []);
        if exists("/run/systemd/system", view) {
            let set = ["/usr/bin/timedatectl", "--no-ask-password", "set-timezone", zone];
            granted(&set, view)?;
            let status = printed("/usr/bin/timedatectl", &["status"], view).unwrap_or_default();
            let current = status.lines().find_map(|line| line.trim().strip_prefix("Time zone: "));
            let current = current.and_then(|line| line.split(" (").next());
            if current == Some(zone) {
                return Ok(Composition::default());
            }
            let was = current.map(|current| format!(" (was \"{current}\")")).unwrap_or_default();
            let changes =
                vec![Change::new(format!("update {zone}")), Change::new(format!("  set timezone to \"{zone}\"{was}"))];
            let children = vec![package(), command(&format!("set timezone to {zone}"), "run", &set)];
            return Ok(Composition { changes, children });
        }
        let mut made = Vec::new();
        if !exists(ZONES, view) {
            made.push(package());
        }
        made.push(child("link", "/etc/localtime", "create", [("to", json!(format!("{ZONES}/{zone}")))]));
        if exists(NAME, view) {
            made.push(child("file", NAME, "create", [("content", json!(format!("{zone}\n")))]));
        }
        Ok(children(made))
    }
}
