//! Which letters are aligned in which heads, with two sets of years, and the controls.

use lessons::from_one_sequence_to_another::aligned::{both, of_four_centuries};
use lessons::from_one_sequence_to_another::{even, runs, shares};
use lessons::numbers::share;
use training::dates::criteria;

use crate::quote::{assert_quote, values};

#[test]
fn which_letters_are_aligned() {
    let [usual, wide] = both().unwrap();
    let four = of_four_centuries().unwrap();
    for runs in [&runs().unwrap(), &four] {
        assert_eq!(runs.iter().map(|run| shares(run).unwrap().len()).sum::<usize>(), 40);
    }
    let n = 40;
    let part = |count: usize| count as f64 / n as f64;
    let dashes = [4, 7].map(|dash| wide[dash]);
    let held = part(wide[1]) > criteria::MUST_LOOK
        && dashes.iter().all(|&dash| part(dash) < criteria::NEED_NOT_LOOK);
    assert!(held && four.iter().all(|run| run["whole"] == 1.0));
    // Even attention differs by the form of a date: the mean over the tested ones.
    let even = even(&runs().unwrap()[0]).unwrap();
    let threshold = |part: usize| share(criteria::TIMES_EVEN * even[part]);
    let quoted = [
        ("all_heads", n.to_string()),
        ("first_digit_missed", (n - usual[0]).to_string()),
        ("wide_second_digit", wide[1].to_string()),
        ("wide_dash_1", dashes[0].to_string()),
        ("wide_dash_2", dashes[1].to_string()),
        ("must_look", format!("{:.0} %", 100.0 * criteria::MUST_LOOK)),
        ("year_threshold", threshold(0)),
        ("day_threshold", threshold(2)),
        ("need_not", format!("{:.0} %", 100.0 * criteria::NEED_NOT_LOOK)),
    ];
    assert_quote!("dates_letters_values", values(&quoted));
}
