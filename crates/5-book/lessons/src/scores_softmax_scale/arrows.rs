//! A query and three keys as arrows, with their dot products and shares: live.

use anyhow::Result;
use attention::{Mask, Matrix, attend_head};
use figures::dot_product;

use crate::live::{LiveFigure, LiveView, Question, live};
use crate::numbers::{ends, written};

/// Draws the arrows where their tips are dragged.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("dot-product", draw, QUESTIONS);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Give a key at 45° or more to the query a larger dot product than one that \
              is within 20° of it.",
        is_answered: |set, it| {
            let angle = |key: usize| angle(set.query, set.keys()[key]);
            let beats = |far: usize, near: usize| {
                let is_longer = it.products[far] > it.products[near];
                angle(far) >= 45.0 && angle(near) <= 20.0 && is_longer
            };
            (0..3).any(|far| (0..3).any(|near| beats(far, near)))
        },
        answer: |set| (set.k1, set.k2) = ([0.6, 0.2], [0.0, 4.0]),
        found: "A dot product grows with length too: a long key can beat a short one \
                that is better aligned.",
    },
    Question {
        ask: "Leave the keys, and the direction of the query. Bring the attention \
              weight of k_1 below 0.9.",
        is_answered: |set, it| {
            set.leaves_keys() && angle(set.query, QUERY) < 5.0 && it.shares[0] < 0.9
        },
        answer: |set| set.query = [0.9, 0.3],
        found: "A shorter query spreads its attention more evenly: its length works like \
                the inverse of a temperature.",
    },
    Question {
        ask: "Leave the keys. Where must the query lie for all three to get nearly the \
              same attention weight?",
        is_answered: |set, it| {
            let [least, _, most] = ends(it.shares.iter().copied());
            set.leaves_keys() && most - least < 0.15
        },
        answer: |set| set.query = [0.0, 0.0],
        found: "At 0: with these keys only a query of hardly any length has nothing to \
                prefer.",
    },
];

/// The largest entry.
pub const REACH: f64 = 4.0;
/// The query first.
pub const QUERY: [f64; 2] = [3.0, 1.0];
/// The keys first: near to the query, at a right angle to it, and against it.
pub const KEYS: [[f64; 2]; 3] = [[2.0, 2.0], [-1.0, 3.0], [-3.0, -1.0]];
const NAMES: [&str; 3] = ["k_1", "k_2", "k_3"];

live! {
    struct Set {
        query: [f64; 2] = "Query q", point(REACH, QUERY);
        k1: [f64; 2] = "Key k_1", point(REACH, KEYS[0]);
        k2: [f64; 2] = "Key k_2", point(REACH, KEYS[1]);
        k3: [f64; 2] = "Key k_3", point(REACH, KEYS[2]);
    }

    /// Of each key.
    struct Facts { products: Vec<f64>, shares: Vec<f64> }
}

impl Set {
    fn keys(&self) -> [[f64; 2]; 3] {
        [self.k1, self.k2, self.k3]
    }

    fn leaves_keys(&self) -> bool {
        self.keys() == KEYS
    }
}

/// Between two arrows, in degrees; no number if one has no length.
fn angle(a: [f64; 2], b: [f64; 2]) -> f64 {
    let dot = a[0] * b[0] + a[1] * b[1];
    (dot / a[0].hypot(a[1]) / b[0].hypot(b[1])).clamp(-1.0, 1.0).acos().to_degrees()
}

fn draw(set: &Set) -> Result<LiveView<Facts>> {
    let (query, keys) = (set.query, set.keys());
    let q = Matrix::from_row_slice(1, 2, &query);
    let k = Matrix::from_row_slice(3, 2, keys.as_flattened());
    let products = &q * k.transpose(); // [1, 3]
    let [q, k] = [q.as_view(), k.as_view()];
    let shares = attend_head(q, k, k, None, &Mask::None)?.attn; // [1, 3]
    let title =
        "A dot product is positive on the query's side, 0 across it, negative against it";
    let named: Vec<_> = NAMES.into_iter().zip(keys).collect();
    let figure = dot_product(title, REACH, query, &named, shares.as_slice())?;
    let [a, b, c] = [0, 1, 2].map(|at| written(products[at], 2));
    let [of_a, of_b, of_c] = [0, 1, 2].map(|at| shares[at]);
    let words = format!(
        "The dot products are {a}, {b} and {c}. Divided by √2, they become the \
         attention weights {of_a:.3}, {of_b:.3} and {of_c:.3}."
    );
    let [products, shares] = [products, shares].map(|it| it.as_slice().to_vec());
    Ok(LiveView { figure, words, facts: Facts { products, shares } })
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
        insta::assert_snapshot!(shown.words, @"The dot products are 8, 0 and −10. Divided by √2, they become the attention weights 0.997, 0.003 and 0.000.");
    }

    /// “Scores, softmax and √d_k”’s loops, at the corners and at no length.
    #[test]
    fn products_and_shares_are_those_of_the_loops() {
        let corner = [
            [4.0, 4.0],
            [-4.0, 4.0],
            [4.0, -4.0],
            [-4.0, -4.0],
            [0.0, 0.0],
            [0.0, -0.0],
            [0.1, 0.3],
        ];
        for query in corner {
            for key in corner {
                let keys = [key, query, KEYS[2]];
                let shown =
                    draw(&Set { query, k1: keys[0], k2: keys[1], k3: keys[2] }).unwrap();
                let products = keys.map(|key| dot(&query, &key));
                let shares = softmax(&products.map(|product| product / 2f64.sqrt()));
                let found = shown.facts.products.iter().chain(&shown.facts.shares);
                for (found, told) in found.zip(products.iter().chain(&shares)) {
                    assert!((found - told).abs() < 1e-12, "{query:?} {key:?}: {found}");
                }
                assert!(!shown.words.contains("NaN") && !shown.words.contains("−0,"));
            }
        }
    }

    #[test]
    fn a_query_of_no_length_shares_evenly() {
        let shown = LIVE.at([("query", "0,0")]).unwrap();
        insta::assert_snapshot!(shown.words, @"The dot products are 0, 0 and 0. Divided by √2, they become the attention weights 0.333, 0.333 and 0.333.");
    }
}
