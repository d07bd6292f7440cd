//! Controls that differ from what they control in one thing: as many heads of the same layers
//! in an order, and a window with as many kept tokens.

use attention::{Mask, Matrix, Rng, SeedableRng};
use rand::seq::SliceRandom;
use variants::Window;

use super::HeadOfLayer;

/// The same order with the heads of each layer exchanged at random among the places of that
/// layer: so many first heads are of each layer as before.
pub fn shuffled_within_layers(order: &[HeadOfLayer], seed: u64) -> Vec<HeadOfLayer> {
    let mut shuffled = order.to_vec();
    shuffled.shuffle(&mut Rng::seed_from_u64(seed));
    let another = |(layer, _): &HeadOfLayer| {
        let at = shuffled.iter().position(|(of, _)| of == layer);
        at.map(|at| shuffled.remove(at))
    };
    order.iter().filter_map(another).collect()
}

/// The control for a window that keeps the first tokens: a causal window of `width` keys that
/// keeps as many others, drawn without replacement from the first `width` tokens.
///
/// # Errors
/// A window of no keys.
pub fn window_with_others(
    width: usize,
    n_kept: usize,
    n_tokens: usize,
    seed: u64,
) -> attention::Result<Mask> {
    let window = Window { right: Some(0), ..Window::last(width)? };
    let mut kept: Vec<usize> = (n_kept..width).collect();
    kept.shuffle(&mut Rng::seed_from_u64(seed));
    kept.truncate(n_kept);
    let sees = |i: usize, j: usize| {
        window.sees(i as i64, j as i64) || (j <= i && kept.contains(&j))
    };
    Ok(Mask::Allowed(Matrix::from_fn(n_tokens, n_tokens, sees)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const N_HEADS: usize = 9;

    fn all() -> Vec<HeadOfLayer> {
        (0..30).flat_map(|layer| (0..N_HEADS).map(move |i| (layer, i))).collect()
    }

    /// What the first half of an order costs, and what it costs in twenty orders that are
    /// shuffled within layers.
    fn of_half(cost: impl Fn(HeadOfLayer) -> f64) -> (f64, Vec<f64>) {
        let mut order = all();
        order.sort_by(|&a, &b| cost(a).total_cmp(&cost(b)));
        let half =
            |order: &[HeadOfLayer]| order[..135].iter().map(|&head| cost(head)).sum();
        let shuffled = |seed| half(&shuffled_within_layers(&order, seed));
        (half(&order), (0..20).map(shuffled).collect())
    }

    /// Heads that differ are told apart, and layers that differ are not taken for heads.
    #[test]
    fn an_order_is_told_from_chance_by_its_heads_and_never_by_its_layers() {
        let (found, shuffled) = of_half(|(_, head)| head as f64);
        assert!(shuffled.iter().all(|&cost| cost > 1.2 * found), "{found} {shuffled:?}");
        let (found, shuffled) = of_half(|(layer, _)| layer as f64);
        assert!(shuffled.iter().all(|&cost| cost == found), "{found} {shuffled:?}");
    }

    #[test]
    fn a_shuffled_order_has_as_many_of_each_layer_wherever_it_is_cut() {
        let mut order = all();
        order.shuffle(&mut Rng::seed_from_u64(7));
        let shuffled = shuffled_within_layers(&order, 8);
        assert_ne!(shuffled, order);
        let layers =
            |order: &[HeadOfLayer]| order.iter().map(|(layer, _)| *layer).collect();
        let (a, b): (Vec<_>, Vec<_>) = (layers(&order), layers(&shuffled));
        assert_eq!(a, b);
        let mut sorted = shuffled;
        sorted.sort_unstable();
        assert_eq!(sorted, all());
    }
}
