//! What each token gets, in attention and in what is written, and what becomes of the
//! output without it.

use anyhow::Result;
use attention::{FormulaPass, LayerParameters, Mask, Matrix, attend_head};
use figures::{
    Axis, Chart, Figure, Mark, NEUTRAL, Panel, Place, Table, escaped, palette, rounded,
};
use model_files::Sentence;
use single_head::HeadPass;

use super::measures::{lengths, weighted};
use crate::Args;
use crate::numbers::{apart, mean, share};
use crate::trained::{self, cosine, passes};

/// What each token gets, as means over all heads and queries.
pub struct Got {
    /// The share as it is.
    pub attention: Vec<f64>,
    /// The part of what is written, share · ‖v_k W_i^O‖ over the sum of its row.
    pub written: Vec<f64>,
}

impl Got {
    /// In this layer, on these tokens.
    ///
    /// # Errors
    /// If the tokens have another width than the layer.
    pub fn new(layer: &LayerParameters, x: &Matrix) -> Result<Self> {
        let passes = passes(layer, x)?;
        let written = passes.iter().enumerate();
        let written: Vec<Matrix> = written
            .map(|(head, pass)| weighted(&pass.attn, &lengths(layer, head, pass)))
            .collect();
        let attention: Vec<Matrix> = passes.into_iter().map(|pass| pass.attn).collect();
        Ok(Self { attention: columns(&attention), written: columns(&written) })
    }
}

/// The mean of each column over all maps.
fn columns(maps: &[Matrix]) -> Vec<f64> {
    let column = |key: usize| mean(maps.iter().map(|map| map.column(key).mean()));
    (0..maps[0].ncols()).map(column).collect()
}

/// The output of a layer without one of its tokens, in two ways.
pub struct Without {
    /// As it was, `[n_tokens, d_model]`.
    pub whole: Matrix,
    /// The token's term is left out; all other shares stay.
    pub dropped: Matrix,
    /// No query may attend to the token; its shares go to the others.
    pub masked: Matrix,
}

impl Without {
    /// The output of this layer on these tokens, without token `key`.
    ///
    /// # Errors
    /// If the tokens have another width than the layer.
    pub fn new(layer: &LayerParameters, x: &Matrix, key: usize) -> Result<Self> {
        let others = Mask::Keys((0..x.nrows()).map(|token| token != key).collect());
        let mut whole = Matrix::zeros(x.nrows(), layer.dims().d_model());
        if let Some(bias) = &layer.w_o().bias {
            whole.row_iter_mut().for_each(|mut row| row += bias);
        }
        let [mut dropped, mut masked] = [whole.clone(), whole.clone()];
        for (i, pass) in passes(layer, x)?.iter().enumerate() {
            let w_o = layer.w_o_of_head(i);
            let without = without(pass, &others)?;
            // What the token writes into every row: A_i[q, key] · v_key W_i^O.
            let written = pass.attn.column(key) * (pass.v.row(key) * &w_o);
            let out = &pass.out * &w_o;
            dropped += &out - written;
            whole += out;
            masked += without.out * w_o;
        }
        Ok(Self { whole, dropped, masked })
    }

    /// How much each changes the output, as parts of the output's length: dropped, masked.
    pub fn changes(&self) -> [f64; 2] {
        [&self.dropped, &self.masked].map(|out| apart(out, &self.whole))
    }

    /// How many times as long the masked output is.
    pub fn stretch(&self) -> f64 {
        self.masked.norm() / self.whole.norm()
    }

    /// How far each masked row points where it did: the mean cosine of the rows.
    pub fn direction(&self) -> f64 {
        let row = |m: &Matrix, i: usize| {
            Matrix::from_row_slice(1, m.ncols(), m.row(i).clone_owned().as_slice())
        };
        mean(
            (0..self.whole.nrows())
                .map(|i| cosine(&row(&self.whole, i), &row(&self.masked, i))),
        )
    }
}

/// Each token of the four sentences: how far the output changes when it is dropped, and when
/// it is masked.
pub(super) fn figure(_: &Args) -> Result<Figure> {
    let layer = trained::layer()?;
    let [mut sinks, mut others] = [const { Vec::new() }; 2];
    for Sentence { name, tokens, input, .. } in &layer.sentences {
        for (key, token) in tokens.iter().enumerate() {
            let changes = Without::new(&layer.parameters, input, key)?.changes();
            let list = if key == 0 { &mut sinks } else { &mut others };
            list.push((format!("{token}, {name}"), changes));
        }
    }
    let marks = |list: &[(String, [f64; 2])], name: &str, size: usize| {
        let [x, y] =
            [0, 1].map(|at| list.iter().map(|it| rounded(it.1[at])).collect::<Vec<_>>());
        let told = list.iter().map(|(token, [dropped, masked])| {
            let token = escaped(token);
            format!(
                "{token}<br>dropped {:.0} %, masked {:.0} %",
                100.0 * dropped,
                100.0 * masked
            )
        });
        Mark::points(x, y)
            .marked("circle", size)
            .named(name)
            .hover(told.collect::<Vec<_>>())
    };
    let axis = |what: &str| Axis::numbers(0.8).titled(what);
    let panel = |width: f64| Panel {
        width: Some(f64::min(420.0, width - 60.0)),
        ..Panel::new(
            "change of the output, part of its norm",
            axis("token dropped"),
            axis("token masked"),
            250.0,
        )
    };
    let table = Table::new(
        "Change of the output, parts of its norm",
        ["token", "dropped", "masked"],
        sinks.iter().chain(&others).map(|(token, changes)| {
            let [dropped, masked] = changes.map(share);
            [token.clone(), dropped, masked]
        }),
    );
    let title = "Masking [CLS] changes the output several times as much as dropping it; for \
                 no other token does it matter which";
    Ok(Chart::new(title)
        .by_width(|width| {
            let place = Place { width, left: 44.0, above: 24.0, ..Place::default() };
            (vec![panel(width)], place)
        })
        .marks([
            Mark::rule([[0.0, 0.0], [0.8, 0.8]]),
            marks(&others, "all other tokens", 8).coloured(NEUTRAL).mark_opacity(0.6),
            marks(&sinks, "[CLS], in four sentences", 11).coloured(palette::head(0)),
        ])
        .tables([table])
        .says("Points of tokens: on the diagonal, dropping and masking change as much.")
        .figure()?)
}

/// The same head where only these keys may be attended to.
///
/// # Errors
/// If the mask is for another number of keys.
pub fn without(pass: &HeadPass, others: &Mask) -> Result<FormulaPass> {
    let [q, k, v] = [&pass.q, &pass.k, &pass.v].map(Matrix::as_view);
    Ok(attend_head(q, k, v, None, others)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use attention::{Dims, HeadParameters, Rng, SeedableRng, random_matrix};

    const N_TOKENS: usize = 10;
    /// The entry that token 0 alone has, and the one that all have.
    const MARK: usize = 0;
    const ALL: usize = 1;

    /// A fresh layer on random tokens. Each query looks for token 0 with this score, whose
    /// value is nothing.
    fn planted(score: f64, seed: u64) -> (LayerParameters, Matrix) {
        let rng = &mut Rng::seed_from_u64(seed);
        let mut x: Matrix = random_matrix(N_TOKENS, 16, 1.0, rng);
        x.row_mut(0).fill(0.0);
        x.column_mut(MARK).fill(0.0);
        x.column_mut(ALL).fill(1.0);
        x[(0, MARK)] = 1.0;
        let dims = Dims::new(16, 2).unwrap();
        let layer: LayerParameters = LayerParameters::random(dims, false, rng);
        let looks = |mut head: HeadParameters| {
            for w in [&mut head.w_q.weight, &mut head.w_k.weight, &mut head.w_v.weight] {
                w.row_mut(MARK).fill(0.0);
                w.row_mut(ALL).fill(0.0);
            }
            head.w_q.weight[(ALL, 0)] = score * 8f64.sqrt();
            head.w_k.weight.column_mut(0).fill(0.0);
            head.w_k.weight[(MARK, 0)] = 1.0;
            head
        };
        let heads = layer.heads().iter().cloned().map(looks).collect();
        (LayerParameters::new(heads, layer.w_o().clone()).unwrap(), x)
    }

    /// By how much more masking a token changes the output than dropping it, and how many
    /// times as long it makes the output.
    fn sink(layer: &LayerParameters, x: &Matrix, key: usize) -> [f64; 2] {
        let without = Without::new(layer, x, key).unwrap();
        let [dropped, masked] = without.changes();
        [masked - dropped, without.stretch()]
    }

    /// A sink is seen by masking alone, and no other token looks like one: neither those
    /// beside it, nor any where no query looks for the first.
    #[test]
    fn a_planted_sink_is_seen_and_no_other_token() {
        for seed in 0..10 {
            let (layer, x) = planted(3.0, seed);
            let [more, stretch] = sink(&layer, &x, 0);
            let Got { attention, written } = Got::new(&layer, &x).unwrap();
            assert!((0.5..0.9).contains(&attention[0]), "{seed}: {attention:?}");
            assert_eq!(written[0], 0.0);
            assert!(more > 0.5 && stretch > 1.5, "{seed}: {more} {stretch}");
            for (score, first) in [(3.0, 1), (0.0, 1)] {
                let (layer, x) = planted(score, seed);
                for key in first..N_TOKENS {
                    let [more, stretch] = sink(&layer, &x, key);
                    let here = format!("{seed}, {score}, {key}: {more} {stretch}");
                    assert!(more < 0.2 && stretch < 1.3, "{here}");
                }
            }
        }
    }
}
