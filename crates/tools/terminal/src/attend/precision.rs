//! Which of the two precisions it is.

use attention::Real;

/// Whether `T` is the smaller of the two.
pub fn is_f32<T: Real>() -> bool {
    size_of::<T>() == size_of::<f32>()
}
