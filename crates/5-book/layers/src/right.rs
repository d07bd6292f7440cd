//! Right layers, which a test has to believe.

use attention::{Attended, Mask, Matrix, MultiHeadAttention, Real};
use fused_heads::FusedAttention;
use per_head::{NaiveAttention, PerHeadAttention, SumOfHeadsAttention};

use super::LayerFn;

/// A right layer, and why it is right.
pub struct Right {
    /// What it is called.
    pub name: &'static str,
    /// Why it is right.
    pub because: &'static str,
    /// The layer.
    pub layer: LayerFn,
}

/// The layers of the workspace, the definition first.
pub const RIGHT: [Right; 5] = [
    Right {
        name: "loops all the way down",
        because: "It is the definition, one entry after the other",
        layer: |w, q, k, v, mask| forward(&NaiveAttention::new(w.clone()), q, k, v, mask),
    },
    Right {
        name: "head by head, then concatenated and mixed",
        because: "It is the formula of the paper, in matrices",
        layer: |w, q, k, v, mask| {
            forward(&PerHeadAttention::new(w.clone()), q, k, v, mask)
        },
    },
    Right {
        name: "a sum of heads, each through its own rows of W^O",
        because: "A product with W^O is the sum of the products with its blocks of rows",
        layer: |w, q, k, v, mask| {
            forward(&SumOfHeadsAttention::new(w.clone()), q, k, v, mask)
        },
    },
    Right {
        name: "one wide projection, cut into heads",
        because: "Columns of a product do not mix, so the heads are blocks of columns",
        layer: |w, q, k, v, mask| forward(&FusedAttention::new(w), q, k, v, mask),
    },
    Right {
        name: "one wide projection in f32",
        because: "It is the same layer to about seven digits, and f32 has no more",
        layer: |w, q, k, v, mask| {
            forward(&FusedAttention::<f32>::new(&w.cast()), q, k, v, mask)
        },
    },
];

/// A stage in its own precision. What does not fit is said as a panic, which the test then
/// ends with.
fn forward<T: Real>(
    layer: &impl MultiHeadAttention<T>,
    query: &Matrix,
    key: &Matrix,
    value: &Matrix,
    mask: &Mask,
) -> Attended {
    let [q, k, v] = [query, key, value].map(|x| x.map(T::of));
    let found = layer.forward(&q, &k, &v, mask);
    let Attended { out, attn } =
        found.unwrap_or_else(|error| panic!("what it was given does not fit: {error}"));
    let back = |x: &Matrix<T>| x.map(T::to_f64);
    Attended { out: back(&out), attn: attn.iter().map(back).collect() }
}
