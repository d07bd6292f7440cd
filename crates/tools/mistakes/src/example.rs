//! The smallest layer that shows a mistake.

use std::collections::BTreeMap;

use attention::{Linear, Matrix, Rng, SeedableRng, random_matrix};
use diagnosis::recipe::Packing;
use diagnosis::{
    Corner, HeadNorm, Intent, Masks, Mistake, Pairing, Positions, Precision, Record,
    State, Weights, computed,
};

const N_KEYS: usize = 3;

/// What a layer has beside two heads of two: the fewer, the simpler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Has {
    pub causal: bool,
    pub padding: bool,
    pub pairs: bool,
    pub added: bool,
    pub several: bool,
    pub cross: bool,
    pub other_values: bool,
    pub fewer_queries: bool,
    pub shared_keys: bool,
    pub cap: bool,
    pub wide: bool,
    pub four_heads: bool,
    pub deep: bool,
    pub norms: bool,
    pub window: bool,
    pub slopes: bool,
    pub sinks: bool,
    pub left_padded: bool,
    pub rotary: Option<Pairing>,
    pub packed: Option<Packing>,
}

impl Has {
    /// Everything that a layer may have, at most four at a time, the simplest first.
    pub fn all() -> Vec<Self> {
        const MOST: u32 = 4;
        let mut all = Vec::new();
        for bits in (0..1u32 << 18).filter(|bits| bits.count_ones() <= MOST) {
            let is = |nth: u32| bits >> nth & 1 == 1;
            let plain = Self {
                several: is(0),
                causal: is(1),
                padding: is(2),
                pairs: is(3),
                cross: is(4),
                other_values: is(5),
                fewer_queries: is(6),
                shared_keys: is(7),
                cap: is(8),
                added: is(9),
                wide: is(10),
                four_heads: is(11),
                deep: is(12),
                norms: is(13),
                window: is(14),
                slopes: is(15),
                sinks: is(16),
                left_padded: is(17),
                rotary: None,
                packed: None,
            };
            for rotary in [None, Some(Pairing::Halves), Some(Pairing::Pairs)] {
                for packed in [None, Some(Packing::Blocks), Some(Packing::HeadByHead)] {
                    let more = u32::from(rotary.is_some()) + u32::from(packed.is_some());
                    let has = Self { rotary, packed, ..plain };
                    all.push((bits.count_ones() + more, has));
                }
            }
        }
        all.retain(|&(weight, has)| weight <= MOST && has.fits());
        all.sort_by_key(|&(weight, _)| weight);
        all.into_iter().map(|(_, has)| has).collect()
    }

    /// Whether it can be had together.
    fn fits(self) -> bool {
        let is_cross = self.cross || self.other_values || self.fewer_queries;
        let is_one_input = self.packed.is_none() || !(is_cross || self.shared_keys);
        let has_positions = self.rotary.is_some() || self.slopes;
        is_one_input
            && (!self.padding || self.several)
            && (!self.left_padded || has_positions)
    }

    /// In words, behind *two heads of width 2 and three tokens*.
    pub fn words(self) -> String {
        let packed = match self.packed {
            Some(Packing::HeadByHead) => "W packed head by head",
            _ => "W^Q, W^K and W^V in one tensor",
        };
        let rotary = match self.rotary {
            Some(Pairing::Pairs) => "rotary positions in pairs",
            _ => "rotary positions in halves",
        };
        let shared = "keys and values that two heads share";
        let words = [
            (self.several, "two sequences"),
            (self.cross, "keys and values from other tokens"),
            (self.other_values, "values from tokens of their own"),
            (self.fewer_queries, "two queries and three keys"),
            (self.causal, "a causal mask"),
            (self.padding, "the last token of sequence 0 is padding"),
            (self.pairs, "a mask of queries and keys"),
            (self.added, "numbers added to the scores"),
            (self.rotary.is_some(), rotary),
            (self.shared_keys, shared),
            (self.cap, "scores capped at 2"),
            (self.packed.is_some(), packed),
            (self.four_heads, "four heads"),
            (self.deep, "heads of width 4"),
            (self.wide, "a wider model"),
            (self.norms, "norms of queries and keys"),
            (self.window, "a window of two keys"),
            (self.slopes, "slopes of ALiBi"),
            (self.sinks, "sinks of 1 and −1"),
            (self.left_padded, "positions that do not count the first token"),
        ];
        let words = words.into_iter().filter(|(has, _)| *has).map(|(_, words)| words);
        words.collect::<Vec<_>>().join(", ")
    }

    /// A layer that has all this, with random numbers.
    pub fn layer(self, seed: u64) -> (Record, Intent) {
        let rng = &mut Rng::seed_from_u64(seed);
        let n_heads = if self.four_heads { 4 } else { 2 };
        let n_kv_heads = if self.shared_keys { n_heads / 2 } else { n_heads };
        let d_k = if self.deep { 4 } else { 2 };
        let d_model = n_heads * d_k * if self.wide { 2 } else { 1 };
        let intent = Intent {
            n_kv_heads,
            causal: self.causal.then_some(Corner::BottomRight),
            rotary: self.rotary.map(|pairing| (pairing, 10_000.0)),
            cap: self.cap.then_some(2.0),
            window: self.window.then_some(2),
            slopes: self.slopes.then(|| Intent::paper_slopes(n_heads)),
            positions: self.left_padded.then(|| self.positions()),
            packing: self.packed.unwrap_or_default(),
            ..Intent::heads(n_heads)
        };
        let mut weights = self.weights(&intent, d_model, d_k, rng);
        if self.norms {
            let rows = random_matrix::<f64>(2, d_k, 0.7, rng).add_scalar(1.0);
            let of = |role| HeadNorm::of_heads(rows.row(role).into_owned());
            weights.norms = Some([0, 1].map(of));
        }
        if self.sinks {
            let sink = |i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 };
            weights.sinks = Some((0..n_heads).map(sink).collect());
        }
        let inputs = self.inputs(d_model, rng);
        let masks = self.masks(&inputs, rng);
        let precision = Precision::F64;
        (Record { weights, inputs, masks, tensors: BTreeMap::new(), precision }, intent)
    }

    /// Where tokens stand, of which the first is padding.
    fn positions(self) -> Positions {
        let list = |first: usize, n: usize| -> Vec<Vec<f64>> {
            vec![(first..first + n).map(|t| t.saturating_sub(1) as f64).collect()]
        };
        let n_q = if self.fewer_queries { N_KEYS - 1 } else { N_KEYS };
        Positions { queries: list(N_KEYS - n_q, n_q), keys: list(0, N_KEYS) }
    }

    fn weights(
        self,
        intent: &Intent,
        d_model: usize,
        d_k: usize,
        rng: &mut Rng,
    ) -> Weights {
        let Intent { n_heads, n_kv_heads, .. } = *intent;
        let mut linear = |d_in: usize, d_out: usize| {
            let mut linear = Linear::<f64>::random(d_in, d_out, true, rng);
            linear.weight *= 1.5;
            linear.bias = Some(random_matrix(1, d_out, 0.5, rng).row(0).into_owned());
            linear
        };
        let widths = [n_heads, n_kv_heads, n_kv_heads].map(|heads| heads * d_k);
        let output = Some(linear(n_heads * d_k, d_model));
        let Some(packing) = self.packed else {
            let projections = widths.map(|width| linear(d_model, width));
            return Weights::new(projections, output);
        };
        let packed = linear(d_model, widths.iter().sum());
        Weights::of_packed(packed, packing, widths, d_k, output).expect("widths fit")
    }

    fn inputs(self, d_model: usize, rng: &mut Rng) -> [Vec<Matrix>; 3] {
        let batch = if self.several { 2 } else { 1 };
        let mut tokens = |n: usize| -> Vec<Matrix> {
            (0..batch).map(|_| random_matrix(n, d_model, 1.0, rng)).collect()
        };
        let query = tokens(if self.fewer_queries { N_KEYS - 1 } else { N_KEYS });
        let is_cross = self.cross || self.fewer_queries;
        let key = if is_cross { tokens(N_KEYS) } else { query.clone() };
        let value = if self.other_values { tokens(N_KEYS) } else { key.clone() };
        [query, key, value]
    }

    fn masks(self, inputs: &[Vec<Matrix>; 3], rng: &mut Rng) -> Masks {
        let (batch, n_q) = (inputs[0].len(), inputs[0][0].nrows());
        let real =
            |sequence: usize| (0..N_KEYS).map(move |t| sequence > 0 || t + 1 < N_KEYS);
        let open = Matrix::from_fn(n_q, N_KEYS, |i, j| i == j || (i + 2 * j) % 4 != 1);
        let added = self.added.then(|| vec![random_matrix(n_q, N_KEYS, 1.0, rng)]);
        let padding = (0..batch).map(|it| real(it).collect());
        Masks {
            padding: self.padding.then(|| padding.collect()),
            pairs: self.pairs.then(|| vec![open]),
            added,
        }
    }
}

/// The smallest layer that shows a mistake, and where it shows first.
pub struct Example {
    pub has: Has,
    pub record: Record,
    pub intent: Intent,
    pub state: State,
    /// Which matrix: of a head of a sequence, or of a sequence.
    pub place: usize,
    pub right: Matrix,
    pub wrong: Matrix,
}

/// So far apart that two digits show it.
const SHOWS: f64 = 0.02;

/// Finds the smallest layer that shows it; nothing if no small one does.
pub fn example(mistake: &Mistake) -> Option<Example> {
    let mut all =
        Has::all().into_iter().flat_map(|has| [1, 2, 3].map(|seed| (has, seed)));
    all.find_map(|(has, seed)| {
        let (record, intent) = has.layer(seed);
        let is_possible = mistake.is_possible(&record, &intent);
        if is_possible { shown(mistake, has, record, intent) } else { None }
    })
}

/// Where it shows first: in the attention weights if it does there, and else in the output.
fn shown(mistake: &Mistake, has: Has, record: Record, intent: Intent) -> Option<Example> {
    let of = |state, mistakes: &[&Mistake]| computed(&record, &intent, state, mistakes);
    let apart = |a: &Matrix, b: &Matrix| {
        a.shape() != b.shape() || (a - b).iter().any(|x| x.abs() > SHOWS || x.is_nan())
    };
    let (right, wrong) = (of(State::Output, &[])?, of(State::Output, &[mistake])?);
    if right.len() == wrong.len() && !right.iter().zip(&wrong).any(|(a, b)| apart(a, b)) {
        return None;
    }
    for state in [State::Attn, State::Output] {
        let (Some(right), Some(wrong)) = (of(state, &[]), of(state, &[mistake])) else {
            continue;
        };
        let place = right.iter().zip(&wrong).position(|(a, b)| apart(a, b));
        let Some(place) = place.filter(|_| right.len() == wrong.len()) else { continue };
        let (right, wrong) = (right[place].clone(), wrong[place].clone());
        return Some(Example { has, record, intent, state, place, right, wrong });
    }
    None
}
