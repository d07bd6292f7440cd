//! One head.

use fused_heads::FusedAttention;
use lessons::numbers::ends;

use super::*;

pub fn row_sums(n: &Facts) -> Result<Facts> {
    let ([head], [text]) = (n.wholes(["head"])?, n.words(["sentence"])?);
    let (_, maps) = with_maps(text)?;
    let rows: Vec<f64> = maps[head].row_iter().map(|row| row.sum()).collect();
    let columns: Vec<f64> = maps[head].column_iter().map(|column| column.sum()).collect();
    let are_one = |sums: &[f64]| sums.iter().all(|sum| (sum - 1.0).abs() < 1e-12);
    let sums_to_one = match (are_one(&rows), are_one(&columns)) {
        (true, true) => "every row and column",
        (true, false) => "every row",
        (false, true) => "every column",
        (false, false) => "neither",
    };
    let ([row, _, most_row], [column, _, most_column]) = (ends(rows), ends(columns));
    Ok(facts![sums_to_one, row, most_row, column, most_column])
}

pub fn order(n: &Facts) -> Result<Facts> {
    let [text, first, second] = n.words(["sentence", "first", "second"])?;
    let sentence = sentence(text)?;
    let [one, other] = [trained::at(sentence, first)?, trained::at(sentence, second)?];
    let fused = FusedAttention::new(&trained::layer()?.parameters);
    let before = fused.self_attend(&sentence.input, &Mask::None)?.out;
    let mut swapped = sentence.input.clone();
    swapped.swap_rows(one, other);
    let after = fused.self_attend(&swapped, &Mask::None)?.out;

    let moved = |row: usize| (before.row(row) - after.row(row)).amax();
    let (swapped, others): (Vec<usize>, Vec<usize>) =
        (0..sentence.tokens.len()).partition(|&row| row == one || row == other);
    let most =
        |rows: &[usize]| match rows.iter().map(|&row| moved(row)).fold(0.0, f64::max) {
            rounding if rounding <= ROUNDING => format!("at most {ROUNDING:e}"),
            moved => format!("up to {moved:.3}"),
        };
    Ok(facts![
        moved = others.iter().filter(|&&row| moved(row) > ROUNDING).count(),
        all = others.len(),
        of_both = format!("outputs of {first} and {second}"),
        of_others = format!("outputs of the other {} tokens", others.len()),
        both_move = most(&swapped),
        others_move = most(&others),
    ])
}

pub fn last_digit(n: &Facts) -> Result<Facts> {
    let [a, b, c] = n.decimals(["a", "b", "c"])?;
    let (left, right) = ((a + b) + c, a + (b + c));
    let compared = if left == right {
        "alike to the last digit"
    } else {
        "apart in the last digits"
    };
    Ok(facts![left, right, compared])
}
