//! How much a layer takes, counted by shapes before any of it is there.

use super::Files;
use crate::{Error, Intent, Record, Result};

/// So many entries are read, and no more: a gigabyte in f64.
const MOST_ENTRIES: u128 = 1 << 27;

/// So many scores are computed at a time, and no more: hundreds of layers are.
const MOST_SCORES: u128 = 1 << 25;

/// Whether tensors of these names have no more entries than are read.
pub fn expect_tensors(files: &Files<'_>, names: &[String]) -> Result<()> {
    let entries = names.iter().filter_map(|name| Some(files.peek(name)?.n_entries()));
    match entries.fold(0, u128::saturating_add) {
        n if n > MOST_ENTRIES => Err(Error::Entries { n, most: MOST_ENTRIES }),
        _ => Ok(()),
    }
}

/// Whether the scores of a layer are no more than are computed.
pub fn expect_scores(record: &Record, intent: &Intent) -> Result<()> {
    let (heads, batch) = (intent.n_heads, record.batch());
    let (n_q, n_kv) = record.lengths();
    let sizes = [batch, heads, n_q, n_kv].into_iter();
    match sizes.fold(1u128, |n, size| n.saturating_mul(size as u128)) {
        n if n > MOST_SCORES => {
            Err(Error::Scores { n_q, n_kv, heads, batch, n, most: MOST_SCORES })
        }
        _ => Ok(()),
    }
}
