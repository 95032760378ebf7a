//! `dmi`: Ohai's plugin DMI, which reads the firmware's tables through `dmidecode`.
//!
//! The kernel provides the parts that cookbooks read (manufacturer, product, serial numbers) as files. Only root may read
//! serial numbers; for other users they are absent. On a machine without such firmware, `dmi` is empty.

use serde_json::{Value, json};

use crate::machine::{Gathered, Machine};
use crate::topics::one;

/// One record: its key, its title and number in dmidecode, and its fields, each with dmidecode's name and the kernel's file.
type Record = (&'static str, &'static str, u8, &'static [(&'static str, &'static str)]);

const RECORDS: [Record; 4] = [
    (
        "bios",
        "BIOS Information",
        0,
        &[
            ("Vendor", "bios_vendor"),
            ("Version", "bios_version"),
            ("Release Date", "bios_date"),
            ("BIOS Revision", "bios_release"),
            ("Firmware Revision", "ec_firmware_release"),
        ],
    ),
    (
        "system",
        "System Information",
        1,
        &[
            ("Manufacturer", "sys_vendor"),
            ("Product Name", "product_name"),
            ("Version", "product_version"),
            ("Serial Number", "product_serial"),
            ("UUID", "product_uuid"),
            ("SKU Number", "product_sku"),
            ("Family", "product_family"),
        ],
    ),
    (
        "base_board",
        "Base Board Information",
        2,
        &[
            ("Manufacturer", "board_vendor"),
            ("Product Name", "board_name"),
            ("Version", "board_version"),
            ("Serial Number", "board_serial"),
            ("Asset Tag", "board_asset_tag"),
        ],
    ),
    (
        "chassis",
        "Chassis Information",
        3,
        &[
            ("Manufacturer", "chassis_vendor"),
            ("Type", "chassis_type"),
            ("Version", "chassis_version"),
            ("Serial Number", "chassis_serial"),
            ("Asset Tag", "chassis_asset_tag"),
        ],
    ),
];

/// Types of chassis by number, from 1 (System Management BIOS specification 3.7, section 7.4.1).
const CHASSIS: [&str; 36] = [
    "Other",
    "Unknown",
    "Desktop",
    "Low Profile Desktop",
    "Pizza Box",
    "Mini Tower",
    "Tower",
    "Portable",
    "Laptop",
    "Notebook",
    "Hand Held",
    "Docking Station",
    "All In One",
    "Sub Notebook",
    "Space-saving",
    "Lunch Box",
    "Main Server Chassis",
    "Expansion Chassis",
    "Sub Chassis",
    "Bus Expansion Chassis",
    "Peripheral Chassis",
    "RAID Chassis",
    "Rack Mount Chassis",
    "Sealed-case PC",
    "Multi-system",
    "CompactPCI",
    "AdvancedTCA",
    "Blade",
    "Blade Enclosing",
    "Tablet",
    "Convertible",
    "Detachable",
    "IoT Gateway",
    "Embedded PC",
    "Mini PC",
    "Stick PC",
];

pub(crate) fn gather(machine: &Machine) -> Gathered {
    let records = RECORDS.iter().filter_map(|record| Some((record.0.to_owned(), read_record(machine, record)?)));
    one("dmi", records.collect::<Gathered>())
}

/// Reads a record. As in Ohai, it has all fields twice: under dmidecode's names in `all_records`, and under simpler names in
/// the record itself.
fn read_record(machine: &Machine, (_, title, number, fields): &Record) -> Option<Value> {
    let mut simple = Gathered::new();
    let mut full = Gathered::new();
    for (name, file) in *fields {
        let Some(text) = machine.machine.text(&format!("/sys/class/dmi/id/{file}")) else { continue };
        let value = match text.trim() {
            "" => "Not Specified",
            text if *name == "Type" => chassis_name(text),
            text => text,
        };
        full.insert((*name).to_owned(), value.into());
        simple.insert(name.to_lowercase().replace(' ', "_"), value.into());
    }
    if full.is_empty() {
        return None;
    }
    // Ohai calls the number of the record's type its size.
    let mut record = one("size", number.to_string());
    record.extend(one("application_identifier", *title));
    record.extend(full);
    let mut both = one("all_records", json!([record]));
    both.extend(simple);
    Some(Value::Object(both))
}

fn chassis_name(number: &str) -> &str {
    // The highest bit says that the chassis has a lock.
    let kind = number.parse::<u8>().ok().map(|kind| usize::from(kind & 0x7f));
    kind.and_then(|kind| CHASSIS.get(kind.checked_sub(1)?)).copied().unwrap_or(number)
}
