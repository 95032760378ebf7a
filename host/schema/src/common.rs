//! The properties that every resource has, declared and documented once.
//!
//! Guards and notifications are not properties: they are part of a declaration. The guest handles `guard_interpreter`: it
//! builds the guard's command from it.

use crate::property::{BOOLEAN, Class, Coercion, Literal, MODE_IN_RANGE, Matcher, Property, TEXT_OR_INTEGER};

/// Properties of all types.
pub static COMMON: [Property; 8] = [
    Property::text("name", "The resource's name; lists are joined by commas.")
        .coerce(Coercion::JoinedByCommas)
        .no_state(),
    Property::of(
        "ignore_failure",
        &[
            Matcher::Equal(Literal::Boolean(true)),
            Matcher::Equal(Literal::Boolean(false)),
            Matcher::Equal(Literal::Symbol("quiet")),
            Matcher::Equal(Literal::Text("quiet")),
        ],
        "Whether the run goes on when this resource fails; `quiet` also keeps the error out of the output.",
    )
    .default(Literal::Boolean(false))
    .no_state(),
    Property::integer("retries", "How often a failed action is tried again.").default(Literal::Integer(0)).no_state(),
    Property::integer("retry_delay", "Seconds between two tries.").default(Literal::Integer(2)).no_state(),
    Property::of(
        "sensitive",
        BOOLEAN,
        "Whether content, commands and differences are kept out of output, logs and reports.",
    )
    .default(Literal::Boolean(false))
    .no_state(),
    Property::of(
        "compile_time",
        BOOLEAN,
        "Whether the resource runs at once when it is declared, and later only when it is notified.",
    )
    .default(Literal::Boolean(false))
    .no_state(),
    Property::of("umask", TEXT_OR_INTEGER, "The umask while the resource's actions run, as octal text or a number.")
        .coerce(Coercion::Mode)
        .callbacks(&[MODE_IN_RANGE])
        .no_state()
        .since("16.2"),
    Property::of(
        "guard_interpreter",
        &[Matcher::Class(Class::Symbol)],
        "The type of resource that runs the commands of guards.",
    )
    .coerce(Coercion::Symbol)
    .no_state(),
];
