use attention::{Matrix, Rng, SeedableRng};
use pulp::Scalar;
use rand::RngExt;

use super::*;

/// One lane at a time: what all others are compared with.
impl Lanes<OUTPUTS> for Scalar {
    type Simd = Self;
    type Sums = i32;
    const TAKES_BYTES: bool = true;

    fn simd(self) -> Self {
        self
    }

    fn nothing(self) -> i32 {
        0
    }

    fn add(self, sum: i32, levels: u32, four: i32) -> i32 {
        let products = levels.to_le_bytes().into_iter().zip(four.to_le_bytes());
        sum + products.map(|(u, q)| i32::from(u) * i32::from(q as i8)).sum::<i32>()
    }

    fn total(self, [all, _]: [i32; 2]) -> f32 {
        all as f32
    }
}

/// All ways to multiply bytes that this processor has.
fn ways() -> Vec<Bytes> {
    let all = Instructions::available().into_iter().flat_map(Bytes::available);
    all.chain([Bytes(Set::Scalar(Scalar))]).collect()
}

/// A weight in two panels, as numbers `[d_in][16]` beside its words and scales.
struct Case {
    words: [Vec<[u32; LANES]>; 2],
    half: [Vec<[u32; LANES]>; 2],
    single: [Vec<[[f32; 2]; LANES]>; 2],
    numbers: Vec<[f64; OUTPUTS]>,
}

/// Scales of 2⁻ⁿ and offsets of −1: float16 has both.
fn case(
    is_four_bits: bool,
    [d_in, block]: [usize; 2],
    mut level: impl FnMut(u32) -> u32,
) -> Case {
    let (fields, most) = if is_four_bits { (8, 15) } else { (4, 255) };
    let mut case = Case {
        words: [(); 2].map(|()| vec![[0; LANES]; d_in / fields]),
        half: [(); 2].map(|()| vec![[0; LANES]; d_in / block]),
        single: [(); 2].map(|()| vec![[[0.0; 2]; LANES]; d_in / block]),
        numbers: vec![[0.0; OUTPUTS]; d_in],
    };
    for j in 0..OUTPUTS {
        let (panel, lane) = (j / LANES, j % LANES);
        for b in 0..d_in / block {
            let exponent = 1 + (3 * b + j) as u32 % 5;
            case.half[panel][b][lane] = (15 - exponent) << 10 | 0xbc00 << 16;
            case.single[panel][b][lane] = [0.5f32.powi(exponent as i32), -1.0];
        }
        for p in 0..d_in {
            let level = level(most);
            case.words[panel][p / fields][lane] |= level << place(p % fields);
            let [scale, offset] = case.single[panel][p / block][lane];
            case.numbers[p][j] = f64::from(scale) * f64::from(level) + f64::from(offset);
        }
    }
    case
}

const SIZES: [(bool, [usize; 2]); 6] = [
    (true, [64, 32]),
    (true, [48, 16]),
    (true, [32, 32]),
    (false, [96, 32]),
    (false, [16, 16]),
    (false, [160, 32]),
];

/// Whole numbers up to 127 are rounded to themselves, and with these scales all sums are
/// exact: so are the products.
fn expect_exact(case: &Case, is_four_bits: bool, block: usize, x: &Matrix<f32>) {
    let words = case.words.each_ref().map(Vec::as_slice);
    let half = PanelScales::Half(case.half.each_ref().map(Vec::as_slice));
    let single = PanelScales::Single(case.single.each_ref().map(Vec::as_slice));
    let exact = |token: usize, j: usize| -> f64 {
        let numbers = case.numbers.iter().enumerate();
        let x = |p| if token < x.nrows() { f64::from(x[(token, p)]) } else { 0.0 };
        numbers.map(|(p, w)| x(p) * w[j]).sum()
    };
    let mut rounded = Rounded::default();
    rounded.round(x, block, Instructions::best()).unwrap();
    for bytes in ways() {
        for scales in [half, single] {
            let panels = LevelPanels { is_four_bits, words, scales };
            for token in 0..x.nrows().next_multiple_of(TOKENS) {
                let tile = bytes.tile(panels, rounded.group(token / TOKENS));
                for (j, tokens) in tile.iter().enumerate() {
                    let out = f64::from(tokens[token % TOKENS]);
                    assert_eq!(out, exact(token, j), "{bytes:?}, {token}, {j}");
                }
            }
        }
    }
}

#[test]
fn a_tile_is_the_product_of_rounded_tokens() {
    let rng = &mut Rng::seed_from_u64(4);
    for (is_four_bits, sizes) in SIZES {
        let case = case(is_four_bits, sizes, |most| rng.random_range(0..=most));
        let [d_in, block] = sizes;
        let mut x =
            Matrix::from_fn(19, d_in, |_, _| rng.random_range(-127..=127i32) as f32);
        for p in (0..d_in).step_by(block) {
            x.column_mut(p).fill(127.0);
        }
        expect_exact(&case, is_four_bits, block, &x);
    }
}

/// Where sums have 16 bits they would overflow or be cut here, if they could.
#[test]
fn the_largest_levels_and_entries_are_multiplied_exactly() {
    for (is_four_bits, sizes) in SIZES {
        let case = case(is_four_bits, sizes, |most| most);
        for x in [127.0, -127.0] {
            let x = Matrix::from_element(2, sizes[0], x);
            expect_exact(&case, is_four_bits, sizes[1], &x);
        }
    }
}

#[test]
fn an_entry_is_rounded_to_127_steps_and_a_block_that_is_not_finite_stays_so() {
    let mut x = Matrix::from_fn(1, 64, |_, p| p as f32 / 64.0 - 0.2);
    let mut rounded = Rounded::default();
    rounded.round(&x, 32, Instructions::best()).unwrap();
    let group = rounded.group(0);
    for (block, [scale, ..]) in group.scales.iter().enumerate() {
        let bytes = group.words[8 * block..][..8].iter();
        let bytes = bytes.flat_map(|[word, ..]| word.to_le_bytes());
        let entries = bytes.map(|byte| f32::from(byte as i8) * scale);
        let largest = x.columns(32 * block, 32).amax();
        assert!((scale - largest / 127.0).abs() < 1e-9);
        for (p, entry) in entries.enumerate() {
            assert!((entry - x[32 * block + p]).abs() <= 0.5001 * scale, "{block}, {p}");
        }
    }
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        x[40] = bad;
        rounded.round(&x, 32, Instructions::best()).unwrap();
        let group = rounded.group(0);
        let is_nan = [group.scales, group.sums].map(|of| [of[0][0], of[1][0]]);
        assert!(is_nan.iter().all(|of| of[0].is_finite() && of[1].is_nan()), "{bad}");
    }
}
