//! Deep stacks, with their parts and without.

use lessons::numbers::ends;
use lessons::the_block::depth::{D_FF, D_MODEL, Depth, N_BLOCKS, Setting, measure};

use crate::quote::{Table, assert_quote, values};

const SEEDS: u64 = 10;

#[test]
fn gradients_and_tokens_through_24_blocks() {
    let mut table = Table::new([
        ("", -26),
        ("gradient", 10),
        ("least", 10),
        ("most", 10),
        ("spread", 10),
        ("apart", 10),
    ]);
    let mut said = vec![
        ("deep_blocks".to_owned(), N_BLOCKS.to_string()),
        ("deep_seeds".to_owned(), SEEDS.to_string()),
        ("deep_width".to_owned(), D_MODEL.to_string()),
        ("deep_ff".to_owned(), D_FF.to_string()),
    ];
    for setting in Setting::all() {
        let runs: Vec<Depth> =
            (0..SEEDS).map(|seed| measure(&setting, seed).unwrap()).collect();
        let of = |number: fn(&Depth) -> f64| ends(runs.iter().map(number));
        let [least, gradient, most] = of(|it| it.gradients[0]);
        let spread = of(|it| it.scales[N_BLOCKS])[1];
        let [_, apart, most_apart] = of(|it| it.apart[N_BLOCKS]);
        if !setting.residual {
            assert!(most_apart < 1e-14, "{}: {most_apart:e}", setting.name());
        }
        let cells = [gradient, least, most, spread].map(size);
        let [gradient, least, most, spread] = cells;
        let apart = if apart < 1e-14 { "0".to_owned() } else { size(apart) };
        table.row([setting.name().to_owned(), gradient, least, most, spread, apart]);
    }
    // How early: the first block after which tokens are the same but for rounding.
    let neither = Setting::all().nth(3).unwrap();
    let one = measure(&neither, 0).unwrap();
    let gone = one.apart.iter().position(|&apart| apart < 1e-12).unwrap();
    said.push(("deep_gone".to_owned(), gone.to_string()));
    assert_quote!("the_block_depth", table.text());
    assert_quote!("the_block_depth_values", values(&said));
}

/// `0.31`, `5.9`, `420,000` as `4e5`, and what is small as `9e-10`.
fn size(x: f64) -> String {
    match x {
        0.1..1.0 => format!("{x:.2}"),
        1.0..100.0 => format!("{x:.1}"),
        _ => format!("{x:.0e}"),
    }
}
