//! The parameters, by the names of many libraries.

use std::collections::BTreeSet;

use attention::{Linear, Matrix, RowVector};
use tensors::Tensor;

use super::Files;
use crate::recipe::Packing;
use crate::{Error, Intent, Result, Weights};

/// Names of W^Q, W^K, W^V and W^O without `.weight` or `.bias`, in lower case.
const PROJECTIONS: [&str; 4] = [
    "q_proj w_q wq query q_lin to_q q_linear fc_q query_proj linears.0 w_qs q",
    "k_proj w_k wk key k_lin to_k k_linear fc_k key_proj linears.1 w_ks k",
    "v_proj w_v wv value v_lin to_v v_linear fc_v value_proj linears.2 w_vs v",
    "out_proj o_proj w_o wo output.dense out_lin to_out.0 to_out out_linear fc_o fc_out \
     c_proj linears.3 dense proj out fc o",
];

/// Names of all three side by side: one block after the other.
const PACKED: &str = "in_proj c_attn qkv wqkv qkv_proj to_qkv w_qkv in_proj_qkv";

/// The same, head by head.
const PACKED_BY_HEADS: &str = "query_key_value";

/// What follows such a name, and what its bias has in place of it.
const FORMS: [(&str, &str); 4] =
    [(".weight", ".bias"), ("_weight", "_bias"), (".kernel", ".bias"), ("", "_bias")];

/// Names that are those of tensors where nothing follows them.
const NEVER_BARE: &[&str] =
    &["query", "key", "value", "q", "k", "v", "o", "out", "proj", "dense", "fc"];

/// Parameters as the file has them.
pub struct FileWeights {
    packed: Option<Linear>,
    projections: Option<[Linear; 3]>,
    output: Option<Linear>,
    /// How a packed W is packed.
    pub packing: Packing,
    /// What stands before the layer's names.
    pub prefix: String,
    /// What stands before those of other layers.
    pub others: Vec<String>,
}

impl FileWeights {
    /// The width that queries' heads share, as far as it is known without their number.
    pub fn width(&self) -> usize {
        let of_packed = self.packed.as_ref().map_or(0, |packed| packed.d_out() / 3);
        let of_output = self.output.as_ref().map_or(of_packed, Linear::d_in);
        self.projections.as_ref().map_or(of_output, |all| all[0].d_out())
    }

    /// W^Q, W^K and W^V apart.
    pub fn split(self, intent: &Intent) -> Result<Weights> {
        let Self { packed, projections, output, .. } = self;
        if let Some(projections) = projections {
            return Ok(Weights::new(projections, output));
        }
        let packed = packed.ok_or(Error::NoOutput)?;
        let Intent { n_heads, n_kv_heads, packing, .. } = *intent;
        let columns = packed.d_out();
        let refused = || Error::Packed { columns, heads: n_heads, kv_heads: n_kv_heads };
        // Numbers that somebody typed: of more heads than columns no sum is made.
        let heads = n_kv_heads.checked_mul(2).and_then(|both| both.checked_add(n_heads));
        let heads = heads.filter(|heads| (1..=columns).contains(heads));
        let d_k = columns / heads.ok_or_else(refused)?;
        let widths = [n_heads, n_kv_heads, n_kv_heads].map(|heads| heads * d_k);
        Weights::of_packed(packed, packing, widths, d_k, output).ok_or_else(refused)
    }
}

/// One weight of the file: its name, and the part of it that all of a layer's have.
#[derive(PartialEq)]
struct WeightNames {
    prefix: String,
    weight: String,
    bias: String,
}

/// The parameters of the layer that is meant.
pub fn read(files: &Files<'_>) -> Result<FileWeights> {
    let packed = named(files, &format!("{PACKED} {PACKED_BY_HEADS}"));
    let separate = [0, 1, 2].map(|role| named(files, PROJECTIONS[role]));
    let has_all = |prefix: &str| {
        separate.iter().all(|named| named.iter().any(|it| it.prefix == prefix))
    };
    let has_packed = |prefix: &str| packed.iter().any(|it| it.prefix == prefix);
    let all = packed.iter().chain(&separate[0]).map(|it| it.prefix.as_str());
    let prefixes: BTreeSet<&str> =
        all.filter(|it| has_packed(it) || has_all(it)).collect();
    let prefix = one_of(files, &prefixes)?;
    let others = prefixes.iter().filter(|it| **it != prefix);
    let others: Vec<String> = others.map(|it| (*it).to_string()).collect();
    let outputs = named(files, PROJECTIONS[3]);
    let beside = |it: &&WeightNames| it.prefix == prefix || prefix.ends_with("self.");
    let output = outputs.iter().find(beside);
    let all = packed.iter().chain(separate.iter().flatten());
    let all = all.filter(|it| it.prefix == prefix).chain(output);
    let names: Vec<String> = all.flat_map(|it| [&it.weight, &it.bias]).cloned().collect();
    files.expect_tensors(&names)?;
    let output = output.map(|it| linear(files, it)).transpose()?;
    let of = |named: &[WeightNames]| {
        let own = named.iter().find(|it| it.prefix == prefix);
        own.map(|own| linear(files, own)).transpose()
    };
    let by_heads = named(files, PACKED_BY_HEADS);
    let own = packed.iter().find(|it| it.prefix == prefix);
    let is_by_heads = own.is_some_and(|own| by_heads.contains(own));
    let packing = if is_by_heads { Packing::HeadByHead } else { Packing::Blocks };
    let packed = of(&packed)?;
    let projections = match packed {
        Some(_) => None,
        None => {
            let none = || Error::NoLayer { names: files.all_names() };
            let [q, k, v] = separate.each_ref().map(|role| of(role)?.ok_or_else(none));
            Some([q?, k?, v?])
        }
    };
    Ok(FileWeights { packed, projections, output, packing, prefix, others })
}

fn one_of(files: &Files<'_>, prefixes: &BTreeSet<&str>) -> Result<String> {
    let same = |a: &str, b: &str| a.trim_end_matches('.') == b.trim_end_matches('.');
    let shown = |it: &&str| if it.is_empty() { "no prefix" } else { it }.to_string();
    let chosen: Vec<&&str> = match &files.said.prefix {
        Some(asked) => prefixes.iter().filter(|it| same(it, asked)).collect(),
        None => prefixes.iter().collect(),
    };
    match chosen[..] {
        [one] => Ok((*one).to_string()),
        [] if prefixes.is_empty() => Err(Error::NoLayer { names: files.all_names() }),
        _ => Err(Error::SeveralLayers { prefixes: prefixes.iter().map(shown).collect() }),
    }
}

/// The weights of the file that have one of these names behind some prefix.
fn named(files: &Files<'_>, bases: &str) -> Vec<WeightNames> {
    let mut found: Vec<(usize, WeightNames)> = Vec::new();
    let mut add = |rank, prefix: &str, weight: &str, bias| {
        let (prefix, weight) = (prefix.to_string(), weight.to_string());
        found.push((rank, WeightNames { prefix, weight, bias }));
    };
    for (wanted, own) in &files.said.names {
        let wanted = wanted.to_lowercase();
        if bases.split(' ').any(|base| base == wanted.trim_end_matches(".weight")) {
            add(0, "", own, own.replace("weight", "bias"));
        }
    }
    for name in files.all_names() {
        let lower = name.to_lowercase();
        for (rank, base) in bases.split(' ').enumerate() {
            for (form, bias) in FORMS {
                let ending = format!("{base}{form}");
                let Some(prefix) = lower.strip_suffix(&ending) else { continue };
                let is_bare = form.is_empty() && NEVER_BARE.contains(&base);
                if is_bare || !(prefix.is_empty() || prefix.ends_with('.')) {
                    continue;
                }
                let stem = &name[..name.len() - form.len()];
                let (prefix, local) = (&name[..prefix.len()], &stem[prefix.len() + 1..]);
                let bias = match form {
                    "" => format!("{prefix}b{local}"),
                    _ => format!("{stem}{bias}"),
                };
                add(rank, prefix, &name, bias);
            }
        }
    }
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, named)| named).collect()
}

/// `[in, out]`, however the file has it.
fn linear(files: &Files<'_>, named: &WeightNames) -> Result<Linear> {
    let weight = files.own(&named.weight).ok_or(Error::NoOutput)?;
    let base = named.weight.to_lowercase();
    let is_conv = ["c_attn.weight", "c_proj.weight"].iter().any(|it| base.ends_with(it));
    let is_in_out = files.said.is_in_out || is_conv || base.ends_with("kernel");
    if !is_in_out {
        files.assume("weights are [out, in]");
    }
    let matrix = matrix(&weight, is_in_out)?;
    let bias = files.own(&named.bias).map(|bias| bias.numbers()).transpose()?;
    files.parameter(format!(
        "{} {}, stored [{}]{}",
        named.weight,
        weight.shape_text(),
        if is_in_out { "in, out" } else { "out, in" },
        if bias.is_some() { ", with its bias" } else { ", without a bias" },
    ));
    Ok(Linear::new(matrix, bias.map(RowVector::from_vec))?)
}

/// A weight of two dimensions; or of three, of which two are heads and their width.
fn matrix(weight: &Tensor<'_>, is_in_out: bool) -> Result<Matrix> {
    let numbers = weight.numbers()?;
    let (rows, columns) = match *weight.shape() {
        [rows, columns] => (rows, columns),
        [a, b, c] if is_in_out && a <= b * c && a > c => (a, b * c),
        [a, b, c] if is_in_out => (a * b, c),
        _ => return Err(weight.shape_error("two dimensions").into()),
    };
    Ok(match is_in_out {
        true => Matrix::from_row_slice(rows, columns, &numbers),
        false => Matrix::from_column_slice(columns, rows, &numbers),
    })
}
