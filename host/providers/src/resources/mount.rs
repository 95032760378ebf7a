//! `mount`: mounts and unmounts file systems, now and at boot.
//!
//! The present mounts come from `findmnt`, which sees the same as the root's own programs. `mount` and `umount` do the
//! changes, because they know the helpers of file systems. `/etc/fstab` is written like any other file, with one changed
//! line. Order of checks, sentences and classes are those of Chef.

mod calls;
mod mounted;
mod table;

pub(crate) use calls::ChangeMounts;

use crate::operation::Operation;
use crate::plan::{Plan, Provider, Step, View};
use crate::resources::file_content::{self, FileWish, Text};
use crate::resources::{asked, nested};
use crate::withheld::Withheld;
use calls::{Call, Device, MountedThere};
use contract::{Certainty, Change, ErrorKind, Raised, Wanted};
use grants::{Denied, GrantedMount, GrantedPath, MountAsked, PolicyGrants};
use machine::command::Launch;
use machine::denied::denied;
use machine::guest::ForeseenFile;
use machine::root::{MAX_GROWN_TABLE, absent};
use machine::written;
use schema::types::mount::MountProperties;
use table::Line;

/// The table of file systems that are mounted at boot.
pub(crate) const TABLE: &str = "/etc/fstab";

/// File system types without a device on the node.
const WITHOUT_DEVICE: [&str; 6] = ["cgroup", "tmpfs", "fuse", "vboxsf", "zfs", "efivarfs"];

/// The provider of `mount`.
pub(crate) struct Mount;

impl Provider for Mount {
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        let task = Task::read(wanted, view)?;
        match wanted.action {
            "mount" => task.mount(view),
            "umount" | "unmount" => task.unmount(view),
            "remount" => task.remount(view),
            "enable" => task.enable(wanted, view),
            "disable" => task.disable(wanted, view),
            other => {
                let message = format!("{} does not support :{other}", wanted.declaration.key());
                Err(Raised::new(ErrorKind::UnsupportedAction, message))
            }
        }
    }

    fn settles(&self, action: &str) -> bool {
        action != "remount"
    }
}

/// How the device is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    Device,
    Label,
    Uuid,
}

/// One `mount` resource, with its properties checked.
struct Task {
    /// The mount point as written in the cookbook.
    mount_point: String,
    /// The path to which `mount_point` resolves.
    real_mount_point: String,
    device: String,
    named: Named,
    /// The kernel's name of the device: the same, or the device with the given label or UUID.
    real_device: String,
    /// The target of a link at the device's path.
    link: Option<String>,
    granted: GrantedMount,
    options: Vec<String>,
    supports_remount: bool,
    line: Line,
}

impl Task {
    fn read(wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Self, Raised> {
        let MountProperties { mount_point, device, device_type, fstype: kind, options, dump, pass, supports } =
            asked::properties(wanted)?;
        let Some(device) = device else {
            return Err(Raised::new(ErrorKind::InvalidValue, "device is a required property"));
        };
        let named = match device_type.as_str() {
            "label" => Named::Label,
            "uuid" => Named::Uuid,
            _ => Named::Device,
        };
        let device = without_slash(&device).to_owned();
        let in_table_as_written = match named {
            Named::Device => device.clone(),
            Named::Label => format!("LABEL={device}"),
            Named::Uuid => format!("UUID={device}"),
        };
        let in_table = match named {
            Named::Device => real_device(&device, (&kind, &options), view),
            Named::Label | Named::Uuid => in_table_as_written.clone(),
        };
        let joined = if options.is_empty() { "defaults".to_owned() } else { options.join(",") };
        let real_mount_point = real_mount_point(&mount_point, view);
        let line = Line {
            device: table::escape(&in_table),
            // The resolved path is both granted and written: a link could lead elsewhere when the table is read.
            mount_point: table::escape(&real_mount_point),
            kind: kind.clone(),
            options: joined.clone(),
            dump: dump.0,
            pass: pass.0,
        };
        let asked = MountAsked { device: &line.device, mount_point: &line.mount_point, kind: &kind, options: &joined };
        let granted = view.grants.mount(&asked).map_err(|denial| {
            let (device, mount_point) = (table::escape(&in_table_as_written), table::escape(&mount_point));
            let as_written = MountAsked { device: &device, mount_point: &mount_point, ..asked };
            written::mount(denial, &as_written, view.grants)
        })?;
        let real_device = match named {
            Named::Device => in_table.clone(),
            Named::Label | Named::Uuid => find_device(&in_table, view)?,
        };
        let link = link_of(&real_device, view);
        let supports_remount = supports.get("remount").is_some_and(|flag| flag.as_bool() == Some(true));
        Ok(Self {
            mount_point,
            real_mount_point,
            device,
            named,
            real_device,
            link,
            granted,
            options,
            supports_remount,
            line,
        })
    }

    /// Returns the device as Chef names it: as in the table, if it has a line. The line becomes part of the found state.
    fn shown(&self, found: &mut MountedThere, view: &View<'_>) -> Result<String, Raised> {
        let table = table_text(view)?;
        let line = table::find(&table, |line| self.is_ours(line));
        found.table = Withheld(line.as_ref().map(Line::text));
        Ok(line.map_or_else(|| self.device.clone(), |line| line.device))
    }

    /// Tells whether a line of the table is for this mount.
    fn is_ours(&self, line: &Line) -> bool {
        let device = line.device == self.line.device || self.is_device(&table::unescape(&line.device));
        let mount_point = table::unescape(&line.mount_point);
        device && (mount_point == self.mount_point || mount_point == self.real_mount_point)
    }

    /// Tells whether a text is a name of the device.
    fn is_device(&self, name: &str) -> bool {
        let slash = self.is_remote() && name.strip_suffix('/') == Some(&self.real_device);
        !self.real_device.is_empty() && (name == self.real_device || slash || Some(name) == self.link.as_deref())
    }

    fn is_remote(&self) -> bool {
        calls::is_remote(&self.device, &self.line.kind, &self.options)
    }

    /// Returns whether the file system is mounted, and all mounts at the mount point.
    fn look(&self, view: &mut View<'_>) -> Result<(bool, MountedThere), Raised> {
        let launch = mounted::launch();
        let outcome = view.query(&launch).map_err(|failure| failure.into_raised(&launch))?;
        let text = mounted::answer(&outcome)?;
        let place = table::unescape(self.granted.mount_point());
        let loops = || {
            let launch = Launch::program("losetup", ["-a"]);
            view.query(&launch).map(|outcome| String::from_utf8_lossy(&outcome.output).into_owned()).unwrap_or_default()
        };
        let is_mounted = mounted::is_mounted(&text, &place, &self.real_device, |name| self.is_device(name), loops);
        let lines = mounted::lines(&text, &place);
        Ok((is_mounted, MountedThere { place, lines: Withheld(lines), table: Withheld(None) }))
    }

    fn mount(&self, view: &mut View<'_>) -> Result<Plan, Raised> {
        let (is_mounted, mut found) = self.look(view)?;
        if is_mounted {
            return Ok(Plan::up_to_date());
        }
        let mut plan = Plan::default();
        self.require_both(view, &mut plan)?;
        let sentence = format!("mount {} to {}", self.shown(&mut found, view)?, self.mount_point);
        plan.steps.push(step(mounts(sentence, true), vec![self.mount_call()], self.granted.clone(), found));
        Ok(plan)
    }

    /// Fails unless device and mount point exist. A dry run cannot know whether they would.
    fn require_both(&self, view: &View<'_>, plan: &mut Plan) -> Result<(), Raised> {
        let there = |path: &str| view.root.target_entry(path).is_ok_and(|entry| entry.is_some());
        let should_exist =
            self.device != "none" && !self.is_remote() && !WITHOUT_DEVICE.contains(&self.line.kind.as_str());
        let missing = if should_exist && !there(&self.real_device) {
            format!("Device {} does not exist", self.device)
        } else if self.mount_point != "none" && !there(&self.mount_point) {
            format!("Mount point {} does not exist", self.mount_point)
        } else {
            return Ok(());
        };
        if !view.why_run {
            return Err(Raised::new(ErrorKind::Mount, missing));
        }
        plan.certainty.push(Certainty::Assumed(format!("{missing}, assuming a prior action would have made it")));
        Ok(())
    }

    fn mount_call(&self) -> Call {
        let device = match self.named {
            Named::Device => Device::Path(self.real_device.clone()),
            Named::Label => Device::Label(self.device.clone()),
            Named::Uuid => Device::Uuid(self.device.clone()),
        };
        let (kind, options) = (self.line.kind.clone(), self.options.clone());
        Call::Mount { kind, options, device, mount_point: self.real_mount_point.clone() }
    }

    fn unmount_call(&self) -> Call {
        Call::Unmount { mount_point: self.real_mount_point.clone() }
    }

    fn unmount(&self, view: &mut View<'_>) -> Result<Plan, Raised> {
        let (is_mounted, mut found) = self.look(view)?;
        if !is_mounted {
            return Ok(Plan::up_to_date());
        }
        let sentence = format!("unmount {}", self.shown(&mut found, view)?);
        Ok(Plan::steps(vec![step(mounts(sentence, false), vec![self.unmount_call()], self.granted.clone(), found)]))
    }

    fn remount(&self, view: &mut View<'_>) -> Result<Plan, Raised> {
        let (is_mounted, mut found) = self.look(view)?;
        if !is_mounted {
            return Ok(Plan::up_to_date());
        }
        let shown = self.shown(&mut found, view)?;
        if self.supports_remount {
            let (options, device) = (self.options.clone(), self.real_device.clone());
            let call = Call::Remount { options, device, mount_point: self.real_mount_point.clone() };
            return Ok(Plan::steps(vec![step(
                Change::new(format!("remount {shown}")),
                vec![call],
                self.granted.clone(),
                found,
            )]));
        }
        let (unmount, mount) = (self.unmount_call(), self.mount_call());
        Ok(Plan::steps(vec![
            step(Change::new(format!("unmount {shown}")), vec![unmount], self.granted.clone(), found.clone()),
            step(Change::new(format!("mount {shown}")), vec![mount], self.granted.clone(), found.without_last()),
        ]))
    }

    fn enable(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        let text = table_text(view)?;
        let found = table::find(&text, |line| self.is_ours(line));
        if found.as_ref() == Some(&self.line) {
            return Ok(Plan::up_to_date());
        }
        view.grants.mount_at_start(&self.granted).map_err(denied)?;
        self.require_fixed(view)?;
        let shown = found.map_or_else(|| self.device.clone(), |line| line.device);
        let text = grown(table::with(&text, |line| self.is_ours(line), &self.line), &text)?;
        self.write(format!("enable {shown}"), text, wanted, view)
    }

    /// Fails if users other than root may replace a path of the line. At the next start, root reads the table and follows
    /// whatever is there then.
    fn require_fixed(&self, view: &View<'_>) -> Result<(), Raised> {
        if view.grants.allows_everything() {
            return Ok(());
        }
        let device = Some(&self.real_device).filter(|_| matches!(self.named, Named::Device) && !self.is_remote());
        let places = std::iter::once(&self.real_mount_point).chain(device);
        places.filter(|path| path.starts_with('/')).try_for_each(|path| calls::require_roots_alone(path, view.root))?;
        calls::require_fixed_device(&self.real_device, (&self.line.kind, &self.options), view.root)?;
        calls::require_fixed(&self.options, view.root)
    }

    fn disable(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        let text = table_text(view)?;
        let Some(found) = table::find(&text, |line| self.is_ours(line)) else { return Ok(Plan::up_to_date()) };
        let text = table::without(&text, |line| self.is_ours(line));
        self.write(format!("disable {}", found.device), text, wanted, view)
    }

    fn write(&self, sentence: String, text: String, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        let grant = |grants: &PolicyGrants, real: &str| -> Result<GrantedPath, Denied> {
            grants.mount_table(&self.granted, real)
        };
        let wish = FileWish { grant: Some(&grant), ..FileWish::plain(TABLE, wanted) };
        let inner = file_content::plan_create(&wish, &Text(text), wanted, view)?;
        Ok(nested::around(sentence, inner))
    }
}

/// Returns the text of the table as it is now, or as earlier resources of a dry run would leave it.
fn table_text(view: &View<'_>) -> Result<String, Raised> {
    let text = match view.foreseen_file(&view.root.asked_about(TABLE)) {
        Some(ForeseenFile::There { content, .. }) => content,
        Some(ForeseenFile::Absent) => return Ok(String::new()),
        None if absent(view.root.target_entry(TABLE))?.flatten().is_none() => return Ok(String::new()),
        None => {
            view.root.read(TABLE).map_err(|error| Raised::new(ErrorKind::InputOutput, format!("{TABLE}: {error}")))?
        }
    };
    String::from_utf8(text).map_err(|_| Raised::new(ErrorKind::InputOutput, format!("{TABLE} is not UTF-8")))
}

/// Returns the table as it is now, with the line of a swap file.
pub(crate) fn table_with_swap_file(path: &str, view: &View<'_>) -> Result<String, Raised> {
    let line = Line {
        device: table::escape(path),
        mount_point: "swap".to_owned(),
        kind: "swap".to_owned(),
        options: "defaults".to_owned(),
        dump: 0,
        pass: 0,
    };
    let text = table_text(view)?;
    grown(table::with(&text, |one| *one == line, &line), &text)
}

/// Returns a changed table, unless it has grown too large.
fn grown(text: String, before: &str) -> Result<String, Raised> {
    if text.len() > MAX_GROWN_TABLE && text.len() > before.len() {
        let message = format!("{TABLE} would have more than {MAX_GROWN_TABLE} bytes");
        return Err(Raised::new(ErrorKind::TooLarge, message));
    }
    Ok(text)
}

/// Returns the change of mounting or unmounting a file system.
fn mounts(sentence: String, mounted: bool) -> Change {
    Change::new(sentence).turns(None, "mounted", mounted)
}

fn step(change: Change, calls: Vec<Call>, granted: GrantedMount, found: MountedThere) -> Step {
    Step::new(change, Operation::ChangeMounts(ChangeMounts::new(calls, granted, found)))
}

/// Removes a slash at the end, which does not matter, except in a path that is only a slash.
fn without_slash(device: &str) -> &str {
    if device == "/" || device.ends_with(":/") { device } else { device.strip_suffix('/').unwrap_or(device) }
}

/// Returns the real path of the mount point, or `none` for a file system without one.
fn real_mount_point(mount_point: &str, view: &View<'_>) -> String {
    if mount_point == "none" { mount_point.to_owned() } else { view.root.asked_about(mount_point) }
}

/// Resolves a folder or an image on the node, because `mount` would follow a link that a policy can create. Links below
/// `/dev` belong to the system and stay, except in those of its folders where anybody may create links.
fn real_device(device: &str, (kind, options): (&str, &[String]), view: &View<'_>) -> String {
    if !device.starts_with('/') || calls::is_remote(device, kind, options) {
        return device.to_owned();
    }
    let is_systems = |path: &str| {
        let part = |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        part("/dev") && !part("/dev/shm") && !part("/dev/mqueue") && path.split('/').all(|part| part != "..")
    };
    let real = view.root.asked_about(device);
    if is_systems(device) && is_systems(&real) { device.to_owned() } else { real }
}

/// Returns the device with a label or UUID; empty if it does not exist.
fn find_device(in_table: &str, view: &mut View<'_>) -> Result<String, Raised> {
    // Without this, the program would write its result to a cache file, in a dry run too.
    let launch = Launch::program("findfs", [in_table]).environment("BLKID_FILE", "/dev/null");
    let outcome = view.query(&launch).map_err(|failure| failure.into_raised(&launch))?;
    let text = String::from_utf8_lossy(&outcome.output).into_owned();
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

fn link_of(device: &str, view: &View<'_>) -> Option<String> {
    let place = absent(view.root.locate(device)).ok()??;
    place.read_link().ok()?;
    let target = absent(view.root.locate_target(device)).ok()??;
    Some(target.real().to_owned())
}
