//! Directions in a space of vectors.

use attention::{Matrix, Rng, random_matrix};

/// So many random directions at right angles to one another, each of length 1.
///
/// # Shapes
/// The result is `[width, n]` with one direction per column, n ≤ width.
pub fn orthonormal(width: usize, n: usize, rng: &mut Rng) -> Matrix<f32> {
    let random: Matrix = random_matrix(width, n, 1.0, rng);
    random.qr().q().map(|x| x as f32)
}

#[cfg(test)]
mod tests {
    use attention::SeedableRng;

    use super::*;

    #[test]
    fn directions_are_of_length_1_and_at_right_angles() {
        let rng = &mut Rng::seed_from_u64(3);
        for n in [1, 16, 48] {
            let found = orthonormal(48, n, rng);
            assert_eq!(found.shape(), (48, n));
            let off = found.transpose() * &found - Matrix::identity(n, n);
            assert!(off.amax() < 1e-6, "{n}: {}", off.amax());
        }
        assert_ne!(orthonormal(4, 2, rng), orthonormal(4, 2, rng));
    }
}
