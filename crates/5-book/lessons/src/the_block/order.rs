//! Where heads look that are asked for the token before, with positions and without.

use anyhow::Result;
use attention::{Mask, Matrix};
use figures::{Chart, Figure, share_map};

use super::before::{Kind, Model, N_TOKENS, trained};
use crate::Args;
use crate::numbers::mean;

/// What the head of a trained model that gives most to the token before attends to in a
/// sequence of different tokens, and how much that is on average.
///
/// # Errors
/// None; the sizes fit.
pub fn looks(model: &Model) -> Result<(Matrix, f64)> {
    let ids: Vec<usize> = (0..N_TOKENS).collect();
    let x = model.embedding.forward(&ids, N_TOKENS)?;
    let maps = model.stack.forward(x, &Mask::None)?.attn.swap_remove(0);
    let before = |map: &Matrix| mean((1..N_TOKENS).map(|t| map[(t, t - 1)]));
    let maps = maps.into_iter().map(|map| (before(&map), map));
    let (weight, map) = maps
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .unwrap_or((0.0, Matrix::zeros(N_TOKENS, N_TOKENS)));
    Ok((map, weight))
}

pub(super) fn figure(_: &Args) -> Result<Figure> {
    let tokens: Vec<String> =
        (b'a'..).take(N_TOKENS).map(|letter| char::from(letter).to_string()).collect();
    let names = Kind::ALL.map(|(_, name)| format!("positions: {name}"));
    let title = "With positions, a head learns to look at the token before";
    let mut chart = Chart::grid(title, &names, &tokens, &tokens);
    for (nth, (kind, _)) in Kind::ALL.into_iter().enumerate() {
        let (map, _) = looks(&trained(kind, 0)?)?;
        let mark = share_map::trace(&map, &tokens, &tokens).on(nth).named(&names[nth]);
        chart = chart.marks([mark]);
    }
    Ok(chart.figure()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_positions_show_the_token_before() {
        let [none, sinusoidal, learned] =
            Kind::ALL.map(|(kind, _)| looks(&trained(kind, 0).unwrap()).unwrap().1);
        assert!(
            none < 0.35 && sinusoidal > 0.6 && learned > 0.6,
            "{none} {sinusoidal} {learned}"
        );
    }
}
