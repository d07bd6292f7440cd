//! A converter as a safetensors file, with the names and the layout that PyTorch's
//! `nn.Transformer(norm_first=True)` gives its tensors, and one that was trained.

use std::collections::BTreeMap;

use attention::{Rng, SeedableRng};
use gradients::Entries;
use safetensors::tensor::{TensorView, serialize};
use safetensors::{Dtype, SafeTensors};

use super::layout::{Place, places};
use super::{DateArchitecture, DateConverter, FileError};
use crate::Result;

/// The trained model of the book as a file. Who does not read it does not carry it.
pub const FILE: &[u8] = include_bytes!("../../data/dates.safetensors");

/// A table column by column from one row by row, or the other way with both numbers swapped.
fn transposed(entries: &[f32], n_rows: usize, n_columns: usize) -> Vec<f32> {
    let entry = |i: usize| entries[(i % n_rows) * n_columns + i / n_rows];
    (0..entries.len()).map(entry).collect()
}

impl DateConverter {
    /// Its sizes.
    pub fn architecture(&self) -> DateArchitecture {
        let d_model = self.source.tokens.ncols();
        let feed_forward = &self.model.encoder.blocks[0].feed_forward;
        let d_ff = feed_forward.as_ref().map_or(0, |around| around.function.w_1.d_out());
        DateArchitecture { d_model, n_heads: self.n_heads(), d_ff }
    }

    /// As a file, whose header says `what` it is.
    ///
    /// # Errors
    /// [`FileError::Format`] for a header that no file can hold.
    pub fn to_safetensors(&self, what: &str) -> Result<Vec<u8>> {
        let mut model = self.clone();
        let built = model.architecture();
        let mut tensors: Vec<(String, Vec<usize>, Vec<u8>)> = Vec::new();
        for (place, entries) in places(built).into_iter().zip(model.entries_mut()) {
            let Place { name, shape, is_table } = place;
            let entries = match is_table {
                true => transposed(entries, shape[1], shape[0]),
                false => entries.to_vec(),
            };
            let bytes = entries.iter().flat_map(|entry| entry.to_le_bytes());
            match tensors.iter_mut().find(|(other, ..)| *other == name) {
                None => tensors.push((name, shape, bytes.collect())),
                Some((_, stacked, all)) => {
                    stacked[0] += shape[0];
                    all.extend(bytes);
                }
            }
        }
        let format = |why: safetensors::SafeTensorError| FileError::Format {
            n_bytes: 0,
            why: why.to_string(),
        };
        let mut views = Vec::new();
        for (name, shape, bytes) in &tensors {
            let view = TensorView::new(Dtype::F32, shape.clone(), bytes);
            views.push((name.as_str(), view.map_err(format)?));
        }
        let DateArchitecture { d_model, n_heads, d_ff } = built;
        let sizes = [("d_model", d_model), ("n_heads", n_heads), ("d_ff", d_ff)];
        let header = [("format", "pt".to_owned()), ("what", what.to_owned())].into_iter();
        let header = header.chain(sizes.map(|(key, size)| (key, size.to_string())));
        let header = header.map(|(key, text)| (key.to_owned(), text)).collect();
        Ok(serialize(views, Some(header)).map_err(format)?)
    }

    /// From a file as [`to_safetensors`](Self::to_safetensors) writes it.
    ///
    /// # Errors
    /// [`FileError`], as [`Error::File`](crate::Error::File);
    /// [`Error::Sizes`](crate::Error::Sizes) for heads that do not divide the width.
    pub fn from_safetensors(bytes: &[u8]) -> Result<Self> {
        let format = |why: safetensors::SafeTensorError| FileError::Format {
            n_bytes: bytes.len(),
            why: why.to_string(),
        };
        let file = SafeTensors::deserialize(bytes).map_err(format)?;
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(format)?;
        let size = |key: &'static str| -> Result<usize, FileError> {
            let header = header.metadata().as_ref();
            let text =
                header.and_then(|it| it.get(key)).ok_or(FileError::NoSize { key })?;
            // More than a u32 has no file.
            let number = text.parse::<u32>().map(|size| size as usize);
            number.map_err(|_| FileError::Size { key, found: text.clone() })
        };
        let built = DateArchitecture {
            d_model: size("d_model")?,
            n_heads: size("n_heads")?,
            d_ff: size("d_ff")?,
        };
        let places = places(built);
        check(&file, &places)?;
        // Every entry is overwritten.
        let mut model = Self::random(built, &mut Rng::seed_from_u64(0))?;
        let mut n_taken: BTreeMap<&str, usize> = BTreeMap::new();
        for (place, entries) in places.iter().zip(model.entries_mut()) {
            let numbers = numbers(view(&file, &place.name)?.data());
            let begin = n_taken.entry(&place.name).or_default();
            let own = &numbers[*begin..*begin + entries.len()];
            *begin += entries.len();
            match place.is_table {
                true => entries.copy_from_slice(&transposed(
                    own,
                    place.shape[0],
                    place.shape[1],
                )),
                false => entries.copy_from_slice(own),
            }
        }
        Ok(model)
    }

    /// The one with the usual sizes that was trained with seed 1, the first of ten with a
    /// head that aligns: `cargo run --release -p training --example seeds -- dates-model`
    /// writes it.
    ///
    /// # Errors
    /// None that a test has not seen to.
    pub fn trained() -> Result<Self> {
        Self::from_safetensors(FILE)
    }
}

/// That all tensors are there, in their shapes, and no others.
fn check(file: &SafeTensors<'_>, places: &[Place]) -> Result<(), FileError> {
    let is_known = |name: &&str| places.iter().any(|place| place.name == *name);
    if let Some(name) = file.names().into_iter().filter(|name| !is_known(name)).min() {
        return Err(FileError::Unknown { name: name.to_owned() });
    }
    for place in places {
        let of_same = places.iter().filter(|other| other.name == place.name);
        let mut expected = place.shape.clone();
        expected[0] = of_same.map(|other| other.shape[0]).sum();
        let view = view(file, &place.name)?;
        if view.shape() != expected {
            let (name, found) = (place.name.clone(), view.shape().to_vec());
            return Err(FileError::Shape { name, found, expected });
        }
    }
    Ok(())
}

/// A tensor of `f32`.
fn view<'a>(file: &SafeTensors<'a>, name: &str) -> Result<TensorView<'a>, FileError> {
    let missing = |_| FileError::Missing { name: name.to_owned() };
    let view = file.tensor(name).map_err(missing)?;
    match view.dtype() {
        Dtype::F32 => Ok(view),
        other => {
            let (name, found) = (name.to_owned(), format!("{other:?}"));
            Err(FileError::Numbers { name, found })
        }
    }
}

fn numbers(bytes: &[u8]) -> Vec<f32> {
    let (numbers, _) = bytes.as_chunks::<4>();
    numbers.iter().map(|number| f32::from_le_bytes(*number)).collect()
}
