//! A layer, its input and a gradient of its output: random, and in the file from which
//! every side reads them.

use std::path::Path;

use anyhow::Result;
use attention::{LayerParameters, Linear, Matrix, Rng, SeedableRng, random_matrix};
use model_files::read_layer;
use tensors::{Existing, NewTensor, TensorFile, save};

use runs::Case;

/// What every side computes with.
pub struct Layer {
    pub case: Case,
    pub parameters: LayerParameters<f32>,
    /// `[batch · tokens, d_model]`
    pub x: Matrix<f32>,
    /// `[batch · tokens, d_model]`
    pub d_out: Matrix<f32>,
}

impl Layer {
    pub fn random(case: Case) -> Result<Self> {
        let rng = &mut Rng::seed_from_u64(1);
        let parameters = LayerParameters::random(case.dims()?, true, rng);
        let mut random =
            || random_matrix(case.batch * case.tokens, case.d_model, 1.0, rng);
        Ok(Self { case, parameters, x: random(), d_out: random() })
    }

    /// Writes it under the names of PyTorch, whose matrices are `[out, in]`.
    pub fn save(&self, file: &Path) -> Result<()> {
        let (d, fused) = (self.case.d_model, self.parameters.pack());
        let projections = [fused.w_q(), fused.w_k(), fused.w_v()];
        let turned = projections.map(|linear| linear.weight.transpose());
        let rows = [self.case.batch, self.case.tokens, d];
        let tensors = [
            NewTensor::new("in_proj_weight", &[3 * d, d], &turned)?,
            NewTensor::new("in_proj_bias", &[3 * d], &projections.map(bias))?,
            NewTensor::new(
                "out_proj.weight",
                &[d, d],
                [&fused.w_o().weight.transpose()],
            )?,
            NewTensor::new("out_proj.bias", &[d], [&bias(fused.w_o())])?,
            NewTensor::new("query", &rows, [&self.x])?,
            NewTensor::new("d_out", &rows, [&self.d_out])?,
        ];
        Ok(save(file, &tensors, Existing::Replace)?)
    }

    /// Reads what [`save`](Self::save) wrote.
    pub fn open(file: &Path, heads: usize, causal: bool) -> Result<Self> {
        let file = TensorFile::open(file)?;
        let (query, d_out) = (file.tensor("query")?, file.tensor("d_out")?);
        query.expect_shape(d_out.shape())?;
        let &[batch, tokens, d_model] = query.shape() else {
            return Err(query.shape_error("(batch, tokens, d_model)").into());
        };
        // f64 holds every f32, so nothing changes on the way.
        let matrix = |numbers: Vec<f64>| {
            let numbers = numbers.iter().map(|&x| x as f32);
            Matrix::from_row_iterator(batch * tokens, d_model, numbers)
        };
        Ok(Self {
            case: Case::new("", [batch, tokens, d_model, heads], causal),
            parameters: read_layer(&file, heads, None)?.cast(),
            x: matrix(query.numbers()?),
            d_out: matrix(d_out.numbers()?),
        })
    }

    /// W^Q of all heads, `[d_model, d_model]`.
    pub fn w_q(&self) -> Matrix<f32> {
        self.parameters.pack().w_q().weight.clone()
    }

    /// The bytes of the output.
    pub fn bytes_of_output(&self) -> u64 {
        size_of_val(self.x.as_slice()) as u64
    }

    /// The bytes of the gradients of the input, the four projections and their biases.
    pub fn bytes_of_gradients(&self) -> u64 {
        let d = self.case.d_model;
        self.bytes_of_output() + (size_of::<f32>() * 4 * d * (d + 1)) as u64
    }

    /// The same layer on the first tokens of the first sequence.
    pub fn beginning(&self, tokens: usize) -> Self {
        let tokens = tokens.min(self.case.tokens);
        Self {
            case: Case { batch: 1, tokens, ..self.case },
            parameters: self.parameters.clone(),
            x: self.x.rows(0, tokens).into_owned(),
            d_out: self.d_out.rows(0, tokens).into_owned(),
        }
    }
}

/// A bias, or zeros, as a matrix of one row.
pub fn bias<T: attention::Real>(linear: &Linear<T>) -> Matrix<T> {
    match &linear.bias {
        Some(bias) => Matrix::from_row_slice(1, bias.len(), bias.as_slice()),
        None => Matrix::zeros(1, linear.d_out()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_saved_is_read_to_the_last_bit() {
        let case = Case::new("", [2, 3, 8, 2], true);
        let layer = Layer::random(case).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("layer.safetensors");
        layer.save(&file).unwrap();
        let read = Layer::open(&file, 2, true).unwrap();
        assert_eq!(read.case, case);
        assert_eq!(read.parameters, layer.parameters);
        assert_eq!((read.x, read.d_out), (layer.x, layer.d_out));
    }
}
