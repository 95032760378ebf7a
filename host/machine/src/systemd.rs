//! systemd over its bus: what it says of units, and what it is told to do with those that a proof names.

use contract::{Account, Ended, ErrorKind, Raised};
use grants::GrantedService;
use std::time::{Duration, Instant};
use zbus::{Connection, DynamicType, OwnedObjectPath, OwnedVariant};

const DESTINATION: &str = "org.freedesktop.systemd1";
const PATH: &str = "/org/freedesktop/systemd1";
const MANAGER: &str = "org.freedesktop.systemd1.Manager";
const UNIT: &str = "org.freedesktop.systemd1.Unit";
const SERVICE: &str = "org.freedesktop.systemd1.Service";
const JOB: &str = "org.freedesktop.systemd1.Job";
const PROPERTIES: &str = "org.freedesktop.DBus.Properties";

/// Between two looks at a job.
const LOOK_AGAIN: Duration = Duration::from_millis(25);

/// The kinds of units. A name that ends in none of them is a service's.
const SUFFIXES: [&str; 11] = [
    ".service",
    ".socket",
    ".target",
    ".timer",
    ".path",
    ".mount",
    ".automount",
    ".slice",
    ".swap",
    ".scope",
    ".device",
];

/// What is done to a running service, or to one that does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// It is started, unless it runs.
    Start,
    /// It is stopped, if it runs.
    Stop,
    /// It is stopped and started.
    Restart,
    /// It reads its configuration again.
    Reload,
}

impl Way {
    /// Returns the verb for it, as init scripts take it.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Restart => "restart",
            Self::Reload => "reload",
        }
    }
}

/// What the service manager says of a service that starts with the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Standing {
    /// It starts with the system.
    pub enabled: bool,
    /// It cannot be started at all.
    pub masked: bool,
    /// It cannot be enabled or disabled: other units start it.
    pub fixed: bool,
}

/// The connection to systemd.
#[derive(Debug)]
pub struct Bus(Connection);

impl Bus {
    /// The machine's own.
    ///
    /// # Errors
    /// The bus cannot be reached.
    pub fn system() -> Result<Self, Raised> {
        let connected = zbus::block_on(Connection::system());
        connected
            .map(Self)
            .map_err(|error| Raised::new(ErrorKind::Service, format!("the system's bus cannot be reached: {error}")))
    }

    /// The name by which systemd knows a unit of which this may be an alias, without `.service`.
    ///
    /// # Errors
    /// systemd refuses the name, or does not answer.
    pub fn own_name(&self, name: &str) -> Result<String, Raised> {
        let unit = self.unit(name)?;
        let own = self.property(&unit, UNIT, "Id", name)?;
        Ok(own.strip_suffix(".service").unwrap_or(&own).to_owned())
    }

    /// Whether a service runs.
    ///
    /// # Errors
    /// systemd refuses the name, or does not answer.
    pub fn is_active(&self, name: &str) -> Result<bool, Raised> {
        let unit = self.unit(name)?;
        Ok(self.property(&unit, UNIT, "ActiveState", name)? == "active")
    }

    /// Whether a service starts with the system. As in Chef, what others start counts as enabled.
    ///
    /// # Errors
    /// systemd refuses the name, or does not answer.
    pub fn standing(&self, name: &str) -> Result<Standing, Raised> {
        let unit = self.unit(name)?;
        let state = self.property(&unit, UNIT, "UnitFileState", name)?;
        Ok(Standing {
            enabled: matches!(state.as_str(), "enabled" | "static" | "generated" | "alias" | "indirect"),
            masked: state == "masked",
            fixed: matches!(state.as_str(), "static" | "indirect"),
        })
    }

    /// Enables or disables a service, and has systemd read its units again.
    ///
    /// # Errors
    /// systemd refuses.
    pub fn enable(&self, service: &GrantedService, enable: bool) -> Result<(), Raised> {
        let name = service.name();
        let names = [unit_name(name)];
        let names = names.each_ref().map(String::as_str);
        if enable {
            self.call("EnableUnitFiles", &(names.as_slice(), false, true), name)?;
        } else {
            self.call("DisableUnitFiles", &(names.as_slice(), false), name)?;
        }
        self.call("Reload", &(), name).map(drop)
    }

    /// Makes a service impossible to start, or undoes that.
    ///
    /// # Errors
    /// systemd refuses.
    pub fn mask(&self, service: &GrantedService, mask: bool) -> Result<(), Raised> {
        let name = service.name();
        let names = [unit_name(name)];
        let names = names.each_ref().map(String::as_str);
        if mask {
            self.call("MaskUnitFiles", &(names.as_slice(), false, true), name)?;
        } else {
            self.call("UnmaskUnitFiles", &(names.as_slice(), false), name)?;
        }
        self.call("Reload", &(), name).map(drop)
    }

    /// Starts, stops, restarts or reloads a service and waits until systemd is through with it.
    ///
    /// # Errors
    /// The unit does not exist, it takes too long, or it failed.
    pub fn job(&self, service: &GrantedService, way: Way, timeout: Duration, account: &Account) -> Result<(), Raised> {
        let name = service.name();
        let method = match way {
            Way::Start => "StartUnit",
            Way::Stop => "StopUnit",
            Way::Restart => "RestartUnit",
            Way::Reload => "ReloadUnit",
        };
        let reply = self.call(method, &(unit_name(name).as_str(), "replace"), name)?;
        let job: OwnedObjectPath = reply.body().deserialize().map_err(|error| failed(name, &error))?;
        let begin = Instant::now();
        while self.property(job.as_str(), JOB, "State", name).is_ok() {
            if begin.elapsed() > timeout {
                let seconds = timeout.as_secs();
                let message = format!("service {name}: `{}` is not done after {seconds} seconds", way.verb());
                return Err(Raised::new(ErrorKind::CommandTimeout, message));
            }
            let over = |ended: Ended| Raised::new(ErrorKind::CommandTimeout, format!("service {name}: {ended}"));
            account.check_wall().map_err(over)?;
            std::thread::sleep(LOOK_AGAIN);
        }
        let unit = self.unit(name)?;
        let state = self.property(&unit, UNIT, "ActiveState", name)?;
        let result = self.property(&unit, SERVICE, "Result", name).unwrap_or_else(|_| "success".into());
        let well = match way {
            Way::Stop => state != "active",
            _ => state != "failed" && result == "success",
        };
        if well {
            return Ok(());
        }
        let message = format!("service {name} is {state} after `{}`: {result}", way.verb());
        Err(Raised::new(ErrorKind::Service, message).with_hint(format!("see `journalctl -u {}`", unit_name(name))))
    }

    /// The object of a unit, which systemd makes for every name that could be one.
    fn unit(&self, name: &str) -> Result<String, Raised> {
        let reply = self.call("LoadUnit", &(unit_name(name).as_str(),), name)?;
        let path: OwnedObjectPath = reply.body().deserialize().map_err(|error| failed(name, &error))?;
        Ok(path.as_str().to_owned())
    }

    fn property(&self, path: &str, interface: &str, property: &str, name: &str) -> Result<String, Raised> {
        let body = (interface, property);
        let reply = self.0.call_method(Some(DESTINATION), path, Some(PROPERTIES), "Get", &body);
        let reply = zbus::block_on(reply).map_err(|error| failed(name, &error))?;
        let value: OwnedVariant = reply.body().deserialize().map_err(|error| failed(name, &error))?;
        String::try_from(value).map_err(|error| failed(name, &error))
    }

    fn call(
        &self,
        method: &str,
        body: &(impl serde::Serialize + DynamicType),
        name: &str,
    ) -> Result<zbus::Message, Raised> {
        let reply = self.0.call_method(Some(DESTINATION), PATH, Some(MANAGER), method, body);
        zbus::block_on(reply).map_err(|error| failed(name, &error))
    }
}

fn unit_name(name: &str) -> String {
    if SUFFIXES.iter().any(|suffix| name.ends_with(suffix)) { name.into() } else { format!("{name}.service") }
}

fn failed(name: &str, error: &zbus::Error) -> Raised {
    let text = match error {
        zbus::Error::MethodError(class, Some(text), _) => format!("{text} ({})", class.as_str()),
        other => other.to_string(),
    };
    Raised::new(ErrorKind::Service, format!("service {name}: {text}"))
}

#[cfg(test)]
mod tests;
