//! `shells`: the lines of `/etc/shells` that are paths. Ohai's plugin Shells.

use serde_json::Value;

use crate::machine::{Gathered, Machine};
use crate::topics::known;

pub(crate) fn gather(machine: &Machine) -> Gathered {
    let shells = machine.root.text("/etc/shells").map(|text| {
        text.lines().filter(|line| line.starts_with('/')).map(|line| Value::from(line.trim_end())).collect::<Value>()
    });
    known([("shells", shells)])
}
