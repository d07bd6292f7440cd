//! Counting.

use fused_heads::FusedAttention;
use lessons::counting::{count, work};

use super::*;

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

pub fn parameters(n: &Facts) -> Result<Facts> {
    let ledger = ledger(n, true)?;
    let (all, matrices) = (ledger.total(), counted(&ledger, "W"));
    let (w_o, b_o) = (counted(&ledger, "W^O"), counted(&ledger, "b^O"));
    Ok(facts![all, matrices, w_o, b_o, ledger = ledger.to_string()])
}

pub fn more_heads(n: &Facts) -> Result<Facts> {
    let [d_model, n_heads] = n.wholes(["d_model", "n_heads"])?;
    let width = d_model / n_heads;
    let wide = Dims::with_head_sizes(d_model, 2 * n_heads, width, width)?;
    let of = |dims| count(dims, true).total();
    let (few, many) = (ledger(n, true)?.total(), of(Dims::new(d_model, 2 * n_heads)?));
    Ok(facts![few, many, wide = of(wide)])
}

pub fn biases(n: &Facts) -> Result<Facts> {
    let ledger_with = ledger(n, true)?;
    let lost = ledger_with.total() - ledger(n, false)?.total();
    let lines = ledger_with.to_string();
    let lines: Vec<&str> = lines.lines().filter(|line| line.starts_with('b')).collect();
    let biases = ledger_with.counts().iter().filter(|line| line.name().starts_with('b'));
    let of_one_head: usize = biases.map(|line| line.shape().1).sum();
    let b_o = counted(&ledger_with, "b^O");
    Ok(facts![lost, b_o, of_one_head, lines = lines.join("\n")])
}

pub fn w_o_512(n: &Facts) -> Result<Facts> {
    let ledger = ledger(n, true)?;
    let lines = ledger.to_string();
    let line = lines.lines().find(|line| line.starts_with("W^O"));
    let line = line.context("a layer has W^O")?;
    Ok(facts![line, w_o = counted(&ledger, "W^O"), layer = ledger.total()])
}

pub fn undivided(n: &Facts) -> Result<Facts> {
    let [d_model, n_heads] = n.wholes(["d_model", "n_heads"])?;
    let shared = ledger(n, false)?;
    let wide = count(Dims::with_head_sizes(d_model, n_heads, d_model, d_model)?, false);
    Ok(facts![
        all = wide.total(),
        w_o = counted(&wide, "W^O"),
        small_w_o = counted(&shared, "W^O"),
        ledger = wide.to_string(),
        shared = shared.total(),
    ])
}

pub fn twice_the_length(n: &Facts) -> Result<Facts> {
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
            cost.map(|cost| cost.multiply_adds as usize).context("a cost of this name")
        };
        Ok::<_, anyhow::Error>(of(&long)? / of(&short)?)
    };
    Ok(facts![shown, scores = factor("Q Kᵀ")?, projections = factor("query W^Q")?])
}

pub fn maps(n: &Facts) -> Result<Facts> {
    let [n_tokens, n_heads] = n.wholes(["n_tokens", "n_heads"])?;
    let dims = Dims::new(8 * n_heads, n_heads)?;
    let layer = FusedAttention::new(&layer::<f32>(dims, true));
    let maps = layer.self_attend(&tokens(n_tokens, dims.d_model()), &Mask::None)?.attn;
    let all: usize = maps.iter().map(|map| map.len()).sum();
    Ok(facts![all, map = maps[0].shape(), n_maps = maps.len()])
}
