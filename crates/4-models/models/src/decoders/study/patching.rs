//! Which heads carry a difference between two texts.

use attention::{Matrix, Real};
use block::Layers;

use super::HeadOfLayer;
use crate::decoders::Pass;
use crate::decoders::decoder::AsRead;
use crate::{Error, Result};

/// Two texts of as many tokens, and two tokens whose logits they should set apart.
///
/// `logit(a) − logit(b)` behind each text is its margin. A head that is patched puts out, in
/// the pass over `to`, what it put out on `from`.
#[derive(Debug, Clone)]
pub struct Patching<'a, T: Real = f64> {
    model: &'a AsRead<T>,
    from: Pass<T>,
    to: Pass<T>,
    tokens: [usize; 2],
    margins: [f64; 2],
}

impl<'a, T: Real> Patching<'a, T> {
    /// Passes over both.
    ///
    /// # Errors
    /// [`Error::Lengths`] for texts of different lengths; as
    /// [`Decoder::forward`](crate::decoders::Decoder::forward).
    ///
    /// # Panics
    /// For a token that the vocabulary does not have.
    pub fn new(
        model: &'a AsRead<T>,
        from: &[usize],
        to: &[usize],
        tokens: [usize; 2],
    ) -> Result<Self> {
        let (n_from, n_to) = (from.len(), to.len());
        if n_from != n_to {
            return Err(Error::Lengths { n_from, n_to });
        }
        let (from, to) = (model.pass(from)?, model.pass(to)?);
        let margin = |pass: &Pass<T>| margin(model, &pass.layers, tokens);
        let margins = [margin(&from)?, margin(&to)?];
        Ok(Self { model, from, to, tokens, margins })
    }

    /// The margins of both texts: of `from`, and of `to`.
    pub fn margins(&self) -> [f64; 2] {
        self.margins
    }

    /// The share of the difference that some heads carry over:
    /// `(margin(to, patched) − margin(to)) / (margin(from) − margin(to))`. 0 is nothing, 1 is
    /// all; it can be below and above.
    ///
    /// # Errors
    /// As [`ablated`](AsRead::ablated).
    ///
    /// # Source
    /// Wang et al. 2022, "Interpretability in the Wild", section 3 and appendix (logit
    /// difference); Zhang and Nanda 2023, "Towards Best Practices of Activation Patching",
    /// section 2 (normalized by both texts).
    pub fn share(&self, heads: &[HeadOfLayer]) -> Result<f64> {
        self.share_by(heads, &self.from.concats)
    }

    /// The control: the same share, where the heads put out what they put out on a text that
    /// has nothing to do with either.
    ///
    /// # Shapes
    /// `other` is of as many tokens.
    ///
    /// # Errors
    /// As [`ablated`](AsRead::ablated).
    pub fn share_by(&self, heads: &[HeadOfLayer], other: &[Matrix<T>]) -> Result<f64> {
        let [from, to] = self.margins;
        let layers = self.model.ablated(&self.to, heads, other)?;
        Ok((margin(self.model, &layers, self.tokens)? - to) / (from - to))
    }
}

fn margin<T: Real>(
    model: &AsRead<T>,
    layers: &Layers<T>,
    tokens: [usize; 2],
) -> Result<f64> {
    let last = layers.out().rows(layers.out().nrows() - 1, 1).into_owned();
    let logits = model.logits_of(&last, &tokens)?;
    Ok(logits[(0, 0)].to_f64() - logits[(0, 1)].to_f64())
}
