//! The last rung: the products of `tiles`, in f32, all names of a step at once.
//!
//! A name lies in a lane of a vector, a position of 48 names in a panel. The longest names
//! come first, and what is behind the end of a name is in no sum.

mod attend;
mod lanes;
mod panels;

use attention::Result;
use pulp::{Simd, WithSimd};
use tiles::Instructions;
use tiles::tile::ROWS;

use crate::architecture::WEIGHTS;
use crate::scalars::N_LETTERS;
use crate::{Architecture, Gradients};
use lanes::{Lanes, Normed};
use panels::{Batch, Rows, Weight};

/// The loss of some names, and the gradient of each parameter.
pub(crate) fn gradients(
    architecture: Architecture,
    parameters: &[f64],
    names: &[Vec<usize>],
) -> Result<Gradients> {
    let (batch, parts) = (&Batch::of(names), &architecture.cut(parameters)[..]);
    let mut list = vec![0f32; parameters.len()];
    let to = &mut architecture.cut_mut(&mut list)[..];
    let loss = Instructions::best().run(Step { architecture, batch, parts, to });
    Ok((loss, list.into_iter().map(f64::from).collect()))
}

/// A model, the names that it reads, and where its gradients are added.
struct Step<'a> {
    architecture: Architecture,
    batch: &'a Batch<'a>,
    parts: &'a [&'a [f64]],
    to: &'a mut [&'a mut [f32]],
}

/// What a block keeps for the backward pass.
struct Pass<'a> {
    norm_1: Normed<'a>,
    q_k_v: [Rows; 3],
    attn: Rows,
    heads: Rows,
    norm_2: Normed<'a>,
    slopes: Rows,
    activated: Rows,
    /// W^Q, W^K, W^V, W^O, W_1 and W_2.
    weights: [Weight; 6],
}

impl WithSimd for Step<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let Self { architecture, batch, parts, to } = self;
        let Architecture { d_model: d, n_blocks, n_heads, .. } = architecture;
        let lanes = &Lanes { simd, batch, n_heads, d_k: d / n_heads };
        let mut x = batch.rows(d);
        for ([place, lane], t, [id, _]) in batch.letters() {
            let column = x.panel_mut(place)[lane..].iter_mut().step_by(ROWS);
            let rows = parts[0][id * d..].iter().zip(&parts[1][t * d..]).take(d);
            column.zip(rows).for_each(|(x, (a, b))| *x = (a + b) as f32);
        }
        let firsts = || (0..n_blocks).map(|b| architecture.first_of(b));
        let pass = |first: usize| block(lanes, &parts[first..], &mut x);
        let passes: Vec<_> = firsts().map(pass).collect();
        let last = architecture.first_of(n_blocks);
        let normed = lanes.norm(&x, &parts[last..]);
        let letters = Weight::new(parts[0], [d, N_LETTERS], [1, d], &[]);
        let (loss, d_logits) = loss(batch, &lanes.product(&normed.out, &letters));

        let d_letters = &mut to[..1];
        let d_out =
            lanes.product_backward(&normed.out, &[(&letters, &d_logits)], d_letters);
        let mut d_x = batch.rows(d);
        lanes.norm_backward(&normed, &d_out, &mut d_x, &mut to[last..]);
        for (first, pass) in firsts().zip(&passes).rev() {
            block_backward(lanes, pass, &mut d_x, &mut to[first..]);
        }
        for ([place, lane], t, [id, _]) in batch.letters() {
            let column = d_x.panel(place)[lane..].iter().step_by(ROWS);
            for (j, dx) in column.take(d).enumerate() {
                to[0][id * d + j] += dx;
                to[1][t * d + j] += dx;
            }
        }
        loss
    }
}

/// Through a block; its output replaces x.
fn block<'a, S: Simd>(
    lanes: &Lanes<'_, S>,
    parts: &[&'a [f64]],
    x: &mut Rows,
) -> Pass<'a> {
    let weights = WEIGHTS.map(|part| Weight::of(&parts[part..]));
    let [w_q, w_k, w_v, w_o, w_1, w_2] = &weights;
    let norm_1 = lanes.norm(x, parts);
    let x_1 = &norm_1.out;
    let q_k_v = [w_q, w_k, w_v].map(|weight| lanes.product(x_1, weight));
    let [attn, heads] = lanes.attend(&q_k_v);
    lanes.add_product(&heads, w_o, x);

    let norm_2 = lanes.norm(x, &parts[10..]);
    let [activated, slopes] = lanes.gelu(&lanes.product(&norm_2.out, w_1));
    lanes.add_product(&activated, w_2, x);
    Pass { norm_1, q_k_v, attn, heads, norm_2, slopes, activated, weights }
}

/// Back through a block: d, of its output, becomes that of what it read.
fn block_backward<S: Simd>(
    lanes: &Lanes<'_, S>,
    pass: &Pass<'_>,
    d: &mut Rows,
    to: &mut [&mut [f32]],
) {
    let [w_q, w_k, w_v, w_o, w_1, w_2] = &pass.weights;
    let mut d_hidden =
        lanes.product_backward(&pass.activated, &[(w_2, d)], &mut to[14..16]);
    d_hidden.times(&pass.slopes);
    let d_normed =
        lanes.product_backward(&pass.norm_2.out, &[(w_1, &d_hidden)], &mut to[12..14]);
    lanes.norm_backward(&pass.norm_2, &d_normed, d, &mut to[10..]);

    let d_heads = lanes.product_backward(&pass.heads, &[(w_o, d)], &mut to[8..10]);
    let [d_q, d_k, d_v] = &lanes.attend_backward(&pass.q_k_v, &pass.attn, &d_heads);
    let by = [(w_q, d_q), (w_k, d_k), (w_v, d_v)];
    let d_normed = lanes.product_backward(&pass.norm_1.out, &by, &mut to[2..8]);
    lanes.norm_backward(&pass.norm_1, &d_normed, d, to);
}

/// The mean, over all letters, of -ln of the chance of what came, and its gradient.
fn loss(batch: &Batch<'_>, logits: &Rows) -> (f64, Rows) {
    let (mut loss, mut d_logits) = (0.0, batch.rows(N_LETTERS));
    let n_letters: usize = batch.n_names.iter().sum();
    for ([place, lane], _, [_, came]) in batch.letters() {
        let logits = logits.panel(place)[lane..].iter().step_by(ROWS).take(N_LETTERS);
        let largest = logits.clone().copied().fold(f32::NEG_INFINITY, f32::max);
        let powers = logits.clone().map(|logit| (logit - largest).exp());
        let sum: f32 = powers.clone().sum();
        let to = d_logits.panel_mut(place)[lane..].iter_mut().step_by(ROWS);
        for (id, (power, to)) in powers.zip(to).enumerate() {
            let came = f32::from(u8::from(id == came));
            *to = (power / sum - came) / n_letters as f32;
        }
        let logit = logits.clone().nth(came).unwrap_or(&largest);
        loss += f64::from(sum.ln() + largest - logit);
    }
    (loss / n_letters as f64, d_logits)
}
