//! The parts of the model in vectors, with a name in each lane: what is added, normed or
//! attended to is added lane by lane, and a projection is the one product of all fast code.

use std::iter::zip;

use pulp::{Simd, WithSimd};
use tiles::exp2::exp2;
use tiles::tile::{AddTo, COLUMNS, ROWS, Segment, WIDTH, square, tile, turn_8, vectors};

use super::panels::{Batch, Rows, Weight};

/// What came out of a norm, before its gain and bias and behind them.
pub(crate) struct Normed<'a> {
    gain: &'a [f64],
    plain: Rows,
    /// In row 0, what the numbers of each lane were multiplied by.
    scale: Rows,
    pub(crate) out: Rows,
}

/// The parts of the model, for one set of vector instructions.
pub(crate) struct Lanes<'a, S> {
    pub(crate) simd: S,
    pub(crate) batch: &'a Batch<'a>,
    pub(crate) n_heads: usize,
    pub(crate) d_k: usize,
}

struct Compiled<F>(F);

impl<F: FnOnce()> WithSimd for Compiled<F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        (self.0)();
    }
}

/// Runs what is compiled by itself for the instructions of some lanes: a whole step at once
/// would be slower, and take long to compile.
macro_rules! compiled {
    ($lanes:expr, $body:block) => {
        $lanes.run(
            #[inline(always)]
            || $body,
        )
    };
}
pub(crate) use compiled;

impl<S: Simd> Lanes<'_, S> {
    pub(crate) fn run(&self, function: impl FnOnce()) {
        self.simd.vectorize(Compiled(function));
    }

    /// `x · W + b`, at each place.
    pub(crate) fn product(&self, x: &Rows, weight: &Weight) -> Rows {
        let mut to = self.batch.rows(weight.d_out);
        self.add_product(x, weight, &mut to);
        to
    }

    /// `to += x · W + b`.
    pub(crate) fn add_product(&self, x: &Rows, weight: &Weight, to: &mut Rows) {
        compiled!(self, {
            for (place, n) in self.batch.in_use() {
                let segment = |b| [Segment { a: x.panel(place), b, depth: x.n }];
                let rows = to.panel_mut(place).chunks_exact_mut(COLUMNS * ROWS);
                let biases = weight.bias.chunks_exact(COLUMNS);
                for ((to, b), bias) in rows.zip(weight.panels()).zip(biases) {
                    for (to, bias) in zip(to.chunks_exact_mut(ROWS), bias) {
                        to[..n].iter_mut().for_each(|to| *to += bias);
                    }
                    let (lanes, sums) = (vectors::<S>(0..n), &mut AddTo(to));
                    tile::<S, COLUMNS, 1>(self.simd, lanes, &segment(b), sums);
                }
            }
        });
    }

    /// From the gradients of what came out of some products of x: its own, `Σ d · Wᵀ`; and of
    /// each, `xᵀ · d` is added to a list, and `Σ d` to the one behind it, if there is one.
    pub(crate) fn product_backward(
        &self,
        x: &Rows,
        products: &[(&Weight, &Rows)],
        to: &mut [&mut [f32]],
    ) -> Rows {
        let mut d_x = self.batch.rows(x.n);
        compiled!(self, {
            for (place, n) in self.batch.in_use() {
                let to = d_x.panel_mut(place).chunks_exact_mut(COLUMNS * ROWS);
                for (first, to) in (0..).step_by(COLUMNS * COLUMNS).zip(to) {
                    let mut segments = Vec::new();
                    for (weight, d) in products {
                        let d = d.panel(place).chunks_exact(COLUMNS * ROWS);
                        for (a, panel) in zip(d, weight.panels()) {
                            let b = &panel[first..];
                            segments.push(Segment { a, b, depth: COLUMNS });
                        }
                    }
                    let lanes = vectors::<S>(0..n);
                    tile::<S, 1, COLUMNS>(self.simd, lanes, &segments, &mut AddTo(to));
                }
            }
            for first in (0..x.n).step_by(ROWS) {
                let turned = self.turned(x, first);
                for ((weight, d), to) in zip(products, to.chunks_mut(2)) {
                    self.add_weight_gradient(&turned, first, weight, d, to[0]);
                }
            }
            for ((_, d), to) in zip(products, to.chunks_mut(2)) {
                let Some(d_bias) = to.get_mut(1) else { continue };
                for (place, _) in self.batch.in_use() {
                    let n_names = self.batch.n_names[place];
                    for (sum, row) in zip(d_bias.iter_mut(), d.features(place)) {
                        *sum += row[..n_names].iter().sum::<f32>();
                    }
                }
            }
        });
        d_x
    }

    /// Rows of `xᵀ · d`, from the first of 48 features of x on, which are transposed.
    #[inline(always)]
    fn add_weight_gradient(
        &self,
        turned: &[f32],
        first: usize,
        weight: &Weight,
        d: &Rows,
        to: &mut [f32],
    ) {
        let [to_row, to_column] = weight.steps;
        let n_rows = ROWS.min(weight.d_in - first);
        let places = || zip(self.batch.in_use(), turned.chunks_exact(ROWS * ROWS));
        for column in (0..weight.d_out).step_by(COLUMNS) {
            let segments = places().map(|((place, _), a)| {
                let b = &d.panel(place)[column * ROWS..];
                Segment { a, b, depth: self.batch.n_names[place] }
            });
            let (lanes, mut sums) = (vectors::<S>(0..n_rows), [0.0; COLUMNS * ROWS]);
            let segments: Vec<_> = segments.collect();
            tile::<S, 1, ROWS>(self.simd, lanes, &segments, &mut AddTo(&mut sums));
            let columns = column..weight.d_out.min(column + COLUMNS);
            for (j, sums) in zip(columns, sums.chunks_exact(ROWS)) {
                for (i, sum) in zip(first..first + n_rows, sums) {
                    to[i * to_row + j * to_column] += sum;
                }
            }
        }
    }

    /// 48 features from `first` on, transposed: of each place in use, `[name][48]`.
    #[inline(always)]
    fn turned(&self, x: &Rows, first: usize) -> Vec<f32> {
        let mut turned = vec![0.0; self.batch.in_use().count() * ROWS * ROWS];
        let places = zip(self.batch.in_use(), turned.chunks_exact_mut(ROWS * ROWS));
        for ((place, n), to) in places {
            let squares = x.panel(place)[first * ROWS..].chunks_exact(WIDTH * ROWS);
            for (nth, rows) in squares.take(ROWS / WIDTH).enumerate() {
                let rows = std::array::from_fn(|i| &rows[i * ROWS..][..ROWS]);
                for lane in (0..n).step_by(WIDTH) {
                    let to = to[lane * ROWS + nth * WIDTH..].chunks_mut(ROWS);
                    for (to, row) in zip(to, turn_8(self.simd, &square(&rows, lane))) {
                        to[..WIDTH].copy_from_slice(&row);
                    }
                }
            }
        }
        turned
    }

    /// LayerNorm, at each place, with the first two of some lists: a gain and a bias.
    pub(crate) fn norm<'a>(&self, x: &Rows, parts: &[&'a [f64]]) -> Normed<'a> {
        let (gain, bias) = (parts[0], parts[1]);
        let [mut plain, mut scale, mut out] =
            [gain.len(), 1, gain.len()].map(|n| self.batch.rows(n));
        let per_feature = 1.0 / gain.len() as f32;
        compiled!(self, {
            for (place, n) in self.batch.in_use() {
                let (mut mean, mut squares) = ([0f32; ROWS], [0f32; ROWS]);
                let x = || x.features(place).take(gain.len());
                x().for_each(|x| add(&mut mean[..n], x));
                for (x, plain) in zip(x(), plain.features_mut(place)) {
                    for l in 0..n {
                        plain[l] = x[l] - mean[l] * per_feature;
                        squares[l] += plain[l] * plain[l];
                    }
                }
                let scale = &mut scale.panel_mut(place)[..ROWS];
                for l in 0..n {
                    scale[l] = 1.0 / (squares[l] * per_feature + 1e-5).sqrt();
                }
                let rows = zip(plain.features_mut(place), out.features_mut(place));
                for ((plain, out), (gain, bias)) in rows.zip(zip(gain, bias)) {
                    let (gain, bias) = (*gain as f32, *bias as f32);
                    for l in 0..n {
                        plain[l] *= scale[l];
                        out[l] = plain[l] * gain + bias;
                    }
                }
            }
        });
        Normed { gain, plain, scale, out }
    }

    /// The gradient of what was normed is added to `d_x`, and those of the gain and the bias to
    /// the first two of some lists.
    pub(crate) fn norm_backward(
        &self,
        Normed { gain, plain, scale, .. }: &Normed<'_>,
        d: &Rows,
        d_x: &mut Rows,
        to: &mut [&mut [f32]],
    ) {
        let n_features = gain.len() as f32;
        compiled!(self, {
            for (place, n) in self.batch.in_use() {
                let n_names = self.batch.n_names[place];
                let rows = || zip(zip(d.features(place), plain.features(place)), *gain);
                let (mut mean, mut along) = ([0f32; ROWS], [0f32; ROWS]);
                for (j, ((d, plain), gain)) in rows().enumerate() {
                    let mut of_gain = [0f32; ROWS];
                    for l in 0..n {
                        of_gain[l] = d[l] * plain[l];
                        mean[l] += d[l] * *gain as f32 / n_features;
                        along[l] += of_gain[l] * *gain as f32 / n_features;
                    }
                    to[0][j] += of_gain[..n_names].iter().sum::<f32>();
                    to[1][j] += d[..n_names].iter().sum::<f32>();
                }
                let scale = scale.panel(place);
                for (((d, plain), gain), d_x) in zip(rows(), d_x.features_mut(place)) {
                    for l in 0..n {
                        let d_plain = d[l] * *gain as f32;
                        d_x[l] += (d_plain - mean[l] - plain[l] * along[l]) * scale[l];
                    }
                }
            }
        });
    }

    /// GELU of all numbers, and its slope at each.
    pub(crate) fn gelu(&self, x: &Rows) -> [Rows; 2] {
        let [mut out, mut slope] = [(); 2].map(|()| self.batch.rows(x.n));
        let root = (2.0 / std::f32::consts::PI).sqrt();
        compiled!(self, {
            for (place, n) in self.batch.in_use() {
                let to = zip(out.features_mut(place), slope.features_mut(place));
                for (x, (out, slope)) in zip(x.features(place), to) {
                    // (1 + tanh u) / 2 = 1 / (1 + exp(−2u))
                    for l in 0..n {
                        out[l] = -2.0 * root * (x[l] + 0.044715 * x[l] * x[l] * x[l]);
                    }
                    self.exp(&mut out[..n]);
                    for l in 0..n {
                        let half = 1.0 / (1.0 + out[l]);
                        let of_u = root * (1.0 + 3.0 * 0.044715 * x[l] * x[l]);
                        out[l] = x[l] * half;
                        slope[l] = half + out[l] * (1.0 - half) * 2.0 * of_u;
                    }
                }
            }
        });
        [out, slope]
    }

    /// `exp` of whole vectors.
    #[inline(always)]
    pub(crate) fn exp(&self, numbers: &mut [f32]) {
        let log_2_e = self.simd.splat_f32s(std::f32::consts::LOG2_E);
        for x in S::as_mut_simd_f32s(numbers).0 {
            *x = exp2(self.simd, self.simd.mul_f32s(*x, log_2_e));
        }
    }
}

#[inline(always)]
pub(crate) fn add(to: &mut [f32], x: &[f32]) {
    zip(to, x).for_each(|(to, x)| *to += x);
}

#[inline(always)]
pub(crate) fn add_products(to: &mut [f32], a: &[f32], b: &[f32]) {
    zip(to, zip(a, b)).for_each(|(to, (a, b))| *to += a * b);
}
