//! The last rung: the products of `tiles`, in f32, all names of a step at once.
//!
//! A name lies in a lane of a vector, a position of 48 names in a panel. The longest names
//! come first, and what is behind the end of a name is in no sum.

use std::cmp::Reverse;

use attention::Result;
use pulp::WithSimd;
use tiles::Instructions;
use tiles::tile::ROWS;

use crate::Architecture;
use crate::attend::{Attend, AttendBackward, Heads};
use crate::lanes::{
    Gelu, Norm, NormBackward, Normed, Places, Product, ProductBackward, Rows, Weight,
};
use crate::scalars::N_LETTERS;

/// The loss of some names, and the gradient of each parameter.
pub(crate) fn gradients(
    architecture: Architecture,
    parameters: &[f64],
    names: &[Vec<usize>],
) -> Result<(f64, Vec<f64>)> {
    let batch = Batch::of(names);
    let d_k = architecture.dims()?.d_k();
    let parts = architecture.cut(parameters);
    let model =
        Model { architecture, d_k, parts, batch, instructions: Instructions::best() };
    let mut list = vec![0f32; parameters.len()];
    let loss = model.add_gradients(&mut architecture.cut_mut(&mut list));
    Ok((loss, list.into_iter().map(f64::from).collect()))
}

/// Names in lanes, the longest first.
struct Batch<'a> {
    names: Vec<&'a [usize]>,
    places: Places,
    n_letters: usize,
}

impl<'a> Batch<'a> {
    fn of(names: &'a [Vec<usize>]) -> Self {
        let mut names: Vec<&[usize]> = names.iter().map(|name| &name[..]).collect();
        names.sort_by_key(|name| Reverse(name.len()));
        let n_groups = names.len().div_ceil(ROWS);
        let lengths = || names.iter().map(|name| name.len() - 1);
        let mut n_names = vec![0; lengths().max().unwrap_or(0) * n_groups];
        for (nth, length) in lengths().enumerate() {
            (0..length).for_each(|t| n_names[t * n_groups + nth / ROWS] += 1);
        }
        let n_letters = lengths().sum();
        Self { names, places: Places { n_groups, n_names }, n_letters }
    }

    /// Each letter: its place and lane, its position, itself, and what comes after it.
    fn letters(&self) -> impl Iterator<Item = ([usize; 2], usize, [usize; 2])> + '_ {
        self.names.iter().enumerate().flat_map(move |(nth, name)| {
            name.windows(2).enumerate().map(move |(t, pair)| {
                let place = t * self.places.n_groups + nth / ROWS;
                ([place, nth % ROWS], t, [pair[0], pair[1]])
            })
        })
    }
}

/// A model and the names that it reads.
struct Model<'a> {
    architecture: Architecture,
    d_k: usize,
    parts: Vec<&'a [f64]>,
    batch: Batch<'a>,
    instructions: Instructions,
}

/// What a block keeps for the backward pass.
struct Pass {
    norm_1: Normed,
    q_k_v: [Rows; 3],
    attn: Vec<f32>,
    heads: Rows,
    norm_2: Normed,
    slopes: Rows,
    activated: Rows,
    /// W^Q, W^K, W^V, W^O, W_1 and W_2.
    weights: [Weight; 6],
}

/// The places of the weights among the parts of a block; each bias comes behind its weight.
const WEIGHTS: [usize; 6] = [2, 4, 6, 8, 12, 14];

impl Model<'_> {
    fn run<Op: WithSimd>(&self, op: Op) -> Op::Output {
        self.instructions.run(op)
    }

    fn rows(&self, n_features: usize) -> Rows {
        self.batch.places.rows(n_features)
    }

    fn weight(&self, part: usize) -> Weight {
        let (w, bias) = (self.parts[part], self.parts[part + 1]);
        let (d_in, d_out) = (w.len() / bias.len(), bias.len());
        Weight::new([d_in, d_out], |i, j| w[i * d_out + j], bias)
    }

    fn product(&self, x: &Rows, weight: &Weight, to: &mut Rows) {
        self.run(Product { places: &self.batch.places, x, weight, to });
    }

    fn norm(&self, x: &Rows, part: usize) -> Normed {
        let (gain, bias) = (self.parts[part], self.parts[part + 1]);
        self.run(Norm { places: &self.batch.places, x, gain, bias })
    }

    fn heads<'a>(&'a self, q_k_v: &'a [Rows; 3]) -> Heads<'a> {
        let (places, n_heads) = (&self.batch.places, self.architecture.n_heads);
        Heads { places, n_heads, d_k: self.d_k, q_k_v }
    }

    /// Through a block; its output replaces x.
    fn block(&self, first: usize, x: &mut Rows) -> Pass {
        let d = self.architecture.d_model;
        let weights = WEIGHTS.map(|part| self.weight(first + part));
        let [w_q, w_k, w_v, w_o, w_1, w_2] = &weights;
        let norm_1 = self.norm(x, first);
        let q_k_v = [w_q, w_k, w_v].map(|weight| {
            let mut to = self.rows(d);
            self.product(&norm_1.out, weight, &mut to);
            to
        });
        let (attn, heads) = self.run(Attend(self.heads(&q_k_v)));
        self.product(&heads, w_o, x);

        let norm_2 = self.norm(x, first + 10);
        let mut hidden = self.rows(self.architecture.d_ff());
        self.product(&norm_2.out, w_1, &mut hidden);
        let [activated, slopes] = self.run(Gelu(&self.batch.places, &hidden));
        self.product(&activated, w_2, x);
        Pass { norm_1, q_k_v, attn, heads, norm_2, slopes, activated, weights }
    }

    /// Back through a block: d, of its output, becomes that of what it read.
    fn block_backward(
        &self,
        first: usize,
        pass: &Pass,
        d: &mut Rows,
        to: &mut [&mut [f32]],
    ) {
        let [w_q, w_k, w_v, w_o, w_1, w_2] = &pass.weights;
        let rows = |n| self.rows(n);
        let (d_model, d_ff) = (self.architecture.d_model, self.architecture.d_ff());
        let mut d_hidden = rows(d_ff);
        self.product_backward([&pass.activated, d], w_2, &mut d_hidden, &mut to[14..]);
        d_hidden.times(&pass.slopes);
        let mut d_normed = rows(d_model);
        self.product_backward(
            [&pass.norm_2.out, &d_hidden],
            w_1,
            &mut d_normed,
            &mut to[12..],
        );
        self.norm_backward(&pass.norm_2, first + 10, &d_normed, d, &mut to[10..]);

        let mut d_heads = rows(d_model);
        self.product_backward([&pass.heads, d], w_o, &mut d_heads, &mut to[8..]);
        let (heads, attn) = (self.heads(&pass.q_k_v), &pass.attn);
        let d_q_k_v = self.run(AttendBackward { heads, attn, d: &d_heads });
        let mut d_normed = rows(d_model);
        for (i, (d, weight)) in d_q_k_v.iter().zip([w_q, w_k, w_v]).enumerate() {
            let x = &pass.norm_1.out;
            self.product_backward([x, d], weight, &mut d_normed, &mut to[2 + 2 * i..]);
        }
        self.norm_backward(&pass.norm_1, first, &d_normed, d, to);
    }

    /// From the gradient of what came out; those of the weight and bias are added to the
    /// first two of some lists.
    fn product_backward(
        &self,
        [x, d]: [&Rows; 2],
        weight: &Weight,
        d_x: &mut Rows,
        to: &mut [&mut [f32]],
    ) {
        let [d_weight, d_bias, ..] = to else { return };
        let (places, by_columns) = (&self.batch.places, false);
        self.run(ProductBackward {
            places,
            x,
            weight,
            d,
            d_x,
            d_weight,
            by_columns,
            d_bias,
        });
    }

    fn norm_backward(
        &self,
        normed: &Normed,
        part: usize,
        d: &Rows,
        d_x: &mut Rows,
        to: &mut [&mut [f32]],
    ) {
        let [d_gain, d_bias, ..] = to else { return };
        let (places, gain) = (&self.batch.places, self.parts[part]);
        self.run(NormBackward { places, normed, gain, d, d_x, d_gain, d_bias });
    }

    fn add_gradients(&self, to: &mut [&mut [f32]]) -> f64 {
        let Self { architecture, batch, parts, .. } = self;
        let d = architecture.d_model;
        let mut x = self.rows(d);
        for ([place, lane], t, [id, _]) in batch.letters() {
            let column = x.panel_mut(place)[lane..].iter_mut().step_by(ROWS);
            let rows = parts[0][id * d..].iter().zip(&parts[1][t * d..]).take(d);
            column.zip(rows).for_each(|(x, (a, b))| *x = (a + b) as f32);
        }
        let firsts: Vec<usize> =
            (0..architecture.n_blocks).map(|b| architecture.first_of(b)).collect();
        let passes: Vec<Pass> =
            firsts.iter().map(|first| self.block(*first, &mut x)).collect();
        let last = architecture.first_of(architecture.n_blocks);
        let normed = self.norm(&x, last);
        let letters = Weight::new([d, N_LETTERS], |i, j| parts[0][j * d + i], &[]);
        let mut logits = self.rows(N_LETTERS);
        self.product(&normed.out, &letters, &mut logits);
        let (loss, d_logits) = self.loss(&logits);

        let mut d_out = self.rows(d);
        self.run(ProductBackward {
            places: &batch.places,
            x: &normed.out,
            weight: &letters,
            d: &d_logits,
            d_x: &mut d_out,
            d_weight: to[0],
            by_columns: true,
            d_bias: &mut [],
        });
        let mut d_x = self.rows(d);
        self.norm_backward(&normed, last, &d_out, &mut d_x, &mut to[last..]);
        for (first, pass) in firsts.iter().zip(&passes).rev() {
            self.block_backward(*first, pass, &mut d_x, &mut to[*first..]);
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

    /// The mean, over all letters, of -ln of the chance of what came, and its gradient.
    fn loss(&self, logits: &Rows) -> (f64, Rows) {
        let mut d_logits = self.rows(N_LETTERS);
        let per_letter = 1.0 / self.batch.n_letters as f32;
        let mut loss = 0.0;
        for ([place, lane], _, [_, came]) in self.batch.letters() {
            let logits = logits.panel(place)[lane..].iter().step_by(ROWS).take(N_LETTERS);
            let largest = logits.clone().copied().fold(f32::NEG_INFINITY, f32::max);
            let powers = logits.clone().map(|logit| (logit - largest).exp());
            let sum: f32 = powers.clone().sum();
            let to = d_logits.panel_mut(place)[lane..].iter_mut().step_by(ROWS);
            for (id, (power, to)) in powers.zip(to).enumerate() {
                let came = f32::from(u8::from(id == came));
                *to = (power / sum - came) * per_letter;
            }
            let logit = logits.clone().nth(came).unwrap_or(&largest);
            loss += f64::from(sum.ln() + largest - logit);
        }
        (loss / self.batch.n_letters as f64, d_logits)
    }
}
