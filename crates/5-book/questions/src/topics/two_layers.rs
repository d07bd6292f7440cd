//! Two layers.

use super::*;

/// A map in which each token attends to the one before it.
fn one_back(n: usize) -> Matrix {
    Matrix::from_fn(n, n, |i, j| if i == j + 1 { 1.0 } else { 0.0 })
}

pub fn induction_place(n: &Facts) -> Result<Facts> {
    let [text] = n.words(["text"])?;
    let tokens: Vec<&str> = text.split(' ').collect();
    let n = tokens.len();
    let same = Matrix::from_fn(n, n, |i, j| f64::from(u8::from(tokens[i] == tokens[j])));
    // A key has the note of the first layer: which token stands before it.
    let scores = &same * one_back(n).transpose();
    let last = n - 1;
    let place = (0..n).rev().find(|&j| scores[(last, j)] > 0.0);
    let place = place.context("the last token has stood before")?;
    let note = |j: usize| if j == 0 { "–" } else { tokens[j - 1] };
    let line = |of: &dyn Fn(usize) -> String| (0..n).map(of).collect::<String>();
    Ok(facts![
        place,
        last,
        tokens = line(&|j| format!("{:>3}", tokens[j])),
        notes = line(&|j| format!("{:>3}", note(j))),
        found = line(&|j| if j == place { "  ^".into() } else { "   ".into() }),
    ])
}

#[rustfmt::skip]
pub fn through_two_heads(n: &Facts) -> Result<Facts> {
    let [first, second] = n.decimals(["first", "second"])?;
    // cat, sat, down.
    let first_map = Matrix::from_row_slice(3, 3, &[
        1.0, 0.0, 0.0,
        first, 1.0 - first, 0.0,
        0.0, 0.0, 1.0,
    ]);
    let second_map = Matrix::from_row_slice(3, 3, &[
        1.0, 0.0, 0.0,
        0.0, 1.0, 0.0,
        0.0, second, 1.0 - second,
    ]);
    let together = (&second_map * &first_map)[(2, 0)];
    Ok(facts![together, smaller = first.min(second)])
}
