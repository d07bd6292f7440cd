//! An average with shares.

use lessons::one_look_is_not_enough as lesson;

use super::*;

pub fn blend(n: &Facts) -> Result<Facts> {
    let [to_first, to_second, a, b] = n.decimals(["to_first", "to_second", "a", "b"])?;
    let first = Matrix::from_row_slice(1, 2, &[a, 0.0]);
    let second = Matrix::from_row_slice(1, 2, &[0.0, b]);
    let out = |to_second| lesson::blend(&first, &second, to_second);
    let larger = if to_first > to_second { 0.0 } else { 1.0 };
    let blended = out(to_second);
    Ok(facts![
        x = blended[0],
        y = blended[1],
        even = out(0.5)[1],
        larger = out(larger)[1]
    ])
}

pub fn flew_head_11(n: &Facts) -> Result<Facts> {
    let ([head], [text, word]) = (n.wholes(["head"])?, n.words(["sentence", "word"])?);
    let (sentence, maps) = with_maps(text)?;
    let query = trained::at(sentence, word)?;
    let row = |head: usize| maps[head].row(query).transpose();
    let most = |head: usize| sentence.tokens[row(head).imax()].as_str();
    let shown =
        bars(&format!("{word} in head {head}"), &sentence.tokens, row(head).as_slice());
    let facts = facts![shown, most = most(head)];
    let with = |facts: Facts, head| facts.with(format!("in_head_{head}"), most(head));
    Ok((0..maps.len()).fold(facts, with))
}
