//! What a model that writes reads again: the keys and values of earlier tokens.

use anyhow::Result;
use attention::Matrix;
use figures::{Chart, Figure, Mark, by_cell, palette};

use super::count::uses;
use crate::args::Args;

/// How many tokens are written.
pub const N_WRITTEN: usize = 6;

/// Which query, key and value moves the newest output at each step, as maps: strong where
/// it is new, and faint where it comes from the cache.
pub(super) fn figure(_: &Args) -> Result<Figure> {
    let uses = uses(N_WRITTEN)?;
    let names = ["query", "key", "value"];
    let named = |what: &str| (0..N_WRITTEN).map(|nth| format!("{what}{nth}")).collect();
    let (steps, tokens): (Vec<String>, Vec<String>) = (named("step "), named(""));
    let map = |(which, name): (usize, &str)| {
        let strength = |step: usize, token: usize| match uses[which][(step, token)] {
            false => 0.0,
            true if step == token => 1.0,
            true => 0.4,
        };
        let shape = uses[which].shape();
        let hover = by_cell(shape, |step, token| {
            let verb = if uses[which][(step, token)] { "moves" } else { "does not move" };
            format!("step {step}: the {name} of token {token} {verb} the output")
        });
        Mark::cells(by_cell(shape, strength), 1)
            .on(which)
            .named(name)
            .scaled(palette::shares(), [0.0, 1.0])
            .hover(hover)
    };
    let title = format!(
        "Writing {N_WRITTEN} tokens: a query moves one output, its own (strong); keys and \
         values move all later ones too (faint), so they are cached"
    );
    let headed = names.map(|name| format!("{name} of token …"));
    Ok(Chart::grid(title, &headed, &steps, &tokens)
        .marks(names.into_iter().enumerate().map(map))
        .says("Three maps of steps by tokens: the diagonal for queries, all tokens up to the \
               step for keys and values.")
        .figure()?)
}

/// In how many steps each token's row is used.
pub fn n_steps(uses: &Matrix<bool>) -> Vec<usize> {
    uses.column_iter().map(|steps| steps.iter().filter(|is| **is).count()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_is_true() {
        let [queries, keys, values] = uses(N_WRITTEN).unwrap().map(|it| n_steps(&it));
        assert!(queries.iter().all(|&n| n <= 1), "{queries:?}");
        for used in [keys, values] {
            assert!(used[1..].iter().rev().eq(&[1, 2, 3, 4, 5]), "{used:?}");
        }
    }
}
