//! The same decoder through the fast kernels, in f32.
//!
//! A prompt is products of many tokens, which arithmetic limits; what is written behind it
//! is products of one token, which memory limits: every weight is read once per token, and
//! so is the cache. Both are the business of `cached`; here its parts are put together as
//! [`Block`](::block::Block) puts together the readable ones. W^Q, W^K and W^V are one
//! product, and so are the gate and what it lets through.
//!
//! A model is packed part by part and its readable weights are given up on the way, so both
//! are never in memory together.

mod block;
mod few_bits;
mod layer;
mod looks;
mod rotation;
mod rows;
#[cfg(test)]
mod tests;
mod tokens;

use std::sync::atomic::{AtomicBool, Ordering};

use attention::Matrix;
use cached::{GroupedHeads, PackedCache, Precision};
use tiles::Instructions;

use crate::Result;
use crate::ablated::{Whole, places};
use crate::caches::expect_shapes;
use crate::decoders::Files;
use crate::decoders::config::Config;
use crate::decoders::decoder::AsRead;
use crate::decoders::looks::Looks;
use crate::decoders::reader::CachedDecoder;
use crate::decoders::study::losses::next_losses;
use crate::decoders::weights::Weights;
use crate::head::Head;
use ::block::Norm;

pub use rows::MapRows;

use block::{FastBlock, Work};
use few_bits::FewBits;
use rotation::{AllAngles, Rotations};
use tokens::Tokens;

/// A decoder whose weights are packed as its products read them.
///
/// It runs on the threads of the pool that the caller is in, and keeps what it works in
/// between calls.
#[derive(Debug)]
pub struct FastDecoder {
    /// What its files say.
    pub config: Config,
    tokens: Tokens,
    blocks: Vec<FastBlock>,
    last_norm: Norm<f32>,
    rotations: Rotations,
    precision: Precision,
    work: Work,
}

/// The keys and values of one text, in all layers.
#[derive(Debug, Clone)]
pub struct PackedCaches {
    layers: Vec<PackedCache>,
}

impl PackedCaches {
    /// How many tokens have been read.
    pub fn n_tokens(&self) -> usize {
        self.layers.first().map_or(0, PackedCache::n_tokens)
    }

    /// Forgets all but the first tokens.
    pub fn truncate(&mut self, n_tokens: usize) {
        self.layers.iter_mut().for_each(|layer| layer.truncate(n_tokens));
    }
}

impl FastDecoder {
    /// The same model, packed; what it was is given up part by part.
    ///
    /// # Errors
    /// [`Error::Sizes`](crate::Error::Sizes) for
    /// a change of the attention that the kernels do not have: scores that fall with
    /// distance, first tokens that a window keeps; [`Error::NoHead`](crate::Error::NoHead)
    /// for a model without logits.
    pub fn new(model: AsRead<f32>) -> Result<Self> {
        let AsRead { config, embedding, blocks, last_norm, unembedding } = model;
        let unembedding = unembedding.ok_or_else(|| config.no_head())?;
        let rotations =
            blocks.iter().map(|block| block.attention.function.changes().rotary.clone());
        let rotations = Rotations::new(rotations);
        let blocks =
            blocks.into_iter().map(|block| FastBlock::new(block, FewBits::default()));
        let blocks = blocks.collect::<Result<Vec<_>>>()?;
        let tokens = Tokens::new(embedding, unembedding);
        let work = Work::new(&blocks)?;
        let precision = Precision::default();
        Ok(Self { config, tokens, blocks, last_norm, rotations, precision, work })
    }

    /// The model from what its files hold, block by block: what a file keeps in few bits
    /// stays so, and nothing but a block is ever in memory as numbers.
    ///
    /// # Errors
    /// As [`Decoder::read`](crate::decoders::Decoder::read) and [`new`](Self::new).
    pub fn read_files(files: &Files) -> Result<Self> {
        let config = files.config.clone();
        let weights = Weights::new(&files.config, &files.tensors)?;
        let tokens = Tokens::read(&weights)?;
        let mut rotary = Vec::new();
        let mut blocks = Vec::new();
        for layer in 0..config.n_layers {
            let few_bits = FewBits::of(&weights, layer)?;
            let block = weights.block(layer)?;
            rotary.push(block.attention.function.changes().rotary.clone());
            blocks.push(FastBlock::new(block, few_bits)?);
        }
        let rotations = Rotations::new(rotary.into_iter());
        let last_norm = weights.last_norm()?;
        weights.expect_all_known()?;
        let work = Work::new(&blocks)?;
        let precision = Precision::default();
        Ok(Self { config, tokens, blocks, last_norm, rotations, precision, work })
    }

    /// The same, which rounds no token to 8 bits
    /// ([`Product::of_levels`](cached::Product::of_levels)): slower, and alike on all machines.
    pub fn in_f32(mut self) -> Self {
        self.blocks.iter_mut().for_each(FastBlock::in_f32);
        self
    }

    /// The same, computed with these instructions.
    pub fn with_instructions(mut self, instructions: Instructions) -> Self {
        self.blocks.iter_mut().for_each(|block| block.compute_with(instructions));
        self.tokens.compute_with(instructions);
        self.work.compute_with(instructions);
        self
    }

    /// The same, whose caches keep keys and values in so many bits: fewer bytes to read for each
    /// token of a long text, and less room, for what rounding them costs.
    pub fn with_precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// Empty caches for a text, with room for so many tokens; for more they grow.
    pub fn caches(&self, n_tokens: usize) -> PackedCaches {
        let layer = |block: &FastBlock| {
            PackedCache::with_precision(block.heads(), n_tokens, self.precision)
        };
        PackedCaches { layers: self.blocks.iter().map(layer).collect() }
    }

    /// The bytes of weights that are read for a token.
    pub fn weight_bytes(&self) -> usize {
        self.blocks.iter().map(FastBlock::bytes).sum::<usize>() + self.tokens.bytes()
    }

    /// The bytes of the caches that the next token reads, its own key and value included.
    pub fn cache_bytes(&self, caches: &PackedCaches) -> usize {
        let layers = self.blocks.iter().zip(&caches.layers);
        layers.map(|(block, cache)| block.bytes_of_cache(cache)).sum()
    }

    /// Tokens behind those of the caches; the logits after the last of them.
    ///
    /// # Shapes
    /// `[n_vocabulary]`.
    ///
    /// # Errors
    /// As [`Embedding::forward`](crate::decoders::Embedding::forward);
    /// [`Error::Sizes`](crate::Error::Sizes) for the caches of another model. The caches are
    /// then as they were.
    pub fn read(&mut self, ids: &[usize], caches: &mut PackedCaches) -> Result<Vec<f32>> {
        let x = self.through(ids, caches, |_, _, _, _| Ok(()))?;
        self.last_logits(&x)
    }

    /// Logits of the last token that came through the blocks.
    fn last_logits(&mut self, x: &Matrix<f32>) -> Result<Vec<f32>> {
        let last = x.rows(x.nrows() - 1, 1).into_owned();
        Ok(self.logits(&last)?.data.into())
    }

    /// Tokens through all blocks, `[n_tokens, d_model]`; `look` is given each layer, the queries
    /// of the tokens, and its cache, which has their keys by then.
    fn through(
        &mut self,
        ids: &[usize],
        caches: &mut PackedCaches,
        mut look: impl FnMut(
            &FastBlock,
            &Work,
            &Matrix<f32>,
            &PackedCache,
        ) -> attention::Result<()>
        + Send,
    ) -> Result<Matrix<f32>> {
        let first = self.check(caches)?;
        let mut x = self.tokens.embed(ids, first)?;
        let places: Vec<usize> = (first..first + ids.len()).collect();
        let angles = AllAngles::new(&self.rotations, &places);
        within_pool(|| {
            let layers = self.blocks.iter().zip(&mut caches.layers);
            for (layer, (block, cache)) in layers.enumerate() {
                let q = block.prompt(&mut self.work, &mut x, angles.of(layer), cache)?;
                look(block, &self.work, &q, cache)?;
            }
            Ok(x)
        })
    }

    /// Logits of what came through the blocks.
    fn logits(&mut self, x: &Matrix<f32>) -> Result<Matrix<f32>> {
        within_pool(|| self.tokens.logits(&self.last_norm.forward(x)?))
    }

    /// The loss of each token but the first, in nats, of a text that is read in prompts of so
    /// many tokens: as [`Decoder::losses`](crate::decoders::Decoder::losses).
    ///
    /// # Shapes
    /// `[n_tokens − 1]`.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn losses(&mut self, ids: &[usize], at_once: usize) -> Result<Vec<f64>> {
        let mut caches = self.caches(ids.len());
        let mut losses = Vec::with_capacity(ids.len());
        for (nth, prompt) in ids.chunks(at_once.max(1)).enumerate() {
            let x = self.through(prompt, &mut caches, |_, _, _, _| Ok(()))?;
            let next = &ids[nth * at_once.max(1) + 1..];
            for first in (0..prompt.len().min(next.len())).step_by(LOGITS_AT_ONCE) {
                let rows = LOGITS_AT_ONCE.min(prompt.len().min(next.len()) - first);
                let logits = self.logits(&x.rows(first, rows).into_owned())?;
                losses.extend(next_losses(&logits, &next[first..]));
            }
        }
        Ok(losses)
    }

    /// How many tokens the caches have.
    fn check(&self, caches: &PackedCaches) -> Result<usize> {
        let n_layers = self.blocks.len();
        let (what, n) = ("the list of caches", caches.n_tokens());
        attention::Error::expect_length(what, n_layers, caches.layers.len())?;
        for (block, cache) in self.blocks.iter().zip(&caches.layers) {
            let shapes = |heads: GroupedHeads| {
                [heads.d_k(), heads.d_v()].map(|width| (n, heads.n_kv_heads() * width))
            };
            expect_shapes(shapes(block.heads()), shapes(cache.heads()))?;
        }
        Ok(n)
    }
}

/// So many tokens get their logits at once: as many as are not rounded.
const LOGITS_AT_ONCE: usize = 8;

/// Within the pool, where joins are cheap, and with its other threads awake: of one token a
/// product takes microseconds, and a thread that fell asleep between two as many to wake up.
fn within_pool<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    let is_done = &AtomicBool::new(false);
    rayon::scope(|scope| {
        let here = rayon::current_thread_index();
        scope.spawn_broadcast(move |_, context| {
            if Some(context.index()) != here {
                stay_awake(is_done);
            }
        });
        let result = f();
        is_done.store(true, Ordering::Release);
        result
    })
}

/// Works on whatever there is, until all is done. Where there is nothing for long, it ends: a
/// thread that waits for others may have come here, and then has what they wait for.
fn stay_awake(is_done: &AtomicBool) {
    const PATIENCE: usize = 4096;
    let mut n_idle = 0;
    while n_idle < PATIENCE && !is_done.load(Ordering::Acquire) {
        n_idle = match rayon::yield_now() {
            Some(rayon::Yield::Executed) => 0,
            _ => n_idle + 1,
        };
        std::hint::spin_loop();
    }
}

impl CachedDecoder for FastDecoder {
    type Caches = PackedCaches;

    fn config(&self) -> &Config {
        &self.config
    }

    fn caches(&self, n_tokens: usize) -> PackedCaches {
        self.caches(n_tokens)
    }

    fn read_behind(
        &mut self,
        ids: &[usize],
        caches: &mut PackedCaches,
        is_looking: bool,
    ) -> Result<(Vec<f64>, Option<Looks>)> {
        let (logits, looks) = match is_looking {
            true => {
                let (logits, looks) = self.read_looking(ids, caches)?;
                (logits, Some(looks))
            }
            false => (self.read(ids, caches)?, None),
        };
        Ok((logits.into_iter().map(f64::from).collect(), looks))
    }

    fn switch_off(&mut self, heads: &[Head], _: &mut Whole<f32>) -> Result<()> {
        self.ablate(&places(heads)?)
    }
}
