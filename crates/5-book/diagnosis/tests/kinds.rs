//! Layers with norms of queries and keys, sinks, windows, slopes, and queries behind a cache:
//! each mistake as another layer of the plain loops, which know no mistakes.

mod common;

use attention::{Rng, SeedableRng, random_matrix};
use common::loops::{Machine, output};
use common::{Layer, ids};
use diagnosis::{
    Corner, HeadNorm, Intent, NormKind, Pairing, Positions, Precision, Record, Verdict,
    Weights,
};

type Change = fn(&mut Record, &mut Intent);

/// Two sequences of six keys, of which the last four ask, in six heads of four on three.
fn layer(kinds: &[Change]) -> Layer {
    let rng = &mut Rng::seed_from_u64(11);
    let mut linear = |d_in, d_out| attention::Linear::random(d_in, d_out, true, rng);
    let projections = [linear(24, 24), linear(24, 12), linear(24, 12)];
    let weights = Weights::new(projections, Some(linear(24, 24)));
    let keys: Vec<_> = (0..2).map(|_| random_matrix(6, 24, 2.0, rng)).collect();
    let queries = keys.iter().map(|x| x.rows(2, 4).into_owned()).collect();
    let mut record = Record::new(weights, [queries, keys.clone(), keys]);
    record.precision = Precision::F32;
    let mut intent = Intent { n_kv_heads: 3, ..Intent::heads(6) };
    kinds.iter().for_each(|change| change(&mut record, &mut intent));
    Layer { record, intent }
}

const CAUSAL: Change = |_, intent| intent.causal = Some(Corner::BottomRight);
const ROTARY: Change = |_, intent| intent.rotary = Some((Pairing::Halves, 100.0));
const WINDOW: Change = |_, intent| intent.window = Some(3);
const SLOPES: Change = |_, intent| intent.slopes = Some(Intent::paper_slopes(6));
const SINKS: Change =
    |record, _| record.weights.sinks = Some(vec![0.5, -1.0, 2.0, 0.0, 1.0, -0.3]);

fn norms(record: &mut Record, _: &mut Intent) {
    let rng = &mut Rng::seed_from_u64(12);
    let mut gain = || random_matrix::<f64>(1, 4, 0.6, rng).row(0).add_scalar(1.0);
    record.weights.norms = Some([gain(), gain()].map(HeadNorm::of_heads));
}

/// The second sequence has two tokens of padding in front, which no position counts.
fn left_padded(record: &mut Record, intent: &mut Intent) {
    let list = |first: usize, padding: usize| -> Vec<f64> {
        (first..6).map(|t| t.saturating_sub(padding) as f64).collect()
    };
    let padding = |n: usize| (0..6).map(|t| t >= n).collect();
    record.masks.padding = Some(vec![padding(0), padding(2)]);
    intent.positions = Some(Positions {
        queries: vec![list(2, 0), list(2, 2)],
        keys: vec![list(0, 0), list(0, 2)],
    });
}

/// Rotary positions of queries and keys that are counted in another way.
fn placed(record: &Record, intent: &mut Intent, [query, key]: [fn(usize) -> usize; 2]) {
    let (n_q, n_kv) = record.lengths();
    intent.offset = Some(n_kv - n_q);
    let counted = |n: usize, of: fn(usize) -> usize| {
        vec![(0..n).map(|t| of(t) as f64).collect::<Vec<f64>>()]
    };
    let own = intent.positions.take();
    let [queries, keys] = own.map_or([vec![], vec![]], |own| [own.queries, own.keys]);
    intent.positions = Some(Positions {
        queries: if query(0) < 9 { counted(n_q, query) } else { queries },
        keys: if key(0) < 9 { counted(n_kv, key) } else { keys },
    });
}

fn slopes(intent: &mut Intent) -> &mut Vec<f64> {
    intent.slopes.as_mut().unwrap()
}

/// Six slopes, 2^(−8n/6) from this n on.
fn powers(first: usize) -> Vec<f64> {
    (first..first + 6).map(|n| 0.5f64.powf(8.0 * n as f64 / 6.0)).collect()
}

/// As they stand in the list.
const OWN: fn(usize) -> usize = |_| 9;

/// Each mistake, in what layer, and what other layer it makes of it.
const CASES: [(&str, &[Change], Change); 20] = [
    ("qk-norm-left-out", &[norms, CAUSAL, ROTARY], |r, _| r.weights.norms = None),
    ("qk-norm-without-gain", &[norms, CAUSAL, ROTARY], |r, _| {
        r.weights.norms.iter_mut().flatten().for_each(|norm| norm.gain.fill(1.0));
    }),
    ("qk-norm-of-other-width", &[norms, CAUSAL], |r, _| {
        for (norm, heads) in r.weights.norms.iter_mut().flatten().zip([6, 3]) {
            let gain = norm.gain.clone();
            norm.gain = attention::RowVector::from_fn(4 * heads, |_, c| gain[c % 4]);
            norm.is_whole = true;
        }
    }),
    ("window-left-out", &[CAUSAL, WINDOW], |_, i| i.window = None),
    ("window-one-too-wide", &[CAUSAL, WINDOW], |_, i| i.window = Some(4)),
    ("window-one-too-narrow", &[WINDOW], |_, i| i.window = Some(2)),
    ("distance-left-out", &[CAUSAL, SLOPES], |_, i| i.slopes = None),
    ("distance-added", &[CAUSAL, SLOPES], |_, i| {
        slopes(i).iter_mut().for_each(|s| *s = -*s)
    }),
    ("slopes-of-any-power", &[SLOPES], |_, i| *slopes(i) = powers(1)),
    ("slopes-from-zero", &[SLOPES, CAUSAL], |_, i| *slopes(i) = powers(0)),
    ("slopes-reversed", &[SLOPES, CAUSAL], |_, i| slopes(i).reverse()),
    ("slopes-of-first-half", &[SLOPES, CAUSAL], |_, i| slopes(i).copy_within(..3, 3)),
    ("slopes-sorted", &[SLOPES, CAUSAL], |_, i| slopes(i).sort_by(|a, b| b.total_cmp(a))),
    ("sink-left-out", &[SINKS, CAUSAL], |r, _| r.weights.sinks = None),
    ("sinks-twice", &[SINKS, CAUSAL], |r, _| {
        r.weights.sinks.iter_mut().flatten().for_each(|sink| *sink += 2f64.ln());
    }),
    ("sinks-scaled", &[SINKS, CAUSAL], |r, _| {
        r.weights.sinks.iter_mut().flatten().for_each(|sink| *sink /= 2.0);
    }),
    ("row-for-position", &[ROTARY, CAUSAL], |r, i| placed(r, i, [|t| t, |t| t])),
    ("keys-rotated-twice", &[ROTARY, CAUSAL], |r, i| {
        placed(r, i, [|t| t + 2, |t| 2 * t])
    }),
    ("cached-keys-rotated-twice", &[ROTARY, CAUSAL], |r, i| {
        placed(r, i, [|t| t + 2, |t| if t < 2 { 2 * t } else { t }]);
    }),
    ("padding-counted", &[ROTARY, CAUSAL, left_padded], |r, i| {
        placed(r, i, [|t| t + 2, OWN]);
    }),
];

fn diagnosed(kinds: &[Change], change: Change) -> (Verdict, Vec<Vec<&'static str>>) {
    let mut other = layer(kinds);
    change(&mut other.record, &mut other.intent);
    let given = output(&other, Machine::of(Precision::F32));
    let diagnosis = layer(kinds).diagnosed(given);
    (diagnosis.verdict, ids(&diagnosis))
}

#[test]
fn norms_of_an_unsaid_kind_are_tried_as_both() {
    let of = |kind, meant| {
        let [is, should] = [kind, meant].map(|kind| {
            let mut layer = layer(&[norms, CAUSAL]);
            let norms = layer.record.weights.norms.iter_mut().flatten();
            norms.for_each(|norm| norm.kind = kind);
            layer
        });
        let given = output(&is, Machine::of(Precision::F32));
        let diagnosis = should.diagnosed(given);
        (diagnosis.verdict, diagnosis.remarks.len())
    };
    use NormKind::{Layer, RootMeanSquare, Unsaid};
    assert_eq!(of(RootMeanSquare, Unsaid), (Verdict::Right, 0));
    assert_eq!(of(Layer, Unsaid), (Verdict::Right, 1));
    assert_ne!(of(Layer, RootMeanSquare).0, Verdict::Right);
}

#[test]
fn each_mistake_is_named_in_a_layer_that_is_computed_otherwise() {
    for (id, kinds, change) in CASES {
        let (verdict, sets) = diagnosed(kinds, change);
        assert_eq!(verdict, Verdict::Mistake, "{id}");
        assert_eq!(sets, [[id]], "{id}");
        assert_eq!(diagnosed(kinds, |_, _| ()).0, Verdict::Right, "{id}");
    }
    let keys_from_zero: Change = |r, i| placed(r, i, [OWN, |t| t]);
    let (_, sets) = diagnosed(&[ROTARY, CAUSAL, left_padded], keys_from_zero);
    assert_eq!(sets, [["rotated-keys-from-zero"]]);
}
