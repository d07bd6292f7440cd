//! What shows that a transpose was forgotten, or two axes swapped, where every shape fits.

use anyhow::Result;
use attention::{Batch, Mask, Matrix};
use figures::{
    Axis, Chart, Figure, Grouping, Heads, Mark, Panel, head_maps, legend_room,
};
use figures::{mask_maps, palette};
use fused_heads::FusedAttention;

use super::{
    columns_of_heads, layer_with_split, merged_without_transpose, side_by_side,
    view_without_transpose,
};
use crate::args::Args;
use crate::trained;

/// Of the batch whose axes are swapped: so many sequences, each of so many tokens.
const BATCH: [usize; 2] = [3, 4];
/// The order of five tokens in which the first and the last are exchanged.
const EXCHANGED: [usize; 5] = [4, 1, 2, 3, 0];
/// Of the map that is compared with one of matrices that were not transposed.
const HEAD: usize = 11;

/// Which token of a batch attends to which, with its axes right and swapped.
pub(super) fn swapped_axes(_: &Args) -> Result<Figure> {
    let [n_sequences, n] = BATCH;
    let trained = trained::layer()?;
    let sentences = trained.sentences.iter().take(n_sequences);
    let right: Vec<Matrix> = sentences.map(|it| it.input.rows(0, n).into()).collect();
    let width = right[0].ncols();
    let token = |i| Matrix::from_fn(n_sequences, width, |s, j| right[s][(i, j)]);
    let swapped: Vec<Matrix> = (0..n).map(token).collect();
    let layer = FusedAttention::new(&trained.parameters);
    let right = attends(&layer, &right, |s, i| s * n + i)?;
    let swapped = attends(&layer, &swapped, |i, s| s * n + i)?;
    let names = (0..n_sequences * n).map(|at| format!("s{} t{}", at / n, at % n));
    let names: Vec<String> = names.collect();
    let title = "With the axes swapped, token t of sentence s attends to token t of all sentences";
    let maps = [("batch first, as meant", &right), ("axes swapped", &swapped)];
    Ok(mask_maps(title, &names, &names, &maps)?)
}

/// Which row of a batch attends to which, each row at the place that its sequence and its
/// token there have in the map.
fn attends(
    layer: &FusedAttention,
    sequences: &[Matrix],
    place: impl Fn(usize, usize) -> usize,
) -> Result<Matrix<bool>> {
    let x = Batch::stack(sequences)?;
    let seen = layer.forward_batch(&x, &x, &x, &[Mask::None])?;
    let n = x.tokens().nrows();
    let mut map = Matrix::from_element(n, n, false);
    for (s, maps) in seen.attn.iter().enumerate() {
        let shape = maps[0].shape();
        for (i, j) in (0..shape.0).flat_map(|i| (0..shape.1).map(move |j| (i, j))) {
            map[(place(s, i), place(s, j))] = maps[0][(i, j)] > 0.0;
        }
    }
    Ok(map)
}

/// A map of the trained layer, and the same with its matrices not transposed.
pub(super) fn not_transposed(_: &Args) -> Result<Figure> {
    let layer = trained::layer()?;
    let sentence = layer.sentence("pilot")?;
    let wrong = trained::transposed(&layer.parameters)?;
    let maps = [&layer.parameters, &wrong].map(|it| trained::maps(it, &sentence.input));
    let [right, wrong] = maps;
    let maps = [right?.swap_remove(HEAD), wrong?.swap_remove(HEAD)];
    let heads = Heads::of_tokens(&maps, &sentence.tokens)?;
    let heads = heads.called(&["transposed", "not transposed"])?;
    let title =
        format!("Head {HEAD}: without the transpose, another map of the same shape");
    Ok(head_maps(title, &heads))
}

/// How far the outputs between two tokens move that are exchanged, `[right, mixed]`.
///
/// # Errors
/// None; the sentence is a part of the program.
pub fn moved() -> Result<[Vec<f64>; 2]> {
    let layer = trained::layer()?;
    let packed = layer.parameters.pack();
    let x = layer.sentence("pilot")?.input.rows(0, EXCHANGED.len()).into_owned();
    let exchanged = Matrix::from_fn(x.nrows(), x.ncols(), |i, j| x[(EXCHANGED[i], j)]);
    let between = |split: fn(&Matrix, usize) -> Vec<Matrix>, merge| -> Result<Vec<f64>> {
        let [before, after] =
            [&x, &exchanged].map(|x| layer_with_split(&packed, x, split, merge));
        let moved = after? - before?;
        let last = EXCHANGED.len() - 1;
        Ok((1..last).map(|i| moved.row(i).amax()).collect())
    };
    Ok([
        between(columns_of_heads, side_by_side)?,
        between(view_without_transpose, merged_without_transpose)?,
    ])
}

/// The outputs between two exchanged tokens: they stay, unless heads are mixed up.
pub(super) fn exchanged(_: &Args) -> Result<Figure> {
    let moved = moved()?;
    let names = ["heads split right", "permute forgotten"];
    let colours = [palette::beside_wrong(0), palette::wrong()];
    let most = moved[1].iter().copied().fold(0.0, f64::max);
    let tokens: Vec<String> =
        (1..=moved[0].len()).map(|token| format!("token {token}")).collect();
    let bars = moved.iter().zip(names).zip(colours).map(|((moved, name), colour)| {
        Mark::bars(moved.iter().map(|&by| figures::rounded(by)).collect::<Vec<_>>())
            .named(name)
            .coloured(colour)
            .written(moved.iter().map(|by| format!("{by:.2}")), "outside")
            .hover(moved.iter().map(|by| format!("{name}: {by:.0e}")))
            .unclipped()
    });
    let panel = Panel::new(
        "how far an output moves when tokens 0 and 4 are exchanged",
        Axis::across(&tokens, 12),
        Axis::numbers(1.15 * most),
        150.0,
    );
    Ok(Chart::new("Only mixed-up heads move the outputs between two exchanged tokens")
        .above(legend_room(names.into_iter(), 14.0))
        .grouped(Grouping::Beside)
        .panel(panel, bars)
        .figure()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_titles_are_true() {
        let [right, mixed] = moved().unwrap();
        assert!(right.iter().all(|&by| by < 1e-12), "{right:?}");
        assert!(mixed.iter().any(|&by| by > 0.05), "{mixed:?}");
        let said = swapped_axes(&Args::default()).unwrap().alternative().to_owned();
        let counts = "as meant, 48 of 144 pairs; axes swapped, 36 of 144 pairs";
        assert!(said.contains(counts), "{said}");
        let maps = not_transposed(&Args::default()).unwrap();
        assert_eq!(maps.tables().len(), 2);
    }
}
