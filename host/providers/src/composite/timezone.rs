//! `timezone`: the machine's local time.

use super::text::plain_name;
use super::{Composite, Machine, change, child, children, command, in_real_runs, invalid, step};
use crate::resources::asked;
use contract::{Composition, Raised, Wanted};
use schema::types::timezone::TimezoneProperties;
use serde_json::json;

/// The folder of the zones' files.
const ZONES: &str = "/usr/share/zoneinfo";

/// The link to the file of the machine's zone, and the zone without such a link.
const LOCAL_TIME: &str = "/etc/localtime";
const DEFAULT_ZONE: &str = "UTC";

/// The file that has the zone's name on Debian.
const NAME: &str = "/etc/timezone";

/// The machine's time zone.
pub(super) struct Timezone;

impl Composite for Timezone {
    fn compose(&self, wanted: &Wanted<'_>, machine: &mut Machine<'_, '_>) -> Result<Composition, Raised> {
        let TimezoneProperties { timezone } = asked::properties(wanted)?;
        let zone = timezone.as_str();
        if !zone.split('/').all(|part| plain_name("timezone", part, "_+-", "a part of a name").is_ok()) {
            return Err(invalid(format!("timezone {zone:?} is not the name of a time zone")));
        }
        if machine.exists(ZONES) && !machine.has_zone(zone) && !machine.is_survey {
            return Err(invalid(format!("timezone {zone:?} is not there: {ZONES} has no such file")));
        }
        let package_type = machine.package_type();
        let package = || child(package_type, "tzdata", "install", []);
        // Below another root, systemd is that of the machine that wrun runs on.
        if machine.exists("/run/systemd/system") && (machine.has_own_kernel() || machine.is_survey) {
            let set = ["/usr/bin/timedatectl", "--no-ask-password", "set-timezone", zone];
            machine.granted(&set)?;
            let current = current(machine);
            let current = current.as_deref();
            if current == Some(zone) && !machine.is_survey {
                return Ok(Composition::default());
            }
            let was = current.map(|current| format!(" (was \"{current}\")")).unwrap_or_default();
            let set = command(&format!("set timezone to {zone}"), "run", &set);
            let sentences = [format!("update {zone}"), format!("  set timezone to \"{zone}\"{was}")];
            return Ok(change(sentences, vec![in_real_runs(package()), step(set)]));
        }
        let mut made = Vec::new();
        if !machine.exists(ZONES) {
            made.push(package());
        }
        made.push(child("link", LOCAL_TIME, "create", [("to", json!(format!("{ZONES}/{zone}")))]));
        if machine.exists(NAME) {
            made.push(child("file", NAME, "create", [("content", json!(format!("{zone}\n")))]));
        }
        Ok(children(made))
    }
}

/// Returns the name of the machine's zone, or `None` if it has no name.
///
/// It comes from the link that systemd itself reads. `timedatectl status` would start a service of systemd, also in a dry run.
fn current(machine: &Machine<'_, '_>) -> Option<String> {
    let Some(text) = machine.link_text(LOCAL_TIME).ok()? else { return Some(DEFAULT_ZONE.to_owned()) };
    let ways = [ZONES, "../usr/share/zoneinfo"];
    let zone = ways.iter().find_map(|folder| text.strip_prefix(folder)?.strip_prefix('/'));
    zone.map(str::to_owned)
}
