//! Latent keys and values (MLA): the keys and values of all heads are made of one narrow row.
//!
//! The lines `k = x W^K`, `v = x W^V` become `c = x W^D`, then `k = c W^UK`, `v = c W^UV`, and
//! only the latent c is kept. **Why.** Shared keys make a cache smaller by having fewer of
//! them; a latent row makes it smaller by what keys and values of one token have in common.
//! **Buys** a cache of d_c numbers per token in place of 2 h · d_k, for any number of heads.
//! **Costs** arithmetic: every head compares its query with the whole latent row.
//!
//! **Absorbed.** `q_i · k_i = x W_i^Q (W_i^UK)ᵀ · c`: of the two products of matrices, the one
//! with the query can be done first, and then the keys are never made. The same holds for
//! W^UV and W^O. So one latent row is the key, and the value, of all heads: multi-query
//! attention with one wide head.
//!
//! **Decoupled.** A rotation between the two, `W_i^Q R (W_i^UK)ᵀ`, depends on the distance, and
//! no product can be made once for all. So positions get entries of their own: each query
//! head has some that are rotated, and a token has one rotated key for all heads.

use attention::{Attended, Dims, Error, Mask, Matrix, Real, Result, Rng, random_matrix};

use crate::{
    Cache, Changes, Groups, NextToken, Positions, Rotary, Sizes, VariantAttention,
    VariantHeadPass, attend, attended,
};

/// The sizes of a layer with latent keys and values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LatentSizes {
    /// Of the heads, without what is rotated.
    pub dims: Dims,
    /// d_c, the width of the latent row.
    pub d_latent: usize,
    /// d_r, the entries of each query head, and of the one key, that are rotated.
    pub d_rotary: usize,
}

/// The matrices; h heads side by side, as in a fused layer.
#[derive(Debug, Clone, PartialEq)]
pub struct LatentWeights<T: Real = f64> {
    /// W^Q, `[d_model, h · d_k]`.
    pub w_q: Matrix<T>,
    /// W^QR, what is rotated of each query head, `[d_model, h · d_r]`.
    pub w_q_rotary: Matrix<T>,
    /// W^D, down to the latent row, `[d_model, d_c]`.
    pub w_down: Matrix<T>,
    /// W^KR, the rotated key of all heads, `[d_model, d_r]`.
    pub w_k_rotary: Matrix<T>,
    /// W^UK, up to the keys, `[d_c, h · d_k]`.
    pub w_up_k: Matrix<T>,
    /// W^UV, up to the values, `[d_c, h · d_v]`.
    pub w_up_v: Matrix<T>,
    /// W^O, `[h · d_v, d_model]`.
    pub w_o: Matrix<T>,
}

/// Multi-head latent attention.
///
/// ```
/// use attention::{Dims, Mask, Rng, SeedableRng, random_matrix};
/// use variants::{LatentAttention, LatentSizes, Pairing, Rotary};
///
/// let rng = &mut Rng::seed_from_u64(1);
/// let sizes = LatentSizes { dims: Dims::new(32, 4)?, d_latent: 6, d_rotary: 2 };
/// let rotary = Rotary::new(Pairing::Halves, 2, 10_000.0)?;
/// let layer: LatentAttention = LatentAttention::random(sizes, rotary, rng)?;
/// let x = random_matrix(5, 32, 1.0, rng);
/// let whole = layer.self_attend(&x, &Mask::Causal)?;
/// let cache = &mut layer.cache();
/// let written = layer.forward_cached(&x, cache)?; // no key and no value of a head is made
/// assert!((whole.out - written.out).amax() < 1e-12);
/// assert_eq!(cache.bytes(), 5 * (6 + 2) * 8); // and not 5 · 2 · 32 · 8
/// # Ok::<(), attention::Error>(())
/// ```
///
/// # Source
/// DeepSeek-AI 2024, "DeepSeek-V2", section 2.1 and appendix C. Differs: queries are not
/// compressed, and no norm stands behind the latent row.
#[derive(Debug, Clone, PartialEq)]
pub struct LatentAttention<T: Real = f64> {
    sizes: LatentSizes,
    weights: LatentWeights<T>,
    rotary: Rotary,
}

impl LatentSizes {
    /// The shapes of the matrices, in the order of [`LatentWeights`].
    pub fn shapes(&self) -> [(usize, usize); 7] {
        let Self { dims, d_latent, d_rotary } = *self;
        let (d_model, h) = (dims.d_model(), dims.n_heads());
        [
            (d_model, h * dims.d_k()),
            (d_model, h * d_rotary),
            (d_model, d_latent),
            (d_model, d_rotary),
            (d_latent, h * dims.d_k()),
            (d_latent, h * dims.d_v()),
            (dims.concat_width(), d_model),
        ]
    }

    /// What a new token that sees `n_cached` tokens reads and computes, absorbed: every
    /// weight is used once, and every head meets each latent row twice, as key and as value.
    pub fn next_token(&self, n_cached: usize) -> NextToken {
        let Self { dims, d_latent, d_rotary } = *self;
        let weights: usize =
            self.shapes().iter().map(|(rows, columns)| rows * columns).sum();
        let pairs = n_cached * dims.n_heads() * (2 * d_latent + d_rotary);
        NextToken {
            weights: weights as u64,
            cached: (n_cached * (d_latent + d_rotary)) as u64,
            multiply_adds: (weights + pairs) as u64,
        }
    }
}

impl<T: Real> LatentAttention<T> {
    /// The layer with these weights.
    ///
    /// # Errors
    /// [`Error::Shape`] for a matrix that does not fit; [`Error::Length`] if other
    /// entries are to be rotated than d_r.
    pub fn new(
        sizes: LatentSizes,
        weights: LatentWeights<T>,
        rotary: Rotary,
    ) -> Result<Self> {
        let LatentWeights { w_q, w_q_rotary, w_down, w_k_rotary, .. } = &weights;
        let LatentWeights { w_up_k, w_up_v, w_o, .. } = &weights;
        let all = [w_q, w_q_rotary, w_down, w_k_rotary, w_up_k, w_up_v, w_o];
        let names =
            ["w_q", "w_q_rotary", "w_down", "w_k_rotary", "w_up_k", "w_up_v", "w_o"];
        for ((weight, name), expected) in all.into_iter().zip(names).zip(sizes.shapes()) {
            Error::expect_shape(name, expected, weight.shape())?;
        }
        let (expected, found) = (sizes.d_rotary, rotary.n_rotated());
        Error::expect_length("the list of rotated entries", expected, found)?;
        Ok(Self { sizes, weights, rotary })
    }

    /// Random parameters, of a size that keeps the spread of numbers.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn random(sizes: LatentSizes, rotary: Rotary, rng: &mut Rng) -> Result<Self> {
        let random = |(d_in, d_out): (usize, usize)| {
            random_matrix(d_in, d_out, (2.0 / (d_in + d_out) as f64).sqrt(), rng)
        };
        let all = sizes.shapes().map(random);
        let [w_q, w_q_rotary, w_down, w_k_rotary, w_up_k, w_up_v, w_o] = all;
        let weights =
            LatentWeights { w_q, w_q_rotary, w_down, w_k_rotary, w_up_k, w_up_v, w_o };
        Self::new(sizes, weights, rotary)
    }

    /// The sizes.
    pub fn sizes(&self) -> LatentSizes {
        self.sizes
    }

    /// The weights.
    pub fn weights(&self) -> &LatentWeights<T> {
        &self.weights
    }

    /// Tokens attend to each other; keys and values of every head are made.
    ///
    /// # Shapes
    /// `x` is `[n, d_model]`, the output too; each map is `[n, n]`.
    ///
    /// # Errors
    /// [`Error::Shape`] for tokens of another width, and what a mask that does not fit
    /// gives.
    pub fn self_attend(&self, x: &Matrix<T>, mask: &Mask) -> Result<Attended<T>> {
        let at = Positions::new(x.nrows(), x.nrows());
        let LatentWeights { w_q, w_up_k, w_up_v, .. } = &self.weights;
        let [latent, rotated_key] = self.kept(x, &at.keys)?;
        let rotated = self.rotated(x * &self.weights.w_q_rotary, &at.queries)?;
        let h = self.sizes.dims.n_heads();
        let q = side_by_side([&rotated, &(x * w_q)], h);
        let keys = repeated(&rotated_key, h);
        let k = side_by_side([&keys, &(&latent * w_up_k)], h);
        let v = &latent * w_up_v;
        let views = [q.as_view(), k.as_view(), v.as_view()];
        let groups = Groups::new(h, h)?;
        let Attended { out, attn } =
            attended(attend(views, groups, &at, &Changes::default(), mask)?);
        Ok(Attended { out: out * &self.weights.w_o, attn })
    }

    /// New tokens behind those of the cache, none of which sees what comes after it. The
    /// cache holds latent rows, as its values, and rotated keys; W^UK and W^UV are absorbed.
    ///
    /// # Shapes
    /// `x` is `[n_new, d_model]`, the output too; each map is `[n_new, n_cached]`.
    ///
    /// # Errors
    /// [`Error::Shape`] for tokens of another width, or the cache of another layer.
    // ANCHOR: absorbed
    pub fn forward_cached(
        &self,
        x: &Matrix<T>,
        cache: &mut Cache<T>,
    ) -> Result<Attended<T>> {
        let new = cache.next_positions(x.nrows());
        let [latent, rotated_key] = self.kept(x, &new)?;
        cache.append(&rotated_key, &latent)?;
        let LatentWeights { w_q, w_q_rotary, w_up_k, w_up_v, w_o, .. } = &self.weights;
        let (h, d_k) = (self.sizes.dims.n_heads(), self.sizes.dims.d_k());
        let d_v = self.sizes.dims.d_v();

        // q_i · (c W_i^UK) = (q_i (W_i^UK)ᵀ) · c
        let q = x * w_q; // [n_new, h · d_k]
        let of_latent =
            |i| q.columns(i * d_k, d_k) * w_up_k.columns(i * d_k, d_k).transpose();
        let of_latent: Vec<Matrix<T>> = (0..h).map(of_latent).collect(); // each [n_new, d_c]
        let rotated = self.rotated(x * w_q_rotary, &new)?;
        let q = side_by_side([&rotated, &joined(&of_latent)], h);
        let k = side_by_side([cache.keys(), cache.values()], 1);
        let views = [q.as_view(), k.as_view(), cache.values().as_view()];
        let at = Positions { queries: new, keys: cache.positions().to_vec() };
        let width = (d_k + self.sizes.d_rotary) as f64;
        let changes = Changes { scale: Some(width.sqrt().recip()), ..Changes::default() };
        let heads = attend(views, Groups::new(h, 1)?, &at, &changes, &Mask::Causal)?;

        // (A_i c) W_i^UV = A_i (c W_i^UV)
        let up = |(i, head): (usize, &VariantHeadPass<T>)| {
            &head.out * w_up_v.columns(i * d_v, d_v)
        };
        let concat: Vec<Matrix<T>> = heads.iter().enumerate().map(up).collect();
        let attn = heads.into_iter().map(|head| head.attn).collect();
        Ok(Attended { out: joined(&concat) * w_o, attn })
    }
    // ANCHOR_END: absorbed

    /// An empty cache: d_r and d_c numbers per token.
    pub fn cache(&self) -> Cache<T> {
        Cache::new([self.sizes.d_rotary, self.sizes.d_latent])
    }

    /// The same function as a layer with keys and values for each head, whose W^K and W^V are
    /// the products `W^D W^UK` and `W^D W^UV`, and which rotates the first d_r entries.
    ///
    /// # Errors
    /// None; the sizes fit.
    pub fn plain(&self) -> Result<VariantAttention<T>> {
        let LatentWeights { w_q, w_q_rotary, w_down, w_k_rotary, w_up_k, w_up_v, w_o } =
            &self.weights;
        let LatentSizes { dims, d_rotary, .. } = self.sizes;
        let h = dims.n_heads();
        let (d_k, d_v) = (dims.d_k() + d_rotary, dims.d_v());
        let sizes = Sizes::new(Dims::with_head_sizes(dims.d_model(), h, d_k, d_v)?, h)?;
        let w_k = side_by_side([&repeated(w_k_rotary, h), &(w_down * w_up_k)], h);
        let all = [side_by_side([w_q_rotary, w_q], h), w_k, w_down * w_up_v, w_o.clone()];
        let projections = all.map(|weight| attention::Linear { weight, bias: None });
        let rotary = Some(self.rotary.clone());
        VariantAttention::new(
            sizes,
            projections,
            Changes { rotary, ..Changes::default() },
        )
    }

    /// The latent rows of tokens and their rotated keys: what a cache keeps.
    fn kept(&self, x: &Matrix<T>, positions: &[i64]) -> Result<[Matrix<T>; 2]> {
        let expected = (x.nrows(), self.sizes.dims.d_model());
        Error::expect_shape("the tokens", expected, x.shape())?;
        let LatentWeights { w_down, w_k_rotary, .. } = &self.weights;
        Ok([x * w_down, self.rotated(x * w_k_rotary, positions)?])
    }

    fn rotated(&self, mut x: Matrix<T>, positions: &[i64]) -> Result<Matrix<T>> {
        if self.sizes.d_rotary > 0 {
            self.rotary.rotate(&mut x, self.sizes.d_rotary, positions)?;
        }
        Ok(x)
    }
}

/// Head by head, the columns of one and those of the other.
fn side_by_side<T: Real>([a, b]: [&Matrix<T>; 2], n_heads: usize) -> Matrix<T> {
    let parts = [a, b].map(|it| (it, it.ncols() / n_heads));
    let head = |i: usize| parts.map(|(it, d)| it.columns(i * d, d).into_owned());
    joined(&(0..n_heads).flat_map(head).collect::<Vec<_>>())
}

/// The same columns for each head.
fn repeated<T: Real>(x: &Matrix<T>, n_heads: usize) -> Matrix<T> {
    joined(&vec![x.clone(); n_heads])
}

fn joined<T: Real>(parts: &[Matrix<T>]) -> Matrix<T> {
    let (n, width) = (parts[0].nrows(), parts.iter().map(Matrix::ncols).sum());
    let entries = parts.iter().flat_map(|part| part.iter().copied());
    Matrix::from_iterator(n, width, entries) // column after column
}

#[cfg(test)]
mod tests;
