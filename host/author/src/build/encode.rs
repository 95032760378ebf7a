//! Wraps a core module as a component, and refuses a module that imports anything but the contract's interfaces.
//!
//! A guest that was built for WASI, or that links a crate for browsers, would otherwise fail on the node with a linker's
//! error. Here it fails at build time, with the name of the import.

use wasmparser::{ComponentTypeRef, Parser, Payload};

/// The namespace of the contract's packages; every import of a component is one of their interfaces.
pub const CONTRACT_NAMESPACE: &str = "wrun:";

/// The function that every guest exports. The host calls it to let the guest run.
const CONTRACT_EXPORT: &str = "serve";

/// The reasons why a core module cannot become a policy's component.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    #[error("the module is not valid WebAssembly")]
    Invalid { source: wasmparser::BinaryReaderError },
    #[error(
        "the module imports {name:?} from {module:?}, but a guest may import only the contract, whose packages begin with {CONTRACT_NAMESPACE}"
    )]
    ForeignModuleImport { module: String, name: String },
    #[error(
        "the component imports {name:?}, but a guest may import only the contract, whose packages begin with {CONTRACT_NAMESPACE}"
    )]
    ForeignImport { name: String },
    #[error("the component exports no `{CONTRACT_EXPORT}`: a policy's crate exports it by the SDK's macro")]
    NoEntry,
    #[error("the module cannot be made a component: {reason}")]
    Encode { reason: String },
}

/// Makes a component of a core module that carries the description of its world.
pub fn encode_component(module: &[u8]) -> Result<Vec<u8>, EncodeError> {
    refuse_foreign_module_imports(module)?;
    // The encoder's errors are chains of sentences, which are written as one line.
    let reason = |error| EncodeError::Encode { reason: format!("{error:#}") };
    let encoder = wit_component::ComponentEncoder::default();
    let component = encoder.validate(true).module(module).and_then(|mut encoder| encoder.encode()).map_err(reason)?;
    check_component(&component)?;
    Ok(component)
}

/// Refuses a component that imports anything but the contract's interfaces, or that does not export `CONTRACT_EXPORT`.
pub fn check_component(component: &[u8]) -> Result<(), EncodeError> {
    let mut depth = 0_usize;
    let mut has_entry = false;
    for payload in Parser::new(0).parse_all(component) {
        match payload.map_err(|source| EncodeError::Invalid { source })? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if depth == 0 => {
                for import in section {
                    let import = import.map_err(|source| EncodeError::Invalid { source })?;
                    let name = import.name.name;
                    // An import of a type is harmless: the world names the types that it uses.
                    if !matches!(import.ty, ComponentTypeRef::Type(_)) && !is_of_contract(name) {
                        return Err(EncodeError::ForeignImport { name: name.to_owned() });
                    }
                }
            }
            Payload::ComponentExportSection(section) if depth == 0 => {
                for export in section {
                    let name = export.map_err(|source| EncodeError::Invalid { source })?.name.name;
                    has_entry |= name == CONTRACT_EXPORT;
                }
            }
            _ => {}
        }
    }
    if has_entry { Ok(()) } else { Err(EncodeError::NoEntry) }
}

/// Refuses a core module that imports from outside the contract, with the function's name.
fn refuse_foreign_module_imports(module: &[u8]) -> Result<(), EncodeError> {
    for payload in Parser::new(0).parse_all(module) {
        let Payload::ImportSection(section) = payload.map_err(|source| EncodeError::Invalid { source })? else {
            continue;
        };
        for import in section.into_imports() {
            let import = import.map_err(|source| EncodeError::Invalid { source })?;
            // `$root` and `[export]..` are names that the component model's own encoding uses.
            let own = import.module == "$root" || import.module.starts_with('[');
            if !own && !is_of_contract(import.module) {
                let (module, name) = (import.module.to_owned(), import.name.to_owned());
                return Err(EncodeError::ForeignModuleImport { module, name });
            }
        }
    }
    Ok(())
}

fn is_of_contract(name: &str) -> bool {
    name.starts_with(CONTRACT_NAMESPACE)
}

#[cfg(test)]
mod tests {
    use wasm_encoder::{
        Component, ComponentImportSection, ComponentTypeSection, EntityType, ImportSection, InstanceType, Module,
        TypeSection,
    };

    use super::*;

    fn module_importing(module: &str, name: &str) -> Vec<u8> {
        let mut types = TypeSection::new();
        types.ty().function([], []);
        let mut imports = ImportSection::new();
        imports.import(module, name, EntityType::Function(0));
        let mut encoded = Module::new();
        encoded.section(&types).section(&imports);
        encoded.finish()
    }

    fn component_importing(name: &str) -> Vec<u8> {
        let mut types = ComponentTypeSection::new();
        types.instance(&InstanceType::new());
        let mut imports = ComponentImportSection::new();
        imports.import(name, wasm_encoder::ComponentTypeRef::Instance(0));
        let mut component = Component::new();
        component.section(&types).section(&imports);
        component.finish()
    }

    #[test]
    fn foreign_module_imports_are_named() {
        for (module, name) in [("wasi_snapshot_preview1", "fd_write"), ("env", "now"), ("wrunish:turns/x", "f")] {
            let error = encode_component(&module_importing(module, name)).expect_err("a foreign import");
            let said = error.to_string();
            assert!(said.contains(module) && said.contains(name), "{said}");
        }
    }

    #[test]
    fn foreign_component_imports_are_named() {
        let error = check_component(&component_importing("wasi:cli/stdout@0.2.0")).expect_err("WASI is not allowed");
        assert!(matches!(&error, EncodeError::ForeignImport { name } if name == "wasi:cli/stdout@0.2.0"), "{error}");
    }

    #[test]
    fn a_component_without_an_entry_is_refused() {
        let error = check_component(&component_importing("wrun:turns/turns@0.2.0")).expect_err("exports nothing");
        assert!(matches!(error, EncodeError::NoEntry), "{error}");
    }

    #[test]
    fn what_is_no_module_is_said_plainly() {
        let error = encode_component(b"#!/bin/sh").expect_err("a script");
        assert!(matches!(error, EncodeError::Invalid { .. }), "{error}");
        let no_world = encode_component(&Module::new().finish()).expect_err("a module without a world");
        assert!(matches!(no_world, EncodeError::NoEntry), "{no_world}");
    }
}
