//! At most one change of each kind, and where in the formula it acts.

use attention::{Error, Mask, Matrix, Real, Result, RowVector};

use crate::{
    Alibi, Groups, Positions, QkNorm, RelativeBias, Rotary, Sink, SoftCap, Window,
};

/// What differs from the formula of 2017; by default nothing does.
#[derive(Debug, Clone, PartialEq)]
pub struct Changes<T: Real = f64> {
    /// Queries and keys of one size.
    pub norm: Option<QkNorm<T>>,
    /// Queries and keys rotated by their positions.
    pub rotary: Option<Rotary>,
    /// What scores are multiplied by, instead of 1/√d_k.
    pub scale: Option<f64>,
    /// Scores that stay within a bound.
    pub soft_cap: Option<SoftCap>,
    /// Scores that fall with distance.
    pub alibi: Option<Alibi>,
    /// A learned number per distance.
    pub relative: Option<RelativeBias<T>>,
    /// Keys that are too far away to be seen.
    pub window: Option<Window>,
    /// A share that goes to nobody.
    pub sink: Option<Sink<T>>,
}

impl<T: Real> Default for Changes<T> {
    fn default() -> Self {
        Self {
            norm: None,
            rotary: None,
            scale: None,
            soft_cap: None,
            alibi: None,
            relative: None,
            window: None,
            sink: None,
        }
    }
}

impl<T: Real> Changes<T> {
    /// Whether all of them fit heads of this number and width.
    ///
    /// # Errors
    /// What does not fit, with its numbers.
    pub fn check(&self, groups: Groups, d_k: usize) -> Result<()> {
        let n_heads = groups.n_heads();
        self.norm.as_ref().map_or(Ok(()), |norm| norm.check(d_k))?;
        self.rotary.as_ref().map_or(Ok(()), |rotary| rotary.check(d_k))?;
        self.scale
            .map_or(Ok(()), |scale| Error::expect_above_zero("the scale", scale))?;
        self.alibi.as_ref().map_or(Ok(()), |alibi| alibi.check(n_heads))?;
        self.relative.as_ref().map_or(Ok(()), |relative| relative.check(n_heads))?;
        self.sink.as_ref().map_or(Ok(()), |sink| sink.check(n_heads))
    }

    /// Queries as scores need them: normalised, then rotated.
    ///
    /// # Shapes
    /// `[n, n_heads · d_k]`, with a position per row.
    ///
    /// # Errors
    /// As [`Rotary::rotate`].
    pub fn prepare_queries(
        &self,
        q: Matrix<T>,
        d_k: usize,
        positions: &[i64],
    ) -> Result<Matrix<T>> {
        self.prepare(q, |norm| &norm.q, d_k, positions)
    }

    /// Keys as scores need them, and as a cache keeps them.
    ///
    /// # Shapes
    /// `[n, n_kv_heads · d_k]`, with a position per row.
    ///
    /// # Errors
    /// As [`Rotary::rotate`].
    pub fn prepare_keys(
        &self,
        k: Matrix<T>,
        d_k: usize,
        positions: &[i64],
    ) -> Result<Matrix<T>> {
        self.prepare(k, |norm| &norm.k, d_k, positions)
    }

    fn prepare(
        &self,
        mut x: Matrix<T>,
        gains: impl Fn(&QkNorm<T>) -> &RowVector<T>,
        d_k: usize,
        positions: &[i64],
    ) -> Result<Matrix<T>> {
        if let Some(norm) = &self.norm {
            norm.normalise(&mut x, gains(norm));
        }
        if let Some(rotary) = &self.rotary {
            rotary.rotate(&mut x, d_k, positions)?;
        }
        Ok(x)
    }

    /// A mask with the window's on it.
    pub(crate) fn mask(&self, mask: &Mask, positions: &Positions) -> Mask {
        match self.window {
            None => mask.clone(),
            Some(window) => Mask::All(vec![window.mask(positions), mask.clone()]),
        }
    }
}
