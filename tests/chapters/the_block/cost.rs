//! What a block costs.

use attention::thousands;
use lessons::the_block::cost::{D_FF, D_MODEL, N_TOKENS, ledger, overtaken};
use lessons::the_block::loudness;

use crate::quote::{assert_quote, values};

#[test]
fn attention_is_a_third_until_pairs_overtake_the_rest() {
    let short = ledger(N_TOKENS).unwrap();
    let crossing = overtaken();
    let pairs = |n: usize| {
        let ledger = ledger(n).unwrap();
        let pairs = ledger.parts[1].multiply_adds;
        (pairs, ledger.multiply_adds() - pairs)
    };
    let [before, at] = [pairs(crossing - 1), pairs(crossing)];
    assert!(before.0 <= before.1 && at.0 > at.1, "{before:?} {at:?}");
    assert_eq!(crossing, 2 * D_MODEL + D_FF + 1);
    let attention = short.parts[0].parameters as f64 / short.parameters() as f64;
    let said = [
        ("attention_share", crate::quote::percent(attention)),
        ("overtaken", thousands(crossing)),
    ];
    assert_quote!("the_block_ledger_values", values(&said));
}

#[test]
fn positions_drown_tokens_that_are_not_scaled() {
    let [bare, scaled] = [1.0, (loudness::D_MODEL as f64).sqrt()]
        .map(|scale| loudness::measure(scale).unwrap());
    assert!(bare.same_place > bare.same_token && scaled.same_token > scaled.same_place);
    let two = |x: f64| format!("{x:.2}");
    let said = [
        ("loud_width", loudness::D_MODEL.to_string()),
        ("loud_token", format!("{:.1}", bare.token)),
        ("loud_position", format!("{:.1}", bare.position)),
        ("bare_same_token", two(bare.same_token)),
        ("bare_same_place", two(bare.same_place)),
        ("scaled_same_token", two(scaled.same_token)),
        ("scaled_same_place", two(scaled.same_place)),
    ];
    assert_quote!("the_block_loudness", values(&said));
}
