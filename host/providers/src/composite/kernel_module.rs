//! `kernel_module`: modules that the kernel loads, and modules that it must not load.

use super::machine::Family;
use super::text::{one_line, plain_name};
use super::{Composite, Machine, always, child, command, notifying, step};
use crate::resources::asked;
use contract::{Change, Child, Composition, Declaration, OwnPart, Raised, Shared, Timing, Wanted};
use schema::types::kernel_module::KernelModuleProperties;
use serde_json::json;

/// The resource that rebuilds the initramfs: once for the whole policy, at its end.
const UPDATE: &str = "update initramfs";

/// A module of the kernel.
pub(super) struct KernelModule;

impl Composite for KernelModule {
    fn compose(&self, wanted: &Wanted<'_>, machine: &mut Machine<'_, '_>) -> Result<Composition, Raised> {
        let properties: KernelModuleProperties = asked::properties(wanted)?;
        let name = plain_name("modname", &properties.modname, "_-", "the name of a kernel module")?;
        let KernelModuleProperties { load_dir, unload_dir, .. } = &properties;
        let loading = format!("{load_dir}/{name}.conf");
        let file = |prefix: &str| format!("{unload_dir}/{prefix}_{name}.conf");
        let mut made = Made::of(name);
        match wanted.action {
            "install" => {
                made.remove(&file("disable"), true);
                if let Some(options) = &properties.options {
                    let options = options.join(" ");
                    let line = format!("options {name} {}\n", one_line("options", &options)?);
                    made.write(&file("options"), &line, false);
                }
                made.load(name, machine)?;
                let folder = child("directory", load_dir, "create", [("recursive", json!(true))]);
                made.children.push(always(made.own(load_dir, folder)));
                made.write(&loading, &format!("{name}\n"), true);
            }
            "uninstall" => {
                made.remove(&loading, true);
                made.remove(&file("blacklist"), true);
                made.remove(&file("options"), false);
                made.unload(name, machine)?;
            }
            "blacklist" => {
                made.write(&file("blacklist"), &format!("blacklist {name}"), true);
                made.unload(name, machine)?;
            }
            "disable" => {
                made.write(&file("disable"), &format!("install {name} /bin/false"), true);
                made.unload(name, machine)?;
            }
            "enable" => made.remove(&file("disable"), true),
            "load" => made.load(name, machine)?,
            _ => made.unload(name, machine)?,
        }
        let Made { changes, children, .. } = made;
        let mut shared = Vec::new();
        if !matches!(wanted.action, "load" | "unload") {
            let is_debian = machine.family() == Family::Debian;
            let words: &[&str] = if is_debian { &["update-initramfs", "-u"] } else { &["dracut", "-f"] };
            let declaration = command(UPDATE, "nothing", words);
            shared.push(Shared { declaration, action: None, delayed: None, line: None });
        }
        Ok(Composition { changes, shared, children, ..Composition::default() })
    }
}

/// The folders in which the right to a module covers its files.
const FOLDERS: [&str; 2] = ["/etc/modules-load.d", "/etc/modprobe.d"];

/// The sentences and children of an action so far.
struct Made {
    module: String,
    changes: Vec<Change>,
    children: Vec<Child>,
}

impl Made {
    fn of(module: &str) -> Self {
        Self { module: module.to_owned(), changes: vec![], children: vec![] }
    }

    /// Returns a part in one of the usual folders, or such a folder, as one of the module. Elsewhere a part needs its path.
    fn own(&self, folder: &str, part: Declaration) -> Declaration {
        match FOLDERS.contains(&folder) {
            true => part.chosen(|chosen| OwnPart::OfKernelModule(self.module.clone(), chosen)),
            false => part,
        }
    }

    fn write(&mut self, path: &str, text: &str, updates: bool) {
        self.file(path, child("file", path, "create", [("content", json!(text))]), updates);
    }

    fn remove(&mut self, path: &str, updates: bool) {
        self.file(path, child("file", path, "delete", []), updates);
    }

    fn file(&mut self, path: &str, file: Declaration, updates: bool) {
        let file = self.own(path.rsplit_once('/').map_or("", |(folder, _)| folder), file);
        let receiver = format!("execute[{UPDATE}]");
        let file = if updates { notifying(file, Timing::Delayed, &receiver, "run") } else { file };
        self.children.push(always(file));
    }

    fn load(&mut self, name: &str, machine: &Machine<'_, '_>) -> Result<(), Raised> {
        self.change(format!("load kernel module {name}"), &["modprobe", name], !is_loaded(name, machine), machine)
    }

    fn unload(&mut self, name: &str, machine: &Machine<'_, '_>) -> Result<(), Raised> {
        let words = ["modprobe", "-r", name];
        self.change(format!("unload kernel module {name}"), &words, is_loaded(name, machine), machine)
    }

    /// Adds a command if it is needed. The loaded modules are read only if the policy may run it.
    fn change(
        &mut self,
        sentence: String,
        words: &[&str],
        is_due: bool,
        machine: &Machine<'_, '_>,
    ) -> Result<(), Raised> {
        machine.granted(words)?;
        if (is_due && machine.has_own_kernel()) || machine.is_survey {
            self.children.push(step(command(&sentence, "run", words)));
            self.changes.push(Change::new(sentence));
        }
        Ok(())
    }
}

/// Tells whether the kernel has loaded a module. The kernel writes names with underscores.
fn is_loaded(name: &str, machine: &Machine<'_, '_>) -> bool {
    let modules = machine.system_text("/proc/modules").unwrap_or_default();
    modules.lines().any(|line| line.split(' ').next() == Some(&name.replace('-', "_")))
}
