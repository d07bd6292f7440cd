use crate::Instructions;
use crate::bytes::{inputs, place};

use super::*;

/// All products of a word of 4 bits a field by a token.
struct Products {
    word: u32,
    token: [i32; 8],
}

impl WithPairs for Products {
    type Output = Vec<f32>;

    fn with_pairs<P: Pairs>(self, simd: P) -> Vec<f32> {
        let words = simd.splat_u32s(self.word);
        let mut sums = simd.splat_i32s(7);
        for nth in 0..4 {
            let fields = simd.moved(words, 4 * nth as u32);
            let fields = simd.and_u32s(fields, simd.splat_u32s(0x000f_000f));
            let entries = inputs::<8>(nth).map(|k| self.token[k]);
            sums = simd.add_products(sums, fields, pair(entries));
        }
        pulp::bytemuck::cast_slice(&[simd.floats(sums)]).to_vec()
    }
}

#[test]
fn every_lane_has_the_sum_of_all_products() {
    for levels in [[15; 8], [1, 2, 3, 5, 8, 13, 0, 11]] {
        for token in [[-32_767; 8], [9, -300, 1, 32_767, 0, -1, 70, -20_000]] {
            let levels_in_a_word = (0..8).map(|k| levels[k] << place(k));
            let word = levels_in_a_word.fold(0, |word, level| word | level);
            let products = levels.iter().zip(token).map(|(u, q)| *u as i32 * q);
            let expected = 7 + products.sum::<i32>();
            for instructions in Instructions::available() {
                let all = instructions.run_in_pairs(Products { word, token });
                assert!(all.iter().all(|sum| *sum == expected as f32), "{instructions}");
            }
        }
    }
}
