//! Small layers on which every mistake of the bank shows, as the bank and as PyTorch have them.

mod layers;

use std::collections::BTreeMap;

use attention::nalgebra::Scalar;
use attention::{Matrix, RowVector};
use diagnosis::recipe::Packing;
use diagnosis::{
    Corner, HeadNorm, Intent, Mistake, NormKind, Pairing, Record, State, Weights, bank,
    computed,
};
use serde_json::{Map, Value, json};

use layers::cases;

/// A layer with inputs and masks.
#[derive(Debug, Clone)]
pub struct Case {
    /// What is special about it.
    pub name: &'static str,
    /// Its numbers.
    pub record: Record,
    /// What it is meant to be.
    pub intent: Intent,
}

/// What the bank computes of a case with a mistake, or without one.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The case's place among all.
    pub case: usize,
    /// The mistake.
    pub mistake: Option<&'static Mistake>,
    /// The [numbers] of the output.
    pub output: Vec<f64>,
}

/// Which mistakes show in at most so many cases of those that are kept.
const CASES_EACH: usize = 2;
/// So far apart is what shows.
const SHOWS: f64 = 1e-3;

/// Without a mistake, each case; and of each mistake the first cases in which it shows.
pub fn outcomes() -> (Vec<Case>, Vec<Outcome>) {
    let cases = cases();
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    let mut all = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        let of = |mistake: Option<&'static Mistake>| {
            let output = case.output(mistake)?;
            Some(Outcome { case: at, mistake, output })
        };
        let right = of(None).expect("a right layer");
        let mut shown = Vec::new();
        for mistake in bank() {
            let n = times.entry(mistake.id).or_default();
            if *n >= CASES_EACH || !mistake.is_possible(&case.record, &case.intent) {
                continue;
            }
            let shows = |wrong: &Outcome| {
                let pairs = wrong.output.iter().zip(&right.output);
                wrong.output.len() == right.output.len()
                    && pairs.clone().any(|(a, b)| (a - b).abs() > SHOWS)
            };
            if let Some(wrong) = of(Some(mistake)).filter(shows) {
                *n += 1;
                shown.push(wrong);
            }
        }
        all.push(right);
        all.extend(shown);
    }
    (cases, all)
}

impl Case {
    /// The [numbers] of the bank's output; nothing where shapes do not fit.
    pub fn output(&self, mistake: Option<&Mistake>) -> Option<Vec<f64>> {
        let mistakes: Vec<&Mistake> = mistake.into_iter().collect();
        let output = computed(&self.record, &self.intent, State::Output, &mistakes)?;
        Some(output.iter().flat_map(numbers).collect())
    }

    /// What PyTorch makes it of: the layer's options, its parameters, and a call.
    pub fn json(&self, ids: &[Option<&str>]) -> Value {
        let (record, intent) = (&self.record, &self.intent);
        let [q, k, v] = &record.weights.projections;
        let norm = record.weights.norms.as_ref().map(|norms| &norms[0]);
        let of_norm = |norm: &HeadNorm| match norm.kind {
            NormKind::Layer => "layer",
            _ => "rms",
        };
        let options = json!({
            "d_model": record.inputs[0][0].ncols(), "num_heads": intent.n_heads,
            "kdim": k.d_in(), "vdim": v.d_in(), "num_kv_heads": intent.n_kv_heads,
            "head_dim": q.d_out() / intent.n_heads,
            "v_head_dim": v.d_out() / intent.n_kv_heads,
            "packing": if intent.packing == Packing::HeadByHead { "heads" } else { "blocks" },
            "causal": intent.causal.map(|corner| match corner {
                Corner::TopLeft => "top-left",
                Corner::BottomRight => "bottom-right",
            }),
            "window": intent.window, "scale": intent.scale, "soft_cap": intent.cap,
            "slopes": intent.slopes, "sinks": record.weights.sinks.is_some(),
            "rotary": intent.rotary.map(|(pairing, _)| match pairing {
                Pairing::Halves => "halves",
                Pairing::Pairs => "pairs",
            }),
            "base": intent.rotary.map_or(10_000.0, |(_, base)| base),
            "qk_norm": norm.map(of_norm), "qk_norm_whole": norm.is_some_and(|it| it.is_whole),
        });
        let masks = &record.masks;
        let blocked = |open: &bool| !open;
        let pairs =
            masks.pairs.as_ref().map(|all| all.iter().map(|m| m.map(|open| !open)));
        let added = masks.added.as_ref().map(|all| all.iter().cloned());
        json!({
            "name": self.name, "options": options, "state": state(&record.weights),
            "inputs": record.inputs.each_ref().map(|all| {
                all.iter().map(rows).collect::<Vec<_>>()
            }),
            "padding": masks.padding.as_ref().map(|all| {
                let each = all.iter().map(|list| list.iter().map(blocked).collect());
                each.collect::<Vec<Vec<bool>>>()
            }),
            "blocked": pairs.map(|all| all.map(|m| rows(&m)).collect::<Vec<_>>()),
            "added": added.map(|all| all.map(|m| rows(&m)).collect::<Vec<_>>()),
            "offset": intent.offset,
            "positions": intent.positions.as_ref().map(|it| [&it.queries, &it.keys]),
            "ids": ids,
        })
    }
}

/// Of every second column, row by row: W^O has made each of all.
pub fn numbers(m: &Matrix) -> Vec<f64> {
    let row = |i: usize| m.row(i).iter().step_by(2).copied().collect::<Vec<_>>();
    (0..m.nrows()).flat_map(row).collect()
}

/// `[[…], […]]`
fn rows<T: Scalar + Into<Value>>(m: &Matrix<T>) -> Value {
    let row = |i: usize| m.row(i).iter().map(|x| x.clone().into()).collect::<Value>();
    (0..m.nrows()).map(row).collect()
}

/// The parameters under PyTorch's names, `[out, in]`.
fn state(weights: &Weights) -> Value {
    let mut state = Map::new();
    let row = |row: &RowVector<f64>| row.iter().copied().collect::<Value>();
    match &weights.packed {
        Some(packed) => {
            state.insert("in_proj_weight".into(), rows(&packed.weight.transpose()));
            let bias = packed.bias.as_ref().map(row);
            state.extend(bias.map(|bias| ("in_proj_bias".into(), bias)));
        }
        None => {
            for (name, linear) in ["q", "k", "v"].iter().zip(&weights.projections) {
                let weight = rows(&linear.weight.transpose());
                state.insert(format!("{name}_proj_weight"), weight);
            }
            let biases = weights.projections.iter().filter_map(|it| it.bias.as_ref());
            let all = biases.flatten().copied().collect::<Value>();
            state.insert("in_proj_bias".into(), all);
        }
    }
    if let Some(linear) = &weights.output {
        state.insert("out_proj.weight".into(), rows(&linear.weight.transpose()));
        let bias = linear.bias.as_ref().map(row);
        state.extend(bias.map(|bias| ("out_proj.bias".into(), bias)));
    }
    for (name, norm) in ["q_norm", "k_norm"].iter().zip(weights.norms.iter().flatten()) {
        state.insert(format!("{name}.weight"), row(&norm.gain));
        let bias = norm.bias.as_ref().map(row);
        state.extend(bias.map(|bias| (format!("{name}.bias"), bias)));
    }
    let sinks = weights.sinks.as_ref().map(|all| json!(all));
    state.extend(sinks.map(|sinks| ("sinks".into(), sinks)));
    Value::Object(state)
}
