//! What is computed once, and looked at again and again.

use std::sync::OnceLock;

use anyhow::Result;

/// What a cell keeps, computed first if it is empty.
///
/// # Errors
/// As `compute`; the cell then stays empty.
pub(crate) fn kept<T>(
    cell: &OnceLock<T>,
    compute: impl FnOnce() -> Result<T>,
) -> Result<&T> {
    match cell.get() {
        Some(kept) => Ok(kept),
        None => compute().map(|computed| cell.get_or_init(|| computed)),
    }
}
