//! `shard_seed`: a permanent number of a node between 0 and 2^28, for rolling out changes to a part of all nodes. Ohai's
//! plugin ShardSeed: the first seven hexadecimal digits of a digest over machine name, serial number and UUID.
//!
//! As in Ohai, it is absent if the firmware does not have a serial number or UUID.

use md5::{Digest as _, Md5};
use serde_json::Value;

use crate::machine::{Gathered, Machine};
use crate::topics::known;

pub(crate) fn gather(machine: &Machine) -> Gathered {
    known([("shard_seed", seed(machine))])
}

fn seed(machine: &Machine) -> Option<Value> {
    let name = machine.get("machinename")?.as_str()?;
    let property = |field: &str| {
        let found = ["system", "base_board", "chassis"].map(|section| machine.get_text(["dmi", section, field]));
        found.into_iter().flatten().find(|value| !value.trim().is_empty())
    };
    let source = format!("{name}{}{}", property("serial_number")?, property("uuid")?);
    Some(Value::from(first_28_bits(source.as_bytes())))
}

fn first_28_bits(source: &[u8]) -> u32 {
    let digest = Md5::digest(source);
    let first = digest.iter().take(4).fold(0_u32, |number, byte| (number << 8) | u32::from(*byte));
    first >> 4
}

#[cfg(test)]
mod tests {
    #[test]
    fn takes_seven_digits() {
        // The digest of the empty text is d41d8cd98f00b204e9800998ecf8427e.
        assert_eq!(super::first_28_bits(b""), 0x0d41_d8cd);
    }
}
