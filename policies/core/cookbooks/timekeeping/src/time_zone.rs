//! `time_zone`: the machine's local time. Two files must say the same, so one resource cares for both.

use wrun_sdk::machine;
use wrun_sdk::prelude::*;

const DATABASE: &str = "/usr/share/zoneinfo/";

pub fn time_zone() -> CustomResource {
    CustomResource::new("time_zone")
        .property(Property::text("zone").name_property())
        .load_current_value(|_| {
            let link = machine::link_target("/etc/localtime")?;
            let zone = link.as_deref().and_then(|target| target.strip_prefix(DATABASE));
            let written =
                if machine::exists("/etc/timezone")? { machine::read_text("/etc/timezone")? } else { String::new() };
            // What two files say differently is as good as unset.
            Ok(zone.filter(|zone| *zone == written.trim()).map(|zone| json!({ "zone": zone })))
        })
        .action("set", |time_zone| {
            time_zone.converge_if_changed(&["zone"], || {
                let zone = time_zone.text("zone")?;
                link("/etc/localtime").to(format!("{DATABASE}{zone}")).declare()?;
                file("/etc/timezone").content(format!("{zone}\n")).mode("0644").declare()
            })?;
            Ok(())
        })
}
