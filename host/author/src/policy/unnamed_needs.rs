//! Finds interfaces that a policy's own code imports although its `[needs]` do not mention them. Needs are only information
//! and may be incomplete. But operators grant what they read there, and without a grant each call is refused.

use artifact::Artifact;
use grants::{Needs, keys_of_interfaces};
use wasmparser::{Parser, Payload};

use super::PolicyFolder;

impl PolicyFolder {
    /// Returns a sentence for each interface that the policy's code imports but that `[needs]` do not mention.
    pub fn unnamed_needs(&self, artifact: &Artifact) -> Vec<String> {
        let file = self.path().join("policy.toml");
        let sentence = |(interface, keys): (&str, Vec<&str>)| {
            let keys = keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(" or ");
            let file = file.display();
            format!("{file}: the policy's code imports {interface}, but `[needs]` has no {keys} for operators to read")
        };
        unnamed(artifact.component(), &self.manifest.needs).into_iter().map(sentence).collect()
    }
}

fn unnamed(component: &[u8], needs: &Needs) -> Vec<(&'static str, Vec<&'static str>)> {
    let imports = imports(component);
    let is_unnamed = |(interface, keys): &(&str, Vec<&str>)| {
        let is_imported = imports.iter().any(|import| import.split('@').next() == Some(interface));
        is_imported && !keys.iter().any(|key| needs.table().contains_key(*key))
    };
    keys_of_interfaces().filter(is_unnamed).collect()
}

/// Returns the names of a component's imports. The component has been validated, so the list is complete.
fn imports(component: &[u8]) -> Vec<&str> {
    let mut depth = 0_usize;
    let mut found = Vec::new();
    for payload in Parser::new(0).parse_all(component) {
        match payload {
            Ok(Payload::ModuleSection { .. } | Payload::ComponentSection { .. }) => depth += 1,
            Ok(Payload::End(_)) => depth = depth.saturating_sub(1),
            Ok(Payload::ComponentImportSection(section)) if depth == 0 => {
                found.extend(section.into_iter().flatten().map(|import| import.name.name));
            }
            Ok(_) => {}
            Err(_) => return found,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasm_encoder::{Component, ComponentImportSection, ComponentTypeRef, ComponentTypeSection, InstanceType};

    fn component_importing(names: &[&str]) -> Vec<u8> {
        let mut types = ComponentTypeSection::new();
        types.instance(&InstanceType::new());
        let mut imports = ComponentImportSection::new();
        for name in names {
            imports.import(*name, ComponentTypeRef::Instance(0));
        }
        let mut component = Component::new();
        component.section(&types).section(&imports);
        component.finish()
    }

    #[test]
    fn imports_that_no_need_names_are_found() {
        let component = component_importing(&[
            "wrun:turns/turns@0.2.0",
            "wrun:machine/http@0.2.0",
            "wrun:machine/files@0.2.0",
            "wrun:clock/clock@0.2.0",
        ]);
        let of = |needs: &str| {
            let needs = Needs::parse(&format!("[needs]\n{needs}"), "policy.toml").unwrap();
            unnamed(&component, &needs).into_iter().map(|(interface, _)| interface).collect::<Vec<_>>()
        };
        assert_eq!(of(""), ["wrun:machine/files", "wrun:machine/http", "wrun:clock/clock"]);
        assert_eq!(of("read_paths = [\"/srv\"]\nclock = true\n"), ["wrun:machine/http"]);
        let all = "paths = [\"/srv\"]\nclock = true\ndownload_hosts = [\"https://example.org\"]\n";
        assert_eq!(of(all), [""; 0]);
    }
}
