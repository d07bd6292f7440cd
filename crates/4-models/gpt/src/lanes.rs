//! The parts of the model in vectors, with a name in each lane.
//!
//! A panel of `tiles` is rows of 48 numbers. Here it is one position of 48 names, a row a
//! feature: what is added, normed or attended to is added lane by lane, and a projection is
//! the one product of all fast code. The longest names are in the first lanes, so that those
//! which have ended are the last, and no product reads them.

use pulp::{Simd, WithSimd};
use tiles::exp2::exp2;
use tiles::tile::{
    AddTo, COLUMNS, ROWS, Segment, Sums, WIDTH, put, square, tile, turn_8, vector,
    vectors,
};

/// The places of a batch: place `t · n_groups + g` is position t of the names of group g.
pub(crate) struct Places {
    pub(crate) n_groups: usize,
    /// How many names have a letter at each.
    pub(crate) n_names: Vec<usize>,
}

impl Places {
    /// Places with a letter, and how many lanes are computed there: whole vectors.
    pub(crate) fn in_use(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let in_use = self.n_names.iter().enumerate().filter(|(_, n)| **n > 0);
        in_use.map(|(place, n)| (place, n.next_multiple_of(16)))
    }

    pub(crate) fn rows(&self, n_features: usize) -> Rows {
        let n = n_features.next_multiple_of(COLUMNS);
        Rows { n, numbers: vec![0.0; self.n_names.len() * n * ROWS] }
    }
}

/// A panel for each place, `[features][48]`; there are 8, 16, 24 … features.
pub(crate) struct Rows {
    n: usize,
    numbers: Vec<f32>,
}

impl Rows {
    pub(crate) fn panel(&self, place: usize) -> &[f32] {
        &self.numbers[place * self.n * ROWS..][..self.n * ROWS]
    }

    /// Times another, number by number.
    pub(crate) fn times(&mut self, other: &Self) {
        self.numbers.iter_mut().zip(&other.numbers).for_each(|(x, y)| *x *= y);
    }

    pub(crate) fn panel_mut(&mut self, place: usize) -> &mut [f32] {
        &mut self.numbers[place * self.n * ROWS..][..self.n * ROWS]
    }
}

/// `W` and `b` as the product reads them.
pub(crate) struct Weight {
    d_in: usize,
    d_out: usize,
    /// `[columns / 8][d_in][8]`, with zeros behind the last row and column.
    panels: Vec<f32>,
    bias: Vec<f32>,
}

impl Weight {
    pub(crate) fn new(
        [d_in, d_out]: [usize; 2],
        entry: impl Fn(usize, usize) -> f64,
        bias: &[f64],
    ) -> Self {
        let [rows, columns] = [d_in, d_out].map(|n| n.next_multiple_of(COLUMNS));
        let mut panels = vec![0.0; rows * columns];
        for j in 0..d_out {
            let panel = &mut panels[j / COLUMNS * rows * COLUMNS..];
            (0..d_in).for_each(|i| panel[i * COLUMNS + j % COLUMNS] = entry(i, j) as f32);
        }
        let mut padded = vec![0.0; columns];
        bias.iter().zip(&mut padded).for_each(|(from, to)| *to = *from as f32);
        Self { d_in, d_out, panels, bias: padded }
    }

    /// `[d_in][8]` of each 8 columns.
    fn panels(&self) -> std::slice::ChunksExact<'_, f32> {
        self.panels.chunks_exact(self.d_in.next_multiple_of(COLUMNS) * COLUMNS)
    }
}

/// `to += x · W + b`, at each place.
pub(crate) struct Product<'a> {
    pub(crate) places: &'a Places,
    pub(crate) x: &'a Rows,
    pub(crate) weight: &'a Weight,
    pub(crate) to: &'a mut Rows,
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { places, x, weight, to } = self;
        for (place, n_lanes) in places.in_use() {
            let rows = to.panel_mut(place).chunks_exact_mut(COLUMNS * ROWS);
            let biases = weight.bias.chunks_exact(COLUMNS);
            for ((to, b), bias) in rows.zip(weight.panels()).zip(biases) {
                let segment = Segment { a: x.panel(place), b, depth: x.n };
                let sums = &mut OnTop { bias, to };
                tile::<S, COLUMNS, 1>(simd, vectors::<S>(0..n_lanes), &[segment], sums);
            }
        }
    }
}

/// Sums on top of a bias and of what is there.
struct OnTop<'a> {
    bias: &'a [f32],
    to: &'a mut [f32],
}

impl<S: Simd> Sums<S> for OnTop<'_> {
    #[inline(always)]
    fn start(&mut self, simd: S, j: usize, v: usize) -> S::f32s {
        simd.add_f32s(simd.splat_f32s(self.bias[j]), vector::<S>(self.to, j, v))
    }

    #[inline(always)]
    fn done<const N: usize>(&mut self, _: S, j: usize, v: usize, sums: [S::f32s; N]) {
        put::<S, N>(self.to, j, v, sums);
    }
}

/// From the gradient of what came out: `d_x += d · Wᵀ`, `d_weight += xᵀ · d` and
/// `d_bias += Σ d`.
pub(crate) struct ProductBackward<'a> {
    pub(crate) places: &'a Places,
    pub(crate) x: &'a Rows,
    pub(crate) weight: &'a Weight,
    pub(crate) d: &'a Rows,
    pub(crate) d_x: &'a mut Rows,
    /// Row by row; or column by column, where a table is used transposed.
    pub(crate) d_weight: &'a mut [f32],
    pub(crate) by_columns: bool,
    pub(crate) d_bias: &'a mut [f32],
}

impl WithSimd for ProductBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { places, x, weight, d, d_x, d_weight, by_columns, d_bias } = self;
        for (place, n_lanes) in places.in_use() {
            let d = d.panel(place);
            let d_x = d_x.panel_mut(place).chunks_exact_mut(COLUMNS * ROWS);
            for (i, to) in d_x.enumerate() {
                let panels = weight.panels().zip(d.chunks_exact(COLUMNS * ROWS));
                let segments: Vec<_> = panels
                    .map(|(panel, a)| Segment {
                        a,
                        b: &panel[i * COLUMNS * COLUMNS..],
                        depth: COLUMNS,
                    })
                    .collect();
                let lanes = vectors::<S>(0..n_lanes);
                tile::<S, 1, COLUMNS>(simd, lanes, &segments, &mut AddTo(to));
            }
            for (sum, row) in d_bias.iter_mut().zip(d.chunks_exact(ROWS)) {
                *sum += row[..places.n_names[place]].iter().sum::<f32>();
            }
        }
        let (d_in, d_out) = (weight.d_in, weight.d_out);
        for first in (0..d_in).step_by(ROWS) {
            let turned = turned(simd, places, x, first);
            let n_rows = ROWS.min(d_in - first);
            for column in (0..d_out).step_by(COLUMNS) {
                let segments: Vec<_> = places
                    .in_use()
                    .zip(turned.chunks_exact(ROWS * ROWS))
                    .map(|((place, _), a)| Segment {
                        a,
                        b: &d.panel(place)[column * ROWS..],
                        depth: places.n_names[place],
                    })
                    .collect();
                let mut sums = [0.0; COLUMNS * ROWS];
                let lanes = vectors::<S>(0..n_rows);
                tile::<S, 1, ROWS>(simd, lanes, &segments, &mut AddTo(&mut sums));
                let columns = column..d_out.min(column + COLUMNS);
                for (j, sums) in columns.zip(sums.chunks_exact(ROWS)) {
                    for (i, sum) in (first..first + n_rows).zip(sums) {
                        let at = if by_columns { j * d_in + i } else { i * d_out + j };
                        d_weight[at] += sum;
                    }
                }
            }
        }
    }
}

/// 48 features from `first` on, transposed: of each place in use, `[name][48]`.
#[inline(always)]
fn turned<S: Simd>(simd: S, places: &Places, x: &Rows, first: usize) -> Vec<f32> {
    let mut turned = vec![0.0; places.in_use().count() * ROWS * ROWS];
    for ((place, n_lanes), to) in
        places.in_use().zip(turned.chunks_exact_mut(ROWS * ROWS))
    {
        let rows = &x.panel(place)[first * ROWS..];
        for (nth, rows) in rows.chunks_exact(WIDTH * ROWS).take(ROWS / WIDTH).enumerate()
        {
            let rows = std::array::from_fn(|i| &rows[i * ROWS..][..ROWS]);
            for lane in (0..n_lanes).step_by(WIDTH) {
                for (i, row) in turn_8(simd, &square(&rows, lane)).iter().enumerate() {
                    to[(lane + i) * ROWS + nth * WIDTH..][..WIDTH].copy_from_slice(row);
                }
            }
        }
    }
    turned
}

/// What came out of a norm, before its gain and bias and behind them.
pub(crate) struct Normed {
    plain: Rows,
    /// In row 0, what the numbers of each lane were multiplied by.
    scale: Rows,
    pub(crate) out: Rows,
}

/// LayerNorm, at each place.
pub(crate) struct Norm<'a> {
    pub(crate) places: &'a Places,
    pub(crate) x: &'a Rows,
    pub(crate) gain: &'a [f64],
    pub(crate) bias: &'a [f64],
}

impl WithSimd for Norm<'_> {
    type Output = Normed;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Normed {
        let Self { places, x, gain, bias } = self;
        let (d, rows) = (gain.len(), |n| places.rows(n));
        let mut normed = Normed { plain: rows(d), scale: rows(1), out: rows(d) };
        for (place, n) in places.in_use() {
            let x = x.panel(place).chunks_exact(ROWS).take(d);
            let plain = normed.plain.panel_mut(place);
            let (mut mean, mut squares) = ([0f32; ROWS], [0f32; ROWS]);
            x.clone().for_each(|x| add(&mut mean[..n], x));
            mean.iter_mut().for_each(|mean| *mean /= d as f32);
            for (x, plain) in x.zip(plain.chunks_exact_mut(ROWS)) {
                for l in 0..n {
                    plain[l] = x[l] - mean[l];
                    squares[l] += plain[l] * plain[l];
                }
            }
            let scale = &mut normed.scale.panel_mut(place)[..ROWS];
            for l in 0..n {
                scale[l] = 1.0 / (squares[l] / d as f32 + 1e-5).sqrt();
            }
            let out = normed.out.panel_mut(place).chunks_exact_mut(ROWS);
            let rows = plain.chunks_exact_mut(ROWS).zip(out).zip(gain.iter().zip(bias));
            for ((plain, out), (gain, bias)) in rows {
                let (gain, bias) = (*gain as f32, *bias as f32);
                for l in 0..n {
                    plain[l] *= scale[l];
                    out[l] = plain[l] * gain + bias;
                }
            }
        }
        normed
    }
}

/// The gradient of what was normed is added to `d_x`.
pub(crate) struct NormBackward<'a> {
    pub(crate) places: &'a Places,
    pub(crate) normed: &'a Normed,
    pub(crate) gain: &'a [f64],
    pub(crate) d: &'a Rows,
    pub(crate) d_x: &'a mut Rows,
    pub(crate) d_gain: &'a mut [f32],
    pub(crate) d_bias: &'a mut [f32],
}

impl WithSimd for NormBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { places, normed, gain, d, d_x, d_gain, d_bias } = self;
        let n_features = gain.len();
        for (place, n) in places.in_use() {
            let plain = normed.plain.panel(place).chunks_exact(ROWS);
            let scale = &normed.scale.panel(place)[..ROWS];
            let rows = d.panel(place).chunks_exact(ROWS).zip(plain).zip(gain);
            let (mut mean, mut along) = ([0f32; ROWS], [0f32; ROWS]);
            for (j, ((d, plain), gain)) in rows.clone().enumerate() {
                let (mut of_gain, n_names) = ([0f32; ROWS], places.n_names[place]);
                for l in 0..n {
                    of_gain[l] = d[l] * plain[l];
                    mean[l] += d[l] * *gain as f32 / n_features as f32;
                    along[l] += of_gain[l] * *gain as f32 / n_features as f32;
                }
                d_gain[j] += of_gain[..n_names].iter().sum::<f32>();
                d_bias[j] += d[..n_names].iter().sum::<f32>();
            }
            let d_x = d_x.panel_mut(place).chunks_exact_mut(ROWS);
            for (((d, plain), gain), d_x) in rows.zip(d_x) {
                for l in 0..n {
                    let d_plain = d[l] * *gain as f32;
                    d_x[l] += (d_plain - mean[l] - plain[l] * along[l]) * scale[l];
                }
            }
        }
    }
}

/// GELU of all numbers, and its slope at each.
pub(crate) struct Gelu<'a>(pub(crate) &'a Places, pub(crate) &'a Rows);

impl WithSimd for Gelu<'_> {
    type Output = [Rows; 2];

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> [Rows; 2] {
        let Self(places, x) = self;
        let [mut out, mut slope] = [places.rows(x.n), places.rows(x.n)];
        let root = (2.0 / std::f32::consts::PI).sqrt();
        for (place, n) in places.in_use() {
            let rows = x.panel(place).chunks_exact(ROWS);
            let to = out.panel_mut(place).chunks_exact_mut(ROWS);
            let to = to.zip(slope.panel_mut(place).chunks_exact_mut(ROWS));
            for (x, (out, slope)) in rows.zip(to) {
                // (1 + tanh u) / 2 = 1 / (1 + exp(−2u))
                for l in 0..n {
                    out[l] = -2.0 * root * (x[l] + 0.044715 * x[l] * x[l] * x[l]);
                }
                exp(simd, &mut out[..n]);
                for l in 0..n {
                    let half = 1.0 / (1.0 + out[l]);
                    let of_u = root * (1.0 + 3.0 * 0.044715 * x[l] * x[l]);
                    out[l] = x[l] * half;
                    slope[l] = half + out[l] * (1.0 - half) * 2.0 * of_u;
                }
            }
        }
        [out, slope]
    }
}

/// `exp` of whole vectors.
#[inline(always)]
pub(crate) fn exp<S: Simd>(simd: S, numbers: &mut [f32]) {
    let log_2_e = simd.splat_f32s(std::f32::consts::LOG2_E);
    for x in S::as_mut_simd_f32s(numbers).0 {
        *x = exp2(simd, simd.mul_f32s(*x, log_2_e));
    }
}

#[inline(always)]
pub(crate) fn add(to: &mut [f32], x: &[f32]) {
    to.iter_mut().zip(x).for_each(|(to, x)| *to += x);
}

#[inline(always)]
pub(crate) fn add_products(to: &mut [f32], a: &[f32], b: &[f32]) {
    to.iter_mut().zip(a).zip(b).for_each(|((to, a), b)| *to += a * b);
}
