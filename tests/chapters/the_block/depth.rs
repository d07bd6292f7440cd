//! Deep stacks, with their parts and without, as they begin and with smaller parameters.

use attention::{Matrix, Rng, SeedableRng, random_matrix};
use lessons::numbers::ends;
use lessons::the_block::depth::{
    D_FF, D_MODEL, Depth, N_BLOCKS, N_SEEDS, Place, Setting, apart, measure,
};

use crate::quote::{assert_quote, values};

#[test]
fn gradients_and_tokens_through_24_blocks() {
    let mut post_apart = String::new();
    for size in [1.0, 0.5] {
        for setting in Setting::all(size) {
            let runs: Vec<Depth> =
                (0..N_SEEDS).map(|seed| measure(&setting, seed).unwrap()).collect();
            let of = |number: fn(&Depth) -> f64| ends(runs.iter().map(number));
            let (gradients, aparts) =
                (of(|it| it.gradients[0]), of(|it| it.apart[N_BLOCKS]));
            match setting.residual {
                false => {
                    assert!(aparts[2] < 1e-14, "{}: {:e}", setting.name(), aparts[2])
                }
                true if size == 0.5 => {
                    assert!(aparts[0] > 0.3, "{}: {aparts:?}", setting.name());
                    assert!(gradients[0] > 0.4 && gradients[2] < 2.7, "{gradients:?}");
                }
                true => {}
            }
            if setting == Setting::deep(true, Place::After, 1.0) {
                post_apart = format!("{:.0e}", aparts[1]);
            }
        }
    }
    // Sharper heads do not keep tokens apart either.
    for size in [2.0, 4.0, 8.0] {
        let setting = Setting::deep(false, Place::Before, size);
        let apart = |seed| measure(&setting, seed).unwrap().apart[N_BLOCKS];
        let most = (0..N_SEEDS).map(apart).fold(0.0, f64::max);
        assert!(most < 1e-14, "{size}: {most:e}");
    }
    // How early: the first block after which tokens are the same but for rounding.
    let neither = Setting::all(1.0).nth(3).unwrap();
    let one = measure(&neither, 0).unwrap();
    let gone = one.apart.iter().position(|&apart| apart < 1e-12).unwrap();
    let quoted = [
        ("deep_blocks", N_BLOCKS.to_string()),
        ("deep_seeds", N_SEEDS.to_string()),
        ("deep_width", D_MODEL.to_string()),
        ("deep_ff", D_FF.to_string()),
        ("deep_gone", gone.to_string()),
        ("deep_post_apart", post_apart),
    ];
    assert_quote!("the_block_depth_values", values(&quoted));
}

/// The measure on tokens of which the answer is known: it falls to 0 where one token is put in
/// the place of all, and stays where they differ.
#[test]
fn apart_is_0_for_one_token_and_near_1_for_random_ones() {
    let rng = &mut Rng::seed_from_u64(1);
    let tokens: Matrix = random_matrix(8, D_MODEL, 1.0, rng);
    let same = Matrix::from_fn(8, D_MODEL, |_, j| tokens[(0, j)]);
    assert!(apart(&same) < 1e-15 && apart(&tokens) > 0.8);
    // Half of the way, half of the distance.
    let [half, nearer] =
        [0.5, 0.01].map(|part| apart(&(&same + (&tokens - &same) * part)));
    assert!(half < apart(&tokens) && nearer < 0.1 * half, "{half} {nearer}");
}
