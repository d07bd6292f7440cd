//! 8 × 8 numbers turned: columns become rows.

#[cfg(target_arch = "x86_64")]
mod avx;

use pulp::Simd;

/// Numbers that are turned together.
pub const WIDTH: usize = 8;

/// 8 rows of 8 numbers.
pub type Square = [[f32; WIDTH]; WIDTH];

/// Number j of row i becomes number i of row j.
#[inline(always)]
pub fn turn_8<S: Simd>(simd: S, rows: &Square) -> Square {
    #[cfg(target_arch = "x86_64")]
    if let Some(v3) = avx::of(simd) {
        return avx::turn_8(v3, rows);
    }
    let _ = simd;
    let mut turned = [[0.0; WIDTH]; WIDTH];
    for i in 0..WIDTH {
        for j in 0..WIDTH {
            turned[j][i] = rows[i][j];
        }
    }
    turned
}

/// 8 numbers of each of 8 rows, from number `first` on.
#[inline(always)]
pub fn square(from: &[&[f32]; WIDTH], first: usize) -> Square {
    let mut rows = [[0.0; WIDTH]; WIDTH];
    for i in 0..WIDTH {
        rows[i].copy_from_slice(&from[i][first..][..WIDTH]);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Instructions;
    use pulp::WithSimd;

    #[test]
    fn rows_become_columns() {
        struct Op<'a>(&'a Square);
        impl WithSimd for Op<'_> {
            type Output = Square;
            #[inline(always)]
            fn with_simd<S: Simd>(self, simd: S) -> Square {
                turn_8(simd, self.0)
            }
        }
        let numbers: Vec<f32> = (0..8 * 11).map(|i| i as f32).collect();
        let rows = square(&std::array::from_fn(|i| &numbers[11 * i..][..11]), 2);
        for instructions in Instructions::available() {
            let turned = instructions.run(Op(&rows));
            for i in 0..8 {
                for j in 0..8 {
                    assert_eq!(turned[j][i], (2 + 11 * i + j) as f32, "{instructions}");
                }
            }
        }
    }
}
