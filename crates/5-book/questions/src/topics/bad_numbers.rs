//! Bad numbers.

use fused_heads::FusedAttention;
use lessons::scores_softmax_scale::as_written;

use super::*;

pub fn empty_row(n: &Facts) -> Result<Facts> {
    let [n_kv] = n.wholes(["n_kv"])?;
    let blocked = Mask::FirstKeys(0).apply(tokens(1, n_kv));
    let formula = as_written(blocked.as_slice());
    let filled = softmax_rows(Matrix::from_element(1, n_kv, -1e9));
    Ok(facts![
        row = kind(softmax_rows(blocked).as_slice()),
        filled = kind(filled.as_slice()),
        formula = kind(&formula),
    ])
}

/// What a row is.
fn kind(row: &[f64]) -> &'static str {
    let (all, even) = (|is: fn(f64) -> bool| row.iter().all(|&it| is(it)), row[0]);
    match () {
        () if all(|share| share == 0.0) => "zeros",
        () if all(f64::is_nan) => "NaN",
        () if row.iter().all(|share| (share - even).abs() < 1e-12) => "an even row",
        () => "some other row",
    }
}

pub fn small_fill(n: &Facts) -> Result<Facts> {
    let [one, other, fill] = n.decimals(["one", "other", "fill"])?;
    let shares =
        |blocked: f64| softmax_rows(Matrix::from_row_slice(1, 3, &[one, other, blocked]));
    let line = |shares: &Matrix| -> String {
        shares.iter().map(|share| format!("{share:>8.4}")).collect()
    };
    let (filled, blocked) = (shares(fill), shares(f64::NEG_INFINITY));
    Ok(facts![
        filled = line(&filled),
        blocked = line(&blocked),
        share = filled[2],
        of_blocked = blocked[2],
        of_largest = shares(one.max(other) + 1e3)[2],
    ])
}

pub fn bare_softmax(n: &Facts) -> Result<Facts> {
    let scores = Matrix::from_row_slice(1, 3, &n.row::<3>("scores")?);
    let (exp, right) = (scores.map(f64::exp), softmax_rows(scores.clone()));
    let bare = as_written(scores.as_slice());
    let line = |row: &[f64]| -> String {
        let numbers = row.iter().map(|x| match x {
            x if *x == 0.0 || x.abs() >= 1e4 || x.abs() < 1e-4 => format!("  {x:>9.1e}"),
            x => format!("  {x:>9.4}"),
        });
        numbers.collect()
    };
    Ok(facts![
        exp = line(exp.as_slice()),
        formula = line(&bare),
        softmax = line(right.as_slice()),
        share = bare[0],
        right = right[0],
    ])
}

pub fn nan_causal(n: &Facts) -> Result<Facts> {
    let [n_tokens, bad] = n.wholes(["n_tokens", "bad"])?;
    let layer = FusedAttention::new(&layer(Dims::new(16, 2)?, true));
    let mut x: Matrix = tokens(n_tokens, 16);
    x[(bad, 0)] = f64::NAN;
    let blocked = Matrix::from_fn(n_tokens, n_tokens, |_, j| j != bad);
    let rows = |mask: Mask| -> Result<String> {
        let out = layer.self_attend(&x, &mask)?.out;
        let cell = |row: &RowVector| {
            if row.iter().any(|x| x.is_nan()) { "  NaN" } else { "    ·" }
        };
        Ok(out.row_iter().map(|row| cell(&row.into_owned())).collect())
    };
    let (free, causal) = (rows(Mask::None)?, rows(Mask::Causal)?);
    let blocked = rows(Mask::Allowed(blocked))?;
    let [n_free, n_causal, n_blocked] =
        [&free, &causal, &blocked].map(|rows| rows.matches("NaN").count());
    Ok(facts![free, causal, blocked, n_free, n_causal, n_blocked])
}
