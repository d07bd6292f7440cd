//! The head on three words, as lines of matrices.

use std::ops::Range;

use anyhow::Result;
use attention::Matrix;
use figures::{Cells, Equation, Figure, equations, live_equations};
use single_head::HeadPass;

use super::{FEATURES, WORDS, both, head, weights, words};
use crate::args::Args;

/// The entries of a value.
const VALUES: [&str; 2] = ["water", "money"];

fn pass() -> Result<HeadPass> {
    let [pass, _] = both(&head(2.0)?, &words())?;
    Ok(pass)
}

/// The words times each of the three matrices.
pub(super) fn projections(_: &Args) -> Result<Figure> {
    let HeadPass { q, k, v, .. } = pass()?;
    let made = [("W^Q", "Q", q), ("W^K", "K", k), ("W^V", "V", v)];
    let line = |((weights, name, rows), by): ((&str, &str, Matrix), Matrix)| {
        let x = Cells::new("X", &words()).rows(&WORDS);
        let x = if name == "Q" { x.columns(&FEATURES) } else { x };
        let entries = if name == "V" { VALUES } else { ["noun", "water"] };
        Equation::of(x)
            .times(Cells::new(weights, &by).rows(&FEATURES).columns(&entries))
            .equals(Cells::new(name, &rows).columns(&entries).lit(2))
    };
    let lines: Vec<Equation> = made.into_iter().zip(weights(2.0)).map(line).collect();
    let title = "Three matrices make a query, a key and a value of each word: \
                 “overflowed” looks for a plural noun twice as hard as for water";
    Ok(equations(title, &lines)?)
}

/// From the query of “overflowed” to its output.
pub(super) fn query(_: &Args) -> Result<Figure> {
    let pass = pass()?;
    let title = format!(
        "“overflowed” gives {:.3} of its attention to “banks”, so its output holds some \
         money too",
        pass.attn[(2, 1)]
    );
    Ok(equations(title, &[line(&pass, 2..3)])?)
}

/// The same of all three words.
pub(super) fn matrices(_: &Args) -> Result<Figure> {
    let title = "Three queries at once, a row each: only “overflowed” attends to “banks” \
                 most";
    Ok(equations(title, &[line(&pass()?, 0..3)])?)
}

/// A head's three matrices, and what it makes with them.
pub(super) type Head<'a> = (&'a [Matrix; 3], &'a HeadPass);

/// The head with these three matrices in one drawing: a click on one of their entries, as
/// they stand side by side, sets what `clicked` says; one on a row sets its word. What
/// differs from another head stands out.
pub(super) fn whole(
    title: String,
    (weights, pass): Head,
    (weights_before, before): Head,
    word: usize,
    clicked: impl Fn(usize, usize) -> String,
) -> Result<Figure> {
    let beside = |of: [&Matrix; 3]| {
        Matrix::from_fn(of[0].nrows(), 6, |i, at| of[at / 2][(i, at % 2)])
    };
    let projected = |pass: &HeadPass| beside([&pass.q, &pass.k, &pass.v]);
    let row = |i: usize, _: usize| format!("word={i}");
    let of_words = |name: &str, now: &Matrix, before: &Matrix| {
        Cells::new(name, now).lit(word).picks(row).changed_from(before)
    };
    let x = words();
    let x = of_words("X", &x, &x).rows(&WORDS).columns(&FEATURES);
    let all = Cells::new("W^Q W^K W^V", &beside(weights.each_ref()));
    let all = all.changed_from(&beside(weights_before.each_ref())).picks(clicked);
    let attn = of_words("attn", &pass.attn, &before.attn).attn();
    let v = Cells::new("V", &pass.v).changed_from(&before.v).in_parts(2, 2);
    let line = Equation::of(x)
        .times(all.rows(&FEATURES).in_parts(2, 0))
        .equals(of_words("Q K V", &projected(pass), &projected(before)).in_parts(2, 0))
        .becomes("softmax", attn.rows(&WORDS).columns(&WORDS))
        .times(v.rows(&WORDS).columns(&VALUES))
        .equals(of_words("head", &pass.out, &before.out).columns(&VALUES));
    Ok(live_equations(title, &[line])?)
}

/// Scores, attention weights and outputs of these queries.
fn line(pass: &HeadPass, queries: Range<usize>) -> Equation {
    let names = &WORDS[queries.clone()];
    let of = |name: &str, all: &Matrix| {
        Cells::new(name, &all.rows_range(queries.clone()).into_owned())
    };
    Equation::of(of("Q", &pass.q).rows(names))
        .times(Cells::new("Kᵀ", &pass.k.transpose()).columns(&WORDS))
        .over("√2", 2f64.sqrt())
        .equals(of("scores", &pass.scores).columns(&WORDS))
        .becomes("softmax", of("attn", &pass.attn).rows(names).columns(&WORDS).attn())
        .times(Cells::new("V", &pass.v).rows(&WORDS).columns(&VALUES))
        .equals(of("head", &pass.out).columns(&VALUES))
}
