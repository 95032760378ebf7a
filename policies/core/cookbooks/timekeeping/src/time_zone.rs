//! `time_zone`: the machine's local time. Two files must say the same, so one resource cares for both.

use wrun_sdk::machine;
use wrun_sdk::prelude::*;

const DATABASE: &str = "/usr/share/zoneinfo/";

/// The machine's local time.
#[derive(Resource)]
#[resource(actions(set), current = find)]
pub struct TimeZone {
    /// Its name in the database of zones: `Europe/Berlin`.
    #[property(name)]
    zone: String,
}

impl TimeZone {
    fn find(&self) -> Result<Option<Self>> {
        let link = machine::link_target("/etc/localtime")?;
        let zone = link.as_deref().and_then(|target| target.strip_prefix(DATABASE));
        let written =
            if machine::exists("/etc/timezone")? { machine::read_text("/etc/timezone")? } else { String::new() };
        // What two files say differently is as good as unset.
        Ok(zone.filter(|zone| *zone == written.trim()).map(|zone| Self { zone: zone.to_owned() }))
    }

    fn set(&self, action: &Action<Self>) -> Result {
        action.converge_if_changed(&["zone"], || {
            link("/etc/localtime").to(format!("{DATABASE}{}", self.zone)).declare()?;
            file("/etc/timezone").content(format!("{}\n", self.zone)).mode("0644").declare()
        })?;
        Ok(())
    }
}
