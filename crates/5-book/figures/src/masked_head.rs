//! A mask, and a head's map without it and with it.

use attention::Matrix;

use crate::chart::Chart;
use crate::grid::Grid;
use crate::head_maps::{self, COLOUR_BAR, scale_end, scaled};
use crate::marks::by_cell;
use crate::mask_maps::{self, Named};
use crate::share_map::frame;
use crate::{Figure, Heads, Result};

/// A head on some tokens, without a mask and with one.
#[derive(Debug, Clone, Copy)]
pub struct MaskedHead<'a> {
    /// The number of the head.
    pub number: usize,
    /// True where a query may attend to a key. `[n, n]`
    pub allowed: &'a Matrix<bool>,
    /// The map without the mask, and the map with it. `[n, n]` each
    pub maps: &'a [Matrix; 2],
    /// The query whose row is framed.
    pub query: usize,
    /// In a live figure, the control whose mask is painted on the second map.
    pub painted: &'a str,
}

/// The head's map without the mask, and with it, where blocked pairs are left out and a live
/// figure's reader paints.
///
/// # Errors
/// [`Error::Sizes`](crate::Error::Sizes) for no tokens, or a mask or map of another shape;
/// [`Error::Entry`](crate::Error::Entry) for an entry outside 0 to 1.
pub fn masked_head<S: AsRef<str>>(
    title: impl Into<String>,
    tokens: &[S],
    MaskedHead { number, allowed, maps, query, painted }: MaskedHead,
) -> Result<Figure> {
    let names = ["without a mask", "with the mask"];
    let names = names.map(|name| format!("head {number} {name}"));
    let heads =
        Heads::of_tokens(maps, tokens)?.called(&names.each_ref().map(String::as_str))?;
    attention::Error::expect_shape("the mask", maps[0].shape(), allowed.shape())?;
    let mask = Named { name: "may attend", allowed };
    let most = scale_end(&heads);
    let [queries, keys] = [&heads.queries, &heads.keys];
    let grid = Grid {
        names: vec![names[0].clone(), format!("{}: press or paint", names[1])],
        rows: queries,
        columns: keys,
        above: COLOUR_BAR,
    };
    let sketches = [
        mask_maps::sketched(std::slice::from_ref(&mask), queries),
        head_maps::sketched(&heads, most),
    ];
    let tables = (0..2).map(|nth| head_maps::table(&heads, nth));
    let [without, with] = [0, 1].map(|nth| {
        let map = &maps[nth];
        head_maps::trace(&heads, nth, nth)
            .text_size(12)
            .lettered(by_cell(map.shape(), |i, j| in_short(map[(i, j)])))
    });
    // A pair that is blocked is no pair with a share of 0.
    let with = with.without(|i, j| !allowed[(i, j)]);
    let blocked = mask.blocked(1, queries, keys).paints(painted);
    let frames = [0, 1].map(|nth| frame([0, keys.len() - 1], [query; 2]).on(nth));
    Chart::new(title)
        .laid_out(grid.layouts().map(|layout| scaled(layout, most)))
        .marks([without, with, blocked].into_iter().chain(frames))
        .says(format!(
            "Heat maps of a head without a mask and with it. In {}, the query may attend to \
             the key. {}",
            mask.counted(),
            heads.strongest()
        ))
        .sketch(sketches.join("\n\n"))
        .tables(std::iter::once(mask.table(queries, keys)).chain(tables))
        .figure()
}

/// A share to two decimals, and nothing where there is hardly any.
fn in_short(share: f64) -> String {
    match share {
        0.995.. => "1".to_owned(),
        0.045.. => format!("{share:.2}").split_off(1),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_figure;

    #[test]
    fn a_causal_mask_on_three_tokens() {
        let allowed = Matrix::from_fn(3, 3, |i, j| j <= i);
        let maps = [
            Matrix::from_row_slice(3, 3, &[0.2, 0.5, 0.3, 0.1, 0.3, 0.6, 0.5, 0.3, 0.2]),
            Matrix::from_row_slice(
                3,
                3,
                &[1.0, 0.0, 0.0, 0.25, 0.75, 0.0, 0.5, 0.3, 0.2],
            ),
        ];
        let it = MaskedHead {
            number: 7,
            allowed: &allowed,
            maps: &maps,
            query: 2,
            painted: "mask",
        };
        assert_figure!(
            masked_head("What is left of head 7", &["she", "reads", "."], it).unwrap()
        );
    }

    #[test]
    fn a_mask_of_another_shape_is_refused() {
        let (allowed, map) = (Matrix::from_element(2, 3, true), Matrix::identity(2, 2));
        let maps = [map.clone(), map];
        let it = MaskedHead {
            number: 0,
            allowed: &allowed,
            maps: &maps,
            query: 0,
            painted: "mask",
        };
        insta::assert_snapshot!(masked_head("", &["a", "b"], it).unwrap_err(), @"the mask has shape (2, 3), expected (2, 2)");
    }
}
