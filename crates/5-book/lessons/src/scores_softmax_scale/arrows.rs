//! A query and three keys as arrows, with their dot products and shares: live.

use anyhow::Result;
use attention::{Mask, Matrix, attend_head};
use figures::dot_product;

use crate::live::{Control, Kind, Live, LiveView, Question, Settings};
use crate::numbers::written;

/// Draws the arrows where their tips are dragged.
pub const LIVE: Live = Live {
    name: "dot-product",
    questions: &[
        Question {
            ask: "Give a key at 45° or more to the query a larger dot product than one that \
                  is within 20° of it.",
            is_answered: |settings, view| {
                let (query, mut answers) = (settings.point("query")?, false);
                for (far, key) in keys(settings)?.into_iter().enumerate() {
                    for (near, other) in keys(settings)?.into_iter().enumerate() {
                        answers |= angle(query, key) >= 45.0
                            && angle(query, other) <= 20.0
                            && view.number(far)? > view.number(near)?;
                    }
                }
                Ok(answers)
            },
            answer: &[("k1", "0.6,0.2"), ("k2", "0,4")],
            found: "A dot product grows with length too: a long key can beat a short one \
                    that is better aligned.",
        },
        Question {
            ask: "Leave the keys, and the direction of the query. Bring the share of k_1 \
                  below 0.9.",
            is_answered: |settings, view| {
                let is_aligned = angle(settings.point("query")?, QUERY) < 5.0;
                let is_query = settings.has_moved_only(&controls(), &["query"])?;
                Ok(is_query && is_aligned && view.number(SHARES)? < 0.9)
            },
            answer: &[("query", "0.9,0.3")],
            found: "A shorter query shares more evenly: its length works like the inverse \
                    of a temperature.",
        },
        Question {
            ask: "Leave the keys. Where must the query lie for all three to get nearly the \
                  same share?",
            is_answered: |settings, view| {
                let shares = view.slice(SHARES..SHARES + 3)?;
                let most = shares.iter().copied().fold(0.0, f64::max);
                let least = shares.iter().copied().fold(1.0, f64::min);
                let is_query = settings.has_moved_only(&controls(), &["query"])?;
                Ok(is_query && most - least < 0.05)
            },
            answer: &[("query", "0,0")],
            found: "At 0: with these keys only a query of hardly any length has nothing to \
                    prefer.",
        },
    ],
    weights: None,
    controls,
    draw,
    training: None,
};

/// The largest entry.
pub const REACH: f64 = 4.0;
/// The query first.
pub const QUERY: [f64; 2] = [3.0, 1.0];
/// The keys first: near to the query, at a right angle to it, and against it.
pub const KEYS: [[f64; 2]; 3] = [[2.0, 2.0], [-1.0, 3.0], [-3.0, -1.0]];
/// Where the numbers hold the shares, after the dot products.
const SHARES: usize = 3;
const NAMES: [&str; 3] = ["k_1", "k_2", "k_3"];

fn controls() -> Vec<Control> {
    let point =
        |key, label, first| Control::new(key, label, Kind::Point { most: REACH, first });
    vec![
        point("query", "Query q", QUERY),
        point("k1", "Key k_1", KEYS[0]),
        point("k2", "Key k_2", KEYS[1]),
        point("k3", "Key k_3", KEYS[2]),
    ]
}

fn keys(settings: &Settings) -> Result<[[f64; 2]; 3]> {
    Ok([settings.point("k1")?, settings.point("k2")?, settings.point("k3")?])
}

/// Between two arrows, in degrees; no number if one has no length.
fn angle(a: [f64; 2], b: [f64; 2]) -> f64 {
    let dot = a[0] * b[0] + a[1] * b[1];
    (dot / a[0].hypot(a[1]) / b[0].hypot(b[1])).clamp(-1.0, 1.0).acos().to_degrees()
}

fn draw(settings: &Settings) -> Result<LiveView> {
    let (query, keys) = (settings.point("query")?, keys(settings)?);
    let q = Matrix::from_row_slice(1, 2, &query);
    let k = Matrix::from_row_slice(3, 2, keys.as_flattened());
    let products = &q * k.transpose(); // [1, 3]
    let [q, k] = [q.as_view(), k.as_view()];
    let shares = attend_head(q, k, k, None, &Mask::None)?.attn; // [1, 3]
    let title =
        "A dot product is positive on the query's side, 0 across it, negative against it";
    let named: Vec<_> = NAMES.into_iter().zip(keys).collect();
    let figure = dot_product(title, REACH, query, &named)?;
    let [a, b, c] = [0, 1, 2].map(|at| written(products[at], 2));
    let [of_a, of_b, of_c] = [0, 1, 2].map(|at| shares[at]);
    let words = format!(
        "The dot products are {a}, {b} and {c}. Softmax, after a division by √2, makes \
         shares of {of_a:.3}, {of_b:.3} and {of_c:.3} of them."
    );
    let numbers = products.iter().chain(&shares).copied().collect();
    Ok(LiveView { figure, words, numbers })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plain::{dot, softmax};

    /// How each key lies is what its name in the table says.
    #[test]
    fn the_first_keys_lie_along_across_and_against_the_query() {
        let shown = LIVE.at([]).unwrap();
        let rows = &shown.figure.tables()[0].rows;
        let lies: Vec<&str> = rows.iter().map(|row| row[2].as_str()).collect();
        assert_eq!(
            lies,
            ["nearly aligned, 27°", "at a right angle, 90°", "opposed, 180°"]
        );
        insta::assert_snapshot!(shown.words, @"The dot products are 8, 0 and −10. Softmax, after a division by √2, makes shares of 0.997, 0.003 and 0.000 of them.");
    }

    /// “Scores, softmax and √d_k”’s loops, at the corners and at no length.
    #[test]
    fn products_and_shares_are_those_of_the_loops() {
        let corner = ["4,4", "-4,4", "4,-4", "-4,-4", "0,0", "0,-0", "0.1,0.3"];
        for query in corner {
            for key in corner {
                let shown =
                    LIVE.at([("query", query), ("k1", key), ("k2", query)]).unwrap();
                let read = |text: &str| -> Vec<f64> {
                    text.split(',').map(|entry| entry.parse().unwrap()).collect()
                };
                let keys = [read(key), read(query), KEYS[2].to_vec()];
                let products = keys.map(|key| dot(&read(query), &key));
                let shares = softmax(&products.map(|product| product / 2f64.sqrt()));
                for (nth, told) in products.iter().chain(&shares).enumerate() {
                    let off = (shown.numbers[nth] - told).abs();
                    assert!(off < 1e-12, "{query} {key}: {nth} is off by {off}");
                }
                assert!(!shown.words.contains("NaN") && !shown.words.contains("−0,"));
            }
        }
    }

    #[test]
    fn a_query_of_no_length_shares_evenly() {
        let shown = LIVE.at([("query", "0,0")]).unwrap();
        insta::assert_snapshot!(shown.words, @"The dot products are 0, 0 and 0. Softmax, after a division by √2, makes shares of 0.333, 0.333 and 0.333 of them.");
    }
}
