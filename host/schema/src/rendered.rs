//! Knowledge about built-in types beyond their properties: texts that guests render, and properties that an action reads.

/// The types with a file whose text a guest may render.
const RENDERED: [&str; 3] = ["template", "sudo", "yum_repository"];

/// The property with the text that a guest renders. Cookbooks cannot set it.
const TEXT: &str = "content";

/// Tells whether the guest renders the property's text. Cookbooks do not set such a property.
pub fn is_rendered(kind: &str, property: &str) -> bool {
    property == TEXT && RENDERED.contains(&kind)
}

/// The type and the property whose text is only shown to people. The property's default is the resource's name.
const ONLY_SHOWN: (&str, &str) = ("log", "message");

/// Tells whether a property's text is only shown to people. `name` is the resource's name.
pub fn is_only_shown(kind: &str, property: &str) -> bool {
    let (shown, message) = ONLY_SHOWN;
    kind == shown && (property == message || property == "name")
}

/// Tells whether an action reads a property's value, so that a lazy value has to be evaluated for it.
pub fn looks_at(kind: &str, action: &str, property: &str) -> bool {
    // `touch` creates a template's file, so the template has to be rendered.
    property != TEXT || !(matches!(action, "delete" | "remove") || (action == "touch" && kind == "file"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_looked_at_where_it_is_written() {
        assert!(looks_at("file", "create", "content") && !looks_at("file", "delete", "content"));
        assert!(!looks_at("file", "touch", "content") && looks_at("template", "touch", "content"));
        assert!(looks_at("file", "delete", "path"));
    }

    #[test]
    fn a_templates_text_is_the_guests() {
        assert!(
            is_rendered("template", "content")
                && is_rendered("sudo", "content")
                && !is_rendered("file", "content")
                && !is_rendered("template", "path")
        );
    }

    #[test]
    fn a_line_of_the_log_is_only_shown() {
        assert!(is_only_shown("log", "message") && is_only_shown("log", "name"));
        assert!(!is_only_shown("log", "level") && !is_only_shown("file", "name"));
    }
}
