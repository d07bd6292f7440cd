//! Tensors become maps, text by text; padding is cut.

use attention::Matrix;
use tensors::{Tensor, TensorFile};

use crate::error::{Error, Result};

/// All maps of a file.
pub(super) struct Layers {
    /// `maps[l][t][h]`, `[n_q, n_kv]`.
    maps: Vec<Vec<Vec<Matrix>>>,
    pub(super) n_q: usize,
    pub(super) n_kv: usize,
    /// How far a row's sum may be from 1.
    pub(super) tolerance: f64,
}

/// How far rounding alone takes a row's sum from 1: maps of 64 bits too come from a softmax in
/// 32 often.
fn tolerance(dtype: &str) -> f64 {
    match dtype {
        "F16" => 2f64.powi(-10),
        "BF16" => 2f64.powi(-7),
        _ => 1e-4,
    }
}

fn is_numbered(name: &str) -> bool {
    name.strip_prefix("attn.").is_some_and(|l| l.parse::<usize>().is_ok())
}

/// Whether each tensor of a file is one that is read.
pub(super) fn expect_known(file: &str, names: &[String]) -> Result<()> {
    let is_known = |name: &&String| {
        is_numbered(name) || matches!(name.as_str(), "attn" | "attention_mask")
    };
    match names.iter().find(|name| !is_known(name)) {
        None => Ok(()),
        Some(tensor) => {
            Err(Error::Unknown { file: file.to_owned(), tensor: tensor.clone() })
        }
    }
}

impl Layers {
    pub(super) fn read(file: &TensorFile) -> Result<Self> {
        let names = file.names();
        let name = || file.name().to_owned();
        expect_known(file.name(), &names)?;
        let of_layers: Vec<&String> =
            names.iter().filter(|name| is_numbered(name)).collect();
        if file.contains("attn") {
            return match of_layers.first() {
                Some(&other) => {
                    Err(Error::BothForms { file: name(), other: other.clone() })
                }
                None => Self::stacked(&file.tensor("attn")?),
            };
        }
        let Some(last) = of_layers.last() else {
            return Err(Error::NoMaps { file: name() });
        };
        let named: Vec<String> =
            (0..of_layers.len()).map(|l| format!("attn.{l}")).collect();
        if let Some(missing) = named.iter().position(|name| !file.contains(name)) {
            let last = (*last).clone();
            return Err(Error::Hole { file: name(), missing, last });
        }
        Self::numbered(file, &named)
    }

    /// (layers, heads, n_q, n_kv).
    fn stacked(tensor: &Tensor<'_>) -> Result<Self> {
        let [_, n_heads, n_q, n_kv] = *tensor.shape() else {
            return Err(tensor.shape_error("(layers, heads, n_q, n_kv)").into());
        };
        let all = tensor.matrices()?;
        let maps = all.chunks(n_heads).map(|heads| vec![heads.to_vec()]).collect();
        Ok(Self { maps, n_q, n_kv, tolerance: tolerance(&tensor.dtype()) })
    }

    /// (heads, n_q, n_kv) or (batch, heads, n_q, n_kv), a tensor per layer.
    fn numbered(file: &TensorFile, names: &[String]) -> Result<Self> {
        let mut layers = Self { maps: vec![], n_q: 0, n_kv: 0, tolerance: 0.0 };
        let mut n_texts = 0;
        for (l, name) in names.iter().enumerate() {
            let tensor = file.tensor(name)?;
            let (batch, n_heads, n_q, n_kv) = match *tensor.shape() {
                [heads, n_q, n_kv] => (1, heads, n_q, n_kv),
                [batch, heads, n_q, n_kv] => (batch, heads, n_q, n_kv),
                _ => {
                    let expected = "(heads, n_q, n_kv) or (batch, heads, n_q, n_kv)";
                    return Err(tensor.shape_error(expected).into());
                }
            };
            if l == 0 {
                (n_texts, layers.n_q, layers.n_kv) = (batch, n_q, n_kv);
            } else if (batch, n_q, n_kv) != (n_texts, layers.n_q, layers.n_kv) {
                let expected = format!(
                    "as in attn.0 {n_texts} texts, {} queries and {} keys",
                    layers.n_q, layers.n_kv
                );
                return Err(tensor.shape_error(&expected).into());
            }
            let all = tensor.matrices()?;
            layers.maps.push(all.chunks(n_heads).map(<[_]>::to_vec).collect());
            layers.tolerance = layers.tolerance.max(tolerance(&tensor.dtype()));
        }
        Ok(layers)
    }

    pub(super) fn n_texts(&self) -> usize {
        self.maps.first().map_or(0, Vec::len)
    }

    /// Of the first layer.
    pub(super) fn n_heads(&self) -> usize {
        self.maps.iter().flatten().map(Vec::len).max().unwrap_or_default()
    }

    /// Takes the maps of one text, `[l][h]`: of these keys, and where a text asks itself of
    /// the same queries.
    pub(super) fn take_text(
        &mut self,
        nth: usize,
        kept: &[usize],
        is_self: bool,
    ) -> Vec<Vec<Matrix>> {
        let is_whole = kept.len() == self.n_kv;
        let cut = |map: Matrix| match is_self {
            _ if is_whole => map,
            true => map.select_columns(kept).select_rows(kept),
            false => map.select_columns(kept),
        };
        let of_layer =
            |texts: &mut Vec<Vec<Matrix>>| std::mem::take(&mut texts[nth]).into_iter();
        self.maps.iter_mut().map(|texts| of_layer(texts).map(cut).collect()).collect()
    }
}

/// Which keys are tokens, text by text.
pub(super) struct Padding(Vec<Vec<usize>>);

impl Padding {
    pub(super) fn read(file: &TensorFile, layers: &Layers) -> Result<Self> {
        let (n_texts, n) = (layers.n_texts(), layers.n_kv);
        let Some(tensor) = file.get("attention_mask") else {
            return Ok(Self(vec![(0..n).collect(); n_texts]));
        };
        if !(n_texts == 1 && tensor.shape() == [n]) {
            tensor.expect_shape(&[n_texts, n])?;
        }
        let mask = tensor.integers()?;
        let mut kept = Vec::new();
        for (text, row) in mask.chunks(n).enumerate() {
            let name = || file.name().to_owned();
            if let Some(&value) = row.iter().find(|value| !matches!(value, 0 | 1)) {
                return Err(Error::MaskValue { file: name(), text, value });
            }
            let real: Vec<usize> = (0..n).filter(|&key| row[key] == 1).collect();
            if real.is_empty() {
                return Err(Error::AllPadding { file: name(), text });
            }
            kept.push(real);
        }
        Ok(Self(kept))
    }

    pub(super) fn kept(&self, nth: usize) -> Vec<usize> {
        self.0[nth].clone()
    }
}
