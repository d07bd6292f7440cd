//! The figures of chapter 1.

use anyhow::{Context, Result, bail};
use attention::{Mask, Matrix};
use figures::{Figure, Heads, WeightRow, average, head_maps};
use single_head::attend;

use super::{Args, Entry};

pub const FIGURES: [Entry; 2] = [("flew-in-three-heads", rows), ("three-maps", maps)];

/// The heads that give pilot, plane and Paris more of “flew” than any other does.
const NUMBERS: [usize; 3] = [11, 5, 4];

/// One row of three maps, bar beside bar.
fn rows(_: &Args) -> Result<Figure> {
    let (tokens, attn) = pilot()?;
    let flew = tokens.iter().position(|token| token == "flew").context("flew")?;
    let row = |(map, number): (&Matrix, usize)| WeightRow {
        name: format!("head {number}"),
        shares: map.row(flew).iter().copied().collect(),
    };
    let rows: Vec<WeightRow> = attn.iter().zip(NUMBERS).map(row).collect();
    let title = "From “flew”, head 11 looks most at pilot, head 4 at Paris, and head 5 \
                 spreads over pilot, plane and Paris";
    Ok(average(title, &tokens, &rows)?)
}

/// The same three maps, whole.
fn maps(_: &Args) -> Result<Figure> {
    let (tokens, attn) = pilot()?;
    let heads = Heads::of_tokens(&attn, &tokens)?.numbered(&NUMBERS)?;
    let at = |word| tokens.iter().position(|token| token == word).context("a word");
    let [pilots, _, cities] = &attn[..] else { bail!("{} maps", attn.len()) };
    let title = format!(
        "Head 4 looks most at Paris from {} of {} tokens, head 11 most at pilot from {}",
        rows_led_by(at("paris")?, cities),
        tokens.len(),
        rows_led_by(at("pilot")?, pilots),
    );
    Ok(head_maps(title, &heads))
}

/// How many queries give this key more than any other key.
fn rows_led_by(key: usize, attn: &Matrix) -> usize {
    attn.row_iter().filter(|row| row.iter().all(|&other| other <= row[key])).count()
}

/// The tokens of the pilot sentence, and the maps of [`NUMBERS`].
fn pilot() -> Result<(Vec<String>, Vec<Matrix>)> {
    let layer = pretrained::minilm()?;
    let sentence = layer.sentence("pilot")?;
    let x = &sentence.input;
    let map = |number: usize| {
        let head = &layer.parameters.heads()[number];
        Ok(attend(head, x, x, x, &Mask::None)?.attn)
    };
    let maps = NUMBERS.into_iter().map(map).collect::<Result<_>>()?;
    Ok((sentence.tokens.clone(), maps))
}
