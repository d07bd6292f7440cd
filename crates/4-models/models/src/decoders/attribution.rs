//! What each part of a decoder adds to a token's logit.
//!
//! What reaches the last norm is a sum, since every layer only adds to the tokens, and
//! concatenation followed by W^O is a sum over heads:
//!
//! ```text
//! x        = embedding + Σ_layers ( Σ_i z_i W_i^O + b^O + FFN )
//! logit(t) = norm(x) · E_t  =  x · d_t + b · E_t        d_t = gain ⊙ E_t / root(x)
//! ```
//!
//! With the norm's scale `root(x)` **held at what it was on this text**, the second line is
//! linear, so each part adds its own product with d_t, and these products sum to the
//! logit. A layer norm takes the mean away, which is linear too, and its bias is a part. Where
//! a norm stands behind attention (Gemma 2 and 3), its scale is held as well. Where logits
//! have a soft cap, the parts sum to the logit **before** the cap: [`Attribution::capped`]
//! is the model's.
//!
//! A part is what the model would miss if nothing else changed. What later layers would have
//! done without it, it does not say; that takes a pass of its own, as in
//! [`study`](crate::decoders::study).

mod fixed_scale;

use attention::{Matrix, Real};
use block::{Block, FeedForward};
use variants::{SoftCap, VariantAttention};

use crate::decoders::Pass;
use crate::decoders::decoder::AsRead;
use crate::decoders::embedding::expect_ids;
use crate::{Error, Result};
use fixed_scale::FixedScaleNorm;

/// What each part of a model adds to the logit of one token.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribution {
    /// The token's id.
    pub token: usize,
    /// Its logit, as the model computes it.
    pub logit: f64,
    /// What the embedding of the token that was read last adds, position included.
    pub embedding: f64,
    /// What each layer adds.
    pub layers: Vec<LayerParts>,
    /// What the last norm's bias adds: 0 in an RMSNorm.
    pub last_bias: f64,
    /// The bound of logits, in a model that has one.
    pub soft_cap: Option<SoftCap>,
}

/// What the parts of one layer add to a logit.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerParts {
    /// What each head adds, h entries. The bias of W^V is part of it: attention weights sum
    /// to 1, so that each head has it whole.
    pub heads: Vec<f64>,
    /// What W^O's bias adds, and that of a layer norm behind attention.
    pub attention_bias: f64,
    /// What the feed-forward layer adds, its biases included.
    pub feed_forward: f64,
}

impl Attribution {
    /// The sum of all parts: the logit, before a soft cap.
    pub fn sum(&self) -> f64 {
        let of_layer = |layer: &LayerParts| {
            layer.heads.iter().sum::<f64>() + layer.attention_bias + layer.feed_forward
        };
        self.embedding + self.layers.iter().map(of_layer).sum::<f64>() + self.last_bias
    }

    /// The sum within the soft cap: the model's own logit.
    pub fn capped(&self) -> f64 {
        let sum = Matrix::from_element(1, 1, self.sum());
        self.soft_cap.map_or(self.sum(), |cap| cap.apply(sum)[(0, 0)])
    }
}

impl<T: Real> AsRead<T> {
    /// What each part adds to the logits of some tokens, after the token at `position`; in
    /// f64 from what the pass computed.
    ///
    /// # Shapes
    /// An attribution per token asked for.
    ///
    /// # Errors
    /// [`Error::NoHead`]; [`Error::Sizes`] for a token that the vocabulary does not have;
    /// [`Error::Sizes`] for a position beyond the text, or a pass of another model.
    ///
    /// # Source
    /// Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits", sections
    /// "Residual stream" and "Attention heads are independent and additive"; known as direct
    /// logit attribution.
    // ANCHOR: attribution
    pub fn attribution(
        &self,
        pass: &Pass<T>,
        position: usize,
        tokens: &[usize],
    ) -> Result<Vec<Attribution>> {
        self.check_pass(pass, position, tokens)?;
        let rows = self.blocks.iter().enumerate().map(|(l, block)| {
            let row = |of: &Matrix<T>| of.rows(position, 1).into_owned();
            LayerRows::of(block, &row(&pass.layers.hidden[l]), row(&pass.concats[l]))
        });
        let rows = rows.collect::<Result<Vec<_>>>()?;
        let id = [pass.ids[position]];
        let embedding = double(&self.embedding.forward(&id, position)?); // [1, d_model]
        let x = rows.iter().fold(embedding.clone(), |x, row| x + row.added());

        let unembedded = double(&self.unembedding_of(tokens)?); // [d_model, n]
        let last = FixedScaleNorm::of(&self.last_norm, &x);
        let along = last.before(&unembedded); // [d_model, n]
        let last_bias = last.bias_along(&unembedded);
        let embedding = embedding * &along;
        let of_layers: Vec<_> = rows.iter().map(|row| row.parts(&along)).collect();
        let out = pass.layers.out().rows(position, 1).into_owned();
        let logits = self.logits_of(&out, tokens)?;
        let of_token = |(n, &token)| Attribution {
            token,
            logit: logits[(0, n)].to_f64(),
            embedding: embedding[(0, n)],
            layers: of_layers.iter().map(|of| of[n].clone()).collect(),
            last_bias: last_bias[n],
            soft_cap: self.config.last_soft_cap,
        };
        Ok(tokens.iter().enumerate().map(of_token).collect())
    }
    // ANCHOR_END: attribution

    fn check_pass(
        &self,
        pass: &Pass<T>,
        position: usize,
        tokens: &[usize],
    ) -> Result<()> {
        let (what, n_layers) = ("the list of concatenations", self.blocks.len());
        attention::Error::expect_length(what, n_layers, pass.concats.len())?;
        self.expect_whole(&pass.layers)?;
        let n_tokens = pass.ids.len();
        if position >= n_tokens {
            return Err(Error::Position { position, n_tokens });
        }
        Ok(expect_ids(tokens, self.config.n_vocabulary)?)
    }
}

/// What one layer computed at one token, in f64.
struct LayerRows<'a, T: Real> {
    attention: &'a VariantAttention<T>,
    /// Before W^O, `[1, h · d_v]`.
    concat: Matrix,
    /// What attention adds to the token, `[1, d_model]`.
    attended: Matrix,
    /// The norm behind attention.
    behind: Option<FixedScaleNorm>,
    /// What the feed-forward layer adds to the token, `[1, d_model]`.
    fed: Matrix,
}

impl<'a, T: Real> LayerRows<'a, T> {
    /// `x` is the token before the block, `[1, d_model]`.
    fn of(
        block: &'a Block<VariantAttention<T>, T>,
        x: &Matrix<T>,
        concat: Matrix<T>,
    ) -> Result<Self> {
        let out = block.attention.function.projections()[3].forward(&concat)?;
        let norm = block.attention.norms.of_output.as_ref();
        let behind = norm.map(|norm| FixedScaleNorm::of(norm, &double(&out)));
        let attended = match norm {
            None => out,
            Some(norm) => norm.forward(&out)?,
        };
        let read = if block.parallel { x.clone() } else { x + &attended };
        let nothing = Matrix::zeros(1, x.ncols());
        let fed = match &block.feed_forward {
            None => nothing,
            Some(sublayer) => {
                let ffn = |ffn: &FeedForward<T>, x: &_| Ok((ffn.forward(x)?, ()));
                sublayer.forward_beside(&read, &nothing, ffn)?.out
            }
        };
        Ok(Self {
            attention: &block.attention.function,
            concat: double(&concat),
            attended: double(&attended),
            behind,
            fed: double(&fed),
        })
    }

    fn added(&self) -> Matrix {
        &self.attended + &self.fed
    }

    /// What each part adds along some directions `[d_model, n]`: n times.
    fn parts(&self, along: &Matrix) -> Vec<LayerParts> {
        let (mut along_out, mut bias) = (along.clone(), vec![0.0; along.ncols()]);
        if let Some(norm) = &self.behind {
            bias = norm.bias_along(along);
            along_out = norm.before(along);
        }
        let w_o = &self.attention.projections()[3];
        if let Some(of_w_o) = &w_o.bias {
            let more = of_w_o.map(T::to_f64) * &along_out;
            bias.iter_mut().zip(more.iter()).for_each(|(bias, more)| *bias += more);
        }
        let along_concat = double(&w_o.weight) * &along_out; // [h · d_v, n]
        let fed = &self.fed * along;
        let d_v = self.attention.sizes().dims.d_v();
        let of_direction = |n: usize| {
            let products =
                self.concat.transpose().component_mul(&along_concat.columns(n, 1));
            let of_head = |i| products.rows(i * d_v, d_v).sum();
            LayerParts {
                heads: (0..self.attention.sizes().dims.n_heads()).map(of_head).collect(),
                attention_bias: bias[n],
                feed_forward: fed[(0, n)],
            }
        };
        (0..along.ncols()).map(of_direction).collect()
    }
}

fn double<T: Real>(matrix: &Matrix<T>) -> Matrix {
    matrix.map(T::to_f64)
}
