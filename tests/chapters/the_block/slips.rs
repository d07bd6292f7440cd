//! Small slips in a norm, and when they show.

use attention::{Matrix, Rng, SeedableRng, random_matrix};
use block::LayerNorm;

use crate::quote::{assert_quote, values};

const EPS: f64 = 1e-5;

fn spread(token: &Matrix) -> f64 {
    (token.norm_squared() / token.len() as f64).sqrt()
}

/// One token with mean 0 and this spread.
fn token(d_model: usize, size: f64) -> Matrix {
    let mut x: Matrix = random_matrix(1, d_model, 1.0, &mut Rng::seed_from_u64(1));
    x.add_scalar_mut(-x.mean());
    let factor = size / spread(&x);
    x * factor
}

#[test]
fn slips_that_show_on_some_tokens_alone() {
    // The variance divides by n − 1.
    let too_small = |d_model: usize| {
        let x = token(d_model, 1.0);
        let norm = LayerNorm { eps: 0.0, ..LayerNorm::identity(d_model) };
        let n = d_model as f64;
        let wrong = &x / (x.norm_squared() / (n - 1.0)).sqrt();
        1.0 - wrong.norm() / norm.forward(&x).unwrap().norm()
    };
    // ε is added to the root.
    let small = 1e-3;
    let x = token(384, small);
    let inside = spread(&LayerNorm::identity(384).forward(&x).unwrap());
    let outside = spread(&(&x / (spread(&x) + EPS)));
    let two = |part: f64| format!("{:.2} %", 100.0 * part);
    let said = [
        ("n_minus_1_narrow", format!("{:.0} %", 100.0 * too_small(4))),
        ("n_minus_1_wide", two(too_small(384))),
        ("small_spread", small.to_string()),
        ("eps_inside", format!("{inside:.2}")),
        ("eps_outside", format!("{outside:.2}")),
    ];
    assert_quote!("the_block_slips", values(&said));
}
