//! Shows a compiled resource for an error message: the place of its declaration, and its properties.

use contract::{Property, Resource};
use text::escape_line;

/// The most characters of a value that are shown.
const SHOWN_CHARACTERS: usize = 100;

/// Returns one line for the place and one for each property of a built-in type. Sensitive values are not shown.
pub fn lines(resource: &Resource) -> Vec<String> {
    let declaration = &resource.declaration;
    let origin = &declaration.origin;
    let place = crate::words::place(origin).unwrap_or_default();
    let mut lines = vec![format!("declared in {}", escape_line(&place))];
    if declaration.sensitive {
        return lines;
    }
    // The properties of a guest's own type are not shown, because they may be secret.
    let Some(kind) = schema::find(&declaration.kind) else { return lines };
    for (name, value) in &declaration.properties {
        let secret = kind.property(name).is_some_and(|property| property.sensitive);
        let value = if secret { "(sensitive)".to_owned() } else { shown(value) };
        lines.push(format!("  {} {}", escape_line(name), escape_line(&value)));
    }
    lines
}

fn shown(value: &Property) -> String {
    let text = match value {
        Property::Plain(value) => value.to_string(),
        Property::Bytes(bytes) => format!("({} bytes)", bytes.len()),
        Property::Lazy(_) | Property::Rendered(_) | Property::Verify(_) => "(evaluated later)".to_owned(),
    };
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
