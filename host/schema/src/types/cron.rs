//! `cron_d` and `cron`.

use crate::property::{
    CRON_DAY, CRON_HOUR, CRON_MINUTE, CRON_MONTH, CRON_WEEKDAY, Callback, Class, Coercion, Deputy, INTEGER_OR_TEXT,
    Literal, Matcher, Property,
};
use crate::resource::{Action, ImplementedBy, ResourceType, action};
use crate::typed::{Mode, TextMap, properties};

/// Manages a file in `cron.d`.
pub static CRON_D: ResourceType = ResourceType {
    name: "cron_d",
    aliases: &[],
    doc: "Manages a file in /etc/cron.d with one job.",
    actions: &CRON_D_ACTIONS,
    default_action: "create",
    properties: &[
        &CRON_FAMILY,
        &[
            Property::text("cron_name", "The file's name.").name_property().identity(),
            Property::text(
                "predefined_value",
                "A word such as `@daily` in place of minute, hour, day, month and weekday.",
            )
            .equal_to(&[
                Literal::Text("@reboot"),
                Literal::Text("@yearly"),
                Literal::Text("@annually"),
                Literal::Text("@monthly"),
                Literal::Text("@weekly"),
                Literal::Text("@daily"),
                Literal::Text("@midnight"),
                Literal::Text("@hourly"),
            ]),
            COMMAND.required_for(&["create", "create_if_missing"]),
            Property::text("comment", "A remark in the file."),
            Property::mode("mode", "The file's permission bits.").default(Literal::Text("0600")),
            Property::integer("random_delay", "Minutes up to which the start may be delayed, by chance."),
        ],
    ],
    implemented_by: ImplementedBy::Host,
    introduced: Some("14.4"),
};

/// Manages a job in a user's crontab.
pub static CRON: ResourceType = ResourceType {
    name: "cron",
    aliases: &[],
    doc: "Manages one job in a user's crontab, found again by its name.",
    actions: &CRON_ACTIONS,
    default_action: "create",
    properties: &[
        &CRON_FAMILY,
        &[
            COMMAND.required_for(&["create"]),
            Property::symbol(
                "time",
                &[
                    Literal::Symbol("reboot"),
                    Literal::Symbol("yearly"),
                    Literal::Symbol("annually"),
                    Literal::Symbol("monthly"),
                    Literal::Symbol("weekly"),
                    Literal::Symbol("daily"),
                    Literal::Symbol("midnight"),
                    Literal::Symbol("hourly"),
                ],
                "A word in place of minute, hour, day, month and weekday.",
            ),
        ],
    ],
    implemented_by: ImplementedBy::Host,
    introduced: None,
};

static CRON_D_ACTIONS: [Action; 3] = [
    action("create", "Writes the file, or corrects what differs."),
    action("create_if_missing", "Writes the file if it does not exist."),
    action("delete", "Removes the file."),
];

static CRON_ACTIONS: [Action; 2] =
    [action("create", "Enters the job, or corrects it."), action("delete", "Removes the job from the crontab.")];

const COMMAND: Property = Property::text("command", "The command to run.").included_in("the user's jobs");

/// One field of the time.
const fn field(name: &'static str, callbacks: &'static [Callback], doc: &'static str) -> Property {
    Property::of(name, INTEGER_OR_TEXT, doc).callbacks(callbacks).default(Literal::Text("*"))
}

static CRON_FAMILY: [Property; 12] = [
    field("minute", &[CRON_MINUTE], "The minute, from 0 to 59."),
    field("hour", &[CRON_HOUR], "The hour, from 0 to 23."),
    field("day", &[CRON_DAY], "The day of the month, from 1 to 31."),
    field("month", &[CRON_MONTH], "The month, from 1 to 12 or by its English abbreviation."),
    Property::of(
        "weekday",
        &[Matcher::Class(Class::Integer), Matcher::Class(Class::Text), Matcher::Class(Class::Symbol)],
        "The day of the week, from 0 (Sunday) to 7 or by its English name.",
    )
    .coerce(Coercion::CronWeekday)
    .callbacks(&[CRON_WEEKDAY])
    .default(Literal::Text("*")),
    Property::text("user", "The user the job runs as.").default(Literal::Text("root")).deputy(Deputy::Account),
    Property::text("shell", "SHELL in the job's environment.").included_in("the user's jobs"),
    Property::text("path", "PATH in the job's environment.").included_in("the user's jobs"),
    Property::text("home", "HOME in the job's environment.").included_in("the user's jobs"),
    Property::text("mailto", "Whom cron mails the output to.").included_in("the user's jobs"),
    Property::map("environment", "Further variables of the job's environment.")
        .default(Literal::Map(&[]))
        .included_in("the user's jobs"),
    Property::map("time_out", "Options of the `timeout` command that the job runs under; a number is its duration.")
        .coerce(Coercion::Timeout)
        .default(Literal::Map(&[]))
        .since("15.7"),
];

properties! {
    /// The properties of `cron`.
    pub struct CronProperties for CRON {
        minute: String,
        hour: String,
        day: String,
        month: String,
        weekday: String,
        user: String,
        shell: Option<String>,
        path: Option<String>,
        home: Option<String>,
        mailto: Option<String>,
        environment: TextMap,
        time_out: TextMap,
        command: Option<String>,
        time: Option<String>,
    }
}

properties! {
    /// The properties of `cron_d`.
    pub struct CronDProperties for CRON_D {
        cron_name: String,
        minute: String,
        hour: String,
        day: String,
        month: String,
        weekday: String,
        user: String,
        shell: Option<String>,
        path: Option<String>,
        home: Option<String>,
        mailto: Option<String>,
        environment: TextMap,
        time_out: TextMap,
        command: Option<String>,
        predefined_value: Option<String>,
        comment: Option<String>,
        mode: Mode,
        random_delay: Option<String>,
    }
}
