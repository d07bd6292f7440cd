//! What only some layers have: norms of queries and keys, sinks, windows and slopes.

use attention::RowVector;
use tensors::Tensor;

use super::Files;
use super::settings::{ALIBI, EPS, FILE, IS_GEMMA, NORM, WINDOW};
use crate::{Error, HeadNorm, Intent, NormKind, Result, Weights};

const NORMS: [&[&str]; 2] = [
    &["q_norm", "norm_q", "query_norm", "q_layernorm", "query_layernorm", "q_ln"],
    &["k_norm", "norm_k", "key_norm", "k_layernorm", "key_layernorm", "k_ln"],
];
const SINKS: &[&str] = &["sinks", "sink", "attn_sink", "attention_sinks"];
const SINK_WORDS: &str = "a score more for each head, whose weight is dropped";
const SLOPES: &[&str] = &["alibi_slopes", "slopes"];
const SLOPE_WORDS: &str = "what scores lose per token of distance";

/// The parameters of such a layer.
#[derive(Default)]
pub struct Kinds {
    norms: Option<[HeadNorm; 2]>,
    sinks: Option<Vec<f64>>,
    slopes: Option<Vec<f64>>,
    /// How many heads their shapes say there are, and which tensor says so.
    pub heads: Option<(usize, String)>,
}

impl Kinds {
    /// Those whose names stand behind a prefix, or behind none.
    pub fn read(files: &Files<'_>, prefix: &str, width: usize) -> Result<Self> {
        let mut kinds = Self::default();
        let own = |names: &[&str], form: &str| {
            let mut all = names.iter().flat_map(|name| {
                [format!("{prefix}{name}{form}"), format!("{name}{form}")]
            });
            all.find_map(|name| files.tensor(&name).map(|tensor| (name, tensor)))
        };
        let gains = NORMS.map(|names| {
            [".weight", ".scale", ""].iter().find_map(|form| own(names, form))
        });
        match &gains {
            [Some((q, gain)), Some((k, of_keys))] => {
                let norm = |role: usize, gain| {
                    let bias = own(NORMS[role], ".bias").map(|(_, bias)| bias);
                    norm(files, gain, bias)
                };
                let norms = [norm(0, gain)?, norm(1, of_keys)?];
                let shape = gain.shape_text();
                files.note(format!("{q} and {k} {shape}: {}", norms[0].words()));
                let heads = match *gain.shape() {
                    [n] if n < width && width.is_multiple_of(n) => Some(width / n),
                    [heads, _] => Some(heads),
                    _ => None,
                };
                kinds.heads = heads.map(|heads| (heads, q.clone()));
                kinds.norms = Some(norms);
            }
            [None, None] => (),
            [Some((name, _)), None] | [None, Some((name, _))] => {
                return Err(Error::OneNorm { name: name.clone() });
            }
        }
        for (names, into, words) in [
            (SINKS, &mut kinds.sinks, SINK_WORDS),
            (SLOPES, &mut kinds.slopes, SLOPE_WORDS),
        ] {
            let Some((name, tensor)) = own(names, "") else { continue };
            files.note(format!("{name} {}: {words}", tensor.shape_text()));
            let numbers = into.insert(tensor.numbers()?);
            kinds.heads = Some((numbers.len(), name));
        }
        Ok(kinds)
    }

    /// What of it is a parameter.
    pub fn add_to(&self, weights: &mut Weights) {
        weights.sinks.clone_from(&self.sinks);
        weights.norms.clone_from(&self.norms);
        let projections = &weights.projections;
        for (role, norm) in weights.norms.iter_mut().flatten().enumerate() {
            let n = norm.gain.len();
            norm.is_whole = norm.is_whole && n == projections[role].d_out();
        }
    }

    /// What of it the layer was meant to have, beside what the reader and the file say.
    pub fn intend(self, files: &Files<'_>, intent: &mut Intent) -> Result<()> {
        let window = files.meant(files.said.window.map(Some), &WINDOW)?;
        if let Some((Some(window), by)) = window {
            intent.window = Some(window);
            files.say(by, format!("a window of {window} keys"));
            if intent.causal.is_none() {
                files.assume("a window reaches as far ahead as behind");
            }
        }
        let alibi = files.meant(files.said.is_alibi.then_some(true), &ALIBI)?;
        intent.slopes = self.slopes;
        if intent.slopes.is_some() {
            files.say(FILE, "slopes of ALiBi");
        } else if let Some((true, by)) = alibi {
            files.say(by, "the paper's slopes of ALiBi");
            intent.slopes = Some(Intent::paper_slopes(intent.n_heads));
        }
        Ok(())
    }
}

fn norm(
    files: &Files<'_>,
    gain: &Tensor<'_>,
    bias: Option<Tensor<'_>>,
) -> Result<HeadNorm> {
    let kind = files.setting(&NORM)?.flatten().unwrap_or(match bias {
        Some(_) => NormKind::Layer,
        None => NormKind::Unsaid,
    });
    if kind == NormKind::Unsaid {
        files.assume(
            "norms without a bias subtract no mean (qk_norm: layer says that they do)",
        );
    }
    let eps = files.setting(&EPS)?;
    let mut gain_row = RowVector::from_vec(gain.numbers()?);
    if files.setting(&IS_GEMMA)? == Some(true) {
        gain_row.add_scalar_mut(1.0);
    }
    let bias = bias.map(|bias| bias.numbers()).transpose()?.map(RowVector::from_vec);
    let is_whole = gain.shape().len() == 1;
    if eps.is_none() {
        files.assume("eps 1e-6 in norms");
    }
    Ok(HeadNorm { gain: gain_row, bias, kind, is_whole, eps: eps.unwrap_or(1e-6) })
}
