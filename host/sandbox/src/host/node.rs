//! Reads and writes node attributes. It checks the policy's rights first. The crate `node` does the work.

use super::reading::Reading;
use super::{heard, trap};
use crate::bindings::wrun::node::{attributes as wit, identity};
use crate::bindings::wrun::types::types;
use crate::policy::State;
use crate::words::{self, values};
use ::node::attributes::{AttributeError, Attributes, Level};
use ::node::origin::Origin;
use ::node::run_list::RunList;
use contract::AttributeChange;
use serde_json::Value;
use std::borrow::Cow;
use wasmtime::Result;

/// The maximum number of items in a run list that a guest sets.
const MAX_RUN_LIST: usize = 1000;

/// The maximum length of one run-list item, in bytes.
const MAX_RUN_LIST_ITEM: usize = 1000;

type Answer<T> = Result<Result<T, wit::AttributeError>>;

/// How a guest asks for the right to a write.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asking {
    /// A denial is recorded.
    Openly,
    /// Nobody hears of the question.
    Quietly,
}

/// The name for a removal from all levels.
const EVERY_LEVEL: &str = "all";

fn level(level: wit::Level) -> Level {
    match level {
        wit::Level::Default => Level::Default,
        wit::Level::ForceDefault => Level::ForceDefault,
        wit::Level::Normal => Level::Normal,
        wit::Level::Override => Level::Override,
        wit::Level::ForceOverride => Level::ForceOverride,
    }
}

fn refused(error: &AttributeError) -> wit::AttributeError {
    let text = error.to_string();
    match error {
        AttributeError::TypeMismatch { .. } => wit::AttributeError::TypeMismatch(text),
        AttributeError::ReadOnlyLevel { .. } => wit::AttributeError::ReadOnly(text),
        _ => wit::AttributeError::Invalid(text),
    }
}

impl State {
    /// Makes each change of attributes by a guest. It checks the rights, makes the change and informs observers. `written` is
    /// the level and the new value, or `None` for a removal.
    fn change<T>(
        &mut self,
        asking: Asking,
        level_name: &'static str,
        path: &[String],
        written: Option<(Level, Value)>,
        origin: types::Origin,
        change: impl FnOnce(&mut Attributes, &[String], Value, &Origin) -> Result<T, AttributeError>,
    ) -> Answer<T> {
        let (run, services) = self.run_and_services()?;
        let granted = match asking {
            Asking::Openly => services.attributes.write(path),
            Asking::Quietly => services.attributes.write_unasked(path).ok_or_else(String::new),
        };
        let granted = match granted {
            Ok(granted) => granted,
            Err(denied) => return Ok(Err(wit::AttributeError::Denied(denied))),
        };
        let origin = words::origin(run.policy(), origin);
        let asked = AttributeChange { granted: &granted, level_name, written, origin: &origin };
        let changed = run.change_attributes(asked, |attributes, path, value| change(attributes, path, value, &origin));
        let changed = heard(changed)?.map_err(trap)?;
        Ok(changed.map_err(|error| refused(&error)))
    }

    fn write_with(
        &mut self,
        to: wit::Level,
        path: &[String],
        value: wit::Value,
        origin: types::Origin,
        write: impl FnOnce(&mut Attributes, &[String], Value, &Origin) -> Result<bool, AttributeError>,
    ) -> Answer<bool> {
        let _while_it_lasts = self.pay_for_call(values::value_bytes(&value))?;
        let value = match values::value(self.guest, value) {
            Ok(value) => value,
            Err(why) => return Ok(Err(wit::AttributeError::Invalid(why))),
        };
        let to = level(to);
        self.change(Asking::Openly, to.as_str(), path, Some((to, value)), origin, write)
    }

    /// Converts a found value to the guest's form.
    fn shown(&mut self, found: Result<Option<Value>, wit::AttributeError>) -> Answer<Option<wit::Value>> {
        let guest = self.guest;
        let attributes = self.run()?.attributes();
        Ok(found.map(|found| found.map(|value| values::shown(guest, attributes, value))))
    }
}

impl wit::Host for State {
    fn version(&mut self) -> Result<u64> {
        Ok(self.run()?.attributes().version())
    }

    fn read(&mut self, view: wit::View, path: Vec<String>, at: Option<types::Origin>) -> Answer<Option<wit::Value>> {
        Ok(Reading::new(self.guest, self.run_and_services()?, view, &path, at).read())
    }

    fn shape_of(
        &mut self,
        view: wit::View,
        path: Vec<String>,
        at: Option<types::Origin>,
    ) -> Answer<Option<wit::Shape>> {
        Ok(Ok(Reading::new(self.guest, self.run_and_services()?, view, &path, at).look()))
    }

    fn keep(&mut self, view: wit::View, path: Vec<String>) -> Answer<wit::Kept> {
        Ok(Ok(Reading::new(self.guest, self.run_and_services()?, view, &path, None).keep()))
    }

    fn conceals(&mut self, view: wit::View, path: Vec<String>) -> Result<bool> {
        Ok(Reading::new(self.guest, self.run_and_services()?, view, &path, None).conceals())
    }

    fn write(&mut self, to: wit::Level, path: Vec<String>, value: wit::Value, origin: types::Origin) -> Answer<()> {
        let written = self.write_with(to, &path, value, origin, |attributes, path, value, origin| {
            attributes.write(level(to), path, value, origin).map(|()| true)
        });
        written.map(|answer| answer.map(drop))
    }

    fn write_strict(
        &mut self,
        to: wit::Level,
        path: Vec<String>,
        value: wit::Value,
        origin: types::Origin,
    ) -> Answer<()> {
        let written = self.write_with(to, &path, value, origin, |attributes, path, value, origin| {
            attributes.write_strict(level(to), path, value, origin).map(|()| true)
        });
        written.map(|answer| answer.map(drop))
    }

    fn write_unless(
        &mut self,
        to: wit::Level,
        path: Vec<String>,
        value: wit::Value,
        origin: types::Origin,
    ) -> Answer<bool> {
        let write = |attributes: &mut Attributes, path: &[String], value, origin: &Origin| {
            attributes.write_unless(level(to), path, value, origin)
        };
        // For `default['a']['b'] = 1` Ruby first writes an empty object to `a`. The write to `a.b` makes it anyway, and may be
        // granted alone.
        if !matches!(&value, wit::Value::Plain(json) if json == "{}") {
            return self.write_with(to, &path, value, origin, write);
        }
        let (to, nothing) = (level(to), Value::Object(serde_json::Map::new()));
        let written = self.change(Asking::Quietly, to.as_str(), &path, Some((to, nothing)), origin, write)?;
        Ok(match written {
            Err(wit::AttributeError::Denied(_)) => Ok(false),
            written => written,
        })
    }

    fn replace(&mut self, to: wit::Level, path: Vec<String>, value: wit::Value, origin: types::Origin) -> Answer<()> {
        let written = self.write_with(to, &path, value, origin, |attributes, path, value, origin| {
            match level(to) {
                Level::ForceDefault => attributes.force_default(path, value, origin),
                Level::ForceOverride => attributes.force_override(path, value, origin),
                level => attributes.write(level, path, value, origin),
            }
            .map(|()| true)
        });
        written.map(|answer| answer.map(drop))
    }

    fn remove(&mut self, what: wit::Removal, path: Vec<String>, origin: types::Origin) -> Answer<Option<wit::Value>> {
        let name = match what {
            wit::Removal::All => EVERY_LEVEL,
            wit::Removal::Default => "default",
            wit::Removal::Normal => "normal",
            wit::Removal::Override => "override",
        };
        let removed =
            self.change(Asking::Openly, name, &path, None, origin, |attributes, path, _, origin| match what {
                wit::Removal::All => attributes.remove(path, origin),
                wit::Removal::Default => attributes.remove_default(path, origin),
                wit::Removal::Normal => attributes.remove_normal(path, origin),
                wit::Removal::Override => attributes.remove_override(path, origin),
            });
        self.shown(removed?)
    }

    fn unlink(
        &mut self,
        from: wit::Level,
        path: Vec<String>,
        strict: bool,
        origin: types::Origin,
    ) -> Answer<Option<wit::Value>> {
        let from = level(from);
        let removed =
            self.change(
                Asking::Openly,
                from.as_str(),
                &path,
                None,
                origin,
                |attributes, path, _, origin| match strict {
                    true => attributes.unlink_strict(from, path, origin),
                    false => attributes.unlink(from, path, origin),
                },
            );
        self.shown(removed?)
    }

    fn debug(&mut self, path: Vec<String>) -> Answer<Vec<wit::LevelValue>> {
        // The result includes the fact and what the operator set, so the policy must be allowed to read them.
        for view in [wit::View::Automatic, wit::View::Normal, wit::View::CombinedDefault, wit::View::CombinedOverride] {
            if let Err(denied) = Reading::new(self.guest, self.run_and_services()?, view, &path, None).read() {
                return Ok(Err(denied));
            }
        }
        let guest = self.guest;
        let attributes = self.run()?.attributes();
        let level = |(level, value): (Level, Option<Cow<'_, Value>>)| wit::LevelValue {
            level: level.as_str().to_owned(),
            value: value.map(|value| values::shown(guest, attributes, value.into_owned())),
        };
        Ok(Ok(attributes.debug_value(&path).into_iter().map(level).collect()))
    }
}

impl identity::Host for State {
    fn name(&mut self) -> Result<String> {
        Ok(self.run()?.node_name().to_owned())
    }

    fn recipes(&mut self) -> Result<Vec<String>> {
        Ok(self.run()?.recipes().to_vec())
    }

    fn set_run_list(&mut self, items: Vec<String>) -> Result<Result<(), identity::RunListError>> {
        if !self.run()?.owns_run_list() {
            let why = "the run list of a released policy is its release's: change it in policy.toml";
            return Ok(Err(identity::RunListError::Denied(why.to_owned())));
        }
        if items.len() > MAX_RUN_LIST || items.iter().any(|item| item.len() > MAX_RUN_LIST_ITEM) {
            let why = format!("a run list has at most {MAX_RUN_LIST} items of {MAX_RUN_LIST_ITEM} bytes");
            return Ok(Err(identity::RunListError::Invalid(why)));
        }
        Ok(match RunList::parse(&items) {
            Ok(list) => {
                self.run()?.change_run_list(list.without_repeats());
                Ok(())
            }
            Err(error) => Err(identity::RunListError::Invalid(words::shorten(&error.to_string(), 1000))),
        })
    }
}
