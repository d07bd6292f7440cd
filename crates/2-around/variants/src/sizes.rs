//! The sizes of a layer, shared heads included.

use attention::{Dims, MultiplyAdds, Result};

use crate::Groups;

/// The sizes of a layer whose heads may share keys and values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// The sizes of the layer with a head of keys and values for each query head.
    pub dims: Dims,
    /// How many heads of keys and values there are.
    pub groups: Groups,
}

impl Sizes {
    /// Sizes of a layer with `n_kv_heads` heads of keys and values.
    ///
    /// # Errors
    /// As [`Groups::new`].
    pub fn new(dims: Dims, n_kv_heads: usize) -> Result<Self> {
        Ok(Self { dims, groups: Groups::new(dims.n_heads(), n_kv_heads)? })
    }

    /// The shapes of W^Q, W^K, W^V and W^O.
    pub fn shapes(&self) -> [(usize, usize); 4] {
        let (dims, g) = (self.dims, self.groups.n_kv_heads());
        [
            (dims.d_model(), dims.n_heads() * dims.d_k()),
            (dims.key_width(), g * dims.d_k()),
            (dims.value_width(), g * dims.d_v()),
            (dims.concat_width(), dims.d_model()),
        ]
    }

    /// The widths of a cache's rows: `g · d_k` and `g · d_v`.
    pub fn cache_widths(&self) -> [usize; 2] {
        let g = self.groups.n_kv_heads();
        [g * self.dims.d_k(), g * self.dims.d_v()]
    }

    /// The multiply-adds of a pass: W^K and W^V are applied once per head of keys and values.
    ///
    /// # Errors
    /// [`attention::Error::TooLarge`] if a `u64` cannot hold the count.
    pub fn multiply_adds(&self, n_q: usize, n_kv: usize) -> Result<MultiplyAdds> {
        let (dims, g) = (self.dims, self.groups.n_kv_heads());
        let (h, d_k, d_v) = (dims.n_heads(), dims.d_k(), dims.d_v());
        MultiplyAdds::of_products([
            ("query W^Q", [h, n_q, dims.d_model(), d_k]),
            ("key W^K", [g, n_kv, dims.key_width(), d_k]),
            ("value W^V", [g, n_kv, dims.value_width(), d_v]),
            ("Q Kᵀ", [h, n_q, d_k, n_kv]),
            ("A V", [h, n_q, n_kv, d_v]),
            ("concat W^O", [1, n_q, dims.concat_width(), dims.d_model()]),
        ])
    }
}
