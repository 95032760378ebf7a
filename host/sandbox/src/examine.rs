//! Checks the sizes of an untrusted component before the engine compiles it.
//!
//! Compiling costs far more than reading. A few bytes can declare a memory image of gigabytes. The time of register
//! allocation grows faster than the size of a function. So each declared number is compared with a limit while the sections
//! are read, before compilation. Cookbooks need far less than each limit.
//!
//! The cost of reading is proportional to the component's size. Validation can cost far more, because each instantiation
//! compares and copies whole types. So validation happens in the compiler's process, which has its own limits (`compile.rs`).

use crate::limits::{
    CODE_BYTES, COMPONENT_BYTES, COMPONENT_INSTANCES, COMPONENTS, DESCRIPTION_BYTES, ELEMENTS, EXPORTS, FUNCTION_BYTES,
    FUNCTIONS, GLOBALS, IMPORTS, LOCALS, MEMORIES, MODULES, SEGMENTS, TABLE_ELEMENTS, TABLES, TYPE_BYTES, TYPES,
};
use std::ops::Range;
use wasmparser::{
    Data, DataKind, Encoding, FromReader, FuncValidatorAllocations, FunctionBody, MemoryType, Operator, Parser,
    Payload, RecGroup, SectionLimited, ValidPayload, Validator, WasmFeatures,
};

/// The size of a page of linear memory, in bytes.
const PAGE: u64 = 64 << 10;

/// Checks that bytes are a component within all limits. Its code may still be invalid. `memory` is the policy's own limit, in
/// bytes. The check takes time and memory in proportion to the number of bytes.
///
/// # Errors
/// Returns the reason if they are not, as part of a sentence.
pub fn examine(bytes: &[u8], memory: usize) -> Result<(), String> {
    if bytes.len() > COMPONENT_BYTES {
        return Err(format!("it has {} bytes, more than the {COMPONENT_BYTES} allowed", bytes.len()));
    }
    // Native code is a different kind of file, and must never be accepted here.
    if !bytes.starts_with(b"\0asm") {
        return Err("it does not begin as WebAssembly does".into());
    }
    let mut totals = Totals { memory_limit: memory as u64, ..Totals::default() };
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload.map_err(invalid)?;
        if let Payload::Version { encoding: Encoding::Module, range, .. } = &payload
            && range.start == 0
        {
            return Err("it is a core module, not a component".into());
        }
        totals.add(&payload)?;
    }
    Ok(())
}

/// Checks that a component is valid. The check may take much time and memory, so untrusted components need a process with
/// limits.
pub(crate) fn validate(bytes: &[u8]) -> Result<(), String> {
    // The engine itself refuses features that it does not support.
    let mut validator = Validator::new_with_features(WasmFeatures::all());
    let mut allocations = FuncValidatorAllocations::default();
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload.map_err(invalid)?;
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

/// The counts so far, of all modules of a component.
#[derive(Default)]
struct Totals {
    /// The policy's memory limit, in bytes.
    memory_limit: u64,
    modules: u64,
    components: u64,
    /// The bytes of all sections outside the modules: types, imports, aliases, instances, exports.
    description: u64,
    instances: u64,
    types: u64,
    /// The bytes of the core modules' type sections.
    type_bytes: u64,
    imports: u64,
    exports: u64,
    globals: u64,
    functions: u64,
    code: u64,
    tables: u64,
    elements: u64,
    segments: u64,
    memories: u64,
    /// The initial bytes of all memories.
    memory: u64,
    /// The bytes of all memory images, including holes.
    images: u64,
}

/// Adds to a count, or returns an error if the sum exceeds the limit.
fn count(total: &mut u64, more: u64, limit: usize, what: &str) -> Result<(), String> {
    *total = total.saturating_add(more);
    if *total > limit as u64 { Err(format!("it has {total} {what}, more than the {limit} allowed")) } else { Ok(()) }
}

impl Totals {
    fn add(&mut self, payload: &Payload<'_>) -> Result<(), String> {
        match payload {
            Payload::ModuleSection { .. } => count(&mut self.modules, 1, MODULES, "core modules"),
            Payload::ComponentSection { .. } => count(&mut self.components, 1, COMPONENTS, "nested components"),
            Payload::InstanceSection(instances) => self.instances(instances.count(), &instances.range()),
            Payload::ComponentInstanceSection(instances) => self.instances(instances.count(), &instances.range()),
            Payload::CoreTypeSection(types) => self.describe(&types.range()),
            Payload::ComponentTypeSection(types) => self.describe(&types.range()),
            Payload::ComponentAliasSection(aliases) => self.describe(&aliases.range()),
            Payload::ComponentCanonicalSection(functions) => self.describe(&functions.range()),
            Payload::ComponentImportSection(imports) => self.describe(&imports.range()),
            Payload::ComponentExportSection(exports) => self.describe(&exports.range()),
            Payload::ComponentStartSection { range, .. } => self.describe(range),
            Payload::TypeSection(types) => self.types(types),
            Payload::ImportSection(imports) => count(&mut self.imports, imports.count().into(), IMPORTS, "imports"),
            Payload::ExportSection(exports) => count(&mut self.exports, exports.count().into(), EXPORTS, "exports"),
            Payload::GlobalSection(globals) => count(&mut self.globals, globals.count().into(), GLOBALS, "globals"),
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

    /// Counts the bytes of a section outside the modules.
    fn describe(&mut self, section: &Range<usize>) -> Result<(), String> {
        let what = "bytes of types, imports, aliases and exports beside its modules";
        count(&mut self.description, section.len() as u64, DESCRIPTION_BYTES, what)
    }

    /// Counts instances. Each instance may hold a copy of the names and types of its component or module.
    fn instances(&mut self, more: u32, section: &Range<usize>) -> Result<(), String> {
        count(&mut self.instances, more.into(), COMPONENT_INSTANCES, "instances")?;
        self.describe(section)
    }

    fn types(&mut self, types: &SectionLimited<'_, RecGroup>) -> Result<(), String> {
        count(&mut self.type_bytes, types.range().len() as u64, TYPE_BYTES, "bytes of types of its modules")?;
        read(types, |group| count(&mut self.types, group.types().len() as u64, TYPES, "types"))
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
        // The engine refuses other page sizes later. Here the largest size counts.
        self.memory = self.memory.saturating_add(memory.initial.saturating_mul(PAGE));
        self.fits(self.memory, "of memory at the start")
    }

    /// Counts a module's memory image. The engine may create one image of all of a module's segments, including the holes.
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
                        // The offset is known only at instantiation, so the engine does not create an image of it.
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

/// Calls a function with each item of a section.
fn read<'a, T: FromReader<'a>>(
    section: &SectionLimited<'a, T>,
    mut each: impl FnMut(T) -> Result<(), String>,
) -> Result<(), String> {
    section.clone().into_iter().try_for_each(|item| each(item.map_err(invalid)?))
}
