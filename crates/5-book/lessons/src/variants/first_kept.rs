//! A window over a trained layer, with one key kept from everywhere: the first, or another.

use anyhow::Result;
use attention::{Mask, Matrix, MultiHeadAttention, PackedParameters};
use figures::{Axis, Figure, palette};
use model_files::{Sentence, TrainedLayer};
use variants::{Changes, Positions, VariantAttention, Window};

use crate::args::Args;
use crate::named_rows::{Look, NamedRows, RowList, RowPanel};
use crate::numbers::{apart, percent};
use crate::trained;

/// How many keys on either side of a token its window has.
pub const SIDE: usize = 2;

/// How far the layer's output on a sentence is from what it is without a window, as a part
/// of its length.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowDistances {
    /// With a window alone.
    pub alone: f64,
    /// With a window, and this key seen from everywhere: one entry per token.
    pub with: Vec<f64>,
}

/// The trained layer on one of its sentences.
///
/// # Errors
/// None; the sentence has the layer's width.
pub fn measure(trained: &TrainedLayer, sentence: &Sentence) -> Result<WindowDistances> {
    distances(trained.parameters.pack(), &sentence.input)
}

/// A layer on tokens, `[n_tokens, d_model]`.
///
/// # Errors
/// Tokens of another width.
pub fn distances(packed: PackedParameters, x: &Matrix) -> Result<WindowDistances> {
    let layer = VariantAttention::from_packed(packed, Changes::default())?;
    let whole = layer.self_attend(x, &Mask::None)?.out;
    let n = x.nrows();
    let window = Window { left: Some(SIDE), right: Some(SIDE), n_sinks: 0 };
    let at = Positions::new(n, n);
    let distance = |kept: Option<usize>| -> Result<f64> {
        let sees = |i: usize, j: usize| {
            kept == Some(j) || window.sees(at.queries[i], at.keys[j])
        };
        let mask = Mask::Allowed(Matrix::from_fn(n, n, sees));
        let out = layer.self_attend(x, &mask)?.out;
        Ok(apart(&out, &whole))
    };
    let with = (0..n).map(|key| distance(Some(key))).collect::<Result<_>>()?;
    Ok(WindowDistances { alone: distance(None)?, with })
}

/// The distances of each sentence: with each other key kept, and with the first.
pub(super) fn figure(_: &Args) -> Result<Figure> {
    let trained = trained::layer()?;
    let kept = trained.sentences.iter().map(|sentence| measure(trained, sentence));
    let kept: Vec<WindowDistances> = kept.collect::<Result<_>>()?;
    let rows: Vec<String> =
        trained.sentences.iter().map(|it| it.name.replace('_', " ")).collect();
    let others: Vec<Vec<f64>> = kept.iter().map(|it| it.with[1..].to_vec()).collect();
    let first = kept.iter().map(|it| it.with[0]);
    let lists = vec![
        RowList::new("another key kept", others, Look::Runs(palette::beside_wrong(0))),
        RowList::single("the first key kept", first, Look::Dots(palette::wrong())),
    ];
    let x = Axis::between([0.0, 1.56])
        .at([0.0, 0.5, 1.0, 1.5], ["0", "50 %", "100 %", "150 %"]);
    let panel = RowPanel::new("distance from the whole output", x, percent, lists);
    let title =
        "A window over the trained layer does least harm when the first key is kept";
    NamedRows::new(&rows, 27.0, 1).figure(title, &[panel])
}

#[cfg(test)]
mod tests {
    use super::*;
    use attention::{Dims, LayerParameters, Rng, SeedableRng, random_matrix};
    use trained::layer;

    /// Which key it is best to keep, in a layer whose queries are all this many times as long
    /// as one random vector: 0 looks evenly, and with 20 nearly all attention goes to one key.
    fn best(length: f64, seed: u64) -> (usize, usize) {
        let rng = &mut Rng::seed_from_u64(seed);
        let dims = Dims::new(16, 1).unwrap();
        let mut packed = LayerParameters::random(dims, true, rng).pack();
        let mut entries = packed.entries_mut().into_iter();
        let [w_q, b_q] = [0, 1].map(|_| entries.next().unwrap());
        w_q.fill(0.0);
        let size = b_q.iter().map(|x| x * x).sum::<f64>().sqrt();
        b_q.iter_mut().for_each(|x| *x *= length / size);
        drop(entries);
        let x = random_matrix(12, 16, 1.0, rng);
        let plain = VariantAttention::from_packed(packed.clone(), Changes::default());
        let attn = plain.unwrap().self_attend(&x, &Mask::None).unwrap().attn;
        let with = distances(packed, &x).unwrap().with;
        let least = (0..12).min_by(|&a, &b| with[a].total_cmp(&with[b])).unwrap();
        (least, attn[0].row(0).transpose().argmax().0)
    }

    /// It finds the key that a planted query looks at, and of even maps any.
    #[test]
    fn the_key_that_all_look_at_is_found_and_no_other() {
        let found = (0..40).filter(|&seed| {
            let (least, looked_at) = best(20.0, seed);
            least == looked_at
        });
        let found = found.count();
        let first = (0..40).filter(|&seed| best(0.0, seed).0 == 0).count();
        assert!(found >= 36 && first <= 10, "{found} {first}");
    }

    /// The change says the same as a mask that is made by hand.
    #[test]
    fn a_sink_that_is_kept_is_the_first_key() {
        let trained = layer().unwrap();
        for sentence in &trained.sentences {
            let window = Some(Window { left: Some(SIDE), right: Some(SIDE), n_sinks: 1 });
            let packed = trained.parameters.pack();
            // With `right`, later keys are cut off, sinks too; the first key never lies there
            // but for its own row and the two before, which do not exist.
            let changes = Changes { window, ..Changes::default() };
            let layer = VariantAttention::from_packed(packed, changes).unwrap();
            let out = layer.self_attend(&sentence.input, &Mask::None).unwrap().out;
            let plain = layer.with_changes(Changes::default()).unwrap();
            let whole = plain.self_attend(&sentence.input, &Mask::None).unwrap().out;
            let apart = (out - &whole).norm() / whole.norm();
            let found = measure(trained, sentence).unwrap().with[0];
            assert!((apart - found).abs() < 1e-12, "{apart} {found}");
        }
    }
}
