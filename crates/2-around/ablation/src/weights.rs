//! Layers whose heads are ablated in the weights.

use attention::{Dims, LayerParameters, Linear, Real, Result, RowVector};

use crate::Directions;

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
