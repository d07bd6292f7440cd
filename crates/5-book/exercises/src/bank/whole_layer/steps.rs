//! A whole layer in steps, each of which can be replaced.

use std::borrow::Cow;

use attention::{Attended, Linear, Mask, Matrix, softmax_rows, weighted_values};

use super::Input;

/// The steps of a layer. [`Steps::RIGHT`] is a right one; a mistake replaces a step.
#[derive(Clone, Copy)]
pub struct Steps {
    /// q, k and v of head i: `[n_q, d_k]`, `[n_kv, d_k]`, `[n_kv, d_v]`.
    pub project: fn(&Input, usize) -> [Matrix; 3],
    /// What the scores are divided by.
    pub divisor: fn(&Input) -> f64,
    /// The mask of head i.
    pub mask: fn(&Input, usize) -> Cow<'_, Mask>,
    /// From scores to a map, both `[n_q, n_kv]`.
    pub share_out: fn(Matrix, &Mask) -> Matrix,
    /// What a head gives, `[n_q, d_v]`, from its map and its values.
    pub average: fn(&Matrix, &Matrix) -> Matrix,
    /// The heads, each `[n_q, d_v]`, side by side: `[n_q, h · d_v]`.
    pub merge: fn(&[Matrix]) -> Matrix,
    /// What the merged heads become: `[n_q, d_model]`.
    pub mix: fn(&Input, &Matrix) -> Matrix,
}

impl Steps {
    /// The layer as the book writes it.
    pub const RIGHT: Self = Self {
        project: |input, i| {
            let head = &input.parameters.heads()[i];
            [
                apply(&head.w_q, &input.query),
                apply(&head.w_k, &input.key),
                apply(&head.w_v, &input.value),
            ]
        },
        divisor: |input| (input.parameters.dims().d_k() as f64).sqrt(),
        mask: |input, i| input.mask.of_head(i),
        share_out: |scores, mask| softmax_rows(mask.apply(scores)),
        average: |attn, v| weighted_values(attn, v.as_view()),
        merge: |heads| side_by_side(heads),
        mix: |input, concat| apply(input.parameters.w_o(), concat),
    };

    /// The layer that these steps make.
    pub fn run(self, input: &Input) -> Attended {
        let (mut heads, mut attn) = (Vec::new(), Vec::new());
        for i in 0..input.parameters.dims().n_heads() {
            let [q, k, v] = (self.project)(input, i);
            let scores = q * k.transpose() / (self.divisor)(input); // [n_q, n_kv]
            let mask = (self.mask)(input, i);
            let attn_i = (self.share_out)(scores, &mask); // [n_q, n_kv]
            heads.push((self.average)(&attn_i, &v)); // [n_q, d_v]
            attn.push(attn_i);
        }
        let concat = (self.merge)(&heads); // [n_q, h · d_v]
        Attended { out: (self.mix)(input, &concat), attn }
    }
}

/// `x · W + b`; it panics on shapes that do not fit, as a reader's code does.
pub fn apply(linear: &Linear, x: &Matrix) -> Matrix {
    linear.forward(x).unwrap_or_else(|error| panic!("{error}"))
}

/// `x · W`, its bias forgotten.
pub fn apply_bare(linear: &Linear, x: &Matrix) -> Matrix {
    x * &linear.weight
}

/// Matrices of equal height, one beside the other.
pub fn side_by_side(matrices: &[Matrix]) -> Matrix {
    let columns: Vec<_> = matrices.iter().flat_map(Matrix::column_iter).collect();
    Matrix::from_columns(&columns)
}
