//! Every token after two layers as a sum, a part for each path that leads to it.
//!
//! Once its map A is known, a head is linear in what it reads: it adds `A x W_i^V W_i^O`.
//! So without a norm and a feed-forward layer a token is a sum of parts, and each head
//! makes of every part that it reads another one:
//!
//! ```text
//! x_1 = token + position + bias + Σ_i  A_i (token + position + bias) W_i^V W_i^O
//! x_2 = x_1 + Σ_j  A_j x_1 W_j^V W_j^O        one part for each part of x_1 and each j
//! ```
//!
//! What is linear in the tokens is the same sum once more: the logits, and, with a part on
//! either side, the scores of the second layer.

use attention::{Error, LayerParameters, Mask, Matrix, Result, RowVector};
use block::{Embedding, Positions};
use fused_heads::FusedAttention;

use super::Predictor;

/// Where a part of a token begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// In the table of tokens.
    Token,
    /// In the table of positions.
    Position,
    /// In b^V and b^O of some layer.
    Bias,
}

/// A part of every token of a sequence.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Part {
    /// Where it begins.
    pub start: Start,
    /// The heads that it came through, each with its layer: `[layer, head]`.
    pub heads: Vec<[usize; 2]>,
    /// The part itself, `[n_tokens, d_model]`.
    pub x: Matrix,
}

/// A sequence's way through a [`Predictor`] in parts, in f64.
///
/// # Source
/// Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits", section "The
/// path expansion trick". Differs: with positions and biases.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Paths {
    /// The parts that enter each block, and last those that leave the stack.
    pub parts: Vec<Vec<Part>>,
    /// `maps[l][i]` is the map of head i of block l, `[n_tokens, n_tokens]`.
    pub maps: Vec<Vec<Matrix>>,
    layers: Vec<LayerParameters>,
    /// Whether each block adds to what it read.
    residual: Vec<bool>,
    unembedding: attention::Linear,
}

impl Paths {
    /// Takes a sequence apart.
    pub(crate) fn of(model: &Predictor, ids: &[usize]) -> Result<Self> {
        let mut paths = Self {
            parts: vec![starts(&model.embedding, ids)?],
            maps: Vec::new(),
            layers: Vec::new(),
            residual: Vec::new(),
            unembedding: model.unembedding.cast(),
        };
        for (l, block) in model.stack.blocks.iter().enumerate() {
            let layer = model.layer(l).unpack().cast::<f64>();
            let x = sum(&paths.parts[l]);
            let pass = FusedAttention::new(&layer).pass(&x, &x, &x, &Mask::Causal)?;
            paths.maps.extend(pass.attn);
            paths.layers.push(layer);
            paths.residual.push(block.attention.residual);
            let after = paths.after(l, &paths.parts[l], None);
            paths.parts.push(after);
        }
        Ok(paths)
    }

    /// The same paths, under the same maps, if every head wrote into other directions: what
    /// head i of block l adds is multiplied by `rotations[l][i]`. Its length stays what it is.
    ///
    /// # Shapes
    /// A rotation is `[d_model, d_model]`, its rows of length 1 and at right angles.
    pub(crate) fn rotated(&self, rotations: &[Vec<Matrix>]) -> Result<Self> {
        let n_layers = self.layers.len();
        Error::expect_length("the list of rotations", n_layers, rotations.len())?;
        for (maps, of_layer) in self.maps.iter().zip(rotations) {
            let what = "the list of a layer's rotations";
            Error::expect_length(what, maps.len(), of_layer.len())?;
        }
        let mut rotated = Self { parts: vec![self.parts[0].clone()], ..self.clone() };
        for (l, of_layer) in rotations.iter().enumerate() {
            let after = self.after(l, &rotated.parts[l], Some(of_layer));
            rotated.parts.push(after);
        }
        Ok(rotated)
    }

    /// What block l makes of the parts that enter it.
    fn after(&self, l: usize, now: &[Part], rotations: Option<&[Matrix]>) -> Vec<Part> {
        let (layer, maps) = (&self.layers[l], &self.maps[l]);
        let mut after = match self.residual[l] {
            true => now.to_vec(),
            false => vec![Part::starting(Start::Bias, now[0].x.map(|_| 0.0))],
        };
        for (i, map) in maps.iter().enumerate() {
            let mut w_vo = &layer.heads()[i].w_v.weight * layer.w_o_of_head(i);
            if let Some(rotations) = rotations {
                w_vo *= &rotations[i];
            }
            after.extend(now.iter().map(|part| Part {
                start: part.start,
                heads: [part.heads.clone(), vec![[l, i]]].concat(),
                x: map * &part.x * &w_vo, // A_i x W_i^V W_i^O
            }));
        }
        add_bias(&mut after, layer);
        after
    }

    /// What a part of the last tokens adds to every logit, `[n_tokens, n_vocabulary]`: with
    /// [`logits_bias`](Self::logits_bias), all of them sum to the logits.
    pub(crate) fn logits(&self, part: &Part) -> Matrix {
        &part.x * &self.unembedding.weight
    }

    /// The bias of the logits, `[n_vocabulary]`.
    pub(crate) fn logits_bias(&self) -> RowVector<f64> {
        let bias = self.unembedding.bias.clone();
        bias.unwrap_or_else(|| RowVector::zeros(self.unembedding.d_out()))
    }

    /// All that the paths add, with the bias: the logits, `[n_tokens, n_vocabulary]`.
    pub(crate) fn all_logits(&self) -> Matrix {
        let last = self.parts.iter().next_back().into_iter().flatten();
        let mut all = Matrix::zeros(self.parts[0][0].x.nrows(), self.unembedding.d_out());
        all.row_iter_mut().for_each(|mut row| row += &self.logits_bias());
        last.fold(all, |sum, part| sum + self.logits(part))
    }

    /// What two parts of a layer's tokens add to the scores of a head, one as the query and
    /// one as the key: `(a W_i^Q) (b W_i^K)ᵀ / √d_k`, `[n_tokens, n_tokens]`. Parts that are
    /// biases have b^Q and b^K with them. All pairs sum to the scores.
    pub(crate) fn scores(&self, [l, i]: [usize; 2], query: &Part, key: &Part) -> Matrix {
        let head = &self.layers[l].heads()[i];
        let read = |part: &Part, linear: &attention::Linear| {
            let mut read = &part.x * &linear.weight; // [n_tokens, d_k]
            if let (true, Some(bias)) = (part.is_bias(), &linear.bias) {
                read.row_iter_mut().for_each(|mut row| row += bias);
            }
            read
        };
        let d_k = self.layers[l].dims().d_k() as f64;
        read(query, &head.w_q) * read(key, &head.w_k).transpose() / d_k.sqrt()
    }
}

impl Part {
    /// One that came through no head.
    pub(super) fn starting(start: Start, x: Matrix) -> Self {
        Self { start, heads: Vec::new(), x }
    }

    /// Whether it is the biases as they lie, through no head.
    fn is_bias(&self) -> bool {
        self.start == Start::Bias && self.heads.is_empty()
    }
}

/// Token, position and, as zeros, bias.
fn starts(embedding: &Embedding<f32>, ids: &[usize]) -> Result<Vec<Part>> {
    let cast = |table: &Matrix<f32>| table.map(f64::from);
    let positions = embedding.positions.table();
    let (tokens, scale) = (cast(&embedding.tokens), embedding.scale);
    let embedding = Embedding { tokens, scale, positions: Positions::None };
    let tokens = embedding.forward(ids, ids.len())?;
    let mut places = tokens.map(|_| 0.0);
    if let Some(table) = positions {
        Positions::Fixed(cast(table)).add_to(&mut places, ids.len())?;
    }
    let zeros = tokens.map(|_| 0.0);
    Ok(vec![
        Part::starting(Start::Token, tokens),
        Part::starting(Start::Position, places),
        Part::starting(Start::Bias, zeros),
    ])
}

/// Adds `Σ_i b_i^V W_i^O + b^O`: a map's rows sum to 1, so b^V goes through as it is.
fn add_bias(parts: &mut [Part], layer: &LayerParameters) {
    let mut bias = RowVector::zeros(layer.dims().d_model());
    for (i, head) in layer.heads().iter().enumerate() {
        if let Some(b_v) = &head.w_v.bias {
            bias += b_v * layer.w_o_of_head(i);
        }
    }
    if let Some(b_o) = &layer.w_o().bias {
        bias += b_o;
    }
    for part in parts.iter_mut().filter(|part| part.is_bias()) {
        part.x.row_iter_mut().for_each(|mut row| row += &bias);
    }
}

/// The tokens that the parts are parts of.
fn sum(parts: &[Part]) -> Matrix {
    let zeros = parts[0].x.map(|_| 0.0);
    parts.iter().fold(zeros, |sum, part| sum + &part.x)
}
