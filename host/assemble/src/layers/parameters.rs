//! Parameters of the command line: attributes for one run, above all layers.

use super::LayersError;
use node::layers::{Layer, LayerFormat};
use resolve::layers::attribute_path;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The name under which explanations and run records show parameters.
pub(crate) const PARAMETERS: &str = "--parameter";

/// Makes a layer of parameters such as `ntp.servers=["a"]`. If two of them set the same attribute, the last one counts.
///
/// # Errors
/// One is not written as `a.b=VALUE`, or leads through another's value.
pub(crate) fn parameters(given: &[String]) -> Result<Option<Layer>, LayersError> {
    if given.is_empty() {
        return Ok(None);
    }
    let mut layer = Layer::empty(PARAMETERS, LayerFormat::Json);
    for text in given {
        let wrong = |reason: &str| LayersError::Parameter { given: text.clone(), reason: reason.to_owned() };
        let (name, value) = text.split_once('=').ok_or_else(|| wrong("it has no `=`"))?;
        let path = attribute_path(name);
        if path.iter().any(String::is_empty) {
            return Err(wrong("a key of the attribute's name is empty"));
        }
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
        let set = layer.override_attributes.set(&path, value);
        set.map_err(|reason| LayersError::ParameterPath { given: text.clone(), reason })?;
    }
    layer.digest = text::hex(Sha256::digest(Value::Object(layer.override_attributes.values().clone()).to_string()));
    Ok(Some(layer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn given(texts: &[&str]) -> Result<Value, String> {
        let texts: Vec<_> = texts.iter().map(|text| (*text).to_owned()).collect();
        let layer = parameters(&texts).map_err(|error| error.to_string())?;
        Ok(json!(layer.unwrap().override_attributes.values()))
    }

    #[test]
    fn values_are_json_or_text() {
        let found = given(&["a.b=[1, 2]", "a.c=text=x", "a.d=", r"x\.y.z=true", "a.c=last", "n=-1.5"]);
        assert_eq!(found, Ok(json!({"a": {"b": [1, 2], "c": "last", "d": ""}, "x.y": {"z": true}, "n": -1.5})));
    }

    #[test]
    fn a_wrong_parameter_is_refused() {
        #[track_caller]
        fn check(texts: &[&str], expect: &str) {
            let error = given(texts).unwrap_err();
            assert!(error.contains(expect), "{error}");
        }
        check(&["a.b"], "--parameter a.b: it has no `=`; write it as a.b=VALUE");
        check(&["=1"], "a key of the attribute's name is empty");
        check(&["a..b=1"], "a key of the attribute's name is empty");
        check(&["a=1", "a.b=2"], "--parameter a.b=2: a is not an object, so nothing can be set below it");
    }
}
