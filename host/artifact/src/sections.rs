//! Reads the sections of a component, as far as an artifact needs it.
//!
//! Only the headers of the outermost sections are read. So opening a policy costs little more than its digest, and the engine
//! validates the component later.

use std::ops::Range;
use std::path::Path;

use wasm_encoder::{ComponentSection as _, CustomSection};
use wasmparser::{BinaryReader, ComponentImportSectionReader};

use crate::{ArtifactError, CONTRACT, FIRST_PACKAGE, NAMESPACE};

/// `\0asm`, then version 13 of layer 1: a component.
pub(super) const COMPONENT_HEADER: [u8; 8] = [0, b'a', b's', b'm', 0x0d, 0, 1, 0];

/// `\0asm`, then version 1 of layer 0: a core module.
const MODULE_HEADER: [u8; 8] = [0, b'a', b's', b'm', 1, 0, 0, 0];

const CUSTOM_SECTION: u8 = 0;
const COMPONENT_IMPORT_SECTION: u8 = 10;

/// The errors of a file's outermost structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Problem {
    NotComponent(&'static str),
    Truncated,
}

impl Problem {
    pub(super) fn of_file(self, path: &Path) -> ArtifactError {
        let path = path.to_owned();
        match self {
            Self::NotComponent(what) => ArtifactError::NotComponent { path, what },
            Self::Truncated => ArtifactError::Damaged { path, what: "it ends in the middle of a section".into() },
        }
    }
}

/// An outermost section of a component, found by its header.
#[derive(Debug, Clone, Copy)]
pub(super) struct Section<'a> {
    /// The number of the section's kind.
    pub(super) kind: u8,
    /// The offset of its header, in bytes.
    pub(super) start: usize,
    /// The name of a custom section.
    pub(super) name: Option<&'a str>,
    /// The content after the name.
    pub(super) content: &'a [u8],
    /// The offset in the file at which `content` begins, in bytes.
    content_start: usize,
}

impl Section<'_> {
    pub(super) fn content_range(&self) -> Range<usize> {
        self.content_start..self.content_start + self.content.len()
    }
}

/// An iterator over a component's outermost sections.
pub(super) struct Walk<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Walk<'a> {
    pub(super) fn of_component(bytes: &'a [u8]) -> Result<Self, Problem> {
        match bytes.first_chunk::<8>() {
            Some(&COMPONENT_HEADER) => Ok(Self { bytes, position: COMPONENT_HEADER.len() }),
            Some(&MODULE_HEADER) => Err(Problem::NotComponent("a core WebAssembly module, not a component")),
            _ if bytes.starts_with(b"\0asm") => Err(Problem::NotComponent("WebAssembly of an unknown kind")),
            _ if bytes.is_empty() => Err(Problem::NotComponent("empty")),
            _ => Err(Problem::NotComponent("not WebAssembly")),
        }
    }

    pub(super) fn next_section(&mut self) -> Result<Option<Section<'a>>, Problem> {
        let start = self.position;
        if start >= self.bytes.len() {
            return Ok(None);
        }
        let kind = *self.bytes.get(start).ok_or(Problem::Truncated)?;
        let (size, content_start) = self.number(start + 1)?;
        let end = content_start.checked_add(size).ok_or(Problem::Truncated)?;
        let content = self.bytes.get(content_start..end).ok_or(Problem::Truncated)?;
        self.position = end;
        let mut section = Section { kind, start, name: None, content, content_start };
        if kind == CUSTOM_SECTION {
            let (length, name_start) = self.number(content_start)?;
            let name_end =
                name_start.checked_add(length).filter(|name_end| *name_end <= end).ok_or(Problem::Truncated)?;
            let name = self.bytes.get(name_start..name_end).ok_or(Problem::Truncated)?;
            section.name = std::str::from_utf8(name).ok();
            section.content = self.bytes.get(name_end..end).ok_or(Problem::Truncated)?;
            section.content_start = name_end;
        }
        Ok(Some(section))
    }

    /// A number of up to 32 bits (LEB128) and the position after it.
    fn number(&self, start: usize) -> Result<(usize, usize), Problem> {
        let mut value: u64 = 0;
        for index in 0..5 {
            let byte = *self.bytes.get(start + index).ok_or(Problem::Truncated)?;
            value |= u64::from(byte & 0x7f) << (7 * index);
            if byte & 0x80 == 0 {
                return Ok((usize::try_from(value).map_err(|_| Problem::Truncated)?, start + index + 1));
            }
        }
        Err(Problem::Truncated)
    }
}

/// Adds a custom section at the end.
pub(super) fn append(component: &mut Vec<u8>, name: &str, content: &[u8]) {
    CustomSection { name: name.into(), data: content.into() }.append_to_component(component);
}

/// Tells whether a component for a version of the contract, `PACKAGE@MAJOR.MINOR.PATCH`, can be run. Before 1.0, a new minor
/// number is incompatible, and a new patch number only adds items.
pub(super) fn speaks(contract: &str) -> bool {
    let parse = |text: &str| {
        let (package, version) = text.split_once('@')?;
        let numbers = version.split('.').map(|number| number.parse::<u32>().ok()).collect::<Option<Vec<u32>>>()?;
        let [major, minor, patch] = <[u32; 3]>::try_from(numbers).ok()?;
        Some((package.to_owned(), major, minor, patch))
    };
    match (parse(contract), parse(CONTRACT)) {
        (Some(theirs), Some(ours)) => {
            (&theirs.0, theirs.1, theirs.2) == (&ours.0, ours.1, ours.2) && theirs.3 <= ours.3
        }
        _ => false,
    }
}

/// Checks the versions of the interfaces that a component imports. The error is the contract that it speaks.
pub(super) fn check_contract(component: &[u8]) -> Result<(), String> {
    let world = CONTRACT.split_once('@').map_or(CONTRACT, |(package, _)| package);
    let Ok(mut walk) = Walk::of_component(component) else { return Ok(()) };
    while let Ok(Some(section)) = walk.next_section() {
        if section.kind != COMPONENT_IMPORT_SECTION {
            continue;
        }
        // The engine refuses an unreadable section with a better message.
        let reader = BinaryReader::new(section.content, 0);
        let Ok(imports) = ComponentImportSectionReader::new(reader) else { continue };
        for import in imports.into_iter().flatten() {
            let (interface, version) = match import.name.name.split_once('@') {
                Some((interface, version)) => (interface, Some(version)),
                None => (import.name.name, None),
            };
            let Some((package, _)) = interface.split_once('/').filter(|_| interface.starts_with(NAMESPACE)) else {
                continue;
            };
            let package = if package == FIRST_PACKAGE { FIRST_PACKAGE } else { world };
            let contract = match version {
                Some(version) => format!("{package}@{version}"),
                None => format!("{package} without a version"),
            };
            if !speaks(&contract) {
                return Err(contract);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_additions_are_spoken_and_nothing_else() {
        assert!(speaks(CONTRACT));
        for other in [
            "wrun:cookbook@0.1.0",
            "wrun:cookbook@0.2.0",
            "wrun:policy@0.1.0",
            "wrun:policy@0.3.0",
            "wrun:policy@1.2.0",
            "wrun:policy@0.2.1",
            "wrun:policy@0.2",
            "wrun:policy",
            "a:b@0.2.0",
        ] {
            assert!(!speaks(other), "{other}");
        }
    }

    #[test]
    fn sections_are_stepped_over_and_named() {
        let mut component = wasm_encoder::Component::new().finish();
        append(&mut component, "first", b"12");
        append(&mut component, "second", &[7; 200]);
        let mut walk = Walk::of_component(&component).unwrap();
        let first = walk.next_section().unwrap().unwrap();
        assert_eq!((first.name, first.content, first.start), (Some("first"), &b"12"[..], 8));
        let second = walk.next_section().unwrap().unwrap();
        assert_eq!((second.name, second.content.len()), (Some("second"), 200));
        assert_eq!(&component[second.content_range()], second.content);
        assert!(walk.next_section().unwrap().is_none());
    }

    #[test]
    fn no_cut_or_changed_byte_is_more_than_a_problem() {
        let mut component = wasm_encoder::Component::new().finish();
        append(&mut component, "name", &[1; 300]);
        let run = |bytes: &[u8]| -> Result<usize, Problem> {
            let mut walk = Walk::of_component(bytes)?;
            let mut count = 0;
            while walk.next_section()?.is_some() {
                count += 1;
            }
            Ok(count)
        };
        for length in 0..component.len() {
            assert!(run(&component[..length]).is_err() || length == 8, "{length}");
            let mut changed = component.clone();
            changed[length] = 0xff;
            let _ = run(&changed);
        }
    }
}
