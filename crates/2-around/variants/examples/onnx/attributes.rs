//! The operator's attributes, with its defaults.

use std::fmt::Display;
use std::str::FromStr;

use anyhow::{Context, Result, bail, ensure};

/// What a case says of itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Attributes {
    pub is_causal: bool,
    pub q_num_heads: Option<usize>,
    pub kv_num_heads: Option<usize>,
    pub scale: Option<f64>,
    pub soft_cap: Option<f64>,
    pub left_window: Option<usize>,
    pub right_window: Option<usize>,
    pub matmul_output: MatmulOutput,
}

/// What the fourth output shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MatmulOutput {
    #[default]
    Scores,
    Capped,
    Masked,
    Shares,
}

/// The operator's attributes.
const NAMES: [&str; 9] = [
    "is_causal",
    "q_num_heads",
    "kv_num_heads",
    "scale",
    "softcap",
    "left_window_size",
    "right_window_size",
    "qk_matmul_output_mode",
    "softmax_precision",
];

impl Attributes {
    /// From a file's metadata: `attr.scale` and so on. Others say where a case is from; one
    /// that is an attribute's name without `attr.` is refused, since it would be left alone.
    pub fn read<'a>(
        metadata: impl IntoIterator<Item = (&'a String, &'a String)>,
    ) -> Result<Self> {
        let mut of = Self::default();
        for (name, text) in metadata {
            let Some(name) = name.strip_prefix("attr.") else {
                ensure!(
                    !NAMES.contains(&name.as_str()),
                    "the metadata has {name}, and attributes are read as attr.{name}"
                );
                continue;
            };
            match name {
                "is_causal" => of.is_causal = number::<i64>(name, text)? != 0,
                "q_num_heads" => of.q_num_heads = Some(number(name, text)?),
                "kv_num_heads" => of.kv_num_heads = Some(number(name, text)?),
                "scale" => of.scale = Some(number(name, text)?),
                "softcap" => {
                    of.soft_cap = Some(number(name, text)?).filter(|&cap| cap != 0.0);
                }
                "left_window_size" => of.left_window = window(name, text)?,
                "right_window_size" => of.right_window = window(name, text)?,
                "qk_matmul_output_mode" => {
                    of.matmul_output = match number(name, text)? {
                        0 => MatmulOutput::Scores,
                        1 => MatmulOutput::Capped,
                        2 => MatmulOutput::Masked,
                        3 => MatmulOutput::Shares,
                        other => bail!("{name} is {other}, expected 0 to 3"),
                    }
                }
                "softmax_precision" => {
                    let kind: i64 = number(name, text)?;
                    ensure!(
                        [1, 10, 11, 16].contains(&kind),
                        "{name} is {kind}, expected 1, 10, 11 or 16"
                    );
                }
                _ => bail!("no attribute {name}"),
            }
        }
        Ok(of)
    }
}

fn number<T: FromStr<Err: Display>>(name: &str, text: &str) -> Result<T> {
    let parsed = text.trim().parse();
    parsed.map_err(|error: T::Err| anyhow::anyhow!("{name} is {text:?}: {error}"))
}

/// −1 is no bound.
fn window(name: &str, text: &str) -> Result<Option<usize>> {
    match number::<i64>(name, text)? {
        -1 => Ok(None),
        size => {
            Ok(Some(usize::try_from(size).with_context(|| format!("{name} is {size}"))?))
        }
    }
}
