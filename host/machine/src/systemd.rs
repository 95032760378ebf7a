//! systemd over D-Bus: reads the state of units, and changes the units for which there is a proof.

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

/// The interval for checking a job.
const LOOK_AGAIN: Duration = Duration::from_millis(25);

/// The suffixes of unit names. A name without such a suffix is that of a service.
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

/// An operation on a running or stopped service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Starts the service unless it runs.
    Start,
    /// Stops the service if it runs.
    Stop,
    /// Stops and starts the service.
    Restart,
    /// Makes the service read its configuration again.
    Reload,
}

impl Way {
    /// Returns the verb for init scripts, such as `start`.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Restart => "restart",
            Self::Reload => "reload",
        }
    }
}

/// The boot state of a service, as systemd reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Standing {
    /// True if the service starts with the system.
    pub enabled: bool,
    /// True if the service cannot be started at all.
    pub masked: bool,
    /// True if the service cannot be enabled or disabled, because other units start it.
    pub fixed: bool,
}

/// The connection to systemd.
#[derive(Debug)]
pub struct Bus(Connection);

impl Bus {
    /// Connects to the system bus of the machine.
    ///
    /// # Errors
    /// The bus cannot be reached.
    pub fn system() -> Result<Self, Raised> {
        let connected = zbus::block_on(Connection::system());
        connected
            .map(Self)
            .map_err(|error| Raised::new(ErrorKind::Service, format!("the system's bus cannot be reached: {error}")))
    }

    /// Returns the unit's own name, without `.service`. The given name may be an alias.
    ///
    /// # Errors
    /// systemd refuses the name, or does not answer.
    pub fn own_name(&self, name: &str) -> Result<String, Raised> {
        let unit = self.unit(name)?;
        let own = self.property(&unit, UNIT, "Id", name)?;
        Ok(own.strip_suffix(".service").unwrap_or(&own).to_owned())
    }

    /// Tells whether a service runs.
    ///
    /// # Errors
    /// systemd refuses the name, or does not answer.
    pub fn is_active(&self, name: &str) -> Result<bool, Raised> {
        let unit = self.unit(name)?;
        Ok(self.property(&unit, UNIT, "ActiveState", name)? == "active")
    }

    /// Returns whether a service starts with the system. As in Chef, a service that other units start counts as enabled.
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

    /// Enables or disables a service, and makes systemd reload its units. As with `systemctl enable`, a link that exists stays.
    ///
    /// # Errors
    /// systemd refuses; an alias of the service is a link to another unit.
    pub fn enable(&self, service: &GrantedService, enable: bool) -> Result<(), Raised> {
        let name = service.name();
        let names = [unit_name(name)];
        let names = names.each_ref().map(String::as_str);
        if enable {
            self.call("EnableUnitFiles", &(names.as_slice(), false, false), name)?;
        } else {
            self.call("DisableUnitFiles", &(names.as_slice(), false), name)?;
        }
        self.call("Reload", &(), name).map(drop)
    }

    /// Makes a service impossible to start, or undoes that. As with `systemctl mask`, a unit file of the administrator stays.
    ///
    /// # Errors
    /// systemd refuses; the unit has a file of the administrator.
    pub fn mask(&self, service: &GrantedService, mask: bool) -> Result<(), Raised> {
        let name = service.name();
        let names = [unit_name(name)];
        let names = names.each_ref().map(String::as_str);
        if mask {
            self.call("MaskUnitFiles", &(names.as_slice(), false, false), name)?;
        } else {
            self.call("UnmaskUnitFiles", &(names.as_slice(), false), name)?;
        }
        self.call("Reload", &(), name).map(drop)
    }

    /// Starts, stops, restarts or reloads a service and waits until systemd has finished the job.
    ///
    /// # Errors
    /// The unit does not exist, the job exceeds the timeout, or the service failed.
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

    /// Returns the D-Bus object of a unit. systemd creates one for every possible unit name.
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
