//! Everything that one head computes on the way.

use attention::{Matrix, Real, ShapeStep};

/// One pass through one head, with every intermediate matrix.
///
/// ```
/// use attention::{Dims, HeadParameters, Mask, Rng, SeedableRng, random_matrix};
///
/// let rng = &mut Rng::seed_from_u64(1);
/// let head: HeadParameters = HeadParameters::random(Dims::new(6, 2)?, true, rng);
/// let x = random_matrix(4, 6, 1.0, rng);
/// let pass = single_head::attend(&head, &x, &x, &x, &Mask::None)?;
/// assert_eq!(pass.steps()[5], ("out", &(&pass.attn * &pass.v)));
/// let steps = pass.shapes([x.shape(); 3]);
/// assert_eq!(steps[3].formula, "scores_i = Q_i · K_i^T / √3");
/// assert_eq!((&steps[3].from[..], steps[3].to), (&[(4, 3), (3, 4)][..], (4, 4)));
/// # Ok::<(), attention::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct HeadPass<T: Real = f64> {
    /// What each token asks, `[n_q, d_k]`.
    pub q: Matrix<T>,
    /// What each token is found by, `[n_kv, d_k]`.
    pub k: Matrix<T>,
    /// What each token has to give, `[n_kv, d_v]`.
    pub v: Matrix<T>,
    /// `Q Kᵀ / √d_k`, before the mask, `[n_q, n_kv]`.
    pub scores: Matrix<T>,
    /// The attention map, `[n_q, n_kv]`: row i is what query i attends to.
    pub attn: Matrix<T>,
    /// The head's output, `attn · V`, `[n_q, d_v]`.
    pub out: Matrix<T>,
}

impl<T: Real> HeadPass<T> {
    /// The matrices under their names, in the order in which they are computed.
    pub fn steps(&self) -> [(&'static str, &Matrix<T>); 6] {
        [
            ("q", &self.q),
            ("k", &self.k),
            ("v", &self.v),
            ("scores", &self.scores),
            ("attn", &self.attn),
            ("out", &self.out),
        ]
    }

    /// The shapes of this pass, as they are written for head `i` of a layer.
    ///
    /// # Shapes
    /// `query`, `key`, `value` are the shapes of what went in.
    pub fn shapes(&self, [query, key, value]: [(usize, usize); 3]) -> Vec<ShapeStep> {
        let [q, k, v, scores, attn, out] = self.steps().map(|(_, matrix)| matrix.shape());
        let (d_k, d_v) = (q.1, v.1);
        let scale = format!("scores_i = Q_i · K_i^T / √{d_k}");
        vec![
            ShapeStep::product("Q_i = X · W_i^Q", [query, (query.1, d_k)], q),
            ShapeStep::product("K_i = X · W_i^K", [key, (key.1, d_k)], k),
            ShapeStep::product("V_i = X · W_i^V", [value, (value.1, d_v)], v),
            ShapeStep::product(scale, [q, (k.1, k.0)], scores),
            ShapeStep::same("A_i = softmax(scores_i)", attn),
            ShapeStep::product("head_i = A_i · V_i", [attn, v], out),
        ]
    }
}
