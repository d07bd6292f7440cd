//! What is computed to write letter by letter, with and without the two caches.

use lessons::from_one_sequence_to_another::caches::ways;

use crate::quote::{assert_quote, values};

#[test]
fn writing_with_and_without_caches() {
    let [own, cross] = ways().unwrap().map(|ways| {
        let each: Vec<u64> = ways.iter().map(|(_, work)| work.multiply_adds).collect();
        let cached = each[each.len() - 1] as f64;
        each.iter().map(|&all| format!("{:.1}", all as f64 / cached)).collect::<Vec<_>>()
    });
    let quoted =
        [("times_own", &own[0]), ("times_cross", &cross[0]), ("times_memory", &cross[1])];
    assert_quote!(
        "dates_caches_values",
        values(&quoted.map(|(name, it)| (name, it.clone())))
    );
}
