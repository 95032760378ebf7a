//! `service`: sets whether a service runs, and whether it starts with the system.
//!
//! If systemd runs, and the root is the whole machine, wrun uses its D-Bus interface. Services in another root do not run, so
//! systemd does not manage them. Everywhere else, services start and stop through their init scripts, which `policy-rc.d` may
//! forbid. They are enabled by the links that systemd or the init tools will read when the root is booted.
//!
//! The order of checks, the sentences and classes are Chef's. Rejected: `systemctl`, because its output is for people and its
//! exit codes depend on the command.

mod command;
mod script;
mod together;
mod unit;

pub(crate) use together::require_together;
pub(crate) use unit::Links;

use crate::found::{Found, Thing};
use crate::operation::Operation;
use crate::plan::{Assumption, Plan, Provider, Step, View, Writer};
use crate::resources::asked;
use command::{Act, Commands};
use contract::{Certainty, Change, ErrorKind, LogLevel, Raised, Wanted};
use grants::GrantedService;
use machine::denied::denied;
use machine::remarks::remark;
use machine::systemd::{Bus, Standing, Way};
use schema::types::service::{ServicePattern, ServiceProperties};
use std::sync::Arc;

/// The cached connection to the root's service manager.
#[derive(Debug, Default)]
pub(crate) struct ServiceCache {
    /// systemd's bus. `None`: not looked for yet. `Some(None)`: systemd does not run here.
    bus: Option<Option<Arc<Bus>>>,
}

impl ServiceCache {
    /// Returns the connection to systemd, if it runs.
    fn bus(&mut self, root: &machine::root::Root) -> Result<Option<Arc<Bus>>, Raised> {
        if let Some(known) = &self.bus {
            return Ok(known.clone());
        }
        let runs = root.is_whole() && root.target_entry("/run/systemd/system").is_ok_and(|entry| entry.is_some());
        let bus = if runs { Some(Arc::new(Bus::system()?)) } else { None };
        self.bus = Some(bus.clone());
        Ok(bus)
    }
}

/// The provider of `service`.
pub(crate) struct Service;

/// Returns the resource's own commands.
fn commands(properties: &ServiceProperties, wanted: &Wanted<'_>) -> Result<Commands, Raised> {
    let ServicePattern { pattern } = asked::properties(wanted)?;
    Ok(Commands::of(properties, pattern.0.is_some()))
}

/// Returns the state of a unit from the root's files, for a root without a running systemd.
///
/// # Errors
/// The files cannot be read.
pub(super) fn unit_standing(root: &machine::root::Root, name: &str) -> Result<Standing, Raised> {
    unit::standing(root, name)
}

/// Returns the hint for a unit that has no file; see [`unit::near`].
pub(super) fn near_unit(name: &str, view: &View<'_>) -> Option<String> {
    unit::near(name, view)
}

/// Adds the hint for a unit that does not exist to an error.
pub(super) fn with_near(raised: Raised, near: Option<String>) -> Raised {
    match near {
        Some(near) => raised.with_hint(near),
        None => raised,
    }
}

/// If the name is an alias, also checks the grant of the unit or init script itself: a right to the alias does not include
/// the right to the unit.
///
/// # Errors
/// The unit is not granted.
pub(super) fn require_unit(name: &str, view: &mut View<'_>) -> Result<(), Raised> {
    let root = Arc::clone(view.root);
    let bus = view.caches.services.bus(&root)?;
    require_own_name(name, bus.as_deref(), view)
}

fn require_own_name(name: &str, bus: Option<&Bus>, view: &View<'_>) -> Result<(), Raised> {
    if view.grants.allows_everything() {
        return Ok(());
    }
    let plain = name.strip_suffix(".service").unwrap_or(name);
    let by_bus = bus.map(|bus| bus.own_name(name)).transpose()?;
    let by_script = script::own_name(view.root, plain);
    let aliased = [by_bus, unit::own_name(view.root, name), by_script].into_iter().flatten().filter(|own| own != plain);
    aliased.into_iter().try_for_each(|own| view.grants.service(&own).map(drop)).map_err(denied)
}

impl Provider for Service {
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        let key = wanted.declaration.key();
        let properties: ServiceProperties = asked::properties(wanted)?;
        let name = properties.service_name.clone();
        let granted = view.grants.service(&name).map_err(denied)?;
        if properties.user.is_some() {
            return Err(unsupported(format!("{key} does not support user services")));
        }
        let root = Arc::clone(view.root);
        let bus = view.caches.services.bus(&root)?;
        require_own_name(&name, bus.as_deref(), view)?;
        let commands = commands(&properties, wanted)?;
        let mut task = Task { key, name, granted, commands, bus, plan: Plan::default() };
        match wanted.action {
            "enable" => task.enable(true, &properties, view)?,
            "disable" => task.enable(false, &properties, view)?,
            "mask" => task.mask(true, view)?,
            "unmask" => task.mask(false, view)?,
            other => match way(other) {
                Some(way) => task.run(way, view)?,
                None => return Err(unsupported(format!("{} does not support :{other}", task.key))),
            },
        }
        Ok(task.plan)
    }

    fn ask(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<(), Raised> {
        let Err(_) = self.plan(wanted, view) else { return Ok(()) };
        let commands = commands(&asked::properties(wanted)?, wanted)?;
        let _status = commands.ask_status(view);
        match way(wanted.action) {
            Some(way) => commands.prepare(way, &wanted.declaration.key(), view).map(drop),
            None => Ok(()),
        }
    }

    fn survey(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<(), Raised> {
        commands(&asked::properties(wanted)?, wanted)?.ask_status(view)
    }

    fn others(&self) -> &'static [&'static str] {
        &["start", "stop", "restart", "reload"]
    }

    /// Only these actions are checked by a second plan. The operation itself checks whether a service runs, and only if that
    /// can be known: many init scripts start programs that end at once.
    fn settles(&self, action: &str) -> bool {
        matches!(action, "enable" | "disable" | "mask" | "unmask")
    }
}

/// Returns the operation of an action that starts or stops a service.
fn way(action: &str) -> Option<Way> {
    [Way::Start, Way::Stop, Way::Restart, Way::Reload].into_iter().find(|way| way.verb() == action)
}

fn unsupported(message: String) -> Raised {
    Raised::new(ErrorKind::UnsupportedAction, message)
}

/// One action of one service.
struct Task {
    key: String,
    name: String,
    granted: GrantedService,
    commands: Commands,
    bus: Option<Arc<Bus>>,
    plan: Plan,
}

/// Returns the state of a unit as a thing.
pub(super) fn thing(standing: Standing, name: &str) -> Thing {
    let thing = Thing::new("service", name).is("enabled", standing.enabled);
    thing.is("masked", standing.masked).is("fixed", standing.fixed)
}

impl Task {
    /// Plans an operation that sets a state of the service. `None` means that the state stays as it was.
    fn step(&mut self, verb: &str, state: Option<(&'static str, bool)>, operation: Operation) {
        let change = Change::new(format!("{verb} service {}", self.key));
        let change = match state {
            Some((aspect, is_so)) => change.turns(None, aspect, is_so),
            None => change,
        };
        self.plan.steps.push(Step::new(change, operation));
    }

    fn assume(&mut self, what: impl Into<String>) {
        self.plan.certainty.push(Certainty::Assumed(what.into()));
    }

    fn enable(&mut self, enable: bool, properties: &ServiceProperties, view: &mut View<'_>) -> Result<(), Raised> {
        let verb = if enable { "enable" } else { "disable" };
        let unit = unit::find(view.root, &self.name)?;
        let has_script = script::exists(view.root, &self.name);
        let rules = script::Priorities::read(&properties.priority)?;
        let by_unit = unit.is_some() && (!has_script || self.bus.is_some() || unit::systemd_is_installed(view.root));
        let standing = match (&self.bus, &unit) {
            (Some(bus), Some(_)) => bus.standing(&self.name)?,
            (_, Some(unit)) if by_unit => unit.standing(view.root)?,
            _ => Standing { enabled: script::is_enabled(view.root, &self.name), ..Standing::default() },
        };
        if standing.masked || standing.fixed {
            let why = if standing.masked { "masked" } else { "static or indirect" };
            let line = format!("{} cannot be {verb}d: it is {why}", self.key);
            remark(&view.settings.account, LogLevel::Debug, &line);
            return Ok(());
        }
        let assumed = view.assumed.service_at_boot(&self.name).filter(|_| view.why_run);
        let settled = match assumed {
            Some(enabled) => enabled == enable,
            None => standing.enabled == enable && (by_unit || rules.hold(view.root, &self.name)),
        };
        if settled {
            let is_missing = unit.is_none() && !has_script;
            if view.why_run && assumed.is_none() && is_missing && view.assumed.any_package() {
                let what = "an earlier package may bring the service, and enable it";
                self.plan.certainty.push(Certainty::Unknown(what.into()));
            }
            return Ok(());
        }
        if unit.is_none() && !has_script {
            if !view.why_run {
                return Err(self.missing(view));
            }
            self.assume("Unable to determine priority of service, assuming service would have been correctly installed earlier in the run.");
        }
        let (name, granted) = (self.name.clone(), self.granted.clone());
        if unit.is_some() {
            require_together(&name, enable, view)?;
        }
        let operation = match (self.bus.clone(), unit) {
            (Some(bus), Some(_)) => {
                Operation::EnableService(EnableService { bus, name, found: standing, granted, enable })
            }
            (_, unit) => {
                let links = unit.map(|unit| unit.links(enable, &self.granted, view)).transpose()?;
                let levels = rules.found(view.root, &self.name);
                let found = thing(standing, &self.name).with("levels", levels);
                let script = has_script.then_some(rules);
                Operation::EnableAtBoot(EnableAtBoot { links, script, name, found, _granted: granted, enable })
            }
        };
        self.step(verb, Some(("enabled", enable)), operation);
        self.plan.assume(Assumption::ServiceAtBoot(self.name.clone(), enable));
        Ok(())
    }

    fn mask(&mut self, mask: bool, view: &mut View<'_>) -> Result<(), Raised> {
        let standing = match &self.bus {
            Some(bus) => bus.standing(&self.name)?,
            None => unit::standing(view.root, &self.name)?,
        };
        if standing.masked == mask {
            return Ok(());
        }
        let verb = if mask { "mask" } else { "unmask" };
        if let Some(bus) = self.bus.clone() {
            let (name, granted) = (self.name.clone(), self.granted.clone());
            self.step(
                verb,
                Some(("masked", mask)),
                Operation::MaskService(MaskService { bus, name, found: standing, granted, mask }),
            );
            return Ok(());
        }
        let links = unit::mask(mask, &self.name, &self.granted, view)?;
        self.step(verb, Some(("masked", mask)), Operation::ChangeUnitLinks(links));
        Ok(())
    }

    fn run(&mut self, way: Way, view: &mut View<'_>) -> Result<(), Raised> {
        let act = self.commands.prepare(way, &self.key, view)?;
        let has_script = script::exists(view.root, &self.name);
        let own = self.commands.is_own(way);
        if self.bus.is_none() && !own && !has_script && !self.commands.has_init_command() {
            // In a real run, an earlier resource may have installed the service.
            let is_bound_to_fail =
                matches!(way, Way::Stop | Way::Reload) && view.settings.why_run && !self.may_come(view);
            if !view.why_run || is_bound_to_fail {
                return Err(self.missing(view));
            }
            self.assume(format!(
                "Init script '/etc/init.d/{}' doesn't exist, assuming a prior action would have created it.",
                self.name
            ));
            if matches!(way, Way::Start | Way::Restart) {
                self.step(way.verb(), None, Operation::Nothing);
            }
            return Ok(());
        }
        let running = self.commands.is_running(&self.name, self.bus.as_deref(), view, &mut self.plan.certainty)?;
        let idle = match way {
            Way::Start => running,
            Way::Stop | Way::Reload => !running,
            Way::Restart => false,
        };
        if idle {
            return Ok(());
        }
        let by_script = self.bus.is_none() && !own && !self.commands.has_init_command();
        if by_script && script::is_forbidden(&self.name, way.verb(), view, &mut self.plan.certainty) {
            let line = format!("policy-rc.d forbids to {} service {}", way.verb(), self.name);
            remark(&view.settings.account, LogLevel::Warn, &line);
            return Ok(());
        }
        let (name, granted, bus) = (self.name.clone(), self.granted.clone(), self.bus.clone());
        let near = if bus.is_some() && !own { unit::near(&name, view) } else { None };
        let found = running;
        let state = match way {
            Way::Start => Some(("running", true)),
            Way::Stop => Some(("running", false)),
            Way::Restart if !running => Some(("running", true)),
            Way::Restart | Way::Reload => None,
        };
        self.step(
            way.verb(),
            state,
            Operation::ControlService(Box::new(ControlService { act, name, found, granted, bus, near })),
        );
        Ok(())
    }

    /// Tells whether something before this action of a dry run may create the service's init script.
    fn may_come(&self, view: &View<'_>) -> bool {
        let overlay = view.commands.overlay();
        let script = format!("{}/{}", script::FOLDER, self.name);
        overlay.left_out().is_anything() || overlay.has_changed(&script)
    }

    /// Returns Chef's error for a service that does not exist, with a hint about an existing unit.
    fn missing(&self, view: &View<'_>) -> Raised {
        let raised = Raised::new(ErrorKind::Service, format!("/etc/init.d/{} does not exist!", self.name));
        match unit::find(view.root, &self.name) {
            Ok(Some(_)) => raised.with_hint("there is a unit for systemd, but systemd does not run here"),
            _ => {
                let near = unit::near(&self.name, view);
                raised.with_hint(near.unwrap_or_else(|| "is the package that brings the service installed?".into()))
            }
        }
    }
}

/// A unit to enable or disable through systemd.
#[derive(Debug)]
pub(crate) struct EnableService {
    bus: Arc<Bus>,
    name: String,
    /// The state that systemd reported when planned.
    found: Standing,
    granted: GrantedService,
    /// True to enable, false to disable.
    enable: bool,
}

impl EnableService {
    /// Returns the state that systemd reported when planned.
    pub(crate) fn found(&self) -> Found {
        Found::of([thing(self.found, &self.name)])
    }

    /// Enables or disables the unit through systemd.
    ///
    /// # Errors
    /// systemd refuses.
    pub(crate) fn carry_out(self, _writer: &mut Writer<'_>) -> Result<(), Raised> {
        self.bus.enable(&self.granted, self.enable)
    }
}

/// A service to enable or disable in the root's files, because no service manager runs.
#[derive(Debug)]
pub(crate) struct EnableAtBoot {
    /// The links of its unit. `None`: the service does not have a unit.
    links: Option<Links>,
    /// The run levels of its init script. `None`: the service does not have an init script.
    script: Option<script::Priorities>,
    name: String,
    /// The state in the root's files when planned.
    found: Thing,
    _granted: GrantedService,
    /// True to enable, false to disable.
    enable: bool,
}

impl EnableAtBoot {
    /// Returns the state in the root's files when planned, and the links of the unit.
    pub(crate) fn found(&self) -> Found {
        let links = self.links.as_ref().map_or(Found::Nothing, Links::found);
        Found::of([self.found.clone()]).and(links)
    }

    /// Creates or removes the links of the unit, then those of the init script.
    ///
    /// # Errors
    /// The machine refuses, or `update-rc.d` fails.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        self.links.map_or(Ok(()), |links| links.carry_out(writer))?;
        self.script.map_or(Ok(()), |rules| script::enable(writer, &self.name, self.enable, &rules))
    }
}

/// A unit to mask or unmask through systemd.
#[derive(Debug)]
pub(crate) struct MaskService {
    bus: Arc<Bus>,
    name: String,
    /// The state that systemd reported when planned.
    found: Standing,
    granted: GrantedService,
    /// True to mask, false to unmask.
    mask: bool,
}

impl MaskService {
    /// Returns the state that systemd reported when planned.
    pub(crate) fn found(&self) -> Found {
        Found::of([thing(self.found, &self.name)])
    }

    /// Masks or unmasks the unit through systemd.
    ///
    /// # Errors
    /// systemd refuses.
    pub(crate) fn carry_out(self, _writer: &mut Writer<'_>) -> Result<(), Raised> {
        self.bus.mask(&self.granted, self.mask)
    }
}

/// A service to start, stop, restart or reload.
#[derive(Debug)]
pub(crate) struct ControlService {
    act: Act,
    name: String,
    /// True if the service ran when planned.
    found: bool,
    granted: GrantedService,
    /// The connection to systemd. `None`: the init script is used.
    bus: Option<Arc<Bus>>,
    /// The hint if systemd does not know the unit.
    near: Option<String>,
}

impl ControlService {
    /// Returns whether the service ran when planned.
    pub(crate) fn found(&self) -> Found {
        Found::of([Thing::new("service", &self.name).is("running", self.found)])
    }

    /// Starts or stops the service, and waits until it has that state.
    ///
    /// # Errors
    /// A command or the service manager fails, or the service does not reach the declared state.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        let done = self.act.run(&self.name, &self.granted, self.bus.as_deref(), writer);
        done.map_err(|raised| with_near(raised, self.near))
    }
}
