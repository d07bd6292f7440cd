//! Chosen rows of the maps of a text that is too long for whole maps.
//!
//! All maps of n tokens are h · n² shares a layer: 2.4 GB for nine heads on 8,192. Some rows
//! are h · n each. The text goes through the layers one after the other, a piece of it at a
//! time, and only one layer's keys and values are there at once; in the last layer that is
//! asked for, nothing is computed but queries and keys.

use std::collections::BTreeSet;

use attention::Matrix;
use cached::PackedCache;

use super::block::{FastBlock, Work};
use super::rotation::AllAngles;
use super::{FastDecoder, within_pool};
use crate::{Error, Result};

/// Tokens that go through a layer together: enough that a weight which is read serves many,
/// and few enough that what stands between two products stays small. The tiny models of tests
/// have 64 positions, and are to see several pieces.
const PIECE: usize = if cfg!(test) { 24 } else { 192 };

/// Which rows of a text's maps are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapRows {
    /// The tokens that ask, by their places from 0.
    pub queries: Vec<usize>,
    /// The layers, from 0.
    pub layers: BTreeSet<usize>,
}

impl FastDecoder {
    /// The chosen rows of the maps of a text; `progress` is told of each layer that comes.
    ///
    /// # Shapes
    /// For each chosen layer, the first one first, a map per head, `[n_chosen, n_tokens]`.
    ///
    /// # Errors
    /// As [`read`](Self::read); [`Error::Position`] and [`Error::Sizes`] for a token or a layer
    /// that is not there.
    pub fn rows(
        &mut self,
        ids: &[usize],
        chosen: &MapRows,
        mut progress: impl FnMut(usize),
    ) -> Result<Vec<Vec<Matrix<f32>>>> {
        self.check_chosen(ids.len(), chosen)?;
        let Self { tokens, blocks, rotations, work, .. } = self;
        let firsts = (0..ids.len()).step_by(PIECE);
        let pieces = firsts.map(|first| {
            let places: Vec<usize> = (first..ids.len().min(first + PIECE)).collect();
            let x = tokens.embed(&ids[first..first + places.len()], first)?;
            Ok(Piece { first, x, angles: AllAngles::new(rotations, &places) })
        });
        let mut pieces = pieces.collect::<Result<Vec<_>>>()?;
        let Some(&last) = chosen.layers.last() else { return Ok(Vec::new()) };
        let mut maps = Vec::new();
        for (layer, block) in blocks.iter().enumerate().take(last + 1) {
            progress(layer);
            let queries = chosen.queries.as_slice();
            let asking = chosen.layers.contains(&layer).then_some(queries);
            let is_last = layer == last;
            let read = || block.read(layer, work, &mut pieces, asking, is_last);
            maps.extend(within_pool(read)?);
        }
        Ok(maps)
    }

    fn check_chosen(&self, n_tokens: usize, chosen: &MapRows) -> Result<()> {
        if let Some(&position) = chosen.queries.iter().find(|&&place| place >= n_tokens) {
            return Err(Error::Position { position, n_tokens });
        }
        for &layer in &chosen.layers {
            attention::Error::expect_index("layer", layer, self.blocks.len())?;
        }
        Ok(())
    }
}

impl FastBlock {
    /// A text through the block of this number, and the rows of those who ask; through its keys
    /// alone where nothing follows.
    fn read(
        &self,
        layer: usize,
        work: &mut Work,
        pieces: &mut [Piece<'_>],
        asking: Option<&[usize]>,
        is_last: bool,
    ) -> attention::Result<Option<Vec<Matrix<f32>>>> {
        let heads = self.heads();
        let n_tokens = pieces.iter().map(|piece| piece.x.nrows()).sum();
        let mut cache = PackedCache::with_room(heads, n_tokens);
        let places = asking.unwrap_or_default();
        let mut asked = Matrix::zeros(places.len(), heads.n_heads() * heads.d_k());
        for Piece { first, x, angles } in pieces {
            let angles = angles.of(layer);
            let q = match is_last {
                true => self.keys(work, x, angles, &mut cache)?,
                false => self.prompt(work, x, angles, &mut cache)?,
            };
            for (row, place) in places.iter().enumerate() {
                if let Some(at) = place.checked_sub(*first).filter(|&at| at < q.nrows()) {
                    asked.row_mut(row).copy_from(&q.row(at));
                }
            }
        }
        asking.map(|places| self.rows(work, &asked, &cache, places)).transpose()
    }
}

/// Some neighbouring tokens of a text.
struct Piece<'a> {
    /// The place of the first.
    first: usize,
    /// `[n, d_model]`
    x: Matrix<f32>,
    /// Of their places, in all layers.
    angles: AllAngles<'a>,
}
