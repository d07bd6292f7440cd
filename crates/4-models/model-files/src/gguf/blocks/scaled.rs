//! A block as it is understood: small whole numbers under scales.

/// M levels q, and scale and offset of each of G groups.
pub(super) type Block<const M: usize, const G: usize> = ([u8; M], [[f32; 2]; G]);

/// `scale · q + offset`.
pub(super) fn with_offset<const M: usize, const G: usize>(
    (q, scales): Block<M, G>,
) -> [f32; M] {
    std::array::from_fn(|i| {
        let [scale, offset] = scales[i / (M / G)];
        scale * f32::from(q[i]) + offset
    })
}

/// `scale · (q − centre)`: the same number as with the offset, and of 0 the sign that the
/// scale has.
pub(super) fn around<const M: usize, const G: usize>(
    centre: f32,
    (q, scales): Block<M, G>,
) -> [f32; M] {
    std::array::from_fn(|i| scales[i / (M / G)][0] * (f32::from(q[i]) - centre))
}
