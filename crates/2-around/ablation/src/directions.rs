//! Directions of a concatenation, what is to be subtracted to be without them, and layers that are
//! without them in their weights.

use crate::Replacement;
use attention::{
    Dims, Error, LayerParameters, Linear, Matrix, Real, Result, Rng, RowVector,
    random_matrix,
};

/// Directions of a concatenation at right angles to one another, each of length 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Directions {
    /// One per column, `[h · d_v, n]`.
    columns: Matrix<f32>,
}

impl Directions {
    /// Those of a head: the axes that are its columns.
    ///
    /// # Errors
    /// [`Error::NoSuchIndex`].
    pub fn of_head(dims: Dims, head: usize) -> Result<Self> {
        Error::expect_index("head", head, dims.n_heads())?;
        Ok(Self::axes(dims, head))
    }

    /// Those of each head in turn.
    pub fn of_heads(dims: Dims) -> impl Iterator<Item = Self> {
        (0..dims.n_heads()).map(move |head| Self::axes(dims, head))
    }

    fn axes(dims: Dims, head: usize) -> Self {
        let (width, d_v) = (dims.concat_width(), dims.d_v());
        let is_axis = |i, j| f32::from(u8::from(i == head * d_v + j));
        Self { columns: Matrix::from_fn(width, d_v, is_axis) }
    }

    /// Those of all heads together.
    pub fn all(dims: Dims) -> Self {
        let width = dims.concat_width();
        Self { columns: Matrix::identity(width, width) }
    }

    /// As many as a head has, drawn at random.
    pub fn random(dims: Dims, rng: &mut Rng) -> Self {
        Self { columns: orthonormal(dims.concat_width(), dims.d_v(), rng) }
    }

    /// The directions, one per column, `[h · d_v, n]`.
    pub fn columns(&self) -> &Matrix<f32> {
        &self.columns
    }

    // ANCHOR: taken
    /// What is to be subtracted from the concatenation so that these directions of it are
    /// replaced.
    ///
    /// # Shapes
    /// `concat` and the result are `[n_examples, h · d_v]`.
    pub fn taken(
        &self,
        concat: &Matrix<f32>,
        replacement: Replacement,
        rng: &mut Rng,
    ) -> Matrix<f32> {
        let part = concat * &self.columns; // [n_examples, n]
        (&part - replacement.instead(&part, rng)) * self.columns.transpose()
    }
    // ANCHOR_END: taken

    /// The same in the weights: a W^O that reads a constant in these directions, whatever
    /// the concatenation holds there. Of a head's directions it keeps rows that are exactly
    /// zero.
    ///
    /// # Shapes
    /// `w_o` is `[h · d_v, d_model]` and so is the result; `constant` is `[n]`, an entry per
    /// direction, and zeros if there is none.
    ///
    /// # Errors
    /// [`attention::Error::Shape`] for another width.
    pub fn replaced_in<T: Real>(
        &self,
        w_o: &Linear<T>,
        constant: Option<&RowVector<T>>,
    ) -> Result<Linear<T>> {
        let (width, n) = self.columns.shape();
        let shape = (width, w_o.d_out());
        attention::Error::expect_shape("W^O", shape, w_o.weight.shape())?;
        let directions = self.columns.map(|x| T::of(f64::from(x)));
        let read = directions.tr_mul(&w_o.weight); // [n, d_model]
        let mut bias = w_o.bias.clone();
        if let Some(constant) = constant {
            let what = "what a head is replaced by";
            attention::Error::expect_shape(what, (1, n), constant.shape())?;
            let zeros = || RowVector::zeros(w_o.d_out());
            *bias.get_or_insert_with(zeros) += constant * &read;
        }
        Linear::new(&w_o.weight - directions * read, bias)
    }
}

/// So many random directions at right angles to one another, each of length 1.
///
/// # Shapes
/// The result is `[width, n]` with one direction per column, n ≤ width.
pub fn orthonormal(width: usize, n: usize, rng: &mut Rng) -> Matrix<f32> {
    let random: Matrix = random_matrix(width, n, 1.0, rng);
    random.qr().q().map(|x| x as f32)
}

/// A layer in which some heads are replaced by constants: by zeros, or by what they say on
/// average.
///
/// What a head says goes through its rows of W^O alone. So a head that always said `m` is
/// a layer whose rows are zero, and whose bias has `m W_i^O` more. No stage need know of
/// it.
///
/// # Shapes
/// `heads` has an index and a replacement for each head; `None` is zeros, a replacement is
/// `[d_v]`.
///
/// # Errors
/// [`Error::NoSuchIndex`](attention::Error::NoSuchIndex); [`attention::Error`] for
/// a replacement of another width.
///
/// # Source
/// Michel et al. 2019, section 2.2 (zeros).
pub fn ablated_layer<T: Real>(
    parameters: &LayerParameters<T>,
    heads: &[(usize, Option<RowVector<T>>)],
) -> Result<LayerParameters<T>> {
    let w_o = ablated_output(parameters.w_o(), parameters.dims(), heads)?;
    LayerParameters::new(parameters.heads().to_vec(), w_o)
}

/// The same for W^O alone, all of a layer that changes.
///
/// # Shapes
/// `w_o` is `[h · d_v, d_model]`, a replacement `[d_v]`.
///
/// # Errors
/// As [`ablated_layer`].
pub fn ablated_output<T: Real>(
    w_o: &Linear<T>,
    dims: Dims,
    heads: &[(usize, Option<RowVector<T>>)],
) -> Result<Linear<T>> {
    heads.iter().try_fold(w_o.clone(), |w_o, (head, constant)| {
        let directions = Directions::of_head(dims, *head)?;
        directions.replaced_in(&w_o, constant.as_ref())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use attention::SeedableRng;

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
