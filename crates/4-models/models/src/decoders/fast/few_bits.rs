//! The matrices of a file that are kept in few bits, which stay so.

use cached::{Bits, Quantised};
use model_files::Levels;

use crate::Result;
use crate::decoders::family::{Layers, Projections};
use crate::decoders::weights::Weights;

/// The matrices of a block, where all that a product joins are kept in blocks.
#[derive(Debug, Default)]
pub(super) struct FewBits {
    pub projections: Option<Quantised>,
    pub w_o: Option<Quantised>,
    pub inner: Option<Quantised>,
    pub outer: Option<Quantised>,
}

impl FewBits {
    /// Those of a layer; when its block is read afterwards, they are not decoded.
    pub(super) fn of(weights: &Weights<'_>, layer: usize) -> Result<Self> {
        let (config, names) = (weights.config, &weights.config.family.names);
        let (d_model, d_ff) = (config.dims().d_model(), config.d_ff);
        let [(_, q), (_, k), (_, v), (concat, _)] = config.sizes.shapes();
        let product = |matrices: &[(&str, usize)], d_in: usize| -> Result<_> {
            let full = |name: &str| format!("{}{layer}.{name}", names.block);
            let stored = |&(name, d_out): &(&str, usize)| {
                weights.levels(&format!("{}.weight", full(name)), [d_out, d_in])
            };
            let stored: Option<Vec<Levels<'_>>> =
                matrices.iter().map(stored).collect::<Result<_>>()?;
            let Some(stored) = stored else { return Ok(None) };
            matrices.iter().for_each(|(name, _)| weights.keep_in_few_bits(full(name)));
            joined(&stored, d_in).map(Some)
        };
        let projections = match names.projections {
            Projections::Apart([w_q, w_k, w_v]) => {
                product(&[(w_q, q), (w_k, k), (w_v, v)], d_model)?
            }
            Projections::Joined(_) | Projections::PerHead(_) => None,
        };
        let (inner, outer) = match names.feed_forward {
            Layers::Plain([w_1, w_2]) => (vec![(w_1, d_ff)], w_2),
            Layers::Gated([gate, up, down]) => (vec![(gate, d_ff), (up, d_ff)], down),
        };
        Ok(Self {
            projections,
            w_o: product(&[(names.out, d_model)], concat)?,
            inner: product(&inner, d_model)?,
            outer: product(&[(outer, d_model)], d_ff)?,
        })
    }
}

/// Matrices side by side, `[d_in, d_out]` each: as many bits as the one that needs most, in
/// blocks as small as the smallest.
pub(super) fn joined(matrices: &[Levels<'_>], d_in: usize) -> Result<Quantised> {
    let bits = match matrices.iter().map(Levels::bits).max() {
        Some(..=4) => Bits::Four,
        _ => Bits::Eight,
    };
    let block = matrices.iter().map(Levels::group).min().unwrap_or(1);
    let d_out = matrices.iter().map(Levels::n_rows).sum();
    Ok(Quantised::from_rows(d_in, d_out, bits, block, |j, row| {
        let (mut j, mut at) = (j, 0);
        while j >= matrices[at].n_rows() {
            j -= matrices[at].n_rows();
            at += 1;
        }
        let matrix = &matrices[at];
        let times = matrix.group() / block;
        let n_groups = row.scales.len() / times;
        matrix.row(j, &mut row.levels, &mut row.scales[..n_groups]);
        // From behind, so that no scale is written over before it is read.
        for block in (0..row.scales.len()).rev() {
            row.scales[block] = row.scales[block / times];
        }
    })?)
}
