//! Two layers.

use super::*;

pub fn induction_place(n: &Facts) -> Result<Facts> {
    let [text] = n.words(["text"])?;
    let tokens: Vec<&str> = text.split(' ').collect();
    let n = tokens.len();
    let same = Matrix::from_fn(n, n, |i, j| f64::from(u8::from(tokens[i] == tokens[j])));
    // A key has the note of the first layer: which token stands before it.
    let one_back = Matrix::from_fn(n, n, |i, j| f64::from(u8::from(i == j + 1)));
    let scores = &same * one_back.transpose();
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

pub fn through_two_heads(n: &Facts) -> Result<Facts> {
    let [first, second] = n.decimals(["first", "second"])?;
    // Of cat, sat and down, in which one gives a share to the word before it.
    let map = |query: usize, share: f64| {
        let mut map = Matrix::identity(3, 3);
        (map[(query, query - 1)], map[(query, query)]) = (share, 1.0 - share);
        map
    };
    let together = (map(2, second) * map(1, first))[(2, 0)];
    Ok(facts![together, smaller = first.min(second)])
}
