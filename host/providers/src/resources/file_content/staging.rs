//! Staged content: written beside its target first, so that checks can read it before it is put in place.

use super::content::Content;
use super::verify::keep_rejected;
use crate::plan::Writer;
use contract::Raised;
use grants::GrantedPath;
use machine::root::{ModeBits, StagedFile};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};

/// A staged file, shared between the operation that stages it and the one that puts it in place. The file is removed when
/// both are dropped.
#[derive(Debug, Clone, Default)]
pub(crate) struct Staged(Arc<Mutex<Option<StagedFile>>>);

impl Staged {
    /// Takes the staged file, if there is one.
    pub(super) fn take(&self) -> Option<StagedFile> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn keep(&self, file: StagedFile) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(file);
    }
}

/// Writes staged content for the guest's `verify` blocks. The operation that later puts it in place shares the staged file.
#[derive(Debug)]
pub(crate) struct Staging {
    /// The path that the content is staged for.
    pub(crate) granted: GrantedPath,
    /// The content. `None`: an empty file.
    pub(crate) content: Option<Content<'static>>,
    /// The permission bits of the staged file.
    pub(crate) creation_mode: ModeBits,
    /// The place for the staged file, shared with the later operation.
    pub(crate) staged: Staged,
}

impl Staging {
    /// Stages the content and returns its path, which is the blocks' argument.
    ///
    /// # Errors
    /// The content cannot be written.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<Value, Raised> {
        let file = stage(writer, &self.granted, self.content.as_ref(), self.creation_mode)?;
        let path = file.path();
        self.staged.keep(file);
        Ok(json!(path))
    }
}

/// The step that keeps staged content after a block rejected it, so that people can read it.
#[derive(Debug)]
pub(crate) struct Rejection {
    /// The content that was written beside the file.
    pub(super) staged: Staged,
}

impl Rejection {
    /// Keeps the content and returns its path; the path is empty if nothing was staged.
    ///
    /// # Errors
    /// The content cannot be written.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<String, Raised> {
        self.staged.take().as_ref().map_or_else(|| Ok(String::new()), |staged| keep_rejected(writer, staged))
    }
}

/// Writes content to a temporary file beside its target.
///
/// # Errors
/// The content cannot be written.
pub(super) fn stage(
    writer: &mut Writer<'_>,
    granted: &GrantedPath,
    content: Option<&Content<'_>>,
    creation_mode: ModeBits,
) -> Result<StagedFile, Raised> {
    let mut staged = writer.root.site(granted)?.stage(creation_mode)?;
    if let Some(content) = content {
        content.write_to(&mut staged)?;
    }
    Ok(staged)
}
