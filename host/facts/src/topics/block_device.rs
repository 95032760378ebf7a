//! `block_device`: Ohai's plugin BlockDevice, from `/sys/block`. All values are texts; sizes are in sectors of 512 bytes.

use serde_json::Value;

use crate::machine::{Gathered, Machine};
use crate::topics::one;

const OWN: [&str; 2] = ["size", "removable"];
const OF_THE_DEVICE: [&str; 7] = ["model", "rev", "state", "timeout", "vendor", "queue_depth", "firmware_rev"];
const OF_THE_QUEUE: [&str; 3] = ["rotational", "physical_block_size", "logical_block_size"];

pub(crate) fn gather(machine: &Machine) -> Gathered {
    if !machine.machine.exists("/sys/block") {
        return Gathered::new();
    }
    let devices = machine.machine.names("/sys/block").into_iter().map(|name| {
        let value = |part: &str, field: &str| {
            let text = machine.machine.text(&format!("/sys/block/{name}/{part}{field}"))?;
            Some((field.to_owned(), Value::from(text.trim())))
        };
        let fields = (OWN.iter().map(|field| value("", field)))
            .chain(OF_THE_DEVICE.iter().map(|field| value("device/", field)))
            .chain(OF_THE_QUEUE.iter().map(|field| value("queue/", field)));
        let device: Gathered = fields.flatten().collect();
        (name.clone(), Value::Object(device))
    });
    one("block_device", devices.collect::<Gathered>())
}
