//! Caches that are to be those of a model.

use attention::Real;
use variants::{Cache, Sizes};

use crate::{Error, Result};

/// How many tokens the caches of layers of these sizes have been given.
pub(crate) fn expect_seen<T: Real>(
    layers: impl ExactSizeIterator<Item = Sizes>,
    caches: &[Cache<T>],
) -> Result<usize> {
    attention::Error::expect_length("the list of caches", layers.len(), caches.len())?;
    let n_seen = caches.first().map_or(0, Cache::n_seen);
    for (layer, (sizes, cache)) in layers.zip(caches).enumerate() {
        expect_sizes(sizes, cache)?;
        let found = cache.n_seen();
        if found != n_seen {
            return Err(Error::Caches { layer, found, n_seen });
        }
    }
    Ok(n_seen)
}

/// Refuses a cache of other widths.
pub(crate) fn expect_sizes<T: Real>(
    sizes: Sizes,
    cache: &Cache<T>,
) -> attention::Result<()> {
    let found = [cache.keys(), cache.values()].map(|rows| rows.shape());
    let n = found[0].0;
    expect_shapes(sizes.cache_widths().map(|width| (n, width)), found)
}

/// Refuses keys and values of other shapes.
pub(crate) fn expect_shapes(
    expected: [(usize, usize); 2],
    found: [(usize, usize); 2],
) -> attention::Result<()> {
    attention::Error::expect_shape("the keys of a cache", expected[0], found[0])?;
    attention::Error::expect_shape("the values of a cache", expected[1], found[1])
}
