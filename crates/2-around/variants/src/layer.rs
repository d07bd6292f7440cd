//! The layer: the fused one, with what is changed.

use attention::{
    Attended, Count, Dims, Error, Linear, Mask, Matrix, MultiHeadAttention,
    PackedParameters, ParameterCount, Real, Result, Rng,
};

use crate::attend::attend_with;
use crate::{Cache, Changes, Positions, Sizes, VariantHeadPass, attended};

/// Multi-head attention with any of the [changes](Changes).
///
/// ```
/// use attention::{Dims, Mask, MultiHeadAttention, Rng, SeedableRng, random_matrix};
/// use variants::{Changes, Pairing, Rotary, Sizes, VariantAttention};
///
/// let rng = &mut Rng::seed_from_u64(1);
/// let sizes = Sizes::new(Dims::new(256, 8)?, 2)?; // 8 query heads, 2 of keys and values
/// let rotary = Some(Rotary::new(Pairing::Halves, 32, 10_000.0)?);
/// let changes = Changes { rotary, ..Changes::default() };
/// let layer: VariantAttention = VariantAttention::random(sizes, true, changes, rng)?;
/// assert_eq!(layer.parameter_count().total(), 164_480); // and not 263,168
///
/// let x = random_matrix(5, 256, 1.0, rng);
/// let whole = layer.self_attend(&x, &Mask::Causal)?;
/// let cache = &mut layer.cache();
/// let first = layer.forward_cached(&x.rows(0, 4).into_owned(), cache)?;
/// let last = layer.forward_cached(&x.rows(4, 1).into_owned(), cache)?;
/// assert_eq!(first.out.shape(), (4, 256));
/// assert!((last.out - whole.out.rows(4, 1)).amax() < 1e-12);
/// # Ok::<(), attention::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct VariantAttention<T: Real = f64> {
    sizes: Sizes,
    projections: [Linear<T>; 4],
    changes: Changes<T>,
}

gradients::entries!([T: Real] T, VariantAttention<T>: projections);

impl<T: Real> VariantAttention<T> {
    /// The layer with these projections, in the order W^Q, W^K, W^V, W^O.
    ///
    /// # Shapes
    /// `[d_model, h · d_k]`, `[key_width, g · d_k]`, `[value_width, g · d_v]` and
    /// `[h · d_v, d_model]`, with h query heads and g heads of keys and values.
    ///
    /// # Errors
    /// [`Error::Shape`] for a weight or a bias that does not fit; what
    /// [`Changes::check`] finds.
    pub fn new(
        sizes: Sizes,
        projections: [Linear<T>; 4],
        changes: Changes<T>,
    ) -> Result<Self> {
        let expected = ["w_q", "w_k", "w_v", "w_o"].into_iter().zip(sizes.shapes());
        for (linear, (what, (d_in, d_out))) in projections.iter().zip(expected) {
            Error::expect_shape(what, (d_in, d_out), linear.weight.shape())?;
            if let Some(bias) = &linear.bias {
                let what = format!("the bias of {what}");
                Error::expect_shape(what, (1, d_out), bias.shape())?;
            }
        }
        changes.check(sizes.groups, sizes.dims.d_k())?;
        Ok(Self { sizes, projections, changes })
    }

    /// The fused layer with what is changed: keys and values for each query head.
    ///
    /// # Errors
    /// What [`Changes::check`] finds.
    pub fn from_packed(packed: PackedParameters<T>, changes: Changes<T>) -> Result<Self> {
        let dims = packed.dims();
        let sizes = Sizes::new(dims, dims.n_heads())?;
        Self::new(sizes, packed.into_projections(), changes)
    }

    /// Random parameters.
    ///
    /// # Errors
    /// What [`Changes::check`] finds.
    pub fn random(
        sizes: Sizes,
        bias: bool,
        changes: Changes<T>,
        rng: &mut Rng,
    ) -> Result<Self> {
        let random = |(d_in, d_out)| Linear::random(d_in, d_out, bias, rng);
        Self::new(sizes, sizes.shapes().map(random), changes)
    }

    /// The sizes.
    pub fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// The projections, in the order W^Q, W^K, W^V, W^O.
    pub fn projections(&self) -> &[Linear<T>; 4] {
        &self.projections
    }

    /// What is changed.
    pub fn changes(&self) -> &Changes<T> {
        &self.changes
    }

    /// The same layer with other changes.
    ///
    /// # Errors
    /// What [`Changes::check`] finds.
    pub fn with_changes(&self, changes: Changes<T>) -> Result<Self> {
        Self::new(self.sizes, self.projections.clone(), changes)
    }

    /// Every head, step by step, for queries that end where the keys end.
    ///
    /// # Shapes
    /// As [`MultiHeadAttention::forward`].
    ///
    /// # Errors
    /// As [`MultiHeadAttention::forward`].
    pub fn steps(
        &self,
        query: &Matrix<T>,
        key: &Matrix<T>,
        value: &Matrix<T>,
        mask: &Mask,
    ) -> Result<Vec<VariantHeadPass<T>>> {
        let at = Positions::new(query.nrows(), key.nrows());
        let [w_q, w_k, w_v, _] = &self.projections;
        let d_k = self.sizes.dims.d_k();
        let q = self.changes.prepare_queries(w_q.forward(query)?, d_k, &at.queries)?;
        let k = self.changes.prepare_keys(w_k.forward(key)?, d_k, &at.keys)?;
        let v = w_v.forward(value)?;
        let views = [q.as_view(), k.as_view(), v.as_view()];
        attend_with(views, self.sizes.groups, &at, &self.changes, mask)
    }

    /// Tokens attend to each other from positions that are given: queries and keys are
    /// rotated by them. Windows, distances and `mask` count tokens as they lie.
    ///
    /// # Shapes
    /// `x` is `[n, d_model]`, with a position per row; else as
    /// [`MultiHeadAttention::self_attend`].
    ///
    /// # Errors
    /// As [`MultiHeadAttention::forward`]; [`Error::Length`] for another number of
    /// positions.
    pub fn self_attend_at(
        &self,
        x: &Matrix<T>,
        positions: &[i64],
        mask: &Mask,
    ) -> Result<Attended<T>> {
        attention::check_inputs(self.sizes.dims, x, x, x, mask)?;
        let [w_q, w_k, w_v, _] = &self.projections;
        let d_k = self.sizes.dims.d_k();
        let q = self.changes.prepare_queries(w_q.forward(x)?, d_k, positions)?;
        let k = self.changes.prepare_keys(w_k.forward(x)?, d_k, positions)?;
        let v = w_v.forward(x)?;
        let views = [q.as_view(), k.as_view(), v.as_view()];
        let at = Positions::new(x.nrows(), x.nrows());
        self.mix(attend_with(views, self.sizes.groups, &at, &self.changes, mask)?)
    }

    /// An empty cache of this layer, which forgets what its window no longer sees.
    pub fn cache(&self) -> Cache<T> {
        let cache = Cache::new(self.sizes.cache_widths());
        match self.changes.window {
            None => cache,
            Some(window) => cache.with_window(window),
        }
    }

    /// New tokens behind those of the cache; none sees what comes after it. Their keys and
    /// values go into the cache, and their queries nowhere: no later token asks for them.
    ///
    /// # Shapes
    /// `x` is `[n_new, d_model]`, the output too; each map is `[n_new, n_cached]`, the cache
    /// holding the new tokens by then.
    ///
    /// # Errors
    /// [`Error::Shape`] for tokens of another width, or the cache of another layer; the
    /// cache is then as it was.
    // ANCHOR: forward_cached
    pub fn forward_cached(
        &self,
        x: &Matrix<T>,
        cache: &mut Cache<T>,
    ) -> Result<Attended<T>> {
        let [w_q, w_k, w_v, _] = &self.projections;
        let (d_k, new) = (self.sizes.dims.d_k(), cache.next_positions(x.nrows()));
        let q = self.changes.prepare_queries(w_q.forward(x)?, d_k, &new)?;
        let k = self.changes.prepare_keys(w_k.forward(x)?, d_k, &new)?;
        cache.append(&k, &w_v.forward(x)?)?;

        let at = Positions { queries: new, keys: cache.positions().to_vec() };
        let views = [q.as_view(), cache.keys().as_view(), cache.values().as_view()];
        let (groups, causal) = (self.sizes.groups, &Mask::Causal);
        self.mix(attend_with(views, groups, &at, &self.changes, causal)?)
    }
    // ANCHOR_END: forward_cached

    /// The keys and values of another text, computed once for all tokens that will
    /// [attend to it](Self::attend_to).
    ///
    /// # Shapes
    /// `source` is `[n_kv, key_width]`, its width being that of the values too.
    ///
    /// # Errors
    /// [`Error::Shape`] for another width.
    pub fn source_cache(&self, source: &Matrix<T>) -> Result<Cache<T>> {
        let [_, w_k, w_v, _] = &self.projections;
        let (d_k, mut cache) =
            (self.sizes.dims.d_k(), Cache::new(self.sizes.cache_widths()));
        let places = cache.next_positions(source.nrows());
        let k = self.changes.prepare_keys(w_k.forward(source)?, d_k, &places)?;
        cache.append(&k, &w_v.forward(source)?)?;
        Ok(cache)
    }

    /// Tokens that attend to a text whose keys and values are there already; the cache stays
    /// as it is.
    ///
    /// # Shapes
    /// `x` is `[n_q, d_model]`, the output too; each map is `[n_q, n_kv]`.
    ///
    /// # Errors
    /// [`Error::Shape`] for tokens of another width, the cache of another layer, or a mask
    /// that does not fit.
    ///
    /// # Source
    /// Vaswani et al. 2017, section 3.2.3 (encoder-decoder attention).
    pub fn attend_to(
        &self,
        x: &Matrix<T>,
        cache: &Cache<T>,
        mask: &Mask,
    ) -> Result<Attended<T>> {
        let d_k = self.sizes.dims.d_k();
        let Positions { queries, .. } = Positions::new(x.nrows(), cache.keys().nrows());
        let q = self.projections[0].forward(x)?;
        let q = self.changes.prepare_queries(q, d_k, &queries)?;
        let at = Positions { queries, keys: cache.positions().to_vec() };
        let views = [q.as_view(), cache.keys().as_view(), cache.values().as_view()];
        self.mix(attend_with(views, self.sizes.groups, &at, &self.changes, mask)?)
    }

    fn mix(&self, heads: Vec<VariantHeadPass<T>>) -> Result<Attended<T>> {
        let Attended { out, attn } = attended(heads);
        Ok(Attended { out: self.projections[3].forward(&out)?, attn })
    }
}

impl<T: Real> MultiHeadAttention<T> for VariantAttention<T> {
    fn name(&self) -> &'static str {
        "variant"
    }

    fn dims(&self) -> Dims {
        self.sizes.dims
    }

    fn parameter_count(&self) -> ParameterCount {
        let named = ["^Q", "^K", "^V", "^O"].into_iter().zip(&self.projections);
        let lines = named.flat_map(|(name, linear)| Count::of_linear(name, 1, linear));
        ParameterCount::of_parts(lines)
    }

    fn forward(
        &self,
        query: &Matrix<T>,
        key: &Matrix<T>,
        value: &Matrix<T>,
        mask: &Mask,
    ) -> Result<Attended<T>> {
        attention::check_inputs(self.sizes.dims, query, key, value, mask)?;
        self.mix(self.steps(query, key, value, mask)?)
    }
}
