//! Examines a stranger's component before the engine compiles it.
//!
//! Compiling costs far more than reading: a few bytes can declare a memory image of gigabytes, and register allocation takes
//! time that grows faster than a function. So every number that a component states is held against a limit while its
//! sections are read, and its code is validated, before any compiler sees it. Each limit is far above what cookbooks need.
//!
//! A second wall stands behind this one: the compiler runs in a process with limits of its own (`compile.rs`).

use crate::limits::{
    CODE_BYTES, COMPONENT_BYTES, COMPONENTS, ELEMENTS, FUNCTION_BYTES, FUNCTIONS, IMPORTS, LOCALS, MEMORIES, MODULES,
    SEGMENTS, TABLE_ELEMENTS, TABLES, TYPES,
};
use wasmparser::{
    Data, DataKind, Encoding, FromReader, FuncValidatorAllocations, FunctionBody, MemoryType, Operator, Parser,
    Payload, SectionLimited, ValidPayload, Validator, WasmFeatures,
};

/// Bytes of a page of linear memory.
const PAGE: u64 = 64 << 10;

/// Checks that bytes are a valid component within all limits. `memory` is the policy's own limit, in bytes.
///
/// # Errors
/// They are not, and the text says what is wrong, as part of a sentence.
pub fn examine(bytes: &[u8], memory: usize) -> Result<(), String> {
    if bytes.len() > COMPONENT_BYTES {
        return Err(format!("it has {} bytes, more than the {COMPONENT_BYTES} allowed", bytes.len()));
    }
    // Native code is another kind of file, and must never come in this way.
    if !bytes.starts_with(b"\0asm") {
        return Err("it does not begin as WebAssembly does".into());
    }
    let mut totals = Totals { memory_limit: memory as u64, ..Totals::default() };
    // Features that the engine does not have are the engine's to refuse.
    let mut validator = Validator::new_with_features(WasmFeatures::all());
    let mut allocations = FuncValidatorAllocations::default();
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload.map_err(invalid)?;
        if let Payload::Version { encoding: Encoding::Module, range, .. } = &payload
            && range.start == 0
        {
            return Err("it is a core module, not a component".into());
        }
        totals.add(&payload)?;
        if let ValidPayload::Func(function, body) = validator.payload(&payload).map_err(invalid)? {
            let mut function = function.into_validator(allocations);
            function.validate(&body).map_err(invalid)?;
            allocations = function.into_allocations();
        }
    }
    Ok(())
}

fn invalid(error: wasmparser::BinaryReaderError) -> String {
    format!("{} (at byte {})", error.message(), error.offset())
}

/// What was counted so far, over all modules of a component.
#[derive(Default)]
struct Totals {
    /// The policy's limit, in bytes.
    memory_limit: u64,
    modules: u64,
    components: u64,
    types: u64,
    imports: u64,
    functions: u64,
    code: u64,
    tables: u64,
    elements: u64,
    segments: u64,
    memories: u64,
    /// Bytes that all memories have at the start.
    memory: u64,
    /// Bytes of all memory images, holes included.
    images: u64,
}

/// Adds to a count, which must stay within its limit.
fn count(total: &mut u64, more: u64, limit: usize, what: &str) -> Result<(), String> {
    *total = total.saturating_add(more);
    if *total > limit as u64 { Err(format!("it has {total} {what}, more than the {limit} allowed")) } else { Ok(()) }
}

impl Totals {
    fn add(&mut self, payload: &Payload<'_>) -> Result<(), String> {
        match payload {
            Payload::ModuleSection { .. } => count(&mut self.modules, 1, MODULES, "core modules"),
            Payload::ComponentSection { .. } => count(&mut self.components, 1, COMPONENTS, "nested components"),
            Payload::TypeSection(types) => self.types(types.count()),
            Payload::CoreTypeSection(types) => self.types(types.count()),
            Payload::ComponentTypeSection(types) => self.types(types.count()),
            Payload::ImportSection(imports) => self.imports(imports.count()),
            Payload::ComponentImportSection(imports) => self.imports(imports.count()),
            Payload::FunctionSection(functions) => {
                count(&mut self.functions, functions.count().into(), FUNCTIONS, "functions")
            }
            Payload::CodeSectionEntry(body) => self.function(body),
            Payload::TableSection(tables) => {
                count(&mut self.tables, tables.count().into(), TABLES, "tables")?;
                read(tables, |table| {
                    within(table.ty.initial, TABLE_ELEMENTS as u64, "elements of a table at the start")
                })
            }
            Payload::ElementSection(elements) => {
                count(&mut self.segments, elements.count().into(), SEGMENTS, "segments")?;
                count(&mut self.elements, elements.range().len() as u64, ELEMENTS, "bytes of table elements")
            }
            Payload::MemorySection(memories) => {
                count(&mut self.memories, memories.count().into(), MEMORIES, "memories")?;
                read(memories, |memory| self.memory(&memory))
            }
            Payload::DataSection(segments) => self.image(segments),
            _ => Ok(()),
        }
    }

    fn types(&mut self, more: u32) -> Result<(), String> {
        count(&mut self.types, more.into(), TYPES, "types")
    }

    fn imports(&mut self, more: u32) -> Result<(), String> {
        count(&mut self.imports, more.into(), IMPORTS, "imports")
    }

    fn function(&mut self, body: &FunctionBody<'_>) -> Result<(), String> {
        let size = body.range().len() as u64;
        within(size, FUNCTION_BYTES as u64, "bytes in one function")?;
        count(&mut self.code, size, CODE_BYTES, "bytes of code")?;
        let mut locals = 0;
        for group in body.get_locals_reader().map_err(invalid)? {
            let (more, _) = group.map_err(invalid)?;
            count(&mut locals, more.into(), LOCALS, "local variables in one function")?;
        }
        Ok(())
    }

    fn memory(&mut self, memory: &MemoryType) -> Result<(), String> {
        // Another page size is a feature that the engine refuses; until then the largest counts.
        self.memory = self.memory.saturating_add(memory.initial.saturating_mul(PAGE));
        self.fits(self.memory, "of memory at the start")
    }

    /// The engine may make one image of all that a module puts into its memory, holes included.
    fn image(&mut self, segments: &SectionLimited<'_, Data<'_>>) -> Result<(), String> {
        count(&mut self.segments, segments.count().into(), SEGMENTS, "segments")?;
        let (mut low, mut high) = (u64::MAX, 0);
        read(segments, |segment| {
            let start = match &segment.kind {
                DataKind::Active { offset_expr, .. } => {
                    let first = offset_expr.get_operators_reader().read().map_err(invalid)?;
                    match first {
                        Operator::I32Const { value } => u64::from(value.cast_unsigned()),
                        Operator::I64Const { value } => value.cast_unsigned(),
                        // Known only when an instance is made: the engine makes no image of it.
                        _ => return Ok(()),
                    }
                }
                DataKind::Passive => return Ok(()),
            };
            low = low.min(start);
            high = high.max(start.saturating_add(segment.data.len() as u64));
            Ok(())
        })?;
        self.images = self.images.saturating_add(high.saturating_sub(low));
        self.fits(self.images, "between the first and the last byte of its memory images")
    }

    fn fits(&self, bytes: u64, what: &str) -> Result<(), String> {
        if bytes <= self.memory_limit {
            return Ok(());
        }
        let mebibytes = |bytes: u64| bytes.div_ceil(1 << 20);
        let (has, limit) = (mebibytes(bytes), mebibytes(self.memory_limit));
        Err(format!("it has {has} MiB {what}, more than the {limit} MiB that it may use (`limits.memory_mib`)"))
    }
}

fn within(number: u64, limit: u64, what: &str) -> Result<(), String> {
    if number > limit { Err(format!("it has {number} {what}, more than the {limit} allowed")) } else { Ok(()) }
}

/// Hands over each item of a section.
fn read<'a, T: FromReader<'a>>(
    section: &SectionLimited<'a, T>,
    mut each: impl FnMut(T) -> Result<(), String>,
) -> Result<(), String> {
    section.clone().into_iter().try_for_each(|item| each(item.map_err(invalid)?))
}
