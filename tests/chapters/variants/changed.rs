//! Rotations, windows, caps and norms.

use attention::{Matrix, Rng, SeedableRng, random_matrix};
use lessons::trained;
use lessons::variants::bounded::capped;
use lessons::variants::first_kept::{SIDE, measure};
use lessons::variants::windows;
use variants::{Alibi, Pairing, Rotary, Sink};

use crate::quote::{Table, assert_quote, bound, percent, values};

const D_K: usize = 64;

/// A score of heads 64 wide, rotated with base 10,000.
fn score(pairing: Pairing, [q, k]: [&Matrix; 2], [i, j]: [i64; 2]) -> f64 {
    let rotary = Rotary::new(pairing, D_K, 10_000.0).unwrap();
    let [mut q, mut k] = [q.clone(), k.clone()];
    rotary.rotate(&mut q, D_K, &[i]).unwrap();
    rotary.rotate(&mut k, D_K, &[j]).unwrap();
    q.dot(&k) / (D_K as f64).sqrt()
}

#[test]
fn rotated_scores_depend_on_the_steps_alone() {
    let rng = &mut Rng::seed_from_u64(1);
    let [q, k] = [0, 1].map(|_| random_matrix::<f64>(1, D_K, 1.0, rng));
    let halves = |at| score(Pairing::Halves, [&q, &k], at);
    let mut table =
        Table::new(["query at", "key at", "steps", "halves", "read as pairs"]);
    for at in [[7, 0], [10, 3], [1007, 1000], [20, 0], [0, 7]] {
        table.row([
            at[0].to_string(),
            at[1].to_string(),
            (at[0] - at[1]).to_string().replace('-', "−"),
            format!("{:.3}", halves(at)).replace('-', "−"),
            format!("{:.3}", score(Pairing::Pairs, [&q, &k], at)).replace('-', "−"),
        ]);
    }
    assert_quote!("variants_rotated", table.text());
    let mut apart = 0.0f64;
    for steps in [0, 1, 7, 500] {
        for pairing in [Pairing::Halves, Pairing::Pairs] {
            let of = |j: i64| score(pairing, [&q, &k], [j + steps, j]);
            for j in [3, 1000] {
                apart = apart.max((of(j) - of(0)).abs());
            }
        }
    }
    let slowest =
        *Rotary::new(Pairing::Halves, D_K, 10_000.0).unwrap().frequencies.last().unwrap();
    let quoted = [
        ("rotated_bound", bound(apart, 1e-12)),
        ("slowest", format!("{:.0},000", std::f64::consts::TAU / slowest / 1e3)),
    ];
    assert_quote!("variants_rotary", values(&quoted));
}

#[test]
fn slopes_of_four_heads() {
    let slopes = Alibi::new(4).unwrap().slopes;
    let inverse: Vec<String> =
        slopes.iter().map(|slope| format!("1/{}", 1.0 / slope)).collect();
    assert_quote!("variants_slopes", values(&[("slopes", inverse.join(", "))]));
}

/// Fixed before looking: the first key counts as special in a sentence if keeping it leaves
/// the output nearer than keeping any other.
#[test]
fn one_key_kept_with_a_window_on_the_trained_layer() {
    let trained = trained::layer().unwrap();
    let mut nearest = 0;
    for sentence in &trained.sentences {
        let kept = measure(trained, sentence).unwrap();
        nearest += usize::from(kept.with[1..].iter().all(|other| kept.with[0] < *other));
    }
    let quoted = [
        ("first_nearest", nearest.to_string()),
        ("side", SIDE.to_string()),
        ("sentences", trained.sentences.len().to_string()),
    ];
    assert_quote!("variants_first_kept_values", values(&quoted));
}

#[test]
fn masks_of_the_windows() {
    let rows = windows().unwrap().map(|(name, window)| {
        format!("{name}:\n{}", window.mask(&variants::Positions::new(7, 7)).picture(7, 7))
    });
    assert!(rows[1].contains(".xxxx..\n") && rows[2].contains("x.xxxx.\n"), "{rows:?}");
}

#[test]
fn a_cap_on_the_wrong_side_of_the_mask() {
    let mut quoted = Vec::new();
    for cap in [50.0, 5.0] {
        let [before, after] = capped(cap).unwrap();
        assert_eq!(before[2], 0.0);
        let blocked = match after[2] {
            share if share < 1e-6 => format!(
                "10{}",
                match share.log10().round() as i32 {
                    -23 => "⁻²³",
                    other => panic!("{other}"),
                }
            ),
            share => format!("{share:.4}"),
        };
        quoted.push((format!("blocked_{cap}"), blocked));
    }
    assert_quote!("variants_bounded", values(&quoted));
}

#[test]
fn a_learned_sink_takes_a_share() {
    let sink = Sink { scores: vec![2.0] };
    let row = |scores: [f64; 2]| {
        let scores = Matrix::from_row_slice(1, 2, &scores);
        let attn = sink.softmax_rows(0, scores, &attention::Mask::None);
        percent(attn.sum())
    };
    let quoted = [("sink_nothing", row([-1.0, -2.0])), ("sink_match", row([6.0, -2.0]))];
    assert_quote!("variants_sink", values(&quoted));
}
