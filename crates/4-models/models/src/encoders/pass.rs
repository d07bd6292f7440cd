//! Heads of an encoder that put out something else.

use attention::{Attended, LayerParameters, Matrix, MultiHeadAttention, Real, RowVector};
use block::Layers;
use model_files::Sequence;

use crate::encoders::{Encoder, sentence_embedding};
use crate::head::lowest_layer;
use crate::{Error, Result};

/// Any stage.
pub type Stage<T> = Box<dyn MultiHeadAttention<T>>;

/// A pass over a text, with what every head put out.
#[derive(Debug, Clone, PartialEq)]
pub struct Pass<T: Real = f64> {
    /// The text.
    pub sequence: Sequence,
    /// Hidden states and maps, as [`Encoder::forward`] gives them.
    pub layers: Layers<T>,
    /// The outputs of a layer's heads side by side, before W^O: `concats[l]` is
    /// `[n_tokens, h · d_v]`, and head i is its columns i · d_v to (i + 1) · d_v.
    pub concats: Vec<Matrix<T>>,
}

impl<T: Real> Pass<T> {
    /// The text as one vector of length 1, `[d_model]`.
    pub fn embedding(&self) -> RowVector<T> {
        sentence_embedding(self.layers.out(), &self.sequence.is_real)
    }

    /// What stands in the stead of heads that put out zeros, as [`Encoder::ablated`] takes it.
    pub fn zeros(&self) -> Vec<Matrix<T>> {
        self.concats.iter().map(|it| Matrix::zeros(it.nrows(), it.ncols())).collect()
    }
}

impl<T: Real> Encoder<LayerParameters<T>, T> {
    /// A pass over a text; `stage` computes attention.
    ///
    /// # Shapes and errors
    /// As [`Encoder::forward`].
    pub fn pass(
        &self,
        sequence: &Sequence,
        stage: fn(&LayerParameters<T>) -> Stage<T>,
    ) -> Result<Pass<T>> {
        let (mask, mut concats) = (sequence.mask()?, Vec::new());
        let attend = |_, _, parameters: &LayerParameters<T>, x: &Matrix<T>| {
            let attended = stage(parameters).self_attend(x, &mask)?;
            concats.push(concat(parameters, x, &attended.attn)?);
            Ok(attended)
        };
        let layers = self.stack.forward_by(self.embeddings.forward(sequence)?, attend)?;
        Ok(Pass { sequence: sequence.clone(), layers, concats })
    }

    /// A pass in which some heads put out what stands in other concatenations, token by
    /// token, before W^O reads it: zeros, means, or what they put out on another text.
    ///
    /// # Shapes
    /// `instead` has one `[n_tokens, h · d_v]` per layer, as [`Pass::concats`].
    ///
    /// # Errors
    /// [`Error::Sizes`](crate::Error::Sizes) for a layer or a head that is not there, or for
    /// concatenations of another model or of another number of tokens.
    ///
    /// # Source
    /// Michel et al. 2019, section 2.2 (zeros); Vig et al. 2020, section 3 (another text).
    pub fn ablated(
        &self,
        pass: &Pass<T>,
        heads: &[(usize, usize)],
        instead: &[Matrix<T>],
        stage: fn(&LayerParameters<T>) -> Stage<T>,
    ) -> Result<Layers<T>> {
        let blocks = &self.stack.blocks;
        // Below the lowest head nothing changes.
        let lowest = lowest_layer(heads, [blocks.len(), self.config.dims.n_heads()])?;
        Error::expect_concats(blocks.len(), &pass.concats, instead)?;
        let (mask, d_v) = (pass.sequence.mask()?, self.config.dims.d_v());
        let attend = |layer: usize, _, parameters: &LayerParameters<T>, x: &Matrix<T>| {
            let Attended { mut out, attn } = stage(parameters).self_attend(x, &mask)?;
            if heads.iter().any(|(of, _)| *of == layer) {
                let mut concat = concat(parameters, x, &attn)?;
                for (_, i) in heads.iter().filter(|(of, _)| *of == layer) {
                    let columns = instead[layer].columns(i * d_v, d_v);
                    concat.columns_mut(i * d_v, d_v).copy_from(&columns);
                }
                out = parameters.w_o().forward(&concat)?;
            }
            Ok(Attended { out, attn })
        };
        Ok(pass.layers.up_to(lowest).through(blocks, attend)?)
    }
}

/// The outputs of a layer's heads side by side, before W^O, `[n_tokens, h · d_v]`.
fn concat<T: Real>(
    parameters: &LayerParameters<T>,
    x: &Matrix<T>,
    maps: &[Matrix<T>],
) -> attention::Result<Matrix<T>> {
    let heads = parameters.heads().iter().zip(maps);
    let outputs = heads.map(|(head, map)| Ok(map * head.w_v.forward(x)?)); // [n_tokens, d_v]
    let outputs = outputs.collect::<attention::Result<Vec<_>>>()?;
    let columns: Vec<_> = outputs.iter().flat_map(|head| head.column_iter()).collect();
    Ok(Matrix::from_columns(&columns))
}

#[cfg(test)]
mod tests {
    use ablation::Replacement;
    use variants::{Changes, VariantAttention};

    use super::*;
    use crate::encoders::Study;

    type Model = Encoder<LayerParameters<f32>, f32>;

    fn tiny(name: &str) -> Model {
        Encoder::load(crate::tests::model(name), LayerParameters::clone).unwrap()
    }

    fn stage(parameters: &LayerParameters<f32>) -> Stage<f32> {
        let changes = Changes::default();
        Box::new(VariantAttention::from_packed(parameters.pack(), changes).unwrap())
    }

    fn apart(a: &Matrix<f32>, b: &Matrix<f32>) -> f32 {
        (a - b).amax()
    }

    #[test]
    fn zeros_and_means_are_those_of_the_study_and_a_text_by_itself_is_itself() {
        let sequence = Sequence::new(vec![3, 1, 4, 15, 9, 2, 6]);
        let heads = [(0, 1), (1, 3)];
        for name in ["bert-1", "roberta-1", "electra-1", "distilbert-1"] {
            let model = tiny(name);
            let pass = model.pass(&sequence, stage).unwrap();
            let same = model.ablated(&pass, &heads, &pass.concats, stage).unwrap();
            assert!(apart(same.out(), pass.layers.out()) < 1e-5, "{name}");
            let sequences = [sequence.clone()];
            let study = Study::new(&model, stage, &sequences).unwrap();
            // The mean of the only text is that of its rows.
            let mean = |concat: &Matrix<f32>| {
                Matrix::from_rows(&vec![concat.row_mean(); concat.nrows()])
            };
            let ways: [(Replacement, Vec<Matrix<f32>>); 2] = [
                (Replacement::Zero, pass.concats.iter().map(|it| it * 0.0).collect()),
                (Replacement::Mean, pass.concats.iter().map(mean).collect()),
            ];
            for (replacement, instead) in ways {
                let layers = model.ablated(&pass, &heads, &instead, stage).unwrap();
                let found = Pass { layers, ..pass.clone() }.embedding();
                let expected = study.embeddings(&heads, replacement).unwrap();
                let off = (&found - &expected[0]).amax();
                assert!(off < 1e-5, "{name}, {replacement:?}: {off:e}");
                assert!((found - pass.embedding()).amax() > 1e-3, "{name}");
            }
        }
    }

    #[test]
    fn what_is_not_there_is_refused() {
        let model = tiny("bert-1");
        let pass = model.pass(&Sequence::new(vec![3, 1, 4]), stage).unwrap();
        let refused = |head| {
            let concats = &pass.concats;
            model.ablated(&pass, &[head], concats, stage).unwrap_err().to_string()
        };
        insta::assert_snapshot!(refused((3, 0)), @"there are 3 layers, 0 to 2: layer 3 does not exist");
        insta::assert_snapshot!(refused((0, 4)), @"there are 4 heads, 0 to 3: head 4 does not exist");
    }
}
