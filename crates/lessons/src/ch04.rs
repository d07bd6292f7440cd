//! The figures of chapter 4.

use anyhow::Result;
use attention::{HeadParameters, LayerParameters, Mask, Matrix};
use figures::{ConcatChange, Figure, Heads, concat_change, head_maps, head_view};
use per_head::{PerHeadAttention, concat};
use single_head::attend;

use super::ch03::{WORDS, by_hand, words};
use super::{Args, Entry};

pub const FIGURES: [Entry; 4] = [
    ("lens-words", two_lenses),
    ("lens-trained", three_heads),
    ("lens-disturbed", disturbed),
    ("lens-all", all_heads),
];

fn two_lenses(_: &Args) -> Result<Figure> {
    #[rustfmt::skip]
    let heads = [
        HeadParameters {
            w_q: by_hand([0.0, 0.0,  0.0, 0.0,  0.0, 2.0,  2.0, 0.0])?,
            w_k: by_hand([0.0, 0.0,  0.0, 0.0,  1.0, 0.0,  0.0, 1.0])?,
            w_v: by_hand([0.0, 0.0,  0.0, 0.0,  1.0, 0.0,  0.0, 1.0])?,
        },
        HeadParameters {
            w_q: by_hand([2.0, 0.0,  0.0, 0.0,  0.0, 0.0,  0.0, 0.0])?,
            w_k: by_hand([1.0, 0.0,  0.0, 1.0,  0.0, 0.0,  0.0, 0.0])?,
            w_v: by_hand([1.0, 0.0,  0.0, 1.0,  0.0, 0.0,  0.0, 0.0])?,
        },
    ];
    let x = words();
    let maps = heads
        .iter()
        .map(|head| Ok(attend(head, &x, &x, &x, &Mask::None)?.attn))
        .collect::<Result<Vec<Matrix>>>()?;
    let title = "“overflowed” finds “banks” through one lens, “river” through the other";
    Ok(head_maps(title, &Heads::of_tokens(&maps, &WORDS)?))
}

/// The trained layer and the maps of its heads on "The river banks overflowed.".
fn river_banks() -> Result<(LayerParameters, Matrix, Vec<Matrix>, Vec<String>)> {
    let layer = pretrained::minilm()?;
    let sentence = layer.sentence("river_banks")?;
    let x = sentence.input.clone();
    let heads =
        PerHeadAttention::new(layer.parameters.clone()).heads(&x, &x, &x, &Mask::None)?;
    let maps = heads.into_iter().map(|head| head.attn).collect();
    Ok((layer.parameters.clone(), x, maps, sentence.tokens.clone()))
}

fn three_heads(_: &Args) -> Result<Figure> {
    let (_, _, maps, tokens) = river_banks()?;
    let chosen = [6, 9, 11];
    let maps = chosen.map(|i| maps[i].clone());
    let heads = Heads::of_tokens(&maps, &tokens)?.numbered(&chosen)?;
    let title = "Head 6 leans to “river”, head 9 to “over”, head 11 to “banks” and [CLS]";
    Ok(head_maps(title, &heads))
}

fn disturbed(_: &Args) -> Result<Figure> {
    let (parameters, x, maps, _) = river_banks()?;
    let disturbed = 9;
    let mut heads = parameters.heads().to_vec();
    heads[disturbed].w_v.weight *= -1.0;
    let changed = LayerParameters::new(heads, parameters.w_o().clone())?;
    let side_by_side = |parameters: LayerParameters| -> Result<Matrix> {
        let heads = PerHeadAttention::new(parameters).heads(&x, &x, &x, &Mask::None)?;
        Ok(concat(heads.iter().map(|head| &head.out))?)
    };
    let w_o = parameters.w_o().clone();
    let (a, b) = (side_by_side(parameters)?, side_by_side(changed)?);
    let change = |a: &Matrix, b: &Matrix| -> Vec<f64> {
        (a - b).column_iter().map(|column| column.amax()).collect()
    };
    let moved = |change: &[f64]| change.iter().filter(|&&moved| moved > 0.0).count();
    let (before, after) = (change(&a, &b), change(&w_o.forward(&a)?, &w_o.forward(&b)?));
    let title = format!(
        "Head {disturbed} moves {} of {} columns before W^O, and {} after it",
        moved(&before),
        before.len(),
        moved(&after),
    );
    let n_heads = maps.len();
    let change = ConcatChange { concat: &before, out: &after, n_heads, disturbed };
    Ok(concat_change(title, change)?)
}

fn all_heads(_: &Args) -> Result<Figure> {
    let (_, _, maps, tokens) = river_banks()?;
    let heads = Heads::of_tokens(&maps, &tokens)?.showing(6)?;
    let share = maps[6][(3, 2)];
    let title =
        format!("In head 6, “banks” gives {share:.3} of its attention to “river”");
    Ok(head_view(title, &heads))
}
