//! What the trained layer is asked for, and the gradients of that.

use anyhow::Result;
use attention::{LayerParameters, Mask, Matrix, MultiHeadAttention};
use figures::{BackwardPass, GradientNorm};
use fused_heads::{FusedAttention, FusedPass};
use gradients::{
    Gradients, LayerPass, Loss, linear_backward, mean_squared_error,
    softmax_rows_backward,
};

/// The trained layer reads "The bank approved the loan." causally and is asked for
/// its output when it looks both ways.
pub struct Wish {
    /// The trained layer.
    pub parameters: LayerParameters,
    /// The sentence.
    pub tokens: Vec<String>,
    /// Its tokens, `[n_tokens, d_model]`.
    pub x: Matrix,
    /// What is asked for, `[n_tokens, d_model]`.
    pub target: Matrix,
}

impl Wish {
    /// From the file of the trained layer.
    ///
    /// # Errors
    /// None; the layer and the sentence are parts of the program.
    pub fn new() -> Result<Self> {
        let trained = crate::trained::layer()?;
        let sentence = trained.sentence("bank_loan")?.clone();
        Ok(Self {
            parameters: trained.parameters.clone(),
            tokens: sentence.tokens,
            x: sentence.input,
            target: sentence.output,
        })
    }

    /// The layer as it is.
    pub fn layer(&self) -> FusedAttention {
        FusedAttention::new(&self.parameters)
    }

    /// The loss of a layer on other tokens.
    ///
    /// # Errors
    /// If a shape does not fit.
    pub fn loss(
        &self,
        layer: &FusedAttention,
        [query, key, value]: [&Matrix; 3],
    ) -> Result<f64> {
        let seen = layer.forward(query, key, value, &Mask::Causal)?;
        Ok(mean_squared_error(&seen.out, &self.target)?.value)
    }

    /// The loss of a layer on the sentence.
    ///
    /// # Errors
    /// If the layer has another width.
    pub fn of(&self, layer: &FusedAttention) -> Result<f64> {
        self.loss(layer, [&self.x; 3])
    }

    /// A layer's pass over the sentence, and its loss.
    ///
    /// # Errors
    /// If the layer has another width.
    pub fn pass<'a>(
        &'a self,
        layer: &'a FusedAttention,
    ) -> Result<(LayerPass<'a>, Loss)> {
        let x = &self.x;
        let pass = LayerPass::forward(layer, x, x, x, &Mask::Causal)?;
        let loss = mean_squared_error(pass.out(), &self.target)?;
        Ok((pass, loss))
    }

    /// The gradients of the loss of a layer.
    ///
    /// # Errors
    /// If the layer has another width.
    pub fn gradients(&self, layer: &FusedAttention) -> Result<Gradients> {
        let (pass, loss) = self.pass(layer)?;
        Ok(pass.backward(&loss.gradient)?)
    }
}

/// The backward pass once more, from its public pieces, for the matrices on the way.
pub(super) fn norms(
    layer: &FusedAttention,
    pass: &LayerPass,
    loss: &Loss,
) -> Result<BackwardPass> {
    let (dims, p) = (layer.dims(), layer.parameters());
    let FusedPass { q, k, v, .. } = pass.fused();
    let (n, d_k, d_v) = (q.nrows(), dims.d_k(), dims.d_v());
    let of_out = linear_backward(p.w_o(), pass.concat(), &loss.gradient)?;
    let [mut dq, mut dk, mut dv] = [q, k, v].map(|m| Matrix::zeros(n, m.ncols()));
    let (mut of_attn, mut of_scores) = (0.0, 0.0);
    for (i, attn) in pass.attn()[0].iter().enumerate() {
        let d_head = of_out.d_x.columns(i * d_v, d_v);
        dv.columns_mut(i * d_v, d_v).copy_from(&(attn.transpose() * d_head));
        let d_attn = d_head * v.columns(i * d_v, d_v).transpose();
        of_attn += d_attn.norm_squared();
        let d_scores = softmax_rows_backward(attn, d_attn)?;
        of_scores += d_scores.norm_squared();
        let d_products = d_scores / (d_k as f64).sqrt();
        let dq_i = &d_products * k.columns(i * d_k, d_k);
        let dk_i = d_products.transpose() * q.columns(i * d_k, d_k);
        dq.columns_mut(i * d_k, d_k).copy_from(&dq_i);
        dk.columns_mut(i * d_k, d_k).copy_from(&dk_i);
    }
    let d = pass.backward(&loss.gradient)?;
    let gradient = |m: &Matrix| GradientNorm { shape: m.shape(), norm: m.norm() };
    let maps =
        |norm_squared: f64| GradientNorm { shape: (n, n), norm: norm_squared.sqrt() };
    Ok(BackwardPass {
        n_heads: dims.n_heads(),
        x: gradient(&d.d_x()?),
        to_x: d.d_query_key_value()?.map(|d| d.norm()),
        w: [&d.d_w_q, &d.d_w_k, &d.d_w_v].map(|linear| gradient(&linear.weight)),
        qkv: [gradient(&dq), gradient(&dk), gradient(&dv)],
        scores: maps(of_scores),
        attn: maps(of_attn),
        concat: gradient(&of_out.d_x),
        w_o: gradient(&d.d_w_o.weight),
        out: gradient(&loss.gradient),
    })
}
