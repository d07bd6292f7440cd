//! A trained model from a file.

use attention::{LayerParameters, Linear, Matrix, Real, RowVector};
use block::{LayerNorm, Norms, Positions, Sublayer, sinusoidal};
use fused_heads::FusedAttention;
use model_files::read_layer;
use tensors::TensorFile;

use super::{Remaining, Tokens};
use crate::{Architecture, Error, Lstm, N_STEPS, Reader, Result, Scale};

/// A model with the scale on which it was trained.
///
/// ```no_run
/// use fused_heads::FusedAttention;
/// use tensors::TensorFile;
/// use sensors::{Remaining, Trained};
///
/// let trained = Trained::read(TensorFile::open("remaining.safetensors")?)?;
/// let model: Remaining<FusedAttention, f64> = trained.model(|p| FusedAttention::new(&p))?;
/// # Ok::<(), sensors::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Trained {
    file: TensorFile,
    /// The parts of the model.
    pub architecture: Architecture,
    /// The sensors that it reads, and their scale.
    pub scale: Scale,
}

impl Trained {
    /// Reads what the file's metadata says.
    ///
    /// # Errors
    /// [`Error::File`] or [`Error::Text`] for a text that is missing or makes no sense; as
    /// [`Scale::new`].
    pub fn read(file: TensorFile) -> Result<Self> {
        let text = |key: &str| -> Result<&str> {
            let missing = || tensors::Error::MissingText {
                file: file.name().to_string(),
                key: key.to_string(),
            };
            Ok(file.text(key).ok_or_else(missing)?)
        };
        let wrong = |key: &str| Error::Text {
            file: file.name().to_string(),
            key: key.to_string(),
        };
        let whole =
            |key: &str| -> Result<usize> { text(key)?.parse().map_err(|_| wrong(key)) };
        let list = |key: &str| -> Result<Vec<f64>> {
            let words = text(key)?.split_whitespace();
            words.map(|word| word.parse().map_err(|_| wrong(key))).collect()
        };
        let sensors = text("sensors")?.split_whitespace();
        let sensors =
            sensors.map(|word| word.parse::<usize>().map_err(|_| wrong("sensors")));
        let sensors = sensors.collect::<Result<Vec<_>>>()?;
        let scale = Scale::new(sensors, list("mean")?, list("spread")?)?;
        let (reader, pool) = (text("reader")?, text("pool")?);
        if !["bilstm", "linear"].contains(&reader) {
            return Err(wrong("reader"));
        }
        if !["mean", "ends"].contains(&pool) {
            return Err(wrong("pool"));
        }
        let architecture =
            Architecture::of_texts(reader, whole("width")?, whole("n_heads")?, pool)?;
        Ok(Self { architecture, scale, file })
    }

    /// The model, with attention as a stage computes it.
    ///
    /// # Errors
    /// [`Error::File`] with the tensor that is missing or of another shape.
    pub fn model<A, T: Real>(
        &self,
        stage: impl FnOnce(LayerParameters<T>) -> A,
    ) -> Result<Remaining<A, T>> {
        let (file, architecture) = (&self.file, self.architecture);
        for slot in architecture.slots(self.scale.sensors.len()) {
            file.tensor(slot.name)?.expect_shape(&slot.shape)?;
        }
        let tokens = match architecture.reader {
            Reader::BiLstm { .. } => Tokens::Lstm(Lstm::from_file(file, "lstm.")?),
            Reader::Linear { width } => {
                let positions = Positions::Fixed(sinusoidal(N_STEPS, width));
                Tokens::Linear(self.linear("linear")?, positions)
            }
        };
        let attention = match architecture.n_heads {
            None => None,
            Some(_) => {
                let layer = self.layer()?;
                let gain = RowVector::from(self.numbers("norm.weight")?);
                let norm = LayerNorm::new(gain, self.numbers("norm.bias")?.into(), 1e-5)?;
                Some(Sublayer::new(stage(layer.cast()), Norms::after(norm)))
            }
        };
        let head = self.linear("head")?;
        Ok(Remaining { tokens, attention, pool: architecture.pool, head })
    }

    /// The parameters of attention.
    ///
    /// # Errors
    /// [`Error::NoAttention`] for a model without it; [`Error::File`] with the tensor that is
    /// missing or of another shape.
    pub fn layer(&self) -> Result<LayerParameters> {
        let n_heads = self.architecture.n_heads.ok_or(Error::NoAttention)?;
        Ok(read_layer(&self.file, n_heads, Some("attention."))?)
    }

    /// The model as the book uses it.
    ///
    /// # Errors
    /// As [`model`](Self::model).
    pub fn fused<T: Real>(&self) -> Result<Remaining<FusedAttention<T>, T>> {
        self.model(|parameters| FusedAttention::new(&parameters))
    }

    /// `[out, in]` row after row is `[in, out]` column after column.
    fn linear<T: Real>(&self, name: &str) -> Result<Linear<T>> {
        let weight = format!("{name}.weight");
        let tensor = self.file.tensor(&weight)?;
        let [d_out, d_in] = *tensor.shape() else {
            return Err(tensor.shape_error("two dimensions").into());
        };
        let weight = Matrix::from_vec(d_in, d_out, tensor.numbers_as()?);
        let bias = self.numbers(&format!("{name}.bias"))?;
        Ok(Linear::new(weight, Some(bias.into()))?)
    }

    fn numbers<T: Real>(&self, name: &str) -> Result<Vec<T>> {
        Ok(self.file.tensor(name)?.numbers_as()?)
    }
}
