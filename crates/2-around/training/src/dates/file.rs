//! A converter as a safetensors file, with the names and the layout that PyTorch's
//! `nn.Transformer(norm_first=True)` gives its tensors, and one that was trained.

use std::borrow::Cow;
use std::collections::BTreeMap;

use attention::{Matrix, Rng, SeedableRng};
use gradients::Entries;
use tensors::{Error, NewTensor, Result, TensorFile, to_bytes_with};

use super::{DateArchitecture, DateConverter, Dates, N_SOURCE, N_TARGET};

/// The trained model of the book as a file. A program that never reads it does not carry it.
pub const FILE: &[u8] = include_bytes!("../../data/dates.safetensors");

/// A table column by column from one row by row, or the other way with both numbers swapped.
fn transposed(entries: &[f32], n_rows: usize, n_columns: usize) -> Vec<f32> {
    let entry = |i: usize| entries[(i % n_rows) * n_columns + i / n_rows];
    (0..entries.len()).map(entry).collect()
}

impl DateConverter {
    /// Its sizes.
    pub(crate) fn architecture(&self) -> DateArchitecture {
        let d_model = self.source.tokens.ncols();
        let feed_forward = &self.model.encoder.blocks[0].feed_forward;
        let d_ff = feed_forward.as_ref().map_or(0, |around| around.function.w_1.d_out());
        DateArchitecture { d_model, n_heads: self.n_heads(), d_ff }
    }

    /// As a file, whose header says `what` it is.
    ///
    /// # Errors
    /// [`Error::Format`] for a header that no file can hold.
    pub fn to_safetensors(&self, what: &str) -> Result<Vec<u8>> {
        let mut model = self.clone();
        let built = model.architecture();
        let mut lists: Vec<(String, Vec<usize>, Vec<f32>)> = Vec::new();
        for (place, entries) in places(built).into_iter().zip(model.entries_mut()) {
            let Place { name, shape, is_table } = place;
            let entries = match is_table {
                true => transposed(entries, shape[1], shape[0]),
                false => entries.to_vec(),
            };
            match lists.iter_mut().find(|(other, ..)| *other == name) {
                None => lists.push((name, shape, entries)),
                Some((_, stacked, all)) => {
                    stacked[0] += shape[0];
                    all.extend(entries);
                }
            }
        }
        let tensors = lists.into_iter().map(|(name, shape, entries)| {
            NewTensor::new(
                name,
                &shape,
                [&Matrix::from_row_slice(1, entries.len(), &entries)],
            )
        });
        let tensors = tensors.collect::<Result<Vec<_>>>()?;
        let sizes = [built.d_model, built.n_heads, built.d_ff].map(|it| it.to_string());
        let sizes = ["d_model", "n_heads", "d_ff"].into_iter().zip(sizes.each_ref());
        let sizes = sizes.map(|(key, size)| (key, size.as_str()));
        let texts = [("format", "pt"), ("what", what)].into_iter().chain(sizes);
        to_bytes_with(&tensors, &texts.collect::<Vec<_>>())
    }

    /// From a file as [`to_safetensors`](Self::to_safetensors) writes it.
    ///
    /// # Errors
    /// As [`TensorFile::from_bytes`]; [`Error::MissingText`], [`Error::NoSize`];
    /// [`Error::MissingTensor`], [`Error::UnknownTensor`]; [`Error::Sizes`] for heads that do
    /// not divide the width.
    pub fn from_safetensors(bytes: impl Into<Cow<'static, [u8]>>) -> Result<Self> {
        let file = TensorFile::from_bytes("the file", bytes)?;
        let of_file = || file.name().to_string();
        let size = |key: &str| -> Result<usize> {
            let missing = || Error::MissingText { file: of_file(), key: key.to_owned() };
            let text = file.text(key).ok_or_else(missing)?;
            // No file has more than a u32 counts.
            let number = text.parse::<u32>().map(|size| size as usize);
            let (key, found) = (key.to_owned(), text.to_owned());
            number.map_err(|_| Error::NoSize { file: of_file(), key, found })
        };
        let built = DateArchitecture {
            d_model: size("d_model")?,
            n_heads: size("n_heads")?,
            d_ff: size("d_ff")?,
        };
        let places = places(built);
        check(&file, &places)?;
        // Every entry is overwritten.
        let mut model = Self::random(built, &mut Rng::seed_from_u64(0))
            .map_err(|source| Error::Sizes { file: of_file(), source })?;
        let mut n_taken: BTreeMap<&str, usize> = BTreeMap::new();
        for (place, entries) in places.iter().zip(model.entries_mut()) {
            let numbers: Vec<f32> = file.tensor(&place.name)?.numbers_as()?;
            let begin = n_taken.entry(&place.name).or_default();
            let own = &numbers[*begin..*begin + entries.len()];
            *begin += entries.len();
            match *place.shape {
                [n_rows, n_columns] if place.is_table => {
                    entries.copy_from_slice(&transposed(own, n_rows, n_columns));
                }
                _ => entries.copy_from_slice(own),
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
fn check(file: &TensorFile, places: &[Place]) -> Result<()> {
    let is_known = |name: &String| places.iter().any(|place| place.name == *name);
    if let Some(name) = file.names().into_iter().find(|name| !is_known(name)) {
        return Err(Error::UnknownTensor { file: file.name().to_string(), tensor: name });
    }
    for place in places {
        let of_same = places.iter().filter(|other| other.name == place.name);
        let mut expected = place.shape.clone();
        expected[0] = of_same.map(|other| other.shape[0]).sum();
        let tensor = file.tensor(&place.name)?;
        tensor.expect_shape(&expected)?;
        tensor.expect_dtype("F32")?;
    }
    Ok(())
}

/// Where a list of entries stands in a file. Lists of the same name are stacked there.
struct Place {
    name: String,
    /// Of this list alone, row by row.
    shape: Vec<usize>,
    /// A table has its rows there as it has them here. A projection is `[d_in, d_out]` here
    /// and column by column, which is `[d_out, d_in]` row by row.
    is_table: bool,
}

/// The places of a converter's entries, in the order of its [`DateConverter::entries_mut`].
fn places(built: DateArchitecture) -> Vec<Place> {
    let DateArchitecture { d_model, d_ff, .. } = built;
    let mut places = Vec::new();
    let mut add = |name: String, shape: &[usize], is_table: bool| {
        places.push(Place { name, shape: shape.to_vec(), is_table });
    };
    let tables = [
        ("source_embedding.weight", Dates::N_READ),
        ("source_positions.weight", N_SOURCE),
        ("target_embedding.weight", Dates::N_WRITTEN + 1),
        ("target_positions.weight", N_TARGET),
    ];
    for (name, n_rows) in tables {
        add(name.to_owned(), &[n_rows, d_model], true);
    }
    let sublayers = [
        ("encoder", vec!["self_attn", "feed-forward"]),
        ("decoder", vec!["self_attn", "multihead_attn", "feed-forward"]),
    ];
    for (side, sublayers) in sublayers {
        let block = format!("transformer.{side}.layers.0");
        for (i, sublayer) in sublayers.into_iter().enumerate() {
            let linears: Vec<(String, usize, usize)> = match sublayer {
                "feed-forward" => vec![
                    (format!("{block}.linear1."), d_ff, d_model),
                    (format!("{block}.linear2."), d_model, d_ff),
                ],
                attention => ["in_proj_", "in_proj_", "in_proj_", "out_proj."]
                    .map(|name| (format!("{block}.{attention}.{name}"), d_model, d_model))
                    .to_vec(),
            };
            for (name, d_out, d_in) in linears {
                add(format!("{name}weight"), &[d_out, d_in], false);
                add(format!("{name}bias"), &[d_out], false);
            }
            for of_norm in ["weight", "bias"] {
                add(format!("{block}.norm{}.{of_norm}", i + 1), &[d_model], false);
            }
        }
        for of_norm in ["weight", "bias"] {
            add(format!("transformer.{side}.norm.{of_norm}"), &[d_model], false);
        }
    }
    add("generator.weight".to_owned(), &[Dates::N_WRITTEN, d_model], false);
    add("generator.bias".to_owned(), &[Dates::N_WRITTEN], false);
    places
}
