//! The free matrix between W^Q and W^K: other weights, the same head: live.

use anyhow::{Result, ensure};
use attention::{HeadParameters, Mask, Matrix, max_abs_diff};
use figures::RebasedWord;
use single_head::attend;

use super::circuits::{qk, rebased};
use super::two_lenses;
use crate::live::{LiveFigure, LiveView, Question, live};
use crate::numbers::brief;
use crate::one_head::{WORDS, words};
use crate::trained::cosine;

/// Draws queries and keys of the grammar lens before and after.
pub(crate) const LIVE: LiveFigure<Set, Facts> =
    LiveFigure::new("free-matrix", draw, QUESTIONS);

const QUESTIONS: &[Question<Set, Facts>] = &[
    Question {
        ask: "Drag the queries of banks and overflowed until they are nearly opposite, \
              with a cosine below −0.9.",
        is_answered: |_, it| it.now < -0.9,
        answer: |set| (set.row_0, set.row_1) = ([1.0, 0.0], [-1.0, 0.4]),
        found: "The cosine of two queries can be made nearly anything while the head \
                computes the same, so it says nothing about the head.",
    },
    Question {
        ask: "Move the queries, and end with the two at right angles again.",
        is_answered: |_, it| it.now.abs() < 1e-9 && it.weights > 0.0,
        answer: |set| (set.row_0, set.row_1) = ([0.0, 1.0], [-1.0, 0.0]),
        found: "For these two, any M does it whose rows are at right angles to each \
                other, such as a rotation.",
    },
    Question {
        ask: "Make both queries half as long as they were, or shorter still. How long \
              are the keys then?",
        is_answered: |set, _| {
            [set.row_0, set.row_1].iter().all(|row| row[0].hypot(row[1]) <= 0.5)
        },
        answer: |set| (set.row_0, set.row_1) = ([0.5, 0.0], [0.0, 0.5]),
        found: "At least twice as long: what M takes from the queries, its inverse \
                gives to the keys, and no product moves.",
    },
];

/// M at first, a shear: its inverse has −2 for the 2.
pub const SHEAR: [[f64; 2]; 2] = [[1.0, 2.0], [0.0, 1.0]];
/// The largest entry of M.
const REACH: f64 = 2.5;
/// The query of *overflowed* is twice row 0 of M, and that of *banks* twice row 1.
const TWICE: f64 = 2.0;

/// With larger entries in M's inverse, rounding would move the product.
const MOST_INVERSE: f64 = 1e6;

live! {
    struct Set {
        row_0: [f64; 2] = "Row 0 of M", point(REACH, SHEAR[0]);
        row_1: [f64; 2] = "Row 1 of M", point(REACH, SHEAR[1]);
    }

    struct Facts {
        /// The cosine of the two queries before.
        before: f64,
        /// The same now.
        now: f64,
        /// That of the query of *overflowed* with what it was.
        own: f64,
        /// How far the weights move.
        weights: f64,
        /// How far the product moves.
        product: f64,
        /// How far the output moves.
        out: f64,
    }
}

/// What a head's matrices make of the three words.
struct HeadProducts {
    /// `W^Q (W^K)ᵀ`, `[d_model, d_model]`.
    product: Matrix,
    /// `[3, d_k]`.
    queries: Matrix,
    /// `[3, d_k]`.
    keys: Matrix,
    /// `[3, d_v]`.
    out: Matrix,
}

impl HeadProducts {
    fn of(head: &HeadParameters) -> Result<Self> {
        let x = words();
        let pass = attend(head, &x, &x, &x, &Mask::None)?;
        Ok(Self { product: qk(head), queries: pass.q, keys: pass.k, out: pass.out })
    }

    /// The query of *banks* (1) or *overflowed* (2).
    fn query(&self, word: usize) -> Matrix {
        self.queries.rows(word, 1).into_owned()
    }
}

fn draw(set: &Set) -> Result<LiveView<Facts>> {
    let m = Matrix::from_row_slice(2, 2, [set.row_0, set.row_1].as_flattened());
    let lens = two_lenses()?.heads()[0].clone();
    let other = rebased(&lens, &m)?;
    let inverse = m.clone().try_inverse().map_or(f64::INFINITY, |it| it.amax());
    ensure!(inverse <= MOST_INVERSE, {
        format!(
            "the determinant of M is {}: its inverse has entries above \
             {MOST_INVERSE:.0e}, and rounding would move the product",
            brief(m.determinant())
        )
    });
    let [before, after] = [HeadProducts::of(&lens)?, HeadProducts::of(&other)?];

    let weights = max_abs_diff(&lens.w_q.weight, &other.w_q.weight)?
        .max(max_abs_diff(&lens.w_k.weight, &other.w_k.weight)?);
    let product = max_abs_diff(&before.product, &after.product)?;
    let out = max_abs_diff(&before.out, &after.out)?;
    let [banks, overflowed] = [1, 2].map(|word| after.query(word));
    let [before_now, now, own] = [
        cosine(&before.query(1), &before.query(2)),
        cosine(&banks, &overflowed),
        cosine(&before.query(2), &overflowed),
    ];
    let words = format!(
        "Weights of queries and keys move by up to {}. The two queries had a cosine of {} \
         and now have {}. The product of the weights moves by {}, the output by {}.",
        brief(weights),
        brief_cosine(before_now),
        brief_cosine(now),
        brief(product),
        brief(out)
    );
    let of_word = |word: usize| {
        let row = |of: &Matrix| [of[(word, 0)], of[(word, 1)]];
        let [query, key] =
            [[&before.queries, &after.queries], [&before.keys, &after.keys]];
        let [query, key] = [query, key].map(|both| both.map(row));
        RebasedWord { name: WORDS[word], query, key }
    };
    let title = "Whatever M does to the queries, its inverse undoes in the keys";
    let reach = [TWICE * REACH, REACH];
    let figure = figures::rebased(title, &[of_word(1), of_word(2)], reach, TWICE)?;
    let facts = Facts { before: before_now, now, own, weights, product, out };
    Ok(LiveView { figure, words, facts })
}

/// To two decimals, and 0 without a sign.
fn brief_cosine(cosine: f64) -> String {
    format!("{:.2}", (cosine * 100.0).round() / 100.0 + 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gallery::tests::are_finite;
    use crate::plain;

    fn at(m: &str) -> Result<LiveView<Facts>> {
        let (row_0, row_1) = m.split_once(';').unwrap();
        LIVE.at([("row_0", row_0), ("row_1", row_1)])
    }

    #[test]
    fn whatever_m_is_the_product_and_the_output_stay() {
        for m in [
            "1,2;0,1",
            "1,0;0,1",
            "2.5,-2.5;2.5,2.5",
            "0,1;1,0",
            "-1,0;0,-1",
            "0.3,0.7;-0.1,0.9",
            "1,1;1,1.00001",
            "0.00001,0;0,2.5",
            "1,0;-1,0.01",
        ] {
            let LiveView { figure, words, facts } = at(m).unwrap();
            let Facts { weights, product, out, .. } = facts;
            assert_eq!(weights > 0.0, m != "1,0;0,1", "{m}");
            assert!(product <= 1e-9 && out <= 1e-9, "{m}: {product} {out}");
            assert!(are_finite(&facts), "{m}");
            assert!(words.contains(&format!("moves by {}", brief(product))), "{words}");
            assert_eq!(figure.tables()[1].rows.len(), 4);
        }
    }

    /// The tip that is dragged is a row of M.
    #[test]
    fn the_queries_are_twice_the_rows_of_m() {
        let shown = at("0.5,-1;2,0.3").unwrap();
        let rows = &shown.figure.tables()[0].rows;
        assert_eq!([&rows[1][2], &rows[0][2]], ["(1, −2)", "(4, 0.6)"]);
    }

    /// The shear by hand, and the head in the loops of “One head”.
    #[test]
    fn a_shear_by_hand() {
        let facts = LIVE.at([]).unwrap().facts;
        let lens = &two_lenses().unwrap().heads()[0].clone();
        let other =
            rebased(lens, &Matrix::from_row_slice(2, 2, SHEAR.as_flattened())).unwrap();
        let rows = |matrix: &Matrix| -> Vec<plain::Row> {
            matrix.row_iter().map(|row| row.iter().copied().collect()).collect()
        };
        let (q, k) = (rows(&other.w_q.weight), rows(&other.w_k.weight));
        assert_eq!(q, [[0.0, 0.0], [0.0, 0.0], [0.0, 2.0], [2.0, 4.0]]);
        assert_eq!(k, [[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [-2.0, 1.0]]);
        let (x, v) = (rows(&words()), rows(&lens.w_v.weight));
        let out = plain::head(&x, &q, &k, &v);
        let expected =
            plain::head(&x, &rows(&lens.w_q.weight), &rows(&lens.w_k.weight), &v);
        for (found, expected) in out.iter().flatten().zip(expected.iter().flatten()) {
            assert!((found - expected).abs() < 1e-15);
        }
        assert_eq!([facts.weights, facts.product, facts.out], [4.0, 0.0, 0.0]);
        // (0, 2) and (2, 4), at right angles before; (2, 0) became (2, 4).
        assert_eq!(facts.before, 0.0);
        assert!((facts.now - 2.0 / 5f64.sqrt()).abs() < 1e-15);
        assert!((facts.own - 1.0 / 5f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn an_m_without_a_usable_inverse_is_refused_with_its_determinant() {
        let refused = |m| at(m).unwrap_err().to_string();
        insta::assert_snapshot!(refused("1,2;0.5,1"), @"M has no inverse: its determinant is 0");
        insta::assert_snapshot!(refused("1e-200,0;0,1e-200"), @"M has no inverse: its determinant is 0");
        insta::assert_snapshot!(refused("0.1,0.3;0.3,0.9"), @"the determinant of M is 1e-17: its inverse has entries above 1e6, and rounding would move the product");
        insta::assert_snapshot!(refused("5e-324,0;0,2.5"), @"the determinant of M is 1e-323: its inverse has entries above 1e6, and rounding would move the product");
    }

    #[test]
    fn words_say_what_moves() {
        let words = |m| at(m).unwrap().words;
        insta::assert_snapshot!(words("1,2;0,1"), @"Weights of queries and keys move by up to 4. The two queries had a cosine of 0.00 and now have 0.89. The product of the weights moves by 0, the output by 0.");
        insta::assert_snapshot!(words("0.3,0.7;-0.1,0.9"), @"Weights of queries and keys move by up to 2.059. The two queries had a cosine of 0.00 and now have 0.87. The product of the weights moves by 4e-16, the output by 1e-16.");
    }
}
