//! Lists each setting with its value and its source, so that users can find out where a value comes from.

use super::{KEYS, Layer, REPOSITORY_REFRESH, Settings, SettingsError, parse_file, read_text};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// All sources of the settings, before they are merged.
pub(crate) struct Sources {
    pub(crate) flags: Layer,
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) file: PathBuf,
    /// Whether the file must exist, because the user named it.
    pub(crate) must_exist: bool,
}

/// One setting with its current value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Setting {
    pub(crate) key: &'static str,
    pub(crate) variable: &'static str,
    /// The value as it could be in the settings file. Null if it is not set and has no default.
    pub(crate) value: Value,
    /// `default`, `--state-dir`, `WRUN_STATE_DIR` or `/etc/wrun/wrun.toml:3`.
    pub(crate) source: String,
}

impl Sources {
    /// Returns all settings, in the order of [`KEYS`], and whether the file exists.
    ///
    /// # Errors
    /// The file cannot be read, or a source says something that a setting cannot be.
    pub(crate) fn shown(self) -> Result<(Vec<Setting>, bool), SettingsError> {
        let text = read_text(&self.file, self.must_exist)?;
        let file = text.as_deref().map(|text| parse_file(&self.file, text)).transpose()?.unwrap_or_default();
        let lines = lines(text.as_deref().unwrap_or_default());
        let environment = Layer::from_environment(&self.environment)?;
        let source = |key: &str, variable: &str| {
            if self.flags.has(key) {
                format!("--{}", key.replace('_', "-"))
            } else if environment.has(key) {
                variable.to_owned()
            } else if file.has(key) {
                let line = lines.get(key).map(|line| format!(":{line}")).unwrap_or_default();
                format!("{}{line}", self.file.display())
            } else {
                "default".to_owned()
            }
        };
        let sources: Vec<_> = KEYS.iter().map(|(key, variable)| source(key, variable)).collect();
        let layer = self.flags.over(environment).over(file);
        let set = serde_json::to_value(&layer).unwrap_or_default();
        let defaults = defaults(&Settings::complete(layer));
        let value = |key: &str| match set.get(key) {
            Some(value) if !value.is_null() => value.clone(),
            _ => defaults.get(key).cloned().unwrap_or_default(),
        };
        let settings = KEYS.iter().zip(sources).map(|((key, variable), source)| Setting {
            key,
            variable,
            value: value(key),
            source,
        });
        Ok((settings.collect(), text.is_some()))
    }
}

/// Returns the default values of settings.
pub(super) fn defaults(settings: &Settings) -> Map<String, Value> {
    let run = &settings.run;
    let all = json!({
        "policies": run.policies,
        "repository_refresh": REPOSITORY_REFRESH.as_secs(),
        "root": run.root,
        "state_dir": run.state_dir,
        "cache_dir": run.cache_dir,
        "grants": run.grants,
        "format": settings.format,
        "log_level": settings.log_level,
        "log_location": settings.log_location,
        "color": settings.color,
        "keep_going": run.keep_going,
        "lock_timeout": run.lock_timeout.as_secs(),
        "package_lock_timeout": run.package_lock_timeout.as_secs(),
        "guest_seconds": run.guest_time.as_secs(),
        "guest_memory_mib": run.guest_memory >> 20,
        "compile_seconds": run.compile_time.as_secs(),
        "compile_mib": run.compile_memory >> 20,
        "backup_dir": run.backup_dir,
        "backups": run.backups,
        "download_mib": run.download_size >> 20,
        "download_seconds": run.download_time.as_secs(),
        "runs_kept": run.runs_kept,
        "runs_mib": run.runs_size >> 20,
        "min_free_mib": run.min_free >> 20,
        "interval": super::times::short_time(settings.rhythm.interval),
        "splay": super::times::short_time(settings.rhythm.splay),
    });
    all.as_object().cloned().unwrap_or_default()
}

/// Returns the line number, from 1, of each key in a file's text. For an invalid file it returns no keys.
pub(super) fn lines(text: &str) -> BTreeMap<String, usize> {
    let Ok(table) = toml::de::DeTable::parse(text) else { return BTreeMap::new() };
    let line = |start: usize| text.bytes().take(start).filter(|byte| *byte == b'\n').count() + 1;
    table.get_ref().keys().map(|key| (key.get_ref().to_string(), line(key.span().start))).collect()
}
