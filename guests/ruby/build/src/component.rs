//! From Ruby's core module to a component: adapters in place of its imports, the bridge around it.
//!
//! The bridge's component imports the contract and exports the border; Ruby's imports the border and exports `serve`. The
//! finished component is the bridge's, with Ruby's inside of it, instantiated with what the bridge exported, and with
//! `serve` as the only export.

use anyhow::{Context as _, Result, ensure};
use std::path::Path;
use wasm_encoder::{
    Alias, ComponentAliasSection, ComponentExportKind, ComponentExportSection, ComponentInstanceSection,
    ComponentSection as _, ComponentSectionId, RawSection,
};
use wasmparser::{ComponentExternalKind, Parser, Payload, Validator, WasmFeatures};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// The border's name.
const BORDER: &str = "wrun:ruby/bridge@0.1.0";

/// What the contract calls a policy by.
const SERVE: &str = "serve";

/// The adapters: which import of Ruby's each stands for, its source, and its world.
const ADAPTERS: [(&str, &str, Option<&str>); 3] = [
    ("canonical_abi", include_str!("../../adapters/canonical_abi.wat"), None),
    ("rb-js-abi-host", include_str!("../../adapters/rb-js-abi-host.wat"), Some("ruby")),
    ("wasi_snapshot_preview1", include_str!("../../adapters/wasi_snapshot_preview1.wat"), Some("system")),
];

/// Encodes Ruby's module and the bridge's as one component. `contract` and `border` are folders with WIT.
pub(crate) fn encode(ruby: &[u8], bridge: &[u8], contract: &Path, border: &Path) -> Result<Vec<u8>> {
    let ruby = encode_ruby(ruby, contract, border).context("Ruby cannot be made a component")?;
    let bridge = ComponentEncoder::default().module(bridge)?.encode().context("the bridge cannot be made a component")?;
    put_inside(&bridge, &ruby)
}

/// Puts Ruby's component into the bridge's.
fn put_inside(bridge: &[u8], ruby: &[u8]) -> Result<Vec<u8>> {
    let (mut component, border) = without_exports(bridge)?;
    let types = Validator::new_with_features(WasmFeatures::default()).validate_all(&component)?;
    let (components, instances) = (types.as_ref().component_count(), types.as_ref().component_instance_count());
    RawSection { id: ComponentSectionId::Component.into(), data: ruby }.append_to_component(&mut component);
    let mut instance = ComponentInstanceSection::new();
    instance.instantiate(components, [(BORDER, ComponentExportKind::Instance, border)]);
    instance.append_to_component(&mut component);
    let mut alias = ComponentAliasSection::new();
    alias.alias(Alias::InstanceExport { instance: instances, kind: ComponentExportKind::Func, name: SERVE });
    alias.append_to_component(&mut component);
    let mut export = ComponentExportSection::new();
    let serve = types.as_ref().component_function_count();
    export.export(SERVE, ComponentExportKind::Func, serve, None);
    export.append_to_component(&mut component);
    Validator::new_with_features(WasmFeatures::default()).validate_all(&component)?;
    Ok(component)
}

/// The bridge's component without its exports, and the number of the instance that it exported as the border.
fn without_exports(bridge: &[u8]) -> Result<(Vec<u8>, u32)> {
    let (mut component, mut border) = (wasm_encoder::Component::new(), None);
    let mut depth = 0_u32;
    for payload in Parser::new(0).parse_all(bridge) {
        let payload = payload?;
        let top = depth == 0;
        match &payload {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        if !top {
            continue;
        }
        if let Payload::ComponentExportSection(section) = &payload {
            for export in section.clone() {
                let export = export?;
                let is_border = export.name.name == BORDER && export.kind == ComponentExternalKind::Instance;
                ensure!(is_border, "the bridge exports {}", export.name.name);
                border = Some(export.index);
            }
        } else if let Some((id, range)) = payload.as_section() {
            ensure!(border.is_none(), "the bridge goes on after its exports");
            let range = usize::try_from(range.start)?..usize::try_from(range.end)?;
            let data = bridge.get(range).context("a section lies outside of its component")?;
            component.section(&RawSection { id, data });
        }
    }
    Ok((component.finish(), border.with_context(|| format!("the bridge does not export {BORDER}"))?))
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
