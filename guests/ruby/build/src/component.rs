//! Turns Ruby's core module into a component: adapters implement its imports, and the bridge connects it with the contract.
//!
//! The bridge's component imports the contract and exports the interface `wrun:ruby/bridge` (the border). Ruby's component
//! imports the border and exports `serve`. The finished component contains both side by side, because a nested component
//! could not call its parent. It instantiates Ruby's component with the bridge's exports, and exports only `serve`.

use anyhow::{Context as _, Result, ensure};
use std::path::Path;
use wasm_encoder::{
    Alias, ComponentAliasSection, ComponentExportKind, ComponentExportSection, ComponentInstanceSection,
    ComponentSectionId, RawSection,
};
use wasmparser::{Parser, Payload, Validator, WasmFeatures};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// The name of the interface between Ruby's component and the bridge.
const BORDER: &str = "wrun:ruby/bridge@0.1.0";

/// The name of the contract's function that runs a policy.
const SERVE: &str = "serve";

/// The adapters: the module name of the imports that each implements, its source, and its world.
const ADAPTERS: [(&str, &str, Option<&str>); 3] = [
    ("canonical_abi", include_str!("../../adapters/canonical_abi.wat"), None),
    ("rb-js-abi-host", include_str!("../../adapters/rb-js-abi-host.wat"), Some("ruby")),
    ("wasi_snapshot_preview1", include_str!("../../adapters/wasi_snapshot_preview1.wat"), Some("system")),
];

/// Encodes Ruby's module and the bridge's as one component. `contract` and `border` are folders with WIT.
pub(crate) fn encode(ruby: &[u8], bridge: &[u8], contract: &Path, border: &Path) -> Result<Vec<u8>> {
    let ruby = encode_ruby(ruby, contract, border).context("Ruby cannot be made a component")?;
    let bridge =
        ComponentEncoder::default().module(bridge)?.encode().context("the bridge cannot be made a component")?;
    put_together(&bridge, &ruby)
}

/// Puts both components side by side into one that imports what the bridge imports.
fn put_together(bridge: &[u8], ruby: &[u8]) -> Result<Vec<u8>> {
    let (mut component, imports) = beginning(bridge)?;
    for inside in [bridge, ruby] {
        component.section(&RawSection { id: ComponentSectionId::Component.into(), data: inside });
    }
    let mut numbers = 0_u32..;
    let arguments: Vec<_> =
        imports.iter().zip(&mut numbers).map(|(name, number)| (*name, ComponentExportKind::Instance, number)).collect();
    let bridge = u32::try_from(arguments.len())?;
    let (border, ruby) = (bridge + 1, bridge + 2);
    let mut instance = ComponentInstanceSection::new();
    instance.instantiate(0, arguments);
    component.section(&instance);
    let mut alias = ComponentAliasSection::new();
    alias.alias(Alias::InstanceExport { instance: bridge, kind: ComponentExportKind::Instance, name: BORDER });
    component.section(&alias);
    let mut instance = ComponentInstanceSection::new();
    instance.instantiate(1, [(BORDER, ComponentExportKind::Instance, border)]);
    component.section(&instance);
    let mut alias = ComponentAliasSection::new();
    alias.alias(Alias::InstanceExport { instance: ruby, kind: ComponentExportKind::Func, name: SERVE });
    component.section(&alias);
    let mut export = ComponentExportSection::new();
    export.export(SERVE, ComponentExportKind::Func, 0, None);
    component.section(&export);
    let component = component.finish();
    Validator::new_with_features(WasmFeatures::default()).validate_all(&component)?;
    Ok(component)
}

/// Copies a component's imports with their types to a new component. Returns it with the imports' names in order.
fn beginning(component: &[u8]) -> Result<(wasm_encoder::Component, Vec<&str>)> {
    let (mut beginning, mut names) = (wasm_encoder::Component::new(), Vec::new());
    for payload in Parser::new(0).parse_all(component) {
        let payload = payload?;
        match &payload {
            // The bridge's own modules begin here, so all imports have been copied.
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => break,
            Payload::ComponentImportSection(section) => {
                for import in section.clone() {
                    let import = import?;
                    let is_instance = matches!(import.ty, wasmparser::ComponentTypeRef::Instance(_));
                    ensure!(is_instance, "the bridge imports {}, which is not an interface", import.name.name);
                    names.push(import.name.name);
                }
            }
            _ => {}
        }
        if let Some((id, range)) = payload.as_section() {
            let data = component.get(range).context("a section lies outside of its component")?;
            beginning.section(&RawSection { id, data });
        }
    }
    ensure!(!names.is_empty(), "the bridge imports nothing");
    Ok((beginning, names))
}

fn encode_ruby(module: &[u8], contract: &Path, border: &Path) -> Result<Vec<u8>> {
    let mut resolve = Resolve::default();
    resolve.push_dir(contract)?;
    let (package, _) = resolve.push_dir(border)?;
    let mut encoder = ComponentEncoder::default().module(module)?;
    for (name, source, world) in ADAPTERS {
        let mut adapter = wat::parse_str(source).with_context(|| format!("the adapter {name} cannot be read"))?;
        if let Some(world) = world {
            let world = resolve.select_world(&[package], Some(world))?;
            embed_component_metadata(&mut adapter, &resolve, world, StringEncoding::UTF8)?;
        }
        encoder = encoder.adapter(name, &adapter).with_context(|| format!("the adapter {name} does not fit"))?;
    }
    encoder.encode()
}
