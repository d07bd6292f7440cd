//! Counting.

use anyhow::{Context, Error, Result};
use attention::{
    Dims, Mask, MultiHeadAttention, MultiplyAdds, ParameterCount, thousands,
};
use fused_heads::FusedAttention;
use lessons::counting::{count, work};

use crate::facts::{Facts, facts};
use crate::parts::{layer, tokens};
use crate::question::Run;

pub const RUNS: &[(&str, Run)] = &[
    ("parameters", parameters),
    ("more-heads", more_heads),
    ("biases", biases),
    ("w-o-512", w_o),
    ("undivided", undivided),
    ("twice-the-length", length),
    ("maps", maps),
];

/// The ledger of a layer whose heads share the width.
fn ledger(n: &Facts, bias: bool) -> Result<ParameterCount> {
    let [d_model, n_heads] = n.wholes(["d_model", "n_heads"])?;
    Ok(count(Dims::new(d_model, n_heads)?, bias))
}

/// What the lines of a ledger count whose names begin so.
fn counted(ledger: &ParameterCount, name: &str) -> usize {
    let lines = ledger.counts().iter().filter(|line| line.name().starts_with(name));
    lines.map(|line| line.parameters()).sum()
}

fn parameters(n: &Facts) -> Result<Facts> {
    let ledger = ledger(n, true)?;
    let (all, matrices) = (ledger.total(), counted(&ledger, "W"));
    let (w_o, b_o) = (counted(&ledger, "W^O"), counted(&ledger, "b^O"));
    Ok(facts![
        all,
        matrices,
        ledger = ledger.to_string(),
        of_heads = matrices - w_o,
        without_output = all - w_o - b_o,
    ])
}

fn more_heads(n: &Facts) -> Result<Facts> {
    let [d_model, n_heads, n_many] = n.wholes(["d_model", "n_heads", "n_many"])?;
    let few = ledger(n, true)?.total();
    let many = count(Dims::new(d_model, n_many)?, true).total();
    let width = d_model / n_heads;
    let wide = Dims::with_head_sizes(d_model, n_many, width, width)?;
    Ok(facts![
        few,
        many,
        width,
        narrow = d_model / n_many,
        gained = many.abs_diff(few),
        gained_wide = count(wide, true).total() - few,
    ])
}

fn biases(n: &Facts) -> Result<Facts> {
    let ledger_with = ledger(n, true)?;
    let lost = ledger_with.total() - ledger(n, false)?.total();
    let lines = ledger_with.to_string();
    let lines: Vec<&str> = lines.lines().filter(|line| line.starts_with('b')).collect();
    let biases = ledger_with.counts().iter().filter(|line| line.name().starts_with('b'));
    let of_one_head: usize = biases.map(|line| line.shape().1).sum();
    let of_heads = lost - counted(&ledger_with, "b^O");
    Ok(facts![lost, of_heads, of_one_head, lines = lines.join("\n")])
}

fn w_o(n: &Facts) -> Result<Facts> {
    let ([n_heads], ledger) = (n.wholes(["n_heads"])?, ledger(n, true)?);
    let w_o = counted(&ledger, "W^O");
    let lines = ledger.to_string();
    let line = lines.lines().find(|line| line.starts_with("W^O"));
    Ok(facts![
        w_o,
        line = line.context("a layer has W^O")?,
        of_one_head = w_o / n_heads,
        one_a_head = w_o * n_heads,
        layer = ledger.total(),
    ])
}

fn undivided(n: &Facts) -> Result<Facts> {
    let [d_model, n_heads, share] = n.wholes(["d_model", "n_heads", "share"])?;
    let of_width = |width| -> Result<ParameterCount> {
        Ok(count(Dims::with_head_sizes(d_model, n_heads, width, width)?, false))
    };
    let (shared, wide) = (of_width(share)?, of_width(d_model)?);
    let (all, heads) = (wide.total(), wide.total() - counted(&wide, "W^O"));
    Ok(facts![
        all,
        heads,
        ledger = wide.to_string(),
        shared = shared.total(),
        small_w_o = heads + counted(&shared, "W^O"),
    ])
}

fn length(n: &Facts) -> Result<Facts> {
    let [times] = n.wholes(["times"])?;
    let (tokens, longer) = (30, 30 * times);
    let (short, long) = (work(256, 8, 32, tokens)?, work(256, 8, 32, longer)?);
    let mut shown = format!("{:<10}  {tokens:>10}  {longer:>11}\n", "tokens");
    for (one, other) in short.costs().iter().zip(long.costs()) {
        shown += &format!(
            "{:<10}  {:>10}  {:>11}  × {}\n",
            one.name,
            thousands(one.multiply_adds),
            thousands(other.multiply_adds),
            other.multiply_adds / one.multiply_adds
        );
    }
    let factor = |name: &str| {
        let of = |ledger: &MultiplyAdds| {
            let cost = ledger.costs().iter().find(|cost| cost.name == name);
            cost.map(|cost| cost.multiply_adds).with_context(|| format!("no {name}"))
        };
        Ok::<usize, Error>((of(&long)? / of(&short)?) as usize)
    };
    Ok(facts![shown, scores = factor("Q Kᵀ")?, projections = factor("query W^Q")?])
}

fn maps(n: &Facts) -> Result<Facts> {
    let [n_tokens, n_heads] = n.wholes(["n_tokens", "n_heads"])?;
    let dims = Dims::new(8 * n_heads, n_heads)?;
    let layer = FusedAttention::new(&layer::<f32>(dims, true));
    let maps = layer.self_attend(&tokens(n_tokens, dims.d_model()), &Mask::None)?.attn;
    let all: usize = maps.iter().map(|map| map.len()).sum();
    let (map, one) = (maps[0].shape(), maps[0].len());
    Ok(facts![all, map, one, n_maps = maps.len(), rows = n_tokens * maps.len()])
}
