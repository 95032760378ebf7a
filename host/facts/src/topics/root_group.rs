//! `root_group`: the name of root's first group, `root` nearly everywhere. Ohai's plugin RootGroup.

use serde_json::Value;

use crate::machine::{Gathered, Machine};
use crate::topics::known;

pub(crate) fn gather(machine: &Machine) -> Gathered {
    known([("root_group", root_group(machine))])
}

fn root_group(machine: &Machine) -> Option<Value> {
    let identity = machine.get("etc")?.get("passwd")?.get("root")?.get("gid")?;
    let groups = machine.get("etc")?.get("group")?.as_object()?;
    let (name, _) = groups.iter().find(|(_, group)| group.get("gid") == Some(identity))?;
    Some(Value::from(name.as_str()))
}
