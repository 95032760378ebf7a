//! `apt_preference`: the version of a package that apt prefers.

use super::machine::Family;
use super::text::{file_name, one_line};
use super::{Composite, Machine, OwnFile, child, children};
use crate::resources::asked;
use contract::{Composition, Raised, Wanted};
use schema::types::apt_preference::AptPreferenceProperties;
use serde_json::json;

/// The folder of preferences.
const FOLDER: &str = "/etc/apt/preferences.d";

/// A preference of apt.
pub(super) struct AptPreference;

impl Composite for AptPreference {
    fn compose(&self, wanted: &Wanted<'_>, machine: &mut Machine<'_, '_>) -> Result<Composition, Raised> {
        let properties: AptPreferenceProperties = asked::properties(wanted)?;
        let name = file_name("package_name", &properties.package_name)?;
        // apt ignores files with other characters in their names.
        let safe = safe(name);
        let path = format!("{FOLDER}/{safe}.pref");
        if machine.family() != Family::Debian {
            return Ok(Composition::default());
        }
        if wanted.action == "remove" {
            let is_there = machine.is_survey || !machine.is_absent(&path);
            return Ok(children(is_there.then(|| child("file", &path, "delete", []))));
        }
        let package = one_line("glob", properties.glob.as_deref().unwrap_or(name))?;
        let pin = one_line("pin", properties.pin.as_deref().unwrap_or_default())?;
        let priority = one_line("pin_priority", properties.pin_priority.as_deref().unwrap_or_default())?;
        let text = format!("Package: {package}\nPin: {pin}\nPin-Priority: {priority}\n");
        let mut made = vec![child("directory", FOLDER, "create", [("mode", json!("0755"))])];
        // The file names that earlier versions of Chef used.
        let older =
            (safe != name).then(|| format!("{FOLDER}/{name}.pref")).into_iter().chain([format!("{FOLDER}/{name}")]);
        for older in older.filter(|older| machine.is_seen(older)) {
            made.push(child("file", &older, "delete", []));
        }
        made.push(child("file", &path, "create", [("mode", json!("0644")), ("content", json!(text))]));
        Ok(children(made))
    }

    fn own_file(&self, wanted: &Wanted<'_>) -> Option<OwnFile> {
        let AptPreferenceProperties { package_name, .. } = asked::properties(wanted).ok()?;
        // Adding it always has a child for the file.
        let path = format!("{FOLDER}/{}.pref", safe(&package_name));
        (wanted.action == "remove").then_some(OwnFile { path, text: None })
    }
}

/// Returns a package's name as a part of a file's name.
fn safe(name: &str) -> String {
    name.replace('.', "_").replace('*', "wildcard")
}
