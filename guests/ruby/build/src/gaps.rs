//! Fills the gaps in Ruby's heap before the state is frozen.
//!
//! Loading the library leaves free pieces of all sizes between the pieces in use. An instance would take its memory from them,
//! all over the heap, and get its own copy of each page that it touches. Without gaps, new memory lies together at the heap's
//! end.

use crate::ruby::Ruby;
use anyhow::{Result, ensure};

/// A size larger than nearly all gaps, in bytes.
const LARGE: i32 = 1 << 20;

/// The most bytes that the allocator puts before a piece of memory.
const HEADER: i32 = 64;

/// The sizes of which no gap may be left, in bytes.
const PROBES: [i32; 4] = [24, 100, 1000, 5000];

/// The sizes of the gaps that are filled, from large to small: powers of two, then each size for which the allocator keeps a
/// list of its own.
fn sizes() -> impl Iterator<Item = i32> {
    (9..19).rev().map(|power| 1 << power).chain((1..32).rev().map(|step| 16 * step))
}

/// Allocates all free pieces of Ruby's heap but the last one, and never frees them.
///
/// # Errors
/// Ruby has no memory left, its allocator moves memory that is made smaller, or a gap is left.
pub(crate) fn fill(ruby: &mut Ruby) -> Result<()> {
    let end = end_of_heap(ruby)?;
    for size in sizes() {
        loop {
            let piece = ruby.allocate(size)?;
            if piece > end {
                ruby.shrink(piece, size)?;
                break;
            }
        }
    }
    for size in PROBES {
        let piece = ruby.allocate(size)?;
        ensure!(piece > end, "a gap of {size} bytes is left in Ruby's heap at {piece}");
        ruby.shrink(piece, size)?;
    }
    Ok(())
}

/// Returns an address that no gap lies behind. Two large pieces side by side come from the heap's end.
fn end_of_heap(ruby: &mut Ruby) -> Result<i32> {
    let mut last = ruby.allocate(LARGE)?;
    loop {
        let next = ruby.allocate(LARGE)?;
        if next > last && next - last <= LARGE + HEADER {
            ruby.shrink(next, LARGE)?;
            return Ok(next);
        }
        last = next;
    }
}
