//! Freezes a module: each new instance starts with the present memory and globals.
//!
//! Rejected: wasmtime-wizer, which freezes any module. Ruby's module has one memory, no data segments that its code uses, and
//! a table that never changes, so a small implementation suffices. Also, that crate needs features of the engine that wrun
//! turns off.

use anyhow::{Context as _, Result, bail, ensure};
use wasm_encoder::{
    ConstExpr, DataCountSection, DataSection, ExportSection, GlobalSection, MemorySection, Module, RawSection,
};
use wasmparser::{ExternalKind, Operator, Parser, Payload, TypeRef, ValType};

/// The prefix of the names under which globals are exported during the build.
const GLOBAL: &str = "image_global_";

/// The maximum number of zero bytes inside a segment. It is a page, so that equal pages of the image stay equal.
const GAP: usize = 4096;

/// The state with which a frozen module starts.
pub(crate) struct State<'a> {
    pub(crate) memory: &'a [u8],
    /// The values of all globals, in order.
    pub(crate) globals: Vec<i32>,
}

/// The name under which [`observable`] exports a global.
pub(crate) fn global_name(index: u32) -> String {
    format!("{GLOBAL}{index}")
}

/// Returns a module that exports all its globals, and their number.
pub(crate) fn observable(module: &[u8]) -> Result<(Vec<u8>, u32)> {
    let mut globals = 0;
    let written = copy(module, |payload, written| {
        match payload {
            Payload::ImportSection(section) => {
                for import in section.clone().into_imports() {
                    ensure!(!matches!(import?.ty, TypeRef::Global(_)), "Ruby imports a global");
                }
            }
            Payload::GlobalSection(section) => globals = section.count(),
            Payload::ExportSection(section) => {
                let mut exports = exports(section.clone(), |_| true)?;
                for index in 0..globals {
                    exports.export(&global_name(index), wasm_encoder::ExportKind::Global, index);
                }
                written.section(&exports);
                return Ok(true);
            }
            _ => {}
        }
        Ok(false)
    })?;
    Ok((written, globals))
}

/// Returns the module with a state as its start. It omits exports for which `keep` returns false.
pub(crate) fn frozen(module: &[u8], state: &State<'_>, keep: impl Fn(&str) -> bool) -> Result<Vec<u8>> {
    let segments = segments(state.memory);
    let count = u32::try_from(segments.len())?;
    copy(module, |payload, written| {
        match payload {
            Payload::MemorySection(section) => {
                let [mut memory] = section.clone().into_iter().collect::<Result<Vec<_>, _>>()?[..] else {
                    bail!("Ruby has more than one memory");
                };
                memory.initial = (state.memory.len() / 65_536) as u64;
                let mut section = MemorySection::new();
                section.memory(memory.into());
                written.section(&section);
            }
            Payload::GlobalSection(section) => {
                let mut globals = GlobalSection::new();
                for (global, value) in section.clone().into_iter().zip(&state.globals) {
                    let ty = global?.ty;
                    ensure!(ty.content_type == ValType::I32, "Ruby has a global that is not an i32");
                    globals.global(ty.try_into()?, &ConstExpr::i32_const(*value));
                }
                ensure!(globals.len() == section.count(), "a global's value is missing");
                written.section(&globals);
            }
            Payload::ExportSection(section) => {
                written.section(&exports(section.clone(), &keep)?);
            }
            Payload::StartSection { .. } => {}
            Payload::DataCountSection { .. } => {
                written.section(&DataCountSection { count });
            }
            Payload::CodeSectionEntry(body) => {
                let mut operators = body.get_operators_reader()?;
                while !operators.eof() {
                    let refers = matches!(
                        operators.read()?,
                        Operator::MemoryInit { .. } | Operator::DataDrop { .. } | Operator::TableSet { .. }
                    );
                    ensure!(!refers, "Ruby's code refers to its data or changes its table");
                }
                return Ok(false);
            }
            Payload::DataSection(_) => {
                let mut data = DataSection::new();
                for (at, bytes) in &segments {
                    data.active(0, &ConstExpr::i32_const(i32::try_from(*at)?), bytes.iter().copied());
                }
                written.section(&data);
            }
            _ => return Ok(false),
        }
        Ok(true)
    })
}

/// Copies a module. `section` returns true for a section that it has written itself.
fn copy<'a>(module: &'a [u8], mut section: impl FnMut(&Payload<'a>, &mut Module) -> Result<bool>) -> Result<Vec<u8>> {
    let mut written = Module::new();
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload?;
        if !section(&payload, &mut written)?
            && let Some((id, range)) = payload.as_section()
        {
            let data = module.get(range).context("a section lies outside of its module")?;
            written.section(&RawSection { id, data });
        }
    }
    Ok(written.finish())
}

fn exports(section: wasmparser::ExportSectionReader<'_>, keep: impl Fn(&str) -> bool) -> Result<ExportSection> {
    let mut exports = ExportSection::new();
    for export in section {
        let export = export?;
        let kind = match export.kind {
            ExternalKind::Func => wasm_encoder::ExportKind::Func,
            ExternalKind::Memory => wasm_encoder::ExportKind::Memory,
            ExternalKind::Global => wasm_encoder::ExportKind::Global,
            ExternalKind::Table => wasm_encoder::ExportKind::Table,
            other => bail!("Ruby exports {}, a {other:?}", export.name),
        };
        if keep(export.name) {
            exports.export(export.name, kind, export.index);
        }
    }
    Ok(exports)
}

/// Returns the nonzero parts of the memory: addresses and contents.
fn segments(memory: &[u8]) -> Vec<(usize, &[u8])> {
    let mut segments: Vec<(usize, usize)> = Vec::new();
    for (index, page) in memory.chunks(GAP).enumerate() {
        let Some(first) = page.iter().position(|byte| *byte != 0) else { continue };
        let last = page.iter().rposition(|byte| *byte != 0).unwrap_or(first);
        let (start, end) = (index * GAP + first, index * GAP + last + 1);
        match segments.last_mut() {
            Some((_, before)) if start - *before <= GAP => *before = end,
            _ => segments.push((start, end)),
        }
    }
    segments.into_iter().filter_map(|(start, end)| Some((start, memory.get(start..end)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_becomes_segments_without_the_zeros_between() {
        let mut memory = vec![0; 10 * GAP];
        memory[5] = 1;
        memory[GAP + 2] = 2;
        memory[9 * GAP] = 3;
        let found = segments(&memory);
        let places: Vec<(usize, usize)> = found.iter().map(|(at, bytes)| (*at, bytes.len())).collect();
        assert_eq!(places, [(5, GAP - 2), (9 * GAP, 1)]);
        assert_eq!(found.last().unwrap().1, [3]);
        assert!(segments(&[0; 100]).is_empty());
    }

    #[test]
    fn a_frozen_module_begins_where_the_other_stopped() {
        let module = wat::parse_str(
            r#"(module (memory (export "memory") 1) (global $g (mut i32) (i32.const 1)) (data (i32.const 0) "abc")
                (func (export "f") (result i32) (i32.add (global.get $g) (i32.load8_u (i32.const 70000)))))"#,
        )
        .unwrap();
        let (module, globals) = observable(&module).unwrap();
        assert_eq!(globals, 1);
        let mut memory = vec![0; 2 * 65_536];
        memory[70_000] = 30;
        let state = State { memory: &memory, globals: vec![12] };
        let frozen = frozen(&module, &state, |name| !name.starts_with(GLOBAL)).unwrap();
        let engine = wasmtime::Engine::default();
        let mut store = wasmtime::Store::new(&engine, ());
        let module = wasmtime::Module::new(&engine, frozen).unwrap();
        assert_eq!(module.exports().count(), 2);
        let instance = wasmtime::Instance::new(&mut store, &module, &[]).unwrap();
        let f = instance.get_typed_func::<(), i32>(&mut store, "f").unwrap();
        assert_eq!(f.call(&mut store, ()).unwrap(), 42);
    }
}
