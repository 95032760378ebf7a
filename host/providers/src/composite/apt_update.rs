//! `apt_update`: fetches the lists of packages, either always or at intervals.

use super::machine::Family;
use super::{Composite, Machine, change, child, command_in_default_environment, in_real_runs};
use crate::resources::asked;
use contract::{Composition, Declaration, OwnPart, Raised, Wanted};
use schema::types::apt_update::AptUpdateProperties;
use serde_json::json;
use std::time::{SystemTime, UNIX_EPOCH};

/// The folder of the file whose time is that of the last fetch.
const STAMPS: &str = "/var/lib/apt/periodic";

/// The file whose time is that of the last fetch.
const STAMP: &str = "/var/lib/apt/periodic/update-success-stamp";

/// The folder of apt's settings.
const SETTINGS: &str = "/etc/apt/apt.conf.d";

/// The composite of `apt_update`: it fetches apt's lists of packages.
pub(super) struct AptUpdate;

impl Composite for AptUpdate {
    fn compose(&self, wanted: &Wanted<'_>, machine: &mut Machine<'_, '_>) -> Result<Composition, Raised> {
        let AptUpdateProperties { frequency } = asked::properties(wanted)?;
        if machine.family() != Family::Debian {
            return Ok(Composition::default());
        }
        let update = ["apt-get", "-q", "update"];
        // The age of the lists is read only if the policy may fetch them.
        machine.granted(&update)?;
        let sentence = match wanted.action {
            "periodic" => {
                if is_fresh(frequency, machine) && !machine.is_survey {
                    return Ok(Composition::default());
                }
                "update new lists of packages"
            }
            _ => "force update new lists of packages",
        };
        let own = |part: Declaration| {
            in_real_runs(part.chosen(|chosen| OwnPart::OfCommand(update.map(str::to_owned).into(), chosen)))
        };
        let folder = |path| own(child("directory", path, "create", [("recursive", json!(true))]));
        let hook = format!("APT::Update::Post-Invoke-Success {{\"touch {STAMP} 2>/dev/null || true\";}};\n");
        let settings = format!("{SETTINGS}/15update-stamp");
        let made = vec![
            folder(STAMPS),
            folder(SETTINGS),
            own(child("file", &settings, "create_if_missing", [("content", json!(hook))])),
            in_real_runs(command_in_default_environment("apt-get -q update", "run", &update)),
        ];
        Ok(change([sentence.to_owned()], made))
    }
}

fn is_fresh(frequency: i64, machine: &Machine<'_, '_>) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let oldest = i64::try_from(now).unwrap_or(i64::MAX).saturating_sub(frequency);
    machine.changed_at(STAMP).is_some_and(|changed| changed > oldest)
}
