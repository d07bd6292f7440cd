//! The right layer once more, number by number, in the precision of another machine: sums
//! one after the other in that of its registers, and what a step gives rounded.
//!
//! It shares no code with the crate.

use std::collections::BTreeMap;

use attention::{Linear, Matrix};
use diagnosis::{Corner, EmptyRow, Intent, NormKind, Pairing, Precision, Record, State};
use half::{bf16, f16};

use super::Layer;

/// What machines compute in.
pub const PRECISIONS: [Precision; 4] =
    [Precision::F64, Precision::F32, Precision::F16, Precision::BF16];

/// How a machine computes.
#[derive(Debug, Clone, Copy)]
pub struct Machine {
    /// What it keeps between steps.
    pub precision: Precision,
    /// Queries are multiplied by the scale, and not scores.
    pub scales_queries: bool,
}

impl Machine {
    /// One that keeps numbers of this precision, and multiplies scores by the scale.
    pub const fn of(precision: Precision) -> Self {
        Self { precision, scales_queries: false }
    }

    /// As this precision has a number.
    pub fn kept(self, x: f64) -> f64 {
        match self.precision {
            Precision::F32 => f64::from(x as f32),
            Precision::F16 => f16::from_f64(x).to_f64(),
            Precision::BF16 => bf16::from_f64(x).to_f64(),
            _ => x,
        }
    }

    /// As a register has it: half precisions are summed in f32.
    fn register(self, x: f64) -> f64 {
        if self.precision == Precision::F64 { x } else { f64::from(x as f32) }
    }

    /// `a b`, each sum one term after the other.
    fn product(self, a: &Matrix, b: &Matrix) -> Matrix {
        Matrix::from_fn(a.nrows(), b.ncols(), |r, c| {
            let terms = a.row(r).transpose().component_mul(&b.column(c));
            let add = |sum, term: &f64| self.register(sum + self.register(*term));
            self.kept(terms.iter().fold(0.0, add))
        })
    }

    /// `x W + b`.
    pub fn linear(self, x: &Matrix, linear: &Linear) -> Matrix {
        let [x, w] = [x, &linear.weight].map(|m| m.map(|x| self.kept(x)));
        let mut y = self.product(&x, &w);
        for (mut column, bias) in y.column_iter_mut().zip(linear.bias.iter().flatten()) {
            column.apply(|x| *x = self.kept(*x + self.kept(*bias)));
        }
        y
    }
}

/// The output of the layer that was meant, a matrix a sequence.
pub fn output(layer: &Layer, machine: Machine) -> Vec<Matrix> {
    twisted(layer, machine, &|_, _, masked| masked)
}

/// What becomes of the score of a sequence, a head, a query and a key: of itself, and of what
/// the masks make of it.
pub type Twist<'a> = &'a dyn Fn([usize; 4], f64, f64) -> f64;

/// The same where scores are twisted before the softmax.
pub fn twisted(layer: &Layer, machine: Machine, twist: Twist<'_>) -> Vec<Matrix> {
    tensors(layer, machine, twist).remove(&State::Output).expect("it has an output")
}

/// The tensors of a layer, under the names that files have.
pub type Tensors = BTreeMap<State, Vec<Matrix>>;

/// Every tensor of the layer that was meant.
pub fn pass(layer: &Layer, machine: Machine) -> Tensors {
    tensors(layer, machine, &|_, _, masked| masked)
}

fn tensors(layer: &Layer, machine: Machine, twist: Twist<'_>) -> Tensors {
    let Layer { record, intent } = layer;
    let pass = Pass { record, intent, machine, twist };
    let mut tensors = Tensors::new();
    (0..record.batch()).for_each(|s| pass.sequence(s, &mut tensors));
    tensors
}

struct Pass<'l> {
    record: &'l Record,
    intent: &'l Intent,
    machine: Machine,
    twist: Twist<'l>,
}

impl Pass<'_> {
    fn sequence(&self, s: usize, tensors: &mut Tensors) {
        let Self { record, intent, machine, .. } = *self;
        let mut add =
            |state, m: &Matrix| tensors.entry(state).or_default().push(m.clone());
        let [q, k, v] = [0, 1, 2].map(|role| {
            machine.linear(&record.inputs[role][s], &record.weights.projections[role])
        });
        for (state, m) in [(State::Query, &q), (State::Key, &k), (State::Value, &v)] {
            add(state, m);
        }
        let h = intent.n_heads;
        let (d_k, d_v) = (q.ncols() / h, v.ncols() / intent.n_kv_heads);
        let mut concat = Matrix::zeros(q.nrows(), h * d_v);
        for i in 0..h {
            let shared = i * intent.n_kv_heads / h;
            let mut q = self.normed(&q, 0, (i, d_k));
            let mut k = self.normed(&k, 1, (shared, d_k));
            let v = v.columns(shared * d_v, d_v).into_owned();
            self.rotate(&mut q, [s, 0]);
            self.rotate(&mut k, [s, 1]);
            let scale = intent.scale.unwrap_or(1.0 / (d_k as f64).sqrt());
            let [of_query, of_score] =
                if machine.scales_queries { [scale, 1.0] } else { [1.0, scale] };
            q.apply(|x| *x = machine.kept(*x * of_query));
            let scores = machine.product(&q, &k.transpose()).map(|score| {
                let score = machine.kept(score * of_score);
                intent.cap.map_or(score, |cap| machine.kept(cap * (score / cap).tanh()))
            });
            let attn = self.weights([s, i], &scores);
            let head = machine.product(&attn, &v);
            concat.columns_mut(i * d_v, d_v).copy_from(&head);
            add(State::Scores, &scores);
            add(State::Attn, &attn);
            add(State::Heads, &head);
        }
        let linear = record.weights.output.as_ref();
        let output = linear.map(|linear| machine.linear(&concat, linear));
        add(State::Output, output.as_ref().unwrap_or(&concat));
    }

    /// The attention weights of a head of a sequence, from its scores.
    fn weights(&self, [s, i]: [usize; 2], scores: &Matrix) -> Matrix {
        let of_row = |r: usize| {
            let masked = |c: usize| {
                let (at, score) = ([s, i, r, c], scores[(r, c)]);
                (self.twist)(at, score, self.masked(at, score))
            };
            let row: Vec<f64> = (0..scores.ncols()).map(masked).collect();
            let sink = self.record.weights.sinks.as_ref().map(|sinks| sinks[i]);
            let lowered = |s: &f64| match self.record.precision {
                Precision::F32 => f64::from((s - 1e4) as f32),
                _ => s - 1e4,
            };
            let is_empty = sink.is_none() && row.iter().all(|&s| s == f64::NEG_INFINITY);
            match self.intent.empty_row {
                EmptyRow::Unmasked if is_empty => {
                    let raw: Vec<f64> = scores.row(r).iter().map(lowered).collect();
                    softmax(&raw, None, EmptyRow::Zeros)
                }
                empty => softmax(&row, sink, empty),
            }
        };
        let attn: Vec<f64> = (0..scores.nrows()).flat_map(of_row).collect();
        let attn = Matrix::from_row_slice(scores.nrows(), scores.ncols(), &attn);
        attn.map(|weight| self.machine.kept(weight))
    }

    /// A head of q or k, with its norm if there is one.
    fn normed(&self, x: &Matrix, role: usize, (i, width): (usize, usize)) -> Matrix {
        let Some(norms) = &self.record.weights.norms else {
            return x.columns(i * width, width).into_owned();
        };
        let norm = &norms[role];
        let gains =
            |at: usize| if norm.gain.len() == width { at } else { i * width + at };
        Matrix::from_fn(x.nrows(), width, |t, c| {
            let (first, n) =
                if norm.is_whole { (0, x.ncols()) } else { (i * width, width) };
            let part: Vec<f64> = (first..first + n).map(|c| x[(t, c)]).collect();
            let mean = match norm.kind {
                NormKind::Layer => part.iter().sum::<f64>() / n as f64,
                NormKind::RootMeanSquare | NormKind::Unsaid => 0.0,
            };
            let squares: f64 = part.iter().map(|x| (x - mean) * (x - mean)).sum();
            let unit =
                (x[(t, i * width + c)] - mean) / (squares / n as f64 + norm.eps).sqrt();
            let bias = norm.bias.as_ref().map_or(0.0, |bias| bias[gains(c)]);
            self.machine.kept(unit * norm.gain[gains(c)] + bias)
        })
    }

    /// Where the first query stands, counted from the first key.
    fn first_query(&self) -> i64 {
        let (n_q, n_kv) = self.record.lengths();
        let at_end = n_kv as i64 - n_q as i64;
        match (self.intent.offset, self.intent.causal) {
            (Some(offset), _) => offset as i64,
            (None, Some(Corner::TopLeft)) => 0,
            (None, Some(Corner::BottomRight)) => at_end,
            (None, None) => at_end.max(0),
        }
    }

    /// The position of query (0) or key (1) t of a sequence.
    fn place(&self, [s, role, t]: [usize; 3]) -> f64 {
        if let Some(listed) = &self.intent.positions {
            let lists = if role == 0 { &listed.queries } else { &listed.keys };
            return lists[s.min(lists.len() - 1)][t];
        }
        let first = if role == 0 { self.first_query() } else { 0 };
        (first + t as i64) as f64
    }

    fn rotate(&self, x: &mut Matrix, [s, role]: [usize; 2]) {
        let Some((pairing, base)) = self.intent.rotary else { return };
        let d = x.ncols();
        for t in 0..x.nrows() {
            for p in 0..d / 2 {
                let (a, b) = match pairing {
                    Pairing::Halves => (p, p + d / 2),
                    Pairing::Pairs => (2 * p, 2 * p + 1),
                };
                let angle =
                    self.place([s, role, t]) / base.powf(2.0 * p as f64 / d as f64);
                let (x_a, x_b) = (x[(t, a)], x[(t, b)]);
                let kept = |x| self.machine.kept(x);
                x[(t, a)] = kept(x_a * angle.cos() - x_b * angle.sin());
                x[(t, b)] = kept(x_b * angle.cos() + x_a * angle.sin());
            }
        }
    }

    /// A score with all masks on it.
    fn masked(&self, [s, i, r, c]: [usize; 4], score: f64) -> f64 {
        let (intent, masks) = (self.intent, &self.record.masks);
        let distance = self.first_query() + r as i64 - c as i64;
        let is_ahead = intent.causal.is_some() && distance < 0;
        let is_far =
            intent.window.is_some_and(|window| distance.unsigned_abs() >= window as u64);
        let slope = intent.slopes.as_ref().map_or(0.0, |slopes| slopes[i]);
        let [of_query, of_key] = [[s, 0, r], [s, 1, c]].map(|token| self.place(token));
        let score = score - slope * (of_query - of_key).abs();
        let of = |n: usize| match n {
            1 => 0,
            n if n == self.record.batch() => s,
            _ => s * intent.n_heads + i,
        };
        let is_open = !is_ahead
            && !is_far
            && masks.padding.as_ref().is_none_or(|all| all[of(all.len())][c])
            && masks.pairs.as_ref().is_none_or(|all| all[of(all.len())][(r, c)]);
        let added = masks.added.as_ref().map_or(0.0, |all| all[of(all.len())][(r, c)]);
        if is_open { score + added } else { f64::NEG_INFINITY }
    }
}

/// A row's weights by the formula, where what a sink takes is dropped.
pub fn softmax(scores: &[f64], sink: Option<f64>, empty: EmptyRow) -> Vec<f64> {
    let most = scores.iter().copied().chain(sink).fold(f64::NEG_INFINITY, f64::max);
    if most == f64::NEG_INFINITY {
        let weight = match empty {
            EmptyRow::Zeros => 0.0,
            EmptyRow::Even => 1.0 / scores.len() as f64,
            EmptyRow::NaN => f64::NAN,
            EmptyRow::Unmasked => unreachable!("it has scores"),
        };
        return vec![weight; scores.len()];
    }
    let powers: Vec<f64> = scores.iter().map(|s| (s - most).exp()).collect();
    let of_sink = sink.map_or(0.0, |sink| (sink - most).exp());
    let sum: f64 = powers.iter().sum::<f64>() + of_sink;
    powers.iter().map(|power| power / sum).collect()
}
