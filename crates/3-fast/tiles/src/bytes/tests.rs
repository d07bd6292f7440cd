use attention::{Matrix, Rng, SeedableRng, random_matrix};
use rand::RngExt;

use super::*;

/// A weight in two panels, as numbers `[d_in][16]` beside its words and scales.
struct Case {
    words: [Vec<[u32; LANES]>; 2],
    half: [Vec<[u32; LANES]>; 2],
    single: [Vec<[[f32; 2]; LANES]>; 2],
    numbers: Vec<[f64; OUTPUTS]>,
}

/// Scales of 2⁻ⁿ and offsets of −1: float16 has both.
fn case(is_four_bits: bool, d_in: usize, block: usize, rng: &mut Rng) -> Case {
    let fields = if is_four_bits { 8 } else { 4 };
    let most: u32 = if is_four_bits { 15 } else { 255 };
    let mut case = Case {
        words: [(); 2].map(|()| vec![[0; LANES]; d_in / fields]),
        half: [(); 2].map(|()| vec![[0; LANES]; d_in / block]),
        single: [(); 2].map(|()| vec![[[0.0; 2]; LANES]; d_in / block]),
        numbers: vec![[0.0; OUTPUTS]; d_in],
    };
    for j in 0..OUTPUTS {
        let (panel, lane) = (j / LANES, j % LANES);
        for b in 0..d_in / block {
            let exponent = rng.random_range(1..6u32);
            case.half[panel][b][lane] = (15 - exponent) << 10 | 0xbc00 << 16;
            case.single[panel][b][lane] = [0.5f32.powi(exponent as i32), -1.0];
        }
        for p in 0..d_in {
            let level = rng.random_range(0..=most);
            case.words[panel][p / fields][lane] |= level << place(p % fields);
            let [scale, offset] = case.single[panel][p / block][lane];
            case.numbers[p][j] = f64::from(scale) * f64::from(level) + f64::from(offset);
        }
    }
    case
}

/// The exact products of the rounded tokens, to the last digits of f32.
#[test]
fn a_tile_is_the_product_of_rounded_tokens() {
    let Some(bytes) = Bytes::with(Instructions::best()) else {
        println!("no VNNI here: nothing to compare");
        return;
    };
    let rng = &mut Rng::seed_from_u64(4);
    for (is_four_bits, d_in, block) in
        [(true, 64, 32), (true, 48, 16), (false, 96, 32), (false, 16, 16)]
    {
        let case = case(is_four_bits, d_in, block, rng);
        let words = case.words.each_ref().map(Vec::as_slice);
        let half = PanelScales::Half(case.half.each_ref().map(Vec::as_slice));
        let single = PanelScales::Single(case.single.each_ref().map(Vec::as_slice));
        // Whole numbers up to 127 are rounded to themselves.
        let mut x: Matrix<f32> = random_matrix(19, d_in, 60.0, rng);
        x.apply(|x| *x = x.round().clamp(-127.0, 127.0));
        for p in (0..d_in).step_by(block) {
            x.column_mut(p).fill(127.0);
        }
        let mut rounded = Rounded::default();
        rounded.round(&x, block, Instructions::best()).unwrap();
        for scales in [half, single] {
            let panels = LevelPanels { is_four_bits, words, scales };
            for (group, first) in [(0, 0), (1, TOKENS)] {
                let outs = bytes.tile(panels, rounded.group(group));
                for (j, out) in outs.iter().enumerate() {
                    for (t, &out) in out.iter().enumerate() {
                        let expected: f64 = if first + t >= 19 {
                            0.0
                        } else {
                            let of = |p: usize| {
                                f64::from(x[(first + t, p)]) * case.numbers[p][j]
                            };
                            (0..d_in).map(of).sum()
                        };
                        let apart = (f64::from(out) - expected).abs();
                        assert!(
                            apart <= 1e-6 * expected.abs().max(1e4),
                            "{j}, {t}: {out} {expected}"
                        );
                    }
                }
            }
        }
    }
}
