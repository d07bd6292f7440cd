//! Ten seeds of each way to share keys and values.

use attention::{Linear, Rng, SeedableRng};
use lessons::numbers::ends;
use lessons::variants::ahead::{Against, Verdict};
use lessons::variants::shared::{OfSetting, shared};
use training::changed::Reader;
use training::lookups::Lookups;
use training::one_layer::Task;

use crate::quote::{assert_quote, values};

#[test]
fn shared_heads_on_lookups() {
    let all = shared().unwrap();
    let less = |kind: &str, heads: usize| {
        let is_it = |of: &&OfSetting| of.kind == kind && of.heads[1] == heads;
        let of = all.iter().find(is_it).unwrap();
        assert_eq!(kind == "equal weights", weights(of) == weights(&all[0]));
        Against::of(&of.scores, &all[0].scores)
    };
    for heads in [1, 2] {
        assert_eq!(less("equal widths", heads).verdict(), Verdict::Behind);
    }
    let [one, two] = [1, 2].map(|heads| less("equal weights", heads));
    assert_eq!([one, two].map(Against::verdict), [Verdict::Behind, Verdict::Undecided]);
    let quoted = [("shared_one_less", one.less), ("shared_two_less", two.less)];
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
