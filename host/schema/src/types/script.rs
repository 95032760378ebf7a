//! `script` and its variants, which differ in their interpreter.

use super::execute::{EXECUTE_FAMILY, RUN_ACTIONS};
use crate::property::{Default, Deputy, Literal, Property};
use crate::resource::{ImplementedBy, ResourceType};
use crate::typed::properties;

const CODE: Property = Property::text("code", "The script itself.").required().deputy(Deputy::Command);

const FLAGS: Property =
    Property::text("flags", "Arguments for the interpreter, before the script.").deputy(Deputy::Options);

const INTERPRETER: Property =
    Property::text("interpreter", "The program that runs the script.").deputy(Deputy::Command);

/// Runs a script with any interpreter.
pub static SCRIPT: ResourceType = ResourceType {
    name: "script",
    aliases: &[],
    doc: "Runs a script with a given interpreter. It runs each time unless a guard or `creates` says otherwise.",
    actions: &RUN_ACTIONS,
    default_action: "run",
    properties: &[
        &EXECUTE_FAMILY,
        &[CODE, INTERPRETER.default_to(Default::Described("nothing: it must be set")), FLAGS],
    ],
    implemented_by: ImplementedBy::Host,
    introduced: None,
};

macro_rules! interpreters {
    ($($(#[$doc:meta])* $constant:ident, $name:literal, $introduced:expr;)*) => {$(
        $(#[$doc])*
        pub static $constant: ResourceType = ResourceType {
            name: $name,
            aliases: &[],
            doc: concat!("Runs a script with `", $name, "`. It runs each time unless a guard or `creates` says otherwise."),
            actions: &RUN_ACTIONS,
            default_action: "run",
            properties: &[&EXECUTE_FAMILY, &[CODE, INTERPRETER.default(Literal::Text($name)), FLAGS]],
            implemented_by: ImplementedBy::Host,
            introduced: $introduced,
        };
    )*};
}

interpreters! {
    /// Runs a bash script.
    BASH, "bash", None;
    /// Runs a csh script.
    CSH, "csh", None;
    /// Runs a ksh script.
    KSH, "ksh", Some("12.6");
    /// Runs a perl script.
    PERL, "perl", None;
    /// Runs a python script.
    PYTHON, "python", None;
    /// Runs a ruby script.
    RUBY, "ruby", None;
}

properties! {
    /// The properties that scripts have beyond those of a command. The types named after an interpreter have it as the default.
    pub struct ScriptProperties for SCRIPT {
        code: String,
        interpreter: String,
        flags: Option<String>,
    }
}
