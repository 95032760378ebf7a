//! `command`: an empty object, to which old cookbooks and plugins add commands. Ohai's plugin Command.

use crate::machine::{Gathered, Machine};
use crate::topics::one;

pub(crate) fn gather(_: &Machine) -> Gathered {
    one("command", Gathered::new())
}
