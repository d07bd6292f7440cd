//! Layers that were computed here, key by key and tile by tile, as kernels do, with what goes
//! wrong in them: each is named, and no other name is given.

mod common;

use attention::{Matrix, Rng, SeedableRng, random_matrix};
use common::loops::{self, Machine, pass, twisted};
use common::{Layer, change_all, ids, multiply_weights, self_attention};
use diagnosis::{Corner, Diagnosis, EmptyRow, Intent, Precision, State, Verdict};
use rand::RngExt;

const F32: Machine = Machine::of(Precision::F32);
const BLOCKED: f64 = f64::NEG_INFINITY;

/// Four heads of 8 on sequences of n tokens, kept in float32, and without an output.
fn layer(n: usize, batch: usize, seed: u64) -> Layer {
    let rng = &mut Rng::seed_from_u64(seed);
    let mut layer = self_attention([batch, n, 32, 4], rng);
    multiply_weights(&mut layer.record, 1.5);
    change_all(&mut layer.record, |x| *x = F32.kept(*x));
    layer
}

/// A head's output by its scores, bounded and unmasked, and its values.
type Head<'h> = &'h mut dyn FnMut(&Matrix, &Matrix) -> Matrix;

/// The output of a layer whose heads give this.
fn with(layer: &Layer, head: Head<'_>) -> Vec<Matrix> {
    let tensors = pass(layer, F32);
    let sequence = |s: usize| {
        let mut of_head = |i: usize| {
            let v = tensors[&State::Value][s].columns(i * 8, 8).into_owned();
            head(&tensors[&State::Scores][s * 4 + i], &v)
        };
        output(layer, &(0..4).map(&mut of_head).collect::<Vec<_>>())
    };
    (0..layer.record.batch()).map(sequence).collect()
}

/// What is made of the heads of a sequence.
fn output(layer: &Layer, heads: &[Matrix]) -> Matrix {
    let columns: Vec<_> = heads.iter().flat_map(Matrix::column_iter).collect();
    let linear = layer.record.weights.output.as_ref().unwrap();
    F32.linear(&Matrix::from_columns(&columns), linear)
}

#[track_caller]
fn assert_named(diagnosis: &Diagnosis, id: &str, what: &str) {
    let sets = ids(diagnosis);
    assert!(sets.contains(&vec![id]), "{what}: {id} is {:?} {sets:?}", diagnosis.verdict);
    assert!(sets.iter().all(|set| set.len() == 1), "{what}: {sets:?}");
}

/// A row's weights by the formula.
fn softmax(scores: &[f64]) -> Vec<f64> {
    loops::softmax(scores, None, EmptyRow::Zeros)
}

/// The same with the exponential of one more score in their sum.
fn plus_one(scores: &[f64], more: f64) -> Vec<f64> {
    loops::softmax(scores, Some(more), EmptyRow::Zeros)
}

/// Values averaged with weights of each row of scores.
fn averaged(scores: &Matrix, v: &Matrix, weights: impl Fn(&[f64]) -> Vec<f64>) -> Matrix {
    let mut attn = scores.clone();
    for mut row in attn.row_iter_mut() {
        let of_row: Vec<f64> = row.iter().copied().collect();
        row.iter_mut().zip(weights(&of_row)).for_each(|(entry, weight)| *entry = weight);
    }
    attn * v
}

/// Attention in tiles of keys, row by row, with one thing wrong in it.
fn in_tiles(scores: &Matrix, v: &Matrix, tile: usize, wrong: &str) -> Matrix {
    let (n, d) = v.shape();
    let mut output = Matrix::zeros(scores.nrows(), d);
    for r in 0..scores.nrows() {
        let (mut m, mut l, mut o) = (BLOCKED, 0.0, vec![0.0; d]);
        for first in (0..n).step_by(tile) {
            let is_full = first + tile <= n;
            if wrong == "last-tile-dropped" && !is_full {
                continue;
            }
            let end = if wrong == "tile-filled-with-zeros" { first + tile } else { n };
            let keys = first..(first + tile).min(end);
            let score = |c: usize| if c < n { scores[(r, c)] } else { 0.0 };
            let larger = keys.clone().map(score).fold(m, f64::max);
            let alpha = if first == 0 { 0.0 } else { (m - larger).exp() };
            l *= if wrong == "running-sum-not-rescaled" { 1.0 } else { alpha };
            let factor = match wrong {
                "running-output-not-rescaled" => 1.0,
                "running-output-divided" if first > 0 => 1.0 / alpha,
                _ => alpha,
            };
            o.iter_mut().for_each(|o| *o *= factor);
            for c in keys {
                let p = (score(c) - larger).exp();
                l += p;
                let row = |k: usize| if c < n { v[(c, k)] } else { 0.0 };
                o.iter_mut().enumerate().for_each(|(k, o)| *o += p * row(k));
            }
            m = larger;
        }
        o.iter().enumerate().for_each(|(k, o)| output[(r, k)] = o / l);
    }
    output
}

#[test]
fn tiles_that_go_wrong_are_named_with_their_width() {
    let faults = [
        "last-tile-dropped",
        "tile-filled-with-zeros",
        "running-sum-not-rescaled",
        "running-output-not-rescaled",
        "running-output-divided",
    ];
    for (n, tile) in [(10, 4), (24, 16), (40, 16), (70, 64), (20, 32)] {
        let layer = layer(n, 2, n as u64);
        let of = |wrong: &str| {
            let mut head = |scores: &Matrix, v: &Matrix| in_tiles(scores, v, tile, wrong);
            layer.diagnosed(with(&layer, &mut head))
        };
        assert_eq!(of("").verdict, Verdict::Right);
        for wrong in faults.into_iter().filter(|&it| n > tile || it == faults[1]) {
            let diagnosis = of(wrong);
            let what = format!("{n} in tiles of {tile}");
            assert_named(&diagnosis, wrong, &what);
            // Other tiles may end at the same key.
            let is_running = wrong.starts_with("running");
            let words = format!("tiles of {tile}.");
            let is_told = diagnosis.remarks.iter().any(|it| it.ends_with(&words));
            assert!(is_told || !is_running, "{what}, {wrong}: {:?}", diagnosis.remarks);
        }
    }
}

#[test]
fn what_each_head_does_wrong_is_named() {
    type Head<'h> = &'h dyn Fn(&Matrix, &Matrix) -> Matrix;
    let usual = Intent::heads(4);
    let unscaled = Intent { scale: Some(1.0), ..usual.clone() };
    let causal = Intent { causal: Some(Corner::TopLeft), ..usual.clone() };
    let bounded = Intent { cap: Some(2.0), ..causal.clone() };
    let capped = |s: f64| 2.0 * (s / 2.0).tanh();
    let root = 8_f64.sqrt();
    let masked = |m: &Matrix, keys: usize| {
        let entry = |r, c| if c > r && c < keys { BLOCKED } else { m[(r, c)] };
        Matrix::from_fn(m.nrows(), m.ncols(), entry)
    };
    let most = |row: &[f64]| row.iter().copied().fold(BLOCKED, f64::max);
    let narrow = |mut head: Matrix| {
        head.columns_range_mut(4..).fill(0.0);
        head
    };
    let heads: [(&str, &Intent, Head<'_>); 7] = [
        ("usual-scale", &unscaled, &|m, v| averaged(m, v, softmax)),
        ("softmax-plus-one", &usual, &|m, v| averaged(m, v, |row| plus_one(row, 0.0))),
        ("one-added-after-maximum", &usual, &|m, v| {
            averaged(m, v, |row| plus_one(row, most(row)))
        }),
        ("capped-after-mask", &bounded, &|m, v| {
            averaged(&masked(m, 40).map(capped), v, softmax)
        }),
        ("capped-before-scale", &bounded, &|m, v| {
            averaged(&masked(&m.map(|s| capped(s * root) / root), 40), v, softmax)
        }),
        ("mask-of-first-tile", &causal, &|m, v| averaged(&masked(m, 32), v, softmax)),
        ("columns-never-written", &usual, &|m, v| narrow(averaged(m, v, softmax))),
    ];
    for (id, intent, head) in heads {
        let mut layer = layer(40, 2, 2);
        let output = with(&layer, &mut |scores, v| head(scores, v));
        layer.intent = intent.clone();
        assert_eq!(ids(&layer.diagnosed(output)), [[id]]);
    }
}

#[test]
fn tokens_that_are_repeated_in_place_of_heads_are_named() {
    let mut layer = layer(9, 2, 11);
    layer.intent.n_kv_heads = 2;
    for linear in &mut layer.record.weights.projections[1..] {
        linear.weight = linear.weight.columns(0, 16).into_owned();
        linear.bias = linear.bias.as_ref().map(|bias| bias.columns(0, 16).into_owned());
    }
    let tensors = pass(&layer, F32);
    // Each token of a head twice, of which query heads 0 and 2 get the first nine.
    let repeated = |flat: &Matrix, i: usize| {
        Matrix::from_fn(9, 8, |t, c| flat[((i % 2 * 9 + t) / 2, i / 2 * 8 + c)])
    };
    let sequence = |s: usize| {
        let of_head = |i: usize| {
            let [k, v] =
                [State::Key, State::Value].map(|it| repeated(&tensors[&it][s], i));
            let q = tensors[&State::Query][s].columns(i * 8, 8);
            averaged(&(q * k.transpose() / 8_f64.sqrt()), &v, softmax)
        };
        output(&layer, &(0..4).map(of_head).collect::<Vec<_>>())
    };
    let diagnosis = layer.diagnosed((0..2).map(sequence).collect());
    assert_named(&diagnosis, "keys-repeated-along-sequence", "4 heads on 2");
}

/// A layer with dropout on its map, which may be in the record; `other` moves what is not
/// dropped.
fn dropped(p: f64, other: f64, has_map: bool) -> Diagnosis {
    let mut layer = layer(12, 2, 6);
    let rng = &mut Rng::seed_from_u64(7);
    let mut maps = Vec::new();
    let mut head = |scores: &Matrix, v: &Matrix| {
        let attn = averaged(scores, &Matrix::identity(12, 12), softmax);
        let attn = attn.map(|weight| match rng.random_range(0.0..1.0) < p {
            true => 0.0,
            false => F32.kept(weight / (1.0 - p) * rng.random_range(1.0..=other)),
        });
        maps.push(attn.clone());
        attn * v
    };
    let output = with(&layer, &mut head);
    if has_map {
        layer.record.tensors.insert(State::Attn, maps);
    }
    layer.diagnosed(output)
}

#[test]
fn dropout_is_told_from_the_map_and_only_if_one_factor_fits() {
    for p in [0.1, 0.5] {
        let diagnosis = dropped(p, 1.0, true);
        assert_named(&diagnosis, "dropout-in-evaluation", "12 keys");
        assert_eq!(diagnosis.tensors[0].precision, "float32");
        let words = format!("p is {p:.3}.");
        assert!(diagnosis.remarks[0].ends_with(&words), "{:?}", diagnosis.remarks);
        assert_eq!(dropped(p, 1.2, true).verdict, Verdict::Unknown);
        assert_eq!(dropped(p, 1.0, false).verdict, Verdict::Unknown);
    }
}

/// A layer whose code adds numbers to the scores of keys that are padding, or of all others.
fn with_added(layer: &Layer, lowest: f64, is_padding: bool) -> Diagnosis {
    let open = layer.record.masks.padding.as_ref().unwrap();
    let output = twisted(layer, F32, &|[s, _, _, c], score, _| {
        let added = if open[s][c] == is_padding { 0.0 } else { lowest };
        F32.kept(score + added)
    });
    layer.diagnosed(output)
}

#[test]
fn a_mask_that_is_added_leaves_rows_without_a_key_as_they_are() {
    let mut layer = layer(10, 3, 8);
    // The last tokens of sequence 0 are padding.
    let open = |s: usize| (0..10).map(|t| s > 0 || t < 7).collect();
    layer.record.masks.padding = Some((0..3).map(open).collect());
    for lowest in [-1e4, -1e9] {
        let opposite = with_added(&layer, lowest, false);
        assert_named(&opposite, "padding-opposite", "one sequence has no padding");
    }
    layer.record.masks.padding.as_mut().unwrap()[1].fill(false);
    let right = with_added(&layer, -1e4, true);
    assert_eq!(right.verdict, Verdict::Right);
    assert_eq!(right.empty_row, Some(EmptyRow::Unmasked));
}

#[test]
fn a_mask_of_floats_that_is_read_as_flags_is_named() {
    let mut layer = layer(10, 2, 9);
    // Each query sees the keys that are near, and never all.
    let blocks = |r: usize, c: usize| r.abs_diff(c) > 2;
    let mask = Matrix::from_fn(10, 10, |r, c| if blocks(r, c) { -3e38 } else { 0.0 });
    layer.record.masks.added = Some(vec![mask]);
    let output = twisted(&layer, F32, &|[_, _, r, c], score, _| {
        if blocks(r, c) { score } else { BLOCKED }
    });
    assert_named(&layer.diagnosed(output), "pairs-opposite", "a float mask");
}

#[test]
fn a_mistake_in_one_sequence_is_said_of_it_alone() {
    let layer = layer(10, 3, 10);
    let factor = |s: usize| if s == 1 { 8_f64.sqrt() } else { 1.0 };
    let mut output = twisted(&layer, F32, &|[s, ..], score, _| score * factor(s));
    let diagnosis = layer.diagnosed(output.clone());
    assert_named(&diagnosis, "not-scaled", "sequence 1");
    assert!(diagnosis.remarks[0].starts_with("sequence 1 alone differs"));
    // Noise in it is no mistake, and the record stays whole.
    output[1] += 0.3 * random_matrix::<f64>(10, 32, 1.0, &mut Rng::seed_from_u64(1));
    let diagnosis = layer.diagnosed(output);
    assert_eq!(diagnosis.verdict, Verdict::Unknown);
    assert_eq!(diagnosis.places.unwrap().sequences.len(), 3);
}
