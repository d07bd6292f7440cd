//! A source that is read once, and a target that grows.

use attention::{Mask, Real};
use block::{Layers, Reads};
use model_files::Sequence;
use variants::Cache;

use crate::Result;
use crate::caches::{expect_seen, expect_sizes};
use crate::translators::translator::AsRead;

/// A source that is read: what the encoder gave of it, and the keys and values that each block
/// of the decoder attends to. Nothing of it changes while a target is written.
#[derive(Debug, Clone, PartialEq)]
pub struct Source<T: Real = f64> {
    /// All hidden states and maps of the encoder.
    pub layers: Layers<T>,
    mask: Mask,
    caches: Vec<Cache<T>>,
}

/// The bytes of keys and values, by layer of the decoder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheBytes {
    /// Those that each token of the target adds.
    pub per_token: Vec<usize>,
    /// Those of the source: once, however long the target becomes.
    pub source: Vec<usize>,
}

impl<T: Real> Source<T> {
    /// The keys and values of the source, one cache per block of the decoder.
    pub fn caches(&self) -> &[Cache<T>] {
        &self.caches
    }
}

impl<T: Real> AsRead<T> {
    /// Reads a source, and makes its keys and values for each block of the decoder.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn read_source(&self, source: &Sequence) -> Result<Source<T>> {
        let layers = self.encode(source)?;
        let crosses = self.decoder.blocks.iter().filter_map(|block| block.cross.as_ref());
        let caches = crosses.map(|cross| cross.function.source_cache(layers.out()));
        let caches = caches.collect::<attention::Result<_>>()?;
        Ok(Source { mask: source.mask()?, caches, layers })
    }

    /// An empty cache per block of the decoder, for one target.
    pub fn caches(&self) -> Vec<Cache<T>> {
        let blocks = self.decoder.blocks.iter();
        blocks.map(|block| block.attention.function.cache()).collect()
    }

    /// What keys and values take, for a source of so many tokens.
    pub fn cache_bytes(&self, n_source: usize) -> CacheBytes {
        let row = |sizes: variants::Sizes| {
            sizes.cache_widths().into_iter().sum::<usize>() * size_of::<T>()
        };
        let blocks = || self.decoder.blocks.iter();
        let per_token = blocks().map(|block| row(block.attention.function.sizes()));
        let crosses = blocks().filter_map(|block| block.cross.as_ref());
        let source = crosses.map(|cross| n_source * row(cross.function.sizes()));
        CacheBytes { per_token: per_token.collect(), source: source.collect() }
    }

    /// New tokens of the target behind those of the caches: hidden states and maps of the new
    /// ones alone.
    ///
    /// # Shapes
    /// As [`decode`](Self::decode), with `n_new` tokens; maps are `[n_new, n_cached]`, the
    /// caches holding the new tokens by then, and on the source `[n_new, n_source]`.
    ///
    /// # Errors
    /// As [`decode`](Self::decode); [`Error::Sizes`](crate::Error::Sizes) for caches or a source of another model;
    /// [`Error::Caches`](crate::Error::Caches). The caches are then as they were.
    pub fn decode_cached(
        &self,
        ids: &[usize],
        source: &Source<T>,
        caches: &mut [Cache<T>],
    ) -> Result<Layers<T>> {
        let n_seen = self.check(source, caches)?;
        let x = self.target().forward(ids, n_seen)?;
        let x = self.decoder.enter(x, n_seen)?;
        Ok(self.decoder.forward(x, |layer, reads, a, x| match reads {
            Reads::Itself => a.forward_cached(x, &mut caches[layer]),
            Reads::Memory => a.attend_to(x, &source.caches[layer], &source.mask),
        })?)
    }

    /// How many tokens the caches have been given.
    fn check(&self, source: &Source<T>, caches: &[Cache<T>]) -> Result<usize> {
        let sizes = || {
            let blocks = self.decoder.blocks.iter();
            blocks.map(|block| block.attention.function.sizes())
        };
        let n_seen = expect_seen(sizes(), caches)?;
        let (what, found) = ("the source's list of caches", &source.caches);
        attention::Error::expect_length(what, sizes().len(), found.len())?;
        sizes().zip(found).try_for_each(|(sizes, cache)| expect_sizes(sizes, cache))?;
        Ok(n_seen)
    }
}
