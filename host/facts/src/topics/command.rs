//! `command`: an empty object that cookbooks and plugins of old put commands in. Ohai's plugin Command.

use crate::machine::{Gathered, Machine};
use crate::topics::one;

pub(crate) fn gather(_: &Machine) -> Gathered {
    one("command", Gathered::new())
}
