//! Directions of a concatenation, and what is to be subtracted to be without them.

use attention::{Dims, Error, Linear, Matrix, Real, Result, Rng, RowVector};

use crate::{Replacement, orthonormal};

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
