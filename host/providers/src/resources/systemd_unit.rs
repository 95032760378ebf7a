//! `systemd_unit`: writes a unit's file, and controls the unit through systemd.
//!
//! The file is written like any other and needs the right to its path, since it defines what runs as root. The other actions
//! need the right to the service. As in Chef, everything but the file uses `systemctl`. In a root without a running systemd,
//! it creates links and skips the rest.
//!
//! Rejected: the D-Bus interface that `service` uses. It does not have calls for half of these actions as `systemctl` does
//! them.

mod content;

use crate::found::Found;
use crate::operation::Operation;
use crate::plan::{Plan, PlannedPart, Provider, Step, View, Writer};
use crate::resources::asked;
use crate::resources::file_content::{self, FileWish, Text, wish};
use crate::resources::service::{near_unit, require_together, require_unit, thing, unit_standing, with_near};
use crate::standing;
use contract::{Change, ErrorKind, Raised, Wanted};
use grants::GrantedService;
use machine::command::{Launch, require_success};
use machine::denied::denied;
use machine::systemd::Standing;
use schema::typed::Verification;
use schema::types::systemd_unit::SystemdUnitProperties;

/// The provider of `systemd_unit`.
pub(crate) struct SystemdUnit;

impl Provider for SystemdUnit {
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        let unit = Unit::read(wanted, view)?;
        match wanted.action {
            "create" => unit.create(wanted, view),
            "delete" => unit.delete(wanted, view),
            action => unit.control(action, view),
        }
    }

    /// Only these actions are checked by a second plan. The effect of the others is decided by systemd: a unit without
    /// `[Install]` is not enabled by `enable`.
    fn settles(&self, action: &str) -> bool {
        matches!(action, "create" | "delete")
    }
}

/// Returns the path and the text of a unit's file.
pub(crate) fn file(properties: &SystemdUnitProperties) -> (String, String) {
    (path(properties), content::text(&properties.content))
}

fn path(properties: &SystemdUnitProperties) -> String {
    let folder = if properties.user.is_some() { "user" } else { "system" };
    format!("/etc/systemd/{folder}/{}", properties.unit_name)
}

/// The state in which an action has an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    Always,
    Disabled,
    Enabled,
    Unmasked,
    Masked,
    Inactive,
    Active,
}

/// The actions besides those on the file: the state in which they act, the beginning of the sentence, and systemctl's verb.
const CONTROLS: [(&str, When, &str, &str); 14] = [
    ("preset", When::Always, "restoring enable/disable preset configuration for", "preset"),
    ("revert", When::Always, "reverting to vendor version of", "revert"),
    ("enable", When::Disabled, "enabling", "enable"),
    ("disable", When::Enabled, "disabling", "disable"),
    ("reenable", When::Always, "reenabling", "reenable"),
    ("mask", When::Unmasked, "masking", "mask"),
    ("unmask", When::Masked, "unmasking", "unmask"),
    ("start", When::Inactive, "starting", "start"),
    ("stop", When::Active, "stopping", "stop"),
    ("restart", When::Always, "restarting", "restart"),
    ("reload", When::Active, "reloading", "reload"),
    ("try_restart", When::Always, "try-restarting", "try-restart"),
    ("reload_or_restart", When::Always, "reload-or-restarting", "reload-or-restart"),
    ("reload_or_try_restart", When::Always, "reload-or-try-restarting", "reload-or-try-restart"),
];

/// The verbs with which `systemctl` also enables or disables other units: those that `Also=` names.
const ENABLING: [&str; 4] = ["enable", "disable", "reenable", "preset"];

/// More folders from which `revert` removes a unit's files and drop-ins.
const REVERTED: [&str; 5] = [
    "/etc/systemd/system",
    "/etc/systemd/system.control",
    "/run/systemd/system",
    "/run/systemd/system.control",
    "/run/systemd/transient",
];

/// The state of a unit, from systemd or from the root's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Status {
    standing: Standing,
    active: bool,
}

impl Status {
    fn calls_for(self, when: When) -> bool {
        let Standing { enabled, masked, fixed } = self.standing;
        match when {
            When::Always => true,
            When::Disabled => !enabled && !fixed,
            When::Enabled => enabled && !fixed,
            When::Unmasked => !masked,
            When::Masked => masked,
            When::Inactive => !self.active,
            When::Active => self.active,
        }
    }

    /// Parses `UnitFileState` and `ActiveState` from the output of `systemctl show`.
    fn parse(text: &str) -> Self {
        let value = |key: &str| text.lines().find_map(|line| line.trim().strip_prefix(key)?.strip_prefix('='));
        let state = value("UnitFileState").unwrap_or_default();
        Self {
            standing: Standing {
                enabled: matches!(state, "enabled" | "static" | "generated" | "alias" | "indirect"),
                masked: state == "masked",
                fixed: matches!(state, "static" | "indirect"),
            },
            active: value("ActiveState") == Some("active"),
        }
    }
}

/// One `systemd_unit` resource, with its properties checked.
struct Unit {
    properties: SystemdUnitProperties,
    path: String,
    /// The checks that must accept the file's content.
    verify: Vec<Verification>,
    systemctl: Systemctl,
}

impl Unit {
    fn read(wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Self, Raised> {
        let properties: SystemdUnitProperties = asked::properties(wanted)?;
        let name = &properties.unit_name;
        if name.is_empty() || name.starts_with(['-', '.']) || name.contains(['/', '\0']) {
            return Err(Raised::new(ErrorKind::InvalidArgument, format!("{name:?} is not a name of a unit")));
        }
        let systemctl = Systemctl::of(properties.user.clone(), view)?;
        let path = path(&properties);
        let verify = Verification { line: wish::SYSTEMD_UNIT.to_owned(), ..Verification::default() };
        let verify = if properties.verify { vec![verify] } else { vec![] };
        Ok(Self { properties, path, verify, systemctl })
    }

    /// The name of the unit with its suffix.
    fn name(&self) -> &str {
        &self.properties.unit_name
    }

    fn create(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        let text = content::text(&self.properties.content);
        content::check(&text)?;
        let wish = self.wish(wanted);
        // Chef compares only the content: a different mode alone is not corrected.
        if wish.is_text(view, text.as_bytes())? {
            return Ok(Plan::up_to_date());
        }
        let inner = file_content::plan_create(&wish, &Text(text), wanted, view)?;
        Ok(self.around(format!("creating unit: {}", self.name()), "create", inner))
    }

    fn delete(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        let inner = file_content::plan_delete(&self.wish(wanted), view)?;
        Ok(self.around(format!("deleting unit: {}", self.name()), "delete", inner))
    }

    /// Adds the file's own plan as a part, and then the reload of systemd. If the file needs no change, the plan has no
    /// steps.
    fn around(&self, sentence: String, action: &'static str, inner: Plan) -> Plan {
        if inner.steps.is_empty() {
            return inner;
        }
        let (staging, rejection) = (inner.staging, inner.rejection);
        let inner = Plan { staging: None, rejection: None, ..inner };
        let file = PlannedPart { kind: "file", name: self.path.clone(), action, cookbook: None, in_dry_run: false };
        let mut plan = Plan::steps(vec![Step::new(Change::new(sentence), Operation::Nothing)]);
        plan.add_part(file, inner);
        if self.properties.triggers_reload {
            let systemctl = self.systemctl.clone();
            plan.steps.push(Step::silent(Operation::ReloadSystemd(ReloadSystemd { systemctl })));
        }
        Plan { staging, rejection, ..plan }
    }

    fn wish<'a>(&'a self, wanted: &Wanted<'a>) -> FileWish<'a> {
        let root = file_content::Account::Number(0);
        let access = file_content::Access { owner: Some(root), group: Some(root), mode: Some(0o644) };
        FileWish { access, verify: &self.verify, ..FileWish::plain(&self.path, wanted) }
    }

    fn control(&self, action: &str, view: &mut View<'_>) -> Result<Plan, Raised> {
        let known = CONTROLS.iter().find(|(name, ..)| *name == action);
        let Some((_, when, doing, word)) = known.copied() else {
            let message = format!("systemd_unit[{}] does not support :{action}", self.name());
            return Err(Raised::new(ErrorKind::UnsupportedAction, message));
        };
        let granted = view.grants.service(self.name()).map_err(denied)?;
        if self.systemctl.user.is_none() {
            require_unit(self.name(), view)?;
        }
        if action == "revert" {
            self.may_revert(view)?;
        }
        let found = self.status(view)?;
        if !found.calls_for(when) {
            return Ok(Plan::up_to_date());
        }
        if self.systemctl.user.is_none() && ENABLING.contains(&word) {
            require_together(self.name(), word != "disable", view)?;
        }
        let (name, systemctl) = (self.name().to_owned(), self.systemctl.clone());
        let change = Change::new(format!("{doing} unit: {name}"));
        let near = near_unit(&name, view).filter(|_| systemctl.user.is_none());
        let operation = ControlUnit { systemctl, word, name, found, near, _granted: granted };
        Ok(Plan::steps(vec![Step::new(change, Operation::ControlUnit(operation))]))
    }

    /// Checks the right to remove everything that was written for the unit: systemd removes its files and drop-ins in each of
    /// its folders.
    fn may_revert(&self, view: &View<'_>) -> Result<(), Raised> {
        let _path = view.grants.manage_path(&self.path).map_err(denied)?;
        let _drop_ins = view.grants.manage_tree(&format!("{}.d", self.path)).map_err(denied)?;
        for folder in REVERTED {
            let path = format!("{folder}/{}", self.name());
            if view.root.entry(&path)?.is_some() {
                let _path = view.grants.manage_path(&path).map_err(denied)?;
            }
            if view.root.entry(&format!("{path}.d"))?.is_some() {
                let _drop_ins = view.grants.manage_tree(&format!("{path}.d")).map_err(denied)?;
            }
        }
        Ok(())
    }

    /// Returns the state from systemd if it runs, else from the root's files.
    fn status(&self, view: &mut View<'_>) -> Result<Status, Raised> {
        let lives = view.root.is_whole() && view.root.target_entry("/run/systemd/system")?.is_some();
        if !lives {
            return Ok(Status { standing: unit_standing(view.root, self.name())?, active: false });
        }
        let launch = self.systemctl.launch(&["show", "-p", "UnitFileState", "-p", "ActiveState", self.name()]);
        let outcome = view.query(&launch).map_err(|failure| failure.into_raised(&launch))?;
        Ok(Status::parse(&String::from_utf8_lossy(&outcome.output)))
    }
}

/// The instance that systemctl controls: the system's, or that of one user.
#[derive(Debug, Clone)]
struct Systemctl {
    user: Option<(String, u32)>,
    /// True below another root: the systemd that runs is that of the machine that wrun runs on, and must hear nothing.
    is_offline: bool,
}

impl Systemctl {
    fn of(user: Option<String>, view: &mut View<'_>) -> Result<Self, Raised> {
        let is_offline = !view.root.is_whole();
        let Some(name) = user else { return Ok(Self { user: None, is_offline }) };
        let _granted = view.grants.user(&name, standing::of_user(&name, view)).map_err(denied)?;
        let uid = view.users().user(&name).map(|user| user.uid);
        let uid = uid.ok_or_else(|| Raised::new(ErrorKind::InvalidArgument, format!("can't find user for {name}")))?;
        Ok(Self { user: Some((name, uid)), is_offline })
    }

    fn launch(&self, words: &[&str]) -> Launch {
        let whose = if self.user.is_some() { "--user" } else { "--system" };
        let launch = Launch::program("systemctl", [&[whose], words].concat());
        let launch = if self.is_offline { launch.environment("SYSTEMD_OFFLINE", "1") } else { launch };
        match &self.user {
            None => launch,
            Some((name, uid)) => {
                launch.user(name).environment("DBUS_SESSION_BUS_ADDRESS", &format!("unix:path=/run/user/{uid}/bus"))
            }
        }
    }

    fn run(&self, writer: &mut Writer<'_>, words: &[&str]) -> Result<(), Raised> {
        let launch = self.launch(words);
        let outcome = writer.launch(&launch).map_err(|failure| failure.into_raised(&launch))?;
        require_success(&launch, &outcome, &[0])
    }
}

/// The operation that makes systemd reload its unit files.
#[derive(Debug)]
pub(crate) struct ReloadSystemd {
    systemctl: Systemctl,
}

impl ReloadSystemd {
    /// Makes systemd reload its unit files.
    ///
    /// # Errors
    /// `systemctl` fails.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        self.systemctl.run(writer, &["daemon-reload"])
    }
}

/// One call of `systemctl` for a unit.
#[derive(Debug)]
pub(crate) struct ControlUnit {
    systemctl: Systemctl,
    /// systemctl's verb, such as `start`.
    word: &'static str,
    name: String,
    /// The state of the unit when planned.
    found: Status,
    /// The hint if the unit does not exist.
    near: Option<String>,
    _granted: GrantedService,
}

impl ControlUnit {
    /// Returns the state of the unit when planned.
    pub(crate) fn found(&self) -> Found {
        Found::of([thing(self.found.standing, &self.name).is("running", self.found.active)])
    }

    /// Runs `systemctl`.
    ///
    /// # Errors
    /// `systemctl` fails.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        self.systemctl.run(writer, &[self.word, &self.name]).map_err(|raised| with_near(raised, self.near))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_systemctl_says_is_read() {
        let check = |text: &str, (enabled, masked, fixed, active): (bool, bool, bool, bool)| {
            let expect = Status { standing: Standing { enabled, masked, fixed }, active };
            assert_eq!(Status::parse(text), expect, "{text}");
        };
        check("ActiveState=inactive\nUnitFileState=static\n", (true, false, true, false));
        check("UnitFileState=enabled\nActiveState=active\n", (true, false, false, true));
        check("UnitFileState=enabled-runtime\nActiveState=activating\n", (false, false, false, false));
        check("UnitFileState=masked\nActiveState=failed\n", (false, true, false, false));
        check("UnitFileState=\nActiveState=inactive\n", (false, false, false, false));
        check("System has not been booted with systemd\n", (false, false, false, false));
    }

    #[test]
    fn actions_have_something_to_do_when_chef_has() {
        let status = |enabled, masked, fixed, active| Status { standing: Standing { enabled, masked, fixed }, active };
        let busy = |status: Status| {
            let due = CONTROLS.iter().filter(|(_, when, ..)| *when != When::Always && status.calls_for(*when));
            due.map(|(name, ..)| *name).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(busy(Status::default()), "enable mask start");
        assert_eq!(busy(status(true, false, false, true)), "disable mask stop reload");
        assert_eq!(busy(status(true, false, true, true)), "mask stop reload");
        assert_eq!(busy(status(false, true, false, false)), "enable unmask start");
    }
}
