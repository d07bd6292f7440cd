//! Ten seeds of each way to share keys and values.

use attention::{Linear, Rng, SeedableRng, thousands};
use lessons::numbers::ends;
use lessons::variants::ahead::{Against, Verdict};
use lessons::variants::shared::{OfSetting, shared};
use training::changed::Reader;
use training::lookups::Lookups;
use training::one_layer::Task;

use super::share;
use crate::quote::{Table, assert_quote, values};

#[test]
fn shared_heads_on_lookups() {
    let mut table = Table::new([
        "",
        "heads",
        "of k, v",
        "d_k, d_v",
        "weights",
        "cached",
        "median",
        "least–most",
        "more less",
    ]);
    let all = shared().unwrap();
    let own = &all[0];
    for of in &all {
        let [least, median, most] = ends(of.scores.iter().copied()).map(share);
        let Against { more, less } = Against::of(&of.scores, &own.scores);
        table.row([
            of.kind.clone(),
            of.heads[0].to_string(),
            of.heads[1].to_string(),
            format!("{}, {}", of.widths[0], of.widths[1]),
            thousands(weights(of)),
            (of.heads[1] * of.widths.iter().sum::<usize>()).to_string(),
            median,
            format!("{}–{most}", least.trim_end_matches(" %")),
            if of == own { String::new() } else { format!("{more} {less}") },
        ]);
    }
    assert_quote!("variants_shared", table.text());
    let own_ends = ends(own.scores.iter().copied()).map(share);
    let less = |heads: usize| {
        let is_it = |of: &&OfSetting| of.kind == "equal weights" && of.heads[1] == heads;
        let of = all.iter().find(is_it).unwrap();
        Against::of(&of.scores, &own.scores).less.to_string()
    };
    let quoted = [
        ("shared_one_less".to_owned(), less(1)),
        ("shared_two_less".to_owned(), less(2)),
        ("shared_loudness".to_owned(), format!("1/{}", 1.0 / own.loudness)),
        ("shared_own".to_owned(), own_ends[1].clone()),
    ];
    assert_quote!("variants_shared_values", values(&quoted));
}

/// The comparison decides where it must, and not where it must not.
#[test]
fn one_query_head_is_behind_and_other_seeds_are_not() {
    let all = shared().unwrap();
    let verdict = |kind: &str| {
        let of = all.iter().find(|of| of.kind == kind).unwrap();
        Against::of(&of.scores, &all[0].scores).verdict()
    };
    assert_eq!(verdict("one query head"), Verdict::Behind);
    assert_eq!(verdict("own, other seeds"), Verdict::Undecided);
    // No ceiling: there is room on both sides.
    let [_, median, most] = ends(all[0].scores.iter().copied());
    assert!((0.6..0.95).contains(&median) && most < 0.99, "{median} {most}");
}

/// The entries of the matrices of the layer, biases left out.
fn weights(of: &OfSetting) -> usize {
    let (task, rng) = (Lookups::default(), &mut Rng::seed_from_u64(0));
    let reader = Reader::random(&task, of.heads, of.widths, rng).unwrap();
    let n =
        reader.layer.projections().iter().map(|linear: &Linear<f32>| linear.weight.len());
    let n = n.sum();
    let [heads, shared] = of.heads;
    assert_eq!(n, task.d_model() * (heads + shared) * of.widths.iter().sum::<usize>());
    n
}
