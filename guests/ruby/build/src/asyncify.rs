//! Enlarges Ruby's Asyncify buffers, so that deeply nested recipes work.
//!
//! CRuby for WebAssembly uses Asyncify to save and restore its machine stack, for exceptions and garbage collection. Its
//! buffers have 24 KiB. About fifty nested blocks that run through C (`instance_eval`, `Hash#each`) fill a buffer. Then Ruby
//! dies in a trap, which `rescue` cannot catch. The size is a constant in the C source. This module changes the binary:
//!
//! - Ruby allocates a jump buffer by `ruby_xmalloc(24600)` wherever C code may be left by a jump. Each of these calls is
//!   replaced by a call of a new function, which allocates [`MORE`] additional bytes. It bypasses Ruby's garbage collector,
//!   because large buffers would make the collector run too often.
//! - `asyncify_start_unwind` gets a prologue that sets a buffer's bounds to this space. It recognizes jump buffers by their
//!   size in the allocator's header. It recognizes the two static buffers (for scanning the stack and for the jump itself) by
//!   their addresses. Each of these gets a region that is allocated before the snapshot.
//!
//! All of this depends on how the pinned package was compiled. So this module counts everything that it changes, and ends the
//! build on any difference.

use anyhow::{Context as _, Result, bail, ensure};
use std::collections::BTreeSet;
use wasm_encoder::{CodeSection, Encode as _, Function, Instruction, MemArg, RawSection, ValType};
use wasmparser::{BinaryReader, ExternalKind, FuncType, FunctionBody, Operator, Parser, Payload};

/// The size of a jump buffer in the pinned package.
const JUMP_BUFFER: i32 = 24_600;

/// Additional bytes of a jump buffer. A block that runs through C takes up to 1.3 KiB, so this is enough for 250 nested
/// blocks. Untouched memory costs nothing, but counts towards the policy's memory limit.
const MORE: i32 = (320 << 10) + 88;

/// The maximum number of bytes that the allocator adds to a size, including its header.
const ROUNDING: i32 = 40;

/// The size of each of the two regions that replace the static buffers. They contain the whole stack, which has 3 KiB for
/// each nested block.
const REGION: i32 = 4 << 20;

/// The size of both regions together.
pub(crate) const REGIONS: i32 = 2 * REGION;

/// The name of the exported global with the regions' address. Its value is zero before they are allocated.
pub(crate) const REGION_GLOBAL: &str = "asyncify_region";

/// The number of calls in the pinned package that allocate a jump buffer.
const ALLOCATIONS: usize = 29;

/// A changed module, and the number of changes for assertions.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Patched {
    pub(crate) module: Vec<u8>,
    /// Calls that were redirected.
    pub(crate) allocations: usize,
}

/// The facts about a module that the rewrite needs.
#[derive(Default)]
struct Survey {
    /// Index of `(i32) -> i32`.
    allocator_type: Option<u32>,
    types: Vec<FuncType>,
    /// Type indices of all functions, imported ones first.
    functions: Vec<u32>,
    imported: u32,
    globals: u32,
    start_unwind: Option<u32>,
    reallocate: Option<u32>,
    /// Addresses of the static buffers.
    statics: BTreeSet<i32>,
    /// Functions that allocate jump buffers; there must be one.
    allocators: BTreeSet<u32>,
}

/// Enlarges the buffers of the pinned package's module.
pub(crate) fn enlarge(module: &[u8]) -> Result<Patched> {
    let survey = Survey::of(module)?;
    ensure!(survey.statics.len() == 2, "Ruby has {} static Asyncify buffers instead of 2", survey.statics.len());
    let [allocator] = survey.allocators.iter().copied().collect::<Vec<_>>()[..] else {
        bail!("Ruby allocates jump buffers by {} functions instead of one", survey.allocators.len());
    };
    ensure!(
        survey.functions.get(allocator as usize) == survey.allocator_type.as_ref(),
        "what allocates Ruby's jump buffers has another type than ruby_xmalloc"
    );
    let patched = rewrite(module, &survey, allocator)?;
    ensure!(
        patched.allocations == ALLOCATIONS,
        "Ruby allocates jump buffers at {} places instead of {ALLOCATIONS}",
        patched.allocations
    );
    Ok(patched)
}

impl Survey {
    fn of(module: &[u8]) -> Result<Self> {
        let mut survey = Self::default();
        let mut bodies = Vec::new();
        for payload in Parser::new(0).parse_all(module) {
            match payload? {
                Payload::TypeSection(section) => {
                    for function in section.into_iter_err_on_gc_types() {
                        survey.types.push(function?);
                    }
                    let wanted = FuncType::new([wasmparser::ValType::I32], [wasmparser::ValType::I32]);
                    let found = survey.types.iter().position(|function| *function == wanted);
                    survey.allocator_type = found.and_then(|index| u32::try_from(index).ok());
                }
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        match import?.ty {
                            wasmparser::TypeRef::Func(index) => {
                                survey.functions.push(index);
                                survey.imported += 1;
                            }
                            wasmparser::TypeRef::Global(_) => survey.globals += 1,
                            _ => {}
                        }
                    }
                }
                Payload::FunctionSection(section) => {
                    for index in section {
                        survey.functions.push(index?);
                    }
                }
                Payload::GlobalSection(section) => survey.globals += section.count(),
                Payload::ExportSection(section) => {
                    for export in section {
                        let export = export?;
                        match (export.kind, export.name) {
                            (ExternalKind::Func, "asyncify_start_unwind") => survey.start_unwind = Some(export.index),
                            (ExternalKind::Func, "cabi_realloc") => survey.reallocate = Some(export.index),
                            _ => {}
                        }
                    }
                }
                Payload::CodeSectionEntry(body) => bodies.push(body),
                _ => {}
            }
        }
        let start_unwind = survey.start_unwind.context("Ruby does not export asyncify_start_unwind")?;
        for body in &bodies {
            for call in calls_with_constant(body)? {
                if call.function == start_unwind {
                    survey.statics.insert(call.constant);
                } else if call.constant == JUMP_BUFFER {
                    survey.allocators.insert(call.function);
                }
            }
        }
        Ok(survey)
    }
}

/// A call right after a constant, and the position of the call in the module.
struct ConstantCall {
    constant: i32,
    function: u32,
    start: usize,
    end: usize,
}

fn calls_with_constant(body: &FunctionBody<'_>) -> Result<Vec<ConstantCall>> {
    let mut found = Vec::new();
    let mut constant = None;
    let mut reader = body.get_operators_reader()?;
    while !reader.eof() {
        let start = reader.original_position();
        let operator = reader.read()?;
        if let (Some(constant), Operator::Call { function_index }) = (constant, &operator) {
            let end = reader.original_position();
            found.push(ConstantCall { constant, function: *function_index, start, end });
        }
        constant = match operator {
            Operator::I32Const { value } => Some(value),
            _ => None,
        };
    }
    Ok(found)
}

/// Copies a module section by section, with the changes.
fn rewrite(module: &[u8], survey: &Survey, allocator: u32) -> Result<Patched> {
    let mut rewritten = wasm_encoder::Module::new();
    let mut allocations = 0;
    let mut code = CodeSection::new();
    let mut bodies = 0;
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload?;
        match &payload {
            Payload::FunctionSection(section) => {
                let mut entry = Vec::new();
                survey.allocator_type.context("Ruby has no function from i32 to i32")?.encode(&mut entry);
                append(&mut rewritten, 3, part(module, section.range())?, &entry)?;
            }
            Payload::GlobalSection(section) => {
                // A mutable i32, at first 0.
                append(&mut rewritten, 6, part(module, section.range())?, &[0x7f, 1, 0x41, 0, 0x0b])?;
            }
            Payload::ExportSection(section) => {
                let mut entry = Vec::new();
                REGION_GLOBAL.encode(&mut entry);
                entry.push(3);
                survey.globals.encode(&mut entry);
                append(&mut rewritten, 7, part(module, section.range())?, &entry)?;
            }
            Payload::CodeSectionStart { count, .. } => bodies = *count,
            Payload::CodeSectionEntry(body) => {
                let index = survey.imported + code.len();
                if Some(index) == survey.start_unwind {
                    code.function(&start_unwind(module, body, survey)?);
                } else {
                    let (bytes, redirected) = redirected(module, body, allocator, survey)?;
                    code.raw(&bytes);
                    allocations += redirected;
                }
                if code.len() == bodies {
                    code.function(&allocation(survey)?);
                    rewritten.section(&code);
                }
            }
            payload => {
                if let Some((id, range)) = payload.as_section() {
                    rewritten.section(&RawSection { id, data: part(module, range)? });
                }
            }
        }
    }
    Ok(Patched { module: rewritten.finish(), allocations })
}

fn part(module: &[u8], range: std::ops::Range<usize>) -> Result<&[u8]> {
    module.get(range).context("a section lies outside of its module")
}

/// Writes a section with one additional entry.
fn append(module: &mut wasm_encoder::Module, id: u8, section: &[u8], entry: &[u8]) -> Result<()> {
    let mut reader = BinaryReader::new(section, 0);
    let count = reader.read_var_u32()?;
    let mut data = Vec::with_capacity(section.len() + entry.len() + 1);
    (count + 1).encode(&mut data);
    data.extend(section.get(reader.current_position()..).unwrap_or_default());
    data.extend(entry);
    module.section(&RawSection { id, data: &data });
    Ok(())
}

/// Returns a function's body in which the new function allocates the jump buffers, and the number of changed calls.
fn redirected(module: &[u8], body: &FunctionBody<'_>, allocator: u32, survey: &Survey) -> Result<(Vec<u8>, usize)> {
    let range = body.range();
    let (mut bytes, mut copied, mut count) = (Vec::new(), range.start, 0);
    for call in calls_with_constant(body)? {
        if call.constant == JUMP_BUFFER && call.function == allocator {
            bytes.extend(part(module, copied..call.start)?);
            Instruction::Call(u32::try_from(survey.functions.len())?).encode(&mut bytes);
            copied = call.end;
            count += 1;
        }
    }
    bytes.extend(part(module, copied..range.end)?);
    Ok((bytes, count))
}

/// Returns the function that allocates a jump buffer with its additional space.
fn allocation(survey: &Survey) -> Result<Function> {
    let reallocate = survey.reallocate.context("Ruby does not export cabi_realloc")?;
    let mut function = Function::new([]);
    for instruction in [
        Instruction::I32Const(0),
        Instruction::I32Const(0),
        Instruction::I32Const(8),
        Instruction::I32Const(JUMP_BUFFER + MORE),
        Instruction::Call(reallocate),
        Instruction::End,
    ] {
        function.instruction(&instruction);
    }
    Ok(function)
}

/// Returns `asyncify_start_unwind` with the prologue. Local 0 is the buffer: two words, its top and its end.
fn start_unwind(module: &[u8], body: &FunctionBody<'_>, survey: &Survey) -> Result<Function> {
    ensure!(body.get_locals_reader()?.get_count() == 0, "asyncify_start_unwind has locals of its own");
    let (buffer, region, start) = (Instruction::LocalGet(0), Instruction::GlobalGet(survey.globals), 1);
    let mut function = Function::new([(1, ValType::I32)]);
    let mut write = |instructions: &[Instruction<'_>]| {
        for instruction in instructions {
            function.instruction(instruction);
        }
    };
    let block = Instruction::If(wasm_encoder::BlockType::Empty);
    let word = |offset| MemArg { offset, align: 2, memory_index: 0 };
    write(&[region.clone(), block.clone()]);
    for (address, offset) in survey.statics.iter().zip([0, REGION]) {
        write(&[buffer.clone(), Instruction::I32Const(*address), Instruction::I32Eq, block.clone()]);
        write(&[region.clone(), Instruction::I32Const(offset), Instruction::I32Add, Instruction::LocalSet(start)]);
        write(&[Instruction::End]);
    }
    write(&[Instruction::LocalGet(start), block.clone()]);
    write(&[buffer.clone(), Instruction::LocalGet(start), Instruction::I32Store(word(0))]);
    write(&[buffer.clone(), Instruction::LocalGet(start), Instruction::I32Const(REGION), Instruction::I32Add]);
    write(&[Instruction::I32Store(word(4)), Instruction::End, Instruction::End]);
    // The allocator's header, right below the block, holds its size; the lowest three bits are flags.
    write(&[Instruction::LocalGet(start), Instruction::I32Eqz, block.clone()]);
    write(&[buffer.clone(), Instruction::I32Const(4), Instruction::I32Sub, Instruction::I32Load(word(0))]);
    write(&[Instruction::I32Const(-8), Instruction::I32And, Instruction::I32Const(JUMP_BUFFER + MORE)]);
    write(&[Instruction::I32Sub, Instruction::I32Const(ROUNDING), Instruction::I32LtU, block]);
    for (offset, bound) in [(0, JUMP_BUFFER + 8), (4, JUMP_BUFFER + MORE)] {
        write(&[buffer.clone(), buffer.clone(), Instruction::I32Const(bound), Instruction::I32Add]);
        write(&[Instruction::I32Store(word(offset))]);
    }
    write(&[Instruction::End, Instruction::End]);
    let operators = body.get_operators_reader()?.original_position();
    function.raw(part(module, operators..body.range().end)?.iter().copied());
    Ok(function)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_package_than_the_pinned_one_is_refused() {
        let check = |module: &str, expected: &str| {
            let error = enlarge(&wat::parse_str(module).unwrap()).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        check("(module)", "does not export asyncify_start_unwind");
        let unwind = r#"(func $u (export "asyncify_start_unwind") (param i32))"#;
        check(&format!("(module {unwind})"), "0 static Asyncify buffers instead of 2");
        let statics = "(func (call $u (i32.const 8)) (call $u (i32.const 16)))";
        check(&format!("(module {unwind} {statics})"), "by 0 functions instead of one");
        let allocate = "(func $a (param i32) (result i32) (local.get 0)) (func (drop (call $a (i32.const 24600))))";
        check(
            &format!(r#"(module {unwind} {statics} {allocate} (func (export "cabi_realloc")))"#),
            "at 1 places instead of 29",
        );
    }
}
