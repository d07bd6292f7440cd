//! Which letters are aligned in which heads, with two sets of years, and the controls.

use attention::Matrix;
use lessons::from_one_sequence_to_another::{LETTERS, even, runs, shares};
use lessons::numbers::share;
use serde_json::Value;
use training::dates::CENTURIES;
use training::dates::{PartShares, Truth, criteria};

use super::percent;
use crate::quote::{Table, assert_quote, values};

/// In how many heads of all runs each letter is aligned, and how many heads there are.
fn heads_aligned(runs: &[Value]) -> (Vec<usize>, usize) {
    let truth = Truth::planted();
    let mut counts = vec![0; LETTERS.len()];
    let mut n_heads = 0;
    for run in runs {
        let even = even(run).unwrap();
        let even = Matrix::from_fn(LETTERS.len(), 3, |_, part| even[part]);
        for of_head in shares(run).unwrap() {
            n_heads += 1;
            let shares = PartShares { of_head: vec![of_head], even: even.clone() };
            for (letter, count) in counts.iter_mut().enumerate() {
                *count += usize::from(shares.is_aligned(0, letter, &truth));
            }
        }
    }
    (counts, n_heads)
}

fn of_four_centuries() -> Vec<Value> {
    serde_json::from_str(CENTURIES).unwrap()
}

#[test]
fn which_letters_are_aligned() {
    let (usual, n) = heads_aligned(&runs().unwrap());
    let (wide, n_wide) = heads_aligned(&of_four_centuries());
    assert_eq!((n, n_wide), (40, 40));
    let mut table =
        Table::new(["heads of 40 that have it aligned", "1950 to 2049", "1800 to 2199"]);
    for (letter, name) in LETTERS.iter().enumerate() {
        table.row([*name, &usual[letter].to_string(), &wide[letter].to_string()]);
    }
    assert_quote!("dates_letters", table.text());

    let part = |count: usize| count as f64 / n as f64;
    let dashes = [4, 7].map(|dash| wide[dash]);
    let held = part(wide[1]) > criteria::MUST_LOOK
        && dashes.iter().all(|&dash| part(dash) < criteria::NEED_NOT_LOOK);
    let whole = of_four_centuries();
    let whole =
        whole.iter().map(|run| run["whole"].as_f64().unwrap()).fold(1.0, f64::min);
    // Even attention differs by the form of a date: the mean over the tested ones.
    let even = even(&runs().unwrap()[0]).unwrap();
    let threshold = |part: usize| share(criteria::TIMES_EVEN * even[part]);
    let quoted = [
        ("all_heads", n.to_string()),
        ("first_digit_missed", (n - usual[0]).to_string()),
        ("wide_second_digit", wide[1].to_string()),
        ("wide_dash_1", dashes[0].to_string()),
        ("wide_dash_2", dashes[1].to_string()),
        ("wide_whole", percent(whole)),
        ("wide_held", held.to_string()),
        ("must_look", format!("{:.0} %", 100.0 * criteria::MUST_LOOK)),
        ("year_threshold", threshold(0)),
        ("day_threshold", threshold(2)),
        ("need_not", format!("{:.0} %", 100.0 * criteria::NEED_NOT_LOOK)),
    ];
    assert_quote!("dates_letters_values", values(&quoted));
}
