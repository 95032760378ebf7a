//! The built-in resource types of `schema`, as an implementation of `contract`'s trait `Types`.

use contract::{Amendment, Declaration, ErrorKind, Failure, HOST_AS_GUEST, Property, Raised, TypeTexts, Types};
use errors::chef;
use schema::{ForeignType, Given, ValidationFailed, is_rendered};
use serde_json::Value;

/// The built-in types of `schema`, behind the traits of `contract`.
pub(crate) struct BuiltinTypes;

impl BuiltinTypes {
    /// Checks a declaration of another platform's type. Its properties and actions are unknown, so they are not validated.
    fn check_foreign(&self, declaration: &mut Declaration, foreign: &ForeignType) -> Result<(), Failure> {
        self.check_own(declaration)?;
        if declaration.actions.is_empty() {
            declaration.actions.push(foreign.default_action.to_owned());
        }
        foreign.name.clone_into(&mut declaration.kind);
        Ok(())
    }
}

fn failed(error: &ValidationFailed) -> Failure {
    let raised = Raised::new(error.kind(), error.to_string());
    match error.did_you_mean() {
        Some(near) => raised.with_hint(format!("did you mean `{near}`?")).into(),
        None => raised.into(),
    }
}

impl Types for BuiltinTypes {
    fn default_action(&self, kind: &str) -> Option<&str> {
        schema::find(kind).map(|found| found.default_action)
    }

    fn is_composite(&self, kind: &str) -> bool {
        schema::is_composite(kind)
    }

    fn why_no_provider(&self, kind: &str) -> Option<String> {
        schema::why_no_provider(kind)
    }

    fn canonical(&self, kind: &str, property: String) -> String {
        let known = schema::find(kind).and_then(|found| found.property(&property));
        known.filter(|known| known.name != property).map_or(property, |known| known.name.to_owned())
    }

    fn check(&self, declaration: &mut Declaration) -> Result<(), Failure> {
        let found = match schema::find(&declaration.kind) {
            Some(found) => found,
            None => match schema::foreign(&declaration.kind) {
                Some((foreign, _platform)) => return self.check_foreign(declaration, foreign),
                None => schema::require(&declaration.kind).map_err(|error| failed(&error))?,
            },
        };
        let actions: Vec<_> = declaration.actions.iter().map(String::as_str).collect();
        // Each value is moved, never copied: content is large.
        let properties = std::mem::take(&mut declaration.properties);
        let mut given = Vec::with_capacity(properties.len());
        let mut later = Vec::new();
        for (name, value) in properties {
            match value {
                Property::Verify(_) => later.push((name, value)),
                Property::Rendered(_) if is_rendered(&declaration.kind, &name) => later.push((name, value)),
                Property::Rendered(_) => return Err(not_rendered(&declaration.kind, &name)),
                // The host's own templates have their text.
                Property::Plain(_) | Property::Bytes(_)
                    if declaration.guest_id == HOST_AS_GUEST && is_rendered(&declaration.kind, &name) =>
                {
                    later.push((name, value));
                }
                // Chef's templates accept a `content` too, and ignore it.
                Property::Plain(_) | Property::Bytes(_) | Property::Lazy(_)
                    if is_rendered(&declaration.kind, &name) => {}
                Property::Plain(value) => given.push((name, Given::Known(value))),
                Property::Bytes(_) | Property::Lazy(_) => {
                    let canonical = self.canonical(&declaration.kind, name.clone());
                    given.push((name, Given::Lazy));
                    later.retain(|(other, value)| *other != canonical || matches!(value, Property::Verify(_)));
                    later.push((canonical, value));
                }
            }
        }
        let validate = if declaration.sensitive { schema::validate_sensitive } else { schema::validate };
        let known = validate(&declaration.kind, &declaration.name, given, &actions);
        let known = known.map_err(|error| failed(&error))?;
        if declaration.actions.is_empty() {
            declaration.actions.push(found.default_action.to_owned());
        }
        let known = known.into_iter().map(|(name, value)| (name, Property::Plain(value)));
        declaration.properties = known.chain(later).collect();
        if declaration.kind != found.name {
            declaration.kind = found.name.to_owned();
        }
        Ok(())
    }

    fn check_own(&self, declaration: &Declaration) -> Result<(), Failure> {
        let values = declaration.properties.iter().map(|(name, value)| (name.as_str(), plain(value)));
        let checked = schema::check_sizes(&declaration.name, values, declaration.actions.len());
        checked.map_err(|error| failed(&error))
    }

    fn check_own_amendment(&self, declaration: &Declaration, amendment: &Amendment) -> Result<(), Failure> {
        let checked = match amendment {
            Amendment::Property(name, value) => {
                let others = declaration.properties.iter().map(|(other, _)| (other.as_str(), None));
                let others = others.filter(|(other, _)| other != name);
                let all = std::iter::once((name.as_str(), plain(value))).chain(others);
                schema::check_sizes("", all, 0)
            }
            Amendment::Actions(actions) => schema::check_sizes("", std::iter::empty(), actions.len()),
            _ => Ok(()),
        };
        checked.map_err(|error| failed(&error))
    }

    fn check_required(&self, kind: &str, action: &str, is_set: &dyn Fn(&str) -> bool) -> Result<(), Failure> {
        let Some(found) = schema::find(kind) else { return Ok(()) };
        schema::check_required(found, action, is_set).map_err(|error| failed(&error))?;
        // `run_action` and notifications may name any action; a declaration's own were checked when it was made.
        if action != "nothing" && !found.actions.iter().any(|known| known.name == action) {
            let message = chef::no_such_action(action, kind);
            let known = found.actions.iter().map(|known| known.name);
            let hint = match text::nearest(action, known.clone()) {
                Some(near) => format!("did you mean the action `{near}`?"),
                None => format!("{kind} has the actions: {}", known.collect::<Vec<_>>().join(", ")),
            };
            return Err(Raised::new(ErrorKind::NoSuchName, message).with_hint(hint).into());
        }
        Ok(())
    }

    fn uses(&self, kind: &str, action: &str, name: &str) -> bool {
        schema::looks_at(kind, action, name)
    }

    fn is_only_shown(&self, kind: &str, property: &str) -> bool {
        schema::is_only_shown(kind, property)
    }

    fn check_property(&self, kind: &str, name: &str, property: Property) -> Result<Property, Failure> {
        if matches!(property, Property::Rendered(_)) && !is_rendered(kind, name) {
            return Err(not_rendered(kind, name));
        }
        let Property::Plain(value) = property else { return Ok(property) };
        if is_rendered(kind, name) || schema::foreign(kind).is_some() {
            return Ok(Property::Plain(value));
        }
        let checked = schema::validate_one(kind, "", name, value).map_err(|error| failed(&error))?;
        Ok(Property::Plain(checked.unwrap_or(Value::Null)))
    }
}

/// Returns the failure of a property that a guest wants to render although it is not a template's text.
fn not_rendered(kind: &str, name: &str) -> Failure {
    let message = format!("property {name} of {kind} is not a text that the policy renders: declare it as lazy");
    Failure::raised(ErrorKind::InvalidValue, message)
}

/// A value that is known now.
fn plain(property: &Property) -> Option<&Value> {
    match property {
        Property::Plain(value) => Some(value),
        Property::Bytes(_) | Property::Lazy(_) | Property::Rendered(_) | Property::Verify(_) => None,
    }
}

impl TypeTexts for BuiltinTypes {
    fn names(&self) -> Vec<String> {
        schema::builtin().map(|found| found.name.to_owned()).collect()
    }

    fn describe(&self, name: &str) -> Option<Value> {
        schema::find(name).map(schema::reference::type_json)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::{Amendment, Run};
    use serde_json::json;

    #[test]
    fn types_that_nobody_carries_out_may_be_declared() {
        let mut run = Run::new("p", false, Default::default(), std::sync::Arc::new(BuiltinTypes));
        let mut declare = |kind: &str, property: &str| {
            let properties = vec![(property.to_owned(), Property::Plain(json!("x")))];
            run.declare(Declaration { kind: kind.into(), name: "a".into(), properties, ..Declaration::default() })
        };
        let known = [("snap_package", "options"), ("zypper_repo", "baseurl"), ("env", "anything"), ("batch", "code")];
        let ids = known.map(|(kind, property)| declare(kind, property).unwrap());
        let unknown = declare("snap_package", "anything").unwrap_err();
        assert!(unknown.clone().into_raised().message.contains("unknown property `anything`"), "{unknown:?}");
        let declared = ids.map(|id| {
            let declaration = &run.known(id).unwrap().declaration;
            (declaration.kind.clone(), declaration.actions.join(" "))
        });
        let expected = ["snap_package install", "zypper_repository create", "windows_env create", "batch run"];
        assert_eq!(declared.map(|(kind, actions)| format!("{kind} {actions}")), expected);
        let idle = run.without_provider(ids[2]).unwrap().unwrap();
        let sentence = "Cannot find a provider for windows_env[a]: the resource type `windows_env` is for Windows only";
        assert_eq!(idle.into_raised().message, sentence);
    }

    #[test]
    fn properties_are_kept_under_the_names_that_providers_know() {
        let mut run = Run::new("p", false, Default::default(), std::sync::Arc::new(BuiltinTypes));
        let properties = vec![("users".to_owned(), Property::Lazy(7)), ("gid".to_owned(), Property::Plain(json!(5)))];
        let declaration = Declaration { kind: "group".into(), name: "x".into(), properties, ..Declaration::default() };
        let id = run.declare(declaration).unwrap();
        let members = |run: &Run| run.known(id).unwrap().declaration.property("members").cloned();
        assert_eq!(members(&run), Some(Property::Lazy(7)));
        run.amend(id, Amendment::Property("users".into(), Property::Plain(json!(["ann"])))).unwrap();
        assert_eq!(members(&run), Some(Property::Plain(json!(["ann"]))));
        run.amend(id, Amendment::Clear("users".into())).unwrap();
        assert_eq!(members(&run), None);
    }
}
